//! A visit for tests to start from.

use geomi_model::{NetworkState, Visit};
use geomi_url::CrawlUrl;

/// A 200 with nothing else to tell.
pub(crate) fn visit(url: &str) -> Visit {
    Visit {
        number: 1,
        priority: 1,
        attempt: 1,
        state: NetworkState::Ok,
        code: Some(200),
        ..Visit::unknown(CrawlUrl::parse(url).unwrap())
    }
}
