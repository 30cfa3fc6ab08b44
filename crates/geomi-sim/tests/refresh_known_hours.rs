//! What hours are worth to who knows them.
//!
//! An independent simulation has the requests to be as fresh as the static cycle at 60 % on
//! `shop` and 69 % on `web` for a clock that knows rates and hours. Ours is told the same
//! and must need about as many; what `clock` learns is to be seen against that.

use geomi_refresh::policy::KnownClock;
use geomi_sim::refresh::kind::PolicyKind;
use geomi_sim::refresh::trial::{Setup, run};
use geomi_sim::refresh::web::{Hours, ModelWeb, World};

const TRIALS: u32 = 2;

/// The number of a page's hours among the shapes of a plan: busy times of three and of five
/// parts of the day, by the part in which they begin.
fn shape(hours: Hours) -> usize {
    match hours {
        Hours::Flat => 0,
        Hours::Day => 1 + 3,
        Hours::Night => 1 + 8 + 6,
    }
}

fn known(world: &World) -> KnownClock {
    let pages = world.pages.iter();
    KnownClock::new(pages.map(|page| (page.rate, shape(page.hours))).collect())
}

/// How much fresher, on average, the clock keeps its copies with this share of the requests.
fn ahead(web: ModelWeb, share: f64) -> f64 {
    let setup = |share: f64| Setup {
        budget: web.budget() * share,
        learn: 1.0,
        is_weighted: false,
    };
    let of_trial = |trial| {
        let world = web.draw(1, trial);
        let cycle = run(&world, PolicyKind::Static.build(&world), setup(1.0), |_| {});
        let clock = run(&world, Box::new(known(&world)), setup(share), |_| {});
        clock.freshness - cycle.freshness
    };
    (0..TRIALS).map(of_trial).sum::<f64>() / f64::from(TRIALS)
}

#[test]
fn shapes_are_the_hours_of_the_model_webs() {
    use geomi_refresh::shape::shapes;
    for hours in [Hours::Flat, Hours::Day, Hours::Night] {
        let (by_day, by_night) = hours.factors();
        for part in 0..8 {
            let expected = if (3..6).contains(&part) {
                by_day
            } else {
                by_night
            };
            let found = shapes()[shape(hours)].rate(part);
            assert!((found - expected).abs() < 1e-9, "{hours:?} {part}");
        }
    }
}

#[test]
fn known_hours_are_worth_what_others_found() {
    for (web, share) in [(ModelWeb::Shop, 0.60), (ModelWeb::Web, 0.69)] {
        let (less, more) = (ahead(web, share - 0.03), ahead(web, share + 0.03));
        assert!(less < 0.0, "{web:?}: {less} ahead");
        assert!(more > 0.0, "{web:?}: {more} ahead");
    }
}
