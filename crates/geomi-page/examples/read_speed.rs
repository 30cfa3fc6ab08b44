//! Prints how fast pages are read: `cargo run --release --example read_speed`.
//!
//! The pages are synthetic, of about 18 KB with 50 links, in English (ASCII), in
//! Korean UTF-8 and in Korean EUC-KR, plus one without a label, one without links
//! and one of prose without markup, so that a slow part shows. Then hostile pages of ten
//! megabytes, none of which may take 100 ms.

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use geomi_page::{PageInput, ReadLimits, Readers};
use geomi_url::CrawlUrl;

const PAGE_BYTES: usize = 18 * 1024;
const LINKS: usize = 50;
const PAGES: u32 = 500;
const ROUNDS: usize = 20;
const HOSTILE_BYTES: usize = 10 * 1024 * 1024;

fn main() {
    let english = "The quick brown fox jumps over the lazy dog, and 12 others watch. ";
    let korean = "빠른 갈색 여우가 게으른 개를 뛰어넘고, 다른 열두 마리가 지켜본다. ";
    let page_in_korean = page(korean, LINKS);
    let (euc_kr, _, _) = encoding_rs::EUC_KR.encode(&page_in_korean);
    let prose = english.repeat(PAGE_BYTES / english.len());
    let page_in_english = page(english, LINKS);
    measure("english", Some("utf-8"), page_in_english.as_bytes(), PAGES);
    measure("english, no label", None, page_in_english.as_bytes(), PAGES);
    measure(
        "korean, utf-8",
        Some("utf-8"),
        page_in_korean.as_bytes(),
        PAGES,
    );
    measure("korean, euc-kr", Some("euc-kr"), &euc_kr, PAGES);
    measure(
        "no links",
        Some("utf-8"),
        page(english, 0).as_bytes(),
        PAGES,
    );
    measure("prose only", Some("utf-8"), prose.as_bytes(), PAGES);
    for piece in [
        &b"<div>"[..],
        b"<a href=/x>",
        b"<a x=y ",
        b"<!--><p>",
        b"12 may ",
        b"&amp;",
        b"&notit;",
        b"\xC3\x89 ",
        b"\xB0\xA1 ",
        b"\xE9\x41\xFF\x80",
        b"\x0E0!",
    ] {
        let name = piece.escape_ascii().to_string();
        measure(&name, None, &piece.repeat(HOSTILE_BYTES / piece.len()), 1);
    }
    let mut many = String::new();
    for number in 0..500_000 {
        write!(many, "<a href=/{number}>").expect("a string takes everything");
    }
    measure("500,000 links", None, many.as_bytes(), 1);
}

/// A page of usual proportions: half of it is markup, a script and a style.
fn page(sentence: &str, links: usize) -> String {
    let mut page = String::from("<!DOCTYPE html><html><head><title>A page of news</title>");
    page += "<meta name=\"description\" content=\"words\"><style>body { margin: 0 } ";
    page += &".item { color: #333; padding: 4px } ".repeat(40);
    page += "</style><script>";
    page += &"var a = b < c ? 1 : 2; function f(x) { return x > 1; } ".repeat(40);
    page += "</script></head><body><div id=\"top\" class=\"page wide\">\n";
    let mut item = 0;
    while page.len() < PAGE_BYTES {
        page += "<div class=\"item\" id=\"i\"><p class='t'>";
        page += sentence;
        page += if item % 2 == 0 { sentence } else { "" };
        if item < links {
            write!(
                page,
                "<a class=\"more\" href=\"/news/{}/story-{item}.html?id={item}&amp;p=1\">more</a>",
                item % 7
            )
            .expect("a string takes everything");
        }
        page += "</p></div>\n";
        item += 1;
    }
    page + "</div></body></html>"
}

#[expect(clippy::print_stdout, reason = "the figures are its product")]
fn measure(name: &str, charset_label: Option<&str>, body: &[u8], pages: u32) {
    let url = CrawlUrl::parse("http://news.example.com/today/index.html").expect("a URL");
    let input = PageInput {
        url: &url,
        mime: Some("text/html"),
        charset_label,
        body,
    };
    let readers = Readers::standard();
    let limits = ReadLimits::default();
    let mut best = Duration::MAX;
    let mut links = 0;
    let rounds = if pages == 1 { 3 } else { ROUNDS };
    for _ in 0..rounds {
        let start = cpu_time();
        for _ in 0..pages {
            let page = std::hint::black_box(readers.read(&input, &limits));
            links = page.links.len();
        }
        best = best.min(cpu_time().saturating_sub(start) / pages);
    }
    let seconds = best.as_secs_f64();
    println!(
        "{name:20} {:8} bytes {links:5} links {:9.1} us/page {:7.0} MB/s",
        body.len(),
        seconds * 1e6,
        body.len() as f64 / seconds / 1e6
    );
}

/// CPU time of this thread, which a busy machine does not stretch; where the
/// kernel does not tell, time by the clock.
#[expect(clippy::disallowed_methods, reason = "a measurement reads the clock")]
fn cpu_time() -> Duration {
    static START: std::sync::OnceLock<Instant> = std::sync::OnceLock::new();
    let start = START.get_or_init(Instant::now);
    std::fs::read_to_string("/proc/thread-self/schedstat")
        .ok()
        .and_then(|line| line.split(' ').next()?.parse().ok())
        .map_or_else(|| start.elapsed(), Duration::from_nanos)
}
