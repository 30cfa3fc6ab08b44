//! Short round trips first, by turns: the default.
//!
//! A key is a turn: the number of the lease that served the site last, as in
//! round-robin, plus a handicap. The handicap grows with the site's round trip,
//! from nothing to [`HANDICAP`] times the number of sites that are ready. While
//! connections are short a quick site so passes slow ones, and the same
//! connections bring more pages early on. As everybody who becomes ready later
//! has a later turn, no more leases than that can pass a site: it waits at most
//! about three rounds where round-robin makes one.
//!
//! Three sorts of sites stand outside that rule:
//!
//! * One whose queue, asked as fast as politeness allows, takes longer than
//!   [`LONG`] of the time that everything queued takes at the pace of late. The
//!   crawl ends no sooner than such a site, so it goes ahead of its turn. They
//!   cannot take all connections for long: if they alone filled them, their
//!   queues would be most of what there is.
//! * One that was never asked: it keeps its turn, for there is something to learn.
//! * One whose next visit is expected to fail: it has the whole handicap.
//!
//! Where connections are not short, hardly any site is ready and this is
//! round-robin. `docs/adr/0012-host-order.md` has the figures.

use super::{Load, Order, View};

/// Parts of a turn, so that a handicap may be less than one.
const PARTS: f64 = 1_024.0;
/// Handicap of the slowest, in rounds of all sites that are ready.
const HANDICAP: f64 = 2.0;
/// The share of it that goes by priority instead of round trip.
const BY_PRIORITY: f64 = 0.2;
/// The share of the time for all queues from which on one queue is long.
const LONG: f64 = 2.0 / 3.0;

pub(crate) struct Rtt;

impl Order for Rtt {
    fn key(&self, view: &View, load: &Load) -> i64 {
        let last = view.last_served as f64;
        let round = load.ready as f64;
        let key = if view.likely_to_fail {
            last + HANDICAP * round
        } else if is_long(view, load) {
            last - round
        } else {
            last + HANDICAP * round * handicap(view, load)
        };
        (key * PARTS) as i64
    }
}

/// Between 0 for quick sites with urgent pages, and 1.
fn handicap(view: &View, load: &Load) -> f64 {
    let Some(rtt) = view.rtt else {
        return 0.0;
    };
    let rank = f64::from(view.priority.saturating_sub(1)) / f64::from(geomi_model::PRIORITIES - 1);
    load.pace.slowness(rtt) * (1.0 - BY_PRIORITY) + rank * BY_PRIORITY
}

/// Whether the crawl would wait for this site in the end.
fn is_long(view: &View, load: &Load) -> bool {
    let alone = view.period.as_secs_f64() * view.queued as f64;
    view.rtt.is_some() && alone > LONG * load.pace.seconds_for(load.waiting)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use geomi_model::Timestamp;

    use super::super::Pace;
    use super::super::tests::view;
    use super::*;

    /// A thousand leases a second, and round trips around 80 ms.
    fn pace() -> Pace {
        let mut pace = Pace::default();
        let start = Timestamp::from_secs(1_000);
        for number in 0..2_000 {
            pace.leased(start + Duration::from_millis(number));
            pace.answered(Duration::from_millis(if number % 2 == 0 {
                40
            } else {
                160
            }));
        }
        pace
    }

    fn key(view: View, ready: usize) -> i64 {
        let pace = pace();
        let load = Load {
            ready,
            waiting: 100_000,
            pace: &pace,
        };
        Rtt.key(&view, &load)
    }

    fn with_rtt(millis: u64) -> View {
        View {
            rtt: Some(Duration::from_millis(millis)),
            ..view()
        }
    }

    #[test]
    fn quick_sites_pass_slow_ones_but_only_for_so_many_turns() {
        assert!(key(with_rtt(20), 500) < key(with_rtt(200), 500));
        let slow = key(with_rtt(9_000), 500);
        let later = |turns: u64| View {
            last_served: 100 + turns,
            ..with_rtt(1)
        };
        assert!(slow < key(later(1_001), 500), "two rounds at most");
        assert!(slow > key(later(700), 500));
        let new = View {
            rtt: None,
            ..view()
        };
        assert!(key(new, 500) < key(with_rtt(80), 500));
        let new_and_low = View { priority: 8, ..new };
        assert_eq!(key(new, 500), key(new_and_low, 500));
    }

    #[test]
    fn where_nobody_waits_it_is_round_robin() {
        let slow = key(with_rtt(9_000), 0);
        assert!(
            slow < key(
                View {
                    last_served: 101,
                    ..with_rtt(1)
                },
                0
            )
        );
    }

    #[test]
    fn the_site_the_end_waits_for_goes_ahead_unless_it_will_fail() {
        let longest = View {
            queued: 101,
            ..with_rtt(9_000)
        };
        assert!(key(longest, 500) < key(with_rtt(1), 500));
        let failing = View {
            likely_to_fail: true,
            ..longest
        };
        assert!(key(failing, 500) > key(with_rtt(9_000), 500));
    }

    #[test]
    fn priority_weighs_but_does_not_rule() {
        let low = View {
            priority: 8,
            ..with_rtt(80)
        };
        assert!(key(low, 500) > key(with_rtt(80), 500));
        assert!(
            key(
                View {
                    priority: 8,
                    ..with_rtt(20)
                },
                500
            ) < key(with_rtt(200), 500)
        );
    }
}
