//! What a site permits, given how the fetch of its robots.txt ended.
//!
//! | how it ended | RFC 9309 | what holds |
//! |---|---|---|
//! | 2xx | §2.3.1.1 | the rules of the file |
//! | still a redirect after [`REDIRECTS_MAX`] | §2.3.1.2 | unavailable: all is permitted |
//! | 4xx but 429 | §2.3.1.3 | unavailable: all is permitted |
//! | 429, 5xx, any other code | §2.3.1.4 | unreachable: nothing is permitted |
//! | no complete answer | §2.3.1.4 | unreachable: nothing is permitted |
//!
//! 401 and 403 permit, as the RFC says: the pages behind them refuse by
//! themselves. 429 forbids, although it is a 4xx: it says that the server has had too
//! many requests, not that there is no robots.txt. Google treats it like a 5xx, too.
//! The caller honours Retry-After before it takes a 429 for an answer.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::robots::{Robots, Verdict};

/// How long an answer may be relied on (RFC 9309 §2.4). The caller keeps time.
pub const CACHE_MAX: Duration = Duration::from_hours(24);

/// Redirects to follow, across hosts if need be, before giving up.
pub const REDIRECTS_MAX: usize = 5;

/// What a site permits.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub enum RobotsPolicy {
    /// The site has a robots.txt, and its rules hold.
    Rules(Robots),
    /// The site has none to show: everything is permitted.
    Unavailable {
        /// What it answered.
        code: u16,
    },
    /// Nobody knows what the site wants: nothing is permitted for now.
    Unreachable {
        /// What went wrong, for people.
        reason: Box<str>,
    },
}

impl RobotsPolicy {
    /// The policy after a complete answer; a redirect here is the one after the
    /// last that may be followed.
    ///
    /// ```
    /// use geomi_robots::RobotsPolicy;
    ///
    /// let none = RobotsPolicy::from_answer(404, b"<h1>Not found</h1>");
    /// assert!(none.verdict("geomi", "/page").allowed);
    /// let down = RobotsPolicy::from_answer(503, b"");
    /// assert!(!down.verdict("geomi", "/page").allowed);
    /// ```
    pub fn from_answer(code: u16, body: &[u8]) -> Self {
        match code {
            200..=299 => Self::Rules(Robots::parse(body)),
            300..=428 | 430..=499 => Self::Unavailable { code },
            _ => Self::unreachable(format!("robots.txt answered {code}")),
        }
    }

    /// The policy when no complete answer came.
    pub fn unreachable(reason: impl Into<Box<str>>) -> Self {
        Self::Unreachable {
            reason: reason.into(),
        }
    }

    /// Whether the robot `agent` may request `path_and_query`; see
    /// [`Robots::verdict`]. Where nothing is permitted, robots.txt itself still
    /// is, or the policy could never change.
    pub fn verdict(&self, agent: &str, path_and_query: &str) -> Verdict<'_> {
        match self {
            Self::Rules(robots) => robots.verdict(agent, path_and_query),
            Self::Unavailable { .. } => Verdict::without_rule(true),
            Self::Unreachable { .. } => Verdict::without_rule(path_and_query == "/robots.txt"),
        }
    }

    /// The pause between requests that the site asks of `agent`.
    pub fn crawl_delay(&self, agent: &str) -> Option<Duration> {
        self.robots()?.crawl_delay(agent)
    }

    /// The sitemaps the site names.
    pub fn sitemaps(&self) -> &[String] {
        self.robots().map_or(&[], Robots::sitemaps)
    }

    /// The rules, where the site has any.
    pub const fn robots(&self) -> Option<&Robots> {
        match self {
            Self::Rules(robots) => Some(robots),
            Self::Unavailable { .. } | Self::Unreachable { .. } => None,
        }
    }

    /// Why nothing is permitted, where that is so for want of an answer.
    pub const fn unreachable_reason(&self) -> Option<&str> {
        match self {
            Self::Unreachable { reason } => Some(reason),
            Self::Rules(_) | Self::Unavailable { .. } => None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SHUT: &[u8] = b"user-agent: *\ncrawl-delay: 2\ndisallow: /\nsitemap: http://e/s.xml";

    fn allowed(code: u16) -> bool {
        RobotsPolicy::from_answer(code, SHUT)
            .verdict("geomi", "/x")
            .allowed
    }

    #[test]
    fn only_a_good_answer_has_rules() {
        for code in [200, 203, 206] {
            assert!(!allowed(code), "{code}: the body's rules hold");
        }
        for code in [301, 302, 307, 400, 401, 403, 404, 410, 428, 430, 451, 499] {
            assert!(allowed(code), "{code}: unavailable permits");
        }
        for code in [0, 199, 429, 500, 503, 599, 999] {
            assert!(!allowed(code), "{code}: unreachable forbids");
        }
    }

    #[test]
    fn an_unreachable_site_may_still_be_asked_for_its_robots_txt() {
        let policy = RobotsPolicy::unreachable("connection refused");
        assert!(!policy.verdict("geomi", "/").allowed);
        assert!(policy.verdict("geomi", "/robots.txt").allowed);
        assert_eq!(policy.unreachable_reason(), Some("connection refused"));
        assert_eq!(policy.crawl_delay("geomi"), None);
    }

    #[test]
    fn delay_and_sitemaps_come_from_the_rules() {
        let policy = RobotsPolicy::from_answer(200, SHUT);
        assert_eq!(policy.crawl_delay("geomi"), Some(Duration::from_secs(2)));
        assert_eq!(policy.sitemaps(), ["http://e/s.xml"]);
        assert_eq!(RobotsPolicy::from_answer(404, SHUT).sitemaps().len(), 0);
        assert_eq!(policy.unreachable_reason(), None);
    }
}
