//! A number as it is written, and what its form says of it.
//!
//! A figure is groups of digits with one mark between two of them: `999`,
//! `1,299,000`, `15:52`, `2026-11-15`. It is read digit by digit and held as the
//! first three groups and a hash, however long it is.
//!
//! | kind | forms |
//! |---|---|
//! | date | `2026-11-15`, `2026/11/15`, `2026.11.15`, `2026. 11. 15`; `15/11/2026` and the like with `-` or `.`; `15/11/26`, `26-11-15`; `2026-11`, `2026/11`; seconds or milliseconds since 1970, of the years 2014 to 2036 |
//! | time | `15:52`, `15:52:07`, `15:52:07.123` |
//! | whole | `999`, `1,299,000` |
//! | decimal | `4.5`, `1,299.00` |
//! | other | all else: versions, addresses, telephone numbers, scores |
//!
//! What may be a version, a price or a score is none of the first two, though it
//! may be a date as well: `26.11.15`, `2026.11`, `11/15`.

use crate::fnv;

/// What the form of a figure says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Kind {
    Date,
    Time,
    /// Seconds since 1970, unless the words around it say otherwise.
    Stamp,
    Whole,
    Decimal,
    Other,
}

/// The digits of a group that its value is made of.
const VALUE_DIGITS: u32 = 10;
/// Smaller numbers are days, page numbers and counts on many pages.
const TELLING_MIN: u64 = 100;
/// Seconds since 1970 that may be a time of these years.
const UNIX_TIMES: std::ops::Range<u32> = 1_400_000_000..2_100_000_000;

#[derive(Clone, Copy, Debug)]
struct Group {
    /// Of its first digits.
    value: u32,
    digits: u32,
}

const NO_GROUP: Group = Group {
    value: 0,
    digits: 0,
};

/// A number in the making.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Figure {
    hash: u64,
    groups: [Group; 3],
    /// How many groups there are, those beyond the third too.
    count: u32,
    /// Digits of the last group.
    last_digits: u32,
    /// The first mark between two groups, and the last; 0 if there is none.
    first_joint: u8,
    last_joint: u8,
    /// The mark since the last digit; 0 if there is none.
    open_joint: u8,
    /// White space followed that mark, and any of the marks between groups.
    is_open_spaced: bool,
    is_spaced: bool,
    /// All groups after a comma have three digits.
    are_thousands: bool,
    /// All digits as one number, marks left out.
    digits_value: u64,
}

impl Figure {
    /// A figure without any digit.
    pub(crate) const fn new() -> Self {
        Self {
            hash: fnv::START,
            groups: [NO_GROUP; 3],
            count: 0,
            last_digits: 0,
            first_joint: 0,
            last_joint: 0,
            open_joint: 0,
            is_open_spaced: false,
            is_spaced: false,
            are_thousands: true,
            digits_value: 0,
        }
    }

    /// Takes digits, of which there is one at least.
    pub(crate) fn digits(&mut self, digits: &[u8]) {
        if self.open_joint != 0 || self.count == 0 {
            self.begin_group();
        }
        let room = VALUE_DIGITS.saturating_sub(self.last_digits);
        self.last_digits += digits.len() as u32;
        self.hash = digits.iter().copied().fold(self.hash, fnv::add);
        for digit in digits {
            let ten_times = self.digits_value.wrapping_mul(10);
            self.digits_value = ten_times.wrapping_add(u64::from(digit - b'0'));
        }
        if let Some(group) = self.groups.get_mut(self.count as usize - 1) {
            group.digits = self.last_digits;
            for digit in digits.iter().take(room as usize) {
                group.value = group.value.saturating_mul(10);
                group.value = group.value.saturating_add(u32::from(digit - b'0'));
            }
        }
    }

    fn begin_group(&mut self) {
        if self.count > 0 {
            self.are_thousands &= self.last_joint != b',' || self.last_digits == 3;
            self.hash = fnv::add(self.hash, self.open_joint);
            self.last_joint = self.open_joint;
            self.is_spaced |= self.is_open_spaced;
            if self.count == 1 {
                self.first_joint = self.open_joint;
            }
        }
        self.open_joint = 0;
        self.is_open_spaced = false;
        self.last_digits = 0;
        self.count = self.count.saturating_add(1);
    }

    /// Takes a mark or white space, if the figure may go on behind it.
    pub(crate) fn may_go_on(&mut self, mark: u8) -> bool {
        if self.open_joint != 0 {
            // As in `2026. 11. 15.`
            let goes_on = mark == b' ' && self.open_joint == b'.' && self.groups[0].is_year();
            self.is_open_spaced |= goes_on;
            return goes_on;
        }
        let is_joint = match (self.first_joint, mark) {
            (0, b',' | b'.' | b':' | b'/' | b'-') | (b':' | b',', b'.') => true,
            (first, mark) => first == mark,
        };
        let goes_on = is_joint && !(self.count == 3 && self.is_date());
        if goes_on {
            self.open_joint = mark;
        }
        goes_on
    }

    /// The digits as one number (`12,340` and `123.40` are 12340), if it can
    /// tell two pages of a kind apart: it has three digits or more and does
    /// not begin with a year, as dates do.
    pub(crate) fn telling(&self) -> Option<u64> {
        let is_date = self.groups[0].is_year();
        (self.digits_value >= TELLING_MIN && !is_date).then_some(self.digits_value)
    }

    /// Whether the last thing was a digit, and not a mark behind it.
    pub(crate) const fn ends_in_digit(&self) -> bool {
        self.open_joint == 0
    }

    /// Digits of the last group.
    pub(crate) const fn last_digits(&self) -> u32 {
        self.last_digits
    }

    /// Hash over digits and marks.
    pub(crate) const fn hash(&self) -> u64 {
        self.hash
    }

    /// Whether it is a single group of so many digits.
    pub(crate) const fn is_group_of(&self, digits: u32) -> bool {
        self.count == 1 && self.last_digits == digits
    }

    /// Whether it can be the year of a date.
    pub(crate) const fn is_year(&self) -> bool {
        self.count == 1 && self.groups[0].is_year()
    }

    /// What the form says.
    pub(crate) fn kind(&self) -> Kind {
        let are_thousands =
            self.are_thousands && (self.last_joint != b',' || self.last_digits == 3);
        match (self.first_joint, self.last_joint) {
            (0 | b'.', _) if self.is_unix_time() => Kind::Stamp,
            (0, _) => Kind::Whole,
            (b':', _) if self.is_time() => Kind::Time,
            (b',', b',') if are_thousands => Kind::Whole,
            (b',', b'.') if are_thousands => Kind::Decimal,
            (b'.', _) if self.count == 2 && !self.is_spaced => Kind::Decimal,
            (b'.' | b'/' | b'-', _) if self.is_date() => Kind::Date,
            _ => Kind::Other,
        }
    }

    fn is_unix_time(&self) -> bool {
        let [time, _, _] = self.groups;
        let is_of_these_years = UNIX_TIMES.contains(&time.value);
        match self.count {
            1 => is_of_these_years && matches!(time.digits, 10 | 13),
            2 => is_of_these_years && time.digits == 10,
            _ => false,
        }
    }

    fn is_time(&self) -> bool {
        let [hour, minute, second] = self.groups;
        let is_full = |group: Group| group.digits == 2 && group.value < 60;
        let is_clock = hour.digits <= 2 && hour.value <= 24 && is_full(minute);
        match self.count {
            2 => is_clock,
            3 | 4 => is_clock && is_full(second),
            _ => false,
        }
    }

    fn is_date(&self) -> bool {
        let [one, two, three] = self.groups;
        if self.count == 2 {
            let is_month = two.digits == 2 && two.is_month();
            return self.first_joint != b'.' && one.is_year() && is_month;
        }
        if self.count != 3 {
            return false;
        }
        let year_first = two.is_month() && three.is_day();
        let year_last = (one.is_day() && two.is_month()) || (one.is_month() && two.is_day());
        if one.is_year() {
            return year_first;
        }
        let has_short_year = match self.first_joint {
            b'/' => three.digits == 2,
            b'-' => [one, two, three].iter().all(|group| group.digits == 2),
            _ => false,
        };
        (three.is_year() && year_last) || (has_short_year && (year_first || year_last))
    }
}

impl Group {
    const fn is_year(self) -> bool {
        self.digits == 4 && 1900 <= self.value && self.value < 2100
    }

    const fn is_month(self) -> bool {
        self.digits <= 2 && 1 <= self.value && self.value <= 12
    }

    const fn is_day(self) -> bool {
        self.digits <= 2 && 1 <= self.value && self.value <= 31
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The kind of a text that is a figure as a whole.
    fn kind(text: &str) -> Kind {
        let mut figure = Figure::new();
        for byte in text.bytes() {
            if byte.is_ascii_digit() {
                figure.digits(&[byte]);
            } else {
                assert!(figure.may_go_on(byte), "{text} ends before its end");
            }
        }
        figure.kind()
    }

    #[test]
    fn forms_have_kinds() {
        for (form, expected) in [
            ("2026-11-15", Kind::Date),
            ("2026/1/5", Kind::Date),
            ("2026.11.15", Kind::Date),
            ("2026. 11. 15", Kind::Date),
            ("15/11/2026", Kind::Date),
            ("11/15/2026", Kind::Date),
            ("15.11.2026", Kind::Date),
            ("15/11/26", Kind::Date),
            ("26-11-15", Kind::Date),
            ("2026-11", Kind::Date),
            ("1763321536", Kind::Stamp),
            ("1763321536.12", Kind::Stamp),
            ("1763321536123", Kind::Stamp),
            ("1063321536", Kind::Whole),
            ("17633215361", Kind::Whole),
            ("8801234567893", Kind::Whole),
            ("15:52", Kind::Time),
            ("1:02", Kind::Time),
            ("15:52:07", Kind::Time),
            ("15:52:07.123", Kind::Time),
            ("0", Kind::Whole),
            ("20261115155207123456789", Kind::Whole),
            ("1,299,000", Kind::Whole),
            ("4.5", Kind::Decimal),
            ("2026.11", Kind::Decimal),
            ("1,299.00", Kind::Decimal),
            ("1,2,3", Kind::Other),
            ("1,299,00", Kind::Other),
            ("1.2.3", Kind::Other),
            ("26.11.15", Kind::Other),
            ("2026. 11", Kind::Other),
            ("2:1", Kind::Other),
            ("99:99", Kind::Other),
            ("11/15", Kind::Other),
            ("3-1", Kind::Other),
            ("2026-13-01", Kind::Other),
            ("010-1234-5678", Kind::Other),
            ("192.168.0.1", Kind::Other),
        ] {
            assert_eq!(kind(form), expected, "{form}");
        }
    }

    #[test]
    fn marks_end_what_is_whole_or_of_another_form() {
        for (figure, mark) in [
            ("2026.11.15", b'.'),
            ("2026-11-15", b'-'),
            ("10:30", b'-'),
            ("3-1", b','),
            ("5", b' '),
            ("5", b'%'),
        ] {
            let mut read = Figure::new();
            for byte in figure.bytes() {
                match byte {
                    b'0'..=b'9' => read.digits(&[byte]),
                    _ => assert!(read.may_go_on(byte)),
                }
            }
            assert!(!read.may_go_on(mark), "{figure} {}", mark as char);
        }
    }

    #[test]
    fn the_hash_is_over_digits_and_marks() {
        let hash = |text: &str| {
            let mut figure = Figure::new();
            for byte in text.bytes() {
                match byte {
                    b'0'..=b'9' => figure.digits(&[byte]),
                    _ => assert!(figure.may_go_on(byte)),
                }
            }
            figure.hash()
        };
        assert_ne!(hash("45"), hash("4.5"));
        assert_ne!(hash("4.5"), hash("4:5"));
        assert_eq!(hash("4."), hash("4"), "a full stop is none of it");
    }
}
