//! Every truth is consistent: what links lead to is what the plan lists.

use std::collections::BTreeSet;

use geomi_model::Timestamp;
use geomi_url::CrawlUrl;

use super::FiniteSite;
use crate::text::Language;

const HOST: &str = "127.0.1.1:81";
/// More pages than any site has.
const MANY: usize = 30_000;

fn url(target: &str) -> CrawlUrl {
    CrawlUrl::parse(&format!("http://{HOST}{target}")).unwrap()
}

/// Where a page leads: every `href`, `src` of a frame and `loc`.
fn links(site: &FiniteSite, body: &[u8]) -> Vec<String> {
    let text = match site.charset() {
        "euc-kr" => encoding_rs::EUC_KR.decode(body).0.into_owned(),
        _ => String::from_utf8(body.to_vec()).unwrap(),
    };
    let found = |start: &str, end: char| {
        text.split(start)
            .skip(1)
            .filter_map(|rest| rest.split_once(end))
            .map(|(link, _)| link.replace("&amp;", "&"))
            .collect::<Vec<String>>()
    };
    [
        found("<a href=\"", '"'),
        found("<frame src=\"", '"'),
        found("<loc>", '<'),
    ]
    .concat()
}

/// Every page that can be reached.
fn reached(site: &FiniteSite) -> BTreeSet<String> {
    let forbidden = site.forbidden();
    let mut queue: Vec<String> = site
        .plan
        .sitemaps()
        .iter()
        .map(ToString::to_string)
        .collect();
    queue.push("/".to_owned());
    let mut seen: BTreeSet<String> = queue.iter().cloned().collect();
    let mut pages = BTreeSet::new();
    while let Some(target) = queue.pop() {
        let answer = site.answer(HOST, &target, Timestamp::EPOCH);
        let next: Vec<String> = match answer.status {
            302 => vec![answer.header("Location").unwrap().to_owned()],
            404 => continue,
            200 => links(site, &answer.body),
            other => panic!("{target}: {other}"),
        };
        if answer
            .header("Content-Type")
            .is_some_and(|kind| kind.starts_with("text/html"))
        {
            pages.insert(target.clone());
            assert!(pages.len() < MANY, "{} does not end", site.kind());
        }
        let base = url(&target);
        for link in next {
            // Most links are known by sight.
            if seen.contains(&link) {
                continue;
            }
            let found = base.join(&link).unwrap();
            assert_eq!(found.authority(), HOST, "{target} leads to {link}");
            let found = found.path_and_query().to_owned();
            if !forbidden.iter().any(|prefix| found.starts_with(prefix))
                && seen.insert(found.clone())
            {
                queue.push(found);
            }
        }
    }
    pages
}

#[test]
fn what_can_be_reached_is_what_the_plan_lists() {
    let mut total = 0;
    for site in FiniteSite::collection() {
        let listed = site.pages();
        let truth: BTreeSet<String> = listed
            .iter()
            .map(|target| url(target).path_and_query().to_owned())
            .collect();
        assert_eq!(
            truth.len(),
            listed.len(),
            "{} lists a page twice",
            site.kind()
        );
        let found = reached(&site);
        let lost: Vec<_> = truth.difference(&found).take(5).collect();
        let more: Vec<_> = found.difference(&truth).take(5).collect();
        assert!(
            lost.is_empty() && more.is_empty(),
            "{}: {lost:?} {more:?}",
            site.kind()
        );
        println!("{:28} {:6}", site.kind(), truth.len());
        total += truth.len();
    }
    assert!((110_000..150_000).contains(&total), "{total}");
}

#[test]
fn the_collection_is_large_and_mixed() {
    let all = FiniteSite::collection();
    let sizes: Vec<usize> = all.iter().map(|site| site.pages().len()).collect();
    let at_least = |size: usize| sizes.iter().filter(|own| **own >= size).count();
    assert!(all.len() >= 64, "{}", all.len());
    assert!(at_least(5_000) >= 6 && at_least(20_000) >= 2, "{sizes:?}");
    assert!(sizes.contains(&8), "{sizes:?}");
    let kinds: BTreeSet<&str> = all.iter().map(FiniteSite::kind).collect();
    assert!(kinds.len() >= 30, "{kinds:?}");
    let korean = all
        .iter()
        .filter(|site| site.words.language == Language::Korean)
        .count();
    assert!(
        (all.len() * 2 / 5..=all.len() * 3 / 5).contains(&korean),
        "{korean}"
    );
}

#[test]
fn a_noisy_page_differs_on_each_request_and_others_do_not() {
    for site in FiniteSite::collection() {
        let at = |second| site.answer(HOST, "/", Timestamp::from_secs(second)).body;
        assert_eq!(
            at(1) != at(2),
            site.kind() == "clock and counter",
            "{}",
            site.kind()
        );
    }
}
