//! The rules of a site: a robots.txt is asked for, at the site or where a redirect leads.
//!
//! What is asked of one site for another is an [`Errand`]. Both sites may belong to one
//! frontier, or to two: then the caller carries the errand to the other frontier and the
//! answer back.

use std::time::Duration;

use geomi_model::Timestamp;
use geomi_url::SiteHash;

use super::Frontier;
use crate::RetireReason;
use crate::address::Addresses;
use crate::entry::{Errand, Lease, LostErrand, RobotsNext, SiteSignal, Timing, Work};
use crate::site::{Need, Site};

/// Why a site is retired whose robots.txt nobody may be asked for.
pub(super) const ROBOTS_LEFT_ALONE: &str = "its robots.txt redirects to a site that is left alone";

impl Frontier {
    /// Settles a robots.txt. Of an errand for another frontier the caller passes the
    /// answer on; no site of this frontier is concerned but the one that was asked.
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
            && let Some(site) = self.site_waiting_for(&errand)
        {
            // Before the site rests: a Crawl-delay holds from this answer on.
            site.state.crawl_delay = crawl_delay;
        }
        self.release(hash, slot, Some((timing, signal)), now);
        self.free_address(addr, addresses, now);
        self.follow(hash, errand, next, now);
        self.place(hash, now);
        self.answer_calls(addresses, now);
    }

    /// Does what an answer to a request for a robots.txt calls for.
    fn follow(&mut self, asked: SiteHash, errand: Errand, next: RobotsNext, now: Timestamp) {
        match next {
            RobotsNext::Known { until, .. } => {
                if !errand.is_foreign {
                    self.know_robots(errand.for_site, asked != errand.for_site, until, now);
                }
            }
            RobotsNext::Redirect(url) => {
                let target = url.site_hash();
                let redirects = errand.redirects + 1;
                let errand = Errand {
                    url,
                    redirects,
                    ..errand
                };
                self.add_errand(target, errand, now);
            }
            RobotsNext::Elsewhere => {
                if let Some(site) = self.site_waiting_for(&errand)
                    && site.robots == Need::Asked
                {
                    site.robots = Need::AskedElsewhere(now);
                    self.place(errand.for_site, now);
                }
            }
            RobotsNext::Retry => {
                let attempts = errand.attempts + 1;
                let wait = self.config.politeness.backoff(asked, u32::from(attempts));
                let site = self.sites.get_mut(&asked).expect("a leased site is open");
                site.state.backoff_until = site.state.backoff_until.max(now + wait);
                self.add_errand(asked, Errand { attempts, ..errand }, now);
            }
        }
    }

    /// Takes in an errand for a site of another frontier. The site to be asked, that of
    /// the errand's URL, must be open.
    ///
    /// It comes back as a lease like any other ([`Errand::is_foreign`]), or among
    /// [`Frontier::take_lost_errands`].
    pub fn add_foreign_errand(&mut self, errand: Errand, now: Timestamp) {
        let asked = errand.url.site_hash();
        let is_foreign = true;
        self.add_errand(
            asked,
            Errand {
                is_foreign,
                ..errand
            },
            now,
        );
    }

    /// The errands for other frontiers that ended without an answer since the last call.
    pub fn take_lost_errands(&mut self) -> Vec<LostErrand> {
        self.outbox.take_lost_errands()
    }

    /// Another frontier has found out the rules of a site. Says whether the site is open;
    /// if not, the caller keeps `until` and `crawl_delay` with its stored state.
    pub fn robots_known(
        &mut self,
        for_site: SiteHash,
        until: Timestamp,
        crawl_delay: Option<Duration>,
        now: Timestamp,
    ) -> bool {
        let Some(site) = self.sites.get_mut(&for_site) else {
            return false;
        };
        site.state.crawl_delay = crawl_delay;
        self.know_robots(for_site, true, until, now);
        true
    }

    /// Another frontier cannot find out the rules of a site: the site it would have to
    /// ask is left alone or has no address.
    pub fn robots_unavailable(&mut self, for_site: SiteHash, now: Timestamp) {
        if self.waits_for_another(for_site) {
            self.retire_for_robots(for_site, ROBOTS_LEFT_ALONE);
            self.place(for_site, now);
        }
    }

    /// Another frontier cannot find out the rules of a site before `until`, after this
    /// many failed tries. The site asks again then.
    pub fn robots_put_off(
        &mut self,
        for_site: SiteHash,
        attempts: u8,
        until: Timestamp,
        now: Timestamp,
    ) {
        if self.waits_for_another(for_site) {
            self.put_robots_off(for_site, attempts, until, now);
        }
    }

    /// Closes the matter for a site that cannot learn its rules.
    pub(super) fn lose_errand(&mut self, errand: Errand, why: &str) {
        if errand.is_foreign {
            self.outbox.lose(errand, None);
        } else {
            self.retire_for_robots(errand.for_site, why);
        }
    }

    /// Lets a site ask for its rules again, once the site it has to ask may be asked.
    pub(super) fn put_robots_off(
        &mut self,
        for_site: SiteHash,
        attempts: u8,
        until: Timestamp,
        now: Timestamp,
    ) {
        let Some(site) = self.sites.get_mut(&for_site) else {
            return;
        };
        site.robots = Need::Missing;
        site.state.tries.robots = attempts;
        site.state.backoff_until = site.state.backoff_until.max(until);
        self.mark_dirty(for_site);
        self.place(for_site, now);
    }

    fn add_errand(&mut self, hash: SiteHash, errand: Errand, now: Timestamp) {
        let is_taken = self.is_taken(&errand.url);
        let site = self.sites.get_mut(&hash).expect("an errand's site is open");
        if is_taken || site.state.retired.is_some() {
            self.lose_errand(errand, ROBOTS_LEFT_ALONE);
            return;
        }
        site.errands.push_back(errand);
        self.place(hash, now);
    }

    fn know_robots(
        &mut self,
        for_site: SiteHash,
        from_elsewhere: bool,
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
        if from_elsewhere {
            // They came after this site's last answer.
            let politeness = site.politeness(&politeness);
            let rested = now + politeness.rest(site.state.last_download, site.state.crawl_delay);
            site.slots
                .iter_mut()
                .for_each(|slot| slot.free_at = slot.free_at.max(rested));
        }
        self.mark_dirty(for_site);
        self.place(for_site, now);
    }

    /// The site of this frontier that an errand is for, if it is open.
    fn site_waiting_for(&mut self, errand: &Errand) -> Option<&mut Site> {
        let site = self.sites.get_mut(&errand.for_site);
        site.filter(|_| !errand.is_foreign)
    }

    /// Whether a site waits for its rules from another frontier.
    fn waits_for_another(&self, site: SiteHash) -> bool {
        let site = self.sites.get(&site);
        site.is_some_and(|site| matches!(site.robots, Need::AskedElsewhere(_)))
    }

    fn retire_for_robots(&mut self, site: SiteHash, why: &str) {
        self.retire(site, RetireReason::RobotsElsewhere, None, why.to_owned());
    }
}
