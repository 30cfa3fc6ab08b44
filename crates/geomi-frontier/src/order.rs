//! Which of the ready sites goes first: the host-order policies.
//!
//! A policy gives every ready site a key; the smallest goes first. The key is
//! taken once, when the site becomes ready, so each policy must be one in
//! which waiting helps: the moment of becoming ready is part of the key, or
//! the order is by turns.

use std::time::Duration;

use geomi_model::Timestamp;

/// What a policy may look at.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    /// When the site became ready.
    pub(crate) ready_at: Timestamp,
    /// Smoothed round-trip time, where known.
    pub(crate) rtt: Option<Duration>,
    /// Highest priority waiting, 1 the highest.
    pub(crate) priority: u8,
    /// Number of the lease that served it last.
    pub(crate) last_served: u64,
    /// When the site was first opened, as a counter.
    pub(crate) opened: u64,
}

/// The order of ready sites.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HostOrder {
    /// Short round trips first, weighed against priority and waiting: the
    /// default. The key is a deadline: the moment of becoming ready, plus four
    /// round trips (at most 8 s), plus a quarter second for each priority
    /// below the first. A slow site is overtaken for a bounded time only.
    #[default]
    Rtt,
    /// Whoever was served longest ago.
    RoundRobin,
    /// Whoever was opened first: breadth-first over sites.
    Fifo,
    /// Highest priority first; among equals, whoever is ready longest.
    Priority,
}

const RTT_WEIGHT: u32 = 4;
const RTT_TERM_MAX: Duration = Duration::from_secs(8);
const PRIORITY_STEP: Duration = Duration::from_millis(250);
/// A site never asked is worth a look: it counts as a quick one.
const RTT_UNKNOWN: Duration = Duration::from_millis(50);

impl HostOrder {
    /// Every policy.
    pub const ALL: [Self; 4] = [Self::Rtt, Self::RoundRobin, Self::Fifo, Self::Priority];

    /// The name on the command line.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Rtt => "rtt",
            Self::RoundRobin => "round-robin",
            Self::Fifo => "fifo",
            Self::Priority => "priority",
        }
    }

    /// Reads a name written by [`HostOrder::as_str`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|order| order.as_str() == name)
    }

    pub(crate) fn key(self, view: &View) -> i64 {
        match self {
            Self::Rtt => {
                let rtt = view
                    .rtt
                    .unwrap_or(RTT_UNKNOWN)
                    .saturating_mul(RTT_WEIGHT)
                    .min(RTT_TERM_MAX);
                let rank = PRIORITY_STEP * u32::from(view.priority.saturating_sub(1));
                (view.ready_at + rtt + rank).micros()
            }
            Self::RoundRobin => view.last_served as i64,
            Self::Fifo => view.opened as i64,
            // 2^44 microseconds are 200 days: far more than a site is ever ready.
            Self::Priority => (i64::from(view.priority) << 44)
                .saturating_add(view.ready_at.micros() & ((1 << 44) - 1)),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn view(ready_s: i64, rtt_ms: u64, priority: u8) -> View {
        View {
            ready_at: Timestamp::from_secs(ready_s),
            rtt: Some(Duration::from_millis(rtt_ms)),
            priority,
            last_served: 0,
            opened: 0,
        }
    }

    #[test]
    fn rtt_prefers_quick_sites_but_waiting_wins_in_the_end() {
        let key = |v| HostOrder::Rtt.key(&v);
        assert!(key(view(10, 20, 1)) < key(view(10, 200, 1)));
        assert!(key(view(10, 20, 1)) < key(view(10, 20, 5)));
        // Even the slowest site, ready for 10 s, beats a quick newcomer.
        assert!(key(view(10, 60_000, 8)) < key(view(20, 1, 1)));
    }

    #[test]
    fn priority_comes_before_everything_under_its_order() {
        let key = |v| HostOrder::Priority.key(&v);
        assert!(key(view(50, 900, 1)) < key(view(1, 1, 2)));
        assert!(key(view(1, 900, 2)) < key(view(2, 1, 2)));
    }

    #[test]
    fn names_read_back() {
        for order in HostOrder::ALL {
            assert_eq!(HostOrder::from_name(order.as_str()), Some(order));
        }
    }
}
