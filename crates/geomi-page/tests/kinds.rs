//! JSON, PDF and pictures: what is read of them, within bounds.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::ZlibEncoder;
use geomi_model::{Document, DocumentKind, ImageFormat, ImageSize};
use geomi_page::{PageInput, ReadLimits, Readers};
use geomi_url::CrawlUrl;

fn read(mime: &str, body: &[u8]) -> Document {
    let url = CrawlUrl::parse("http://example.com/file").expect("a URL");
    let input = PageInput {
        url: &url,
        mime: Some(mime),
        charset_label: None,
        body,
    };
    Readers::standard().read(&input, &ReadLimits::default())
}

fn urls(document: &Document) -> Vec<&str> {
    document
        .links
        .iter()
        .map(|link| link.url.as_str())
        .collect()
}

fn pdf(stream: &[u8]) -> Vec<u8> {
    let mut encoder = ZlibEncoder::new(Vec::new(), Compression::fast());
    encoder
        .write_all(stream)
        .expect("a vector takes everything");
    let packed = encoder.finish().expect("a vector takes everything");
    [
        &b"%PDF-1.4\n1 0 obj\n<< /Title <FEFFD55CAE00> /Producer (x) >>\nendobj\n\
           2 0 obj\n<< /A << /S /URI /URI (http://example.com/a\\(1\\)) >> >>\nendobj\n\
           3 0 obj\n<< /Filter /FlateDecode >>\nstream\n"[..],
        &packed,
        b"\nendstream\nendobj\n%%EOF",
    ]
    .concat()
}

#[test]
fn addresses_among_the_values_of_json() {
    let json = r#"{"a":["http://example.com/1","x y",{"b":"https:\/\/example.com\/2?\u0026"}],
        "http://example.com/key":1,"c":"see http://example.com/3","d":"http://example.com/\ud83d\ude00"}"#;
    let document = read("application/json; charset=utf-8", json.as_bytes());
    assert_eq!(document.kind, DocumentKind::Json);
    let expected = [
        "http://example.com/1",
        "https://example.com/2?&",
        "http://example.com/%F0%9F%98%80",
    ];
    assert_eq!(urls(&document), expected);
    let deep = "[".repeat(1_000_000);
    assert!(read("application/json", deep.as_bytes()).links.is_empty());
    let mut many = String::new();
    for number in 0..500_000 {
        many.push_str("\"http://e.example/");
        many.push_str(&number.to_string());
        many.push_str("\",");
    }
    let many = read("application/ld+json", many.as_bytes());
    assert_eq!((many.links.len(), many.truncated), (100_000, true));
}

#[test]
fn json_feeds_have_dates() {
    let feed = r#"{"version":"https://jsonfeed.org/version/1.1","title":"소식","home_page_url":"http://example.com/",
        "items":[{"id":"1","url":"http://example.com/1","date_published":"2026-11-15T09:42:00Z"},
                 {"url":"http://example.com/2","date_modified":"2026-11-14T00:00:00Z"}]}"#;
    let feed = read("application/feed+json", feed.as_bytes());
    assert_eq!(
        (feed.kind, feed.title.as_deref()),
        (DocumentKind::Feed, Some("소식"))
    );
    let expected = [
        "http://example.com/",
        "http://example.com/1",
        "http://example.com/2",
    ];
    assert_eq!(urls(&feed), expected);
    let dates: Vec<_> = feed
        .links
        .iter()
        .filter_map(|link| link.signal?.modified)
        .collect();
    assert_eq!(dates.len(), 2);
}

#[test]
fn a_pdf_has_a_title_links_and_text() {
    let document = read(
        "application/pdf",
        &pdf(b"BT (Hello) Tj ET /URI (http://example.com/b)"),
    );
    assert_eq!(
        (document.kind, document.title.as_deref()),
        (DocumentKind::Pdf, Some("한글"))
    );
    assert_eq!(
        urls(&document),
        ["http://example.com/a(1)", "http://example.com/b"]
    );
    assert!(document.text_bytes >= 5);
    let bomb = pdf(&vec![b' '; 100 << 20]);
    assert_eq!(read("application/pdf", &bomb).links.len(), 1);
    assert_eq!(
        read("application/pdf", b"no such file"),
        Document::default()
    );
}

#[test]
fn pictures_have_a_size_whatever_their_type() {
    let expected = DocumentKind::Image(ImageSize {
        format: ImageFormat::Gif,
        width: 16,
        height: 32,
    });
    for mime in ["image/gif", "image/png", "application/octet-stream"] {
        assert_eq!(read(mime, b"GIF89a\x10\0\x20\0rest").kind, expected);
    }
    assert_eq!(read("image/gif", b"GIF"), Document::default());
}
