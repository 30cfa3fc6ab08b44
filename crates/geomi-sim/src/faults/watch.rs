//! The invariants, watched from the servers' side: it sees requests and
//! answers, and knows nothing of the frontier but its own rules.

use std::collections::{BTreeMap, BTreeSet};
use std::net::IpAddr;
use std::time::Duration;

use geomi_frontier::Politeness;
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
}

/// Watches every server.
#[derive(Debug)]
pub(super) struct Watch {
    politeness: Politeness,
    visitors: Vec<Visitor>,
    addresses: BTreeMap<IpAddr, usize>,
    /// URLs whose last visit is committed, and which were not put back since.
    finished: BTreeSet<CrawlUrl>,
    /// Those of them that were put back, and it is not committed yet.
    put_back: BTreeSet<CrawlUrl>,
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
            put_back: BTreeSet::new(),
        }
    }

    /// A request arrives.
    pub(super) fn request(
        &mut self,
        site: usize,
        addr: IpAddr,
        url: &CrawlUrl,
        is_forbidden: bool,
        now: Timestamp,
    ) -> Result<(), String> {
        let visitor = &mut self.visitors[site];
        if is_forbidden {
            return Err(format!("a disallowed path is never requested: {url}"));
        }
        if self.finished.contains(url) {
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
        let rest = |took| self.politeness.rest(took, visitor.told);
        let resting = visitor
            .ended
            .iter()
            .filter(|(end, took)| now < *end + rest(*took));
        let busy = visitor.open.len() + resting.count();
        if busy >= allowed {
            return Err(format!("a site is never contacted inside its delay: {url}"));
        }
        visitor.open.push(url.clone());
        let open = self.addresses.entry(addr).or_default();
        *open += 1;
        if *open > self.politeness.address_limit() {
            return Err(format!(
                "an address carries no more than its limit: {open} at {addr}"
            ));
        }
        Ok(())
    }

    /// An answer ends, or fails.
    pub(super) fn answer(
        &mut self,
        site: usize,
        addr: IpAddr,
        url: &CrawlUrl,
        ends: Ends,
        took: Duration,
        now: Timestamp,
    ) {
        self.close(site, addr, url);
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

    fn close(&mut self, site: usize, addr: IpAddr, url: &CrawlUrl) {
        let open = &mut self.visitors[site].open;
        if let Some(at) = open.iter().position(|other| other == url) {
            open.swap_remove(at);
            *self.addresses.entry(addr).or_default() -= 1;
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

    /// A commit is done: what these sites said will not be forgotten.
    pub(super) fn committed(&mut self, sites: impl Iterator<Item = usize>) {
        for site in sites {
            let visitor = &mut self.visitors[site];
            visitor.told_kept = visitor.told;
            visitor.away_kept = visitor.away;
            if let Some((_, took)) = visitor.ended.last() {
                visitor.took_kept = *took;
            }
        }
    }

    /// The last visit of a URL is committed.
    pub(super) fn finished(&mut self, url: CrawlUrl) {
        self.finished.insert(url);
    }

    /// A URL that was visited is put back into its queue.
    pub(super) fn put_back(&mut self, url: &CrawlUrl) -> Result<(), String> {
        if self.finished.remove(url) {
            self.put_back.insert(url.clone());
            return Ok(());
        }
        Err(format!("a page waits in its queue once: {url}"))
    }

    /// What was put back is durable, where these say so.
    pub(super) fn kept_back(&mut self, is_durable: impl Fn(&CrawlUrl) -> bool) {
        self.put_back.retain(|url| !is_durable(url));
    }

    /// Whether the last visit of a URL is committed.
    pub(super) fn is_finished(&self, url: &CrawlUrl) -> bool {
        self.finished.contains(url)
    }

    /// The visitor's process died, and its clock was put forward by this much:
    /// connections end, and what was not committed is forgotten. A full rest is
    /// due from here, by what was committed.
    pub(super) fn crashed(&mut self, forward: Duration, now: Timestamp) {
        self.addresses.clear();
        self.finished.append(&mut self.put_back);
        for visitor in &mut self.visitors {
            visitor.open.clear();
            visitor.ended = vec![(now, visitor.took_kept); self.politeness.site_connections];
            visitor.told = visitor.told_kept;
            // A date that was stored comes sooner on a clock put forward.
            visitor.away = visitor.away_kept - forward;
            visitor.away_kept = visitor.away;
            visitor.failures = None;
        }
    }
}
