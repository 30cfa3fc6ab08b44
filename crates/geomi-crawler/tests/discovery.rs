//! New pages found while a crawl is kept fresh have a budget of their own.

mod house;

use std::collections::BTreeSet;

use geomi_crawler::CrawlConfig;
use geomi_engine::{Ending, RefreshStatus, Status};
use geomi_refresh::upkeep::{Budget, Drive, RefreshConfig};
use geomi_scope::ScopeKind;
use geomi_testweb::{FixedPage, SiteBehaviour, WebSpec};
use house::House;

const DAYS: usize = 200;
const BUDGET: f64 = 1e9;

/// A site that gets a calendar after its first crawl: each day leads to the next ones.
fn house() -> (House, CrawlConfig) {
    let day = |at: usize| format!("/day/{at}");
    let front = FixedPage::html("<title>front</title><a href=/news>news</a>");
    let later = FixedPage::html("<title>front</title><a href=/news>n</a><a href=/day/0>c</a>");
    let mut fixed = vec![
        ("/".to_owned(), front.first_only(1)),
        ("/".to_owned(), later),
        ("/news".to_owned(), FixedPage::html("<title>news</title>")),
    ];
    fixed.extend((0..DAYS).map(|at| {
        let links = (at + 1..(at + 4).min(DAYS))
            .map(|next| format!("<a href={}>{next}</a>", day(next)))
            .collect::<Vec<_>>()
            .concat();
        (
            day(at),
            FixedPage::html(format!("<title>day {at}</title>{links}")),
        )
    }));
    let mut spec = WebSpec::plain(1, 1);
    spec.site_overrides = vec![(
        0,
        SiteBehaviour {
            fixed,
            ..SiteBehaviour::default()
        },
    )];
    let house = House::new(spec);
    let mut config = house.config();
    config.engine.scope.kind = ScopeKind::Host;
    config.engine.novelty.is_on = false;
    (house, config)
}

/// Days that were asked for, however often.
fn days_asked_for(house: &House) -> usize {
    let log = house.server.log();
    let targets = log.entries().into_iter().map(|entry| entry.target.clone());
    let days: BTreeSet<String> = targets.filter(|at| at.starts_with("/day/")).collect();
    days.len()
}

/// Visits every known page once.
fn refreshing(config: &CrawlConfig, discovery_per_day: Option<u64>) -> CrawlConfig {
    let mut config = CrawlConfig {
        seeds: Vec::new(),
        ..config.clone()
    };
    config.engine.refresh = Some(RefreshConfig {
        // So large that every page is due at once.
        budget: Budget::PerDay(BUDGET),
        drive: Drive::Rounds,
        once: true,
        discovery_per_day,
        ..RefreshConfig::default()
    });
    config
}

fn told(status: &Status) -> &RefreshStatus {
    status.refresh.as_ref().expect("it was kept fresh")
}

#[test]
fn an_endless_calendar_takes_no_more_than_its_budget() {
    let (house, config) = house();
    let first = house.crawl(&config);
    assert_eq!((first.counters.saved, days_asked_for(&house)), (2, 0));
    let status = house.crawl(&refreshing(&config, Some(10)));
    assert_eq!(status.reason, Some(Ending::Incomplete));
    assert_eq!(days_asked_for(&house), 10);
    let refresh = told(&status);
    let left = status.left.as_ref().expect("new pages are postponed");
    assert_eq!((left.urls, left.groups.len()), (refresh.postponed, 1));
    assert_eq!(left.groups[0].code(), "postponed");
    assert_eq!(left.groups[0].new_pages_per_day, Some(10));
    assert_eq!(refresh.discovery_per_day, Some(10.0));
    assert_eq!(refresh.discovered, 10);
    assert!(refresh.postponed > 0);
    // The allowance is durable: another run on the same day finds nothing left.
    let status = house.crawl(&refreshing(&config, Some(10)));
    assert_eq!(days_asked_for(&house), 10);
    assert!(told(&status).postponed > 0);
    // A larger budget goes on with what was postponed.
    let status = house.crawl(&refreshing(&config, Some(1_000)));
    assert_eq!(days_asked_for(&house), DAYS);
    assert_eq!(told(&status).postponed, 0);
    assert_eq!(status.reason, Some(Ending::Finished));
    assert_eq!(told(&status).discovered, DAYS as u64);
    house.verify();
}

#[test]
fn a_crawl_without_a_plan_fetches_what_was_postponed() {
    let (house, config) = house();
    house.crawl(&config);
    house.crawl(&refreshing(&config, Some(10)));
    assert_eq!(days_asked_for(&house), 10);
    let status = house.crawl(&config);
    assert_eq!(status.reason, Some(Ending::Finished));
    assert_eq!(days_asked_for(&house), DAYS, "each day once");
    house.verify();
}

#[test]
fn unless_said_otherwise_new_pages_may_cost_as_much_as_the_plan() {
    let (house, config) = house();
    house.crawl(&config);
    let status = house.crawl(&refreshing(&config, None));
    assert_eq!(told(&status).discovery_per_day, Some(BUDGET));
    assert_eq!(days_asked_for(&house), DAYS);
    let none = house.crawl(&refreshing(&config, Some(0)));
    assert_eq!(told(&none).discovery_per_day, Some(0.0));
}

#[test]
fn new_pages_do_not_raise_the_budget_that_finds_more_of_them() {
    const PAGES: usize = 1_000;
    let path = |at: usize| format!("/p/{at}");
    let links = (1..PAGES).map(|at| format!("<a href={}>{at}</a>", path(at)));
    let links = links.collect::<Vec<_>>().concat();
    let page = |at| FixedPage::html(format!("<title>page {at}</title>"));
    let mut fixed: Vec<(String, FixedPage)> = (1..PAGES).map(|at| (path(at), page(at))).collect();
    fixed.push(("/".to_owned(), FixedPage::html(links)));
    let mut spec = WebSpec::plain(1, 1);
    let site = SiteBehaviour {
        fixed,
        ..SiteBehaviour::default()
    };
    spec.site_overrides = vec![(0, site)];
    let house = House::new(spec);
    let mut config = house.config();
    config.engine.scope.kind = ScopeKind::Host;
    config.engine.novelty.is_on = false;
    config.limits.pages_max = Some(50);
    assert_eq!(house.crawl(&config).reason, Some(Ending::PageLimit));
    config.limits.pages_max = None;
    let mut daily = refreshing(&config, None);
    daily.engine.refresh = daily.engine.refresh.map(|refresh| RefreshConfig {
        budget: Budget::PerPage(1.0),
        ..refresh
    });
    let status = house.crawl(&daily);
    assert_eq!(told(&status).discovery_per_day, Some(50.0));
    assert_eq!(told(&status).discovered, 50, "as many as were known");
    // The day has one allowance, however many runs there are.
    let status = house.crawl(&daily);
    assert_eq!(told(&status).discovery_per_day, Some(50.0));
    assert_eq!(told(&status).discovered, 50);
}
