//! Promotion: a URL that waits and turns out to be important gets a better place.
//!
//! Every link, also one to a URL known already, adds to what is known of its
//! importance ([`Importance`](geomi_frontier::Importance)). When that has doubled
//! and would have given the URL a better priority, it is queued once more with
//! that priority. Nobody looks for its old place: whichever comes second is found
//! to be void when its turn comes, by the record that the first one left.
//!
//! Only where pages are visited by priority and depth is not limited: the second entry
//! may be deeper than the first, and its links would be refused though the first one's
//! were wanted. Never a seed: its entry is the only one that settles the seed.

use geomi_frontier::{Credit, Entry, Known};
use geomi_model::LinkKind;
use geomi_url::CrawlUrl;

use crate::EngineError;
use crate::engine::{Around, Engine};
use crate::stage::admit::{Admission, Found};

/// The single record that says that URLs were ever promoted in this crawl.
pub(crate) const META: &str = "promoted";

impl Engine {
    /// A link leads to a URL that is known: promotes it, if it waits and has
    /// become important enough.
    pub(crate) fn promote(
        &mut self,
        around: &mut Around<'_>,
        on: &Entry,
        url: &CrawlUrl,
        kind: LinkKind,
        credit: Credit,
    ) -> Result<(), EngineError> {
        let hash = url.hash64();
        let known = around.shared.importance.known(hash);
        let is_over = known == Known::Done || self.queues.under_way.contains(&hash.0);
        if is_over || !self.rules.admit.promotes() || self.seeds.book.knows(url) {
            return Ok(());
        }
        let seed = self.seed(on.seed)?;
        let found = Found {
            url,
            kind,
            is_redirect: false,
            is_sitemap: false,
            on,
            importance: around.shared.importance.of(credit.cash),
            home: &seed.home,
            standing: self.standing(url, None),
        };
        let Admission::Queue(entry, _) = self.rules.admit.link(&found) else {
            return Ok(());
        };
        let before = match known {
            Known::Waits(priority) => priority,
            // About what it was when nothing was known of it.
            _ => self.rules.admit.priority_at(&found, entry.depth, 0.0),
        };
        if entry.priority >= before {
            return Ok(());
        }
        if self.store.record(url)?.is_some() {
            around.shared.importance.done(hash);
            return Ok(());
        }
        tracing::debug!(%url, before, priority = entry.priority, "promoted");
        around.shared.importance.queued(hash, entry.priority);
        self.note_promotion();
        let now = around.now;
        self.enqueue(entry, now)
    }

    /// From now on a URL may be queued twice.
    pub(crate) fn note_promotion(&mut self) {
        if !self.queues.has_promoted {
            self.queues.has_promoted = true;
            // Partition 0 is committed first: nothing promoted is durable before.
            self.store.set_meta(META, &true);
        }
    }

    /// Whether an entry is the old place of a URL that was promoted, and visited
    /// or is being visited.
    pub(crate) fn is_void(
        &self,
        around: &mut Around<'_>,
        entry: &Entry,
    ) -> Result<bool, EngineError> {
        if !self.queues.has_promoted || !entry.is_first_visit() {
            return Ok(false);
        }
        let hash = entry.url.hash64();
        if self.queues.under_way.contains(&hash.0) {
            return Ok(true);
        }
        // Its last place, and nothing was heard of it since: no need to look.
        if around.shared.importance.known(hash) == Known::Waits(entry.priority) {
            return Ok(false);
        }
        self.store.is_dealt_with(entry)
    }
}
