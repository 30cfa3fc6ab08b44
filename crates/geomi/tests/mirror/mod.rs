//! The mirror of `geomi export --as files`, read as a browser would.

use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

use geomi_model::{CaptureKind, CharsetSource, Timestamp, Visit};
use geomi_page::{PageInput, ReadLimits, Readers};
use geomi_store::warc::{
    Exchange, GzipLevel, Revisit, RevisitProfile, WarcConfig, WarcWriter, encode_exchange,
    encode_revisit, payload_digest,
};
use geomi_store::{CrawlDir, segment};
use geomi_url::CrawlUrl;

use super::{Workplace, crawled, export, files, objects, rows};

/// A file read as HTML from where it lies.
fn read(name: &str, body: &[u8]) -> geomi_model::Document {
    let path = name
        .replace('%', "%25")
        .replace('?', "%3F")
        .replace('#', "%23");
    let url = CrawlUrl::parse(&format!("http://mirror.test/{path}")).unwrap();
    let input = PageInput {
        url: &url,
        mime: Some("text/html"),
        charset_label: None,
        body,
    };
    Readers::standard().read(&input, &ReadLimits::default())
}

fn unescaped(path: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = path.as_bytes();
    while let [first, after @ ..] = rest {
        if *first == b'%' {
            let digits = std::str::from_utf8(&after[..2]).unwrap();
            bytes.push(u8::from_str_radix(digits, 16).unwrap());
            rest = &after[2..];
        } else {
            bytes.push(*first);
            rest = after;
        }
    }
    String::from_utf8(bytes).unwrap()
}

fn is_html(name: &str) -> bool {
    name.rsplit('.').next() == Some("html")
}

/// The latest content of each URL.
fn saved(rows: &[Visit]) -> BTreeMap<&str, &Visit> {
    let content = rows
        .iter()
        .filter(|row| row.code == Some(200) && !row.is_robots);
    content.map(|row| (row.url.as_str(), row)).collect()
}

#[test]
fn every_link_leads_to_a_file_or_to_what_was_not_saved() {
    let (place, server) = crawled();
    let rows = rows(&place);
    let saved = saved(&rows);
    let done = export(&place, "files -o mirror");
    assert!(
        done.err.contains(&format!(", {} files -> ", saved.len())),
        "{done:#?}"
    );
    assert!(!place.exists("mirror.tmp"));
    let mut found = BTreeMap::new();
    files(&place.path("mirror"), "", &mut found);
    assert_eq!(found.len(), saved.len() + 1, "and the front page");
    let redirects: BTreeSet<&str> = rows
        .iter()
        .filter(|row| {
            row.location
                .as_ref()
                .is_some_and(|to| saved.contains_key(to.as_str()))
        })
        .map(|row| row.url.as_str())
        .collect();
    assert!(!redirects.is_empty());
    let mut local = 0;
    for (name, body) in found.iter().filter(|(name, _)| is_html(name)) {
        for link in read(name, body).links {
            let url = link.url.as_str();
            if let Some(path) = url.strip_prefix("http://mirror.test/") {
                assert!(
                    found.contains_key(&unescaped(path)),
                    "{name} links to {url}"
                );
                local += 1;
            } else {
                assert!(!saved.contains_key(url), "{name} links to {url}");
                assert!(!redirects.contains(url), "{name} links to {url}");
            }
        }
    }
    assert!(local > 1000, "{local} links");
    let front = String::from_utf8(found["index.html"].clone()).unwrap();
    for host in ["127.0.1.1", "127.0.1.2", "127.0.1.3"] {
        let port = server.port();
        assert!(
            front.contains(&format!("<h2>{host}:{port}</h2>")),
            "{front}"
        );
        assert!(
            front.contains(&format!("href=\"{host}+{port}/index.html\"")),
            "{front}"
        );
    }
}

#[test]
fn korean_pages_are_utf8_and_say_so() {
    let (place, _server) = crawled();
    let rows = rows(&place);
    export(&place, "files -o mirror --type text/html");
    let mut found = BTreeMap::new();
    files(&place.path("mirror"), "", &mut found);
    found.remove("index.html");
    let mut titles = Vec::new();
    for (name, body) in &found {
        assert!(std::str::from_utf8(body).is_ok(), "{name}");
        let page = read(name, body);
        let charset = page.charset.unwrap();
        assert_eq!(
            (charset.name, charset.source),
            ("UTF-8", CharsetSource::Meta),
            "{name}"
        );
        titles.extend(page.title);
    }
    let saved = saved(&rows);
    let html = saved
        .values()
        .filter(|row| row.mime.as_deref() == Some("text/html"));
    let mut expected: Vec<String> = html.filter_map(|row| row.title.clone()).collect();
    let charsets: BTreeSet<&str> = rows
        .iter()
        .filter_map(|row| row.charset.as_deref())
        .collect();
    assert!(charsets.contains("EUC-KR"), "{charsets:?}");
    assert!(expected.iter().any(|title| !title.is_ascii()));
    expected.sort();
    titles.sort();
    assert_eq!(titles, expected);
}

#[test]
fn odd_pages_are_rewritten_in_every_place() {
    let (place, server) = crawled();
    export(&place, "files -o mirror");
    let origin = format!("http://127.0.1.1:{}", server.port());
    let root = format!("mirror/127.0.1.1+{}/special/", server.port());
    let page = place.read(&format!("{root}index.html"));
    for expected in [
        "<head><meta charset=\"utf-8\"><base href=\"\">",
        "<link rel=stylesheet href=style.css>",
        "<body background=bg.png>",
        "<a href=file.txt>f</a>",
        "<a href=\"index.html#here\">self</a>",
        "<a href=file/below.html>moved</a>",
        &format!("<a href={origin}/special/gone>gone</a>"),
        "<a href=\"index~q=1%26r=2.html\">query</a>",
        &format!("srcset=\"bg.png 1x, {origin}/special/none.png 2x\""),
        "<form action=file.txt>",
    ] {
        assert!(page.contains(expected), "no {expected} in {page}");
    }
    assert_eq!(
        place.read(&format!("{root}style.css")),
        "body{background:url(bg.png)}"
    );
    assert_eq!(place.read(&format!("{root}file.txt")), "\u{feff}한글\n");
    assert!(
        place
            .read(&format!("{root}file/below.html"))
            .contains("<a href='../file.txt'>")
    );
    assert!(
        place
            .read(&format!("{root}index~q=1&r=2.html"))
            .contains("<a href=index.html>")
    );
    assert!(!place.exists(&format!("{root}gone.html")));
}

/// A directory in which one page was visited again and again.
struct History {
    dir: CrawlDir,
    writer: WarcWriter,
    rows: Vec<Visit>,
}

const START: Timestamp = Timestamp::from_secs(1_794_744_000);

impl History {
    fn new(place: &Workplace, like: Visit) -> Self {
        let dir = CrawlDir::create(place.path("history")).unwrap();
        let writer =
            WarcWriter::resume(WarcConfig::new(dir.warc(), "history", "w0"), None).unwrap();
        let rows = vec![Visit { number: 0, ..like }];
        Self { dir, writer, rows }
    }

    /// One visit a minute; without a body it is the content of `same_as`.
    fn visit(&mut self, path: &str, code: u16, body: Option<&str>, same_as: Option<u64>) {
        let number = self.rows.len() as u64;
        let url = CrawlUrl::parse(&format!("http://e.test/{path}")).unwrap();
        let time = START + Duration::from_secs(60 * number);
        let head = format!("HTTP/1.1 {code} X\r\nContent-Type: text/html\r\n\r\n");
        let wire = body.unwrap_or_default().as_bytes();
        let digest = payload_digest(head.as_bytes(), wire);
        let (request, level) = (&b"GET / HTTP/1.1\r\n\r\n"[..], GzipLevel::default());
        let encoded = match same_as.map(|number| &self.rows[number as usize]) {
            None => encode_exchange(
                &Exchange {
                    url: &url,
                    time,
                    serial: number,
                    ip: None,
                    protocol: geomi_model::Protocol::Http1,
                    request,
                    head: head.as_bytes(),
                    wire_body: wire,
                    truncated: None,
                    payload_digest: digest,
                },
                level,
            ),
            Some(original) => encode_revisit(
                &Revisit {
                    url: &url,
                    time,
                    serial: number,
                    ip: None,
                    protocol: geomi_model::Protocol::Http1,
                    request,
                    head: b"HTTP/1.1 304 Not Modified\r\n\r\n",
                    profile: RevisitProfile::NotModified,
                    payload_digest: original.digest.unwrap(),
                    refers_to_url: &original.url,
                    refers_to_time: original.time,
                },
                level,
            ),
        };
        let at = self.writer.append(&encoded.members, time).unwrap();
        let is_revisit = encoded.kind == CaptureKind::Revisit;
        self.rows.push(Visit {
            number,
            time,
            url,
            code: Some(code),
            mime: (!is_revisit).then(|| "text/html".to_owned()),
            charset: None,
            // A revisit's own digest need not be the original's.
            digest: Some(digest),
            location: None,
            depth: 0,
            is_robots: false,
            capture: Some(geomi_model::Capture {
                file: at.file,
                offset: at.offset,
                length: encoded.capture_length,
                kind: encoded.kind,
            }),
            ..self.rows[0].clone()
        });
    }

    fn finish(mut self) {
        self.writer.close().unwrap();
        segment::write(&self.dir, None, &self.rows[1..]).unwrap();
    }
}

#[test]
fn the_latest_content_counts_and_revisits_lead_to_it() {
    let (place, _server) = crawled();
    let mut history = History::new(&place, rows(&place)[0].clone());
    history.visit("a", 200, Some("<p>first <a href=b>b</a>"), None);
    history.visit("a", 200, Some("<p>second"), None);
    history.visit("b", 200, Some("<p>b"), None);
    history.visit("a", 304, None, Some(2));
    history.visit("b", 404, Some("<p>gone"), None);
    history.visit("c", 304, None, Some(3));
    history.finish();
    let mirror = |words: &str, out: &str| {
        let words = format!("export history --as files -o {out}{words}");
        let done = place.geomi(&words.split(' ').collect::<Vec<_>>());
        assert_eq!(done.code, Some(0), "{done:#?}");
        let mut found = BTreeMap::new();
        files(&place.path(out), "e.test/", &mut found);
        found
            .into_iter()
            .map(|(name, body)| (name, String::from_utf8(body).unwrap()))
            .collect::<BTreeMap<_, _>>()
    };
    let meta = "<meta charset=\"utf-8\">";
    let now = mirror("", "now");
    assert_eq!(now["e.test/a.html"], format!("{meta}<p>second"));
    assert_eq!(
        now["e.test/b.html"],
        format!("{meta}<p>b"),
        "an error is no content"
    );
    assert_eq!(now["e.test/c.html"], format!("{meta}<p>b"));
    let until = (START + Duration::from_secs(150)).to_rfc3339_secs();
    let then = mirror(&format!(" --until {until}"), "then");
    assert_eq!(then.len(), 1);
    assert_eq!(then["e.test/a.html"], format!("{meta}<p>second"));
    let first = mirror(" --limit 1", "first");
    assert!(
        first["e.test/a.html"].contains("<a href=http://e.test/b>"),
        "{first:?}"
    );

    let done = place.geomi(&["export", "history", "--as", "jsonl"]);
    assert_eq!(objects(&done.out).len(), 6);
}

#[test]
fn what_another_export_builds_is_left_alone() {
    let (place, _server) = crawled();
    std::fs::create_dir(place.path("m.tmp")).unwrap();
    place.write("m.tmp/x", "theirs");
    let done = place.geomi(&["export", "out", "--as", "files", "-o", "m"]);
    done.fails(1, &["m.tmp is there", "remove it"]);
    assert_eq!(place.read("m.tmp/x"), "theirs");
    std::fs::create_dir(place.path("empty")).unwrap();
    export(&place, "files -o empty");
    assert!(place.exists("empty/index.html"));
}
