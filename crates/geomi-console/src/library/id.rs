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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ids_are_readable_and_apart() {
        assert_eq!(encode("geomi-example.com"), "geomi-example.com");
        assert_eq!(encode("news/2026 a"), "news~2F2026~20a");
        assert_eq!(encode("a~2Fb"), "a~7E2Fb");
        assert_eq!(encode(".."), "~2E~2E");
    }
}
