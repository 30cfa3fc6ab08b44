//! Signed requests, verified as a server would.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod heads;

use data_encoding::{BASE64, BASE64URL_NOPAD};
use geomi_fetch::Signer;
use heads::{Head, HeadServer, Place};

/// The test key of RFC 9421 §B.1.4.
const D: &str = "n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU";
const X: &str = "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs";

fn is_signed(head: &Head) -> bool {
    let parameters = head.field("signature-input").unwrap();
    let parameters = parameters.strip_prefix("sig1=").unwrap();
    let agent = head.field("signature-agent").unwrap();
    let base = format!(
        "\"@authority\": {}\n\"signature-agent\": {agent}\n\"@signature-params\": {parameters}",
        head.host
    );
    let signature = head.field("signature").unwrap();
    let signature = signature.strip_prefix("sig1=:").unwrap();
    let signature = BASE64.decode(signature.trim_end_matches(':').as_bytes());
    let public = BASE64URL_NOPAD.decode(X.as_bytes()).unwrap();
    let key = ring::signature::UnparsedPublicKey::new(&ring::signature::ED25519, public);
    key.verify(base.as_bytes(), &signature.unwrap()).is_ok()
}

#[test]
fn every_request_is_signed_robots_txt_included() {
    let server = HeadServer::start(|_| "200\r\n\r\n<a href=/x>1</a>".to_owned());
    let mut config = Place::config(&[format!("http://a.test:{}/", server.port)]);
    config.fetch.signer = Some(Signer::from_jwk(D, X, Some("https://bot.example")).unwrap());
    Place::new().crawl(&config);
    let heads = server.all();
    assert_eq!(heads.len(), 3);
    assert!(heads.iter().all(is_signed), "{heads:#?}");
}
