//! The template of a URL: what it has in common with its kind.

use std::fmt::Write as _;

use geomi_url::CrawlUrl;
use xxhash_rust::xxh3::xxh3_64;

/// Parameter names that are written out; a query with more has a long tail.
const NAMES_MAX: usize = 6;
/// Segments that are written out.
const SEGMENTS_MAX: usize = 8;
/// A longer word is no word.
const WORD_MAX: usize = 24;
/// Names of parameters that say when.
const DATE_NAMES: [&str; 12] = [
    "year", "month", "day", "date", "week", "from", "to", "start", "end", "y", "ym", "ymd",
];

/// A URL made general.
///
/// ```
/// use geomi_novelty::Template;
/// use geomi_url::CrawlUrl;
/// let of = |url| Template::of(&CrawlUrl::parse(url).unwrap());
/// let post = of("http://e.com/board/17?sort=new&id=9");
/// assert_eq!(post.text(), "/board/{n}?id&sort");
/// assert_eq!(post.section(), "/board/{n}?");
/// let day = of("http://e.com/cal/2026/11/15");
/// assert_eq!((day.text(), day.section()), ("/cal/{year}/{n}/{n}", "/cal/"));
/// assert!(day.is_dated() && !post.is_dated());
/// ```
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Template {
    text: String,
    section_len: usize,
    section_is_query: bool,
    segments: usize,
    is_dated: bool,
}

impl Template {
    /// The template of a URL.
    pub fn of(url: &CrawlUrl) -> Self {
        let mut text = String::with_capacity(48);
        let mut section_len = 1;
        let mut is_dated = false;
        let path = url.path().trim_start_matches('/');
        let segments = path.split('/').count();
        for (at, segment) in path.split('/').enumerate() {
            text.push('/');
            if at == SEGMENTS_MAX {
                text.push('*');
                break;
            }
            is_dated |= push_segment(&mut text, segment, at + 1 == segments);
            if at == 0 && segments > 1 {
                section_len = text.len() + 1;
            }
        }
        let section_is_query = url.query().is_some();
        if let Some(query) = url.query() {
            section_len = text.len() + 1;
            is_dated |= push_names(&mut text, query);
        }
        Self {
            text,
            section_len,
            section_is_query,
            segments,
            is_dated,
        }
    }

    /// As it is shown.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The part of the site it belongs to: its first directory, or, with a
    /// query, its path.
    pub fn section(&self) -> &str {
        &self.text[..self.section_len]
    }

    /// Whether it bears a date.
    pub const fn is_dated(&self) -> bool {
        self.is_dated
    }

    /// Whether two templates look alike from afar: same section, as many
    /// segments, both with a query or both without.
    pub fn has_shape_of(&self, other: &Self) -> bool {
        self.segments == other.segments
            && self.section_is_query == other.section_is_query
            && self.section() == other.section()
    }

    pub(crate) fn hash(&self) -> u64 {
        xxh3_64(self.text.as_bytes())
    }
}

/// Writes a path segment, made general; says whether it is a date.
fn push_segment(text: &mut String, segment: &str, is_last: bool) -> bool {
    let (segment, _) = segment.split_once(';').unwrap_or((segment, ""));
    let (name, extension) = match segment.rsplit_once('.') {
        Some((name, extension)) if is_last && is_extension(extension) => (name, Some(extension)),
        _ => (segment, None),
    };
    let kind = Kind::of(name);
    match kind {
        Kind::Year => text.push_str("{year}"),
        Kind::Date => text.push_str("{date}"),
        Kind::Number => text.push_str("{n}"),
        Kind::Id => text.push_str("{id}"),
        Kind::Slug => text.push_str("{slug}"),
        Kind::Word => push_without_digits(text, name),
    }
    if let Some(extension) = extension {
        write!(text, ".{extension}").expect("a string takes everything");
    }
    matches!(kind, Kind::Year | Kind::Date)
}

fn is_extension(text: &str) -> bool {
    (1..=5).contains(&text.len()) && text.bytes().all(|byte| byte.is_ascii_alphanumeric())
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Year,
    Date,
    Number,
    Id,
    Slug,
    Word,
}

impl Kind {
    fn of(name: &str) -> Self {
        let count = |is: fn(&u8) -> bool| name.as_bytes().iter().filter(|byte| is(byte)).count();
        let digits = count(u8::is_ascii_digit);
        let dashes = count(|byte| matches!(byte, b'-' | b'_' | b'+'));
        if digits > 0 && digits == name.len() {
            return match name.len() {
                4 if is_year(name) => Self::Year,
                6 | 8 if is_year(&name[..4]) => Self::Date,
                _ => Self::Number,
            };
        }
        if digits >= 5 && digits + dashes == name.len() && name.get(..4).is_some_and(is_year) {
            return Self::Date;
        }
        if is_id(name) {
            Self::Id
        } else if dashes >= 2 || name.contains('%') || name.len() > WORD_MAX {
            Self::Slug
        } else {
            Self::Word
        }
    }
}

fn is_year(text: &str) -> bool {
    (text.starts_with("19") || text.starts_with("20")) && text.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a part of a URL looks as if a machine had drawn it: long, without
/// blanks or dashes, letters and digits mixed.
pub(crate) fn is_id(text: &str) -> bool {
    let bytes = text.as_bytes();
    let is_hex = bytes.iter().all(u8::is_ascii_hexdigit);
    let is_plain = bytes.iter().all(u8::is_ascii_alphanumeric) || is_uuid(bytes);
    let mixed = bytes.iter().any(u8::is_ascii_digit) && bytes.iter().any(u8::is_ascii_alphabetic);
    mixed && is_plain && bytes.len() >= if is_hex { 8 } else { 12 }
}

fn is_uuid(bytes: &[u8]) -> bool {
    let fits = |(at, byte): (usize, &u8)| match at {
        8 | 13 | 18 | 23 => *byte == b'-',
        _ => byte.is_ascii_hexdigit(),
    };
    bytes.len() == 36 && bytes.iter().enumerate().all(fits)
}

/// Writes a word with each run of digits as `{n}`.
fn push_without_digits(text: &mut String, word: &str) {
    let mut in_digits = false;
    for c in word.chars() {
        let is_digit = c.is_ascii_digit();
        if !is_digit {
            text.push(c);
        } else if !in_digits {
            text.push_str("{n}");
        }
        in_digits = is_digit;
    }
}

/// Writes the names of a query's parameters, each once, in order; says whether
/// one of them is that of a date.
fn push_names(text: &mut String, query: &str) -> bool {
    let mut names: Vec<String> = query
        .split('&')
        .map(|pair| {
            let mut name = String::new();
            let written = pair.split('=').next().unwrap_or(pair);
            if is_id(written) || written.len() > WORD_MAX {
                name.push_str("{id}");
            } else {
                push_without_digits(&mut name, written);
            }
            name
        })
        .collect();
    names.sort_unstable();
    names.dedup();
    let is_dated = names.iter().any(|name| DATE_NAMES.contains(&&**name));
    for (at, name) in names.iter().take(NAMES_MAX).enumerate() {
        text.push(if at == 0 { '?' } else { '&' });
        text.push_str(name);
    }
    if names.len() > NAMES_MAX {
        text.push_str("&*");
    }
    is_dated
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(url: &str, text: &str, section: &str) {
        let template = Template::of(&CrawlUrl::parse(url).unwrap());
        assert_eq!(
            (template.text(), template.section()),
            (text, section),
            "{url}"
        );
    }

    #[test]
    fn what_differs_within_a_kind_is_made_general() {
        check("http://e.com/", "/", "/");
        check("http://e.com/about.html", "/about.html", "/");
        check("http://e.com/item17.html", "/item{n}.html", "/");
        check("http://e.com/news/2026-11-15/", "/news/{date}/", "/news/");
        check("http://e.com/s/9f8a7b6c5d/x", "/s/{id}/x", "/s/");
        check("http://e.com/how-to-do-it", "/{slug}", "/");
        check("http://e.com/a/b;jsessionid=1F", "/a/b", "/a/");
        check("http://e.com/q?b=1&a=2&b=3", "/q?a&b", "/q?");
        check("http://e.com/q?x1=1&x2=2", "/q?x{n}", "/q?");
        check("http://e.com/q?a&b&c&d&e&f&g", "/q?a&b&c&d&e&f&*", "/q?");
        check(
            "http://e.com/a/b/c/d/e/f/g/h/i/j",
            "/a/b/c/d/e/f/g/h/*",
            "/a/",
        );
    }

    #[test]
    fn ids_are_long_and_mixed() {
        for id in [
            "1f2e3d4c",
            "a1b2c3d4e5f6g7",
            "123e4567-e89b-12d3-a456-426614174000",
        ] {
            assert!(is_id(id), "{id}");
        }
        for word in ["12345678", "deadbeef", "windows11", "mp3", "about"] {
            assert!(!is_id(word), "{word}");
        }
    }
}
