//! What comes from hostile pages is text, wherever it is shown.

use geomi_model::{NetworkState, Timestamp, Visit};
use geomi_url::CrawlUrl;

use super::*;
use crate::words::Language;

const SCRIPT: &str = "<script>alert('x')</script>";

/// A crawl whose every text is an attack.
fn hostile(console: &Console) {
    let dir = console.dir();
    let mut status: Status = serde_json::from_slice(&std::fs::read(dir.status()).unwrap()).unwrap();
    status.counters.states.insert(SCRIPT.to_owned(), 1);
    status.counters.refusals.insert(SCRIPT.to_owned(), 1);
    status.counters.visits = 1;
    status.sites_retired = vec![(SCRIPT.to_owned(), SCRIPT.to_owned())];
    std::fs::write(dir.status(), serde_json::to_vec(&status).unwrap()).unwrap();
    let line = serde_json::json!({
        "n": 1, "time": "2026-11-15T16:00:00.000Z", "url": format!("http://a.test/{SCRIPT}\r\n\r\nevent: x"),
        "state": SCRIPT, "mime": SCRIPT, "error": format!("\"{SCRIPT}"), "total_ms": 1.0,
    });
    std::fs::write(dir.log(), format!("{line}\n")).unwrap();
    std::fs::write(dir.config(), format!("# {SCRIPT}\n")).unwrap();
    let mut visit = Visit::unknown(CrawlUrl::parse("http://a.test/x").unwrap());
    visit.number = 1;
    visit.time = Timestamp::from_secs(1);
    visit.state = NetworkState::Ok;
    visit.title = Some(SCRIPT.into());
    visit.mime = Some(SCRIPT.into());
    geomi_store::segment::write(&dir, None, &[visit]).unwrap();
}

#[tokio::test]
async fn script_is_shown_as_text_on_every_page() {
    let console = Console::new();
    hostile(&console);
    let token = console.token(Role::Admin);
    let mut shown = 0;
    for tab in [
        "",
        "/log",
        "/pages",
        "/sites",
        "/config",
        "/changes",
        "/captures?url=http%3A%2F%2Fa.test%2F%22%3E%3Cscript%3Ealert",
        "/report?section=types",
        "/report",
        "/queue",
    ] {
        let page = console
            .get(&format!("/crawls/news{tab}"), Some(&token))
            .await
            .is(200);
        assert!(!page.body.contains("<script>alert"), "{tab}");
        shown += usize::from(page.body.contains("&lt;script&gt;alert"));
        // No inline script, no inline style, no handler in an attribute.
        assert!(
            !page.body.contains(" style=\"") && !page.body.contains(" onclick="),
            "{tab}"
        );
        assert!(!page.body.contains("<script>"), "{tab}");
    }
    assert!(shown >= 4, "the attack was not even shown: {shown}");
    let title = console
        .get(
            "/crawls/news/log?part=%22%3E%3Cscript%3Ealert",
            Some(&token),
        )
        .await;
    assert!(!title.is(200).body.contains("<script>alert"));
}

#[tokio::test]
async fn a_crawl_may_have_any_name() {
    let console = Console::new();
    let name = "<img src=x onerror=alert(1)>";
    CrawlDir::create(console.folder.path().join(name)).unwrap();
    let token = console.token(Role::Viewer);
    let page = console.get("/", Some(&token)).await.is(200);
    assert!(
        !page.body.contains("<img") && page.body.contains("&lt;img"),
        "{}",
        page.body
    );
}

#[tokio::test]
async fn pages_are_whole_in_both_languages() {
    let console = Console::new();
    let token = console.token(Role::Admin);
    for language in Language::ALL {
        for path in [
            "/",
            "/crawls/news",
            "/crawls/news/queue",
            "/crawls/news/sites",
            "/crawls/news/log",
            "/crawls/news/pages",
            "/crawls/news/captures",
            "/crawls/news/captures?url=a.test",
            "/crawls/news/changes",
            "/crawls/news/report",
            "/crawls/news/config",
            "/workers",
            "/settings",
        ] {
            let mut request = request(Method::GET, path, Some(&token), ELSEWHERE, Body::empty());
            request
                .headers_mut()
                .insert(header::ACCEPT_LANGUAGE, language.code().parse().unwrap());
            let page = console.ask(request).await.is(200);
            let tag = format!("<html lang=\"{}\"", language.code());
            assert!(
                page.body.contains(&tag) && page.body.ends_with("</html>"),
                "{path}"
            );
            assert_eq!(page.body.matches("<h1").count(), 1, "{path}");
        }
    }
}
