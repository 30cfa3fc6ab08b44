//! A page of a model web as the frontier takes it in.

use geomi_frontier::Entry;
use geomi_model::LinkKind;
use geomi_url::CrawlUrl;

/// A URL of which nothing is known but how urgent it is.
pub(crate) fn entry(url: CrawlUrl, priority: u8) -> Entry {
    Entry {
        url,
        seed: 0,
        via: None,
        kind: LinkKind::Anchor,
        depth: 0,
        priority,
        attempts: 0,
        redirects: 0,
        is_seed: false,
        is_revisit: false,
        not_before: None,
    }
}
