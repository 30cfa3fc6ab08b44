//! Choices that combine: filters, facets, orders, searches, tags.
//!
//! Each page lists some of the items of the shop beside it, and the filters
//! have a sentence of their own on each page.

use crate::dice::hash64;
use crate::finite::{Sheet, Target, Words, small};

/// Eight items of the shop, by the choice, and how many there would be.
fn results(words: Words, sheet: &mut Sheet, draw: u64) {
    sheet.p(format!(
        "{} {}",
        1 + draw % 90,
        words.t("개의 상품", "items found")
    ));
    sheet.list((0..8).map(|at| {
        let item = hash64(draw.wrapping_add(at)) % u64::from(small::SHOP_ITEMS) + 1;
        (
            format!("/item/{item}"),
            format!("{} {item}", words.name(item)),
        )
    }));
}

fn draw_of(text: &str) -> u64 {
    text.bytes()
        .fold(3, |draw, byte| hash64(draw ^ u64::from(byte)))
}

/// The pairs of the query with one put at the end, or taken out.
fn toggled(at: &Target, name: &str, value: &str) -> String {
    let is_it = |pair: &&(String, String)| pair.0 == name && pair.1 == value;
    let mut pairs: Vec<String> = at
        .query
        .iter()
        .filter(|pair| !is_it(pair))
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    if !at.query.iter().any(|pair| is_it(&pair)) {
        pairs.push(format!("{name}={value}"));
    }
    pairs.join("&")
}

fn filters(
    words: Words,
    at: &Target,
    target: &str,
    pair: impl Fn(u32) -> (String, String),
) -> Option<Sheet> {
    if at.path != "/filter" {
        return None;
    }
    let mut sheet = Sheet::new(words.t("상품 찾기", "Find goods"));
    for filter in 0..30 {
        let (name, value) = pair(filter);
        sheet.a(
            format!("/filter?{}", toggled(at, &name, &value)),
            format!("{name} {value}"),
        );
    }
    let draw = draw_of(target);
    sheet.p(words.text(draw, 2));
    results(words, &mut sheet, draw);
    Some(sheet)
}

pub(super) fn filter_subsets(words: Words, at: &Target, target: &str) -> Option<Sheet> {
    filters(words, at, target, |filter| {
        let value = char::from(b'a' + (filter % 26) as u8).to_string();
        (format!("f{filter}"), value)
    })
}

pub(super) fn filter_repeated(words: Words, at: &Target, target: &str) -> Option<Sheet> {
    filters(words, at, target, |filter| {
        ("f".to_owned(), format!("v{filter}"))
    })
}

const FACETS: [&str; 5] = ["color", "size", "brand", "price", "made"];
const VALUES: [&str; 6] = ["a", "b", "c", "d", "e", "f"];

/// The query with a parameter set, in the order in which they were chosen.
fn set(at: &Target, name: &str, value: &str) -> String {
    let others = at.query.iter().filter(|(own, _)| own != name);
    let mut pairs: Vec<String> = others
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    pairs.push(format!("{name}={value}"));
    pairs.sort();
    pairs.join("&")
}

pub(super) fn facet_values(words: Words, at: &Target, target: &str) -> Option<Sheet> {
    if at.path != "/find" {
        return None;
    }
    let mut sheet = Sheet::new(words.t("조건 검색", "Refine"));
    for name in FACETS {
        for value in VALUES {
            sheet.a(
                format!("/find?{}", set(at, name, value)),
                format!("{name} {value}"),
            );
        }
    }
    for order in ["new", "cheap", "name", "rating"] {
        sheet.a(format!("/find?{}", set(at, "sort", order)), order);
    }
    let page = at.page()?.min(20);
    sheet.a(
        format!("/find?{}", set(at, "page", &(page + 1).to_string())),
        words.t("다음", "Next"),
    );
    results(words, &mut sheet, draw_of(target));
    Some(sheet)
}

const WORDS: [&str; 24] = [
    "red", "blue", "green", "black", "white", "brown", "small", "medium", "large", "wide", "nike",
    "acme", "globex", "initech", "umbrella", "hooli", "cotton", "wool", "linen", "silk", "new",
    "sale", "used", "gift",
];

pub(super) fn facet_path(words: Words, at: &Target) -> Option<Sheet> {
    let parts = at.parts();
    let (first, chosen) = parts.split_first()?;
    if *first != "by" || chosen.iter().any(|word| !WORDS.contains(word)) {
        return None;
    }
    let mut sheet = Sheet::new(chosen.join(" "));
    for word in WORDS {
        let mut next: Vec<&str> = chosen.iter().copied().filter(|own| *own != word).collect();
        if next.len() == chosen.len() {
            next.push(word);
        }
        next.push("");
        sheet.a(format!("/by/{}", next.join("/")), word);
    }
    results(words, &mut sheet, draw_of(&at.path));
    Some(sheet)
}

pub(super) fn sort_orders(words: Words, at: &Target) -> Option<Sheet> {
    if at.path != "/all" {
        return None;
    }
    let page = at.number("page")?;
    let mut sheet = Sheet::new(words.t("전체 상품", "All goods"));
    let choices = [
        ("sort", &["new", "price", "name", "sold", "rating"][..]),
        ("dir", &["asc", "desc"]),
        ("size", &["10", "20", "50", "100"]),
    ];
    for (name, values) in choices {
        for value in values {
            sheet.a(format!("/all?{}", set(at, name, value)), value);
        }
    }
    for near in [page.saturating_sub(1).max(1), page + 1, page + 2] {
        sheet.a(format!("/all?{}", set(at, "page", &near.to_string())), near);
    }
    results(
        words,
        &mut sheet,
        draw_of(
            &at.query
                .iter()
                .map(|(_, value)| &**value)
                .collect::<String>(),
        ),
    );
    Some(sheet)
}

/// Searches are numbers of forty words: their names would be long.
pub(super) fn related_searches(words: Words, at: &Target) -> Option<Sheet> {
    if at.path != "/search" {
        return None;
    }
    let query = at.value("q")?;
    let chosen: Vec<u64> = query
        .split(['+', ' '])
        .filter_map(|word| word.parse().ok())
        .collect();
    let names: Vec<&str> = chosen.iter().map(|word| words.word(*word)).collect();
    let mut sheet = Sheet::new(format!(
        "{}: {}",
        words.t("검색", "Search"),
        names.join(" ")
    ));
    let draw = draw_of(query);
    for at in 0..8 {
        let draw = hash64(draw.wrapping_add(at));
        let mut other = chosen.clone();
        other.truncate(4);
        let word = draw % 40;
        match other.get_mut((draw >> 8) as usize % 4) {
            Some(place) => *place = word,
            None => other.push(word),
        }
        let texts: Vec<String> = other.iter().map(ToString::to_string).collect();
        let names: Vec<&str> = other.iter().map(|word| words.word(*word)).collect();
        sheet.a(format!("/search?q={}", texts.join("+")), names.join(" "));
    }
    results(words, &mut sheet, draw);
    Some(sheet)
}

pub(super) fn tag_sets(words: Words, at: &Target) -> Option<Sheet> {
    let ["tag", tags] = *at.parts() else {
        return None;
    };
    let tags: Vec<&str> = tags.split('+').collect();
    let mut sheet = Sheet::new(tags.join(", "));
    for tag in 0..20 {
        let tag = format!("t{tag}");
        if !tags.contains(&&*tag) {
            sheet.a(format!("/tag/{}+{tag}", tags.join("+")), format!("+{tag}"));
        }
    }
    results(words, &mut sheet, draw_of(&at.path));
    Some(sheet)
}
