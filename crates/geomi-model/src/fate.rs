//! What an attempt means for its page: done, moved, given up, or again.
//!
//! The crawl decides by this when a visit ends, and whoever reads the visits
//! later decides by it again: a row has all that the decision needs.

use std::time::Duration;

use geomi_url::CrawlUrl;

use crate::{NetworkState, Visit};

/// What an attempt means for the page.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Fate {
    /// 200, or known unchanged.
    Saved,
    /// 3xx with a target.
    Redirected,
    /// Given up: no answer after the last try, or 4xx, or 5xx.
    Failed,
    /// Another answer: 204, a redirect that leads nowhere, a type that is not wanted.
    Answered,
    /// It comes again.
    Retry,
}

impl Fate {
    /// The name of the fate.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Saved => "saved",
            Self::Redirected => "redirected",
            Self::Failed => "failed",
            Self::Answered => "answered",
            Self::Retry => "retry",
        }
    }

    /// The fate of a page's visit, read from its row. `tries` is the setting
    /// the crawl ran with; where it was changed between runs, the visits of
    /// earlier runs are read by the later one.
    pub fn of(visit: &Visit, tries: u8) -> Self {
        let attempt = Attempt {
            state: visit.state,
            code: visit.code,
            has_target: visit.location.is_some(),
            is_guess: is_guess(&visit.url),
            number: visit.attempt,
        };
        // A page whose site is out of reach ends as its site did, without being
        // asked for: such a visit took no time, and there is no second try.
        let was_given_up = visit.phases.total == Duration::ZERO;
        match attempt.fate(tries) {
            Self::Retry if was_given_up => Self::Failed,
            fate => fate,
        }
    }
}

/// How an attempt ended, as far as its fate depends on it.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Attempt {
    /// How far it came.
    pub state: NetworkState,
    /// Status code, where a header came.
    pub code: Option<u16>,
    /// Whether the answer is a redirect that leads somewhere.
    pub has_target: bool,
    /// Whether nobody said that the page exists.
    pub is_guess: bool,
    /// Which try it was, from 1.
    pub number: u8,
}

/// Whether a page is asked for without being named anywhere. Where it is missing,
/// nothing failed.
pub fn is_guess(url: &CrawlUrl) -> bool {
    url.path_and_query() == GUESSED_SITEMAP
}

/// The sitemap of a site whose robots.txt names none.
pub const GUESSED_SITEMAP: &str = "/sitemap.xml";

impl Attempt {
    /// What it means, where a page is tried `tries` times.
    pub fn fate(self, tries: u8) -> Fate {
        if self.may_pass() && self.number < tries {
            return Fate::Retry;
        }
        match self.code {
            // Nobody said that it exists: without it nothing is missing.
            _ if self.is_guess && !self.state.is_answer() => Fate::Answered,
            _ if !self.state.is_answer() => Fate::Failed,
            // A 304 that nobody asked for says nothing about what is stored, and a
            // 200 of an unwanted type is not stored.
            Some(200 | 304) if self.state == NetworkState::Ok => Fate::Saved,
            Some(300..=399) if self.has_target => Fate::Redirected,
            Some(100..=399) => Fate::Answered,
            Some(400..=599) if self.is_guess => Fate::Answered,
            _ => Fate::Failed,
        }
    }

    /// Failures that may pass: the network's, and the codes that say "later".
    fn may_pass(self) -> bool {
        match self.code {
            Some(code) if self.state.is_answer() => {
                matches!(code, 408 | 429 | 500 | 502 | 503 | 504)
            }
            _ => self.state != NetworkState::NotTried,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fate(state: NetworkState, code: Option<u16>, number: u8) -> Fate {
        Attempt {
            state,
            code,
            has_target: false,
            is_guess: false,
            number,
        }
        .fate(3)
    }

    #[test]
    fn what_may_pass_is_tried_again_until_the_last_try() {
        use NetworkState::{Code, HeaderTimeout, NotTried, Ok};
        assert_eq!(fate(Ok, Some(200), 1), Fate::Saved);
        assert_eq!(fate(Code, Some(200), 1), Fate::Answered, "an unwanted type");
        assert_eq!(fate(Ok, Some(304), 1), Fate::Saved);
        assert_eq!(fate(Code, Some(304), 1), Fate::Answered);
        assert_eq!(fate(Code, Some(503), 2), Fate::Retry);
        assert_eq!(fate(Code, Some(503), 3), Fate::Failed);
        assert_eq!(fate(Code, Some(404), 1), Fate::Failed);
        assert_eq!(fate(Code, Some(204), 1), Fate::Answered);
        assert_eq!(fate(Code, Some(302), 1), Fate::Answered);
        assert_eq!(fate(HeaderTimeout, None, 1), Fate::Retry);
        assert_eq!(fate(HeaderTimeout, None, 3), Fate::Failed);
        assert_eq!(fate(NotTried, None, 1), Fate::Failed);
        let moved = Attempt {
            state: Code,
            code: Some(302),
            has_target: true,
            is_guess: false,
            number: 1,
        };
        assert_eq!(moved.fate(3), Fate::Redirected);
        let guessed = Attempt {
            code: Some(404),
            is_guess: true,
            ..moved
        };
        assert_eq!(guessed.fate(3), Fate::Answered, "nobody said it was there");
        let broken = Attempt {
            code: Some(500),
            number: 3,
            ..guessed
        };
        assert_eq!(broken.fate(3), Fate::Answered);
        let silent = Attempt {
            state: HeaderTimeout,
            code: None,
            ..broken
        };
        assert_eq!(silent.fate(3), Fate::Answered);
    }
}
