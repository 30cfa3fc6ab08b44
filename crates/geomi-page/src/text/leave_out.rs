//! What is left out of the fingerprint, told as the text goes by: the states of
//! the table in [`super`], character by character.

use super::VisibleText;
use crate::figure::{Figure, Kind};
use crate::fnv;
use crate::number_words::{
    After, Before, Behind, WORD_BYTES_MAX, after_number, before_number, behind_date,
};

/// Letters and digits mixed that are an id rather than a word.
const NONCE_BYTES_MIN: usize = 16;
/// `3f2504e0-4f89-41d3-9a0c-0305e82c3301`: digits and letters up to the first
/// hyphen, and in all.
const UUID_START_BYTES: u8 = 8;
const UUID_BYTES: u8 = 36;
/// Numbers of the main text that are remembered.
const FIGURES_MAX: usize = 8;
/// Measures that may follow a number before the word that decides.
const MEASURES_MAX: u32 = 2;

/// Where in the table the text is. Places are places in the buffer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum State {
    Running,
    /// In a Latin word that began with a letter and has a digit.
    Mixed {
        start: usize,
    },
    /// In what is known to be a nonce.
    Nonce,
    /// In what began as a UUID does. Of one that began with digits, those are in
    /// the number.
    Uuid {
        start: usize,
        seen: u8,
        has_number: bool,
    },
    Figure,
    AfterNumber {
        word_start: usize,
    },
    AfterDate {
        word_start: usize,
        /// The last word was a name, behind which a number is of the date.
        is_named: bool,
    },
}

impl State {
    /// The same after so many bytes were taken off the start of the buffer.
    pub(super) fn moved(mut self, bytes: usize) -> Self {
        match &mut self {
            Self::Running | Self::Nonce | Self::Figure => {}
            Self::Mixed { start: place }
            | Self::Uuid { start: place, .. }
            | Self::AfterNumber { word_start: place }
            | Self::AfterDate {
                word_start: place, ..
            } => *place = place.saturating_sub(bytes),
        }
        self
    }
}

/// What just before a number is not among the words.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Context {
    /// A date that ended in digits: a year may follow.
    Date,
    /// A date that ended in a name: more of it may follow.
    NamedDate,
    /// A currency sign.
    Price,
    /// Nothing: the words decide.
    Words,
}

/// A number that is not yet kept or left out.
#[derive(Clone, Copy, Debug)]
pub(super) struct Number {
    pub(super) figure: Figure,
    /// What its form says, once it is read.
    kind: Kind,
    context: Context,
    /// What is before it, once it is read.
    before: Before,
    /// Where it stands, or the words of its date.
    pub(super) start: usize,
    /// The word behind it is attached to it.
    is_attached: bool,
    /// It is followed by a multiplier.
    is_rounded: bool,
    measures: u32,
}

impl Number {
    pub(super) const fn none() -> Self {
        Self {
            figure: Figure::new(),
            kind: Kind::Whole,
            context: Context::Words,
            before: Before::Nothing,
            start: 0,
            is_attached: false,
            is_rounded: false,
            measures: 0,
        }
    }

    /// How many letters more the word behind it may have, of which it has `letters`,
    /// before both may be a nonce.
    pub(super) fn letters_max(&self, letters: usize) -> usize {
        let bytes = self.figure.last_digits() as usize + letters;
        (NONCE_BYTES_MIN - 1).saturating_sub(bytes)
    }

    /// Whether it can be a count: these are whole, or rounded.
    fn is_count(&self) -> bool {
        self.is_rounded || self.kind == Kind::Whole
    }
}

impl VisibleText {
    /// Takes an ASCII letter in lower case.
    pub(super) fn letter(&mut self, letter: u8) {
        match self.state {
            State::Running => self.put(letter),
            State::Mixed { .. } => self.put_mixed(letter),
            State::Nonce => self.left_out = fnv::add(self.left_out, letter),
            State::Uuid { .. } => self.put_uuid(letter),
            State::Figure => {
                self.end_figure();
                self.letter(letter);
            }
            State::AfterNumber { .. } | State::AfterDate { .. } => {
                self.put(letter);
                self.look_at_long_word();
            }
        }
    }

    /// Takes a letter beyond ASCII.
    pub(super) fn wide_letter(&mut self, letter: char) {
        match self.state {
            State::Figure => self.end_figure(),
            State::Uuid { .. } => self.give_up_uuid(),
            State::Mixed { .. } | State::Nonce => self.state = State::Running,
            State::Running | State::AfterNumber { .. } | State::AfterDate { .. } => {}
        }
        for &byte in letter.encode_utf8(&mut [0; 4]).as_bytes() {
            self.put(byte);
        }
        self.look_at_long_word();
    }

    pub(super) fn digit(&mut self, digit: u8) {
        match self.state {
            State::Running if self.is_inside_latin_word() => {
                let start = self.latin_run_start();
                self.state = State::Mixed { start };
                self.put_mixed(digit);
            }
            State::Running => self.begin_figure(digit, Context::Words),
            State::Mixed { .. } => self.put_mixed(digit),
            State::Nonce => self.left_out = fnv::add(self.left_out, digit),
            State::Uuid { .. } => self.put_uuid(digit),
            State::Figure => self.number.figure.digits(&[digit]),
            State::AfterNumber { word_start } => {
                if word_start == self.length || !self.is_inside_latin_word() {
                    self.end_word();
                    self.digit(digit);
                } else if self.number.is_attached {
                    self.put(digit);
                    self.look_at_long_word();
                } else {
                    self.settle(After::Nothing);
                    self.state = State::Running;
                    self.digit(digit);
                }
            }
            State::AfterDate { word_start, .. } => {
                if &self.buffer[word_start..self.length] == b"t" {
                    self.leave_out_from(word_start);
                } else if self.is_inside_latin_word() {
                    self.state = State::Running;
                    return self.digit(digit);
                }
                self.end_word();
                let context = match self.state {
                    State::AfterDate { is_named: true, .. } => Context::NamedDate,
                    State::AfterDate { .. } => Context::Date,
                    _ => Context::Words,
                };
                self.begin_figure(digit, context);
            }
        }
    }

    /// Takes ASCII punctuation, or a blank for any white space.
    pub(super) fn mark(&mut self, mark: u8) {
        match self.state {
            State::Mixed { start } => {
                if mark == b'-' && is_hex_of(&self.buffer[start..self.length], UUID_START_BYTES) {
                    self.begin_uuid(start, false);
                } else {
                    self.end_word();
                }
            }
            State::Uuid { .. } => self.put_uuid(mark),
            State::Figure => {
                let digits = u32::from(UUID_START_BYTES);
                let figure = &mut self.number.figure;
                if mark == b'-' && figure.is_group_of(digits) {
                    self.begin_uuid(self.length, true);
                } else if !figure.may_go_on(mark) {
                    self.end_figure();
                    self.mark(mark);
                }
            }
            State::AfterNumber { word_start } => self.mark_after_number(mark, word_start),
            State::Running | State::Nonce | State::AfterDate { .. } => self.end_word(),
        }
    }

    fn mark_after_number(&mut self, mark: u8, word_start: usize) {
        let number = &mut self.number;
        let word = &self.buffer[word_start..self.length];
        if !word.is_empty() {
            let digits = number.figure.last_digits();
            let is_uuid = mark == b'-'
                && number.is_attached
                && number.figure.is_group_of(digits)
                && digits + word.len() as u32 == u32::from(UUID_START_BYTES)
                && word.iter().all(u8::is_ascii_hexdigit);
            if is_uuid {
                self.begin_uuid(word_start, true);
            } else {
                self.end_word();
            }
        } else if mark == b' ' {
            number.is_attached = false;
        } else if matches!(mark, b'%' | b'$') && number.is_attached {
            self.settle(After::Price);
        } else {
            self.settle(After::Nothing);
        }
    }

    /// Ends what is open: what is in another block is not beside it.
    pub(super) fn end_block(&mut self) {
        match self.state {
            State::Figure => self.end_figure(),
            State::Uuid { .. } => self.give_up_uuid(),
            _ => {}
        }
        self.end_word();
        if let State::AfterNumber { .. } = self.state {
            self.settle(After::Nothing);
        }
        self.state = State::Running;
        self.end_word();
    }

    /// Ends the word, if one is open.
    fn end_word(&mut self) {
        match self.state {
            State::AfterNumber { word_start } => {
                let word = &self.buffer[word_start..self.length];
                let after = if word.is_empty() {
                    After::Nothing
                } else {
                    after_number(word, self.number.is_attached)
                };
                self.settle(after);
                if !matches!(self.state, State::AfterNumber { .. }) {
                    self.end_word();
                }
            }
            State::AfterDate { word_start, .. } if word_start < self.length => {
                let behind = behind_date(&self.buffer[word_start..self.length]);
                if behind == Behind::Nothing {
                    self.state = State::Running;
                    self.put(b' ');
                } else {
                    self.leave_out_from(word_start);
                    self.state = State::AfterDate {
                        word_start: self.length,
                        is_named: behind == Behind::DateName,
                    };
                }
            }
            State::AfterDate { .. } => {}
            _ => {
                self.state = State::Running;
                if self.ends_in_word() {
                    self.put(b' ');
                }
            }
        }
    }

    fn begin_figure(&mut self, digit: u8, context: Context) {
        self.state = State::Running;
        self.end_word();
        self.number = Number::none();
        let is_price = self.last == b'$';
        self.number.context = if is_price { Context::Price } else { context };
        self.number.figure.digits(&[digit]);
        self.state = State::Figure;
    }

    /// Decides about a figure as far as its form does.
    fn end_figure(&mut self) {
        let place = self.length;
        let words = &self.buffer[self.words_from..place];
        let number = &mut self.number;
        let figure = &number.figure;
        number.kind = figure.kind();
        number.is_attached = figure.ends_in_digit();
        number.before = match number.context {
            Context::Price => Before::Price,
            Context::NamedDate => Before::Date { start: words.len() },
            Context::Date if figure.is_year() => Before::Date { start: words.len() },
            Context::Date | Context::Words => before_number(words),
        };
        number.start = match number.before {
            Before::Date { start } => self.words_from + start,
            _ => place,
        };
        match number.kind {
            Kind::Date | Kind::Time => self.drop_of_date(place, false),
            Kind::Other => self.keep_number(place),
            Kind::Stamp | Kind::Whole | Kind::Decimal if number.before == Before::Price => {
                self.keep_number(place);
            }
            Kind::Stamp | Kind::Whole | Kind::Decimal => {
                self.state = State::AfterNumber { word_start: place };
                // A mark was between it and what follows.
                if !number.is_attached {
                    self.settle(After::Nothing);
                }
            }
        }
    }

    /// Keeps the number or leaves it out, by the words before and after it.
    fn settle(&mut self, after: After) {
        let State::AfterNumber { word_start } = self.state else {
            return;
        };
        let number = &self.number;
        let is_whole = number.kind == Kind::Whole;
        let has_own_word = number.is_attached && word_start < self.length;
        match (after, number.before) {
            (After::Measure | After::Multiplier, _) if number.measures < MEASURES_MAX => {
                self.put(b' ');
                self.number.measures += 1;
                self.number.is_attached = false;
                self.number.is_rounded |= after == After::Multiplier;
                self.state = State::AfterNumber {
                    word_start: self.length,
                };
            }
            (After::Price, _) => self.keep_number(word_start),
            (After::TimeUnit, _) => self.drop_of_date(self.length, false),
            (After::DateName, _) if is_whole => self.drop_of_date(self.length, true),
            (After::Counter, before) if number.is_count() && before != Before::Counter => {
                self.drop_number(self.length);
            }
            _ if has_own_word => self.keep_number(word_start),
            _ if number.kind == Kind::Stamp => self.drop_of_date(word_start, false),
            (_, Before::Date { .. }) if is_whole => self.drop_of_date(word_start, false),
            (_, Before::Counter) if number.is_count() => self.drop_number(word_start),
            _ => self.keep_number(word_start),
        }
    }

    /// Keeps the number, which stands there.
    fn keep_number(&mut self, place: usize) {
        let hash = self.number.figure.hash();
        self.note_figure();
        self.words_from = place;
        let unhashed = (place - self.sketched) as u64;
        self.part().number(hash, unhashed);
        self.state = State::Running;
    }

    /// Remembers a number of the main text that can tell two pages apart.
    fn note_figure(&mut self) {
        if !self.is_main || self.figures.len() == FIGURES_MAX {
            return;
        }
        if let Some(value) = self.number.figure.telling()
            && !self.figures.contains(&value)
        {
            self.figures.push(value);
        }
    }

    /// Leaves the number out, and its words up to `end`.
    fn drop_number(&mut self, end: usize) {
        self.left_out = fnv::add_u64(self.left_out, self.number.figure.hash());
        self.leave_out(self.number.start, end);
        self.state = State::Running;
    }

    /// The same for a number that is part of a date.
    fn drop_of_date(&mut self, end: usize, is_named: bool) {
        self.drop_number(end);
        self.state = State::AfterDate {
            word_start: self.number.start,
            is_named,
        };
    }

    fn leave_out_from(&mut self, start: usize) {
        self.leave_out(start, self.length);
    }

    /// Takes words back. Those before them are beside nothing that follows.
    fn leave_out(&mut self, start: usize, end: usize) {
        debug_assert!(self.sketched <= start, "it was hashed already");
        let words = &self.buffer[start..end];
        self.left_out = words.iter().copied().fold(self.left_out, fnv::add);
        self.left_out = fnv::add(self.left_out, b' ');
        self.buffer.copy_within(end..self.length, start);
        self.length -= end - start;
        self.words_from = start;
    }

    /// Takes a letter or digit of a word that has both.
    fn put_mixed(&mut self, byte: u8) {
        self.put(byte);
        let State::Mixed { start } = self.state else {
            return;
        };
        if self.length - start < NONCE_BYTES_MIN {
            return;
        }
        // What is left of a broken UUID may be digits alone.
        let last = &self.buffer[self.length - NONCE_BYTES_MIN..self.length];
        if last.iter().any(u8::is_ascii_alphabetic) {
            self.leave_out_from(start);
            self.state = State::Nonce;
        }
    }

    /// Decides about a number or date if the word behind it is too long to be
    /// known.
    fn look_at_long_word(&mut self) {
        let (State::AfterNumber { word_start } | State::AfterDate { word_start, .. }) = self.state
        else {
            return;
        };
        let word = &self.buffer[word_start..self.length];
        let is_number = matches!(self.state, State::AfterNumber { .. });
        let run = self.number.figure.last_digits() as usize + word.len();
        if is_number && self.number.is_attached && run >= NONCE_BYTES_MIN && word.is_ascii() {
            self.number.start = word_start;
            self.drop_number(self.length);
            self.state = State::Nonce;
        } else if word.len() > WORD_BYTES_MAX {
            self.settle(After::Nothing);
            self.state = State::Running;
        }
    }

    fn begin_uuid(&mut self, start: usize, has_number: bool) {
        self.state = State::Uuid {
            start,
            seen: UUID_START_BYTES + 1,
            has_number,
        };
        if start < self.length {
            self.put(b' ');
        }
    }

    /// Takes a letter, digit or mark of what may be a UUID.
    fn put_uuid(&mut self, byte: u8) {
        let State::Uuid { seen, .. } = self.state else {
            return;
        };
        let fits = match seen {
            8 | 13 | 18 | 23 => byte == b'-',
            _ => byte.is_ascii_hexdigit(),
        };
        if !fits {
            self.give_up_uuid();
            return match byte {
                b'0'..=b'9' => self.digit(byte),
                b'a'..=b'z' => self.letter(byte),
                _ => self.mark(byte),
            };
        }
        self.put(if byte == b'-' { b' ' } else { byte });
        if let State::Uuid {
            start,
            seen,
            has_number,
        } = &mut self.state
        {
            *seen += 1;
            if *seen == UUID_BYTES {
                let (start, has_number) = (*start, *has_number);
                if has_number {
                    self.number.start = start;
                    self.drop_number(self.length);
                } else {
                    self.leave_out_from(start);
                }
                self.state = State::Nonce;
            }
        }
    }

    /// It is no UUID: all of it is kept.
    fn give_up_uuid(&mut self) {
        if let State::Uuid {
            start,
            has_number: true,
            ..
        } = self.state
        {
            self.keep_number(start);
        }
        self.state = if self.is_inside_latin_word() {
            State::Mixed {
                start: self.latin_run_start(),
            }
        } else {
            State::Running
        };
    }

    /// Where the letters and digits at the end begin.
    fn latin_run_start(&self) -> usize {
        let words = &self.buffer[self.sketched..self.length];
        let other = words.iter().rposition(|byte| !byte.is_ascii_alphanumeric());
        self.sketched + other.map_or(0, |other| other + 1)
    }

    /// Whether a digit here belongs to a word. Hangul is different: `조회12` is a
    /// word and a number.
    fn is_inside_latin_word(&self) -> bool {
        self.last_byte()
            .is_some_and(|byte| byte.is_ascii_alphanumeric())
    }
}

fn is_hex_of(word: &[u8], bytes: u8) -> bool {
    word.len() == usize::from(bytes) && word.iter().all(u8::is_ascii_hexdigit)
}
