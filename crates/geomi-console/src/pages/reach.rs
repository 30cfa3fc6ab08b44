//! What pages that are read from closed tables say beside their rows: how far
//! the tables reach, and why there are no rows.

use maud::{Markup, html};

use super::format;
use super::layout::empty;
use crate::app::App;
use crate::http::problem::Problem;
use crate::library::Crawl;
use crate::library::reach::Reach;
use crate::words::{Words, fill};

/// How far the tables of a crawl reach.
pub(crate) async fn find(app: &App, crawl: &Crawl) -> Result<Reach, Problem> {
    let dir = crawl.dir.clone();
    Ok(app.read(move |_| Reach::of(&dir)).await?)
}

/// Said while the crawl runs: its latest visits are in no table yet.
pub(crate) fn note(words: &Words, crawl: &Crawl, reach: Reach) -> Markup {
    html! {
        @if crawl.is_running() {
            @if let Some(until) = reach.until {
                p.note.small { (told(words, crawl, reach.visits, &format::moment(&until.to_rfc3339_secs()))) }
            } @else {
                p.note.small { (words.reach_nothing) }
            }
        }
    }
}

fn told(words: &Words, crawl: &Crawl, visits: u64, until: &str) -> String {
    let status = crawl.status.as_ref();
    let counted = status.map_or(0, |status| status.counters.visits);
    let (visits, all) = (format::count(visits), format::count(counted.max(visits)));
    let gaps = [("time", until), ("visits", &*visits), ("all", &*all)];
    fill(words.reach_until, &gaps)
}

/// In place of rows: there are no tables, or nothing of this kind is in them.
pub(crate) fn no_rows(words: &Words, crawl: &Crawl, reach: Reach) -> Markup {
    let is_empty = reach.visits == 0;
    match (is_empty, crawl.is_running()) {
        (false, _) => empty(words.no_rows, words.no_rows_text),
        (true, true) => empty(words.nothing_yet, words.report_empty),
        (true, false) => empty(words.nothing_yet, words.no_visits_stored),
    }
}

#[cfg(test)]
mod tests {
    use geomi_engine::Status;
    use geomi_model::Timestamp;

    use super::*;
    use crate::words::Language;

    fn crawl(pid: Option<u32>) -> Crawl {
        let mut status = Status::default();
        status.counters.visits = 12_345;
        Crawl::sample("news", pid, status)
    }

    #[test]
    fn a_running_crawl_says_how_far_its_tables_reach() {
        let words = Language::English.words();
        let reach = Reach {
            visits: 10_000,
            until: Timestamp::parse_rfc3339("2026-11-15T16:08:08Z"),
        };
        let running = note(words, &crawl(Some(1)), reach).into_string();
        assert!(running.contains("2026-11-15 16:08:08 UTC"), "{running}");
        assert!(running.contains("10,000 of 12,345"), "{running}");
        assert_eq!(note(words, &crawl(None), reach).into_string(), "");
        let begun = note(words, &crawl(Some(1)), Reach::default()).into_string();
        assert!(begun.contains("no table"), "{begun}");
    }

    #[test]
    fn no_rows_is_not_no_tables() {
        let words = Language::English.words();
        let full = Reach {
            visits: 1,
            until: None,
        };
        let shown = |pid, reach| no_rows(words, &crawl(pid), reach).into_string();
        assert!(shown(Some(1), full).contains(words.no_rows_text));
        assert!(shown(Some(1), Reach::default()).contains(words.report_empty));
        assert!(shown(None, Reach::default()).contains(words.no_visits_stored));
    }
}
