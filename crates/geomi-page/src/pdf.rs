//! PDF: title, links and an estimate of the text, by a bounded scan.
//!
//! A scan and not a parser: the objects are gone through in the order of the file.
//! Link annotations (`/URI (...)`) and the `/Title` of the document's information are
//! read where they stand in the open and in compressed streams, of which a bounded
//! amount is unpacked. The strings that are shown (`Tj`, `TJ`) are counted, not decoded:
//! fonts map their bytes to letters as they like. Encrypted files, XMP metadata and
//! any other compression than Flate are not read.

use std::io::Read as _;

use flate2::read::ZlibDecoder;
use geomi_model::{Document, DocumentKind, LinkKind};
use memchr::memmem;

use crate::content::Content;
use crate::link_list::LinkList;
use crate::reader::{Extractor, PageInput, ReadLimits};
use crate::values::fold_spaces;

/// Bytes unpacked of all streams of a file together.
const UNPACKED_BYTES_MAX: usize = 8 << 20;
/// Bytes unpacked of one stream.
const STREAM_BYTES_MAX: usize = 1 << 20;
/// Bytes of a string.
const STRING_BYTES_MAX: usize = 8 * 1024;
/// Bytes in which the mark of the format must stand.
const MARK_BYTES: usize = 1024;

/// Reads PDF files.
#[derive(Clone, Copy, Debug, Default)]
pub struct PdfReader;

impl Extractor for PdfReader {
    fn mime(&self) -> &'static str {
        "application/pdf"
    }

    fn claims(&self, content: &Content<'_>) -> bool {
        let is_typed = matches!(content.mime, "application/pdf" | "application/x-pdf");
        let head = &content.body[..content.body.len().min(MARK_BYTES)];
        (is_typed || content.is_untyped()) && memmem::find(head, b"%PDF-").is_some()
    }

    fn read(&self, input: &PageInput<'_>, limits: &ReadLimits) -> Document {
        let mut scan = Scan {
            links: LinkList::new(input.url, limits.links_max, limits),
            title: None,
            text_bytes: 0,
        };
        scan.objects(input.body);
        let mut left = UNPACKED_BYTES_MAX;
        for stream in Streams(input.body) {
            if left == 0 || scan.links.is_full() {
                scan.links.cut();
                break;
            }
            let content = unpack(stream, left.min(STREAM_BYTES_MAX));
            left -= content.len();
            scan.objects(&content);
            scan.text_bytes += shown_bytes(&content);
        }
        let title = scan
            .title
            .map(|title| fold_spaces(&title, limits.title_bytes_max));
        let (links, truncated) = scan.links.finish();
        Document {
            kind: DocumentKind::Pdf,
            title: title.filter(|title| !title.is_empty()),
            links,
            text_bytes: scan.text_bytes,
            truncated,
            ..Document::default()
        }
    }
}

struct Scan<'a> {
    links: LinkList<'a>,
    title: Option<String>,
    text_bytes: u64,
}

impl Scan<'_> {
    fn objects(&mut self, bytes: &[u8]) {
        for at in memmem::find_iter(bytes, b"/URI") {
            if let Some(uri) = string(&bytes[at + 4..]) {
                self.links
                    .add(&String::from_utf8_lossy(&uri), LinkKind::Anchor, None);
            }
        }
        // Outlines have titles too: the one of the information stands beside an author,
        // a producer or a date.
        for at in memmem::find_iter(bytes, b"/Title") {
            if self.title.is_none() && is_information(bytes, at) {
                self.title = string(&bytes[at + 6..]).map(|title| text(&title));
            }
        }
    }
}

fn is_information(bytes: &[u8], at: usize) -> bool {
    const NEAR: usize = 512;
    let around = &bytes[at.saturating_sub(NEAR)..bytes.len().min(at + NEAR)];
    let names: [&[u8]; 4] = [b"/Producer", b"/Creator", b"/CreationDate", b"/Author"];
    names
        .iter()
        .any(|name| memmem::find(around, name).is_some())
}

/// A string object at the start of `bytes`: `(...)` with escapes, or `<hex>`.
fn string(bytes: &[u8]) -> Option<Vec<u8>> {
    let bytes = bytes[..bytes.len().min(STRING_BYTES_MAX)].trim_ascii_start();
    match bytes {
        [b'(', rest @ ..] => literal(rest),
        [b'<', b'<', ..] => None,
        [b'<', rest @ ..] => {
            let digits = &rest[..memchr::memchr(b'>', rest)?];
            let digits = digits
                .iter()
                .filter_map(|&byte| (byte as char).to_digit(16));
            let digits: Vec<u8> = digits.map(|digit| digit as u8).collect();
            let byte = |pair: &[u8]| pair[0] << 4 | pair.get(1).copied().unwrap_or(0);
            Some(digits.chunks(2).map(byte).collect())
        }
        _ => None,
    }
}

fn literal(bytes: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    let mut open = 0_usize;
    let mut rest = bytes.iter().copied().peekable();
    while let Some(byte) = rest.next() {
        match byte {
            b')' if open == 0 => return Some(out),
            b')' => open -= 1,
            b'(' => open += 1,
            b'\\' => {
                match rest.next()? {
                    b'n' => out.push(b'\n'),
                    b'r' => out.push(b'\r'),
                    b't' => out.push(b'\t'),
                    b'\n' => {}
                    digit @ b'0'..=b'7' => {
                        let mut code = u32::from(digit - b'0');
                        for _ in 0..2 {
                            if let Some(next @ b'0'..=b'7') = rest.peek().copied() {
                                code = code << 3 | u32::from(next - b'0');
                                rest.next();
                            }
                        }
                        out.push(code as u8);
                    }
                    other => out.push(other),
                }
                continue;
            }
            _ => {}
        }
        out.push(byte);
    }
    None
}

/// Text strings are UTF-16 or UTF-8 behind a mark, or else nearly Latin-1.
fn text(bytes: &[u8]) -> String {
    match encoding_rs::Encoding::for_bom(bytes) {
        Some((encoding, mark)) => encoding
            .decode_without_bom_handling(&bytes[mark..])
            .0
            .into_owned(),
        None => encoding_rs::WINDOWS_1252
            .decode_without_bom_handling(bytes)
            .0
            .into_owned(),
    }
}

/// The streams of a file, as they lie in it.
struct Streams<'a>(&'a [u8]);

impl<'a> Iterator for Streams<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let start = memmem::find(self.0, b"stream")? + b"stream".len();
        let after = &self.0[start..];
        let end = memmem::find(after, b"endstream")?;
        self.0 = &after[end + b"endstream".len()..];
        Some(after[..end].trim_ascii_start())
    }
}

/// A compressed stream; anything else gives nothing.
fn unpack(stream: &[u8], bytes_max: usize) -> Vec<u8> {
    let mut content = Vec::new();
    let mut decoder = ZlibDecoder::new(stream).take(bytes_max as u64);
    let mut piece = [0; 16 * 1024];
    // A stream that is damaged or cut gives what comes before.
    while let Ok(read @ 1..) = decoder.read(&mut piece) {
        content.extend_from_slice(&piece[..read]);
    }
    content
}

/// Bytes between the brackets of strings that are shown.
fn shown_bytes(content: &[u8]) -> u64 {
    if memmem::find(content, b"Tj")
        .or(memmem::find(content, b"TJ"))
        .is_none()
    {
        return 0;
    }
    let mut shown = 0;
    let mut start = None;
    for at in memchr::memchr2_iter(b'(', b')', content) {
        match (content[at], start) {
            (b'(', None) => start = Some(at),
            (b')', Some(open)) => {
                shown += (at - open - 1) as u64;
                start = None;
            }
            _ => {}
        }
    }
    shown
}
