//! One spelling for one URL.
//!
//! [`CrawlUrl`] can only be made by a constructor that normalises, so two equal
//! `CrawlUrl`s are one page and the seen test may compare hashes. On top of the
//! WHATWG parser (lower-case scheme and host, IDN to Punycode, default port
//! dropped, dot segments removed) it
//!
//! * accepts `http` and `https` only,
//! * drops the fragment, which never reaches a server,
//! * drops user name and password, so that a link cannot make us send them,
//! * drops trailing dots of the host and a bare trailing `?`,
//! * writes percent escapes in upper case and decodes those that stand for an
//!   unreserved character (RFC 3986 §6.2.2); a `%` that begins no escape stays as it
//!   is, as browsers send it.

use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};

use serde::de::Visitor;
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use url::Url;

use crate::url_text::UrlText;
use crate::{SiteHash, SiteKey, strong_hash};

/// A normalised absolute `http` or `https` URL.
///
/// ```
/// use geomi_url::CrawlUrl;
/// let page = CrawlUrl::parse("HTTP://Example.COM:80/a/../b?q=1#top").unwrap();
/// assert_eq!(page.as_str(), "http://example.com/b?q=1");
/// assert_eq!(page.join("/c%7ed").unwrap().as_str(), "http://example.com/c~d");
/// ```
///
/// Its hashes are made with it, where it is parsed: they are asked for several times,
/// mostly on threads that have more to do. It is stored as its text.
#[derive(Clone)]
pub struct CrawlUrl {
    text: UrlText,
    host_end: u32,
    path_start: u32,
    hash: UrlHash,
    site_hash: SiteHash,
}

/// Why a string is not a URL we could visit.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum UrlError {
    /// The WHATWG parser refuses the text.
    #[error("not a URL: {0}")]
    Syntax(#[from] url::ParseError),
    /// The scheme is neither `http` nor `https`.
    #[error("scheme {0:?} is not http or https")]
    Scheme(String),
    /// There is no host to ask.
    #[error("the URL has no host")]
    NoHost,
}

/// 64 bits of a URL's normalised spelling ([`strong_hash`]); the key of the seen test.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Serialize, Deserialize)]
pub struct UrlHash(pub u64);

impl CrawlUrl {
    /// Parses and normalises an absolute URL.
    pub fn parse(text: &str) -> Result<Self, UrlError> {
        Self::from_url(&Url::parse(text)?)
    }

    /// Takes an absolute URL that needs no parser, as most do: a plain host
    /// name or IPv4 address and a plain path. `None` says nothing but that the
    /// parser has to look at it.
    pub fn parse_plain(text: &str) -> Option<Self> {
        let is_https = text.starts_with("https://");
        let host_start = if is_https { 8 } else { 7 };
        if !is_https && !text.starts_with("http://") {
            return None;
        }
        let path_start = host_start + text[host_start..].find('/')?;
        let authority = &text[host_start..path_start];
        let (host, port) = authority
            .split_once(':')
            .map_or((authority, None), |(h, p)| (h, Some(p)));
        let default_port = if is_https { "443" } else { "80" };
        let good_port =
            port.is_none_or(|port| port != default_port && is_plain_number(port, u16::MAX));
        if !good_port || !is_plain_host(host) || !is_plain(&text[path_start..]) {
            return None;
        }
        let host_end = host_start + host.len();
        Some(Self::of_parts(text, host_end as u32, path_start as u32))
    }

    /// Resolves a reference found on this page.
    pub fn join(&self, reference: &str) -> Result<Self, UrlError> {
        if let Some(url) = self.join_plain(reference) {
            return Ok(url);
        }
        Self::from_url(&self.to_url().join(with_two_slashes(reference))?)
    }

    /// Resolves a reference that needs no parser, as most do: a path on this
    /// page's site in plain characters, without dot segments except `../` at its
    /// start. `None` says nothing but that the parser has to look at it.
    pub fn join_plain(&self, reference: &str) -> Option<Self> {
        let mut reference = reference;
        let directory = if reference.starts_with('/') {
            self.origin()
        } else {
            let mut path = parent(self.path())?;
            while let Some(rest) = reference.strip_prefix("../") {
                // Above the top there is only the top.
                path = parent(&path[..path.len() - 1]).unwrap_or("/");
                reference = rest;
            }
            &self.text[..self.path_start as usize + path.len()]
        };
        if !is_plain(reference) || (reference.starts_with('/') && directory.ends_with('/')) {
            return None;
        }
        let text = UrlText::concat(directory, reference);
        Some(Self {
            hash: UrlHash(strong_hash(text.as_bytes())),
            text,
            ..*self
        })
    }

    /// Normalises what the WHATWG parser produced. Callers that resolve many
    /// references against one base keep the parsed base and use this.
    pub fn from_url(url: &Url) -> Result<Self, UrlError> {
        if !matches!(url.scheme(), "http" | "https") {
            return Err(UrlError::Scheme(url.scheme().to_owned()));
        }
        let host = url.host_str().ok_or(UrlError::NoHost)?;
        let trimmed = host.trim_end_matches('.');
        if trimmed.is_empty() {
            return Err(UrlError::NoHost);
        }
        // Without its dots a name may be a number, and so an address: `0x7f.1..`.
        let reread;
        let host = if trimmed.len() == host.len() {
            host
        } else {
            reread = url::Host::parse(trimmed)?.to_string();
            &reread
        };
        let mut text = String::with_capacity(url.as_str().len());
        text.push_str(url.scheme());
        text.push_str("://");
        text.push_str(host);
        let host_end = text.len() as u32;
        if let Some(port) = url.port() {
            text.push(':');
            text.push_str(&port.to_string());
        }
        let path_start = text.len() as u32;
        push_normalised_escapes(&mut text, url.path());
        if let Some(query) = url.query().filter(|query| !query.is_empty()) {
            text.push('?');
            push_normalised_escapes(&mut text, query);
        }
        Ok(Self::of_parts(&text, host_end, path_start))
    }

    fn of_parts(text: &str, host_end: u32, path_start: u32) -> Self {
        let mut url = Self {
            text: text.into(),
            host_end,
            path_start,
            hash: UrlHash(strong_hash(text.as_bytes())),
            site_hash: SiteHash(0),
        };
        url.site_hash = SiteHash::of(url.site_text());
        url
    }

    /// The normalised spelling.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The URL for the WHATWG parser's API.
    pub fn to_url(&self) -> Url {
        Url::parse(&self.text).expect("a normalised URL parses")
    }

    /// Whether the scheme is `https`.
    pub fn is_https(&self) -> bool {
        self.text.starts_with("https:")
    }

    /// Host name or address literal, IPv6 in brackets.
    pub fn host(&self) -> &str {
        &self.text[self.host_start()..self.host_end as usize]
    }

    /// The port to connect to.
    pub fn port(&self) -> u16 {
        let explicit = &self.text[self.host_end as usize..self.path_start as usize];
        match explicit.strip_prefix(':') {
            Some(digits) => digits.parse().expect("the parser checked the port"),
            None if self.is_https() => 443,
            None => 80,
        }
    }

    /// Scheme, host and port as written before the path: `http://example.com:8080`.
    pub fn origin(&self) -> &str {
        &self.text[..self.path_start as usize]
    }

    /// Host with the port where it is not the scheme's own: the `Host` header.
    pub fn authority(&self) -> &str {
        &self.text[self.host_start()..self.path_start as usize]
    }

    /// Path and query: the request target.
    pub fn path_and_query(&self) -> &str {
        &self.text[self.path_start as usize..]
    }

    /// Path without the query.
    pub fn path(&self) -> &str {
        let rest = self.path_and_query();
        rest.split_once('?').map_or(rest, |(path, _)| path)
    }

    /// Query without its `?`.
    pub fn query(&self) -> Option<&str> {
        self.path_and_query()
            .split_once('?')
            .map(|(_, query)| query)
    }

    /// The site this page belongs to.
    pub fn site(&self) -> SiteKey {
        SiteKey::of(self)
    }

    /// Hash of the site's key, without making the key: what the common case, a
    /// link seen before, needs of its site.
    pub const fn site_hash(&self) -> SiteHash {
        self.site_hash
    }

    /// The site's key as it stands in the URL.
    pub(crate) fn site_text(&self) -> &str {
        let port = &self.text[self.host_end as usize..self.path_start as usize];
        match port {
            "" | ":80" | ":443" => self.host(),
            _ => self.authority(),
        }
    }

    /// 64-bit hash of the spelling.
    pub const fn hash64(&self) -> UrlHash {
        self.hash
    }

    fn host_start(&self) -> usize {
        if self.is_https() {
            "https://".len()
        } else {
            "http://".len()
        }
    }
}

/// A reference found on an `http` page, its first slashes being two at most. The
/// standard passes over the others (`///host/` names a host, and so does
/// `/\\/host`); the parser takes them for an empty host when there is a base.
///
/// ```
/// use geomi_url::with_two_slashes;
/// assert_eq!(with_two_slashes("////host/x"), "//host/x");
/// assert_eq!(with_two_slashes("/path//x"), "/path//x");
/// ```
pub fn with_two_slashes(reference: &str) -> &str {
    let trimmed = reference.trim_start_matches(|c: char| c <= ' ');
    let slashes = trimmed
        .bytes()
        .take_while(|byte| matches!(byte, b'/' | b'\\'))
        .count();
    if slashes > 2 {
        &trimmed[slashes - 2..]
    } else {
        reference
    }
}

/// A path up to its last slash, which is kept.
fn parent(path: &str) -> Option<&str> {
    Some(&path[..=path.rfind('/')?])
}

/// Whether a host is written as the parser would write it: a name in lower
/// case without Punycode whose last label is no number, or four plain numbers.
fn is_plain_host(host: &str) -> bool {
    let last = host.rsplit('.').next().unwrap_or("");
    if last.bytes().all(|byte| byte.is_ascii_digit()) {
        let mut octets = 0;
        return host.split('.').all(|octet| {
            octets += 1;
            is_plain_number(octet, 255)
        }) && octets == 4;
    }
    let plain_byte = |byte: u8| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'-');
    let plain_label =
        |label: &str| !label.is_empty() && label.bytes().all(plain_byte) && !label.contains("--");
    // A last label like 0x1 would be read as a number.
    host.split('.').all(plain_label) && last.starts_with(|c: char| c.is_ascii_lowercase())
}

/// Whether a number is written without leading zeros and is not too large.
fn is_plain_number(text: &str, max: u16) -> bool {
    let digits = text.bytes().all(|byte| byte.is_ascii_digit());
    let canonical = text == "0" || !text.starts_with('0');
    digits
        && canonical
        && text.len() <= 5
        && text
            .parse::<u32>()
            .is_ok_and(|number| number <= u32::from(max))
}

/// Whether a reference is a path, with or without a query, that the parser
/// would take as it stands.
fn is_plain(reference: &str) -> bool {
    let bytes = reference.as_bytes();
    let starts_well = match bytes {
        [b'/', next, ..] => *next != b'/',
        [first, ..] => first.is_ascii_alphanumeric() || *first == b'/',
        [] => false,
    };
    let mut before = b'/';
    let mut in_query = false;
    for &byte in bytes {
        match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'-' | b'_' | b'~' | b'/' => {}
            b'?' if !in_query => in_query = true,
            // A dot segment begins with a dot; one inside a name is harmless.
            b'.' if before != b'/' || in_query => {}
            b'=' | b'&' if in_query => {}
            _ => return false,
        }
        before = byte;
    }
    // A bare question mark at the end is dropped when normalising.
    starts_well && before != b'?'
}

fn push_normalised_escapes(out: &mut String, part: &str) {
    let mut rest = part;
    while let Some(at) = rest.find('%') {
        out.push_str(&rest[..at]);
        match escape_value(rest.as_bytes(), at) {
            // What is decoded must not complete an escape that was none.
            Some(byte)
                if is_unreserved(byte) && !(byte.is_ascii_hexdigit() && ends_in_stray(out)) =>
            {
                out.push(byte as char);
            }
            Some(byte) => {
                const HEX: &[u8; 16] = b"0123456789ABCDEF";
                out.push('%');
                out.push(HEX[usize::from(byte >> 4)] as char);
                out.push(HEX[usize::from(byte & 15)] as char);
            }
            // A stray percent sign.
            None => {
                out.push('%');
                rest = &rest[at + 1..];
                continue;
            }
        }
        rest = &rest[at + 3..];
    }
    out.push_str(rest);
}

/// Whether text whose escapes are all complete ends in a stray `%`, or in one and a
/// digit.
fn ends_in_stray(text: &str) -> bool {
    match text.as_bytes() {
        [.., b'%'] => true,
        [.., b'%', digit] => digit.is_ascii_hexdigit(),
        _ => false,
    }
}

fn escape_value(bytes: &[u8], at: usize) -> Option<u8> {
    let digit = |offset: usize| (*bytes.get(at + offset)? as char).to_digit(16);
    Some((digit(1)? * 16 + digit(2)?) as u8)
}

/// Unreserved by RFC 3986, less the dot: decoding `%2e` could make a dot
/// segment the parser has already passed.
fn is_unreserved(byte: u8) -> bool {
    byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'~')
}

// All by the text, which everything else of a URL follows from.

impl PartialEq for CrawlUrl {
    fn eq(&self, other: &Self) -> bool {
        self.hash == other.hash && self.text == other.text
    }
}

impl Eq for CrawlUrl {}

impl PartialOrd for CrawlUrl {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for CrawlUrl {
    fn cmp(&self, other: &Self) -> Ordering {
        self.text.cmp(&other.text)
    }
}

impl Hash for CrawlUrl {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.hash.hash(state);
    }
}

impl fmt::Display for CrawlUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

impl fmt::Debug for CrawlUrl {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "CrawlUrl({})", self.as_str())
    }
}

impl std::str::FromStr for CrawlUrl {
    type Err = UrlError;
    fn from_str(text: &str) -> Result<Self, UrlError> {
        Self::parse(text)
    }
}

impl Serialize for CrawlUrl {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(&self.text)
    }
}

impl<'de> Deserialize<'de> for CrawlUrl {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_str(Stored)
    }
}

/// Reads a URL that was written by `serialize`.
struct Stored;

impl Visitor<'_> for Stored {
    type Value = CrawlUrl;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a normalised http(s) URL")
    }

    /// Stored URLs were normalised before they were written, so their parts can
    /// be found again without the parser: it costs a page's worth of time when
    /// thousands of queue entries are read back.
    fn visit_str<E: serde::de::Error>(self, text: &str) -> Result<CrawlUrl, E> {
        let (host_end, path_start) =
            split_normalised(text).ok_or_else(|| E::custom("not a normalised http(s) URL"))?;
        Ok(CrawlUrl::of_parts(text, host_end, path_start))
    }
}

fn split_normalised(text: &str) -> Option<(u32, u32)> {
    let host_start = if text.starts_with("https://") {
        8
    } else if text.starts_with("http://") {
        7
    } else {
        return None;
    };
    let path_start = host_start + text[host_start..].find('/')?;
    let authority = &text[host_start..path_start];
    // A colon inside brackets belongs to an IPv6 address.
    let host_len = match authority.rfind(':') {
        Some(colon) if !authority[colon..].contains(']') => colon,
        _ => authority.len(),
    };
    (host_len > 0).then_some(((host_start + host_len) as u32, path_start as u32))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn check(input: &str, expected: &str) {
        assert_eq!(
            CrawlUrl::parse(input).unwrap().as_str(),
            expected,
            "from {input:?}"
        );
    }

    #[test]
    fn spellings_of_one_url_are_one() {
        check("http://EXAMPLE.com", "http://example.com/");
        check("https://example.com:443/x", "https://example.com/x");
        check("http://example.com./x", "http://example.com/x");
        check("http://u:p@example.com/x#frag", "http://example.com/x");
        check("http://example.com/a/./b/../c", "http://example.com/a/c");
        check(
            "http://example.com/%7euser/%e3%81",
            "http://example.com/~user/%E3%81",
        );
        check("http://example.com/?", "http://example.com/");
        check("http://한글.kr/가", "http://xn--bj0bj06e.kr/%EA%B0%80");
        check("http://[::1]:8080/x", "http://[::1]:8080/x");
    }

    #[test]
    fn different_pages_stay_different() {
        check("http://example.com/A", "http://example.com/A");
        check("http://example.com/?b=2&a=1", "http://example.com/?b=2&a=1");
        check("http://example.com/a%2Fb", "http://example.com/a%2Fb");
        check("http://example.com/100%", "http://example.com/100%");
        check(
            "http://example.com/100%/x%zz",
            "http://example.com/100%/x%zz",
        );
        check(
            "http://example.com/?a=5%&b=%4",
            "http://example.com/?a=5%&b=%4",
        );
        check("http://example.com/100%25", "http://example.com/100%25");
    }

    #[test]
    fn decoding_makes_no_new_escapes() {
        check("http://example.com/%%36%31", "http://example.com/%%361");
        check("http://example.com/%4%31", "http://example.com/%4%31");
        check("http://example.com/%4%7a", "http://example.com/%4z");
        check("http://example.com/%%7E%61", "http://example.com/%~a");
    }

    #[test]
    fn what_cannot_be_visited_is_refused() {
        assert!(matches!(
            CrawlUrl::parse("mailto:a@b.c"),
            Err(UrlError::Scheme(_))
        ));
        assert!(matches!(
            CrawlUrl::parse("/relative"),
            Err(UrlError::Syntax(_))
        ));
        assert!(CrawlUrl::parse("http://").is_err());
        assert!(matches!(
            CrawlUrl::parse("http://./"),
            Err(UrlError::NoHost)
        ));
    }

    #[test]
    fn plain_urls_need_no_parser_and_others_are_left_to_it() {
        for plain in [
            "http://example.com/",
            "https://a-b.example.kr:8443/x/y.html?q=1",
            "http://127.0.1.5:81/0",
        ] {
            assert_eq!(
                CrawlUrl::parse_plain(plain),
                CrawlUrl::parse(plain).ok(),
                "{plain}"
            );
            assert!(CrawlUrl::parse_plain(plain).is_some(), "{plain}");
        }
        for other in [
            "http://Example.com/",
            "http://example.com",
            "http://example.com:80/",
            "http://127.1/",
            "http://xn--a/",
            "http://u@e.com/",
            "http://e.com/%41",
            "http://e.com//a",
            "http://e.com/../a",
        ] {
            assert_eq!(CrawlUrl::parse_plain(other), None, "{other}");
        }
    }

    #[test]
    fn parts_are_found_again() {
        let url = CrawlUrl::parse("https://example.com:8443/p/q?x=1?y").unwrap();
        assert_eq!(url.host(), "example.com");
        assert_eq!(url.port(), 8443);
        assert_eq!(url.authority(), "example.com:8443");
        assert_eq!(url.origin(), "https://example.com:8443");
        assert_eq!(url.path(), "/p/q");
        assert_eq!(url.query(), Some("x=1?y"));
        assert_eq!(CrawlUrl::parse("http://[::1]/").unwrap().host(), "[::1]");
    }

    proptest! {
        #[test]
        fn plain_references_resolve_as_the_parser_would(page in "[a-z/.]{0,12}", reference in "[a-z0-9/.?=&~:%#-]{0,14}") {
            let base = CrawlUrl::parse(&format!("http://example.com:81/{page}?q=1")).unwrap();
            if let Some(quick) = base.join_plain(&reference) {
                let parsed = base.to_url().join(&reference).unwrap();
                prop_assert_eq!(quick.clone(), CrawlUrl::from_url(&parsed).unwrap());
                prop_assert_eq!(quick.origin(), base.origin());
                prop_assert_eq!(quick.site_hash(), CrawlUrl::from_url(&parsed).unwrap().site_hash());
            }
        }

        #[test]
        fn plain_urls_are_taken_as_the_parser_would(
            host in "([a-z0-9-]{1,4}\\.){0,3}[a-z0-9-]{0,3}|[0-9]{1,3}\\.[0-9]{1,3}\\.[0-9]{1,2}\\.[0-9]{1,3}",
            port in "(:[0-9]{0,5})?",
            path in "[a-z/.?=%#]{0,8}",
        ) {
            let text = format!("http://{host}{port}/{path}");
            if let Some(quick) = CrawlUrl::parse_plain(&text) {
                let parsed = Url::parse(&text).map_err(|error| TestCaseError::fail(format!("{text}: {error}")))?;
                prop_assert_eq!(quick, CrawlUrl::from_url(&parsed).unwrap());
            }
        }

        #[test]
        fn escapes_of_any_shape_are_normalised_once(path in "[%0-9a-f]{0,16}") {
            if let Ok(once) = CrawlUrl::parse(&format!("http://example.com/x{path}")) {
                prop_assert_eq!(&once, &CrawlUrl::parse(once.as_str()).unwrap());
            }
        }

        #[test]
        fn normalising_twice_changes_nothing(path in "[ -~]{0,40}", query in "[ -~]{0,20}") {
            if let Ok(once) = CrawlUrl::parse(&format!("http://example.com/{path}?{query}")) {
                let twice = CrawlUrl::parse(once.as_str()).unwrap();
                prop_assert_eq!(&once, &twice);
                prop_assert_eq!(once.hash64(), twice.hash64());
            }
        }

        #[test]
        fn stored_urls_come_back_whole(host in "[a-z]{1,8}(\\.[a-z]{2,3})?", port in 1u16.., path in "[ -~]{0,30}") {
            if let Ok(url) = CrawlUrl::parse(&format!("http://{host}:{port}/{path}")) {
                let json = serde_json::to_string(&url).unwrap();
                let back: CrawlUrl = serde_json::from_str(&json).unwrap();
                prop_assert_eq!(back.port(), url.port());
                prop_assert_eq!((back.hash64(), back.site_hash()), (url.hash64(), url.site_hash()));
                prop_assert_eq!(back, url);
            }
        }
    }
}
