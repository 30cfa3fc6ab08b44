//! Read: from bytes to a document, digests and archive records.
//!
//! This is where the processor time of a crawl goes, so it runs on a pool of
//! threads, one page at a time, with no state but the page. Records are
//! compressed here, before it is known whether the content is stored already:
//! duplicates are rare, and waiting to know would put the work on one thread.

use std::any::Any;
use std::borrow::Cow;
use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::time::Duration;

use bytes::Bytes;
use geomi_engine::{Answer, Arrival, Content, shape};
use geomi_fetch::FetchOutcome;
use geomi_frontier::Work;
use geomi_model::{
    Digest, Document, Link, LinkKind, NetworkState, Protocol, RobotsMeta, Timestamp, Truncation,
    Validity,
};
use geomi_page::{
    PageInput, ReadLimits, Readers, charset_parameter, link_header, refresh_header, robots_tag,
    validity,
};
use geomi_robots::RobotsPolicy;
use geomi_store::warc::{self, Encoded, Exchange, GzipLevel};
use geomi_url::CrawlUrl;
use hashbrown::HashSet;
use sha1::{Digest as _, Sha1};

use crate::CrawlConfig;
use crate::quarantine::Culprit;
use crate::stage::fetch::{Fetched, panic_message};

/// `Set-Cookie` lines of one answer that are looked at.
const COOKIE_LINES_MAX: usize = 64;

/// `WWW-Authenticate` fields of one answer that are looked at.
const CHALLENGES_MAX: usize = 16;

/// Links of one header that are taken.
const HEADER_LINKS_MAX: usize = 200;

/// An arrival, and what the engine does not see of it.
#[derive(Debug)]
pub(crate) struct Read {
    pub(crate) arrival: Arrival,
    /// Its archive records, where the answer is complete.
    pub(crate) stored: Option<Storable>,
    /// The answer, where it broke the reader.
    pub(crate) culprit: Option<Box<Culprit>>,
}

/// A complete answer, ready for the archive.
#[derive(Debug)]
pub(crate) struct Storable {
    /// SHA-1 of the content with transfer coding removed: equal content is
    /// recognised by it however it was chunked.
    pub(crate) content: Digest,
    /// SHA-1 of the payload as the archive states it.
    pub(crate) payload: Digest,
    pub(crate) content_bytes: u64,
    pub(crate) encoded: Encoded,
    /// Request and header, should only a revisit record be written.
    pub(crate) protocol: Protocol,
    pub(crate) request: Bytes,
    pub(crate) head: Bytes,
}

impl Storable {
    /// What the engine sees of it.
    fn content(&self) -> Content {
        Content {
            digest: self.content,
            payload: self.payload,
            bytes: self.content_bytes,
            protocol: self.protocol,
        }
    }
}

/// What a reader thread needs.
#[derive(Clone, Debug)]
pub(crate) struct ReadSettings {
    pub(crate) limits: ReadLimits,
    pub(crate) agent: String,
    pub(crate) gzip: GzipLevel,
}

impl ReadSettings {
    pub(crate) fn of(config: &CrawlConfig) -> Self {
        Self {
            limits: config.read,
            agent: config.engine.agent.clone(),
            gzip: config.output.gzip(),
        }
    }
}

/// What an answer belongs to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject<'a> {
    pub(crate) url: &'a CrawlUrl,
    pub(crate) is_robots: bool,
    /// Sets records of one URL apart.
    pub(crate) serial: u64,
    pub(crate) started: Timestamp,
    pub(crate) ended: Timestamp,
}

/// An answer, understood.
#[derive(Debug)]
pub(crate) struct Understood {
    pub(crate) answer: Answer,
    pub(crate) document: Document,
    pub(crate) stored: Option<Storable>,
}

/// Reads what a lease brought.
pub(crate) fn read(readers: &Readers, settings: &ReadSettings, fetched: Fetched) -> Read {
    let Fetched {
        lease,
        started,
        ended,
        is_conditional,
        outcome,
    } = fetched;
    let (url, is_robots) = match lease.work() {
        Work::Robots(errand, _) => (errand.url.clone(), true),
        Work::Page(entry, _) => (entry.url.clone(), false),
        Work::Resolve { .. } => unreachable!("a look-up has no answer to read"),
    };
    let subject = Subject {
        url: &url,
        is_robots,
        serial: lease.id().number(),
        started,
        ended,
    };
    let reading = || understand(readers, settings, subject, &outcome);
    // What a reader holds is made anew for every page, so nothing half-made is left.
    let (understood, culprit) = match catch_unwind(AssertUnwindSafe(reading)) {
        Ok(understood) => (understood, None),
        Err(panic) => {
            let culprit = culprit(&*panic, &outcome);
            (unread(settings, subject, &outcome, &culprit), Some(culprit))
        }
    };
    let Understood {
        answer,
        document,
        stored,
    } = understood;
    Read {
        arrival: Arrival {
            lease,
            url,
            started,
            ended,
            is_conditional,
            answer,
            document,
            content: stored.as_ref().map(Storable::content),
            original: None,
        },
        stored,
        culprit: culprit.map(Box::new),
    }
}

/// An answer that broke the reader, and what the reader said last.
fn culprit(panic: &(dyn Any + Send), outcome: &FetchOutcome) -> Culprit {
    Culprit {
        message: panic_message(panic),
        head: outcome.head.clone(),
        body: outcome.body.bytes.clone(),
    }
}

/// What is known of an answer that broke the reader. Any part of reading may have
/// panicked, so each part is tried again on its own.
fn unread(
    settings: &ReadSettings,
    subject: Subject<'_>,
    outcome: &FetchOutcome,
    culprit: &Culprit,
) -> Understood {
    let is_whole = outcome.state.is_answer() && !outcome.is_left;
    let storing = || is_whole.then(|| store(subject, outcome, settings.gzip));
    // If this is what panicked, the file in quarantine/ is all there is.
    let stored = catch_unwind(AssertUnwindSafe(storing)).ok().flatten();
    let answering = || answer(subject, outcome, Declared::of(outcome).mime);
    let answer = catch_unwind(AssertUnwindSafe(answering)).unwrap_or_else(|_| Answer {
        code: outcome.code,
        ip: outcome.ip,
        phases: outcome.phases,
        wire_bytes: outcome.wire_bytes(),
        ..Answer::none(outcome.state, String::new())
    });
    let is_kept = stored.is_some() || outcome.state != NetworkState::Ok;
    Understood {
        answer: Answer {
            state: if is_kept {
                answer.state
            } else {
                NetworkState::Code
            },
            error: Some(format!("the reader panicked: {}", culprit.message)),
            validity: Some(Validity::Quarantined),
            ..answer
        },
        document: Document::default(),
        stored,
    }
}

/// Whether the content of an answer is what it says it is; `None` without content.
fn verdict(outcome: &FetchOutcome, input: &PageInput<'_>, document: &Document) -> Option<Validity> {
    let is_cut = outcome.truncated.is_some() || outcome.body.truncated;
    match outcome.state {
        NetworkState::DownloadTimeout => Some(Validity::Cut),
        NetworkState::DownloadError => Some(Validity::Broken),
        state if !state.is_answer() || outcome.is_left => None,
        _ if outcome.code != Some(200) && outcome.body.is_empty() => None,
        _ if is_cut => Some(Validity::Cut),
        _ if outcome.body.is_broken => Some(Validity::Broken),
        _ => Some(validity(input, document)),
    }
}

/// Reads one answer. Never fails: a broken page is a page with fewer links.
pub(crate) fn understand(
    readers: &Readers,
    settings: &ReadSettings,
    subject: Subject<'_>,
    outcome: &FetchOutcome,
) -> Understood {
    let declared = Declared::of(outcome);
    let has_content = outcome.state == NetworkState::Ok && outcome.code == Some(200);
    let document = if has_content && !subject.is_robots {
        let mut document = readers.read(&declared.input(subject.url, outcome), &settings.limits);
        let tags = outcome.headers.get_all("x-robots-tag");
        document.robots = tags.fold(document.robots, |all: RobotsMeta, tag| {
            all.or(robots_tag(&tag, &settings.agent))
        });
        document
    } else if !subject.is_robots && leads_by_body(subject.url, outcome) {
        let page = readers.read(&declared.input(subject.url, outcome), &settings.limits);
        Document {
            links: page.links,
            robots: page.robots,
            ..Document::default()
        }
    } else {
        Document::default()
    };
    let mut document = document;
    if !subject.is_robots && matches!(outcome.code, Some(200..=299)) {
        add_header_links(&mut document, subject.url, outcome);
    }
    let is_answer = outcome.state.is_answer();
    let is_missing = is_answer && outcome.code == Some(404) && !subject.is_robots;
    // Its links lead nowhere that is wanted, and it is no page of the site: only
    // what it looks like is kept.
    let missing = is_missing
        .then(|| readers.read(&declared.input(subject.url, outcome), &settings.limits))
        .and_then(|page| shape(&page));
    let verdict = (!subject.is_robots)
        .then(|| verdict(outcome, &declared.input(subject.url, outcome), &document));
    let is_whole = is_answer && !outcome.is_left;
    Understood {
        stored: is_whole.then(|| store(subject, outcome, settings.gzip)),
        answer: Answer {
            missing,
            validity: verdict.flatten(),
            ..answer(subject, outcome, declared.mime)
        },
        document,
    }
}

/// Whether an answer is a redirect without a usable target: its body says where to
/// go, in a link that people follow.
fn leads_by_body(url: &CrawlUrl, outcome: &FetchOutcome) -> bool {
    outcome.state.is_answer()
        && matches!(outcome.code, Some(300..=303 | 305..=399))
        && location(url, outcome).is_none()
}

/// Where a redirect leads. A target that is no URL leads nowhere; the header is in
/// the archive.
fn location(url: &CrawlUrl, outcome: &FetchOutcome) -> Option<CrawlUrl> {
    let is_redirect = matches!(outcome.code, Some(301 | 302 | 303 | 307 | 308));
    let target = outcome.headers.get_bytes("location")?;
    let target = location_text(target);
    (is_redirect && !target.trim().is_empty())
        .then(|| url.join(target.trim()).ok())
        .flatten()
}

/// Adds where the header of an answer leads: `Link`, `Refresh` and
/// `Content-Location`.
fn add_header_links(document: &mut Document, url: &CrawlUrl, outcome: &FetchOutcome) {
    let mut found = Vec::new();
    for field in outcome.headers.get_all("link") {
        for link in link_header(&field) {
            let Ok(target) = url.join(link.target) else {
                continue;
            };
            if link.is_canonical && document.canonical.is_none() {
                document.canonical = Some(target.clone());
            }
            found.push((target, link.kind, link.nofollow));
        }
    }
    let refresh = outcome.header("refresh");
    let refresh = refresh.as_deref().and_then(refresh_header);
    let location = outcome.header("content-location");
    for target in refresh.into_iter().chain(location.as_deref()) {
        found.extend(
            url.join(target.trim())
                .map(|url| (url, LinkKind::Other, false)),
        );
    }
    if found.is_empty() {
        return;
    }
    let mut known: HashSet<u64> = document.links.iter().map(|it| it.url.hash64().0).collect();
    for (url, kind, nofollow) in found.into_iter().take(HEADER_LINKS_MAX) {
        if known.insert(url.hash64().0) {
            document.links.push(Link {
                url,
                kind,
                nofollow,
                is_advert: false,
                signal: None,
            });
        }
    }
}

/// What the header says about the content.
#[derive(Debug)]
pub(crate) struct Declared {
    /// Media type as sent, without parameters.
    pub(crate) mime: Option<String>,
    /// The type in lower case, where it looks like one.
    kind: Option<String>,
    /// The charset parameter.
    pub(crate) charset: Option<String>,
}

impl Declared {
    pub(crate) fn of(outcome: &FetchOutcome) -> Self {
        let (mime, charset) = split_content_type(outcome.header("content-type").as_deref());
        let kind = mime.as_ref().map(|mime| mime.to_ascii_lowercase());
        Self {
            kind: kind.filter(|mime| mime.contains('/')),
            mime,
            charset,
        }
    }

    /// What a reader is shown.
    pub(crate) fn input<'a>(
        &'a self,
        url: &'a CrawlUrl,
        outcome: &'a FetchOutcome,
    ) -> PageInput<'a> {
        PageInput {
            url,
            mime: self.kind.as_deref(),
            charset_label: self.charset.as_deref(),
            body: &outcome.body,
        }
    }
}

fn answer(subject: Subject<'_>, outcome: &FetchOutcome, mime: Option<String>) -> Answer {
    let Subject { url, ended, .. } = subject;
    let text = |name: &str| outcome.header(name).map(Cow::into_owned);
    Answer {
        state: outcome.state,
        code: outcome.code,
        ip: outcome.ip,
        phases: outcome.phases,
        certificate: outcome.certificate,
        error: outcome.error.clone(),
        mime,
        wire_bytes: outcome.wire_bytes(),
        body_bytes: outcome.body.len() as u64,
        // The limit on the decoded body cuts it, too.
        truncated: (outcome.truncated)
            .or_else(|| outcome.body.truncated.then_some(Truncation::Length)),
        validity: None,
        location: location(url, outcome),
        retry_after: text("retry-after").and_then(|value| retry_after(&value, ended)),
        etag: text("etag"),
        last_modified: text("last-modified"),
        cookies: if subject.is_robots {
            Vec::new()
        } else {
            let lines = outcome.headers.get_all("set-cookie");
            let lines = lines.take(COOKIE_LINES_MAX);
            lines.map(Cow::into_owned).collect()
        },
        challenges: if outcome.code == Some(401) {
            let fields = outcome.headers.get_all("www-authenticate");
            let fields = fields.take(CHALLENGES_MAX);
            fields.map(Cow::into_owned).collect()
        } else {
            Vec::new()
        },
        missing: None,
        robots: subject.is_robots.then(|| {
            let code = outcome.code.unwrap_or(0);
            Box::new(RobotsPolicy::from_answer(code, &outcome.body.bytes))
        }),
    }
}

fn store(subject: Subject<'_>, outcome: &FetchOutcome, gzip: GzipLevel) -> Storable {
    let payload = warc::payload_digest(&outcome.head, &outcome.wire_body);
    let content = if outcome.payload.as_ptr() == outcome.wire_body.as_ptr()
        && outcome.payload.len() == outcome.wire_body.len()
    {
        payload
    } else {
        Digest(Sha1::digest(&outcome.payload).into())
    };
    let exchange = Exchange {
        url: subject.url,
        time: subject.started,
        serial: subject.serial,
        ip: outcome.ip,
        protocol: outcome.protocol,
        request: &outcome.request,
        head: &outcome.head,
        wire_body: &outcome.wire_body,
        truncated: outcome.truncated,
        payload_digest: payload,
    };
    Storable {
        content,
        payload,
        content_bytes: outcome.payload.len() as u64,
        encoded: warc::encode_exchange(&exchange, gzip),
        protocol: outcome.protocol,
        request: outcome.request.clone(),
        // A copy: the header must not keep the whole answer in memory.
        head: Bytes::copy_from_slice(&outcome.head),
    }
}

/// Media type as sent, without parameters, and the charset parameter. Its case
/// is kept: the index is to read as other tools would write it.
pub(crate) fn split_content_type(value: Option<&str>) -> (Option<String>, Option<String>) {
    let Some(value) = value else {
        return (None, None);
    };
    let mime = value.trim_start().split([';', ',', ' ', '\t']).next();
    let charset = charset_parameter(value).map(str::to_owned);
    (mime.map(str::to_owned), charset)
}

/// A redirect's target as text. Servers write names of files as they have them,
/// in UTF-8 or not: bytes that are none are percent-encoded as they stand,
/// which is the spelling under which the server knows them.
fn location_text(target: &[u8]) -> Cow<'_, str> {
    match str::from_utf8(target) {
        Ok(text) => Cow::Borrowed(text),
        Err(_) => target
            .iter()
            .fold(String::new(), |mut text, &byte| {
                if byte.is_ascii() {
                    text.push(char::from(byte));
                } else {
                    let _ = write!(text, "%{byte:02X}"); // A String takes everything.
                }
                text
            })
            .into(),
    }
}

/// Retry-After as seconds or as a date (RFC 9110 §10.2.3).
fn retry_after(value: &str, now: Timestamp) -> Option<Duration> {
    let value = value.trim();
    if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) {
        // More seconds than fit are still a wish to be left alone.
        return Some(Duration::from_secs(value.parse().unwrap_or(u64::MAX)));
    }
    Some(Timestamp::parse_http_date(value)?.since(now))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn content_types_are_taken_apart() {
        let split = |text| split_content_type(Some(text));
        assert_eq!(
            split("Text/HTML; charset=\"EUC-KR\""),
            (Some("Text/HTML".into()), Some("EUC-KR".into()))
        );
        assert_eq!(
            split("text/plain;x=y ; Charset = utf-8"),
            (Some("text/plain".into()), Some("utf-8".into()))
        );
        assert_eq!(
            split("text/html;charset=utf-8, text/html"),
            (Some("text/html".into()), Some("utf-8".into()))
        );
        assert_eq!(split("text/html, x"), (Some("text/html".into()), None));
        assert_eq!(split("nonsense"), (Some("nonsense".into()), None));
        assert_eq!(split_content_type(None), (None, None));
    }

    #[test]
    fn retry_after_is_seconds_or_a_date() {
        let now = Timestamp::parse_rfc3339("2026-11-15T09:42:00Z").unwrap();
        assert_eq!(retry_after("120", now), Some(Duration::from_mins(2)));
        assert_eq!(
            retry_after("Sun, 15 Nov 2026 09:43:00 GMT", now),
            Some(Duration::from_mins(1))
        );
        assert_eq!(
            retry_after("Sun, 15 Nov 2020 09:43:00 GMT", now),
            Some(Duration::ZERO)
        );
        assert_eq!(
            retry_after(&"9".repeat(30), now),
            Some(Duration::from_secs(u64::MAX))
        );
        for bad in ["soon", "", "-5", "+5", "1e9"] {
            assert_eq!(retry_after(bad, now), None, "{bad:?}");
        }
    }

    #[test]
    fn a_target_in_another_encoding_keeps_its_bytes() {
        assert_eq!(location_text(b"/\xb0\xa1?a b"), "/%B0%A1?a b");
        assert_eq!(location_text("/가".as_bytes()), "/가");
    }
}
