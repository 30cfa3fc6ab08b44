//! Cookies of servers, kept and sent back as RFC 6265 says.
//!
//! A jar belongs to a registrable domain and a port, 80 and 443 as one: what is
//! set in one jar is never sent from another, so that a cookie cannot leave its
//! domain by naming a public suffix, nor reach a server on another port (where
//! RFC 6265 §8.5 would let it). Within a jar, host, path and `Secure` decide as
//! the standard has it.
//!
//! A redirect is followed as a separate visit, so each request gets the cookies of
//! the site it goes to and no others. Cookies live as long as the run; robots.txt
//! neither gets nor sets any. Jars are bounded in cookies and bytes, and all of
//! them together in bytes: the least recently used go first.

mod line;

use geomi_model::Timestamp;
use geomi_url::{CrawlUrl, registrable_domain};
use hashbrown::HashMap;

use line::Line;

/// Cookies of a jar, at most.
const COOKIES_MAX: usize = 50;
/// Bytes of a jar, at most: servers refuse header lines longer than this.
const JAR_BYTES_MAX: usize = 8 << 10;
/// Bytes of all jars together, at most.
const BYTES_MAX: usize = 32 << 20;
/// What a cookie costs beside its texts.
const OVERHEAD_BYTES: usize = 128;

/// All jars of a crawl.
#[derive(Debug, Default)]
pub(crate) struct Cookies {
    jars: HashMap<Box<str>, Jar>,
    bytes: usize,
    /// Counts uses, to tell jars that are used from those that are not.
    clock: u64,
}

#[derive(Debug, Default)]
struct Jar {
    /// The oldest first.
    cookies: Vec<Cookie>,
    bytes: usize,
    used: u64,
}

#[derive(Debug)]
struct Cookie {
    name: Box<str>,
    value: Box<str>,
    host: Box<str>,
    /// Whether only that very host gets it.
    is_host_only: bool,
    path: Box<str>,
    is_secure: bool,
    expires: Option<Timestamp>,
}

impl Cookies {
    /// Takes in the `Set-Cookie` lines of an answer.
    pub(crate) fn take(&mut self, url: &CrawlUrl, lines: &[String], now: Timestamp) {
        let cookies = lines.iter().filter_map(|text| Cookie::set(url, text, now));
        let cookies: Vec<Cookie> = cookies.collect();
        if cookies.is_empty() {
            return;
        }
        self.clock += 1;
        let jar = self.jars.entry(name_of(url).into()).or_default();
        let before = jar.bytes;
        for cookie in cookies {
            jar.put(cookie, url.is_https(), now);
        }
        jar.used = self.clock;
        self.bytes = self.bytes + jar.bytes - before;
        if self.bytes > BYTES_MAX {
            self.drop_unused();
        }
    }

    /// The `Cookie` field of a request, if there is anything to send.
    pub(crate) fn header(&mut self, url: &CrawlUrl, now: Timestamp) -> Option<String> {
        if self.jars.is_empty() {
            return None;
        }
        let jar = self.jars.get_mut(&*name_of(url))?;
        self.clock += 1;
        jar.used = self.clock;
        let mut sent: Vec<&Cookie> = jar
            .cookies
            .iter()
            .filter(|cookie| cookie.goes_to(url, now))
            .collect();
        // Longer paths first, then the older ones (§5.4).
        sent.sort_by_key(|cookie| std::cmp::Reverse(cookie.path.len()));
        let pairs: Vec<String> = sent
            .iter()
            .map(|cookie| format!("{}={}", cookie.name, cookie.value))
            .collect();
        (!pairs.is_empty()).then(|| pairs.join("; "))
    }

    /// Drops the jars that were not used for longest, down to half the bytes.
    fn drop_unused(&mut self) {
        let mut uses: Vec<(u64, usize)> = self
            .jars
            .values()
            .map(|jar| (jar.used, jar.bytes))
            .collect();
        uses.sort_unstable();
        let mut left = self.bytes;
        let mut oldest_kept = 0;
        for (used, bytes) in uses {
            if left <= BYTES_MAX / 2 {
                break;
            }
            left -= bytes;
            oldest_kept = used + 1;
        }
        self.jars.retain(|_, jar| jar.used >= oldest_kept);
        self.bytes = left;
    }
}

impl Jar {
    /// Puts a cookie in the place of the one it replaces; one that has expired
    /// only takes the other away.
    fn put(&mut self, cookie: Cookie, from_https: bool, now: Timestamp) {
        let same = self.cookies.iter().position(|other| other.is_same(&cookie));
        if let Some(at) = same {
            // What was set in safety is not changed without it.
            if self.cookies[at].is_secure && !from_https {
                return;
            }
            let old = &mut self.cookies[at];
            self.bytes -= old.bytes();
            if cookie.is_over(now) {
                self.cookies.remove(at);
                return;
            }
            self.bytes += cookie.bytes();
            *old = cookie;
        } else if !cookie.is_over(now) {
            self.bytes += cookie.bytes();
            self.cookies.push(cookie);
        }
        while self.cookies.len() > COOKIES_MAX || self.bytes > JAR_BYTES_MAX {
            let over = self.cookies.iter().position(|cookie| cookie.is_over(now));
            let gone = self.cookies.remove(over.unwrap_or(0));
            self.bytes -= gone.bytes();
        }
    }
}

impl Cookie {
    /// What a line sets, if it may set anything (§5.3).
    fn set(url: &CrawlUrl, text: &str, now: Timestamp) -> Option<Self> {
        let line = Line::read(text, now)?;
        if line.is_secure && !url.is_https() {
            return None;
        }
        let host = url.host();
        let is_host_only = match &line.domain {
            None => true,
            // A host that is an address or a public suffix can name itself only: it has a
            // separate jar.
            Some(domain) if may_name(host, domain) => false,
            Some(_) => return None,
        };
        let path = line
            .path
            .unwrap_or_else(|| default_path(url.path()).to_owned());
        Some(Self {
            name: line.name.into(),
            value: line.value.into(),
            host: line.domain.as_deref().unwrap_or(host).into(),
            is_host_only,
            path: path.into(),
            is_secure: line.is_secure,
            expires: line.expires,
        })
    }

    fn goes_to(&self, url: &CrawlUrl, now: Timestamp) -> bool {
        let host_fits = if self.is_host_only {
            url.host() == &*self.host
        } else {
            is_within(url.host(), &self.host)
        };
        host_fits
            && path_fits(url.path(), &self.path)
            && (url.is_https() || !self.is_secure)
            && !self.is_over(now)
    }

    fn is_same(&self, other: &Self) -> bool {
        (&self.name, &self.host, &self.path, self.is_host_only)
            == (&other.name, &other.host, &other.path, other.is_host_only)
    }

    fn is_over(&self, now: Timestamp) -> bool {
        self.expires.is_some_and(|end| end <= now)
    }

    fn bytes(&self) -> usize {
        self.name.len() + self.value.len() + self.host.len() + self.path.len() + OVERHEAD_BYTES
    }
}

/// The name of a URL's jar.
fn name_of(url: &CrawlUrl) -> std::borrow::Cow<'_, str> {
    let domain = registrable_domain(url.host());
    match url.port() {
        80 | 443 => domain.into(),
        port => format!("{domain}:{port}").into(),
    }
}

/// Whether a host may set cookies for a domain: its own, or one above it up to
/// the registrable one.
fn may_name(host: &str, domain: &str) -> bool {
    is_within(host, domain) && is_within(domain, registrable_domain(host))
}

/// Whether a host is a domain or a part of it.
fn is_within(host: &str, domain: &str) -> bool {
    host.strip_suffix(domain)
        .is_some_and(|rest| rest.is_empty() || rest.ends_with('.'))
}

/// §5.1.4.
fn path_fits(path: &str, of_cookie: &str) -> bool {
    path.strip_prefix(of_cookie)
        .is_some_and(|rest| rest.is_empty() || of_cookie.ends_with('/') || rest.starts_with('/'))
}

fn default_path(path: &str) -> &str {
    match path.rfind('/') {
        Some(0) | None => "/",
        Some(last) => &path[..last],
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    const NOW: Timestamp = Timestamp::from_secs(1_700_000_000);

    fn url(text: &str) -> CrawlUrl {
        CrawlUrl::parse(text).unwrap()
    }

    /// What `to` is sent after `from` set these.
    fn sent(from: &str, lines: &[&str], to: &str) -> String {
        let mut cookies = Cookies::default();
        let lines: Vec<String> = lines.iter().map(|&line| line.to_owned()).collect();
        cookies.take(&url(from), &lines, NOW);
        cookies.header(&url(to), NOW).unwrap_or_default()
    }

    #[test]
    fn a_cookie_without_a_domain_goes_to_its_host_alone() {
        let set = |to| sent("http://a.example.com/", &["x=1"], to);
        assert_eq!(set("http://a.example.com/deep/page"), "x=1");
        assert_eq!(set("https://a.example.com/"), "x=1");
        for elsewhere in [
            "http://example.com/",
            "http://b.example.com/",
            "http://b.a.example.com/",
            "http://a.example.com:8080/",
            "http://xa.example.com/",
        ] {
            assert_eq!(set(elsewhere), "", "{elsewhere}");
        }
    }

    #[test]
    fn a_domain_is_shared_up_to_the_registrable_one_and_never_beyond() {
        let set = |domain: &str, to| {
            let line = format!("x=1; Domain={domain}");
            sent("http://a.b.example.co.kr/", &[&line], to)
        };
        assert_eq!(set("example.co.kr", "http://example.co.kr/"), "x=1");
        assert_eq!(set(".b.example.co.kr", "http://c.b.example.co.kr/"), "x=1");
        assert_eq!(set("b.example.co.kr", "http://example.co.kr/"), "");
        for refused in ["co.kr", "kr", "other.co.kr", "c.example.co.kr", "le.co.kr"] {
            assert_eq!(set(refused, "http://a.b.example.co.kr/"), "", "{refused}");
        }
        let pages = |to| sent("http://github.io/", &["x=1; Domain=github.io"], to);
        assert_eq!(pages("http://somebody.github.io/"), "");
        let address = |to| sent("http://127.0.0.1/", &["x=1; Domain=0.0.1"], to);
        assert_eq!(address("http://127.0.0.1/"), "");
    }

    #[test]
    fn secure_cookies_stay_on_https() {
        let from = "https://a.test/";
        assert_eq!(sent(from, &["x=1; Secure"], "https://a.test/"), "x=1");
        assert_eq!(sent(from, &["x=1; Secure"], "http://a.test/"), "");
        assert_eq!(sent("http://a.test/", &["x=1; Secure"], from), "");
        let mut cookies = Cookies::default();
        cookies.take(&url(from), &["x=1; Secure".to_owned()], NOW);
        cookies.take(&url("http://a.test/"), &["x=2".to_owned()], NOW);
        assert_eq!(cookies.header(&url(from), NOW).as_deref(), Some("x=1"));
    }

    #[test]
    fn paths_decide_and_order() {
        let lines = [
            "a=1",
            "b=2; Path=/dir/sub",
            "c=3; Path=/dir",
            "d=4; Path=/other",
        ];
        let set = |to| sent("http://a.test/dir/page", &lines, to);
        assert_eq!(set("http://a.test/dir/sub/x"), "b=2; a=1; c=3");
        assert_eq!(set("http://a.test/dir"), "a=1; c=3");
        assert_eq!(set("http://a.test/directory"), "");
        assert_eq!(set("http://a.test/"), "");
    }

    #[test]
    fn cookies_end_and_can_be_taken_back() {
        let mut cookies = Cookies::default();
        let here = url("http://a.test/");
        let mut set = |line: &str, now| {
            cookies.take(&here, &[line.to_owned()], now);
            cookies.header(&here, now)
        };
        assert_eq!(set("x=1; Max-Age=10", NOW).as_deref(), Some("x=1"));
        let later = NOW + Duration::from_secs(10);
        assert_eq!(set("y=2", later).as_deref(), Some("y=2"));
        assert_eq!(set("y=; Max-Age=0", later), None);
    }

    #[test]
    fn jars_are_bounded() {
        let mut cookies = Cookies::default();
        let here = url("http://a.test/");
        let many: Vec<String> = (0..200).map(|n| format!("c{n}=v")).collect();
        cookies.take(&here, &many, NOW);
        let header = cookies.header(&here, NOW).unwrap();
        assert!(header.ends_with("c199=v"), "the youngest stay: {header}");
        assert!(header.split("; ").count() <= COOKIES_MAX);
        let long = format!("long={}", "x".repeat(4_000));
        for site in 0..20_000 {
            let url = url(&format!("http://site{site}.test/"));
            cookies.take(&url, &[long.clone(), format!("b{long}")], NOW);
        }
        assert!(cookies.bytes <= BYTES_MAX, "{}", cookies.bytes);
        let counted: usize = cookies.jars.values().map(|jar| jar.bytes).sum();
        assert_eq!(cookies.bytes, counted);
        assert!(
            cookies
                .header(&url("http://site19999.test/"), NOW)
                .is_some()
        );
        assert!(cookies.header(&here, NOW).is_none());
    }
}
