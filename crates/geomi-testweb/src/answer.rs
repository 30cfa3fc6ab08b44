//! A request as the web sees it, and what it answers.

use std::borrow::Cow;
use std::time::Duration;

use bytes::Bytes;
use geomi_model::Timestamp;

use crate::{FixedPage, http_date};

/// What of a request matters to the answer.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ask<'a> {
    /// Host, with or without port.
    pub host: &'a str,
    /// Path and query.
    pub target: &'a str,
    /// Whether the client takes gzip.
    pub accepts_gzip: bool,
    /// `If-None-Match`.
    pub if_none_match: Option<&'a str>,
    /// `If-Modified-Since`.
    pub if_modified_since: Option<&'a str>,
    /// How often this URL was asked for before; it matters to
    /// [`FixedPage::first_only`] alone.
    pub asked_before: u32,
}

/// What goes out.
#[derive(Clone, Debug)]
pub struct Answer {
    /// The status; 200 for a fault that sends a header.
    pub status: u16,
    /// Header fields; the server adds `Date` and the framing.
    pub headers: Vec<(Cow<'static, str>, Cow<'static, str>)>,
    /// The body as it goes out, compressed where `Content-Encoding` says so.
    pub body: Bytes,
    /// Sent in chunks instead of with `Content-Length`.
    pub chunked: bool,
    /// How long the site takes before the first byte.
    pub latency: Duration,
    /// A way to break the answer on the socket.
    pub fault: Option<crate::Fault>,
}

impl Answer {
    /// The value of a header field.
    pub fn header(&self, name: &str) -> Option<&str> {
        let mut fields = self.headers.iter();
        fields
            .find(|(field, _)| field.eq_ignore_ascii_case(name))
            .map(|(_, value)| &**value)
    }

    pub(crate) fn new(status: u16, body: impl Into<Bytes>) -> Self {
        Self {
            status,
            headers: Vec::with_capacity(6),
            body: body.into(),
            chunked: false,
            latency: Duration::ZERO,
            fault: None,
        }
    }

    pub(crate) fn text(status: u16, body: impl Into<Bytes>) -> Self {
        Self::new(status, body).with("Content-Type", "text/plain; charset=utf-8")
    }

    pub(crate) fn redirect(status: u16, location: String) -> Self {
        Self::text(status, "moved\n").with("Location", location)
    }

    pub(crate) fn broken(fault: crate::Fault) -> Self {
        Self {
            fault: Some(fault),
            ..Self::new(200, "")
        }
    }

    pub(crate) fn fixed(page: &FixedPage) -> Self {
        let headers = page.headers.iter();
        Self {
            headers: headers
                .map(|(name, value)| (name.clone().into(), value.clone().into()))
                .collect(),
            fault: page.fault,
            ..Self::new(page.status, page.body.clone())
        }
    }

    #[must_use]
    pub(crate) fn with(mut self, name: &'static str, value: impl Into<Cow<'static, str>>) -> Self {
        self.headers.push((name.into(), value.into()));
        self
    }

    /// Turns a 200 with validators into a 304 where the client has it already
    /// (RFC 9110 §13.2.2: the entity tag decides if there is one).
    pub(crate) fn if_changed(self, ask: &Ask<'_>, modified: Timestamp) -> Self {
        let tag = self.header("ETag").unwrap_or_default();
        let unchanged = match (ask.if_none_match, ask.if_modified_since) {
            (Some(tags), _) => tags.split(',').any(|known| known.trim() == tag),
            (None, Some(date)) => http_date::parse(date).is_some_and(|date| {
                // The header has whole seconds only.
                date.since(Timestamp::EPOCH).as_secs() >= modified.since(Timestamp::EPOCH).as_secs()
            }),
            (None, None) => false,
        };
        if unchanged { self.not_modified() } else { self }
    }

    /// The 304 to whoever has it already.
    pub(crate) fn not_modified(self) -> Self {
        let validators = ["ETag", "Last-Modified"];
        Self {
            headers: self
                .headers
                .into_iter()
                .filter(|(name, _)| validators.contains(&&**name))
                .collect(),
            chunked: false,
            ..Self::new(304, "")
        }
    }
}
