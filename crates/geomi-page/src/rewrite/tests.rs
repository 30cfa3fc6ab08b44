use proptest::prelude::*;

use super::*;
use crate::Readers;

fn input<'a>(url: &'a CrawlUrl, label: Option<&'a str>, body: &'a [u8]) -> PageInput<'a> {
    PageInput {
        url,
        mime: Some("text/html"),
        charset_label: label,
        body,
    }
}

/// Pages of `e.com` under `/in/` lie beside the copy as `NAME.html`.
fn beside(url: &CrawlUrl) -> Option<String> {
    let name = url.as_str().strip_prefix("http://e.com/in/")?;
    Some(format!("{}.html", name.replace('?', "~")))
}

fn rewritten(page: &str) -> String {
    let url = CrawlUrl::parse("http://e.com/in/page").unwrap();
    let page = format!("<meta charset=utf-8>{page}");
    let input = input(&url, None, page.as_bytes());
    let out = rewrite_html(&input, &ReadLimits::default(), &mut beside);
    out.strip_prefix("<meta charset=utf-8>").unwrap().to_owned()
}

fn check(page: &str, expected: &str) {
    assert_eq!(rewritten(page), expected, "from {page:?}");
}

#[test]
fn links_lead_to_the_copy_or_to_the_original() {
    check("<a href=x>", "<a href=x.html>");
    check("<a href=\"x#part\">", "<a href=\"x.html#part\">");
    check(
        "<a href='/out?a=1&amp;b=2'>",
        "<a href='http://e.com/out?a=1&amp;b=2'>",
    );
    check("<a href=\"//f.com/'\">", "<a href=\"http://f.com/&#39;\">");
    check(
        "<A HREF = '?q=1&copy=2'>",
        "<A HREF = 'page~q=1&amp;copy=2.html'>",
    );
    check(
        "<form action=x><input formaction=y>",
        "<form action=x.html><input formaction=y.html>",
    );
    check(
        "<svg><a xlink:href=x></svg>",
        "<svg><a xlink:href=x.html></svg>",
    );
    check(
        "<img src=x srcset='a 1x, /b 2x'>",
        "<img src=x.html srcset='a.html 1x, http://e.com/b 2x'>",
    );
    check(
        "<td background=x><object data=y>",
        "<td background=x.html><object data=y.html>",
    );
}

#[test]
fn what_is_no_link_stays() {
    for page in [
        "<a href=#top><a href=''><a href=mailto:a@b><a href='javascript:x(\"y\")'>",
        "<img src='data:image/png;base64,AA'>",
        "<!-- <a href=x> --><script>'<a href=x>'</script>",
        "<a title=x data=y data-href=z>",
        "<link rel=preconnect href=//f.com>",
        "a < b <é> <a href",
        "<a href=\"http://[::\">",
    ] {
        check(page, page);
    }
}

#[test]
fn a_base_is_written_out_and_emptied() {
    check(
        "<a href=a><base href=/in/sub/ target=t><a href=b>",
        "<a href=sub/a.html><base href=\"\" target=t><a href=sub/b.html>",
    );
    check(
        "<base href='//f.com/'><img src=a>",
        "<base href=''><img src=http://f.com/a>",
    );
}

#[test]
fn values_with_a_grammar_of_their_own() {
    check(
        "<meta http-equiv=refresh content=\"0; url='x'\">",
        "<meta http-equiv=refresh content=\"0; url=&#39;x.html&#39;\">",
    );
    check(
        "<p style=\"background:url('a')\">",
        "<p style=\"background:url(&#39;a.html&#39;)\">",
    );
    check(
        "<style>@import 'a';b{c:url('/d(e')}</style>",
        "<style>@import 'a.html';b{c:url('http://e.com/d%28e')}</style>",
    );
    check(
        "<link rel=canonical href=x>",
        "<link rel=canonical href=http://e.com/in/x>",
    );
}

#[test]
fn guards_go_where_the_resource_is_beside() {
    check(
        "<script src=x integrity=\"sha384-a\" crossorigin async></script>",
        "<script src=x.html   async></script>",
    );
    let elsewhere = "<script src=\"http://f.com/x\" integrity=a crossorigin></script>";
    check(elsewhere, elsewhere);
}

fn page_of(label: Option<&str>, body: &[u8]) -> String {
    let url = CrawlUrl::parse("http://e.com/in/page").unwrap();
    rewrite_html(
        &input(&url, label, body),
        &ReadLimits::default(),
        &mut beside,
    )
}

#[test]
fn the_copy_is_utf8_and_says_so() {
    let korean = encoding_rs::EUC_KR.encode("<head><title>한글</title>").0;
    assert_eq!(
        page_of(Some("euc-kr"), &korean),
        "<head><meta charset=\"utf-8\"><title>한글</title>"
    );
    let declared = "<!doctype html><meta charset=\"euc-kr\"><p>한글";
    assert_eq!(
        page_of(None, &encoding_rs::EUC_KR.encode(declared).0),
        "<!doctype html><meta charset=\"utf-8\"><p>한글"
    );
    let equiv =
        "<html><head><meta http-equiv=Content-Type content='text/html; charset=euc-kr'>한글";
    assert_eq!(
        page_of(None, &encoding_rs::EUC_KR.encode(equiv).0),
        "<html><head><meta charset=\"utf-8\"><meta http-equiv=Content-Type content='text/html; charset=utf-8'>한글"
    );
    assert_eq!(
        page_of(None, b"<!doctype html><p>x"),
        "<!doctype html><meta charset=\"utf-8\"><p>x"
    );
    let late = format!(
        "<html><head><!--{}--><meta charset=utf-8>",
        "x".repeat(2000)
    );
    assert!(page_of(None, late.as_bytes()).starts_with("<html><head><meta charset=\"utf-8\"><!--"));
    assert_eq!(page_of(None, b"no tag"), "no tag");
    let bare = page_of(None, "글".as_bytes());
    assert_eq!(bare, "<meta charset=\"utf-8\">글");
}

#[test]
fn queries_keep_the_charset_of_the_page() {
    let page = encoding_rs::EUC_KR
        .encode("<meta charset=euc-kr><a href='?q=한'>")
        .0;
    let out = page_of(None, &page);
    assert!(out.contains("page~q=%C7%D1.html"), "{out}");
}

#[test]
fn style_sheets_become_utf8() {
    let url = CrawlUrl::parse("http://e.com/in/s.css").unwrap();
    let sheet = |body: &[u8]| {
        rewrite_style_sheet(
            &input(&url, None, body),
            &ReadLimits::default(),
            &mut beside,
        )
    };
    assert_eq!(sheet(b"a{b:url( 'c' )}"), "a{b:url( 'c.html' )}");
    let korean = encoding_rs::EUC_KR
        .encode("@charset \"euc-kr\";a{font:'바탕'}")
        .0;
    assert_eq!(sheet(&korean), "@charset \"utf-8\";a{font:'바탕'}");
    assert_eq!(
        sheet("a{font:'바탕'}".as_bytes()),
        "@charset \"utf-8\";a{font:'바탕'}"
    );
}

proptest! {
    /// The links of the copy, read by the reader, are where the placer put them.
    #[test]
    fn the_reader_finds_the_new_links(page in "(<a href=|<img src='|\"|'|>|/|x|&amp;| |<base href=|<!--|-->|é){0,30}") {
        let url = CrawlUrl::parse("http://e.com/in/page").unwrap();
        let limits = ReadLimits::default();
        let mut placer = |_: &CrawlUrl| Some("http://copy.test/c".to_owned());
        let out = rewrite_html(&input(&url, Some("utf-8"), page.as_bytes()), &limits, &mut placer);
        let before = Readers::standard().read(&input(&url, Some("utf-8"), page.as_bytes()), &limits);
        let after = Readers::standard().read(&input(&url, Some("utf-8"), out.as_bytes()), &limits);
        prop_assert_eq!(before.links.is_empty(), after.links.is_empty(), "{} -> {}", page, out);
        for link in after.links {
            prop_assert!(link.url.as_str().starts_with("http://copy.test/c"), "{} -> {}", page, out);
        }
    }
}
