//! One lease carried out: a look-up, a robots.txt or a page.

use std::time::Duration;

use geomi_frontier::{Errand, Lease, Resolved, RobotsNext, Settlement, SiteSignal, Timing, Work};
use geomi_robots::RobotsPolicy;
use geomi_url::CrawlUrl;

use super::mutation::Mutation;
use super::web::{self, Ends};
use super::world::{AGENT, Flight, Stop, World, resolved};

const HOUR: Duration = Duration::from_hours(1);
/// Tries of a page and of a robots.txt.
const TRIES: u8 = 3;

impl World {
    /// Starts a lease, or settles one for which no request is needed.
    pub(super) fn start(&mut self, lease: Lease) -> Result<(), Stop> {
        match lease.work().clone() {
            Work::Resolve { host, .. } => {
                let lands = self.now + Duration::from_millis(1 + self.draws.below(50));
                self.tell(format_args!("look up {host}"));
                self.fly(lease, Ends::Answered, lands);
                Ok(())
            }
            Work::Robots(errand, _) => {
                let url = errand.url;
                self.request(lease, &url, false)
            }
            Work::Page(entry, None) => {
                self.finish(&entry.url, entry.attempts, Vec::new());
                let now = self.clock();
                self.frontier.settle(lease, Settlement::NotAsked, now);
                Ok(())
            }
            Work::Page(entry, Some(_)) => {
                let rules = self.rules.get(&lease.site());
                let may = rules
                    .is_some_and(|rules| rules.verdict(AGENT, entry.url.path_and_query()).allowed);
                if may || self.is(Mutation::RobotsIgnored) {
                    let site = &self.sites[web::numbers(&entry.url).0];
                    let rules = &self.sites[site.robots_at.unwrap_or(web::numbers(&entry.url).0)];
                    let forbids =
                        rules.is_private && entry.url.path_and_query().starts_with("/private/");
                    return self.request(lease, &entry.url.clone(), forbids);
                }
                self.finish(&entry.url, entry.attempts, Vec::new());
                let now = self.clock();
                self.frontier.settle(lease, Settlement::NotAsked, now);
                Ok(())
            }
        }
    }

    fn request(&mut self, lease: Lease, url: &CrawlUrl, is_forbidden: bool) -> Result<(), Stop> {
        let site = web::site_of(url.host());
        let (ends, took) = self.sites[site].serve(self.now, &mut self.draws);
        self.tell(format_args!("ask {url}"));
        let times = if self.is(Mutation::DoubleLease) { 2 } else { 1 };
        for _ in 0..times {
            self.watch
                .request(site, web::address(site), url, is_forbidden, self.now)?;
        }
        self.fly(lease, ends, self.now + took);
        Ok(())
    }

    fn fly(&mut self, lease: Lease, ends: Ends, lands: geomi_model::Timestamp) {
        self.flying.push(Flight {
            started: self.now,
            lands,
            ends,
            lease,
        });
    }

    /// An answer came, or did not.
    pub(super) fn land(&mut self, flight: Flight) {
        let Flight {
            started,
            ends,
            lease,
            ..
        } = flight;
        let took = self.now.since(started);
        if let Work::Resolve { host, attempts } = lease.work().clone() {
            self.looked_up(lease, &host, attempts);
            return;
        }
        let url = match lease.work() {
            Work::Robots(errand, _) => errand.url.clone(),
            Work::Page(entry, _) => entry.url.clone(),
            Work::Resolve { .. } => unreachable!("look-ups were dealt with"),
        };
        let site = web::site_of(url.host());
        self.tell(format_args!("{ends:?} {url}"));
        self.watch
            .answer(site, web::address(site), &url, ends, took, self.now);
        let timing = Timing {
            ended: self.clock(),
            took,
            rtt: (ends == Ends::Answered).then_some(took / 2),
            connect: None,
        };
        match lease.work().clone() {
            Work::Robots(errand, _) => self.settle_robots(lease, &errand, ends, timing),
            Work::Page(entry, _) => {
                self.settle_page(lease, &entry.url, entry.attempts, ends, timing);
            }
            Work::Resolve { .. } => {}
        }
    }

    fn looked_up(&mut self, lease: Lease, host: &str, attempts: u8) {
        let now = self.clock();
        let site = web::site_of(host);
        let outcome = if self.sites[site].has_name(self.now) {
            resolved(site, now + HOUR)
        } else if attempts + 1 < TRIES {
            Resolved::Retry
        } else {
            Resolved::Nowhere(now + HOUR)
        };
        self.frontier.settle_resolve(lease, outcome, now);
    }

    fn signal(&self, ends: Ends) -> SiteSignal {
        match ends {
            Ends::Answered if self.is(Mutation::BackoffNotReset) => SiteSignal::Silent,
            Ends::Answered => SiteSignal::Fine,
            Ends::Throttled(_) if self.is(Mutation::RetryAfterIgnored) => SiteSignal::Fine,
            Ends::Throttled(retry_after) => SiteSignal::Throttled { retry_after },
            Ends::Silent => SiteSignal::Silent,
            Ends::Unreachable => SiteSignal::Unreachable,
        }
    }

    fn settle_robots(&mut self, lease: Lease, errand: &Errand, ends: Ends, timing: Timing) {
        let now = self.clock();
        let signal = self.signal(ends);
        let asked = web::site_of(errand.url.host());
        let elsewhere = self.sites[asked]
            .robots_at
            .filter(|_| errand.redirects == 0);
        let next = match (ends, elsewhere) {
            (Ends::Answered, Some(other)) => {
                let url = web::page(other, 0)
                    .join("/robots.txt")
                    .expect("it is a URL");
                self.ensure_open(&url);
                RobotsNext::Redirect(url)
            }
            (Ends::Answered, None) => self.learn(errand, asked),
            _ if errand.attempts + 1 < TRIES => RobotsNext::Retry,
            _ => {
                self.keep_rules(errand, RobotsPolicy::unreachable("no answer"));
                RobotsNext::Known {
                    until: now + HOUR,
                    crawl_delay: None,
                }
            }
        };
        self.frontier
            .settle_robots(lease, timing, signal, next, now);
    }

    /// The rules of the site an errand was for are known.
    fn learn(&mut self, errand: &Errand, asked: usize) -> RobotsNext {
        let text = self.sites[asked].robots_txt();
        let rules = RobotsPolicy::from_answer(200, text.as_bytes());
        let told = rules.crawl_delay(AGENT);
        if let Some(key) = self.frontier.site_key(errand.for_site) {
            self.watch.told(web::site_of(key.as_str()), told);
        }
        self.keep_rules(errand, rules);
        RobotsNext::Known {
            until: self.clock() + 24 * HOUR,
            crawl_delay: told.filter(|_| !self.is(Mutation::CrawlDelayForgotten)),
        }
    }

    fn keep_rules(&mut self, errand: &Errand, rules: RobotsPolicy) {
        let site = errand.for_site;
        if let Some(key) = self.frontier.site_key(site) {
            let partition = web::site_of(key.as_str()) % self.disks.len();
            self.batches[partition].rules.push((site, rules.clone()));
            self.rules.insert(site, rules);
        }
    }

    fn settle_page(
        &mut self,
        lease: Lease,
        url: &CrawlUrl,
        attempts: u8,
        ends: Ends,
        timing: Timing,
    ) {
        let now = self.clock();
        let signal = self.signal(ends);
        if ends != Ends::Answered && attempts + 1 < TRIES {
            let partition = Self::partition_of(url);
            self.batches[partition].visits.push((url.clone(), attempts));
            let after = Duration::from_secs(self.draws.below(10));
            let retry = Settlement::Retry {
                timing,
                signal,
                after,
            };
            self.frontier.settle(lease, retry, now);
            return;
        }
        let links = match ends {
            Ends::Answered => web::links(self.seed, url),
            _ => Vec::new(),
        };
        if ends == Ends::Answered {
            let partition = Self::partition_of(url);
            self.batches[partition]
                .archive
                .push((url.clone(), attempts));
        }
        self.finish(url, attempts, links);
        if self.is(Mutation::SettleDropped) && self.draws.once_in(20) {
            drop(lease);
            return;
        }
        self.frontier
            .settle(lease, Settlement::Done(timing, signal), now);
    }

    /// The last visit of a URL: its links go to their queues, or into the mail.
    fn finish(&mut self, url: &CrawlUrl, attempts: u8, links: Vec<CrawlUrl>) {
        let partition = Self::partition_of(url);
        self.batches[partition].visits.push((url.clone(), attempts));
        for link in &links {
            if Self::partition_of(link) == partition {
                self.admit(link);
            } else {
                self.batches[partition].outbox.push(link.clone());
            }
        }
        self.last_visits[partition].push((url.clone(), links));
    }
}
