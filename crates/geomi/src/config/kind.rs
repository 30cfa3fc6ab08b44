//! What a key's value may look like, and where it goes.
//!
//! A [`Kind`] reads a [`Raw`] value, as it stood in a file or was typed, into a
//! [`Value`]; a value can be written back as TOML and put into the [`Draft`].

use std::time::Duration;

use super::draft::Draft;
use super::units::{parse_duration, parse_size, write_duration, write_size};

/// A value before anybody knows what it is for.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Raw {
    /// A truth value of TOML.
    Bool(bool),
    /// A number of TOML.
    Integer(i64),
    /// A string of TOML.
    Text(String),
    /// An array of strings, or a flag that was repeated.
    List(Vec<String>),
    /// Text from a flag, a variable or `--set`, which has no types.
    Typed(String),
    /// Something no key takes, by its name in TOML.
    Other(&'static str),
}

/// A value that its key accepts.
#[derive(Clone, PartialEq, Debug)]
pub(crate) enum Value {
    /// A number of things.
    Count(u64),
    /// A span of time.
    Duration(Duration),
    /// A number of bytes.
    Size(u64),
    /// Words.
    Text(String),
    /// Yes or no.
    Flag(bool),
    /// Any number of words.
    List(Vec<String>),
    /// Said to be unset.
    None,
}

type Checked = Result<(), String>;

/// The kind of a key: what it accepts and the setter that takes it.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    /// A number between two bounds, both included.
    Count(u64, u64, fn(&mut Draft, u64)),
    /// The same, or unset.
    MaybeCount(u64, u64, fn(&mut Draft, Option<u64>)),
    /// A span of time.
    Duration(fn(&mut Draft, Duration)),
    /// The same, but not zero.
    Timeout(fn(&mut Draft, Duration)),
    /// The same, but no shorter than this.
    Period(Duration, fn(&mut Draft, Duration)),
    /// A span of time, or unset.
    MaybeDuration(fn(&mut Draft, Option<Duration>)),
    /// A span of time, or the word `adaptive` (`None`).
    Delay(fn(&mut Draft, Option<Duration>)),
    /// A number of bytes of at least this many.
    Size(u64, fn(&mut Draft, u64)),
    /// A number of bytes, or unset.
    MaybeSize(fn(&mut Draft, Option<u64>)),
    /// Words the setter may refuse.
    Text(fn(&mut Draft, &str) -> Checked),
    /// The same, or unset.
    MaybeText(fn(&mut Draft, &str) -> Checked),
    /// One of these words, by its place.
    Choice(&'static [&'static str], fn(&mut Draft, usize)),
    /// One of these words by its place, or unset.
    MaybeChoice(&'static [&'static str], fn(&mut Draft, usize)),
    /// Yes or no.
    Flag(fn(&mut Draft, bool)),
    /// Words, each of which the setter may refuse.
    List(fn(&mut Draft, &str) -> Checked),
    /// Words nobody objects to at once, and where they are kept.
    Words(fn(&mut Draft) -> &mut Vec<String>),
    /// The same, and one of them may stand without a list.
    OneOrMore(fn(&mut Draft) -> &mut Vec<String>),
}

impl Kind {
    /// Whether a key of this kind may have no value.
    pub(crate) fn is_optional(self) -> bool {
        matches!(
            self,
            Self::MaybeCount(..)
                | Self::MaybeDuration(_)
                | Self::MaybeSize(_)
                | Self::MaybeText(_)
                | Self::MaybeChoice(..)
        )
    }

    /// What a value of this kind is called in a message.
    pub(crate) fn noun(self) -> &'static str {
        match self {
            Self::Count(..) | Self::MaybeCount(..) => "a whole number",
            Self::Duration(_) | Self::Timeout(_) | Self::Period(..) | Self::MaybeDuration(_) => {
                "a duration such as \"30s\""
            }
            Self::Delay(_) => "a duration such as \"2s\", or \"adaptive\"",
            Self::Size(..) | Self::MaybeSize(_) => "a size such as \"8MiB\"",
            Self::Text(_) | Self::MaybeText(_) | Self::Choice(..) | Self::MaybeChoice(..) => {
                "a string"
            }
            Self::Flag(_) => "true or false",
            Self::List(_) | Self::Words(_) => "a list of strings",
            Self::OneOrMore(_) => "a string or a list of strings",
        }
    }

    /// Reads a value, or says what is wrong with it and how to write it.
    pub(crate) fn read(self, raw: &Raw) -> Result<Value, String> {
        if self.is_optional() && matches!(raw, Raw::Text(word) | Raw::Typed(word) if word == "none")
        {
            return Ok(Value::None);
        }
        match (self, raw) {
            (Self::Count(least, most, _) | Self::MaybeCount(least, most, _), raw) => {
                let count = self.read_count(raw)?;
                if (least..=most).contains(&count) {
                    return Ok(Value::Count(count));
                }
                Err(format!("{count} is out of range: give {least} to {most}"))
            }
            (Self::Delay(_), Raw::Text(word) | Raw::Typed(word)) if word == "adaptive" => {
                Ok(Value::Text(word.clone()))
            }
            (
                Self::Duration(_)
                | Self::Timeout(_)
                | Self::Period(..)
                | Self::MaybeDuration(_)
                | Self::Delay(_),
                raw,
            ) => {
                let span = parse_duration(&self.words(raw)?)?;
                match self {
                    Self::Timeout(_) if span.is_zero() => {
                        Err("it must be more than zero".to_owned())
                    }
                    Self::Period(least, _) if span < least => Err(format!(
                        "{} is too short: give at least {}",
                        write_duration(span),
                        write_duration(least)
                    )),
                    _ => Ok(Value::Duration(span)),
                }
            }
            (Self::Size(..) | Self::MaybeSize(_), raw) => {
                let size = parse_size(&self.words(raw)?)?;
                match self {
                    Self::Size(least, _) if size < least => Err(format!(
                        "{} is too small: give at least {}",
                        write_size(size),
                        write_size(least)
                    )),
                    _ => Ok(Value::Size(size)),
                }
            }
            (
                Self::Choice(words, _) | Self::MaybeChoice(words, _),
                Raw::Text(word) | Raw::Typed(word),
            ) => {
                if words.contains(&word.as_str()) {
                    return Ok(Value::Text(word.clone()));
                }
                Err(no_such_word(word, words))
            }
            (Self::Text(_) | Self::MaybeText(_), Raw::Text(words) | Raw::Typed(words)) => {
                Ok(Value::Text(words.clone()))
            }
            (Self::Flag(_), Raw::Bool(flag)) => Ok(Value::Flag(*flag)),
            (Self::Flag(_), Raw::Typed(word)) => match word.as_str() {
                "true" | "1" | "yes" => Ok(Value::Flag(true)),
                "false" | "0" | "no" => Ok(Value::Flag(false)),
                _ => Err(format!("{word:?} is neither true nor false")),
            },
            (Self::List(_) | Self::Words(_) | Self::OneOrMore(_), Raw::List(list)) => {
                Ok(Value::List(list.clone()))
            }
            (Self::List(_) | Self::Words(_), Raw::Typed(word))
            | (Self::OneOrMore(_), Raw::Typed(word) | Raw::Text(word)) => {
                Ok(Value::List(vec![word.clone()]))
            }
            (kind, raw) => Err(format!("{} is not {}", raw.show(), kind.noun())),
        }
    }

    fn read_count(self, raw: &Raw) -> Result<u64, String> {
        let wrong = || format!("{} is not {}", raw.show(), self.noun());
        match raw {
            Raw::Integer(number) => u64::try_from(*number).map_err(|_| wrong()),
            Raw::Typed(text) => text.replace('_', "").parse().map_err(|_| wrong()),
            _ => Err(wrong()),
        }
    }

    /// The text of a value with a unit; a bare number goes on to be refused
    /// with the remedy.
    fn words(self, raw: &Raw) -> Result<String, String> {
        match raw {
            Raw::Text(text) | Raw::Typed(text) => Ok(text.clone()),
            Raw::Integer(number) => Ok(number.to_string()),
            _ => Err(format!("{} is not {}", raw.show(), self.noun())),
        }
    }

    /// Puts a value where it belongs; the setter may find fault with it.
    pub(crate) fn apply(self, value: &Value, draft: &mut Draft) -> Vec<String> {
        match (self, value) {
            (Self::Text(set) | Self::MaybeText(set), Value::Text(words)) => {
                return set(draft, words).err().into_iter().collect();
            }
            (Self::List(set), Value::List(list)) => {
                let faults = list.iter().filter_map(|word| set(draft, word).err());
                return faults.collect();
            }
            (Self::Words(place) | Self::OneOrMore(place), Value::List(list)) => {
                place(draft).clone_from(list);
            }
            (Self::Count(_, _, set), Value::Count(count)) => set(draft, *count),
            (Self::MaybeCount(_, _, set), Value::Count(count)) => set(draft, Some(*count)),
            (Self::MaybeCount(_, _, set), Value::None) => set(draft, None),
            (
                Self::Duration(set) | Self::Timeout(set) | Self::Period(_, set),
                Value::Duration(span),
            ) => set(draft, *span),
            (Self::MaybeDuration(set) | Self::Delay(set), Value::Duration(span)) => {
                set(draft, Some(*span));
            }
            (Self::MaybeDuration(set), Value::None) | (Self::Delay(set), Value::Text(_)) => {
                set(draft, None);
            }
            (Self::Size(_, set), Value::Size(size)) => set(draft, *size),
            (Self::MaybeSize(set), Value::Size(size)) => set(draft, Some(*size)),
            (Self::MaybeSize(set), Value::None) => set(draft, None),
            (Self::MaybeText(_) | Self::MaybeChoice(..), Value::None) => {}
            (Self::Choice(words, set) | Self::MaybeChoice(words, set), Value::Text(word)) => {
                let place = words.iter().position(|known| known == word);
                set(draft, place.expect("the word was checked when read"));
            }
            (Self::Flag(set), Value::Flag(flag)) => set(draft, *flag),
            (kind, value) => unreachable!("{kind:?} does not read {value:?}"),
        }
        Vec::new()
    }
}

/// What to say of a word that is none of these.
fn no_such_word(word: &str, words: &[&str]) -> String {
    let closeness = |known: &&&str| strsim::jaro_winkler(known, word);
    let closest = words
        .iter()
        .max_by(|a, b| closeness(a).total_cmp(&closeness(b)));
    let hint = closest
        .filter(|known| closeness(known) > 0.8)
        .map_or(String::new(), |known| format!("; did you mean {known:?}?"));
    format!("{word:?} is not one of {}{hint}", words.join(", "))
}

impl Raw {
    /// The value as a person wrote it.
    fn show(&self) -> String {
        match self {
            Self::Bool(flag) => flag.to_string(),
            Self::Integer(number) => number.to_string(),
            Self::Text(text) | Self::Typed(text) => format!("{text:?}"),
            Self::List(list) => format!("{list:?}"),
            Self::Other(name) => format!("a {name}"),
        }
    }
}

impl Value {
    /// The value as it stands in geomi.toml; `None` where it is unset.
    pub(crate) fn to_toml(&self) -> Option<String> {
        let quoted = |text: &str| toml_edit::Value::from(text).to_string();
        Some(match self {
            Self::None => return None,
            Self::Count(count) => count.to_string(),
            Self::Flag(flag) => flag.to_string(),
            Self::Duration(span) => quoted(&write_duration(*span)),
            Self::Size(bytes) => quoted(&write_size(*bytes)),
            Self::Text(text) => quoted(text),
            Self::List(list) => {
                let list: Vec<String> = list.iter().map(|text| quoted(text)).collect();
                format!("[{}]", list.join(", "))
            }
        })
    }
}
