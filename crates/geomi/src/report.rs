//! What a crawl came to: the closing report and the last line.

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::path::Path;
use std::time::Duration;

use geomi_engine::{Counters, Status};

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
        status.reason_in_words().as_deref().unwrap_or("stopped"),
        dir,
    )
}

/// The report for people, above the last line.
pub(crate) fn closing(status: &Status, dir: &Path) -> String {
    let mut rows = Vec::new();
    if let Some(left) = &status.left {
        rows.push(("incomplete", left.in_words()));
        for group in &left.groups {
            rows.push(("", group.in_words()));
            rows.push(("", format!("-> {}", group.advice())));
        }
    }
    if let Some(refresh) = &status.refresh {
        let visits = words::plural(status.visits_saved_this_run, "visit");
        let told = refresh.in_words();
        let told = format!("{visits} saved a page or found it unchanged; {told}");
        rows.push(("this run", told));
    }
    rows.extend(counted(&status.counters));
    if status.queued > 0 && status.left.is_none() {
        let urls = words::plural(status.queued, "URL");
        rows.push((
            "left",
            format!("{urls} waiting; a crawl into the same directory goes on with them"),
        ));
    }
    let reasons = [
        ("states", &status.counters.states),
        ("not wanted", &status.counters.refusals),
    ];
    for (name, counts) in reasons.into_iter().filter(|(_, counts)| !counts.is_empty()) {
        rows.push((name, by_number(counts)));
    }
    if !status.sites_retired.is_empty() {
        let sites = status.sites_retired.iter();
        let sites = sites.map(|(site, why)| format!("{site} ({why})"));
        let listed = list(sites.collect());
        rows.push(("left alone", listed));
    }
    if !status.sites_failing.is_empty() {
        let sites = status.sites_failing.iter();
        let sites = sites.map(|(site, failures)| format!("{site} ({failures})"));
        let sites = list(sites.collect());
        rows.push(("failing", format!("failures in a row: {sites}")));
    }
    let kept = "warc/, index/index.cdxj, visits/, log.jsonl, seeds-out.txt";
    rows.push(("kept in", format!("{}: {kept}", dir.display())));
    let lines = rows
        .iter()
        .map(|(name, value)| format!("{name:>12}  {value}\n"));
    lines.collect()
}

/// The rows every report has.
fn counted(counters: &Counters) -> Vec<(&'static str, String)> {
    let count = words::count;
    let bytes = |bytes: u64| words::bytes(bytes as f64);
    vec![
        (
            "pages",
            format!(
                "{} saved, {} redirected, {} failed, {} refused",
                count(counters.saved),
                count(counters.redirected),
                count(counters.failed),
                count(counters.refused),
            ),
        ),
        (
            "visits",
            format!(
                "{} made, {} saved a page or found it unchanged, {} captured ({} as revisits), {} were tried again",
                count(counters.visits),
                count(counters.visits_saved),
                count(counters.captured),
                count(counters.revisits),
                count(counters.retried),
            ),
        ),
        (
            "bytes",
            format!(
                "{} over the wire, {} of content",
                bytes(counters.wire_bytes),
                bytes(counters.body_bytes)
            ),
        ),
        (
            "links",
            format!(
                "{} found, {} queued",
                count(counters.links),
                count(counters.admitted)
            ),
        ),
    ]
}

/// Names with their counts, the greatest first.
fn by_number(counts: &BTreeMap<String, u64>) -> String {
    let mut pairs: Vec<(&String, &u64)> = counts.iter().collect();
    pairs.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let items = pairs
        .into_iter()
        .map(|(name, number)| format!("{name} {}", words::count(*number)));
    list(items.collect())
}

fn list(mut items: Vec<String>) -> String {
    let more = items.len().saturating_sub(LISTED_MAX);
    items.truncate(LISTED_MAX);
    let mut text = items.join(", ");
    if more > 0 {
        write!(text, ", and {more} more").expect("a string takes everything");
    }
    text
}

#[cfg(test)]
mod tests {
    use geomi_engine::{Ending, Left, LeftGroup, LeftReason};

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
    fn the_last_line_names_what_refused_everything() {
        let mut status = Status {
            reason: Some(Ending::NothingSaved),
            ..Status::default()
        };
        status.counters.refusals.insert("robots".to_owned(), 1);
        let line = last_line_of(&status, Path::new("x"));
        assert!(
            line.contains("(nothing was saved; refused: robots 1)"),
            "{line}"
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

    #[test]
    fn what_is_left_comes_first_and_pages_are_not_visits() {
        let mut status = Status {
            reason: Some(Ending::Incomplete),
            sites_failing: vec![("slow.test".to_owned(), 3)],
            ..Status::default()
        };
        status.counters.saved = 317;
        status.counters.visits_saved = 2_319;
        status.left = Some(Left {
            urls: 160,
            sites: 1,
            groups: vec![LeftGroup {
                reason: LeftReason::LongWait,
                urls: 160,
                sites: 1,
                example: Some("busy.test".to_owned()),
                first: Some("2026-11-18T08:00:00Z".to_owned()),
                until: Some("2026-11-18T08:00:00Z".to_owned()),
                new_pages_per_day: None,
            }],
        });
        let text = closing(&status, Path::new("x"));
        assert!(
            text.trim_start()
                .starts_with("incomplete  160 URLs of 1 site wait\n"),
            "{text}"
        );
        for told in [
            "160 URLs of 1 site (busy.test): ",
            "politeness.max_wait, until 2026-11-18T08:00:00Z",
            "pages  317 saved",
            "2,319 saved a page or found it unchanged",
            "failures in a row: slow.test (3)",
        ] {
            assert!(text.contains(told), "{told}: {text}");
        }
        let line = last_line_of(&status, Path::new("x"));
        assert!(
            line.contains("317 saved") && line.contains("(incomplete)"),
            "{line}"
        );
    }
}
