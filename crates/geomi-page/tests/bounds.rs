//! Hostile pages: nothing panics, everything is bounded.
//!
//! These pages are of the sizes that stall quadratic readers; a reader that is
//! not linear would not finish them within the patience of whoever runs the tests.

use geomi_model::Document;
use geomi_page::{PageInput, ReadLimits, Readers};
use geomi_url::CrawlUrl;
use proptest::prelude::*;

fn read(limits: &ReadLimits, label: Option<&str>, body: &[u8]) -> Document {
    let url = CrawlUrl::parse("http://example.com/dir/page.html").expect("a URL");
    let input = PageInput {
        url: &url,
        mime: Some("text/html"),
        charset_label: label,
        body,
    };
    Readers::standard().read(&input, limits)
}

fn read_text(body: &str) -> Document {
    read(&ReadLimits::default(), None, body.as_bytes())
}

#[test]
fn half_a_million_links_are_cut_at_the_bound() {
    let mut body = String::new();
    for number in 0..500_000 {
        body.push_str("<a href=/");
        body.push_str(&number.to_string());
        body.push('>');
    }
    body.push_str("<title>still read</title>");
    let page = read_text(&body);
    assert_eq!(page.links.len(), ReadLimits::default().links_max);
    assert!(page.truncated);
    assert_eq!(page.title.as_deref(), Some("still read"));
}

#[test]
fn one_link_half_a_million_times_is_no_bound_reached() {
    let page = read_text(&"<a href=/x>".repeat(500_000));
    assert_eq!(page.links.len(), 1);
    assert!(!page.truncated);
}

#[test]
fn deep_nesting() {
    for open in [
        "<div>",
        "<b><i>",
        "<svg><foreignObject>",
        "<template>",
        "<div hidden>",
        "<!--",
    ] {
        let page = read_text(&format!("{}<title>t</title>", open.repeat(100_000)));
        assert!(page.links.is_empty(), "{open}");
        assert!(page.text_bytes <= 1, "{open}");
    }
}

#[test]
fn attributes_of_ten_megabytes() {
    let long = "x".repeat(10_000_000);
    let page = read_text(&format!("<a href='/{long}'><a href=/y>"));
    assert_eq!(page.links.len(), 1);
    assert!(page.truncated);
    let page = read_text(&format!("<img src='data:image/png,{long}'><a href=/y>"));
    assert_eq!(page.links.len(), 1);
    assert!(
        !page.truncated,
        "a picture inside the page is no link cut off"
    );
    let page = read_text(&format!(
        "<a {long}=1 href=/y {}>",
        "a=b ".repeat(1_000_000)
    ));
    assert_eq!(page.links.len(), 1);
    let page = read_text(&format!("<img srcset='{}'>", "/x 1x, ".repeat(1_000_000)));
    assert_eq!(page.links.len(), 1);
    let page = read_text(&format!("<title>{long}</title>"));
    assert_eq!(
        page.title.unwrap().len(),
        ReadLimits::default().title_bytes_max
    );
}

#[test]
fn endless_repetitions_of_beginnings() {
    for start in [
        "<",
        "</",
        "<a",
        "<a ",
        "<a href='",
        "<!--",
        "<!-- -",
        "<![CDATA[",
        "&",
        "&#",
        "&#x",
        "&a",
        "<script>",
        "<script><!--<script>",
        "</script",
        "<title>",
        "<meta ",
        "<meta charset",
        "<?",
        "\u{feff}",
        "\0",
        "<svg>",
        "<math><mi>",
        "<base href=x>",
        "1 may ",
        "<style></styl",
    ] {
        let page = read_text(&start.repeat(2_000_000 / start.len()));
        assert!(page.links.len() <= 1, "{start:?}");
    }
}

#[test]
fn limits_are_the_caller_s() {
    let limits = ReadLimits {
        links_max: 2,
        attribute_bytes_max: 4,
        title_bytes_max: 3,
        detect_bytes_max: 0,
        ..ReadLimits::default()
    };
    let page = read(
        &limits,
        None,
        b"<title>title</title><a href=/1><a href=/2><a href=/3>",
    );
    assert_eq!((page.links.len(), page.truncated), (2, true));
    assert_eq!(page.title.as_deref(), Some("tit"));
    let page = read(&limits, None, b"<a href=/long><a href=/2>\xFF\xFE\x80");
    assert_eq!((page.links.len(), page.truncated), (1, true));
}

fn soup() -> impl Strategy<Value = Vec<u8>> {
    let piece = prop_oneof![
        prop::collection::vec(any::<u8>(), 0..20),
        prop::sample::select(vec![
            "<a href=",
            "<base href='",
            "<title>",
            "</title>",
            "<script>",
            "<!--",
            "-->",
            "'",
            "\"",
            ">",
            "/>",
            "<svg>",
            "<![CDATA[",
            "]]>",
            "&amp",
            "&#x",
            ";",
            "<meta charset=euc-kr>",
            "<template>",
            "<img srcset=",
            " 1x, ",
            "12 May ",
            "한글",
            "\u{1b}$)C\u{e}",
            "http://",
        ])
        .prop_map(|piece| piece.as_bytes().to_vec()),
    ];
    prop::collection::vec(piece, 0..40).prop_map(|pieces| pieces.concat())
}

proptest! {
    #[test]
    fn any_bytes_are_read_within_bounds(
        body in soup(),
        label in prop::option::of(prop::sample::select(vec![
            "utf-8", "euc-kr", "iso-2022-kr", "utf-16", "shift_jis", "iso-2022-jp", "x", "iso-8859-1",
        ])),
    ) {
        let limits = ReadLimits { links_max: 3, title_bytes_max: 10, ..ReadLimits::default() };
        let page = read(&limits, label, &body);
        prop_assert!(page.links.len() <= 3);
        prop_assert!(page.title.is_none_or(|title| !title.is_empty() && title.len() <= 10));
        // A byte of any charset is at most three bytes of UTF-8, a reference less
        // than what it is written with.
        prop_assert!(page.text_bytes <= 3 * body.len() as u64);
        prop_assert_eq!(read(&limits, label, &body), read(&limits, label, &body));
    }
}
