//! How important a URL is by its links, learned while crawling.
//!
//! On-line page importance (Abiteboul, Preda and Cobena 2003): every page brings
//! a coin of its own, and when it is visited it shares what it has, damped, among
//! its links. What a URL was given is a running estimate of its page rank, before
//! anybody has fetched it and without the graph being kept.
//!
//! Memory is bounded: a table of so many places, eight to a cache line. A URL that
//! finds its line full takes from the poorest there and has its place once that
//! one is broke (Misra and Gries 1982), so that those given most stay. A URL takes
//! eight bytes: 36 bits of its hash, its priority, and what it has.
//!
//! What a URL was given is an estimate and no more: those that lost their place
//! begin anew, and nothing is kept between runs. What is known of one besides is
//! right or [`Known::Unknown`], but for two URLs that share 50 bits of their hashes.
//! Making such a URL takes some 2^50 tries. It can keep another URL from a better place,
//! or have it visited twice: what is known here does not decide whether it is visited.

use geomi_model::PRIORITIES;
use geomi_url::UrlHash;

/// Places of a cache line.
const LINE_LEN: usize = 8;
/// What a page brings; cash is counted in parts of it.
const COIN: u32 = 4_096;
/// The part of its cash a page hands on, in percent.
const DAMPING: u64 = 85;
/// Given so many times the mean, a URL is half as important as can be.
const HALF: f32 = 4.0;

const CASH_BITS: u32 = 24;
const CASH_MAX: u64 = (1 << CASH_BITS) - 1;
const TAG_SHIFT: u32 = CASH_BITS + 4;
/// Stands where a priority does, of a URL that was dealt with.
const DONE: u8 = 15;

/// What is known of a URL in the table.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Known {
    /// Nothing but what it was given.
    Unknown,
    /// It waits with this priority.
    Waits(u8),
    /// It was visited, or will not be.
    Done,
}

/// What a URL has after it was given something.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Credit {
    /// All it was given.
    pub cash: u32,
    /// Whether that has doubled since it was last said so: worth another look.
    pub has_doubled: bool,
}

/// The table; see the module.
#[derive(Debug)]
pub struct Importance {
    lines: Vec<[u64; LINE_LEN]>,
    /// All that was given, and to how many URLs.
    given: u64,
    urls: u64,
}

impl Importance {
    /// A table of at least so many places.
    pub fn new(places: usize) -> Self {
        let lines = places.div_ceil(LINE_LEN).next_power_of_two();
        Self {
            lines: vec![[0; LINE_LEN]; lines],
            given: 0,
            urls: 0,
        }
    }

    /// Has the lines of these URLs at hand when they are asked for: looked at
    /// together, they are waited for together.
    pub fn warm(&self, urls: &[UrlHash]) {
        let first = |url: &UrlHash| self.lines[self.line_at(*url)][0];
        std::hint::black_box(urls.iter().map(first).fold(0, u64::wrapping_add));
    }

    /// A page was visited: what each of its links is given.
    pub fn visited(&mut self, page: UrlHash, links: usize) -> u32 {
        // OPIC keeps a history beside the cash; here a page is done.
        let done = tagged(page) | u64::from(DONE) << CASH_BITS;
        let place = self.find(page);
        let cash = place.map_or(0, |place| std::mem::replace(place, done) & CASH_MAX);
        let shared = (u64::from(COIN) + cash) * DAMPING / 100;
        (shared / links.max(1) as u64).max(1) as u32
    }

    /// Gives a URL its share of a page that links to it.
    pub fn give(&mut self, url: UrlHash, share: u32) -> Credit {
        self.given += u64::from(share);
        let line = self.line(url);
        let tag = tagged(url);
        let mut poorest = 0;
        for at in 0..LINE_LEN {
            if line[at] & !(TAG_LOW) == tag {
                let before = line[at] & CASH_MAX;
                let cash = (before + u64::from(share)).min(CASH_MAX);
                line[at] = line[at] & !CASH_MAX | cash;
                return Credit {
                    cash: cash as u32,
                    has_doubled: cash.checked_ilog2() != before.checked_ilog2(),
                };
            }
            if line[at] & CASH_MAX < line[poorest] & CASH_MAX {
                poorest = at;
            }
        }
        let held = line[poorest] & CASH_MAX;
        if u64::from(share) > held {
            line[poorest] = tag | (u64::from(share) - held);
        } else {
            line[poorest] -= u64::from(share);
        }
        Credit {
            cash: share,
            has_doubled: false,
        }
    }

    /// A URL that was given that much, from 0 to 1: half at four times the mean.
    pub fn of(&self, cash: u32) -> f32 {
        let mean = self.given as f32 / self.urls.max(1) as f32;
        let ratio = cash as f32 / mean.max(1.0);
        ratio / (ratio + HALF)
    }

    /// A URL joins a queue with this priority.
    pub fn queued(&mut self, url: UrlHash, priority: u8) {
        if self.known(url) == Known::Unknown {
            self.urls += 1;
        }
        self.mark(url, priority.min(PRIORITIES));
    }

    /// A URL was dealt with.
    pub fn done(&mut self, url: UrlHash) {
        self.mark(url, DONE);
    }

    /// What is known of it.
    pub fn known(&self, url: UrlHash) -> Known {
        let mark = self.look(url).map(|place| (place >> CASH_BITS) as u8 & 15);
        match mark {
            None | Some(0) => Known::Unknown,
            Some(DONE) => Known::Done,
            Some(priority) => Known::Waits(priority),
        }
    }

    /// What a URL was given, as far as is known.
    pub fn cash(&self, url: UrlHash) -> u32 {
        self.look(url).map_or(0, |place| (place & CASH_MAX) as u32)
    }

    /// Bytes of memory.
    pub fn memory_bytes(&self) -> usize {
        self.lines.len() * LINE_LEN * size_of::<u64>()
    }

    fn mark(&mut self, url: UrlHash, mark: u8) {
        if let Some(place) = self.find(url) {
            *place = *place & !(15 << CASH_BITS) | u64::from(mark) << CASH_BITS;
        }
    }

    fn look(&self, url: UrlHash) -> Option<u64> {
        let tag = tagged(url);
        let line = &self.lines[self.line_at(url)];
        line.iter().copied().find(|place| place & !TAG_LOW == tag)
    }

    fn find(&mut self, url: UrlHash) -> Option<&mut u64> {
        let tag = tagged(url);
        let line = self.line(url);
        line.iter_mut().find(|place| **place & !TAG_LOW == tag)
    }

    fn line(&mut self, url: UrlHash) -> &mut [u64; LINE_LEN] {
        let at = self.line_at(url);
        &mut self.lines[at]
    }

    const fn line_at(&self, url: UrlHash) -> usize {
        url.0 as usize & (self.lines.len() - 1)
    }
}

/// Everything of a place but its tag.
const TAG_LOW: u64 = (1 << TAG_SHIFT) - 1;

/// The tag of a URL where it stands in a place. The line is chosen by the lower
/// bits, so that the two together tell 50 and more bits.
const fn tagged(url: UrlHash) -> u64 {
    url.0 & !TAG_LOW
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(number: u64) -> UrlHash {
        UrlHash(number.wrapping_mul(0x9e37_79b9_7f4a_7c15) | 1 << 63)
    }

    #[test]
    fn what_a_page_has_it_shares_among_its_links() {
        let mut importance = Importance::new(64);
        let share = importance.visited(url(1), 10);
        assert_eq!(share, COIN * 85 / 100 / 10);
        for _ in 0..20 {
            importance.give(url(2), share);
        }
        assert_eq!(importance.cash(url(2)), 20 * share);
        assert!(importance.visited(url(2), 10) > 2 * share);
        assert_eq!(importance.cash(url(2)), 0);
        assert_eq!(importance.known(url(2)), Known::Done);
        assert_eq!(importance.visited(url(3), 0), COIN * 85 / 100);
    }

    #[test]
    fn those_given_most_keep_their_places() {
        let mut importance = Importance::new(256);
        for round in 0..200u64 {
            for hot in 0..32 {
                importance.give(url(hot), 50);
            }
            for cold in 0..1_000 {
                importance.give(url(1_000 + round * 1_000 + cold), 1);
            }
        }
        let kept = (0..32).filter(|hot| importance.cash(url(*hot)) > 2_000);
        assert!(kept.count() >= 30);
        assert_eq!(importance.memory_bytes(), 256 * 8);
    }

    #[test]
    fn importance_grows_with_what_was_given_and_is_told_when_it_doubled() {
        let mut importance = Importance::new(64);
        for number in 0..40 {
            importance.give(url(number), 100);
            importance.queued(url(number), 5);
        }
        assert_eq!(importance.known(url(39)), Known::Waits(5));
        let mut doubled = 0;
        let mut cash = 0;
        for _ in 0..63 {
            let credit = importance.give(url(39), 100);
            doubled += u32::from(credit.has_doubled);
            assert!(importance.of(credit.cash) > importance.of(cash));
            cash = credit.cash;
        }
        assert_eq!(cash, 6_400);
        assert_eq!(doubled, 6);
        assert!(importance.of(cash) > 0.7 && importance.of(0) == 0.0);
        importance.done(url(39));
        assert_eq!(importance.known(url(39)), Known::Done);
    }
}
