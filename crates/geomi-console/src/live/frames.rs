//! Events as text: `text/event-stream` (HTML Living Standard, 9.2).

use std::fmt::Write as _;

use bytes::Bytes;
use geomi_crawler::log_reader::LoggedVisit;
use geomi_engine::explain::Cause;
use geomi_model::Timestamp;
use serde_json::json;

use super::hub::Visits;
use crate::api::crawls::CrawlRow;
use crate::library::Crawl;
use crate::pages::live as page;
use crate::words::Language;

/// What a watcher wants to be told in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Form {
    /// Objects, for programs.
    Json,
    /// Pieces of the page.
    Html(Language),
}

/// A piece of the stream.
pub(crate) type Frame = Bytes;

/// One event. A line end in the data begins a new line of data.
fn event(out: &mut String, name: &str, id: Option<u64>, data: &str) {
    writeln!(out, "event: {name}").expect("a string takes everything");
    if let Some(id) = id {
        writeln!(out, "id: {id}").expect("a string takes everything");
    }
    for line in data.split(['\n', '\r']) {
        writeln!(out, "data: {line}").expect("a string takes everything");
    }
    out.push('\n');
}

/// How the crawl stands.
pub(super) fn status(crawl: &Crawl, causes: &[Cause], form: Form) -> String {
    let mut out = String::new();
    match form {
        Form::Json => {
            let row = serde_json::to_string(&CrawlRow::new(crawl)).expect("a row is plain data");
            event(&mut out, "status", None, &row);
        }
        Form::Html(language) => {
            let words = language.words();
            event(&mut out, "why", None, &page::why(causes, words).0);
            event(&mut out, "figures", None, &page::figures(crawl, words).0);
            event(&mut out, "state", None, &page::state(crawl, words).0);
            let sample = page::sample(crawl).to_string();
            event(&mut out, "sample", None, &sample);
        }
    }
    out
}

/// What was visited.
pub(super) fn visits(visits: &Visits, form: Form, now: Timestamp) -> String {
    let mut out = String::new();
    if let Some((first, last)) = visits.skipped {
        let count = last - first + 1;
        match form {
            Form::Json => {
                let data = json!({ "first": first, "last": last, "count": count }).to_string();
                event(&mut out, "skipped", Some(last), &data);
            }
            Form::Html(language) => {
                let row = page::skipped_row(count, language.words()).0;
                event(&mut out, "log", Some(last), &row);
            }
        }
    }
    match form {
        Form::Json => {
            for visit in &visits.lines {
                event(
                    &mut out,
                    "visit",
                    Some(visit.position()),
                    &visit_json(visit),
                );
            }
        }
        // Rows go to the top of the table, so the newest stands first.
        Form::Html(language) => {
            if let Some(last) = visits.lines.last() {
                let rows: String = visits
                    .lines
                    .iter()
                    .rev()
                    .map(|visit| page::log_row(visit, now, language.words()).0)
                    .collect();
                event(&mut out, "log", Some(last.position()), &rows);
            }
        }
    }
    out
}

fn visit_json(visit: &LoggedVisit) -> String {
    serde_json::to_string(visit).expect("a visit is plain data")
}

/// Sent where nothing else is, so that a lost connection is noticed.
pub(super) const PULSE: &[u8] = b": still here\n\n";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_text_can_end_an_event_early() {
        let mut out = String::new();
        event(
            &mut out,
            "log",
            Some(7),
            "one\r\n\nevent: forged\n\ndata: x",
        );
        let blank = out.trim_end_matches('\n').contains("\n\n");
        assert!(!blank, "{out:?}");
        let is_ours =
            |line: &str| ["event: log", "id: 7", ""].contains(&line) || line.starts_with("data: ");
        assert!(out.lines().all(is_ours), "{out:?}");
    }
}
