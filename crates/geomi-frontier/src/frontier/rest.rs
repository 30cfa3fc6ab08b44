//! After a request: the site rests, is left alone, or is retired.

use geomi_model::Timestamp;
use geomi_url::SiteHash;

use super::Frontier;
use crate::entry::{SiteSignal, Timing};
use crate::site::Site;
use crate::{Politeness, RetireReason};

impl Frontier {
    /// Gives a slot back, and lets the site rest.
    pub(super) fn release(
        &mut self,
        hash: SiteHash,
        slot: Option<usize>,
        asked: Option<(Timing, SiteSignal)>,
        now: Timestamp,
    ) {
        let politeness = self.config.politeness;
        let site = self.sites.get_mut(&hash).expect("a leased site is open");
        site.live_leases -= 1;
        if let Some((timing, signal)) = asked {
            Self::rest(site, &politeness, slot, timing, signal);
            if let Some(rtt) = timing.rtt {
                self.pace.answered(rtt);
            }
        }
        if let Some(slot) = slot {
            site.slots[slot].busy = false;
        }
        self.retire_if_too_long(hash, now);
        self.retire_if_hopeless(hash);
        self.mark_dirty(hash);
    }

    /// A site of which no answer is to be expected any more takes connections
    /// that others can use.
    fn retire_if_hopeless(&mut self, hash: SiteHash) {
        if !self.config.retires_hopeless {
            return;
        }
        let site = self.sites.get(&hash).expect("a released site is open");
        let unanswered = site.unanswered;
        if site.state.outlook().is_hopeless(unanswered) {
            let reason = format!(
                "{unanswered} visits in a row brought no answer, and after a failure it hardly ever gave one"
            );
            self.retire(hash, RetireReason::Failing, None, reason);
        }
    }

    /// A site nobody is willing to wait for is left alone for this run.
    pub(super) fn retire_if_too_long(&mut self, hash: SiteHash, now: Timestamp) {
        let site = self.sites.get(&hash).expect("a site with a wait is open");
        let until = site.state.next_request.max(site.left_alone_until());
        let wait = until.since(now);
        if wait > self.config.wait_max {
            let (reason, asked_by) = match site.state.crawl_delay {
                _ if site.state.throttled_until == until => {
                    (RetireReason::LongWait, "by its own wish (429 or 503)")
                }
                _ if site.state.backoff_until == until => (RetireReason::Failing, "after failures"),
                Some(_) => (
                    RetireReason::LongDelay,
                    "by the Crawl-delay of its robots.txt",
                ),
                None => (RetireReason::LongDelay, "by our own delay"),
            };
            let why = format!(
                "it would have to be waited for {} s {asked_by}, more than politeness.max_wait ({} s)",
                wait.as_secs(),
                self.config.wait_max.as_secs()
            );
            self.retire(hash, reason, Some(until), why);
        }
    }

    pub(super) fn rest(
        site: &mut Site,
        politeness: &Politeness,
        slot: Option<usize>,
        timing: Timing,
        signal: SiteSignal,
    ) {
        site.state.last_download = timing.took;
        match signal {
            SiteSignal::Fine => site.state.failures = 0,
            // A request without a complete answer is a failure: a server that hangs takes
            // as long as one that is not there.
            SiteSignal::Silent | SiteSignal::Unreachable | SiteSignal::Throttled { .. } => {
                site.state.failures = site.state.failures.saturating_add(1);
            }
        }
        let pause = site.politeness(politeness).pause(
            site.hash,
            timing.took,
            site.state.crawl_delay,
            signal,
            site.state.failures,
        );
        let free_at = timing.ended + pause.rest + pause.margin;
        if let Some(slot) = slot {
            site.slots[slot].free_at = free_at;
            site.slots[slot].rests_since = Some(timing.ended);
        }
        site.state.next_request = site.state.next_request.max(free_at);
        if let Some(rtt) = timing.rtt {
            site.state.rtt.observe(rtt);
        }
        if let Some(connect) = timing.connect {
            site.state.connect.observe(connect);
        }
        let answered = !matches!(signal, SiteSignal::Unreachable | SiteSignal::Silent);
        site.observe_answer(answered);
        if let Some(wait) = pause.backoff {
            site.state.backoff_until = site.state.backoff_until.max(timing.ended + wait);
        }
        if let Some(wait) = pause.throttled {
            site.state.throttled_until = site.state.throttled_until.max(timing.ended + wait);
        }
    }
}
