//! Robots: what an answer to a request for robots.txt means for its site.

use geomi_frontier::{Errand, RobotsNext, Work};
use geomi_model::{NetworkState, Timestamp};
use geomi_robots::{CACHE_MAX, REDIRECTS_MAX, RobotsPolicy};
use geomi_url::{CrawlUrl, SiteHash};

use crate::EngineError;
use crate::books::SiteAccess;
use crate::engine::{Around, Engine};
use crate::letters::{Letter, RobotsErrand};
use crate::stage::address::UNREACHABLE_FOR;
use crate::stage::arrival::{Answer, Arrival};
use crate::stage::row::Story;
use crate::stage::settle::{signal, timing};

/// What to do after a robots.txt was requested.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum RobotsWord {
    /// Ask again later.
    Retry,
    /// Request this URL instead, on whatever site it is.
    Redirect(CrawlUrl),
    /// The server did not answer: the site's pages end in the same state.
    NoAnswer {
        /// The network state the request ended in.
        state: NetworkState,
        /// What went wrong, in words.
        reason: String,
    },
    /// These rules hold.
    Policy(RobotsPolicy),
}

/// Decides, after `redirects` were followed.
pub fn robots_word(answer: &Answer, redirects: u8, may_retry: bool) -> RobotsWord {
    if !answer.state.is_answer() {
        if may_retry && answer.state != NetworkState::NotTried {
            return RobotsWord::Retry;
        }
        let error = answer.error.as_deref().unwrap_or(answer.state.as_str());
        return RobotsWord::NoAnswer {
            state: answer.state,
            reason: format!("robots.txt: {error}"),
        };
    }
    if let Some(target) = &answer.location
        && usize::from(redirects) < REDIRECTS_MAX
    {
        return RobotsWord::Redirect(target.clone());
    }
    let code = answer.code.unwrap_or(0);
    if may_retry && (code == 429 || code >= 500) {
        return RobotsWord::Retry;
    }
    // Without a policy nothing is known of what the site permits.
    let unread = || RobotsPolicy::unreachable("robots.txt could not be read");
    RobotsWord::Policy(answer.robots.as_deref().cloned().unwrap_or_else(unread))
}

impl Engine {
    pub(crate) fn know(&mut self, site: SiteHash, access: SiteAccess) {
        self.store.set_access(site, &access);
        self.sites.robots.set(site, access);
    }

    /// Reads the rules of a site again that were dropped from memory.
    pub(crate) fn restore_robots(&mut self, site: SiteHash) -> Result<(), EngineError> {
        if !self.sites.robots.is_missing(site) {
            return Ok(());
        }
        let unreadable = || {
            let reason = "the rules of robots.txt are not in the state any more";
            SiteAccess::Policy(RobotsPolicy::unreachable(reason))
        };
        let access = self.store.access(site)?.unwrap_or_else(unreadable);
        self.sites.robots.restore(site, access);
        Ok(())
    }

    /// A robots.txt: its visit is kept like any other, then it is obeyed.
    pub(crate) fn settle_robots(
        &mut self,
        around: &mut Around<'_>,
        read: Arrival,
    ) -> Result<(), EngineError> {
        let now = around.now;
        let Work::Robots(errand, _) = read.lease.work().clone() else {
            unreachable!("a robots.txt was leased")
        };
        let capture = self.keep_answer(around, &read, None)?;
        let story = Story {
            depth: 0,
            priority: 1,
            attempt: errand.attempts + 1,
            is_robots: true,
            ..Story::default()
        };
        self.add_visit(&read, story, capture)?;
        self.sites.failing.note(&read.url, &read.answer);
        let timing = timing(&read);
        let signal = signal(&read.answer);
        let next = self.robots_next(&errand, &read.answer, now)?;
        self.queues.frontier.settle_robots(
            read.lease,
            timing,
            signal,
            next,
            &mut around.shared.addresses,
            now,
        );
        Ok(())
    }

    fn robots_next(
        &mut self,
        errand: &Errand,
        answer: &Answer,
        now: Timestamp,
    ) -> Result<RobotsNext, EngineError> {
        let may_retry = errand.attempts + 1 < self.rules.config.tries;
        let (access, believed_for) = match robots_word(answer, errand.redirects, may_retry) {
            RobotsWord::Retry => return Ok(RobotsNext::Retry),
            RobotsWord::Redirect(target) => {
                let Some(owner) = self.elsewhere(&target) else {
                    self.ensure_open(&target, now)?;
                    return Ok(RobotsNext::Redirect(target));
                };
                let errand = RobotsErrand {
                    url: target,
                    for_site: errand.for_site,
                    redirects: errand.redirects + 1,
                };
                let (owner, letter) = match self.sites.errands.asker(errand.for_site) {
                    // Another partition asked for it: it asks there itself.
                    Some(asker) => (asker, Letter::RobotsMoved(errand)),
                    None => (owner, Letter::AskRobots(errand)),
                };
                self.store.post(owner, letter);
                return Ok(RobotsNext::Elsewhere);
            }
            RobotsWord::NoAnswer { state, reason } => {
                (SiteAccess::NoAnswer { state, reason }, UNREACHABLE_FOR)
            }
            RobotsWord::Policy(policy @ RobotsPolicy::Unreachable { .. }) => {
                (SiteAccess::Policy(policy), UNREACHABLE_FOR)
            }
            RobotsWord::Policy(policy) => (SiteAccess::Policy(policy), CACHE_MAX),
        };
        let crawl_delay = access.crawl_delay(&self.rules.config.agent);
        if let Some(asker) = self.sites.errands.remove(errand.for_site) {
            let (for_site, until) = (errand.for_site, now + believed_for);
            self.store.post(
                asker,
                Letter::Robots {
                    for_site,
                    access,
                    until,
                },
            );
        } else {
            self.know(errand.for_site, access);
        }
        Ok(RobotsNext::Known {
            until: now + believed_for,
            crawl_delay,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(code: u16) -> Answer {
        Answer {
            code: Some(code),
            robots: Some(Box::new(RobotsPolicy::from_answer(code, b""))),
            ..Answer::none(NetworkState::Code, String::new())
        }
    }

    #[test]
    fn trouble_that_may_pass_is_asked_again_and_then_believed() {
        for code in [429, 500, 503] {
            assert_eq!(robots_word(&answered(code), 0, true), RobotsWord::Retry);
            let last = robots_word(&answered(code), 0, false);
            assert!(
                matches!(last, RobotsWord::Policy(RobotsPolicy::Unreachable { .. })),
                "{code}: {last:?}"
            );
        }
        let silent = Answer::none(NetworkState::HeaderTimeout, "no header in time".to_owned());
        assert_eq!(robots_word(&silent, 0, true), RobotsWord::Retry);
        assert_eq!(
            robots_word(&silent, 0, false),
            RobotsWord::NoAnswer {
                state: NetworkState::HeaderTimeout,
                reason: "robots.txt: no header in time".to_owned(),
            }
        );
    }

    #[test]
    fn a_robots_txt_that_broke_the_reader_permits_nothing() {
        let unread = Answer {
            robots: None,
            ..answered(200)
        };
        let RobotsWord::Policy(policy) = robots_word(&unread, 0, true) else {
            panic!("it is not asked for again")
        };
        assert!(!policy.verdict("geomi", "/").allowed);
    }

    #[test]
    fn redirects_are_followed_until_there_are_too_many() {
        let target = CrawlUrl::parse("http://other.test/robots.txt").unwrap();
        let moved = Answer {
            location: Some(target.clone()),
            ..answered(301)
        };
        assert_eq!(robots_word(&moved, 4, false), RobotsWord::Redirect(target));
        assert_eq!(
            robots_word(&moved, 5, false),
            RobotsWord::Policy(RobotsPolicy::Unavailable { code: 301 })
        );
    }
}
