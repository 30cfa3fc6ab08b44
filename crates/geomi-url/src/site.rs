//! The site: the unit of politeness, of RTT and of ownership.

use std::fmt;

use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::CrawlUrl;

/// Host name and port, where 80 and 443 count as one: the same machine serves
/// both, and it is the machine that must not be hurried.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct SiteKey(Box<str>);

/// 64 bits of a [`SiteKey`]: the prefix of all its keys in partition state and
/// what decides its partition.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct SiteHash(pub u64);

impl SiteKey {
    pub(crate) fn of(url: &CrawlUrl) -> Self {
        Self(url.site_text().into())
    }

    /// `example.com`, or `example.com:8080` where the port is neither 80 nor 443.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Its host, as it stands in a URL.
    pub fn host(&self) -> &str {
        self.split().0
    }

    /// Its port; 80 where 80 and 443 are one.
    pub fn port(&self) -> u16 {
        self.split().1.unwrap_or(80)
    }

    fn split(&self) -> (&str, Option<u16>) {
        match self.0.rsplit_once(':') {
            // What follows the last colon of an IPv6 literal is not a number.
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()),
            _ => (&self.0, None),
        }
    }

    /// 64-bit hash of the key.
    pub fn hash64(&self) -> SiteHash {
        SiteHash(xxh3_64(self.0.as_bytes()))
    }
}

impl fmt::Display for SiteKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

/// The registrable domain of a host (`news.example.co.kr` → `example.co.kr`)
/// by the public suffix list; an address literal or a bare suffix is its own.
pub fn registrable_domain(host: &str) -> &str {
    if is_address(host) {
        return host;
    }
    psl::domain_str(host).unwrap_or(host)
}

/// The public suffix of a host (`news.example.co.kr` → `co.kr`): what kind of name it is
/// under. An address literal has none.
pub fn public_suffix(host: &str) -> Option<&str> {
    if is_address(host) {
        return None;
    }
    psl::suffix_str(host)
}

fn is_address(host: &str) -> bool {
    host.starts_with('[') || host.parse::<std::net::Ipv4Addr>().is_ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(url: &str) -> String {
        CrawlUrl::parse(url).unwrap().site().to_string()
    }

    #[test]
    fn http_and_https_on_their_own_ports_are_one_site() {
        assert_eq!(site("http://example.com/a"), "example.com");
        assert_eq!(site("https://example.com/b"), "example.com");
        assert_eq!(site("https://example.com:80/b"), "example.com");
        assert_eq!(site("http://example.com:8080/"), "example.com:8080");
        assert_eq!(site("http://[::1]:81/"), "[::1]:81");
        let url = CrawlUrl::parse("http://example.com:8080/x").unwrap();
        assert_eq!(url.site_hash(), url.site().hash64());
    }

    #[test]
    fn registrable_domains_follow_the_public_suffix_list() {
        assert_eq!(registrable_domain("news.example.co.kr"), "example.co.kr");
        assert_eq!(registrable_domain("example.com"), "example.com");
        assert_eq!(registrable_domain("127.0.1.5"), "127.0.1.5");
        assert_eq!(registrable_domain("[::1]"), "[::1]");
        assert_eq!(registrable_domain("localhost"), "localhost");
    }

    #[test]
    fn a_suffix_says_what_a_name_is_under() {
        assert_eq!(public_suffix("news.example.co.kr"), Some("co.kr"));
        assert_eq!(public_suffix("example.com"), Some("com"));
        assert_eq!(public_suffix("localhost"), Some("localhost"));
        assert_eq!(public_suffix("127.0.0.1"), None);
        assert_eq!(public_suffix("[::1]"), None);
    }
}
