//! A simhash over the words of a text (Charikar 2002; Manku et al. 2007), taken
//! as the words go by.
//!
//! A feature is a pair of neighbouring words. For each of 64 bits the features
//! that have it set are counted; the bit is set in the hash if more than half of
//! them do. Texts that share most of their pairs differ in few bits: with one
//! pair in a hundred changed, in about three of 64.
//!
//! The counters stand upright: bit *i* of plane *p* is bit *p* of counter *i*, so
//! that all 64 are added to at once, and carry-save adders take eight features
//! before anything is carried into the planes. A word costs a few instructions;
//! 64 separate counters would cost 64.

/// Words below which a text is too short for its hash to mean anything.
const WORDS_MIN: u32 = 50;
/// Planes above the first three: texts of up to 2^27 words.
const PLANES: usize = 24;
/// Features taken at once.
const BATCH: usize = 8;

/// Odd numbers with well spread bits, from the digits of pi.
const FIRST: u64 = 0x9e37_79b9_7f4a_7c15;
const SECOND: u64 = 0x2127_599b_f432_5c37;

/// A simhash in the making.
pub(crate) struct Sketch {
    ones: u64,
    twos: u64,
    fours: u64,
    planes: [u64; PLANES],
    batch: [u64; BATCH],
    waiting: usize,
    words: u32,
    /// The word before.
    before: u64,
    /// How often words were met, by eight bits of their hash.
    met: [u16; 256],
}

impl Sketch {
    pub(crate) const fn new() -> Self {
        Self {
            ones: 0,
            twos: 0,
            fours: 0,
            planes: [0; PLANES],
            batch: [0; BATCH],
            waiting: 0,
            words: 0,
            before: 0,
            met: [0; 256],
        }
    }

    /// Takes whole words with single blanks between them.
    pub(crate) fn take(&mut self, text: &[u8]) {
        let mut word = FIRST;
        let mut is_inside = false;
        let mut at = 0;
        while at < text.len() {
            let eight = eight_from(text, at);
            let length = before_blank(eight).min(text.len() - at);
            if length == 8 {
                word = (word ^ eight).wrapping_mul(SECOND).rotate_left(29);
                is_inside = true;
                at += 8;
                continue;
            }
            if length > 0 {
                let rest = eight & ((1 << (8 * length)) - 1);
                word = (word ^ rest).wrapping_mul(SECOND).rotate_left(29);
                is_inside = true;
            }
            if is_inside {
                self.word(word);
            }
            word = FIRST;
            is_inside = false;
            at += length + 1;
        }
        if is_inside {
            self.word(word);
        }
    }

    /// Words taken.
    pub(crate) const fn words(&self) -> u32 {
        self.words
    }

    /// The share of the word met most often, in hundredths.
    pub(crate) fn top_word_percent(&self) -> u8 {
        let top = self.met.iter().max().copied().unwrap_or(0);
        let percent = u32::from(top) * 100 / self.words.max(1);
        u8::try_from(percent.min(100)).unwrap_or(100)
    }

    /// The hash, if there was enough text for one.
    pub(crate) fn finish(mut self) -> Option<u64> {
        if self.words < WORDS_MIN {
            return None;
        }
        // What fills the batch up has no bit set, and so counts nowhere.
        self.batch[self.waiting..].fill(0);
        self.add_batch();
        let mut hash = 0;
        for bit in 0..64 {
            let of = |plane: u64| plane >> bit & 1;
            let low = of(self.ones) + 2 * of(self.twos) + 4 * of(self.fours);
            let planes = self.planes.iter().enumerate();
            let high: u64 = planes.map(|(at, plane)| of(*plane) << (at + 3)).sum();
            hash |= u64::from(2 * (low + high) > u64::from(self.words)) << bit;
        }
        Some(hash)
    }

    fn word(&mut self, word: u64) {
        let mut word = (word ^ word >> 32).wrapping_mul(FIRST);
        word ^= word >> 29;
        let slot = &mut self.met[(word >> 56) as usize];
        *slot = slot.saturating_add(1);
        self.words = self.words.saturating_add(1);
        let mut pair = (word ^ self.before.rotate_left(17)).wrapping_mul(SECOND);
        pair ^= pair >> 32;
        self.before = word;
        self.batch[self.waiting] = pair;
        self.waiting += 1;
        if self.waiting == BATCH {
            self.add_batch();
            self.waiting = 0;
        }
    }

    fn add_batch(&mut self) {
        let batch = &self.batch;
        let (ones, two_a) = add(self.ones, batch[0], batch[1]);
        let (ones, two_b) = add(ones, batch[2], batch[3]);
        let (twos, four_a) = add(self.twos, two_a, two_b);
        let (ones, two_a) = add(ones, batch[4], batch[5]);
        let (ones, two_b) = add(ones, batch[6], batch[7]);
        let (twos, four_b) = add(twos, two_a, two_b);
        let (fours, mut carry) = add(self.fours, four_a, four_b);
        (self.ones, self.twos, self.fours) = (ones, twos, fours);
        for plane in &mut self.planes {
            if carry == 0 {
                break;
            }
            (*plane, carry) = (*plane ^ carry, *plane & carry);
        }
    }
}

/// Three bits of each counter added: their sum and their carry.
const fn add(a: u64, b: u64, c: u64) -> (u64, u64) {
    let half = a ^ b;
    (half ^ c, a & b | half & c)
}

/// Eight bytes from there; blanks where there are none.
fn eight_from(text: &[u8], at: usize) -> u64 {
    let rest = &text[at..];
    let bytes = rest.first_chunk().copied().unwrap_or_else(|| {
        let mut bytes = [b' '; 8];
        bytes[..rest.len()].copy_from_slice(rest);
        bytes
    });
    u64::from_le_bytes(bytes)
}

/// How many of eight bytes come before the first blank.
const fn before_blank(eight: u64) -> usize {
    const LOWS: u64 = u64::MAX / 255;
    let no_blanks = eight ^ (LOWS * b' ' as u64);
    // The lowest mark is right; those above it may not be.
    let marks = no_blanks.wrapping_sub(LOWS) & !no_blanks & (LOWS << 7);
    marks.trailing_zeros() as usize / 8
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The same by the textbook: a counter for each bit.
    fn slowly(text: &str) -> Option<u64> {
        let mut counters = [0_i64; 64];
        let mut pairs = Sketch::new();
        let words: Vec<&str> = text.split(' ').filter(|word| !word.is_empty()).collect();
        for word in &words {
            pairs.waiting = 0;
            pairs.take(word.as_bytes());
            for (bit, counter) in counters.iter_mut().enumerate() {
                *counter += if pairs.batch[0] >> bit & 1 == 1 {
                    1
                } else {
                    -1
                };
            }
        }
        let set = counters.iter().enumerate().filter(|(_, sum)| **sum > 0);
        let hash = set.fold(0, |hash, (bit, _)| hash | 1 << bit);
        (words.len() >= WORDS_MIN as usize).then_some(hash)
    }

    fn hash(text: &str) -> Option<u64> {
        let mut sketch = Sketch::new();
        sketch.take(text.as_bytes());
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
        for count in [0, 49, 50, 57, 64, 1_000, 4_000] {
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
    fn pieces_cut_between_words_make_no_difference() {
        let words = text(7, 300);
        let mut sketch = Sketch::new();
        for piece in words.chunks(7) {
            sketch.take(format!("{} ", piece.join(" ")).as_bytes());
        }
        assert_eq!(sketch.finish(), hash(&words.join(" ")));
    }

    #[test]
    fn the_word_met_most_often_has_a_share() {
        let mut sketch = Sketch::new();
        sketch.take("buy now ".repeat(50).as_bytes());
        assert_eq!((sketch.words(), sketch.top_word_percent()), (100, 50));
        assert_eq!(Sketch::new().top_word_percent(), 0);
    }
}
