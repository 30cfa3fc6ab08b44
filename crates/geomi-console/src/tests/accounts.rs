//! Logging in, forms, tokens, limits.

use serde_json::json;

use super::*;
use crate::accounts::audit::Entry;

fn form(path: &str, cookie: Option<&str>, body: String) -> Request<Body> {
    let mut request = request(Method::POST, path, None, ELSEWHERE, Body::from(body));
    let headers = request.headers_mut();
    headers.insert(
        header::CONTENT_TYPE,
        "application/x-www-form-urlencoded".parse().unwrap(),
    );
    if let Some(cookie) = cookie {
        headers.insert(header::COOKIE, cookie.parse().unwrap());
    }
    request
}

/// The cookie an answer sets, as it is sent back.
#[track_caller]
fn cookie(answer: &Answer) -> String {
    let set = answer.headers[header::SET_COOKIE].to_str().unwrap();
    assert!(
        set.contains("HttpOnly") && set.contains("SameSite=Strict"),
        "{set}"
    );
    set.split(';').next().unwrap().to_owned()
}

async fn as_browser(console: &Console, path: &str, cookie: &str) -> Answer {
    let mut request = request(Method::GET, path, None, ELSEWHERE, Body::empty());
    request
        .headers_mut()
        .insert(header::COOKIE, cookie.parse().unwrap());
    console.ask(request).await
}

fn csrf(page: &str) -> &str {
    let at = page.find("name=\"csrf\" value=\"").unwrap() + 19;
    page[at..].split('"').next().unwrap()
}

#[tokio::test]
async fn the_first_link_makes_one_admin_and_works_once() {
    let console = Console::new();
    let secret = console.app.accounts.first_secret().unwrap();
    console.get("/first?token=guess", None).await.is(403);
    console
        .get(&format!("/first?token={secret}"), None)
        .await
        .is(200);
    let body = |password: &str| format!("token={secret}&id=kim&name=&password={password}");
    let weak = console
        .ask(form("/first", None, body("short")))
        .await
        .is(409);
    assert!(
        weak.body.contains("at least 10 characters"),
        "{}",
        weak.body
    );
    let made = console
        .ask(form("/first", None, body("correct+horse+battery")))
        .await
        .is(303);
    let cookie = cookie(&made);
    let page = as_browser(&console, "/", &cookie).await.is(200);
    assert!(page.body.contains("news"), "{}", page.body);
    console
        .ask(form("/first", None, body("correct+horse+battery")))
        .await
        .is(403);
    assert_eq!(console.app.accounts.users().len(), 1);
    assert_eq!(console.app.accounts.first_secret(), None);
}

#[tokio::test]
async fn a_form_without_its_word_does_nothing() {
    let console = Console::new();
    console.token(Role::Admin);
    let sent = form(
        "/login",
        None,
        format!("id=admin&password={}", PASSWORD.replace(' ', "+")),
    );
    let cookie = cookie(&console.ask(sent).await.is(303));
    let page = as_browser(&console, "/settings", &cookie).await.is(200);
    let word = csrf(&page.body).to_owned();
    let user = "id=lee&name=Lee&password=long+enough+for+us&role=viewer";
    console
        .ask(form("/settings/users", Some(&cookie), user.to_owned()))
        .await
        .is(403);
    let wrong = format!("csrf=wrong&{user}");
    console
        .ask(form("/settings/users", Some(&cookie), wrong))
        .await
        .is(403);
    let mut elsewhere = form(
        "/settings/users",
        Some(&cookie),
        format!("csrf={word}&{user}"),
    );
    elsewhere
        .headers_mut()
        .insert("sec-fetch-site", "cross-site".parse().unwrap());
    console.ask(elsewhere).await.is(403);
    console
        .ask(form(
            "/settings/users",
            Some(&cookie),
            format!("csrf={word}&{user}"),
        ))
        .await
        .is(303);
    assert_eq!(console.app.accounts.users().len(), 2);
    console
        .ask(form("/logout", Some(&cookie), format!("csrf={word}")))
        .await
        .is(303);
    as_browser(&console, "/", &cookie).await.is(303);
}

#[tokio::test]
async fn guessing_has_to_wait() {
    let console = Console::new();
    console.token(Role::Admin);
    for _ in 0..5 {
        let wrong = console
            .ask(form("/login", None, "id=admin&password=guess".to_owned()))
            .await
            .is(401);
        assert!(!wrong.headers.contains_key(header::SET_COOKIE));
    }
    let body = json!({ "id": "admin", "password": PASSWORD });
    let held = console
        .send(Method::POST, "/api/v1/session", "", &body)
        .await
        .is(429);
    assert!(held.headers.contains_key(header::RETRY_AFTER));
    // What was refused is counted, and the count is written.
    console
        .app
        .accounts
        .write_unlisted(console.app.now(), false);
    let mut log = console.app.accounts.audit.page(None, 10).unwrap().entries;
    assert_eq!(log.len(), 6);
    let counted = log.remove(0);
    assert!(counted.to.contains("0 failed, 1 refused"), "{counted:?}");
    assert!(
        log.iter()
            .all(|entry| entry.did == "log-in" && !entry.ok && entry.who == "admin")
    );
}

/// A log-in from an address.
async fn log_in_from(console: &Console, from: &str, id: &str, password: &str) -> u16 {
    let body = json!({ "id": id, "password": password }).to_string();
    let mut request = request(
        Method::POST,
        "/api/v1/session",
        None,
        from,
        Body::from(body),
    );
    let kind = "application/json".parse().unwrap();
    request.headers_mut().insert(header::CONTENT_TYPE, kind);
    console.ask(request).await.status.as_u16()
}

#[tokio::test]
async fn strangers_cannot_lock_a_user_out_of_a_familiar_network() {
    let console = Console::new();
    console.token(Role::Admin);
    assert_eq!(
        log_in_from(&console, ELSEWHERE, "admin", PASSWORD).await,
        201
    );
    // A known id and an unknown one are answered alike.
    for id in ["admin", "nobody"] {
        for n in 0..20 {
            let from = format!("198.51.100.{n}:1");
            assert_eq!(
                log_in_from(&console, &from, id, "guess").await,
                401,
                "{id} {n}"
            );
        }
        let right = log_in_from(&console, "198.51.100.99:1", id, PASSWORD).await;
        assert_eq!(right, 429, "{id}");
    }
    assert_eq!(
        log_in_from(&console, ELSEWHERE, "admin", PASSWORD).await,
        201
    );
    // What is familiar survives a restart, and holds no address.
    let file = console.folder.path().join("console/accounts.json");
    let file = std::fs::read_to_string(file).unwrap();
    assert!(
        file.contains("networks") && !file.contains("203.0.113"),
        "{file}"
    );
    let again = App::open(console.app.options.clone()).unwrap();
    let user = again.accounts.user_by_id("admin").unwrap();
    assert_eq!(Some(user), console.app.accounts.user_by_id("admin"));
}

/// A session of the API: its cookie and its word.
async fn session(console: &Console, id: &str) -> (String, String) {
    let body = json!({ "id": id, "password": PASSWORD });
    let begun = console
        .send(Method::POST, "/api/v1/session", "", &body)
        .await
        .is(201);
    let word = begun.json()["csrf"].as_str().unwrap().to_owned();
    (cookie(&begun), word)
}

/// Asks for a token as a browser does.
async fn make_token(console: &Console, (cookie, word): &(String, String), scope: &str) -> Answer {
    let body = json!({ "name": "grafana", "scope": scope }).to_string();
    let mut request = request(
        Method::POST,
        "/api/v1/tokens",
        None,
        ELSEWHERE,
        Body::from(body),
    );
    let headers = request.headers_mut();
    headers.insert(header::COOKIE, cookie.parse().unwrap());
    headers.insert("x-csrf-token", word.parse().unwrap());
    headers.insert(header::CONTENT_TYPE, "application/json".parse().unwrap());
    console.ask(request).await
}

#[tokio::test]
async fn tokens_may_no_more_than_their_scope_and_are_shown_once() {
    let console = Console::new();
    let admin = console.token(Role::Admin);
    let browser = session(&console, "admin").await;
    let made = make_token(&console, &browser, "viewer")
        .await
        .is(201)
        .json();
    let token = made["secret"].as_str().unwrap();
    console.get("/api/v1/crawls", Some(token)).await.is(200);
    console.get("/api/v1/users", Some(token)).await.is(403);
    let listed = console.get("/api/v1/tokens", Some(&admin)).await.is(200);
    assert!(
        !listed.body.contains(token) && !listed.body.contains("hash"),
        "{}",
        listed.body
    );
    let no = made["no"].as_u64().unwrap();
    let path = format!("/api/v1/tokens/{no}");
    console
        .send(Method::DELETE, &path, &admin, &json!(null))
        .await
        .is(204);
    console.get("/api/v1/crawls", Some(token)).await.is(401);
    console.token(Role::Viewer);
    let viewer = session(&console, "viewer").await;
    make_token(&console, &viewer, "admin").await.is(403);
}

#[tokio::test]
async fn tokens_make_no_tokens_and_go_with_the_password() {
    let console = Console::new();
    let admin = console.token(Role::Admin);
    let viewer = console.token(Role::Viewer);
    let body = json!({ "name": "more", "scope": "viewer" });
    for token in [&admin, &viewer] {
        let refused = console
            .send(Method::POST, "/api/v1/tokens", token, &body)
            .await
            .is(403);
        assert!(refused.body.contains("log in to make one"), "{refused:?}");
    }
    let browser = session(&console, "viewer").await;
    // The one that was there at first counts too.
    for _ in 1..20 {
        make_token(&console, &browser, "viewer").await.is(201);
    }
    make_token(&console, &browser, "viewer").await.is(409);
    let reset = json!({ "password": "another long password" });
    console
        .send(Method::PATCH, "/api/v1/users/2", &admin, &reset)
        .await
        .is(200);
    console.get("/api/v1/crawls", Some(&viewer)).await.is(401);
    console.get("/api/v1/crawls", Some(&admin)).await.is(200);
}

#[tokio::test]
async fn three_hundred_guesses_at_once_are_three_hundred_guesses() {
    let console = Arc::new(Console::new());
    console.token(Role::Admin);
    let guesses = (0..300).map(|n| {
        let console = Arc::clone(&console);
        let password = if n == 200 { PASSWORD } else { "guess" };
        let body = format!("id=admin&password={}", password.replace(' ', "+"));
        tokio::spawn(async move { console.ask(form("/login", None, body)).await.status })
    });
    let guesses: Vec<_> = guesses.collect();
    let mut counts = std::collections::BTreeMap::new();
    for guess in guesses {
        *counts.entry(guess.await.unwrap().as_u16()).or_insert(0) += 1;
    }
    assert_eq!(counts.get(&303), None, "{counts:?}");
    assert!(counts[&401] <= 5 && counts[&429] >= 295, "{counts:?}");
}

#[tokio::test]
async fn a_long_id_is_neither_counted_nor_written_down() {
    let console = Console::new();
    console.token(Role::Admin);
    let body = |len: usize| format!("id={}&password=guess", "x".repeat(len));
    console
        .ask(form("/login", None, body(2 << 20)))
        .await
        .is(413);
    console.ask(form("/login", None, body(101))).await.is(422);
    console.ask(form("/login", None, body(100))).await.is(401);
    let log = console.app.accounts.audit.page(None, 10).unwrap().entries;
    assert_eq!(log.len(), 1);
}

#[tokio::test]
async fn the_audit_log_is_read_page_by_page() {
    let console = Console::new();
    let admin = console.token(Role::Admin);
    for n in 0..120 {
        let entry = Entry::new(console.app.now(), "kim", "::1", "pause", &n.to_string());
        console.app.accounts.audit.write(&entry);
    }
    let (mut found, mut path) = (Vec::new(), "/api/v1/audit?limit=50".to_owned());
    loop {
        let page = console.get(&path, Some(&admin)).await.is(200).json();
        let items = page["items"].as_array().unwrap().iter();
        found.extend(items.map(|entry| entry["to"].as_str().unwrap().to_owned()));
        let Some(next) = page["next"].as_str() else {
            break;
        };
        path = format!("/api/v1/audit?limit=50&before={next}");
    }
    let expected: Vec<String> = (0..120).rev().map(|n| n.to_string()).collect();
    assert_eq!(found, expected);
    let first = console.get("/settings", Some(&admin)).await.is(200);
    let at = first.body.find("/settings?before=").unwrap();
    let older = first.body[at..].split('#').next().unwrap();
    let second = console.get(older, Some(&admin)).await.is(200);
    assert!(second.body.contains(">69<") && !second.body.contains(">119<"));
    console
        .get("/api/v1/audit?before=x", Some(&admin))
        .await
        .is(404);
}

#[tokio::test]
async fn a_session_of_the_api_needs_its_word_too() {
    let console = Console::new();
    console.token(Role::Operator);
    let body = json!({ "id": "operator", "password": PASSWORD });
    let begun = console
        .send(Method::POST, "/api/v1/session", "", &body)
        .await
        .is(201);
    let (cookie, word) = (
        cookie(&begun),
        begun.json()["csrf"].as_str().unwrap().to_owned(),
    );
    let order = |word: Option<&str>| {
        let mut request = request(
            Method::POST,
            "/api/v1/crawls/news/pause",
            None,
            ELSEWHERE,
            Body::empty(),
        );
        request
            .headers_mut()
            .insert(header::COOKIE, cookie.parse().unwrap());
        if let Some(word) = word {
            request
                .headers_mut()
                .insert("x-csrf-token", word.parse().unwrap());
        }
        console.ask(request)
    };
    order(None).await.is(403);
    order(Some("wrong")).await.is(403);
    // The crawl is not running: it was understood, and cannot be done.
    order(Some(&word)).await.is(409);
}
