//! Why a crawl at rest stands as it does, as `geomi explain` tells it.

use geomi_engine::Ending;
use geomi_engine::explain::{Cause, Disk, causes_at_rest};

use crate::app::App;
use crate::library::Crawl;

/// The reasons, the most important first; none while a process is at work. Blocks.
pub(crate) fn causes(app: &App, crawl: &Crawl) -> Vec<Cause> {
    if crawl.is_running() {
        return Vec::new();
    }
    causes_at_rest(crawl.status.as_ref(), disk(app, crawl))
}

/// Room on its disk, where that matters: a disk that cannot be measured is not low.
fn disk(app: &App, crawl: &Crawl) -> Disk {
    let reason = crawl.status.as_ref().and_then(|status| status.reason);
    if reason != Some(Ending::DiskFull) {
        return Disk::default();
    }
    let config = app.options.settings.of_crawl(crawl.dir.root());
    Disk {
        free: crawl.dir.free_bytes().unwrap_or(0),
        min: config.map_or(0, |config| config.limits.disk_free_min),
    }
}
