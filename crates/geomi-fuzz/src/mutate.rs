//! New inputs out of old ones.

use crate::INPUT_BYTES_MAX;

/// Makes inputs out of a corpus; the same seed makes the same ones.
#[derive(Debug)]
pub struct Mutator {
    corpus: Vec<Vec<u8>>,
    words: &'static [&'static [u8]],
    state: u64,
}

/// Bytes at the edges of what parsers tell apart.
const EDGES: [u8; 16] = [
    0, 1, 0x0A, 0x0D, 0x1B, b' ', b'"', b'%', b'/', b':', b'<', b'>', 0x7F, 0x80, 0xC2, 0xFF,
];
/// Changes made at once, at most.
const CHANGES_MAX: usize = 8;

impl Mutator {
    /// Over a corpus, with the words of a target's language.
    pub fn new(corpus: Vec<Vec<u8>>, words: &'static [&'static [u8]], seed: u64) -> Self {
        Self {
            corpus,
            words,
            // Zero would stay zero.
            state: seed ^ 0x9E37_79B9_7F4A_7C15 | 1,
        }
    }

    /// The next input.
    pub fn input(&mut self) -> Vec<u8> {
        let mut input = self.pick();
        for _ in 0..=self.below(CHANGES_MAX) {
            self.change(&mut input);
        }
        input.truncate(INPUT_BYTES_MAX);
        input
    }

    fn pick(&mut self) -> Vec<u8> {
        if self.corpus.is_empty() {
            return Vec::new();
        }
        let at = self.below(self.corpus.len());
        self.corpus[at].clone()
    }

    fn change(&mut self, input: &mut Vec<u8>) {
        let at = self.below(input.len() + 1);
        let end = (at + self.below(32)).min(input.len());
        match self.below(8) {
            0 if at < input.len() => input[at] ^= 1 << self.below(8),
            1 if at < input.len() => input[at] = EDGES[self.below(EDGES.len())],
            2 => drop(input.drain(at..end)),
            3 => {
                let piece = input[at..end].to_vec();
                let times = 1 + self.below(64);
                insert(input, at, &piece.repeat(times));
            }
            4 if !self.words.is_empty() => {
                let word = self.words[self.below(self.words.len())];
                insert(input, at, word);
            }
            5 => {
                let other = self.pick();
                let from = self.below(other.len() + 1);
                input.truncate(at);
                input.extend_from_slice(&other[from..]);
            }
            6 => input.truncate(at),
            _ => {
                let bytes: Vec<u8> = (0..=self.below(4)).map(|_| self.next() as u8).collect();
                insert(input, at, &bytes);
            }
        }
    }

    /// A number below `bound`, which is at least 1.
    fn below(&mut self, bound: usize) -> usize {
        (self.next() % bound as u64) as usize
    }

    /// xorshift64*: small, fast and good enough to pick with.
    fn next(&mut self) -> u64 {
        self.state ^= self.state >> 12;
        self.state ^= self.state << 25;
        self.state ^= self.state >> 27;
        self.state.wrapping_mul(0x2545_F491_4F6C_DD1D) >> 8
    }
}

fn insert(input: &mut Vec<u8>, at: usize, piece: &[u8]) {
    if input.len() + piece.len() <= INPUT_BYTES_MAX {
        input.splice(at..at, piece.iter().copied());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_seed_makes_the_same_inputs_and_another_others() {
        let inputs = |seed| {
            let mut mutator = Mutator::new(vec![b"hello world".to_vec()], &[b"x"], seed);
            (0..50).map(|_| mutator.input()).collect::<Vec<_>>()
        };
        assert_eq!(inputs(7), inputs(7));
        assert_ne!(inputs(7), inputs(8));
    }

    #[test]
    fn inputs_stay_bounded() {
        let mut mutator = Mutator::new(vec![vec![b'x'; INPUT_BYTES_MAX]], &[b"word"], 1);
        assert!((0..1_000).all(|_| mutator.input().len() <= INPUT_BYTES_MAX));
    }
}
