//! Visible text, counted and hashed as it streams by.
//!
//! The size is that of the text with white space folded. The fingerprint answers
//! "would a reader notice a change?". It is taken over the words and numbers of
//! the main text: ASCII letters in lower case, without ASCII punctuation, and
//! without what a clock, a counter or a server's own bookkeeping would change.
//! Words and numbers are hashed apart, each number with its place among the words,
//! so that there is a hash over the words alone as well.
//!
//! **Main text** is what [`VisibleText::set_main`] says it is. What is around it is
//! hashed by a hasher of its own, and that is the fingerprint of a page of whose
//! main text nothing is kept: then what is around it is all there is. Every byte is
//! hashed once, and no text is held to decide it.
//!
//! **Numbers** that begin a word are kept, unless
//!
//! * they have the form of a date or a time ([`crate::figure`]);
//! * a date's words or a unit of time are beside them, before or after
//!   (`3 March 2026`, `3 hours ago`, `11월`);
//! * they are whole or rounded (`1.2k`), and a word that counts is beside them
//!   (`12 views`, `조회수: 12`).
//!
//! A currency sign or word, a percent sign, or any other word attached to it
//! (`오늘 999원`) says that a number is none of these. A word after a number is
//! beside it if only white space is between them; one before it may have marks and
//! the ends of blocks in between, as headings have. A word is beside one number
//! only. The date's words and a word after the number are left out with it, a word
//! that counts and comes before it stays. [`crate::number_words`] has the words.
//!
//! **Nonces** are left out: 16 or more ASCII letters and digits in a row, both
//! present, and UUIDs.
//!
//! | state | input | what happens |
//! |---|---|---|
//! | running | letter, separator | the letter, or one blank, is kept |
//! | running | digit inside a Latin word (`mp3`) | kept; to *mixed* |
//! | running | digit at the start of a word | to *figure* |
//! | mixed | letter, digit | kept; the 16th takes the word back, to *nonce* |
//! | mixed, figure, after a number | hyphen after 8 hex digits | to *UUID* |
//! | nonce | letter, digit | left out |
//! | UUID | letter, digit, hyphen where they must be | kept; the 36th takes all back, to *nonce*; another gives up |
//! | figure | digit, mark between digits | its form is noted |
//! | figure | anything else | date or time: left out with date words before it, to *after a date*; whole or decimal: to *after a number*; others are kept, to *running* |
//! | after a number | a word and its end, a mark, the end of a block | the number is kept or left out: to *running* or *after a date*; a measure (`14th`, `5명`) is passed over once or twice |
//! | after a date | date word, separator | left out |
//! | after a date | digit | to *figure*: a year is of the date, as is any number after a date word |
//! | after a date | any other word | kept; to *running* |
//!
//! What cannot be told in passing is a change: `11/15`, `26.11.15` and `2026.11`
//! (scores, versions, prices), a bare year, `5m` without an `ago`, a count in
//! another block than the word after it, base64 that is cut by `+`, `/`, `-` or
//! `_` into short pieces, a UUID whose first part has letters only, a nonce that
//! follows other digits and a mark (`00-4bf9…`).
//!
//! The running state is most of every page and is taken in blocks: what needs no
//! thought is folded at once, and what stopped it is looked up. The text is never
//! held as a whole, and how it is cut into pieces makes no difference.

mod leave_out;

use geomi_model::Fingerprint;
use xxhash_rust::xxh3::Xxh3;

use crate::fnv;
use crate::fold::{
    ASK, BLOCK_BYTES, CLASSES, SPACE, WORD, block_of, fold_block, is_digit_or_space,
};
use crate::plain::BLOCK_END;
use crate::sketch::{FEATURE_BYTES, Sketch};
use crate::soft404;

use leave_out::{Number, State};

/// Normalised text is hashed in portions of about this size.
const BUFFER_BYTES: usize = 4096;
/// What stays behind when a portion is hashed, so that words can still be taken
/// back: those looked at before a number, and some after it.
const KEPT_BYTES: usize = 256;

/// What a text came to.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Measured {
    /// Bytes with white space folded.
    pub(crate) text_bytes: u64,
    /// The fingerprint, if there was any word.
    pub(crate) fingerprint: Option<Fingerprint>,
    /// Hash over all words, without any number.
    pub(crate) wording: Option<Fingerprint>,
    /// Hash over what the fingerprint leaves out: with it, and the size, two
    /// texts that differ in a number are told apart.
    pub(crate) numbers: u64,
    /// The first numbers of the main text that can tell two pages apart.
    pub(crate) figures: Vec<u64>,
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
    main: Part,
    around: Part,
    /// Normalised text not yet hashed: words with one blank behind each.
    /// The last block may be written past what is kept of it.
    buffer: Box<[u8; BUFFER_BYTES + BLOCK_BYTES]>,
    length: usize,
    state: State,
    /// The number that is read, or that waits for the word behind it.
    number: Number,
    /// Where in the buffer the words begin that may be beside the next number.
    words_from: usize,
    /// The last byte as it stood in the text.
    last: u8,
    /// Whether anything was hashed before the end.
    any_flushed: bool,
    text_bytes: u64,
    /// Hash over what was left out.
    left_out: u64,
    /// The first numbers of the main text that can tell two pages apart.
    figures: Vec<u64>,
    /// The last byte was white space, or nothing was seen yet.
    in_space: bool,
    /// What the main text is like.
    sketch: Sketch,
    /// How far into the buffer words were hashed and given to the sketch.
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
            main: Part::new(),
            around: Part::new(),
            buffer: Box::new([0; BUFFER_BYTES + BLOCK_BYTES]),
            length: 0,
            state: State::Running,
            number: Number::none(),
            words_from: 0,
            last: b' ',
            any_flushed: false,
            text_bytes: 0,
            left_out: fnv::START,
            figures: Vec::new(),
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
                State::Figure => self.run_digits(rest.as_bytes()),
                State::AfterNumber { word_start } => self.run_letters(rest.as_bytes(), word_start),
                _ => 0,
            };
            rest = &rest[taken..];
            if let Some(c) = rest.chars().next() {
                self.character(c);
                rest = &rest[c.len_utf8()..];
            }
        }
    }

    /// A tag that separates words.
    #[inline]
    pub(crate) fn space(&mut self) {
        if let Some(copy) = &mut self.copy {
            copy.push(BLOCK_END);
        }
        self.count(' ');
        self.last = b' ';
        if self.state != State::Running {
            self.end_block();
        } else if self.ends_in_word() {
            self.put(b' ');
        }
    }

    /// Says whether what follows is what the page is about. It ends a word.
    pub(crate) fn set_main(&mut self, is_main: bool) {
        if self.is_main == is_main {
            return;
        }
        self.end_block();
        self.hash_up_to(self.length);
        self.words_from = self.length;
        if is_main {
            self.main_from = self.text_bytes;
        } else {
            self.main_bytes += self.text_bytes - self.main_from;
        }
        self.is_main = is_main;
    }

    /// Bytes of main text so far.
    pub(crate) const fn main_bytes(&self) -> u64 {
        if self.is_main {
            self.main_bytes + (self.text_bytes - self.main_from)
        } else {
            self.main_bytes
        }
    }

    /// What the text came to.
    pub(crate) fn finish(mut self) -> Measured {
        self.end_block();
        if self.is_main {
            self.main_bytes += self.text_bytes - self.main_from;
        }
        if self.in_space && self.text_bytes > 0 {
            self.text_bytes -= 1;
        }
        self.hash_up_to(self.length);
        let is_short = !self.any_flushed && self.text_bytes <= soft404::TEXT_BYTES_MAX;
        let says_not_found = is_short && soft404::says_so(&self.buffer[..self.length]);
        let [main, around] = [&self.main, &self.around].map(Part::fingerprint);
        let is_beside = main.is_some() && around.is_some();
        let beside = around.filter(|_| is_beside).map_or(0, |around| around.0);
        let any_words = self.main.words_bytes + self.around.words_bytes > 0;
        let [main_words, around_words] = [&self.main, &self.around].map(Part::wording);
        Measured {
            text_bytes: self.text_bytes,
            fingerprint: main.or(around),
            wording: any_words.then(|| Fingerprint(main_words ^ around_words.rotate_left(32))),
            numbers: fnv::add_u64(self.left_out, beside),
            figures: self.figures,
            main_bytes: self.main_bytes.min(self.text_bytes),
            says_not_found,
            words: self.sketch.words(),
            top_word_percent: self.sketch.top_word_percent(),
            simhash: self.sketch.finish(),
        }
    }

    /// The part of the text that we are in.
    fn part(&mut self) -> &mut Part {
        if self.is_main {
            &mut self.main
        } else {
            &mut self.around
        }
    }

    /// Hashes the words before there, and gives them to the sketch if they are
    /// main text.
    fn hash_up_to(&mut self, end: usize) {
        if self.sketched < end {
            let words = &self.buffer[self.sketched..end];
            if self.is_main {
                // No number takes back what is that near to what is hashed.
                let seen = self.length.min(end + FEATURE_BYTES);
                self.main.words(words);
                let seen = &self.buffer[self.sketched..seen];
                self.sketch.take(seen, end - self.sketched);
            } else {
                self.around.words(words);
            }
            self.sketched = end;
        }
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
                if taken > 0 {
                    self.last = text.as_bytes()[taken - 1];
                }
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

    /// Takes the digits of a number; gives how many.
    fn run_digits(&mut self, bytes: &[u8]) -> usize {
        let others = bytes.iter().position(|byte| !byte.is_ascii_digit());
        let digits = &bytes[..others.unwrap_or(bytes.len())];
        if !digits.is_empty() {
            self.number.figure.digits(digits);
            self.count_word(digits);
        }
        digits.len()
    }

    /// Takes ASCII letters of the word after a number, as long as it can be a word;
    /// gives how many.
    fn run_letters(&mut self, bytes: &[u8], word_start: usize) -> usize {
        let room = self.number.letters_max(self.length - word_start);
        let room = room.min(BUFFER_BYTES - 1 - self.length).min(bytes.len());
        let others = bytes[..room]
            .iter()
            .position(|byte| !byte.is_ascii_alphabetic());
        let letters = &bytes[..others.unwrap_or(room)];
        for letter in letters {
            self.buffer[self.length] = letter.to_ascii_lowercase();
            self.length += 1;
        }
        self.count_word(letters);
        letters.len()
    }

    /// Counts letters or digits.
    fn count_word(&mut self, bytes: &[u8]) {
        if let Some(last) = bytes.last() {
            self.text_bytes += bytes.len() as u64;
            self.in_space = false;
            self.last = *last;
        }
    }

    /// Takes one character, in any state.
    fn character(&mut self, c: char) {
        self.count(c);
        match c {
            '0'..='9' => self.digit(c as u8),
            'a'..='z' | 'A'..='Z' => self.letter((c as u8).to_ascii_lowercase()),
            _ if c.is_whitespace() => self.mark(b' '),
            _ if c.is_ascii() => self.mark(c as u8),
            _ => self.wide_letter(c),
        }
        self.last = if c.is_ascii() { c as u8 } else { 0 };
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
        self.hash_up_to(hashed);
        self.any_flushed = true;
        self.buffer.copy_within(hashed..self.length, 0);
        self.length -= hashed;
        self.sketched -= hashed;
        self.words_from = self.words_from.saturating_sub(hashed);
        self.number.start = self.number.start.saturating_sub(hashed);
        self.state = self.state.moved(hashed);
    }
}

/// The main text, or what is around it.
struct Part {
    hasher: Xxh3,
    words_bytes: u64,
    /// Hash over the numbers that are kept, and where they stand.
    numbers: u64,
}

impl Part {
    fn new() -> Self {
        Self {
            hasher: Xxh3::new(),
            words_bytes: 0,
            numbers: fnv::START,
        }
    }

    fn words(&mut self, words: &[u8]) {
        self.hasher.update(words);
        self.words_bytes += words.len() as u64;
    }

    /// Takes a number that stands so many bytes behind the words taken so far.
    fn number(&mut self, hash: u64, behind: u64) {
        let place = self.words_bytes + behind;
        self.numbers = fnv::add_u64(fnv::add_u64(self.numbers, place), hash);
    }

    fn wording(&self) -> u64 {
        self.hasher.digest()
    }

    /// The fingerprint, if there is anything.
    fn fingerprint(&self) -> Option<Fingerprint> {
        if self.numbers != fnv::START {
            Some(Fingerprint(fnv::add_u64(self.numbers, self.wording())))
        } else if self.words_bytes > 0 {
            Some(Fingerprint(self.wording()))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests;
