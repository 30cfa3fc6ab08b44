//! What every [`Bus`] must do.

use std::time::Duration;

use crate::{BODY_BYTES_MAX, Bus, ClusterError, Subscription, Watch};

/// A network of handles.
pub trait Net {
    /// A handle.
    type Handle: Bus;

    /// A new network, with nothing desired and nobody listening.
    fn fresh() -> Self;

    /// A new handle.
    fn handle(&mut self) -> Self::Handle;
}

/// Long enough for any implementation to deliver; nothing waits so long unless
/// it fails.
const PATIENCE: Duration = Duration::from_secs(10);

/// Runs the whole suite.
pub fn run_all<N: Net>() {
    events_reach_subscribers_of_their_prefix::<N>();
    a_slow_subscriber_loses_the_oldest_and_stops_nobody::<N>();
    desired_state_is_read_by_every_handle::<N>();
    a_watch_starts_with_what_is_and_goes_on_with_what_comes::<N>();
    bad_subjects_and_large_bodies_are_refused::<N>();
}

fn next_event(subscription: &Subscription) -> (String, Vec<u8>) {
    let event = subscription.next_within(PATIENCE);
    let event = event.expect("an event arrives");
    (event.subject, event.body)
}

fn next_entry(watch: &Watch) -> (String, Option<Vec<u8>>) {
    let entry = watch.next_within(PATIENCE).expect("a change arrives");
    (entry.key, entry.value)
}

fn publish(bus: &impl Bus, subject: &str, body: &[u8]) {
    bus.publish(subject, body).expect("the bus answers");
}

fn set(bus: &impl Bus, key: &str, value: &[u8]) {
    bus.set(key, value).expect("the bus answers");
}

fn events_reach_subscribers_of_their_prefix<N: Net>() {
    let mut net = N::fresh();
    let (here, there) = (net.handle(), net.handle());
    publish(&here, "log.early", b"nobody hears this");
    let logs = there.subscribe("log", 10).expect("the bus answers");
    let all = there.subscribe("", 10).expect("the bus answers");
    publish(&here, "logger", b"1");
    publish(&here, "log.w1", b"2");
    publish(&there, "log", b"3");
    let log = |subject: &str, body: &[u8]| (subject.to_owned(), body.to_vec());
    assert_eq!(next_event(&logs), log("log.w1", b"2"));
    assert_eq!(next_event(&logs), log("log", b"3"));
    assert_eq!(logs.try_next(), None);
    assert_eq!(next_event(&all), log("logger", b"1"));
    assert_eq!(next_event(&all), log("log.w1", b"2"));
}

fn a_slow_subscriber_loses_the_oldest_and_stops_nobody<N: Net>() {
    let mut net = N::fresh();
    let bus = net.handle();
    let slow = bus.subscribe("n", 3).expect("the bus answers");
    let quick = bus.subscribe("n", 100).expect("the bus answers");
    for number in 0..10_u8 {
        publish(&bus, "n", &[number]);
    }
    for number in 0..10_u8 {
        assert_eq!(next_event(&quick).1, [number]);
    }
    assert_eq!(quick.lost(), 0);
    for number in 7..10_u8 {
        assert_eq!(next_event(&slow).1, [number]);
    }
    assert_eq!(slow.lost(), 7);
}

fn desired_state_is_read_by_every_handle<N: Net>() {
    let mut net = N::fresh();
    let (here, there) = (net.handle(), net.handle());
    let get = |key| there.get(key).expect("the bus answers");
    assert_eq!(get("crawl.7"), None);
    let first = here.set("crawl.7", b"run").expect("the bus answers");
    let second = here.set("crawl.7", b"pause").expect("the bus answers");
    assert!(second > first, "revisions only grow");
    let entry = get("crawl.7").expect("it was set");
    assert_eq!(entry.value.as_deref(), Some(b"pause".as_slice()));
    assert_eq!(entry.revision, second);
    let third = there.remove("crawl.7").expect("the bus answers");
    assert!(third > second);
    assert_eq!(get("crawl.7"), None);
    here.remove("never.set").expect("the bus answers");
}

fn a_watch_starts_with_what_is_and_goes_on_with_what_comes<N: Net>() {
    let mut net = N::fresh();
    let (here, there) = (net.handle(), net.handle());
    set(&here, "crawl.1", b"run");
    set(&here, "crawl.2", b"run");
    set(&here, "worker.1", b"drain");
    here.remove("crawl.2").expect("the bus answers");
    let watch = there.watch("crawl").expect("the bus answers");
    let entry = |key: &str, value: &[u8]| (key.to_owned(), Some(value.to_vec()));
    assert_eq!(next_entry(&watch), entry("crawl.1", b"run"));
    assert_eq!(watch.try_next(), None, "only keys that are set, once each");
    set(&here, "crawl.3", b"run");
    assert_eq!(next_entry(&watch), entry("crawl.3", b"run"));
    here.remove("crawl.1").expect("the bus answers");
    assert_eq!(next_entry(&watch), ("crawl.1".to_owned(), None));
    // However much a watcher misses, it ends at the latest value.
    for number in 0..50_u8 {
        set(&here, "crawl.3", &[number]);
    }
    let mut last = next_entry(&watch);
    while last.1 != Some(vec![49]) {
        last = next_entry(&watch);
    }
    assert_eq!(watch.try_next(), None);
}

fn bad_subjects_and_large_bodies_are_refused<N: Net>() {
    let mut net = N::fresh();
    let bus = net.handle();
    let invalid = |result: Result<(), ClusterError>| {
        matches!(result, Err(ClusterError::InvalidSubject { .. }))
    };
    assert!(invalid(bus.publish("a b", b"")));
    assert!(invalid(bus.publish("", b"")));
    assert!(invalid(bus.subscribe("a.", 1).map(drop)));
    assert!(invalid(bus.set("a.>", b"").map(drop)));
    assert!(invalid(bus.get("*").map(drop)));
    let large = vec![0; BODY_BYTES_MAX + 1];
    let too_large = |result| matches!(result, Err(ClusterError::TooLarge { .. }));
    assert!(too_large(bus.publish("a", &large)));
    assert!(too_large(bus.set("a", &large).map(drop)));
}
