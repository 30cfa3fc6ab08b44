//! How a connection was encrypted, in words.
//!
//! For people who ask about one page: protocol, cipher, and whose certificate it
//! was. Trust was decided in the handshake; nothing here decides anything, and a
//! certificate that cannot be read is simply not described.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};

use geomi_model::Timestamp;
use rustls::ClientConnection;
use x509_parser::certificate::X509Certificate;
use x509_parser::extensions::GeneralName;
use x509_parser::prelude::FromDer as _;

/// Names of a certificate that are kept; some hold thousands.
const NAMES_MAX: usize = 100;

/// The encryption of one connection.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct TlsDescription {
    /// `TLS 1.3` or `TLS 1.2`.
    pub version: String,
    /// The cipher suite by its registered name.
    pub cipher_suite: String,
    /// The protocol agreed on inside, if one was (`http/1.1`).
    pub alpn: Option<String>,
    /// The host's own certificate.
    pub certificate: Option<Certificate>,
    /// Certificates the host sent, its own included.
    pub certificates: usize,
}

/// What a certificate says.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Certificate {
    /// Whose it is.
    pub subject: String,
    /// Who says so.
    pub issuer: String,
    /// Valid from here.
    pub not_before: Timestamp,
    /// Valid until here.
    pub not_after: Timestamp,
    /// Host names and addresses it is for, at most a hundred.
    pub names: Vec<String>,
}

impl TlsDescription {
    pub(crate) fn of(connection: &ClientConnection) -> Self {
        let chain = connection.peer_certificates().unwrap_or_default();
        Self {
            version: connection
                .protocol_version()
                .map_or_else(String::new, |version| in_words(&format!("{version:?}"))),
            cipher_suite: connection
                .negotiated_cipher_suite()
                .map_or_else(String::new, |suite| registered(suite.suite())),
            alpn: connection
                .alpn_protocol()
                .map(|name| String::from_utf8_lossy(name).into_owned()),
            certificate: chain.first().and_then(|leaf| Certificate::read(leaf)),
            certificates: chain.len(),
        }
    }
}

/// A hash of the host's own certificate, the same in one run of the program.
pub(crate) fn hash(connection: &ClientConnection) -> Option<u64> {
    let leaf = connection.peer_certificates()?.first()?;
    let mut hasher = DefaultHasher::new();
    leaf.as_ref().hash(&mut hasher);
    Some(hasher.finish())
}

/// `TLSv1_3` is how the library writes TLS 1.3.
fn in_words(version: &str) -> String {
    version.replace("TLSv", "TLS ").replace('_', ".")
}

/// The library marks the suites of TLS 1.3 in their names; the registry does not.
fn registered(suite: rustls::CipherSuite) -> String {
    format!("{suite:?}").replacen("TLS13_", "TLS_", 1)
}

impl Certificate {
    /// Reads a certificate; `None` if it is none.
    pub fn read(der: &[u8]) -> Option<Self> {
        // Why a certificate cannot be read matters to nobody: it was trusted.
        let (_, certificate) = X509Certificate::from_der(der).ok()?;
        let validity = certificate.validity();
        let names = certificate.subject_alternative_name().ok().flatten();
        let names = names.map_or_else(Vec::new, |extension| {
            let names = extension.value.general_names.iter();
            names.filter_map(host_name).take(NAMES_MAX).collect()
        });
        Some(Self {
            subject: certificate.subject().to_string(),
            issuer: certificate.issuer().to_string(),
            not_before: Timestamp::from_secs(validity.not_before.timestamp()),
            not_after: Timestamp::from_secs(validity.not_after.timestamp()),
            names,
        })
    }
}

/// A name that stands for a host; mail addresses and the like are none.
fn host_name(name: &GeneralName<'_>) -> Option<String> {
    match name {
        GeneralName::DNSName(name) => Some((*name).to_owned()),
        GeneralName::IPAddress(bytes) => match **bytes {
            [a, b, c, d] => Some(std::net::Ipv4Addr::new(a, b, c, d).to_string()),
            _ => <[u8; 16]>::try_from(*bytes)
                .ok()
                .map(|bytes| std::net::Ipv6Addr::from(bytes).to_string()),
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_certificate_says_whose_it_is_and_until_when() {
        let mut wanted = rcgen::CertificateParams::new(vec![
            "shop.test".to_owned(),
            "192.0.2.7".to_owned(),
            "2001:db8::7".to_owned(),
        ])
        .unwrap();
        wanted.not_before = rcgen::date_time_ymd(2026, 1, 2);
        wanted.not_after = rcgen::date_time_ymd(2027, 3, 4);
        wanted
            .distinguished_name
            .push(rcgen::DnType::CommonName, "The shop");
        let key = rcgen::KeyPair::generate().unwrap();
        let made = wanted.self_signed(&key).unwrap();
        let read = Certificate::read(made.der()).unwrap();
        assert!(read.subject.contains("CN=The shop"), "{}", read.subject);
        assert_eq!(read.issuer, read.subject, "it signed itself");
        assert_eq!(read.not_before.to_rfc3339_secs(), "2026-01-02T00:00:00Z");
        assert_eq!(read.not_after.to_rfc3339_secs(), "2027-03-04T00:00:00Z");
        assert_eq!(read.names, ["shop.test", "192.0.2.7", "2001:db8::7"]);
    }

    #[test]
    fn what_is_no_certificate_is_not_described() {
        assert_eq!(Certificate::read(b"nonsense"), None);
        assert_eq!(Certificate::read(b""), None);
    }

    #[test]
    fn protocols_and_suites_have_their_usual_names() {
        assert_eq!(in_words("TLSv1_3"), "TLS 1.3");
        let suite = rustls::CipherSuite::TLS13_AES_256_GCM_SHA384;
        assert_eq!(registered(suite), "TLS_AES_256_GCM_SHA384");
    }
}
