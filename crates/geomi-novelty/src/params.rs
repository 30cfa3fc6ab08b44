//! Which parts of a URL make no difference.
//!
//! A part is a parameter of the query, or a path segment that looks drawn by a
//! machine. Two pages whose URLs differ in one part only either brought the same
//! or did not; a part over which enough pairs agreed and none disagreed is
//! ignored. One disagreement is never forgotten: different pages stay different.

use geomi_url::template::contains_id;
use geomi_url::{CrawlUrl, UrlHash, strong_hash, strong_hash_in};
use serde::{Deserialize, Serialize};

use crate::memory::{Note, Notes};

/// Parts of one URL that are looked at.
const PARTS_MAX: usize = 8;
/// What all pairs of a query together are called; no name of a parameter has a space.
pub(crate) const WHOLE_QUERY: &str = "the whole query";
/// Pages a part must have made no difference to before it is ignored.
const PAGES_MIN: u32 = 3;

/// What is known of one part of a template's URLs.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Param {
    /// The parameter's name, or `path:N` for the Nth path segment.
    pub name: String,
    /// Pairs of URLs that differ in it only and brought the same.
    pub same: u32,
    /// Pairs that did not.
    pub different: u32,
    /// Pages, told apart by everything else in their URLs, among which there were
    /// pairs that brought the same.
    pub pages: u32,
}

impl Param {
    /// Adds what was learned of the same name elsewhere.
    pub(crate) fn add(&mut self, other: &Self) {
        self.same += other.same;
        self.different += other.different;
        self.pages += other.pages;
    }

    /// Compares what came for a URL with what came for another that differs in this part
    /// only, if there was one.
    pub(crate) fn compare(&mut self, notes: &mut Notes, note: Note) {
        match notes.find(note.of, note.stripped) {
            Some(before) if before.content == note.content => {
                self.same = self.same.saturating_add(1);
                self.pages = self.pages.saturating_add(u32::from(!before.is_paired));
                before.is_paired = true;
            }
            Some(_) => self.different = self.different.saturating_add(1),
            None => notes.add(note),
        }
    }

    /// Whether it makes no difference. One page under many spellings is not
    /// enough: a number that names items looks the same while they are sold out.
    pub fn is_ignored(&self, pairs_min: u32) -> bool {
        self.different == 0 && self.same >= pairs_min && self.pages >= PAGES_MIN
    }
}

/// A part of a URL: its name and where it stands in the spelling.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Part {
    pub(crate) name: String,
    /// Whether it is a pair of the query.
    pub(crate) is_pair: bool,
    from: usize,
    to: usize,
}

/// Whether the value of a part looks drawn by a machine or read from a clock.
pub(crate) fn is_drawn(value: &str) -> bool {
    value.len() >= 8 && value.bytes().any(|byte| byte.is_ascii_digit())
}

impl Part {
    /// Its value.
    pub(crate) fn value<'a>(&self, url: &'a CrawlUrl) -> &'a str {
        let pair = &url.as_str()[self.from..self.to];
        pair.split_once('=').map_or(pair, |(_, value)| value)
    }

    pub(crate) fn key(&self, template: u64) -> u64 {
        key(&self.name, template)
    }
}

/// What notes of a part are kept under.
pub(crate) fn key(name: &str, template: u64) -> u64 {
    strong_hash_in(template, name.as_bytes())
}

/// The parts of a URL that may make no difference, in order.
pub(crate) fn parts(url: &CrawlUrl) -> Vec<Part> {
    let text = url.as_str();
    let path_start = url.origin().len();
    let path_end = path_start + url.path().len();
    let mut found = Vec::new();
    let mut from = path_start;
    for (at, segment) in url.path().split('/').enumerate() {
        let to = from + segment.len();
        if contains_id(segment) {
            let name = format!("path:{at}");
            found.push(Part {
                name,
                is_pair: false,
                from,
                to,
            });
        }
        from = to + 1;
    }
    let mut from = path_end + 1;
    for pair in url.query().into_iter().flat_map(|query| query.split('&')) {
        let to = from + pair.len();
        let name = pair.split('=').next().unwrap_or(pair).to_owned();
        debug_assert_eq!(&text[from..to], pair);
        found.push(Part {
            name,
            is_pair: true,
            from,
            to,
        });
        from = to + 1;
    }
    found.truncate(PARTS_MAX);
    found
}

/// The spelling of a URL without some of its parts.
pub(crate) fn without(url: &CrawlUrl, parts: &[&Part]) -> String {
    let text = url.as_str();
    let path_end = url.origin().len() + url.path().len();
    let mut out = String::with_capacity(text.len());
    let mut at = 0;
    for part in parts.iter().filter(|part| part.from < path_end) {
        out.push_str(&text[at..part.from]);
        at = part.to;
    }
    out.push_str(&text[at..path_end]);
    let mut from = path_end + 1;
    let mut separator = '?';
    for pair in url.query().into_iter().flat_map(|query| query.split('&')) {
        if !parts.iter().any(|part| part.from == from) {
            out.push(separator);
            out.push_str(pair);
            separator = '&';
        }
        from += pair.len() + 1;
    }
    out
}

/// The same as the seen test knows it.
pub(crate) fn hash_without(url: &CrawlUrl, parts: &[&Part]) -> UrlHash {
    UrlHash(strong_hash(without(url, parts).as_bytes()))
}

/// A spelling in lower case. Percent escapes keep their capitals, so that a URL without
/// capital letters stays what it is.
pub(crate) fn in_lower_case(url: &str) -> String {
    let mut escaped = 0;
    let lower = |letter: char| {
        if letter == '%' {
            escaped = 3;
        }
        let is_escaped = escaped > 0;
        escaped -= i32::from(is_escaped);
        if is_escaped {
            letter
        } else {
            letter.to_ascii_lowercase()
        }
    };
    url.chars().map(lower).collect()
}

/// A URL without repeated slashes in its path and without one at its end.
pub(crate) fn with_few_slashes(url: &str) -> String {
    let scheme = url.find("://").map_or(0, |at| at + "://".len());
    let end = url.find('?').unwrap_or(url.len());
    let (path, query) = (&url[scheme..end], &url[end..]);
    let parts: Vec<&str> = path.split('/').filter(|part| !part.is_empty()).collect();
    let slash = if parts.len() == 1 { "/" } else { "" };
    format!("{}{}{slash}{query}", &url[..scheme], parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_are_taken_out_and_the_rest_stays_a_url() {
        let url = CrawlUrl::parse("http://e.com/s/9f8a7b6c5d/x?id=3&sid=abc&x").unwrap();
        let all = parts(&url);
        let names: Vec<&str> = all.iter().map(|part| &*part.name).collect();
        assert_eq!(names, ["path:2", "id", "sid", "x"]);
        let less = |take: &[usize]| {
            let taken: Vec<&Part> = take.iter().map(|at| &all[*at]).collect();
            without(&url, &taken)
        };
        assert_eq!(less(&[2]), "http://e.com/s/9f8a7b6c5d/x?id=3&x");
        assert_eq!(less(&[0, 1]), "http://e.com/s//x?sid=abc&x");
        assert_eq!(less(&[1, 2, 3]), "http://e.com/s/9f8a7b6c5d/x");
        assert_eq!(less(&[]), url.as_str());
        assert_eq!(in_lower_case("/A%EA%B0%80B?Q=%2F"), "/a%EA%B0%80b?q=%2F");
        for (url, plain) in [
            ("http://e.com//a///b//?x=//", "http://e.com/a/b?x=//"),
            ("http://e.com/", "http://e.com/"),
            ("http://e.com/a", "http://e.com/a"),
        ] {
            assert_eq!(with_few_slashes(url), plain);
        }
        let plain = CrawlUrl::parse("http://e.com/p?a=1&sid=2").unwrap();
        let sid = &parts(&plain)[1];
        let kept = CrawlUrl::parse("http://e.com/p?a=1").unwrap();
        assert_eq!(hash_without(&plain, &[sid]), kept.hash64());
    }
}
