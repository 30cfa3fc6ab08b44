//! Which of the ready sites goes first: the host-order policies.
//!
//! Each policy is a file of its own behind [`Order`]: it gives every ready site
//! a key, and the smallest goes first. The key is taken once, when the site
//! becomes ready, so each policy must be one in which waiting helps: a turn or
//! a moment that lies in the past is part of the key.
//!
//! A policy looks at the site ([`View`]) and at how busy the frontier is
//! ([`Load`]); it decides nothing else. Politeness has been seen to before: a
//! site that is ready may be asked.

mod fifo;
mod pace;
mod priority;
mod round_robin;
mod rtt;

use std::time::Duration;

use geomi_model::Timestamp;

pub(crate) use pace::Pace;

/// What a policy may look at of one site.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View {
    /// When the site became ready.
    pub(crate) ready_at: Timestamp,
    /// Smoothed round-trip time, where known.
    pub(crate) rtt: Option<Duration>,
    /// Highest priority waiting, 1 the highest.
    pub(crate) priority: u8,
    /// Number of the lease that served it last, or at which it was opened.
    pub(crate) last_served: u64,
    /// When the site was first opened, as a counter.
    pub(crate) opened: u64,
    /// URLs waiting.
    pub(crate) queued: u64,
    /// What one visit takes of the site's time: the request and the rest.
    pub(crate) period: Duration,
    /// Whether its next visit is expected to bring no answer.
    pub(crate) likely_to_fail: bool,
}

/// What a policy may look at of the frontier as a whole.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Load<'a> {
    /// Sites that are ready.
    pub(crate) ready: usize,
    /// URLs waiting.
    pub(crate) waiting: u64,
    /// How fast leases go out and answers come in.
    pub(crate) pace: &'a Pace,
}

/// A host-order policy.
pub(crate) trait Order: Sync {
    /// The key of a site that becomes ready: the smallest goes first.
    fn key(&self, view: &View, load: &Load) -> i64;
}

/// The order of ready sites.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum HostOrder {
    /// By turns, in which a site with a short round trip passes slower ones,
    /// and one whose queue outlasts all others goes at once: the default.
    #[default]
    Rtt,
    /// Whoever was served longest ago.
    RoundRobin,
    /// Whoever was opened first: breadth-first over sites.
    Fifo,
    /// Highest priority first; among equals, whoever is ready longest.
    Priority,
}

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

    pub(crate) fn policy(self) -> &'static dyn Order {
        match self {
            Self::Rtt => &rtt::Rtt,
            Self::RoundRobin => &round_robin::RoundRobin,
            Self::Fifo => &fifo::Fifo,
            Self::Priority => &priority::Priority,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A site that is like all others.
    pub(super) fn view() -> View {
        View {
            ready_at: Timestamp::from_secs(10),
            rtt: Some(Duration::from_millis(80)),
            priority: 1,
            last_served: 100,
            opened: 5,
            queued: 10,
            period: Duration::from_secs(1),
            likely_to_fail: false,
        }
    }

    #[test]
    fn names_read_back() {
        for order in HostOrder::ALL {
            assert_eq!(HostOrder::from_name(order.as_str()), Some(order));
        }
        assert_eq!(HostOrder::from_name("fastest"), None);
    }

    #[test]
    fn each_policy_looks_at_what_it_is_named_for() {
        let pace = Pace::default();
        let load = Load {
            ready: 1_000,
            waiting: 10_000,
            pace: &pace,
        };
        let goes_first = |order: HostOrder, first: View, second: View| {
            let policy = order.policy();
            assert!(
                policy.key(&first, &load) < policy.key(&second, &load),
                "{order:?}"
            );
        };
        let served_later = View {
            last_served: 101,
            ..view()
        };
        goes_first(HostOrder::RoundRobin, view(), served_later);
        let opened_later = View {
            opened: 6,
            last_served: 1,
            ..view()
        };
        goes_first(HostOrder::Fifo, view(), opened_later);
        let urgent = View {
            ready_at: Timestamp::from_secs(50),
            ..view()
        };
        let lower = View {
            priority: 2,
            ..view()
        };
        goes_first(HostOrder::Priority, urgent, lower);
        goes_first(HostOrder::Priority, view(), urgent);
    }
}
