//! The fetcher's limits and settings.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use rustls::pki_types::CertificateDer;

use crate::policy::bare_host;
use crate::{AddressPolicy, FetchError, Proxy, ProxyRotation, Signer};

/// Everything a [`Fetcher`](crate::Fetcher) may be told. The default is what
/// the user gets who says nothing.
#[derive(Clone, Debug)]
pub struct FetchConfig {
    /// Time for the TCP handshake, and again for the TLS handshake.
    pub connect_timeout: Duration,
    /// The longest silence while a request is sent or an answer is awaited.
    pub silence_timeout: Duration,
    /// Time for the whole attempt, from the first packet to the last byte.
    pub total_timeout: Duration,
    /// The longest body, both as sent and after decoding.
    pub body_bytes_max: usize,
    /// The longest header block, interim (1xx) blocks included, and the longest
    /// block of trailers.
    pub header_bytes_max: usize,
    /// The `User-Agent` header.
    pub user_agent: String,
    /// The `Accept` header.
    pub accept: String,
    /// The `Accept-Encoding` header. Codings not known to
    /// [`decode`](crate::decode) would come back undecoded.
    pub accept_encoding: String,
    /// The `Accept-Language` header, if one is sent.
    pub accept_language: Option<String>,
    /// Hosts whose address the operator decided, the first match counting.
    /// Such an address needs no permission from the address policy.
    pub overrides: Vec<(HostPattern, IpAddr)>,
    /// Which addresses may be asked.
    pub address_policy: AddressPolicy,
    /// Name servers to ask instead of the system's.
    pub name_servers: Option<Vec<SocketAddr>>,
    /// Time for one look-up with all its retries.
    pub dns_timeout: Duration,
    /// An address is remembered at least this long.
    pub dns_ttl_min: Duration,
    /// An address is remembered at most this long.
    pub dns_ttl_max: Duration,
    /// How long it is remembered that a name has no address.
    pub dns_negative_ttl: Duration,
    /// The most names remembered.
    pub dns_names_max: usize,
    /// The most connections kept open without work, over all sites.
    pub idle_connections_max: usize,
    /// The most connections kept open without work to one origin.
    pub idle_connections_per_origin_max: usize,
    /// The longest a connection is kept open without work.
    pub idle_age_max: Duration,
    /// Open connections to one address, idle ones included.
    pub connections_per_address_max: usize,
    /// Proxies to go through; directly where there is none.
    pub proxies: Vec<Proxy>,
    /// Which of several proxies serves a request.
    pub proxy_rotation: ProxyRotation,
    /// Whether HTTP/2 is spoken where an encrypted host offers it.
    pub http2: bool,
    /// Whether the machine's certificate authorities are trusted; where it has
    /// none, a list that is built in serves.
    pub native_roots: bool,
    /// Signs every request, if there is one.
    pub signer: Option<Signer>,
    /// Certificate authorities trusted besides.
    pub extra_roots: Vec<CertificateDer<'static>>,
}

impl Default for FetchConfig {
    fn default() -> Self {
        Self {
            connect_timeout: Duration::from_secs(5),
            silence_timeout: Duration::from_secs(5),
            total_timeout: Duration::from_mins(1),
            body_bytes_max: 16 << 20,
            header_bytes_max: 64 << 10,
            user_agent: concat!("geomi/", env!("CARGO_PKG_VERSION")).to_owned(),
            accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8".to_owned(),
            accept_encoding: "gzip, deflate, br, zstd".to_owned(),
            accept_language: None,
            overrides: Vec::new(),
            address_policy: AddressPolicy::default(),
            name_servers: None,
            dns_timeout: Duration::from_secs(10),
            dns_ttl_min: Duration::from_mins(1),
            dns_ttl_max: Duration::from_hours(6),
            dns_negative_ttl: Duration::from_mins(5),
            dns_names_max: 16_384,
            idle_connections_max: 256,
            idle_connections_per_origin_max: 8,
            idle_age_max: Duration::from_mins(1),
            connections_per_address_max: 4,
            proxies: Vec::new(),
            proxy_rotation: ProxyRotation::default(),
            http2: true,
            native_roots: true,
            signer: None,
            extra_roots: Vec::new(),
        }
    }
}

impl FetchConfig {
    /// The address the operator decided for a host.
    pub(crate) fn override_for(&self, host: &str) -> Option<IpAddr> {
        let host = bare_host(host);
        let found = self.overrides.iter().find(|(p, _)| p.matches(host));
        found.map(|(_, addr)| *addr)
    }

    pub(crate) fn validate(&self) -> Result<(), FetchError> {
        let language = self.accept_language.as_deref().unwrap_or("");
        for (header, value) in [
            ("User-Agent", self.user_agent.as_str()),
            ("Accept", &self.accept),
            ("Accept-Encoding", &self.accept_encoding),
            ("Accept-Language", language),
        ] {
            if !is_header_value(value) {
                return Err(FetchError::HeaderValue {
                    header,
                    value: value.to_owned(),
                });
            }
        }
        for (setting, is_zero) in [
            ("connect_timeout", self.connect_timeout.is_zero()),
            ("silence_timeout", self.silence_timeout.is_zero()),
            ("total_timeout", self.total_timeout.is_zero()),
            ("dns_timeout", self.dns_timeout.is_zero()),
            ("body_bytes_max", self.body_bytes_max == 0),
            ("header_bytes_max", self.header_bytes_max == 0),
            ("dns_names_max", self.dns_names_max == 0),
        ] {
            if is_zero {
                return Err(FetchError::ZeroLimit { setting });
            }
        }
        Ok(())
    }
}

/// Whether a text can stand in a header line without ending it.
pub(crate) fn is_header_value(text: &str) -> bool {
    text.bytes().all(|b| b == b'\t' || (b >= b' ' && b != 0x7f))
}

/// The hosts an override is for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum HostPattern {
    /// Every host: `*`.
    Any,
    /// One host, in lower case and without brackets.
    Host(String),
}

impl HostPattern {
    /// Whether the pattern means this host, given without brackets.
    pub fn matches(&self, host: &str) -> bool {
        match self {
            Self::Any => true,
            Self::Host(wanted) => wanted == host,
        }
    }
}

/// Reads an override as `--resolve` writes it: `HOST:ADDR` or `*:ADDR`.
///
/// ```
/// use geomi_fetch::{HostPattern, parse_override};
/// let (pattern, addr) = parse_override("*:127.0.0.1").unwrap();
/// assert_eq!(pattern, HostPattern::Any);
/// assert!(addr.is_loopback());
/// ```
pub fn parse_override(text: &str) -> Result<(HostPattern, IpAddr), FetchError> {
    let wrong = || FetchError::Override {
        text: text.to_owned(),
    };
    let (host, addr) = text.split_once(':').ok_or_else(wrong)?;
    let addr = bare_host(addr).parse().map_err(|_| wrong())?;
    let pattern = match host {
        "" => return Err(wrong()),
        "*" => HostPattern::Any,
        host => HostPattern::Host(host.to_ascii_lowercase()),
    };
    Ok((pattern, addr))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn overrides_are_read_and_the_first_match_counts() {
        let config = FetchConfig {
            overrides: vec![
                parse_override("Example.com:192.0.2.7").unwrap(),
                parse_override("six.test:::1").unwrap(),
                parse_override("*:127.0.0.1").unwrap(),
            ],
            ..FetchConfig::default()
        };
        let of = |host| config.override_for(host).unwrap().to_string();
        assert_eq!(of("example.com"), "192.0.2.7");
        assert_eq!(of("six.test"), "::1");
        assert_eq!(of("other.test"), "127.0.0.1");
        for wrong in ["example.com", ":127.0.0.1", "a:b", "a:127.0.0.1:80"] {
            assert!(parse_override(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn settings_that_cannot_work_are_refused() {
        assert!(FetchConfig::default().validate().is_ok());
        let split = FetchConfig {
            user_agent: "a\r\nX: y".to_owned(),
            ..FetchConfig::default()
        };
        assert!(matches!(
            split.validate(),
            Err(FetchError::HeaderValue {
                header: "User-Agent",
                ..
            })
        ));
        let zero = FetchConfig {
            body_bytes_max: 0,
            ..FetchConfig::default()
        };
        assert!(matches!(
            zero.validate(),
            Err(FetchError::ZeroLimit {
                setting: "body_bytes_max"
            })
        ));
    }
}
