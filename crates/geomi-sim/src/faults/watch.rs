//! The invariants, watched from the servers' side: it sees requests and
//! answers, and knows nothing of the frontier but its own rules.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Duration;

use geomi_frontier::{Delay, Politeness};
use geomi_model::Timestamp;
use geomi_url::CrawlUrl;

use super::trouble::Ends;
use super::web::SITES;

/// What a server knows of its visitor.
#[derive(Clone, Debug, Default)]
struct Visitor {
    /// Requests under way.
    open: Vec<CrawlUrl>,
    /// The last answers: when each ended and how long it took.
    ended: Vec<(Timestamp, Duration)>,
    /// Crawl-delay it was told, and the same as of the last commit.
    told: Option<Duration>,
    told_kept: Option<Duration>,
    /// How long the last answer took, as of the last commit.
    took_kept: Duration,
    /// Until when it was asked to stay away, and the same as of the last commit.
    away: Timestamp,
    away_kept: Timestamp,
    /// Failures in a row; unknown after a crash, until it answers.
    failures: Option<u32>,
    /// When the last request came.
    pub(super) contacted: Option<Timestamp>,
}

/// What a commit remembers of a site.
#[derive(Clone, Copy, Debug)]
pub(super) struct Kept {
    site: usize,
    told: Option<Duration>,
    took: Duration,
    away: Timestamp,
}

/// Watches every server.
#[derive(Debug)]
pub(super) struct Watch {
    politeness: Politeness,
    visitors: Vec<Visitor>,
    /// Requests under way, by worker and address.
    addresses: BTreeMap<(usize, IpAddr), usize>,
    /// Pages whose last visit is durable. In a first crawl they are asked for once.
    finished: BTreeSet<CrawlUrl>,
    /// Pages whose last visit was taken in by the engine that runs.
    answered: BTreeSet<CrawlUrl>,
    /// Whether pages are visited again by intention.
    pub(super) has_revisits: bool,
}

impl Watch {
    pub(super) fn new(politeness: Politeness) -> Self {
        let visitor = Visitor {
            failures: Some(0),
            ..Visitor::default()
        };
        Self {
            politeness,
            visitors: vec![visitor; SITES],
            addresses: BTreeMap::new(),
            finished: BTreeSet::new(),
            answered: BTreeSet::new(),
            has_revisits: false,
        }
    }

    /// A request arrives.
    pub(super) fn request(
        &mut self,
        worker: usize,
        site: usize,
        addr: IpAddr,
        url: &CrawlUrl,
        is_forbidden: bool,
        now: Timestamp,
    ) -> Result<(), String> {
        let is_known = self.finished.contains(url) || self.answered.contains(url);
        let visitor = &mut self.visitors[site];
        visitor.contacted = Some(now);
        if is_forbidden {
            return Err(format!("a disallowed path is never requested: {url}"));
        }
        if is_known && !self.has_revisits {
            return Err(format!("no URL is fetched twice: {url}"));
        }
        // Two sites may have their rules in one robots.txt: each asks for it.
        let is_robots = url.path_and_query() == "/robots.txt";
        if !is_robots && visitor.open.contains(url) {
            return Err(format!("no URL has two live leases: {url}"));
        }
        if now < visitor.away {
            let early = visitor.away.since(now).as_secs_f64();
            return Err(format!(
                "Retry-After is waited for: {url} came {early:.3} s early"
            ));
        }
        let allowed = match visitor.told {
            Some(_) => 1,
            None => self.politeness.site_connections,
        };
        let rest = |took| rest(&self.politeness, took, visitor.told);
        let resting = visitor
            .ended
            .iter()
            .filter(|(end, took)| now < *end + rest(*took));
        let busy = visitor.open.len() + resting.count();
        if busy >= allowed {
            return Err(format!("a site is never contacted inside its delay: {url}"));
        }
        visitor.open.push(url.clone());
        let open = self.addresses.entry((worker, addr)).or_default();
        *open += 1;
        if *open > self.politeness.address_limit() {
            return Err(format!(
                "an address carries no more than its limit: {open} at {addr}"
            ));
        }
        Ok(())
    }

    /// An answer ends, or fails.
    #[expect(
        clippy::too_many_arguments,
        reason = "one request, as a server sees it"
    )]
    pub(super) fn answer(
        &mut self,
        worker: usize,
        site: usize,
        addr: IpAddr,
        url: &CrawlUrl,
        ends: Ends,
        took: Duration,
        now: Timestamp,
    ) {
        self.close(worker, site, addr, url);
        let visitor = &mut self.visitors[site];
        visitor.ended.push((now, took));
        if visitor.ended.len() > 8 {
            visitor.ended.remove(0);
        }
        match ends {
            Ends::Answered(_) => visitor.failures = Some(0),
            Ends::Silent | Ends::Unreachable => {
                visitor.failures = visitor.failures.map(|failures| failures + 1);
            }
            Ends::Throttled(asks) => {
                visitor.failures = visitor.failures.map(|failures| failures + 1);
                let until = now + asks.unwrap_or_default();
                visitor.away = visitor.away.max(until);
            }
        }
    }

    fn close(&mut self, worker: usize, site: usize, addr: IpAddr, url: &CrawlUrl) {
        let open = &mut self.visitors[site].open;
        if let Some(at) = open.iter().position(|other| other == url) {
            open.swap_remove(at);
            *self.addresses.entry((worker, addr)).or_default() -= 1;
        }
    }

    /// The visitor was told this Crawl-delay.
    pub(super) fn told(&mut self, site: usize, delay: Option<Duration>) {
        self.visitors[site].told = delay;
    }

    /// How many failures in a row the visitor may count.
    pub(super) fn failures(&self, site: usize) -> Option<u32> {
        self.visitors[site].failures
    }

    /// When a site was last asked for anything.
    pub(super) fn contacted(&self, site: usize) -> Option<Timestamp> {
        self.visitors[site].contacted
    }

    /// What a commit of now remembers of a site.
    pub(super) fn to_keep(&self, site: usize) -> Kept {
        let visitor = &self.visitors[site];
        let took = visitor.ended.last().map(|(_, took)| *took);
        Kept {
            site,
            told: visitor.told,
            took: took.unwrap_or(visitor.took_kept),
            away: visitor.away,
        }
    }

    /// Such a commit is durable: it will not be forgotten.
    pub(super) fn kept(&mut self, kept: Kept) {
        let visitor = &mut self.visitors[kept.site];
        visitor.told_kept = kept.told;
        visitor.away_kept = kept.away;
        visitor.took_kept = kept.took;
    }

    /// An engine took in the last visit of a page.
    pub(super) fn took_in(&mut self, url: CrawlUrl) {
        self.answered.insert(url);
    }

    /// The last visit of a page is durable.
    pub(super) fn finished(&mut self, url: CrawlUrl) {
        self.finished.insert(url);
    }

    /// A page may be asked for again: a seed that another run could not reach.
    pub(super) fn retried(&mut self, url: &CrawlUrl) {
        self.finished.remove(url);
        self.answered.remove(url);
    }

    /// A worker died: its connections end.
    pub(super) fn died(&mut self, worker: usize) {
        self.addresses.retain(|(of, _), _| *of != worker);
    }

    /// The engine of these sites is gone, and what was not durable is forgotten. Their
    /// URLs are told by `is_theirs`.
    pub(super) fn forgotten(
        &mut self,
        worker: usize,
        sites: &[(usize, IpAddr)],
        is_theirs: impl Fn(&CrawlUrl) -> bool,
    ) {
        self.answered.retain(|url| !is_theirs(url));
        for (site, addr) in sites {
            let visitor = &mut self.visitors[*site];
            for _ in visitor.open.drain(..) {
                if let Some(open) = self.addresses.get_mut(&(worker, *addr)) {
                    *open -= 1;
                }
            }
            visitor.told = visitor.told_kept;
            visitor.away = visitor.away_kept;
            visitor.failures = None;
        }
    }

    /// A new engine has these sites, by a clock that is this much ahead of the one
    /// before. A full rest is due from here, unless all was in order.
    pub(super) fn reopened(
        &mut self,
        sites: &[(usize, IpAddr)],
        forward: Duration,
        is_clean: bool,
        now: Timestamp,
    ) {
        for (site, _) in sites {
            let visitor = &mut self.visitors[*site];
            // A date that was stored comes sooner on a clock put forward.
            visitor.away = visitor.away - forward;
            visitor.away_kept = visitor.away;
            visitor.failures = None;
            if is_clean {
                for (ended, _) in &mut visitor.ended {
                    *ended = *ended - forward;
                }
            } else if visitor.contacted.is_some() {
                visitor.ended = vec![(now, visitor.took_kept); self.politeness.site_connections];
            }
        }
    }
}

/// The rest that is due after an answer, by what is promised and not by what is computed.
fn rest(politeness: &Politeness, took: Duration, told: Option<Duration>) -> Duration {
    let own = match politeness.delay {
        Delay::Fixed(delay) => delay,
        Delay::Adaptive {
            floor,
            factor,
            ceiling,
        } => {
            let rest = floor.max(took * factor);
            ceiling.map_or(rest, |ceiling| rest.min(ceiling))
        }
    };
    own.max(told.unwrap_or_default())
}
