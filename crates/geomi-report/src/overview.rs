//! What a crawl came to in all.
//!
//! Everything is counted from the visits that were read, so it holds for what
//! is in the tables; only what is in no table, refusals and what is still
//! waiting, is taken from status.json.

use geomi_engine::{Ending, Phase};

use crate::report::Findings;
use crate::{Section, SectionKind, Value};

pub(crate) fn section(findings: &Findings) -> Section {
    let totals = &findings.sweep.totals;
    let moment = |time: Option<_>| time.map_or(Value::Nothing, Value::Moment);
    let span = totals.span().map(|span| span.as_secs_f64());
    let status = findings.status.as_ref();
    let from_status = |of: fn(&geomi_engine::Status) -> u64| {
        status.map_or(Value::Nothing, |status| Value::Count(of(status)))
    };
    let state = status.map(|status| phase(status.state));
    let reason = status.and_then(|status| status.reason).map(Ending::as_str);
    let left = status.and_then(|status| status.left.as_ref());
    let left = left.map(geomi_engine::Left::in_words);
    Section::facts(
        SectionKind::Overview,
        vec![
            ("state", Value::text(state)),
            ("reason", Value::text(reason)),
            ("left", Value::text(left.as_deref())),
            ("first_visit", moment(totals.first)),
            ("last_visit", moment(totals.last)),
            ("span_s", span.map_or(Value::Nothing, Value::Seconds)),
            ("visits", Value::Count(totals.visits)),
            ("robots_visits", Value::Count(totals.robots)),
            ("captured", Value::Count(totals.captured)),
            ("revisits", Value::Count(totals.revisits)),
            ("urls", Value::Count(findings.pages.urls)),
            ("saved", Value::Count(findings.pages.saved)),
            ("redirected", Value::Count(findings.pages.redirected)),
            ("failed", Value::Count(findings.pages.failed)),
            ("visits_saved", Value::Count(totals.saved)),
            ("visits_failed", Value::Count(totals.failed)),
            ("answered_otherwise", Value::Count(totals.answered)),
            ("retried", Value::Count(totals.retried)),
            ("refused", from_status(|status| status.counters.refused)),
            ("queued", from_status(|status| status.queued)),
            ("dead", Value::Count(findings.sweep.dead.len() as u64)),
            (
                "duplicate_pages",
                Value::Count(findings.duplicates.pages - findings.duplicates.groups),
            ),
            ("sites", Value::Count(findings.sweep.sites.all.len() as u64)),
            (
                "addresses",
                Value::Count(findings.sweep.sites.servers.len() as u64),
            ),
            ("links", Value::Count(totals.links)),
            ("wire_bytes", Value::Bytes(totals.wire_bytes)),
            ("body_bytes", Value::Bytes(totals.body_bytes)),
        ],
    )
}

/// As status.json writes it.
const fn phase(phase: Phase) -> &'static str {
    match phase {
        Phase::Starting => "starting",
        Phase::Running => "running",
        Phase::Paused => "paused",
        Phase::Stopping => "stopping",
        Phase::Done => "done",
    }
}
