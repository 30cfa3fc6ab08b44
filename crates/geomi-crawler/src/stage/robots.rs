//! Robots: what an answer to a request for robots.txt means for its site.

use geomi_model::NetworkState;
use geomi_robots::{REDIRECTS_MAX, RobotsPolicy};
use geomi_url::CrawlUrl;

use crate::stage::read::Answer;

/// What to do after a robots.txt was asked for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum RobotsWord {
    /// Ask again later.
    Retry,
    /// Ask there instead, whatever site that is.
    Redirect(CrawlUrl),
    /// Nobody answered: the site's pages end as this did.
    NoAnswer { state: NetworkState, reason: String },
    /// This holds.
    Policy(RobotsPolicy),
}

/// Decides, after `redirects` were followed.
pub(crate) fn robots_word(answer: &Answer, redirects: u8, may_retry: bool) -> RobotsWord {
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
    let body = answer.robots.as_deref().unwrap_or_default();
    RobotsWord::Policy(RobotsPolicy::from_answer(code, body))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn answered(code: u16) -> Answer {
        Answer {
            code: Some(code),
            ..Answer::none(NetworkState::Code, String::new())
        }
    }

    #[test]
    fn trouble_that_may_pass_is_asked_again_and_then_believed() {
        for code in [429, 500, 503] {
            assert_eq!(robots_word(&answered(code), 0, true), RobotsWord::Retry);
            let last = robots_word(&answered(code), 0, false);
            assert!(matches!(last, RobotsWord::Policy(_)), "{code}: {last:?}");
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
