//! Text folded in blocks: what of a text needs no thought.
//!
//! ASCII letters become lower case and single blanks stay; what else there is
//! stops a block and is looked up byte by byte.

use crate::tokenizer::is_space;

/// What a byte is: the byte it is folded to, and these marks above it. One
/// look-up answers everything.
pub(crate) const CLASSES: [u16; 256] = byte_classes();
/// Part of a word.
pub(crate) const WORD: u16 = 1 << 8;
/// White space.
pub(crate) const SPACE: u16 = 1 << 9;
/// Needs more than a look-up: a digit, or the first byte of a character that may
/// be white space.
pub(crate) const ASK: u16 = 1 << 10;

const fn byte_classes() -> [u16; 256] {
    let mut classes = [0; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            letter @ (b'a'..=b'z' | b'A'..=b'Z') => letter.to_ascii_lowercase() as u16 | WORD,
            ask @ (b'0'..=b'9' | 0xC2 | 0xE1..=0xE3) => ask as u16 | WORD | ASK,
            other @ 0x80.. => other as u16 | WORD,
            space if is_space(space) => b' ' as u16 | SPACE,
            _ => b' ' as u16,
        };
        byte += 1;
    }
    classes
}

/// Bytes folded at once where that is possible.
pub(crate) const BLOCK_BYTES: usize = 16;

/// Folds a block and says how many of its first bytes are words with single
/// blanks between them, of which every byte is kept: most of most texts.
/// `after_blank` says that a blank at the start would be the second of two.
/// Written without branches, so that it becomes a few vector instructions.
#[inline]
#[expect(clippy::needless_bitwise_bool, reason = "a lazy operator is a branch")]
pub(crate) fn fold_block(
    block: [u8; BLOCK_BYTES],
    after_blank: bool,
) -> ([u8; BLOCK_BYTES], usize) {
    let mut folded = [0; BLOCK_BYTES];
    let mut others = [0; BLOCK_BYTES];
    let mut blanks = [0; BLOCK_BYTES];
    for at in 0..BLOCK_BYTES {
        let byte = block[at];
        let is_letter = (byte | 0x20).wrapping_sub(b'a') < 26;
        let asks = (byte == 0xC2) | (byte.wrapping_sub(0xE1) < 3);
        let is_blank = byte == b' ';
        others[at] = u8::from(!(is_letter | ((byte >= 0x80) & !asks) | is_blank));
        blanks[at] = u8::from(is_blank);
        folded[at] = byte | (u8::from(byte.wrapping_sub(b'A') < 26) << 5);
    }
    let blanks = u128::from_le_bytes(blanks);
    let second_blanks = blanks & (blanks << 8 | u128::from(after_blank));
    let stops = u128::from_le_bytes(others) | second_blanks;
    (folded, stops.trailing_zeros() as usize / 8)
}

/// The first bytes as a block. What is missing at the end stops folding.
#[inline]
pub(crate) fn block_of(bytes: &[u8]) -> [u8; BLOCK_BYTES] {
    bytes.first_chunk().copied().unwrap_or_else(|| {
        let mut block = [0; BLOCK_BYTES];
        block[..bytes.len()].copy_from_slice(bytes);
        block
    })
}

/// Whether text begins with a digit, or with white space beyond ASCII.
#[inline]
pub(crate) fn is_digit_or_space(bytes: &[u8]) -> bool {
    // U+0085 and U+00A0; U+1680; U+2000 to U+207F, some of which are; U+3000.
    matches!(
        bytes,
        [b'0'..=b'9', ..]
            | [0xC2, 0x85 | 0xA0, ..]
            | [0xE1, 0x9A, 0x80, ..]
            | [0xE2, 0x80 | 0x81, ..]
            | [0xE3, 0x80, 0x80, ..]
    )
}
