//! Whom the fetcher believes to be who they say they are.

use std::path::Path;

use geomi_fetch::{FetchConfig, FetchError, Fetcher, parse_ca_file};
use geomi_model::NetworkState;
use rcgen::{CertificateParams, KeyPair};

use crate::authority::{Authority, Identity, ask, private_key, serve_tls};
use crate::server::{Step, play, send};

const PAGE: &str = "HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nhello";

fn self_signed() -> Identity {
    let params = CertificateParams::new(vec!["secure.test".to_owned()]).unwrap();
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    (certificate.der().clone(), private_key(&key))
}

async fn fetch(config: FetchConfig, identity: Identity) -> geomi_fetch::FetchOutcome {
    let addr = serve_tls(identity, &["http/1.1"], async |mut tls| {
        play(&mut tls, &[Step::Read, send(PAGE), Step::Hold]).await;
    })
    .await;
    ask(&Fetcher::new(config).unwrap(), "secure.test", addr).await
}

#[tokio::test]
async fn a_good_certificate_is_believed_and_others_are_told_apart() {
    let authority = Authority::new();
    let stranger = Authority::new();
    let good = fetch(authority.trusted(), authority.good()).await;
    assert_eq!(good.state, NetworkState::Ok, "{:?}", good.error);
    assert_eq!(&good.body[..], b"hello");
    for (identity, error) in [
        (
            authority.vouch("secure.test", (2001, 2002)),
            "the certificate has expired",
        ),
        (
            authority.vouch("secure.test", (3000, 3001)),
            "the certificate is not valid yet",
        ),
        (
            authority.vouch("other.test", (2020, 4000)),
            "the certificate is for another host",
        ),
        (
            authority.vouch("*.secure.test", (2020, 4000)),
            "the certificate is for another host",
        ),
        (
            self_signed(),
            "the certificate is signed by itself or by nobody we trust",
        ),
        (
            stranger.good(),
            "the certificate is signed by itself or by nobody we trust",
        ),
    ] {
        let outcome = fetch(authority.trusted(), identity).await;
        assert_eq!(outcome.state, NetworkState::ConnectError, "{error}");
        assert_eq!(outcome.error.as_deref(), Some(error));
        assert!(outcome.request.is_empty(), "{error}: something was asked");
        assert!(outcome.phases.connect.is_some(), "TCP was connected");
    }
}

#[tokio::test]
async fn a_file_of_authorities_is_read_and_its_faults_are_named() {
    let (ours, other) = (Authority::new(), Authority::new());
    let path = Path::new("ca.pem");
    let pem = format!("# ours\n{}{}", other.pem, ours.pem);
    let roots = parse_ca_file(path, pem.as_bytes()).unwrap();
    assert_eq!(roots, [other.der, ours.der.clone()]);
    let config = FetchConfig {
        extra_roots: roots,
        ..ours.trusted()
    };
    let outcome = fetch(config, ours.good()).await;
    assert_eq!(outcome.state, NetworkState::Ok, "{:?}", outcome.error);

    let broken = "-----BEGIN CERTIFICATE-----\n!!\n-----END CERTIFICATE-----\n";
    for pem in ["", broken] {
        let error = parse_ca_file(path, pem.as_bytes()).unwrap_err();
        assert!(matches!(error, FetchError::CaFile { .. }), "{error}");
        assert!(error.to_string().contains("ca.pem"));
    }
}
