//! Sitemaps, feeds and lists of URLs: what they list, what they say about it, and
//! that no bomb among them does harm.

use std::io::Write as _;

use flate2::Compression;
use flate2::write::GzEncoder;
use geomi_model::{ChangeFrequency, Document, DocumentKind, Link, LinkKind, Timestamp};
use geomi_page::{PageInput, ReadLimits, Readers};
use geomi_url::CrawlUrl;

fn read(mime: Option<&str>, body: &[u8]) -> Document {
    let url = CrawlUrl::parse("http://example.com/maps/sitemap.xml").expect("a URL");
    let input = PageInput {
        url: &url,
        mime,
        charset_label: None,
        body,
    };
    Readers::standard().read(&input, &ReadLimits::default())
}

fn gzip(body: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(body).expect("a vector takes everything");
    encoder.finish().expect("a vector takes everything")
}

fn urls(document: &Document) -> Vec<&str> {
    document
        .links
        .iter()
        .map(|link| link.url.as_str())
        .collect()
}

fn modified(link: &Link) -> Option<String> {
    let signal = link.signal?;
    signal.modified.map(Timestamp::to_rfc3339_secs)
}

const SITEMAP: &str = r#"<?xml version="1.0" encoding="UTF-8"?>
<?xml-stylesheet type="text/xsl" href="/sitemap.xsl"?>
<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9"
  xmlns:image="http://www.google.com/schemas/sitemap-image/1.1" xmlns:xhtml="http://www.w3.org/1999/xhtml">
  <url>
    <loc> http://example.com/?a=1&amp;b=2 </loc>
    <lastmod>2026-11-14T18:00:00+09:00</lastmod>
    <changefreq>Weekly</changefreq><priority>0.8</priority>
    <image:image><image:loc>http://example.com/a.png</image:loc></image:image>
    <xhtml:link rel="alternate" hreflang="ko" href="http://example.com/ko/"/>
  </url>
  <url><loc><![CDATA[http://other.example/한글]]></loc><lastmod>soon</lastmod><priority>9</priority></url>
  <url><lastmod>2026-01-01</lastmod></url>
  <url><loc>/relative</loc><lastmod>2026-11</lastmod></url>
  <url><loc>http://example.com/?a=1&#38;b=2</loc></url>
  <url><loc>mailto:x@example.com</loc></url>
</urlset>"#;

const PAGES: [&str; 5] = [
    "http://example.com/?a=1&b=2",
    "http://example.com/a.png",
    "http://example.com/ko/",
    "http://other.example/%ED%95%9C%EA%B8%80",
    "http://example.com/relative",
];

#[test]
fn a_sitemap_lists_pages_and_what_it_says_of_them() {
    let map = read(Some("application/xml"), SITEMAP.as_bytes());
    assert_eq!(map.kind, DocumentKind::Sitemap);
    assert_eq!(urls(&map), PAGES);
    let kinds: Vec<LinkKind> = map.links.iter().map(|link| link.kind).collect();
    let (page, other) = (LinkKind::Anchor, LinkKind::Other);
    assert_eq!(kinds, [page, other, other, page, page]);
    let first = map.links[0].signal.expect("it has signals");
    assert_eq!(
        modified(&map.links[0]).as_deref(),
        Some("2026-11-14T09:00:00Z")
    );
    assert_eq!(first.frequency, Some(ChangeFrequency::Weekly));
    assert_eq!(first.priority_percent, Some(80));
    assert_eq!(map.links[3].signal, None, "nonsense is no signal");
    assert_eq!(
        modified(&map.links[4]).as_deref(),
        Some("2026-11-01T00:00:00Z")
    );
    assert!(!map.truncated);
}

#[test]
fn sitemaps_are_known_by_their_first_element_not_their_type() {
    let packed = gzip(SITEMAP.as_bytes());
    for mime in [
        None,
        Some("text/xml"),
        Some("text/html"),
        Some("text/plain"),
        Some("application/octet-stream"),
        Some("application/gzip"),
        Some("application/x-gzip"),
    ] {
        assert_eq!(urls(&read(mime, SITEMAP.as_bytes())), PAGES, "{mime:?}");
        assert_eq!(urls(&read(mime, &packed)), PAGES, "{mime:?} packed");
    }
    let wide: Vec<u8> = format!("\u{feff}{SITEMAP}")
        .encode_utf16()
        .flat_map(u16::to_be_bytes)
        .collect();
    assert_eq!(urls(&read(Some("text/xml"), &wide)), PAGES);
    let korean = SITEMAP.replace("UTF-8", "EUC-KR");
    let (korean, _, _) = encoding_rs::EUC_KR.encode(&korean);
    assert_eq!(urls(&read(Some("text/xml"), &korean)), PAGES);
    assert_eq!(
        read(Some("image/png"), SITEMAP.as_bytes()),
        Document::default()
    );
}

#[test]
fn a_sitemap_index_lists_sitemaps() {
    let index = "<sitemapindex><sitemap><loc>http://example.com/1.xml.gz</loc>\
                 <lastmod>2026-11-15</lastmod></sitemap><sitemap><loc>/2.xml</loc>";
    let index = read(Some("text/xml"), index.as_bytes());
    assert_eq!(index.kind, DocumentKind::SitemapIndex);
    let expected = ["http://example.com/1.xml.gz", "http://example.com/2.xml"];
    assert_eq!(
        urls(&index),
        expected,
        "the file breaks off after the second"
    );
    assert_eq!(
        modified(&index.links[0]).as_deref(),
        Some("2026-11-15T00:00:00Z")
    );
    assert_eq!(index.links[0].kind, LinkKind::Other);
}

#[test]
fn a_text_sitemap_is_a_list_of_addresses_and_nothing_else() {
    let list = "\u{feff}http://example.com/1\r\nhttp://example.com/2\n\nHTTPS://example.com/3\n";
    let read_list = read(Some("text/plain"), list.as_bytes());
    assert_eq!(read_list.kind, DocumentKind::UrlList);
    assert_eq!(read_list.links.len(), 3);
    assert_eq!(read(None, &gzip(list.as_bytes())).links.len(), 3);
    for prose in [
        "see http://example.com/1\n",
        "http://example.com/1 is it\n",
        "\n",
        "",
    ] {
        let page = read(Some("text/plain"), prose.as_bytes());
        assert_eq!(page, Document::default(), "{prose:?}");
    }
}

#[test]
fn feeds_list_items_with_dates() {
    let rss = r#"<rss version="2.0"><channel><title>News &amp; more</title><link>http://example.com/</link>
      <atom:link rel="self" href="http://example.com/rss"/><atom:link rel="next" href="?page=2"/>
      <image><title>no</title><link>http://example.com/logo</link></image>
      <item><title>1</title><link>http://example.com/1</link><pubDate>Sun, 15 Nov 2026 09:00:00 +0900</pubDate>
        <enclosure url="http://example.com/1.mp3" length="1" type="audio/mpeg"/></item>
      <item><guid>http://example.com/2</guid><dc:date>2026-11-15</dc:date></item>
      <item><guid isPermaLink="false">http://example.com/no</guid></item></channel></rss>"#;
    let feed = read(Some("application/rss+xml"), rss.as_bytes());
    assert_eq!(
        (feed.kind, feed.title.as_deref()),
        (DocumentKind::Feed, Some("News & more"))
    );
    let expected = [
        "http://example.com/",
        "http://example.com/maps/sitemap.xml?page=2",
        "http://example.com/1",
        "http://example.com/1.mp3",
        "http://example.com/2",
    ];
    assert_eq!(urls(&feed), expected);
    assert_eq!(
        modified(&feed.links[2]).as_deref(),
        Some("2026-11-15T00:00:00Z")
    );
    assert_eq!(
        modified(&feed.links[4]).as_deref(),
        Some("2026-11-15T00:00:00Z")
    );

    let atom = r#"<feed xmlns="http://www.w3.org/2005/Atom"><title type="text">소식</title>
      <link href="http://example.com/"/><link rel="self" href="/atom"/>
      <entry><title>a</title><link rel="alternate" href="/a"/><link rel="enclosure" href="/a.pdf"/>
        <published>2026-01-01T00:00:00Z</published><updated>2026-11-01T00:00:00Z</updated>
        <content type="html">&lt;a href="/in-text"&gt;</content></entry></feed>"#;
    let feed = read(Some("text/xml"), atom.as_bytes());
    assert_eq!(feed.title.as_deref(), Some("소식"));
    let expected = [
        "http://example.com/",
        "http://example.com/a",
        "http://example.com/a.pdf",
        "http://example.com/in-text",
    ];
    assert_eq!(urls(&feed), expected);
    assert_eq!(
        modified(&feed.links[1]).as_deref(),
        Some("2026-11-01T00:00:00Z")
    );

    let rdf = r#"<rdf:RDF><channel><title>t</title><link>http://example.com/</link></channel>
      <item rdf:about="x"><link>http://example.com/a</link><dc:date>2026-11-15T00:00Z</dc:date></item></rdf:RDF>"#;
    let feed = read(Some("application/rdf+xml"), rdf.as_bytes());
    assert_eq!(urls(&feed), ["http://example.com/", "http://example.com/a"]);
    assert!(feed.links[1].signal.is_some());
}

#[test]
fn too_many_urls_are_cut_at_what_the_protocol_allows() {
    let mut map = String::from("<urlset>");
    for number in 0..200_000 {
        map.push_str("<url><loc>http://example.com/");
        map.push_str(&number.to_string());
        map.push_str("</loc></url>");
    }
    let map = read(Some("text/xml"), map.as_bytes());
    assert_eq!(map.links.len(), 50_000);
    assert!(map.truncated);
}

#[test]
fn bombs_do_not_go_off() {
    let mut bomb = b"<urlset><url><loc>http://example.com/1</loc></url>".to_vec();
    bomb.resize(200 << 20, b' ');
    let packed = gzip(&bomb);
    assert!(packed.len() < 4 << 20);
    let map = read(Some("application/gzip"), &packed);
    assert_eq!(map.links.len(), 1);
    assert!(map.truncated, "200 MiB were not unpacked");
    let archive = gzip(&vec![0; 1 << 20]);
    assert_eq!(
        read(Some("application/gzip"), &archive),
        Document::default()
    );

    let entities = "<!DOCTYPE urlset [<!ENTITY a 'http://example.com/'><!ENTITY x SYSTEM 'file:///etc/passwd'>]>\
                    <urlset><url><loc>&a;</loc></url><url><loc>http://example.com/&x;</loc></url></urlset>";
    let map = read(Some("text/xml"), entities.as_bytes());
    assert!(
        urls(&map).iter().all(|url| !url.contains("root:")),
        "{map:?}"
    );

    for body in [
        format!("<urlset>{}", "<url>".repeat(100_000)),
        format!("<rss>{}", "<item>".repeat(100_000)),
        format!("<urlset><url {}>", "a='b' ".repeat(1_000_000)),
        format!("<urlset><url><loc>{}</loc>", "x".repeat(10_000_000)),
        format!("<feed><entry><link href='{}'/>", "x".repeat(10_000_000)),
        format!("<urlset>{}", "<url><image:loc>".repeat(100_000)),
        format!("<urlset>{}", "&a;".repeat(1_000_000)),
    ] {
        assert!(read(Some("text/xml"), body.as_bytes()).links.len() <= 1);
    }
}
