//! FNV-1a, for hashes over a few bytes at a time.

/// The hash over nothing.
pub(crate) const START: u64 = 0xcbf2_9ce4_8422_2325;

/// The hash with one byte more.
#[inline]
pub(crate) const fn add(hash: u64, byte: u8) -> u64 {
    (hash ^ byte as u64).wrapping_mul(0x0100_0000_01b3)
}

/// The hash with a number more, in one step: its high bits are brought down, which
/// steps of a byte each would do as well.
#[inline]
pub(crate) const fn add_u64(hash: u64, number: u64) -> u64 {
    let mixed = (hash ^ number).wrapping_mul(0x9e37_79b9_7f4a_7c15);
    mixed ^ mixed >> 32
}
