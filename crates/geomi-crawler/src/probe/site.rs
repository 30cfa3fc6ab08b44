//! What a probe learns of the sites it meets: address, robots.txt, and when
//! they may be asked again.

use std::net::IpAddr;
use std::time::Duration;

use geomi_engine::{Access, Answer, RobotsMode, RobotsWord, SiteAccess, robots_word, signal};
use geomi_fetch::Resolution;
use geomi_frontier::{Pause, Politeness, SiteSignal};
use geomi_model::{NetworkState, Timestamp};
use geomi_url::{CrawlUrl, SiteHash};

use super::pass::Pass;
use super::{AddressStep, HopEnd, RefusedBy, RobotsRequest, RobotsStep};
use crate::CrawlConfig;
use crate::stage::fetch::{ask, refused_address, robots_request};
use crate::stage::read::{Subject, understand};

/// What is known of a site.
#[derive(Debug, Default)]
pub(super) struct SiteNotes {
    address: Option<AddressStep>,
    access: Option<SiteAccess>,
    pub(super) crawl_delay: Option<Duration>,
    last_took: Duration,
    failures: u32,
    /// Its delay is over.
    free_at: Timestamp,
    /// What it asked for itself is over.
    throttled_until: Timestamp,
}

impl SiteNotes {
    /// The rules that hold for it.
    fn politeness(&self, config: &CrawlConfig) -> Politeness {
        let chosen = self.address.as_ref().and_then(|address| address.chosen);
        let general = config.engine.frontier.politeness;
        if chosen.is_some_and(geomi_fetch::is_public) {
            general.for_public()
        } else {
            general
        }
    }

    /// Takes note of a request that has ended.
    pub(super) fn asked(
        &mut self,
        config: &CrawlConfig,
        site: SiteHash,
        (started, ended): (Timestamp, Timestamp),
        signal: SiteSignal,
    ) -> Pause {
        self.failures = match signal {
            SiteSignal::Fine => 0,
            SiteSignal::Silent => self.failures,
            SiteSignal::Unreachable | SiteSignal::Throttled { .. } => self.failures + 1,
        };
        self.last_took = ended.since(started);
        let pause = self.politeness(config).pause(
            site,
            self.last_took,
            self.crawl_delay,
            signal,
            self.failures,
        );
        self.free_at = ended + pause.rest + pause.margin;
        if let Some(wait) = pause.throttled {
            self.throttled_until = ended + wait;
        }
        pause
    }

    /// The rules came from another site: this one rests from now.
    fn learnt_elsewhere(&mut self, config: &CrawlConfig, now: Timestamp) {
        let politeness = self.politeness(config);
        let rest = politeness.rest(self.last_took, self.crawl_delay);
        self.free_at = self.free_at.max(now + rest);
    }
}

impl Pass<'_> {
    /// Where to ask for a URL, or why nowhere.
    pub(super) async fn address(
        &mut self,
        url: &CrawlUrl,
    ) -> (AddressStep, Result<IpAddr, HopEnd>) {
        let site = url.site_hash();
        let known = self.sites.entry(site).or_default().address.clone();
        let step = if let Some(step) = known {
            AddressStep { took: None, ..step }
        } else {
            let step = self.look_up(url).await;
            self.sites.entry(site).or_default().address = Some(step.clone());
            step
        };
        let outcome = match &step.look_up.resolution {
            Resolution::Addresses { addrs, .. } => Ok(addrs[0]),
            Resolution::Refused { addr, reason } => Err(HopEnd::Refused {
                by: RefusedBy::Address,
                reason: refused_address(*addr, reason),
            }),
            Resolution::Failed { error } => Err(HopEnd::Failed {
                state: NetworkState::NoIp,
                reason: error.clone(),
            }),
        };
        (step, outcome)
    }

    async fn look_up(&self, url: &CrawlUrl) -> AddressStep {
        let started = self.clock.now();
        let look_up = self.fetcher.look_up(url.host(), url.port()).await;
        AddressStep {
            took: Some(self.clock.now().since(started)),
            chosen: match &look_up.resolution {
                Resolution::Addresses { addrs, .. } => addrs.first().copied(),
                _ => None,
            },
            look_up,
        }
    }

    /// Whether the site permits a URL. Its robots.txt is asked for if that was
    /// not done yet.
    pub(super) async fn permission(&mut self, url: &CrawlUrl) -> (RobotsStep, Result<(), HopEnd>) {
        if self.config.engine.robots == RobotsMode::Ignore {
            let ignored = RobotsStep {
                asked: Vec::new(),
                access: None,
            };
            return (ignored, Ok(()));
        }
        let site = url.site_hash();
        let mut asked = Vec::new();
        let known = self.sites.entry(site).or_default().access.clone();
        let access = match known {
            Some(access) => access,
            None => match self.ask_robots(url, &mut asked).await {
                Ok(access) => access,
                Err(end) => {
                    let access = None;
                    return (RobotsStep { asked, access }, Err(end));
                }
            },
        };
        let outcome = match access.access(&self.config.engine.agent, url.path_and_query()) {
            Access::Allowed => Ok(()),
            Access::Disallowed(reason) => Err(HopEnd::Refused {
                by: RefusedBy::Robots,
                reason,
            }),
            Access::Unreachable(state, reason) => Err(HopEnd::Failed { state, reason }),
        };
        let access = Some(access);
        (RobotsStep { asked, access }, outcome)
    }

    /// Asks for the robots.txt of a URL's site and takes note of it.
    async fn ask_robots(
        &mut self,
        url: &CrawlUrl,
        asked: &mut Vec<RobotsRequest>,
    ) -> Result<SiteAccess, HopEnd> {
        let for_site = url.site_hash();
        let mut target = url
            .join("/robots.txt")
            .expect("every page can have a robots.txt beside it");
        for redirects in 0.. {
            let (_, addr) = self.address(&target).await;
            let addr = addr.map_err(|end| without_address(&target, end))?;
            self.rest(&target).await?;
            let (times, answer) = self.request_robots(&target, addr).await;
            let word = robots_word(&answer, redirects, false);
            let may_retry = self.config.engine.tries > 1;
            let would_retry = robots_word(&answer, redirects, may_retry) == RobotsWord::Retry;
            let site = target.site_hash();
            let access = match word {
                RobotsWord::Redirect(_) => None,
                RobotsWord::Policy(policy) => Some(SiteAccess::Policy(policy)),
                RobotsWord::NoAnswer { state, reason } => {
                    Some(SiteAccess::NoAnswer { state, reason })
                }
                RobotsWord::Retry => unreachable!("a probe asks once"),
            };
            if let Some(access) = &access {
                // Before the site rests: a Crawl-delay holds from this answer on.
                let notes = self.sites.entry(for_site).or_default();
                notes.crawl_delay = access.crawl_delay(&self.config.engine.agent);
                notes.access = Some(access.clone());
            }
            let notes = self.sites.entry(site).or_default();
            notes.asked(self.config, site, times, signal(&answer));
            let next = answer.location.clone();
            asked.push(told(target.clone(), answer, would_retry));
            match (access, next) {
                (None, Some(next)) => target = next,
                (Some(access), _) => {
                    if site != for_site {
                        let notes = self.sites.entry(for_site).or_default();
                        notes.learnt_elsewhere(self.config, times.1);
                    }
                    return Ok(access);
                }
                (None, None) => unreachable!("a redirect has a target"),
            }
        }
        unreachable!("redirects of a robots.txt are limited")
    }

    async fn request_robots(
        &mut self,
        url: &CrawlUrl,
        addr: IpAddr,
    ) -> ((Timestamp, Timestamp), Answer) {
        let request = robots_request(url.clone(), addr);
        let (started, outcome, ended) = ask(&self.fetcher, &*self.clock, request).await;
        self.serial += 1;
        let subject = Subject {
            url,
            is_robots: true,
            serial: self.serial,
            started,
            ended,
        };
        let understood = understand(&self.readers, &self.settings, subject, &outcome);
        ((started, ended), understood.answer)
    }

    /// Waits until a site may be asked; says how long that took.
    #[expect(
        clippy::disallowed_methods,
        reason = "the site's rest is what there is to wait for; a crawl does other work meanwhile"
    )]
    pub(super) async fn rest(&mut self, url: &CrawlUrl) -> Result<Duration, HopEnd> {
        let notes = self.sites.entry(url.site_hash()).or_default();
        let until = notes.free_at.max(notes.throttled_until);
        let wait = until.since(self.clock.now());
        if wait > self.config.engine.frontier.wait_max {
            return Err(HopEnd::Refused {
                by: RefusedBy::Politeness,
                reason: format!(
                    "{} wants to be left alone for {} s, more than politeness.max_wait",
                    url.site(),
                    wait.as_secs()
                ),
            });
        }
        if !wait.is_zero() {
            (self.resting)(url, wait);
            tokio::time::sleep(wait).await;
        }
        Ok(wait)
    }
}

/// A robots.txt at a site without an address: a crawl leaves its site alone.
fn without_address(target: &CrawlUrl, end: HopEnd) -> HopEnd {
    let words = |reason: String| format!("its robots.txt is at {target}: {reason}");
    match end {
        HopEnd::Failed { state, reason } => HopEnd::Failed {
            state,
            reason: words(reason),
        },
        HopEnd::Refused { by, reason } => HopEnd::Refused {
            by,
            reason: words(reason),
        },
        end => end,
    }
}

fn told(url: CrawlUrl, answer: Answer, would_retry: bool) -> RobotsRequest {
    RobotsRequest {
        url,
        ip: answer.ip,
        state: answer.state,
        code: answer.code,
        error: answer.error,
        location: answer.location,
        body_bytes: answer.body_bytes,
        phases: answer.phases,
        would_retry,
    }
}
