//! Experiments.
use geomi_refresh::policy::*;
use geomi_refresh::{Grouping, Knowledge};
use geomi_sim::refresh::trial::{Measures, Setup, run};
use geomi_sim::refresh::web::{ModelWeb, World};
fn make(name: &str, w: &World, b: f64) -> Box<dyn Policy> {
    let rates = || w.pages.iter().map(|p| p.rate).collect::<Vec<_>>();
    match name {
        "static" => Box::new(Static),
        "proportional" => Box::new(Proportional::new(Knowledge::Known(rates()))),
        "sampling" => Box::new(Sampling::default()),
        "group16" => Box::new(Grouped::new(Grouping::Sixteen, Knowledge::Known(rates()))),
        "group6" => Box::new(Grouped::new(Grouping::Six, Knowledge::Known(rates()))),
        "multiplicative" => Box::new(Multiplicative::reference6(1.0)),
        "nutch" => Box::new(Multiplicative::nutch(1.0)),
        "stormcrawler" => Box::new(Multiplicative::stormcrawler(1.0)),
        "optimal" => Box::new(Optimal::new(rates())),
        "harmonic" => Box::new(Harmonic::new(rates())),
        "greedy" => Box::new(Greedy::default()),
        "age" => Box::new(Age::default()),
        _ => Box::new(Clock::default()),
    }
}
fn mean(name: &str, worlds: &[World], b: f64) -> Measures {
    let mut m = Measures::default();
    let n = worlds.len() as f64;
    let all: Vec<Measures> = std::thread::scope(|s| {
        let hs: Vec<_> = worlds
            .iter()
            .map(|w| {
                s.spawn(move || {
                    run(
                        w,
                        make(name, w, b),
                        Setup {
                            budget: b,
                            is_weighted: false,
                        },
                        |_| {},
                    )
                })
            })
            .collect();
        hs.into_iter().map(|h| h.join().unwrap()).collect()
    });
    for x in all {
        m.freshness += x.freshness / n;
        m.freshness_of_others += x.freshness_of_others / n;
        m.requests_per_page_day += x.requests_per_page_day / n;
        m.mean_age_h += x.mean_age_h / n;
    }
    m
}
fn cpu() -> f64 {
    let s = std::fs::read_to_string("/proc/self/stat").unwrap();
    s.rsplit_once(") ")
        .unwrap()
        .1
        .split(' ')
        .nth(11)
        .unwrap()
        .parse::<f64>()
        .unwrap()
        / 100.0
}
fn main() {
    let args: Vec<String> = std::env::args().collect();
    let web = ModelWeb::ALL
        .into_iter()
        .find(|w| w.name() == args[1])
        .unwrap();
    let trials: u32 = args[3].parse().unwrap();
    let worlds: Vec<World> = (0..trials).map(|t| web.draw(1, t)).collect();
    let b = web.budget();
    let base = mean("static", &worlds, b);
    println!(
        "static {:.4} req {:.4}",
        base.freshness,
        base.requests_per_page_day / b
    );
    for name in args[2].split(',') {
        let t = cpu();
        let at = mean(name, &worlds, b);
        let el = cpu() - t;
        // secant in log budget
        let (mut lo, mut hi) = ((0.3_f64).ln(), (5.0_f64).ln());
        let mut x = (0.85_f64).ln();
        let mut ratio = 0.0;
        for _ in 0..7 {
            let m = mean(name, &worlds, b * x.exp());
            ratio = m.requests_per_page_day / base.requests_per_page_day;
            if m.freshness < base.freshness {
                lo = x
            } else {
                hi = x
            }
            let slope = 0.18;
            let step = (base.freshness - m.freshness) / slope;
            if step.abs() < 0.002 {
                break;
            }
            x = (x + step).clamp(lo + 0.02 * (hi - lo), hi - 0.02 * (hi - lo));
        }
        println!(
            "{name:15} fresh {:.4} others {:.4} req {:.4} age {:.2}  match {:.1}%  ({el:.2}s)",
            at.freshness,
            at.freshness_of_others,
            at.requests_per_page_day / b,
            at.mean_age_h,
            ratio * 100.0
        );
    }
}
