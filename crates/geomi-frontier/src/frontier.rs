//! The scheduler itself: URLs in, leases out, settlements in.
//!
//! What is called from outside is here; [`serve`] makes leases, [`rest`] is what
//! follows a request, [`robots`] is about robots.txt and who waits for it, [`calls`] about
//! connections that become free, [`refill`] takes back what was on disk, [`unsaved`] is what
//! goes there, [`place`] keeps the heaps, [`turns`] says which sites are in
//! memory, [`look`] and [`why`] only look.

mod calls;
#[cfg(test)]
mod collision_tests;
mod look;
mod outbox;
mod place;
mod refill;
mod rest;
mod robots;
mod serve;
mod turns;
mod unsaved;
mod why;

pub use look::{FAILING_LISTED, Overview, RETIRED_LISTED};
pub use turns::Closed;
pub use why::{Hold, SiteView};

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use geomi_model::Timestamp;
use geomi_url::{CrawlUrl, SiteHash, SiteKey};
use hashbrown::HashMap;

use crate::address::{Addresses, FrontierId};
use crate::entry::{Entry, Lease, Resolved, Settlement, Work};
use crate::lane::Position;
use crate::order::Pace;
use crate::retire::{RetireReason, Retirement};
use crate::rules::PAGES_SAVED;
use crate::site::{Need, Place, Site};
use crate::{HostOrder, PageOrder, Politeness, SiteRules, SiteState, Tries};
use look::RetiredClosed;
use outbox::Outbox;
use place::SiteQueue;
use robots::ROBOTS_LEFT_ALONE;
use turns::Looks;
use unsaved::Unsaved;

/// How a frontier is set up.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// Delays and limits.
    pub politeness: Politeness,
    /// Which ready site goes first.
    pub order: HostOrder,
    /// Which page of a site goes first.
    pub page_order: PageOrder,
    /// Whether a site's robots.txt is asked for before its pages.
    pub ask_robots: bool,
    /// A site that would have to be waited for longer is retired for this run.
    pub wait_max: Duration,
    /// Whether one of which no answer is to be expected any more is retired, too.
    /// In a run without an end that would be for ever.
    pub retires_hopeless: bool,
    /// Entries a lane keeps in memory.
    pub front_len_max: usize,
    /// Entries kept in memory over all sites.
    pub memory_len_max: usize,
    /// Sites kept in memory; the others wait for their turn.
    pub sites_max: usize,
    /// Pages a site is visited for before it makes room for others that wait.
    pub turn_pages: u32,
    /// How long a site is in memory before it makes room for others that wait, however
    /// few of its pages were visited.
    pub turn_time: Duration,
    /// Which run of the crawl this is. Sites that another run retired are asked again.
    /// `None` looks at what a run left: whatever it retired still counts as retired.
    pub run: Option<Timestamp>,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            politeness: Politeness::default(),
            order: HostOrder::default(),
            page_order: PageOrder::default(),
            ask_robots: true,
            wait_max: Duration::from_mins(5),
            retires_hopeless: true,
            front_len_max: 64,
            memory_len_max: 100_000,
            sites_max: 10_000,
            turn_pages: 256,
            turn_time: Duration::from_mins(10),
            run: None,
        }
    }
}

/// The next thing to do.
#[derive(Debug)]
pub enum Action {
    /// Carry this out, then settle it.
    Lease(Lease),
    /// Read this lane's queue from this position on, and call
    /// [`Frontier::refilled`]; then poll again.
    Refill {
        /// Whose queue.
        site: SiteHash,
        /// Which lane, 0 the highest.
        lane: u8,
        /// From where.
        from: Position,
        /// Entries there may be settled already; where not, nobody need look.
        is_ragged: bool,
    },
    /// Nothing to do before that moment, unless a lease is settled or a URL
    /// admitted. `None`: nothing to do at all.
    Wait(Option<Timestamp>),
}

/// A new chunk of a site's queue, to be made durable in the next commit.
#[derive(Debug)]
pub struct Append {
    /// Whose queue.
    pub site: SiteHash,
    /// Which lane, 0 the highest.
    pub lane: u8,
    /// Number of the chunk.
    pub chunk: u64,
    /// Its entries, in order.
    pub entries: Vec<Arc<Entry>>,
}

/// A site whose state changed, to be made durable in the next commit.
#[derive(Debug)]
pub struct Save {
    /// The state as it is now.
    pub state: SiteState,
    /// Chunks to delete, by lane.
    pub freed: Vec<(u8, Range<u64>)>,
}

/// How many URLs are where. `admitted = waiting + leased + settled`.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// URLs taken in, retries and what an earlier run left included.
    pub admitted: u64,
    /// URLs in queues, those of retired sites included.
    pub waiting: u64,
    /// URLs being visited.
    pub leased: u64,
    /// URLs dealt with.
    pub settled: u64,
}

/// A pure scheduler; the crate's documentation has the picture.
///
/// ```
/// use geomi_frontier::{
///     Action, Addresses, Config, Entry, Frontier, FrontierId, Resolved, SiteState, Work,
/// };
/// use geomi_model::{LinkKind, Timestamp};
/// use geomi_url::CrawlUrl;
///
/// let now = Timestamp::from_secs(1_000);
/// let url = CrawlUrl::parse("http://example.com/").unwrap();
/// let mut addresses = Addresses::new();
/// let mut frontier = Frontier::new(FrontierId(0), Config::default());
/// frontier.open_site(SiteState::new(url.site()), now, now);
/// frontier.admit(Entry { url, seed: 0, via: None, kind: LinkKind::Anchor, depth: 0, priority: 1,
///     attempts: 0, redirects: 0, is_seed: true, is_revisit: false, not_before: None }, now);
/// let Action::Lease(lease) = frontier.poll(now, &mut addresses) else { panic!("there is work") };
/// assert!(matches!(lease.work(), Work::Resolve { host, .. } if host == "example.com"));
/// frontier.settle_resolve(lease, Resolved::Address { addr: [127, 0, 0, 1].into(), until: Timestamp::from_secs(5_000), is_public: false }, now);
/// let Action::Lease(lease) = frontier.poll(now, &mut addresses) else { panic!("robots.txt comes first") };
/// assert!(matches!(lease.work(), Work::Robots(..)));
/// # drop(lease);
/// ```
#[derive(Debug)]
pub struct Frontier {
    id: FrontierId,
    config: Config,
    sites: HashMap<SiteHash, Site>,
    queue: SiteQueue,
    unsaved: Unsaved,
    counts: Counts,
    /// Entries kept in memory.
    in_memory: usize,
    next_lease: u64,
    pace: Pace,
    looks: Looks,
    retired_closed: RetiredClosed,
    outbox: Outbox,
}

impl Frontier {
    /// An empty frontier. No other frontier with the same [`Addresses`] has this id.
    pub fn new(id: FrontierId, config: Config) -> Self {
        Self {
            id,
            config,
            sites: HashMap::new(),
            queue: SiteQueue::default(),
            unsaved: Unsaved::default(),
            counts: Counts::default(),
            in_memory: 0,
            next_lease: 0,
            pace: Pace::default(),
            looks: Looks::default(),
            retired_closed: RetiredClosed::default(),
            outbox: Outbox::default(),
        }
    }

    /// Whether the site is in memory. If not, [`Frontier::open_site`] must
    /// come before anything else about it.
    pub fn is_open(&self, site: SiteHash) -> bool {
        self.sites.contains_key(&site)
    }

    /// Whether the open site that has the hash of a URL's site is another site. Nothing of
    /// that URL must be mixed into it: its rules, address and credentials are not its own.
    pub fn is_taken(&self, url: &CrawlUrl) -> bool {
        let open = self.sites.get(&url.site_hash());
        open.is_some_and(|open| !open.state.key.is_of(url))
    }

    /// Takes a site in, as it was saved or as new. No request goes to it
    /// before `not_before`: after a crash nobody knows when the last answer
    /// ended, so the caller gives a full delay from now.
    pub fn open_site(&mut self, state: SiteState, not_before: Timestamp, now: Timestamp) {
        self.open_site_with(state, None, not_before, now);
    }

    /// The same, for a site that may have rules of its own.
    pub fn open_site_with(
        &mut self,
        mut state: SiteState,
        rules: Option<SiteRules>,
        not_before: Timestamp,
        now: Timestamp,
    ) {
        if self.is_retired(&state) {
            self.retired_closed.forget(&state.key);
        } else {
            state.retired = None;
        }
        let hash = state.key.hash64();
        let pending = state.pending();
        self.counts.admitted += pending;
        self.counts.waiting += pending;
        let own = rules.map_or(self.config.politeness, |rules| rules.politeness);
        let site = Site::open(
            state,
            rules,
            own.site_connections,
            not_before,
            (self.queue.next_ticket(), now),
            self.next_lease,
            self.config.page_order,
        );
        let before = self.sites.insert(hash, site);
        assert!(before.is_none(), "a site is opened once");
        if rules.is_some_and(|rules| rules.pages_left == Some(0)) {
            self.retire(hash, RetireReason::PagesSaved, None, PAGES_SAVED.to_owned());
        }
        self.retire_if_too_long(hash, now);
        self.place(hash, now);
    }

    /// Queues a URL that is wanted and new. Its site must be open. Returns `false`, and
    /// does nothing, if the open site is another one with the same hash.
    pub fn admit(&mut self, entry: Entry, now: Timestamp) -> bool {
        if self.is_taken(&entry.url) {
            return false;
        }
        let hash = entry.url.site_hash();
        self.enqueue(hash, entry);
        self.replace_if_resting(hash, now);
        true
    }

    /// The next thing to do; call again after each action until it says wait.
    pub fn poll(&mut self, now: Timestamp, addresses: &mut Addresses) -> Action {
        self.wake(now);
        self.answer_calls(addresses, now);
        while let Some((ticket, hash)) = self.queue.pop_ready() {
            let current = self
                .sites
                .get(&hash)
                .is_some_and(|site| site.ticket == ticket && site.place == Place::Ready);
            if current && let Some(action) = self.serve(hash, addresses, now) {
                return action;
            }
            self.answer_calls(addresses, now);
        }
        Action::Wait(self.next_wakeup())
    }

    /// When [`Frontier::poll`] may have something to do, if nothing happens.
    pub fn next_wakeup(&self) -> Option<Timestamp> {
        self.queue.first_waiting().map(|(when, ..)| when)
    }

    /// Settles a page.
    pub fn settle(
        &mut self,
        lease: Lease,
        settlement: Settlement,
        addresses: &mut Addresses,
        now: Timestamp,
    ) {
        let Lease {
            site: hash,
            slot,
            position: Some((lane, position)),
            work: Work::Page(entry, addr),
            ..
        } = lease
        else {
            panic!("only a page is settled here")
        };
        let (asked, retry) = match settlement {
            Settlement::NotAsked => (None, None),
            Settlement::Done(timing, signal) => (Some((timing, signal)), None),
            Settlement::Retry {
                timing,
                signal,
                after,
            } => (Some((timing, signal)), Some(timing.ended + after)),
        };
        self.release(hash, slot, asked, now);
        if let Some(addr) = addr {
            self.free_address(addr, addresses, now);
        }
        let site = self.sites.get_mut(&hash).expect("a leased site is open");
        site.lanes[usize::from(lane)].settle(position);
        self.counts.leased -= 1;
        self.counts.settled += 1;
        if let Some(not_before) = retry {
            let mut entry = Arc::unwrap_or_clone(entry);
            entry.attempts += 1;
            entry.not_before = Some(not_before);
            self.enqueue(hash, entry);
        }
        self.place(hash, now);
        self.answer_calls(addresses, now);
    }

    /// Settles a look-up.
    pub fn settle_resolve(&mut self, lease: Lease, resolved: Resolved, now: Timestamp) {
        let Lease {
            site: hash,
            work: Work::Resolve { .. },
            ..
        } = lease
        else {
            panic!("only a look-up is settled here")
        };
        self.release(hash, None, None, now);
        let politeness = self.config.politeness;
        let site = self.sites.get_mut(&hash).expect("a leased site is open");
        match resolved {
            Resolved::Address {
                addr,
                until,
                is_public,
            } => {
                site.is_public = is_public;
                site.state.tries.lookup = 0;
                site.address = Need::Have;
                site.state.address = Some((Some(addr), until));
            }
            Resolved::Retry => {
                site.address = Need::Missing;
                let tries = &mut site.state.tries;
                tries.lookup = tries.lookup.saturating_add(1);
                let wait = politeness.backoff(hash, u32::from(tries.lookup));
                site.state.backoff_until = now + wait;
            }
            Resolved::Nowhere(until) => {
                site.address = Need::Have;
                site.state.address = Some((None, until));
                site.state.tries.lookup = 0;
            }
        }
        self.retire_if_too_long(hash, now);
        self.place(hash, now);
    }

    /// Goes on by other rules. They hold from the next request on: rests that
    /// have begun are measured anew from the answer they began with. How many
    /// connections a site has does not change. `own` gives the rules of a site
    /// that was opened with rules of its own.
    pub fn reconfigure(
        &mut self,
        politeness: Politeness,
        wait_max: Duration,
        own: impl Fn(&SiteKey) -> Option<Politeness>,
        now: Timestamp,
    ) {
        self.config.politeness = Politeness {
            site_connections: self.config.politeness.site_connections,
            address_connections: self.config.politeness.address_connections,
            ..politeness
        };
        self.config.wait_max = wait_max;
        let politeness = self.config.politeness;
        let sites: Vec<SiteHash> = self.sites.keys().copied().collect();
        for hash in sites {
            let site = self.sites.get_mut(&hash).expect("it was just there");
            if let Some(rules) = &mut site.rules
                && let Some(own) = own(&site.state.key)
            {
                rules.politeness.delay = own.delay;
                rules.politeness.backoff_first = own.backoff_first;
                rules.politeness.backoff_max = own.backoff_max;
            }
            site.rest_anew(&politeness);
            self.retire_if_too_long(hash, now);
            self.replace_if_resting(hash, now);
            self.mark_dirty(hash);
        }
    }

    /// Counts a page saved, of a site of which only so many are wanted. To be
    /// called once its lease is settled.
    pub fn count_saved(&mut self, site: SiteHash) {
        let rules = self
            .sites
            .get_mut(&site)
            .and_then(|open| open.rules.as_mut());
        let Some(left) = rules.and_then(|rules| rules.pages_left.as_mut()) else {
            return;
        };
        *left = left.saturating_sub(1);
        if *left == 0 {
            self.retire(site, RetireReason::PagesSaved, None, PAGES_SAVED.to_owned());
        }
    }

    /// Leaves a site alone for the rest of this run; its URLs stay queued. It waits for
    /// nothing any more, so that nothing keeps it in memory.
    pub fn retire(
        &mut self,
        site: SiteHash,
        reason: RetireReason,
        until: Option<Timestamp>,
        why: String,
    ) {
        let run = self.config.run.unwrap_or_default();
        let Some(open) = self.sites.get_mut(&site) else {
            return;
        };
        if open.state.retired.is_some() {
            return;
        }
        open.state.retired = Some(Retirement {
            run,
            reason,
            until,
            why,
        });
        open.state.tries = Tries::default();
        open.place = Place::Idle;
        let call = open.take_call(self.id);
        self.outbox.pass_on(call);
        if open.waits_for_robots() {
            open.robots = Need::Missing;
        }
        let errands = std::mem::take(&mut open.errands);
        self.looks.note_retired();
        self.mark_dirty(site);
        for errand in errands {
            self.lose_errand(errand, ROBOTS_LEFT_ALONE);
        }
    }

    /// The chunks admitted since the last call, to be written in this commit.
    pub fn take_appends(&mut self) -> impl Iterator<Item = Append> + '_ {
        self.unsaved.take_appends()
    }

    /// The sites changed since the last call, to be written in this commit.
    pub fn take_saves(&mut self) -> Vec<Save> {
        let dirty = self.unsaved.take_dirty();
        dirty
            .into_iter()
            .filter_map(|hash| self.save(hash))
            .collect()
    }

    fn enqueue(&mut self, hash: SiteHash, entry: Entry) {
        let index = self.config.page_order.lane(entry.priority, entry.depth);
        let site = self
            .sites
            .get_mut(&hash)
            .expect("a URL's site is open before it is admitted");
        let lane = site.lane_mut(index);
        let room = lane.in_memory() < self.config.front_len_max
            && self.in_memory < self.config.memory_len_max;
        let before = lane.in_memory();
        let entry = Arc::new(entry);
        let copy = Arc::clone(&entry);
        let position = (self.unsaved).append(hash, index, copy, || lane.begin_chunk());
        lane.append(position, &entry, room);
        self.in_memory += lane.in_memory() - before;
        self.counts.admitted += 1;
        self.counts.waiting += 1;
        self.mark_dirty(hash);
    }

    fn mark_dirty(&mut self, hash: SiteHash) {
        let site = self.sites.get_mut(&hash).expect("a changed site is open");
        if !site.dirty {
            site.dirty = true;
            self.unsaved.note(hash);
        }
    }

    fn save(&mut self, hash: SiteHash) -> Option<Save> {
        let site = self.sites.get_mut(&hash)?;
        site.dirty = false;
        let lanes = site.lanes.iter_mut().enumerate();
        let freed = lanes
            .map(|(index, lane)| (index as u8, lane.take_freed()))
            .filter(|(_, range)| !range.is_empty())
            .collect();
        Some(Save {
            state: site.saved(),
            freed,
        })
    }
}
