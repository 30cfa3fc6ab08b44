//! Advertisements, told by what their authors call them.
//!
//! A class or id is cut into words at everything that is no letter and where
//! lower case turns into upper (`topAd`, `ad_area`, `Banner-2`). An element is an
//! advertisement if one of these words is in the list, whole: `header`,
//! `download` and `badge` hold `ad` and mean nothing by it. An author who says
//! nothing is believed to mean nothing: what a script puts into the page later is
//! not seen either way.

/// What advertisements are called, in lower case.
const WORDS: [&[u8]; 14] = [
    b"ad",
    b"adbox",
    b"ads",
    b"adsbygoogle",
    b"adsense",
    b"advert",
    b"advertisement",
    b"advertising",
    b"adverts",
    b"banner",
    b"banners",
    b"promo",
    b"sponsor",
    b"sponsored",
];

/// Whether a class or id names an advertisement.
pub(crate) fn is_advert(names: &str) -> bool {
    let bytes = names.as_bytes();
    let mut start = 0;
    let mut at = 0;
    while at < bytes.len() {
        if !is_letter(bytes[at]) {
            if is_listed(&bytes[start..at]) {
                return true;
            }
            start = at + 1;
        } else if at > start && begins_word(bytes, at) {
            if is_listed(&bytes[start..at]) {
                return true;
            }
            start = at;
        }
        at += 1;
    }
    is_listed(&bytes[start..])
}

/// Letters of other scripts are letters, too.
const fn is_letter(byte: u8) -> bool {
    byte.is_ascii_alphabetic() || byte >= 0x80
}

/// Whether the letter there begins a word within a name: `topAd`, `ADBox`.
fn begins_word(bytes: &[u8], at: usize) -> bool {
    bytes[at].is_ascii_uppercase()
        && (bytes[at - 1].is_ascii_lowercase()
            || bytes.get(at + 1).is_some_and(u8::is_ascii_lowercase))
}

/// The first letter and the length sort out nearly everything.
fn is_listed(word: &[u8]) -> bool {
    let Some(first) = word.first() else {
        return false;
    };
    matches!(first | 0x20, b'a' | b'b' | b'p' | b's')
        && matches!(word.len(), 2..=13)
        && WORDS.iter().any(|known| word.eq_ignore_ascii_case(known))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_words_count_however_they_are_joined() {
        for names in [
            "ad",
            "ADS",
            "col-4 ad-slot",
            "ad_area",
            "adbox2",
            "topAd",
            "ADBox",
            "ADBanner left",
            "ins adsbygoogle",
            "main_banner",
            "is-sponsored",
            "promo",
            "x 광고 ad",
            "ad300x250",
        ] {
            assert!(is_advert(names), "{names}");
        }
        for names in [
            "",
            "header",
            "download",
            "badge",
            "head",
            "adventure",
            "radio",
            "add",
            "promote",
            "load-more",
            "Adam",
            "gradient",
            "광고ad광고",
            "abandoned s p b a",
        ] {
            assert!(!is_advert(names), "{names}");
        }
    }
}
