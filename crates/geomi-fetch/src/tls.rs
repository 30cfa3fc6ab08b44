//! Trust and handshake.
//!
//! The machine's certificate authorities are read at the first encrypted
//! connection, not at the start: the file is large, and a crawl of plain sites
//! never needs it.

use std::io;
use std::sync::{Arc, OnceLock};

use rustls::pki_types::ServerName;
use rustls::{ClientConfig, RootCertStore};
use tokio::net::TcpStream;
use tokio_rustls::TlsConnector;
use tokio_rustls::client::TlsStream;

use crate::policy::bare_host;
use crate::{FetchConfig, FetchError};

/// Makes encrypted connections.
pub(crate) struct Tls {
    extra_roots: RootCertStore,
    native_roots: bool,
    connector: OnceLock<TlsConnector>,
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
            connector: OnceLock::new(),
        })
    }

    /// Agrees on TLS over an open connection, for a host as URLs write it.
    pub(crate) async fn handshake(
        &self,
        host: &str,
        tcp: TcpStream,
    ) -> io::Result<TlsStream<TcpStream>> {
        let name = ServerName::try_from(bare_host(host).to_owned())
            .map_err(|error| io::Error::new(io::ErrorKind::InvalidInput, error))?;
        let connector = self.connector.get_or_init(|| self.make_connector());
        connector.connect(name, tcp).await
    }

    fn make_connector(&self) -> TlsConnector {
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
        TlsConnector::from(Arc::new(config))
    }
}
