//! The pages of earlier runs that near-duplicates are looked for among.

use geomi_engine::Engine;
use geomi_model::Visit;
use geomi_novelty::{Nearby, PAGES_MAX};
use geomi_store::{CrawlDir, segment};

use crate::CrawlError;

/// The pages of earlier runs that near-duplicates are looked for among: the last
/// visits of each partition by time, as many of each as are ever remembered.
pub(crate) fn remembered(dir: &CrawlDir, engines: &[Engine]) -> Result<Nearby, CrawlError> {
    let mut nearby = Nearby::default();
    let mut segments = segment::list(dir)?;
    let last = segment::last_numbers(&segments);
    segments.retain(|segment| {
        let last = last.get(&segment.partition).copied().unwrap_or(0);
        segment.last > last.saturating_sub(PAGES_MAX as u64)
    });
    for row in segment::by_time(dir, &segments, Some(&["url", "simhash"])) {
        let (_, visit) = row?;
        remember(&mut nearby, &visit);
    }
    for engine in engines {
        engine.loose_visits(&mut |visit| remember(&mut nearby, &visit))?;
    }
    Ok(nearby)
}

fn remember(nearby: &mut Nearby, visit: &Visit) {
    if let Some(simhash) = visit.facts.simhash {
        nearby.meet(simhash, visit.url.hash64().0);
    }
}
