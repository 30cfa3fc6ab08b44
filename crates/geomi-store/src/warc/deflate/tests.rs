//! Round trips through two decoders, at the limits of the format.

use flate2::{Decompress, FlushDecompress, Status};
use proptest::collection::vec;
use proptest::prelude::*;

use super::*;

/// Compresses, checks that two decoders give the input back, and that the
/// promised bound holds.
fn round_trip(deflater: &mut Deflater, input: &[u8]) -> Vec<u8> {
    let mut out = b"before".to_vec();
    deflater.compress(input, &mut out);
    assert_eq!(&out[..6], b"before", "the output is appended");
    let out = out.split_off(6);
    let blocks = input.len().div_ceil(BLOCK).max(1);
    assert!(
        out.len() <= input.len() + 5 * blocks,
        "{} of {}",
        out.len(),
        input.len()
    );

    let mut back = vec![0; input.len() + 1];
    let len = libdeflater::Decompressor::new().deflate_decompress(&out, &mut back);
    assert!(
        back[..len.unwrap()] == *input,
        "libdeflate: {} bytes",
        input.len()
    );
    back.fill(0);
    let mut other = Decompress::new(false);
    let status = other.decompress(&out, &mut back, FlushDecompress::Finish);
    assert_eq!(status.unwrap(), Status::StreamEnd);
    assert!(
        back[..other.total_out() as usize] == *input,
        "zlib-rs: {} bytes",
        input.len()
    );
    assert_eq!(
        other.total_in(),
        out.len() as u64,
        "nothing follows the last block"
    );
    out
}

fn compressed(input: &[u8]) -> Vec<u8> {
    round_trip(&mut Deflater::new(), input)
}

/// Numbers that look random, the same each time.
fn noise() -> impl Iterator<Item = u32> {
    let mut state = 1u64;
    std::iter::repeat_with(move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (state >> 33) as u32
    })
}

fn random_bytes(len: usize) -> Vec<u8> {
    noise().map(|number| number as u8).take(len).collect()
}

fn page(len: usize) -> Vec<u8> {
    let words = [
        "the ",
        "of ",
        "<p class=\"text\">",
        "</p>\n",
        "crawl",
        "ing ",
        "\u{d55c}\u{ad6d} ",
        "<a href=\"/",
    ];
    let words = noise().flat_map(|number| words[number as usize % words.len()].bytes());
    words.take(len).collect()
}

#[test]
fn nothing_is_one_stored_block() {
    assert_eq!(compressed(b""), [1, 0, 0, 0xff, 0xff]);
}

#[test]
fn each_single_byte() {
    for byte in 0..=255 {
        compressed(&[byte]);
    }
}

#[test]
fn short_inputs() {
    let text = page(200);
    for len in 0..text.len() {
        compressed(&text[..len]);
        compressed(&vec![b'a'; len]);
    }
}

#[test]
fn equal_bytes_shrink_to_almost_nothing() {
    for len in [
        17,
        18,
        258,
        259,
        274,
        275,
        276,
        1000,
        BLOCK - 1,
        BLOCK,
        BLOCK + 1,
        300_000,
    ] {
        let out = compressed(&vec![b'x'; len]);
        assert!(out.len() < 32 + len / 200, "{len}: {}", out.len());
    }
}

#[test]
fn what_does_not_shrink_is_stored() {
    for len in [1, 100, BLOCK - 1, BLOCK, BLOCK + 1, 3 * BLOCK, 200_000] {
        let out = compressed(&random_bytes(len));
        assert_eq!(out.len(), len + 5 * len.div_ceil(BLOCK));
    }
}

#[test]
fn stored_and_coded_blocks_alternate() {
    let mut input = Vec::new();
    for _ in 0..3 {
        input.extend(page(BLOCK));
        input.extend(random_bytes(BLOCK));
    }
    compressed(&input);
}

#[test]
fn pages_of_all_sizes() {
    let text = page(5 * BLOCK + 100);
    for blocks in 0..=5 {
        for near in 0..40 {
            let len = (blocks * BLOCK + near).saturating_sub(20);
            let out = compressed(&text[..len]);
            assert!(len < 1000 || out.len() < len / 2, "{len}: {}", out.len());
        }
    }
}

#[test]
fn all_match_lengths() {
    let random = random_bytes(400);
    for len in 1..=300 {
        let mut input = random.clone();
        input.extend_from_slice(&random[..len]);
        input.push(!random[len]);
        input.extend(noise().map(|number| number as u8).skip(1000).take(40));
        compressed(&input);
        // As the end of a block.
        let mut input = random_bytes(BLOCK - len);
        input.extend_from_within(..len);
        input.extend_from_within(len..2 * len);
        compressed(&input);
    }
}

#[test]
fn distances_up_to_the_greatest() {
    // Each distance symbol's least and greatest distance.
    let bounds = (2..=15).flat_map(|bits| [1 << bits, 3 << (bits - 1)]);
    let around = bounds.flat_map(|bound: usize| [bound - 1, bound, bound + 1]);
    for distance in around.filter(|distance| *distance > 8) {
        for before in [0, 1, 20_000, 40_000] {
            let mut input = vec![0; before];
            input.extend(random_bytes(distance));
            input.extend_from_within(before..before + distance.min(100));
            input.extend(vec![7; 50]);
            compressed(&input);
        }
    }
}

#[test]
fn a_repetition_is_found_up_to_the_greatest_distance_only() {
    let coded = |distance: usize| {
        // A block of noise is stored, so the repetition starts the next block.
        let mut input = random_bytes(BLOCK);
        input.extend_from_within(BLOCK - distance..);
        input.truncate(BLOCK + 2000);
        compressed(&input).len()
    };
    assert!(coded(BLOCK) < BLOCK + 200);
    let mut input = random_bytes(BLOCK + 1);
    input.extend_from_within(..2000);
    assert!(compressed(&input).len() >= BLOCK + 2001);
}

#[test]
fn matches_with_bytes_beyond_the_end_of_the_ring() {
    let input = random_bytes(RING + 3000);
    // What follows the repetition: what was there in the lap before, what was
    // there at first, what is there now.
    for then in [&input[..100], &[0; 100], &input[RING..RING + 100]] {
        for before in 17..100 {
            let repeated = &input[RING - before..RING];
            compressed(&[&input, repeated, then].concat());
        }
    }
}

#[test]
fn lengths_and_distances_are_written_as_specified() {
    let length = |length: usize| FORMATS.lengths[length - LENGTH_MIN];
    for (at, symbol, extra) in [
        (3, 257, 0),
        (10, 264, 0),
        (12, 265, 1),
        (19, 269, 0),
        (257, 284, 30),
        (258, 285, 0),
    ] {
        assert_eq!(
            (length(at).symbol, length(at).extra),
            (symbol, extra),
            "length {at}"
        );
    }
    for (at, symbol, extra) in [
        (1, 0, 0),
        (4, 3, 0),
        (6, 4, 1),
        (256, 15, 63),
        (257, 16, 0),
        (385, 17, 0),
        (24_577, 29, 0),
        (32_768, 29, 8191),
    ] {
        let token = distance_token(at - 1);
        let expected = (DISTANCES as u16 + symbol, extra);
        assert_eq!((token.symbol, token.extra), expected, "distance {at}");
    }
}

#[test]
fn the_output_depends_on_the_input_only() {
    let inputs = [
        page(70_000),
        random_bytes(50_000),
        page(100),
        vec![0; 40_000],
        page(33_000),
        Vec::new(),
    ];
    let mut used = Deflater::new();
    for _ in 0..2 {
        for input in &inputs {
            assert!(round_trip(&mut used, input) == compressed(input));
        }
        // Leaves other bytes behind each end, and other entries in the table.
        round_trip(&mut used, &random_bytes(150_001));
    }
}

#[test]
fn skewed_counts_reach_the_limit_of_code_lengths() {
    // Fibonacci numbers make the deepest tree.
    let mut counts = [0u32; 24];
    let (mut count, mut next) = (1, 1);
    for slot in &mut counts {
        *slot = count;
        (count, next) = (next, count + next);
    }
    for limit in [5, 7, 15] {
        let mut lens = [0; 24];
        code_lens(&counts, limit, &mut lens);
        assert!(
            lens.iter()
                .all(|len| (1..=limit).contains(&usize::from(*len)))
        );
        let taken: u32 = lens
            .iter()
            .map(|len| 1 << (limit - usize::from(*len)))
            .sum();
        assert_eq!(taken, 1 << limit, "the code is complete");
        assert!(
            lens.is_sorted_by(|a, b| a >= b),
            "rarer symbols have longer codes"
        );
    }
    let mut input = Vec::new();
    for (byte, count) in counts[..20].iter().enumerate() {
        input.extend(vec![byte as u8; *count as usize]);
    }
    // Shuffled, so that the bytes are not coded as matches.
    for (at, number) in (1..input.len()).rev().zip(noise()) {
        input.swap(at, number as usize % (at + 1));
    }
    compressed(&input);
}

/// Pieces of noise, repetitions of earlier bytes, and runs.
fn pieces() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        (vec(any::<u8>(), 0..60), Just(0usize), Just(0usize)),
        (vec(b'a'..b'f', 0..60), Just(0usize), Just(0usize)),
        (Just(Vec::new()), 1..70_000usize, 1..600usize),
        (Just(Vec::new()), 1..20usize, 1..600usize),
    ];
    vec(piece, 0..400).prop_map(|pieces| {
        let mut bytes = Vec::new();
        for (fresh, distance, len) in pieces {
            bytes.extend(fresh);
            for _ in 0..if bytes.is_empty() { 0 } else { len } {
                bytes.push(bytes[bytes.len() - distance.min(bytes.len())]);
            }
        }
        bytes
    })
}

proptest! {
    #[test]
    fn any_bytes(input in vec(any::<u8>(), 0..3000)) {
        compressed(&input);
    }

    #[test]
    fn few_different_bytes(input in vec(0..3u8, 0..3000)) {
        compressed(&input);
    }

    #[test]
    fn any_repetitions(first in pieces(), second in pieces()) {
        let mut deflater = Deflater::new();
        round_trip(&mut deflater, &first);
        prop_assert!(round_trip(&mut deflater, &second) == compressed(&second));
    }
}
