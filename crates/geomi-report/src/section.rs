//! Sections: named facts and rows, in a form every output is made from.
//!
//! A section has facts, which are single values with a name, and rows under
//! named columns. JSON, CSV and tables for people are all made of this, so they
//! cannot disagree, and a new section needs no printing of its own.

use geomi_model::Timestamp;
use serde_json::{Map, Number, json};

/// The parts of a report.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum SectionKind {
    /// What it came to in all.
    Overview,
    /// Load, accuracy, recall, success and change.
    Measures,
    /// Visits by network state.
    States,
    /// Visits by status code.
    Codes,
    /// Answers by content type.
    Types,
    /// Pages by charset.
    Charsets,
    /// Pages by links from the seed.
    Depths,
    /// Pages by the kinds of link on them.
    LinkTypes,
    /// Pages by the topic of their seed.
    Topics,
    /// Every site, the largest first.
    Sites,
    /// Sites by their mean round-trip time.
    SlowestSites,
    /// Addresses, and how many sites each has.
    Servers,
    /// The pages that took longest.
    SlowestPages,
    /// The pages with the largest bodies.
    BiggestPages,
    /// Pages visited more than once, those that change most first.
    Pages,
    /// Content that several pages have.
    Duplicates,
    /// Sites that have the same pages as another.
    Mirrors,
    /// Pages that say nearly what another said.
    NearDuplicates,
    /// Pages that came with 200 and say that they are not there.
    Soft404s,
    /// Pages that look like spam.
    Spam,
    /// robots.txt, and what was not asked for.
    Robots,
    /// Dead pages, with the pages that link to them.
    DeadLinks,
    /// The URLs of a known list that were not saved.
    Known,
}

impl SectionKind {
    /// All of them, in the order of a report.
    pub const ALL: [Self; 23] = [
        Self::Overview,
        Self::Measures,
        Self::States,
        Self::Codes,
        Self::Types,
        Self::Charsets,
        Self::Depths,
        Self::LinkTypes,
        Self::Topics,
        Self::Sites,
        Self::SlowestSites,
        Self::Servers,
        Self::SlowestPages,
        Self::BiggestPages,
        Self::Pages,
        Self::Duplicates,
        Self::Mirrors,
        Self::NearDuplicates,
        Self::Soft404s,
        Self::Spam,
        Self::Robots,
        Self::DeadLinks,
        Self::Known,
    ];

    /// Its name in JSON and on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Overview => "overview",
            Self::Measures => "measures",
            Self::States => "states",
            Self::Codes => "codes",
            Self::Types => "types",
            Self::Charsets => "charsets",
            Self::Depths => "depths",
            Self::LinkTypes => "link_types",
            Self::Topics => "topics",
            Self::Sites => "sites",
            Self::SlowestSites => "slowest_sites",
            Self::Servers => "servers",
            Self::SlowestPages => "slowest_pages",
            Self::BiggestPages => "biggest_pages",
            Self::Pages => "pages",
            Self::Duplicates => "duplicates",
            Self::Mirrors => "mirrors",
            Self::NearDuplicates => "near_duplicates",
            Self::Soft404s => "soft_404s",
            Self::Spam => "spam",
            Self::Robots => "robots",
            Self::DeadLinks => "dead_links",
            Self::Known => "known",
        }
    }

    /// Reads a name; `-` does for `_`.
    pub fn from_name(name: &str) -> Option<Self> {
        let name = name.trim().replace('-', "_");
        Self::ALL.into_iter().find(|kind| kind.as_str() == name)
    }
}

/// One part of a report.
#[derive(Clone, PartialEq, Debug)]
pub struct Section {
    /// Which one it is.
    pub kind: SectionKind,
    /// Single values.
    pub facts: Vec<(&'static str, Value)>,
    /// Names of the columns; none where the section has facts only.
    pub columns: &'static [&'static str],
    /// A value for each column, row by row.
    pub rows: Vec<Vec<Value>>,
    /// How many rows there would be without a bound.
    pub rows_in_all: u64,
}

impl Section {
    /// A section of facts.
    pub(crate) fn facts(kind: SectionKind, facts: Vec<(&'static str, Value)>) -> Self {
        Self {
            kind,
            facts,
            columns: &[],
            rows: Vec::new(),
            rows_in_all: 0,
        }
    }

    /// A section of rows, of which `top` are shown.
    pub(crate) fn rows(
        kind: SectionKind,
        columns: &'static [&'static str],
        mut rows: Vec<Vec<Value>>,
        top: Option<usize>,
    ) -> Self {
        debug_assert!(
            rows.iter().all(|row| row.len() == columns.len()),
            "a row has a value for each column"
        );
        let rows_in_all = rows.len() as u64;
        rows.truncate(top.unwrap_or(usize::MAX));
        Self {
            kind,
            facts: Vec::new(),
            columns,
            rows,
            rows_in_all,
        }
    }

    /// With facts as well.
    #[must_use]
    pub(crate) fn with(mut self, facts: Vec<(&'static str, Value)>) -> Self {
        self.facts = facts;
        self
    }

    /// Facts by their names, `rows` as objects, and `rows_in_all`.
    pub fn to_json(&self) -> serde_json::Value {
        let mut object = Map::new();
        for (name, value) in &self.facts {
            object.insert((*name).to_owned(), value.to_json());
        }
        if !self.columns.is_empty() {
            let rows = self.rows.iter().map(|row| {
                let cells = self.columns.iter().zip(row);
                let cells = cells.map(|(name, value)| ((*name).to_owned(), value.to_json()));
                serde_json::Value::Object(cells.collect())
            });
            object.insert("rows".to_owned(), rows.collect());
            object.insert("rows_in_all".to_owned(), json!(self.rows_in_all));
        }
        serde_json::Value::Object(object)
    }
}

/// One value, with what it is a number of.
#[derive(Clone, PartialEq, Debug)]
pub enum Value {
    /// There is none, or it is not defined.
    Nothing,
    /// So many.
    Count(u64),
    /// A status code: a number, but not of anything.
    Code(u16),
    /// Bytes.
    Bytes(u64),
    /// A part of a whole, from 0 to 1.
    Share(f64),
    /// A ratio that may be more than 1.
    Ratio(f64),
    /// Seconds.
    Seconds(f64),
    /// A moment.
    Moment(Timestamp),
    /// Words, a name or a URL.
    Text(String),
    /// Several of them.
    Texts(Vec<String>),
}

impl Value {
    /// A part of a whole; nothing of nothing is not defined.
    pub(crate) fn share(part: u64, whole: u64) -> Self {
        if whole == 0 {
            return Self::Nothing;
        }
        Self::Share(part as f64 / whole as f64)
    }

    /// Text, where there is some.
    pub(crate) fn text(text: Option<impl ToString>) -> Self {
        text.map_or(Self::Nothing, |text| Self::Text(text.to_string()))
    }

    /// A status code, where there is one.
    pub(crate) fn code(code: Option<u16>) -> Self {
        code.map_or(Self::Nothing, Self::Code)
    }

    /// Whether it is a number, which tables set to the right.
    pub const fn is_number(&self) -> bool {
        matches!(
            self,
            Self::Count(_)
                | Self::Code(_)
                | Self::Bytes(_)
                | Self::Share(_)
                | Self::Ratio(_)
                | Self::Seconds(_)
        )
    }

    /// Numbers as numbers in base units, moments as RFC 3339.
    pub fn to_json(&self) -> serde_json::Value {
        match self {
            Self::Nothing => serde_json::Value::Null,
            Self::Count(number) | Self::Bytes(number) => json!(number),
            Self::Code(code) => json!(code),
            // A number that is not finite has no JSON; it is not defined.
            Self::Share(number) | Self::Ratio(number) | Self::Seconds(number) => {
                Number::from_f64(*number).map_or(serde_json::Value::Null, Into::into)
            }
            Self::Moment(time) => json!(time.to_rfc3339_millis()),
            Self::Text(text) => json!(text),
            Self::Texts(texts) => json!(texts),
        }
    }

    /// As in JSON, without quotes; several texts with a space between, which
    /// no URL has.
    pub fn to_plain(&self) -> String {
        match self {
            Self::Nothing => String::new(),
            Self::Count(number) | Self::Bytes(number) => number.to_string(),
            Self::Code(code) => code.to_string(),
            Self::Share(number) | Self::Ratio(number) | Self::Seconds(number) => number.to_string(),
            Self::Moment(time) => time.to_rfc3339_millis(),
            Self::Text(text) => text.clone(),
            Self::Texts(texts) => texts.join(" "),
        }
    }
}

impl From<u64> for Value {
    fn from(count: u64) -> Self {
        Self::Count(count)
    }
}

impl From<&str> for Value {
    fn from(text: &str) -> Self {
        Self::Text(text.to_owned())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back_with_either_dash() {
        for kind in SectionKind::ALL {
            assert_eq!(SectionKind::from_name(kind.as_str()), Some(kind));
            let dashed = kind.as_str().replace('_', "-");
            assert_eq!(SectionKind::from_name(&dashed), Some(kind));
        }
        assert_eq!(SectionKind::from_name("dead"), None);
    }

    #[test]
    fn json_has_facts_rows_and_how_many_there_are() {
        let rows = (1..=3).map(|n| vec![Value::Count(n), Value::share(n, 4)]);
        let section = Section::rows(
            SectionKind::States,
            &["visits", "share"],
            rows.collect(),
            Some(2),
        )
        .with(vec![("undefined", Value::share(0, 0))]);
        let expected = json!({
            "undefined": null,
            "rows": [{"visits": 1, "share": 0.25}, {"visits": 2, "share": 0.5}],
            "rows_in_all": 3,
        });
        assert_eq!(section.to_json(), expected);
    }

    #[test]
    fn what_is_not_finite_is_not_a_number() {
        assert_eq!(Value::Ratio(f64::NAN).to_json(), serde_json::Value::Null);
    }
}
