//! The default policy on histories that are not like the model webs: one that was
//! recorded, and made ones whose pages change as real ones do, at set hours, in
//! bursts, and less with age.
//!
//! What was recorded, in `data/releases.csv`, is when 900 packages of the npm registry had a new
//! release, from 23 August to 14 November 2026: the page of a package changes with each. They are
//! some 200 well-known packages and what those depend on, 310 of them without a release in that
//! time; each was asked for with `npm view NAME time --json`.

use geomi_sim::refresh::dice::Dice;
use geomi_sim::refresh::history::{HistoryError, Row, gather, rows};
use geomi_sim::refresh::kind::PolicyKind;
use geomi_sim::refresh::trial::{Measures, Setup, run};
use geomi_sim::refresh::web::World;

const DAYS: f64 = 84.0;
const PAGES: u32 = 800;

/// The days on which a page changes.
fn changes(dice: &mut Dice) -> Vec<f64> {
    match dice.unit() {
        never if never < 0.30 => Vec::new(),
        daily if daily < 0.45 => published_daily(dice),
        bursts if bursts < 0.60 => edited_in_bursts(dice),
        fading if fading < 0.70 => fading_away(dice),
        busy if busy < 0.80 => {
            let rate = 12.0 * (0.8 * dice.normal()).exp();
            let mut times = at_rate(rate, dice);
            times.retain(|time| (7.0..20.0).contains(&(time.fract() * 24.0)));
            times
        }
        _ => {
            let rate = (1.6 * dice.normal()).exp() / 15.0;
            at_rate(rate, dice)
        }
    }
}

fn at_rate(rate: f64, dice: &mut Dice) -> Vec<f64> {
    let mut times = Vec::new();
    let mut time = dice.wait() / rate;
    while time < DAYS {
        times.push(time);
        time += dice.wait() / rate;
    }
    times
}

/// On working days, about the same hour.
fn published_daily(dice: &mut Dice) -> Vec<f64> {
    let hour = 9.0 + 4.0 * dice.normal();
    let days = (0..DAYS as u32).filter(|day| day % 7 < 5);
    days.map(|day| f64::from(day) + (hour + 0.5 * dice.normal()) / 24.0)
        .collect()
}

/// Rarely, and then several times in an afternoon.
fn edited_in_bursts(dice: &mut Dice) -> Vec<f64> {
    let every = 12.0 * dice.normal().exp();
    let begins = at_rate(1.0 / every, dice);
    let mut times = Vec::new();
    for begin in begins {
        for _ in 0..=(3.0 * dice.wait()) as u32 {
            times.push(begin + dice.between(0.0, 0.3));
        }
    }
    times
}

/// An article: often on its first day, ever less later.
fn fading_away(dice: &mut Dice) -> Vec<f64> {
    let begin = dice.between(-60.0, 0.7 * DAYS);
    let (mut times, mut age) = (Vec::new(), 0.0);
    while age < 60.0 {
        age += dice.wait() * (0.3 + 0.6 * age);
        times.push(begin + age);
    }
    times
}

fn made(seed: u64) -> World {
    let mut dice = Dice::new(seed);
    let mut rows = Vec::new();
    for page in 0..PAGES {
        let url = format!("https://site{}.example/{page}", page % 20);
        let row = |time: Option<f64>| Row {
            url: url.clone(),
            time: time.map(|days| days * 86_400.0),
            weight: None,
        };
        rows.push(row(None));
        let times = changes(&mut dice).into_iter();
        rows.extend(
            times
                .filter(|t| (0.0..DAYS).contains(t))
                .map(|t| row(Some(t))),
        );
    }
    gather(rows.into_iter().map(Ok::<_, HistoryError>)).expect("there are changes")
}

fn measure(world: &World, policy: PolicyKind, budget: f64) -> Measures {
    let setup = Setup {
        budget,
        learn: 1.0,
        is_weighted: false,
    };
    run(world, policy.build(world), setup, |_| {})
}

/// Whether the default keeps a history as fresh as it should be.
fn check(name: &str, world: &World) {
    for budget in [1.0 / 7.0, 0.5, 1.0] {
        let cycle = measure(world, PolicyKind::Static, budget);
        let found = measure(world, PolicyKind::DEFAULT, budget);
        let (default, usual) = (found.freshness, cycle.freshness);
        eprintln!("{name}, {budget:.3} a day: static {usual:.4}, default {default:.4}");
        assert!(
            default > usual - 0.005,
            "{name} {budget}: {found:?} {cycle:?}"
        );
        assert!(found.requests_per_page_day < 1.01 * budget, "{found:?}");
        if budget > 0.9 {
            let staleness = (1.0 - default) / (1.0 - usual);
            assert!(staleness < 0.75, "{name}: {staleness}");
        }
    }
}

#[test]
fn made_pages_are_kept_fresher_than_by_the_static_cycle() {
    for seed in [1, 2] {
        check(&format!("seed {seed}"), &made(seed));
    }
}

#[test]
fn recorded_pages_are_kept_fresher_than_by_the_static_cycle() {
    let recorded = include_str!("data/releases.csv");
    let rows = rows(recorded.as_bytes(), |_| None).expect("it has a header");
    let world = gather(rows).expect("times are Unix seconds");
    assert_eq!(world.pages.len(), 900);
    check("releases", &world);
}
