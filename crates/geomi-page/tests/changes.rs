//! What of a page is a change, and what is not.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use geomi_model::{Document, Fingerprint};
use geomi_page::{PageInput, ReadLimits, Readers};
use geomi_url::CrawlUrl;

fn read(body: &str) -> Document {
    let url = CrawlUrl::parse("http://shop.example/item/17").unwrap();
    let input = PageInput {
        url: &url,
        mime: Some("text/html"),
        charset_label: Some("utf-8"),
        body: body.as_bytes(),
    };
    Readers::standard().read(&input, &ReadLimits::default())
}

const ITEM: &str = "<!doctype html><title>Lamp</title>
<header>Shop <span>15 Nov 2026 15:52</span></header>
<nav><a href=/>Home</a> <a href=/lamps>Lamps (120)</a></nav>
<main>
  <h1>Lamp L2</h1>
  <p>Price: <b>999</b>원 <small>$499.00</small>
  <p>12 in stock, rated 4.5, firmware 1.2.3
  <table><tr><th>조회수<td>1,024<tr><th>댓글<td>7</table>
  <p>Updated 3 hours ago, on 2026-11-15. 340 views
  <div class=ad>Buy a chair</div>
  <p>Request 7f3a9c0d1e2b4f56, 3f2504e0-4f89-41d3-9a0c-0305e82c3301
</main>
<aside>Others looked at: Chair, Desk</aside>
<footer>Visitors today: 88</footer>";

/// The fingerprint of the item with one thing written otherwise.
fn with(from: &str, to: &str) -> Option<Fingerprint> {
    assert!(ITEM.contains(from), "{from}");
    read(&ITEM.replace(from, to)).fingerprint
}

#[test]
fn clocks_counters_nonces_and_advertisements_are_no_change() {
    let item = read(ITEM);
    for (from, to) in [
        ("15 Nov 2026 15:52", "16 Nov 2026 09:01"),
        ("Lamps (120)", "Lamps (121)"),
        ("1,024", "1,025"),
        ("<td>7<", "<td>8<"),
        ("3 hours ago", "1 day ago"),
        ("2026-11-15", "2026-11-16"),
        ("340 views", "341 views"),
        ("Buy a chair", "Sell a desk for 5"),
        ("7f3a9c0d1e2b4f56", "a8098c1af86e11da"),
        ("3f2504e0-4f89", "00f067aa-0ba9"),
        ("Chair, Desk", "Desk, Shelf"),
        ("88", "89"),
    ] {
        assert_eq!(item.fingerprint, with(from, to), "{from} to {to}");
        let other = read(&ITEM.replace(from, to));
        assert_ne!(item.numbers, other.numbers, "{from} to {to} is told apart");
    }
}

#[test]
fn prices_stock_scores_versions_and_words_are_a_change() {
    let item = read(ITEM);
    for (from, to) in [
        ("999", "499"),
        ("$499.00", "$399.00"),
        ("12 in stock", "11 in stock"),
        ("4.5", "4.6"),
        ("1.2.3", "1.2.4"),
        ("Lamp L2", "Lamp L3"),
        ("in stock", "sold"),
    ] {
        assert_ne!(item.fingerprint, with(from, to), "{from} to {to}");
    }
    let numbers_only = read(&ITEM.replace("999", "499").replace("4.5", "4.6"));
    assert_eq!(item.wording, numbers_only.wording);
}

#[test]
fn a_page_without_main_text_is_judged_by_all_of_it() {
    let [one, other] = ["one", "two"].map(|word| {
        let page = format!("<nav>{word}</nav><main>15:52</main>");
        read(&page).fingerprint
    });
    assert!(one.is_some());
    assert_ne!(one, other);
}
