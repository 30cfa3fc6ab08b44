//! How a crawl's pages change, counted over its tables of visits.
//!
//! A visit says whether the page had changed since the visit before. That a page
//! is gone it says only together with an earlier visit that saved the page: one
//! that was never there was not lost. Tables are closed once and never written
//! again, so counts are kept with the list of tables they cover, and only tables
//! that came since are read. Memory is bounded: a grid of a week's hours, the
//! latest days, the first so many sites by name, and the first so many pages by
//! the hashes of their URLs.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::Arc;

use geomi_model::{Fate, Timestamp, Visit, Zone};
use geomi_store::segment::{self, Segment};
use geomi_store::{CrawlDir, StoreError, visits};

/// Days kept, the latest ones.
const DAYS_MAX: usize = 400;
/// Sites counted by name.
pub(crate) const SITES_MAX: usize = 50_000;
/// Saved pages that are remembered, so that it is known when they are gone.
pub(crate) const PAGES_MAX: usize = 1_000_000;
const DAY_S: i64 = 86_400;
/// What the count needs of a row.
const COLUMNS: [&str; 7] = [
    "time",
    "url",
    "state",
    "code",
    "changed",
    "change_size",
    "is_robots",
];

/// Visits that had a visit before, by what they found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Found {
    /// Changed.
    pub(crate) changed: u64,
    /// As before.
    pub(crate) same: u64,
    /// Answered with 404 or 410, and saved before.
    pub(crate) gone: u64,
}

impl Found {
    /// Share that had changed, of those that could be compared.
    pub(crate) fn share(self) -> Option<f64> {
        let seen = self.changed + self.same;
        (seen > 0).then(|| self.changed as f64 / seen as f64)
    }

    fn count(&mut self, sight: Sight) {
        match sight {
            Sight::Changed => self.changed += 1,
            Sight::Same => self.same += 1,
            Sight::Gone => self.gone += 1,
        }
    }
}

/// What a visit found of a page that was saved before.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Sight {
    Changed,
    Same,
    Gone,
}

/// Everything that was counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    /// The tables it covers.
    tables: Vec<Segment>,
    /// All of it.
    pub(crate) all: Found,
    /// The zone whose clock days and hours go by.
    pub(crate) zone: Zone,
    /// By day of the week, Monday first, and hour.
    pub(crate) week: [[Found; 24]; 7],
    /// By day since 1970.
    pub(crate) days: BTreeMap<i64, Found>,
    sites: HashMap<String, Found>,
    /// Hashes of the URLs that were saved; shared, because counts are copied
    /// whenever somebody looks.
    saved: Arc<HashSet<u64>>,
    /// Sites beyond those counted by name were seen.
    pub(crate) has_more_sites: bool,
    /// Saved pages beyond those remembered were seen.
    pub(crate) has_more_pages: bool,
}

impl Changes {
    /// What the crawl's closed tables say: this, and what came since.
    pub(crate) fn up_to_date(mut self, dir: &CrawlDir, zone: &Zone) -> Result<Self, StoreError> {
        let tables = segment::list(dir)?;
        // Another crawl in the same folder, or another zone, begins anew. Tables that
        // came since are the last ones of their partitions, which keeps the order of
        // each page's visits.
        let is_still_there = |table| tables.binary_search(table).is_ok();
        if !self.tables.iter().all(is_still_there) || self.zone != *zone {
            self = Self {
                zone: zone.clone(),
                ..Self::default()
            };
        }
        let known = std::mem::take(&mut self.tables);
        let is_new = |table: &&Segment| known.binary_search(table).is_err();
        for table in tables.iter().filter(is_new) {
            for visit in visits::read_visit_columns(&table.table(dir), &COLUMNS)? {
                self.count(&visit?);
            }
        }
        self.tables = tables;
        Ok(self)
    }

    fn count(&mut self, visit: &Visit) {
        if visit.is_robots {
            return;
        }
        let sight = self.sight(visit);
        self.remember(visit);
        if let Some(sight) = sight {
            self.count_sight(visit, sight);
        }
    }

    /// `None` where a visit is the first that could be compared, or failed.
    fn sight(&self, visit: &Visit) -> Option<Sight> {
        match visit.changed {
            Some(change) if change.changed => Some(Sight::Changed),
            Some(_) => Some(Sight::Same),
            None => self.is_gone(visit).then_some(Sight::Gone),
        }
    }

    /// Gone since it was saved: the server says so.
    fn is_gone(&self, visit: &Visit) -> bool {
        matches!(visit.code, Some(404 | 410)) && self.saved.contains(&visit.url.hash64().0)
    }

    fn remember(&mut self, visit: &Visit) {
        // What is saved is so at any try.
        let is_saved = Fate::of(visit, 1) == Fate::Saved;
        let page = visit.url.hash64().0;
        if !is_saved || self.saved.contains(&page) {
            return;
        }
        if self.saved.len() < PAGES_MAX {
            Arc::make_mut(&mut self.saved).insert(page);
        } else {
            self.has_more_pages = true;
        }
    }

    fn count_sight(&mut self, visit: &Visit, sight: Sight) {
        let second = (self.zone.days(visit.time) * DAY_S as f64).floor() as i64;
        let (day, hour) = (second.div_euclid(DAY_S), second.rem_euclid(DAY_S) / 3_600);
        // The first of January 1970 was a Thursday.
        let weekday = (day + 3).rem_euclid(7);
        self.all.count(sight);
        self.week[weekday as usize][hour as usize].count(sight);
        self.days.entry(day).or_default().count(sight);
        if self.days.len() > DAYS_MAX {
            self.days.pop_first();
        }
        let site = visit.url.site().to_string();
        if self.sites.len() < SITES_MAX || self.sites.contains_key(&site) {
            self.sites.entry(site).or_default().count(sight);
        } else {
            self.has_more_sites = true;
        }
    }

    /// The sites with the most changes.
    pub(crate) fn liveliest(&self, limit: usize) -> Vec<(&str, Found)> {
        let mut sites: Vec<(&str, Found)> = self
            .sites
            .iter()
            .filter(|(_, found)| found.changed > 0)
            .map(|(site, found)| (site.as_str(), *found))
            .collect();
        sites.sort_unstable_by_key(|(site, found)| (std::cmp::Reverse(found.changed), *site));
        sites.truncate(limit);
        sites
    }
}

/// A day since 1970 as a date.
pub(crate) fn date(day: i64) -> String {
    let text = Timestamp::from_secs(day * DAY_S).to_rfc3339_secs();
    text.get(..10).unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use geomi_model::{Change, NetworkState};
    use geomi_url::CrawlUrl;

    use super::*;

    fn visit(number: u64, site: &str, secs: i64, changed: Option<bool>) -> Visit {
        let url = CrawlUrl::parse(&format!("http://{site}/")).unwrap();
        let mut visit = Visit::unknown(url);
        visit.number = number;
        visit.time = Timestamp::from_secs(secs);
        visit.changed = changed.map(|changed| Change { changed, size: 0 });
        visit
    }

    #[test]
    fn tables_are_read_once_and_counted_by_hour_day_and_site() {
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path()).unwrap();
        // 2026-11-16 is a Monday.
        let monday = Timestamp::parse_compact("20261116093000").unwrap().micros() / 1_000_000;
        let rows = [
            visit(1, "a.test", monday, None),
            visit(2, "a.test", monday, Some(true)),
            visit(3, "b.test", monday, Some(false)),
        ];
        segment::write(&dir, None, &rows).unwrap();
        let first = Changes::default().up_to_date(&dir, &Zone::UTC).unwrap();
        let nine = first.week[0][9];
        assert_eq!((nine.changed, nine.same, nine.gone), (1, 1, 0));
        let seoul = Zone::named("Asia/Seoul").unwrap();
        let there = first.clone().up_to_date(&dir, &seoul).unwrap();
        assert_eq!((there.week[0][18], there.all), (nine, first.all));
        segment::write(
            &dir,
            None,
            &[visit(4, "a.test", monday + DAY_S, Some(true))],
        )
        .unwrap();
        let then = first.up_to_date(&dir, &Zone::UTC).unwrap();
        assert_eq!(
            then.all,
            Found {
                changed: 2,
                same: 1,
                gone: 0
            }
        );
        let days: Vec<String> = then.days.keys().map(|day| date(*day)).collect();
        assert_eq!(days, ["2026-11-16", "2026-11-17"]);
        assert_eq!(then.liveliest(5)[0].0, "a.test");
        assert_eq!(then.all.share(), Some(2.0 / 3.0));
    }

    #[test]
    fn tables_of_several_partitions_are_read_once() {
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path()).unwrap();
        let mut counted = Changes::default();
        // A partition with a lower number comes later, and each goes on.
        for (round, (partition, number)) in [(2, 1), (1, 1), (2, 2), (1, 2)].iter().enumerate() {
            let rows = [visit(*number, "a.test", DAY_S, Some(true))];
            segment::write(&dir, Some(*partition), &rows).unwrap();
            counted = counted.up_to_date(&dir, &Zone::UTC).unwrap();
            assert_eq!(counted.all.changed, round as u64 + 1);
        }
        let again = counted.clone().up_to_date(&dir, &Zone::UTC).unwrap();
        assert_eq!(again.all, counted.all);
    }

    /// A visit that was answered.
    fn answered(number: u64, site: &str, code: u16) -> Visit {
        let mut visit = visit(number, site, number as i64, None);
        visit.state = if code == 200 {
            NetworkState::Ok
        } else {
            NetworkState::Code
        };
        visit.code = Some(code);
        visit
    }

    #[test]
    fn only_what_was_saved_can_be_gone() {
        let mut changes = Changes::default();
        // Complete, but of a type that is not wanted: it was not stored.
        let mut unwanted = answered(1, "unwanted.test", 200);
        unwanted.state = NetworkState::Code;
        let mut unfinished = answered(2, "unfinished.test", 200);
        unfinished.state = NetworkState::DownloadTimeout;
        for visit in [unwanted, unfinished, answered(2, "saved.test", 200)] {
            changes.count(&visit);
        }
        for site in ["unwanted.test", "unfinished.test", "saved.test"] {
            changes.count(&answered(3, site, 404));
        }
        assert_eq!(changes.all.gone, 1);
    }

    #[test]
    fn pages_beyond_those_remembered_are_noticed() {
        let mut changes = Changes {
            saved: Arc::new((0..PAGES_MAX as u64 - 1).collect()),
            ..Changes::default()
        };
        for _ in 0..2 {
            changes.count(&answered(1, "last.test", 200));
        }
        assert!(!changes.has_more_pages);
        changes.count(&answered(2, "beyond.test", 200));
        assert!(changes.has_more_pages);
    }

    #[test]
    fn a_page_is_gone_only_if_it_was_there() {
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path()).unwrap();
        let rows = [
            answered(1, "never.test", 404),
            answered(2, "once.test", 200),
            answered(3, "never.test", 410),
        ];
        segment::write(&dir, None, &rows).unwrap();
        let first = Changes::default().up_to_date(&dir, &Zone::UTC).unwrap();
        assert_eq!(first.all, Found::default());
        segment::write(&dir, None, &[answered(4, "once.test", 410)]).unwrap();
        let then = first.up_to_date(&dir, &Zone::UTC).unwrap();
        assert_eq!(then.all.gone, 1);
    }
}
