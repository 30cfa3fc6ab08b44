//! The week of a crawl: who sees it, who paints it, and what is on disk then.

use std::ops::ControlFlow;

use geomi_store::schedule::{self, Row};
use serde_json::json;

use super::*;

const PATH: &str = "/api/v1/crawls/news/schedule";
const TABLE: &str = "day,hour,url\nMonday,9,http://a.test/\nMonday,9,http://a.test/b\nMonday,11,\"http://a.test/x,y\"\n";

/// Hours and URLs as a run that follows the table reads them.
fn followed(console: &Console) -> Vec<(usize, String)> {
    let path = console.dir().schedule();
    let free = schedule::free_hours(&path).unwrap();
    let mut rows = Vec::new();
    schedule::read(&path, |_, row| {
        if let Row::Visit(hour, url) = row.unwrap() {
            rows.push((free.moved(hour), url.to_string()));
        }
        ControlFlow::Continue(())
    })
    .unwrap();
    rows
}

fn form(path: &str, token: &str, body: &'static str) -> Request<Body> {
    let mut request = request(Method::POST, path, Some(token), ELSEWHERE, body.into());
    let kind = "application/x-www-form-urlencoded".parse().unwrap();
    request.headers_mut().insert(header::CONTENT_TYPE, kind);
    request
}

#[tokio::test]
async fn without_a_plan_the_page_says_what_to_do() {
    let console = Console::new();
    let token = console.token(Role::Operator);
    let page = console.get("/crawls/news/schedule", Some(&token)).await;
    assert!(page.is(200).body.contains("geomi refresh plan DIR"));
    console.get(PATH, Some(&token)).await.is(404);
    let nothing = json!({ "free": [] });
    console
        .send(Method::PATCH, PATH, &token, &nothing)
        .await
        .is(404);
    // Nothing runs a program here.
    console
        .send(Method::POST, PATH, &token, &json!({}))
        .await
        .is(409);
    assert!(!console.dir().schedule().exists());
}

#[tokio::test]
async fn what_is_painted_is_what_a_run_reads() {
    let console = Console::new();
    let token = console.token(Role::Operator);
    std::fs::write(console.dir().schedule(), TABLE).unwrap();
    let free = json!({ "free": [{ "day": "Monday", "hour": 9 }, { "day": "Monday", "hour": 10 }] });
    console
        .send(Method::PATCH, PATH, &token, &free)
        .await
        .is(204);
    let hours: Vec<usize> = followed(&console).iter().map(|(hour, _)| *hour).collect();
    assert_eq!(hours, [35, 35, 35], "all in Monday's eleventh hour");
    let week = console.get(PATH, Some(&token)).await.is(200).json();
    assert_eq!(week["visits"], 3);
    assert_eq!(week["hours"].as_array().unwrap().len(), 168);
    let nine = json!({ "day": "Monday", "hour": 9, "visits": 0, "planned": 2, "free": true });
    assert_eq!(week["hours"][33], nine);
    assert_eq!(week["hours"][35]["visits"], 3);

    let urls = format!("{PATH}/urls?day=Monday&hour=11&limit=2");
    let first = console.get(&urls, Some(&token)).await.is(200).json();
    assert_eq!(first["items"], json!(["http://a.test/", "http://a.test/b"]));
    let next = format!("{urls}&after={}", first["next"]);
    let rest = console.get(&next, Some(&token)).await.is(200).json();
    assert_eq!(rest["items"], json!(["http://a.test/x,y"]));
    assert_eq!(rest["next"], Value::Null);

    // Opened again, everything is where it was planned.
    let none = json!({ "free": [] });
    console
        .send(Method::PATCH, PATH, &token, &none)
        .await
        .is(204);
    let text = std::fs::read_to_string(console.dir().schedule()).unwrap();
    assert_eq!(text, TABLE);
}

#[tokio::test]
async fn a_form_without_scripts_paints_too() {
    let console = Console::new();
    let (token, viewer) = (console.token(Role::Operator), console.token(Role::Viewer));
    std::fs::write(console.dir().schedule(), TABLE).unwrap();
    let path = "/crawls/news/schedule";
    let run = "h0=free&d0=on&from=9&to=11&act=close";
    console.ask(form(path, &token, run)).await.is(303);
    let free = schedule::free_hours(&console.dir().schedule()).unwrap();
    assert_eq!(free.iter().collect::<Vec<_>>(), [0, 33, 34]);
    let page = console
        .get(&format!("{path}?hour=35"), Some(&token))
        .await
        .is(200);
    assert!(
        page.body.contains("name=\"h33\" value=\"free\" checked"),
        "{}",
        page.body
    );
    assert!(page.body.contains("http://a.test/x,y"), "{}", page.body);

    console.ask(form(path, &viewer, "h5=free")).await.is(403);
    let seen = console.get(path, Some(&viewer)).await.is(200);
    assert!(!seen.body.contains("type=\"checkbox\""), "{}", seen.body);
    assert!(seen.body.contains("data-free"), "{}", seen.body);
    assert_eq!(
        schedule::free_hours(&console.dir().schedule()).unwrap(),
        free
    );
}

#[tokio::test]
async fn what_cannot_be_is_refused_and_changes_nothing() {
    let console = Console::new();
    let token = console.token(Role::Operator);
    std::fs::write(console.dir().schedule(), TABLE).unwrap();
    let days = [
        "Sunday",
        "Monday",
        "Tuesday",
        "Wednesday",
        "Thursday",
        "Friday",
        "Saturday",
    ];
    let all = days
        .iter()
        .flat_map(|day| (0..24).map(move |hour| json!({ "day": day, "hour": hour })));
    let all: Vec<Value> = all.collect();
    for (body, status) in [
        (json!({ "free": all }), 409),
        (json!({ "free": [{ "day": "Monday", "hour": 24 }] }), 422),
        (json!({ "free": [{ "day": "Someday", "hour": 2 }] }), 422),
        (json!({ "closed": [] }), 422),
    ] {
        console
            .send(Method::PATCH, PATH, &token, &body)
            .await
            .is(status);
    }
    let wrong = form("/crawls/news/schedule", &token, "act=close&from=x&to=2");
    console.ask(wrong).await.is(400);
    let text = std::fs::read_to_string(console.dir().schedule()).unwrap();
    assert_eq!(text, TABLE);
    std::fs::write(console.dir().schedule(), "Someday,1,http://a.test/\n").unwrap();
    let week = console.get(PATH, Some(&token)).await.is(200).json();
    assert!(
        week["faults"][0].as_str().unwrap().contains("line 1"),
        "{week}"
    );
}

#[tokio::test]
async fn a_schedule_that_was_followed_and_is_gone_is_told() {
    let console = Console::new();
    let token = console.token(Role::Operator);
    let dir = console.dir();
    let mut status: Value = serde_json::from_slice(&std::fs::read(dir.status()).unwrap()).unwrap();
    status["refresh"] = json!({ "drive": "table", "table": "edited.csv", "policy": "clock",
        "once": false, "pages": 1, "requests_per_day": 1.0, "next_due": null });
    std::fs::write(dir.status(), status.to_string()).unwrap();
    let start = "/api/v1/crawls/news/start";
    let refused = console
        .send(Method::POST, start, &token, &json!({}))
        .await
        .is(409)
        .json();
    let table = dir.root().join("edited.csv");
    let told = refused["detail"].as_str().unwrap();
    assert!(told.contains(&table.display().to_string()), "{told}");
    // With it, what is in the way is that nothing runs a program here.
    std::fs::write(&table, TABLE).unwrap();
    let refused = console
        .send(Method::POST, start, &token, &json!({}))
        .await
        .is(409);
    assert!(refused.body.contains("starts none"), "{refused:?}");
}
