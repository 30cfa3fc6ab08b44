//! The fetcher: resolve, connect or reuse, exchange, decode.

use std::borrow::Cow;
use std::fmt;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use bytes::Bytes;
use geomi_model::{NetworkState, Phases, Truncation};
use geomi_url::CrawlUrl;
use tokio::time::{Instant, timeout_at};

use crate::certificate;
use crate::decode::{self, Coding, Decoded};
use crate::exchange::{Answer, Limits};
use crate::head::Head;
use crate::http2::Http2;
use crate::link::{Http1Only, Link};
use crate::pool::{Pool, PoolLimits};
use crate::proxy::host_number;
use crate::resolve::Resolver;
use crate::stream::{Stream, connect_tcp};
use crate::tls::Tls;
use crate::{
    Body, FetchConfig, FetchError, FetchOutcome, FetchRequest, LookUp, Proxy, ProxyRotation,
    Refusal, Resolution,
};

/// Longer payloads are decoded off the thread that serves the sockets.
const DECODE_HERE_BYTES_MAX: usize = 256 << 10;

/// Asks for names and pages. Cloning it is cheap, and the clones share names,
/// connections and limits.
#[derive(Clone)]
pub struct Fetcher {
    shared: Arc<Shared>,
}

struct Shared {
    config: Arc<FetchConfig>,
    resolver: Arc<Resolver>,
    pool: Pool<Link>,
    tls: Tls,
    http1_only: Http1Only,
    /// Requests given to a proxy so far.
    proxied: AtomicUsize,
}

/// How a request travels.
struct Route<'a> {
    proxy: Option<&'a Proxy>,
    /// The same, where it is to be asked in absolute form.
    absolute: Option<&'a Proxy>,
    /// Under which its connections rest: the origin, and the proxy if any.
    shelf: Cow<'a, str>,
}

impl Fetcher {
    /// Checks the configuration and makes a fetcher. Nothing is sent yet.
    pub fn new(config: FetchConfig) -> Result<Self, FetchError> {
        config.validate()?;
        let tls = Tls::new(&config)?;
        let config = Arc::new(config);
        Ok(Self {
            shared: Arc::new(Shared {
                resolver: Arc::new(Resolver::new(Arc::clone(&config))?),
                pool: Pool::new(PoolLimits {
                    connections: config.idle_connections_max,
                    per_origin: config.idle_connections_per_origin_max,
                    per_address: config.connections_per_address_max,
                    age: config.idle_age_max,
                }),
                tls,
                http1_only: Http1Only::default(),
                proxied: AtomicUsize::new(0),
                config,
            }),
        })
    }

    /// The configuration it was made with.
    pub fn config(&self) -> &FetchConfig {
        &self.shared.config
    }

    /// The addresses at which a host may be asked for this port. IPv6 literals
    /// come with their brackets or without.
    pub async fn resolve(&self, host: &str, port: u16) -> Resolution {
        self.shared.resolver.resolve(host, port).await
    }

    /// What [`Fetcher::resolve`] does, with every address it considered.
    pub async fn look_up(&self, host: &str, port: u16) -> LookUp {
        self.shared.resolver.explain(host, port).await
    }

    /// Asks for one URL at one address.
    pub async fn fetch(&self, request: FetchRequest) -> FetchOutcome {
        let started = Instant::now();
        let mut outcome = FetchOutcome {
            ip: Some(request.addr),
            ..FetchOutcome::default()
        };
        let shared = &self.shared;
        if let Err(refusal) = shared.permit(&request.url, request.addr) {
            outcome.error = Some(refusal.to_string());
            return outcome;
        }
        let _in_use = shared.pool.enter(request.addr);
        let route = shared.route(&request.url);
        let attempt = shared.attempt(&request, &route, started, &mut outcome);
        let Some((answer, link)) = attempt.await else {
            outcome.phases.total = started.elapsed();
            return outcome;
        };
        put_phases(&mut outcome.phases, &answer, started);
        if request.describe_tls {
            outcome.tls = link.describe_tls().map(Box::new);
        }
        outcome.protocol = link.protocol();
        if answer.keeps_alive {
            let shelf = &route.shelf;
            shared.pool.put(shelf, request.addr, link, answer.ended_at);
        } else {
            drop(link);
        }
        if answer.wants_http1 {
            shared.http1_only.insert(request.url.origin());
        }
        if let Some(error) = route.refusal(&answer) {
            outcome.state = NetworkState::ConnectError;
            outcome.error = Some(error);
            return outcome;
        }
        shared.settle(&request, answer, &mut outcome).await;
        outcome
    }

    /// How many connections rest.
    pub fn idle_connections(&self) -> usize {
        self.shared.pool.len()
    }

    /// Closes the connections that rest.
    pub fn close_idle(&self) {
        self.shared.pool.clear();
    }
}

impl fmt::Debug for Fetcher {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Fetcher")
            .field("idle_connections", &self.idle_connections())
            .finish_non_exhaustive()
    }
}

impl Route<'_> {
    /// Why the proxy did not pass the request on, if that is what it says.
    fn refusal(&self, answer: &Answer) -> Option<String> {
        let code = answer.head.as_ref().map(|head| head.code);
        let proxy = self.absolute.filter(|_| code == Some(407))?;
        Some(format!("proxy {proxy}: it wants other credentials (407)"))
    }
}

impl Shared {
    fn route<'a>(&'a self, url: &'a CrawlUrl) -> Route<'a> {
        let proxies = &self.config.proxies;
        let turn = match self.config.proxy_rotation {
            _ if proxies.is_empty() => 0,
            ProxyRotation::Site => host_number(url.host()) as usize % proxies.len(),
            ProxyRotation::Request => self.proxied.fetch_add(1, Ordering::Relaxed) % proxies.len(),
        };
        let proxy = proxies.get(turn);
        Route {
            proxy,
            absolute: proxy.filter(|proxy| proxy.takes_absolute(url)),
            shelf: match proxy {
                Some(proxy) => Cow::Owned(format!("{} by {proxy}", url.origin())),
                None => Cow::Borrowed(url.origin()),
            },
        }
    }

    /// Checks the address again: the request may not come from `resolve`.
    fn permit(&self, url: &CrawlUrl, addr: IpAddr) -> Result<(), Refusal> {
        if self.config.override_for(url.host()) == Some(addr) {
            return Ok(());
        }
        let policy = &self.config.address_policy;
        policy.check(url.host(), url.port(), addr)
    }

    /// An exchange over an idle connection, or else over a new one. A connection
    /// that dies is the server's answer, also where it had been idle: the server
    /// may have read the request, and a second one at once would be a request
    /// the caller's politeness knows nothing of. One that the server has closed
    /// in the meantime is noticed before it is used.
    async fn attempt(
        &self,
        request: &FetchRequest,
        route: &Route<'_>,
        started: Instant,
        outcome: &mut FetchOutcome,
    ) -> Option<(Answer, Link)> {
        let config = &self.config;
        let limits = Limits {
            silence: config.silence_timeout,
            deadline: started + config.total_timeout,
            body_bytes_max: request.body_bytes_max.unwrap_or(config.body_bytes_max),
            header_bytes_max: config.header_bytes_max,
        };
        let sent = request.to_bytes(config);
        let url = &request.url;
        let written = route
            .absolute
            .map_or_else(|| sent.clone(), |proxy| proxy.absolute(url, &sent));
        let idle = self.take_idle(&route.shelf, request.addr, started).await;
        outcome.reused_connection = idle.is_some();
        let mut link = if let Some(link) = idle {
            link
        } else {
            self.pool.make_room(request.addr);
            // Boxed, because a future is as large as its largest branch:
            // connecting is rare and its handshakes are large.
            let connecting = Box::pin(self.connect(request, route, limits.deadline, outcome));
            match connecting.await {
                Ok(link) => link,
                Err((state, error)) => {
                    outcome.state = state;
                    outcome.error = Some(error);
                    return None;
                }
            }
        };
        let answer = link
            .exchange(&written, limits, request.body_filter.as_ref())
            .await;
        outcome.request = sent;
        Some((answer, link))
    }

    async fn take_idle(&self, shelf: &str, addr: IpAddr, now: Instant) -> Option<Link> {
        while let Some(mut link) = self.pool.take(shelf, addr, now) {
            if link.is_idle().await {
                return Some(link);
            }
        }
        None
    }

    async fn connect(
        &self,
        request: &FetchRequest,
        route: &Route<'_>,
        deadline: Instant,
        outcome: &mut FetchOutcome,
    ) -> Result<Link, (NetworkState, String)> {
        let url = &request.url;
        let start = Instant::now();
        let in_time = (start + self.config.connect_timeout).min(deadline);
        let addr = SocketAddr::new(request.addr, url.port());
        let tcp = match route.proxy {
            None => within(in_time, "no connection in time", connect_tcp(addr)).await?,
            Some(proxy) => {
                let too_late = format!("proxy {proxy}: no connection in time");
                within(in_time, &too_late, proxy.connect(url, addr)).await?
            }
        };
        let connected = Instant::now();
        outcome.phases.connect = Some(connected - start);
        if !url.is_https() {
            return Ok(Link::Http1(Stream::Plain(tcp)));
        }
        let in_time = (connected + self.config.connect_timeout).min(deadline);
        let offers_http2 = self.config.http2 && !self.http1_only.contains(url.origin());
        let handshake = self.tls.handshake(url.host(), tcp, offers_http2);
        let tls = within(in_time, "no TLS handshake in time", handshake).await?;
        outcome.phases.tls = Some(connected.elapsed());
        outcome.certificate = certificate::hash(tls.get_ref().1);
        if tls.get_ref().1.alpn_protocol() != Some(b"h2") {
            return Ok(Link::Http1(Stream::Tls(Box::new(tls))));
        }
        let greeting = Http2::start(tls, self.config.header_bytes_max);
        let http2 = within(in_time, "no HTTP/2 in time", greeting).await?;
        Ok(Link::Http2(Box::new(http2)))
    }

    /// Turns an answer into the outcome's words and takes its codings off.
    async fn settle(&self, request: &FetchRequest, answer: Answer, outcome: &mut FetchOutcome) {
        let bytes_max = request.body_bytes_max.unwrap_or(self.config.body_bytes_max);
        let chain = match &answer.head {
            Some(head) if !answer.is_left => coding_chain(head, &answer.head_bytes),
            _ => Ok(Vec::new()),
        };
        let (chain, chain_error) = match chain {
            Ok(chain) => (chain, None),
            // As browsers do: labels nobody knows are most often simply wrong.
            Err(error) => (Vec::new(), Some(error)),
        };
        let not_taken = "its type is not wanted: the body was not taken";
        let left = answer.is_left.then(|| not_taken.to_owned());
        let decoded = take_off(chain, answer.payload.clone(), bytes_max).await;
        outcome.body = Body {
            bytes: decoded.bytes,
            truncated: decoded.truncated || answer.truncated == Some(Truncation::Length),
            is_broken: decoded.error.is_some() && answer.truncated.is_none(),
        };
        // Half a compressed body does not decode; that is no news.
        let decode_error = decoded.error.filter(|_| answer.truncated.is_none());
        outcome.error = answer.error.or(left).or(chain_error).or(decode_error);
        outcome.is_left = answer.is_left;
        outcome.code = answer.head.as_ref().map(|head| head.code);
        outcome.state = match outcome.code {
            Some(200) if answer.state == NetworkState::Code && !answer.is_left => NetworkState::Ok,
            Some(304) if answer.state == NetworkState::Code && request.is_conditional() => {
                NetworkState::Ok
            }
            _ => answer.state,
        };
        if let Some(head) = answer.head {
            outcome.headers = head.into_headers(answer.head_bytes.clone());
        }
        outcome.head = answer.head_bytes;
        outcome.wire_body = answer.wire_body;
        outcome.payload = answer.payload;
        outcome.truncated = answer.truncated;
    }
}

async fn within<T>(
    deadline: Instant,
    too_late: &str,
    connecting: impl Future<Output = io::Result<T>>,
) -> Result<T, (NetworkState, String)> {
    match timeout_at(deadline, connecting).await {
        Ok(Ok(connected)) => Ok(connected),
        // The system gives up by itself on hosts that never answer.
        Ok(Err(error)) if error.kind() == io::ErrorKind::TimedOut => {
            Err((NetworkState::ConnectTimeout, error.to_string()))
        }
        Ok(Err(error)) => Err((NetworkState::ConnectError, error.to_string())),
        Err(_) => Err((NetworkState::ConnectTimeout, too_late.to_owned())),
    }
}

/// Content codings, then transfer codings other than `chunked`: the order in
/// which the server applied them.
pub(crate) fn coding_chain(head: &Head, block: &[u8]) -> Result<Vec<Coding>, String> {
    let transfer = head.members(block, "transfer-encoding");
    let transfer = transfer.filter(|name| !name.eq_ignore_ascii_case(b"chunked"));
    decode::parse_chain(head.members(block, "content-encoding").chain(transfer))
}

async fn take_off(chain: Vec<Coding>, payload: Bytes, bytes_max: usize) -> Decoded {
    if chain.is_empty() {
        return Decoded {
            truncated: payload.len() > bytes_max,
            bytes: payload.slice(..payload.len().min(bytes_max)),
            error: None,
        };
    }
    // Of several codings the outer one may blow up to megabytes of inner ones.
    if payload.len() <= DECODE_HERE_BYTES_MAX && chain.len() == 1 {
        return decode::decode(&chain, &payload, bytes_max);
    }
    let decoding = tokio::task::spawn_blocking(move || decode::decode(&chain, &payload, bytes_max));
    decoding.await.unwrap_or_else(|error| Decoded {
        bytes: Bytes::new(),
        truncated: false,
        error: Some(format!("the decoder did not finish: {error}")),
    })
}

fn put_phases(phases: &mut Phases, answer: &Answer, started: Instant) {
    if let (Some(sent), Some(first)) = (answer.sent_at, answer.first_byte_at) {
        phases.first_byte = Some(first - sent);
        phases.download = Some(answer.ended_at - first);
    }
    phases.total = answer.ended_at - started;
}
