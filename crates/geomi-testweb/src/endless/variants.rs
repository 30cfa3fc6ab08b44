//! The same page again: to print, to reply to, below itself, in place of what
//! is missing, in capital letters.

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

/// What stands where nothing is.
pub(super) fn apology(words: Words) -> Sheet {
    let mut sheet = Sheet::new(words.t("죄송합니다", "We are sorry"));
    sheet.p(words.t("찾는 페이지가 없습니다.", "That page is not here."));
    for name in ["help/", "contact/", "search/index.html"] {
        sheet.a(name, name);
    }
    sheet
}
