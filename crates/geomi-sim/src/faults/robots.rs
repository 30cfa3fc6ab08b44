//! A robots.txt has come, or not.

use std::time::Duration;

use geomi_frontier::{Errand, Lease, RobotsNext, Timing};
use geomi_robots::{CACHE_MAX, RobotsPolicy};

use super::mutation::Mutation;
use super::trouble::Ends;
use super::visit::{HOUR, TRIES};
use super::world::{AGENT, World};

impl World {
    pub(super) fn settle_robots(
        &mut self,
        lease: Lease,
        errand: &Errand,
        ends: Ends,
        timing: Timing,
    ) {
        let now = self.clock();
        let signal = self.signal(ends);
        let asked = self.web.site_of(&errand.url);
        let elsewhere = self.web.robots_at(asked);
        let elsewhere = elsewhere.filter(|_| errand.redirects == 0);
        let next = match (ends, elsewhere) {
            (Ends::Answered(_), Some(other)) => {
                let url = self.web.front(other).join("/robots.txt");
                let url = url.expect("it is a URL");
                self.ensure_open(&url);
                RobotsNext::Redirect(url)
            }
            (Ends::Answered(_), None) => self.learn(errand, asked),
            _ if errand.attempts + 1 < TRIES => RobotsNext::Retry,
            _ => {
                // What it said before holds no longer.
                self.told(errand, None);
                self.keep_rules(errand, RobotsPolicy::unreachable("no answer"));
                RobotsNext::Known {
                    until: now + HOUR,
                    crawl_delay: None,
                }
            }
        };
        self.frontier
            .settle_robots(lease, timing, signal, next, &mut self.addresses, now);
    }

    /// The rules of the site an errand was for are known.
    fn learn(&mut self, errand: &Errand, asked: usize) -> RobotsNext {
        let text = self.web.robots_txt(asked, self.now);
        let rules = RobotsPolicy::from_answer(200, text.as_bytes());
        let told = rules.crawl_delay(AGENT);
        self.told(errand, told);
        self.keep_rules(errand, rules);
        let kept = if self.is(Mutation::RobotsNotAskedAgain) {
            60 * CACHE_MAX
        } else {
            CACHE_MAX
        };
        RobotsNext::Known {
            until: self.clock() + kept,
            crawl_delay: told.filter(|_| !self.is(Mutation::CrawlDelayForgotten)),
        }
    }

    fn told(&mut self, errand: &Errand, delay: Option<Duration>) {
        if self.frontier.is_open(errand.for_site) {
            self.watch.told(self.web.site(errand.for_site), delay);
        }
    }

    fn keep_rules(&mut self, errand: &Errand, rules: RobotsPolicy) {
        let site = errand.for_site;
        if self.frontier.is_open(site) {
            let partition = self.partition(site);
            self.batches[partition].rules.push((site, rules.clone()));
            self.rules.insert(site, rules);
        }
    }
}
