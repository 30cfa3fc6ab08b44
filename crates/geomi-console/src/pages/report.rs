//! What a crawl came to, a section at a time.

use axum::extract::State;
use axum::response::Response;
use geomi_report::{Section, SectionKind, Value};
use maud::{Markup, html};
use serde::Deserialize;

use super::crawl::{self, Tab};
use super::format;
use super::layout::{View, empty};
use crate::api::report::sections;
use crate::app::App;
use crate::http::extract::{Path, Query};
use crate::http::problem::Problem;
use crate::words::{Words, look_up};

/// Rows of a table.
const ROWS: usize = 100;

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
    let kind = kind.ok_or_else(|| Problem::not_found("there is no such section"))?;
    let made = sections(&app, &crawl, vec![kind], ROWS).await?;
    let words = view.words;
    let content = html! {
        p.lead { (words.report_lead) }
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
            div { @for section in made.iter() { (section_of(section, words)) } }
        }
    };
    Ok(super::html(crawl::page(
        &view,
        &crawl,
        Tab::Report,
        &content,
    )))
}

fn section_of(section: &Section, words: &Words) -> Markup {
    let title = look_up(words.sections, section.kind.as_str());
    html! {
        section.card {
            h2 { (title) }
            @if !section.facts.is_empty() {
                dl.facts { @for (name, value) in &section.facts { dt { (look_up(words.columns, name)) } dd { (cell(value)) } } }
            }
            @if !section.columns.is_empty() {
                @if section.rows.is_empty() { (empty(words.nothing_yet, words.report_empty)) } @else {
                    div.scroll tabindex="0" role="region" aria-label=(title) {
                        table.list {
                            thead { tr { @for (at, column) in section.columns.iter().enumerate() {
                                th.num[is_number(section, at)] scope="col" { (look_up(words.columns, column)) }
                            } } }
                            tbody { @for row in &section.rows {
                                tr { @for value in row { td.num[is_numeric(value)].url[!is_numeric(value)] { (cell(value)) } } }
                            } }
                        }
                    }
                    p.muted { (format::count(section.rows.len() as u64)) " " (words.rows_of) " " (format::count(section.rows_in_all)) }
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

/// A value, as people read it.
fn cell(value: &Value) -> Markup {
    html! {
        @match value {
            Value::Nothing => span.muted { "–" },
            Value::Count(number) => (format::count(*number)),
            Value::Bytes(number) => (format::bytes(*number as f64)),
            Value::Code(code) => (code),
            Value::Share(share) => (format::share(*share)),
            Value::Ratio(ratio) => (format!("{ratio:.3}")),
            Value::Seconds(seconds) if *seconds < 60.0 => (format!("{seconds:.3} s")),
            Value::Seconds(seconds) => (format::span(*seconds)),
            Value::Moment(time) => (format::moment(&time.to_rfc3339_secs())),
            Value::Text(text) => (text),
            Value::Texts(texts) => { @for text in texts { span.line { (text) } } },
        }
    }
}
