//! The site: the unit of politeness, of RTT and of ownership.

use std::fmt;

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::{CrawlUrl, strong_hash};

/// Host name and port, where 80 and 443 count as one: the same machine serves
/// both, and it is the machine that must not be hurried.
///
/// It is stored as its text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct SiteKey {
    text: Box<str>,
    /// Always that of the text.
    hash: SiteHash,
}

/// 64 bits of a [`SiteKey`] ([`strong_hash`]): the prefix of all its keys in partition
/// state and what decides its partition.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct SiteHash(pub u64);

impl SiteKey {
    pub(crate) fn of(url: &CrawlUrl) -> Self {
        Self {
            text: url.site_text().into(),
            hash: url.site_hash(),
        }
    }

    /// `example.com`, or `example.com:8080` where the port is neither 80 nor 443.
    pub fn as_str(&self) -> &str {
        &self.text
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
        match self.text.rsplit_once(':') {
            // What follows the last colon of an IPv6 literal is not a number.
            Some((host, port)) if !port.ends_with(']') => (host, port.parse().ok()),
            _ => (&self.text, None),
        }
    }

    /// 64-bit hash of the key.
    pub const fn hash64(&self) -> SiteHash {
        self.hash
    }

    /// Whether a URL belongs to this site. Unlike a comparison of hashes, this has no
    /// false positives.
    pub fn is_of(&self, url: &CrawlUrl) -> bool {
        self.hash == url.site_hash() && *self.text == *url.site_text()
    }
}

impl SiteHash {
    /// The hash of a site by the text of its key.
    pub(crate) fn of(text: &str) -> Self {
        Self(strong_hash(text.as_bytes()))
    }
}

impl Serialize for SiteKey {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for SiteKey {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = Box::<str>::deserialize(deserializer)?;
        let hash = SiteHash::of(&text);
        Ok(Self { text, hash })
    }
}

impl fmt::Debug for SiteKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "SiteKey({})", self.text)
    }
}

impl fmt::Display for SiteKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
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
    fn a_key_is_stored_as_its_text_and_has_its_hash_when_read() {
        let key = CrawlUrl::parse("http://example.com:8080/x").unwrap().site();
        let bytes = postcard::to_stdvec(&key).unwrap();
        assert_eq!(bytes, postcard::to_stdvec("example.com:8080").unwrap());
        let read: SiteKey = postcard::from_bytes(&bytes).unwrap();
        assert_eq!((&read, read.hash64()), (&key, key.hash64()));
    }

    #[test]
    fn a_site_has_the_urls_of_its_host_and_port() {
        let url = |text| CrawlUrl::parse(text).unwrap();
        let site = url("http://example.com/a").site();
        assert!(site.is_of(&url("https://example.com/b")));
        assert!(!site.is_of(&url("http://example.com:81/a")));
        // Whoever has its hash but not its name does not belong to it.
        let other = url("http://other.test/").site();
        let forged = SiteKey {
            text: other.text.clone(),
            hash: site.hash,
        };
        assert!(!forged.is_of(&url("http://example.com/a")));
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
