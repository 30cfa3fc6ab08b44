//! The visits of a directory, in order, with what a plan needs of them.

use geomi_model::Visit;
use geomi_store::CrawlDir;
use geomi_store::segment;
use geomi_store::visits;

use crate::CrawlError;

/// What is read of a row.
const COLUMNS: &[&str] = &[
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
        for visit in visits::read_visit_columns(&segment.table(dir), COLUMNS)? {
            if !hear(&visit?) {
                return Ok(());
            }
        }
    }
    Ok(())
}
