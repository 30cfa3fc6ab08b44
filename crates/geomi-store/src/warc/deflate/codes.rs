//! The codes of a block: made for how often its symbols occur, and written at
//! its head.

use super::bits::BitWriter;
use super::{DISTANCE_CODES, LENGTHS, LITERALS_AND_LENGTHS};

/// The most bits of a code.
pub(super) const BITS_MAX: usize = 15;
/// Nodes of the largest tree, rounded up.
const NODES: usize = 2 * LITERALS_AND_LENGTHS;
/// The low bits of a count that is sorted together with its symbol.
const SYMBOL_BITS: u32 = 9;

/// The alphabet in which code lengths are written: the lengths themselves, and
/// three kinds of repetition.
const RUNS: usize = 19;
const RUN_BITS_MAX: usize = 7;
/// The order in which the code lengths of that alphabet are written.
const RUN_ORDER: [usize; RUNS] = [
    16, 17, 18, 0, 8, 7, 9, 6, 10, 5, 11, 4, 12, 3, 13, 2, 14, 1, 15,
];

/// The bits of a symbol, lowest first.
#[derive(Clone, Copy, Default)]
pub(super) struct Code {
    pub(super) bits: u16,
    pub(super) len: u8,
    /// The length with the extra bits that follow.
    pub(super) total: u8,
}

/// Sets the lengths of a prefix code of at most `limit` bits for symbols that
/// occur so often. It is the best one unless the limit matters. At least two
/// symbols get a code, as some decoders accept nothing less.
pub(super) fn code_lens(counts: &[u32], limit: usize, lens: &mut [u8]) {
    lens.fill(0);
    // The leaves by rising count, followed by the inner nodes, which come into
    // being by rising count.
    let mut weights = [0; NODES];
    let mut leaves = 0;
    for (symbol, &count) in counts.iter().enumerate() {
        if count > 0 {
            weights[leaves] = count << SYMBOL_BITS | symbol as u32;
            leaves += 1;
        }
    }
    let symbol_of = |weight: u32| (weight % (1 << SYMBOL_BITS)) as usize;
    if leaves < 2 {
        let only = symbol_of(weights[0]);
        lens[only] = 1;
        lens[usize::from(only == 0)] = 1;
        return;
    }
    weights[..leaves].sort_unstable();
    let mut symbols = [0u16; LITERALS_AND_LENGTHS];
    for (symbol, weight) in symbols.iter_mut().zip(&mut weights[..leaves]) {
        *symbol = symbol_of(*weight) as u16;
        *weight >>= SYMBOL_BITS;
    }
    let mut len_counts = leaf_depths(&mut weights, leaves, limit);
    fit(&mut len_counts[..=limit]);
    let mut rising = symbols.into_iter();
    for (len, &count) in len_counts.iter().enumerate().rev() {
        for symbol in rising.by_ref().take(count as usize) {
            lens[usize::from(symbol)] = len as u8;
        }
    }
}

/// How many leaves of the tree of these weights there are at each depth; those
/// beyond the limit are counted there.
fn leaf_depths(weights: &mut [u32; NODES], leaves: usize, limit: usize) -> [u32; BITS_MAX + 1] {
    let mut parents = [0u16; NODES];
    let (mut leaf, mut inner) = (0, leaves);
    for node in leaves..2 * leaves - 1 {
        for _ in 0..2 {
            let take_leaf = leaf < leaves && (inner == node || weights[leaf] <= weights[inner]);
            let child = if take_leaf { &mut leaf } else { &mut inner };
            parents[*child] = node as u16;
            weights[node] += weights[*child];
            *child += 1;
        }
    }
    let mut depths = [0u8; NODES];
    let mut len_counts = [0; BITS_MAX + 1];
    for node in (0..2 * leaves - 2).rev() {
        depths[node] = depths[usize::from(parents[node])] + 1;
        if node < leaves {
            len_counts[limit.min(usize::from(depths[node]))] += 1;
        }
    }
    len_counts
}

/// Makes room for codes that were cut to the limit: one of them moves beside a
/// shorter one, which becomes a bit longer, until they all fit.
fn fit(len_counts: &mut [u32]) {
    let limit = len_counts.len() - 1;
    let taken = |(len, count): (usize, &u32)| count << (limit - len);
    let taken: u32 = len_counts.iter().enumerate().map(taken).sum();
    for _ in 1 << limit..taken {
        let shorter = len_counts[..limit].iter().rposition(|&count| count > 0);
        let shorter = shorter.expect("not all codes are as long as the limit");
        len_counts[shorter] -= 1;
        len_counts[shorter + 1] += 2;
        len_counts[limit] -= 1;
    }
}

/// Sets the codes that follow from their lengths.
pub(super) fn assign_codes(lens: &[u8], codes: &mut [Code]) {
    let mut len_counts = [0; BITS_MAX + 1];
    for &len in lens {
        len_counts[usize::from(len)] += 1;
    }
    len_counts[0] = 0;
    let mut next = [0u16; BITS_MAX + 1];
    for len in 1..=BITS_MAX {
        next[len] = (next[len - 1] + len_counts[len - 1]) << 1;
    }
    for (code, &len) in codes.iter_mut().zip(lens) {
        let next = &mut next[usize::from(len)];
        let bits = next.reverse_bits().unbounded_shr(16 - u32::from(len));
        *code = Code {
            bits,
            len,
            total: len,
        };
        *next += u16::from(len > 0);
    }
}

/// A symbol of the run alphabet, the value and the number of its extra bits.
type Run = (u8, u8, u8);

/// The head of a block: the code lengths of its alphabets.
pub(super) struct Header {
    literals: usize,
    distances: usize,
    runs: [Run; LITERALS_AND_LENGTHS + DISTANCE_CODES],
    run_count: usize,
    codes: [Code; RUNS],
    /// How many of them are written.
    code_count: usize,
}

impl Header {
    pub(super) fn new(literals: &[u8], distances: &[u8]) -> Self {
        let used = |lens: &[u8]| {
            lens.iter()
                .rposition(|&len| len > 0)
                .map_or(0, |last| last + 1)
        };
        let mut header = Self {
            literals: used(literals).max(LENGTHS),
            distances: used(distances).max(1),
            runs: [(0, 0, 0); LITERALS_AND_LENGTHS + DISTANCE_CODES],
            run_count: 0,
            codes: [Code::default(); RUNS],
            code_count: 0,
        };
        for lens in [&literals[..header.literals], &distances[..header.distances]] {
            for run in lens.chunk_by(|a, b| a == b) {
                header.push_run(run[0], run.len());
            }
        }
        let mut counts = [0; RUNS];
        for &(symbol, ..) in &header.runs[..header.run_count] {
            counts[usize::from(symbol)] += 1;
        }
        let mut lens = [0; RUNS];
        code_lens(&counts, RUN_BITS_MAX, &mut lens);
        assign_codes(&lens, &mut header.codes);
        header.code_count = used(&RUN_ORDER.map(|symbol| lens[symbol])).max(4);
        header
    }

    /// Adds `count` times the code length `len`.
    fn push_run(&mut self, len: u8, mut count: usize) {
        let mut push = |run| {
            self.runs[self.run_count] = run;
            self.run_count += 1;
        };
        if len > 0 {
            push((len, 0, 0));
            count -= 1;
        }
        while count > 0 {
            let (symbol, min, max, bits) = match (len, count) {
                (0, 11..) => (18, 11, 138, 7),
                (0, 3..) => (17, 3, 10, 3),
                (1.., 3..) => (16, 3, 6, 2),
                _ => (len, 1, 1, 0),
            };
            let taken = count.min(max);
            push((symbol, (taken - min) as u8, bits));
            count -= taken;
        }
    }

    pub(super) fn bit_count(&self) -> usize {
        let mut bits = 3 + 5 + 5 + 4 + 3 * self.code_count;
        for &(symbol, _, extra_bits) in &self.runs[..self.run_count] {
            bits += usize::from(self.codes[usize::from(symbol)].len + extra_bits);
        }
        bits
    }

    pub(super) fn write(&self, last: bool, writer: &mut BitWriter) {
        writer.put(u64::from(last) | 2 << 1, 3);
        writer.put((self.literals - LENGTHS) as u64, 5);
        writer.put((self.distances - 1) as u64, 5);
        writer.put((self.code_count - 4) as u64, 4);
        for &symbol in &RUN_ORDER[..self.code_count] {
            writer.put(u64::from(self.codes[symbol].len), 3);
        }
        for &(symbol, extra, extra_bits) in &self.runs[..self.run_count] {
            let code = self.codes[usize::from(symbol)];
            let value = u64::from(code.bits) | u64::from(extra) << code.len;
            writer.put(value, u32::from(code.len + extra_bits));
        }
    }
}
