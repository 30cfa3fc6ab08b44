//! The same page again: to print, to reply to, below itself, in place of what
//! is missing, in capital letters.

use std::fmt::Write as _;

use geomi_model::Timestamp;

use super::session::change_links;
use crate::Answer;
use crate::dice::hash64;
use crate::finite::{FiniteSite, Sheet, Target, Words};

/// A page of the site with links to its print and mail variants, which differ
/// in where one came from.
pub(super) fn answer(site: &FiniteSite, host: &str, target: &str) -> Answer {
    let (plain, _) = target
        .split_once("?print=")
        .or_else(|| target.split_once("&print="))
        .unwrap_or((target, ""));
    let mut answer = site.answer(host, plain, Timestamp::EPOCH);
    if answer.status != 200 || plain == "/robots.txt" || plain.starts_with("/img/") {
        return answer;
    }
    let from = target
        .bytes()
        .fold(5, |draw, byte| hash64(draw ^ u64::from(byte)))
        % 1_000_000;
    let mark = if plain.contains('?') { "&amp;" } else { "?" };
    let links = format!(
        "<p><a href=\"{plain}{mark}print=1&amp;from={from}\">Print</a> \
         <a href=\"{plain}{mark}print=mail&amp;from={from}\">Mail</a></p>\n</main>"
    );
    let html = String::from_utf8_lossy(&answer.body).replace("</main>", &links);
    answer.body = html.into();
    answer
}

/// A page of the site, whatever its letters are, with links in capital and small
/// letters drawn by where they stand.
pub(super) fn in_any_case(site: &FiniteSite, host: &str, target: &str) -> Answer {
    let mut answer = site.answer(host, &target.to_ascii_lowercase(), Timestamp::EPOCH);
    if target != "/robots.txt" {
        let start = target
            .bytes()
            .fold(7, |draw, byte| hash64(draw ^ u64::from(byte)));
        let any_case = |link: &str| {
            let draw = |at, letter: char| match hash64(start ^ at as u64) % 2 {
                0 => letter.to_ascii_uppercase(),
                _ => letter,
            };
            link.chars()
                .enumerate()
                .map(|(at, letter)| draw(at, letter))
                .collect()
        };
        answer.body = change_links(&answer.body, any_case).into();
    }
    answer
}

pub(super) fn folder(words: Words, at: &Target) -> Option<Sheet> {
    if !at.path.starts_with("/files/") {
        return None;
    }
    let mut sheet = Sheet::new(at.path.clone());
    sheet.p(format!("{}: {}", words.t("폴더", "Folder"), at.path));
    sheet.a("a/", "a");
    sheet.a("b/", "b");
    Some(sheet)
}

pub(super) fn reply_form(words: Words, at: &Target) -> Option<Sheet> {
    if at.path != "/write" {
        return None;
    }
    let (number, back) = (at.number("no")?, u64::from(at.number("back")?));
    let mut sheet = Sheet::new(words.t("답글 쓰기", "Write a reply"));
    sheet.p(words.t("로그인이 필요합니다.", "Please log in to write."));
    for step in 0..2 {
        let back = hash64(back * 2 + step + u64::from(number)) % 100_000_000;
        let number = number % 40 + 1;
        sheet.a(
            format!("/write?mode=reply&no={number}&back={back}"),
            words.t("답글", "Reply"),
        );
    }
    Some(sheet)
}

pub(super) fn empty_list(words: Words, at: &Target) -> Option<Sheet> {
    if at.path != "/results" {
        return None;
    }
    let page = at.number("page")?;
    let mut sheet = Sheet::new(words.t("검색 결과", "Results"));
    sheet.p(words.t("결과가 없습니다.", "No results."));
    for by in [1, 2, 10] {
        sheet.a(format!("/results?page={}", page + by), page + by);
    }
    Some(sheet)
}

/// A part of a map: its neighbours and its scales.
pub(super) fn map_tile(words: Words, at: &Target) -> Option<Sheet> {
    if at.path != "/map" {
        return None;
    }
    let hundredths = |name| -> Option<i64> { at.value(name)?.replace('.', "").parse().ok() };
    let (north, east) = (hundredths("lat")?, hundredths("lon")?);
    let scale: i64 = at.value("z")?.parse().ok()?;
    let place = |at: i64| format!("{}.{:02}", at / 100, at % 100);
    let mut sheet = Sheet::new(words.t("지도", "Map"));
    sheet.p(format!("{}, {}", place(north), place(east)));
    let near = [
        (north + 10, east, scale),
        (north - 10, east, scale),
        (north, east + 10, scale),
        (north, east - 10, scale),
        (north, east, scale + 1),
        (north, east, scale - 1),
    ];
    for (north, east, scale) in near.into_iter().filter(|near| near.0 >= 0 && near.1 >= 0) {
        let (north, east) = (place(north), place(east));
        sheet.a(
            format!("/map?lat={north}&lon={east}&z={scale}"),
            format!("{north} {east}"),
        );
    }
    Some(sheet)
}

/// A list of the site with filters of its own, which change nothing but the address.
pub(super) fn filtered(site: &FiniteSite, host: &str, target: &str) -> Answer {
    const NAMES: [&str; 6] = ["color", "size", "made", "sort", "mode", "limit"];
    let name = |pair: &str| pair.split('=').next().unwrap_or(pair).to_owned();
    let (path, query) = target.split_once('?').unwrap_or((target, ""));
    let pairs: Vec<&str> = query.split('&').filter(|pair| !pair.is_empty()).collect();
    let (chosen, plain): (Vec<&str>, Vec<&str>) =
        pairs.iter().partition(|pair| NAMES.contains(&&*name(pair)));
    let mark = if plain.is_empty() { "" } else { "?" };
    let plain = format!("{path}{mark}{}", plain.join("&"));
    let mut answer = site.answer(host, &plain, Timestamp::EPOCH);
    if answer.status != 200 || !path.starts_with("/c/") {
        return answer;
    }
    let mut links = String::new();
    for own in NAMES {
        for value in 1..=4 {
            let others = pairs.iter().filter(|pair| name(pair) != own);
            let mut next: Vec<String> = others.map(ToString::to_string).collect();
            next.push(format!("{own}={value}"));
            next.sort();
            let query = next.join("&amp;");
            let _ = writeln!(links, "<a href=\"{path}?{query}\">{own} {value}</a>");
        }
    }
    // What is chosen stays chosen on the next page of the list.
    let chosen = [&[""], &*chosen].concat().join("&amp;");
    let html = change_links(&answer.body, |link| {
        if link.contains("page=") {
            format!("{link}{chosen}")
        } else {
            link.to_owned()
        }
    });
    answer.body = html.replace("</main>", &format!("{links}</main>")).into();
    answer
}

/// An apology that leads to other names at random.
pub(super) fn apology_with_names(words: Words, target: &str) -> Sheet {
    let mut sheet = apology(words);
    sheet.main.clear();
    sheet.p(words.t("찾는 페이지가 없습니다.", "That page is not here."));
    let start = target
        .bytes()
        .fold(9, |draw, byte| hash64(draw ^ u64::from(byte)));
    for at in 0..6 {
        let draw = hash64(start.wrapping_add(at));
        let letters = |from: u64| -> String {
            let places = (0..6).map(|place| (draw >> (from + place * 4)) % 16);
            places
                .map(|letter| char::from(b'a' + letter as u8))
                .collect()
        };
        let name = format!("{}-{}-{}", letters(0), letters(24), draw % 1000);
        sheet.a(format!("/{name}"), name);
    }
    sheet
}

/// What stands where nothing is.
pub(super) fn apology(words: Words) -> Sheet {
    let mut sheet = Sheet::new(words.t("죄송합니다", "We are sorry"));
    sheet.p(words.t("찾는 페이지가 없습니다.", "That page is not here."));
    for name in ["help/", "contact/", "search/index.html"] {
        sheet.a(name, name);
    }
    sheet
}
