//! How a crawl's pages change, counted over its tables of visits.
//!
//! A visit says whether the page had changed since the visit before. Tables are
//! closed once and never written again, so counts are kept with the list of
//! tables they cover, and only tables that came since are read. Memory is
//! bounded: a grid of a week's hours, the latest days, and the first so many
//! sites by name.

use std::collections::{BTreeMap, HashMap};

use geomi_model::{Timestamp, Visit};
use geomi_store::segment::{self, Segment};
use geomi_store::{CrawlDir, StoreError, visits};

/// Days kept, the latest ones.
const DAYS_MAX: usize = 400;
/// Sites counted by name.
const SITES_MAX: usize = 50_000;
const DAY_S: i64 = 86_400;
/// What the count needs of a row.
const COLUMNS: [&str; 6] = ["time", "url", "code", "changed", "change_size", "is_robots"];

/// Visits that had a visit before, by what they found.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Found {
    /// Changed.
    pub(crate) changed: u64,
    /// As before.
    pub(crate) same: u64,
    /// Answered with 404 or 410.
    pub(crate) gone: u64,
}

impl Found {
    /// Share that had changed, of those that could be compared.
    pub(crate) fn share(self) -> Option<f64> {
        let seen = self.changed + self.same;
        (seen > 0).then(|| self.changed as f64 / seen as f64)
    }

    fn count(&mut self, visit: &Visit) {
        match visit.changed {
            Some(change) if change.changed => self.changed += 1,
            Some(_) => self.same += 1,
            None => self.gone += u64::from(is_gone(visit)),
        }
    }
}

/// Everything that was counted.
#[derive(Clone, Debug, Default)]
pub(crate) struct Changes {
    /// The tables it covers.
    tables: Vec<Segment>,
    /// All of it.
    pub(crate) all: Found,
    /// By day of the week, Monday first, and hour, in UTC.
    pub(crate) week: [[Found; 24]; 7],
    /// By day since 1970.
    pub(crate) days: BTreeMap<i64, Found>,
    sites: HashMap<String, Found>,
    /// Sites beyond those counted by name were seen.
    pub(crate) has_more_sites: bool,
}

impl Changes {
    /// What the crawl's closed tables say: this, and what came since.
    pub(crate) fn up_to_date(mut self, dir: &CrawlDir) -> Result<Self, StoreError> {
        let tables = segment::list(dir)?;
        // Another crawl in the same folder begins anew.
        if !tables.starts_with(&self.tables) {
            self = Self::default();
        }
        for table in &tables[self.tables.len()..] {
            for visit in visits::read_visit_columns(&table.table(dir), &COLUMNS)? {
                self.count(&visit?);
            }
        }
        self.tables = tables;
        Ok(self)
    }

    fn count(&mut self, visit: &Visit) {
        if visit.is_robots || visit.changed.is_none() && !is_gone(visit) {
            return;
        }
        let second = visit.time.micros().div_euclid(1_000_000);
        let (day, hour) = (second.div_euclid(DAY_S), second.rem_euclid(DAY_S) / 3_600);
        // The first of January 1970 was a Thursday.
        let weekday = (day + 3).rem_euclid(7);
        self.all.count(visit);
        self.week[weekday as usize][hour as usize].count(visit);
        self.days.entry(day).or_default().count(visit);
        if self.days.len() > DAYS_MAX {
            self.days.pop_first();
        }
        let site = visit.url.site().to_string();
        if self.sites.len() < SITES_MAX || self.sites.contains_key(&site) {
            self.sites.entry(site).or_default().count(visit);
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

/// Gone since it was linked to or seen: the server says so.
fn is_gone(visit: &Visit) -> bool {
    matches!(visit.code, Some(404 | 410))
}

/// A day since 1970 as a date.
pub(crate) fn date(day: i64) -> String {
    let text = Timestamp::from_secs(day * DAY_S).to_rfc3339_secs();
    text.get(..10).unwrap_or(&text).to_owned()
}

#[cfg(test)]
mod tests {
    use geomi_model::Change;
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
        segment::write(&dir, &rows).unwrap();
        let first = Changes::default().up_to_date(&dir).unwrap();
        let nine = first.week[0][9];
        assert_eq!((nine.changed, nine.same, nine.gone), (1, 1, 0));
        let mut gone = visit(4, "b.test", monday + DAY_S, None);
        gone.code = Some(404);
        segment::write(
            &dir,
            &[gone, visit(5, "a.test", monday + DAY_S, Some(true))],
        )
        .unwrap();
        let then = first.up_to_date(&dir).unwrap();
        assert_eq!(
            then.all,
            Found {
                changed: 2,
                same: 1,
                gone: 1
            }
        );
        let days: Vec<String> = then.days.keys().map(|day| date(*day)).collect();
        assert_eq!(days, ["2026-11-16", "2026-11-17"]);
        assert_eq!(then.liveliest(5)[0].0, "a.test");
        assert_eq!(then.all.share(), Some(2.0 / 3.0));
    }
}
