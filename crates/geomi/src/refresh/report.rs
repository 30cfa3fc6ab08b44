//! `geomi refresh report`: how fresh a crawl is, what that costs, what changed.
//!
//! Freshness and age are estimated from what is believed of each page's rate. What
//! really changed nobody but the sites knows, or whoever watched them: such a history
//! can be given, and the truth is shown beside the estimate.

use std::path::PathBuf;

use clap::Args;
use geomi_engine::RefreshStatus;
use geomi_model::Zone;
use geomi_refresh::Belief;
use geomi_refresh::upkeep::instant;
use geomi_report::freshness::{Class, Copies, Point, Tally, Upkeep};
use serde_json::{Value, json};

use super::chance::Chances;
use super::kinship::{Kind, Kinships};
use super::limits::{Limit, Spending, Spent, limit_lines, print_limits};
use super::out_file::OutFile;
use super::report_html;
use super::run::PlanArgs;
use super::truth::Truth;
use super::view::{DirArgs, SHARE, View, last_status, last_time, print_table};
use crate::Exit;
use crate::args::{Format, Global};
use crate::terminal::{print, print_csv};

/// What stands below the help.
pub(crate) const AFTER_HELP: &str = "\
Examples:
  geomi refresh report news
  geomi refresh report news --html freshness.html --format json
  geomi refresh report news --truth changes.csv

Requests are those to pages of which there was a copy; the first visit of a page is no refresh.
The budget shown is that of the last `refresh run`, or the one given here. CSV has freshness
over time.
Rates by domain, depth and link type are changes a day, means of what is believed of the pages,
with the interval that holds them with 90 % probability; naive is changes found by days watched,
which misses what changed twice between two visits.
SS is the share of visits after a success that succeed, FF of those after a failure that fail,
of pages of which there was a copy; gone counts as failed.
S(x), the load ratio, is requests a day for each page, from the end of the first crawl, or a
day before the first revisit, to the last report of the run; a dash if that is less than a day.
True freshness and age are means over the pages that the history names: a copy is fresh if its
page has not changed since it was made, and its age is the time since the first change it lacks.
The copy of a page that was found gone (404, 410) is stale until the page is seen again.
Exit codes: 0 done, 1 error, 2 usage or no crawl directory.";

/// Arguments of `geomi refresh report`.
#[derive(Debug, Args)]
pub(crate) struct ReportCommand {
    #[command(flatten)]
    dir: DirArgs,
    #[command(flatten)]
    plan: PlanArgs,
    /// Write a page with plots
    #[arg(long, value_name = "FILE")]
    html: Option<PathBuf>,
    /// Tell the truth as well: a history of what changed, as `refresh simulate --history` reads it
    #[arg(long, value_name = "FILE")]
    truth: Option<PathBuf>,
}

/// All there is to tell.
pub(super) struct Report {
    pub(super) dir: String,
    /// The zone whose clock hours and days go by.
    pub(super) zone: Zone,
    pub(super) tally: Tally,
    pub(super) kinships: Kinships,
    /// How successes and failures follow each other.
    chances: Chances,
    pub(super) points: Vec<Point>,
    pub(super) pages: usize,
    /// Requests a day that the plan may make.
    pub(super) budget: f64,
    /// The budgets of sites and groups, and what was spent of each.
    limits: Vec<(Limit, Spent)>,
    requests_per_hour: Option<f64>,
    most_in_an_hour: u64,
    /// What the last run told of new pages.
    discovery: Option<RefreshStatus>,
}

impl Report {
    /// S(x): requests a day for each URL; nothing if less than a day was seen.
    pub(super) fn load_ratio(&self) -> Option<f64> {
        Some(self.tally.requests_a_day()? / self.pages.max(1) as f64)
    }

    /// What keeping pages fresh cost, in words.
    pub(super) fn cost_in_words(&self) -> String {
        let (tally, budget) = (&self.tally, self.budget);
        let told = |value: Option<f64>, digits: usize| {
            value.map_or("-".to_owned(), |value| format!("{value:.digits$}"))
        };
        let words = format!(
            "{} in {:.1} days, {} a day, budget {budget:.1}; load ratio S(x) = {}",
            tally.requests(),
            tally.days(),
            told(tally.requests_a_day(), 1),
            told(self.load_ratio(), 3),
        );
        if self.load_ratio().is_none() && tally.requests() > 0 {
            return words + " (less than a day was seen)";
        }
        words
    }

    /// How likely visits are to succeed, in words.
    pub(super) fn success_in_words(&self) -> String {
        let (ss, ff) = (
            self.chances.success_after_success(),
            self.chances.failure_after_failure(),
        );
        format!(
            "success after success (SS) {}, failure after failure (FF) {}",
            ss.in_words(),
            ff.in_words()
        )
    }
}

/// Runs the command.
pub(crate) fn run(args: &ReportCommand, global: &Global) -> anyhow::Result<Exit> {
    let (mut tally, mut spending) = (Tally::default(), Spending::default());
    let (mut upkeep, mut chances) = (Upkeep::default(), Chances::default());
    let mut kinships = Kinships::default();
    let view = View::open(&args.dir.dir, &args.plan, global, |moment| {
        tally.take(moment);
        spending.take(moment);
        upkeep.take(moment);
        kinships.take(moment);
        chances.take(moment.sighted.page, moment.sighted.kind);
    })?;
    kinships.learn(|page| view.posterior(page));
    tally.reported(view.zone().days(last_time(&args.dir.dir)));
    let truth = args.truth.as_deref();
    let truth = truth
        .map(|path| Truth::read(path, &view, global))
        .transpose()?;
    let html = args.html.as_deref().map(OutFile::open).transpose()?;
    let beliefs: Vec<Belief> = view.pages().map(|page| view.belief(page)).collect();
    let points = upkeep.over_time(&beliefs, view.now, |copies, at| {
        truth.as_ref().and_then(|truth| truth.at(copies, at))
    });
    let report = Report {
        dir: args.dir.dir.display().to_string(),
        zone: view.zone().clone(),
        points,
        pages: view.seen.len(),
        budget: view.plan.planner().requests_per_day(),
        limits: Limit::all(&view)
            .into_iter()
            .enumerate()
            .map(|(account, limit)| (limit, spending.of(account)))
            .collect(),
        requests_per_hour: view.plan.planner().requests_per_hour(),
        most_in_an_hour: spending.most_in_an_hour(),
        discovery: last_status(&args.dir.dir).and_then(|status| status.refresh),
        tally,
        kinships,
        chances,
    };
    let written = html.map_or(Ok(()), |file| {
        file.write(|out| out.write_all(report_html::page(&report).as_bytes()))
    });
    match global.format {
        Format::Human => human(&report)?,
        Format::Json => print(&serde_json::to_string_pretty(&as_json(&report))?)?,
        Format::Jsonl => print(&as_json(&report).to_string())?,
        Format::Csv => print_csv(&csv(&report, truth.is_some()))?,
    }
    written?;
    Ok(Exit::Done)
}

fn csv(report: &Report, has_truth: bool) -> String {
    let fields = |copies: Copies| format!(",{:.4},{:.2}", copies.freshness, copies.age_h);
    let mut text = String::from("time,freshness,age_h");
    text += if has_truth {
        ",true_freshness,true_age_h"
    } else {
        ""
    };
    for point in &report.points {
        text.push('\n');
        text += &report.zone.instant(point.at).to_rfc3339_secs();
        text += &fields(point.estimated);
        if has_truth {
            text += &point.truth.map_or(",,".to_owned(), fields);
        }
    }
    text
}

/// How right the copies are by now, in words.
pub(super) fn now_in_words(now: Option<&Point>) -> String {
    let Some(now) = now else {
        return "nothing is known yet".to_owned();
    };
    let words = |copies: Copies, by: &str| {
        let percent = copies.freshness * 100.0;
        format!("{percent:.1} %{by}, mean age {:.1} h", copies.age_h)
    };
    let truth = now
        .truth
        .map(|truth| format!("; true {}", words(truth, "")));
    let estimated = words(now.estimated, " by now");
    format!("{estimated} (estimated){}", truth.unwrap_or_default())
}

fn human(report: &Report) -> anyhow::Result<()> {
    let tally = &report.tally;
    print(&format!(
        "{}: {} pages, {} visits\nfreshness   {}\nrequests    {}",
        report.dir,
        report.pages,
        tally.visits(),
        now_in_words(report.points.last()),
        report.cost_in_words(),
    ))?;
    let kinds: Vec<String> = tally
        .kinds
        .iter()
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    print(&format!("visits      {}", kinds.join(", ")))?;
    if let Some(words) = report.discovery_in_words() {
        print(&format!("new pages   {words}"))?;
    }
    print(&format!("next visits {}", report.success_in_words()))?;
    if let Some(words) = report.hours_in_words() {
        print(&format!("hours       {words}"))?;
    }
    print("")?;
    print_changes(report)?;
    print_limits(&report.spent(), &SPENT_COLUMNS)
}

fn print_changes(report: &Report) -> anyhow::Result<()> {
    if !report.kinships.has_comparisons() {
        return print("no visit could be compared with an earlier copy: no changes can be told");
    }
    for table in report.kinships.tables() {
        print_table(&kind_lines(table.way, &table.rows), &[0])?;
        if let Some(words) = table.rest_in_words() {
            print(&words)?;
        }
        print("")?;
    }
    print_table(&report.class_lines(), &[])
}

/// What is told of each budget beside the budget itself.
const SPENT_COLUMNS: [&str; 2] = ["spent", "most in a day"];

/// How often pages of some kinds change.
pub(super) fn kind_lines(way: &str, kinds: &[(&str, Kind)]) -> Vec<Vec<String>> {
    let heads = [
        way, "pages", "compared", "changed", "share", "rate", "low", "high", "naive",
    ];
    let mut lines = vec![heads.map(str::to_owned).to_vec()];
    lines.extend(kinds.iter().map(|(name, kind)| {
        let (low, high) = kind.rate.interval();
        let rates = [Some(kind.rate.mean()), Some(low), Some(high), kind.naive()];
        let rates = rates.map(|rate| rate.map_or("-".to_owned(), |rate| format!("{rate:.4}")));
        let mut line = vec![
            (*name).to_owned(),
            kind.rate.pages().to_string(),
            kind.compared.to_string(),
            kind.changed.to_string(),
            format!("{:.3}", kind.share()),
        ];
        line.extend(rates);
        line
    }));
    lines
}

/// The tables, as people read them; the first line names the columns.
impl Report {
    /// How probable changes were thought to be, and how common they were.
    pub(super) fn class_lines(&self) -> Vec<Vec<String>> {
        let head = ["predicted", "seen", "visits"];
        let mut lines = vec![head.map(str::to_owned).to_vec()];
        let classes = self.tally.classes.iter().filter(|class| class.visits > 0);
        lines.extend(classes.map(|class| {
            vec![
                format!("{:.3}", class.predicted()),
                format!("{:.3}", class.seen()),
                class.visits.to_string(),
            ]
        }));
        lines
    }

    /// Visits by what they found.
    pub(super) fn found_lines(&self) -> Vec<Vec<String>> {
        let mut lines = vec![vec!["found".to_owned(), "visits".to_owned()]];
        let kinds = self.tally.kinds.iter();
        lines.extend(kinds.map(|(kind, count)| vec![(*kind).to_owned(), count.to_string()]));
        lines
    }

    /// The budgets of sites and groups.
    pub(super) fn budget_lines(&self) -> Vec<Vec<String>> {
        limit_lines(&self.spent(), &SPENT_COLUMNS)
    }

    fn spent(&self) -> Vec<(Limit, Vec<String>)> {
        let spent = |spent: &Spent| vec![spent.visits.to_string(), spent.most.to_string()];
        let limits = self.limits.iter();
        limits
            .map(|(limit, of)| (limit.clone(), spent(of)))
            .collect()
    }

    /// What became of new pages, if the crawl was kept fresh.
    pub(super) fn discovery_in_words(&self) -> Option<String> {
        let told = self.discovery.as_ref()?;
        Some(format!(
            "{} asked for since the crawl is kept fresh, budget {:.1} a day; {} wait for it",
            told.discovered, told.discovery_per_day?, told.postponed
        ))
    }

    /// What was spent of the budget of an hour, if there is one.
    pub(super) fn hours_in_words(&self) -> Option<String> {
        let (most, limit) = (self.most_in_an_hour, self.requests_per_hour?);
        Some(format!("{most} visits in one at most, of {limit:.0}"))
    }
}

fn budgets_json(report: &Report) -> Vec<Value> {
    let row = |(limit, spent): &(Limit, Spent)| {
        limit.to_json(&[
            ("spent", spent.visits.into()),
            ("most_in_a_day", spent.most.into()),
        ])
    };
    report.limits.iter().map(row).collect()
}

fn kind_json(name: &str, kind: &Kind) -> Value {
    let (low, high) = kind.rate.interval();
    json!({
        "kind": name,
        "pages": kind.rate.pages(),
        "compared": kind.compared,
        "changed": kind.changed,
        "share": kind.share(),
        "rate": kind.rate.mean(),
        "low": low,
        "high": high,
        "naive": kind.naive(),
    })
}

fn points_json(report: &Report) -> Vec<Value> {
    let point = |point: &Point| {
        json!({
            "time": report.zone.instant(point.at).to_rfc3339_secs(),
            "freshness": point.estimated.freshness,
            "age_h": point.estimated.age_h,
            "true_freshness": point.truth.map(|truth| truth.freshness),
            "true_age_h": point.truth.map(|truth| truth.age_h),
        })
    };
    report.points.iter().map(point).collect()
}

fn days_json(report: &Report) -> Vec<Value> {
    let day = |(day, (requests, changed)): (&i64, &(u64, u64))| {
        // A date of the zone: no instant, but written like one.
        let day = instant(*day as f64).to_rfc3339_secs();
        let ratio = *requests as f64 / report.pages.max(1) as f64;
        json!({ "day": day.get(..10), "requests": requests, "changed": changed, "load_ratio": ratio })
    };
    report.tally.by_day.iter().map(day).collect()
}

fn classes_json(tally: &Tally) -> Vec<Value> {
    let classes = tally.classes.iter().filter(|class| class.visits > 0);
    let class = |class: &Class| json!({ "predicted": class.predicted(), "seen": class.seen(), "visits": class.visits });
    classes.map(class).collect()
}

fn as_json(report: &Report) -> Value {
    let tally = &report.tally;
    let hours = |pick: fn(&(u64, u64)) -> u64| -> Vec<Vec<u64>> {
        let days = tally.by_hour.chunks(24);
        days.map(|day| day.iter().map(pick).collect()).collect()
    };
    let tables = report.kinships.tables();
    let of = tables.each_ref().map(|table| table.of);
    let [domains, depths, links] = tables.map(|table| {
        let rows = table.rows.iter().map(|(name, kind)| kind_json(name, kind));
        rows.collect::<Vec<Value>>()
    });
    let (ss, ff) = (
        report.chances.success_after_success(),
        report.chances.failure_after_failure(),
    );
    let now = report.points.last();
    let truth = now.and_then(|point| point.truth);
    let told = report.discovery.as_ref();
    json!({
        "dir": report.dir,
        "timezone": report.zone.name(),
        "pages": report.pages,
        "requests": tally.requests(),
        "days": tally.days(),
        "requests_a_day": tally.requests_a_day(),
        "budget_a_day": report.budget,
        "budgets": budgets_json(report),
        "requests_per_hour": report.requests_per_hour,
        "most_in_an_hour": report.most_in_an_hour,
        "discovery_per_day": told.and_then(|told| told.discovery_per_day),
        "discovered": told.map(|told| told.discovered),
        "postponed": told.map(|told| told.postponed),
        "load_ratio": report.load_ratio(),
        "freshness": now.map(|point| point.estimated.freshness),
        "age_h": now.map(|point| point.estimated.age_h),
        "true_freshness": truth.map(|truth| truth.freshness),
        "true_age_h": truth.map(|truth| truth.age_h),
        "visits": tally.kinds,
        "success_after_success": ss.share,
        "pairs_after_success": ss.pairs,
        "failure_after_failure": ff.share,
        "pairs_after_failure": ff.pairs,
        "over_time": points_json(report),
        "by_day": days_json(report),
        "comparisons_by_hour": hours(|(comparisons, _)| *comparisons),
        "changes_by_hour": hours(|(_, changed)| *changed),
        "by_domain": domains,
        "domains": of[0],
        "by_depth": depths,
        "depths": of[1],
        "by_link_type": links,
        "link_types": of[2],
        "share": SHARE,
        "predicted": classes_json(tally),
    })
}
