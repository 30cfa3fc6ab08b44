//! `geomi sim order`: the host orders side by side.

use anyhow::Context as _;
use geomi_frontier::HostOrder;
use geomi_sim::order::{self, Experiment, Figures, ModelWeb, Regime, Row};
use serde_json::json;

use super::args::OrderArgs;
use crate::Exit;
use crate::args::{Format, Global};
use crate::config::{Place, Problems};
use crate::table::{aligned, columns};
use crate::terminal::{print, print_csv};

pub(super) fn run(args: &OrderArgs, global: &Global) -> anyhow::Result<Exit> {
    let experiment = read(args)?;
    let rows = order::compare(&experiment);
    if let Some(path) = &args.html {
        std::fs::write(path, order::html(&experiment, &rows))
            .with_context(|| format!("cannot write {}", path.display()))?;
    }
    match global.format {
        Format::Human => print(&human(&experiment, &rows))?,
        Format::Json => print(&serde_json::to_string_pretty(&json!({ "rows": rows }))?)?,
        Format::Jsonl => {
            for row in &rows {
                print(&serde_json::to_string(row)?)?;
            }
        }
        Format::Csv => print_csv(&csv(&rows))?,
    }
    Ok(Exit::Done)
}

fn read(args: &OrderArgs) -> anyhow::Result<Experiment> {
    let mut problems = Problems::default();
    let webs = names(
        "--web",
        &args.web,
        &ModelWeb::ALL,
        ModelWeb::as_str,
        &mut problems,
    );
    let orders = names(
        "--policy",
        &args.policy,
        &HostOrder::ALL,
        HostOrder::as_str,
        &mut problems,
    );
    let regimes = names(
        "--regime",
        &args.regime,
        &Regime::ALL,
        Regime::as_str,
        &mut problems,
    );
    problems.into_result()?;
    Ok(Experiment {
        webs,
        orders,
        regimes,
        seed: args.seed,
        trials: args.trials,
    })
}

/// Reads names of things; none at all means every one, and twice means once.
fn names<T: Copy + PartialEq>(
    flag: &str,
    typed: &[String],
    all: &[T],
    name_of: impl Fn(T) -> &'static str,
    problems: &mut Problems,
) -> Vec<T> {
    if typed.is_empty() {
        return all.to_vec();
    }
    let mut found = Vec::new();
    for name in typed {
        match all.iter().find(|thing| name_of(**thing) == name) {
            Some(thing) if found.contains(thing) => {}
            Some(thing) => found.push(*thing),
            None => {
                let known: Vec<&str> = all.iter().map(|thing| name_of(*thing)).collect();
                let what = format!("there is no {name:?}; choose from {}", known.join(", "));
                problems.add(&Place::Flag(flag.to_owned()), what);
            }
        }
    }
    found
}

fn human(experiment: &Experiment, rows: &[Row]) -> String {
    let mut lines = vec![
        [
            "web",
            "short",
            "order",
            "pages/s",
            "t50",
            "t90",
            "t99",
            "end",
            "slow wait",
            "longest",
            "x by turns",
            "idle",
        ]
        .map(str::to_owned)
        .to_vec(),
    ];
    lines.extend(rows.iter().map(line));
    let columns = columns(&lines, |at| at > 2);
    let mut text = format!(
        "{} connections, sites of {} to {} pages, seed {}, {} trials; mean and standard deviation, in seconds\n\n",
        order::CONNECTIONS,
        order::SMALLEST,
        order::LARGEST,
        experiment.seed,
        experiment.trials
    );
    for line in &lines {
        text.push_str(&aligned(line, &columns));
        text.push('\n');
    }
    text.push_str(
        "\npages/s and idle: until nine tenths of the pages are there. slow wait: for a turn, at the slowest tenth of sites.\n\
         x by turns: the worst ratio of a site's longest wait to the same under round-robin.",
    );
    text
}

fn line(row: &Row) -> Vec<String> {
    let Row { mean, spread, .. } = row;
    let with = |mean: f64, spread: f64| format!("{mean:.1} ±{spread:.1}");
    let ratio = match mean.wait_to_round_robin {
        unknown if unknown.is_nan() => "-".to_owned(),
        ratio => format!("{ratio:.2}"),
    };
    vec![
        row.web.to_owned(),
        row.regime.to_owned(),
        row.policy.to_owned(),
        with(mean.pages_per_s, spread.pages_per_s),
        with(mean.t50_s, spread.t50_s),
        with(mean.t90_s, spread.t90_s),
        with(mean.t99_s, spread.t99_s),
        with(mean.end_s, spread.end_s),
        with(mean.slowest_decile_wait_s, spread.slowest_decile_wait_s),
        with(mean.longest_wait_s, spread.longest_wait_s),
        ratio,
        format!("{:.1} %", mean.idle_share * 100.0),
    ]
}

fn csv(rows: &[Row]) -> String {
    let mut text = String::from("policy,web,regime");
    for prefix in ["", "spread_"] {
        for (name, _) in fields(&Figures::default()) {
            text.extend([",", prefix, name]);
        }
    }
    for row in rows {
        text.push('\n');
        text.push_str(&[row.policy, row.web, row.regime].join(","));
        for (_, value) in fields(&row.mean).into_iter().chain(fields(&row.spread)) {
            text.push(',');
            if !value.is_nan() {
                text.push_str(&value.to_string());
            }
        }
    }
    text
}

fn fields(figures: &Figures) -> [(&'static str, f64); 9] {
    [
        ("pages_per_s", figures.pages_per_s),
        ("t50_s", figures.t50_s),
        ("t90_s", figures.t90_s),
        ("t99_s", figures.t99_s),
        ("end_s", figures.end_s),
        ("slowest_decile_wait_s", figures.slowest_decile_wait_s),
        ("longest_wait_s", figures.longest_wait_s),
        ("wait_to_round_robin", figures.wait_to_round_robin),
        ("idle_share", figures.idle_share),
    ]
}
