//! What pages say, in which language, theme and place.

use super::*;
use crate::words::Language;

/// A page in a language, with cookies.
async fn page(
    console: &Console,
    path: &str,
    token: &str,
    language: Language,
    cookies: &str,
) -> Answer {
    let mut request = request(Method::GET, path, Some(token), ELSEWHERE, Body::empty());
    let headers = request.headers_mut();
    headers.insert(header::ACCEPT_LANGUAGE, language.code().parse().unwrap());
    headers.insert(header::COOKIE, cookies.parse().unwrap());
    console.ask(request).await
}

#[tokio::test]
async fn curves_are_told_to_be_in_utc() {
    let console = Console::new();
    let token = console.token(Role::Viewer);
    for (language, time) in [
        (Language::English, "Time (UTC)"),
        (Language::Korean, "시각 (UTC)"),
    ] {
        let live = page(&console, "/crawls/news", &token, language, "").await;
        let time = format!("data-time=\"{time}\"");
        assert!(live.is(200).body.contains(&time), "{time}");
    }
}

#[tokio::test]
async fn a_switch_leads_back_to_the_same_rows() {
    let console = Console::new();
    let token = console.token(Role::Viewer);
    let path = "/crawls/news/log?state=cErr&part=a%20b";
    let log = page(&console, path, &token, Language::English, "").await;
    let back = r#"name="back" value="/crawls/news/log?state=cErr&amp;part=a%20b""#;
    assert!(log.is(200).body.contains(back));
    let log_in = console.get(path, None).await.is(303);
    assert_eq!(
        log_in.headers[header::LOCATION],
        "/login?next=%2Fcrawls%2Fnews%2Flog%3Fstate%3DcErr%26part%3Da%2520b"
    );
}

#[tokio::test]
async fn a_problem_is_shown_in_the_theme_that_was_chosen() {
    let console = Console::new();
    let token = console.token(Role::Viewer);
    let cookies = "geomi_theme=dark";
    let missing = page(&console, "/crawls/no", &token, Language::English, cookies).await;
    let missing = missing.is(404);
    assert!(
        missing.body.contains("data-theme=\"dark\""),
        "{}",
        missing.body
    );
}
