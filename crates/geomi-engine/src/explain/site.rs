//! A site explained.

use std::collections::BTreeMap;
use std::time::Duration;

use geomi_frontier::{Hold, PageOrder, SiteState, SiteView};
use geomi_model::Timestamp;
use geomi_novelty::SiteStanding;
use geomi_robots::RobotsPolicy;
use geomi_url::{CrawlUrl, registrable_domain};
use serde::{Deserialize, Serialize};

use super::reason::{Held, RobotsStanding};
use super::{Place, SiteRhythm, SiteWord};
use crate::books::{SiteAccess, Unaddressed};
use crate::left::LeftReason;
use crate::mirrors::MirrorRecord;
use crate::status::plural;
use crate::{EngineError, RobotsMode};

/// What is known of a site, and what it waits for.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SiteReport {
    /// Its name.
    pub site: String,
    /// Whether any URL of it was ever queued.
    pub known: bool,
    /// What it waits for: `ready`, `delay`, `crawl-delay`, `back-off` and so on.
    pub hold: String,
    /// The same in a sentence, in English.
    pub why: String,
    /// The same, for other languages. `None` from a process of an older version.
    #[serde(default)]
    pub held: Option<Held>,
    /// When that ends by itself.
    pub until: Option<String>,
    /// URLs waiting.
    pub queued: u64,
    /// URLs waiting, by priority, 1 the highest; empty ones left out, and all of them
    /// with breadth-first order.
    pub queued_by_priority: BTreeMap<String, u64>,
    /// URLs waiting, by depth, with breadth-first order.
    #[serde(default)]
    pub queued_by_depth: BTreeMap<String, u64>,
    /// Requests under way.
    pub in_flight: u64,
    /// Requests made.
    pub requests: u64,
    /// Requests that were answered.
    pub answers: u64,
    /// Failures in a row.
    pub failures: u32,
    /// Rest after each answer as things are, in seconds.
    pub delay_s: f64,
    /// Crawl-delay of its robots.txt, in seconds.
    pub crawl_delay_s: Option<f64>,
    /// Smoothed time from request to first byte, in milliseconds.
    pub rtt_ms: Option<f64>,
    /// Its mean deviation.
    pub rtt_deviation_ms: f64,
    /// Smoothed time to connect, in milliseconds.
    pub connect_ms: Option<f64>,
    /// Its mean deviation.
    pub connect_deviation_ms: f64,
    /// How likely an answer follows an answer, by this site's own visits.
    pub ss: f64,
    /// How likely a failure follows a failure.
    pub ff: f64,
    /// How likely its next visit is answered.
    pub next_answered: f64,
    /// Time the last request took, in milliseconds.
    pub last_download_ms: f64,
    /// Its address, if it has one.
    pub address: Option<String>,
    /// What its robots.txt said, in a sentence in English.
    pub robots: String,
    /// The same, for other languages. `None` from a process of an older version.
    #[serde(default)]
    pub robots_standing: Option<RobotsStanding>,
    /// How long that may be relied on.
    pub robots_until: Option<String>,
    /// What its URLs have brought, which templates are closed, and which
    /// parameters make no difference.
    pub novelty: SiteStanding,
    /// What it is a mirror of, if its pages are those of another site.
    pub mirror: Option<MirrorView>,
    /// How reliable its change signals are, if it was ever kept fresh.
    #[serde(default)]
    pub word: Option<SiteWord>,
    /// When its pages change, as the plan of a running crawl believes.
    #[serde(default)]
    pub rhythm: Option<SiteRhythm>,
    /// Its registrable domain.
    pub domain: String,
    /// Hosts of that domain opened so far.
    pub domain_hosts: u32,
    /// Hosts that may be opened before one brings a page.
    pub domain_hosts_left: u32,
    /// Hosts that were refused.
    pub domain_hosts_refused: u32,
}

/// That a site is a mirror, and why.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MirrorView {
    /// The site of which more was fetched.
    pub of: String,
    /// Of the pages compared, those that say the same.
    pub pages_agreeing: u32,
    /// Pages at a path that both have, as far as they were compared.
    pub pages_compared: u32,
}

impl From<MirrorRecord> for MirrorView {
    fn from(record: MirrorRecord) -> Self {
        Self {
            of: record.of,
            pages_agreeing: record.mirror.agreeing,
            pages_compared: record.mirror.common,
        }
    }
}

impl Place<'_> {
    pub(super) fn site(&self, url: &CrawlUrl) -> Result<SiteReport, EngineError> {
        let hash = url.site_hash();
        let stored = self.engine.store.site(hash)?;
        let view = self
            .engine
            .frontier
            .view(hash, self.all.now)
            .or_else(|| stored.map(|state| self.at_rest(state)));
        let known = view.is_some() || self.engine.store.is_parked(hash);
        let view = view.unwrap_or_else(|| self.at_rest(SiteState::new(url.site())));
        let held = self.held(&view, known);
        let robots = self.robots_standing(url)?;
        let state = &view.state;
        let outlook = state.outlook();
        let (queued_by_priority, queued_by_depth) = match self.all.config.page_order() {
            PageOrder::Priority => (by_lane(1, &view.queued), BTreeMap::new()),
            PageOrder::BreadthFirst => (BTreeMap::new(), by_lane(0, &view.queued)),
        };
        let novelty = self.engine.novelty.look(self.engine.store, hash)?;
        let limits = self.engine.novelty.config();
        let domain = registrable_domain(url.host());
        let hosts = self.engine.novelty.look_domain(self.engine.store, domain)?;
        Ok(SiteReport {
            novelty: novelty.site(limits),
            mirror: self.engine.store.mirror_record(hash)?.map(Into::into),
            word: self.engine.store.signals(hash)?.as_ref().map(SiteWord::of),
            rhythm: self.engine.plan.and_then(|book| SiteRhythm::of(book, url)),
            domain: domain.to_owned(),
            domain_hosts: hosts.hosts,
            domain_hosts_left: hosts.left(limits),
            domain_hosts_refused: hosts.refused,
            site: view.key.to_string(),
            known,
            hold: held.code().as_str().to_owned(),
            why: why(&held, &view),
            held: Some(held),
            until: hold_until(&view.hold).map(Timestamp::to_rfc3339_millis),
            queued: view.queued.iter().sum(),
            queued_by_priority,
            queued_by_depth,
            in_flight: view.leased as u64,
            requests: state.requests,
            answers: state.answers,
            failures: state.failures,
            delay_s: view.rest.as_secs_f64(),
            crawl_delay_s: state.crawl_delay.map(|delay| delay.as_secs_f64()),
            rtt_ms: state.rtt.mean.map(millis),
            rtt_deviation_ms: millis(state.rtt.deviation),
            connect_ms: state.connect.mean.map(millis),
            connect_deviation_ms: millis(state.connect.deviation),
            ss: thousandths(outlook.ss),
            ff: thousandths(outlook.ff),
            next_answered: thousandths(outlook.next_answered),
            last_download_ms: millis(state.last_download),
            address: state
                .address
                .and_then(|(address, _)| Some(address?.to_string())),
            robots: robots.to_string(),
            robots_standing: Some(robots),
            robots_until: state.robots_until.map(Timestamp::to_rfc3339_millis),
        })
    }

    /// A site that is not in memory has nothing to do, or waits for its turn.
    fn at_rest(&self, state: SiteState) -> SiteView {
        let politeness = &self.all.config.frontier.politeness;
        let hold = match &state.retired {
            Some(retired) if self.engine.frontier.is_retired(&state) => {
                Hold::Retired(retired.clone())
            }
            _ if state.pending() > 0 => Hold::Turn,
            _ => Hold::Drained,
        };
        SiteView {
            key: state.key.clone(),
            hold,
            queued: state.lanes.iter().map(|lane| lane.len).collect(),
            leased: 0,
            rest: politeness.rest(state.last_download, state.crawl_delay),
            state,
        }
    }

    /// What a site waits for.
    pub(super) fn held(&self, view: &SiteView, known: bool) -> Held {
        let unaddressed = self
            .engine
            .unaddressed
            .and_then(|sites| sites.get(&view.key.hash64()));
        match (unaddressed, &view.hold) {
            (_, Hold::Drained) if !known => Held::Unknown,
            (Some(Unaddressed::Refused(reason)), _) => Held::AddressRefused {
                why: reason.clone(),
            },
            (Some(Unaddressed::NoAddress(reason)), _) => Held::NoAddress {
                why: reason.clone(),
            },
            (None, hold) => held_by(hold, view),
        }
    }

    fn robots_standing(&self, url: &CrawlUrl) -> Result<RobotsStanding, EngineError> {
        if self.all.config.robots == RobotsMode::Ignore {
            return Ok(RobotsStanding::Ignored);
        }
        let site = url.site_hash();
        Ok(match self.engine.store.access(site)? {
            None => RobotsStanding::NotAsked,
            Some(SiteAccess::NoAnswer { state, reason }) => RobotsStanding::NoAnswer {
                state: state.to_string(),
                why: reason,
            },
            Some(SiteAccess::Policy(RobotsPolicy::Unreachable { reason })) => {
                RobotsStanding::Unreachable {
                    why: reason.to_string(),
                }
            }
            Some(SiteAccess::Policy(RobotsPolicy::Unavailable { code })) => {
                RobotsStanding::Missing { code }
            }
            Some(SiteAccess::Policy(policy)) => RobotsStanding::Read {
                is_start_allowed: policy.verdict(&self.all.config.agent, "/").allowed,
            },
        })
    }
}

/// What a site waits for, in English, and how often it failed in a row.
pub(super) fn why(held: &Held, view: &SiteView) -> String {
    let failures = view.state.failures;
    let says_so = matches!(held, Held::BackOff { .. } | Held::Retired { .. });
    if failures == 0 || says_so {
        return held.to_string();
    }
    format!("{held}; {} in a row", plural(failures.into(), "failure"))
}

/// When a hold ends: for a retired site, when it may be asked by another run.
pub(super) fn hold_until(hold: &Hold) -> Option<Timestamp> {
    match hold {
        Hold::Retired(retired) => retired.until,
        hold => hold.until(),
    }
}

/// URLs waiting by lane, the first of which has that number; empty ones left out.
fn by_lane(first: u16, queued: &[u64]) -> BTreeMap<String, u64> {
    let lanes = (first..).zip(queued).filter(|(_, len)| **len > 0);
    lanes.map(|(lane, len)| (lane.to_string(), *len)).collect()
}

/// What a site waits for that has an address.
fn held_by(hold: &Hold, view: &SiteView) -> Held {
    match hold {
        Hold::Nothing => Held::Ready,
        Hold::Drained => Held::Drained,
        Hold::Busy => Held::Busy,
        Hold::Lookup => Held::Lookup,
        Hold::LookupFailed { times, .. } => Held::LookupFailed {
            times: (*times).into(),
        },
        Hold::Robots => Held::Robots,
        Hold::AddressLimit(address) => Held::AddressLimit {
            address: address.to_string(),
        },
        Hold::Delay { .. } => Held::Delay {
            seconds: view.rest.as_secs_f64(),
        },
        Hold::CrawlDelay { delay, .. } => Held::CrawlDelay {
            seconds: delay.as_secs_f64(),
        },
        Hold::Throttled { .. } => Held::Throttled,
        Hold::BackOff { failures, .. } => Held::BackOff {
            failures: *failures,
        },
        Hold::Retry { .. } => Held::Retry,
        Hold::Turn => Held::Turn,
        Hold::Retired(retired) => Held::Retired {
            reason: LeftReason::of(retired.reason),
            why: retired.why.clone(),
        },
    }
}

fn millis(span: Duration) -> f64 {
    (span.as_secs_f64() * 1e6).round() / 1e3
}

fn thousandths(share: f64) -> f64 {
    (share * 1e3).round() / 1e3
}
