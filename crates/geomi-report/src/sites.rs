//! What is counted for each site, and for each address that serves sites.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::IpAddr;

use geomi_model::{Fate, Visit};
use geomi_url::SiteHash;

/// A site's place in [`Sites`].
pub(crate) type SiteIndex = u32;

/// Every site met, by the hash of its name.
#[derive(Debug, Default)]
pub(crate) struct Sites {
    by_hash: HashMap<SiteHash, SiteIndex>,
    pub(crate) all: Vec<SiteTally>,
    pub(crate) servers: BTreeMap<IpAddr, ServerTally>,
}

/// What is counted for a site.
#[derive(Debug, Default)]
pub(crate) struct SiteTally {
    /// Its name.
    pub(crate) name: String,
    /// Visits, robots.txt among them.
    pub(crate) visits: u64,
    /// Distinct page URLs; counted by the pass over pages.
    pub(crate) pages: u64,
    pub(crate) saved: u64,
    pub(crate) redirected: u64,
    pub(crate) failed: u64,
    pub(crate) wire_bytes: u64,
    pub(crate) rtt_s: f64,
    pub(crate) rtts: u64,
    pub(crate) comparisons: u64,
    pub(crate) changes: u64,
    /// Sum and number of the age variations of its pages; from the pass over
    /// pages.
    pub(crate) age_variation: f64,
    pub(crate) age_variations: u64,
    /// What its last robots.txt was.
    pub(crate) robots: RobotsAnswer,
}

/// What a site answered to robots.txt.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug, Default)]
pub(crate) enum RobotsAnswer {
    /// Nobody asked.
    #[default]
    NotAsked,
    /// 200.
    Found,
    /// 4xx: there is none, and everything is permitted.
    Missing,
    /// Another complete answer: a redirect, or 5xx.
    Other,
    /// No answer.
    Unreachable,
}

/// What is counted for an address.
#[derive(Debug, Default)]
pub(crate) struct ServerTally {
    pub(crate) sites: BTreeSet<SiteIndex>,
    pub(crate) visits: u64,
    pub(crate) wire_bytes: u64,
}

impl Sites {
    /// The place of a visit's site; made where it is new.
    pub(crate) fn index_of(&mut self, visit: &Visit) -> SiteIndex {
        let all = &mut self.all;
        *self
            .by_hash
            .entry(visit.url.site_hash())
            .or_insert_with(|| {
                all.push(SiteTally {
                    name: visit.url.site().to_string(),
                    ..SiteTally::default()
                });
                (all.len() - 1) as SiteIndex
            })
    }

    /// The name of a site that was met.
    pub(crate) fn name_of(&self, site: SiteHash) -> Option<&str> {
        let index = *self.by_hash.get(&site)?;
        Some(&self.all[index as usize].name)
    }

    /// The tally at a place.
    pub(crate) fn at(&mut self, index: SiteIndex) -> &mut SiteTally {
        &mut self.all[index as usize]
    }

    /// Counts a visit; `fate` is `None` for robots.txt.
    pub(crate) fn add(&mut self, visit: &Visit, fate: Option<Fate>) {
        let index = self.index_of(visit);
        if let Some(ip) = visit.ip {
            let server = self.servers.entry(ip).or_default();
            server.sites.insert(index);
            server.visits += 1;
            server.wire_bytes += visit.wire_bytes;
        }
        let site = self.at(index);
        site.visits += 1;
        site.wire_bytes += visit.wire_bytes;
        if let Some(rtt) = visit.phases.first_byte {
            site.rtt_s += rtt.as_secs_f64();
            site.rtts += 1;
        }
        match fate {
            None => site.robots = RobotsAnswer::of(visit),
            Some(Fate::Saved) => site.saved += 1,
            Some(Fate::Redirected) => site.redirected += 1,
            Some(Fate::Failed) => site.failed += 1,
            Some(Fate::Answered | Fate::Retry) => {}
        }
        if let Some(changed) = comparison(visit) {
            site.comparisons += 1;
            site.changes += u64::from(changed);
        }
    }
}

impl SiteTally {
    /// Mean round-trip time in seconds.
    pub(crate) fn mean_rtt_s(&self) -> Option<f64> {
        (self.rtts > 0).then(|| self.rtt_s / self.rtts as f64)
    }
}

impl RobotsAnswer {
    fn of(visit: &Visit) -> Self {
        match visit.code {
            _ if !visit.state.is_answer() => Self::Unreachable,
            Some(200) => Self::Found,
            Some(400..=499) => Self::Missing,
            _ => Self::Other,
        }
    }
}

/// Whether a visit found its page changed; `None` if it could not tell. A 304
/// is the server's word that nothing changed.
pub(crate) fn comparison(visit: &Visit) -> Option<bool> {
    match visit.changed {
        Some(change) => Some(change.changed),
        None => (visit.code == Some(304) && visit.state.is_answer()).then_some(false),
    }
}
