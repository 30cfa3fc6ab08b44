//! Encrypted connections with a certificate of our own.

use std::net::SocketAddr;
use std::sync::Arc;

use geomi_fetch::{FetchConfig, FetchError, FetchOutcome, FetchRequest, Fetcher, parse_override};
use geomi_model::NetworkState;
use geomi_url::CrawlUrl;
use rustls::ServerConfig;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use tokio::io::AsyncWriteExt;
use tokio::net::TcpListener;
use tokio_rustls::TlsAcceptor;

use crate::server::{Server, Step, answers, config, impatient, play, send};

const PAGE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

/// A server for `secure.test` and 127.0.0.1 that plays `script`, and ends with
/// the farewell of TLS or without it.
async fn secure_server(
    script: Vec<Step>,
    says_farewell: bool,
) -> (SocketAddr, CertificateDer<'static>) {
    let names = vec!["secure.test".to_owned(), "127.0.0.1".to_owned()];
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    let certificate = made.cert.der().clone();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut server_config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![certificate.clone()], key)
        .unwrap();
    server_config.alpn_protocols = vec![b"http/1.1".to_vec()];
    let acceptor = TlsAcceptor::from(Arc::new(server_config));
    let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
    let addr = listener.local_addr().unwrap();
    tokio::spawn(async move {
        let (tcp, _) = listener.accept().await.unwrap();
        // A client that does not trust us says so and leaves.
        let Ok(mut tls) = acceptor.accept(tcp).await else {
            return;
        };
        assert_eq!(tls.get_ref().1.alpn_protocol(), Some(&b"http/1.1"[..]));
        play(&mut tls, &script).await;
        if says_farewell {
            tls.shutdown().await.unwrap();
        }
    });
    (addr, certificate)
}

async fn fetch(config: FetchConfig, host: &str, addr: SocketAddr) -> FetchOutcome {
    let fetcher = Fetcher::new(config).unwrap();
    let url = CrawlUrl::parse(&format!("https://{host}:{}/", addr.port())).unwrap();
    fetcher.fetch(FetchRequest::new(url, addr.ip())).await
}

fn trusting(certificate: CertificateDer<'static>) -> FetchConfig {
    FetchConfig {
        extra_roots: vec![certificate],
        overrides: vec![parse_override("secure.test:127.0.0.1").unwrap()],
        ..config()
    }
}

#[tokio::test]
async fn a_trusted_host_answers_by_name_and_by_address() {
    for host in ["secure.test", "127.0.0.1"] {
        let (addr, certificate) = secure_server(vec![Step::Read, send(PAGE)], true).await;
        let outcome = fetch(trusting(certificate), host, addr).await;
        assert_eq!(outcome.state, NetworkState::Ok, "{:?}", outcome.error);
        assert_eq!(outcome.head.len() + 5, PAGE.len());
        assert_eq!(&outcome.body[..], b"hello");
        assert!(outcome.phases.tls.is_some());
    }
}

#[tokio::test]
async fn the_encryption_is_described_when_asked_for_also_on_a_used_connection() {
    let (addr, certificate) = secure_server(answers(2, PAGE), true).await;
    let fetcher = Fetcher::new(trusting(certificate)).unwrap();
    let url = CrawlUrl::parse(&format!("https://secure.test:{}/", addr.port())).unwrap();
    let mut request = FetchRequest::new(url, addr.ip());
    let first = fetcher.fetch(request.clone()).await;
    assert_eq!(first.tls, None);
    request.describe_tls = true;
    let outcome = fetcher.fetch(request).await;
    assert!(outcome.reused_connection);
    // A certificate is told of where it was shown.
    assert!(first.certificate.is_some() && outcome.certificate.is_none());
    let tls = outcome.tls.unwrap();
    assert_eq!(tls.version, "TLS 1.3");
    assert!(tls.cipher_suite.starts_with("TLS_"), "{tls:?}");
    assert_eq!(tls.alpn.as_deref(), Some("http/1.1"));
    assert_eq!(tls.certificates, 1);
    let names = tls.certificate.unwrap().names;
    assert_eq!(names, ["secure.test", "127.0.0.1"]);
}

#[tokio::test]
async fn an_encrypted_connection_serves_again() {
    let (addr, certificate) = secure_server(answers(3, PAGE), true).await;
    let fetcher = Fetcher::new(trusting(certificate)).unwrap();
    let url = CrawlUrl::parse(&format!("https://secure.test:{}/", addr.port())).unwrap();
    for n in 0..3 {
        let request = FetchRequest::new(url.clone(), addr.ip());
        let outcome = fetcher.fetch(request).await;
        assert_eq!(outcome.state, NetworkState::Ok, "{:?}", outcome.error);
        assert_eq!(outcome.reused_connection, n > 0);
    }
}

#[tokio::test]
async fn connect_error_where_the_certificate_is_not_trusted_or_not_the_hosts() {
    let (addr, _) = secure_server(vec![Step::Read, send(PAGE)], true).await;
    let outcome = fetch(config(), "127.0.0.1", addr).await;
    assert_eq!(outcome.state, NetworkState::ConnectError);
    assert!(outcome.phases.connect.is_some(), "TCP was connected");
    assert!(outcome.request.is_empty(), "nothing was asked");

    let (addr, certificate) = secure_server(vec![Step::Read, send(PAGE)], true).await;
    let outcome = fetch(trusting(certificate), "other.test", addr).await;
    assert_eq!(outcome.state, NetworkState::ConnectError);
}

#[tokio::test]
async fn connect_error_where_no_tls_is_spoken_and_timeout_where_nothing_is() {
    let plain = Server::start(vec![vec![send("HTTP/1.1 400 Bad\r\n\r\n"), Step::Hold]]).await;
    let outcome = fetch(config(), "127.0.0.1", plain.addr).await;
    assert_eq!(outcome.state, NetworkState::ConnectError);
    let silent = Server::start(vec![vec![Step::Hold]]).await;
    let outcome = fetch(impatient(), "127.0.0.1", silent.addr).await;
    assert_eq!(outcome.state, NetworkState::ConnectTimeout);
}

#[tokio::test]
async fn a_missing_farewell_is_noted_where_the_close_ends_the_body() {
    let script = vec![Step::Read, send("HTTP/1.1 200 OK\r\n\r\nhello")];
    for says_farewell in [true, false] {
        let (addr, certificate) = secure_server(script.clone(), says_farewell).await;
        let outcome = fetch(trusting(certificate), "secure.test", addr).await;
        assert_eq!(outcome.state, NetworkState::Ok, "{:?}", outcome.error);
        assert_eq!(&outcome.body[..], b"hello");
        assert_eq!(outcome.error.is_none(), says_farewell);
    }
}

#[tokio::test]
async fn a_root_that_is_none_is_refused_at_the_start() {
    let config = FetchConfig {
        extra_roots: vec![CertificateDer::from(b"nonsense".to_vec())],
        ..config()
    };
    assert!(matches!(
        Fetcher::new(config),
        Err(FetchError::Root { index: 0, .. })
    ));
}
