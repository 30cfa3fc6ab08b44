//! Signed requests: HTTP Message Signatures (RFC 9421) as Web Bot Auth uses
//! them, so that a server can tell who asks without knowing our addresses.
//!
//! A signature covers `@authority` and, where one is given, `Signature-Agent`,
//! the place at which our public key is found. It is made with Ed25519, names its
//! key by the JWK thumbprint (RFC 7638, RFC 8037) and holds for a few minutes.

use std::fmt;
use std::sync::Arc;

use data_encoding::{BASE64, BASE64URL_NOPAD};
use geomi_model::Timestamp;
use geomi_url::CrawlUrl;
use ring::signature::{Ed25519KeyPair, KeyPair as _};
use rustls::pki_types::PrivatePkcs8KeyDer;
use rustls::pki_types::pem::PemObject as _;

/// How long a signature holds.
const HOLDS_S: i64 = 300;

/// Signs requests with one key.
#[derive(Clone)]
pub struct Signer {
    key: Arc<Ed25519KeyPair>,
    key_id: String,
    /// `Signature-Agent` as sent, quotes included.
    agent: Option<String>,
}

impl fmt::Debug for Signer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Signer")
            .field("key_id", &self.key_id)
            .field("agent", &self.agent)
            .finish_non_exhaustive()
    }
}

/// The header fields that sign one request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Signature {
    /// `Signature-Agent`.
    pub agent: Option<String>,
    /// `Signature-Input`.
    pub input: String,
    /// `Signature`.
    pub signature: String,
}

impl Signer {
    /// From an Ed25519 key in PEM (PKCS #8). `agent` is the URL at which the
    /// public key is published.
    pub fn from_pem(pem: &[u8], agent: Option<&str>) -> Result<Self, &'static str> {
        let der = PrivatePkcs8KeyDer::from_pem_slice(pem)
            .map_err(|_| "it holds no private key in PKCS #8 PEM")?;
        let key = Ed25519KeyPair::from_pkcs8_maybe_unchecked(der.secret_pkcs8_der());
        Self::new(key.map_err(|_| "its key is not an Ed25519 key")?, agent)
    }

    /// From the `d` and `x` of a JWK of type OKP and curve Ed25519.
    pub fn from_jwk(d: &str, x: &str, agent: Option<&str>) -> Result<Self, &'static str> {
        let decode = |text: &str| {
            let bytes = BASE64URL_NOPAD.decode(text.as_bytes());
            bytes.map_err(|_| "its d or x is not base64url")
        };
        let key = Ed25519KeyPair::from_seed_and_public_key(&decode(d)?, &decode(x)?);
        Self::new(
            key.map_err(|_| "its d and x are not one Ed25519 key")?,
            agent,
        )
    }

    fn new(key: Ed25519KeyPair, agent: Option<&str>) -> Result<Self, &'static str> {
        let is_plain = |text: &str| {
            text.bytes()
                .all(|b| b.is_ascii_graphic() && b != b'"' && b != b'\\')
        };
        if agent.is_some_and(|agent| !is_plain(agent)) {
            return Err("the agent is not a plain URL");
        }
        let x = BASE64URL_NOPAD.encode(key.public_key().as_ref());
        let jwk = format!(r#"{{"crv":"Ed25519","kty":"OKP","x":"{x}"}}"#);
        let thumbprint = ring::digest::digest(&ring::digest::SHA256, jwk.as_bytes());
        Ok(Self {
            key: Arc::new(key),
            key_id: BASE64URL_NOPAD.encode(thumbprint.as_ref()),
            agent: agent.map(|agent| format!("\"{agent}\"")),
        })
    }

    /// The thumbprint of its key.
    pub fn key_id(&self) -> &str {
        &self.key_id
    }

    /// Signs a request for a URL that leaves at `now`.
    pub fn sign(&self, url: &CrawlUrl, now: Timestamp) -> Signature {
        let created = now.micros() / 1_000_000;
        let covered = if self.agent.is_some() {
            r#"("@authority" "signature-agent")"#
        } else {
            r#"("@authority")"#
        };
        let parameters = format!(
            "{covered};created={created};expires={};keyid=\"{}\";alg=\"ed25519\";tag=\"web-bot-auth\"",
            created + HOLDS_S,
            self.key_id
        );
        let agent = match &self.agent {
            Some(agent) => format!("\"signature-agent\": {agent}\n"),
            None => String::new(),
        };
        let base = format!(
            "\"@authority\": {}\n{agent}\"@signature-params\": {parameters}",
            url.authority()
        );
        let signature = self.key.sign(base.as_bytes());
        Signature {
            agent: self.agent.clone(),
            input: format!("sig1={parameters}"),
            signature: format!("sig1=:{}:", BASE64.encode(signature.as_ref())),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The test key of RFC 9421 §B.1.4, as a JWK and as PEM.
    const D: &str = "n4Ni-HpISpVObnQMW0wOhCKROaIKqKtW_2ZYb2p9KcU";
    const X: &str = "JrQLj5P_89iXES9-vFgrIy29clF9CC_oPPsw3c5D0bs";
    const PEM: &str = "-----BEGIN PRIVATE KEY-----\n\
        MC4CAQAwBQYDK2VwBCIEIJ+DYvh6SEqVTm50DFtMDoQikTmiCqirVv9mWG9qfSnF\n\
        -----END PRIVATE KEY-----\n";

    #[test]
    fn both_forms_are_one_key_with_the_known_thumbprint() {
        let jwk = Signer::from_jwk(D, X, None).unwrap();
        let pem = Signer::from_pem(PEM.as_bytes(), None).unwrap();
        assert_eq!(jwk.key_id(), pem.key_id());
        assert_eq!(jwk.key_id(), "poqkLGiymh_W0uP6PZFw-dvez3QJT5SolqXBCW38r0U");
        assert!(Signer::from_pem(b"nothing", None).is_err());
        assert!(Signer::from_jwk(X, X, None).is_err());
        assert!(Signer::from_jwk(D, X, Some("a\"b")).is_err());
    }

    #[test]
    fn a_server_can_verify_the_signature() {
        let signer = Signer::from_jwk(D, X, Some("https://bot.example/")).unwrap();
        let url = CrawlUrl::parse("https://Shop.test:8443/x").unwrap();
        let signed = signer.sign(&url, Timestamp::from_secs(1_700_000_000));
        let parameters = signed.input.strip_prefix("sig1=").unwrap();
        assert!(
            parameters.contains(";created=1700000000;expires=1700000300;"),
            "{parameters}"
        );
        assert!(
            parameters.ends_with(";tag=\"web-bot-auth\""),
            "{parameters}"
        );
        let base = format!(
            "\"@authority\": shop.test:8443\n\"signature-agent\": \"https://bot.example/\"\n\"@signature-params\": {parameters}"
        );
        let bytes = signed
            .signature
            .strip_prefix("sig1=:")
            .unwrap()
            .strip_suffix(':')
            .unwrap();
        let bytes = BASE64.decode(bytes.as_bytes()).unwrap();
        let public = BASE64URL_NOPAD.decode(X.as_bytes()).unwrap();
        let key = ring::signature::UnparsedPublicKey::new(&ring::signature::ED25519, public);
        assert!(key.verify(base.as_bytes(), &bytes).is_ok());
        assert!(
            key.verify(base.replace("shop", "bank").as_bytes(), &bytes)
                .is_err()
        );
    }
}
