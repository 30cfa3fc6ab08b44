//! What requests and look-ups bring: the answers of the model web, as a worker hands
//! them to an engine.

use std::time::Duration;

use geomi_engine::{Answer, Arrival, Content, LookedUp};
use geomi_frontier::{Lease, Work};
use geomi_model::{
    Charset, CharsetSource, Digest, Document, DocumentKind, Fingerprint, Link, LinkKind,
    NetworkState, Phases, Protocol, Timestamp,
};
use geomi_robots::RobotsPolicy;
use geomi_testweb::PageId;
use geomi_url::CrawlUrl;

use super::trouble::Ends;
use super::web::{self, FaultyWeb};

/// How long an address is believed.
const ADDRESS_KEPT: Duration = Duration::from_hours(1);

/// A request or a look-up under way.
#[derive(Debug)]
pub(super) struct Flight {
    /// The partition whose engine asked.
    pub(super) partition: u16,
    /// By true time.
    pub(super) started: Timestamp,
    pub(super) lands: Timestamp,
    pub(super) ends: Ends,
    /// What the page holds, if the answer tells.
    pub(super) holds: Option<geomi_testweb::Content>,
    /// The URL asked for; `None` for a look-up.
    pub(super) url: Option<CrawlUrl>,
    pub(super) is_conditional: bool,
    pub(super) lease: Lease,
}

impl Flight {
    /// Whether a page is asked for.
    pub(super) fn is_page(&self) -> bool {
        matches!(self.lease.work(), Work::Page(..))
    }
}

/// The number by which a content of a site is known.
pub(super) fn content_hash(site: u32, content: geomi_testweb::Content) -> u64 {
    let parts = [site.into(), content.page.into(), content.version];
    let mut hash = 0xcbf2_9ce4_8422_2325_u64;
    for part in parts {
        for byte in part.to_le_bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
    }
    hash ^ (hash >> 29)
}

/// The digest of such a content.
pub(super) fn digest(hash: u64) -> Digest {
    let mut bytes = [0; 20];
    let mut word = hash;
    for chunk in bytes.chunks_mut(4) {
        word = (word ^ (word >> 31)).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        chunk.copy_from_slice(&word.to_be_bytes()[..4]);
    }
    Digest(bytes)
}

/// The entity tag of such a content.
pub(super) fn etag(hash: u64) -> String {
    format!("\"{hash:x}\"")
}

/// What a look-up brought.
pub(super) fn looked_up(web: &FaultyWeb, host: &str, now: Timestamp) -> LookedUp {
    let site = web.site_named(host);
    if !web.has_name(site, now) {
        return LookedUp::Failed("no such name".to_owned());
    }
    LookedUp::Addresses {
        addrs: vec![web.address(site)],
        is_public: false,
        canonical: None,
        expires_in: ADDRESS_KEPT,
    }
}

/// What a request brought. `ended` is by the clock of the worker, `now` is true time.
pub(super) fn arrival(
    web: &FaultyWeb,
    flight: Flight,
    ended: Timestamp,
    now: Timestamp,
) -> Arrival {
    let took = now.since(flight.started);
    let url = flight.url.expect("a look-up is no request");
    let site = web.site_of(&url);
    let is_robots = matches!(flight.lease.work(), Work::Robots(..));
    let mut answer = answer(web, &url, flight.ends, is_robots, now);
    let mut document = Document::default();
    let mut content = None;
    let mut stored = |hash: u64, bytes: u64| {
        content = Some(Content {
            digest: digest(hash),
            payload: digest(hash),
            bytes,
            protocol: Protocol::Http1,
        });
    };
    match flight.ends {
        Ends::Answered(web::Answer::Page(held, has_tag)) => {
            let hash = content_hash(site as u32, held);
            answer.etag = has_tag.then(|| etag(hash));
            document = page(web, &url, hash);
            stored(hash, answer.body_bytes);
        }
        Ends::Answered(web::Answer::NotModified) => stored(0, 0),
        Ends::Answered(_) | Ends::Throttled(_) => {
            stored(
                url.hash64().0 ^ u64::from(answer.code.unwrap_or_default()),
                answer.body_bytes,
            );
        }
        Ends::Silent | Ends::Unreachable => {}
    }
    answer.ip = Some(web.address(site));
    answer.phases = Phases {
        first_byte: answer.code.map(|_| took / 2),
        total: took.max(Duration::from_micros(1)),
        ..Phases::default()
    };
    Arrival {
        lease: flight.lease,
        url,
        started: ended - took,
        ended,
        is_conditional: flight.is_conditional,
        answer,
        document,
        content,
        original: None,
    }
}

fn answer(web: &FaultyWeb, url: &CrawlUrl, ends: Ends, is_robots: bool, now: Timestamp) -> Answer {
    let with = |state: NetworkState, code: u16| Answer {
        code: Some(code),
        error: None,
        mime: Some("text/html".to_owned()),
        wire_bytes: 1_200,
        body_bytes: 1_000,
        robots: is_robots.then(|| Box::new(RobotsPolicy::from_answer(code, b""))),
        ..Answer::none(state, String::new())
    };
    let moved = |to: Option<CrawlUrl>| Answer {
        location: to,
        ..with(NetworkState::Code, 302)
    };
    match ends {
        Ends::Silent => Answer::none(NetworkState::HeaderTimeout, "no header in time".to_owned()),
        Ends::Unreachable => Answer::none(NetworkState::ConnectError, "refused".to_owned()),
        Ends::Throttled(asks) => Answer {
            retry_after: asks,
            ..with(NetworkState::Code, 503)
        },
        Ends::Answered(web::Answer::Page(..)) => with(NetworkState::Ok, 200),
        Ends::Answered(web::Answer::NotModified) => Answer {
            body_bytes: 0,
            ..with(NetworkState::Ok, 304)
        },
        Ends::Answered(web::Answer::Gone) => with(NetworkState::Code, 404),
        Ends::Answered(web::Answer::Failing) => with(NetworkState::Code, 500),
        Ends::Answered(web::Answer::Moved(to)) => moved(to.map(|to: PageId| web.url(to).clone())),
        Ends::Answered(web::Answer::Robots) => {
            let site = web.site_of(url);
            if let Some(elsewhere) = web.robots_elsewhere(site) {
                return moved(Some(elsewhere));
            }
            let text = web.robots_txt(site, now);
            Answer {
                robots: Some(Box::new(RobotsPolicy::from_answer(200, text.as_bytes()))),
                ..with(NetworkState::Ok, 200)
            }
        }
    }
}

fn page(web: &FaultyWeb, url: &CrawlUrl, hash: u64) -> Document {
    let links = web.links(url).into_iter();
    let links = links.filter(|link| link != url).map(|url| Link {
        url,
        kind: LinkKind::Anchor,
        nofollow: false,
        is_advert: false,
        signal: None,
    });
    Document {
        kind: DocumentKind::Html,
        charset: Some(Charset {
            name: "UTF-8",
            source: CharsetSource::Header,
        }),
        links: links.collect(),
        text_bytes: 800,
        fingerprint: Some(Fingerprint(hash)),
        ..Document::default()
    }
}
