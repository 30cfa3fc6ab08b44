//! What the console keeps from whom: secrets from everybody but admins, files,
//! credentials and internal addresses from operators, and one crawl's directory from
//! another's start.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::io::{Read as _, Write as _};
use std::net::TcpStream;
use std::os::unix::fs::PermissionsExt as _;
use std::sync::Barrier;

use common::Workplace;
use common::console::{Answer, Console, bearer};
use geomi_testweb::{ServerOptions, ServerThread, Web, WebSpec};
use serde_json::{Value, json};

fn mode(place: &Workplace, path: &str) -> u32 {
    let meta = std::fs::metadata(place.path(path)).unwrap();
    meta.permissions().mode() & 0o777
}

fn start(console: &Console, token: &str, order: &Value) -> Answer {
    console.ask("POST", "/api/v1/crawls", &bearer(token), &order.to_string())
}

fn stop(console: &Console, token: &str, id: &str) {
    let path = format!("/api/v1/crawls/{id}/stop");
    assert_eq!(console.ask("POST", &path, &bearer(token), "").code, 204);
}

#[test]
fn secrets_are_for_admins_and_on_no_command_line() {
    let place = Workplace::new();
    let console = Console::start(&place, &[]);
    let session = console.admin_session();
    let admin = console.token(&session, "admin");
    // The proxy does not answer, so that the crawl waits for its second try.
    let order = json!({
        "urls": ["http://me:sesame-1@127.0.0.1:9/"],
        "name": "one",
        "settings": ["fetch.proxies=http://me:sesame-2@127.0.0.1:9", "crawl.retry_wait=1h"],
        "toml": "[[site]]\nmatch = \"127.0.0.1:9\"\nauth = \"basic:me:sesame-3\"\n",
    });
    let started = start(&console, &admin, &order).json(201);
    let command = started["command"].as_str().unwrap();
    assert!(command.contains("http://(hidden)@127.0.0.1:9"), "{command}");
    assert!(!command.contains("sesame"), "{command}");

    let crawl = console.ask("GET", "/api/v1/crawls/one", &bearer(&admin), "");
    let pid = crawl.json(200)["pid"].as_u64().unwrap();
    let line = std::fs::read_to_string(format!("/proc/{pid}/cmdline")).unwrap();
    assert!(line.contains("crawl") && !line.contains("sesame"), "{line}");
    let audit = std::fs::read_to_string(place.path("root/console/audit.jsonl")).unwrap();
    assert!(audit.contains("(hidden)") && !audit.contains("sesame"));
    assert_eq!(mode(&place, "root/one/geomi.toml"), 0o600);

    let paths = [
        "/api/v1/crawls/one/config",
        "/api/v1/crawls/one/files/geomi.toml",
        "/crawls/one/config",
    ];
    for role in ["viewer", "operator"] {
        let token = console.token(&session, role);
        for path in paths {
            let seen = console.ask("GET", path, &bearer(&token), "");
            assert_eq!(seen.code, 200, "{path}");
            assert!(!seen.body.contains("sesame"), "{role} {path}");
            assert!(seen.body.contains("http://(hidden)@127.0.0.1:9"), "{path}");
            assert!(seen.body.contains("auth = "), "{path}");
        }
        let files = console.ask("GET", "/api/v1/crawls/one/files", &bearer(&token), "");
        let files = files.json(200);
        let mut files = files["items"].as_array().unwrap().iter();
        let listed = files.find(|file| file["path"] == "geomi.toml").unwrap();
        let given = console.ask("GET", paths[1], &bearer(&token), "");
        assert_eq!(listed["bytes"], given.body.len());
    }
    for path in paths {
        let seen = console.ask("GET", path, &bearer(&admin), "");
        assert!(seen.body.contains("sesame-2") && seen.body.contains("sesame-3"));
    }
    stop(&console, &admin, "one");
}

#[test]
fn the_command_line_keeps_secrets_too() {
    let place = Workplace::new();
    assert_eq!(place.geomi(&["init"]).code, Some(0));
    assert_eq!(mode(&place, "geomi.toml"), 0o600);
    let proxy = "fetch.proxies=http://me:sesame@127.0.0.1:9";
    let config = place.geomi(&["config", "--set", proxy]);
    assert!(
        config.out.contains("http://(hidden)@127.0.0.1:9"),
        "{config:#?}"
    );
    let config = place.geomi(&["config", "--set", proxy, "--format", "json"]);
    assert!(!config.out.contains("sesame"), "{config:#?}");

    let words = |proxy: &'static str| {
        let tries = ["--set", "crawl.tries=1", "--set", proxy];
        [&["crawl", "http://127.0.0.1:9/", "-o", "out"][..], &tries].concat()
    };
    place.geomi(&words("fetch.proxies=http://127.0.0.1:9"));
    let open = mode(&place, "out/geomi.toml");
    assert_ne!(open, 0o600, "a file without secrets is as the umask says");
    place.geomi(&words("fetch.proxies=http://me:sesame@127.0.0.1:9"));
    assert_eq!(mode(&place, "out/geomi.toml"), 0o600);
    let wrong = place.geomi(&["crawl", "ftp://me:sesame@example.com/"]);
    assert!(!wrong.err.contains("sesame"), "{wrong:#?}");
}

#[test]
fn only_bounded_regular_files_are_read() {
    let place = Workplace::new();
    let pipe = place.path("pipe");
    rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR | rustix::fs::Mode::WUSR,
        0,
    )
    .unwrap();
    let not_regular = "not a regular file";
    for path in ["/dev/zero", pipe.to_str().unwrap(), "/"] {
        for key in ["fetch.ca_file", "fetch.signature_key_file"] {
            let setting = format!("{key}={path}");
            let words = ["crawl", "http://127.0.0.1:9/", "--set", &setting];
            place.geomi(&words).fails(2, &[not_regular]);
        }
        let words = ["crawl", "http://127.0.0.1:9/", "--config", path];
        place.geomi(&words).fails(2, &[not_regular]);
        let tls = ["serve", ".", "--tls-cert", path, "--tls-key", path];
        place.geomi(&tls).fails(2, &[not_regular]);
    }
}

#[test]
fn operators_set_what_admins_opened() {
    let place = Workplace::new();
    let web = Web::new(WebSpec::plain(1, 5));
    let server = ServerThread::start(web, ServerOptions::default()).unwrap();
    let console = Console::start(&place, &[]);
    let session = console.admin_session();
    let operator = console.token(&session, "operator");
    let errors = |answer: Answer| answer.json(409)["errors"].to_string();

    let seed = server.seeds()[0].to_string();
    let inside = json!({ "urls": [seed, "http://169.254.169.254/", "intranet"], "name": "one" });
    let refused = errors(start(&console, &operator, &inside));
    let host = server.seeds()[0].host().to_owned();
    for host in [&*host, "169.254.169.254", "intranet"] {
        assert!(
            refused.contains(&format!("{host} is on this machine or")),
            "{refused}"
        );
    }
    let toml = "[fetch]\nsignature_key_file = \"/etc/hostname\"\n\
                [[site]]\nmatch = \"evil.example\"\nauth = \"env:HOME\"\n";
    let order = json!({
        "urls": ["http://evil.example/"],
        "name": "one",
        "settings": ["fetch.ca_file=/dev/zero", "fetch.contact=https://a.example/"],
        "toml": toml,
    });
    let refused = errors(start(&console, &operator, &order));
    for key in ["fetch.ca_file", "fetch.signature_key_file", "site.auth"] {
        assert!(
            refused.contains(&format!("{key}: only admins")),
            "{refused}"
        );
    }
    assert!(!refused.contains("fetch.contact"), "{refused}");
    assert!(!place.exists("root/one"));

    place.write(
        "root/console/operators.toml",
        "addresses = [\"127.0.0.0/8\"]\nkeys = [\"fetch.robots\"]\n",
    );
    let order = json!({ "urls": [seed], "name": "one", "settings": ["crawl.retry_wait=1h"] });
    start(&console, &operator, &order).json(201);
    let more = json!({ "urls": ["http://10.0.0.1/"] }).to_string();
    let path = "/api/v1/crawls/one/seeds";
    let refused = errors(console.ask("POST", path, &bearer(&operator), &more));
    assert!(
        refused.contains("10.0.0.1 is on this machine or"),
        "{refused}"
    );

    place.write(
        "root/console/operators.toml",
        "addresses = [\"everything\"]\n",
    );
    let order = json!({ "urls": [seed], "name": "two" });
    let refused = errors(start(&console, &operator, &order));
    assert!(
        refused.contains("operators.toml cannot be used"),
        "{refused}"
    );
}

/// Sends all requests but their last bytes, then those as close together as can be;
/// the codes of the answers.
fn start_at_once(console: &Console, token: &str, orders: &[&Value]) -> Vec<u16> {
    let barrier = Barrier::new(orders.len());
    std::thread::scope(|scope| {
        let ask = |order: &Value| {
            let body = order.to_string();
            let request = format!(
                "POST /api/v1/crawls HTTP/1.1\r\nHost: {}\r\nConnection: close\r\n{}Content-Length: {}\r\n\r\n{body}",
                console.host,
                bearer(token),
                body.len()
            );
            let (begin, last) = request.split_at(request.len() - 1);
            let mut stream = TcpStream::connect(&console.host).unwrap();
            stream.write_all(begin.as_bytes()).unwrap();
            let (last, barrier) = (last.to_owned(), &barrier);
            scope.spawn(move || {
                barrier.wait();
                stream.write_all(last.as_bytes()).unwrap();
                let mut answer = String::new();
                stream.read_to_string(&mut answer).unwrap();
                answer.split(' ').nth(1).unwrap().parse().unwrap()
            })
        };
        let asked: Vec<_> = orders.iter().map(|order| ask(order)).collect();
        asked.into_iter().map(|one| one.join().unwrap()).collect()
    })
}

#[test]
fn one_name_is_started_once_and_the_others_touch_nothing() {
    let place = Workplace::new();
    let console = Console::start(&place, &[]);
    let token = console.admin_token();
    for round in 0..6 {
        let name = format!("race-{round}");
        let settings = ["crawl.retry_wait=1h"];
        let good = json!({ "urls": ["http://127.0.0.1:9/"], "name": name, "settings": settings });
        // This one is refused by the crawl itself, and cleans up after itself.
        let bad = json!({ "urls": ["http://127.0.0.1:9/"], "name": name, "settings": ["x.y=1"] });
        let mut orders = vec![&good; 8];
        if round % 2 == 1 {
            orders[3] = &bad;
        }
        let codes = start_at_once(&console, &token, &orders);
        let begun = codes.iter().filter(|code| **code == 201).count();
        assert!(begun <= 1, "{codes:?}");
        if begun == 0 {
            // The refused one had the name first. It is free again.
            start(&console, &token, &good).json(201);
        }
        for file in ["geomi.toml", "run.log", "lock"] {
            let path = format!("root/{name}/{file}");
            assert!(place.exists(&path), "{file} {codes:?}");
        }
        let again = format!("/api/v1/crawls/{name}/start");
        assert_eq!(console.ask("POST", &again, &bearer(&token), "").code, 409);
        stop(&console, &token, &name);
    }
}
