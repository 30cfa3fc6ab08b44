//! `geomi refresh explain`: when a page is due, and why.

use std::collections::BTreeMap;

use clap::Args;
use geomi_crawler::explain::SiteWord;
use geomi_crawler::refresh::site_signals;
use geomi_crawler::{Clock as _, SystemClock};
use geomi_model::Timestamp;
use geomi_model::week::DAYS;
use geomi_refresh::upkeep::{Sighting, SiteSignals, hour_of_week};
use geomi_refresh::{PageId, Policy as _, Profile};
use geomi_store::StoreError;
use geomi_url::CrawlUrl;
use serde_json::json;

use super::chance::{Chances, Followed};
use super::change_hours::ChangeWeek;
use super::limits::{Limit, held_by, hours_in_words};
use super::run::PlanArgs;
use super::view::{DirArgs, SHARE, View, typed_url};
use crate::Exit;
use crate::args::{Format, Global};
use crate::session::take_lock;
use crate::terminal::print;
use crate::words;

/// What stands below the help.
pub(crate) const AFTER_HELP: &str = "\
Example:
  geomi refresh explain news https://example.com/a

What is told holds for the budget and policy of the last `refresh run`, or those given here.
Exit codes: 0 explained, 1 error, 2 usage, no crawl directory, or no copy of that URL.";

/// Visits shown.
const VISITS_MAX: usize = 20;

/// Arguments of `geomi refresh explain`.
#[derive(Debug, Args)]
pub(crate) struct ExplainCommand {
    #[command(flatten)]
    dir: DirArgs,
    /// The page
    url: String,
    #[command(flatten)]
    plan: PlanArgs,
}

/// A visit of the page.
#[derive(Clone, Copy)]
struct Told {
    at: Timestamp,
    kind: Sighting,
    /// Days since it was seen before.
    gap: f64,
    /// Bytes by which the body is longer or shorter, where it was compared.
    size: Option<u64>,
    chance: Option<f64>,
    /// Whether it was made because of a signal, before its turn.
    is_early: bool,
}

/// All there is to tell of the page.
struct Explained<'a> {
    view: &'a View,
    page: PageId,
    /// When it is visited next, in days.
    due: f64,
    visits: &'a [Told],
    /// In which hours its changes fell.
    week: &'a ChangeWeek,
    /// Whether the last one succeeded, and what followed such visits.
    success: (bool, Followed),
    /// What the site's word is worth, or why that is not known.
    signals: Result<SiteSignals, String>,
}

/// Runs the command.
pub(crate) fn run(args: &ExplainCommand, global: &Global) -> anyhow::Result<Exit> {
    let url = typed_url(&args.url)?;
    let mut visits: Vec<Told> = Vec::new();
    let mut week = ChangeWeek::default();
    let mut chances = Chances::default();
    let mut view = View::open(&args.dir.dir, &args.plan, global, |moment| {
        chances.take(moment.sighted.page, moment.sighted.kind);
        if moment.visit.url == url {
            if moment.sighted.kind == Sighting::Changed {
                week.take(moment.before, moment.sighted.at);
            }
            visits.push(Told {
                at: moment.visit.time,
                kind: moment.sighted.kind,
                gap: moment.sighted.at - moment.before,
                size: moment.visit.changed.map(|change| change.size),
                chance: moment.chance,
                is_early: moment.visit.early.is_some(),
            });
        }
    })?;
    let page = view.find(&url)?;
    let signals = signals(&view, &url);
    let due = view.plan.planner_mut().expected(page);
    let told = Explained {
        view: &view,
        page,
        due,
        visits: &visits,
        week: &week,
        success: chances.of(page),
        signals,
    };
    match global.format {
        Format::Human => print(&in_words(&told))?,
        _ => print(&as_json(&told).to_string())?,
    }
    Ok(Exit::Done)
}

/// What the site's word is worth, which is in the state of the crawl; or why that cannot
/// be read. Visits can, and tell all the rest.
fn signals(view: &View, url: &CrawlUrl) -> Result<SiteSignals, String> {
    let now = SystemClock::default().now();
    let _lock = take_lock(&view.dir, now).map_err(|error| match error.downcast_ref() {
        Some(StoreError::Locked { .. }) => format!(
            "not known while a run holds the directory: `geomi explain {} {}` asks it",
            view.dir.root().display(),
            url.site()
        ),
        _ => format!("not known: {error:#}"),
    })?;
    let signals = site_signals(&view.config, &view.dir, url);
    signals.map_err(|error| format!("not known: {error}"))
}

/// Why it is due then, in a sentence, and which budget it waits for.
fn why(told: &Explained<'_>) -> String {
    match held_by(told.view, told.page) {
        Some(budget) => format!("{}; {budget}", why_then(told)),
        None => why_then(told),
    }
}

fn why_then(told: &Explained<'_>) -> String {
    let Explained {
        view, page, due, ..
    } = *told;
    match told.visits.last().map(|visit| visit.kind) {
        Some(Sighting::Gone) => {
            return "the page was gone at its last visit: it is looked for after the longest gap"
                .to_owned();
        }
        Some(Sighting::Failed) => {
            return "its last visit came to nothing: it is tried again, later each time".to_owned();
        }
        _ => {}
    }
    let planner = view.plan.planner();
    let (gap, terms) = (due - planner.last(page), planner.terms());
    let seen = view.seen[page as usize];
    if gap >= terms.longest_gap * 0.999 {
        return format!(
            "no visit would be worth its price before; it is looked at after the longest gap of {:.1} days",
            terms.longest_gap
        );
    }
    if seen.compared == 0 {
        return "it was seen once only: it is taken to be like other pages of its kind".to_owned();
    }
    format!(
        "after {gap:.2} days a visit is worth its price: the copy is then right with {:.0} % probability",
        view.belief(page).fresh(planner.last(page), due) * 100.0
    )
}

/// When a page was first found gone, if it was not seen since. A visit that came to
/// nothing says neither.
fn gone_since(visits: &[Told]) -> Option<Timestamp> {
    let since_seen = visits
        .iter()
        .rev()
        .take_while(|visit| matches!(visit.kind, Sighting::Gone | Sighting::Failed));
    let gone = since_seen.filter(|visit| visit.kind == Sighting::Gone);
    gone.last().map(|visit| visit.at)
}

/// How probably the copy is right by now.
fn fresh_now(about: &Explained<'_>) -> f64 {
    let Explained { view, page, .. } = *about;
    match gone_since(about.visits) {
        Some(_) => 0.0,
        None => view
            .belief(page)
            .fresh(view.plan.planner().last(page), view.now),
    }
}

/// The budgets of a page, beside that of the whole plan.
fn limits(view: &View, page: PageId) -> Vec<Limit> {
    let accounts = view.plan.planner().accounts_of(page);
    accounts.map(|account| Limit::of(view, account)).collect()
}

fn in_words(about: &Explained<'_>) -> String {
    let Explained {
        view, page, visits, ..
    } = *about;
    let planner = view.plan.planner();
    let (posterior, seen) = (view.posterior(page), view.seen[page as usize]);
    let (low, high) = posterior.interval(SHARE);
    let last = planner.last(page);
    let mut lines = vec![
        view.plan.pages().url(page).to_owned(),
        format!(
            "due         {}",
            view.plan.instant(about.due).to_rfc3339_secs()
        ),
        format!("why         {}", why(about)),
        format!(
            "copy        of {}, {}",
            view.plan.instant(last).to_rfc3339_secs(),
            match gone_since(visits) {
                Some(since) => format!("of a page that is gone since {}", since.to_rfc3339_secs()),
                None => format!(
                    "right with {:.0} % probability by now",
                    fresh_now(about) * 100.0
                ),
            }
        ),
        format!(
            "rate        {:.4} changes a day, with {:.0} % probability {low:.4} to {high:.4}",
            posterior.mean(),
            SHARE * 100.0
        ),
        format!("evidence    {}", seen.evidence()),
        format!(
            "plan        policy {}, price {:.4}, {:.1} requests a day for {} pages{}",
            view.plan.config().policy,
            planner.price(),
            planner.requests_per_day(),
            planner.pages(),
            hours_in_words(view)
        ),
    ];
    lines.push(success_in_words(about.success));
    let zone = view.zone().name();
    lines.push(profile_in_words(planner.policy().profile(page), zone));
    lines.extend(about.week.in_words(zone));
    lines.push(format!(
        "weight      {:.2}, weights {}",
        seen.weight,
        view.plan.config().weights.as_str()
    ));
    for limit in limits(view, page) {
        lines.push(format!("budget      {}", limit.in_words()));
    }
    lines.push(signals_in_words(&about.signals));
    lines.push("visits".to_owned());
    let shown = visits.iter().rev().take(VISITS_MAX).rev();
    lines.extend(shown.map(visit_in_words));
    lines.join("\n")
}

/// How likely the next visit is to succeed.
fn success_in_words((is_well, after): (bool, Followed)) -> String {
    let last = if is_well { "succeeded" } else { "failed" };
    format!(
        "next visit  succeeds with {:.0} % probability: the last one {last}, and {} of {} visits after such did",
        after.chance(is_well) * 100.0,
        after.well,
        after.visits
    )
}

/// When the page changes, hour by hour and day by day.
fn profile_in_words(profile: Option<Profile>, zone: &str) -> String {
    let Some(Profile { hours, days }) = profile.filter(tells_apart) else {
        return "hours       none that have been seen to matter: all hours and days count as the same"
            .to_owned();
    };
    let step = 24 / hours.len();
    let hours = hours.iter().enumerate();
    let hours: Vec<_> = hours
        .map(|(at, rate)| format!("{:02}h {rate:.2}", at * step))
        .collect();
    let days = named(days).map(|(day, rate)| format!("{day} {rate:.2}"));
    let days: Vec<_> = days.collect();
    format!(
        "hours       changes against the mean, from that hour ({zone}) on: {}; {}",
        hours.join(", "),
        days.join(", ")
    )
}

/// Whether any hour or day is told apart from the others, in the digits that are shown.
fn tells_apart(profile: &Profile) -> bool {
    let mut rates = profile.hours.iter().chain(&profile.days);
    rates.any(|rate| (rate - 1.0).abs() >= 0.005)
}

/// The days of a plan, whose day 0 was the first of 1970, by name.
fn named(days: [f32; 7]) -> impl Iterator<Item = (&'static str, f32)> {
    let name = |day: u32| DAYS[hour_of_week(f64::from(day)) / 24];
    (0..).map(name).zip(days)
}

fn signals_in_words(signals: &Result<SiteSignals, String>) -> String {
    let words = match signals {
        Ok(signals) => SiteWord::of(signals).in_words(),
        Err(reason) => reason.clone(),
    };
    format!("site's word {words}")
}

fn visit_in_words(told: &Told) -> String {
    let by = if told.is_early { " by its turn" } else { "" };
    let chance = told.chance.map_or(String::new(), |chance| {
        format!(", a change was {:.0} % likely{by}", chance * 100.0)
    });
    let at = told.at.to_rfc3339_secs();
    let found = told.kind.as_str();
    let size = told.size.filter(|bytes| *bytes > 0);
    let size = size.map_or(String::new(), |bytes| {
        format!(", size differs by {}", words::plural(bytes, "byte"))
    });
    format!(
        "  {at}  {found:<9}  after {:.2} days{size}{chance}",
        told.gap
    )
}

fn as_json(about: &Explained<'_>) -> serde_json::Value {
    let Explained {
        view, page, visits, ..
    } = *about;
    let signals = about.signals.as_ref().ok().copied();
    let planner = view.plan.planner();
    let (posterior, seen) = (view.posterior(page), view.seen[page as usize]);
    let (low, high) = posterior.interval(SHARE);
    let profile = planner.policy().profile(page);
    let gone_since = gone_since(visits).map(Timestamp::to_rfc3339_millis);
    let visits: Vec<_> = visits
        .iter()
        .map(|told| {
            json!({
                "time": told.at.to_rfc3339_millis(),
                "found": told.kind.as_str(),
                "gap_days": told.gap,
                "change_size": told.size,
                "chance": told.chance,
            })
        })
        .collect();
    json!({
        "url": view.plan.pages().url(page),
        "due": view.plan.instant(about.due).to_rfc3339_millis(),
        "why": why(about),
        "last": view.plan.instant(planner.last(page)).to_rfc3339_millis(),
        "fresh": fresh_now(about),
        "gone_since": gone_since,
        "rate": posterior.mean(), "low": low, "high": high, "share": SHARE,
        "compared": seen.compared, "changed": seen.changed, "missed": seen.missed,
        "success": about.success.1.chance(about.success.0),
        "policy": view.plan.config().policy,
        "price": planner.price(),
        "weight": seen.weight,
        "weights": view.plan.config().weights.as_str(),
        "price_of_page": planner.price_of(page),
        "held_by": planner.held_by(page).map(|account| Limit::of(view, account).to_json(&[])),
        "budgets": limits(view, page).iter().map(|limit| limit.to_json(&[])).collect::<Vec<_>>(),
        "requests_per_day": planner.requests_per_day(),
        "requests_per_hour": planner.requests_per_hour(),
        "timezone": view.zone().name(),
        "hours": profile.map(|profile| profile.hours),
        "days": profile.map(|profile| named(profile.days).collect::<BTreeMap<_, _>>()),
        "changes_by_hour": about.week.as_json(),
        "signs_unknown": about.signals.as_ref().err(),
        "trust": signals.map(|signals| signals.trust()),
        "audits": signals.map(|signals| signals.audits),
        "audits_wrong": signals.map(|signals| signals.lies),
        "is_distrusted": signals.map(|signals| signals.is_distrusted()),
        "candour": signals.map(|signals| signals.not_modified_record().share()),
        "changes_admitted": signals.map(|signals| signals.not_modified_record().admitted),
        "changes_expected": signals.map(|signals| signals.not_modified_record().expected()),
        "not_modified": signals.map(|signals| signals.not_modified),
        "sitemap_reliability": signals.map(|signals| signals.sitemaps.reliability()),
        "feed_reliability": signals.map(|signals| signals.feeds.reliability()),
        "visits": visits,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hours_that_are_all_alike_are_not_listed() {
        let mut profile = Profile {
            hours: [1.001; _],
            days: [1.0; 7],
        };
        let words = |profile| profile_in_words(Some(profile), "Asia/Seoul");
        assert!(words(profile).contains("none that have been seen"));
        profile.hours[6] = 1.3;
        assert!(
            words(profile).contains("(Asia/Seoul)") && words(profile).contains("18h 1.30"),
            "{}",
            words(profile)
        );
    }

    #[test]
    fn a_page_is_gone_until_it_is_seen_again() {
        use Sighting::{Failed, First, Gone, Same};
        let check = |kinds: &[Sighting], since: Option<i64>| {
            let visits = kinds.iter().zip(1..).map(|(kind, at)| Told {
                at: Timestamp::from_secs(at),
                kind: *kind,
                gap: 1.0,
                size: None,
                chance: None,
                is_early: false,
            });
            let visits: Vec<Told> = visits.collect();
            let found = gone_since(&visits);
            assert_eq!(found, since.map(Timestamp::from_secs), "{kinds:?}");
        };
        check(&[First, Gone, Gone], Some(2));
        check(&[First, Gone, Failed], Some(2));
        check(&[First, Failed], None);
        check(&[First, Gone, Same], None);
        check(&[First, Gone, Same, Failed, Gone], Some(5));
    }

    #[test]
    fn a_plan_begins_on_a_thursday() {
        let days: Vec<_> = named([0.0, 1.0, 2.0, 3.0, 4.0, 5.0, 6.0]).collect();
        assert_eq!(days[0], ("Thursday", 0.0));
        assert_eq!(days[3], ("Sunday", 3.0));
    }
}
