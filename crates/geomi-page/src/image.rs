//! Pictures: format, width and height, from the first bytes.
//!
//! Nothing is decoded. A picture whose header is cut or unknown is left unread.

use geomi_model::{Document, DocumentKind, ImageFormat, ImageSize};

use crate::content::Content;
use crate::reader::{Extractor, PageInput, ReadLimits};

/// Reads the headers of PNG, JPEG, GIF and WebP.
#[derive(Clone, Copy, Debug, Default)]
pub struct ImageReader;

impl Extractor for ImageReader {
    fn mime(&self) -> &'static str {
        "image/*"
    }

    fn claims(&self, content: &Content<'_>) -> bool {
        (content.mime.starts_with("image/") || content.is_untyped()) && size(content.body).is_some()
    }

    fn read(&self, input: &PageInput<'_>, _: &ReadLimits) -> Document {
        Document {
            kind: size(input.body).map_or(DocumentKind::Unread, DocumentKind::Image),
            ..Document::default()
        }
    }
}

fn size(body: &[u8]) -> Option<ImageSize> {
    let (format, (width, height)) = match body {
        [0x89, b'P', b'N', b'G', 0x0D, 0x0A, 0x1A, 0x0A, rest @ ..] => {
            (ImageFormat::Png, png(rest)?)
        }
        [
            b'G',
            b'I',
            b'F',
            b'8',
            b'7' | b'9',
            b'a',
            w0,
            w1,
            h0,
            h1,
            ..,
        ] => (ImageFormat::Gif, (little(&[*w0, *w1]), little(&[*h0, *h1]))),
        [0xFF, 0xD8, rest @ ..] => (ImageFormat::Jpeg, jpeg(rest)?),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            rest @ ..,
        ] => (ImageFormat::WebP, webp(rest)?),
        _ => return None,
    };
    Some(ImageSize {
        format,
        width,
        height,
    })
}

fn big(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .fold(0, |number, &byte| number << 8 | u32::from(byte))
}

fn little(bytes: &[u8]) -> u32 {
    bytes
        .iter()
        .rev()
        .fold(0, |number, &byte| number << 8 | u32::from(byte))
}

fn png(rest: &[u8]) -> Option<(u32, u32)> {
    let header = rest.get(..16)?;
    (&header[4..8] == b"IHDR").then(|| (big(&header[8..12]), big(&header[12..16])))
}

/// Goes from marker to marker until the frame that has the size. Markers are at
/// least four bytes apart, so the work is bounded by the length of the file.
fn jpeg(mut rest: &[u8]) -> Option<(u32, u32)> {
    loop {
        let (&[lead, marker], after) = rest.split_first_chunk::<2>()?;
        match (lead, marker) {
            // Padding between segments.
            (0xFF, 0xFF) => rest = &rest[1..],
            (0xFF, 0xC0..=0xC3 | 0xC5..=0xC7 | 0xC9..=0xCB | 0xCD..=0xCF) => {
                let frame = after.get(3..7)?;
                return Some((big(&frame[2..]), big(&frame[..2])));
            }
            // Markers without content.
            (0xFF, 0x01 | 0xD0..=0xD7) => rest = after,
            (0xFF, 0xC4..=0xFE) => {
                let length = big(after.get(..2)?) as usize;
                rest = after.get(length.max(2)..)?;
            }
            _ => return None,
        }
    }
}

fn webp(rest: &[u8]) -> Option<(u32, u32)> {
    let data = rest.get(8..)?;
    match rest.get(..4)? {
        b"VP8 " => {
            let sizes = data.get(6..10)?;
            let side = |bytes: &[u8]| little(bytes) & 0x3FFF;
            (data.get(3..6)? == [0x9D, 0x01, 0x2A]).then(|| (side(&sizes[..2]), side(&sizes[2..])))
        }
        b"VP8L" => {
            let bits = little(data.get(1..5)?);
            (data[0] == 0x2F).then_some(((bits & 0x3FFF) + 1, (bits >> 14 & 0x3FFF) + 1))
        }
        b"VP8X" => {
            let sizes = data.get(4..10)?;
            Some((little(&sizes[..3]) + 1, little(&sizes[3..]) + 1))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_are_in_the_first_bytes() {
        let check = |bytes: &[u8], format, width, height| {
            let expected = ImageSize {
                format,
                width,
                height,
            };
            assert_eq!(size(bytes), Some(expected));
            for end in 0..bytes.len().min(12) {
                assert_eq!(size(&bytes[..end]), None, "cut at {end}");
            }
        };
        let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x01\0\0\0\0\x80\x08\x06\0\0\0";
        check(png, ImageFormat::Png, 256, 128);
        assert_eq!(
            size(b"GIF89a\x10\0\x20\0"),
            Some(ImageSize {
                format: ImageFormat::Gif,
                width: 16,
                height: 32
            })
        );
        let jpeg = b"\xff\xd8\xff\xe0\0\x04xx\xff\xff\xc0\0\x11\x08\0\x20\0\x10\x03";
        check(jpeg, ImageFormat::Jpeg, 16, 32);
        let lossy = b"RIFF\x24\0\0\0WEBPVP8 \x18\0\0\0\x30\x01\0\x9d\x01\x2a\x10\0\x20\0";
        check(lossy, ImageFormat::WebP, 16, 32);
        let extended = b"RIFF\x24\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x0f\0\0\x1f\0\0";
        check(extended, ImageFormat::WebP, 16, 32);
        assert_eq!(size(&[0xFF; 1000]), None);
    }
}
