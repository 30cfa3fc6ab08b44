//! Bits, gathered to bytes.

use super::codes::Code;
use super::{ALPHABET, BLOCK, Token, heap_array};

/// Bytes written at once, of which some are written again by the next.
const WORD: usize = 8;
/// Bytes kept until they are drained: far more than a block takes, as one that
/// would take more than its input is stored, and a power of two, which makes
/// the bounds check needless.
const WRITTEN: usize = 2 * BLOCK;

/// Writes bits, lowest first.
pub(super) struct BitWriter {
    written: Box<[u8; WRITTEN + WORD]>,
    len: usize,
    /// Fewer than eight bits between calls.
    bits: u64,
    bit_count: u32,
}

impl BitWriter {
    pub(super) fn new() -> Self {
        Self {
            written: heap_array(),
            len: 0,
            bits: 0,
            bit_count: 0,
        }
    }

    /// Writes at most 56 bits.
    #[inline]
    pub(super) fn put(&mut self, value: u64, count: u32) {
        self.bits |= value << self.bit_count;
        self.bit_count += count;
        self.flush();
    }

    /// Writes tokens, of which there is an even number, in pairs. A pair has at
    /// most 48 bits, as of two neighbours at most one is a length and one a
    /// distance.
    #[inline(never)] // Inlined, it runs out of registers.
    pub(super) fn put_tokens(&mut self, tokens: &[Token], codes: &[Code; ALPHABET]) {
        for pair in tokens.as_chunks::<2>().0 {
            for token in pair {
                let code = codes[usize::from(token.symbol) % ALPHABET];
                let extra = u64::from(token.extra) << (code.len % 64);
                self.bits |= (u64::from(code.bits) | extra) << (self.bit_count % 64);
                self.bit_count += u32::from(code.total);
            }
            self.flush();
        }
    }

    #[inline]
    fn flush(&mut self) {
        let at = self.len % WRITTEN;
        self.written[at..at + WORD].copy_from_slice(&self.bits.to_le_bytes());
        self.len += self.bit_count as usize / 8;
        self.bits >>= self.bit_count & 0x38;
        self.bit_count %= 8;
    }

    /// What a stored block of so many bytes would take from here.
    pub(super) fn stored_bit_count(&self, bytes: usize) -> usize {
        let before = self.bit_count as usize;
        (before + 3).next_multiple_of(8) - before + 32 + 8 * bytes
    }

    /// Begins a stored block of `len` bytes.
    pub(super) fn put_stored_header(&mut self, last: bool, len: u16) {
        self.put(u64::from(last), 3);
        self.align();
        self.put(u64::from(len) | u64::from(!len) << 16, 32);
    }

    /// Fills the last byte with zeros.
    pub(super) fn align(&mut self) {
        self.put(0, self.bit_count.wrapping_neg() % 8);
    }

    /// Moves the whole bytes to `out`.
    pub(super) fn drain_to(&mut self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.written[..self.len]);
        self.len = 0;
    }
}
