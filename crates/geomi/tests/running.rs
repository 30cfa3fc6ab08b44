//! Running crawls, seen and steered from another terminal.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::io::{BufRead as _, BufReader};
use std::process::{Child, ChildStdout, Stdio};

use common::{Done, Workplace};
use geomi_testweb::{ServerOptions, ServerThread, Web, WebSpec};
use serde_json::Value;

fn serve(sites: u32, pages: u32) -> ServerThread {
    let web = Web::new(WebSpec::plain(sites, pages));
    ServerThread::start(web, ServerOptions::default()).unwrap()
}

/// A crawl under way, whose visits can be waited for.
struct Running {
    child: Child,
    visits: BufReader<ChildStdout>,
}

impl Running {
    fn start(place: &Workplace, server: &ServerThread, more: &[&str]) -> Self {
        let seed = server.seeds()[0].to_string();
        let words = ["crawl", &seed, "-o", "out", "--allow-private", "all"];
        let quiet = ["--no-progress", "--format", "jsonl"];
        let mut child = runtime(place, place.command(&[&words, more, &quiet].concat()))
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let visits = BufReader::new(child.stdout.take().unwrap());
        Self { child, visits }
    }

    /// Waits for the next visit.
    fn visit(&mut self) -> Value {
        let mut line = String::new();
        self.visits.read_line(&mut line).unwrap();
        serde_json::from_str(&line).unwrap()
    }

    /// Waits for the end; the visits that were not waited for, and the rest.
    fn end(self) -> (Vec<Value>, Done) {
        let mut visits = Vec::new();
        for line in self.visits.lines() {
            visits.push(serde_json::from_str(&line.unwrap()).unwrap());
        }
        (visits, Done::from(self.child.wait_with_output().unwrap()))
    }
}

/// Crawls of one test do not see those of another.
fn runtime(place: &Workplace, mut command: std::process::Command) -> std::process::Command {
    command.env("XDG_RUNTIME_DIR", place.path("runtime"));
    command
}

fn geomi(place: &Workplace, words: &[&str]) -> Done {
    runtime(place, place.command(words))
        .output()
        .unwrap()
        .into()
}

#[track_caller]
fn json(place: &Workplace, words: &[&str]) -> Value {
    let done = geomi(place, &[words, &["--format", "json"]].concat());
    assert_eq!(done.code, Some(0), "{done:#?}");
    serde_json::from_str(&done.out).unwrap()
}

#[test]
fn a_pause_holds_at_once_and_nothing_is_lost_by_it() {
    let (place, server) = (Workplace::new(), serve(2, 30));
    let mut crawl = Running::start(&place, &server, &["--scope", "any", "--site-delay", "20ms"]);
    for _ in 0..4 {
        crawl.visit();
    }
    assert_eq!(json(&place, &["pause"])["state"], "paused");
    let paused_at = server.log().len();
    // Whatever was under way is answered before the explanation is given.
    let explained = json(&place, &["explain", "out"]);
    assert_eq!(explained["crawl"]["causes"][0]["code"], "paused");
    let listed = json(&place, &["ls"]);
    assert_eq!(listed.as_array().unwrap().len(), 1, "{listed}");
    // Two sites with one connection each.
    assert!(server.log().len() <= paused_at + 2);
    let explained = json(&place, &["explain", "out"]);
    assert_eq!(explained["crawl"]["in_flight"], 0);
    let before = server.log().len();
    assert_eq!(json(&place, &["explain", "out"])["crawl"]["running"], true);
    assert_eq!(
        server.log().len(),
        before,
        "a paused crawl asks for nothing"
    );

    assert_eq!(json(&place, &["resume", "out"])["state"], "running");
    let (_, done) = crawl.end();
    assert_eq!(done.code, Some(0), "{done:#?}");
    assert!(done.err.contains("done: 60 saved"), "{done:#?}");
    assert_eq!(geomi(&place, &["verify", "out"]).code, Some(0));
    assert!(!place.exists("out/control.sock"));
    let listed = json(&place, &["ls"]);
    assert_eq!(listed, serde_json::json!([]));
}

#[test]
fn exclusions_and_delays_hold_from_the_next_request_and_are_kept() {
    let (place, server) = (Workplace::new(), serve(1, 40));
    let mut crawl = Running::start(&place, &server, &["--site-delay", "30ms"]);
    for _ in 0..3 {
        crawl.visit();
    }
    geomi(&place, &["pause", "out"]);
    let settled = json(&place, &["explain", "out"]);
    assert_eq!(settled["crawl"]["in_flight"], 0);
    let before = server.log().len();
    let words = [
        "set",
        "out",
        "scope.exclude+=*/news/*",
        "politeness.site_delay=60ms",
    ];
    assert_eq!(json(&place, &words)["state"], "changed");
    geomi(&place, &["resume", "out"]);
    let (visits, done) = crawl.end();
    assert_eq!(done.code, Some(0), "{done:#?}");
    let later = &server.log().entries()[before..];
    assert!(!later.is_empty() && !visits.is_empty());
    assert!(later.iter().all(|entry| !entry.target.contains("/news/")));
    let gaps = server.log().gaps();
    let since = &gaps[&0][before..];
    assert!(
        since.iter().all(|gap| gap.as_millis() >= 60),
        "the new delay holds: {since:?}"
    );
    let used = place.read("out/geomi.toml");
    assert!(used.contains("exclude = [\"*/news/*\"]"), "{used}");
    assert!(used.contains("site_delay = \"60ms\""), "{used}");
    assert_eq!(geomi(&place, &["verify", "out"]).code, Some(0));
}

#[test]
fn what_cannot_change_is_refused_with_every_reason() {
    let (place, server) = (Workplace::new(), serve(1, 10));
    let mut crawl = Running::start(&place, &server, &["--site-delay", "10s"]);
    crawl.visit();
    let words = [
        "set",
        "out",
        "cluster.partitions=2",
        "crawl.tires=1",
        "scope.exclude+=re:(",
    ];
    let reasons = ["cannot change while a crawl runs", "crawl.tries", "re:("];
    geomi(&place, &words).fails(2, &reasons);
    geomi(&place, &["set", "out", "politeness.site_delay=0s"]);
    let (_, done) = crawl.end();
    assert!(done.err.contains("done: 10 saved"), "{done:#?}");
}

#[test]
fn seeds_are_added_with_their_topics() {
    let (place, server) = (Workplace::new(), serve(3, 6));
    let mut crawl = Running::start(&place, &server, &["--scope", "page", "--site-delay", "5s"]);
    crawl.visit();
    let (second, third) = (server.seeds()[1].to_string(), server.seeds()[2].to_string());
    place.write("more.txt", &format!("{second}\tsport\n{third}\tmusic\n"));
    let added = json(&place, &["add", "out", "--seeds", "more.txt"]);
    assert_eq!((&added["added"], &added["known"]), (&2.into(), &0.into()));
    let again = json(&place, &["add", "out", &second]);
    assert_eq!((&again["added"], &again["known"]), (&0.into(), &1.into()));
    geomi(&place, &["set", "out", "politeness.site_delay=0s"]);
    let (visits, done) = crawl.end();
    assert!(done.err.contains("done: 3 saved"), "{done:#?}");
    let topics: Vec<&str> = visits
        .iter()
        .filter_map(|visit| visit["topic"].as_str())
        .collect();
    assert!(
        topics.contains(&"sport") && topics.contains(&"music"),
        "{topics:?}"
    );
    let kept = place.read("out/seeds-out.txt");
    assert!(kept.contains(&format!("{second}\tsport")), "{kept}");
}

#[test]
fn stop_waits_for_the_end_and_the_crawl_resumes() {
    let (place, server) = (Workplace::new(), serve(1, 20));
    let mut crawl = Running::start(&place, &server, &["--site-delay", "200ms"]);
    crawl.visit();
    assert_eq!(json(&place, &["stop", "out"])["state"], "stopped");
    // Stopped means closed: the directory can be checked at once.
    assert_eq!(geomi(&place, &["verify", "out"]).code, Some(0));
    let (_, done) = crawl.end();
    assert_eq!(done.code, Some(143), "{done:#?}");
    let explained = json(&place, &["explain", "out"]);
    assert_eq!(explained["crawl"]["causes"][0]["code"], "stopped");
    let resumed = geomi(&place, &["crawl", "-o", "out", "--site-delay", "0s", "-q"]);
    assert!(
        resumed.last_line().starts_with("done: 20 saved"),
        "{resumed:#?}"
    );
}

#[test]
fn commands_without_a_running_crawl_say_so() {
    let place = Workplace::new();
    for command in ["pause", "resume", "stop"] {
        geomi(&place, &[command]).fails(2, &["no crawl is running"]);
        geomi(&place, &[command, "nowhere"]).fails(2, &["no crawl is running in nowhere"]);
    }
    geomi(&place, &["set", "nowhere", "crawl.tries=1"]).fails(2, &["no crawl is running"]);
    geomi(&place, &["add", "nowhere"]).fails(2, &["no seeds"]);
    geomi(&place, &["explain", "nowhere"]).fails(2, &["no crawl directory"]);
}

#[test]
fn ls_lists_the_crawls_of_a_folder_with_how_they_ended() {
    let (place, server) = (Workplace::new(), serve(1, 3));
    let seed = server.seeds()[0].to_string();
    std::fs::create_dir_all(place.path("all/deeper")).unwrap();
    for (dir, more) in [("all/one", "-n3"), ("all/deeper/two", "-n1")] {
        geomi(
            &place,
            &["crawl", &seed, "-o", dir, "--site-delay", "0s", "-q", more],
        );
    }
    let listed = json(&place, &["ls", "all"]);
    let found: Vec<(&str, &str)> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|crawl| {
            (
                crawl["dir"].as_str().unwrap(),
                crawl["state"].as_str().unwrap(),
            )
        })
        .collect();
    assert_eq!(
        found,
        [
            ("all/deeper/two", "max-pages reached"),
            ("all/one", "finished")
        ]
    );
    let table = geomi(&place, &["ls", "all"]);
    assert!(table.out.starts_with("STATE"), "{table:#?}");
}

#[test]
fn rubbish_on_the_socket_is_answered_and_harms_nothing() {
    use std::io::Write as _;
    use std::os::unix::net::UnixStream;

    let (place, server) = (Workplace::new(), serve(1, 8));
    let mut crawl = Running::start(&place, &server, &["--site-delay", "10s"]);
    crawl.visit();
    for rubbish in ["rubbish", "{}", "{\"do\":\"fly\"}", "\0"] {
        let mut stream = UnixStream::connect(place.path("out/control.sock")).unwrap();
        stream.write_all(format!("{rubbish}\n").as_bytes()).unwrap();
        let mut answer = String::new();
        BufReader::new(stream).read_line(&mut answer).unwrap();
        assert!(answer.contains("this is no request"), "{rubbish}: {answer}");
    }
    geomi(&place, &["set", "out", "politeness.site_delay=0s"]);
    let (_, done) = crawl.end();
    assert!(done.err.contains("done: 8 saved"), "{done:#?}");
}
