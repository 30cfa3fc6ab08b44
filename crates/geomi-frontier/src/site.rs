//! One site in memory, and what is kept of it on disk.

use std::collections::VecDeque;
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use geomi_model::{PRIORITIES, Timestamp};
use geomi_url::{CrawlUrl, SiteHash, SiteKey};
use serde::{Deserialize, Serialize};

use crate::lane::{self, Lane, Position};
use crate::order::View;
use crate::{
    Call, Entry, Errand, FrontierId, Outlook, PageOrder, Politeness, Retirement, RoundTrip,
    SiteRules, Tries,
};

/// What is kept of a site between runs.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SiteState {
    /// Its name.
    pub key: SiteKey,
    /// No request before this, by the site's delay.
    pub next_request: Timestamp,
    /// No request before this, by back-off after failures.
    pub backoff_until: Timestamp,
    /// No request before this, because the site asked for it (429, 503).
    pub throttled_until: Timestamp,
    /// Failures in a row to reach it.
    pub failures: u32,
    /// Crawl-delay of its robots.txt.
    pub crawl_delay: Option<Duration>,
    /// Time the last request took.
    pub last_download: Duration,
    /// Smoothed round-trip time, request to first byte.
    pub rtt: RoundTrip,
    /// Address, and how long it may be used; `None` inside is a name that is
    /// known to have no address, and for how long to believe that.
    pub address: Option<(Option<IpAddr>, Timestamp)>,
    /// How long its robots.txt may be used.
    pub robots_until: Option<Timestamp>,
    /// Requests made.
    pub requests: u64,
    /// Requests that were answered.
    pub answers: u64,
    /// Pairs of successive visits, success before and after: SS, SF, FS, FF.
    pub transitions: [u32; 4],
    /// Whether the last request was answered.
    pub last_answered: Option<bool>,
    /// Its queues: one per priority, or one per depth ([`PageOrder`]).
    pub lanes: Vec<LaneState>,
    /// Smoothed time to connect. It stands last because states of earlier
    /// versions end before it.
    #[serde(deserialize_with = "RoundTrip::or_unknown")]
    pub connect: RoundTrip,
    /// A bit per lane in which entries after the watermark may be settled. The last
    /// bit stands for all further lanes. States of earlier versions have all bits.
    #[serde(deserialize_with = "or_all")]
    pub ragged: u8,
    /// What failed before its first page; nothing, in states of earlier versions.
    #[serde(deserialize_with = "or_default")]
    pub tries: Tries,
    /// Why it is left alone in one run; `None` in states of earlier versions.
    #[serde(deserialize_with = "or_default")]
    pub retired: Option<Retirement>,
}

/// A state that ends before it does not know.
#[expect(clippy::unnecessary_wraps, reason = "serde asks for a result")]
fn or_all<'de, D: serde::Deserializer<'de>>(from: D) -> Result<u8, D::Error> {
    Ok(u8::deserialize(from).unwrap_or(u8::MAX))
}

/// The same for a field that has a default.
#[expect(clippy::unnecessary_wraps, reason = "serde asks for a result")]
fn or_default<'de, D, T>(from: D) -> Result<T, D::Error>
where
    D: serde::Deserializer<'de>,
    T: Default + Deserialize<'de>,
{
    Ok(T::deserialize(from).unwrap_or_default())
}

/// A queue as kept on disk.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct LaneState {
    /// The first position that is not settled.
    pub watermark: Position,
    /// Number of the next chunk.
    pub next_chunk: u64,
    /// Entries not settled.
    pub len: u64,
}

impl SiteState {
    /// A site never seen before.
    pub fn new(key: SiteKey) -> Self {
        Self {
            key,
            next_request: Timestamp::EPOCH,
            backoff_until: Timestamp::EPOCH,
            throttled_until: Timestamp::EPOCH,
            failures: 0,
            crawl_delay: None,
            last_download: Duration::ZERO,
            rtt: RoundTrip::default(),
            address: None,
            robots_until: None,
            requests: 0,
            answers: 0,
            transitions: [0; 4],
            last_answered: None,
            lanes: vec![LaneState::default(); usize::from(PRIORITIES)],
            connect: RoundTrip::default(),
            ragged: 0,
            tries: Tries::default(),
            retired: None,
        }
    }

    /// URLs waiting.
    pub fn pending(&self) -> u64 {
        self.lanes.iter().map(|lane| lane.len).sum()
    }

    /// Share of requests that were answered; a new site is given credit.
    pub fn success(&self) -> f32 {
        (self.answers as f32 + 1.0) / (self.requests as f32 + 1.0)
    }

    /// What to expect of its next visit.
    pub fn outlook(&self) -> Outlook {
        Outlook::new(self.transitions, self.last_answered)
    }
}

/// Where a site stands; see the crate's picture.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Place {
    /// In no heap: nothing to do, or all slots are busy.
    Idle,
    Waiting(Timestamp),
    Ready,
    /// In line for a connection to its address.
    Blocked,
}

/// Something a site needs before its first page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Need {
    Missing,
    Asked,
    /// Another frontier was asked for it at that time.
    AskedElsewhere(Timestamp),
    Have,
}

/// One connection a site is allowed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Slot {
    pub(crate) busy: bool,
    pub(crate) free_at: Timestamp,
    /// When its last answer ended, if one did in this run.
    pub(crate) rests_since: Option<Timestamp>,
}

#[derive(Debug)]
pub(crate) struct Site {
    /// Everything durable but the lanes, which are read from `lanes` when saved.
    pub(crate) state: SiteState,
    pub(crate) hash: SiteHash,
    pub(crate) lanes: Vec<Lane>,
    page_order: PageOrder,
    pub(crate) lane_clock: u64,
    pub(crate) errands: VecDeque<Errand>,
    /// What differs from the general rules; most sites have none.
    pub(crate) rules: Option<Box<SiteRules>>,
    pub(crate) slots: Vec<Slot>,
    pub(crate) address: Need,
    pub(crate) robots: Need,
    /// Its address is on the public internet.
    pub(crate) is_public: bool,
    /// Visits in a row that brought no answer, in this run.
    pub(crate) unanswered: u32,
    pub(crate) place: Place,
    /// Where a free connection is kept for it until it is served; it is ready then.
    pub(crate) called: Option<IpAddr>,
    /// Distinguishes the site's current heap entry from stale ones.
    pub(crate) ticket: u64,
    pub(crate) opened: u64,
    pub(crate) opened_at: Timestamp,
    pub(crate) last_served: u64,
    /// Pages leased since it was opened.
    pub(crate) served: u32,
    pub(crate) live_leases: usize,
    pub(crate) dirty: bool,
}

impl Site {
    pub(crate) fn open(
        state: SiteState,
        rules: Option<SiteRules>,
        connections: usize,
        not_before: Timestamp,
        opened: (u64, Timestamp),
        turn: u64,
        page_order: PageOrder,
    ) -> Self {
        let free_at = state.next_request.max(not_before);
        Self {
            hash: state.key.hash64(),
            lanes: (state.lanes.iter().enumerate())
                .map(|(lane, queue)| Lane::open(queue, state.ragged & ragged_bit(lane) != 0))
                .collect(),
            page_order,
            lane_clock: 0,
            errands: VecDeque::new(),
            rules: rules.map(Box::new),
            slots: vec![
                Slot {
                    busy: false,
                    free_at,
                    rests_since: None,
                };
                connections
            ],
            // Robots rules of an earlier run hold until they expire. An address
            // is looked up anew: the operator may have given another since.
            address: Need::Missing,
            robots: if state.robots_until.is_some() {
                Need::Have
            } else {
                Need::Missing
            },
            is_public: false,
            unanswered: 0,
            place: Place::Idle,
            called: None,
            ticket: 0,
            opened: opened.0,
            opened_at: opened.1,
            // It joins at the turn of the day, not ahead of all who have waited.
            last_served: turn,
            served: 0,
            live_leases: 0,
            dirty: false,
            state,
        }
    }

    /// The state as it is now, lanes included.
    pub(crate) fn saved(&self) -> SiteState {
        SiteState {
            lanes: self.lanes.iter().map(Lane::state).collect(),
            ragged: (self.lanes.iter().enumerate())
                .filter(|(_, queue)| queue.is_ragged())
                .fold(0, |bits, (lane, _)| bits | ragged_bit(lane)),
            ..self.state.clone()
        }
    }

    pub(crate) fn waiting_len(&self) -> u64 {
        self.lanes.iter().map(Lane::len).sum()
    }

    pub(crate) fn is_drained(&self) -> bool {
        self.live_leases == 0 && self.errands.is_empty() && self.waiting_len() == 0
    }

    /// The rules that hold for it.
    pub(crate) fn politeness(&self, general: &Politeness) -> Politeness {
        let own = self.rules.as_ref().map(|rules| rules.politeness);
        let rules = own.unwrap_or(*general);
        if self.is_public {
            rules.for_public()
        } else {
            rules
        }
    }

    /// Measures the rests that have begun by other rules.
    pub(crate) fn rest_anew(&mut self, general: &Politeness) {
        let politeness = self.politeness(general);
        let rest = politeness.rest(self.state.last_download, self.state.crawl_delay);
        for slot in &mut self.slots {
            if let Some(since) = slot.rests_since {
                slot.free_at = since + rest + Politeness::margin(rest);
            }
        }
        let known = self.slots.iter().all(|slot| slot.rests_since.is_some());
        let latest = self.slots.iter().map(|slot| slot.free_at).max();
        if let Some(latest) = latest.filter(|_| known) {
            self.state.next_request = latest;
        } else {
            self.state.next_request = self.state.next_request.max(latest.unwrap_or_default());
        }
    }

    /// Whether its robots.txt is asked for at all.
    pub(crate) fn asks_robots(&self, general: bool) -> bool {
        self.rules
            .as_ref()
            .map_or(general, |rules| rules.ask_robots)
    }

    /// Pages leased at this moment.
    pub(crate) fn pages_under_way(&self) -> u64 {
        self.lanes
            .iter()
            .map(|lane| lane.leased().len() as u64)
            .sum()
    }

    /// Whether every page that may still be saved is under way already.
    fn is_spent(&self) -> bool {
        let left = self.rules.as_ref().and_then(|rules| rules.pages_left);
        left.is_some_and(|left| self.pages_under_way() >= left)
    }

    /// When back-off and the site's own wish are over.
    pub(crate) fn left_alone_until(&self) -> Timestamp {
        self.state.backoff_until.max(self.state.throttled_until)
    }

    /// The free slot that may be used soonest. A site that states a
    /// Crawl-delay speaks of all its requests, so it is given one connection;
    /// and so is every site on the public internet.
    pub(crate) fn soonest_slot(&self) -> Option<(usize, Timestamp)> {
        if self.is_public || self.state.crawl_delay.is_some() {
            let any_busy = self.slots.iter().any(|slot| slot.busy);
            let rested = self.slots.iter().map(|slot| slot.free_at).max()?;
            return (!any_busy).then_some((0, rested));
        }
        let free = self.slots.iter().enumerate().filter(|(_, slot)| !slot.busy);
        free.map(|(index, slot)| (index, slot.free_at))
            .min_by_key(|(_, free_at)| *free_at)
    }

    /// Ends the call for a connection, if there is one; it is to be passed on.
    pub(crate) fn take_call(&mut self, frontier: FrontierId) -> Option<Call> {
        let addr = self.called.take()?;
        Some(Call {
            frontier,
            site: self.hash,
            addr,
        })
    }

    /// When this site next has something to do, if nothing else happens.
    pub(crate) fn next_due(&self, now: Timestamp) -> Option<Timestamp> {
        if self.state.retired.is_some() {
            return None;
        }
        let due = if self.errands.is_empty() {
            self.pages_due(now)?
        } else {
            now
        };
        if self.needs_address(now) {
            // A look-up costs the site nothing, but waits for its back-off.
            return (self.address != Need::Asked).then_some(due.max(self.left_alone_until()));
        }
        let (_, free_at) = self.soonest_slot()?;
        Some(due.max(free_at).max(self.left_alone_until()))
    }

    /// The lane whose front is empty while its disk part is not, from where, and
    /// whether entries there may be settled.
    pub(crate) fn wants_refill(&self) -> Option<(u8, Position, bool)> {
        let wanted = |index: usize| {
            let lane = &self.lanes[index];
            let from = lane.wants_refill()?;
            Some((index as u8, from, lane.is_ragged_on_disk()))
        };
        match self.page_order {
            PageOrder::Priority => (0..self.lanes.len()).find_map(wanted),
            PageOrder::BreadthFirst => lane::shallowest(&self.lanes).and_then(wanted),
        }
    }

    /// The lane to take the next page from.
    pub(crate) fn choose_lane(&mut self, now: Timestamp) -> Option<usize> {
        match self.page_order {
            PageOrder::Priority => lane::choose(&mut self.lanes, &mut self.lane_clock, now),
            PageOrder::BreadthFirst => lane::shallowest(&self.lanes)
                .filter(|index| self.lanes[*index].due(now).is_some_and(|due| due <= now)),
        }
    }

    /// A lane by its number; lanes for greater depths are made as they are needed.
    pub(crate) fn lane_mut(&mut self, index: u8) -> &mut Lane {
        let index = usize::from(index);
        while self.lanes.len() <= index {
            self.lanes.push(Lane::open(&LaneState::default(), false));
        }
        &mut self.lanes[index]
    }

    /// When the next page may be taken, as far as its queue is concerned.
    pub(crate) fn lanes_due(&self, now: Timestamp) -> Option<Timestamp> {
        match self.page_order {
            PageOrder::Priority => self.lanes.iter().filter_map(|lane| lane.due(now)).min(),
            PageOrder::BreadthFirst => {
                lane::shallowest(&self.lanes).and_then(|index| self.lanes[index].due(now))
            }
        }
    }

    /// Pages wait while robots.txt is on its way, and while those under way may
    /// be the last.
    fn pages_due(&self, now: Timestamp) -> Option<Timestamp> {
        if self.waits_for_robots() || self.is_spent() {
            return None;
        }
        self.lanes_due(now)
    }

    pub(crate) fn needs_address(&self, now: Timestamp) -> bool {
        self.address != Need::Have || self.state.address.is_none_or(|(_, until)| until <= now)
    }

    /// Whether its robots.txt was asked for, here or elsewhere, and is not known yet.
    pub(crate) fn waits_for_robots(&self) -> bool {
        matches!(self.robots, Need::Asked | Need::AskedElsewhere(_))
    }

    /// Nobody asks a site without an address for its robots.txt.
    pub(crate) fn needs_robots(&self, now: Timestamp) -> bool {
        let has_address = matches!(self.state.address, Some((Some(_), _)));
        has_address
            && (self.robots != Need::Have
                || self.state.robots_until.is_none_or(|until| until <= now))
    }

    /// The page whose robots.txt to ask for: any waiting one says which scheme.
    pub(crate) fn sample_page(&self) -> Option<CrawlUrl> {
        self.lanes
            .iter()
            .find_map(Lane::peek)
            .map(|entry: &Arc<Entry>| entry.url.clone())
    }

    pub(crate) fn view(&self, ready_at: Timestamp, general: &Politeness) -> View {
        let state = &self.state;
        let politeness = self.politeness(general);
        let rest = politeness.rest(state.last_download, state.crawl_delay);
        let best = self
            .lanes
            .iter()
            .position(|lane| lane.len() > 0)
            .unwrap_or(0)
            .min(usize::from(PRIORITIES) - 1);
        View {
            ready_at,
            rtt: state.rtt.mean,
            priority: best as u8 + 1,
            last_served: self.last_served,
            opened: self.opened,
            queued: self.waiting_len(),
            period: state.last_download + rest,
            likely_to_fail: state.outlook().is_bad(),
        }
    }

    /// Counts an answer or a failure, and what it followed.
    pub(crate) fn observe_answer(&mut self, answered: bool) {
        let state = &mut self.state;
        state.requests += 1;
        state.answers += u64::from(answered);
        if let Some(before) = state.last_answered {
            state.transitions[usize::from(!before) * 2 + usize::from(!answered)] += 1;
        }
        state.last_answered = Some(answered);
        self.unanswered = if answered { 0 } else { self.unanswered + 1 };
    }
}

/// The bit of a lane in [`SiteState::ragged`].
fn ragged_bit(lane: usize) -> u8 {
    1 << lane.min(7)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A site as versions before connection times stored it.
    #[derive(Serialize)]
    struct Earlier {
        key: SiteKey,
        next_request: Timestamp,
        backoff_until: Timestamp,
        throttled_until: Timestamp,
        failures: u32,
        crawl_delay: Option<Duration>,
        last_download: Duration,
        rtt: Option<Duration>,
        rtt_deviation: Duration,
        address: Option<(Option<IpAddr>, Timestamp)>,
        robots_until: Option<Timestamp>,
        requests: u64,
        answers: u64,
        transitions: [u32; 4],
        last_answered: Option<bool>,
        lanes: Vec<LaneState>,
    }

    #[test]
    fn states_of_earlier_versions_read_as_they_were() {
        let key = CrawlUrl::parse("http://a.test/").unwrap().site();
        let lane = LaneState {
            len: 7,
            ..LaneState::default()
        };
        let before = Earlier {
            key: key.clone(),
            next_request: Timestamp::from_secs(5),
            backoff_until: Timestamp::EPOCH,
            throttled_until: Timestamp::EPOCH,
            failures: 2,
            crawl_delay: None,
            last_download: Duration::from_millis(90),
            rtt: Some(Duration::from_millis(80)),
            rtt_deviation: Duration::from_millis(10),
            address: None,
            robots_until: None,
            requests: 9,
            answers: 8,
            transitions: [6, 1, 1, 0],
            last_answered: Some(true),
            lanes: vec![lane; 8],
        };
        let read: SiteState = postcard::from_bytes(&postcard::to_stdvec(&before).unwrap()).unwrap();
        assert_eq!((read.pending(), read.transitions), (56, before.transitions));
        assert_eq!(read.rtt.mean, before.rtt);
        assert_eq!(read.rtt.deviation, before.rtt_deviation);
        assert_eq!((read.connect, read.ragged), (RoundTrip::default(), 0xff));
        assert_eq!((read.tries, &read.retired), (Tries::default(), &None));
        let mut now = read;
        now.connect.observe(Duration::from_millis(30));
        now.tries.robots = 2;
        now.retired = Some(Retirement {
            run: Timestamp::from_secs(9),
            reason: crate::RetireReason::LongWait,
            until: Some(Timestamp::from_secs(99)),
            why: "it asked for it".to_owned(),
        });
        let bytes = postcard::to_stdvec(&now).unwrap();
        assert_eq!(postcard::from_bytes::<SiteState>(&bytes).unwrap(), now);
    }
}
