//! The template of a URL: what it has in common with its kind.

use std::fmt::Write as _;
use std::sync::OnceLock;

use crate::{CrawlUrl, strong_hash, strong_hash_in};

/// Parameter names that are written out; a query with more has a long tail.
const NAMES_MAX: usize = 6;
/// Segments that are written out.
const SEGMENTS_MAX: usize = 8;
/// A longer word is no word.
const WORD_MAX: usize = 24;
/// Names of parameters that say when.
const DATE_NAMES: [&str; 12] = [
    "year", "month", "day", "date", "week", "from", "to", "end", "y", "m", "ym", "ymd",
];

/// Of these, those of a year, and those that stand beside a short one.
const YEAR_NAMES: [&str; 6] = ["year", "years", "from", "to", "since", "until"];
const MONTH_NAMES: [&str; 7] = ["month", "m", "mon", "day", "d", "week", "w"];
/// Names of parameters that say which page of a list it is.
pub const LIST_NAMES: [&str; 9] = [
    "page", "pg", "paged", "pageno", "page_no", "offset", "skip", "cursor", "start",
];
/// Numbers this near to each other are those of neighbours.
const NEAR: u64 = 32;
/// From so many segments on, pages of one directory are taken for siblings.
const DEEP: usize = 4;

/// A URL made general.
///
/// ```
/// use geomi_url::CrawlUrl;
/// use geomi_url::template::Template;
/// let of = |url| Template::of(&CrawlUrl::parse(url).unwrap());
/// let post = of("http://e.com/board/17?sort=new&id=9");
/// assert_eq!(post.text(), "/board/{n}?id&sort");
/// assert_eq!(post.section(), "/board/{n}?");
/// let day = of("http://e.com/cal/2026/11/15");
/// assert_eq!((day.text(), day.section()), ("/cal/{year}/{n}/{n}", "/cal/"));
/// assert!(day.is_dated() && !post.is_dated());
/// ```
#[derive(Clone, Debug)]
pub struct Template {
    text: String,
    section_len: usize,
    section_is_query: bool,
    segments: usize,
    is_dated: bool,
    /// The year its date begins with.
    year: Option<u16>,
    /// Pairs of its query.
    pairs: usize,
    /// Whether it is one page of a list.
    is_list: bool,
    /// How often it was quoted within itself.
    nesting: usize,
    /// Parameters of its path segments.
    appended: usize,
    /// Made when it is first asked for.
    hash: OnceLock<u64>,
    shelf: OnceLock<u64>,
}

/// URLs of different years have one template.
impl PartialEq for Template {
    fn eq(&self, other: &Self) -> bool {
        self.text == other.text
    }
}

impl Eq for Template {}

impl Template {
    /// The template of a URL.
    pub fn of(url: &CrawlUrl) -> Self {
        let mut text = String::with_capacity(48);
        let mut section_len = 1;
        let mut year = None;
        let mut is_list = false;
        let mut after_page = false;
        let path = url.path().trim_start_matches('/');
        let segments = path.split('/').count();
        for (at, segment) in path.split('/').enumerate() {
            text.push('/');
            if at == SEGMENTS_MAX {
                text.push('*');
                break;
            }
            let from = text.len();
            if let Some(found) = push_segment(&mut text, segment, at + 1 == segments) {
                year = year.or(Some(found));
            }
            let written = &text[from..];
            is_list |= written == "page{n}" || (after_page && written.starts_with("{n}"));
            after_page = written == "page";
            if at == 0 && segments > 1 {
                section_len = text.len() + 1;
            }
        }
        let mut is_dated = year.is_some() || text.contains("{date}");
        let mut pairs = 0;
        let section_is_query = url.query().is_some();
        if let Some(query) = url.query() {
            section_len = text.len() + 1;
            let told = push_names(&mut text, query);
            pairs = told.pairs;
            is_dated |= told.is_dated;
            is_list |= told.is_list;
            year = year.or_else(|| year_in(query));
        }
        Self {
            text,
            section_len,
            section_is_query,
            segments,
            is_dated,
            year,
            pairs,
            is_list,
            nesting: nesting(url.path_and_query()),
            appended: url.path().matches(';').count(),
            hash: OnceLock::new(),
            shelf: OnceLock::new(),
        }
    }

    /// Segments of its path with their parameters, and how often it was quoted within
    /// itself.
    pub const fn depth(&self) -> usize {
        self.segments + self.appended + self.nesting
    }

    /// How often it was quoted within itself.
    pub const fn nesting(&self) -> usize {
        self.nesting
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

    /// The year its date begins with.
    pub const fn year(&self) -> Option<u16> {
        self.year
    }

    /// Whether a date is all that tells its pages apart.
    pub fn is_only_dated(&self) -> bool {
        let end = self.tail();
        self.year.is_some()
            && (self.section_is_query
                || end.is_empty()
                || ["{n}", "{date}", "{year}"]
                    .iter()
                    .any(|date| end.starts_with(date)))
    }

    /// Whether a page of this template that links to pages found elsewhere says
    /// something for it. Calendars, lists and filters do so without an end.
    pub const fn can_link_sideways(&self) -> bool {
        !self.is_dated && !self.is_list && self.pairs < 2
    }

    /// Whether two templates look alike from afar: as many segments, both with a
    /// query or both without.
    pub fn has_shape_of(&self, other: &Self) -> bool {
        self.segments == other.segments && self.section_is_query == other.section_is_query
    }

    /// The last segment, and the query.
    pub fn tail(&self) -> &str {
        self.text.rsplit_once('/').map_or("", |(_, tail)| tail)
    }

    /// Whether its query is a choice among several things.
    pub const fn is_choice(&self) -> bool {
        self.pairs >= 2
    }

    /// Query pairs.
    pub const fn pairs(&self) -> usize {
        self.pairs
    }

    /// Path segments and query pairs.
    pub const fn parts(&self) -> usize {
        self.segments + self.pairs
    }

    /// Segments of its path.
    pub const fn segments(&self) -> usize {
        self.segments
    }

    /// The hash of its text ([`strong_hash`]): what its pages bring decides about others
    /// of its hash, and anyone can link to a site with a path they made up.
    pub fn hash(&self) -> u64 {
        *self.hash.get_or_init(|| strong_hash(self.text.as_bytes()))
    }

    /// The hash of the template that its URLs have with a number for the year of their path.
    pub fn hash_of_numbers(&self) -> Option<u64> {
        let is_in_path = self.text.contains("{year}");
        is_in_path.then(|| strong_hash(self.text.replacen("{year}", "{n}", 1).as_bytes()))
    }

    /// The hash of all URLs of its section that look alike from afar.
    pub fn shelf(&self) -> u64 {
        let form = (self.segments.min(64) as u64) << 1 | u64::from(self.section_is_query);
        let of_section = || strong_hash_in(form, self.section().as_bytes());
        *self.shelf.get_or_init(of_section)
    }
}

/// Whether two URLs are near each other in a row or a deep directory: such links
/// are what a generator makes, too.
pub fn are_neighbours(one: &CrawlUrl, other: &CrawlUrl, segments: usize) -> bool {
    let directory = |url: &CrawlUrl| url.path().rfind('/').unwrap_or(0);
    let is_sibling =
        || segments >= DEEP && one.path()[..directory(one)] == other.path()[..directory(other)];
    match (last_number(one), last_number(other)) {
        (Some(a), Some(b)) if a.abs_diff(b) <= NEAR => true,
        _ => is_sibling(),
    }
}

/// The last number of a URL.
fn last_number(url: &CrawlUrl) -> Option<u64> {
    let bytes = url.path_and_query().as_bytes();
    let end = bytes.iter().rposition(u8::is_ascii_digit)? + 1;
    let start = bytes[..end]
        .iter()
        .rposition(|byte| !byte.is_ascii_digit())
        .map_or(0, |at| at + 1);
    let digits = bytes[start..end].iter().take(19);
    Some(digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0')))
}

/// How often a URL was quoted within itself: `%2F`, `%252F`, `%25252F`.
fn nesting(text: &str) -> usize {
    let escapes = text.split('%').skip(1);
    let depth = |rest: &str| {
        let pairs = rest.as_bytes().chunks_exact(2);
        pairs.take_while(|digits| digits == b"25").count()
    };
    escapes.map(depth).max().unwrap_or(0)
}

/// The year with which the value of a parameter begins that says when.
fn year_in(query: &str) -> Option<u16> {
    let pairs = || query.split('&').filter_map(|pair| pair.split_once('='));
    let has_month = || pairs().any(|(name, _)| MONTH_NAMES.contains(&name));
    pairs().find_map(|(name, value)| {
        let year = value.get(..4).filter(|year| is_year(year))?;
        let is_it = match value.len() {
            4 => YEAR_NAMES.contains(&name) || (name == "y" && has_month()),
            10 => is_full_date(value),
            _ => DATE_NAMES.contains(&name) && Kind::of(value) == Kind::Date,
        };
        is_it.then(|| year.parse().ok()).flatten()
    })
}

/// Writes a path segment, made general; says the year if it is a date.
fn push_segment(text: &mut String, segment: &str, is_last: bool) -> Option<u16> {
    let (segment, _) = segment.split_once(';').unwrap_or((segment, ""));
    let (name, extension) = match segment.rsplit_once('.') {
        Some((name, extension)) if is_last && is_extension(extension) => (name, Some(extension)),
        _ => (segment, None),
    };
    let is_named = || {
        YEAR_NAMES
            .iter()
            .any(|name| text.ends_with(&format!("/{name}/")))
    };
    let kind = match Kind::of(name) {
        // A year has months below it, or a name; else a number that ends a path is one.
        Kind::Year if is_last && !is_named() => Kind::Number,
        kind => kind,
    };
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
    // Six digits may be anything: the number of an item, for instance.
    let is_date = kind == Kind::Year || (kind == Kind::Date && name.len() > 6);
    let year = name.get(..4).filter(|_| is_date)?;
    year.parse().ok()
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
                6 | 8 if is_date(name) => Self::Date,
                _ => Self::Number,
            };
        }
        if digits >= 5 && digits + dashes == name.len() && name.get(..4).is_some_and(is_year) {
            return Self::Date;
        }
        if let Some(part) = korean_date(name) {
            part
        } else if is_id(name) {
            Self::Id
        } else if dashes >= 2 || name.contains('%') || name.len() > WORD_MAX {
            Self::Slug
        } else {
            Self::Word
        }
    }
}

/// Whether digits are a year, a month and perhaps a day.
fn is_date(digits: &str) -> bool {
    let within = |part: Option<&str>, max: u8| {
        part.is_none_or(|part| part.parse().is_ok_and(|n: u8| (1..=max).contains(&n)))
    };
    is_year(&digits[..4]) && within(digits.get(4..6), 12) && within(digits.get(6..8), 31)
}

/// Whether a text is a date like `2026-11-15`, whatever it is the value of.
fn is_full_date(text: &str) -> bool {
    let is_mark = |at: usize| matches!(text.as_bytes()[at], b'-' | b'.' | b'_');
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    text.len() == 10 && is_mark(4) && is_mark(7) && digits == 8 && is_year(&text[..4])
}

/// A part of a date with the word that Korean dates have after it, escaped.
fn korean_date(name: &str) -> Option<Kind> {
    let digits = &name[..name.find(|c: char| !c.is_ascii_digit())?];
    match &name[digits.len()..] {
        "%EB%85%84" if digits.len() == 4 && is_year(digits) => Some(Kind::Year),
        "%EC%9B%94" | "%EC%9D%BC" | "%EC%A3%BC" if !digits.is_empty() => Some(Kind::Number),
        _ => None,
    }
}

fn is_year(text: &str) -> bool {
    (text.starts_with("19") || text.starts_with("20")) && text.bytes().all(|b| b.is_ascii_digit())
}

/// Whether a part of a URL contains what a machine drew: `s~9f8a7b6c5d`.
pub fn contains_id(text: &str) -> bool {
    let mut pieces = text.split(|c: char| !c.is_ascii_alphanumeric());
    is_id(text) || pieces.any(is_id)
}

/// Whether a part of a URL looks as if a machine had drawn it: long, without
/// blanks or dashes, letters and digits mixed.
pub fn is_id(text: &str) -> bool {
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

/// What the names of a query's parameters tell.
struct Told {
    pairs: usize,
    is_dated: bool,
    is_list: bool,
}

/// Writes the names of a query's parameters, each once, in order.
fn push_names(text: &mut String, query: &str) -> Told {
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
    let pairs = names.len();
    names.sort_unstable();
    names.dedup();
    let has = |known: &[&str]| names.iter().any(|name| known.contains(&&**name));
    let told = Told {
        pairs,
        is_dated: has(&DATE_NAMES),
        is_list: has(&LIST_NAMES),
    };
    for (at, name) in names.iter().take(NAMES_MAX).enumerate() {
        text.push(if at == 0 { '?' } else { '&' });
        text.push_str(name);
    }
    if names.len() > NAMES_MAX {
        text.push_str("&*");
    }
    told
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
    fn dates_lists_and_neighbours_are_told() {
        let url = |text: &str| CrawlUrl::parse(&format!("http://e.com{text}")).unwrap();
        let year = |text: &str| Template::of(&url(text)).year();
        assert_eq!(year("/cal/2031/02/03"), Some(2031));
        assert_eq!(year("/cal?month=2031-02"), Some(2031));
        assert_eq!(year("/cal?d=2&year=2031"), Some(2031));
        assert_eq!(year("/map?x=2&y=2031"), None);
        assert_eq!(year("/item/2031"), None);
        assert_eq!(year("/item/203101"), None);
        assert_eq!(year("/2031/"), Some(2031));
        assert_eq!(year("/cal?from=20310"), None);
        assert_eq!(year("/item/70311"), None);
        let sideways = |text: &str| Template::of(&url(text)).can_link_sideways();
        assert!(sideways("/item/7") && sideways("/view?id=7"));
        for text in ["/list?page=7", "/blog/page/7/", "/c?a=1&b=2", "/c?month=1"] {
            assert!(!sideways(text), "{text}");
        }
        let near = |a: &str, b: &str| are_neighbours(&url(a), &url(b), 2);
        assert!(near("/item/7", "/item/9") && near("/v?id=100", "/v?id=70"));
        assert!(!near("/item/7", "/item/70") && !near("/wiki/A", "/wiki/B"));
        assert!(are_neighbours(&url("/a/b/c/d"), &url("/a/b/c/e"), 4));
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
