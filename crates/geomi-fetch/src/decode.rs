//! Content codings taken off, under a limit.
//!
//! This is the only place in geomi where bytes of strangers are decompressed.
//! Every coding of a chain is decoded by itself and none may produce more than
//! the limit, so a bomb, nested or not, ends at the limit in memory and time.
//! So does the bomb that blows up to nothing: megabytes of empty members, frames
//! or blocks cost time too, and a stream that says next to nothing for its
//! length is given up.
//!
//! A stream that breaks off or is damaged gives what came before the damage,
//! with the error named: half a page is better than none.

use std::cell::Cell;
use std::io::{self, BufRead, Read};

use bytes::Bytes;
use flate2::bufread::{DeflateDecoder, GzDecoder, ZlibDecoder};

/// The most codings applied to one body; honest servers apply one.
pub const CODINGS_MAX: usize = 3;

/// RFC 9659: senders of the `zstd` content coding keep to a window of 8 MiB.
const ZSTD_WINDOW_LOG_MAX: u32 = 23;

/// Decoded bytes asked for at once; between two pieces the books are balanced.
const PIECE_BYTES: usize = 256 << 10;

/// What a coding may cost beyond four bytes for each byte it says. Honest ones
/// cost about one.
const OVERHEAD_BYTES_MAX: usize = 512 << 10;

/// A content coding.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Coding {
    /// gzip (RFC 1952), of one or several members.
    Gzip,
    /// zlib (RFC 1950), or the bare deflate stream some servers send under
    /// this name.
    Deflate,
    /// Brotli (RFC 7932).
    Brotli,
    /// Zstandard (RFC 8878), of one or several frames.
    Zstd,
}

/// A body with its codings taken off.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Decoded {
    /// What could be decoded, at most the limit.
    pub bytes: Bytes,
    /// Whether there was more than the limit.
    pub truncated: bool,
    /// What went wrong, if something did.
    pub error: Option<String>,
}

impl Coding {
    /// Reads the name of a coding.
    pub fn from_name(name: &[u8]) -> Option<Self> {
        let named = |other: &str| name.eq_ignore_ascii_case(other.as_bytes());
        if named("gzip") || named("x-gzip") {
            Some(Self::Gzip)
        } else if named("deflate") {
            Some(Self::Deflate)
        } else if named("br") {
            Some(Self::Brotli)
        } else if named("zstd") {
            Some(Self::Zstd)
        } else {
            None
        }
    }
}

/// Reads the members of `Content-Encoding`, in the order they were applied.
/// `identity` means nothing and is left out; an unknown name or too long a
/// chain is an error in words.
pub fn parse_chain<'a>(names: impl Iterator<Item = &'a [u8]>) -> Result<Vec<Coding>, String> {
    let mut chain = Vec::new();
    for name in names {
        if name.is_empty() || name.eq_ignore_ascii_case(b"identity") {
            continue;
        }
        let Some(coding) = Coding::from_name(name) else {
            let name = String::from_utf8_lossy(name);
            return Err(format!("unknown content coding {name:?}"));
        };
        if chain.len() == CODINGS_MAX {
            return Err(format!("more than {CODINGS_MAX} content codings"));
        }
        chain.push(coding);
    }
    Ok(chain)
}

/// Takes off a chain of codings, the last applied first, with at most
/// `bytes_max` bytes out of each.
///
/// ```
/// use geomi_fetch::decode::{Coding, decode};
/// let plain = decode(&[], b"hello", 3);
/// assert_eq!(&plain.bytes[..], b"hel");
/// assert!(plain.truncated);
/// let broken = decode(&[Coding::Gzip], b"not gzip at all", 1000);
/// assert!(broken.bytes.is_empty() && broken.error.is_some());
/// ```
pub fn decode(chain: &[Coding], encoded: &[u8], bytes_max: usize) -> Decoded {
    let Some((last, earlier)) = chain.split_last() else {
        return Decoded {
            bytes: Bytes::copy_from_slice(&encoded[..encoded.len().min(bytes_max)]),
            truncated: encoded.len() > bytes_max,
            error: None,
        };
    };
    let mut decoded = decode_one(*last, encoded, bytes_max);
    for coding in earlier.iter().rev() {
        let inner = decode_one(*coding, &decoded.bytes, bytes_max);
        decoded = Decoded {
            bytes: inner.bytes,
            truncated: decoded.truncated || inner.truncated,
            error: decoded.error.or(inner.error),
        };
    }
    decoded
}

fn decode_one(coding: Coding, encoded: &[u8], bytes_max: usize) -> Decoded {
    if encoded.is_empty() {
        // Servers label empty bodies too; there is nothing to take off.
        return Decoded {
            bytes: Bytes::new(),
            truncated: false,
            error: None,
        };
    }
    let mut out = Vec::with_capacity(expected_len(coding, encoded, bytes_max));
    let said = Cell::new(0);
    let mut source = Source {
        encoded,
        read: 0,
        said: &said,
    };
    let mut sink = Sink {
        out: &mut out,
        bytes_max,
        said: &said,
    };
    let result = match coding {
        Coding::Gzip => read_gzip(&mut source, &mut sink),
        Coding::Deflate if is_zlib(encoded) => sink.fill(&mut ZlibDecoder::new(source)),
        Coding::Deflate => sink.fill(&mut DeflateDecoder::new(source)),
        Coding::Brotli => {
            let buffer_bytes = encoded.len().clamp(64, 4096);
            sink.fill(&mut brotli_decompressor::Decompressor::new(
                source,
                buffer_bytes,
            ))
        }
        Coding::Zstd => read_zstd(source, &mut sink),
    };
    let truncated = out.len() > bytes_max;
    out.truncate(bytes_max);
    if out.capacity() > 2 * out.len() + 1024 {
        out.shrink_to_fit();
    }
    Decoded {
        bytes: Bytes::from(out),
        truncated,
        // Past the limit nobody looks; what the rest would have been is moot.
        error: match result {
            Err(error) if !truncated => Some(format!("{coding:?} does not decode: {error}")),
            _ => None,
        },
    }
}

/// The encoded bytes, for as long as they are worth their reading.
struct Source<'a> {
    encoded: &'a [u8],
    read: usize,
    /// Bytes decoded so far, from the sink.
    said: &'a Cell<usize>,
}

impl BufRead for Source<'_> {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.read > OVERHEAD_BYTES_MAX + 4 * self.said.get() {
            let error = "it says next to nothing for its length";
            return Err(io::Error::new(io::ErrorKind::InvalidData, error));
        }
        let len = self.encoded.len().min(OVERHEAD_BYTES_MAX / 8);
        Ok(&self.encoded[..len])
    }

    fn consume(&mut self, len: usize) {
        self.encoded = &self.encoded[len..];
        self.read += len;
    }
}

impl Read for Source<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut ready = self.fill_buf()?;
        let len = ready.read(buffer)?;
        self.consume(len);
        Ok(len)
    }
}

/// Where decoded bytes go, under the limit.
struct Sink<'a> {
    out: &'a mut Vec<u8>,
    bytes_max: usize,
    said: &'a Cell<usize>,
}

impl Sink<'_> {
    /// Reads until the end or one byte past the limit, which tells a body that
    /// is too long from one that just fits. What came before an error stays.
    #[expect(
        clippy::disallowed_methods,
        reason = "this is the capped decoder: the read is under Read::take"
    )]
    fn fill(&mut self, reader: &mut impl Read) -> io::Result<()> {
        loop {
            let left = (self.bytes_max + 1).saturating_sub(self.out.len());
            let piece = left.min(PIECE_BYTES);
            let came = reader.take(piece as u64).read_to_end(self.out)?;
            self.said.set(self.out.len());
            if came < piece || came == left {
                return Ok(());
            }
        }
    }
}

/// Member after member. Bytes behind the last member that do not begin another
/// are padding, and ignored as every other reader ignores them.
fn read_gzip(source: &mut Source<'_>, sink: &mut Sink<'_>) -> io::Result<()> {
    loop {
        sink.fill(&mut GzDecoder::new(&mut *source))?;
        if sink.out.len() > sink.bytes_max || !source.encoded.starts_with(&[0x1f, 0x8b]) {
            return Ok(());
        }
    }
}

fn read_zstd(source: Source<'_>, sink: &mut Sink<'_>) -> io::Result<()> {
    let mut decoder = zstd::stream::read::Decoder::with_buffer(source)?;
    decoder.window_log_max(ZSTD_WINDOW_LOG_MAX)?;
    sink.fill(&mut decoder)
}

/// RFC 1950: the method is 8 and the two first bytes are a multiple of 31.
fn is_zlib(encoded: &[u8]) -> bool {
    match encoded {
        [first, second, ..] => {
            first & 0x0f == 8 && (u16::from(*first) << 8 | u16::from(*second)).is_multiple_of(31)
        }
        _ => false,
    }
}

/// A first guess, so that the output seldom grows. The end of a gzip stream
/// says its length; a stranger says it, so it is believed within reason.
fn expected_len(coding: Coding, encoded: &[u8], bytes_max: usize) -> usize {
    let guess = match (coding, encoded.last_chunk::<4>()) {
        (Coding::Gzip, Some(length)) => {
            let said = u32::from_le_bytes(*length) as usize;
            said.min(encoded.len().saturating_mul(16))
        }
        _ => encoded.len().saturating_mul(4),
    };
    // One byte more lets the reader see the end without growing.
    guess.min(bytes_max) + 1
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const CAP: usize = 1 << 20;

    fn page() -> Vec<u8> {
        let lines = (0..500).map(|n| format!("<p>line {n} of a page</p>\n"));
        lines.collect::<String>().into_bytes()
    }

    fn gzip(plain: &[u8]) -> Vec<u8> {
        let mut compressor = libdeflater::Compressor::new(libdeflater::CompressionLvl::default());
        let mut out = vec![0; compressor.gzip_compress_bound(plain.len())];
        let len = compressor.gzip_compress(plain, &mut out).unwrap();
        out.truncate(len);
        out
    }

    fn zlib(plain: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(plain).unwrap();
        out.finish().unwrap()
    }

    fn raw_deflate(plain: &[u8]) -> Vec<u8> {
        let mut out = flate2::write::DeflateEncoder::new(Vec::new(), flate2::Compression::fast());
        out.write_all(plain).unwrap();
        out.finish().unwrap()
    }

    fn zstd_of(plain: &[u8]) -> Vec<u8> {
        zstd::bulk::compress(plain, 1).unwrap()
    }

    /// Brotli with uncompressed meta-blocks only (RFC 7932 §9.2), since there
    /// is no encoder at hand. `plain` is at most 65,536 bytes.
    fn brotli_stored(plain: &[u8]) -> Vec<u8> {
        // Window bits 16: one 0 bit. ISLAST 0, MNIBBLES 00 (four nibbles),
        // MLEN-1 in 16 bits, ISUNCOMPRESSED 1: 21 bits, then byte-aligned.
        let header = ((plain.len() as u32 - 1) << 4) | (1 << 20);
        let mut out = header.to_le_bytes()[..3].to_vec();
        out.extend_from_slice(plain);
        out.push(0b11); // ISLAST, ISLASTEMPTY
        out
    }

    /// A million times `a`, packed by another implementation.
    const BROTLI_BOMB: [u8; 14] = [
        0x5b, 0x3f, 0x42, 0x8f, 0x5f, 0x22, 0x2c, 0x1e, 0x0b, 0x04, 0xf2, 0x73, 0x1e, 0x00,
    ];

    fn whole(chain: &[Coding], encoded: &[u8], plain: &[u8]) {
        let decoded = decode(chain, encoded, CAP);
        assert_eq!(decoded.error, None);
        assert!(!decoded.truncated);
        assert!(decoded.bytes == plain, "{chain:?}");
    }

    #[test]
    fn every_coding_comes_off() {
        let page = page();
        whole(&[], &page, &page);
        whole(&[Coding::Gzip], &gzip(&page), &page);
        whole(&[Coding::Deflate], &zlib(&page), &page);
        whole(&[Coding::Deflate], &raw_deflate(&page), &page);
        whole(&[Coding::Brotli], &brotli_stored(&page), &page);
        whole(&[Coding::Brotli], &BROTLI_BOMB, &b"a".repeat(1_000_000));
        whole(&[Coding::Zstd], &zstd_of(&page), &page);
        for coding in [Coding::Gzip, Coding::Deflate, Coding::Brotli, Coding::Zstd] {
            whole(&[coding], b"", b"");
        }
    }

    #[test]
    fn members_and_frames_follow_one_another() {
        let page = page();
        let (a, b) = page.split_at(1000);
        whole(&[Coding::Gzip], &[gzip(a), gzip(b)].concat(), &page);
        whole(&[Coding::Zstd], &[zstd_of(a), zstd_of(b)].concat(), &page);
        let padded = [gzip(&page), vec![0; 16]].concat();
        whole(&[Coding::Gzip], &padded, &page);
    }

    #[test]
    fn chains_come_off_in_reverse() {
        let page = page();
        let twice = zstd_of(&gzip(&page));
        whole(&[Coding::Gzip, Coding::Zstd], &twice, &page);
    }

    #[test]
    fn bombs_end_at_the_limit() {
        let zeros = vec![0; 8 << 20];
        for (coding, bomb) in [
            (Coding::Gzip, gzip(&zeros)),
            (Coding::Deflate, zlib(&zeros)),
            (Coding::Deflate, raw_deflate(&zeros)),
            (Coding::Zstd, zstd_of(&zeros)),
            (Coding::Brotli, BROTLI_BOMB.to_vec()),
        ] {
            let decoded = decode(&[coding], &bomb, 10_000);
            assert_eq!((decoded.bytes.len(), decoded.truncated), (10_000, true));
            assert_eq!(decoded.error, None);
        }
        let nested = gzip(&gzip(&gzip(&zeros)));
        let decoded = decode(&[Coding::Gzip; 3], &nested, 10_000);
        assert_eq!((decoded.bytes.len(), decoded.truncated), (10_000, true));
    }

    #[test]
    fn a_bomb_that_blows_up_to_nothing_is_given_up() {
        let megabytes = 4 << 20;
        let members = gzip(b"").repeat(megabytes / 20);
        for (chain, bomb) in [
            (vec![Coding::Gzip], members.clone()),
            (vec![Coding::Gzip; 2], gzip(&members)),
            (vec![Coding::Zstd], zstd_of(b"").repeat(megabytes / 9)),
            (
                vec![Coding::Deflate],
                [0, 0, 0, 0xff, 0xff].repeat(megabytes / 5),
            ),
            // Brotli's metadata blocks without metadata.
            (
                vec![Coding::Brotli],
                [&[0x0c][..], &vec![0x06; megabytes]].concat(),
            ),
        ] {
            let decoded = decode(&chain, &bomb, CAP);
            let error = decoded.error.unwrap();
            assert!(decoded.bytes.is_empty(), "{chain:?}");
            assert!(error.contains("next to nothing"), "{chain:?}: {error}");
        }
    }

    #[test]
    fn a_body_that_just_fits_is_not_truncated() {
        let page = page();
        let decoded = decode(&[Coding::Gzip], &gzip(&page), page.len());
        assert_eq!(
            (decoded.bytes.len(), decoded.truncated),
            (page.len(), false)
        );
    }

    #[test]
    fn damage_keeps_what_came_before_it() {
        let page = page();
        for (coding, encoded) in [
            (Coding::Gzip, gzip(&page)),
            (Coding::Deflate, zlib(&page)),
            (Coding::Deflate, raw_deflate(&page)),
            (Coding::Brotli, brotli_stored(&page)),
        ] {
            let cut = decode(&[coding], &encoded[..encoded.len() / 2], CAP);
            assert!(cut.error.is_some(), "{coding:?}");
            assert!(!cut.bytes.is_empty(), "{coding:?}");
            assert!(page.starts_with(&cut.bytes), "{coding:?}");
        }
        for coding in [Coding::Gzip, Coding::Brotli, Coding::Zstd, Coding::Deflate] {
            let wrong = decode(&[coding], b"\xff\xfethis is no such stream", CAP);
            assert!(wrong.error.is_some(), "{coding:?}");
        }
    }

    #[test]
    fn names_are_read_and_unknown_ones_named() {
        let chain = |text: &str| parse_chain(text.split(',').map(|name| name.trim().as_bytes()));
        assert_eq!(chain("GZip, br"), Ok(vec![Coding::Gzip, Coding::Brotli]));
        assert_eq!(chain("identity"), Ok(vec![]));
        assert_eq!(chain("x-gzip,deflate,zstd").unwrap().len(), 3);
        assert!(chain("rot13").unwrap_err().contains("rot13"));
        assert!(chain("gzip,gzip,gzip,gzip").is_err());
    }
}
