//! `geomi refresh estimate`: how often pages and sites change, beside what rules of
//! thumb make of the same visits. That of a single page is in [`estimate_page`].

use std::collections::BTreeMap;

use clap::{Args, ValueEnum};
use geomi_refresh::PageId;
use geomi_refresh::estimators;
use geomi_report::freshness::Seen;
use geomi_url::CrawlUrl;
use serde_json::{Value, json};

use super::estimate_page;
use super::gaps::Gaps;
use super::mean_rate::MeanRate;
use super::run::PlanArgs;
use super::view::{DirArgs, SHARE, View, print_table};
use crate::Exit;
use crate::args::{Format, Global};
use crate::csv;
use crate::terminal::{print, print_csv};

/// What stands below the help.
pub(crate) const AFTER_HELP: &str = "\
Examples:
  geomi refresh estimate news
  geomi refresh estimate news --by site --format csv > rates.csv
  geomi refresh estimate news https://example.com/a

Rates are changes a day, with the interval that holds them with 90 % probability; those of a
site are means over its pages. Beside them, for comparison: naive, the changes found by the
days between visits, reduced bias, Cho and Garcia-Molina's estimator at the mean gap, and the
most likely rate for gaps as they were (inf where every comparison found a change); of a site
as if all its pages had one rate. These know nothing of other pages.
Exit codes: 0 done, 1 error, 2 usage, no crawl directory, or no copy of that URL.";

/// Arguments of `geomi refresh estimate`.
#[derive(Debug, Args)]
pub(crate) struct EstimateCommand {
    #[command(flatten)]
    dir: DirArgs,
    /// One page only, and all that is known of its rate
    url: Option<String>,
    /// Of each page, or of each site
    #[arg(
        long,
        value_enum,
        value_name = "WHAT",
        default_value = "page",
        conflicts_with = "url"
    )]
    by: By,
    /// Rows to show, those that change most; 0 for all
    #[arg(long, value_name = "N", default_value_t = 20, conflicts_with = "url")]
    top: usize,
}

#[derive(Clone, Copy, PartialEq, Eq, Debug, ValueEnum)]
enum By {
    /// Pages
    Page,
    /// Sites
    Site,
}

/// A line of the table.
struct Row {
    name: String,
    pages: u32,
    seen: Seen,
    rate: f64,
    low: f64,
    high: f64,
    gaps: Gaps,
}

/// Runs the command.
pub(crate) fn run(args: &EstimateCommand, global: &Global) -> anyhow::Result<Exit> {
    if let Some(url) = &args.url {
        return estimate_page::run(&args.dir.dir, url, global);
    }
    let mut gaps: Vec<Gaps> = Vec::new();
    let view = View::open(&args.dir.dir, &PlanArgs::default(), global, |moment| {
        let page = moment.sighted.page as usize;
        if page >= gaps.len() {
            gaps.resize_with(page + 1, Gaps::default);
        }
        if let Some(changed) = moment.sighted.kind.changed() {
            gaps[page].take(moment.sighted.at - moment.before, changed);
        }
    })?;
    let mut rows = match args.by {
        By::Page => pages(&view, gaps),
        By::Site => sites(&view, &gaps),
    };
    rows.sort_by(|one, other| {
        other
            .rate
            .total_cmp(&one.rate)
            .then(one.name.cmp(&other.name))
    });
    let all = rows.len();
    if args.top > 0 {
        rows.truncate(args.top);
    }
    match global.format {
        Format::Human => {
            print_table(&lines(&rows), &[0])?;
            if rows.len() < all {
                print(&format!("{} of {all}; --top 0 shows all", rows.len()))?;
            }
        }
        Format::Json => {
            let rows: Vec<Value> = rows.iter().map(to_json).collect();
            let shown = json!({ "rows": rows, "of": all, "share": SHARE });
            print(&serde_json::to_string_pretty(&shown)?)?;
        }
        Format::Jsonl => {
            for row in &rows {
                print(&to_json(row).to_string())?;
            }
        }
        Format::Csv => {
            for line in lines(&rows) {
                print_csv(&csv::line(line))?;
            }
        }
    }
    Ok(Exit::Done)
}

fn pages(view: &View, gaps: Vec<Gaps>) -> Vec<Row> {
    let row = |(page, gaps): (PageId, Gaps)| {
        let posterior = view.posterior(page);
        let (low, high) = posterior.interval(SHARE);
        Row {
            name: view.plan.pages().url(page).to_owned(),
            pages: 1,
            seen: view.seen[page as usize],
            rate: posterior.mean(),
            low,
            high,
            gaps,
        }
    };
    view.pages().zip(gaps).map(row).collect()
}

/// Sums over the pages of a site.
#[derive(Default)]
struct Sums {
    seen: Seen,
    rate: MeanRate,
    gaps: Gaps,
}

fn sites(view: &View, gaps: &[Gaps]) -> Vec<Row> {
    let mut sites: BTreeMap<String, Sums> = BTreeMap::new();
    for page in view.pages() {
        // What is in the files was a URL once.
        let Ok(url) = CrawlUrl::parse(view.plan.pages().url(page)) else {
            continue;
        };
        let sums = sites.entry(url.site().to_string()).or_default();
        let seen = view.seen[page as usize];
        sums.rate.add(&view.posterior(page));
        sums.seen.visits += seen.visits;
        sums.seen.compared += seen.compared;
        sums.seen.changed += seen.changed;
        sums.seen.missed += seen.missed;
        sums.seen.watched += seen.watched;
        sums.gaps.join(&gaps[page as usize]);
    }
    let row = |(name, sums): (String, Sums)| {
        let (low, high) = sums.rate.interval();
        Row {
            name,
            pages: sums.rate.pages(),
            seen: sums.seen,
            rate: sums.rate.mean(),
            low,
            high,
            gaps: sums.gaps,
        }
    };
    sites.into_iter().map(row).collect()
}

const COLUMNS: [&str; 12] = [
    "name",
    "pages",
    "visits",
    "compared",
    "changed",
    "missed",
    "rate",
    "low",
    "high",
    "naive",
    "reduced_bias",
    "most_likely",
];

/// Rates by rules of thumb; nothing where nothing was compared.
pub(super) fn by_thumb(seen: &Seen) -> [Option<f64>; 2] {
    if seen.compared == 0 || seen.watched <= 0.0 {
        return [None; 2];
    }
    let gap = seen.watched / f64::from(seen.compared);
    [
        Some(estimators::naive(seen.changed, seen.watched)),
        Some(estimators::reduced_bias(seen.compared, seen.changed, gap)),
    ]
}

fn lines(rows: &[Row]) -> Vec<Vec<String>> {
    let mut lines = vec![COLUMNS.map(str::to_owned).to_vec()];
    lines.extend(rows.iter().map(|row| {
        let counts = [
            row.pages,
            row.seen.visits,
            row.seen.compared,
            row.seen.changed,
            row.seen.missed,
        ];
        let [naive, reduced] = by_thumb(&row.seen);
        let rates = [
            Some(row.rate),
            Some(row.low),
            Some(row.high),
            naive,
            reduced,
            row.gaps.most_likely(),
        ];
        let counts = counts.iter().map(ToString::to_string);
        let rates = rates
            .iter()
            .map(|rate| rate.map_or(String::new(), |rate| format!("{rate:.4}")));
        std::iter::once(row.name.clone())
            .chain(counts)
            .chain(rates)
            .collect()
    }));
    lines
}

fn to_json(row: &Row) -> Value {
    let [naive, reduced] = by_thumb(&row.seen);
    json!({
        "name": row.name,
        "pages": row.pages,
        "visits": row.seen.visits,
        "compared": row.seen.compared,
        "changed": row.seen.changed,
        "missed": row.seen.missed,
        "rate": row.rate,
        "low": row.low,
        "high": row.high,
        "naive": naive,
        "reduced_bias": reduced,
        // JSON has no number without bound.
        "most_likely": row.gaps.most_likely().filter(|rate| rate.is_finite()),
    })
}
