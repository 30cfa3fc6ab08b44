//! Which URLs are only new combinations of what other URLs have.
//!
//! Filters, sort orders, tags and page numbers multiply: thirty filters that can be
//! combined make a billion URLs, and each page may have some text of its own. But
//! no such URL has a `name=value` pair that was not in another URL before. A URL
//! of a new item has one: its number or name. In paths and in values the same
//! holds for words: `/tag/red+wool`, `/by/wool/red/`, `?q=red+wool`.
//!
//! Pairs and words are kept as XXH3-64, of which collisions can be made. They are of no
//! use to a stranger: a link to the site that has the pair or word itself counts the same.

use geomi_url::CrawlUrl;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::{xxh3_64, xxh3_64_with_seed};

use crate::memory::HashTable;

/// URLs with a pair after which it is a shared one.
const SHARED_BY: u8 = 4;
/// Pairs or words of one URL that are looked at.
const PARTS_MAX: usize = 32;

/// How far a URL combines what is known.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Combines {
    /// It has something of its own.
    Nothing,
    /// It has two words or more, all known in its section.
    Words,
    /// It has two query pairs or more, all known on its path.
    Pairs,
}

/// The query pairs and the words of a site's URLs. What is forgotten counts as
/// new: forgetting never makes a URL a combination.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Parts {
    pairs: HashTable,
    words: HashTable,
}

impl Parts {
    /// Notes the parts of a URL that was found in a section; says what it combines.
    pub(crate) fn meet(&mut self, url: &CrawlUrl, section: &str) -> Combines {
        let mut pairs = 0;
        let mut all_known = true;
        for hash in pair_hashes(url) {
            pairs += 1;
            all_known &= self.pairs.meet(hash) > 0;
        }
        let has_known_pairs = pairs >= 2 && all_known;
        let (mut words, mut all_known) = (0, true);
        for hash in word_hashes(url, section) {
            words += 1;
            all_known &= self.words.meet(hash) > 0;
        }
        if has_known_pairs {
            Combines::Pairs
        } else if words >= 2 && all_known {
            Combines::Words
        } else {
            Combines::Nothing
        }
    }

    /// Whether a URL has nothing that other URLs do not have, too: a page with a number
    /// or name of its own is no combination, whatever it leads to.
    pub(crate) fn has_nothing_own(&self, url: &CrawlUrl, section: &str) -> bool {
        if url.query().is_some() {
            let is_single = pair_hashes(url).nth(1).is_none();
            is_single || self.shares_pairs(url)
        } else {
            let is_single = word_hashes(url, section).nth(2).is_none();
            is_single || self.shares_words(url, section)
        }
    }

    /// Whether all pairs of a URL, or the words of one with three or more, are shared.
    pub(crate) fn is_combined(&self, url: &CrawlUrl, section: &str) -> bool {
        if url.query().is_some() {
            pair_hashes(url).all(|hash| self.pairs.count(hash) >= SHARED_BY)
        } else {
            word_hashes(url, section).nth(2).is_some() && self.shares_words(url, section)
        }
    }

    /// Whether a URL has two pairs or more and other URLs share all of them.
    pub(crate) fn shares_pairs(&self, url: &CrawlUrl) -> bool {
        are_shared(pair_hashes(url), &self.pairs)
    }

    /// The same of its words.
    pub(crate) fn shares_words(&self, url: &CrawlUrl, section: &str) -> bool {
        are_shared(word_hashes(url, section), &self.words)
    }
}

fn are_shared(mut hashes: impl Iterator<Item = u64>, table: &HashTable) -> bool {
    let mut parts = 0;
    let are_shared = hashes.all(|hash| {
        parts += 1;
        table.count(hash) >= SHARED_BY
    });
    parts >= 2 && are_shared
}

fn pair_hashes(url: &CrawlUrl) -> impl Iterator<Item = u64> {
    let path = xxh3_64(url.path().as_bytes());
    let pairs = url.query().into_iter().flat_map(|query| query.split('&'));
    pairs
        .take(PARTS_MAX)
        .map(move |pair| xxh3_64_with_seed(pair.as_bytes(), path))
}

/// Words of the path, and of the values of a query. A number in a path names
/// something: it counts as the whole path.
fn word_hashes(url: &CrawlUrl, section: &str) -> impl Iterator<Item = u64> {
    let section = xxh3_64(section.as_bytes());
    let path = url.path().as_bytes();
    let of_path = words(path).map(move |word| {
        if word.iter().all(u8::is_ascii_digit) {
            xxh3_64(path)
        } else {
            xxh3_64_with_seed(word, section)
        }
    });
    let pairs = url.query().into_iter().flat_map(|query| query.split('&'));
    let values = pairs.map(|pair| pair.split_once('=').map_or(pair, |(_, value)| value));
    let of_values = values.flat_map(|value| words(value.as_bytes()));
    let of_values = of_values.map(move |word| xxh3_64_with_seed(word, section));
    of_path.chain(of_values).take(PARTS_MAX)
}

fn words(text: &[u8]) -> impl Iterator<Item = &[u8]> {
    let is_letter = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'%' || !byte.is_ascii();
    let words = text.split(move |byte| !is_letter(byte));
    words.filter(|word| !word.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> CrawlUrl {
        CrawlUrl::parse(&format!("http://e.com{text}")).unwrap()
    }

    #[test]
    fn subsets_orders_and_repeated_keys_are_combinations() {
        let mut parts = Parts::default();
        for filter in 0..30 {
            let one = url(&format!("/shop?f{filter}=a"));
            assert_ne!(parts.meet(&one, "/shop?"), Combines::Pairs);
        }
        for combined in ["f1=a&f2=a", "f2=a&f1=a&f7=a", "f3=a&f3=a"] {
            let combined = url(&format!("/shop?{combined}"));
            assert_eq!(
                parts.meet(&combined, "/shop?"),
                Combines::Pairs,
                "{combined}"
            );
        }
        let value = url("/shop?f1=a&f2=b");
        assert_eq!(
            parts.meet(&value, "/shop?"),
            Combines::Nothing,
            "a new value"
        );
        let path = url("/other?f1=a&f2=a");
        assert_eq!(
            parts.meet(&path, "/other?"),
            Combines::Nothing,
            "another path"
        );
    }

    #[test]
    fn words_of_paths_and_values_combine() {
        let mut parts = Parts::default();
        for word in ["red", "wool", "large"] {
            parts.meet(&url(&format!("/by/{word}/")), "/by/");
            parts.meet(&url(&format!("/s?q={word}")), "/s?");
        }
        assert_eq!(parts.meet(&url("/by/wool/red/"), "/by/"), Combines::Words);
        assert_eq!(parts.meet(&url("/by/large+red"), "/by/"), Combines::Words);
        assert_eq!(parts.meet(&url("/s?q=red+large"), "/s?"), Combines::Words);
        assert_eq!(
            parts.meet(&url("/by/wool/blue/"), "/by/"),
            Combines::Nothing
        );
    }

    #[test]
    fn items_are_not_shared() {
        let mut parts = Parts::default();
        for post in 0..500 {
            let post = url(&format!("/b.php?id=free&no={post}"));
            assert_eq!(parts.meet(&post, "/b.php?"), Combines::Nothing);
            assert!(!parts.shares_pairs(&post));
            assert!(!parts.shares_words(&post, "/b.php?"));
        }
        for size in ["s", "m", "l"] {
            for colour in ["red", "blue", "green", "black", "white"] {
                parts.meet(
                    &url(&format!("/shop?size={size}&colour={colour}")),
                    "/shop?",
                );
                parts.meet(
                    &url(&format!("/shop?colour={colour}&size={size}")),
                    "/shop?",
                );
            }
        }
        assert!(parts.shares_pairs(&url("/shop?colour=red&size=l")));
        assert!(parts.shares_words(&url("/shop?q=red+l"), "/shop?"));
        assert!(!parts.shares_pairs(&url("/shop?size=l")));
    }
}
