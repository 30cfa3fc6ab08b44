//! Every route, by everybody: who may is what the table says.

use super::*;
use crate::http::routes::{Kind, Needs, ROUTES, Route, Verb};

/// The routes that answer without a log-in, in words: a change of this list is
/// a change of what strangers see.
const OPEN: [&str; 9] = [
    "GET /healthz",
    "GET /readyz",
    "GET /assets/{version}/{name}",
    "GET /login",
    "POST /login",
    "GET /first",
    "POST /first",
    "POST /preferences",
    "POST /api/v1/session",
];

fn method(route: &Route) -> Method {
    match route.verb {
        Verb::Get => Method::GET,
        Verb::Post => Method::POST,
        Verb::Patch => Method::PATCH,
        Verb::Delete => Method::DELETE,
    }
}

/// The path with something in its places that is not there, so that nothing is
/// done by whoever may.
fn path(route: &Route) -> String {
    route
        .path
        .replace("{id}", "no-such-crawl")
        .replace("{no}", "4000000000")
        .replace("{version}", "0")
        .replace("{name}", "none")
        .replace("{*path}", "none")
}

fn refuses(answer: &Answer, kind: Kind) -> bool {
    let to_log_in = || {
        let place = answer.headers.get(header::LOCATION);
        place.is_some_and(|place| place.as_bytes().starts_with(b"/login"))
    };
    match kind {
        Kind::Api => answer.status == StatusCode::UNAUTHORIZED,
        Kind::Page => answer.status == StatusCode::SEE_OTHER && to_log_in(),
    }
}

#[tokio::test]
async fn strangers_see_nothing_but_the_open_routes() {
    let console = Console::new();
    for route in ROUTES {
        let request = request(method(route), &path(route), None, ELSEWHERE, Body::empty());
        let answer = console.ask(request).await;
        let name = format!("{} {}", method(route), route.path);
        let is_open = OPEN.contains(&name.as_str());
        assert_eq!(is_open, route.needs == Needs::Nothing, "{name}");
        assert_eq!(
            refuses(&answer, route.kind),
            !is_open,
            "{name}: {answer:#?}"
        );
    }
}

#[tokio::test]
async fn each_role_may_what_the_table_says() {
    let console = Console::new();
    for role in Role::ALL {
        let token = console.token(role);
        for route in ROUTES {
            // Streams do not end; that they are refused is tested elsewhere.
            if route.path.ends_with("/logout") || route.path == "/api/v1/session" {
                continue;
            }
            let request = request(
                method(route),
                &path(route),
                Some(&token),
                ELSEWHERE,
                Body::empty(),
            );
            let answer = console.ask(request).await;
            let needed = match route.needs {
                Needs::Nothing => continue,
                Needs::Role(needed) | Needs::RoleOrLoopback(needed) => needed,
            };
            let name = format!("{} {} as {}", method(route), route.path, role.as_str());
            assert_ne!(answer.status, StatusCode::UNAUTHORIZED, "{name}");
            assert_eq!(
                answer.status == StatusCode::FORBIDDEN,
                role < needed,
                "{name}: {answer:#?}"
            );
            assert!(!answer.status.is_server_error(), "{name}: {answer:#?}");
        }
    }
}

#[tokio::test]
async fn metrics_are_open_on_this_machine_only() {
    let console = Console::new();
    let here = request(Method::GET, "/metrics", None, HERE, Body::empty());
    let answer = console.ask(here).await.is(200);
    assert!(
        answer.body.contains("geomi_crawls{state=\"finished\"} 1"),
        "{}",
        answer.body
    );
    console.get("/metrics", None).await.is(401);
    // Whoever claims to be here is believed from a proxy of ours only.
    let mut forged = request(Method::GET, "/metrics", None, ELSEWHERE, Body::empty());
    forged
        .headers_mut()
        .insert("x-forwarded-for", "127.0.0.1".parse().unwrap());
    console.ask(forged).await.is(401);
    let behind = Console::with(vec!["127.0.0.1".parse().unwrap()]);
    let mut visitor = request(Method::GET, "/metrics", None, HERE, Body::empty());
    visitor
        .headers_mut()
        .insert("x-forwarded-for", "127.0.0.1, 203.0.113.7".parse().unwrap());
    behind.ask(visitor).await.is(401);
}

#[tokio::test]
async fn every_problem_is_problem_json() {
    let console = Console::new();
    let token = console.token(Role::Admin);
    let send = |method: Method, path: &'static str, kind: &'static str, body: &'static str| {
        let mut request = request(method, path, Some(&token), ELSEWHERE, Body::from(body));
        request
            .headers_mut()
            .insert(header::CONTENT_TYPE, kind.parse().unwrap());
        console.ask(request)
    };
    let json = "application/json";
    for (answer, status) in [
        (console.get("/api/v1/nothing", Some(&token)).await, 404),
        (console.get("/api/v1/crawls/none", Some(&token)).await, 404),
        (
            console.get("/api/v1/crawls?limit=0", Some(&token)).await,
            400,
        ),
        (
            console.get("/api/v1/crawls?limit=x", Some(&token)).await,
            400,
        ),
        (
            console.get("/api/v1/crawls?nonsense=1", Some(&token)).await,
            400,
        ),
        (console.get("/api/v1/users/x", Some(&token)).await, 405),
        (send(Method::PUT, "/api/v1/crawls", json, "{}").await, 405),
        (
            send(Method::POST, "/api/v1/crawls", "text/plain", "{}").await,
            415,
        ),
        (send(Method::POST, "/api/v1/crawls", json, "{").await, 400),
        (
            send(Method::POST, "/api/v1/crawls", json, "{\"urls\":1}").await,
            422,
        ),
        (
            send(
                Method::POST,
                "/api/v1/crawls",
                json,
                "{\"urls\":[\"--config=x\"]}",
            )
            .await,
            409,
        ),
        (
            send(
                Method::POST,
                "/api/v1/users",
                json,
                "{\"id\":\"a\",\"password\":\"short\",\"role\":\"admin\"}",
            )
            .await,
            422,
        ),
        (
            send(Method::POST, "/api/v1/crawls/news/pause", json, "").await,
            409,
        ),
    ] {
        assert_eq!(answer.status.as_u16(), status, "{answer:#?}");
        assert_eq!(
            answer.headers[header::CONTENT_TYPE],
            "application/problem+json"
        );
        assert_eq!(answer.json()["status"], status);
        if status == 405 {
            assert!(answer.headers.contains_key(header::ALLOW), "{answer:#?}");
        }
    }
    let mut long = request(
        Method::POST,
        "/api/v1/crawls",
        Some(&token),
        ELSEWHERE,
        Body::from(vec![b' '; 5 << 20]),
    );
    long.headers_mut()
        .insert(header::CONTENT_TYPE, json.parse().unwrap());
    assert_eq!(console.ask(long).await.is(413).json()["status"], 413);
}

#[tokio::test]
async fn every_answer_carries_the_policy() {
    let console = Console::new();
    for path in ["/login", "/healthz", "/api/v1/crawls", "/nowhere"] {
        let answer = console.get(path, None).await;
        let policy = answer.headers["content-security-policy"].to_str().unwrap();
        assert!(
            policy.starts_with("default-src 'self'") && !policy.contains("unsafe"),
            "{policy}"
        );
        assert_eq!(answer.headers["x-content-type-options"], "nosniff");
    }
}

#[tokio::test]
async fn answers_with_secrets_are_stored_nowhere() {
    let console = Console::new();
    let token = console.token(Role::Admin);
    std::fs::write(console.dir().config(), "# a secret").unwrap();
    for path in [
        "/login",
        "/first?token=x",
        "/settings",
        "/api/v1/session",
        "/api/v1/tokens",
        "/api/v1/users",
        "/crawls/news/config",
        "/api/v1/crawls/news/config",
        "/api/v1/crawls/news/files/geomi.toml",
        "/api/v1/crawls/news/files/geomi%2Etoml",
    ] {
        let answer = console.get(path, Some(&token)).await;
        assert_eq!(answer.headers[header::CACHE_CONTROL], "no-store", "{path}");
    }
    let plain = console.get("/api/v1/crawls", Some(&token)).await.is(200);
    assert_eq!(plain.headers[header::CACHE_CONTROL], "private, no-cache");
}
