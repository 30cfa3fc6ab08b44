//! Which sites are in memory: as many as may be, taking turns.
//!
//! A site in memory costs some kilobytes, so a crawl of millions keeps only
//! [`Config::sites_max`](super::Config::sites_max) of them here. The caller
//! keeps the list of the others and opens them as room appears. Room appears
//! when a site has nothing left to do, when it is retired, and, while others
//! wait, when it has had its turn or must rest for long. A turn ends after
//! [`Config::turn_pages`](super::Config::turn_pages) pages or
//! [`Config::turn_time`](super::Config::turn_time). So neither a site with millions
//! of URLs nor any number of sites that are slow, back off or ask for a long wait
//! can keep a site with one URL from being visited.
//!
//! A site in a long rest may wait for a robots.txt, its own or another's, or others
//! may wait for the robots.txt it keeps. Such a request is called off and made again
//! in the next turn; how often it was tried is remembered
//! ([`Tries`](crate::Tries)). A site that waits for a robots.txt from another frontier
//! is closed like one in a long rest, and asks again in its next turn.
//!
//! Closing a site loses nothing: its queue is on disk, and what was settled out
//! of order above its watermark is recognised when the queue is read back, as
//! after a crash.

use std::time::Duration;

use geomi_model::{PRIORITIES, Timestamp};
use geomi_url::SiteHash;

use super::Frontier;
use crate::PageOrder;
use crate::lane::Lane;
use crate::site::{Need, Site};

/// A site that rests for longer makes room for others.
const LONG_REST: Duration = Duration::from_secs(10);
/// While others wait, sites are looked through this often at least.
const LOOK_EVERY: Duration = Duration::from_secs(1);

/// A site in memory with so many URLs has plenty.
const PLENTY: u64 = 16;
/// With fewer than these it could do with more.
const FEW: u64 = 8;

/// A site that was taken out of memory.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Closed {
    /// Which.
    pub site: SiteHash,
    /// URLs it has waiting on disk.
    pub pending: u64,
    /// It is left alone for the rest of this run: there is no use in opening it.
    pub is_retired: bool,
}

/// When the sites in memory were looked through, and when they are again.
#[derive(Debug, Default)]
pub(super) struct Looks {
    /// Number of sites at which drained ones are looked for again.
    next_sweep: usize,
    /// Leases made until the last look, and its time.
    leases: u64,
    at: Timestamp,
    /// Whether a site was retired since.
    has_retired: bool,
}

impl Looks {
    pub(super) fn note_retired(&mut self) {
        self.has_retired = true;
    }

    /// Whether to look for sites that make room for others.
    fn is_due(&self, leases: u64, sites_max: usize, now: Timestamp) -> bool {
        self.has_retired
            || leases - self.leases > sites_max as u64 / 8
            || now.since(self.at) >= LOOK_EVERY
    }

    /// Whether to look for sites that have nothing left to do.
    fn is_sweep_due(&self, sites: usize) -> bool {
        sites > self.next_sweep
    }

    fn begin(&mut self, leases: u64, now: Timestamp) {
        self.leases = leases;
        self.at = now;
        self.has_retired = false;
    }

    fn end(&mut self, sites: usize) {
        self.next_sweep = 2 * sites;
    }
}

impl Frontier {
    /// Whether another site may be opened. One that must be, as to ask it for
    /// another's robots.txt, may be opened all the same.
    pub fn has_room(&self) -> bool {
        self.sites.len() < self.config.sites_max
    }

    /// Whether a site in memory has so many URLs of that priority or a better one
    /// waiting that one more is of no use to it now. Breadth-first needs all of them, to
    /// keep their order.
    pub fn has_plenty(&self, site: SiteHash, priority: u8) -> bool {
        if self.config.page_order == PageOrder::BreadthFirst {
            return false;
        }
        let lanes = usize::from(priority.clamp(1, PRIORITIES));
        let waiting = |open: &Site| open.lanes[..lanes].iter().map(Lane::len).sum::<u64>();
        self.sites
            .get(&site)
            .is_some_and(|open| waiting(open) >= PLENTY)
    }

    /// Whether a page of that site may wait, or be under way, that is deeper than this.
    pub fn may_wait_deeper(&self, site: SiteHash, depth: u16) -> bool {
        let order = self.config.page_order;
        let next = usize::from(order.lane(1, depth)) + 1;
        order == PageOrder::Priority
            || self
                .sites
                .get(&site)
                .is_none_or(|open| open.lanes.iter().skip(next).any(Lane::is_open))
    }

    /// Sites in memory that changed since the last commit and have few URLs left.
    pub fn short_sites(&self) -> Vec<SiteHash> {
        let dirty = self.unsaved.dirty().iter();
        let dirty = dirty.filter_map(|hash| self.sites.get(hash));
        let short = dirty.filter(|site| site.waiting_len() < FEW);
        short.map(|site| site.hash).collect()
    }

    /// Takes sites out of memory if it is full. To be called after a commit.
    /// With `others_wait`, sites that have had their turn go, too. Looking
    /// through all sites is not cheap, so it is done only now and then.
    pub fn close_sites(&mut self, others_wait: bool, now: Timestamp) -> Vec<Closed> {
        let is_due = if others_wait {
            self.looks
                .is_due(self.next_lease, self.config.sites_max, now)
        } else {
            self.looks.is_sweep_due(self.sites.len())
        };
        if self.has_room() || !is_due {
            return Vec::new();
        }
        self.looks.begin(self.next_lease, now);
        if others_wait {
            self.call_errands_off(now);
        }
        let due = self.sites.values().filter(|site| {
            is_at_rest(site, now)
                && (site.state.retired.is_some()
                    || site.is_drained()
                    || others_wait && self.has_had_its_turn(site, now))
        });
        let due = in_order(due);
        let closed = due.into_iter().map(|hash| self.close(hash)).collect();
        self.looks.end(self.sites.len());
        closed
    }

    fn has_had_its_turn(&self, site: &Site, now: Timestamp) -> bool {
        let due = site.next_due(now);
        site.served >= self.config.turn_pages
            || now.since(site.opened_at) >= self.config.turn_time
            || due.is_none_or(|due| due.since(now) > LONG_REST)
    }

    /// Gives up requests for a robots.txt that wait for a site in a long rest, so that
    /// neither that site nor those that want the file must stay in memory. Whoever wants
    /// it asks again once the rest is over; another frontier hears of it
    /// ([`Frontier::take_lost_errands`]).
    fn call_errands_off(&mut self, now: Timestamp) {
        let rests_long = |site: &&Site| {
            let until = site.left_alone_until();
            site.live_leases == 0 && !site.errands.is_empty() && until.since(now) > LONG_REST
        };
        let resting = self.sites.values().filter(rests_long);
        for hash in in_order(resting) {
            let site = self.sites.get_mut(&hash).expect("it was just there");
            let until = site.left_alone_until();
            for errand in std::mem::take(&mut site.errands) {
                if errand.is_foreign {
                    self.outbox.lose(errand, Some(until));
                } else {
                    self.put_robots_off(errand.for_site, errand.attempts, until, now);
                }
            }
            self.place(hash, now);
        }
    }

    fn close(&mut self, hash: SiteHash) -> Closed {
        let mut site = self.sites.remove(&hash).expect("a site is closed once");
        let call = site.take_call(self.id);
        self.outbox.pass_on(call);
        let pending = site.waiting_len();
        self.counts.admitted -= pending;
        self.counts.waiting -= pending;
        self.in_memory -= site.lanes.iter().map(Lane::in_memory).sum::<usize>();
        let is_retired = site.state.retired.is_some();
        if let Some(retirement) = site.state.retired {
            self.retired_closed.add(site.state.key, retirement);
        }
        Closed {
            site: hash,
            pending,
            is_retired,
        }
    }
}

/// Those opened first come first: one seed, one history.
fn in_order<'a>(sites: impl Iterator<Item = &'a Site>) -> Vec<SiteHash> {
    let mut sites: Vec<&Site> = sites.collect();
    sites.sort_unstable_by_key(|site| site.opened);
    sites.into_iter().map(|site| site.hash).collect()
}

/// Nothing is under way for it, nobody counts on it, and all of it is on disk. It may
/// be in line for its address: its place there is then passed over. What another
/// frontier was asked for is waited for as long as for a site that rests.
fn is_at_rest(site: &Site, now: Timestamp) -> bool {
    let awaits_robots = match site.robots {
        Need::Asked => true,
        Need::AskedElsewhere(since) => now.since(since) <= LONG_REST,
        Need::Missing | Need::Have => false,
    };
    site.live_leases == 0 && site.errands.is_empty() && !site.dirty && !awaits_robots
}
