//! The spelling of a URL, held in place where it is short.
//!
//! A page links to some fifty URLs, of which all but one or two are known
//! already: they are made, hashed, looked up and dropped. A piece of heap for
//! each costs more than all of that, the more as one thread makes it and
//! another gives it back.

use std::hash::{Hash, Hasher};
use std::ops::Deref;

use arrayvec::ArrayString;

/// Spellings up to this length need no heap. Longer would make every URL in
/// memory larger, the short ones too.
const SHORT_BYTES_MAX: usize = 60;

#[derive(Clone)]
pub(crate) enum UrlText {
    Short(ArrayString<SHORT_BYTES_MAX>),
    Long(Box<str>),
}

impl UrlText {
    /// One text after the other.
    pub(crate) fn concat(first: &str, second: &str) -> Self {
        let mut short = ArrayString::new();
        if short.try_push_str(first).is_ok() && short.try_push_str(second).is_ok() {
            return Self::Short(short);
        }
        Self::Long([first, second].concat().into_boxed_str())
    }
}

impl From<&str> for UrlText {
    fn from(text: &str) -> Self {
        Self::concat(text, "")
    }
}

impl Deref for UrlText {
    type Target = str;

    fn deref(&self) -> &str {
        match self {
            Self::Short(text) => text,
            Self::Long(text) => text,
        }
    }
}

// All by the text: where it is held makes no difference.

impl PartialEq for UrlText {
    fn eq(&self, other: &Self) -> bool {
        **self == **other
    }
}

impl Eq for UrlText {}

impl PartialOrd for UrlText {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for UrlText {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (**self).cmp(&**other)
    }
}

impl Hash for UrlText {
    fn hash<H: Hasher>(&self, state: &mut H) {
        (**self).hash(state);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_order_is_that_of_the_text_whatever_its_length() {
        let texts = [
            "b".repeat(61),
            "a".repeat(60),
            "a".repeat(61),
            "c".to_owned(),
        ];
        let mut held: Vec<UrlText> = texts.iter().map(|text| text.as_str().into()).collect();
        held.sort();
        let mut sorted = texts;
        sorted.sort();
        let held: Vec<&str> = held.iter().map(|text| &**text).collect();
        assert_eq!(held, sorted);
    }

    #[test]
    fn two_texts_become_one_on_both_sides_of_the_bound() {
        for len in [0, 1, 30, 31, 59, 60, 61, 500] {
            let (first, second) = ("a".repeat(30), "b".repeat(len));
            assert_eq!(&*UrlText::concat(&first, &second), first + &second);
        }
    }
}
