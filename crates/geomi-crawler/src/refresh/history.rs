//! The visits of a directory, in order, with what a plan needs of them.

use geomi_model::Visit;
use geomi_store::CrawlDir;
use geomi_store::segment;
use geomi_store::visits;

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

/// Hands every visit that is in a file to `hear`, in order and a group of rows in
/// memory at a time, until `hear` says that it is enough.
pub fn read_visits(dir: &CrawlDir, mut hear: impl FnMut(&Visit) -> bool) -> Result<(), CrawlError> {
    for segment in segment::list(dir)? {
        for visit in visits::read_visit_columns(&segment.table(dir), PLAN_COLUMNS)? {
            if !hear(&visit?) {
                return Ok(());
            }
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
        segment::write(&dir, std::slice::from_ref(&visit)).unwrap();
        let mut read = Vec::new();
        read_visits(&dir, |visit| {
            read.push(facts(visit));
            true
        })
        .unwrap();
        assert_eq!(read, [facts(&visit)]);
    }
}
