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

/// Bytes looked at together, and those before and after them.
const BLOCK_BYTES: usize = 16;
const SEEN_BYTES: usize = BLOCK_BYTES + 2;

/// Whether the attributes of a tag can name an advertisement: a word begins as one
/// in the list does. Nearly every tag ends here, so it is asked of whole blocks.
pub(crate) fn may_name_advert(attributes: &[u8]) -> bool {
    let mut rest = attributes;
    while let Some(block) = rest.first_chunk::<SEEN_BYTES>() {
        if begins_like_one(block) {
            return true;
        }
        rest = &rest[BLOCK_BYTES..];
    }
    // What is left after the last block holds no word, or is looked at filled up.
    let mut block = [b' '; SEEN_BYTES];
    block[..rest.len()].copy_from_slice(rest);
    rest.len() > 2 && begins_like_one(&block)
}

/// Whether a word in a block begins with `ad`, `ba`, `pr` or `sp`. Written without
/// branches, so that it becomes a few vector instructions.
fn begins_like_one(block: &[u8; SEEN_BYTES]) -> bool {
    let mut hits = 0;
    for at in 0..BLOCK_BYTES {
        let (before, first, second) = (block[at], block[at + 1], block[at + 2] | 0x20);
        let is_first = u8::from((before | 0x20).wrapping_sub(b'a') >= 26)
            | u8::from(first.wrapping_sub(b'A') < 26);
        let first = first | 0x20;
        let is_pair = |one, two| u8::from(first == one) & u8::from(second == two);
        let pairs =
            is_pair(b'a', b'd') | is_pair(b'b', b'a') | is_pair(b'p', b'r') | is_pair(b's', b'p');
        hits |= is_first & pairs;
    }
    hits != 0
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
    fn nothing_is_passed_over_wherever_it_stands() {
        for word in WORDS {
            let word = std::str::from_utf8(word).unwrap();
            for before in 0..40 {
                let tag = format!(" {} class=x-{word}>", "y".repeat(before));
                assert!(may_name_advert(tag.as_bytes()), "{tag}");
                let tag = format!(" {} id={word}>", "y".repeat(before));
                assert!(may_name_advert(tag.as_bytes()), "{tag}");
            }
        }
        assert!(may_name_advert(b" id=topAd>"));
        assert!(!may_name_advert(
            b" class=\"card col-md-4 shadow-sm\" id=\"item-17\">"
        ));
        assert!(!may_name_advert(b">"));
    }

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
