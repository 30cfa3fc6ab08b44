//! A certificate authority of the tests' own, and servers it vouches for.

use std::net::SocketAddr;
use std::sync::Arc;

use geomi_fetch::{FetchConfig, FetchOutcome, FetchRequest, Fetcher, parse_override};
use geomi_url::CrawlUrl;
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::net::{TcpListener, TcpStream};
use tokio_rustls::TlsAcceptor;
use tokio_rustls::server::TlsStream;

use crate::server::config;

/// Somebody whose word the fetcher takes.
pub(crate) struct Authority {
    issuer: Issuer<'static, KeyPair>,
    pub(crate) der: CertificateDer<'static>,
    pub(crate) pem: String,
}

/// A certificate and its key.
pub(crate) type Identity = (CertificateDer<'static>, PrivateKeyDer<'static>);

impl Authority {
    pub(crate) fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let certificate = params.self_signed(&key).unwrap();
        Self {
            der: certificate.der().clone(),
            pem: certificate.pem(),
            issuer: Issuer::new(params, key),
        }
    }

    /// A certificate for a name, valid from the first year to the second.
    pub(crate) fn vouch(&self, name: &str, years: (i32, i32)) -> Identity {
        let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
        params.not_before = rcgen::date_time_ymd(years.0, 1, 1);
        params.not_after = rcgen::date_time_ymd(years.1, 1, 1);
        let key = KeyPair::generate().unwrap();
        let certificate = params.signed_by(&key, &self.issuer).unwrap();
        (certificate.der().clone(), private_key(&key))
    }

    /// A certificate for `secure.test` that is good today.
    pub(crate) fn good(&self) -> Identity {
        self.vouch("secure.test", (2020, 4000))
    }

    /// Limits of a fetcher that trusts this authority alone, and finds every
    /// host on this machine.
    pub(crate) fn trusted(&self) -> FetchConfig {
        FetchConfig {
            extra_roots: vec![self.der.clone()],
            overrides: vec![parse_override("*:127.0.0.1").unwrap()],
            ..config()
        }
    }
}

pub(crate) fn private_key(key: &KeyPair) -> PrivateKeyDer<'static> {
    PrivateKeyDer::try_from(key.serialize_der()).unwrap()
}

/// Serves each connection that agrees on TLS by `serve`.
pub(crate) async fn serve_tls<F>(
    identity: Identity,
    alpn: &[&str],
    serve: impl Fn(TlsStream<TcpStream>) -> F + Send + 'static,
) -> SocketAddr
where
    F: Future<Output = ()> + Send + 'static,
{
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut server_config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![identity.0], identity.1)
        .unwrap();
    server_config.alpn_protocols = alpn.iter().map(|name| name.as_bytes().to_vec()).collect();
    let acceptor = TlsAcceptor::from(Arc::new(server_config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    tokio::spawn(async move {
        loop {
            let (tcp, _) = listener.accept().await.unwrap();
            // A client that does not trust us says so and leaves.
            if let Ok(tls) = acceptor.accept(tcp).await {
                tokio::spawn(serve(tls));
            }
        }
    });
    addr
}

/// Asks `host` for its first page.
pub(crate) async fn ask(fetcher: &Fetcher, host: &str, addr: SocketAddr) -> FetchOutcome {
    let url = CrawlUrl::parse(&format!("https://{host}:{}/", addr.port())).unwrap();
    fetcher.fetch(FetchRequest::new(url, addr.ip())).await
}
