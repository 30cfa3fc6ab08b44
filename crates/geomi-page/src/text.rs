//! Visible text, counted and hashed as it streams by.
//!
//! The size is that of the text with white space folded. The fingerprint answers
//! "would a reader notice a change?", so it is taken over words only: ASCII letters
//! in lower case, without ASCII punctuation, and without what a clock or a counter
//! would change. That is every number that begins a word, and the words of dates and
//! units around it ([`crate::date_words`]):
//!
//! | state | input | what happens |
//! |---|---|---|
//! | running | letter, separator | the letter, or one blank, is kept |
//! | running | digit inside a word (`mp3`) | kept |
//! | running | digit at the start of a word | date words just before are taken back; to *after a number* |
//! | after a number | digit, separator | nothing is kept |
//! | after a number | letters, then their end | a unit or date word is dropped; any other word is kept, and back to running |
//!
//! The running state is most of every page and is taken in blocks: what needs no
//! thought is folded at once, and what stopped it is looked up. The text is never
//! held as a whole, and how it is cut into pieces makes no difference.

use geomi_model::Fingerprint;
use xxhash_rust::xxh3::Xxh3;

use crate::date_words;
use crate::fold::{
    ASK, BLOCK_BYTES, CLASSES, SPACE, WORD, block_of, fold_block, is_digit_or_space,
};
use crate::plain::BLOCK_END;
use crate::sketch::Sketch;
use crate::soft404;

/// Normalised text is hashed in portions of about this size.
const BUFFER_BYTES: usize = 4096;
/// What stays behind when a portion is hashed, so that date words can still be
/// taken back.
const KEPT_BYTES: usize = 64;

/// Where in the table above the text is.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum State {
    Running,
    AfterNumber {
        /// Where in the buffer the word after the number begins.
        word_start: usize,
    },
}

/// What a text came to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Measured {
    /// Bytes with white space folded.
    pub(crate) text_bytes: u64,
    /// The fingerprint, if there was any word.
    pub(crate) fingerprint: Option<Fingerprint>,
    /// Hash over the numbers that the fingerprint leaves out: with it, and the
    /// size, two texts that differ in a number are told apart.
    pub(crate) numbers: u64,
    /// Bytes of what the page is about.
    pub(crate) main_bytes: u64,
    /// Words of it.
    pub(crate) words: u32,
    /// Share of the word used most, in hundredths.
    pub(crate) top_word_percent: u8,
    /// Simhash of it, if it is long enough.
    pub(crate) simhash: Option<u64>,
    /// Whether the text is short and says that there is nothing here.
    pub(crate) says_not_found: bool,
}

/// Size and hash of a text in the making.
pub(crate) struct VisibleText {
    hasher: Xxh3,
    /// Normalised text not yet hashed: words with one blank between them.
    /// The last block may be written past what is kept of it.
    buffer: Box<[u8; BUFFER_BYTES + BLOCK_BYTES]>,
    length: usize,
    state: State,
    any_hashed: bool,
    text_bytes: u64,
    /// Hash over the digits that are not kept.
    numbers: u64,
    /// The last byte was white space, or nothing was seen yet.
    in_space: bool,
    /// What the main text is like.
    sketch: Sketch,
    /// How far into the buffer words were given to the sketch, or passed over.
    sketched: usize,
    /// Whether the text is what the page is about, and not around it.
    is_main: bool,
    /// Bytes of main text, up to where it was last left.
    main_bytes: u64,
    /// Where the main text was last taken up.
    main_from: u64,
    /// The text itself, for whoever wants to read it.
    copy: Option<String>,
}

impl VisibleText {
    pub(crate) fn new() -> Self {
        Self {
            hasher: Xxh3::new(),
            buffer: Box::new([0; BUFFER_BYTES + BLOCK_BYTES]),
            length: 0,
            state: State::Running,
            any_hashed: false,
            text_bytes: 0,
            numbers: 0xcbf2_9ce4_8422_2325,
            in_space: true,
            sketch: Sketch::new(),
            sketched: 0,
            is_main: true,
            main_bytes: 0,
            main_from: 0,
            copy: None,
        }
    }

    /// Keeps the text too; blocks are marked by [`BLOCK_END`].
    pub(crate) fn keep_copy(&mut self) {
        self.copy = Some(String::new());
    }

    /// The text, if it was kept.
    pub(crate) fn into_copy(self) -> String {
        self.copy.unwrap_or_default()
    }

    /// Takes the next piece of text, character references decoded.
    pub(crate) fn push(&mut self, text: &str) {
        if let Some(copy) = &mut self.copy {
            copy.push_str(text);
        }
        let mut rest = text;
        while !rest.is_empty() {
            let taken = match self.state {
                State::Running => self.run(rest),
                State::AfterNumber { .. } => 0,
            };
            rest = &rest[taken..];
            if let Some(c) = rest.chars().next() {
                self.character(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }

    /// A tag that separates words.
    pub(crate) fn space(&mut self) {
        if let Some(copy) = &mut self.copy {
            copy.push(BLOCK_END);
        }
        self.count(' ');
        self.separator();
    }

    /// Says whether what follows is what the page is about. Called between words.
    pub(crate) fn set_main(&mut self, is_main: bool) {
        if self.is_main == is_main {
            return;
        }
        self.sketch_up_to(self.length);
        if is_main {
            self.main_from = self.text_bytes;
        } else {
            self.main_bytes += self.text_bytes - self.main_from;
        }
        self.is_main = is_main;
    }

    /// What the text came to.
    pub(crate) fn finish(mut self) -> Measured {
        self.separator();
        if self.is_main {
            self.main_bytes += self.text_bytes - self.main_from;
        }
        if self.in_space && self.text_bytes > 0 {
            self.text_bytes -= 1;
        }
        if self.length > 0 && !self.ends_in_word() {
            self.length -= 1;
        }
        self.sketch_up_to(self.length);
        let last = &self.buffer[..self.length];
        let is_short = !self.any_hashed && self.text_bytes <= soft404::TEXT_BYTES_MAX;
        let says_not_found = is_short && soft404::says_so(last);
        self.hasher.update(last);
        let any = self.any_hashed || self.length > 0;
        Measured {
            text_bytes: self.text_bytes,
            fingerprint: any.then(|| Fingerprint(self.hasher.digest())),
            numbers: self.numbers,
            main_bytes: self.main_bytes.min(self.text_bytes),
            says_not_found,
            words: self.sketch.words(),
            top_word_percent: self.sketch.top_word_percent(),
            simhash: self.sketch.finish(),
        }
    }

    /// Gives the words before there to the sketch, if they are main text.
    fn sketch_up_to(&mut self, end: usize) {
        if self.is_main && self.sketched < end {
            self.sketch.take(&self.buffer[self.sketched..end]);
        }
        self.sketched = end;
    }

    /// Takes bytes as long as each needs only a look-up; gives how many, always
    /// whole characters.
    fn run(&mut self, text: &str) -> usize {
        let mut taken = 0;
        loop {
            let rest = &text.as_bytes()[taken..];
            let portion = rest.len().min(BUFFER_BYTES - self.length);
            let looked_up = self.run_portion(rest, portion);
            taken += looked_up;
            if self.length == BUFFER_BYTES {
                self.flush();
            }
            if looked_up < portion || taken == text.len() {
                return taken;
            }
        }
    }

    /// The same for as many bytes as fit into the buffer.
    fn run_portion(&mut self, bytes: &[u8], portion: usize) -> usize {
        let mut before = if self.ends_in_word() { WORD } else { 0 };
        before |= if self.in_space { SPACE } else { 0 };
        let mut length = self.length;
        let mut folded_spaces = 0;
        let mut taken = 0;
        'portion: while taken < portion {
            let rest = &bytes[taken..portion];
            let block = block_of(rest);
            let (folded, plain) = fold_block(block, before & WORD == 0);
            self.buffer[length..length + BLOCK_BYTES].copy_from_slice(&folded);
            // A branch for the usual case: where the next block begins is known
            // before this one was looked at.
            if plain == BLOCK_BYTES {
                length += BLOCK_BYTES;
                taken += BLOCK_BYTES;
                before = CLASSES[usize::from(block[BLOCK_BYTES - 1])];
                continue;
            }
            if plain > 0 {
                length += plain;
                taken += plain;
                before = CLASSES[usize::from(block[plain - 1])];
            }
            // What stopped it, and whatever separators follow: a full stop is
            // followed by a blank more often than not.
            while taken < portion {
                let class = CLASSES[usize::from(bytes[taken])];
                if class & ASK != 0 && is_digit_or_space(&bytes[taken..]) {
                    break 'portion;
                }
                self.buffer[length] = class as u8;
                length += usize::from((class | before) & WORD != 0);
                folded_spaces += u64::from(class & before & SPACE != 0);
                before = class;
                taken += 1;
                if class & WORD != 0 {
                    break;
                }
            }
        }
        self.length = length;
        self.in_space = before & SPACE != 0;
        self.text_bytes += taken as u64 - folded_spaces;
        taken
    }

    /// Takes one character, in any state.
    fn character(&mut self, c: char) {
        self.count(c);
        match c {
            '0'..='9' => self.digit(c as u8),
            'a'..='z' | 'A'..='Z' => self.put((c as u8).to_ascii_lowercase()),
            _ if c.is_ascii() || c.is_whitespace() => self.separator(),
            _ => {
                for &byte in c.encode_utf8(&mut [0; 4]).as_bytes() {
                    self.put(byte);
                }
            }
        }
    }

    fn digit(&mut self, digit: u8) {
        if self.state == State::Running && self.is_inside_latin_word() {
            self.put(digit);
            return;
        }
        // FNV-1a: a number has a few digits, and a page a few numbers.
        self.numbers = (self.numbers ^ u64::from(digit)).wrapping_mul(0x0100_0000_01b3);
        self.separator();
        if self.state == State::Running {
            let text = &self.buffer[..self.length];
            self.length = date_words::without_last_date_words(text);
            self.sketched = self.sketched.min(self.length);
        }
        self.state = State::AfterNumber {
            word_start: self.length,
        };
    }

    /// Ends the word, if one is open.
    fn separator(&mut self) {
        if let State::AfterNumber { word_start } = self.state {
            let word = &self.buffer[word_start..self.length];
            if word.is_empty() {
                return;
            }
            if date_words::follows_number(word) {
                self.length = word_start;
                self.sketched = self.sketched.min(word_start);
                return;
            }
            self.state = State::Running;
        }
        if self.ends_in_word() {
            self.put(b' ');
        }
    }

    fn put(&mut self, byte: u8) {
        self.buffer[self.length] = byte;
        self.length += 1;
        if self.length == BUFFER_BYTES {
            self.flush();
        }
    }

    /// Counts a character of the folded text.
    fn count(&mut self, c: char) {
        let space = c.is_whitespace();
        if !space {
            self.text_bytes += c.len_utf8() as u64;
        } else if !self.in_space {
            self.text_bytes += 1;
        }
        self.in_space = space;
    }

    fn ends_in_word(&self) -> bool {
        self.last_byte().is_some_and(|byte| byte != b' ')
    }

    /// Whether a digit here belongs to a word. Hangul is different: `조회12` is a
    /// word and a number.
    fn is_inside_latin_word(&self) -> bool {
        self.last_byte()
            .is_some_and(|byte| byte.is_ascii_alphanumeric())
    }

    fn last_byte(&self) -> Option<u8> {
        let last = self.length.checked_sub(1)?;
        Some(self.buffer[last])
    }

    /// Hashes all but the last bytes, up to the end of a word unless a word fills
    /// the buffer.
    fn flush(&mut self) {
        let most = self.length - KEPT_BYTES;
        let blank = self.buffer[..most].iter().rposition(|&byte| byte == b' ');
        let hashed = blank.map_or(most, |blank| blank + 1);
        self.sketch_up_to(hashed.max(self.sketched));
        self.hasher.update(&self.buffer[..hashed]);
        self.any_hashed = true;
        self.buffer.copy_within(hashed..self.length, 0);
        self.length -= hashed;
        self.sketched -= hashed;
        if let State::AfterNumber { word_start } = self.state {
            // A word that long is no unit, whatever it began with.
            self.state = match word_start.checked_sub(hashed) {
                Some(word_start) => State::AfterNumber { word_start },
                None => State::Running,
            };
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measure(text: &str) -> (u64, Option<Fingerprint>) {
        let mut visible = VisibleText::new();
        visible.push(text);
        let measured = visible.finish();
        (measured.text_bytes, measured.fingerprint)
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
    fn numbers_are_hashed_apart() {
        let numbers = |text: &str| {
            let mut visible = VisibleText::new();
            visible.push(text);
            visible.finish().numbers
        };
        assert_ne!(numbers("item 12"), numbers("item 13"));
        assert_ne!(numbers("item 12"), numbers("item"));
        assert_eq!(numbers("item 12"), numbers("thing 12"));
    }

    #[test]
    fn spelling_of_space_case_and_marks_is_no_change() {
        same("Hello,  World!", "hello world");
        same("a\u{3000}b\u{2003}c\u{1680}", "a b c");
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

    proptest::proptest! {
        #[test]
        fn blocks_fold_as_single_characters_do(text in "[a-zA-Z가-힣 .,0-9\u{a0}\u{3000}\t-]{0,200}") {
            let mut whole = VisibleText::new();
            whole.push(&text);
            let mut single = VisibleText::new();
            for c in text.chars() {
                single.character(c);
            }
            proptest::prop_assert_eq!(whole.finish(), single.finish());
        }
    }
}
