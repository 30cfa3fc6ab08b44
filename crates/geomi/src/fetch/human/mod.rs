//! The telling as a sheet: a label a step, its words beside it.

mod exchange;

use std::time::Duration;

use geomi_crawler::{AddressStep, Hop, HopEnd, Probe, RobotsStep, ScopeStep};
use geomi_engine::SiteAccess;
use geomi_fetch::{AddressSource, FetchOutcome, Resolution};
use geomi_model::Phases;
use geomi_robots::RobotsPolicy;
use geomi_scope::Verdict;
use geomi_url::rewritten;
use geomi_url::surt::surt_key;

use super::Told;
use crate::args::{Color, Global};
use crate::terminal::{self, Style, Styled, one_line};
use crate::words;

/// Room for the labels.
const LABEL_WIDTH: usize = 11;

/// Whether colours suit where the sheet goes.
pub(super) fn has_colours(global: &Global, to_stderr: bool) -> bool {
    let is_terminal = if to_stderr {
        terminal::is_stderr_terminal()
    } else {
        terminal::is_stdout_terminal()
    };
    match global.color {
        Color::Always => true,
        Color::Never => false,
        Color::Auto => is_terminal && std::env::var_os("NO_COLOR").is_none(),
    }
}

/// The whole sheet.
pub(super) fn sheet(told: &Told<'_>, has_colours: bool) -> Styled {
    let mut sheet = Sheet(Styled::new(has_colours));
    for (number, hop) in (1..).zip(&told.probe.hops) {
        if number > 1 {
            sheet.0.push("\n");
        }
        hop_lines(&mut sheet, number, hop, told);
    }
    sheet.0.push("\n");
    sheet.0.push(&last_line(told.probe));
    sheet.0
}

/// How it ended, in a line.
pub(super) fn last_line(probe: &Probe) -> String {
    let hop = probe.last();
    let line = match (&hop.end, &hop.exchange) {
        (HopEnd::Refused { by, reason }, _) => format!("refused by {}: {reason}", by.as_str()),
        (HopEnd::Failed { state, reason }, _) => format!("failed: {state}, {reason}"),
        (_, None) => "not asked for".to_owned(),
        (_, Some(step)) => format!(
            "fetched: {}, {} of {} in {}",
            status_line(&step.outcome),
            words::bytes(step.outcome.body.len() as f64),
            step.mime.as_deref().unwrap_or("unknown type"),
            short(step.outcome.phases.total),
        ),
    };
    one_line(&line).into_owned()
}

/// The first line of the answer.
pub(super) fn status_line(outcome: &FetchOutcome) -> String {
    let line = outcome.head.split(|byte| *byte == b'\n').next();
    String::from_utf8_lossy(line.unwrap_or_default().trim_ascii_end()).into_owned()
}

/// A sheet in the making.
struct Sheet(Styled);

impl Sheet {
    /// A step and what it came to.
    fn line(&mut self, label: &str, words: &str) {
        self.0
            .push_in(Style::Bold, &format!("{label:LABEL_WIDTH$}"));
        self.0.push(" ");
        self.0.push(&one_line(words));
        self.0.push("\n");
    }

    /// More about the step.
    fn more(&mut self, words: &str) {
        self.line("", words);
    }
}

/// A span as short as phases are.
fn short(span: Duration) -> String {
    if span < Duration::from_millis(10) {
        return format!("{:.1}ms", span.as_secs_f64() * 1e3);
    }
    words::span(span)
}

fn hop_lines(sheet: &mut Sheet, number: usize, hop: &Hop, told: &Told<'_>) {
    if number == 1 {
        sheet.line("url", hop.url.as_str());
        let reasons = rewritten(told.typed, &told.question.url);
        if !reasons.is_empty() {
            sheet.more(&format!("typed as {}: {}", told.typed, reasons.join(", ")));
        }
    } else {
        sheet.line(&format!("hop {number}"), hop.url.as_str());
    }
    sheet.more(&format!(
        "key {}, site {}, hash {:016x}",
        surt_key(hop.url.as_str()),
        hop.url.site(),
        hop.url.hash64().0
    ));
    scope_line(sheet, &hop.scope);
    if let Some(step) = &hop.address {
        address_lines(sheet, step);
    }
    if let Some(step) = &hop.robots {
        robots_lines(sheet, step, hop, told);
    }
    if !hop.waited.is_zero() {
        sheet.line(
            "waited",
            &format!("{}, the rest of the site", short(hop.waited)),
        );
    }
    if let Some(step) = &hop.exchange {
        exchange::lines(sheet, step, hop, told);
    }
}

fn scope_line(sheet: &mut Sheet, step: &ScopeStep) {
    let words = match step.verdict {
        Verdict::Accept { rule } => format!(
            "accepted by rule {}: {} (depth {}, priority {})",
            rule.as_str(),
            step.words,
            step.depth,
            step.priority.unwrap_or_default()
        ),
        Verdict::CandidateSeed => format!("not followed: {}", step.words),
        Verdict::Refuse(refusal) => format!("refused, {}: {}", refusal.as_str(), step.words),
    };
    sheet.line("scope", &words);
}

fn address_lines(sheet: &mut Sheet, step: &AddressStep) {
    let source = match step.look_up.source {
        AddressSource::Override => "set by --resolve",
        AddressSource::Literal => "the host is an address",
        AddressSource::Localhost => "localhost is this machine",
        AddressSource::Names => "by name",
    };
    let when = match step.took {
        Some(took) => format!("{source}, {}", short(took)),
        None => "known already".to_owned(),
    };
    match (step.chosen, &step.look_up.resolution) {
        (Some(addr), _) => sheet.line("address", &format!("{addr} chosen ({when})")),
        (None, Resolution::Failed { error }) => sheet.line("address", &format!("none: {error}")),
        (None, _) => sheet.line("address", &format!("none may be asked ({when})")),
    }
    let others = step.look_up.addresses.iter();
    for other in others.filter(|other| Some(other.addr) != step.chosen) {
        match other.refused {
            Some(reason) => sheet.more(&format!("{} refused: {reason}", other.addr)),
            None => sheet.more(&format!("{} not needed", other.addr)),
        }
    }
}

fn robots_lines(sheet: &mut Sheet, step: &RobotsStep, hop: &Hop, told: &Told<'_>) {
    let agent = &told.config.engine.agent;
    sheet.line("robots", &robots_words(step, hop, agent));
    for request in &step.asked {
        let code = request
            .code
            .map_or_else(String::new, |code| format!(" {code}"));
        let what = match (&request.location, &request.error) {
            (Some(target), _) => format!("to {target}"),
            (None, Some(error)) => error.clone(),
            (None, None) => words::bytes(request.body_bytes as f64),
        };
        let again = if request.would_retry {
            ", and a crawl would ask again"
        } else {
            ""
        };
        sheet.more(&format!(
            "{}: {}{code}, {what}{again}; {}",
            request.url,
            request.state,
            phases(&request.phases)
        ));
    }
    if let Some(SiteAccess::Policy(policy)) = &step.access {
        if let Some(delay) = policy.crawl_delay(agent) {
            sheet.more(&format!("crawl-delay {}", words::span(delay)));
        }
        for sitemap in policy.sitemaps() {
            sheet.more(&format!("sitemap {sitemap}"));
        }
    }
}

/// Whether robots.txt permits it, and by which line.
fn robots_words(step: &RobotsStep, hop: &Hop, agent: &str) -> String {
    match &step.access {
        None if step.asked.is_empty() => "ignored, as configured".to_owned(),
        None => "not found out".to_owned(),
        Some(SiteAccess::NoAnswer { reason, .. }) => format!("no answer: {reason}"),
        Some(SiteAccess::Policy(RobotsPolicy::Unavailable { code })) => {
            format!("allowed: the site has none to show ({code})")
        }
        Some(SiteAccess::Policy(RobotsPolicy::Unreachable { reason })) => {
            format!("disallowed: {reason}")
        }
        Some(SiteAccess::Policy(RobotsPolicy::Rules(rules))) => {
            let verdict = rules.verdict(agent, hop.url.path_and_query());
            let may = if verdict.allowed {
                "allowed"
            } else {
                "disallowed"
            };
            let lines: Vec<String> = rules
                .agent_lines(agent)
                .iter()
                .map(u32::to_string)
                .collect();
            let group = match verdict.agent {
                Some(group) => format!("group {group} (line {})", lines.join(", ")),
                None => format!("no group is for {agent}"),
            };
            match verdict.rule {
                Some(rule) => format!("{may} by {rule}; {group}"),
                None => format!("{may}: no rule matches; {group}"),
            }
        }
    }
}

fn phases(phases: &Phases) -> String {
    let parts = [
        ("dns", phases.dns),
        ("connect", phases.connect),
        ("tls", phases.tls),
        ("first byte", phases.first_byte),
        ("body", phases.download),
        ("total", Some(phases.total)),
    ];
    let told = parts
        .into_iter()
        .filter_map(|(name, span)| Some(format!("{name} {}", short(span?))));
    told.collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_strangers_write_is_a_line_that_cannot_steer_the_terminal() {
        let mut sheet = Sheet(Styled::new(true));
        sheet.line("title", "a\x1b[2Jb\nc\u{9b}한글");
        assert_eq!(
            sheet.0.to_string(),
            "\x1b[1mtitle      \x1b[0m a\\u001b[2Jb\\u000ac\\u009b한글\n"
        );
    }

    #[test]
    fn phases_are_told_in_order_and_only_those_there_were() {
        let told = phases(&Phases {
            connect: Some(Duration::from_micros(1_250)),
            total: Duration::from_millis(45),
            ..Phases::default()
        });
        assert_eq!(told, "connect 1.2ms, total 45ms");
    }
}
