//! One target for each parser, with what must hold of it.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use geomi_fetch::StoredAnswer;
use geomi_model::Document;
use geomi_page::{PageInput, ReadLimits, Readers, declared_charset, robots_tag};
use geomi_robots::Robots;
use geomi_store::cdxj;
use geomi_store::warc::WarcReader;
use geomi_url::CrawlUrl;

/// A parser under test.
#[derive(Clone, Copy, Debug)]
pub struct Target {
    /// Its name, and its corpus's.
    pub name: &'static str,
    /// Feeds it one input; panics where an invariant is broken.
    pub run: fn(&[u8]),
    /// Words of its language, to be put into inputs.
    pub words: &'static [&'static [u8]],
}

/// Every target.
pub const TARGETS: &[Target] = &[
    Target {
        name: "url",
        run: url,
        words: &[
            b"http://", b"//", b"/../", b"%2e", b"xn--", b"@", b":80", b"[::1]", b"0x7f.1", b"\\",
        ],
    },
    Target {
        name: "html",
        run: html,
        words: &[
            b"<a href=",
            b"<base href=",
            b"<title>",
            b"</title>",
            b"<script>",
            b"<!--",
            b"-->",
            b"<svg>",
            b"<![CDATA[",
            b"&amp;",
            b"&#x",
            b"<meta charset=",
            b"<plaintext>",
        ],
    },
    Target {
        name: "robots",
        run: robots,
        words: &[
            b"User-agent: *\n",
            b"Disallow: ",
            b"Allow: /",
            b"*",
            b"$",
            b"%2F",
            b"Sitemap: ",
            b"Crawl-delay: ",
            b"\r",
        ],
    },
    Target {
        name: "head",
        run: head,
        words: &[
            b"HTTP/1.1 ",
            b"\r\n",
            b"\r\n\r\n",
            b"Content-Length: ",
            b"Transfer-Encoding: chunked",
            b"Content-Encoding: gzip",
            b"\n\t",
        ],
    },
    Target {
        name: "chunked",
        run: chunked,
        words: &[
            b"0\r\n\r\n",
            b"\r\n",
            b"5;x=y\r\n",
            b"ffffffffffffffff",
            b"-1",
        ],
    },
    Target {
        name: "warc",
        run: warc,
        words: &[
            b"WARC/1.1\r\n",
            b"Content-Length: ",
            b"\r\n\r\n",
            b"WARC-Type: ",
        ],
    },
    Target {
        name: "cdxj",
        run: cdxj_line,
        words: &[b" 20261115094200 ", b"{\"url\":\"", b"\\u0000", b"\"}"],
    },
    Target {
        name: "sitemap",
        run: sitemap,
        words: &[
            b"<urlset>",
            b"<url><loc>",
            b"</loc></url>",
            b"<lastmod>",
            b"<!DOCTYPE x [<!ENTITY",
            b"<![CDATA[",
            b"&amp;",
            b"<sitemapindex>",
        ],
    },
    Target {
        name: "feed",
        run: feed,
        words: &[
            b"<item>",
            b"<entry>",
            b"<link href='",
            b"<pubDate>",
            b"</item>",
            b"<guid>",
        ],
    },
    Target {
        name: "charset",
        run: charset,
        words: &[
            b"<meta charset=euc-kr>",
            b"\x1B$)C",
            b"\x0E",
            b"\x0F",
            b"\xEF\xBB\xBF",
            b"\xFF\xFE",
            b"\xB0\xA1",
            b"\0<\0t",
        ],
    },
    Target {
        name: "pdf",
        run: pdf,
        words: &[
            b"obj",
            b"endobj",
            b"stream\n",
            b"endstream",
            b"/URI (",
            b"/Title (",
            b"/FlateDecode",
            b"<<",
            b">>",
            b"\\(",
        ],
    },
    Target {
        name: "json",
        run: json,
        words: &[b"{\"", b"\":", b"\"http://", b"\\u", b"[", b"]", b"\\ud83d"],
    },
];

fn page_url() -> CrawlUrl {
    CrawlUrl::parse("http://example.com/dir/page").expect("a URL")
}

fn url(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    let base = page_url();
    for url in [CrawlUrl::parse(&text), base.join(&text)]
        .into_iter()
        .flatten()
    {
        let again = CrawlUrl::parse(url.as_str()).expect("a normalised URL parses");
        assert_eq!(again, url, "normalising is done once");
        assert_eq!(again.site_hash(), url.site().hash64());
        assert!(url.path_and_query().starts_with('/'));
        assert!(!url.host().is_empty() && !geomi_url::surt::surt_key(url.as_str()).is_empty());
        if let Some(plain) = CrawlUrl::parse_plain(&text) {
            assert_eq!(
                Ok(plain),
                CrawlUrl::parse(&text),
                "the short way is the long one"
            );
        }
    }
    if let Some(plain) = base.join_plain(&text) {
        assert_eq!(
            Ok(plain),
            CrawlUrl::from_url(&base.to_url().join(&text).expect("plain"))
        );
    }
}

/// Reads content of a type twice; what comes out is bounded and the same.
fn read(mime: &str, label: Option<&str>, body: &[u8]) -> Document {
    let url = page_url();
    let limits = ReadLimits {
        links_max: 100,
        sitemap_links_max: 100,
        title_bytes_max: 64,
        sitemap_bytes_max: 1 << 20,
        ..ReadLimits::default()
    };
    let readers = Readers::standard();
    let input = PageInput {
        url: &url,
        mime: Some(mime),
        charset_label: label,
        body,
    };
    let page = readers.read(&input, &limits);
    assert_eq!(page, readers.read(&input, &limits), "reading has no memory");
    assert!(page.links.len() <= 100);
    assert!(page.title.as_ref().is_none_or(|title| title.len() <= 64));
    for link in &page.links {
        assert_eq!(CrawlUrl::parse(link.url.as_str()).as_ref(), Ok(&link.url));
    }
    page
}

fn html(input: &[u8]) {
    read("text/html", None, input);
    let url = page_url();
    let page = PageInput {
        url: &url,
        mime: Some("text/html"),
        charset_label: Some("utf-8"),
        body: input,
    };
    let written = geomi_page::rewrite_html(&page, &ReadLimits::default(), &mut |_| None);
    assert!(
        written.len() <= 16 * input.len() + 4096,
        "rewriting adds little"
    );
    let text = String::from_utf8_lossy(input);
    robots_tag(&text, "geomi");
}

fn robots(input: &[u8]) {
    let robots = Robots::parse(input);
    let printed = robots.to_string();
    let again = Robots::parse(printed.as_bytes());
    let path = String::from_utf8_lossy(&input[..input.len().min(40)]).replace(['\n', '\r'], "/");
    for path in ["/", "/x", "/a/b?c=%2f", &format!("/{path}")] {
        let verdict = robots.verdict("geomi", path);
        let kept = again.verdict("geomi", path);
        // Escaping may lengthen a line past the limit only in the kept form.
        if printed.len() <= geomi_robots::LINE_BYTES_MAX {
            assert_eq!(verdict.allowed, kept.allowed, "{path} by {printed:?}");
        }
    }
    assert!(robots.verdict("geomi", "/robots.txt").allowed);
    assert!(printed.len() <= 4 * input.len() + 64);
}

fn answer(block: Vec<u8>) {
    const BODY_MAX: usize = 1 << 16;
    // What is wrong with an answer is told in words; only that it is told counts.
    if let Ok(answer) = StoredAnswer::parse(block, BODY_MAX) {
        assert!(answer.body.bytes.len() <= BODY_MAX);
        assert!(answer.code <= 999, "{} is not of three digits", answer.code);
        for (name, _) in answer.headers.iter() {
            assert!(!name.is_empty());
        }
    }
}

fn head(input: &[u8]) {
    answer(input.to_vec());
}

fn chunked(input: &[u8]) {
    let head = b"HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    answer([&head[..], input].concat());
}

fn warc(input: &[u8]) {
    let mut file = tempfile::NamedTempFile::new().expect("a temporary file");
    let packed = if input.starts_with(&[0x1F, 0x8B]) {
        input.to_vec()
    } else {
        // Damage to compressed bytes is found by their check sum; what is inside
        // is reached by packing it anew.
        let mut encoder = GzEncoder::new(Vec::new(), Compression::none());
        encoder.write_all(input).expect("a vector takes everything");
        encoder.finish().expect("a vector takes everything")
    };
    file.write_all(&packed).expect("a temporary file");
    let mut reader = WarcReader::open(file.path()).expect("it exists");
    let mut records = 0;
    while let Ok(Some(record)) = reader.next_record() {
        records += 1;
        assert!(records <= packed.len(), "no more records than bytes");
        assert!(record.offset < packed.len() as u64);
    }
}

fn cdxj_line(input: &[u8]) {
    let text = String::from_utf8_lossy(input);
    for line in text.lines() {
        if let Some(entry) = cdxj::Entry::parse(line) {
            assert!(line.starts_with(&entry.key));
            assert!(!entry.timestamp.contains(' '));
        }
    }
}

fn sitemap(input: &[u8]) {
    read("application/xml", None, input);
    read("application/gzip", None, input);
    read("text/plain", None, input);
}

fn feed(input: &[u8]) {
    read("application/rss+xml", None, input);
    read("application/feed+json", None, input);
}

fn charset(input: &[u8]) {
    const LABELS: [&str; 8] = [
        "",
        "utf-8",
        "euc-kr",
        "cp949",
        "iso-2022-kr",
        "utf-16",
        "shift_jis",
        "no such",
    ];
    let label = LABELS[usize::from(input.first().copied().unwrap_or(0) & 7)];
    let page = read("text/html", Some(label), input);
    assert!(page.charset.is_some(), "a page always has a charset");
    declared_charset(input);
}

fn pdf(input: &[u8]) {
    read("application/pdf", None, input);
    read("image/png", None, input);
    read("application/octet-stream", None, input);
}

fn json(input: &[u8]) {
    read("application/json", None, input);
}
