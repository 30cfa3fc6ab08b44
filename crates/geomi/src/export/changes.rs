//! The change table: what each visit found against the copy there was.
//!
//! A row is of a visit that says something of a page: the one that brought the first
//! copy, and from then on each that came to an end. What it *found* is what the plan of
//! `geomi refresh` makes of it, by the plan's own code; so all visits are shown in
//! order, those too that are not selected. *Changed* and the sizes are as visits/ has
//! them: a template edit has changed a page, and is found to be none of its own changes.

use geomi_model::{Change, Visit};
use geomi_refresh::upkeep::{RefreshConfig, RefreshPlan};

use super::source::Source;
use crate::args::Global;
use crate::config::{self, Problems, Sources};
use crate::crawl::sets;
use crate::csv;

/// The first line.
pub(crate) const HEADER: &str = "time,url,size_fetched,size_changed,changed,found";

/// What must be remembered from row to row.
#[derive(Debug)]
pub(crate) struct ChangeTable {
    plan: RefreshPlan,
    tries: u8,
}

impl ChangeTable {
    /// A table of visits of a crawl that tries so often.
    pub(crate) fn new(tries: u8) -> Self {
        // Of the plan only what it makes of visits is wanted; this policy learns least.
        let config = RefreshConfig {
            policy: "static".to_owned(),
            ..RefreshConfig::default()
        };
        Self {
            plan: RefreshPlan::new(&config),
            tries,
        }
    }

    /// The row of a visit, without its end; all visits must be shown in order. `None`
    /// where it says nothing of a page: robots.txt, a try that another follows, a URL of
    /// which there is no copy.
    pub(crate) fn row(&mut self, visit: &Visit) -> Option<String> {
        let sighted = self.plan.take(visit, self.tries)?;
        let compared = |field: fn(Change) -> String| visit.changed.map(field).unwrap_or_default();
        Some(csv::line([
            visit.time.to_rfc3339_millis(),
            visit.url.to_string(),
            visit.body_bytes.to_string(),
            compared(|change| change.size.to_string()),
            compared(|change| change.changed.to_string()),
            sighted.kind.as_str().to_owned(),
        ]))
    }
}

/// How often the crawl tries a URL, by its own configuration: a failure before the last
/// try is not the last word on a page.
pub(crate) fn tries(source: &Source, global: &Global) -> Result<u8, Problems> {
    let mut problems = Problems::default();
    let (from_variable, from_flag) = sets(global, &mut problems);
    let sources = Sources {
        config: global.config.as_deref(),
        dir: Some(source.dir().root()),
        settings: &[from_variable, from_flag].concat(),
    };
    let written = config::load(&sources, &mut problems);
    let meant = config::resolve(&written, Vec::new(), &mut problems);
    problems.into_result()?;
    Ok(meant.engine.tries)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use geomi_model::{NetworkState, Timestamp};

    use super::*;
    use crate::export::samples::visit;

    #[test]
    fn a_row_has_the_sizes_and_what_was_found() {
        let mut table = ChangeTable::new(2);
        let mut check = |visit: &Visit, expected: Option<&str>| {
            assert_eq!(table.row(visit).as_deref(), expected);
        };
        let answer = |code: u16, bytes: u64, change: Option<(bool, u64)>| {
            let mut answer = visit("http://a.test/x,y");
            answer.code = Some(code);
            answer.body_bytes = bytes;
            answer.changed = change.map(|(changed, size)| Change { changed, size });
            if code >= 400 {
                answer.state = NetworkState::Code;
            }
            answer
        };
        let robots = Visit {
            is_robots: true,
            ..answer(200, 20, None)
        };
        let mut unanswered = visit("http://a.test/x,y");
        (unanswered.state, unanswered.code) = (NetworkState::ConnectTimeout, None);
        unanswered.phases.total = Duration::from_secs(20);
        let given_up = Visit {
            attempt: 2,
            ..unanswered.clone()
        };
        let row = |rest: &str| format!("1970-01-01T00:00:00.000Z,\"http://a.test/x,y\",{rest}");

        check(&robots, None);
        check(&answer(404, 9, None), None);
        check(&answer(200, 500, None), Some(&row("500,,,first")));
        let shorter = answer(200, 420, Some((true, 80)));
        check(&shorter, Some(&row("420,80,true,changed")));
        let same = answer(200, 424, Some((false, 4)));
        check(&same, Some(&row("424,4,false,same")));
        let unchanged = answer(304, 0, Some((false, 0)));
        check(&unchanged, Some(&row("0,0,false,unchanged")));
        check(&unanswered, None);
        check(&given_up, Some(&row("0,,,failed")));
        check(&answer(410, 9, None), Some(&row("9,,,gone")));
    }

    #[test]
    fn a_template_edit_has_changed_a_page_and_is_found_to_be_none_of_its_own() {
        let mut table = ChangeTable::new(1);
        let mut found = |page: u32, hour: i64, changed: Option<bool>| {
            let mut visit = visit(&format!("http://a.test/{page}"));
            visit.time = Timestamp::from_secs(hour * 3_600 + i64::from(page));
            visit.facts.simhash = Some(u64::from(page) + 1);
            visit.changed = changed.map(|changed| Change { changed, size: 70 });
            table.row(&visit).unwrap()
        };
        for page in 0..40 {
            found(page, 0, None);
        }
        for page in 0..40 {
            found(page, 1, Some(false));
        }
        let edit: Vec<String> = (0..40).map(|page| found(page, 2, Some(true))).collect();
        assert!(edit[0].ends_with(",70,true,changed"), "{}", edit[0]);
        let edited = edit.iter().filter(|row| row.ends_with(",70,true,edited"));
        assert!(edited.count() > 20, "{edit:#?}");
    }
}
