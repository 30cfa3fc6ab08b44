use geomi_model::Change;

use super::*;
use crate::upkeep::{instant, pages};

pub(crate) const TRIES: u8 = 1;

pub(crate) fn visit(page: u32, day: f64, code: u16, changed: Option<bool>) -> Visit {
    Visit {
        time: instant(day),
        ..pages::tests::visit(&format!("http://a.test/{page}"), code, changed)
    }
}

fn plan(budget: f64) -> RefreshPlan {
    RefreshPlan::new(&RefreshConfig {
        policy: "greedy".to_owned(),
        budget: Budget::PerPage(budget),
        ..RefreshConfig::default()
    })
}

/// Ten pages: the first five change between two visits, the others do not.
fn past() -> Vec<Visit> {
    let first = (0..10).map(|page| visit(page, 100.0, 200, None));
    let later = (1..12).flat_map(|day| {
        let at = 100.0 + f64::from(day);
        (0..10).map(move |page| visit(page, at, 200, Some(page < 5)))
    });
    first.chain(later).collect()
}

#[test]
fn a_plan_read_from_the_past_believes_what_it_believed_while_it_ran() {
    let (mut live, mut read) = (plan(0.5), plan(0.5));
    let past = past();
    let (begin, rest) = past.split_at(10);
    for visit in begin {
        live.take(visit, TRIES);
    }
    live.start(100.0, 1.0);
    for visit in rest {
        live.take(visit, TRIES);
    }
    for visit in &past {
        read.take(visit, TRIES);
    }
    read.start(111.0, 1.0);
    for page in 0..10 {
        assert!((live.planner.last(page) - read.planner.last(page)).abs() < 1e-9);
    }
    // The price of the plan that ran lags; found anew, it is the same.
    live.start(111.0, 1.0);
    let gap = |plan: &mut RefreshPlan, page| plan.planner.due_after(page, 111.0) - 111.0;
    for page in 0..10 {
        let (ran, was_read) = (gap(&mut live, page), gap(&mut read, page));
        assert!((ran / was_read - 1.0).abs() < 0.02, "{ran} {was_read}");
    }
    assert!(gap(&mut read, 0) < gap(&mut read, 9));
}

#[test]
fn visits_for_the_sake_of_a_signal_are_read_as_they_were_made() {
    let early = |at: f64| Visit {
        early: Some(Duration::from_hours(9 * 24)),
        ..visit(5, at, 200, Some(true))
    };
    let (past, told) = (past(), [early(111.1), early(111.2)]);
    let (mut live, mut read, mut plain) = (plan(0.5), plan(0.5), plan(0.5));
    for visit in &past {
        for plan in [&mut live, &mut read, &mut plain] {
            plan.take(visit, TRIES);
        }
    }
    live.start(111.0, 1.0);
    for visit in told {
        live.take(&visit, TRIES);
        read.take(&visit, TRIES);
        let early = None;
        plain.take(&Visit { early, ..visit }, TRIES);
    }
    // Beside one that never changed, so that it is not the price that is compared.
    let gap = |mut plan: RefreshPlan| {
        plan.start(112.0, 1.0);
        let [told, other] = [5, 6].map(|page| plan.planner.due_after(page, 112.0) - 112.0);
        told / other
    };
    let [ran, was_read, plain] = [live, read, plain].map(gap);
    assert!((ran / was_read - 1.0).abs() < 0.02, "{ran} {was_read}");
    // Changes found so soon after a visit would tell of a fast page.
    assert!(plain < 0.9 * was_read, "{plain} {was_read}");
}

#[test]
fn what_was_edited_says_nothing_of_how_often_it_changes() {
    let banner = |page, size| Visit {
        changed: Some(Change {
            changed: true,
            size,
        }),
        ..visit(page, 112.0 + f64::from(page) / 100.0, 200, None)
    };
    // How many were edited, and the gap after the last page's visit beside that after
    // the first one's, which has changed as far as anybody can know.
    let seen = |size: fn(u32) -> u64| {
        let mut plan = plan(0.5);
        let pages = 0..30;
        let crawled = pages.clone().map(|page| visit(page, 100.0, 200, None));
        let same = pages
            .clone()
            .map(|page| visit(page, 106.0, 200, Some(false)));
        for visit in crawled.chain(same) {
            plan.take(&visit, TRIES);
        }
        let found = pages.map(|page| plan.take(&banner(page, size(page)), TRIES));
        let edited = found.filter(|found| found.unwrap().kind == Sighting::Edited);
        let edited = edited.count();
        plan.start(113.0, 1.0);
        let [first, last] = [0, 29].map(|page| plan.planner.due_after(page, 113.0) - 113.0);
        (edited, last / first)
    };
    let (edited, gap) = seen(|_| 200);
    assert_eq!(edited, 27);
    let (none, own_gap) = seen(|page| 100 + u64::from(page * page) * 20);
    assert_eq!(none, 0, "each page changed in its own way");
    assert!(gap > 1.2 * own_gap, "{gap} {own_gap}");
}

#[test]
fn what_cannot_be_had_rests_longer_and_longer() {
    let mut plan = plan(1.0);
    plan.take(&visit(0, 100.0, 200, None), TRIES);
    plan.start(100.0, 0.0);
    for (at, rest) in [(101.0, 1.0), (102.0, 2.0), (104.0, 4.0)] {
        plan.take(&visit(0, at, 500, None), TRIES);
        assert!((plan.planner.due(0) - at - rest).abs() < 0.01, "{at}");
    }
    plan.take(&visit(0, 108.0, 410, None), TRIES);
    assert!((plan.planner.due(0) - 198.0).abs() < 0.01);
    plan.take(&visit(0, 109.0, 200, Some(true)), TRIES);
    assert!(plan.troubles.is_empty());
}

#[test]
fn a_page_that_is_being_tried_again_is_not_queued_twice() {
    let mut plan = plan(24.0);
    plan.take(&visit(0, 100.0, 200, None), 3);
    plan.take(&visit(0, 101.0, 503, None), 3);
    plan.start(101.5, 1.0);
    assert_eq!(plan.next(103.0), None, "it waits in its queue");
    plan.take(&visit(0, 103.0, 200, Some(false)), 3);
    assert_eq!(plan.next(110.0), Some(0));
}

#[test]
fn a_page_that_was_refused_instead_of_tried_again_is_queued_again() {
    let mut plan = plan(24.0);
    plan.take(&visit(0, 100.0, 200, None), 3);
    plan.take(&visit(0, 101.0, 503, None), 3);
    plan.start(101.5, 1.0);
    assert_eq!(plan.take_tried(), [0]);
    assert!(plan.take_tried().is_empty());
    plan.missed(0, 101.5);
    assert_eq!(plan.next(102.0), None, "it rests for a day");
    assert_eq!(plan.next(103.0), Some(0));
}

#[test]
fn a_page_that_an_earlier_run_queued_is_not_queued_twice() {
    let mut plan = plan(24.0);
    plan.take(&visit(0, 100.0, 200, None), 3);
    plan.start(100.5, 1.0);
    // Nothing in the files tells that it waits; its first try fails.
    plan.take(&visit(0, 100.5, 503, None), 3);
    assert_eq!(plan.next(103.0), None, "it waits in its queue");
    plan.take(&visit(0, 103.0, 200, Some(false)), 3);
    assert_eq!(plan.next(110.0), Some(0));
}

#[test]
fn the_budget_of_a_time_without_a_run_is_spent_at_once() {
    for (saved_max, least, most) in [(1.0, 4, 6), (f64::INFINITY, 10, 10)] {
        let mut plan = plan(0.5);
        for visit in &past() {
            plan.take(visit, TRIES);
        }
        plan.start(117.0, saved_max);
        let count = std::iter::from_fn(|| plan.next(117.0)).count();
        assert!((least..=most).contains(&count), "{count} with {saved_max}");
    }
}

/// One hour of the day is left to visit in: 23 o'clock in Seoul is 14 o'clock in UTC.
#[test]
fn hours_are_those_of_the_zone() {
    let mut config = RefreshConfig {
        budget: Budget::PerPage(1.0),
        timezone: Zone::named("Asia/Seoul").unwrap(),
        ..RefreshConfig::default()
    };
    config.quiet_hours.add("0-23").unwrap();
    let mut plan = RefreshPlan::new(&config);
    for visit in past() {
        plan.take(&visit, TRIES);
    }
    plan.start(plan.days(instant(111.0)), 1.0);
    let mut visited = Vec::new();
    for half_hour in 0..240 {
        let now = instant(111.0 + f64::from(half_hour) / 48.0);
        while let Some(page) = plan.next(plan.days(now)) {
            visited.push(now.to_rfc3339_secs());
            let seen = Visit {
                time: now,
                ..visit(page, 0.0, 200, Some(false))
            };
            plan.take(&seen, TRIES);
        }
    }
    assert!(visited.len() > 10, "{visited:?}");
    let is_open = |time: &String| time.get(11..13) == Some("14");
    assert!(visited.iter().all(is_open), "{visited:?}");
}
