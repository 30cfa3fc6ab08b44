//! A simhash over a text (Charikar 2002; Manku et al. 2007), taken as the text
//! goes by.
//!
//! For each of 64 bits the features that have it set are counted; the bit is set
//! in the hash if more than half of them do. Texts that share most of their
//! features differ in few bits: with one in a hundred changed, in about three of 64.
//!
//! A feature is what stands from an *anchor* on: 16 bytes that begin at one of a
//! few byte values, which are about one in thirty of English and of Korean text.
//! Which bytes are anchors depends on them alone, so that a word put in moves
//! nothing behind it; and looking for them is a matter of vector instructions,
//! where hashing every word would cost as much as reading the page. A short text
//! needs every feature it has; of a long one, rarer anchors give enough.
//!
//! The counters stand upright: bit *i* of plane *p* is bit *p* of counter *i*, so
//! that all 64 are added to at once, and carry-save adders take eight features
//! before anything is carried into the planes.

use memchr::{memchr_iter, memchr2_iter, memchr3_iter};

/// Features below which a hash means nothing: some sixty words.
const FEATURES_MIN: u32 = 12;
/// The letter `d`, and two bytes inside of common Korean syllables.
const ANCHORS: (u8, u8, u8) = (b'd', 0xB4, 0xA0);
/// The same behind the first [`DENSE_BYTES`]: about one byte in eighty.
const RARE_ANCHORS: (u8, u8) = (b'b', 0xA0);
const DENSE_BYTES: usize = 6 << 10;
/// Of this much text the words are told apart, to find the one met most often.
const WORDS_BYTES: usize = 1 << 10;
/// Enough for texts of up to 2^27 features.
const PLANES: usize = 27;
/// Bytes of a feature.
pub(crate) const FEATURE_BYTES: usize = 16;
/// Features taken at once.
const BATCH: usize = 8;

/// Odd numbers with well spread bits.
const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
const SECOND: u64 = 0x2127_599b_f432_5c37;

/// A simhash in the making.
pub(crate) struct Sketch {
    planes: [u64; PLANES],
    batch: [u64; BATCH],
    waiting: usize,
    features: u32,
    words: u32,
    /// Bytes taken.
    taken: usize,
    /// Words told apart, and how often each was met, by eight bits of its hash.
    told_words: u32,
    met: [u16; 256],
}

impl Sketch {
    pub(crate) const fn new() -> Self {
        Self {
            planes: [0; PLANES],
            batch: [0; BATCH],
            waiting: 0,
            features: 0,
            words: 0,
            taken: 0,
            told_words: 0,
            met: [0; 256],
        }
    }

    /// Takes the first `length` bytes of a text, whole words with single blanks
    /// between them; features may reach into what is behind them.
    pub(crate) fn take(&mut self, seen: &[u8], length: usize) {
        let text = &seen[..length];
        let blanks = memchr_iter(b' ', text).count() as u32;
        let is_open = text.last().is_some_and(|byte| *byte != b' ');
        self.words = self.words.saturating_add(blanks + u32::from(is_open));
        let told = WORDS_BYTES.saturating_sub(self.taken).min(text.len());
        self.tell_words(&text[..told]);
        let dense = DENSE_BYTES.saturating_sub(self.taken).min(text.len());
        let (a, b, c) = ANCHORS;
        for at in memchr3_iter(a, b, c, &text[..dense]) {
            self.feature(seen, at);
        }
        let (a, b) = RARE_ANCHORS;
        for at in memchr2_iter(a, b, &text[dense..]) {
            self.feature(seen, dense + at);
        }
        self.taken = self.taken.saturating_add(text.len());
    }

    fn tell_words(&mut self, text: &[u8]) {
        let words = text.split(|byte| *byte == b' ');
        for word in words.filter(|word| !word.is_empty()) {
            // Two words that begin alike and are as long are one: rare enough.
            let hash = (eight_from(word, 0) ^ word.len() as u64).wrapping_mul(FIRST);
            let slot = &mut self.met[(hash >> 56) as usize];
            *slot = slot.saturating_add(1);
            self.told_words += 1;
        }
    }

    /// Words taken.
    pub(crate) const fn words(&self) -> u32 {
        self.words
    }

    /// The share of the word met most often, in hundredths.
    pub(crate) fn top_word_percent(&self) -> u8 {
        let top = self.met.iter().max().copied().unwrap_or(0);
        let percent = u32::from(top) * 100 / self.told_words.max(1);
        u8::try_from(percent.min(100)).unwrap_or(100)
    }

    /// The hash, if there was enough text for one.
    pub(crate) fn finish(mut self) -> Option<u64> {
        if self.features < FEATURES_MIN {
            return None;
        }
        // What fills the batch up has no bit set, and so counts nowhere.
        self.batch[self.waiting..].fill(0);
        self.add_batch();
        Some(self.counters_above(self.features / 2))
    }

    /// The bits whose counters are above a number: all are compared with it at
    /// once, from the highest plane down.
    fn counters_above(&self, number: u32) -> u64 {
        let (mut above, mut equal) = (0, u64::MAX);
        for (at, plane) in self.planes.iter().enumerate().rev() {
            if number >> at & 1 == 0 {
                above |= equal & plane;
                equal &= !plane;
            } else {
                equal &= plane;
            }
        }
        above
    }

    fn feature(&mut self, text: &[u8], at: usize) {
        let (first, second) = (eight_from(text, at), eight_from(text, at + 8));
        let mut hash = (first ^ FIRST).wrapping_mul(SECOND).rotate_left(29);
        hash = (hash ^ second).wrapping_mul(SECOND);
        hash = (hash ^ hash >> 32).wrapping_mul(FIRST);
        self.features = self.features.saturating_add(1);
        self.batch[self.waiting] = hash ^ hash >> 29;
        self.waiting += 1;
        if self.waiting == BATCH {
            self.add_batch();
            self.waiting = 0;
        }
    }

    fn add_batch(&mut self) {
        let batch = &self.batch;
        let [ones, twos, fours, higher @ ..] = &mut self.planes;
        let two_a = add(ones, batch[0], batch[1]);
        let two_b = add(ones, batch[2], batch[3]);
        let four_a = add(twos, two_a, two_b);
        let two_a = add(ones, batch[4], batch[5]);
        let two_b = add(ones, batch[6], batch[7]);
        let four_b = add(twos, two_a, two_b);
        let mut carry = add(fours, four_a, four_b);
        for plane in higher {
            if carry == 0 {
                break;
            }
            (*plane, carry) = (*plane ^ carry, *plane & carry);
        }
    }
}

/// Adds two bits to a plane of each counter, and gives what is carried.
const fn add(plane: &mut u64, one: u64, other: u64) -> u64 {
    let half = *plane ^ one;
    let carry = *plane & one | half & other;
    *plane = half ^ other;
    carry
}

/// Eight bytes from there; blanks where there are none.
fn eight_from(text: &[u8], at: usize) -> u64 {
    let rest = text.get(at..).unwrap_or_default();
    let bytes = rest.first_chunk().copied().unwrap_or_else(|| {
        let mut bytes = [b' '; 8];
        bytes[..rest.len()].copy_from_slice(rest);
        bytes
    });
    u64::from_le_bytes(bytes)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same by the textbook: a counter for each bit.
    fn slowly(text: &str) -> Option<u64> {
        let mut counters = [0_i64; 64];
        let bytes = text.as_bytes();
        let (a, b, c) = ANCHORS;
        let anchors = (0..bytes.len()).filter(|at| {
            if *at < DENSE_BYTES {
                [a, b, c].contains(&bytes[*at])
            } else {
                [RARE_ANCHORS.0, RARE_ANCHORS.1].contains(&bytes[*at])
            }
        });
        let mut features = 0;
        for at in anchors {
            features += 1;
            let mut one = Sketch::new();
            one.feature(bytes, at);
            for (bit, counter) in counters.iter_mut().enumerate() {
                let is_set = one.batch[0] >> bit & 1 == 1;
                *counter += if is_set { 1 } else { -1 };
            }
        }
        let set = counters.iter().enumerate().filter(|(_, sum)| **sum > 0);
        let hash = set.fold(0, |hash, (bit, _)| hash | 1 << bit);
        (features >= FEATURES_MIN).then_some(hash)
    }

    fn hash(text: &str) -> Option<u64> {
        let mut sketch = Sketch::new();
        sketch.take(text.as_bytes(), text.len());
        sketch.finish()
    }

    /// Words that differ from seed to seed.
    fn text(seed: u64, words: u64) -> Vec<String> {
        let word = |at: u64| {
            let mixed = (seed << 32 | at).wrapping_mul(FIRST);
            ((mixed ^ mixed >> 32).wrapping_mul(SECOND) >> 40) % 5_000
        };
        (0..words).map(|at| format!("word{}", word(at))).collect()
    }

    #[test]
    fn it_is_the_simhash_of_the_textbook() {
        for count in [0, 11, 12, 13, 16, 64, 1_000, 4_000] {
            let text = text(count + 1, count).join(" ");
            assert_eq!(hash(&text), slowly(&text), "{count} words");
        }
        let odd = format!(" a  가나다라마바사 {} ", "x".repeat(100));
        let odd = odd.repeat(40);
        assert_eq!(hash(&odd), slowly(&odd));
    }

    #[test]
    fn similar_texts_are_near_and_others_far() {
        let one = text(1, 600);
        let mut edited = one.clone();
        edited[300] = "else".to_owned();
        edited.push("more".to_owned());
        let distance = |a: &[String], b: &[String]| {
            let hashes = [a, b].map(|words| hash(&words.join(" ")).unwrap());
            (hashes[0] ^ hashes[1]).count_ones()
        };
        assert!(distance(&one, &edited) <= 3, "{}", distance(&one, &edited));
        for seed in 2..200 {
            let far = distance(&one, &text(seed, 600));
            assert!(far > 10, "{far} bits from text {seed}");
        }
    }

    #[test]
    fn pieces_cut_between_words_make_little_difference() {
        let words = text(7, 600);
        let mut sketch = Sketch::new();
        for piece in words.chunks(200) {
            let piece = format!("{} ", piece.join(" "));
            sketch.take(piece.as_bytes(), piece.len());
        }
        let whole = hash(&words.join(" ")).unwrap();
        let distance = (sketch.finish().unwrap() ^ whole).count_ones();
        assert!(distance <= 4, "{distance} bits");
    }

    #[test]
    fn pieces_that_are_seen_together_make_none() {
        let text = text(7, 600).join(" ");
        let bytes = text.as_bytes();
        let mut sketch = Sketch::new();
        sketch.take(bytes, 1_000);
        sketch.take(&bytes[1_000..], bytes.len() - 1_000);
        assert_eq!(sketch.finish(), hash(&text));
    }

    #[test]
    fn words_are_counted_whatever_the_pieces() {
        let mut sketch = Sketch::new();
        for piece in ["one two ", "three", " four five "] {
            let piece = piece.trim_start();
            sketch.take(piece.as_bytes(), piece.len());
        }
        assert_eq!(sketch.words(), 5);
    }

    #[test]
    fn the_word_met_most_often_has_a_share() {
        let mut sketch = Sketch::new();
        let text = "buy now ".repeat(50);
        sketch.take(text.as_bytes(), text.len());
        assert_eq!((sketch.words(), sketch.top_word_percent()), (100, 50));
        assert_eq!(Sketch::new().top_word_percent(), 0);
    }
}
