//! Words that stand beside a number in a date, a time or a count.
//!
//! All in lower case, as the fingerprint sees them. They count only beside a
//! number, so "we may march" loses nothing. Pages hold many numbers: Latin words
//! are matched by a `match`, which the compiler turns into a decision on length
//! and letters, where a search would compare strings.

/// Korean names that come before a number as well as after.
const KOREAN_NAMES: [&str; 9] = [
    "금요일",
    "목요일",
    "수요일",
    "오전",
    "오후",
    "월요일",
    "일요일",
    "토요일",
    "화요일",
];

/// Korean units and short names of days that come after a number.
const KOREAN_UNITS: [&str; 19] = [
    "개", "개월", "건", "금", "년", "명", "목", "분", "수", "시", "시간", "월", "일", "주", "주일",
    "초", "토", "화", "회",
];

/// Whether a word just after a number belongs to it.
pub(crate) fn follows_number(word: &[u8]) -> bool {
    if word.is_ascii() {
        is_latin_unit(word) || is_latin_name(word)
    } else {
        is_one_of(&KOREAN_UNITS, word) || is_one_of(&KOREAN_NAMES, word)
    }
}

/// The length of `text` without the date words at its end. Words are separated
/// and followed by one blank each.
pub(crate) fn without_last_date_words(text: &[u8]) -> usize {
    let mut length = text.len();
    while let Some(words) = text[..length].strip_suffix(b" ") {
        let start = words
            .iter()
            .rposition(|&byte| byte == b' ')
            .map_or(0, |blank| blank + 1);
        if !is_name(&words[start..]) {
            break;
        }
        length = start;
    }
    length
}

/// Whether a word may stand before a number in a date: a month, a day, half a day,
/// a time zone.
fn is_name(word: &[u8]) -> bool {
    is_latin_name(word) || (!word.is_ascii() && is_one_of(&KOREAN_NAMES, word))
}

fn is_one_of(words: &[&str], word: &[u8]) -> bool {
    words.iter().any(|known| known.as_bytes() == word)
}

#[rustfmt::skip]
fn is_latin_name(word: &[u8]) -> bool {
    matches!(
        word,
            b"am" | b"apr" | b"april" | b"aug" | b"august" | b"dec" | b"december" | b"feb"
            | b"february" | b"fri" | b"friday" | b"gmt" | b"jan" | b"january" | b"jul" | b"july"
            | b"jun" | b"june" | b"kst" | b"mar" | b"march" | b"may" | b"mon" | b"monday"
            | b"nov" | b"november" | b"oct" | b"october" | b"pm" | b"sat" | b"saturday" | b"sep"
            | b"sept" | b"september" | b"sun" | b"sunday" | b"thu" | b"thur" | b"thurs"
            | b"thursday" | b"tue" | b"tuesday" | b"utc" | b"wed" | b"wednesday"
    )
}

#[rustfmt::skip]
fn is_latin_unit(word: &[u8]) -> bool {
    matches!(
        word,
            b"d" | b"day" | b"days" | b"h" | b"hour" | b"hours" | b"hr" | b"hrs" | b"k" | b"m"
            | b"min" | b"mins" | b"minute" | b"minutes" | b"month" | b"months" | b"ms" | b"nd"
            | b"rd" | b"s" | b"sec" | b"second" | b"seconds" | b"secs" | b"st" | b"t" | b"th"
            | b"w" | b"week" | b"weeks" | b"y" | b"year" | b"years" | b"z"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn date_words_are_taken_back_to_the_last_other_word() {
        for (text, rest) in [
            ("on monday march ", "on "),
            ("monday ", ""),
            ("mono ", "mono "),
            ("", ""),
            ("오늘 화요일 오전 ", "오늘 "),
        ] {
            let length = without_last_date_words(text.as_bytes());
            assert_eq!(&text[..length], rest, "of {text:?}");
        }
    }

    #[test]
    fn units_follow_numbers_only() {
        assert!(follows_number(b"th"));
        assert!(follows_number("년".as_bytes()));
        assert!(follows_number(b"may"));
        assert_eq!(without_last_date_words(b"th "), 3);
    }
}
