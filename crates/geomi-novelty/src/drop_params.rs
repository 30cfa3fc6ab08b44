//! Parameters that are dropped by name: sessions and tracking.
//!
//! An entry is a name (`gclid`), a beginning (`utm_*`), or a name that is dropped
//! only where its value looks drawn by a machine (`sid:token`), for names that
//! mean something else elsewhere. The same names are dropped as parameters of a
//! path segment (`;jsessionid=…`). Names are compared without case.
//!
//! A name that is dropped for its values may still be that of an item: `/view?sid=…`. A
//! session has one value on all links of a page ([`DropParams::not_sessions`]).

use std::collections::BTreeSet;

use geomi_url::CrawlUrl;

/// What is dropped unless somebody says otherwise.
pub const DEFAULT_DROP_PARAMS: [&str; 30] = [
    "utm_*",
    "gclid",
    "gclsrc",
    "dclid",
    "gbraid",
    "wbraid",
    "fbclid",
    "msclkid",
    "yclid",
    "twclid",
    "ttclid",
    "igshid",
    "mc_cid",
    "mc_eid",
    "_ga",
    "_gl",
    "_hsenc",
    "_hsmi",
    "mkt_tok",
    "n_media:token",
    "jsessionid",
    "phpsessid",
    "aspsessionid*",
    "cftoken",
    "cfid:token",
    "sid:token",
    "s:token",
    "session:token",
    "sessionid:token",
    "session_id:token",
];

/// Values shorter than this are no session.
const TOKEN_LEN_MIN: usize = 16;

/// A parameter that looks like a session by name and value, and is none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct NotSession {
    /// Its name, in lower case.
    pub name: String,
    /// Whether it is that of items on the whole site.
    pub is_item: bool,
}

/// An entry that names no parameter.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct BadParam(pub String);

impl std::fmt::Display for BadParam {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:?} names no parameter: write \"name\", \"name*\" or \"name:token\"",
            self.0
        )
    }
}

impl std::error::Error for BadParam {}

/// Whether a path segment is the session of a server that keeps it there, as ASP.NET
/// does: `(S(lit3py55t21z5v55vlm25s55))`.
fn is_session_segment(segment: &str) -> bool {
    let inner = segment.strip_prefix("(S(");
    let inner = inner.and_then(|inner| inner.split_once("))"));
    inner.is_some_and(|(id, _)| id.len() >= 16 && id.bytes().all(|b| b.is_ascii_alphanumeric()))
}

/// The list, ready to be asked.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct DropParams {
    names: BTreeSet<String>,
    beginnings: Vec<String>,
    tokens: BTreeSet<String>,
}

impl DropParams {
    /// Reads the entries.
    ///
    /// ```
    /// use geomi_novelty::{DEFAULT_DROP_PARAMS, DropParams};
    /// use geomi_url::CrawlUrl;
    /// let drop = DropParams::new(DEFAULT_DROP_PARAMS).unwrap();
    /// let url = CrawlUrl::parse("http://e.com/p?id=3&utm_source=x&sid=9").unwrap();
    /// let shorter = drop.apply(&url).unwrap();
    /// assert_eq!(shorter.as_str(), "http://e.com/p?id=3&sid=9");
    /// ```
    pub fn new<'a>(entries: impl IntoIterator<Item = &'a str>) -> Result<Self, BadParam> {
        let mut list = Self::default();
        for entry in entries {
            list.add(entry)?;
        }
        Ok(list)
    }

    /// Adds one entry.
    pub fn add(&mut self, entry: &str) -> Result<(), BadParam> {
        let lower = entry.to_ascii_lowercase();
        let is_name = |name: &str| {
            !name.is_empty() && !name.contains(['*', ':', '&', '=', '?', '#', ';', '/', ' '])
        };
        if let Some(name) = lower.strip_suffix(":token").filter(|name| is_name(name)) {
            self.tokens.insert(name.to_owned());
        } else if let Some(name) = lower.strip_suffix('*').filter(|name| is_name(name)) {
            self.beginnings.push(name.to_owned());
        } else if is_name(&lower) {
            self.names.insert(lower);
        } else {
            return Err(BadParam(entry.to_owned()));
        }
        Ok(())
    }

    /// Names that would be dropped for their values but are no session by the links of a
    /// page: only one link has them, or there are several values. In the second case they
    /// are those of items.
    pub fn not_sessions<'a>(&self, links: impl Iterator<Item = &'a CrawlUrl>) -> Vec<NotSession> {
        let mut found: Vec<(NotSession, &str, Option<CrawlUrl>)> = Vec::new();
        let mut sessions = BTreeSet::new();
        for url in links {
            for pair in url.query().into_iter().flat_map(|query| query.split('&')) {
                let Some((name, value)) = self.token(pair) else {
                    continue;
                };
                let known = found.iter_mut().find(|(it, ..)| it.name == name);
                match known {
                    None => {
                        let is_item = false;
                        found.push((NotSession { name, is_item }, value, self.apply(url)));
                    }
                    Some((it, before, _)) if *before != value => it.is_item = true,
                    Some((it, _, plain)) if *plain != self.apply(url) => {
                        sessions.insert(it.name.clone());
                    }
                    Some(_) => {}
                }
            }
        }
        let found = found.into_iter().map(|(it, ..)| it);
        let is_session = |it: &NotSession| !it.is_item && sessions.contains(&it.name);
        found.filter(|it| !is_session(it)).collect()
    }

    /// The URL without what is dropped; `None` if it stays as it is.
    pub fn apply(&self, url: &CrawlUrl) -> Option<CrawlUrl> {
        self.apply_except(url, &[])
    }

    /// The same, with names that are not dropped for their values.
    pub fn apply_except(&self, url: &CrawlUrl, kept: &[String]) -> Option<CrawlUrl> {
        // Asked of every link: most have neither a query nor path parameters.
        let mut bytes = url.path_and_query().bytes();
        if !bytes.any(|byte| matches!(byte, b'?' | b';' | b'(')) {
            return None;
        }
        let (path, query) = (url.path(), url.query());
        let drops_segment = !self.names.is_empty() && path.split('/').any(is_session_segment);
        let drops_in_path = path.contains(';') && {
            let mut params = path
                .split('/')
                .flat_map(|segment| segment.split(';').skip(1));
            params.any(|param| self.drops(param, kept))
        };
        let drops_in_query =
            query.is_some_and(|query| query.split('&').any(|p| self.drops(p, kept)));
        if !drops_in_path && !drops_in_query && !drops_segment {
            return None;
        }
        let mut text = String::with_capacity(url.as_str().len());
        text.push_str(url.origin());
        let segments = path.split('/');
        let segments = segments.filter(|segment| !drops_segment || !is_session_segment(segment));
        for (at, segment) in segments.enumerate() {
            if at > 0 {
                text.push('/');
            }
            for (at, param) in segment.split(';').enumerate() {
                if at == 0 {
                    text.push_str(param);
                } else if !self.drops(param, kept) {
                    text.push(';');
                    text.push_str(param);
                }
            }
        }
        let mut separator = '?';
        for pair in query.into_iter().flat_map(|query| query.split('&')) {
            if !self.drops(pair, kept) {
                text.push(separator);
                text.push_str(pair);
                separator = '&';
            }
        }
        CrawlUrl::parse(&text).ok()
    }

    /// The name, in lower case, and the value of a pair that is dropped for its value.
    fn token<'a>(&self, pair: &'a str) -> Option<(String, &'a str)> {
        let (name, value) = pair.split_once('=').filter(|(_, value)| is_token(value))?;
        let lower = name.to_ascii_lowercase();
        self.tokens.contains(&lower).then_some((lower, value))
    }

    fn drops(&self, pair: &str, kept: &[String]) -> bool {
        let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
        if name.is_empty() {
            return false;
        }
        let lower = name.to_ascii_lowercase();
        self.names.contains(&lower)
            || self.beginnings.iter().any(|start| lower.starts_with(start))
            || (self.tokens.contains(&lower) && is_token(value) && !kept.contains(&lower))
    }
}

/// Whether a value looks like a session's: long, letters and digits mixed.
fn is_token(value: &str) -> bool {
    let bytes = value.as_bytes();
    let plain = |byte: &u8| byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
    bytes.len() >= TOKEN_LEN_MIN
        && bytes.iter().all(plain)
        && bytes.iter().any(u8::is_ascii_digit)
        && bytes.iter().any(u8::is_ascii_alphabetic)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, expected: Option<&str>) {
        let drop = DropParams::new(DEFAULT_DROP_PARAMS).unwrap();
        let shorter = drop.apply(&CrawlUrl::parse(url).unwrap());
        assert_eq!(shorter.as_ref().map(CrawlUrl::as_str), expected, "{url}");
    }

    #[test]
    fn sessions_and_tracking_are_dropped() {
        check(
            "http://e.com/p?utm_source=a&UTM_medium=b",
            Some("http://e.com/p"),
        );
        check(
            "http://e.com/p?a=1&gclid=x&b=2",
            Some("http://e.com/p?a=1&b=2"),
        );
        check(
            "http://e.com/a;jsessionid=1F.x/b;v=1?c",
            Some("http://e.com/a/b;v=1?c"),
        );
        check("http://e.com/p?PHPSESSID=0a9b", Some("http://e.com/p"));
        check(
            "http://e.com/p?sid=0123456789abcdef",
            Some("http://e.com/p"),
        );
    }

    #[test]
    fn sessions_in_paths_are_dropped() {
        let session = "http://e.com/(S(lit3py55t21z5v55vlm25s55))/v1/a.aspx?id=3";
        check(session, Some("http://e.com/v1/a.aspx?id=3"));
    }

    #[test]
    fn what_may_matter_stays() {
        for url in [
            "http://e.com/p?id=0123456789abcdef",
            "http://e.com/list?sid=101&s=shoes",
            "http://e.com/p?session=keynote",
            "http://e.com/p?utm",
            "http://e.com/a;v=1/b",
            "http://e.com/gclid",
            "http://e.com/(S(short))/p",
        ] {
            check(url, None);
        }
    }

    #[test]
    fn a_session_has_one_value_on_several_links() {
        let drop = DropParams::new(DEFAULT_DROP_PARAMS).unwrap();
        let url = |text: &str| CrawlUrl::parse(text).unwrap();
        let one = url("http://e.com/view?sid=0123456789abcdef");
        let other = url("http://e.com/view?sid=fedcba9876543210");
        let same = url("http://e.com/list?sid=0123456789abcdef");
        let found = |links: &[&CrawlUrl]| {
            let found = drop.not_sessions(links.iter().copied()).into_iter();
            found.map(|it| it.is_item).collect::<Vec<_>>()
        };
        assert_eq!(found(&[&one, &same, &one]), [], "a session");
        assert_eq!(found(&[&one, &one]), [false], "one link");
        assert_eq!(found(&[&one, &same, &other]), [true], "items");
        assert_eq!(drop.apply_except(&one, &["sid".to_owned()]), None);
    }

    #[test]
    fn an_empty_list_drops_nothing_and_bad_entries_are_told() {
        let none = DropParams::new([]).unwrap();
        let url = CrawlUrl::parse("http://e.com/p?gclid=1").unwrap();
        assert_eq!(none.apply(&url), None);
        for bad in ["", "*", "a b", "a&b", ":token", "a*b"] {
            assert_eq!(DropParams::new([bad]), Err(BadParam(bad.to_owned())));
        }
    }
}
