//! Hours are used where they have proven themselves, and only there.

use geomi_refresh::policy::{Clock, Policy as _};
use geomi_refresh::shape::{Shape, shapes};
use geomi_refresh::{Kin, Page, PageId, Planner, Terms};

const PAGES: PageId = 400;
const EVEN_SITE: PageId = 1;

/// Pages of even numbers are on a site that changes from 09 to 18, the others on one that
/// changes at any time.
fn shape(page: PageId) -> &'static Shape {
    let is_busy_by_day = page % 2 != EVEN_SITE;
    &shapes()[if is_busy_by_day { 4 } else { 0 }]
}

/// A plan for both sites, followed for four weeks.
fn followed() -> Planner<Clock> {
    let terms = Terms {
        requests_per_day: f64::from(PAGES),
        longest_gap: 90.0,
        learning: None,
    };
    let mut planner = Planner::new(Clock::default(), terms, 0.0);
    for page in 0..PAGES {
        let kin = Kin {
            site: u64::from(page % 2) + 1,
            ..Kin::default()
        };
        planner.add(&Page { weight: 1.0, kin }, 0.0);
    }
    planner.start();
    let (mut now, mut dice) = (0.0_f64, 7_u64);
    while let Some(wake) = planner.wake().filter(|wake| *wake < 28.0) {
        now = wake.max(now);
        if let Some(page) = planner.next(now) {
            let rate = 0.3 * 20_f64.powf(f64::from(page) / f64::from(PAGES));
            let unchanged = (-rate * shape(page).exposure(planner.last(page), now)).exp();
            dice = dice.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            let changed = (dice >> 11) as f64 / (1_u64 << 53) as f64 > unchanged;
            planner.observe(page, changed, now);
        }
    }
    planner
}

#[test]
fn a_site_without_hours_is_visited_without_them() {
    let planner = followed();
    assert!(planner.policy().uses_hours());
    for page in 0..PAGES {
        let profile = planner.policy().profile(page);
        assert_eq!(profile.is_none(), page % 2 == EVEN_SITE, "{page}");
    }
}

#[test]
fn what_is_believed_of_a_page_has_the_hours_of_its_site() {
    let planner = followed();
    // As long by day as by night: from 09 to 18, and from 18 to 03.
    let (day, night) = ((30.375, 30.75), (30.75, 31.125));
    let mut ratios = 0.0;
    for page in 0..PAGES {
        let belief = planner.policy().belief(page).unwrap();
        let [day, night] = [day, night].map(|(from, to)| belief.mean_days(from, to));
        if page % 2 == EVEN_SITE {
            assert!((day / night - 1.0).abs() < 1e-9, "{page}: {day} {night}");
        } else {
            assert!(day > night, "{page}: {day} {night}");
            ratios += day / night;
        }
    }
    let ratio = ratios / f64::from(PAGES / 2);
    assert!(ratio > 1.5, "{ratio}");
}
