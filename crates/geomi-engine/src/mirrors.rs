//! Mirrors of whole hosts: recorded, reported, and by rule not crawled.
//!
//! [`geomi_novelty::Mirrors`] decides. It is given pages as they are settled; what it
//! keeps is durable with the visit that brought it, and samples of earlier runs are
//! read back when a crawl is opened. Sites are compared by the fingerprints of their
//! HTML pages, that is by the main text, so that a mirror may name itself in its links
//! and around the main text.

use geomi_model::{DocumentKind, Fingerprint};
use geomi_novelty::{Mirror, MirrorPage, Mirrors};
use geomi_url::{CrawlUrl, SiteHash};
use serde::{Deserialize, Serialize};

use crate::EngineError;
use crate::engine::{Around, Engine};
use crate::partition::Partition;
use crate::stage::arrival::Arrival;

/// Pages read back when a crawl is opened, at most: those of the sites that were
/// met last.
const RESTORED_MAX: usize = geomi_novelty::MIRROR_PAGES_MAX;

/// A verdict as it is stored and reported.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct MirrorRecord {
    pub(crate) mirror: Mirror,
    /// The name of the site it mirrors.
    pub(crate) of: String,
}

/// What a page is compared by, if it is one that counts: `None` for pages
/// without words, which say nothing.
pub fn mirrored_content(
    code: Option<u16>,
    kind: Option<DocumentKind>,
    fingerprint: Option<Fingerprint>,
) -> Option<u64> {
    let counts = code == Some(200) && kind == Some(DocumentKind::Html);
    fingerprint.filter(|_| counts).map(|words| words.0)
}

/// Adds what earlier runs knew of the sites of a partition.
pub(crate) fn restore(store: &Partition, mirrors: &mut Mirrors) -> Result<(), EngineError> {
    let mut pages: Vec<(u64, u8, SiteHash, MirrorPage)> = Vec::new();
    store.mirrors(
        &mut |site, at, page| {
            pages.push((page.order, at, site, page));
            if pages.len() >= 2 * RESTORED_MAX {
                keep_last(&mut pages);
            }
        },
        &mut |site, record| mirrors.restore_mirror(site, record.mirror),
    )?;
    keep_last(&mut pages);
    pages.sort_unstable_by_key(|(order, at, site, _)| (*order, site.0, *at));
    for (.., site, page) in pages {
        mirrors.restore(site, page);
    }
    Ok(())
}

/// Drops all pages but those of the sites met last.
fn keep_last(pages: &mut Vec<(u64, u8, SiteHash, MirrorPage)>) {
    if pages.len() > RESTORED_MAX {
        let past = pages.len() - RESTORED_MAX;
        pages.select_nth_unstable_by_key(past, |(order, at, ..)| (*order, *at));
        pages.drain(..past);
    }
}

impl Engine {
    /// Takes a page's first visit in.
    pub(crate) fn compare_sites(
        &mut self,
        around: &mut Around<'_>,
        read: &Arrival,
    ) -> Result<(), EngineError> {
        let document = &read.document;
        let content = mirrored_content(read.answer.code, Some(document.kind), document.fingerprint);
        let Some(content) = content else {
            return Ok(());
        };
        let met = around.shared.mirrors.meet(&read.url, content);
        if let Some((at, page)) = met.kept {
            let site = read.url.site_hash();
            self.store.set_mirror_page(site, at as u8, &page);
        }
        if let Some((site, mirror)) = met.news {
            let record = mirror.map(|mirror| self.name_mirror(mirror)).transpose()?;
            self.store.set_mirror_record(site, record.as_ref());
        }
        Ok(())
    }

    fn name_mirror(&self, mirror: Mirror) -> Result<MirrorRecord, EngineError> {
        let of = if let Some(key) = self.queues.frontier.site_key(mirror.of) {
            key.to_string()
        } else {
            let stored = self.store.site(mirror.of)?;
            stored.map_or_else(String::new, |state| state.key.to_string())
        };
        Ok(MirrorRecord { mirror, of })
    }

    /// Whether a URL is refused because its site is a mirror.
    pub(crate) fn is_of_mirror(&self, around: &mut Around<'_>, url: &CrawlUrl) -> bool {
        self.rules.config.likeness.skip_mirrors
            && around.shared.mirrors.mirror(url.site_hash()).is_some()
    }
}
