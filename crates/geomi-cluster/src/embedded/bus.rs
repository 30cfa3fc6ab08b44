//! The bus within one process.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard};

use crate::{
    Bus, ClusterError, Entry, Event, EventSender, Revision, Subscription, Watch, WatchSender,
    check_subject, event_channel, subject_matches, watch_channel,
};

/// A bus; clones are handles on the same one.
#[derive(Clone, Debug, Default)]
pub struct EmbeddedBus {
    inner: Arc<Mutex<Inner>>,
}

#[derive(Debug, Default)]
struct Inner {
    subscribers: Vec<(String, EventSender)>,
    watchers: Vec<(String, WatchSender)>,
    desired: BTreeMap<String, Entry>,
    revision: u64,
}

impl EmbeddedBus {
    /// A bus nobody listens to yet.
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner
            .lock()
            .expect("no code panics while it holds the bus")
    }
}

impl Inner {
    fn change(&mut self, key: &str, value: Option<&[u8]>) -> Revision {
        self.revision += 1;
        let revision = Revision(self.revision);
        let entry = Entry {
            key: key.to_owned(),
            value: value.map(<[u8]>::to_vec),
            revision,
        };
        self.watchers.retain(|(_, watcher)| !watcher.is_closed());
        for (prefix, watcher) in &self.watchers {
            if subject_matches(prefix, key) {
                watcher.send(entry.clone());
            }
        }
        match value {
            Some(_) => self.desired.insert(key.to_owned(), entry),
            None => self.desired.remove(key),
        };
        revision
    }
}

impl Bus for EmbeddedBus {
    fn publish(&self, subject: &str, body: &[u8]) -> Result<(), ClusterError> {
        check_subject(subject)?;
        ClusterError::check_size(body)?;
        let mut inner = self.lock();
        inner.subscribers.retain(|(_, sender)| !sender.is_closed());
        for (prefix, sender) in &inner.subscribers {
            if subject_matches(prefix, subject) {
                sender.send(Event {
                    subject: subject.to_owned(),
                    body: body.to_vec(),
                });
            }
        }
        Ok(())
    }

    fn subscribe(&self, prefix: &str, events_max: usize) -> Result<Subscription, ClusterError> {
        check_prefix(prefix)?;
        let (sender, subscription) = event_channel(events_max);
        let mut inner = self.lock();
        inner.subscribers.push((prefix.to_owned(), sender));
        Ok(subscription)
    }

    fn set(&self, key: &str, value: &[u8]) -> Result<Revision, ClusterError> {
        check_subject(key)?;
        ClusterError::check_size(value)?;
        Ok(self.lock().change(key, Some(value)))
    }

    fn remove(&self, key: &str) -> Result<Revision, ClusterError> {
        check_subject(key)?;
        Ok(self.lock().change(key, None))
    }

    fn get(&self, key: &str) -> Result<Option<Entry>, ClusterError> {
        check_subject(key)?;
        Ok(self.lock().desired.get(key).cloned())
    }

    fn watch(&self, prefix: &str) -> Result<Watch, ClusterError> {
        check_prefix(prefix)?;
        let (sender, watch) = watch_channel();
        let mut inner = self.lock();
        let present = inner.desired.values();
        for entry in present.filter(|entry| subject_matches(prefix, &entry.key)) {
            sender.send(entry.clone());
        }
        inner.watchers.push((prefix.to_owned(), sender));
        Ok(watch)
    }
}

fn check_prefix(prefix: &str) -> Result<(), ClusterError> {
    if prefix.is_empty() {
        return Ok(());
    }
    check_subject(prefix)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::conformance::bus::{self, Net};

    impl Net for EmbeddedBus {
        type Handle = Self;

        fn fresh() -> Self {
            Self::new()
        }

        fn handle(&mut self) -> Self {
            self.clone()
        }
    }

    #[test]
    fn conforms() {
        bus::run_all::<EmbeddedBus>();
    }

    #[test]
    fn dropped_listeners_are_forgotten() {
        let bus = EmbeddedBus::new();
        drop(bus.subscribe("a", 1).unwrap());
        drop(bus.watch("a").unwrap());
        bus.publish("a", b"").unwrap();
        bus.set("a", b"").unwrap();
        let inner = bus.lock();
        assert!(inner.subscribers.is_empty() && inner.watchers.is_empty());
    }
}
