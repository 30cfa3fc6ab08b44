//! The path of a rule against the path of a URL.
//!
//! Both sides are first brought to one spelling (RFC 9309 §2.2.2): escapes of
//! unreserved characters are decoded, the others written in upper case, bytes a
//! URL cannot hold escaped. A literal `*` or `$` is always spelled `%2A` or
//! `%24`, so that in a normalised pattern `*` is a wildcard and a final `$` the
//! end of the path, and nothing else is. Normalising twice changes nothing.
//!
//! Beyond the RFC's text, two equalities its own examples and real URLs need:
//! in a query `:`, `/`, `?` and `@` equal their escapes, and `'`, which the URL
//! parser escapes in queries only, equals its escape everywhere.

use std::borrow::Cow;
use std::fmt::Write as _;

use memchr::memmem;

/// A URL's path and query, ready to be matched.
pub(crate) fn normalise_path(path: &str) -> Cow<'_, str> {
    let is_normal = |byte: u8| is_plain(byte) && !matches!(byte, b'*' | b'$');
    if path.bytes().all(is_normal) {
        return Cow::Borrowed(path);
    }
    let mut out = String::with_capacity(path.len() + 16);
    push_normalised(&mut out, path.as_bytes(), |byte, _| {
        !matches!(byte, b'*' | b'$')
    });
    Cow::Owned(out)
}

/// Appends the value of an `allow` or `disallow` line, ready to match.
pub(crate) fn push_normalised_pattern(out: &mut String, value: &[u8]) {
    // Nearly every rule is in its one spelling already.
    let body = value.strip_suffix(b"$").unwrap_or(value);
    if body.iter().all(|&byte| is_plain(byte) && byte != b'$')
        && let Ok(text) = str::from_utf8(value)
    {
        out.push_str(text);
        return;
    }
    push_normalised(out, value, |byte, is_last| byte != b'$' || is_last);
}

/// `keeps_special` says whether a `*` or `$` here is a sign, not a character.
fn push_normalised(out: &mut String, bytes: &[u8], keeps_special: impl Fn(u8, bool) -> bool) {
    let mut in_query = false;
    let mut at = 0;
    while at < bytes.len() {
        let byte = bytes[at];
        let is_last = at + 1 == bytes.len();
        at += 1;
        match byte {
            b'%' => match escape_value(&bytes[at..]) {
                Some(value) => {
                    at += 2;
                    if is_equal_to_its_escape(value, in_query) {
                        out.push(value as char);
                    } else {
                        push_escaped(out, value);
                    }
                }
                // A stray `%` is escaped, or what follows could join it to form
                // an escape that was not there.
                None => push_escaped(out, b'%'),
            },
            b'*' | b'$' if !keeps_special(byte, is_last) => push_escaped(out, byte),
            _ if is_plain(byte) => {
                in_query |= byte == b'?';
                out.push(byte as char);
            }
            _ => push_escaped(out, byte),
        }
    }
}

fn escape_value(after_percent: &[u8]) -> Option<u8> {
    let digit = |at: usize| (*after_percent.get(at)? as char).to_digit(16);
    Some((digit(0)? * 16 + digit(1)?) as u8)
}

fn push_escaped(out: &mut String, byte: u8) {
    write!(out, "%{byte:02X}").expect("writing to a string does not fail");
}

fn is_equal_to_its_escape(byte: u8, in_query: bool) -> bool {
    is_unreserved(byte) || byte == b'\'' || in_query && matches!(byte, b':' | b'/' | b'?' | b'@')
}

const fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'.' | b'_' | b'~')
}

/// Unreserved or reserved by RFC 3986, less the `#` that starts a comment.
fn is_plain(byte: u8) -> bool {
    const RESERVED: &[u8] = b":/?[]@!$&'()*+,;=";
    const PLAIN: [bool; 256] = {
        let mut table = [false; 256];
        let mut at = 0;
        while at < 256 {
            table[at] = is_unreserved(at as u8);
            at += 1;
        }
        let mut at = 0;
        while at < RESERVED.len() {
            table[RESERVED[at] as usize] = true;
            at += 1;
        }
        table
    };
    PLAIN[usize::from(byte)]
}

/// Where the literal start of a normalised pattern ends.
pub(crate) fn literal_len(pattern: &str) -> usize {
    let body = pattern.strip_suffix('$').unwrap_or(pattern);
    memchr::memchr(b'*', body.as_bytes()).unwrap_or(body.len())
}

/// Whether a normalised pattern matches a normalised path.
///
/// Each piece between wildcards is taken at its first occurrence. That is
/// enough, since a wildcard can swallow anything after it, and it keeps the
/// work proportional to the lengths of path and pattern however many wildcards
/// a hostile file strings together.
pub(crate) fn matches(pattern: &str, path: &str) -> bool {
    match pattern.strip_suffix('$') {
        Some(body) => matches_body(body.as_bytes(), path.as_bytes(), true),
        None => matches_body(pattern.as_bytes(), path.as_bytes(), false),
    }
}

/// [`matches`] for the directory form of an `index.html` rule: the pattern up
/// to its last slash, and there the path must end.
pub(crate) fn matches_whole(pattern_body: &str, path: &str) -> bool {
    matches_body(pattern_body.as_bytes(), path.as_bytes(), true)
}

fn matches_body(body: &[u8], path: &[u8], to_the_end: bool) -> bool {
    let mut pieces = body.split(|&byte| byte == b'*');
    let start = pieces.next().unwrap_or_default();
    let Some(mut rest) = path.strip_prefix(start) else {
        return false;
    };
    let Some(mut piece) = pieces.next() else {
        return !to_the_end || rest.is_empty();
    };
    for next in pieces {
        let Some(found) = memmem::find(rest, piece) else {
            return false;
        };
        rest = &rest[found + piece.len()..];
        piece = next;
    }
    if to_the_end {
        rest.ends_with(piece)
    } else {
        memmem::find(rest, piece).is_some()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn pattern(value: &str) -> String {
        let mut out = String::new();
        push_normalised_pattern(&mut out, value.as_bytes());
        out
    }

    /// Every way of splitting tried, by recursion: right, and slow.
    fn naive(pattern: &[u8], path: &[u8]) -> bool {
        match pattern.split_first() {
            None => true,
            Some((b'$', [])) => path.is_empty(),
            Some((b'*', rest)) => (0..=path.len()).any(|skip| naive(rest, &path[skip..])),
            Some((byte, rest)) => path.first() == Some(byte) && naive(rest, &path[1..]),
        }
    }

    #[test]
    fn spellings_of_one_path_are_one() {
        let check = |path: &str, expected: &str| {
            assert_eq!(normalise_path(path), expected, "from {path:?}");
        };
        check("/a/b?c=d", "/a/b?c=d");
        check("/%7Euser/%2e%62", "/~user/.b");
        check("/%e3%83%84", "/%E3%83%84");
        check("/ツ", "/%E3%83%84");
        check("/a%2fb", "/a%2Fb");
        check("/?u=https%3A%2F%2Fx%40y%3F", "/?u=https://x@y?");
        check("/a b|c", "/a%20b%7Cc");
        check("/it%27s?it's", "/it's?it's");
        check("/a*b$", "/a%2Ab%24");
        check("/100%", "/100%25");
        check("/%%36%31", "/%2561");
    }

    #[test]
    fn signs_stay_signs_in_patterns() {
        assert_eq!(pattern("/a*b$"), "/a*b$");
        assert_eq!(pattern("/a$b"), "/a%24b");
        assert_eq!(pattern("/a%2a%24"), "/a%2A%24");
        assert_eq!(pattern("/$$"), "/%24$");
    }

    #[test]
    fn many_wildcards_cost_no_more_than_the_path_is_long() {
        let pattern = format!("/{}b", "*a".repeat(4_000));
        let path = format!("/{}", "a".repeat(100_000));
        assert!(!matches(&pattern, &path));
        assert!(matches(&pattern, &format!("{path}b")));
    }

    #[test]
    fn literal_starts_end_at_the_first_sign() {
        assert_eq!(literal_len("/abc"), 4);
        assert_eq!(literal_len("/abc$"), 4);
        assert_eq!(literal_len("/a*b$"), 2);
        assert_eq!(literal_len("*"), 0);
    }

    proptest! {
        #[test]
        fn the_matcher_agrees_with_a_naive_one(
            pattern in "/?[ab*]{0,8}\\$?",
            path in "/[ab]{0,10}",
        ) {
            prop_assert_eq!(
                matches(&pattern, &path),
                naive(pattern.as_bytes(), path.as_bytes())
            );
        }

        #[test]
        fn normalising_twice_changes_nothing(value in "\\PC{0,30}|[%0-9a-fA-F*$?/]{0,30}") {
            let path = normalise_path(&value).into_owned();
            let signs_spelled_out = path.replace("%2A", "*").replace("%24", "$");
            prop_assert_eq!(normalise_path(&signs_spelled_out), path.as_str());
            let once = pattern(&value);
            prop_assert_eq!(pattern(&once), once);
        }

        #[test]
        fn a_path_matches_itself_as_a_pattern(path in "/[!-\"$-~]{0,30}") {
            let literal = path.replace('*', "%2A").replace('$', "%24");
            prop_assert!(matches(&pattern(&literal), &normalise_path(&path)));
        }
    }
}
