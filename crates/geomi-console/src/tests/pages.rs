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

#[tokio::test]
async fn problems_are_told_in_korean() {
    let console = Console::new();
    let token = console.token(Role::Viewer);
    let missing = page(&console, "/crawls/no", &token, Language::Korean, "").await;
    let missing = missing.is(404).body;
    assert!(missing.contains("그런 수집이 없습니다"), "{missing}");
    assert!(missing.contains("404 찾을 수 없음"), "{missing}");
    let body = Body::from("id=nobody&password=a+wrong+password");
    let mut log_in = request(Method::POST, "/login", None, ELSEWHERE, body);
    let headers = log_in.headers_mut();
    let kind = "application/x-www-form-urlencoded".parse().unwrap();
    headers.insert(header::CONTENT_TYPE, kind);
    headers.insert(header::ACCEPT_LANGUAGE, "ko".parse().unwrap());
    let refused = console.ask(log_in).await.is(401).body;
    assert!(refused.contains("비밀번호가 맞지 않습니다"), "{refused}");
    let mut steer = request(
        Method::POST,
        "/crawls/news/stop",
        Some(&token),
        ELSEWHERE,
        Body::empty(),
    );
    let korean = "ko".parse().unwrap();
    steer.headers_mut().insert(header::ACCEPT_LANGUAGE, korean);
    let refused = console.ask(steer).await.is(403).body;
    assert!(refused.contains("운영자 역할이 필요"), "{refused}");
}

#[test]
fn every_name_of_a_report_has_words() {
    let console = Console::new();
    let options = geomi_report::Options {
        sections: geomi_report::SectionKind::ALL.to_vec(),
        top: Some(1),
        known: None,
        linking: geomi_report::Linking::IfQuick,
    };
    let config = CrawlConfig::new(Vec::new());
    let report = geomi_report::make(&console.dir(), &config, &options).unwrap();
    let words = Language::Korean.words();
    let known = |name: &str| words.columns.iter().any(|(known, _)| *known == name);
    let shown = report.sections.iter();
    let shown = shown.filter(|section| section.kind != geomi_report::SectionKind::Known);
    for section in shown {
        let facts = section.facts.iter().map(|(name, _)| *name);
        let names = facts.chain(section.columns.iter().copied());
        let unknown: Vec<&str> = names.filter(|name| !known(name)).collect();
        assert!(unknown.is_empty(), "{:?}: {unknown:?}", section.kind);
    }
}

#[tokio::test]
async fn counts_stand_where_the_language_wants_them() {
    let console = Console::new();
    let token = console.token(Role::Viewer);
    let korean = page(&console, "/", &token, Language::Korean, "").await;
    assert!(korean.is(200).body.contains("전체 1개"));
    let english = page(&console, "/", &token, Language::English, "").await;
    assert!(english.is(200).body.contains("1 in all"));
}

#[tokio::test]
async fn a_visit_of_another_day_has_its_date() {
    let console = Console::new();
    let token = console.token(Role::Viewer);
    let line = r#"{"n":1,"time":"2020-02-29T01:02:03.000Z","url":"http://a.test/","state":"OK"}"#;
    std::fs::write(console.dir().log(), format!("{line}\n")).unwrap();
    for path in ["/crawls/news", "/crawls/news/log"] {
        let log = page(&console, path, &token, Language::English, "").await;
        let log = log.is(200).body;
        assert!(log.contains(">2020-02-29 01:02:03</time>"), "{path}");
    }
}
