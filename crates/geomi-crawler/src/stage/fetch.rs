//! Fetch: carry a lease out on the network.

use std::net::IpAddr;
use std::sync::Arc;

use geomi_fetch::{BodyFilter, FetchConfig, FetchOutcome, FetchRequest, Fetcher, Resolution};
use geomi_frontier::{Lease, Work};
use geomi_model::Timestamp;
use geomi_url::CrawlUrl;

use crate::credentials::without_secret;
use crate::policies::SitePolicies;
use crate::{Clock, CrawlConfig, CrawlError};

/// What a request carries beside its URL.
#[derive(Debug, Default)]
pub(crate) struct Enclosed {
    pub(crate) validators: Option<Validators>,
    pub(crate) cookie: Option<String>,
    pub(crate) authorization: Option<String>,
    /// Types whose bodies are not taken.
    pub(crate) body_filter: Option<BodyFilter>,
}

/// What a server knows the stored answer by.
#[derive(Debug)]
pub(crate) struct Validators {
    pub(crate) etag: Option<String>,
    pub(crate) last_modified: Option<String>,
}

/// A request and what came of it.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub(crate) lease: Lease,
    pub(crate) started: Timestamp,
    pub(crate) ended: Timestamp,
    /// Whether the page was wanted only if it had changed.
    pub(crate) is_conditional: bool,
    pub(crate) outcome: FetchOutcome,
}

/// What a task on the network brings back.
#[derive(Debug)]
pub(crate) enum Carried {
    Resolved(Box<Lease>, Resolution),
    Fetched(Box<Fetched>),
}

/// The fetcher of a crawl: at most as many connections to one address as its
/// politeness allows.
pub(crate) fn fetcher(config: &CrawlConfig) -> Result<Fetcher, CrawlError> {
    let connections_per_address_max = SitePolicies::new(config)?.address_limit();
    Ok(Fetcher::new(FetchConfig {
        connections_per_address_max,
        ..config.fetch.clone()
    })?)
}

/// Carries out a lease that needs the network.
pub(crate) async fn carry_out(
    fetcher: Fetcher,
    clock: Arc<dyn Clock>,
    lease: Lease,
    enclosed: Enclosed,
) -> Carried {
    let request = match lease.work() {
        Work::Resolve { host, port, .. } => {
            // Boxed: looking up is rare, and its future large.
            let resolution = Box::pin(fetcher.resolve(host, *port)).await;
            return Carried::Resolved(Box::new(lease), resolution);
        }
        Work::Robots(errand, addr) => robots_request(errand.url.clone(), *addr),
        Work::Page(entry, addr) => {
            let addr = addr.expect("a page without an address is not fetched");
            page_request(entry.url.clone(), addr, enclosed)
        }
    };
    let has_secret = request.authorization.is_some();
    let is_conditional = request.if_none_match.is_some() || request.if_modified_since.is_some();
    let (started, mut outcome, ended) = ask(&fetcher, &*clock, request).await;
    if has_secret {
        outcome.request = without_secret(&outcome.request);
    }
    Carried::Fetched(Box::new(Fetched {
        lease,
        started,
        ended,
        is_conditional,
        outcome,
    }))
}

/// The request for a page.
fn page_request(url: CrawlUrl, addr: IpAddr, enclosed: Enclosed) -> FetchRequest {
    let mut request = FetchRequest::new(url, addr);
    if let Some(validators) = enclosed.validators {
        request.if_none_match = validators.etag;
        request.if_modified_since = validators.last_modified;
    }
    request.cookie = enclosed.cookie;
    request.authorization = enclosed.authorization;
    request.body_filter = enclosed.body_filter;
    request
}

/// The request for a robots.txt, of which no more is read than counts.
pub(crate) fn robots_request(url: CrawlUrl, addr: IpAddr) -> FetchRequest {
    FetchRequest {
        body_bytes_max: Some(geomi_robots::ROBOTS_BYTES_MAX),
        ..FetchRequest::new(url, addr)
    }
}

/// Makes one request: when it began, what came of it, when it ended.
pub(crate) async fn ask(
    fetcher: &Fetcher,
    clock: &dyn Clock,
    mut request: FetchRequest,
) -> (Timestamp, FetchOutcome, Timestamp) {
    let started = clock.now();
    if let Some(signer) = &fetcher.config().signer {
        request.signature = Some(Box::new(signer.sign(&request.url, started)));
    }
    let outcome = fetcher.fetch(request).await;
    (started, outcome, clock.now())
}

#[cfg(test)]
mod tests {
    use geomi_fetch::FetchConfig;
    use geomi_frontier::{Action, Config, Entry, Frontier, SiteState};
    use geomi_model::LinkKind;

    use super::*;
    use crate::clock::SystemClock;

    /// A task is moved several times before it runs, one for every page.
    #[test]
    fn the_future_of_a_request_stays_small() {
        let now = Timestamp::from_secs(1);
        let url = CrawlUrl::parse("http://127.0.0.1/").unwrap();
        let mut frontier = Frontier::new(Config::default());
        frontier.open_site(SiteState::new(url.site()), now, now);
        let entry = Entry {
            url,
            seed: 0,
            via: None,
            kind: LinkKind::Anchor,
            depth: 0,
            priority: 1,
            attempts: 0,
            redirects: 0,
            is_seed: true,
            is_revisit: false,
            not_before: None,
        };
        frontier.admit(entry, now);
        let Action::Lease(lease) = frontier.poll(now) else {
            panic!("there is work")
        };
        let fetcher = Fetcher::new(FetchConfig::default()).unwrap();
        let future = carry_out(
            fetcher,
            Arc::new(SystemClock::default()),
            lease,
            Enclosed::default(),
        );
        let size = size_of_val(&future);
        assert!(size <= 5 << 10, "{size} bytes");
    }
}
