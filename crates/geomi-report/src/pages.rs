//! The pass over pages: everything that several visits of one page decide.
//!
//! Distinct URLs, success and change of each page, and which visit says what a
//! page is now. It needs a little memory for each page, so the URL space is cut
//! into shares by the hash of the URL, and the visits are read once for each.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};
use std::num::{NonZeroU32, NonZeroU64};

use geomi_model::{Fate, Timestamp, Visit};
use geomi_scope::Scope;
use geomi_url::UrlHash;

use crate::sites::{SiteIndex, Sites, comparison};

/// Pages held at once, as many as a hash table of 8 Mi places takes. With their
/// contents, and with half of them visited again, that is some 800 MB at most;
/// a crawl so large had a seen set of that size.
pub(crate) const PAGES_PER_PASS: u64 = 7 << 20;

/// The columns this pass and that over duplicates read.
pub(crate) const COLUMNS: &[&str] = &[
    "number",
    "time",
    "url",
    "attempt",
    "is_robots",
    "state",
    "code",
    "charset",
    "body_bytes",
    "digest",
    "changed",
    "change_size",
    "location",
    "total_us",
];

/// What the pass finds.
#[derive(Debug)]
pub(crate) struct Pages {
    tries: u8,
    /// Distinct page URLs.
    pub(crate) urls: u64,
    /// Of these, with a complete answer at least once.
    pub(crate) fetched: u64,
    /// Of these, saved at least once.
    pub(crate) saved: u64,
    /// Pages that redirected when they were first visited.
    pub(crate) redirected: u64,
    /// Pages given up when they were first visited.
    pub(crate) failed: u64,
    /// Saved pages that are wanted.
    pub(crate) wanted: u64,
    /// Pages with more than one visit that ended.
    pub(crate) revisited: u64,
    /// The pages that change most, the first by the key.
    pub(crate) top: BTreeMap<Rank, PageTally>,
    top_max: Option<usize>,
    /// Which visits say what their page is now.
    pub(crate) current: Bits,
    share: HashMap<UrlHash, Slot>,
    revisits: Vec<PageTally>,
}

/// More changes, then more failures, then more visits, then the page met first.
type Rank = Reverse<(u32, u32, u32, Reverse<u64>)>;

/// What is kept of a page in the share at hand.
#[derive(Debug, Default)]
struct Slot {
    /// The visit that says what the page is now; visits are numbered from 1.
    current: Option<NonZeroU64>,
    is_fetched: bool,
    is_saved: bool,
    /// How its first visit ended.
    first: Option<Fate>,
    /// Its place among the pages visited more than once, counted from 1.
    more: Option<NonZeroU32>,
}

/// What is counted for a page visited more than once.
#[derive(Clone, Debug)]
pub(crate) struct PageTally {
    /// A visit of it.
    pub(crate) number: u64,
    pub(crate) site: SiteIndex,
    /// Visits that ended.
    pub(crate) visits: u32,
    pub(crate) saved: u32,
    pub(crate) failed: u32,
    pub(crate) comparisons: u32,
    pub(crate) changes: u32,
    last_change: Option<Timestamp>,
    pub(crate) ages: Spread,
}

/// Mean and spread of numbers, one at a time (Welford).
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(crate) struct Spread {
    count: u32,
    mean: f64,
    squares: f64,
}

impl Spread {
    /// Takes a number.
    pub(crate) fn add(&mut self, number: f64) {
        self.count += 1;
        let off = number - self.mean;
        self.mean += off / f64::from(self.count);
        self.squares += off * (number - self.mean);
    }

    /// The mean; nothing of nothing.
    pub(crate) fn mean(&self) -> Option<f64> {
        (self.count > 0).then_some(self.mean)
    }

    /// Standard deviation over mean, of two numbers or more.
    pub(crate) fn variation(&self) -> Option<f64> {
        if self.count < 2 || self.mean <= 0.0 {
            return None;
        }
        let variance = self.squares / f64::from(self.count);
        Some(variance.sqrt() / self.mean)
    }
}

impl Pages {
    /// An empty one, for visits numbered up to `number_max`.
    pub(crate) fn new(tries: u8, top_max: Option<usize>, number_max: u64) -> Self {
        Self {
            tries,
            urls: 0,
            fetched: 0,
            saved: 0,
            redirected: 0,
            failed: 0,
            wanted: 0,
            revisited: 0,
            top: BTreeMap::new(),
            top_max,
            current: Bits::new(number_max),
            share: HashMap::new(),
            revisits: Vec::new(),
        }
    }

    /// Takes the next visit of the share at hand. Sites are those of the sweep.
    pub(crate) fn add(&mut self, visit: &Visit, scope: &Scope, sites: &mut Sites) {
        let fate = Fate::of(visit, self.tries);
        let slot = self.share.entry(visit.url.hash64()).or_insert_with(|| {
            self.urls += 1;
            let site = sites.index_of(visit);
            sites.at(site).pages += 1;
            Slot::default()
        });
        if visit.state.is_answer() && fate != Fate::Retry && !slot.is_fetched {
            slot.is_fetched = true;
            self.fetched += 1;
        }
        if fate == Fate::Saved && !slot.is_saved {
            slot.is_saved = true;
            self.saved += 1;
            self.wanted += u64::from(scope.matches_include(&visit.url).unwrap_or(true));
        }
        follow(slot, visit, fate, &mut self.current);
        if fate == Fate::Retry {
            return;
        }
        let Some(first) = slot.first else {
            slot.first = Some(fate);
            self.redirected += u64::from(fate == Fate::Redirected);
            self.failed += u64::from(fate == Fate::Failed);
            return;
        };
        let at = *slot.more.get_or_insert_with(|| {
            let site = sites.index_of(visit);
            self.revisits.push(PageTally::after(first, visit, site));
            NonZeroU32::MIN.saturating_add(self.revisits.len() as u32 - 1)
        });
        self.revisits[at.get() as usize - 1].add(visit, fate);
    }

    /// Ends a share: its pages are summed up and forgotten.
    pub(crate) fn end_share(&mut self, sites: &mut Sites) {
        self.share = HashMap::new();
        self.revisited += self.revisits.len() as u64;
        for page in std::mem::take(&mut self.revisits) {
            if let Some(variation) = page.ages.variation() {
                let site = sites.at(page.site);
                site.age_variation += variation;
                site.age_variations += 1;
            }
            self.top.insert(page.rank(), page);
            if self.top_max.is_some_and(|max| self.top.len() > max) {
                self.top.pop_last();
            }
        }
    }
}

/// Keeps up which visit says what the page is now: the last one that brought a
/// page or a redirect. Any other end leaves none, save a 304, which confirms.
fn follow(slot: &mut Slot, visit: &Visit, fate: Fate, current: &mut Bits) {
    let says = match fate {
        Fate::Retry => return,
        Fate::Saved if visit.code == Some(304) => return,
        Fate::Saved => visit.charset.is_some(),
        Fate::Redirected => true,
        Fate::Failed | Fate::Answered => false,
    };
    if let Some(before) = slot.current.take() {
        current.clear(before.get());
    }
    if says {
        current.set(visit.number);
        slot.current = NonZeroU64::new(visit.number);
    }
}

impl PageTally {
    fn after(first: Fate, second: &Visit, site: SiteIndex) -> Self {
        Self {
            number: second.number,
            site,
            visits: 1,
            saved: u32::from(first == Fate::Saved),
            failed: u32::from(first == Fate::Failed),
            comparisons: 0,
            changes: 0,
            last_change: None,
            ages: Spread::default(),
        }
    }

    fn add(&mut self, visit: &Visit, fate: Fate) {
        self.visits += 1;
        self.saved += u32::from(fate == Fate::Saved);
        self.failed += u32::from(fate == Fate::Failed);
        let Some(changed) = comparison(visit) else {
            return;
        };
        self.comparisons += 1;
        if changed {
            self.changes += 1;
            if let Some(before) = self.last_change.replace(visit.time) {
                self.ages.add(visit.time.since(before).as_secs_f64());
            }
        }
    }

    fn rank(&self) -> Rank {
        Reverse((self.changes, self.failed, self.visits, Reverse(self.number)))
    }
}

/// A set of visits, one bit each.
#[derive(Debug)]
pub(crate) struct Bits(Vec<u64>);

impl Bits {
    fn new(max: u64) -> Self {
        Self(vec![0; (max / 64 + 1) as usize])
    }

    fn place(number: u64) -> (usize, u64) {
        ((number / 64) as usize, 1 << (number % 64))
    }

    fn set(&mut self, number: u64) {
        let (word, bit) = Self::place(number);
        self.0[word] |= bit;
    }

    fn clear(&mut self, number: u64) {
        let (word, bit) = Self::place(number);
        self.0[word] &= !bit;
    }

    /// Whether a visit is in it.
    pub(crate) fn contains(&self, number: u64) -> bool {
        let (word, bit) = Self::place(number);
        self.0.get(word).is_some_and(|bits| bits & bit != 0)
    }

    /// How many visits are in it.
    pub(crate) fn count(&self) -> u64 {
        self.0.iter().map(|word| u64::from(word.count_ones())).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_clock_does_not_vary_and_two_ages_are_needed() {
        let spread = |numbers: &[f64]| {
            let mut spread = Spread::default();
            for number in numbers {
                spread.add(*number);
            }
            spread.variation()
        };
        assert_eq!(spread(&[]), None);
        assert_eq!(spread(&[5.0]), None);
        assert_eq!(spread(&[5.0, 5.0, 5.0]), Some(0.0));
        let varied = spread(&[1.0, 3.0]).unwrap();
        assert!((varied - 0.5).abs() < 1e-12, "{varied}");
        assert_eq!(spread(&[0.0, 0.0]), None, "no time passed");
    }

    #[test]
    fn bits_are_set_and_cleared() {
        let mut bits = Bits::new(200);
        for number in [1, 63, 64, 200] {
            bits.set(number);
        }
        bits.clear(63);
        assert_eq!(bits.count(), 3);
        assert!(bits.contains(64) && !bits.contains(63) && !bits.contains(9_999));
    }
}
