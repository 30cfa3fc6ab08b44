//! The console as a person meets it: the first link, a crawl started, watched,
//! steered and stopped, by the real program.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{TcpListener, TcpStream};
use std::process::Stdio;

use common::console::{Console, bearer, runtime, wait_for};
use common::{Done, Workplace};
use geomi_testweb::{ServerOptions, ServerThread, Web, WebSpec};
use serde_json::{Value, json};

fn geomi(place: &Workplace, console: &Console, token: &str, words: &[&str]) -> Done {
    let url = format!("http://{}", console.host);
    let words = [words, &["--server", &url, "--format", "json"]].concat();
    let mut command = runtime(place, place.command(&words));
    command.env("GEOMI_TOKEN", token).output().unwrap().into()
}

#[test]
fn a_crawl_is_started_watched_paused_and_stopped_from_outside() {
    let place = Workplace::new();
    let web = Web::new(WebSpec::plain(1, 400));
    let server = ServerThread::start(web, ServerOptions::default()).unwrap();
    let console = Console::start(&place, &[]);
    assert_eq!(console.ask("GET", "/healthz", "", "").code, 200);
    assert_eq!(console.ask("GET", "/api/v1/crawls", "", "").code, 401);
    let token = console.admin_token();
    let fields = bearer(&token);

    let seed = server.seeds()[0].to_string();
    let wrong = json!({ "urls": [seed], "name": "one", "settings": ["politeness.nonsense=1"] });
    let refused = console
        .ask("POST", "/api/v1/crawls", &fields, &wrong.to_string())
        .json(409);
    assert!(
        refused["errors"][0]
            .as_str()
            .unwrap()
            .contains("politeness.nonsense"),
        "{refused}"
    );
    assert!(
        !place.exists("root/one"),
        "nothing is left of a crawl that never was"
    );

    let order =
        json!({ "urls": [seed], "name": "one", "settings": ["politeness.site_delay=20ms"] });
    let started = console
        .ask("POST", "/api/v1/crawls", &fields, &order.to_string())
        .json(201);
    assert_eq!(started["id"], "one");
    let command = started["command"].as_str().unwrap();
    assert!(
        command.starts_with("geomi crawl http")
            && command.ends_with("--set politeness.site_delay=20ms"),
        "{command}"
    );

    let mut events = console.open("GET", "/api/v1/crawls/one/events?since=0", &fields, "");
    wait_for(&mut events, |name, visit| {
        name == "visit" && visit["n"] == 3
    });
    let sites = console
        .ask("GET", "/api/v1/crawls/one/sites", &fields, "")
        .json(200);
    assert_eq!(sites["total"], 1, "{sites}");
    assert_eq!(sites["live"], true);
    let site = seed.trim_start_matches("http://").trim_end_matches('/');
    let path = format!("/crawls/one/sites?site={}", site.replace(':', "%3A"));
    let page = console.ask("GET", &path, &fields, "").body;
    assert!(page.contains(&format!("<h2>{site}</h2>")), "{page}");
    assert!(page.contains("may be asked for"), "{page}");

    let listed = geomi(&place, &console, &token, &["ls"]);
    let listed: Value = serde_json::from_str(&listed.out).unwrap();
    assert_eq!(listed[0]["name"], "one");
    assert_eq!(geomi(&place, &console, &token, &["pause"]).code, Some(0));
    wait_for(&mut events, |name, status| {
        name == "status" && status["state"] == "paused"
    });
    let body = json!({ "patterns": ["*"], "dry_run": true }).to_string();
    let preview = console
        .ask("POST", "/api/v1/crawls/one/exclusions", &fields, &body)
        .json(200);
    assert!(preview["matches"].as_u64().unwrap() >= 3, "{preview}");
    let queued = |name: &str| preview[name].as_u64().unwrap();
    assert!(queued("queued_looked_at") > 0, "{preview}");
    assert_eq!(queued("queued_matches"), queued("queued_looked_at"));
    assert!(
        queued("queued_total") >= queued("queued_looked_at"),
        "{preview}"
    );
    let queue = console
        .ask("GET", "/api/v1/crawls/one/queue", &fields, "")
        .json(200);
    assert_eq!(
        queue["explanation"]["crawl"]["causes"][0]["code"], "paused",
        "{queue}"
    );

    assert_eq!(
        geomi(&place, &console, &token, &["stop", "one"]).code,
        Some(0)
    );
    wait_for(&mut events, |name, status| {
        name == "status" && status["state"] == "stopped"
    });
    let verified: Done = place
        .command(&["verify", "root/one"])
        .output()
        .unwrap()
        .into();
    assert_eq!(verified.code, Some(0), "{verified:#?}");
    geomi(&place, &console, &token, &["pause", "one"]).fails(2, &["not running"]);
    geomi(&place, &console, "wrong", &["ls"]).fails(2, &["401"]);
    assert_eq!(console.ask("GET", "/metrics", "", "").code, 200);
}

#[test]
fn a_crawl_that_serves_shows_itself() {
    let place = Workplace::new();
    let web = Web::new(WebSpec::plain(1, 200));
    let server = ServerThread::start(web, ServerOptions::default()).unwrap();
    let seed = server.seeds()[0].to_string();
    let words = [
        "crawl",
        &seed,
        "-o",
        "out",
        "--site-delay",
        "50ms",
        "--serve",
        "127.0.0.1:0",
        "--no-progress",
    ];
    let mut child = runtime(&place, place.command(&words))
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut said = BufReader::new(child.stderr.take().unwrap()).lines();
    let link = said.find_map(|line| {
        let line = line.unwrap();
        line.trim().strip_prefix("http://").map(str::to_owned)
    });
    let link = link.unwrap();
    let (host, _) = link.split_once('/').unwrap();
    let console = Console {
        child,
        host: host.to_owned(),
        first: link.clone(),
    };
    let token = console.admin_token();
    let one = console
        .ask("GET", "/api/v1/crawls/out", &bearer(&token), "")
        .json(200);
    assert_eq!(one["running"], true, "{one}");
    let page = console.ask("GET", "/crawls/out", &bearer(&token), "");
    assert!(
        page.code == 200 && page.body.contains("sse-connect"),
        "{page:#?}"
    );
    assert_eq!(
        console
            .ask("POST", "/api/v1/crawls/out/stop", &bearer(&token), "")
            .code,
        204
    );
}

#[test]
fn what_cannot_be_served_is_told() {
    let place = Workplace::new();
    let done = place.geomi(&["serve", "nowhere"]);
    done.fails(2, &["nowhere is no folder"]);
    std::fs::create_dir(place.path("root")).unwrap();
    place.write("cert.pem", "rubbish");
    place.write("key.pem", "rubbish");
    let words = [
        "serve",
        "root",
        "--listen",
        "127.0.0.1:0",
        "--tls-cert",
        "cert.pem",
        "--tls-key",
        "key.pem",
    ];
    place.geomi(&words).fails(2, &["key.pem"]);
    place
        .geomi(&["serve", "root", "--tls-cert", "cert.pem"])
        .fails(2, &["--tls-key"]);
}

/// Takes one POST; its body.
fn take(hook: &TcpListener) -> Value {
    let (stream, _) = hook.accept().unwrap();
    let mut input = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        input.read_line(&mut line).unwrap();
        if let Some(text) = line.to_lowercase().strip_prefix("content-length: ") {
            length = text.trim().parse().unwrap();
        }
        if line.trim().is_empty() {
            break;
        }
    }
    let mut body = vec![0; length];
    input.read_exact(&mut body).unwrap();
    input
        .get_mut()
        .write_all(b"HTTP/1.1 204 No Content\r\n\r\n")
        .unwrap();
    serde_json::from_slice(&body).unwrap()
}

#[test]
fn a_webhook_hears_of_each_thing_once() {
    let place = Workplace::new();
    let web = Web::new(WebSpec::plain(1, 50));
    let server = ServerThread::start(web, ServerOptions::default()).unwrap();
    let hook = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/hook", hook.local_addr().unwrap());
    let console = Console::start(&place, &["--webhook", &url]);
    let token = console.admin_token();
    let seed = server.seeds()[0].to_string();
    let crawl = |name: &str| {
        let settings = ["politeness.site_delay=0s", "crawl.max_pages=5"];
        let order = json!({ "urls": [seed], "name": name, "settings": settings }).to_string();
        console
            .ask("POST", "/api/v1/crawls", &bearer(&token), &order)
            .json(201);
    };
    crawl("one");
    let mut told = vec![take(&hook), take(&hook)];
    crawl("two");
    told.extend([take(&hook), take(&hook)]);
    let told: Vec<(&str, &str)> = told
        .iter()
        .map(|alert| {
            let word = |field: &str| alert[field].as_str().unwrap();
            (word("crawl"), word("event"))
        })
        .collect();
    let expected = [
        ("one", "ended"),
        ("one", "budget-spent"),
        ("two", "ended"),
        ("two", "budget-spent"),
    ];
    assert_eq!(told, expected);
}

/// Seconds from a request to the last byte of its answer, which has to be 200.
#[track_caller]
fn seconds(console: &Console, path: &str, fields: &str) -> f64 {
    #[expect(clippy::disallowed_methods, reason = "it is measured from outside")]
    let began = std::time::Instant::now();
    let answer = console.ask("GET", path, fields, "");
    assert_eq!(answer.code, 200, "{path}: {answer:#?}");
    began.elapsed().as_secs_f64()
}

/// The most memory a process has held, in MiB.
fn peak_mib(pid: u32) -> f64 {
    let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap();
    let mut lines = status.lines();
    let peak = lines.find_map(|line| line.strip_prefix("VmHWM:")).unwrap();
    let kib: f64 = peak.trim().trim_end_matches(" kB").parse().unwrap();
    kib / 1024.0
}

/// Lets this process have as many files open as it may.
fn raise_open_files() {
    use rustix::process::{Resource, Rlimit, getrlimit, setrlimit};
    let limit = getrlimit(Resource::Nofile);
    let more = Rlimit {
        current: limit.maximum,
        maximum: limit.maximum,
    };
    setrlimit(Resource::Nofile, more).unwrap();
}

#[test]
fn a_thousand_half_sent_requests_hold_nobody_up() {
    raise_open_files();
    let place = Workplace::new();
    let console = Console::start(&place, &[]);
    let fields = bearer(&console.admin_token());
    for half in [
        "P".to_owned(),
        format!("GET / HTTP/1.1\r\nHost: {}\r\n", console.host),
        format!(
            "POST /login HTTP/1.1\r\nHost: {}\r\nContent-Type: application/x-www-form-urlencoded\r\nContent-Length: 4000\r\n\r\n",
            console.host
        ),
    ] {
        let mut held = Vec::new();
        for _ in 0..1_024 {
            let mut stream = TcpStream::connect(&console.host).unwrap();
            stream.write_all(half.as_bytes()).unwrap();
            held.push(stream);
        }
        for _ in 0..3 {
            for stream in &mut held {
                // Those that are too many were closed.
                let _closed = stream.write_all(b"i");
            }
            for (path, fields) in [
                ("/healthz", ""),
                ("/login", ""),
                ("/", &*fields),
                ("/api/v1/crawls", &*fields),
            ] {
                let took = seconds(&console, path, fields);
                assert!(took < 1.0, "{path} took {took} s beside {half:?}");
            }
        }
    }
    let peak = peak_mib(console.child.id());
    assert!(peak < 150.0, "{peak} MiB");
}

#[test]
fn a_suspended_crawl_holds_nobody_up() {
    use rustix::process::{Pid, Signal, kill_process};
    let place = Workplace::new();
    let web = Web::new(WebSpec::plain(1, 400));
    let server = ServerThread::start(web, ServerOptions::default()).unwrap();
    let console = Console::start(&place, &[]);
    let fields = bearer(&console.admin_token());
    let seed = server.seeds()[0].to_string();
    for name in ["one", "two"] {
        let settings = ["politeness.site_delay=100ms"];
        let order = json!({ "urls": [seed], "name": name, "settings": settings });
        console
            .ask("POST", "/api/v1/crawls", &fields, &order.to_string())
            .json(201);
    }
    let one = console
        .ask("GET", "/api/v1/crawls/one", &fields, "")
        .json(200);
    let pid = Pid::from_raw(i32::try_from(one["pid"].as_u64().unwrap()).unwrap()).unwrap();
    kill_process(pid, Signal::STOP).unwrap();
    for _ in 0..3 {
        for path in [
            "/",
            "/healthz",
            "/readyz",
            "/metrics",
            "/crawls/two",
            "/crawls/two/queue",
            "/crawls/one",
            "/crawls/one/queue",
        ] {
            let took = seconds(&console, path, &fields);
            assert!(took < 1.0, "{path} took {took} s");
        }
    }
    let state = |name: &str| {
        let path = format!("/api/v1/crawls/{name}");
        let row = console.ask("GET", &path, &fields, "").json(200);
        row["state"].as_str().unwrap().to_owned()
    };
    assert_eq!(
        (state("one"), state("two")),
        ("silent".into(), "running".into())
    );
    let pause = console.ask("POST", "/api/v1/crawls/one/pause", &fields, "");
    assert!(
        pause.code == 409 && pause.body.contains("does not answer"),
        "{pause:?}"
    );
    let mut events = console.open("GET", "/api/v1/crawls/one/events", &fields, "");
    wait_for(&mut events, |name, row| {
        name == "status" && row["state"] == "silent"
    });
    kill_process(pid, Signal::CONT).unwrap();
    wait_for(&mut events, |name, row| {
        name == "status" && row["state"] == "running"
    });
    for name in ["one", "two"] {
        let path = format!("/api/v1/crawls/{name}/stop");
        assert_eq!(console.ask("POST", &path, &fields, "").code, 204);
    }
    wait_for(&mut events, |name, row| {
        name == "status" && row["state"] == "stopped"
    });
}

#[test]
fn beyond_this_machine_needs_tls_or_consent() {
    let place = Workplace::new();
    std::fs::create_dir(place.path("root")).unwrap();
    place
        .geomi(&["serve", "root", "--listen", "0.0.0.0:0"])
        .fails(2, &["--tls-cert", "--plain-http"]);
    place
        .geomi(&[
            "crawl",
            "http://127.0.0.1:1/",
            "-o",
            "out",
            "--serve",
            "0.0.0.0:0",
        ])
        .fails(2, &["--serve-tls-cert", "--serve-plain-http"]);
    assert!(!place.exists("out"), "nothing was begun");
    place
        .geomi(&["demo", "-o", "demo", "--serve", "[::]:0"])
        .fails(2, &["--serve-plain-http"]);
    assert!(!place.exists("demo"), "nothing was begun");
}

#[test]
fn a_crawl_answers_beside_those_who_say_nothing() {
    let place = Workplace::new();
    let web = Web::new(WebSpec::plain(1, 200));
    let server = ServerThread::start(web, ServerOptions::default()).unwrap();
    let seed = server.seeds()[0].to_string();
    let words = [
        "crawl",
        &seed,
        "-o",
        "out",
        "--site-delay",
        "50ms",
        "--no-progress",
    ];
    let mut child = runtime(&place, place.command(&words))
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let dir = place.path("out");
    let mut held = Vec::new();
    while held.len() < 5 {
        // It listens in a moment.
        held.extend(std::os::unix::net::UnixStream::connect(
            dir.join("control.sock"),
        ));
    }
    #[expect(clippy::disallowed_methods, reason = "it is measured from outside")]
    let began = std::time::Instant::now();
    let stopped = runtime(&place, place.command(&["stop", "out"])).output();
    assert!(stopped.unwrap().status.success());
    // Each of them would have taken ten seconds.
    assert!(began.elapsed().as_secs() < 10, "{:?}", began.elapsed());
    child.wait().unwrap();
}
