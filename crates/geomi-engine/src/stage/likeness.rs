//! Likeness: is a page a near-duplicate, a soft 404 or spam, and are its links worth
//! following?
//!
//! The likeness of a page is always recorded in its visit. Whether its links are refused
//! is the operator's choice; by default they are not.

use geomi_frontier::Entry;
use geomi_model::{Document, DocumentKind, NearDuplicate};
use geomi_novelty::Shape;

use crate::EngineConfig;
use crate::engine::{Around, Engine};
use crate::refusal::RefusalRule;
use crate::stage::arrival::Arrival;

/// The page met lately that says nearly the same. Exact copies were found by their
/// digests and are not asked about.
pub(crate) fn near_duplicate(
    around: &mut Around<'_>,
    read: &Arrival,
    is_copy: bool,
) -> Option<NearDuplicate> {
    let simhash = read.document.simhash.filter(|_| !is_copy)?;
    let near = around.shared.nearby.meet(simhash, read.url.hash64().0)?;
    Some(NearDuplicate {
        url: near.url,
        distance: u8::try_from(near.distance).unwrap_or(u8::MAX),
    })
}

impl Engine {
    /// Learns what a site says of pages it does not have, and recognises it
    /// where it comes with 200.
    pub(crate) fn look_for_soft_404(&mut self, read: &mut Arrival) {
        let site = read.url.site_hash();
        if let Some(shape) = read.answer.missing {
            self.learned.missing.learn(site, shape);
        } else if let Some(shape) = shape(&read.document) {
            read.document.says_not_found |= self.learned.missing.is_like_one(site, shape);
        }
    }

    /// The rule by which a page's links are left alone; they are then counted as
    /// refused.
    pub(crate) fn left_alone(&mut self, entry: &Entry, document: &Document, is_near: bool) -> bool {
        // A typed seed is wanted, whatever its content is like.
        let rule = if entry.is_seed || document.links.is_empty() {
            None
        } else {
            rule(&self.rules.config, document, is_near)
        };
        let Some(rule) = rule else { return false };
        let counters = &mut self.store.counters;
        for _ in &document.links {
            counters.refusal(rule);
        }
        true
    }
}

/// What the text of an HTML page is recognised by, if it has any.
pub fn shape(document: &Document) -> Option<Shape> {
    let is_html = document.kind == DocumentKind::Html;
    let wording = document.wording.filter(|_| is_html)?;
    Some(Shape {
        wording: wording.0,
        simhash: document.simhash,
    })
}

fn rule(config: &EngineConfig, document: &Document, is_near: bool) -> Option<RefusalRule> {
    let spam_max = config.likeness.spam_percent_max;
    if spam_max.is_some_and(|max| document.spam_percent > max) {
        return Some(RefusalRule::Spam);
    }
    (is_near && config.likeness.skip_near_duplicates).then_some(RefusalRule::NearDuplicate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rules_hold_only_where_they_are_made() {
        let mut config = EngineConfig::default();
        let page = Document {
            spam_percent: 80,
            ..Document::default()
        };
        assert_eq!(rule(&config, &page, true), None);
        config.likeness.skip_near_duplicates = true;
        assert_eq!(rule(&config, &page, true), Some(RefusalRule::NearDuplicate));
        assert_eq!(rule(&config, &page, false), None);
        config.likeness.spam_percent_max = Some(80);
        assert_eq!(rule(&config, &page, false), None, "not above it");
        config.likeness.spam_percent_max = Some(79);
        assert_eq!(rule(&config, &page, true), Some(RefusalRule::Spam));
    }
}
