//! What a crawl came to: the closing report and the last line.

use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use geomi_crawler::{Ending, Status};

use crate::words;

/// Reasons told one by one; the rest is summed up.
const LISTED_MAX: usize = 10;

/// The last line of every crawl. The counts are those of the directory, over
/// all its runs; the time is this run's.
pub(crate) fn last_line(
    saved: u64,
    failed: u64,
    took: Duration,
    reason: &str,
    dir: &Path,
) -> String {
    format!(
        "done: {saved} saved, {failed} failed in {} ({reason}) -> {}",
        words::span(took),
        dir.display()
    )
}

/// [`last_line`] of a status.
pub(crate) fn last_line_of(status: &Status, dir: &Path) -> String {
    last_line(
        status.counters.saved,
        status.counters.failed,
        Duration::from_secs_f64(status.elapsed_s.max(0.0)),
        status.reason.map_or("stopped", Ending::as_str),
        dir,
    )
}

/// The report for people, above the last line.
pub(crate) fn closing(status: &Status, dir: &Path) -> String {
    let counters = &status.counters;
    let mut text = String::new();
    let mut row = |name: &str, value: String| {
        writeln!(text, "{name:>12}  {value}").expect("a string takes everything");
    };
    row(
        "pages",
        format!(
            "{} saved, {} redirected, {} failed, {} refused",
            words::count(counters.saved),
            words::count(counters.redirected),
            words::count(counters.failed),
            words::count(counters.refused),
        ),
    );
    row(
        "visits",
        format!(
            "{} made, {} captured ({} as revisits), {} were tried again",
            words::count(counters.visits),
            words::count(counters.captured),
            words::count(counters.revisits),
            words::count(counters.retried),
        ),
    );
    row(
        "bytes",
        format!(
            "{} over the wire, {} of content",
            words::bytes(counters.wire_bytes as f64),
            words::bytes(counters.body_bytes as f64)
        ),
    );
    row(
        "links",
        format!(
            "{} found, {} queued",
            words::count(counters.links),
            words::count(counters.admitted)
        ),
    );
    if status.queued > 0 {
        row(
            "left",
            format!(
                "{} waiting; a crawl into the same directory goes on with them",
                words::plural(status.queued, "URL")
            ),
        );
    }
    let pairs = |counts: &std::collections::BTreeMap<String, u64>| {
        let mut pairs: Vec<_> = counts
            .iter()
            .map(|(name, count)| (*count, name.clone()))
            .collect();
        pairs.sort_by(|a, b| b.0.cmp(&a.0).then(a.1.cmp(&b.1)));
        list(
            pairs
                .into_iter()
                .map(|(count, name)| format!("{name} {}", words::count(count)))
                .collect(),
            ", ",
        )
    };
    if !counters.states.is_empty() {
        row("states", pairs(&counters.states));
    }
    if !counters.refusals.is_empty() {
        row("not wanted", pairs(&counters.refusals));
    }
    if !status.sites_retired.is_empty() {
        let sites = status
            .sites_retired
            .iter()
            .map(|(site, why)| format!("{site} ({why})"));
        row("left alone", list(sites.collect(), ", "));
    }
    row(
        "kept in",
        format!(
            "{}: warc/, index/index.cdxj, visits/, log.jsonl, seeds-out.txt",
            dir.display()
        ),
    );
    text
}

fn list(mut items: Vec<String>, between: &str) -> String {
    let more = items.len().saturating_sub(LISTED_MAX);
    items.truncate(LISTED_MAX);
    let mut text = items.join(between);
    if more > 0 {
        write!(text, "{between}and {more} more").expect("a string takes everything");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_has_the_form_of_the_contract() {
        let mut status = Status {
            reason: Some(Ending::PageLimit),
            elapsed_s: 245.0,
            ..Status::default()
        };
        status.counters.saved = 1_234;
        status.counters.failed = 5;
        assert_eq!(
            last_line_of(&status, Path::new("out/a")),
            "done: 1234 saved, 5 failed in 4m 05s (max-pages reached) -> out/a"
        );
    }

    #[test]
    fn the_report_lists_states_by_number_and_sums_up_the_rest() {
        let mut status = Status::default();
        for n in 0..12_u64 {
            status.counters.states.insert(format!("state-{n}"), n + 1);
        }
        status
            .sites_retired
            .push(("a.test".into(), "Retry-After".into()));
        let text = closing(&status, Path::new("x"));
        assert!(text.contains("state-11 12, state-10 11"), "{text}");
        assert!(text.contains("and 2 more"), "{text}");
        assert!(text.contains("a.test (Retry-After)"), "{text}");
        assert!(!text.contains("not wanted"), "{text}");
    }
}
