//! The visits of a directory, by time, with what a plan needs of them.

use geomi_model::Visit;
use geomi_store::CrawlDir;
use geomi_store::segment;

use crate::CrawlError;

/// What a plan needs of a row: whoever reads visits for one reads these.
pub const PLAN_COLUMNS: &[&str] = &[
    "number",
    "time",
    "url",
    "seed",
    "via",
    "depth",
    "priority",
    "attempt",
    "is_robots",
    "state",
    "code",
    "location",
    "body_bytes",
    "total_us",
    "changed",
    "change_size",
    "link_type",
    "simhash",
    "early_us",
];

/// Hands every visit that is in a file to `hear`, until `hear` says that it is enough.
/// They come by time over all partitions, and in each in the order of their numbers. A
/// group of rows of each partition is in memory at a time.
pub fn read_visits(dir: &CrawlDir, mut hear: impl FnMut(&Visit) -> bool) -> Result<(), CrawlError> {
    let segments = segment::list(dir)?;
    for row in segment::by_time(dir, &segments, Some(PLAN_COLUMNS)) {
        let (_, visit) = row?;
        if !hear(&visit) {
            return Ok(());
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use geomi_model::{LinkKind, LinkType, NetworkState};
    use geomi_refresh::upkeep::facts;
    use geomi_url::CrawlUrl;

    use super::*;

    #[test]
    fn a_page_read_from_files_has_the_kin_it_had() {
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path()).unwrap();
        let mut visit = Visit::unknown(CrawlUrl::parse("http://a.co.kr/news/7").unwrap());
        visit.number = 1;
        (visit.state, visit.code) = (NetworkState::Ok, Some(200));
        (visit.depth, visit.body_bytes) = (2, 5_000);
        visit.link_type = Some(LinkType::default().with(LinkKind::Anchor));
        segment::write(&dir, None, std::slice::from_ref(&visit)).unwrap();
        let mut read = Vec::new();
        read_visits(&dir, |visit| {
            read.push(facts(visit));
            true
        })
        .unwrap();
        assert_eq!(read, [facts(&visit)]);
    }
}
