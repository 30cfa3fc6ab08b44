//! `geomi refresh estimate DIR URL`: the rate of one page, the evidence it rests on, and
//! what rules of thumb make of that.

use std::path::Path;

use geomi_report::freshness::Seen;
use serde_json::{Value, json};

use super::estimate::by_thumb;
use super::gaps::Gaps;
use super::run::PlanArgs;
use super::view::{SHARE, View, typed_url};
use crate::Exit;
use crate::args::{Format, Global};
use crate::csv;
use crate::terminal::{print, print_csv};

/// What is known of the page.
struct Estimate {
    url: String,
    seen: Seen,
    rate: f64,
    low: f64,
    high: f64,
    naive: Option<f64>,
    reduced_bias: Option<f64>,
    /// The most likely rate; infinite if every comparison found a change.
    most_likely: Option<f64>,
}

/// Runs the command.
pub(super) fn run(dir: &Path, url: &str, global: &Global) -> anyhow::Result<Exit> {
    let url = typed_url(url)?;
    let mut gaps = Gaps::default();
    let view = View::open(dir, &PlanArgs::default(), global, |moment| {
        let changed = moment.sighted.kind.changed();
        if let Some(changed) = changed.filter(|_| moment.visit.url == url) {
            gaps.take(moment.sighted.at - moment.before, changed);
        }
    })?;
    let page = view.find(&url)?;
    let (posterior, seen) = (view.posterior(page), view.seen[page as usize]);
    let (low, high) = posterior.interval(SHARE);
    let [naive, reduced_bias] = by_thumb(&seen);
    let estimate = Estimate {
        url: url.to_string(),
        seen,
        rate: posterior.mean(),
        low,
        high,
        naive,
        reduced_bias,
        most_likely: gaps.most_likely(),
    };
    match global.format {
        Format::Human => print(&in_words(&estimate))?,
        Format::Json => print(&serde_json::to_string_pretty(&as_json(&estimate))?)?,
        Format::Jsonl => print(&as_json(&estimate).to_string())?,
        Format::Csv => print_csv(&as_csv(&estimate))?,
    }
    Ok(Exit::Done)
}

fn in_words(estimate: &Estimate) -> String {
    let seen = &estimate.seen;
    let mut lines = vec![
        estimate.url.clone(),
        format!(
            "rate          {:.4} changes a day, with {:.0} % probability {:.4} to {:.4}",
            estimate.rate,
            SHARE * 100.0,
            estimate.low,
            estimate.high
        ),
        format!("evidence      {}", seen.evidence()),
    ];
    let rules = [
        (
            "naive",
            estimate.naive,
            "changes found by days between visits",
        ),
        (
            "reduced bias",
            estimate.reduced_bias,
            "Cho and Garcia-Molina, as if all gaps were the mean one",
        ),
        ("most likely", estimate.most_likely, "for gaps as they were"),
    ];
    lines.extend(rules.map(|(name, rate, what)| match rate {
        None => format!("{name:<13} nothing was compared yet"),
        Some(rate) if rate.is_infinite() => {
            format!("{name:<13} without bound: every comparison found a change")
        }
        Some(rate) => format!("{name:<13} {rate:.4}, {what}"),
    }));
    lines.join("\n")
}

fn as_json(estimate: &Estimate) -> Value {
    let seen = &estimate.seen;
    // JSON has no number without bound.
    let most_likely = estimate.most_likely.filter(|rate| rate.is_finite());
    json!({
        "name": estimate.url,
        "visits": seen.visits,
        "compared": seen.compared,
        "changed": seen.changed,
        "missed": seen.missed,
        "days": seen.last - seen.first,
        "rate": estimate.rate,
        "low": estimate.low,
        "high": estimate.high,
        "share": SHARE,
        "naive": estimate.naive,
        "reduced_bias": estimate.reduced_bias,
        "most_likely": most_likely,
    })
}

fn as_csv(estimate: &Estimate) -> String {
    let seen = &estimate.seen;
    let counts = [seen.visits, seen.compared, seen.changed, seen.missed];
    let rates = [
        Some(seen.last - seen.first),
        Some(estimate.rate),
        Some(estimate.low),
        Some(estimate.high),
        estimate.naive,
        estimate.reduced_bias,
        estimate.most_likely,
    ];
    let counts = counts.iter().map(ToString::to_string);
    let rates = rates
        .iter()
        .map(|rate| rate.map_or(String::new(), |rate| format!("{rate:.4}")));
    let fields = std::iter::once(estimate.url.clone())
        .chain(counts)
        .chain(rates);
    format!(
        "name,visits,compared,changed,missed,days,rate,low,high,naive,reduced_bias,most_likely\n{}",
        csv::line(fields)
    )
}
