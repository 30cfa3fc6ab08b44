//! Which file a page becomes: a name every file system takes, that a browser
//! opens as what it is, and that no other page has.
//!
//! `http://HOST:PORT/a/b?q` lies in `HOST+PORT/a/`. A page in HTML ends in
//! `.html`, other content in an extension that fits its type; a folder's page is
//! `index.html`; a query follows a `~` in the name. Segments are decoded where
//! they are UTF-8; characters that some system refuses become `_`, long ones are
//! cut and marked with a hash. Names that differ only in letter case count as
//! one. Where a name is taken, by a file or by a folder, the later page gets a
//! hash of its URL in its name.

use std::collections::HashMap;
use std::fmt::Write as _;

use geomi_url::CrawlUrl;

use super::kind::FileKind;
use super::safe::{decoded, hash, hex, safe, safe_text};

/// Bytes of a query that is still written out.
const QUERY_BYTES_MAX: usize = 60;
/// Bytes of a whole name; systems take 4,096 with the folder's own path.
const NAME_BYTES_MAX: usize = 1000;

/// Names given so far.
#[derive(Debug)]
pub(super) struct Names {
    /// By the hash of a name without regard to case: whether it is a folder.
    taken: HashMap<u64, bool>,
}

impl Names {
    /// Nothing but the mirror's own front page is taken.
    pub(super) fn new() -> Self {
        let mut names = Self {
            taken: HashMap::new(),
        };
        names.taken.insert(key("index.html"), false);
        names
    }

    /// A name for a page, with `/` between its parts.
    pub(super) fn give(&mut self, url: &CrawlUrl, kind: FileKind<'_>) -> String {
        let (folders, file) = parts(url);
        let (stem, end) = file_name(&file, url.query(), kind);
        let mut path = String::new();
        for folder in folders {
            path.push_str(&self.folder(&path, folder));
            path.push('/');
        }
        if path.len() + stem.len() + end.len() > NAME_BYTES_MAX {
            let site = self.folder("", host(url)) + "/";
            path = format!("{site}{}/", self.folder(&site, "_long".to_owned()));
            return self.file(&path, &hex(url.as_str()), &end, url);
        }
        self.file(&path, &stem, &end, url)
    }

    /// The folder of this name, or of the nearest that is not a file.
    fn folder(&mut self, path: &str, mut name: String) -> String {
        while *self
            .taken
            .entry(key(&format!("{path}{name}")))
            .or_insert(true)
            == FILE
        {
            name.push('~');
        }
        name
    }

    fn file(&mut self, path: &str, stem: &str, end: &str, url: &CrawlUrl) -> String {
        let mut name = format!("{path}{stem}{end}");
        let mark = hex(url.as_str());
        let mut tries = 0;
        while self.taken.contains_key(&key(&name)) {
            tries += 1;
            let again = if tries > 1 {
                format!("-{tries}")
            } else {
                String::new()
            };
            name = format!("{path}{stem}~{}{again}{end}", &mark[..8]);
        }
        self.taken.insert(key(&name), FILE);
        name
    }
}

/// What [`Names::taken`] says of a file.
const FILE: bool = false;

fn key(name: &str) -> u64 {
    hash(&name.to_lowercase())
}

/// The folders of a page, and the last part of its path.
fn parts(url: &CrawlUrl) -> (Vec<String>, String) {
    let mut folders = vec![host(url)];
    let mut segments: Vec<&str> = url.path().split('/').skip(1).collect();
    let file = segments.pop().unwrap_or_default();
    folders.extend(segments.into_iter().map(safe));
    (folders, decoded(file))
}

fn host(url: &CrawlUrl) -> String {
    let name = safe(url.host());
    match url.authority().strip_prefix(url.host()) {
        Some(port) if !port.is_empty() => format!("{name}+{}", url.port()),
        _ => name,
    }
}

/// The name up to where a mark may be put in, and the rest.
fn file_name(file: &str, query: Option<&str>, kind: FileKind<'_>) -> (String, String) {
    let query = query.map_or_else(String::new, |query| {
        let text = decoded(query);
        let text = if text.len() > QUERY_BYTES_MAX {
            hex(query)
        } else {
            text
        };
        format!("~{text}")
    });
    let file = if file.is_empty() { "index" } else { file };
    let (stem, extension) = match file.rsplit_once('.') {
        Some((stem, extension)) if !stem.is_empty() && kind.keeps(extension) => {
            (stem, format!(".{extension}"))
        }
        _ => (
            file,
            kind.extension()
                .map_or_else(String::new, |add| format!(".{add}")),
        ),
    };
    (safe_text(&format!("{stem}{query}")), extension)
}

/// How a page at `from` refers to the file at `to`; both are names given above.
pub(super) fn reference(from: &str, to: &str) -> String {
    let from: Vec<&str> = from.split('/').collect();
    let to: Vec<&str> = to.split('/').collect();
    let (from_folders, to_folders) = (&from[..from.len() - 1], &to[..to.len() - 1]);
    let same = from_folders
        .iter()
        .zip(to_folders)
        .take_while(|(a, b)| a == b)
        .count();
    let up = vec!["..".to_owned(); from_folders.len() - same];
    let down = to[same..].iter().map(|part| escaped(part));
    up.into_iter().chain(down).collect::<Vec<_>>().join("/")
}

/// A part of a name as a part of a URL.
fn escaped(part: &str) -> String {
    let mut out = String::with_capacity(part.len());
    for byte in part.bytes() {
        match byte {
            b'-' | b'.' | b'_' | b'~' | b'+' | b'=' | b'@' => out.push(byte.into()),
            byte if byte.is_ascii_alphanumeric() => out.push(byte.into()),
            byte => write!(out, "%{byte:02X}").expect("a string takes any write"),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name_in(names: &mut Names, url: &str, mime: &str) -> String {
        names.give(
            &CrawlUrl::parse(url).unwrap(),
            FileKind::of(Some(mime), false),
        )
    }

    fn ends_in_html(name: &str) -> bool {
        name.rsplit('.').next() == Some("html")
    }

    fn name(url: &str, mime: &str) -> String {
        name_in(&mut Names::new(), url, mime)
    }

    #[test]
    fn pages_end_in_html_and_folders_have_an_index() {
        assert_eq!(name("http://e.com/", "text/html"), "e.com/index.html");
        assert_eq!(
            name("http://e.com:81/a/", "text/html"),
            "e.com+81/a/index.html"
        );
        assert_eq!(name("http://e.com/a/b", "text/html"), "e.com/a/b.html");
        assert_eq!(name("http://e.com/b.HTM", "text/html"), "e.com/b.HTM");
        assert_eq!(
            name("http://e.com/b.php?id=7", "text/html"),
            "e.com/b.php~id=7.html"
        );
        assert_eq!(name("http://[::1]/", "text/html"), "[__1]/index.html");
    }

    #[test]
    fn other_content_keeps_or_gets_its_extension() {
        assert_eq!(
            name("http://e.com/a.png?v=2", "image/png"),
            "e.com/a~v=2.png"
        );
        assert_eq!(name("http://e.com/a.php", "image/png"), "e.com/a.php.png");
        assert_eq!(
            name("http://e.com/a.html", "text/plain"),
            "e.com/a.html.txt"
        );
        assert_eq!(
            name("http://e.com/a.xyz", "application/x-odd"),
            "e.com/a.xyz"
        );
        assert_eq!(
            name("http://e.com/.htaccess", "text/html"),
            "e.com/.htaccess.html"
        );
    }

    #[test]
    fn names_are_safe() {
        assert_eq!(
            name("http://e.com/%2e%2e%2fx", "text/html"),
            "e.com/.._x.html"
        );
        assert_eq!(
            name("http://e.com/a%5Cb%00/c:d", "text/html"),
            "e.com/a_b_/c_d.html"
        );
        assert_eq!(
            name("http://e.com/con/nul.txt", "text/plain"),
            "e.com/_con/_nul.txt"
        );
        assert_eq!(
            name("http://e.com/a./b%20/c", "text/html"),
            "e.com/a_/b_/c.html"
        );
        assert_eq!(name("http://e.com//x", "text/html"), "e.com/_/x.html");
        assert_eq!(name("http://e.com/%ED%95%9C", "text/html"), "e.com/한.html");
        assert_eq!(
            name("http://e.com/%C7%D1", "text/html"),
            "e.com/%C7%D1.html"
        );
        for url in [
            "http://e.com/..%2f..%2fetc/passwd",
            "http://e.com/%252e%252e/x",
        ] {
            let name = name(url, "text/html");
            assert!(
                name.split('/')
                    .all(|part| part != ".." && part != "." && !part.is_empty())
            );
        }
    }

    #[test]
    fn long_names_are_cut_and_stay_apart() {
        let mut names = Names::new();
        let long = "가".repeat(300);
        let a = name_in(&mut names, &format!("http://e.com/{long}a"), "text/html");
        let b = name_in(&mut names, &format!("http://e.com/{long}b"), "text/html");
        assert_ne!(a, b);
        assert!(a.split('/').all(|part| part.len() <= 140), "{a}");
        let query = "q".repeat(300);
        let c = name_in(&mut names, &format!("http://e.com/x?{query}"), "text/html");
        assert!(c.len() < 60 && c.starts_with("e.com/x~"), "{c}");
        let deep = "/abcdefghij".repeat(150);
        let d = name_in(&mut names, &format!("http://e.com{deep}"), "text/html");
        assert!(d.starts_with("e.com/_long/") && ends_in_html(&d), "{d}");
    }

    #[test]
    fn files_folders_and_letter_case_do_not_collide() {
        let mut names = Names::new();
        let mut give = |url: &str, mime: &str| name_in(&mut names, url, mime);
        assert_eq!(give("http://e.com/a.html", "text/html"), "e.com/a.html");
        assert_eq!(
            give("http://e.com/a.html/b", "text/html"),
            "e.com/a.html~/b.html"
        );
        assert_eq!(
            give("http://e.com/a.html/c", "text/html"),
            "e.com/a.html~/c.html"
        );
        assert_eq!(give("http://e.com/d/x", "text/html"), "e.com/d/x.html");
        let file = give("http://e.com/d", "application/octet-stream");
        assert!(file.starts_with("e.com/d~"), "{file}");
        let upper = give("http://e.com/A.html", "text/html");
        assert!(
            upper.starts_with("e.com/A~") && ends_in_html(&upper),
            "{upper}"
        );
        let secure = give("https://e.com/a.html", "text/html");
        assert!(secure.starts_with("e.com/a~"), "{secure}");
        assert_ne!(
            give("http://e.com/d/", "text/html"),
            give("http://e.com/d/index.html", "text/html")
        );
    }

    #[test]
    fn references_are_relative_and_escaped() {
        assert_eq!(reference("a/b.html", "a/c.html"), "c.html");
        assert_eq!(
            reference("a/x/b.html", "a/c d~q?.html"),
            "../c%20d~q%3F.html"
        );
        assert_eq!(
            reference("a/b.html", "c/x/한.html"),
            "../c/x/%ED%95%9C.html"
        );
        assert_eq!(reference("index.html", "a/index.html"), "a/index.html");
        assert_eq!(reference("a/b.html", "a/%C7.html"), "%25C7.html");
    }
}
