//! Which URLs are only new combinations of known query pairs.
//!
//! Filters, sort orders and page numbers multiply: thirty filters that can be
//! combined make a billion URLs, and each page may have some text of its own. But
//! no such URL has a `name=value` pair that was not in another URL before. A URL
//! of a new item has one: its number or name.

use geomi_url::CrawlUrl;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

/// Pairs remembered per site. A new pair replaces the one in its slot, and a
/// forgotten pair counts as new: forgetting never makes a URL a recombination.
const SLOTS: usize = 1024;
/// URLs with a pair after which it is a shared one.
const SHARED_BY: u8 = 4;
/// Pairs of one URL that are looked at.
const PAIRS_MAX: usize = 32;

/// The query pairs of a site's URLs.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct PairTable {
    /// A hash of which the low byte is a count; empty until there is a pair.
    slots: Vec<u64>,
}

impl PairTable {
    /// Notes the pairs of a URL that was found; says whether it has two or more
    /// and all were known.
    pub(crate) fn meet(&mut self, url: &CrawlUrl) -> bool {
        let Some(query) = url.query() else {
            return false;
        };
        if self.slots.is_empty() {
            self.slots = vec![0; SLOTS];
        }
        let mut pairs = 0;
        let mut all_known = true;
        for hash in hashes(url, query) {
            pairs += 1;
            let slot = &mut self.slots[(hash >> 32) as usize % SLOTS];
            let count = (*slot & 0xFF) as u8;
            if *slot >> 8 == hash >> 8 {
                *slot = (hash & !0xFF) | u64::from(count.saturating_add(1));
            } else {
                all_known = false;
                *slot = (hash & !0xFF) | 1;
            }
        }
        pairs >= 2 && all_known
    }

    /// Whether a URL has two pairs or more and other URLs share all of them.
    pub(crate) fn is_shared(&self, url: &CrawlUrl) -> bool {
        let Some(query) = url.query().filter(|_| !self.slots.is_empty()) else {
            return false;
        };
        let mut pairs = 0;
        let all_shared = hashes(url, query).all(|hash| {
            pairs += 1;
            let slot = self.slots[(hash >> 32) as usize % SLOTS];
            slot >> 8 == hash >> 8 && (slot & 0xFF) as u8 >= SHARED_BY
        });
        pairs >= 2 && all_shared
    }
}

fn hashes<'a>(url: &CrawlUrl, query: &'a str) -> impl Iterator<Item = u64> + 'a {
    let path = xxh3_64(url.path().as_bytes());
    query
        .split('&')
        .take(PAIRS_MAX)
        .map(move |pair| xxh3_64_with_seed(pair.as_bytes(), path))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> CrawlUrl {
        CrawlUrl::parse(&format!("http://e.com{text}")).unwrap()
    }

    #[test]
    fn subsets_orders_and_repeated_keys_are_recombinations() {
        let mut table = PairTable::default();
        for filter in 0..30 {
            assert!(!table.meet(&url(&format!("/shop?f{filter}=a"))));
        }
        for combined in ["f1=a&f2=a", "f2=a&f1=a&f7=a", "f3=a&f3=a"] {
            assert!(table.meet(&url(&format!("/shop?{combined}"))), "{combined}");
        }
        assert!(!table.meet(&url("/shop?f1=a&f2=b")), "a new value");
        assert!(!table.meet(&url("/other?f1=a&f2=a")), "another path");
    }

    #[test]
    fn items_and_lists_are_not_shared() {
        let mut table = PairTable::default();
        for post in 0..500 {
            let post = url(&format!("/b.php?id=free&no={post}"));
            assert!(!table.meet(&post));
            assert!(!table.is_shared(&post));
        }
        for size in ["s", "m", "l"] {
            for colour in ["red", "blue", "green", "black", "white"] {
                table.meet(&url(&format!("/shop?size={size}&colour={colour}")));
                table.meet(&url(&format!("/shop?colour={colour}&size={size}")));
            }
        }
        assert!(table.is_shared(&url("/shop?colour=red&size=l")));
        assert!(!table.is_shared(&url("/shop?size=l")));
    }
}
