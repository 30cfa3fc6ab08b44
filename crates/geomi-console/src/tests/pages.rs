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
