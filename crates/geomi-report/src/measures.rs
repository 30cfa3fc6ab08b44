//! Load, accuracy, recall, success and change over the whole crawl; what each
//! means is said in the crate's documentation.

use std::time::Duration;

use crate::report::Findings;
use crate::sweep::Found;
use crate::{Section, SectionKind, Value};

const DAY: Duration = Duration::from_hours(24);

pub(crate) fn section(findings: &Findings) -> Section {
    let (totals, pages) = (&findings.sweep.totals, &findings.pages);
    let days = totals.span().map(days);
    let a_day = days.map(|days| totals.requests as f64 / days);
    let load = a_day.filter(|_| pages.urls > 0);
    let load = load.map(|a_day| a_day / pages.urls as f64);
    let ratio = |number: Option<f64>| number.map_or(Value::Nothing, Value::Ratio);
    let wanted_by = if findings.has_include {
        "include patterns"
    } else {
        "saved"
    };
    let mut facts = vec![
        ("requests", Value::Count(totals.requests)),
        ("days", ratio(days)),
        ("requests_a_day", ratio(a_day)),
        ("urls", Value::Count(pages.urls)),
        ("load_ratio", ratio(load)),
        ("fetched_pages", Value::Count(pages.fetched)),
        ("saved_pages", Value::Count(pages.saved)),
        ("wanted_pages", Value::Count(pages.wanted)),
        ("wanted_by", wanted_by.into()),
        ("accuracy", Value::share(pages.wanted, pages.fetched)),
        (
            "success_rate",
            Value::share(totals.saved, totals.saved + totals.failed),
        ),
        ("comparisons", Value::Count(totals.comparisons)),
        ("changes", Value::Count(totals.changes)),
        (
            "change_rate",
            Value::share(totals.changes, totals.comparisons),
        ),
    ];
    facts.extend(recall(findings));
    Section::facts(SectionKind::Measures, facts)
}

/// What a crawl found of a list of known URLs; nothing without one.
pub(crate) fn recall(findings: &Findings) -> Vec<(&'static str, Value)> {
    let Some(known) = &findings.sweep.known else {
        return vec![
            ("known_urls", Value::Nothing),
            ("known_saved", Value::Nothing),
            ("recall", Value::Nothing),
        ];
    };
    let all = known.iter().count() as u64;
    let saved = known.iter().filter(|(_, found)| *found == Found::Saved);
    let saved = saved.count() as u64;
    vec![
        ("known_urls", Value::Count(all)),
        ("known_saved", Value::Count(saved)),
        ("recall", Value::share(saved, all)),
    ]
}

/// A crawl shorter than a day made all its requests in one.
fn days(span: Duration) -> f64 {
    span.max(DAY).as_secs_f64() / DAY.as_secs_f64()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_short_crawl_is_a_day_of_load() {
        assert!((days(Duration::from_secs(5)) - 1.0).abs() < 1e-12);
        assert!((days(DAY * 3 / 2) - 1.5).abs() < 1e-12);
    }
}
