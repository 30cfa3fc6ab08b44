//! What a page is at a moment, without its bytes.
//!
//! Whoever simulates a crawl asks thousands of times a second and needs no text:
//! whether the page is there, where it leads, and whether its content is what it
//! was. [`Web::answer`] is made of the same, so that the two cannot differ.

use geomi_model::Timestamp;

use crate::site::SiteTrait;
use crate::{Fault, RedirectTarget, Role, Web};

const BUSY_WINDOW_US: i64 = 4_000_000;

/// What a page is at a moment.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PageState {
    /// It answers 200.
    There(Content),
    /// It answers 404 or 410, whichever stands here.
    Missing(u16),
    /// It answers 500.
    Failing,
    /// It answers 503, for so many seconds more.
    Busy(u32),
    /// It sends the client elsewhere, with this status.
    Moved(u16, RedirectTarget),
    /// It breaks on the socket.
    Broken(Fault),
}

/// The content of a page. Of one site, equal values are equal bytes, the noise
/// of a noisy page left aside, and values that differ are a change.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Content {
    /// Whose text it is: the page itself, or the one it is a copy of.
    pub page: u32,
    /// How often that has changed.
    pub version: u64,
}

impl Web {
    /// What a page is at a moment. What a test fixed for its path is not looked
    /// at.
    pub fn state_at(&self, site: u32, page: u32, at: Timestamp) -> PageState {
        let there = |page| {
            PageState::There(Content {
                page,
                version: self.version_at(site, page, at),
            })
        };
        match self.role(site, page) {
            Role::Page | Role::Disallowed => there(page),
            Role::DuplicateOf(original) => there(original),
            Role::Missing(status) => PageState::Missing(status),
            Role::Failing => PageState::Failing,
            Role::Busy => busy_for_s(page, at).map_or_else(|| there(page), PageState::Busy),
            Role::Redirect(status, target) => PageState::Moved(status, target),
            Role::Faulty(fault) => PageState::Broken(fault),
        }
    }

    /// Whether the pages of a site have validators, so that it can say that
    /// nothing has changed.
    pub fn has_validators(&self, site: u32) -> bool {
        self.site_has(site, SiteTrait::Validators, self.spec().traits.validators)
    }
}

/// Seconds until a busy page answers again; `None` when it does.
fn busy_for_s(page: u32, at: Timestamp) -> Option<u32> {
    let window = at.micros().div_euclid(BUSY_WINDOW_US) + i64::from(page);
    let into = at.micros().rem_euclid(BUSY_WINDOW_US);
    (window % 2 == 0).then(|| ((BUSY_WINDOW_US - into + 999_999) / 1_000_000) as u32)
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;
    use crate::WebSpec;

    #[test]
    fn states_are_what_is_answered() {
        let web = Web::new(WebSpec::lively(4, 120));
        let start = Timestamp::from_secs(1_790_000_000);
        let mut kinds = std::collections::HashSet::new();
        for id in web.all_pages() {
            for days in [0, 3, 40] {
                let at = start + Duration::from_hours(24 * days);
                let path = web.page_path(id.site, id.page);
                let answer = web.answer(&web.host_of(id.site), &path, at);
                let state = web.state_at(id.site, id.page, at);
                kinds.insert(std::mem::discriminant(&state));
                match state {
                    PageState::There(content) => {
                        let tag =
                            format!("\"{:x}-{:x}-{:x}\"", id.site, content.page, content.version);
                        assert_eq!(answer.status, 200);
                        assert!(answer.header("ETag").is_none_or(|etag| etag == tag));
                    }
                    PageState::Missing(status) | PageState::Moved(status, _) => {
                        assert_eq!(answer.status, status);
                    }
                    PageState::Failing => assert_eq!(answer.status, 500),
                    PageState::Busy(seconds) => {
                        let asked = answer.header("Retry-After").unwrap();
                        assert_eq!(asked, seconds.to_string());
                    }
                    PageState::Broken(fault) => assert_eq!(answer.fault, Some(fault)),
                }
            }
        }
        assert!(kinds.len() >= 4, "the web is lively");
    }
}
