//! A robots.txt that redirects to a site of another frontier: the errand and its answer
//! are carried by the caller.

use std::time::Duration;

use geomi_frontier::{
    Action, Addresses, Config, Delay, Entry, Errand, Frontier, FrontierId, Hold, Lease, LostErrand,
    Politeness, Resolved, RetireReason, RobotsNext, Settlement, SiteSignal, SiteState, Timing,
    Work,
};
use geomi_model::{LinkKind, Timestamp};
use geomi_url::{CrawlUrl, SiteHash};

const START: Timestamp = Timestamp::from_secs(1_000);
const SECOND: Duration = Duration::from_secs(1);
const DAY: Duration = Duration::from_hours(24);

fn url(text: &str) -> CrawlUrl {
    CrawlUrl::parse(text).expect("a good URL")
}

/// The site whose robots.txt is elsewhere.
fn wants() -> CrawlUrl {
    url("http://wants.test/p")
}

/// The site where it is.
fn has() -> CrawlUrl {
    url("http://has.test/robots.txt")
}

fn errand() -> Errand {
    Errand {
        url: has(),
        for_site: wants().site_hash(),
        redirects: 1,
        attempts: 0,
        is_foreign: false,
    }
}

fn entry(url: CrawlUrl) -> Entry {
    Entry {
        url,
        seed: 0,
        via: None,
        kind: LinkKind::Anchor,
        depth: 0,
        priority: 1,
        attempts: 0,
        redirects: 0,
        is_seed: false,
        is_revisit: false,
        not_before: None,
    }
}

fn timing(now: Timestamp) -> Timing {
    Timing {
        ended: now,
        took: Duration::ZERO,
        rtt: None,
        connect: None,
    }
}

/// One frontier with one place in memory.
struct Engine {
    frontier: Frontier,
    addresses: Addresses,
}

impl Engine {
    fn new() -> Self {
        let politeness = Politeness {
            delay: Delay::Fixed(SECOND),
            ..Politeness::default()
        };
        let config = Config {
            politeness,
            sites_max: 1,
            ..Config::default()
        };
        Self {
            frontier: Frontier::new(FrontierId(0), config),
            addresses: Addresses::new(),
        }
    }

    fn open(&mut self, page: &CrawlUrl) -> SiteHash {
        let state = SiteState::new(page.site());
        self.frontier.open_site(state, START, START);
        page.site_hash()
    }

    fn poll(&mut self, now: Timestamp) -> Option<Lease> {
        let action = self.frontier.poll(now, &mut self.addresses);
        self.frontier.check_invariants();
        match action {
            Action::Lease(lease) => Some(lease),
            Action::Wait(_) => None,
            Action::Refill { .. } => panic!("all of a queue is in memory"),
        }
    }

    fn next(&mut self, now: Timestamp) -> Lease {
        self.poll(now).expect("there is something to do")
    }

    /// Settles the look-up that comes first.
    fn look_up(&mut self, has_address: bool) {
        let until = START + DAY;
        let resolved = if has_address {
            Resolved::Address {
                addr: [127, 0, 0, 1].into(),
                until,
                is_public: false,
            }
        } else {
            Resolved::Nowhere(until)
        };
        let lease = self.next(START);
        assert!(matches!(lease.work(), Work::Resolve { .. }));
        self.frontier.settle_resolve(lease, resolved, START);
    }

    fn settle_robots(&mut self, lease: Lease, signal: SiteSignal, next: RobotsNext) {
        let (timing, addresses) = (timing(START), &mut self.addresses);
        self.frontier
            .settle_robots(lease, timing, signal, next, addresses, START);
        self.frontier.check_invariants();
    }

    /// What a commit takes, so that sites may be closed.
    fn commit(&mut self) {
        self.frontier.take_appends().for_each(drop);
        drop(self.frontier.take_saves());
    }

    fn hold(&self, site: SiteHash, now: Timestamp) -> Hold {
        self.frontier.view(site, now).expect("it is open").hold
    }
}

/// A site that waits for its robots.txt from another frontier.
fn waiting() -> (Engine, SiteHash) {
    let mut engine = Engine::new();
    let site = engine.open(&wants());
    engine.frontier.admit(entry(wants()), START);
    engine.look_up(true);
    let lease = engine.next(START);
    engine.settle_robots(lease, SiteSignal::Fine, RobotsNext::Elsewhere);
    assert!(
        engine.poll(START + DAY / 2).is_none(),
        "nothing is under way"
    );
    assert!(!engine.frontier.is_finished());
    assert_eq!(engine.hold(site, START), Hold::Robots);
    (engine, site)
}

/// A site that is asked for another frontier's robots.txt.
fn asked(has_address: bool) -> (Engine, SiteHash) {
    let mut engine = Engine::new();
    let site = engine.open(&has());
    engine.frontier.add_foreign_errand(errand(), START);
    engine.look_up(has_address);
    (engine, site)
}

fn lost(engine: &mut Engine) -> Option<LostErrand> {
    let mut lost = engine.frontier.take_lost_errands();
    assert!(lost.len() <= 1 && engine.frontier.take_lost_errands().is_empty());
    lost.pop()
}

#[test]
fn an_answer_lets_the_site_go_on_after_a_rest() {
    let (mut engine, site) = waiting();
    let now = START + 5 * SECOND;
    let delay = Some(3 * SECOND);
    assert!(engine.frontier.robots_known(site, now + DAY, delay, now));
    assert!(engine.poll(now + 2 * SECOND).is_none(), "it rests first");
    let lease = engine.next(now + 4 * SECOND);
    assert!(matches!(lease.work(), Work::Page(..)));
    let addresses = &mut engine.addresses;
    let done = Settlement::Done(timing(now), SiteSignal::Fine);
    engine.frontier.settle(lease, done, addresses, now);
    let state = engine.frontier.view(site, now).expect("it is open").state;
    assert_eq!(state.crawl_delay, delay);
    assert_eq!(state.robots_until, Some(now + DAY));
}

#[test]
fn a_site_is_retired_whose_robots_txt_cannot_be_asked_for() {
    let (mut engine, site) = waiting();
    engine.frontier.robots_unavailable(site, START);
    let Hold::Retired(retirement) = engine.hold(site, START) else {
        panic!("it is retired")
    };
    assert_eq!(retirement.reason, RetireReason::RobotsElsewhere);
    assert!(engine.poll(START + DAY).is_none() && engine.frontier.is_finished());
}

#[test]
fn a_robots_txt_that_was_put_off_is_asked_for_again() {
    let (mut engine, site) = waiting();
    let until = START + 60 * SECOND;
    engine.frontier.robots_put_off(site, 2, until, START);
    assert!(engine.poll(START + 59 * SECOND).is_none());
    let lease = engine.next(until);
    let Work::Robots(errand, _) = lease.work() else {
        panic!("robots.txt comes first")
    };
    assert_eq!((errand.for_site, errand.attempts), (site, 2));
    assert!(!errand.is_foreign);
}

#[test]
fn a_site_that_waits_for_an_answer_makes_room_and_asks_again() {
    let (mut engine, site) = waiting();
    engine.commit();
    let soon = START + 9 * SECOND;
    assert!(engine.frontier.close_sites(true, soon).is_empty());
    let later = START + 11 * SECOND;
    let closed = engine.frontier.close_sites(true, later);
    assert_eq!(closed.len(), 1, "{closed:?}");
    assert!(!closed[0].is_retired && closed[0].pending == 1);
    // The answer comes too late, and is kept by the caller.
    let known = engine.frontier.robots_known(site, later + DAY, None, later);
    assert!(!known && !engine.frontier.is_open(site));
    engine.frontier.robots_unavailable(site, later);
    engine.frontier.robots_put_off(site, 1, later + DAY, later);
    // Without one, it asks again in its next turn.
    engine.open(&wants());
    engine.frontier.admit(entry(wants()), START);
    engine.look_up(true);
    let lease = engine.next(START);
    assert!(matches!(lease.work(), Work::Robots(..)));
    // An answer to the question of its last turn does not end this one.
    engine.frontier.robots_unavailable(site, START);
    assert_eq!(engine.hold(site, START), Hold::Robots);
}

#[test]
fn an_errand_for_another_frontier_is_carried_out_like_any_other() {
    let (mut engine, site) = asked(true);
    let lease = engine.next(START);
    assert_eq!(lease.site(), site);
    let Work::Robots(errand, _) = lease.work().clone() else {
        panic!("an errand was added")
    };
    assert!(errand.is_foreign && errand.for_site == wants().site_hash());
    engine.settle_robots(lease, SiteSignal::Unreachable, RobotsNext::Retry);
    assert_eq!(lost(&mut engine), None);
    let again = engine.next(START + 60 * SECOND);
    let Work::Robots(errand, _) = again.work().clone() else {
        panic!("it is tried again")
    };
    assert!(errand.is_foreign && errand.attempts == 1);
    let known = RobotsNext::Known {
        until: START + DAY,
        crawl_delay: Some(100 * SECOND),
    };
    engine.settle_robots(again, SiteSignal::Fine, known);
    assert_eq!(lost(&mut engine), None);
    let state = engine.frontier.view(site, START).expect("it is open").state;
    assert_eq!((state.crawl_delay, state.robots_until), (None, None));
    assert!(engine.frontier.is_finished());
}

#[test]
fn an_errand_may_be_sent_on_within_a_frontier_or_to_a_third_one() {
    let (mut engine, _) = asked(true);
    let lease = engine.next(START);
    let other = url("http://other.test/robots.txt");
    let third = engine.open(&other);
    engine.settle_robots(lease, SiteSignal::Fine, RobotsNext::Redirect(other));
    engine.look_up(true);
    let lease = engine.next(START);
    let Work::Robots(errand, _) = lease.work().clone() else {
        panic!("the redirect is followed")
    };
    assert!(lease.site() == third && errand.is_foreign && errand.redirects == 2);
    engine.settle_robots(lease, SiteSignal::Fine, RobotsNext::Elsewhere);
    assert_eq!(lost(&mut engine), None);
    assert!(engine.frontier.is_finished());
}

#[test]
fn an_errand_is_lost_with_the_site_it_was_for() {
    let (mut engine, site) = asked(true);
    let reason = RetireReason::Failing;
    engine
        .frontier
        .retire(site, reason, None, "a test".to_owned());
    let first = lost(&mut engine).expect("it is reported");
    assert_eq!(
        (first.errand.for_site, first.until),
        (wants().site_hash(), None)
    );
    assert!(first.errand.is_foreign);
    // And so is one that comes later.
    engine.frontier.add_foreign_errand(errand(), START);
    assert!(lost(&mut engine).is_some());
}

#[test]
fn an_errand_to_a_site_without_an_address_is_lost() {
    let (mut engine, _) = asked(false);
    assert!(engine.poll(START).is_none());
    let lost = lost(&mut engine).expect("it is reported");
    assert_eq!((lost.errand.url, lost.until), (has(), None));
}

#[test]
fn an_errand_to_a_site_in_a_long_rest_is_called_off_while_others_wait() {
    let (mut engine, site) = asked(true);
    let lease = engine.next(START);
    let throttled = SiteSignal::Throttled {
        retry_after: Some(60 * SECOND),
    };
    engine.settle_robots(lease, throttled, RobotsNext::Retry);
    engine.commit();
    let closed = engine.frontier.close_sites(true, START);
    let lost = lost(&mut engine).expect("it is reported");
    assert_eq!((lost.errand.url, lost.errand.attempts), (has(), 1));
    assert!(lost.until >= Some(START + 60 * SECOND), "{:?}", lost.until);
    assert_eq!(closed.len(), 1, "the site makes room");
    assert_eq!(closed[0].site, site);
}
