//! What the test beds share: reading a case and writing down its links.
//!
//! Links are written as their kind and their address, relative to the site where
//! possible: `a` anchor, `f` frame, `h` other, `e` embedded, `s` script, `g` form. A
//! `-` stands for `nofollow`, a `!` for an advertisement.

#![allow(dead_code, reason = "each bed uses a part of it")]

use geomi_model::{Document, Link, LinkKind};
use geomi_page::{PageInput, ReadLimits, Readers};
use geomi_url::CrawlUrl;

pub(crate) type Case = (&'static str, &'static [&'static str]);

pub(crate) fn read(mime: &str, body: &str) -> Document {
    let url = CrawlUrl::parse("http://example.com/dir/page.html").expect("a URL");
    let input = PageInput {
        url: &url,
        mime: Some(mime),
        charset_label: Some("utf-8"),
        body: body.as_bytes(),
    };
    Readers::standard().read(&input, &ReadLimits::default())
}

pub(crate) fn letter(kind: LinkKind) -> &'static str {
    match kind {
        LinkKind::Frame => "f",
        LinkKind::Anchor => "a",
        LinkKind::Other => "h",
        LinkKind::Embedded => "e",
        LinkKind::Script => "s",
        LinkKind::Form => "g",
    }
}

pub(crate) fn written(link: &Link) -> String {
    let nofollow = if link.nofollow { "-" } else { "" };
    let advert = if link.is_advert { "!" } else { "" };
    let address = link.url.as_str();
    let address = address
        .strip_prefix("http://example.com")
        .unwrap_or(address);
    format!("{}{nofollow}{advert} {address}", letter(link.kind))
}

/// Reads every case and names all that differ.
#[track_caller]
pub(crate) fn check_all(mime: &str, cases: &[Case]) {
    let mut wrong = Vec::new();
    for (body, expected) in cases {
        let page = read(mime, body);
        let found: Vec<String> = page.links.iter().map(written).collect();
        if found != *expected {
            wrong.push(format!(
                "{body}\n  expected {expected:?}\n  found    {found:?}"
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
