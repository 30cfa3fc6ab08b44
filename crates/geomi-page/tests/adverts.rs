//! What is beside the main text of a page: advertisements, and what nobody reads.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use geomi_model::Document;
use geomi_page::{PageInput, ReadLimits, Readers};
use geomi_url::CrawlUrl;

fn read(body: &str) -> Document {
    let url = CrawlUrl::parse("http://example.com/").unwrap();
    let input = PageInput {
        url: &url,
        mime: Some("text/html"),
        charset_label: None,
        body: body.as_bytes(),
    };
    Readers::standard().read(&input, &ReadLimits::default())
}

fn words(seed: u64) -> String {
    let word = |at: u64| format!("d{}x ", (seed * 131 + at * at).wrapping_mul(7_919) % 4_999);
    (0..100).map(word).collect()
}

/// Checks that a page is about the same as the text `main`, and holds more.
fn is_about(page: &str, main: &str) {
    let (page_read, main_read) = (read(page), read(main));
    let [page_hash, main_hash] = [&page_read, &main_read].map(|read| read.simhash.unwrap());
    // What is left out cuts the text, and some features with it; the advertisement
    // itself would be a third of all.
    let bits = (page_hash ^ main_hash).count_ones();
    assert!(bits <= 8, "{bits} bits: {page}");
    assert_eq!(
        page_read.main_text_bytes.div_ceil(10),
        main_read.main_text_bytes.div_ceil(10),
        "{page}"
    );
}

#[test]
fn advertisements_are_beside_the_main_text() {
    let (first, more, advert) = (words(1), words(2), words(3));
    let main = format!("<p>{first}<p>{more}");
    for (open, close) in [
        ("<div class=ad>", "</div>"),
        ("<div class='x topAd'><div>y</div>", "</div>"),
        ("<section id=main_banner>", "</section>"),
        ("<table class='adbox'><tr><td>", "</table>"),
        ("<div id=\"ad_area\"><ul><li>", "</ul></div>"),
        ("<nav><div class=ad>", "</div></nav>"),
        ("<div class=ad><nav>", "</nav></div>"),
        ("<svg><text>", "</text></svg>"),
        (
            "<svg><title>x</title><foreignObject>",
            "</foreignObject></svg>",
        ),
        ("<template><p>", "</template>"),
        ("<noscript>", "</noscript>"),
        ("<script>", "</script>"),
        ("<style>", "</style>"),
    ] {
        is_about(&format!("<p>{first}{open}{advert}{close}<p>{more}"), &main);
    }
}

#[test]
fn what_only_sounds_like_one_is_main_text() {
    let (first, more) = (words(1), words(2));
    let main = format!("<p>{first}<p>{more}");
    for (open, close) in [
        ("<div class='header download'>", "</div>"),
        ("<div class=with-ads><h1>", "</h1></div>"),
        ("<div class=with-ads><article>", "</article></div>"),
        ("<b class=ad>", "</b>"),
        ("<svg><circle><p>", ""),
    ] {
        is_about(&format!("<p>{first}{open}{more}{close}"), &main);
    }
}

#[test]
fn advertisements_are_no_change_but_are_text() {
    let page = read("<p>one <div class=ad>two</div>");
    assert_eq!(page.text_bytes, 7);
    let [other, none] = ["<p>one <div class=ad>six</div>", "<p>one"].map(read);
    assert_eq!(page.fingerprint, other.fingerprint);
    assert_eq!(page.fingerprint, none.fingerprint);
    assert_ne!(page.numbers, other.numbers, "still told apart");
    assert_ne!(page.wording, other.wording);
}
