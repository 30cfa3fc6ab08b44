//! How fresh copies are, as programs and people are told.

use geomi_refresh::upkeep::days;
use geomi_store::segment;

use super::*;
use crate::library::freshness::tests::{BEGIN, visits, write};

const PATH: &str = "/api/v1/crawls/news/freshness";

#[tokio::test]
async fn the_estimate_is_given_and_made_anew_when_a_table_is_closed() {
    let console = Console::new();
    let token = console.token(Role::Viewer);
    let none = console.get(PATH, Some(&token)).await.is(200).json();
    assert_eq!(none["points"].as_array().unwrap().len(), 0, "{none:#}");
    assert!(none["load_ratio"].is_null(), "{none:#}");

    write(&console.dir());
    let told = console.get(PATH, Some(&token)).await.is(200).json();
    assert_eq!(told["pages"], 400, "{told:#}");
    assert_eq!(told["one_in"], 1, "{told:#}");
    let points = told["points"].as_array().unwrap();
    assert!(points.len() > 50, "{told:#}");
    let first = points[0]["time"].as_str().unwrap();
    let first = geomi_model::Timestamp::parse_rfc3339(first).unwrap();
    assert!((days(first) - BEGIN - 0.36).abs() < 0.01, "{first:?}");
    for point in points {
        let fresh = point["freshness"].as_f64().unwrap();
        assert!((0.0..=1.0).contains(&fresh), "{point:#}");
        assert!(point["age_h"].as_f64().unwrap() >= 0.0, "{point:#}");
    }
    let classes = told["classes"].as_array().unwrap();
    let visited: u64 = classes
        .iter()
        .map(|class| class["visits"].as_u64().unwrap())
        .sum();
    assert_eq!(visited, 19 * 400, "{told:#}");

    let mut more = visits()[..1].to_vec();
    more[0].number = 20 * 400 + 1;
    more[0].url = geomi_url::CrawlUrl::parse("http://a.test/new").unwrap();
    segment::write(&console.dir(), None, &more).unwrap();
    let then = console.get(PATH, Some(&token)).await.is(200).json();
    assert_eq!(then["pages"], 401, "{then:#}");
}

#[tokio::test]
async fn the_page_shows_curves_their_numbers_and_predictions() {
    let console = Console::new();
    let token = console.token(Role::Viewer);
    let path = "/crawls/news/changes";
    let once = console.get(path, Some(&token)).await.is(200).body;
    assert!(!once.contains("class=\"curve\""), "{once}");
    write(&console.dir());
    for (language, told) in [
        (
            "en",
            [
                "Freshness, estimated: ",
                "Predicted against seen",
                "The curves in numbers",
            ],
        ),
        (
            "ko",
            ["신선도 (추정): 마지막 ", "예측과 실제", "곡선의 수치"],
        ),
    ] {
        let mut request = request(Method::GET, path, Some(&token), ELSEWHERE, Body::empty());
        let headers = request.headers_mut();
        headers.insert(header::ACCEPT_LANGUAGE, language.parse().unwrap());
        let page = console.ask(request).await.is(200).body;
        assert_eq!(page.matches("class=\"curve\"").count(), 2, "{page}");
        for words in told {
            assert!(page.contains(words), "no {words} in\n{page}");
        }
        // Every picture has its sentence, and no style of its own.
        assert_eq!(
            page.matches("role=\"img\" aria-label=\"").count(),
            3,
            "{page}"
        );
        assert!(!page.contains(" style="), "{page}");
    }
}
