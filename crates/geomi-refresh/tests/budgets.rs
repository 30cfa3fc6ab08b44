//! Budgets of a plan, in virtual time: what is never spent, what is always spent, and
//! on whom.

use geomi_refresh::policy::{Clock, Greedy, Multiplicative, Policy, Static};
use geomi_refresh::{AccountId, Page, PageId, Planner, Terms};

/// Pages of a plan, by site.
const SITE_PAGES: usize = 150;
const SITES: usize = 6;
const PAGES: usize = SITE_PAGES * SITES;
const LONGEST_GAP: f64 = 30.0;

/// Dice that fall the same in every run.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// A visit: when, and to which page.
type Made = (f64, PageId);

/// Changes a day of a page: from once in 60 days to six a day, the same in every site.
fn rate(page: PageId) -> f64 {
    let part = (page as usize % SITE_PAGES) as f64 / SITE_PAGES as f64;
    (1.0 / 60.0) * 360.0_f64.powf(part)
}

fn site(page: PageId) -> usize {
    page as usize / SITE_PAGES
}

fn planner<P: Policy>(policy: P, requests_per_day: f64, weight: fn(PageId) -> f32) -> Planner<P> {
    let terms = Terms {
        requests_per_day,
        longest_gap: LONGEST_GAP,
        learning: None,
    };
    let mut planner = Planner::new(policy, terms, 0.0);
    for page in 0..PAGES as PageId {
        let weight = weight(page);
        planner.add(
            &Page {
                weight,
                ..Page::default()
            },
            0.0,
        );
    }
    planner
}

/// An account for a range of sites.
fn limit<P: Policy>(
    planner: &mut Planner<P>,
    sites: std::ops::Range<usize>,
    requests_per_day: f64,
) -> AccountId {
    let account = planner.open_account(requests_per_day);
    for page in (0..PAGES as PageId).filter(|page| sites.contains(&site(*page))) {
        planner.join(page, account);
    }
    account
}

/// Follows a plan until a day, with pages that change by chance.
fn follow<P: Policy>(planner: &mut Planner<P>, days: f64, seed: u64) -> Vec<Made> {
    let (mut dice, mut made, mut now) = (Dice(seed), Vec::new(), 0.0_f64);
    planner.start();
    while let Some(wake) = planner.wake().filter(|wake| *wake < days) {
        now = wake.max(now);
        if let Some(page) = planner.next(now) {
            let gap = now - planner.last(page);
            let changed = dice.roll() < -(-rate(page) * gap).exp_m1();
            planner.observe(page, changed, now);
            made.push((now, page));
        }
    }
    made
}

/// The most visits in any day, to pages that are meant.
fn most_in_a_day(made: &[Made], is_meant: impl Fn(PageId) -> bool) -> usize {
    let times: Vec<f64> = made
        .iter()
        .filter(|(_, page)| is_meant(*page))
        .map(|(time, _)| *time)
        .collect();
    let mut first = 0;
    let mut most = 0;
    for (at, time) in times.iter().enumerate() {
        while times[first] <= time - 1.0 + 1e-6 {
            first += 1;
        }
        most = most.max(at + 1 - first);
    }
    most
}

/// Visits a day from one day to another, to pages that are meant.
fn a_day(made: &[Made], (from, to): (f64, f64), is_meant: impl Fn(PageId) -> bool) -> f64 {
    let is_counted = |made: &&Made| (from..to).contains(&made.0) && is_meant(made.1);
    made.iter().filter(is_counted).count() as f64 / (to - from)
}

fn no_day_is_over<P: Policy>(policy: impl Fn() -> P, name: &str) {
    for (seed, site_budget, group_budget) in [
        (1, 5.0, 60.0),
        (2, 17.0, 20.0),
        (3, 1.0, 1.0),
        (4, 33.0, 90.0),
    ] {
        let mut planner = planner(policy(), 200.0, |_| 1.0);
        limit(&mut planner, 0..1, site_budget);
        limit(&mut planner, 0..3, group_budget);
        let made = follow(&mut planner, 25.0, seed);
        let most = most_in_a_day(&made, |page| site(page) == 0);
        assert!(most as f64 <= site_budget, "{name}, site: {most}");
        let most = most_in_a_day(&made, |page| site(page) < 3);
        assert!(most as f64 <= group_budget, "{name}, group: {most}");
        let all = a_day(&made, (0.0, 25.0), |_| true);
        assert!(all <= 201.0, "{name}: {all}");
    }
}

#[test]
fn no_day_is_over_the_budget_of_a_site_or_a_group() {
    no_day_is_over(Greedy::default, "greedy");
    no_day_is_over(Clock::default, "clock");
    no_day_is_over(|| Static, "static");
    no_day_is_over(|| Multiplicative::nutch(1.0), "nutch");
}

#[test]
fn what_a_site_cannot_use_goes_to_the_others() {
    const BUDGET: f64 = 180.0;
    let counted = (30.0, 90.0);
    let mut free = planner(Greedy::default(), BUDGET, |_| 1.0);
    let free = follow(&mut free, counted.1, 7);
    let mut limited = planner(Greedy::default(), BUDGET, |_| 1.0);
    limit(&mut limited, 0..1, 10.0);
    let limited = follow(&mut limited, counted.1, 7);
    let site_0 = |page| site(page) == 0;
    let of_site = a_day(&limited, counted, site_0);
    assert!((9.8..=10.0).contains(&of_site), "{of_site}");
    let others_before = a_day(&free, counted, |page| !site_0(page));
    let others = a_day(&limited, counted, |page| !site_0(page));
    assert!(others > others_before + 15.0, "{others_before} {others}");
    let all = a_day(&limited, counted, |_| true);
    assert!((all / BUDGET - 1.0).abs() < 0.02, "{all}");
}

#[test]
fn a_group_shares_its_budget_by_worth() {
    let counted = (30.0, 90.0);
    let mut planner = planner(Greedy::default(), 180.0, |_| 1.0);
    let small = limit(&mut planner, 0..1, 3.0);
    let group = limit(&mut planner, 0..3, 25.0);
    let made = follow(&mut planner, counted.1, 3);
    let of =
        |sites: std::ops::Range<usize>| a_day(&made, counted, |page| sites.contains(&site(page)));
    let (first, second, third) = (of(0..1), of(1..2), of(2..3));
    assert!((2.94..=3.0).contains(&first), "{first}");
    assert!((24.5..=25.0).contains(&of(0..3)), "{}", of(0..3));
    assert!((second / third - 1.0).abs() < 0.15, "{second} {third}");
    let price = |account| planner.account(account).price;
    assert!(price(small) > price(group) && price(group) > planner.price());
    assert_eq!(planner.held_by(0), Some(small));
    assert_eq!(planner.held_by(SITE_PAGES as PageId), Some(group));
    assert_eq!(planner.held_by(PAGES as PageId - 1), None);
}

#[test]
fn the_best_of_a_site_go_first() {
    let counted = (30.0, 90.0);
    // Of each two pages that change alike one matters four times as much.
    let weight = |page: PageId| if page.is_multiple_of(2) { 4.0 } else { 1.0 };
    let mut planner = planner(Greedy::default(), 180.0, weight);
    limit(&mut planner, 0..1, 12.0);
    let made = follow(&mut planner, counted.1, 5);
    // Those that change once in two weeks or so are worth following at any price.
    let is_slow = |page: PageId| (0.03..0.15).contains(&rate(page));
    for sites in [0..1, 1..SITES] {
        let of = |part: u32| {
            a_day(&made, counted, |page| {
                sites.contains(&site(page)) && page % 2 == part && is_slow(page)
            })
        };
        assert!(of(0) > 1.3 * of(1), "{sites:?}: {} {}", of(0), of(1));
    }
}

#[test]
fn no_page_is_abandoned_where_the_budget_allows_it() {
    // 150 pages in 30 days are five a day. A page whose time has come waits for room in
    // the budget of its site, a few days at most.
    let longest = LONGEST_GAP * 1.15;
    for budget in [6.0, 9.0] {
        let mut planner = planner(Greedy::default(), 150.0, |_| 1.0);
        limit(&mut planner, 0..1, budget);
        let made = follow(&mut planner, 120.0, 11);
        let mut last = vec![0.0; PAGES];
        for (time, page) in &made {
            let gap = time - last[*page as usize];
            assert!(gap < longest, "{page} was left alone for {gap}");
            last[*page as usize] = *time;
        }
        assert!(last.iter().all(|time| *time > 120.0 - longest));
    }
}

#[test]
fn a_page_that_is_asked_for_waits_for_room_and_goes_first() {
    use geomi_refresh::Asked;
    let mut planner = planner(Greedy::default(), 180.0, |_| 1.0);
    limit(&mut planner, 0..1, 4.0);
    planner.start();
    assert_eq!(planner.ask(3, 0.1), Asked::Waits, "nothing was saved yet");
    assert_eq!(planner.ask(PAGES as PageId - 1, 0.1), Asked::Out);
    let mut now = 0.1;
    let first = loop {
        now = planner.wake().unwrap().max(now);
        match planner.next(now) {
            Some(page) if site(page) == 0 => break page,
            Some(page) => planner.observe(page, false, now),
            None => {}
        }
    };
    assert_eq!(first, 3);
    assert_eq!(planner.ask(3, now), Asked::UnderWay);
}

#[test]
fn a_flood_of_signals_keeps_the_budget() {
    use geomi_refresh::Asked;
    const BUDGET: f64 = 36.0;
    let mut planner = planner(Greedy::default(), BUDGET, |_| 1.0);
    planner.start();
    let mut made: Vec<Made> = Vec::new();
    let mut now = 0.0;
    let mut is_told = false;
    while let Some(wake) = planner.wake().filter(|wake| *wake < 12.0) {
        now = wake.max(now);
        if now > 3.0 && !is_told {
            is_told = true;
            for page in 0..PAGES as PageId {
                if planner.ask_within_budget(page, now) == Asked::Out {
                    planner.observe(page, true, now);
                    made.push((now, page));
                }
            }
        }
        if let Some(page) = planner.next(now) {
            planner.observe(page, page % 3 == 0, now);
            made.push((now, page));
        }
    }
    // What a day has, and what half a day may save.
    let most = most_within(&made, 1.0);
    assert!(most as f64 <= 1.5 * BUDGET + 1.0, "{most} in a day");
    let after = made.iter().filter(|(time, _)| *time > 3.0).count();
    assert!(after as f64 > 8.5 * BUDGET, "{after}: the plan stood still");
}

/// The most visits in any span of time.
fn most_within(made: &[Made], span: f64) -> usize {
    let mut first = 0;
    let mut most = 0;
    for (at, (time, _)) in made.iter().enumerate() {
        while made[first].0 <= time - span + 1e-6 {
            first += 1;
        }
        most = most.max(at + 1 - first);
    }
    most
}

#[test]
fn no_hour_is_over_its_budget_and_the_day_is_used() {
    for (budget, hourly, expected) in [
        (240.0, 11.0, 240.0),
        (240.0, 8.0, 192.0),
        (2_400.0, 100.0, 2_362.0),
    ] {
        for is_clock in [false, true] {
            let policy: Box<dyn Policy> = if is_clock {
                Box::new(Clock::default())
            } else {
                Box::new(Greedy::default())
            };
            let mut planner = planner(policy, budget, |_| 1.0);
            planner.limit_hour(Some(hourly));
            let made = follow(&mut planner, 40.0, 9);
            let most = most_within(&made, 1.0 / 24.0);
            assert!(most as f64 <= hourly, "{most} of {hourly}");
            let all = a_day(&made, (20.0, 40.0), |_| true);
            // Who prefers some hours cannot use all that is left in the others.
            let unused = if is_clock { 0.12 } else { 0.02 };
            assert!(all <= 1.02 * expected, "{all} of {expected}");
            assert!(all >= (1.0 - unused) * expected, "{all} of {expected}");
        }
    }
}

#[test]
fn a_plan_is_silent_when_it_should_be_and_spends_as_much() {
    use geomi_refresh::Hours;
    // Silent from 20 to 8, half as much from 8 to 10.
    let share = |hour: usize| match hour % 24 {
        0..8 | 20.. => 0.0,
        8..10 => 0.5,
        _ => 1.0,
    };
    let mut planner = planner(Greedy::default(), 180.0, |_| 1.0);
    let account = limit(&mut planner, 0..1, 12.0);
    planner.use_hours(Hours::new(std::array::from_fn(share)), 0.0);
    planner.limit_hour(Some(20.0));
    let made = follow(&mut planner, 60.0, 13);
    let hour = |time: f64| time.fract() * 24.0;
    assert!(
        made.iter()
            .all(|(time, _)| (7.999..20.0).contains(&hour(*time)))
    );
    assert!(most_within(&made, 1.0 / 24.0) <= 20);
    let early = made.iter().filter(|(time, _)| hour(*time) < 10.0).count();
    let (early, later) = (early as f64 / 2.0, (made.len() - early) as f64 / 10.0);
    assert!(early < 0.75 * later, "{early} {later}");
    let all = a_day(&made, (30.0, 60.0), |_| true);
    assert!((all / 180.0 - 1.0).abs() < 0.03, "{all}");
    let of_site = a_day(&made, (30.0, 60.0), |page| site(page) == 0);
    assert!((11.7..=12.0).contains(&of_site), "{of_site}");
    assert!(most_in_a_day(&made, |page| site(page) == 0) <= 12);
    assert!(planner.account(account).price > planner.price());
    for page in 0..PAGES as PageId {
        let expected = hour(planner.expected(page) + 1e-6);
        assert!((8.0..20.0).contains(&expected), "{page}: {expected}");
    }
}
