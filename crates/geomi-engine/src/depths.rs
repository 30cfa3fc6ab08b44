//! Depths: the shortest known path to each URL.
//!
//! A URL may be found by a long path first and by a shorter one later. Where depth
//! matters (pages are visited breadth-first, or a limit of depth is set), the shortest
//! path is kept per URL, also of URLs refused as too deep and of deferred ones. When
//! a shorter one appears,
//!
//! * a URL that waits or is under way gets the new depth, and breadth-first also queues
//!   it a second time at that depth: whichever entry comes second is void, as with
//!   [promotion](crate::promotion);
//! * a URL refused as too deep is admitted, if the new depth is within the limit;
//! * a URL that was visited keeps the depth of its visit, and its links theirs.
//!
//! A URL refused as too deep is also kept with its queue entry. A run whose limit of
//! depth is another one admits those that are now within the limit, at its start.
//!
//! The last case cannot occur on a site whose pages are visited breadth-first and are
//! reached from seeds known at the start. It can where pages are visited by priority,
//! or where paths lead across sites, which do not wait for each other.

use std::sync::Arc;

use geomi_frontier::{Entry, PageOrder};
use geomi_scope::{Candidate, ScopeConfig};
use geomi_url::CrawlUrl;
use serde::{Deserialize, Serialize};

use crate::EngineError;
use crate::engine::{Around, Engine};
use crate::stage::admit::{Admission, Found};

/// The shortest known path to a URL.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct ShortestPath {
    /// Links away from the seed.
    pub(crate) depth: u16,
    /// Number of that seed.
    pub(crate) seed: u32,
    /// The page before it on that path.
    pub(crate) via: Option<CrawlUrl>,
}

/// URLs refused as too deep that are looked at between two commits.
const ROWS_MAX: usize = 512;

/// The single record of [`ScopeBefore`].
const SCOPE_META: &str = "scope";

/// The rules of scope that a run began with, as text: it is only compared.
#[derive(PartialEq, Eq, Debug, Serialize, Deserialize)]
struct ScopeBefore {
    /// The limits of depth.
    depths: String,
    /// Everything else.
    rest: String,
}

impl ScopeBefore {
    fn of(scope: &ScopeConfig) -> Self {
        let sites = scope.sites.iter();
        let depths = sites.map(|site| (&site.names, site.depth_max));
        let depths: Vec<_> = depths.filter(|(_, depth)| depth.is_some()).collect();
        let mut rest = scope.clone();
        rest.depth_max = None;
        for site in &mut rest.sites {
            site.depth_max = None;
        }
        Self {
            depths: format!("{:?} {depths:?}", scope.depth_max),
            rest: format!("{rest:?}"),
        }
    }
}

impl ShortestPath {
    fn of(entry: &Entry) -> Self {
        Self {
            depth: entry.depth,
            seed: entry.seed,
            via: entry.via.clone(),
        }
    }
}

impl Engine {
    /// A link leads to a URL that is known: if by a shorter path than before, its
    /// depth is corrected.
    pub(crate) fn found_again(
        &mut self,
        around: &mut Around<'_>,
        found: &Found<'_>,
    ) -> Result<(), EngineError> {
        let depth = found.candidate().depth;
        if !self.is_shorter(found.url, depth)? {
            return Ok(());
        }
        match self.rules.admit.link(found) {
            Admission::Queue(entry, _) => self.shorten(around, entry),
            _ => Ok(()),
        }
    }

    /// Corrects the depth of a URL that was admitted before, if this entry is nearer
    /// to its seed.
    pub(crate) fn shorten(
        &mut self,
        around: &mut Around<'_>,
        entry: Entry,
    ) -> Result<(), EngineError> {
        if !self.rules.admit.tracks_depth() || !self.is_shorter(&entry.url, entry.depth)? {
            return Ok(());
        }
        tracing::debug!(url = %entry.url, depth = entry.depth, "shorter path");
        self.store
            .set_shortest(&entry.url, &ShortestPath::of(&entry));
        let hash = entry.url.hash64();
        let is_queued = self.store.has_seen(entry.url.site_hash(), hash)?
            && !self.queues.under_way.contains(&hash.0)
            && self.store.record(&entry.url)?.is_none();
        if self.rules.config.page_order() != PageOrder::BreadthFirst || !is_queued {
            return Ok(());
        }
        // Only the first entry of a seed settles the seed.
        let entry = Entry {
            is_seed: false,
            ..entry
        };
        self.note_promotion();
        let now = around.now;
        self.enqueue(entry, now)
    }

    fn is_shorter(&self, url: &CrawlUrl, depth: u16) -> Result<bool, EngineError> {
        let known = self.store.shortest(url)?;
        Ok(known.is_some_and(|known| depth < known.depth))
    }

    /// Remembers the path to a URL that is about to be queued or held back, and gives
    /// it a shorter one if that is known.
    pub(crate) fn note_path(&mut self, entry: &mut Entry) -> Result<(), EngineError> {
        if !self.rules.admit.tracks_depth() {
            return Ok(());
        }
        match self.store.shortest(&entry.url)? {
            Some(known) if known.depth <= entry.depth => follow(entry, known),
            _ => self
                .store
                .set_shortest(&entry.url, &ShortestPath::of(entry)),
        }
        Ok(())
    }

    /// Remembers the path to a URL that is refused as too deep.
    pub(crate) fn note_too_deep(&mut self, found: &Found<'_>) -> Result<(), EngineError> {
        let depth = found.candidate().depth;
        let known = self.store.shortest(found.url)?;
        if known.is_none_or(|known| depth < known.depth) {
            let path = ShortestPath {
                depth,
                seed: found.on.seed,
                via: Some(found.on.url.clone()),
            };
            self.store.set_shortest(found.url, &path);
            self.store.set_too_deep(&Entry {
                url: found.url.clone(),
                seed: found.on.seed,
                via: Some(found.on.url.clone()),
                kind: found.kind,
                depth,
                priority: found.on.priority,
                attempts: 0,
                redirects: 0,
                is_seed: false,
                is_revisit: false,
                not_before: None,
            });
        }
        Ok(())
    }

    /// Compares the rules of scope with those of the last run. If the limit of depth is
    /// another one, URLs are queued that it refused and now allows. Links that other
    /// rules refused were not kept, which is said.
    pub(crate) fn compare_scope(&mut self, around: &mut Around<'_>) -> Result<(), EngineError> {
        let scope = ScopeBefore::of(&self.rules.config.scope);
        let before: Option<ScopeBefore> = self.store.meta(SCOPE_META)?;
        if before.as_ref() == Some(&scope) {
            return Ok(());
        }
        if let Some(before) = before {
            if before.depths != scope.depths {
                self.admit_once_too_deep(around)?;
            }
            if before.rest != scope.rest {
                tracing::warn!(
                    "the rules of scope have changed since the last run: links that they refused \
                     then are found again only by --again"
                );
            }
        }
        self.store.set_meta(SCOPE_META, &scope);
        Ok(())
    }

    fn admit_once_too_deep(&mut self, around: &mut Around<'_>) -> Result<(), EngineError> {
        let mut admitted = 0_u64;
        let mut after = None;
        loop {
            let entries = self.store.too_deep(after.as_ref(), ROWS_MAX)?;
            let Some(last) = entries.last() else {
                break;
            };
            after = Some(last.url.clone());
            for entry in entries {
                admitted += u64::from(self.admit_if_near(around, entry)?);
            }
        }
        if admitted > 0 {
            tracing::info!(admitted, "URLs within the new limit of depth were queued");
        }
        Ok(())
    }

    fn admit_if_near(
        &mut self,
        around: &mut Around<'_>,
        entry: Entry,
    ) -> Result<bool, EngineError> {
        let seed = self.seed(entry.seed)?;
        let candidate = Candidate {
            url: &entry.url,
            seed: &seed.home,
            depth: entry.depth,
            is_seed: false,
            is_redirect: false,
        };
        if !self.rules.admit.scope().judge(&candidate).is_accepted() {
            return Ok(false);
        }
        self.store.forget_too_deep(&entry.url);
        match self.elsewhere(&entry.url) {
            Some(owner) => self.send_link(owner, entry, None),
            None => self.queue(around, entry),
        }
    }

    /// An entry whose visit is over, with the shortest path found meanwhile.
    pub(crate) fn by_shortest_path(&self, entry: Arc<Entry>) -> Result<Arc<Entry>, EngineError> {
        if !self.rules.admit.tracks_depth() {
            return Ok(entry);
        }
        match self.store.shortest(&entry.url)? {
            Some(known) if known.depth < entry.depth => {
                let mut nearer = Arc::unwrap_or_clone(entry);
                follow(&mut nearer, known);
                Ok(Arc::new(nearer))
            }
            _ => Ok(entry),
        }
    }
}

/// Puts an entry on a path that is no longer than its own.
fn follow(entry: &mut Entry, path: ShortestPath) {
    if path.depth < entry.depth {
        entry.depth = path.depth;
        entry.seed = path.seed;
        entry.via = path.via;
    }
}
