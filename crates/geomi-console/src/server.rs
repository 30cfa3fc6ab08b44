//! The listener, TLS, and the threads it all runs on.
//!
//! The console has a small runtime of its own, so that inside the process of a
//! crawl it competes with nothing but the machine. Every connection is
//! accepted and a bounded number is kept (`door`). A handshake, the header of
//! a request and (in the guard) its body have deadlines, and so has every write
//! (`progress`). A stop does not wait for those who watch.

pub(crate) mod door;
mod progress;

use std::future::poll_fn;
use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::pin::pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use geomi_store::read_small;
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::runtime::Runtime;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_rustls::TlsAcceptor;
use tower::ServiceExt as _;

use crate::ConsoleError;
use crate::app::{App, Options};
use crate::http::guard::{Local, Peer};
use crate::http::routes::router;
use door::{Connection, Door, Limits};
use progress::Progress;

/// Threads of the runtime.
const THREADS: usize = 2;
/// Threads that may wait for disks; each webhook may take one more.
const BLOCKING_THREADS_MAX: usize = 32;
/// How long a handshake or the header of a request may take, and how long a
/// kept connection may be idle.
const HEADER_TIME_MAX: Duration = Duration::from_secs(10);
/// The longest header of a request.
const HEADER_BYTES_MAX: usize = 32 << 10;
/// How long a client may take no byte of its answer.
const WRITE_TIME_MAX: Duration = Duration::from_mins(1);
/// Connections that are accepted and not looked at yet. No client has a say in
/// how long that takes.
const UNSEEN_MAX: usize = 16;
/// How long the listener waits for a file to be closed when none is free.
const FILES_WAIT: Duration = Duration::from_millis(100);
/// Files the process may have open, if the system lets it.
const OPEN_FILES_WANTED: u64 = 8_192;
/// The longest file of a certificate or a key.
const PEM_BYTES_MAX: u64 = 1 << 20;

/// Certificate and key, in PEM.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TlsFiles {
    /// The certificate, and those up to the root.
    pub certificate: PathBuf,
    /// Its key.
    pub key: PathBuf,
}

/// A running console; dropping it ends it.
#[derive(Debug)]
pub struct Server {
    address: SocketAddr,
    is_tls: bool,
    first: Option<String>,
    runtime: Option<Runtime>,
    app: App,
}

impl Server {
    /// Where it is.
    pub fn url(&self) -> String {
        let scheme = if self.is_tls { "https" } else { "http" };
        format!("{scheme}://{}", reachable(self.address))
    }

    /// The link that makes the first admin, while there is none.
    pub fn first_link(&self) -> Option<String> {
        let secret = self.first.as_ref()?;
        Some(format!("{}/first?token={secret}", self.url()))
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        if let Some(runtime) = self.runtime.take() {
            // Who watches would watch for ever.
            runtime.shutdown_background();
        }
        self.app.accounts.write_unlisted(self.app.now(), true);
    }
}

/// An address somebody on this machine can use.
fn reachable(address: SocketAddr) -> SocketAddr {
    if !address.ip().is_unspecified() {
        return address;
    }
    let loopback = match address.ip() {
        IpAddr::V4(_) => IpAddr::from([127, 0, 0, 1]),
        IpAddr::V6(_) => IpAddr::from(std::net::Ipv6Addr::LOCALHOST),
    };
    SocketAddr::new(loopback, address.port())
}

/// Starts a console. It serves until it is dropped.
pub fn start(options: Options) -> Result<Server, ConsoleError> {
    start_within(options, Limits::for_open_files(raise_open_files()))
}

/// Raises the limit of open files as far as it is needed and allowed; the limit.
fn raise_open_files() -> usize {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    // Without a number there is no limit.
    let most = limit.maximum.unwrap_or(u64::MAX).min(OPEN_FILES_WANTED);
    let now = limit.current.unwrap_or(u64::MAX);
    if now >= most {
        return now.min(OPEN_FILES_WANTED) as usize;
    }
    let more = Rlimit {
        current: Some(most),
        maximum: limit.maximum,
    };
    match setrlimit(Resource::Nofile, more) {
        Ok(()) => most as usize,
        Err(error) => {
            tracing::info!(%error, "the limit of open files stays as it is");
            now as usize
        }
    }
}

/// The same with other limits.
pub(crate) fn start_within(options: Options, limits: Limits) -> Result<Server, ConsoleError> {
    let tls = options.tls.as_ref().map(acceptor).transpose()?;
    let wanted = options.listen;
    let blocking_threads = BLOCKING_THREADS_MAX + options.webhooks.len();
    let app = App::open(options)?;
    let door = Door::new(limits, app.options.proxies.clone());
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .max_blocking_threads(blocking_threads)
        .thread_name("console")
        .enable_all()
        .build()
        .map_err(ConsoleError::Start)?;
    let listen = |source| ConsoleError::Listen {
        address: wanted,
        source,
    };
    let listener = runtime
        .block_on(TcpListener::bind(wanted))
        .map_err(listen)?;
    let address = listener.local_addr().map_err(listen)?;
    let is_tls = tls.is_some();
    let first = app.accounts.first_secret();
    runtime.spawn(crate::alerts::run(app.clone()));
    runtime.spawn(accept(listener, tls, router(app.clone()), door));
    Ok(Server {
        address,
        is_tls,
        first,
        runtime: Some(runtime),
        app,
    })
}

fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, ConsoleError> {
    let failed = |path: &PathBuf| {
        let path = path.clone();
        move |reason: String| ConsoleError::Tls { path, reason }
    };
    let read = |path: &PathBuf| {
        read_small(path, PEM_BYTES_MAX).map_err(|error| failed(path)(error.to_string()))
    };
    let chain: Vec<CertificateDer<'static>> =
        CertificateDer::pem_slice_iter(&read(&files.certificate)?)
            .collect::<Result<_, _>>()
            .map_err(|error| failed(&files.certificate)(error.to_string()))?;
    let key = PrivateKeyDer::from_pem_slice(&read(&files.key)?)
        .map_err(|error| failed(&files.key)(error.to_string()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| failed(&files.certificate)(error.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

async fn accept(listener: TcpListener, tls: Option<TlsAcceptor>, router: Router, door: Arc<Door>) {
    let unseen = Arc::new(Semaphore::new(UNSEEN_MAX));
    loop {
        let permit = Arc::clone(&unseen).acquire_owned().await;
        let permit = permit.expect("it is never closed");
        match listener.accept().await {
            Ok((stream, peer)) => {
                let place = Arc::new(door.admit(peer.ip()));
                let served = serve(
                    stream,
                    peer,
                    tls.clone(),
                    router.clone(),
                    Arc::clone(&place),
                );
                tokio::spawn(connection(served, place, permit));
            }
            // Too many open files, most likely: a stranger makes room.
            Err(error) => {
                tracing::warn!(%error, "a connection was not accepted");
                door.make_room();
                // Whether or not one has ended in time, the next try tells.
                let _ended = tokio::time::timeout(FILES_WAIT, door.ended.notified()).await;
            }
        }
    }
}

/// Serves a connection until it ends or its place is needed. A request that
/// has arrived already is recognised in the first step.
async fn connection(
    served: impl Future<Output = ()>,
    place: Arc<Connection>,
    unseen: OwnedSemaphorePermit,
) {
    let mut served = pin!(served);
    let first = poll_fn(|context| Poll::Ready(served.as_mut().poll(context))).await;
    drop(unseen);
    if first.is_pending() {
        tokio::select! {
            () = served => {}
            () = place.closed() => tracing::debug!("a connection was closed to make room"),
        }
    }
}

async fn serve(
    stream: TcpStream,
    peer: SocketAddr,
    tls: Option<TlsAcceptor>,
    router: Router,
    place: Arc<Connection>,
) {
    // Answers are written whole: waiting for more helps nobody.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection delays");
    }
    let Ok(local) = stream.local_addr() else {
        return;
    };
    let ends = (Peer(peer), Local(local.ip()));
    let stream = Progress::new(stream, WRITE_TIME_MAX);
    let Some(tls) = tls else {
        return speak(stream, ends, router, place).await;
    };
    match tokio::time::timeout(HEADER_TIME_MAX, tls.accept(stream)).await {
        Ok(Ok(stream)) => speak(stream, ends, router, place).await,
        Ok(Err(error)) => tracing::debug!(%error, %peer, "no handshake"),
        Err(_) => tracing::debug!(%peer, "a handshake took too long"),
    }
}

async fn speak<S>(stream: S, ends: (Peer, Local), router: Router, place: Arc<Connection>)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        let extensions = request.extensions_mut();
        extensions.insert(ends.0);
        extensions.insert(ends.1);
        extensions.insert(Arc::clone(&place));
        router.clone().oneshot(request.map(Body::new))
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIME_MAX)
        .max_buf_size(HEADER_BYTES_MAX)
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, peer = %ends.0.0, "a connection ended early");
    }
}
