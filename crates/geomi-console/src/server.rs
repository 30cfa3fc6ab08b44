//! The listener, TLS, and the threads it all runs on.
//!
//! The console has a small runtime of its own, so that inside the process of a
//! crawl it competes with nothing but the machine. Connections are bounded, a
//! request's header must come within seconds, and a stop does not wait for
//! those who watch.

use std::net::{IpAddr, SocketAddr};
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
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
use crate::http::guard::Peer;
use crate::http::routes::router;

/// Threads of the runtime.
const THREADS: usize = 2;
/// Threads that may wait for disks and sockets.
const BLOCKING_THREADS_MAX: usize = 32;
/// Connections at once.
const CONNECTIONS_MAX: usize = 1_024;
/// How long a handshake or the header of a request may take.
const HEADER_MAX: Duration = Duration::from_secs(10);

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
    let tls = options.tls.as_ref().map(acceptor).transpose()?;
    let wanted = options.listen;
    let app = App::open(options)?;
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(THREADS)
        .max_blocking_threads(BLOCKING_THREADS_MAX)
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
    runtime.spawn(accept(listener, tls, router(app)));
    Ok(Server {
        address,
        is_tls,
        first,
        runtime: Some(runtime),
    })
}

fn acceptor(files: &TlsFiles) -> Result<TlsAcceptor, ConsoleError> {
    let failed = |path: &PathBuf| {
        let path = path.clone();
        move |reason: String| ConsoleError::Tls { path, reason }
    };
    let chain: Vec<CertificateDer<'static>> = CertificateDer::pem_file_iter(&files.certificate)
        .and_then(Iterator::collect)
        .map_err(|error| failed(&files.certificate)(error.to_string()))?;
    let key = PrivateKeyDer::from_pem_file(&files.key)
        .map_err(|error| failed(&files.key)(error.to_string()))?;
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .and_then(|builder| builder.with_no_client_auth().with_single_cert(chain, key))
        .map_err(|error| failed(&files.certificate)(error.to_string()))?;
    Ok(TlsAcceptor::from(Arc::new(config)))
}

async fn accept(listener: TcpListener, tls: Option<TlsAcceptor>, router: Router) {
    let free = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    loop {
        let permit = Arc::clone(&free).acquire_owned().await;
        let permit = permit.expect("it is never closed");
        match listener.accept().await {
            Ok((stream, peer)) => {
                tokio::spawn(connection(
                    stream,
                    peer,
                    tls.clone(),
                    router.clone(),
                    permit,
                ));
            }
            // Too many open files, most likely: others close theirs meanwhile.
            Err(error) => {
                tracing::warn!(%error, "a connection was not accepted");
                tokio::task::yield_now().await;
            }
        }
    }
}

async fn connection(
    stream: TcpStream,
    peer: SocketAddr,
    tls: Option<TlsAcceptor>,
    router: Router,
    _permit: OwnedSemaphorePermit,
) {
    // Answers are written whole: waiting for more helps nobody.
    if let Err(error) = stream.set_nodelay(true) {
        tracing::debug!(%error, "a connection delays");
    }
    let Some(tls) = tls else {
        return speak(stream, peer, router).await;
    };
    match tokio::time::timeout(HEADER_MAX, tls.accept(stream)).await {
        Ok(Ok(stream)) => speak(stream, peer, router).await,
        Ok(Err(error)) => tracing::debug!(%error, %peer, "no handshake"),
        Err(_) => tracing::debug!(%peer, "a handshake took too long"),
    }
}

async fn speak<S>(stream: S, peer: SocketAddr, router: Router)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let service = service_fn(move |mut request: hyper::Request<hyper::body::Incoming>| {
        request.extensions_mut().insert(Peer(peer));
        router.clone().oneshot(request.map(Body::new))
    });
    let served = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_MAX)
        .max_buf_size(64 << 10)
        .serve_connection(TokioIo::new(stream), service)
        .await;
    if let Err(error) = served {
        tracing::debug!(%error, %peer, "a connection ended early");
    }
}
