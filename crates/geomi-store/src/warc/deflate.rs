//! DEFLATE (RFC 1951) for whole pages in memory: faster than level 1 of
//! libdeflate, for a few percent more bytes.
//!
//! # How it works
//!
//! The input is cut into blocks of 32 KiB. Each is copied into a ring of 64 KiB,
//! which then holds the block and all that a match in it may refer to. So a
//! position is a `u16`, wherever in the input it is, and reading the ring needs
//! no bounds check. Matches are found greedily: a table remembers where each
//! hash of five bytes was last seen, and one look decides. The bytes in the ring
//! are compared in any case, so the table needs no mark for "none" or "too old":
//! a distance out of range is no match.
//!
//! A block becomes a list of tokens: a literal is one, a match is two (length
//! and distance). All of them share one alphabet and one table of codes, so that
//! writing them has no branches to mispredict.
//!
//! # What it promises
//!
//! - The output is a complete raw DEFLATE stream, for any input.
//! - It depends on the input only, not on what was compressed before.
//! - It is at most five bytes for each 32 KiB begun longer than the input: a
//!   block that would not shrink is stored.
//! - A [`Deflater`] holds 300 KiB, of any input, and allocates only when it is
//!   made; besides that, only the caller's output grows.

mod bits;
mod codes;
#[cfg(test)]
mod tests;

use std::fmt::Debug;

use bits::BitWriter;
use codes::{Code, Header, assign_codes, code_lens};

/// Input bytes a block, which is also how far back a match may be.
const BLOCK: usize = 1 << 15;
const RING: usize = 2 * BLOCK;
/// The most bytes read at once. The ring is followed by a copy of that many of
/// its first bytes, so that they can be read from any position.
const READ_MAX: usize = 16;
type Ring = [u8; RING + READ_MAX];

const HASH_BITS: u32 = 14;
/// A match has at least five bytes; these are the other bits of a `u64`.
const UNHASHED_BITS: u32 = 24;
const HASH_FACTOR: u64 = 0x9e37_79b1_85eb_ca87 << UNHASHED_BITS;
const LENGTH_MIN: usize = 3;
const LENGTH_MAX: usize = 258;
/// Set in a distance less one that is above 32768, and in that of none.
const TOO_FAR: u16 = 1 << 15;

/// The joint alphabet: literals, the end of the block and lengths; distances;
/// and a symbol of no bits that makes the number of tokens even.
const ALPHABET: usize = 512;
const END: u16 = 256;
const LENGTHS: usize = 257;
const LITERALS_AND_LENGTHS: usize = 286;
const DISTANCES: usize = 288;
const DISTANCE_CODES: usize = 30;
const FILLER: u16 = 511;

/// A symbol of the joint alphabet, and the value of its extra bits.
#[derive(Clone, Copy, Default, Debug)]
struct Token {
    symbol: u16,
    extra: u16,
}

impl Token {
    /// A token without extra bits.
    const fn plain(symbol: u16) -> Self {
        Self { symbol, extra: 0 }
    }
}

/// How lengths and distances are written.
struct Formats {
    /// By length less [`LENGTH_MIN`].
    lengths: [Token; 256],
    /// By distance less one: at itself if that is below 256, else at 256 and a
    /// 128th of it. Here `extra` is the mask of the bits that are extra bits.
    distances: [Token; 512],
    /// How many extra bits a symbol has.
    extra_bits: [u8; ALPHABET],
}

static FORMATS: Formats = formats();

const fn formats() -> Formats {
    let mut formats = Formats {
        lengths: [Token::plain(0); 256],
        distances: [Token::plain(0); 512],
        extra_bits: [0; ALPHABET],
    };
    let (mut symbol, mut at) = (LENGTHS, 0);
    while at < 255 {
        let code = symbol - LENGTHS;
        let bits = if code < 8 { 0 } else { code / 4 - 1 };
        formats.extra_bits[symbol] = bits as u8;
        let mut extra = 0;
        while extra < 1 << bits {
            formats.lengths[at] = Token {
                symbol: symbol as u16,
                extra,
            };
            extra += 1;
            at += 1;
        }
        symbol += 1;
    }
    // The greatest length has its own symbol, though the one before reaches it.
    formats.lengths[255] = Token::plain(symbol as u16);
    (symbol, at) = (DISTANCES, 0);
    while at < BLOCK {
        let code = symbol - DISTANCES;
        let bits = if code < 4 { 0 } else { code / 2 - 1 };
        formats.extra_bits[symbol] = bits as u8;
        let end = at + (1 << bits);
        while at < end {
            let index = if at < 256 { at } else { 256 + at / 128 };
            formats.distances[index] = Token {
                symbol: symbol as u16,
                extra: (1 << bits) - 1,
            };
            at += if at < 256 { 1 } else { 128 };
        }
        symbol += 1;
    }
    formats
}

/// A compressor with its working memory, for one input after another.
pub(super) struct Deflater {
    ring: Box<Ring>,
    /// Where in the ring each hash was last seen.
    seen: Box<[u16; 1 << HASH_BITS]>,
    /// Those of a block, its end and a filler.
    tokens: Box<[Token; BLOCK + 2]>,
    /// How often each symbol is among the tokens.
    counts: [u32; ALPHABET],
    codes: [Code; ALPHABET],
    writer: BitWriter,
}

impl Deflater {
    pub(super) fn new() -> Self {
        Self {
            ring: heap_array(),
            seen: heap_array(),
            tokens: heap_array(),
            counts: [0; ALPHABET],
            codes: [Code::default(); ALPHABET],
            writer: BitWriter::new(),
        }
    }

    /// Appends the raw DEFLATE stream of `input` to `out`.
    pub(super) fn compress(&mut self, input: &[u8], out: &mut Vec<u8>) {
        self.seen.fill(0);
        let mut start = 0;
        loop {
            let block = &input[start..input.len().min(start + BLOCK)];
            let base = start % RING;
            self.ring[base..base + block.len()].copy_from_slice(block);
            self.ring.copy_within(..READ_MAX, RING);
            let tokens = self.tokenize(base, base + block.len());
            start += block.len();
            let last = start == input.len();
            self.write_block(block, tokens, last, out);
            if last {
                break;
            }
        }
        self.writer.align();
        self.writer.drain_to(out);
    }

    /// Turns the bytes from `base` to `end` of the ring into tokens, counts their
    /// symbols, and returns how many there are, without the filler.
    #[inline(never)] // Inlined, it runs out of registers.
    fn tokenize(&mut self, base: usize, end: usize) -> usize {
        let (ring, seen, tokens) = (&*self.ring, &mut *self.seen, &mut *self.tokens);
        let counts = &mut self.counts;
        counts.fill(0);
        let mut put = |at: usize, token: Token| {
            tokens[at] = token;
            counts[usize::from(token.symbol) % ALPHABET] += 1;
        };
        let (mut at, mut count) = (base, 0);
        // What is read from positions before this one lies in the block.
        let search_end = end.saturating_sub(READ_MAX);
        while at < search_end {
            let here = u64::from_le_bytes(read(ring, at));
            let entry = &mut seen[hash(here)];
            let candidate = usize::from(*entry);
            *entry = at as u16;
            let differing = here ^ u64::from_le_bytes(read(ring, candidate));
            let less_one = at.wrapping_sub(candidate + 1) as u16;
            // One branch for both conditions: each alone is hard to predict.
            if differing << UNHASHED_BITS | u64::from(less_one & TOO_FAR) != 0 {
                put(count, Token::plain(here as u16 & 0xff));
                count += 1;
                at += 1;
                continue;
            }
            let differing = wide(ring, at) ^ wide(ring, candidate);
            let length = match differing.trailing_zeros() {
                u128::BITS => long_match(ring, at, candidate, end),
                equal_bits => equal_bits as usize / 8,
            };
            put(count, FORMATS.lengths[(length - LENGTH_MIN) % 256]);
            put(count + 1, distance_token(less_one));
            count += 2;
            // Remembering the first and the last positions of a match finds most
            // of what remembering all of them would.
            for step in 1..4 {
                seen[hash(here >> (8 * step))] = (at + step) as u16;
            }
            at += length;
            if at < search_end {
                let before = u64::from_le_bytes(read(ring, at - 2));
                seen[hash(before)] = (at - 2) as u16;
                seen[hash(before >> 8)] = (at - 1) as u16;
            }
        }
        for &byte in &ring[at..end] {
            put(count, Token::plain(u16::from(byte)));
            count += 1;
        }
        put(count, Token::plain(END));
        put(count + 1, Token::plain(FILLER));
        count + 1
    }

    /// Writes a block: its tokens in codes made for them, or its bytes.
    fn write_block(&mut self, block: &[u8], tokens: usize, last: bool, out: &mut Vec<u8>) {
        let mut lens = [[0; LITERALS_AND_LENGTHS]; 2];
        let [literals, distances] = &mut lens;
        let distances = &mut distances[..DISTANCE_CODES];
        for (lens, first) in [(&mut literals[..], 0), (&mut *distances, DISTANCES)] {
            let symbols = first..first + lens.len();
            code_lens(&self.counts[symbols.clone()], codes::BITS_MAX, lens);
            assign_codes(lens, &mut self.codes[symbols]);
        }
        let header = Header::new(literals, distances);
        let mut bits = header.bit_count();
        for (symbol, code) in self.codes.iter_mut().enumerate() {
            code.total = code.len + FORMATS.extra_bits[symbol];
            bits += usize::from(code.total) * self.counts[symbol] as usize;
        }
        if bits < self.writer.stored_bit_count(block.len()) {
            header.write(last, &mut self.writer);
            let tokens = &self.tokens[..tokens.next_multiple_of(2)];
            self.writer.put_tokens(tokens, &self.codes);
            self.writer.drain_to(out);
        } else {
            self.writer.put_stored_header(last, block.len() as u16);
            self.writer.drain_to(out);
            out.extend_from_slice(block);
        }
    }
}

/// An array of zeros that never was on the stack.
#[expect(clippy::unnecessary_box_returns, reason = "the box is the point")]
fn heap_array<T: Clone + Default + Debug, const N: usize>() -> Box<[T; N]> {
    let zeros = vec![T::default(); N];
    zeros
        .try_into()
        .expect("the vector has the length of the array")
}

/// The bytes at a position of the ring.
#[inline]
fn read<const N: usize>(ring: &Ring, at: usize) -> [u8; N] {
    const { assert!(N <= READ_MAX) };
    let bytes = ring[at % RING..].first_chunk();
    *bytes.expect("as many bytes follow the ring")
}

/// The hash of the first five bytes of `here`.
#[inline]
fn hash(here: u64) -> usize {
    (here.wrapping_mul(HASH_FACTOR) >> (u64::BITS - HASH_BITS)) as usize
}

#[inline]
fn wide(ring: &Ring, at: usize) -> u128 {
    u128::from_le_bytes(read(ring, at))
}

/// How far the bytes from `at` to `end` equal those at `candidate`, if the first
/// sixteen do.
fn long_match(ring: &Ring, at: usize, candidate: usize, end: usize) -> usize {
    let max = LENGTH_MAX.min(end - at);
    let mut length = 16;
    while length < max {
        let differing = wide(ring, at + length) ^ wide(ring, candidate + length);
        if differing != 0 {
            return max.min(length + differing.trailing_zeros() as usize / 8);
        }
        length += 16;
    }
    max
}

#[inline]
fn distance_token(less_one: u16) -> Token {
    let index = if less_one < 256 {
        less_one
    } else {
        256 + less_one / 128
    };
    let Token { symbol, extra } = FORMATS.distances[usize::from(index) % 512];
    Token {
        symbol,
        extra: extra & less_one,
    }
}
