//! Why a site is not asked right now.
//!
//! [`Frontier::view`] says of one site what the heaps imply: what it waits for,
//! until when, and by which rule. It only looks, and it names one reason: the
//! one that ends last, so that whoever mends it has mended something.

use std::net::IpAddr;
use std::time::Duration;

use geomi_model::Timestamp;
use geomi_url::{SiteHash, SiteKey};

use super::Frontier;
use crate::Retirement;
use crate::lane::Lane;
use crate::site::{Need, Place, Site};

/// What keeps a site from being asked now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Hold {
    /// Nothing: it is asked as soon as a connection of the crawl is free.
    Nothing,
    /// Nothing is queued for it.
    Drained,
    /// Requests under way take all the connections it is allowed.
    Busy,
    /// Its name is being looked up.
    Lookup,
    /// Its name could not be looked up, and will be tried again.
    LookupFailed {
        /// When.
        until: Timestamp,
        /// How often in a row.
        times: u8,
    },
    /// Its robots.txt is on its way.
    Robots,
    /// Its address carries as many connections as one address may.
    AddressLimit(IpAddr),
    /// It rests after an answer, by our own delay.
    Delay {
        /// Until when.
        until: Timestamp,
    },
    /// It rests after an answer, by the Crawl-delay of its robots.txt.
    CrawlDelay {
        /// Until when.
        until: Timestamp,
        /// What its robots.txt says.
        delay: Duration,
    },
    /// It asked to be left alone (429 or 503, with or without Retry-After).
    Throttled {
        /// Until when.
        until: Timestamp,
    },
    /// It failed, and is left alone for a while.
    BackOff {
        /// Until when.
        until: Timestamp,
        /// Failures in a row.
        failures: u32,
    },
    /// All that is queued for it are second tries whose time has not come.
    Retry {
        /// Until when.
        until: Timestamp,
    },
    /// Its turn: as many sites as may be are in memory.
    Turn,
    /// It is left alone for the rest of this run.
    Retired(Retirement),
}

impl Hold {
    /// When it ends by itself, if it does.
    pub fn until(&self) -> Option<Timestamp> {
        match self {
            Self::LookupFailed { until, .. }
            | Self::Delay { until }
            | Self::CrawlDelay { until, .. }
            | Self::Throttled { until }
            | Self::BackOff { until, .. }
            | Self::Retry { until } => Some(*until),
            _ => None,
        }
    }
}

/// A site as it is now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SiteView {
    /// Its name.
    pub key: SiteKey,
    /// What it waits for.
    pub hold: Hold,
    /// URLs waiting, by lane: the highest priority, or the smallest depth, first.
    pub queued: Vec<u64>,
    /// Requests under way.
    pub leased: usize,
    /// Rest after each answer as things are.
    pub rest: Duration,
    /// Everything else that is known of it.
    pub state: crate::SiteState,
}

impl Frontier {
    /// A site as it is now, if it is in memory.
    pub fn view(&self, site: SiteHash, now: Timestamp) -> Option<SiteView> {
        self.sites.get(&site).map(|site| self.view_of(site, now))
    }

    /// Every site in memory.
    pub fn views(&self, now: Timestamp) -> impl Iterator<Item = SiteView> + '_ {
        self.sites.values().map(move |site| self.view_of(site, now))
    }

    fn view_of(&self, site: &Site, now: Timestamp) -> SiteView {
        let politeness = site.politeness(&self.config.politeness);
        SiteView {
            key: site.state.key.clone(),
            hold: hold(site, now),
            queued: site.lanes.iter().map(Lane::len).collect(),
            leased: site.live_leases,
            rest: politeness.rest(site.state.last_download, site.state.crawl_delay),
            state: site.saved(),
        }
    }
}

fn hold(site: &Site, now: Timestamp) -> Hold {
    if let Some(retirement) = &site.state.retired {
        return Hold::Retired(retirement.clone());
    }
    if site.waiting_len() == 0 && site.errands.is_empty() {
        return if site.live_leases > 0 {
            Hold::Busy
        } else {
            Hold::Drained
        };
    }
    if site.address == Need::Asked {
        return Hold::Lookup;
    }
    let alone = site.left_alone_until();
    if alone > now {
        return left_alone(site, alone);
    }
    if site.waits_for_robots() {
        return Hold::Robots;
    }
    if let (Place::Blocked, Some((Some(address), _))) = (site.place, site.state.address) {
        return Hold::AddressLimit(address);
    }
    let Some((_, free_at)) = site.soonest_slot() else {
        return Hold::Busy;
    };
    if free_at > now && !site.needs_address(now) {
        return match site.state.crawl_delay {
            Some(delay) => Hold::CrawlDelay {
                until: free_at,
                delay,
            },
            None => Hold::Delay { until: free_at },
        };
    }
    match site.lanes_due(now) {
        Some(until) if until > now => Hold::Retry { until },
        // Breadth-first: the next depth begins when this one is settled.
        None if site.waiting_len() > 0 => Hold::Busy,
        _ => Hold::Nothing,
    }
}

fn left_alone(site: &Site, until: Timestamp) -> Hold {
    if site.state.throttled_until == until {
        Hold::Throttled { until }
    } else if site.state.tries.lookup > 0 {
        Hold::LookupFailed {
            until,
            times: site.state.tries.lookup,
        }
    } else {
        Hold::BackOff {
            until,
            failures: site.state.failures,
        }
    }
}
