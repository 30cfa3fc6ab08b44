//! Trust and handshake.
//!
//! The machine's certificate authorities are read at the first encrypted
//! connection, not at the start: the file is large, and a crawl of plain sites
//! never needs it.
//!
//! A certificate is believed or the connection is not made; there is no way to
//! switch that off. Why it was not believed is said in our own words, which the
//! visit keeps ([`in_words`]).

use std::io;
use std::path::Path;
use std::sync::{Arc, OnceLock};

use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{CertificateError, ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::policy::bare_host;
use crate::{FetchConfig, FetchError};

/// Makes encrypted connections.
pub(crate) struct Tls {
    extra_roots: RootCertStore,
    native_roots: bool,
    connectors: OnceLock<Connectors>,
}

/// The same trust, with and without HTTP/2 on offer.
struct Connectors {
    http2: TlsConnector,
    http1: TlsConnector,
}

impl Tls {
    pub(crate) fn new(config: &FetchConfig) -> Result<Self, FetchError> {
        let mut extra_roots = RootCertStore::empty();
        for (index, root) in config.extra_roots.iter().enumerate() {
            extra_roots
                .add(root.clone())
                .map_err(|source| FetchError::Root { index, source })?;
        }
        Ok(Self {
            extra_roots,
            native_roots: config.native_roots,
            connectors: OnceLock::new(),
        })
    }

    /// Agrees on TLS over an open connection, for a host as URLs write it.
    pub(crate) async fn handshake(
        &self,
        host: &str,
        tcp: TcpStream,
        offers_http2: bool,
    ) -> io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(bare_host(host).to_owned())
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let connectors = self.connectors.get_or_init(|| self.make_connectors());
        let connector = if offers_http2 {
            &connectors.http2
        } else {
            &connectors.http1
        };
        connector.connect(name, tcp).await.map_err(in_words)
    }

    fn make_connectors(&self) -> Connectors {
        let mut roots = self.extra_roots.clone();
        if self.native_roots {
            // Certificates the machine trusts but rustls cannot read are left
            // out; so does every other program that uses them.
            let (added, _unreadable) =
                roots.add_parsable_certificates(rustls_native_certs::load_native_certs().certs);
            if added == 0 {
                roots.extend(webpki_roots::TLS_SERVER_ROOTS.iter().cloned());
            }
        }
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .expect("the ring provider serves the default versions")
            .with_root_certificates(roots)
            .with_no_client_auth();
        config.alpn_protocols = vec![b"http/1.1".to_vec()];
        let http1 = config.clone();
        config.alpn_protocols.insert(0, b"h2".to_vec());
        Connectors {
            http2: TlsConnector::from(Arc::new(config)),
            http1: TlsConnector::from(Arc::new(http1)),
        }
    }
}

/// Why a handshake failed, where we have better words than the library.
fn in_words(error: io::Error) -> io::Error {
    use CertificateError as Why;
    let cause = error.get_ref().and_then(|inner| inner.downcast_ref());
    let words = match cause {
        Some(rustls::Error::InvalidCertificate(why)) => match why {
            Why::Expired | Why::ExpiredContext { .. } => "the certificate has expired",
            Why::NotValidYet | Why::NotValidYetContext { .. } => "the certificate is not valid yet",
            Why::NotValidForName | Why::NotValidForNameContext { .. } => {
                "the certificate is for another host"
            }
            Why::UnknownIssuer | Why::BadSignature => {
                "the certificate is signed by itself or by nobody we trust"
            }
            Why::Revoked => "the certificate was revoked",
            _ => return error,
        },
        _ => return error,
    };
    io::Error::new(error.kind(), words)
}

/// Certificate authorities in PEM form, as a file at `path` holds them, for
/// [`FetchConfig::extra_roots`].
pub fn parse_ca_file(path: &Path, pem: &[u8]) -> Result<Vec<CertificateDer<'static>>, FetchError> {
    let wrong = |problem: String| FetchError::CaFile {
        path: path.to_owned(),
        problem,
    };
    let roots: Result<Vec<_>, _> = CertificateDer::pem_slice_iter(pem).collect();
    let roots = roots.map_err(|error| wrong(error.to_string()))?;
    if roots.is_empty() {
        return Err(wrong("there is none in it".to_owned()));
    }
    for root in &roots {
        let usable = RootCertStore::empty().add(root.clone());
        usable.map_err(|error| wrong(error.to_string()))?;
    }
    Ok(roots)
}
