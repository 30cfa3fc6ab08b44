//! The web on loopback sockets.
//!
//! One listener an address, all at one port, and one task a connection, on
//! whatever runtime it is started on. HTTP/1.1 with keep-alive and pipelining
//! is written by hand: a page costs one read and one write. Only addresses in
//! 127.0.0.0/8 are ever bound, because only those can be made ([`crate::Naming`]).

mod clock;
mod connection;
mod faults;
mod request;
mod thread;

use std::collections::HashMap;
use std::io;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::ops::Deref;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use geomi_model::Timestamp;
use geomi_url::CrawlUrl;
use tokio::net::TcpListener;
use tokio::task::JoinSet;

use crate::{Answer, Ask, RequestLog, Web};
use clock::Clock;
pub use clock::WebTime;
pub use thread::ServerThread;

/// How a server is run.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The time pages are answered for.
    pub time: WebTime,
    /// How long a fault keeps silent, or drips, if the client does not leave.
    pub silence_max: Duration,
    /// How long an idle connection is kept.
    pub idle_max: Duration,
    /// Requests the log holds.
    pub log_max: usize,
}

impl Default for ServerOptions {
    fn default() -> Self {
        Self {
            time: WebTime::Wall,
            silence_max: Duration::from_secs(30),
            idle_max: Duration::from_mins(1),
            log_max: 2_000_000,
        }
    }
}

/// Why a server could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ServeError {
    /// An address could not be listened on; many sites need many open files.
    #[error("cannot listen on {address}: {source}")]
    Bind {
        /// The address and port.
        address: SocketAddrV4,
        /// The system's reason.
        source: io::Error,
    },
    /// No port was free on every address of the web.
    #[error("no port is free on all {addresses} addresses")]
    NoPort {
        /// How many addresses there are.
        addresses: usize,
    },
    /// The thread or its runtime could not be made.
    #[error("cannot start the server's thread: {0}")]
    Thread(#[source] io::Error),
}

/// A running server's web, log and clock; what [`Server`] and [`ServerThread`]
/// have in common.
#[derive(Clone)]
pub struct ServerHandle {
    shared: Arc<Shared>,
}

struct Shared {
    web: Arc<Web>,
    log: RequestLog,
    clock: Clock,
    options: ServerOptions,
    connections: AtomicU32,
    /// Requests for pages that answer differently after some.
    asked: Mutex<HashMap<(String, String), u32>>,
}

/// The web on sockets. Dropping it stops it.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap().block_on(async {
/// use geomi_testweb::{Server, ServerOptions, Web, WebSpec};
///
/// let web = Web::new(WebSpec::plain(3, 100));
/// let server = Server::start(web, ServerOptions::default()).await.unwrap();
/// assert_eq!(server.seeds()[2].as_str(), format!("http://127.0.1.3:{}/", server.port()));
/// assert!(server.log().is_empty());
/// server.stop().await;
/// # });
/// ```
pub struct Server {
    handle: ServerHandle,
    listeners: JoinSet<()>,
}

impl Server {
    /// Listens on every address of the web. Where its port is 0, a free one is
    /// chosen and the web moved there.
    pub async fn start(web: Web, options: ServerOptions) -> Result<Self, ServeError> {
        let addresses: Vec<Ipv4Addr> = web.addresses().collect();
        let (port, listeners) = listen(&addresses, web.spec().port).await?;
        let web = Arc::new(web.with_port(port));
        let handle = ServerHandle {
            shared: Arc::new(Shared {
                log: RequestLog::new(web.clone(), options.log_max),
                clock: Clock::start(options.time),
                web,
                options,
                connections: AtomicU32::new(0),
                asked: Mutex::default(),
            }),
        };
        let mut tasks = JoinSet::new();
        for listener in listeners {
            tasks.spawn(accept(listener, handle.shared.clone()));
        }
        Ok(Self {
            handle,
            listeners: tasks,
        })
    }

    /// Closes listeners and connections.
    pub async fn stop(mut self) {
        self.listeners.shutdown().await;
    }
}

impl Deref for Server {
    type Target = ServerHandle;
    fn deref(&self) -> &ServerHandle {
        &self.handle
    }
}

impl ServerHandle {
    /// The port all sites listen on.
    pub fn port(&self) -> u16 {
        self.shared.web.spec().port
    }

    /// The front pages of all sites.
    pub fn seeds(&self) -> Vec<CrawlUrl> {
        self.shared.web.seeds()
    }

    /// The web being served, at its port.
    pub fn web(&self) -> &Web {
        &self.shared.web
    }

    /// Every request so far.
    pub fn log(&self) -> &RequestLog {
        &self.shared.log
    }

    /// How many connections were opened so far.
    pub fn connections(&self) -> u32 {
        self.shared.connections.load(Ordering::Relaxed)
    }

    /// The time pages are answered for now.
    pub fn web_time(&self) -> Timestamp {
        self.shared.clock.web_now()
    }

    /// The time pages were answered for at a time of the log, if the web's time
    /// was not moved forward since.
    pub fn web_time_at(&self, logged: Timestamp) -> Timestamp {
        self.shared.clock.web_at(logged)
    }

    /// Moves the web's time forward; the log's times are not touched.
    pub fn advance(&self, by: Duration) {
        self.shared.clock.advance(by);
    }
}

impl Shared {
    fn answer(&self, ask: Ask<'_>) -> Answer {
        let asked_before = if self.web.answers_differently_later(ask.host, ask.target) {
            self.count_ask(ask.host, ask.target)
        } else {
            0
        };
        let ask = Ask {
            asked_before,
            ..ask
        };
        self.web.answer_to(&ask, self.clock.web_now())
    }

    fn count_ask(&self, host: &str, target: &str) -> u32 {
        let mut asked = self.asked.lock().unwrap_or_else(PoisonError::into_inner);
        let count = asked
            .entry((host.to_owned(), target.to_owned()))
            .or_default();
        *count += 1;
        *count - 1
    }
}

/// A port that is free on the first address may be taken on another one.
const PORT_TRIES: u32 = 20;

async fn listen(addresses: &[Ipv4Addr], port: u16) -> Result<(u16, Vec<TcpListener>), ServeError> {
    for _ in 0..PORT_TRIES {
        let mut chosen = port;
        let mut listeners = Vec::with_capacity(addresses.len());
        for address in addresses {
            let address = SocketAddrV4::new(*address, chosen);
            let bound = match TcpListener::bind(address).await {
                Ok(listener) => listener.local_addr().map(|at| (listener, at.port())),
                Err(error) => Err(error),
            };
            match bound {
                Ok((listener, at)) => {
                    chosen = at;
                    listeners.push(listener);
                }
                Err(error) if port == 0 && error.kind() == io::ErrorKind::AddrInUse => break,
                Err(source) => return Err(ServeError::Bind { address, source }),
            }
        }
        if listeners.len() == addresses.len() {
            return Ok((chosen, listeners));
        }
    }
    Err(ServeError::NoPort {
        addresses: addresses.len(),
    })
}

const ACCEPT_PAUSE: Duration = Duration::from_millis(10);

/// Accepts until the task is dropped, which drops its connections too.
async fn accept(listener: TcpListener, shared: Arc<Shared>) {
    let mut connections = JoinSet::new();
    loop {
        tokio::select! {
            accepted = listener.accept() => match accepted {
                Ok((stream, _)) => {
                    let number = shared.connections.fetch_add(1, Ordering::Relaxed);
                    connections.spawn(connection::serve(stream, number, shared.clone()));
                }
                // Out of files, most likely: someone must close before more can come.
                Err(_) => connection::pass(ACCEPT_PAUSE).await,
            },
            Some(_) = connections.join_next() => {}
        }
    }
}
