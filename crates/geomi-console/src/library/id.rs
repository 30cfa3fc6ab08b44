//! Names of crawls in addresses: one segment of a path, whatever the name.
//!
//! Letters, digits, `.`, `_` and `-` stand for themselves, every other byte is
//! `~` and two hex digits. It can be read by people and is never ambiguous.

use std::fmt::Write as _;

/// The id of a name.
pub(crate) fn encode(name: &str) -> String {
    let mut id = String::with_capacity(name.len());
    for byte in name.bytes() {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'.' | b'_' | b'-' => {
                id.push(char::from(byte));
            }
            _ => write!(id, "~{byte:02X}").expect("a string takes everything"),
        }
    }
    // A segment of dots alone would be read as a step in a path.
    if id.bytes().all(|byte| byte == b'.') {
        id = id.replace('.', "~2E");
    }
    id
}

/// The name that has this id; `None` where it is the id of none.
pub(crate) fn decode(id: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(id.len());
    let mut left = id;
    while let Some(next) = left.chars().next() {
        if next == '~' {
            bytes.push(u8::from_str_radix(left.get(1..3)?, 16).ok()?);
            left = &left[3..];
        } else {
            let width = next.len_utf8();
            bytes.extend_from_slice(&left.as_bytes()[..width]);
            left = &left[width..];
        }
    }
    let name = String::from_utf8(bytes).ok()?;
    (encode(&name) == id).then_some(name)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_readable_and_apart() {
        assert_eq!(encode("geomi-example.com"), "geomi-example.com");
        assert_eq!(encode("news/2026 a"), "news~2F2026~20a");
        assert_eq!(encode("a~2Fb"), "a~7E2Fb");
        assert_eq!(encode(".."), "~2E~2E");
        for name in [
            "geomi-example.com",
            "news/2026 a",
            "a~2Fb",
            "..",
            "한글",
            "",
        ] {
            assert_eq!(decode(&encode(name)).as_deref(), Some(name));
        }
        for wrong in ["~", "~2", "~2f", "~zz", "한글", "~FF", "~61"] {
            assert_eq!(decode(wrong), None, "{wrong}");
        }
    }
}
