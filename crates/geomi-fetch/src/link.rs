//! A connection together with the protocol that was agreed on it.

use std::collections::HashSet;
use std::sync::{Mutex, PoisonError};

use geomi_model::Protocol;

use crate::exchange::{Answer, Limits, exchange};
use crate::http2::Http2;
use crate::stream::Stream;
use crate::{BodyFilter, TlsDescription};

/// An open connection, ready for a request.
#[derive(Debug)]
pub(crate) enum Link {
    Http1(Stream),
    /// Boxed: it is many times the size of the other.
    Http2(Box<Http2>),
}

impl Link {
    /// Sends a request and reads the answer to its end.
    pub(crate) async fn exchange(
        &mut self,
        sent: &[u8],
        limits: Limits,
        filter: Option<&BodyFilter>,
    ) -> Answer {
        match self {
            Self::Http1(stream) => exchange(stream, sent, limits, filter).await,
            // Boxed: the future of the other is a tenth of its size.
            Self::Http2(http2) => Box::pin(http2.exchange(sent, limits, filter)).await,
        }
    }

    /// Whether a connection at rest can take a request.
    pub(crate) async fn is_idle(&mut self) -> bool {
        match self {
            Self::Http1(stream) => stream.is_idle().await,
            Self::Http2(http2) => http2.is_idle().await,
        }
    }

    /// How it is encrypted, where it is.
    pub(crate) fn describe_tls(&self) -> Option<TlsDescription> {
        match self {
            Self::Http1(stream) => stream.tls().map(TlsDescription::of),
            Self::Http2(http2) => Some(http2.tls.clone()),
        }
    }

    pub(crate) fn protocol(&self) -> Protocol {
        match self {
            Self::Http1(_) => Protocol::Http1,
            Self::Http2(_) => Protocol::Http2,
        }
    }
}

/// The most origins remembered; a crawl that meets more asks some of them
/// twice.
const ORIGINS_MAX: usize = 4096;

/// Origins that offered HTTP/2 and then refused it.
#[derive(Debug, Default)]
pub(crate) struct Http1Only {
    origins: Mutex<HashSet<Box<str>>>,
}

impl Http1Only {
    pub(crate) fn contains(&self, origin: &str) -> bool {
        let origins = self.origins.lock();
        // No code that can panic changes the set halfway.
        let origins = origins.unwrap_or_else(PoisonError::into_inner);
        origins.contains(origin)
    }

    pub(crate) fn insert(&self, origin: &str) {
        let origins = self.origins.lock();
        let mut origins = origins.unwrap_or_else(PoisonError::into_inner);
        if origins.len() >= ORIGINS_MAX {
            origins.clear();
        }
        origins.insert(origin.into());
    }
}
