//! What a crawl came to, a section at a time.

use axum::extract::State;
use axum::response::Response;
use geomi_report::{Section, SectionKind, Value};
use maud::{Markup, html};
use serde::Deserialize;

use super::crawl::{self, Tab};
use super::layout::View;
use super::{format, reach};
use crate::api::report::sections;
use crate::app::App;
use crate::http::extract::{Path, Query};
use crate::http::problem::Problem;
use crate::words::{Words, look_up, translate};
use crate::wrong::Wrong;

/// Rows of a table.
const ROWS: usize = 100;
/// Linking pages of a dead link that are in sight.
const LINKING_SHOWN: usize = 3;
/// Linking pages of a dead link that are listed at all.
const LINKING_LISTED: usize = 25;
/// Columns of addresses, which are long and may break anywhere.
const ADDRESSES: [&str; 4] = ["url", "first_url", "near_to", "linked_from"];
/// Facts whose values are words.
const WORDS: [&str; 3] = ["state", "reason", "wanted_by"];
/// Columns of sentences, which break between words.
const SENTENCES: [&str; 2] = ["error", "title"];

/// Which section.
#[derive(Debug, Default, Deserialize)]
pub(crate) struct Which {
    section: Option<String>,
}

/// Shows a section.
pub(crate) async fn show(
    State(app): State<App>,
    view: View,
    Path(id): Path<String>,
    Query(which): Query<Which>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let kind = which
        .section
        .as_deref()
        .map_or(Some(SectionKind::Overview), SectionKind::from_name);
    let kind = kind.filter(|kind| *kind != SectionKind::Known);
    let kind = kind.ok_or_else(|| Problem::not_found(Wrong::NoSection))?;
    let made = sections(&app, &crawl, vec![kind], ROWS).await?;
    let reach = reach::find(&app, &crawl).await?;
    let words = view.words;
    let none = reach::no_rows(words, &crawl, reach);
    let content = html! {
        p.lead { (words.report_lead) }
        (reach::note(words, &crawl, reach))
        div.report {
            nav.side aria-label=(words.section) {
                @for one in SectionKind::ALL {
                    @if one != SectionKind::Known {
                        a href={ "/crawls/" (crawl.id) "/report?section=" (one.as_str()) } aria-current=[(one == kind).then_some("true")] {
                            (look_up(words.sections, one.as_str()))
                        }
                    }
                }
            }
            div { @for section in made.iter() { (section_of(section, words, &none)) } }
        }
    };
    Ok(super::html(crawl::page(
        &view,
        &crawl,
        Tab::Report,
        &content,
    )))
}

/// A section; `none` stands for rows where there are none.
fn section_of(section: &Section, words: &Words, none: &Markup) -> Markup {
    let title = look_up(words.sections, section.kind.as_str());
    html! {
        section.card {
            h2 { (title) }
            @if !section.facts.is_empty() {
                dl.facts { @for (name, value) in &section.facts { dt { (look_up(words.columns, name)) } dd { (fact(name, value, words)) } } }
            }
            @if !section.columns.is_empty() {
                @if section.rows.is_empty() { (none) } @else {
                    div.scroll tabindex="0" role="region" aria-label=(title) {
                        table.list {
                            thead { tr { @for (at, column) in section.columns.iter().enumerate() {
                                th.num[is_number(section, at)] scope="col" { (look_up(words.columns, column)) }
                            } } }
                            tbody { @for row in &section.rows {
                                tr { @for (at, value) in row.iter().enumerate() {
                                    td class=(kind(section.columns[at], value)) {
                                        @if let Value::Texts(texts) = value { (listed(texts, linking(section, row, texts.len()), words)) }
                                        @else { (cell(value, words)) }
                                    }
                                } }
                            } }
                        }
                    }
                    p.muted { (format::rows(words, section.rows.len(), section.rows_in_all)) }
                }
            }
        }
    }
}

fn is_number(section: &Section, at: usize) -> bool {
    section.rows.first().is_some_and(|row| is_numeric(&row[at]))
}

const fn is_numeric(value: &Value) -> bool {
    !matches!(value, Value::Text(_) | Value::Texts(_) | Value::Moment(_))
}

/// How a cell is set: numbers to the right, addresses and sentences in several
/// lines, all else in one.
fn kind(column: &str, value: &Value) -> &'static str {
    match column {
        _ if is_numeric(value) => "num",
        column if ADDRESSES.contains(&column) => "url",
        column if SENTENCES.contains(&column) => "sentence",
        _ => "",
    }
}

/// How many pages link to the dead one of a row: more than are named, maybe.
fn linking(section: &Section, row: &[Value], named: usize) -> usize {
    let mut cells = section.columns.iter().zip(row);
    let count = cells.find(|(column, _)| **column == "linking_pages");
    match count {
        Some((_, Value::Count(count))) => named.max(*count as usize),
        _ => named,
    }
}

/// The first few texts, some more to unfold, and how many there are beyond.
fn listed(texts: &[String], in_all: usize, words: &Words) -> Markup {
    let more = |beyond: usize| format::counted(words.and_more, beyond as u64);
    let listed = &texts[..texts.len().min(LINKING_LISTED)];
    let (shown, folded) = listed.split_at(listed.len().min(LINKING_SHOWN));
    let beyond = in_all.saturating_sub(listed.len());
    html! {
        (lines(shown))
        @if !folded.is_empty() {
            details {
                summary { (more(folded.len() + beyond)) }
                (lines(folded))
                @if beyond > 0 { span.line.muted { (more(beyond)) } }
            }
        } @else if beyond > 0 {
            span.line.muted { (more(beyond)) }
        }
    }
}

fn lines(texts: &[String]) -> Markup {
    html! { @for text in texts { span.line { (text) } } }
}

/// The value of a fact; some are words of ours, not of the web.
fn fact(name: &str, value: &Value, words: &Words) -> Markup {
    match value {
        Value::Text(text) if WORDS.contains(&name) => html! { (translate(words.values, text)) },
        value => cell(value, words),
    }
}

/// A value, as people read it.
fn cell(value: &Value, words: &Words) -> Markup {
    html! {
        @match value {
            Value::Nothing => span.muted { "–" },
            Value::Count(number) => (format::count(*number)),
            Value::Bytes(number) => (format::bytes(*number as f64)),
            Value::Code(code) => (code),
            Value::Share(share) => (format::share(*share)),
            Value::Ratio(ratio) => (format!("{ratio:.3}")),
            Value::Seconds(seconds) if *seconds < 60.0 => (format!("{seconds:.3} s")),
            Value::Seconds(seconds) => (format::span(*seconds, words)),
            Value::Moment(time) => (format::moment(&time.to_rfc3339_secs())),
            Value::Text(text) => (text),
            Value::Texts(texts) => (lines(texts)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::words::Language;

    fn dead(named: usize, in_all: u64) -> Section {
        let pages = (0..named).map(|page| format!("http://a.test/{page}"));
        Section {
            kind: SectionKind::DeadLinks,
            facts: Vec::new(),
            columns: &["url", "linking_pages", "linked_from"],
            rows: vec![vec![
                Value::Text("http://a.test/dead".to_owned()),
                Value::Count(in_all),
                Value::Texts(pages.collect()),
            ]],
            rows_in_all: 1,
        }
    }

    #[test]
    fn a_dead_link_names_a_few_pages_and_counts_the_others() {
        let page = |section: &Section, language: Language| {
            section_of(section, language.words(), &html! {}).into_string()
        };
        let few = page(&dead(3, 3), Language::English);
        assert_eq!(few.matches("class=\"line\"").count(), 3);
        assert!(!few.contains("more") && !few.contains("<details>"), "{few}");
        let many = page(&dead(100, 1_728), Language::English);
        assert_eq!(many.matches("class=\"line\"").count(), LINKING_LISTED);
        assert!(many.contains("<summary>and 1,725 more</summary>"), "{many}");
        assert!(many.contains("and 1,703 more"), "{many}");
        let korean = page(&dead(100, 1_728), Language::Korean);
        assert!(korean.contains("<summary>외 1,725개</summary>"), "{korean}");
    }

    #[test]
    fn only_addresses_are_wide() {
        let text = Value::Text("OK".to_owned());
        assert_eq!(kind("url", &text), "url");
        assert_eq!(kind("state", &text), "");
        assert_eq!(kind("error", &text), "sentence");
        assert_eq!(kind("code", &Value::Code(404)), "num");
    }
}
