//! Fetch: carry a lease out on the network.
//!
//! A panic in the network code ends one visit, not the crawl: the lease is kept
//! outside of what may panic and comes back with a failed outcome.

use std::any::Any;
use std::future::poll_fn;
use std::net::IpAddr;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;

use bytes::Bytes;
use geomi_engine::{EngineError, Extras, LookedUp, SitePolicies};
use geomi_fetch::{BodyFilter, FetchConfig, FetchOutcome, FetchRequest, Fetcher, Resolution};
use geomi_frontier::{Lease, Work};
use geomi_model::{NetworkState, Timestamp};
use geomi_scope::{Scope, ScopeConfig};
use geomi_url::CrawlUrl;

use crate::{Clock, CrawlConfig, CrawlError};

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
    let connections_per_address_max = SitePolicies::new(&config.engine)?.address_limit();
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
    extras: Extras,
    body_filter: Option<BodyFilter>,
) -> Carried {
    let request = match lease.work() {
        Work::Resolve { host, port, .. } => {
            let resolution = caught(Box::pin(fetcher.resolve(host, *port))).await;
            let resolution = resolution.unwrap_or_else(|error| Resolution::Failed { error });
            return Carried::Resolved(Box::new(lease), resolution);
        }
        Work::Robots(errand, addr) => robots_request(errand.url.clone(), *addr),
        Work::Page(entry, addr) => {
            let addr = addr.expect("a page without an address is not fetched");
            page_request(entry.url.clone(), addr, extras, body_filter)
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
fn page_request(
    url: CrawlUrl,
    addr: IpAddr,
    extras: Extras,
    body_filter: Option<BodyFilter>,
) -> FetchRequest {
    let mut request = FetchRequest::new(url, addr);
    if let Some(validators) = extras.validators {
        request.if_none_match = validators.etag;
        request.if_modified_since = validators.last_modified;
    }
    request.cookie = extras.cookie;
    request.authorization = extras.authorization;
    request.body_filter = body_filter;
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
    let addr = request.addr;
    let outcome = caught(Box::pin(fetcher.fetch(request))).await;
    let outcome = outcome.unwrap_or_else(|error| FetchOutcome {
        state: NetworkState::HeaderError,
        ip: Some(addr),
        error: Some(error),
        ..FetchOutcome::default()
    });
    (started, outcome, clock.now())
}

/// Awaits a future; a panic in it becomes an error text. It is boxed so that it is not
/// stored twice: as an argument and as what is awaited.
async fn caught<T>(mut future: Pin<Box<impl Future<Output = T>>>) -> Result<T, String> {
    poll_fn(|context| {
        // After a panic the future is dropped and never polled again.
        let poll = AssertUnwindSafe(|| future.as_mut().poll(context));
        match catch_unwind(poll) {
            Ok(poll) => poll.map(Ok),
            Err(panic) => {
                let message = panic_message(&*panic);
                Poll::Ready(Err(format!(
                    "bug in geomi: the request panicked: {message}"
                )))
            }
        }
    })
    .await
}

/// The message of a panic, shortened: it may quote what a server sent.
pub(crate) fn panic_message(panic: &(dyn Any + Send)) -> String {
    const CHARS_MAX: usize = 300;
    let text = panic.downcast_ref::<&str>().copied();
    let text = text.or_else(|| panic.downcast_ref::<String>().map(String::as_str));
    let text = text.unwrap_or("no message");
    text.chars().take(CHARS_MAX).collect()
}

/// The types a scope wants, and those of sitemaps and feeds.
pub(crate) fn body_filter(config: &ScopeConfig) -> Result<Option<BodyFilter>, CrawlError> {
    const SOURCES: [&str; 6] = [
        "application/xml",
        "text/xml",
        "application/rss+xml",
        "application/atom+xml",
        "application/rdf+xml",
        "application/feed+json",
    ];
    if config.mimes_wanted.is_empty() {
        return Ok(None);
    }
    let scope = Scope::new(ScopeConfig {
        mimes_wanted: config.mimes_wanted.clone(),
        ..ScopeConfig::default()
    });
    let scope = scope.map_err(EngineError::Scope)?;
    let wants = move |mime: &str| SOURCES.contains(&mime) || scope.wanted_mime(mime);
    Ok(Some(BodyFilter::new(wants)))
}

/// What a look-up means to an engine.
pub(crate) fn looked_up(resolution: Resolution) -> LookedUp {
    match resolution {
        Resolution::Addresses {
            addrs,
            canonical,
            expires_in,
        } => LookedUp::Addresses {
            is_public: geomi_fetch::is_public(addrs[0]),
            addrs,
            canonical: canonical.map(|name| name.to_string()),
            expires_in,
        },
        Resolution::Failed { error } => LookedUp::Failed(error),
        Resolution::Refused { addr, reason } => LookedUp::Refused(refused_address(addr, reason)),
    }
}

/// Why an address is not asked, and what would open it.
pub(crate) fn refused_address(addr: IpAddr, reason: &str) -> String {
    let remedy = if geomi_fetch::is_public(addr) {
        "--contact"
    } else {
        "--allow-private"
    };
    format!("{addr} is {reason}; {remedy} opens it")
}

/// A request head as the archive keeps it: without what proves who we are.
fn without_secret(request: &Bytes) -> Bytes {
    let Ok(text) = std::str::from_utf8(request) else {
        return request.clone();
    };
    let Some((before, rest)) = text.split_once("\r\nAuthorization: ") else {
        return request.clone();
    };
    let after = rest.split_once("\r\n").map_or("", |(_, after)| after);
    Bytes::from(format!("{before}\r\nAuthorization: (removed)\r\n{after}"))
}

#[cfg(test)]
mod tests {
    use std::io::{Read as _, Write as _};

    use geomi_fetch::FetchConfig;
    use geomi_frontier::{Action, Addresses, Config, Entry, Frontier, FrontierId, SiteState};
    use geomi_model::LinkKind;

    use super::*;
    use crate::clock::SystemClock;

    /// The lease of the look-up that comes before the first page of a site.
    fn first_lease(url: &str) -> Lease {
        let now = Timestamp::from_secs(1);
        let url = CrawlUrl::parse(url).unwrap();
        let mut frontier = Frontier::new(FrontierId::default(), Config::default());
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
        let Action::Lease(lease) = frontier.poll(now, &mut Addresses::new()) else {
            panic!("there is work")
        };
        lease
    }

    /// A task is moved several times before it runs, one for every page.
    #[test]
    fn the_future_of_a_request_stays_small() {
        let future = carry_out(
            Fetcher::new(FetchConfig::default()).unwrap(),
            Arc::new(SystemClock::default()),
            first_lease("http://127.0.0.1/"),
            Extras::default(),
            None,
        );
        let size = size_of_val(&future);
        assert!(size <= 5 << 10, "{size} bytes");
    }

    /// The filter is asked in the middle of a request: a panic in it stands for any
    /// panic of the network code.
    #[test]
    fn a_panic_in_a_request_is_an_outcome() {
        let server = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let addr = server.local_addr().unwrap();
        let answering = std::thread::spawn(move || {
            let (mut stream, _) = server.accept().unwrap();
            let mut request = [0; 4096];
            let _some = stream.read(&mut request).unwrap();
            let answer =
                b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 1\r\n\r\nx";
            stream.write_all(answer).unwrap();
        });
        let mut config = FetchConfig::default();
        config.address_policy.allow_all = true;
        let fetcher = Fetcher::new(config).unwrap();
        let url = CrawlUrl::parse(&format!("http://{addr}/")).unwrap();
        let mut request = FetchRequest::new(url, addr.ip());
        request.body_filter = Some(BodyFilter::new(|_| panic!("an unknown type")));
        let runtime = tokio::runtime::Runtime::new().unwrap();
        let clock = SystemClock::default();
        let (_, outcome, _) = runtime.block_on(ask(&fetcher, &clock, request));
        answering.join().unwrap();
        assert_eq!(outcome.state, NetworkState::HeaderError);
        let error = outcome.error.expect("it says what happened");
        assert!(error.contains("an unknown type"), "{error}");
    }

    #[test]
    fn the_archive_has_no_secret() {
        let head = Bytes::from_static(
            b"GET / HTTP/1.1\r\nHost: a\r\nAuthorization: Basic x\r\nX: y\r\n\r\n",
        );
        assert_eq!(
            without_secret(&head),
            "GET / HTTP/1.1\r\nHost: a\r\nAuthorization: (removed)\r\nX: y\r\n\r\n"
        );
    }
}
