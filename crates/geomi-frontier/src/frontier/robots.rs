//! The rules of a site: a robots.txt is asked for, at the site or where a redirect leads.

use geomi_model::Timestamp;
use geomi_url::SiteHash;

use super::Frontier;
use crate::RetireReason;
use crate::address::Addresses;
use crate::entry::{Errand, Lease, RobotsNext, SiteSignal, Timing, Work};
use crate::site::Need;

impl Frontier {
    /// Settles a robots.txt.
    pub fn settle_robots(
        &mut self,
        lease: Lease,
        timing: Timing,
        signal: SiteSignal,
        next: RobotsNext,
        addresses: &mut Addresses,
        now: Timestamp,
    ) {
        let Lease {
            site: hash,
            slot,
            work: Work::Robots(errand, addr),
            ..
        } = lease
        else {
            panic!("only a robots.txt is settled here")
        };
        if let RobotsNext::Known { crawl_delay, .. } = next
            && let Some(site) = self.sites.get_mut(&errand.for_site)
        {
            // Before the site rests: a Crawl-delay holds from this answer on.
            site.state.crawl_delay = crawl_delay;
        }
        self.release(hash, slot, Some((timing, signal)), now);
        self.free_address(addr, addresses, now);
        match next {
            RobotsNext::Known { until, .. } => {
                self.know_robots(hash, errand.for_site, until, now);
            }
            RobotsNext::Redirect(url) => {
                let target = url.site_hash();
                let redirects = errand.redirects + 1;
                self.add_errand(
                    target,
                    Errand {
                        url,
                        redirects,
                        ..errand
                    },
                    now,
                );
            }
            RobotsNext::Retry => {
                let attempts = errand.attempts + 1;
                let wait = self.config.politeness.backoff(hash, u32::from(attempts));
                let site = self.sites.get_mut(&hash).expect("a leased site is open");
                site.state.backoff_until = site.state.backoff_until.max(now + wait);
                self.add_errand(hash, Errand { attempts, ..errand }, now);
            }
        }
        self.place(hash, now);
        self.answer_calls(addresses, now);
    }

    fn add_errand(&mut self, hash: SiteHash, errand: Errand, now: Timestamp) {
        let site = self.sites.get_mut(&hash).expect("an errand's site is open");
        if site.state.retired.is_some() {
            self.retire_for_robots(errand.for_site);
            return;
        }
        site.errands.push_back(errand);
        self.place(hash, now);
    }

    fn know_robots(
        &mut self,
        asked: SiteHash,
        for_site: SiteHash,
        until: Timestamp,
        now: Timestamp,
    ) {
        let politeness = self.config.politeness;
        let Some(site) = self.sites.get_mut(&for_site) else {
            return;
        };
        site.robots = Need::Have;
        site.state.tries.robots = 0;
        site.state.robots_until = Some(until);
        // The rules are decided, for better or worse: pages need not wait for
        // a back-off that belonged to finding them out. What the site itself
        // asked for still holds.
        site.state.backoff_until = site.state.backoff_until.min(now);
        if asked != for_site {
            // The rules came from elsewhere, after this site's last answer.
            let politeness = site.politeness(&politeness);
            let rested = now + politeness.rest(site.state.last_download, site.state.crawl_delay);
            site.slots
                .iter_mut()
                .for_each(|slot| slot.free_at = slot.free_at.max(rested));
        }
        self.mark_dirty(for_site);
        self.place(for_site, now);
    }

    /// Leaves a site alone whose robots.txt is at a site that is left alone.
    pub(super) fn retire_for_robots(&mut self, site: SiteHash) {
        let why = "its robots.txt redirects to a site that is left alone";
        self.retire(site, RetireReason::RobotsElsewhere, None, why.to_owned());
    }
}
