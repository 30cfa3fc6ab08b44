//! Texts as parts of file names: nothing in them leaves its folder, is refused by
//! some file system, or changes how the name is shown.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

/// Bytes of a part; file systems take 255, and marks are added.
const PART_BYTES_MAX: usize = 120;

/// 64 bits of a text.
pub(super) fn hash(text: &str) -> u64 {
    // Its keys are fixed, so that the same crawl gives the same names.
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    hasher.finish()
}

/// [`hash`] in sixteen digits.
pub(super) fn hex(text: &str) -> String {
    format!("{:016x}", hash(text))
}

/// A part of a URL as a part of a file's name.
pub(super) fn safe(segment: &str) -> String {
    safe_text(&decoded(segment))
}

/// Percent escapes undone, if what they stand for is text.
pub(super) fn decoded(segment: &str) -> String {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let Some((&first, after)) = rest.split_first() {
        let escaped = match (first, after) {
            (b'%', [high, low, ..]) => hex_value(*high).zip(hex_value(*low)),
            _ => None,
        };
        if let Some((high, low)) = escaped {
            bytes.push(high << 4 | low);
            rest = &after[2..];
        } else {
            bytes.push(first);
            rest = after;
        }
    }
    String::from_utf8(bytes).unwrap_or_else(|_| segment.to_owned())
}

fn hex_value(digit: u8) -> Option<u8> {
    char::from(digit).to_digit(16).map(|value| value as u8)
}

/// A text as a part of a file's name that every system takes.
pub(super) fn safe_text(text: &str) -> String {
    let mut name: String = text
        .chars()
        .map(|c| match c {
            '/' | '\\' | ':' | '*' | '?' | '"' | '<' | '>' | '|' => '_',
            c if c.is_control() || is_format(c) => '_',
            c => c,
        })
        .collect();
    if name.len() > PART_BYTES_MAX {
        let mark = hex(text);
        name.truncate(name.floor_char_boundary(PART_BYTES_MAX));
        name.push('~');
        name.push_str(&mark[..8]);
    }
    // Windows drops dots and blanks at the end; `.` and `..` go elsewhere.
    let bare = name.trim_end_matches(['.', ' ']).len();
    let tail = name.len() - bare;
    name.truncate(bare);
    name.push_str(&"_".repeat(tail));
    if name.is_empty() || is_device(&name) {
        name.insert(0, '_');
    }
    name
}

/// Characters that change how the text around them is shown.
fn is_format(c: char) -> bool {
    matches!(c, '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}' | '\u{2060}'..='\u{2069}' | '\u{feff}')
}

/// Names that Windows keeps for devices, with any extension.
fn is_device(name: &str) -> bool {
    let stem = name.split('.').next().unwrap_or(name).to_ascii_lowercase();
    let numbered = |device: &str| {
        let digit = stem.strip_prefix(device);
        digit.is_some_and(|digit| digit.len() == 1 && digit.as_bytes()[0].is_ascii_digit())
    };
    matches!(&*stem, "con" | "prn" | "aux" | "nul") || numbered("com") || numbered("lpt")
}
