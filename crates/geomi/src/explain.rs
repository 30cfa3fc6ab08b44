//! `geomi explain`: what is known of a crawl, a site or a URL, what happens
//! next, and why.
//!
//! A running crawl is asked; a crawl at rest is looked at here, under its lock.
//! Visits that are in Parquet files already are read by this process either way.

mod likeness;

use std::fmt::Write as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use geomi_crawler::inspect;
use geomi_crawler::remote::{self, Request, Response};
use geomi_crawler::{Clock as _, SystemClock};
use geomi_engine::LogLine;
use geomi_engine::explain::{
    CrawlView, Explanation, PageLikeness, QueuePlace, SiteReport, Topic, UrlReport,
};
use geomi_store::{CrawlDir, segment, visits};
use geomi_url::CrawlUrl;
use serde_json::Value;

use crate::Exit;
use crate::args::{ExplainArgs, Format, Global};
use crate::config::{self, Problems, Sources};
use crate::session;
use crate::terminal::print;
use crate::words;

/// Runs the command.
pub(crate) fn run(args: &ExplainArgs, global: &Global) -> anyhow::Result<Exit> {
    let dir = CrawlDir::new(&args.dir);
    if !dir.frontier().is_dir() {
        let what = format!(
            "{} is no crawl directory, or its frontier/ was deleted",
            args.dir.display()
        );
        return Err(Problems::one(what).into());
    }
    let topic = topic(args.what.as_deref())?;
    let mut explanation = match ask(&args.dir, &topic)? {
        Some(explanation) => explanation,
        None => look(&dir, &topic, global)?,
    };
    if let (Topic::Url(url), Some(report)) = (&topic, &mut explanation.url) {
        add_past(&dir, url, report)?;
    }
    print(&match global.format {
        Format::Human => in_words(&explanation, args.visits),
        _ => serde_json::to_string(&explanation)?,
    })?;
    Ok(Exit::Done)
}

/// A URL, or a site by its name; nothing is the crawl.
fn topic(what: Option<&str>) -> anyhow::Result<Topic> {
    let Some(what) = what else {
        return Ok(Topic::Crawl);
    };
    let is_url = what.contains("://");
    let text = if is_url {
        what.to_owned()
    } else {
        format!("http://{what}")
    };
    let is_site = !is_url && !what.trim_end_matches('/').contains('/');
    match CrawlUrl::parse(&text) {
        Ok(url) if is_site => Ok(Topic::Site(url)),
        Ok(url) => Ok(Topic::Url(url)),
        Err(error) => {
            let what = format!("{what:?} is neither a URL nor a site: {error}");
            Err(Problems::one(what).into())
        }
    }
}

/// Asks the crawl, if it is running.
fn ask(dir: &Path, topic: &Topic) -> anyhow::Result<Option<Explanation>> {
    let (url, is_site) = match topic {
        Topic::Crawl => (None, false),
        Topic::Site(url) => (Some(url.to_string()), true),
        Topic::Url(url) => (Some(url.to_string()), false),
    };
    match remote::ask(dir, &Request::Explain { url, is_site })? {
        None => Ok(None),
        Some(Response::Explained { explanation }) => Ok(Some(*explanation)),
        Some(Response::Refused { problems }) => bail!("{}", problems.join("; ")),
        Some(_) => bail!("the crawl in {} speaks another language", dir.display()),
    }
}

/// Looks at a crawl at rest, with its own configuration.
fn look(dir: &CrawlDir, topic: &Topic, global: &Global) -> anyhow::Result<Explanation> {
    let mut problems = Problems::default();
    let written = config::load(
        &Sources {
            config: global.config.as_deref(),
            dir: Some(dir.root()),
            settings: &[],
        },
        &mut problems,
    );
    let meant = config::resolve(&written, Vec::new(), &mut problems);
    problems.into_result()?;
    let now = SystemClock::default().now();
    let _lock = session::take_lock(dir, now)?;
    Ok(inspect(&meant, dir, topic, now)?)
}

/// Adds the visits of a URL in the Parquet files, as lines of log.jsonl, and what
/// they and the archive say of it.
fn add_past(dir: &CrawlDir, url: &CrawlUrl, report: &mut UrlReport) -> anyhow::Result<()> {
    let (mut lines, mut past) = (Vec::new(), None);
    for segment in segment::list(dir)? {
        for visit in visits::read_visits(&segment.table(dir))? {
            let visit = visit?;
            if visit.url == *url {
                let line = serde_json::to_value(LogLine::new(segment.partition, &visit));
                lines.push(line.context("a visit cannot be shown")?);
                past = PageLikeness::of(&visit.facts).or(past);
            }
        }
    }
    lines.append(&mut report.recent);
    report.recent = lines;
    report.likeness = report.likeness.take().or(past);
    if let Some(likeness) = &mut report.likeness {
        likeness::complete(likeness, dir, url)?;
    }
    Ok(())
}

fn in_words(explanation: &Explanation, visits_max: usize) -> String {
    let mut text = String::new();
    match (&explanation.url, &explanation.site) {
        (Some(url), Some(site)) => {
            url_words(&mut text, url, visits_max);
            site_words(&mut text, site);
        }
        (_, Some(site)) => site_words(&mut text, site),
        _ => {}
    }
    crawl_words(&mut text, &explanation.crawl);
    text.trim_end().to_owned()
}

fn row(text: &mut String, name: &str, value: impl std::fmt::Display) {
    writeln!(text, "  {name:<12} {value}").expect("a string takes everything");
}

fn url_words(text: &mut String, url: &UrlReport, visits_max: usize) {
    text.push_str(&url.url);
    text.push('\n');
    let at = url.next.at.as_ref().map(|at| format!(" (not before {at})"));
    row(
        text,
        "next",
        format!("{}{}", url.next.text, at.unwrap_or_default()),
    );
    row(text, "scope", &url.scope);
    row(text, "robots.txt", &url.robots);
    if let Some(place) = &url.queue {
        queue_words(text, place);
    }
    if let Some(modified) = &url.listed_modified {
        let listed = format!("changed {modified}, says a sitemap or feed");
        row(text, "listed", listed);
    }
    if url.comparisons > 0 {
        let changes = format!("{} of {} revisits found one", url.changes, url.comparisons);
        row(text, "changes", changes);
    }
    template_words(text, url);
    if let Some(likeness) = &url.likeness {
        likeness::words(text, likeness);
    }
    visit_words(text, url, visits_max);
    text.push('\n');
}

/// A part of a score that not every URL has.
fn part(name: &str, value: Option<u8>) -> String {
    value.map_or(String::new(), |value| format!(", {name} {value}"))
}

fn queue_words(text: &mut String, place: &QueuePlace) {
    let ahead = format!(
        "priority {}, depth {}, {} before it in its queue",
        place.priority,
        place.depth,
        words::plural(place.ahead, "URL"),
    );
    row(text, "queue", ahead);
    let score = &place.score;
    let parts = format!(
        "{} % (depth {}, shape {}, kind {}, history {}{}{}{})",
        score.score,
        score.depth,
        score.shape,
        score.kind,
        score.history,
        match score.importance {
            Some(importance) => format!(", importance {importance}"),
            None => "; importance is known only while the crawl runs".to_owned(),
        },
        part("traffic", score.traffic),
        part("change", score.change),
    );
    row(text, "score", parts);
    if let Some(via) = &place.via {
        row(text, "found on", via);
    }
    row(text, "seed", &place.seed);
    if let Some(topic) = &place.topic {
        row(text, "topic", topic);
    }
}

/// What URLs like this one have brought, where anybody has looked.
fn template_words(text: &mut String, url: &UrlReport) {
    let novelty = &url.novelty;
    let account = &novelty.account;
    let brought = format!(
        "{}: {} found, {} answered, {} new, {} led on, {} with support, {} deferred; \
         budget for repeated content: {} left, {} in {}",
        novelty.template,
        words::count(account.found.into()),
        words::count(account.requests.into()),
        words::count(account.new.into()),
        words::count(account.led_on.into()),
        words::count(account.supported.into()),
        words::count(account.deferred.into()),
        novelty.left,
        novelty.section_left,
        novelty.section
    );
    if account.requests > 0 {
        row(text, "template", brought);
    }
    for param in &novelty.params {
        let effect = if novelty.ignored.contains(&param.name) {
            ": ignored"
        } else {
            ""
        };
        let pairs = format!(
            "{}: {} pairs of URLs that differ in it only brought the same, {} did not{effect}",
            param.name, param.same, param.different
        );
        row(text, "parameter", pairs);
    }
    if let Some(shortened) = &url.shortened {
        row(text, "shortened", format!("links to it become {shortened}"));
    }
    if let Some(reason) = &url.not_worth {
        row(text, "not worth it", reason);
    }
}

fn visit_words(text: &mut String, url: &UrlReport, visits_max: usize) {
    row(text, "visits", url.recent.len());
    let skipped = url.recent.len().saturating_sub(visits_max);
    for visit in &url.recent[skipped..] {
        let field = |name: &str| match &visit[name] {
            Value::Null => "-".to_owned(),
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        let line = format!(
            "{}  {} {}  {}  {} bytes  {} ms{}",
            field("time"),
            field("state"),
            field("code"),
            field("mime"),
            field("bytes"),
            field("total_ms"),
            visit["error"]
                .as_str()
                .map(|error| format!("  {error}"))
                .unwrap_or_default()
        );
        row(text, "", line);
    }
}

fn site_words(text: &mut String, site: &SiteReport) {
    writeln!(text, "site {}", site.site).expect("a string takes everything");
    let until = site.until.as_ref().map(|until| format!(", until {until}"));
    row(
        text,
        "state",
        format!("{}: {}{}", site.hold, site.why, until.unwrap_or_default()),
    );
    row(text, "robots.txt", &site.robots);
    if site.known {
        row(
            text,
            "queue",
            format!(
                "{} waiting, {} under way",
                words::plural(site.queued, "URL"),
                site.in_flight
            ),
        );
        row(
            text,
            "requests",
            format!(
                "{}, {} answered, {} failures in a row",
                words::count(site.requests),
                words::count(site.answers),
                site.failures
            ),
        );
        row(
            text,
            "delay",
            format!(
                "{:.1} s after each answer; the last took {:.0} ms",
                site.delay_s, site.last_download_ms
            ),
        );
        if let Some(rtt) = site.rtt_ms {
            row(
                text,
                "first byte",
                format!(
                    "after {rtt:.1} ms, give or take {:.1}",
                    site.rtt_deviation_ms
                ),
            );
        }
        if let Some(connect) = site.connect_ms {
            let give_or_take = site.connect_deviation_ms;
            let words = format!("after {connect:.1} ms, give or take {give_or_take:.1}");
            row(text, "connected", words);
        }
        row(
            text,
            "outlook",
            format!(
                "the next visit is answered with probability {:.2} (SS {:.2}, FF {:.2})",
                site.next_answered, site.ss, site.ff
            ),
        );
        if let Some(address) = &site.address {
            row(text, "address", address);
        }
        novelty_words(text, site);
        if let Some(word) = &site.word {
            row(text, "its word", word.in_words());
        }
        if let Some(rhythm) = &site.rhythm {
            row(text, "rhythm", rhythm.in_words());
        }
    }
    text.push('\n');
}

/// What the site's URLs brought, and what follows from it.
fn novelty_words(text: &mut String, site: &SiteReport) {
    let novelty = &site.novelty;
    let account = &novelty.account;
    let brought = format!(
        "{} found, {} answered, {} new, {} led on, {} with support; \
         budget for repeated content: {} left",
        words::count(account.found.into()),
        words::count(account.requests.into()),
        words::count(account.new.into()),
        words::count(account.led_on.into()),
        words::count(account.supported.into()),
        novelty.left
    );
    row(text, "trap guard", brought);
    if let Some(mirror) = &site.mirror {
        let evidence = format!(
            "of {}: {} of {} compared say the same",
            mirror.of,
            mirror.pages_agreeing,
            words::plural(mirror.pages_compared.into(), "page")
        );
        row(text, "mirror", evidence);
    }
    for (template, requests) in &novelty.closed {
        row(
            text,
            "deferred",
            format!("{template} after {requests} requests"),
        );
    }
    for (template, name) in &novelty.ignored {
        row(text, "ignored", format!("{name} in {template}"));
    }
    if site.domain_hosts > 1 || site.domain_hosts_refused > 0 {
        let hosts = format!(
            "{}: {} opened, {} refused, {} left",
            site.domain, site.domain_hosts, site.domain_hosts_refused, site.domain_hosts_left
        );
        row(text, "domain", hosts);
    }
}

fn crawl_words(text: &mut String, crawl: &CrawlView) {
    text.push_str("crawl\n");
    for cause in &crawl.causes {
        row(text, &cause.code, &cause.text);
        if let Some(advice) = &cause.advice {
            row(text, "", format!("-> {advice}"));
        }
    }
    row(
        text,
        "queue",
        format!(
            "{} waiting, {} under way",
            words::plural(crawl.queued, "URL"),
            crawl.in_flight
        ),
    );
    let counters = &crawl.counters;
    row(
        text,
        "pages",
        format!(
            "{} saved, {} failed, {} redirected, {} refused",
            words::count(counters.saved),
            words::count(counters.failed),
            words::count(counters.redirected),
            words::count(counters.refused)
        ),
    );
    let visits = format!(
        "{} made, {} saved a page or found it unchanged",
        words::count(counters.visits),
        words::count(counters.visits_saved)
    );
    row(text, "visits", visits);
    for group in &crawl.sites {
        let until = group.until.as_ref().map(|at| format!(", first at {at}"));
        row(
            text,
            "sites",
            format!(
                "{} {} with {}{} (such as {}: {})",
                group.sites,
                group.hold,
                words::plural(group.urls, "URL"),
                until.unwrap_or_default(),
                group.example,
                group.why
            ),
        );
    }
    let disk = format!(
        "{} free, stops below {}",
        words::bytes(crawl.free_bytes as f64),
        words::bytes(crawl.min_free_bytes as f64)
    );
    row(text, "disk", disk);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_and_sites_are_told_apart() {
        let is_site = |text| matches!(topic(Some(text)).unwrap(), Topic::Site(_));
        assert!(is_site("example.com"));
        assert!(is_site("example.com:8080"));
        assert!(is_site("example.com/"));
        assert!(!is_site("example.com/page"));
        assert!(!is_site("https://example.com/"));
        assert_eq!(topic(None).unwrap(), Topic::Crawl);
        assert!(topic(Some("http://")).is_err());
    }
}
