//! A visit for tests to start from.

use geomi_model::{NetworkState, Phases, Timestamp, Visit};
use geomi_url::CrawlUrl;

/// A 200 with nothing else to tell.
pub(crate) fn visit(url: &str) -> Visit {
    Visit {
        number: 1,
        time: Timestamp::EPOCH,
        url: CrawlUrl::parse(url).unwrap(),
        seed: None,
        topic: None,
        via: None,
        depth: 0,
        priority: 1,
        attempt: 1,
        is_robots: false,
        state: NetworkState::Ok,
        code: Some(200),
        error: None,
        ip: None,
        mime: None,
        charset: None,
        charset_source: None,
        wire_bytes: 0,
        body_bytes: 0,
        text_bytes: None,
        digest: None,
        fingerprint: None,
        changed: None,
        location: None,
        title: None,
        link_type: None,
        links: 0,
        links_admitted: 0,
        phases: Phases::default(),
        capture: None,
    }
}
