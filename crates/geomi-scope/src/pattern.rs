//! Include and exclude patterns: all of a list matched in one pass.

use std::fmt::Write as _;

use regex::{Regex, RegexSet};

use crate::{PatternList, ScopeError};

/// The patterns of one list.
#[derive(Debug, Default)]
pub(crate) struct Patterns {
    set: Option<RegexSet>,
    /// As the operator wrote them.
    written: Vec<String>,
}

impl Patterns {
    /// Compiles a list and says everything that is wrong with it.
    pub(crate) fn new(list: PatternList, written: &[String], errors: &mut Vec<ScopeError>) -> Self {
        let errors_before = errors.len();
        let mut expressions = Vec::with_capacity(written.len());
        for pattern in written {
            match to_expression(list, pattern) {
                Ok(expression) => expressions.push(expression),
                Err(error) => errors.push(error),
            }
        }
        if expressions.is_empty() || errors.len() > errors_before {
            return Self::default();
        }
        match RegexSet::new(&expressions) {
            Ok(set) => Self {
                set: Some(set),
                written: written.to_vec(),
            },
            Err(source) => {
                errors.push(ScopeError::PatternsTooLarge { list, source });
                Self::default()
            }
        }
    }

    /// Whether there is no pattern.
    pub(crate) const fn is_empty(&self) -> bool {
        self.set.is_none()
    }

    /// A pattern by its number and as it was written.
    pub(crate) fn named(&self, at: usize) -> String {
        let text = self.written.get(at).map_or("", String::as_str);
        format!("{} ({text:?})", at + 1)
    }

    /// The first pattern that matches, by its index.
    pub(crate) fn first_match(&self, url: &str) -> Option<usize> {
        let set = self.set.as_ref()?;
        // Which pattern matched costs more to find out than that none did.
        set.is_match(url)
            .then(|| set.matches(url).iter().next())
            .flatten()
    }
}

fn to_expression(list: PatternList, pattern: &str) -> Result<String, ScopeError> {
    let Some(expression) = pattern.strip_prefix("re:") else {
        return glob_to_expression(list, pattern);
    };
    match Regex::new(expression) {
        _ if expression.is_empty() => Err(ScopeError::EmptyPattern { list }),
        Ok(_) => Ok(expression.to_owned()),
        Err(source) => Err(ScopeError::BadRegex {
            list,
            pattern: pattern.to_owned(),
            source,
        }),
    }
}

/// A glob over the whole URL as a regular expression.
///
/// A `*` at either end becomes a missing anchor instead of `.*`, which leaves
/// the regular expression engine a literal to search for.
fn glob_to_expression(list: PatternList, pattern: &str) -> Result<String, ScopeError> {
    if pattern.is_empty() {
        return Err(ScopeError::EmptyPattern { list });
    }
    let glob = spelled_like_a_url(pattern);
    if !can_start_a_url(&glob) {
        return Err(ScopeError::GlobMatchesNothing {
            list,
            pattern: pattern.to_owned(),
            suggestion: format!("*{pattern}"),
        });
    }
    let middle = glob.trim_matches('*');
    let mut expression = String::with_capacity(glob.len() + 8);
    if !glob.starts_with('*') {
        expression.push('^');
    }
    for (at, piece) in middle.split('*').enumerate() {
        if at > 0 {
            expression.push_str(".*");
        }
        expression.push_str(&regex::escape(piece));
    }
    if !glob.ends_with('*') {
        expression.push('$');
    }
    Ok(expression)
}

/// Scheme and host in lower case and other alphabets escaped, as in a
/// normalised URL: a pattern copied from a browser's address bar must work.
fn spelled_like_a_url(glob: &str) -> String {
    let host_start = glob.find("://").map_or(0, |at| at + "://".len());
    let host_len = glob[host_start..].find('/');
    let host_end = if host_start == 0 {
        0
    } else {
        host_len.map_or(glob.len(), |len| host_start + len)
    };
    let mut out = glob[..host_end].to_ascii_lowercase();
    for byte in glob[host_end..].bytes() {
        if byte.is_ascii() {
            out.push(byte as char);
        } else {
            write!(out, "%{byte:02X}").expect("writing to a string does not fail");
        }
    }
    out
}

fn can_start_a_url(glob: &str) -> bool {
    let literal = glob.split('*').next().unwrap_or(glob);
    ["http://", "https://"].iter().any(|scheme| {
        let is_whole = literal.len() == glob.len();
        literal.starts_with(scheme) || !is_whole && scheme.starts_with(literal)
    })
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn compile(patterns: &[&str]) -> Result<Patterns, Vec<ScopeError>> {
        let written: Vec<String> = patterns.iter().map(ToString::to_string).collect();
        let mut errors = Vec::new();
        let patterns = Patterns::new(PatternList::Exclude, &written, &mut errors);
        if errors.is_empty() {
            Ok(patterns)
        } else {
            Err(errors)
        }
    }

    fn is_match(pattern: &str, url: &str) -> bool {
        compile(&[pattern]).unwrap().first_match(url).is_some()
    }

    #[test]
    fn a_star_is_any_run_and_the_rest_is_itself() {
        assert!(is_match("*", "http://e.com/"));
        assert!(is_match("http://e.com/*.zip", "http://e.com/a/b.zip"));
        assert!(!is_match("http://e.com/*.zip", "http://e.com/a/b.zip?x"));
        assert!(!is_match("http://e.com/*.zip", "http://e.com/bzip"));
        assert!(is_match("*/view?id=*", "http://e.com/view?id=7"));
        assert!(!is_match("*/view?id=*", "http://e.com/viewXid=7"));
        assert!(is_match("*/a*b", "http://e.com/a/xx/b"));
        assert!(is_match("http*://e.com/", "https://e.com/"));
        assert!(is_match("https*", "https://e.com/"));
        assert!(is_match("*(x)[y]{2}|^$", "http://e.com/(x)[y]{2}|^$"));
    }

    #[test]
    fn globs_are_read_in_the_spelling_of_urls() {
        assert!(is_match("HTTP://Example.COM/A*", "http://example.com/A"));
        assert!(!is_match("HTTP://Example.COM/A*", "http://example.com/a"));
        assert!(is_match("*/가/*", "http://e.com/%EA%B0%80/x"));
    }

    #[test]
    fn regular_expressions_match_anywhere() {
        assert!(is_match(
            "re:[?&]sid=[0-9a-f]{8}",
            "http://e.com/?a&sid=0123abcd"
        ));
        assert!(!is_match("re:^/x", "http://e.com/x"));
    }

    #[test]
    fn the_first_pattern_is_named() {
        let patterns = compile(&["*.zip", "re:b", "*/b*"]).unwrap();
        assert_eq!(patterns.first_match("http://e/b"), Some(1));
        assert_eq!(patterns.first_match("http://e/c"), None);
        assert!(compile(&[]).unwrap().is_empty());
    }

    #[test]
    fn every_mistake_is_reported_with_its_remedy() {
        let errors =
            compile(&["re:(", "", "/private/*", "re:", "example.com", "*ok*"]).unwrap_err();
        let said: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(said.len(), 5, "{said:#?}");
        assert!(said[0].starts_with("exclude pattern \"re:(\" is not a regular expression"));
        assert!(said[1].contains("is empty"));
        assert!(said[2].contains("\"*/private/*\""));
        assert!(said[4].contains("\"*example.com\""));
    }

    #[test]
    fn patterns_too_large_alone_and_together_are_reported() {
        assert!(matches!(
            compile(&["re:(\\pL{1000}){1000}"]).unwrap_err()[..],
            [ScopeError::BadRegex { .. }]
        ));
        let large = "re:\\pL{200}x";
        assert!(matches!(
            compile(&[large; 40]).unwrap_err()[..],
            [ScopeError::PatternsTooLarge { .. }]
        ));
    }

    fn naive(glob: &[u8], text: &[u8]) -> bool {
        match glob.split_first() {
            None => text.is_empty(),
            Some((b'*', rest)) => (0..=text.len()).any(|skip| naive(rest, &text[skip..])),
            Some((byte, rest)) => text.first() == Some(byte) && naive(rest, &text[1..]),
        }
    }

    proptest! {
        #[test]
        fn globs_agree_with_a_naive_matcher(glob in "\\*[ab.?*]{0,6}", tail in "[ab.?]{0,8}") {
            let url = format!("http://e/{tail}");
            prop_assert_eq!(is_match(&glob, &url), naive(glob.as_bytes(), url.as_bytes()));
        }

        #[test]
        fn any_text_compiles_or_is_reported(pattern in "\\PC{0,20}") {
            if let Err(errors) = compile(&[&pattern]) {
                prop_assert_eq!(errors.len(), 1);
            }
        }
    }
}
