//! Character references: `&amp;`, `&#65;`, `&#x41;`.
//!
//! Follows the WHATWG rules: numbers may lack their semicolon, 106 old names may
//! too, and inside an attribute such a bare name stands for itself when a letter,
//! a digit or `=` follows, which is what keeps `?a=1&copy=2` a query.

use std::borrow::Cow;

use memchr::memchr;

use crate::reference_table::{NAMED, without_semicolon};

/// Where a reference stands; old names without a semicolon mean less in
/// attributes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    Text,
    Attribute,
}

/// What a reference stands for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Meaning {
    Named(&'static str),
    Number(char),
}

/// A text with its references replaced; borrowed when it has none.
pub(crate) fn decode(text: &str, place: Place) -> Cow<'_, str> {
    if memchr(b'&', text.as_bytes()).is_none() {
        return Cow::Borrowed(text);
    }
    let mut decoded = String::with_capacity(text.len());
    each_piece(text, place, |piece| decoded.push_str(piece));
    Cow::Owned(decoded)
}

/// Hands the decoded text on in pieces, without building it.
pub(crate) fn each_piece(text: &str, place: Place, mut take: impl FnMut(&str)) {
    let mut rest = text;
    let mut searched = 0;
    while let Some(found) = memchr(b'&', &rest.as_bytes()[searched..]) {
        let at = searched + found;
        let Some((meaning, length)) = reference(&rest[at + 1..], place) else {
            searched = at + 1;
            continue;
        };
        if at > 0 {
            take(&rest[..at]);
        }
        match meaning {
            Meaning::Named(value) => take(value),
            Meaning::Number(value) => take(value.encode_utf8(&mut [0; 4])),
        }
        rest = &rest[at + 1 + length..];
        searched = 0;
    }
    if !rest.is_empty() {
        take(rest);
    }
}

/// Reads the reference whose `&` stands just before `after`; gives its meaning
/// and its length without the `&`.
fn reference(after: &str, place: Place) -> Option<(Meaning, usize)> {
    match after.as_bytes().first()? {
        b'#' => number(after.as_bytes()),
        byte if byte.is_ascii_alphanumeric() => named(after, place),
        _ => None,
    }
}

fn named(after: &str, place: Place) -> Option<(Meaning, usize)> {
    const NAME_BYTES_MAX: usize = 31;
    let bytes = after.as_bytes();
    let run = bytes
        .iter()
        .take(NAME_BYTES_MAX + 1)
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    if bytes.get(run) == Some(&b';')
        && let Some(value) = value_of(&after[..run])
    {
        return Some((Meaning::Named(value), run + 1));
    }
    let (length, value) = (2..=run.min(6))
        .rev()
        .find_map(|length| Some((length, without_semicolon(&bytes[..length])?)))?;
    if place == Place::Attribute
        && let Some(&next) = bytes.get(length)
        && (next == b'=' || next.is_ascii_alphanumeric())
    {
        return None;
    }
    Some((Meaning::Named(value), length))
}

/// Slots of the hash table over [`NAMED`]; about half of them are used.
const SLOTS: usize = 4096;
/// A slot that holds no name.
const EMPTY: u16 = u16::MAX;

/// Positions in [`NAMED`] by the hash of the name, built by the compiler. A page
/// can be nothing but references, which a search by comparison would make slow.
static POSITIONS: [u16; SLOTS] = positions();

const fn positions() -> [u16; SLOTS] {
    let mut slots = [EMPTY; SLOTS];
    let mut position = 0;
    while position < NAMED.len() {
        let mut slot = first_slot(NAMED[position].0.as_bytes());
        while slots[slot] != EMPTY {
            slot = (slot + 1) % SLOTS;
        }
        slots[slot] = position as u16;
        position += 1;
    }
    slots
}

/// Where the search for a name begins (FNV-1a).
const fn first_slot(name: &[u8]) -> usize {
    let mut hash = 0x811C_9DC5_u32;
    let mut at = 0;
    while at < name.len() {
        hash = (hash ^ name[at] as u32).wrapping_mul(0x0100_0193);
        at += 1;
    }
    (hash ^ (hash >> 15)) as usize % SLOTS
}

fn value_of(name: &str) -> Option<&'static str> {
    let mut slot = first_slot(name.as_bytes());
    loop {
        let &(known, value) = NAMED.get(usize::from(POSITIONS[slot]))?;
        if known == name {
            return Some(value);
        }
        slot = (slot + 1) % SLOTS;
    }
}

fn number(bytes: &[u8]) -> Option<(Meaning, usize)> {
    let (start, radix) = match bytes.get(1) {
        Some(b'x' | b'X') => (2, 16),
        _ => (1, 10),
    };
    let mut value = 0_u32;
    let mut end = start;
    while let Some(digit) = bytes
        .get(end)
        .and_then(|&byte| char::from(byte).to_digit(radix))
    {
        value = value.saturating_mul(radix).saturating_add(digit);
        end += 1;
    }
    if end == start {
        return None;
    }
    let length = end + usize::from(bytes.get(end) == Some(&b';'));
    Some((Meaning::Number(character(value)), length))
}

/// The character a number stands for. Numbers from 0x80 to 0x9F were written by
/// programs that meant windows-1252.
fn character(value: u32) -> char {
    const WINDOWS_1252: [u16; 32] = [
        0x20AC, 0x81, 0x201A, 0x0192, 0x201E, 0x2026, 0x2020, 0x2021, 0x02C6, 0x2030, 0x0160,
        0x2039, 0x0152, 0x8D, 0x017D, 0x8F, 0x90, 0x2018, 0x2019, 0x201C, 0x201D, 0x2022, 0x2013,
        0x2014, 0x02DC, 0x2122, 0x0161, 0x203A, 0x0153, 0x9D, 0x017E, 0x0178,
    ];
    let value = match value {
        0 => 0xFFFD,
        0x80..=0x9F => u32::from(WINDOWS_1252[value as usize - 0x80]),
        _ => value,
    };
    char::from_u32(value).unwrap_or(char::REPLACEMENT_CHARACTER)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(text: &str, in_text: &str, in_attribute: &str) {
        assert_eq!(decode(text, Place::Text), in_text, "{text:?} in text");
        assert_eq!(
            decode(text, Place::Attribute),
            in_attribute,
            "{text:?} in an attribute"
        );
    }

    #[test]
    fn names_with_and_without_semicolon() {
        check("a&amp;b", "a&b", "a&b");
        check("&lt;&gt;&quot;", "<>\"", "<>\"");
        check("?a=1&copy=2", "?a=1©=2", "?a=1&copy=2");
        check("&notit;", "¬it;", "&notit;");
        check("&notin;", "∉", "∉");
        check("x&amp", "x&", "x&");
        check(
            "&nosuchname; & &; &#; &#x;",
            "&nosuchname; & &; &#; &#x;",
            "&nosuchname; & &; &#; &#x;",
        );
        check("&NotEqualTilde;", "\u{2242}\u{338}", "\u{2242}\u{338}");
    }

    #[test]
    fn numbers_and_their_repairs() {
        check("&#65;&#x42;&#X43&#68", "ABCD", "ABCD");
        check("&#128;&#x9f;", "€Ÿ", "€Ÿ");
        check(
            "&#0;&#xD800;&#x110000;&#99999999999999;",
            "\u{fffd}\u{fffd}\u{fffd}\u{fffd}",
            "\u{fffd}\u{fffd}\u{fffd}\u{fffd}",
        );
    }

    #[test]
    fn text_without_references_is_not_copied() {
        assert!(matches!(decode("plain", Place::Text), Cow::Borrowed(_)));
    }

    #[test]
    fn every_name_is_found() {
        for (name, value) in &NAMED {
            assert_eq!(
                decode(&format!("&{name};"), Place::Attribute),
                *value,
                "{name}"
            );
        }
        for name in ["", "am", "ampx", "zzzz"] {
            assert_eq!(value_of(name), None, "{name}");
        }
    }
}
