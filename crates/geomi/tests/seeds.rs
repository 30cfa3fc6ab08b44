//! Lists of seeds: files, pipes and gzip, read while the crawl goes on.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, Stdio};

use common::{Done, Workplace};
use flate2::Compression;
use flate2::write::GzEncoder;
use geomi_testweb::{ServerOptions, ServerThread, Web, WebSpec};

/// Only the seeds, as quickly as it goes.
const QUICK: [&str; 6] = [
    "--scope=page",
    "--site-delay",
    "0s",
    "--site-connections",
    "8",
    "--no-progress",
];
const PIPE: [&str; 3] = ["crawl", "--seeds", "-"];

fn serve(sites: u32, pages: u32) -> ServerThread {
    let web = Web::new(WebSpec::plain(sites, pages));
    ServerThread::start(web, ServerOptions::default()).unwrap()
}

/// Every page of the web.
fn pages(server: &ServerThread) -> Vec<String> {
    let web = server.web();
    let url = |page: geomi_testweb::PageId| web.page_url(page.site, page.page).to_string();
    web.all_pages().map(url).collect()
}

fn start(place: &Workplace, more: &[&str]) -> Child {
    place
        .command(&[&PIPE[..], &QUICK, more].concat())
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap()
}

/// Gives bytes to a crawl through a pipe.
fn pipe(place: &Workplace, bytes: &[u8], more: &[&str]) -> Done {
    let mut crawl = start(place, more);
    let mut input = crawl.stdin.take().unwrap();
    input.write_all(bytes).unwrap();
    drop(input);
    Done::from(crawl.wait_with_output().unwrap())
}

fn packed(text: &str) -> Vec<u8> {
    let mut packed = GzEncoder::new(Vec::new(), Compression::fast());
    packed.write_all(text.as_bytes()).unwrap();
    packed.finish().unwrap()
}

/// Requests by URL, robots.txt left out.
fn asked(server: &ServerThread) -> Vec<(String, u32)> {
    let counts = server.log().count_by_url().into_iter();
    counts
        .filter(|(url, _)| !url.ends_with("/robots.txt"))
        .collect()
}

#[test]
fn pages_are_fetched_while_the_pipe_is_open() {
    let (place, server) = (Workplace::new(), serve(2, 3));
    let pages = pages(&server);
    let mut crawl = start(&place, &["-o", "out", "--format", "jsonl"]);
    let mut input = crawl.stdin.take().unwrap();
    let mut out = BufReader::new(crawl.stdout.take().unwrap()).lines();
    for page in &pages {
        // Without a line after it: nothing but this seed is there to be read.
        writeln!(input, "{page}").unwrap();
        let is_it = |line: &str| line.contains(&format!("\"{page}\""));
        assert!(out.any(|line| is_it(&line.unwrap())), "{page}");
    }
    let why = place.geomi(&["explain", "out", "--format", "json"]);
    assert!(why.out.contains("\"awaiting-seeds\""), "{why:#?}");
    drop(input);
    assert!(out.next().is_none());
    assert_eq!(crawl.wait().unwrap().code(), Some(0));
    assert_eq!(asked(&server).len(), pages.len());
    assert_eq!(place.read("out/seeds-out.txt").lines().count(), pages.len());
}

#[test]
fn compressed_lists_come_through_a_pipe_and_from_a_file() {
    let (place, server) = (Workplace::new(), serve(2, 50));
    let list = packed(&pages(&server).join("\n"));
    let done = pipe(&place, &list, &["-o", "out"]);
    assert_eq!(done.code, Some(0), "{done:#?}");
    assert!(done.last_line().starts_with("done: 100 saved"), "{done:#?}");

    std::fs::write(place.path("list.gz"), &list).unwrap();
    let words = ["crawl", "--seeds", "list.gz", "-o", "file"];
    let done = place.geomi(&[&words[..], &QUICK].concat());
    assert!(done.last_line().starts_with("done: 100 saved"), "{done:#?}");
    let seeds = |dir: &str| place.read(&format!("{dir}/seeds-out.txt"));
    assert_eq!(seeds("out"), seeds("file"));

    let half = &list[..list.len() / 2];
    let done = pipe(&place, half, &["-o", "half"]);
    done.fails(1, &["cannot read on in standard input", "same command"]);
    std::fs::write(place.path("half.gz"), half).unwrap();
    place
        .geomi(&["crawl", "--seeds", "half.gz", "-o", "none"])
        .fails(2, &["--seeds: cannot read half.gz"]);
    assert!(!place.exists("none"));
}

#[test]
fn what_a_pipe_brings_and_cannot_be_used_is_told_and_passed_over() {
    let (place, server) = (Workplace::new(), serve(1, 3));
    let pages = pages(&server);
    let list = format!(
        "{}\nmailto:a@b.example\n\n{}\tnews\nhttps://example.com/\n",
        pages[0], pages[1]
    );
    let done = pipe(&place, list.as_bytes(), &["-o", "out"]);
    done.fails(
        2,
        &[
            "standard input:2: \"mailto:a@b.example\"",
            "standard input:5: example.com is not on this machine",
            "--contact",
        ],
    );
    assert!(done.last_line().starts_with("done: 2 saved"), "{done:#?}");
    assert_eq!(asked(&server).len(), 2);
    // The host of these seeds is allowed in the next run, too.
    let used = place.read("out/geomi.toml");
    let named = format!("allow_hosts = [\"127.0.1.1:{}\"]", server.port());
    assert!(used.contains(&named), "{used}");
    let again = place.geomi(&["crawl", "-o", "out", "--again", "--no-progress"]);
    assert_eq!(again.code, Some(0), "{again:#?}");
    assert_eq!(
        asked(&server).iter().map(|(_, count)| count).sum::<u32>(),
        4
    );

    let done = pipe(&place, b"# nothing\n", &["-o", "empty"]);
    done.fails(2, &["standard input has no seeds"]);
}

#[test]
fn a_file_is_looked_through_before_anything_begins() {
    let (place, server) = (Workplace::new(), serve(1, 3));
    let mut lines = pages(&server);
    lines.extend((0..25).map(|n| format!("ftp://files.example/{n}")));
    let list = lines.join("\n");
    place.write("list.txt", &list);
    let words = ["crawl", "--seeds", "list.txt", "-o", "out"];
    let done = place.geomi(&[&words[..], &QUICK].concat());
    done.fails(
        2,
        &["list.txt:4:", "list.txt:23:", "list.txt: 5 more lines"],
    );
    assert!(!done.err.contains("list.txt:24:"), "{done:#?}");
    // So is a file that stands for standard input.
    let redirected = place
        .command(&[&PIPE[..], &["-o", "out"], &QUICK].concat())
        .stdin(std::fs::File::open(place.path("list.txt")).unwrap())
        .output()
        .unwrap();
    Done::from(redirected).fails(2, &["standard input:4:", "5 more lines"]);
    place.write("list.txt", "https://example.com/\n");
    let words = ["crawl", "--seeds", "list.txt", "-o", "out"];
    place.geomi(&words).fails(2, &["example.com", "--contact"]);
    assert!(!place.exists("out") && asked(&server).is_empty());
}

#[test]
fn killed_while_seeds_come_in_the_same_command_takes_the_rest() {
    let (place, server) = (Workplace::new(), serve(6, 1_000));
    let pages = pages(&server);
    place.write("list.txt", &pages.join("\n"));
    let words = ["crawl", "--seeds", "list.txt", "-o", "out"];
    for lines in [1, 500] {
        let words = [&words[..], &QUICK, &["--format", "jsonl"]].concat();
        place.kill_after(lines, &words);
    }
    let done = place.geomi(&[&words[..], &QUICK].concat());
    assert_eq!(done.code, Some(0), "{done:#?}");
    let stored = place.stored("out");
    assert_eq!(stored.len(), pages.len(), "no seed is lost");
    assert!(
        stored.values().all(|count| *count == 1),
        "none is kept twice"
    );
    let list: Vec<String> = place
        .read("out/seeds-out.txt")
        .lines()
        .map(str::to_owned)
        .collect();
    assert_eq!(list, pages, "each has its number, in the order of the file");
    assert_eq!(place.geomi(&["verify", "out"]).code, Some(0));
}
