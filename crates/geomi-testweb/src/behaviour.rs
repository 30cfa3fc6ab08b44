//! What a test says about one site, over what the traits would give it.

use std::time::Duration;

use bytes::Bytes;

use crate::{Fault, FiniteSite, SiteCharset, Trap};

/// How one site differs from the rest of its web; every part left out is as
/// the web's traits have it.
///
/// ```
/// use geomi_testweb::{FixedPage, Robots, SiteBehaviour, Web, WebSpec};
/// use geomi_model::Timestamp;
///
/// let mut spec = WebSpec::plain(1, 1);
/// spec.site_overrides.push((0, SiteBehaviour {
///     robots: Some(Robots::Text("User-agent: *\nDisallow: /no\n".into())),
///     fixed: vec![("/".into(), FixedPage::html("<a href=/no>no</a><a href=/yes>yes</a>"))],
///     ..SiteBehaviour::default()
/// }));
/// let web = Web::new(spec);
/// assert_eq!(web.answer("127.0.1.1", "/", Timestamp::EPOCH).body, "<a href=/no>no</a><a href=/yes>yes</a>");
/// assert_eq!(web.answer("127.0.1.1", "/yes", Timestamp::EPOCH).status, 404);
/// ```
#[derive(Clone, Debug, Default)]
pub struct SiteBehaviour {
    /// What `/robots.txt` answers.
    pub robots: Option<Robots>,
    /// A `Crawl-delay` for the site; written into its robots.txt unless
    /// `robots` says what that holds.
    pub crawl_delay: Option<Duration>,
    /// Time before each answer.
    pub latency: Option<Duration>,
    /// How many pages the site has (at least its front page).
    pub pages: Option<u32>,
    /// The charset of its pages and what it says about it.
    pub charset: Option<SiteCharset>,
    /// Answers by exact path and query; they come before everything else,
    /// robots.txt included.
    pub fixed: Vec<(String, FixedPage)>,
    /// Something endless instead of the web's own pages.
    pub trap: Option<Trap>,
    /// A finite site of the collection instead of the web's own pages.
    pub finite: Option<FiniteSite>,
    /// Whether it answers 304 to everything conditional, though its entity tags
    /// change with its pages.
    pub denies_change: bool,
}

/// What a site answers to `/robots.txt`.
#[derive(Clone, Debug)]
pub enum Robots {
    /// 200 with this text.
    Text(String),
    /// Something goes wrong.
    Fault(RobotsFault),
}

/// What can go wrong with `/robots.txt`.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RobotsFault {
    /// This status with a short body: 404, 403, 500 ...
    Status(u16),
    /// 503 with this many seconds in `Retry-After`.
    Busy(u32),
    /// This many redirects, each a 302, before a robots.txt that disallows
    /// `/private/`.
    Redirects(u32),
    /// A robots.txt of 2 MiB: `/private/` is disallowed at its start, `/late/`
    /// at its end.
    Huge,
    /// A socket fault, silence among them.
    Socket(Fault),
}

/// One answer written by hand.
#[derive(Clone, Debug)]
pub struct FixedPage {
    /// The status.
    pub status: u16,
    /// Header fields besides `Content-Length`, which the server adds.
    pub headers: Vec<(String, String)>,
    /// The body.
    pub body: Bytes,
    /// A socket fault to play instead of an orderly answer.
    pub fault: Option<Fault>,
    /// Only the first so many requests get this answer, later ones what the
    /// web would say without it, another fixed answer for the same path among
    /// that: for retries that succeed, and for pages that change.
    pub first_only: Option<u32>,
}

impl FixedPage {
    /// A 200 with an HTML body in UTF-8.
    pub fn html(body: impl Into<Bytes>) -> Self {
        Self::new(200, body).header("Content-Type", "text/html; charset=utf-8")
    }

    /// A status and a body without further headers.
    pub fn new(status: u16, body: impl Into<Bytes>) -> Self {
        Self {
            status,
            headers: Vec::new(),
            body: body.into(),
            fault: None,
            first_only: None,
        }
    }

    /// A redirect.
    pub fn redirect(status: u16, location: &str) -> Self {
        Self::new(status, "").header("Location", location)
    }

    /// A 503 that asks to come back after so many seconds.
    pub fn busy(retry_after_s: u32) -> Self {
        Self::new(503, "busy\n").header("Retry-After", &retry_after_s.to_string())
    }

    /// A socket fault.
    pub fn fault(fault: Fault) -> Self {
        Self {
            fault: Some(fault),
            ..Self::new(200, "")
        }
    }

    /// With one more header field.
    #[must_use]
    pub fn header(mut self, name: &str, value: &str) -> Self {
        self.headers.push((name.to_owned(), value.to_owned()));
        self
    }

    /// For the first `requests` requests only.
    #[must_use]
    pub fn first_only(mut self, requests: u32) -> Self {
        self.first_only = Some(requests);
        self
    }
}
