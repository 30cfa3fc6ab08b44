//! Sections for people: facts side by side, rows as aligned tables.
//!
//! Numbers stand to the right with thousands apart; text that is twice as wide
//! on a terminal, as Korean is, counts twice. A URL may be longer than any
//! line, so it comes last in its row and is never padded. Several texts of one
//! row (the pages that link to a dead one) follow it, a line each.

use std::fmt::Write as _;
use std::time::Duration;

use geomi_report::{Report, Section, SectionKind, Value};

use crate::{table, words};

/// Columns whose values may be long.
const LAST: [&str; 2] = ["url", "first_url"];

/// Texts told under a row while there are other sections to read.
const TEXTS_SHOWN: usize = 5;

/// The whole report.
pub(super) fn report(report: &Report) -> String {
    let texts_max = match report.sections.len() {
        1 => usize::MAX,
        _ => TEXTS_SHOWN,
    };
    let sections = report.sections.iter();
    let sections = sections.map(|part| section(part, texts_max));
    sections.collect::<Vec<_>>().join("\n")
}

/// Whether a section of dead links tells all the pages that link to them.
pub(super) fn is_reread(section: &Section) -> bool {
    let mut facts = section.facts.iter();
    facts.any(|(name, value)| *name == "pages_read_again" && *value != Value::Nothing)
}

fn section(section: &Section, texts_max: usize) -> String {
    let mut text = format!("{}\n", heading(section));
    let names = section.facts.iter().map(|(name, _)| name.len());
    let width = names.max().unwrap_or(0);
    for (name, value) in &section.facts {
        put(
            &mut text,
            format_args!("  {:width$}  {}", plain(name), cell(value)),
        );
    }
    if !section.rows.is_empty() {
        text.push_str(&rows(section, texts_max));
    } else if section.facts.is_empty() {
        put(&mut text, format_args!("  none"));
    }
    text
}

fn put(text: &mut String, line: std::fmt::Arguments<'_>) {
    writeln!(text, "{}", line.to_string().trim_end()).expect("a string takes everything");
}

fn heading(section: &Section) -> String {
    let title = match section.kind {
        SectionKind::Overview => "Overview",
        SectionKind::Measures => "Measures",
        SectionKind::States => "Network states",
        SectionKind::Codes => "Status codes",
        SectionKind::Types => "Content types",
        SectionKind::Charsets => "Charsets",
        SectionKind::Depths => "Depth",
        SectionKind::LinkTypes => "Link types",
        SectionKind::Topics => "Topics",
        SectionKind::Sites => "Sites",
        SectionKind::SlowestSites => "Slowest sites",
        SectionKind::Servers => "Servers",
        SectionKind::SlowestPages => "Slowest pages",
        SectionKind::BiggestPages => "Biggest pages",
        SectionKind::Pages => "Pages visited again",
        SectionKind::Duplicates => "Duplicates",
        SectionKind::Mirrors => "Mirrors",
        SectionKind::NearDuplicates => "Near-duplicates",
        SectionKind::Soft404s => "Soft 404s",
        SectionKind::Spam => "Spam",
        SectionKind::Robots => "Robots",
        SectionKind::DeadLinks => "Dead links",
        SectionKind::Known => "Known URLs not saved",
    };
    let (shown, all) = (section.rows.len() as u64, section.rows_in_all);
    if shown < all {
        let (shown, all) = (words::count(shown), words::count(all));
        return format!("{title} ({shown} of {all}; --top 0 tells all)");
    }
    title.to_owned()
}

/// `body_bytes` as `body bytes`, and a duration without its unit, which the
/// value shows.
fn plain(name: &str) -> String {
    name.strip_suffix("_s").unwrap_or(name).replace('_', " ")
}

/// A table: which columns, in which order, how wide.
fn rows(section: &Section, texts_max: usize) -> String {
    let mut order: Vec<usize> = (0..section.columns.len()).collect();
    let is_list = |at: usize| {
        section
            .rows
            .iter()
            .any(|row| matches!(row[at], Value::Texts(_)))
    };
    order.retain(|at| !is_list(*at));
    order.sort_by_key(|at| LAST.contains(&section.columns[*at]));
    let mut lines = vec![order.iter().map(|at| plain(section.columns[*at])).collect()];
    for row in &section.rows {
        lines.push(order.iter().map(|at| cell(&row[*at])).collect::<Vec<_>>());
    }
    let is_text = |value: &Value| !value.is_number() && *value != Value::Nothing;
    let is_right = |at: usize| !section.rows.iter().any(|row| is_text(&row[at]));
    let columns = table::columns(&lines, |place| is_right(order[place]));
    let mut text = String::new();
    for (number, line) in lines.iter().enumerate() {
        put(
            &mut text,
            format_args!("  {}", table::aligned(line, &columns)),
        );
        let row = number.checked_sub(1).and_then(|at| section.rows.get(at));
        for value in row.into_iter().flatten() {
            put_texts(&mut text, value, texts_max);
        }
    }
    text
}

/// The texts of a row, a line each.
fn put_texts(text: &mut String, value: &Value, texts_max: usize) {
    let Value::Texts(texts) = value else { return };
    for linking in texts.iter().take(texts_max) {
        put(text, format_args!("      <- {linking}"));
    }
    if texts.len() > texts_max {
        put(text, format_args!("      <- and more"));
    }
}

fn cell(value: &Value) -> String {
    match value {
        Value::Nothing => "-".to_owned(),
        Value::Count(count) => words::count(*count),
        Value::Code(code) => code.to_string(),
        Value::Bytes(bytes) => words::bytes(*bytes as f64),
        Value::Share(share) => format!("{:.1} %", share * 100.0),
        Value::Ratio(ratio) if *ratio >= 1_000.0 => words::count(ratio.round() as u64),
        Value::Ratio(ratio) => format!("{ratio:.2}"),
        Value::Seconds(seconds) => span(*seconds),
        Value::Moment(time) => time.to_rfc3339_secs(),
        Value::Text(text) => text.clone(),
        Value::Texts(texts) => texts.join(" "),
    }
}

/// Below a second, milliseconds with a decimal: on a near network, round-trip
/// times differ in no more.
fn span(seconds: f64) -> String {
    if (0.0..1.0).contains(&seconds) {
        return format!("{:.1}ms", seconds * 1e3);
    }
    words::span(Duration::from_secs_f64(seconds.max(0.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_stand_right_and_wide_text_counts_twice() {
        let section = Section {
            kind: SectionKind::Topics,
            facts: vec![("span_s", Value::Seconds(0.5))],
            columns: &["url", "topic", "pages", "share"],
            rows: vec![
                vec![
                    Value::Text("http://a.test/".into()),
                    Value::Text("뉴스".into()),
                    Value::Count(12_345),
                    Value::Share(0.5),
                ],
                vec![
                    Value::Text("http://b.test/".into()),
                    Value::Text("x".into()),
                    Value::Count(7),
                    Value::Nothing,
                ],
            ],
            rows_in_all: 3,
        };
        let expected = "\
Topics (2 of 3; --top 0 tells all)
  span    500.0ms
  topic   pages   share  url
  뉴스   12,345  50.0 %  http://a.test/
  x           7       -  http://b.test/
";
        assert_eq!(super::section(&section, 1), expected);
    }

    #[test]
    fn linking_pages_follow_their_row() {
        let section = Section {
            kind: SectionKind::DeadLinks,
            facts: Vec::new(),
            columns: &["url", "linked_from"],
            rows: vec![vec![
                Value::Text("http://a.test/gone".into()),
                Value::Texts(vec!["http://a.test/".into(), "http://b.test/".into()]),
            ]],
            rows_in_all: 1,
        };
        let expected = "\
Dead links
  url
  http://a.test/gone
      <- http://a.test/
      <- http://b.test/
";
        assert_eq!(super::section(&section, 2), expected);
        let less = super::section(&section, 1);
        assert!(
            less.ends_with("<- http://a.test/\n      <- and more\n"),
            "{less}"
        );
    }
}
