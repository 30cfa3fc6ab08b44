//! How fresh the copies of a crawl are, and how right its plan was, estimated over its
//! tables of visits.
//!
//! An estimate needs what is believed of every page, which is learned from all of its
//! visits. So that a large crawl costs neither memory nor minutes, some of its pages are
//! taken: by the hashes of their URLs, which is as good as by chance, and with all of
//! their visits. Freshness, age, load ratio and predictions are means over pages or
//! visits, so that those of the sample are those of the crawl, to a point in a hundred
//! where the crawl is large enough to need one.
//!
//! All rows are read for it. Tables are closed once and never written again: what was
//! estimated holds while no other is closed.

use geomi_crawler::CrawlConfig;
use geomi_crawler::refresh::PLAN_COLUMNS;
use geomi_model::{Timestamp, Visit};
use geomi_refresh::upkeep::days;
use geomi_report::freshness::{Class, Past, Point, Tally, Upkeep};
use geomi_store::segment::{self, Segment};
use geomi_store::{CrawlDir, StoreError};

/// Visits that are taken, about.
const VISITS: u64 = 100_000;

/// Everything that was estimated.
#[derive(Clone, Debug)]
pub(crate) struct Freshness {
    /// The tables it covers.
    tables: Vec<Segment>,
    /// Freshness and age over time.
    pub(crate) points: Vec<Point>,
    /// Predicted against seen; those with visits.
    pub(crate) classes: Vec<Class>,
    /// Requests a day for each page; nothing if less than a day was seen.
    pub(crate) load_ratio: Option<f64>,
    /// Pages it was estimated of.
    pub(crate) pages: usize,
    /// One page in so many was taken.
    pub(crate) one_in: u64,
}

/// At which time, as far as the crawl knows.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Times {
    /// When the crawl last reported by its own clock, which may have been a fast one.
    pub(crate) reported: Timestamp,
    pub(crate) now: Timestamp,
}

impl Freshness {
    /// Estimates it.
    pub(crate) fn of(
        dir: &CrawlDir,
        config: &CrawlConfig,
        times: Times,
    ) -> Result<Self, StoreError> {
        Self::sampled(dir, config, times, VISITS)
    }

    fn sampled(
        dir: &CrawlDir,
        config: &CrawlConfig,
        times: Times,
        visits_max: u64,
    ) -> Result<Self, StoreError> {
        let tables = segment::list(dir)?;
        let rows: u64 = tables.iter().map(|table| table.visits()).sum();
        let one_in = rows.div_ceil(visits_max).max(1);
        let mut past = Past::new(&config.engine.plan, config.engine.tries);
        let (mut tally, mut upkeep) = (Tally::default(), Upkeep::default());
        // What is learned of one page is believed of others, so time orders all of them.
        for visit in segment::by_time(dir, &tables, Some(PLAN_COLUMNS)) {
            let (_, visit) = visit?;
            if is_taken(&visit, one_in) {
                past.take(&visit, &mut |moment| {
                    tally.take(moment);
                    upkeep.take(moment);
                });
            }
        }
        let zone = &config.engine.plan.timezone;
        tally.reported(zone.days(times.reported));
        let now = zone.days(times.now.max(times.reported));
        let mut points = upkeep.over_time(&past.beliefs(), now, |_, _| None);
        // Plans count by the clock of their zone, pictures in UTC.
        for point in &mut points {
            point.at = days(zone.instant(point.at));
        }
        let pages = past.seen.len();
        let classes = tally.classes.iter().filter(|class| class.visits > 0);
        Ok(Self {
            tables,
            points,
            classes: classes.copied().collect(),
            load_ratio: tally
                .requests_a_day()
                .map(|requests| requests / pages.max(1) as f64),
            pages,
            one_in,
        })
    }

    /// Whether it was estimated of some of the pages only.
    pub(crate) fn is_sample(&self) -> bool {
        self.one_in > 1
    }

    /// Whether no table was closed since.
    pub(crate) fn is_up_to_date(&self, dir: &CrawlDir) -> Result<bool, StoreError> {
        Ok(segment::list(dir)? == self.tables)
    }
}

/// Whether the page of a visit is among those that are taken.
fn is_taken(visit: &Visit, one_in: u64) -> bool {
    visit.url.hash64().0.is_multiple_of(one_in)
}

#[cfg(test)]
pub(crate) mod tests {
    use std::time::Duration;

    use geomi_model::{Change, NetworkState};
    use geomi_refresh::upkeep::instant;
    use geomi_url::CrawlUrl;

    use super::*;

    const PAGES: u64 = 400;
    /// The day on which the visits begin.
    pub(crate) const BEGIN: f64 = 20_000.0;
    const DAYS: u64 = 20;

    /// Visits of twenty days to pages that are looked at once a day; every fourth has
    /// changed each time, the others never do.
    pub(crate) fn visits() -> Vec<Visit> {
        let mut visits = Vec::new();
        for day in 0..DAYS {
            for page in 0..PAGES {
                let url = CrawlUrl::parse(&format!("http://a.test/{page}")).unwrap();
                let mut visit = Visit::unknown(url);
                visit.number = day * PAGES + page + 1;
                visit.time = instant(BEGIN + day as f64 + page as f64 / PAGES as f64);
                (visit.state, visit.code) = (NetworkState::Ok, Some(200));
                visit.attempt = 1;
                visit.phases.total = Duration::from_millis(5);
                let changed = page.is_multiple_of(4);
                visit.changed = (day > 0).then_some(Change { changed, size: 0 });
                visits.push(visit);
            }
        }
        visits
    }

    /// A directory with these visits in two tables.
    pub(crate) fn write(dir: &CrawlDir) {
        let visits = visits();
        let (first, second) = visits.split_at(visits.len() / 2);
        segment::write(dir, None, first).unwrap();
        segment::write(dir, None, second).unwrap();
    }

    fn estimated(visits_max: u64) -> Freshness {
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path()).unwrap();
        write(&dir);
        let end = instant(BEGIN + DAYS as f64);
        let times = Times {
            reported: end,
            now: end,
        };
        let config = CrawlConfig::new(Vec::new());
        let found = Freshness::sampled(&dir, &config, times, visits_max).unwrap();
        assert!(found.is_up_to_date(&dir).unwrap());
        let mut more = visits()[..1].to_vec();
        more[0].number = DAYS * PAGES + 1;
        segment::write(&dir, None, &more).unwrap();
        assert!(!found.is_up_to_date(&dir).unwrap());
        found
    }

    #[test]
    fn pages_that_never_change_are_fresh_and_the_others_are_not() {
        let found = estimated(VISITS);
        assert_eq!((found.pages, found.one_in), (PAGES as usize, 1));
        let now = found.points.last().unwrap();
        assert!((now.at - BEGIN - DAYS as f64).abs() < 1e-6);
        let fresh = now.estimated.freshness;
        assert!((0.72..0.9).contains(&fresh), "{fresh}");
        assert!(now.estimated.age_h > 0.1, "{now:?}");
        let load = found.load_ratio.unwrap();
        assert!((load - 1.0).abs() < 0.1, "{load}");
        let compared: u64 = found.classes.iter().map(|class| class.visits).sum();
        assert_eq!(compared, (DAYS - 1) * PAGES);
        let (low, high) = (found.classes.first(), found.classes.last());
        assert!(low.unwrap().seen() < 0.1 && high.unwrap().seen() > 0.9);
    }

    #[test]
    fn a_sample_says_what_all_pages_say() {
        let (all, some) = (estimated(VISITS), estimated(DAYS * PAGES / 4));
        assert_eq!(some.one_in, 4);
        assert!((60..140).contains(&some.pages), "{}", some.pages);
        let now = |of: &Freshness| of.points.last().unwrap().estimated;
        let (all, some) = (now(&all), now(&some));
        // A hundred pages of which a quarter changes: four points a deviation.
        assert!(
            (all.freshness - some.freshness).abs() < 0.12,
            "{all:?} {some:?}"
        );
    }
}
