//! What becomes of a page: links, base, title, wishes, text.
//!
//! Links are written as their kind (`a`, `f`, `h`), a `-` if not to be followed,
//! and their address, relative to the site where possible.

use geomi_model::{Document, LinkClass};
use geomi_page::{PageInput, ReadLimits, Readers};
use geomi_url::CrawlUrl;

fn read(html: &str) -> Document {
    let url = CrawlUrl::parse("http://example.com/dir/page.html").expect("a URL");
    let input = PageInput {
        url: &url,
        mime: Some("text/html"),
        charset_label: Some("utf-8"),
        body: html.as_bytes(),
    };
    Readers::standard().read(&input, &ReadLimits::default())
}

fn written(page: &Document) -> Vec<String> {
    page.links
        .iter()
        .map(|link| {
            let kind = match link.kind.class() {
                LinkClass::Frame => "f",
                LinkClass::Anchor => "a",
                LinkClass::Other => "h",
            };
            let nofollow = if link.nofollow { "-" } else { "" };
            let address = link.url.as_str();
            let address = address
                .strip_prefix("http://example.com")
                .unwrap_or(address);
            format!("{kind}{nofollow} {address}")
        })
        .collect()
}

#[track_caller]
fn check(html: &str, expected: &[&str]) {
    assert_eq!(written(&read(html)), expected, "from {html:?}");
}

#[test]
fn every_kind_of_link() {
    check("<a href=x>", &["a /dir/x"]);
    check("<area href=/x>", &["a /x"]);
    check(
        "<frame src=x><iframe src=y></iframe>",
        &["f /dir/x", "h /dir/y"],
    );
    check("<link rel=stylesheet href=s.css>", &["h /dir/s.css"]);
    check(
        "<img src=a.png srcset='b.png 1x, c.png 2x'>",
        &["h /dir/a.png", "h /dir/b.png", "h /dir/c.png"],
    );
    check(
        "<picture><source srcset=a.webp><image src=b.png></picture>",
        &["h /dir/a.webp", "h /dir/b.png"],
    );
    check("<script src=s.js></script>", &["h /dir/s.js"]);
    check(
        "<embed src=e><object data=o></object>",
        &["h /dir/e", "h /dir/o"],
    );
    check(
        "<video src=v poster=p><track src=t></video><audio src=s>",
        &["h /dir/v", "h /dir/p", "h /dir/t", "h /dir/s"],
    );
    check(
        "<input type=IMAGE src=b.png><input src=c>",
        &["h /dir/b.png"],
    );
    check("<body background=b.gif>", &["h /dir/b.gif"]);
    check(
        "<meta http-equiv=Refresh content='0; url=next'>",
        &["h /dir/next"],
    );
    check(
        "<svg><a xlink:href=x><image href=i xlink:href=j></a></svg>",
        &["a /dir/x", "h /dir/i"],
    );
    check(
        "<link rel=preload as=image imagesrcset='a 1x' href=b>",
        &["h /dir/b", "h /dir/a"],
    );
}

#[test]
fn what_is_no_link() {
    check(
        "<form action=x method=post><form action=y><input name=q>",
        &[],
    );
    check(
        "<link rel=dns-prefetch href=//c.example><link rel='preconnect x' href=//d.example>",
        &[],
    );
    check(
        "<a href=mailto:a@b.c><a href='javascript:void(0)'><a href=ftp://e.com/>",
        &[],
    );
    check(
        "<a href='java\nscript:x()'><img src=data:image/png;base64,AAAA>",
        &[],
    );
    check("<a href=''><a href=#top><a href><a name=x>", &[]);
    check("<a href=http://><a href='http://[x/'><a href=//>", &[]);
    check("<!-- <a href=x> --><script><a href=x></script>", &[]);
    check(
        "<style><a href=x></style><textarea><a href=x></textarea>",
        &[],
    );
    check("<title><a href=x></title><xmp><a href=x></xmp>", &[]);
    check("<plaintext><a href=x></plaintext><a href=y>", &[]);
}

#[test]
fn links_where_they_are_easily_missed() {
    check("<noscript><img src=x></noscript>", &["h /dir/x"]);
    check(
        "<template shadowrootmode=open><a href=x></template>",
        &["a /dir/x"],
    );
    check(
        "<script><!--<script></script>--></script><a href=x>",
        &["a /dir/x"],
    );
    check("<svg><style><a href=x></style></svg>", &["a /dir/x"]);
    check(
        "<svg><title><a href=x></a></title></svg><a href=y>",
        &["a /dir/x", "a /dir/y"],
    );
    check("<svg><![CDATA[<a href=x>]]></svg><a href=y>", &["a /dir/y"]);
    check("<svg><p><![CDATA[<a href=x>]]><a href=y>", &["a /dir/y"]);
    check("<A\tHREF = '\n x\n'>", &["a /dir/x"]);
    check("<p/a href=z><a/href=x>", &["a /dir/x"]);
}

#[test]
fn references_are_resolved() {
    check("<a href='../x?y#z'>", &["a /x?y"]);
    check("<a href=//other.example/x>", &["a http://other.example/x"]);
    check(
        "<a href='?q=1&amp;r=2&copy=3&#38;s'>",
        &["a /dir/page.html?q=1&r=2&copy=3&s"],
    );
    check("<a href='a b/한글'>", &["a /dir/a%20b/%ED%95%9C%EA%B8%80"]);
    check("<a href='\\x\\y'>", &["a /x/y"]);
}

#[test]
fn the_first_base_moves_all_links() {
    check(
        "<a href=x><base href=/b/><base href=/c/><a href=y>",
        &["a /b/x", "a /b/y"],
    );
    check(
        "<base target=_top><base href=http://other.example/><a href=x>",
        &["a http://other.example/x"],
    );
    check("<base href='http://['><a href=x>", &["a /dir/x"]);
    check("<base href=data:x><a href=x>", &["a /dir/x"]);
    check(
        "<template><base href=/b/></template><a href=x>",
        &["a /dir/x"],
    );
}

#[test]
fn of_equal_links_the_first_is_kept() {
    check("<img src=x><a href=x>", &["h /dir/x"]);
    check("<a rel=nofollow href=x><a href=x>", &["a- /dir/x"]);
    check("<a href=x><a href=./x><a href=/dir/x#f>", &["a /dir/x"]);
}

#[test]
fn rel_says_not_to_follow() {
    check("<a rel='noopener NOFOLLOW' href=x>", &["a- /dir/x"]);
    check(
        "<a rel=ugc href=x><a rel=sponsored href=y>",
        &["a- /dir/x", "a- /dir/y"],
    );
    check("<a rel=noopener href=x>", &["a /dir/x"]);
}

#[test]
fn wishes_to_robots() {
    for (html, noindex, nofollow) in [
        ("<meta name=robots content=noindex>", true, false),
        (
            "<META NAME=ROBOTS CONTENT='NOFOLLOW,noarchive'>",
            false,
            true,
        ),
        ("<meta name=geomi content=none>", true, true),
        (
            "<meta name=robots content=noindex><meta name=geomi content=nofollow>",
            true,
            true,
        ),
        ("<meta name=googlebot content=none>", false, false),
        ("<meta name=robots>", false, false),
        ("<!-- <meta name=robots content=none> -->", false, false),
    ] {
        let robots = read(html).robots;
        assert_eq!(
            (robots.noindex, robots.nofollow),
            (noindex, nofollow),
            "{html}"
        );
    }
}

#[test]
fn the_canonical_address_is_the_first_one() {
    let page = read("<link rel=canonical href=/c><link rel=canonical href=/d>");
    assert_eq!(page.canonical.unwrap().as_str(), "http://example.com/c");
    assert_eq!(read("<link rel=canonical href=mailto:x>").canonical, None);
    assert_eq!(read("<link rel=alternate href=/c>").canonical, None);
}

#[test]
fn titles() {
    for (html, expected) in [
        (
            "<title> A &amp; <b>\n B </title><title>C</title>",
            Some("A & <b> B"),
        ),
        (
            "<svg><title>drawing</title></svg><title>page</title>",
            Some("page"),
        ),
        ("<title></title>", None),
        ("<title>never ends", Some("never ends")),
        ("<p>none", None),
    ] {
        assert_eq!(read(html).title.as_deref(), expected, "{html}");
    }
}

#[test]
fn visible_text_is_counted_folded() {
    for (html, bytes) in [
        ("<p> a  b </p><p>c", 5),
        ("a<b>b</b>c", 3),
        ("a&nbsp;&lt;", 3),
        ("a<script>x</script><style>y</style><!--z-->", 1),
        ("<title>t</title><noscript>n</noscript>a", 1),
        ("<div hidden>x<div>y</div>z</div>a", 1),
        ("<span style='display: none'>x</span>a<p hidden>b", 3),
        ("<template>x</template><textarea>a</textarea>", 1),
        ("<br hidden>a", 1),
        ("<svg hidden/>a", 1),
    ] {
        assert_eq!(read(html).text_bytes, bytes, "{html}");
    }
}

#[test]
fn the_fingerprint_sees_what_a_reader_sees() {
    let fingerprint = |html: &str| read(html).fingerprint;
    let page = fingerprint("<h1>News</h1><p>Something happened.</p>");
    assert!(page.is_some());
    assert_eq!(
        page,
        fingerprint("<script>1</script><h1 class=x>NEWS</h1> <div>Something <i>happened</i></div>")
    );
    assert_eq!(
        page,
        fingerprint("<h1>News</h1>12:30 PM<p>Something happened.</p>17 visitors")
    );
    assert_eq!(
        page,
        fingerprint("<h1>News</h1><div hidden>token</div><p>Something happened.")
    );
    assert_ne!(page, fingerprint("<h1>News</h1><p>Nothing happened.</p>"));
    assert_eq!(fingerprint("<img src=x>"), None);
}
