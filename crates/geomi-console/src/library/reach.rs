//! How far the closed tables of a crawl reach.
//!
//! Pages, captures, changes and reports are read from tables that are closed.
//! While a crawl runs, its latest visits are in none yet; whoever looks is told.

use geomi_model::Timestamp;
use geomi_store::segment::{self, Segment};
use geomi_store::{CrawlDir, StoreError, visits};

/// What is in closed tables.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Reach {
    /// How many visits.
    pub(crate) visits: u64,
    /// When the latest of them was made.
    pub(crate) until: Option<Timestamp>,
}

impl Reach {
    /// That of a crawl. Only the last table of each partition is opened.
    pub(crate) fn of(dir: &CrawlDir) -> Result<Self, StoreError> {
        let tables = segment::list(dir)?;
        let sizes = tables.iter().map(|table| table.visits());
        let mut until = None;
        let partitions = tables.chunk_by(|one, next| one.partition == next.partition);
        for last in partitions.filter_map(<[Segment]>::last) {
            for visit in visits::read_visit_columns(&last.table(dir), &["time"])? {
                until = until.max(Some(visit?.time));
            }
        }
        Ok(Self {
            visits: sizes.sum(),
            until,
        })
    }
}

#[cfg(test)]
mod tests {
    use geomi_model::Visit;
    use geomi_url::CrawlUrl;

    use super::*;

    #[test]
    fn the_last_tables_of_all_partitions_count() {
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path()).unwrap();
        let visit = |number: u64, secs: i64| {
            let mut visit = Visit::unknown(CrawlUrl::parse("http://a.test/").unwrap());
            visit.number = number;
            visit.time = Timestamp::from_secs(secs);
            visit
        };
        segment::write(&dir, Some(1), &[visit(1, 90)]).unwrap();
        segment::write(&dir, Some(2), &[visit(1, 50)]).unwrap();
        let expected = Reach {
            visits: 2,
            until: Some(Timestamp::from_secs(90)),
        };
        assert_eq!(Reach::of(&dir).unwrap(), expected);
    }

    #[test]
    fn the_latest_visit_of_the_last_table_counts() {
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path()).unwrap();
        assert_eq!(Reach::of(&dir).unwrap(), Reach::default());
        let visit = |number: u64, secs: i64| {
            let mut visit = Visit::unknown(CrawlUrl::parse("http://a.test/").unwrap());
            visit.number = number;
            visit.time = Timestamp::from_secs(secs);
            visit
        };
        segment::write(&dir, None, &[visit(1, 10), visit(2, 20)]).unwrap();
        segment::write(&dir, None, &[visit(3, 40), visit(4, 30)]).unwrap();
        let expected = Reach {
            visits: 4,
            until: Some(Timestamp::from_secs(40)),
        };
        assert_eq!(Reach::of(&dir).unwrap(), expected);
    }
}
