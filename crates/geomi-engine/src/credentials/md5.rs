//! MD5 (RFC 1321), for servers that know no other Digest. It protects nothing
//! today; nothing else here uses it.

/// How many bits each step rotates its 32-bit word by.
const TURNS: [[u32; 4]; 4] = [
    [7, 12, 17, 22],
    [5, 9, 14, 20],
    [4, 11, 16, 23],
    [6, 10, 15, 21],
];

/// The digest of some bytes.
pub(super) fn digest(bytes: &[u8]) -> [u8; 16] {
    let mut message = bytes.to_vec();
    message.push(0x80);
    while message.len() % 64 != 56 {
        message.push(0);
    }
    message.extend((bytes.len() as u64).wrapping_mul(8).to_le_bytes());
    let mut state = [0x6745_2301_u32, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476];
    for block in message.chunks_exact(64) {
        state = mix(state, block);
    }
    let mut out = [0; 16];
    for (place, word) in out.chunks_exact_mut(4).zip(state) {
        place.copy_from_slice(&word.to_le_bytes());
    }
    out
}

fn mix(state: [u32; 4], block: &[u8]) -> [u32; 4] {
    let word = |index: usize| {
        let bytes = block[4 * index..4 * index + 4].try_into();
        u32::from_le_bytes(bytes.expect("four bytes"))
    };
    let [mut a, mut b, mut c, mut d] = state;
    for step in 0..64 {
        let (mixed, index) = match step / 16 {
            0 => ((b & c) | (!b & d), step),
            1 => ((d & b) | (!d & c), (5 * step + 1) % 16),
            2 => (b ^ c ^ d, (3 * step + 5) % 16),
            _ => (c ^ (b | !d), (7 * step) % 16),
        };
        // The standard's table: the fraction of a sine, in 32 bits.
        let constant = (((step + 1) as f64).sin().abs() * 4_294_967_296.0) as u32;
        let sum = a
            .wrapping_add(mixed)
            .wrapping_add(constant)
            .wrapping_add(word(index));
        let turned = b.wrapping_add(sum.rotate_left(TURNS[step / 16][step % 4]));
        (a, b, c, d) = (d, turned, b, c);
    }
    [
        state[0].wrapping_add(a),
        state[1].wrapping_add(b),
        state[2].wrapping_add(c),
        state[3].wrapping_add(d),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_standard_s_examples() {
        let hex =
            |text: &str| -> String { data_encoding::HEXLOWER.encode(&digest(text.as_bytes())) };
        assert_eq!(hex(""), "d41d8cd98f00b204e9800998ecf8427e");
        assert_eq!(hex("abc"), "900150983cd24fb0d6963f7d28e17f72");
        let long = "1234567890".repeat(8);
        assert_eq!(hex(&long), "57edf4a22be3c955ac49da2e2107b67a");
    }
}
