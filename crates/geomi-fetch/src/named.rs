//! Hosts the operator named that may be at an address which is not public.
//!
//! The exemption is narrow on purpose. What a public name resolves to is decided
//! by its owner, so naming `www.example.com` must not let that owner point geomi
//! at 127.0.0.1. Only hosts whose address the operator's own network decides are
//! taken: address literals, and names that are internal by form
//! ([`is_internal_name`]). And only the site that was named is: host and port,
//! where 80 and 443 are one site, as everywhere in geomi.

use std::collections::HashSet;
use std::fmt;
use std::net::IpAddr;
use std::str::FromStr;
use std::sync::{Arc, PoisonError, RwLock};

use geomi_url::CrawlUrl;

use crate::FetchError;
use crate::policy::bare_host;

/// Endings of names that the public name system does not serve: reserved by
/// RFC 6761, RFC 6762, RFC 8375 and ICANN, or never delegated (`lan`, `intranet`).
const INTERNAL_ENDINGS: [&str; 7] = [
    ".localhost",
    ".local",
    ".internal",
    ".lan",
    ".home.arpa",
    ".test",
    ".intranet",
];

/// Whether a host is internal by its form, wherever it leads: an address literal,
/// a name without a dot, or a name under an ending that nobody on the internet
/// can register.
///
/// ```
/// use geomi_fetch::is_internal_name;
/// assert!(is_internal_name("10.0.0.1") && is_internal_name("wiki.local"));
/// assert!(!is_internal_name("wiki.example.com"));
/// ```
pub fn is_internal_name(host: &str) -> bool {
    let bare = bare_host(host);
    bare.parse::<IpAddr>().is_ok()
        || !bare.contains('.')
        || INTERNAL_ENDINGS.iter().any(|ending| bare.ends_with(ending))
}

/// A host and the port it may be asked at; without a port, at any.
///
/// Written `wiki.local`, `wiki.local:8080`, `10.0.0.1:80` or `[::1]:8080`.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct NamedHost {
    /// In lower case and without brackets.
    host: Box<str>,
    port: Option<u16>,
}

impl NamedHost {
    /// The host and port of a URL.
    pub fn of(url: &CrawlUrl) -> Self {
        Self::new(url.host(), Some(url.port()))
    }

    fn new(host: &str, port: Option<u16>) -> Self {
        Self {
            host: bare_host(host).to_ascii_lowercase().into(),
            port: port.map(site_port),
        }
    }

    /// Whether it may be exempt at all; see [`is_internal_name`].
    pub fn is_internal(&self) -> bool {
        is_internal_name(&self.host)
    }
}

/// 80 and 443 are one site.
fn site_port(port: u16) -> u16 {
    if port == 443 { 80 } else { port }
}

impl FromStr for NamedHost {
    type Err = FetchError;

    fn from_str(text: &str) -> Result<Self, FetchError> {
        let wrong = || FetchError::NamedHost {
            text: text.to_owned(),
        };
        let (host, port) = match text.rsplit_once(':') {
            // The colons of an IPv6 literal without brackets are not a port's.
            Some((host, port)) if !host.contains(':') || host.ends_with(']') => {
                (host, Some(port.parse().map_err(|_| wrong())?))
            }
            _ => (text, None),
        };
        if bare_host(host).is_empty() {
            return Err(wrong());
        }
        Ok(Self::new(host, port))
    }
}

impl fmt::Display for NamedHost {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let host = &self.host;
        match self.port {
            Some(port) if host.contains(':') => write!(f, "[{host}]:{port}"),
            Some(port) => write!(f, "{host}:{port}"),
            None => f.write_str(host),
        }
    }
}

/// The named hosts of a crawl. Clones share them, so that seeds that come while
/// a crawl runs can add to them.
#[derive(Clone, Debug, Default)]
pub struct NamedHosts(Arc<RwLock<HashSet<NamedHost>>>);

impl NamedHosts {
    /// Exempts a host from the next request on, and says whether it may be:
    /// a name that is public by form is left out.
    pub fn insert(&self, host: NamedHost) -> bool {
        if !host.is_internal() {
            return false;
        }
        // A set has no half-inserted state: a poisoned lock is as good as another.
        let mut hosts = self.0.write().unwrap_or_else(PoisonError::into_inner);
        hosts.insert(host);
        true
    }

    pub(crate) fn contains(&self, host: &str, port: u16) -> bool {
        let hosts = self.0.read().unwrap_or_else(PoisonError::into_inner);
        if hosts.is_empty() {
            return false;
        }
        let exact = NamedHost::new(host, Some(port));
        if hosts.contains(&exact) {
            return true;
        }
        let any_port = NamedHost {
            port: None,
            ..exact
        };
        hosts.contains(&any_port)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(text: &str) -> NamedHost {
        text.parse().unwrap()
    }

    #[test]
    fn names_are_internal_by_form_only() {
        for host in [
            "127.0.0.1",
            "8.8.8.8",
            "[::1]",
            "fd00::1",
            "localhost",
            "a.localhost",
            "intranet",
            "nas.local",
            "vm.internal",
            "router.lan",
            "tv.home.arpa",
            "shop.test",
        ] {
            assert!(is_internal_name(host), "{host}");
        }
        for host in [
            "example.com",
            "localhost.example.com",
            "10.0.0.1.nip.io",
            "local.kr",
            "mylocal.dev",
        ] {
            assert!(!is_internal_name(host), "{host}");
        }
    }

    #[test]
    fn written_as_host_or_host_and_port() {
        for (text, shown) in [
            ("Intranet", "intranet"),
            ("intranet:8080", "intranet:8080"),
            ("intranet:443", "intranet:80"),
            ("[::1]", "::1"),
            ("::1", "::1"),
            ("[::1]:8080", "[::1]:8080"),
            ("10.0.0.1:80", "10.0.0.1:80"),
        ] {
            assert_eq!(named(text).to_string(), shown);
            assert_eq!(named(shown), named(text));
        }
        for wrong in ["", ":80", "[]:80", "host:port", "host:70000"] {
            assert!(wrong.parse::<NamedHost>().is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_set_holds_a_host_at_its_port() {
        let hosts = NamedHosts::default();
        let in_use = hosts.clone();
        assert!(hosts.insert(named("intranet:8080")));
        assert!(hosts.insert(named("[::1]")));
        assert!(hosts.insert(named("web.test:443")));
        assert!(!hosts.insert(named("example.com:80")));
        assert!(in_use.contains("intranet", 8080));
        assert!(!in_use.contains("intranet", 80));
        assert!(in_use.contains("[::1]", 1) && in_use.contains("::1", 80));
        assert!(in_use.contains("web.test", 80) && in_use.contains("web.test", 443));
        assert!(!in_use.contains("example.com", 80));
    }
}
