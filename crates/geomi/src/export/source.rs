//! The visits of a crawl directory, those that are meant, one after the other.

use anyhow::Context as _;
use geomi_model::Visit;
use geomi_store::{CrawlDir, segment};

use super::filter::Filter;
use crate::config::Problems;
use crate::words;

/// A crawl directory and what is wanted of it.
#[derive(Debug)]
pub(crate) struct Source {
    dir: CrawlDir,
    filter: Filter,
}

impl Source {
    /// Refuses a directory that is no crawl.
    pub(crate) fn open(dir: CrawlDir, filter: Filter) -> Result<Self, Problems> {
        if !dir.visits().is_dir() {
            let mut problems = Problems::default();
            problems.add_general(format!(
                "{} is no crawl directory: it has no folder visits/",
                dir.root().display()
            ));
            return Err(problems);
        }
        Ok(Self { dir, filter })
    }

    /// The directory.
    pub(crate) fn dir(&self) -> &CrawlDir {
        &self.dir
    }

    /// Visits in files.
    pub(crate) fn total(&self) -> anyhow::Result<u64> {
        let segments = segment::list(&self.dir)?;
        Ok(segments.iter().map(|one| one.visits()).sum())
    }

    /// Hands every visit on that is meant and that `fits`, up to the limit;
    /// returns how many.
    pub(crate) fn each(
        &self,
        fits: impl Fn(&Visit) -> bool,
        mut take: impl FnMut(Visit) -> anyhow::Result<()>,
    ) -> anyhow::Result<u64> {
        self.each_of_partition(fits, |_, visit| take(visit))
    }

    /// The same, with the partition of each visit where there are several.
    pub(crate) fn each_of_partition(
        &self,
        fits: impl Fn(&Visit) -> bool,
        mut take: impl FnMut(Option<u16>, Visit) -> anyhow::Result<()>,
    ) -> anyhow::Result<u64> {
        self.scan(self.filter.limit(), |partition, visit| {
            let is_meant = self.filter.has(&visit) && fits(&visit);
            if is_meant {
                take(partition, visit)?;
            }
            Ok(is_meant)
        })
    }

    /// Every visit, whatever the filter says.
    pub(crate) fn every(
        &self,
        mut take: impl FnMut(Visit) -> anyhow::Result<()>,
    ) -> anyhow::Result<()> {
        self.scan(u64::MAX, |_, visit| take(visit).map(|()| true))?;
        Ok(())
    }

    /// Every visit and whether it is meant, until `take` has said as often as the limit
    /// is that it took one; returns how many it took.
    pub(crate) fn judge(
        &self,
        mut take: impl FnMut(Visit, bool) -> anyhow::Result<bool>,
    ) -> anyhow::Result<u64> {
        self.scan(self.filter.limit(), |_, visit| {
            let is_meant = self.filter.has(&visit);
            take(visit, is_meant)
        })
    }

    /// Calls `take` with each visit, by time over all partitions, until it has said yes
    /// `limit` times; returns how often it did.
    fn scan(
        &self,
        limit: u64,
        mut take: impl FnMut(Option<u16>, Visit) -> anyhow::Result<bool>,
    ) -> anyhow::Result<u64> {
        let mut taken = 0;
        let segments = segment::list(&self.dir)
            .with_context(|| format!("cannot read the visits of {}", self.dir.root().display()))?;
        let mut rows = segment::by_time(&self.dir, &segments, None);
        while taken < limit
            && let Some(row) = rows.next()
        {
            let (partition, visit) = row?;
            taken += u64::from(take(partition, visit)?);
        }
        Ok(taken)
    }

    /// What is not in files yet, in words, if anything is.
    pub(crate) fn missing(&self) -> anyhow::Result<Option<String>> {
        let owner = self.dir.lock_owner()?;
        let in_files = segment::last_numbers(&segment::list(&self.dir)?);
        let in_files = in_files.values().sum();
        let missing = self.visits_counted().saturating_sub(in_files);
        Ok(match owner {
            Some(_) => Some(
                "note: the crawl is running; visits since its last segment are not included"
                    .to_owned(),
            ),
            None if missing > 0 => Some(format!(
                "note: the crawl was interrupted and {} not in visits/ yet: run it again, which writes them",
                if missing == 1 {
                    "1 visit is".to_owned()
                } else {
                    format!("{} are", words::plural(missing, "visit"))
                }
            )),
            None => None,
        })
    }

    /// Visits as status.json has them; it is a courtesy file, and without it
    /// there is nothing to compare with.
    fn visits_counted(&self) -> u64 {
        let status = std::fs::read(self.dir.status()).unwrap_or_default();
        let status: serde_json::Value = serde_json::from_slice(&status).unwrap_or_default();
        status["counters"]["visits"].as_u64().unwrap_or(0)
    }
}
