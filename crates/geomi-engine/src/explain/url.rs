//! A URL explained.

use std::collections::BTreeMap;

use geomi_frontier::Entry;
use geomi_model::{ChangeFrequency, ChangeSignal, Timestamp, UrlRecord};
use geomi_novelty::TemplateStanding;
use geomi_refresh::PageId;
use geomi_scope::{Candidate, Refusal, Verdict};
use geomi_url::template::Template;
use geomi_url::{CrawlUrl, SiteHash};
use serde::{Deserialize, Serialize};

use super::{PageLikeness, Place, SiteReport};
use crate::books::{Access, SiteAccess};
use crate::depths::ShortestPath;
use crate::log_line::LogLine;
use crate::novelty::domain_hash;
use crate::refusal::RefusalRule;
use crate::stage::admit::Standing;
use crate::{EngineError, RobotsMode};
use geomi_refresh::upkeep::{Drive, RefreshPlan};

/// Seeds that a URL is compared with when it is not known from which it came.
const SEEDS_TRIED_MAX: usize = 10_000;

/// What is known of a URL, and what happens to it next.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct UrlReport {
    /// As geomi spells it.
    pub url: String,
    /// Whether it was ever admitted.
    pub seen: bool,
    /// The rule of scope that lets it in or keeps it out.
    pub scope: String,
    /// What the site's robots.txt says of it.
    pub robots: String,
    /// Visits in all.
    pub visits: u32,
    /// When the last one was.
    pub last_visit: Option<String>,
    /// How it ended.
    pub last_state: Option<String>,
    /// With which code.
    pub last_code: Option<u16>,
    /// Comparisons with a visit before, and how many found a change.
    pub comparisons: u32,
    /// Changes found.
    pub changes: u32,
    /// When it last changed, as a sitemap or feed says.
    pub listed_modified: Option<String>,
    /// Where it stands in its site's queue.
    pub queue: Option<QueuePlace>,
    /// What happens next.
    pub next: NextStep,
    /// What URLs of its template were worth.
    pub novelty: TemplateStanding,
    /// Why it is not worth a request, where it is not.
    pub not_worth: Option<String>,
    /// What it becomes when a link leads to it and parameters are dropped.
    pub shortened: Option<String>,
    /// What it is like, if it was visited and is a page.
    pub likeness: Option<PageLikeness>,
    /// Visits that are in no Parquet file yet, as lines of log.jsonl.
    pub recent: Vec<serde_json::Value>,
}

/// A place in a site's queue.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct QueuePlace {
    /// 1 is the highest.
    pub priority: u8,
    /// URLs before it: of its priority, or of its depth with breadth-first order.
    pub ahead: u64,
    /// The parts of its priority, with what is known now.
    pub score: ScoreReport,
    /// Links away from its seed.
    pub depth: u16,
    /// The page it was found on.
    pub via: Option<String>,
    /// The seed it belongs to.
    pub seed: String,
    /// That seed's topic.
    pub topic: Option<String>,
    /// Tries made.
    pub attempts: u8,
    /// Not before this, if it is a second try.
    pub not_before: Option<String>,
}

/// The parts of the priority of a URL, in percent, with what is known now, and their
/// weighted mean.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct ScoreReport {
    /// All of it.
    pub score: u8,
    /// Near its seed.
    pub depth: u8,
    /// Short and plain.
    pub shape: u8,
    /// Linked to by important pages; known only while the crawl is running, and left
    /// out of the score otherwise.
    pub importance: Option<u8>,
    /// The kind of link.
    pub kind: u8,
    /// How well its site answers.
    pub history: u8,
    /// Its site's traffic, where it is given.
    pub traffic: Option<u8>,
    /// How often it changes, where a sitemap says so.
    pub change: Option<u8>,
}

/// What kind of thing happens to a URL next.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NextKind {
    /// It waits in its queue.
    Queued,
    /// The trap guard defers it.
    Deferred,
    /// It waits for the budget of new pages.
    Postponed,
    /// It is being visited, or on its way to its queue.
    OnItsWay,
    /// It is kept fresh.
    Planned,
    /// It was visited, and is not visited again.
    Visited,
    /// It failed too often.
    GivenUp,
    /// A rule is against it.
    Refused,
    /// Every path to it that was found is too long.
    TooDeep,
    /// Scope does not want it.
    OutOfScope,
    /// No link to it was followed.
    NotQueued,
    /// A kind that this version does not know, sent by another version.
    #[serde(other)]
    Unknown,
}

/// What happens to a URL next.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct NextStep {
    /// What kind of thing it is.
    pub code: NextKind,
    /// In a sentence.
    pub text: String,
    /// The soonest moment, where one is known.
    pub at: Option<String>,
}

impl NextStep {
    fn new(code: NextKind, text: impl Into<String>) -> Self {
        Self {
            code,
            text: text.into(),
            at: None,
        }
    }
}

/// Whether scope wants a URL.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ScopeVerdict {
    Wanted,
    Unwanted,
    /// Every path to it that was found is too long.
    TooDeep,
}

/// What scope says.
struct Placing {
    verdict: ScopeVerdict,
    words: String,
}

impl Place<'_> {
    pub(super) fn url(&self, url: &CrawlUrl, site: &SiteReport) -> Result<UrlReport, EngineError> {
        let partition = self.engine.store;
        let record = partition.record(url)?;
        let state = match self.engine.frontier.view(url.site_hash(), self.all.now) {
            Some(view) => Some(view.state),
            None => partition.site(url.site_hash())?,
        };
        let lanes = state.map(|state| state.lanes).unwrap_or_default();
        let queued = partition.find_queued(url, &lanes)?;
        let path = partition.shortest(url)?;
        let scope = self.scope_of(url, queued.as_ref().map(|(_, entry)| entry), path.as_ref())?;
        let robots = self.robots_of(url)?;
        let seen = partition.has_seen(url.site_hash(), url.hash64())?;
        let not_worth = self.not_worth(url)?;
        let told = partition.signal(url)?;
        let next = match (&queued, &record) {
            (Some((_, entry)), _) => {
                self.when_queued(entry, robots.as_ref(), not_worth.as_deref(), site)
            }
            (None, _) if self.is_deferred(url)? => deferred(not_worth.as_deref()),
            (None, Some(record)) => {
                let planned = self.planned(url, robots.as_ref(), not_worth.as_deref());
                let refusal = partition.refusal(url)?;
                planned.unwrap_or_else(|| match refusal {
                    Some(why) => refused_at(record, &why),
                    None => after_visit(
                        record,
                        robots.as_ref(),
                        not_worth.as_deref(),
                        self.all.config.tries,
                    ),
                })
            }
            (None, None) if partition.is_postponed(url)? => NextStep::new(
                NextKind::Postponed,
                "it is new and waits for the budget of new pages (refresh.discovery_per_day)",
            ),
            (None, None) if seen => admitted(self.all.is_running),
            (None, None) => never_queued(
                &scope,
                robots.as_ref(),
                not_worth.as_deref(),
                &self.all.status.counters.refusals,
            ),
        };
        let (mut recent, mut likeness) = (Vec::new(), None);
        partition.visits(&mut |visit| {
            if visit.url == *url {
                likeness = PageLikeness::of(&visit.facts).or(likeness.take());
                let line = serde_json::to_value(LogLine::new(None, &visit));
                recent.push(line.expect("a line of the log is plain data"));
            }
        })?;
        if let Some(likeness) = &mut likeness {
            self.name_near(likeness)?;
        }
        let visited = record.as_ref().filter(|record| record.visits > 0);
        Ok(UrlReport {
            url: url.as_str().to_owned(),
            seen,
            scope: scope.words,
            robots: robots_words(robots.as_ref()).to_owned(),
            visits: record.as_ref().map_or(0, |record| record.visits),
            last_visit: visited.map(|record| record.last_visit.to_rfc3339_millis()),
            last_state: visited.map(|record| record.state.as_str().to_owned()),
            last_code: visited.and_then(|record| record.code),
            comparisons: record.as_ref().map_or(0, |record| record.comparisons),
            changes: record.as_ref().map_or(0, |record| record.changes),
            listed_modified: (partition.signal(url)?)
                .and_then(|signal| signal.modified)
                .map(Timestamp::to_rfc3339_secs),
            queue: queued
                .map(|(ahead, entry)| self.queue_place(ahead, &entry, told.as_ref()))
                .transpose()?,
            next,
            novelty: self.template_of(url)?,
            not_worth,
            shortened: self
                .engine
                .novelty
                .shortened(url)
                .map(|url| url.to_string()),
            likeness,
            recent,
        })
    }

    /// Whether the trap guard keeps a URL back, for its site or for its domain.
    fn is_deferred(&self, url: &CrawlUrl) -> Result<bool, EngineError> {
        for holder in [url.site_hash(), SiteHash(domain_hash(url))] {
            if self.engine.store.is_held(holder, url)? {
                return Ok(true);
            }
        }
        Ok(false)
    }

    /// When a plan visits it again, if it is kept fresh and nothing stands against it.
    fn planned(
        &self,
        url: &CrawlUrl,
        robots: Option<&Access>,
        not_worth: Option<&str>,
    ) -> Option<NextStep> {
        let book = self.engine.plan?;
        let page = book.pages().find(url);
        let stray = book.never_fetched_due(url);
        if page.is_none() && stray.is_none() {
            return None;
        }
        let is_seed = page.is_some_and(|page| book.pages().depth(page) == 0);
        if let Some(refused) = self.refused(url, robots, not_worth.filter(|_| !is_seed)) {
            return Some(refused);
        }
        match page {
            Some(page) => Some(planned_page(book, page)),
            None => stray.map(|due| planned_never_fetched(book, due)),
        }
    }

    fn template_of(&self, url: &CrawlUrl) -> Result<TemplateStanding, EngineError> {
        let known = self
            .engine
            .novelty
            .look(self.engine.store, url.site_hash())?;
        Ok(known.template(self.engine.novelty.config(), &Template::of(url)))
    }

    /// Why a URL is not worth a request, as its turn would find it.
    fn not_worth(&self, url: &CrawlUrl) -> Result<Option<String>, EngineError> {
        let (partition, limits) = (self.engine.store, self.engine.novelty.config());
        if self.all.config.likeness.skip_mirrors
            && let Some(record) = partition.mirror_record(url.site_hash())?
        {
            return Ok(Some(format!(
                "{}: its site mirrors {}",
                RefusalRule::Mirror.as_str(),
                record.of
            )));
        }
        let known = self.engine.novelty.look(partition, url.site_hash())?;
        let template = Template::of(url);
        if let Some((stripped, names)) = known.stripped(limits, url, &template)
            && partition.has_seen(url.site_hash(), stripped)?
        {
            let names = names.join(", ");
            let reason = format!(
                "{}: {names} makes no difference on its site",
                RefusalRule::ParameterIgnored.as_str()
            );
            return Ok(Some(reason));
        }
        let refusal = known.standing(limits, &template);
        Ok(refusal.map(|refusal| format!("{}: {refusal}", refusal.as_str())))
    }

    fn score(&self, entry: &Entry, told: Option<&ChangeSignal>) -> ScoreReport {
        let importance = self
            .all
            .importance
            .map(|importance| importance.of(importance.cash(entry.url.hash64())));
        let standing = Standing {
            site_success: self.engine.frontier.success(entry.url.site_hash()),
            traffic: self.engine.policies.traffic(&entry.url.site()),
            change: told
                .and_then(|told| told.frequency)
                .map(ChangeFrequency::score),
        };
        let (parts, score) = self.engine.admit.parts(entry, importance, standing);
        let is_known = importance.is_some();
        let percent = |part: f32| (part * 100.0).round() as u8;
        ScoreReport {
            score: percent(score),
            depth: percent(parts.depth),
            shape: percent(parts.shape),
            importance: is_known.then(|| percent(parts.importance)),
            kind: percent(parts.kind),
            history: percent(parts.history),
            traffic: parts.traffic.map(percent),
            change: parts.change.map(percent),
        }
    }

    fn queue_place(
        &self,
        ahead: u64,
        entry: &Entry,
        told: Option<&ChangeSignal>,
    ) -> Result<QueuePlace, EngineError> {
        let seed = self.engine.seeds.get(self.engine.store, entry.seed)?;
        Ok(QueuePlace {
            priority: entry.priority,
            ahead,
            score: self.score(entry, told),
            depth: entry.depth,
            via: entry.via.as_ref().map(ToString::to_string),
            seed: seed.url.to_string(),
            topic: seed.topic.clone(),
            attempts: entry.attempts,
            not_before: entry.not_before.map(Timestamp::to_rfc3339_millis),
        })
    }

    /// What scope says: by the seed it belongs to, or by any that takes it. Without a
    /// known path, how deep it is remains open.
    fn scope_of(
        &self,
        url: &CrawlUrl,
        queued: Option<&Entry>,
        path: Option<&ShortestPath>,
    ) -> Result<Placing, EngineError> {
        let place = path.map(|path| (path.depth, path.seed));
        let place = queued.map(|entry| (entry.depth, entry.seed)).or(place);
        let depth = place.map_or(0, |(depth, _)| depth);
        let numbers = place.map_or(0..self.engine.seeds.len(), |(_, seed)| seed..seed + 1);
        let mut refused = None;
        for number in numbers.take(SEEDS_TRIED_MAX) {
            let seed = self.engine.seeds.get(self.engine.store, number)?;
            let is_seed = seed.url == *url;
            let candidate = Candidate {
                url,
                seed: &seed.home,
                depth: if is_seed { 0 } else { depth },
                is_seed,
                is_redirect: false,
            };
            let verdict = self.engine.admit.scope().judge(&candidate);
            let words = self.engine.admit.scope().explain(&candidate, &verdict);
            if verdict.is_accepted() {
                let unless = if is_seed || place.is_some() || !self.engine.admit.tracks_depth() {
                    ""
                } else {
                    ", unless it is too deep (its depth is not known)"
                };
                return Ok(Placing {
                    verdict: ScopeVerdict::Wanted,
                    words: format!("in scope: {words}{unless}"),
                });
            }
            let is_deep = matches!(verdict, Verdict::Refuse(Refusal::TooDeep { .. }));
            refused.get_or_insert_with(|| match path.and_then(|path| path.via.as_ref()) {
                Some(via) if is_deep => Placing {
                    verdict: ScopeVerdict::TooDeep,
                    words: format!("too deep: {words}; the nearest page that links to it is {via}"),
                },
                _ => Placing {
                    verdict: ScopeVerdict::Unwanted,
                    words: format!("out of scope: {words}"),
                },
            });
        }
        Ok(refused.unwrap_or_else(|| Placing {
            verdict: ScopeVerdict::Unwanted,
            words: "there is no seed".to_owned(),
        }))
    }

    /// What robots.txt says; `None` if it was not requested yet.
    fn robots_of(&self, url: &CrawlUrl) -> Result<Option<Access>, EngineError> {
        if self.all.config.robots == RobotsMode::Ignore {
            return Ok(Some(Access::Allowed));
        }
        let site = url.site_hash();
        let access: Option<SiteAccess> = self.engine.store.access(site)?;
        Ok(access.map(|access| access.access(&self.all.config.agent, url.path_and_query())))
    }

    /// What its turn will find against it.
    fn refused(
        &self,
        url: &CrawlUrl,
        robots: Option<&Access>,
        not_worth: Option<&str>,
    ) -> Option<NextStep> {
        let scope = self.engine.admit.scope();
        let text = if let Some(Access::Disallowed(reason)) = robots {
            format!("as things stand it is refused when its turn comes, by {reason}")
        } else if let Some(refusal) = scope.denies(url) {
            let reason = scope.explain_refusal(url, refusal);
            format!("as things stand it is refused when its turn comes: {reason}")
        } else {
            format!(
                "as things stand it is refused when its turn comes ({})",
                not_worth?
            )
        };
        Some(NextStep::new(NextKind::Refused, text))
    }

    fn when_queued(
        &self,
        entry: &Entry,
        robots: Option<&Access>,
        not_worth: Option<&str>,
        site: &SiteReport,
    ) -> NextStep {
        let not_worth = not_worth.filter(|_| !entry.is_seed);
        if let Some(refused) = self.refused(&entry.url, robots, not_worth) {
            return refused;
        }
        let crawl = self.all.crawl_holds();
        let text = match crawl {
            Some(reason) => format!("it waits in the queue of its site, and {reason}"),
            None => format!("it waits in the queue of its site: {}", site.why),
        };
        let until = entry
            .not_before
            .map(Timestamp::to_rfc3339_millis)
            .max(site.until.clone());
        NextStep {
            at: until,
            ..NextStep::new(NextKind::Queued, text)
        }
    }
}

/// The trap guard keeps it back.
fn deferred(not_worth: Option<&str>) -> NextStep {
    let why = not_worth.map_or_else(String::new, |reason| format!(" ({reason})"));
    NextStep::new(
        NextKind::Deferred,
        format!(
            "the trap guard deferred it{why}: it is fetched at the end of the crawl if that part of \
             its site comes to an end; `geomi crawl -o DIR --trap-guard off` fetches it in any case"
        ),
    )
}

/// When a page of the plan is visited again.
fn planned_page(book: &RefreshPlan, page: PageId) -> NextStep {
    if book.planner().is_out(page) {
        return on_its_way();
    }
    match &book.config().drive {
        Drive::Plan => {
            let due = book.instant(book.planner().due(page)).to_rfc3339_millis();
            let text = format!(
                "it is kept fresh, and due again at {due}; `geomi refresh explain` tells why"
            );
            NextStep {
                at: Some(due),
                ..NextStep::new(NextKind::Planned, text)
            }
        }
        Drive::Rounds => NextStep::new(
            NextKind::Planned,
            "it is kept fresh: every round visits it again",
        ),
        Drive::Table { .. } => NextStep::new(
            NextKind::Planned,
            "it is kept fresh by a schedule; if that leaves it out, after the longest gap",
        ),
    }
}

/// When a URL of which there has never been a copy is asked for again; no time is given
/// while it is.
fn planned_never_fetched(book: &RefreshPlan, due: Option<f64>) -> NextStep {
    let Some(due) = due else {
        return on_its_way();
    };
    let due = book.instant(due).to_rfc3339_millis();
    let text = format!("there is no copy of it yet, and it is asked for again at {due}");
    NextStep {
        at: Some(due),
        ..NextStep::new(NextKind::Planned, text)
    }
}

fn on_its_way() -> NextStep {
    let text = "it was due and is being visited, or on its way to its queue";
    NextStep::new(NextKind::OnItsWay, text)
}

/// It was refused when its turn came, by this rule.
fn refused_at(record: &UrlRecord, why: &str) -> NextStep {
    let at = record.last_visit.to_rfc3339_millis();
    let text = format!(
        "it was refused when its turn came, at {at}, by the rule {why}; \
         `geomi crawl --again` asks the rules anew"
    );
    NextStep::new(NextKind::Refused, text)
}

/// It was dealt with: by a visit, or by a refusal when its turn had come.
fn after_visit(
    record: &UrlRecord,
    robots: Option<&Access>,
    not_worth: Option<&str>,
    tries: u8,
) -> NextStep {
    if record.visits == 0 {
        // An earlier version did not keep the rule: only what would happen now is known.
        let now = match robots {
            Some(Access::Disallowed(reason) | Access::Unreachable(_, reason)) => {
                format!("now it would be refused by {reason}")
            }
            _ => not_worth.map_or_else(
                || "by which rule was not kept, and now none is known that would".to_owned(),
                |reason| format!("now it would be refused by the rule {reason}"),
            ),
        };
        let at = record.last_visit.to_rfc3339_millis();
        let text = format!("it was refused when its turn came, at {at}; {now}");
        return NextStep::new(NextKind::Refused, text);
    }
    let failed = !record.state.is_answer() || record.code.is_some_and(|code| code >= 400);
    if failed {
        let what = record
            .code
            .map_or(record.state.to_string(), |code| code.to_string());
        let text = format!(
            "it was given up after {} of {tries} tries ({what}); `geomi crawl --again` would try anew, \
             and so does `geomi refresh run`, less and less often",
            record.attempts
        );
        return NextStep::new(NextKind::GivenUp, text);
    }
    NextStep::new(
        NextKind::Visited,
        "it was visited, and a crawl visits a URL once; `geomi crawl --again` visits it again, \
         and `geomi refresh run` whenever it is due (`geomi refresh explain`)",
    )
}

/// It was admitted, and no queue and no record has it yet.
fn admitted(is_running: bool) -> NextStep {
    let text = if is_running {
        "it was admitted: it is being visited, or has not reached its queue yet"
    } else {
        "it was admitted and is not known to have been visited: the next run goes on with it"
    };
    NextStep::new(NextKind::OnItsWay, text)
}

/// Refusals of a crawl that are named, at most.
const REFUSALS_TOLD_MAX: usize = 4;

/// Nothing is known of it but what the rules would say. Whether pages link to it is not
/// known: a link that is refused leaves no trace but a number.
fn never_queued(
    scope: &Placing,
    robots: Option<&Access>,
    not_worth: Option<&str>,
    refusals: &BTreeMap<String, u64>,
) -> NextStep {
    match scope.verdict {
        ScopeVerdict::TooDeep => {
            let text = format!("it was never queued, as it is {}", scope.words);
            return NextStep::new(NextKind::TooDeep, text);
        }
        ScopeVerdict::Unwanted => {
            return NextStep::new(
                NextKind::OutOfScope,
                format!("it is not wanted: {}", scope.words),
            );
        }
        ScopeVerdict::Wanted => {}
    }
    if let Some(Access::Disallowed(reason)) = robots {
        let text = format!("it was never queued, and would be refused by {reason}");
        return NextStep::new(NextKind::Refused, text);
    }
    if let Some(reason) = not_worth {
        let text =
            format!("it was never queued, and as things stand a link to it is refused ({reason})");
        return NextStep::new(NextKind::Refused, text);
    }
    let mut counted: Vec<(&String, &u64)> = refusals.iter().collect();
    counted.sort_by_key(|(_, count)| std::cmp::Reverse(**count));
    let counted: Vec<String> = counted
        .into_iter()
        .take(REFUSALS_TOLD_MAX)
        .map(|(rule, count)| format!("{count} {rule}"))
        .collect();
    let refused = if counted.is_empty() {
        "this crawl has refused none".to_owned()
    } else {
        format!("refused in this crawl: {}", counted.join(", "))
    };
    NextStep::new(
        NextKind::NotQueued,
        format!(
            "it was never queued: no link to it was followed so far. Links that are refused are counted, \
             not kept ({refused}). Give it as a seed if it is wanted"
        ),
    )
}

fn robots_words(robots: Option<&Access>) -> &str {
    match robots {
        None => "not asked for yet",
        Some(Access::Allowed) => "allowed",
        Some(Access::Disallowed(reason) | Access::Unreachable(_, reason)) => reason,
    }
}
