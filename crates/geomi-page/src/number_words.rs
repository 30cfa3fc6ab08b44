//! Words that stand beside a number and say what it is: a date, a time, a count,
//! a price.
//!
//! All in lower case, as the fingerprint sees them. They count only beside a
//! number, so "we may march" loses nothing. Pages hold many numbers: Latin words
//! are matched by a `match`, which the compiler turns into a decision on length
//! and letters, where a search would compare strings.
//!
//! English and Korean are known. A word that says one thing before a number may
//! say nothing after it: "Today 12" is a counter, "only 12 today" is not.

/// Words of dates before a number are looked for in so many bytes.
pub(crate) const LOOK_BACK_BYTES: usize = 64;
/// No word in this file is longer.
pub(crate) const WORD_BYTES_MAX: usize = 24;

/// What the words before a number say of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Before {
    /// Nothing.
    Nothing,
    /// A currency sign: it is a price.
    Price,
    /// It counts something.
    Counter,
    /// It is part of a date, whose words begin there.
    Date { start: usize },
}

/// What the word after a number says of it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum After {
    /// Nothing.
    Nothing,
    /// It is a price.
    Price,
    /// It counts something.
    Counter,
    /// It is so many hours, or days.
    TimeUnit,
    /// It belongs to a month, a day, half a day, a time zone.
    DateName,
    /// The word belongs to the number (`14th`, `5명`); the next one may say more.
    Measure,
    /// The same, and the number is rounded (`1.2k`).
    Multiplier,
}

/// What a word behind a date is to it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Behind {
    /// Nothing: the date is over.
    Nothing,
    /// Its last words: `ago`, a day in short, a `Z`.
    Tail,
    /// A name, behind which a number is part of the date again.
    DateName,
}

/// What the last of the words in `text` say of a number behind them. Words are
/// separated and followed by one blank each.
pub(crate) fn before_number(text: &[u8]) -> Before {
    let Some((start, word)) = last_word(text) else {
        return Before::Nothing;
    };
    if is_date_name(word) {
        let mut date_start = start;
        while let Some((start, word)) = last_word(&text[..date_start])
            && is_date_name(word)
            && text.len() - start <= LOOK_BACK_BYTES
        {
            date_start = start;
        }
        return Before::Date { start: date_start };
    }
    if word.is_ascii() {
        if is_latin_label(word) || is_counted_number(&text[..start], word) {
            return Before::Counter;
        }
    } else if is_one_of(&KOREAN_LABELS, word) || is_one_of(&KOREAN_COUNTERS, word) {
        return Before::Counter;
    } else if CURRENCY_SIGNS
        .iter()
        .any(|sign| word.ends_with(sign.as_bytes()))
    {
        return Before::Price;
    }
    Before::Nothing
}

/// What a word just after a number says of it. Korean particles are understood
/// where the word is attached to the number.
pub(crate) fn after_number(word: &[u8], is_attached: bool) -> After {
    if word.is_ascii() {
        return after_number_latin(word);
    }
    let starts = |known: &&str| is_attached && word.starts_with(known.as_bytes());
    if is_one_of(&KOREAN_NAMES, word) {
        After::DateName
    } else if is_korean_time_unit(word) {
        After::TimeUnit
    } else if is_one_of(&KOREAN_PRICES, word) {
        After::Price
    } else if is_one_of(&KOREAN_COUNTERS, word) {
        After::Counter
    } else if is_korean_multiplier(word) {
        After::Multiplier
    } else if is_one_of(&KOREAN_MEASURES, word) || KOREAN_MEASURES.iter().any(starts) {
        After::Measure
    } else {
        After::Nothing
    }
}

/// What a word behind a date is to it.
pub(crate) fn behind_date(word: &[u8]) -> Behind {
    if is_date_name(word) {
        Behind::DateName
    } else if matches!(word, b"ago" | b"z") || is_one_of(&KOREAN_TAILS, word) {
        Behind::Tail
    } else {
        Behind::Nothing
    }
}

/// The last word of a text, and where it begins.
fn last_word(text: &[u8]) -> Option<(usize, &[u8])> {
    let words = text.strip_suffix(b" ")?;
    let blank = words.iter().rposition(|&byte| byte == b' ');
    let start = blank.map_or(0, |blank| blank + 1);
    // The word may be cut where the text begins; no known one is that long.
    let word = &words[start..];
    (word.len() <= WORD_BYTES_MAX).then_some((start, word))
}

fn is_one_of(words: &[&str], word: &[u8]) -> bool {
    words.iter().any(|known| known.as_bytes() == word)
}

/// Signs that are no ASCII, and so are taken for words.
const CURRENCY_SIGNS: [&str; 6] = ["€", "£", "¥", "₩", "￥", "￦"];

/// Names that come before a number as well as after.
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

/// Units of dates and times.
const KOREAN_TIME_UNITS: [&str; 13] = [
    "개월", "년", "달", "분", "시", "시간", "월", "일", "주", "주간", "주일", "초", "년도",
];

/// What units of time may end in.
const KOREAN_PARTICLES: [&str; 7] = ["전", "간", "에", "까지", "부터", "현재", "째"];

/// Days in short, and "ago".
const KOREAN_TAILS: [&str; 8] = ["금", "목", "수", "월", "일", "전", "토", "화"];

/// What is counted, before a number or after it.
const KOREAN_COUNTERS: [&str; 21] = [
    "공감",
    "구독자",
    "다운로드",
    "답글",
    "댓글",
    "댓글수",
    "방문",
    "방문수",
    "방문자",
    "방문자수",
    "비추천",
    "스크랩",
    "접속",
    "접속자",
    "접속자수",
    "접속중",
    "조회",
    "조회수",
    "좋아요",
    "추천",
    "추천수",
];

/// What counts only before a number.
const KOREAN_LABELS: [&str; 3] = ["어제", "오늘", "전체"];

/// What numbers of anything are followed by.
const KOREAN_MEASURES: [&str; 5] = ["개", "건", "명", "번", "회"];

const KOREAN_MULTIPLIERS: [&str; 3] = ["만", "억", "천"];

const KOREAN_PRICES: [&str; 8] = ["달러", "만원", "억원", "엔", "원", "위안", "유로", "천원"];

fn is_korean_time_unit(word: &[u8]) -> bool {
    is_one_of(&KOREAN_TIME_UNITS, word)
        || KOREAN_PARTICLES.iter().any(|particle| {
            let unit = word.strip_suffix(particle.as_bytes());
            unit.is_some_and(|unit| is_one_of(&KOREAN_TIME_UNITS, unit))
        })
}

/// Whether a word is a multiplier, alone or with a measure (`만회`).
fn is_korean_multiplier(word: &[u8]) -> bool {
    KOREAN_MULTIPLIERS.iter().any(|multiplier| {
        let measure = word.strip_prefix(multiplier.as_bytes());
        measure.is_some_and(|measure| measure.is_empty() || is_one_of(&KOREAN_MEASURES, measure))
    })
}

/// Whether a word is part of a date wherever it stands: a month, a day, half a
/// day, a time zone.
fn is_date_name(word: &[u8]) -> bool {
    is_latin_date_name(word) || (!word.is_ascii() && is_one_of(&KOREAN_NAMES, word))
}

#[rustfmt::skip]
fn is_latin_date_name(word: &[u8]) -> bool {
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

/// What is counted, as a heading before the number. What asks for something
/// ("download 7") is none.
#[rustfmt::skip]
fn is_latin_label(word: &[u8]) -> bool {
    matches!(
        word,
            b"comments" | b"downloads" | b"followers" | b"guests" | b"hit" | b"hits" | b"likes"
            | b"online" | b"reads" | b"replies" | b"shares" | b"subscribers" | b"today" | b"view"
            | b"viewers" | b"views" | b"visitors" | b"visits" | b"votes" | b"yesterday"
    )
}

/// Whether the last word is that of `visitor number 17`.
fn is_counted_number(text: &[u8], word: &[u8]) -> bool {
    matches!(word, b"number" | b"no" | b"nr" | b"count" | b"counter")
        && last_word(text).is_some_and(|(_, word)| after_number_latin(word) == After::Counter)
}

#[rustfmt::skip]
fn after_number_latin(word: &[u8]) -> After {
    match word {
        b"ago" | b"day" | b"days" | b"h" | b"hour" | b"hours" | b"hr" | b"hrs" | b"min" | b"mins"
        | b"minute" | b"minutes" | b"month" | b"months" | b"sec" | b"second" | b"seconds"
        | b"secs" | b"week" | b"weeks" | b"year" | b"years" => After::TimeUnit,
        b"comment" | b"comments" | b"download" | b"downloads" | b"follower" | b"followers"
        | b"guest" | b"guests" | b"hit" | b"hits" | b"like" | b"likes" | b"online" | b"reads"
        | b"replies" | b"reply" | b"share" | b"shares" | b"subscriber" | b"subscribers" | b"view"
        | b"viewer" | b"viewers" | b"views" | b"visit" | b"visitor" | b"visitors" | b"visits"
        | b"vote" | b"votes" => After::Counter,
        b"cents" | b"dollar" | b"dollars" | b"eur" | b"euro" | b"euros" | b"gbp" | b"jpy" | b"krw"
        | b"usd" | b"won" | b"yen" => After::Price,
        // Minutes and metres, days and dimensions, users and users online: what follows tells.
        b"d" | b"member" | b"members" | b"nd" | b"people" | b"rd" | b"s" | b"st" | b"th" | b"user"
        | b"users" | b"w" | b"y" => After::Measure,
        b"k" | b"m" => After::Multiplier,
        _ if is_latin_date_name(word) => After::DateName,
        _ => After::Nothing,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_before_a_number_are_read_back_to_the_last_other_word() {
        let date = |start| Before::Date { start };
        for (text, expected) in [
            ("on monday march ", date(3)),
            ("monday ", date(0)),
            ("mono ", Before::Nothing),
            ("", Before::Nothing),
            ("th ", Before::Nothing),
            ("오늘 화요일 오전 ", date("오늘 ".len())),
            ("오늘 ", Before::Counter),
            ("all views ", Before::Counter),
            ("views all ", Before::Nothing),
            ("download ", Before::Nothing),
            ("only € ", Before::Price),
        ] {
            assert_eq!(before_number(text.as_bytes()), expected, "{text:?}");
        }
        assert!(matches!(
            before_number("mon ".repeat(100).as_bytes()),
            Before::Date { start } if start >= 400 - LOOK_BACK_BYTES
        ));
    }

    #[test]
    fn words_after_a_number() {
        for (word, expected) in [
            ("년", After::TimeUnit),
            ("분전", After::TimeUnit),
            ("일까지", After::TimeUnit),
            ("hours", After::TimeUnit),
            ("may", After::DateName),
            ("오후", After::DateName),
            ("th", After::Measure),
            ("명이", After::Measure),
            ("k", After::Multiplier),
            ("만", After::Multiplier),
            ("만회", After::Multiplier),
            ("view", After::Counter),
            ("댓글", After::Counter),
            ("오늘", After::Nothing),
            ("today", After::Nothing),
            ("원", After::Price),
            ("usd", After::Price),
            ("시리즈", After::Nothing),
            ("items", After::Nothing),
        ] {
            assert_eq!(after_number(word.as_bytes(), true), expected, "{word}");
        }
        let apart = after_number("명이".as_bytes(), false);
        assert_eq!(apart, After::Nothing);
    }

    #[test]
    fn words_behind_a_date() {
        assert_eq!(behind_date(b"pm"), Behind::DateName);
        assert_eq!(behind_date("토".as_bytes()), Behind::Tail);
        assert_eq!(behind_date(b"at"), Behind::Nothing);
    }
}
