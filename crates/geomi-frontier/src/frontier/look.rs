//! Looking at a frontier without changing it.

use std::time::Duration;

use geomi_model::Timestamp;
use geomi_url::{SiteHash, SiteKey};

use super::{Counts, Frontier};
use crate::site::Place;
use crate::{RetireReason, Retirement, SiteState};

/// Retired sites that are named; the others are counted.
pub const RETIRED_LISTED: usize = 100;
/// Failing sites that are named.
pub const FAILING_LISTED: usize = 10;
/// Failures in a row from which a site counts as failing.
const FAILING_MIN: u32 = 3;

/// What the sites are doing, for progress lines.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Overview {
    /// Sites that may be asked now.
    pub ready: usize,
    /// Sites resting between two requests.
    pub waiting: usize,
    /// Sites left alone after failures.
    pub backing_off: usize,
    /// Sites left alone for this run, with their reasons: [`RETIRED_LISTED`] at most.
    pub retired: Vec<(SiteKey, RetireReason, String)>,
    /// How many there are.
    pub retired_count: u64,
    /// Sites whose last requests all failed, and how many did, the worst first:
    /// [`FAILING_LISTED`] at most, of those in memory.
    pub failing: Vec<(SiteKey, u32)>,
    /// The slowest site with work to do, by round-trip time.
    pub slowest: Option<(SiteKey, Duration)>,
}

/// The sites that were retired and closed. Each has its reason in its state on disk, too.
#[derive(Debug, Default)]
pub(super) struct RetiredClosed {
    /// Some of them, with their reasons.
    listed: Vec<(SiteKey, RetireReason, String)>,
    /// How many there are in all.
    count: u64,
}

impl RetiredClosed {
    pub(super) fn add(&mut self, key: SiteKey, retirement: Retirement) {
        self.count += 1;
        if self.listed.len() < RETIRED_LISTED {
            self.listed.push((key, retirement.reason, retirement.why));
        }
    }

    /// A retired site that was closed is in memory again.
    pub(super) fn forget(&mut self, site: &SiteKey) {
        self.count = self.count.saturating_sub(1);
        self.listed.retain(|(key, ..)| key != site);
    }
}

impl Frontier {
    /// How many URLs are where.
    pub fn counts(&self) -> Counts {
        self.counts
    }

    /// Share of the site's requests that were answered.
    pub fn success(&self, site: SiteHash) -> f32 {
        self.sites
            .get(&site)
            .map_or(1.0, |site| site.state.success())
    }

    /// The site's name.
    pub fn site_key(&self, site: SiteHash) -> Option<&SiteKey> {
        self.sites.get(&site).map(|site| &site.state.key)
    }

    /// Whether every URL that is left belongs to a retired site.
    pub fn is_finished(&self) -> bool {
        self.counts.leased == 0
            && self.sites.values().all(|site| {
                site.live_leases == 0 && (site.state.retired.is_some() || site.is_drained())
            })
    }

    /// What the sites are doing.
    pub fn overview(&self, now: Timestamp) -> Overview {
        let mut overview = Overview {
            retired: self.retired_closed.listed.clone(),
            retired_count: self.retired_closed.count,
            ..Overview::default()
        };
        for site in self.sites.values() {
            if let Some(retirement) = &site.state.retired {
                overview.retired_count += 1;
                if overview.retired.len() < RETIRED_LISTED {
                    let (key, why) = (site.state.key.clone(), retirement.why.clone());
                    overview.retired.push((key, retirement.reason, why));
                }
                continue;
            }
            if site.state.failures >= FAILING_MIN {
                note_failing(&mut overview.failing, &site.state);
            }
            if site.is_drained() {
                continue;
            }
            if site.left_alone_until() > now {
                overview.backing_off += 1;
            } else if matches!(site.place, Place::Ready) {
                overview.ready += 1;
            } else {
                overview.waiting += 1;
            }
            if let Some(rtt) = site.state.rtt.mean
                && overview
                    .slowest
                    .as_ref()
                    .is_none_or(|(_, slowest)| rtt > *slowest)
            {
                overview.slowest = Some((site.state.key.clone(), rtt));
            }
        }
        overview
    }

    /// Whether a site that is not in memory is left alone in this run.
    pub fn is_retired(&self, state: &SiteState) -> bool {
        let run = state.retired.as_ref().map(|retirement| retirement.run);
        run.is_some_and(|run| self.config.run.is_none_or(|this| this == run))
    }

    /// Panics where an invariant of the crate's documentation is broken.
    pub fn check_invariants(&self) {
        let (mut waiting, mut leased) = (0, 0);
        for site in self.sites.values() {
            let busy = site.slots.iter().filter(|slot| slot.busy).count();
            assert!(busy <= site.live_leases, "a busy slot has a live lease");
            assert!(
                site.called.is_none() || site.place == Place::Ready,
                "a connection is kept for a ready site only"
            );
            let left = site.rules.as_ref().and_then(|rules| rules.pages_left);
            assert!(
                left.is_none_or(|left| site.pages_under_way() <= left),
                "no more pages are under way than may be saved"
            );
            waiting += site.waiting_len();
            for lane in &site.lanes {
                let mut positions = lane.leased().to_vec();
                leased += positions.len() as u64;
                positions.sort_unstable();
                assert!(
                    positions.windows(2).all(|pair| pair[0] < pair[1]),
                    "no position is leased twice"
                );
                let mark = lane.state().watermark;
                assert!(
                    positions.first().is_none_or(|first| mark <= *first),
                    "the watermark waits for leases"
                );
            }
        }
        let counts = self.counts;
        assert_eq!(
            (counts.waiting, counts.leased),
            (waiting, leased),
            "counts are kept right"
        );
        assert_eq!(
            counts.admitted,
            waiting + leased + counts.settled,
            "no URL is lost"
        );
    }
}

/// Keeps the sites with most failures in a row.
fn note_failing(failing: &mut Vec<(SiteKey, u32)>, state: &SiteState) {
    let at = failing.partition_point(|(_, failures)| *failures >= state.failures);
    if at < FAILING_LISTED {
        failing.insert(at, (state.key.clone(), state.failures));
        failing.truncate(FAILING_LISTED);
    }
}
