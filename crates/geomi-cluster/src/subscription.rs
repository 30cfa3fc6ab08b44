//! The receiving ends of the [`Bus`](crate::Bus), the same for every
//! implementation: two bounded queues that never make a sender wait.
//!
//! A [`Subscription`] holds a number of events and forgets the oldest. A
//! [`Watch`] holds the latest entry of each key, so it is as large as the
//! desired state at most.

use std::collections::{BTreeMap, VecDeque};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, Weak};
use std::time::Duration;

use crate::{Entry, Event, Revision};

/// A queue two sides share, and the signal that it is no longer empty.
#[derive(Debug)]
struct Shared<T> {
    state: Mutex<T>,
    filled: Condvar,
}

impl<T> Shared<T> {
    fn new(state: T) -> Arc<Self> {
        Arc::new(Self {
            state: Mutex::new(state),
            filled: Condvar::new(),
        })
    }

    fn lock(&self) -> MutexGuard<'_, T> {
        self.state
            .lock()
            .expect("no code panics while it holds a queue")
    }

    /// The first thing `take` finds, waiting for it at most `patience`.
    fn wait<R>(&self, patience: Duration, mut take: impl FnMut(&mut T) -> Option<R>) -> Option<R> {
        let mut found = None;
        let (guard, _) = self
            .filled
            .wait_timeout_while(self.lock(), patience, |state| {
                found = take(state);
                found.is_none()
            })
            .expect("no code panics while it holds a queue");
        drop(guard);
        found
    }
}

#[derive(Debug)]
struct Events {
    waiting: VecDeque<Event>,
    capacity: usize,
    lost: u64,
}

/// Where an implementation puts events.
#[derive(Debug)]
pub struct EventSender(Weak<Shared<Events>>);

/// Events under a prefix, as they come.
#[derive(Debug)]
pub struct Subscription(Arc<Shared<Events>>);

/// A subscription that holds at most `events_max` events, and its other end.
///
/// # Panics
///
/// If `events_max` is zero.
pub fn event_channel(events_max: usize) -> (EventSender, Subscription) {
    assert!(events_max > 0, "a subscription holds at least one event");
    let shared = Shared::new(Events {
        waiting: VecDeque::new(),
        capacity: events_max,
        lost: 0,
    });
    (EventSender(Arc::downgrade(&shared)), Subscription(shared))
}

impl EventSender {
    /// Whether the subscription has been dropped, so that this end can be too.
    pub fn is_closed(&self) -> bool {
        self.0.strong_count() == 0
    }

    /// Hands an event over; the oldest makes room for it.
    pub fn send(&self, event: Event) {
        let Some(shared) = self.0.upgrade() else {
            return;
        };
        let mut events = shared.lock();
        if events.waiting.len() == events.capacity {
            events.waiting.pop_front();
            events.lost += 1;
        }
        events.waiting.push_back(event);
        drop(events);
        shared.filled.notify_one();
    }
}

impl Subscription {
    /// The next event, if one is waiting.
    pub fn try_next(&self) -> Option<Event> {
        self.0.lock().waiting.pop_front()
    }

    /// The next event, waiting for it at most `patience`.
    pub fn next_within(&self, patience: Duration) -> Option<Event> {
        self.0.wait(patience, |events| events.waiting.pop_front())
    }

    /// How many events were forgotten because this subscriber was behind.
    pub fn lost(&self) -> u64 {
        self.0.lock().lost
    }
}

/// Where an implementation puts changes of desired state.
#[derive(Debug)]
pub struct WatchSender(Weak<Shared<BTreeMap<Revision, Entry>>>);

/// Changes of desired state under a prefix, the latest of each key.
#[derive(Debug)]
pub struct Watch(Arc<Shared<BTreeMap<Revision, Entry>>>);

/// A watch and its other end.
pub fn watch_channel() -> (WatchSender, Watch) {
    let shared = Shared::new(BTreeMap::new());
    (WatchSender(Arc::downgrade(&shared)), Watch(shared))
}

impl WatchSender {
    /// Whether the watch has been dropped, so that this end can be too.
    pub fn is_closed(&self) -> bool {
        self.0.strong_count() == 0
    }

    /// Hands an entry over, in place of an older one of the same key.
    pub fn send(&self, entry: Entry) {
        let Some(shared) = self.0.upgrade() else {
            return;
        };
        let mut entries = shared.lock();
        // A linear search: desired state is a handful of keys, and a watcher
        // that keeps up has none of them waiting.
        entries.retain(|_, waiting| waiting.key != entry.key);
        entries.insert(entry.revision, entry);
        drop(entries);
        shared.filled.notify_one();
    }
}

impl Watch {
    /// The next change, if one is waiting; changes come in their order.
    pub fn try_next(&self) -> Option<Entry> {
        self.0.lock().pop_first().map(|(_, entry)| entry)
    }

    /// The next change, waiting for it at most `patience`.
    pub fn next_within(&self, patience: Duration) -> Option<Entry> {
        self.0.wait(patience, |entries| {
            entries.pop_first().map(|(_, entry)| entry)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(number: u8) -> Event {
        Event {
            subject: "s".to_owned(),
            body: vec![number],
        }
    }

    #[test]
    fn a_subscriber_that_is_behind_loses_the_oldest_and_knows_it() {
        let (sender, subscription) = event_channel(2);
        (1..=5).for_each(|number| sender.send(event(number)));
        assert_eq!(subscription.try_next(), Some(event(4)));
        assert_eq!(subscription.try_next(), Some(event(5)));
        assert_eq!(subscription.try_next(), None);
        assert_eq!(subscription.lost(), 3);
    }

    #[test]
    fn a_waiting_subscriber_is_woken() {
        let (sender, subscription) = event_channel(2);
        std::thread::scope(|scope| {
            let waiter = scope.spawn(|| subscription.next_within(Duration::from_mins(1)));
            sender.send(event(1));
            assert_eq!(waiter.join().unwrap(), Some(event(1)));
        });
        assert_eq!(subscription.next_within(Duration::ZERO), None);
    }

    #[test]
    fn the_sender_sees_that_nobody_listens() {
        let (sender, subscription) = event_channel(1);
        assert!(!sender.is_closed());
        drop(subscription);
        assert!(sender.is_closed());
        sender.send(event(1));
        let (sender, watch) = watch_channel();
        drop(watch);
        assert!(sender.is_closed());
    }

    #[test]
    fn a_watch_holds_the_latest_of_each_key() {
        let (sender, watch) = watch_channel();
        for (revision, key) in [(1, "a"), (2, "b"), (3, "a")] {
            sender.send(Entry {
                key: key.to_owned(),
                value: None,
                revision: Revision(revision),
            });
        }
        let next = || watch.try_next().map(|entry| (entry.revision.0, entry.key));
        assert_eq!(next(), Some((2, "b".to_owned())));
        assert_eq!(next(), Some((3, "a".to_owned())));
        assert_eq!(next(), None);
    }
}
