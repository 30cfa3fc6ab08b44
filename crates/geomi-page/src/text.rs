//! Visible text, counted and hashed as it streams by.
//!
//! The size is that of the text with white space folded. The fingerprint answers
//! "would a reader notice a change?", so it is taken over words only: letters in
//! lower case, without punctuation and spacing, and without the words a clock or
//! a counter would change:
//!
//! * numbers, also with a unit of time or counting (`12`, `2024년`, `3rd`, `20m`),
//! * names of months and days and other words of dates (`Jan`, `Tuesday`, `PM`).
//!
//! Leaving such a word out of ordinary prose as well ("may") costs nothing: the
//! same word is left out on the next visit. The text is never held as a whole.

use geomi_model::Fingerprint;
use xxhash_rust::xxh3::Xxh3;

/// Words are gathered up to this size before they are hashed.
const BUFFER_BYTES: usize = 4096;

/// What a byte of UTF-8 is to the scanner.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Class {
    /// White space.
    Space,
    /// ASCII punctuation and control characters.
    Mark,
    /// Part of a word, to be taken as it is or in ASCII lower case.
    Word,
    /// First byte of a character that may be white space or an upper-case letter.
    Ask,
}

const CLASSES: [Class; 256] = classes();

const fn classes() -> [Class; 256] {
    let mut classes = [Class::Mark; 256];
    let mut byte = 0;
    while byte < 256 {
        classes[byte] = match byte as u8 {
            b' ' | b'\t' | b'\n' | b'\r' | b'\x0c' => Class::Space,
            // Two-byte characters hold the alphabets with capitals; E1, E2, E3
            // and EF some more, and the wide blanks. Hangul lies at EA to ED.
            0xC2..=0xDF | 0xE1..=0xE3 | 0xEF => Class::Ask,
            b'0'..=b'9' | b'a'..=b'z' | b'A'..=b'Z' | 0x80.. => Class::Word,
            _ => Class::Mark,
        };
        byte += 1;
    }
    classes
}

/// Size and hash of a text in the making.
pub(crate) struct VisibleText {
    hasher: Xxh3,
    /// Words not yet hashed, each followed by a blank; the last may be unfinished.
    words: Vec<u8>,
    /// Where the unfinished word begins.
    word_start: usize,
    /// Whether the unfinished word was too long to hold, so that its first part
    /// is already hashed.
    word_is_long: bool,
    any_word: bool,
    text_bytes: u64,
    /// White space was seen since the last visible character.
    gap: bool,
}

impl VisibleText {
    pub(crate) fn new() -> Self {
        Self {
            hasher: Xxh3::new(),
            words: Vec::with_capacity(BUFFER_BYTES + 256),
            word_start: 0,
            word_is_long: false,
            any_word: false,
            text_bytes: 0,
            gap: false,
        }
    }

    /// Takes the next piece of text, character references decoded.
    pub(crate) fn push(&mut self, text: &str) {
        let bytes = text.as_bytes();
        let mut at = 0;
        while let Some(&byte) = bytes.get(at) {
            match CLASSES[usize::from(byte)] {
                Class::Space => {
                    self.space();
                    at += 1;
                }
                Class::Mark => {
                    self.end_word();
                    self.visible(1);
                    at += 1;
                }
                Class::Word => {
                    let length = bytes[at..]
                        .iter()
                        .position(|&byte| CLASSES[usize::from(byte)] != Class::Word)
                        .unwrap_or(bytes.len() - at);
                    self.word_part(&bytes[at..at + length]);
                    at += length;
                }
                Class::Ask => at += self.ask(&text[at..]),
            }
        }
    }

    /// A tag that separates words.
    pub(crate) fn space(&mut self) {
        self.end_word();
        self.gap = true;
    }

    /// The size, and the fingerprint if there was any word.
    pub(crate) fn finish(mut self) -> (u64, Option<Fingerprint>) {
        self.end_word();
        self.hasher.update(&self.words);
        let fingerprint = self.any_word.then(|| Fingerprint(self.hasher.digest()));
        (self.text_bytes, fingerprint)
    }

    fn visible(&mut self, bytes: usize) {
        self.text_bytes += bytes as u64 + u64::from(self.gap && self.text_bytes > 0);
        self.gap = false;
    }

    fn word_part(&mut self, part: &[u8]) {
        self.visible(part.len());
        let from = self.words.len();
        self.words.extend_from_slice(part);
        self.words[from..].make_ascii_lowercase();
        self.bound_word();
    }

    /// Takes the first character of `rest`, which needs a closer look; gives its
    /// length.
    fn ask(&mut self, rest: &str) -> usize {
        let Some(c) = rest.chars().next() else {
            return 0;
        };
        if c.is_whitespace() {
            self.space();
            return c.len_utf8();
        }
        self.visible(c.len_utf8());
        for lower in c.to_lowercase() {
            let mut buffer = [0; 4];
            self.words
                .extend_from_slice(lower.encode_utf8(&mut buffer).as_bytes());
        }
        self.bound_word();
        c.len_utf8()
    }

    fn bound_word(&mut self) {
        if self.words.len() > BUFFER_BYTES && self.words.len() - self.word_start > BUFFER_BYTES / 2
        {
            self.word_is_long = true;
            self.flush();
        }
    }

    fn end_word(&mut self) {
        let word = &self.words[self.word_start..];
        if word.is_empty() && !self.word_is_long {
            return;
        }
        if !self.word_is_long && is_volatile(word) {
            self.words.truncate(self.word_start);
            return;
        }
        self.any_word = true;
        self.word_is_long = false;
        self.words.push(b' ');
        self.word_start = self.words.len();
        if self.words.len() > BUFFER_BYTES {
            self.flush();
        }
    }

    fn flush(&mut self) {
        self.hasher.update(&self.words);
        self.words.clear();
        self.word_start = 0;
    }
}

/// Whether a word in lower case belongs to a clock or a counter.
fn is_volatile(word: &[u8]) -> bool {
    match word {
        [b'0'..=b'9', ..] => is_number_with_units(word),
        [
            b'a' | b'd' | b'f' | b'g' | b'j' | b'k' | b'm' | b'n' | b'o' | b'p' | b's' | b't'
            | b'u' | b'w',
            _,
            ..,
        ] if word.len() <= 9 => is_date_word(word),
        // The Hangul of `월요일` and `오전` begins with these bytes.
        [0xEA..=0xED, ..] if matches!(word.len(), 6 | 9) => is_korean_date_word(word),
        _ => false,
    }
}

/// Digits, each run followed by at most one unit: `2024년1월2일`, `1h30m`, `5th`.
fn is_number_with_units(word: &[u8]) -> bool {
    const UNITS: [&str; 28] = [
        "st", "nd", "rd", "th", "am", "pm", "sec", "min", "hrs", "ms", "s", "m", "h", "d", "w",
        "y", "k", "t", "z", "년", "월", "일", "시", "분", "초", "회", "명", "건",
    ];
    let mut rest = word;
    while !rest.is_empty() {
        let digits = rest.iter().take_while(|byte| byte.is_ascii_digit()).count();
        if digits == 0 {
            return false;
        }
        rest = &rest[digits..];
        rest = UNITS
            .iter()
            .find_map(|unit| rest.strip_prefix(unit.as_bytes()))
            .unwrap_or(rest);
    }
    true
}

fn is_date_word(word: &[u8]) -> bool {
    const WORDS: [&str; 43] = [
        "am",
        "apr",
        "april",
        "aug",
        "august",
        "dec",
        "december",
        "feb",
        "february",
        "fri",
        "friday",
        "gmt",
        "jan",
        "january",
        "jul",
        "july",
        "jun",
        "june",
        "kst",
        "mar",
        "march",
        "may",
        "mon",
        "monday",
        "nov",
        "november",
        "oct",
        "october",
        "pm",
        "sat",
        "saturday",
        "sep",
        "sept",
        "september",
        "sun",
        "sunday",
        "thu",
        "thursday",
        "tue",
        "tuesday",
        "utc",
        "wed",
        "wednesday",
    ];
    WORDS
        .binary_search_by(|known| known.as_bytes().cmp(word))
        .is_ok()
}

fn is_korean_date_word(word: &[u8]) -> bool {
    const WORDS: [&str; 9] = [
        "오전",
        "오후",
        "월요일",
        "화요일",
        "수요일",
        "목요일",
        "금요일",
        "토요일",
        "일요일",
    ];
    WORDS.iter().any(|known| known.as_bytes() == word)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(text: &str) -> (u64, Option<Fingerprint>) {
        let mut visible = VisibleText::new();
        visible.push(text);
        visible.finish()
    }

    fn same(one: &str, other: &str) {
        assert_eq!(measure(one).1, measure(other).1, "{one:?} and {other:?}");
    }

    fn differ(one: &str, other: &str) {
        assert_ne!(measure(one).1, measure(other).1, "{one:?} and {other:?}");
    }

    #[test]
    fn the_size_is_that_of_folded_text() {
        assert_eq!(measure("  a \n b\u{a0}\u{3000}c ").0, 5);
        assert_eq!(measure("가 나.").0, 8);
        assert_eq!(measure(" \n").0, 0);
    }

    #[test]
    fn clocks_and_counters_are_no_change() {
        same(
            "Now 12:30:05 PM, Tue 3 March 2024",
            "now 1:02 AM Wednesday, 14th Apr 2025",
        );
        same(
            "오늘 2024년 1월 2일 오전 10시 3분",
            "오늘 2025년12월31일 오후 9시 59분",
        );
        same("조회수: 1,234회", "조회수: 99회");
        same("at 2024-01-02T10:20:30Z", "at 1999-12-31T00:00:00Z");
        same("3,141 visitors", "2 visitors");
    }

    #[test]
    fn spelling_of_space_case_and_marks_is_no_change() {
        same("Hello,  World!", "hello world");
        same("ÀÉ Привет", "àé привет");
        same("a\u{a0}b", "a b");
    }

    #[test]
    fn words_are_a_change() {
        differ("hello world", "hello word");
        differ("a b", "ab");
        differ("가나다", "가나라");
        differ("mp3", "mp4");
        differ("", "a");
    }

    #[test]
    fn text_without_words_has_no_fingerprint() {
        assert_eq!(measure("").1, None);
        assert_eq!(measure(" 12:30 -- ").1, None);
    }

    #[test]
    fn pieces_and_the_whole_are_one() {
        let text = format!(
            "{} 가나 é x{} 12 end",
            "word ".repeat(3000),
            "y".repeat(20_000)
        );
        let mut pieces = VisibleText::new();
        for c in text.chars() {
            pieces.push(c.encode_utf8(&mut [0; 4]));
        }
        let mut whole = VisibleText::new();
        whole.push(&text);
        assert_eq!(pieces.finish(), whole.finish());
    }

    #[test]
    fn the_buffer_stays_small() {
        let mut visible = VisibleText::new();
        for _ in 0..10_000 {
            visible.push("endless");
        }
        assert!(visible.words.capacity() < 4 * BUFFER_BYTES);
    }

    #[test]
    fn date_words_are_sorted() {
        // A word list out of order would be searched wrongly.
        for word in ["am", "may", "wednesday", "kst", "sept"] {
            assert!(is_date_word(word.as_bytes()), "{word}");
        }
        assert!(!is_date_word(b"mono"));
    }
}
