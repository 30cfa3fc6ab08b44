//! What strangers write and geomi prints: no terminal is steered, no spreadsheet
//! runs it.

use crate::common::{Done, Workplace};
use crate::server::{Server, answer, html};

const TITLE: &str = "\x1b]0;owned\x07\x1b[2J\u{9b}31m\u{202e}=cmd";
const MIME: &str = "Content-Type: text/html+\x1b[8m\u{9b}2J";

#[track_caller]
fn is_safe(done: &Done) {
    for text in [&done.out, &done.err] {
        let steers = |c: char| (c.is_control() && c != '\n') || c == '\u{202e}';
        assert!(!text.contains(steers), "{text:?}");
    }
}

#[test]
fn no_output_steers_a_terminal() {
    let title = format!("<title>{TITLE}</title><a href=/odd>odd</a><a href=/gone>gone</a>");
    let server = Server::start(vec![
        ("/", html(&title)),
        ("/odd", answer("200 OK\x1b[2J", &[MIME], b"odd")),
    ]);
    let seed = format!("http://127.0.0.1:{}/", server.port());
    let odd = format!("{seed}odd");
    let place = Workplace::new();
    let crawl = ["crawl", &seed, "-o", "out", "--site-delay", "0s", "-vv"];
    let done = place.geomi(&crawl);
    assert_eq!(done.code, Some(0), "{done:#?}");
    is_safe(&done);
    let commands: [&[&str]; 8] = [
        &["report", "out"],
        &["explain", "out"],
        &["explain", "out", &odd],
        &["explain", "out", &seed],
        &["cat", "out", &odd, "-l"],
        &["cat", "out", &odd, "--text"],
        &["fetch", &odd, "--site-delay", "0s", "--color", "never"],
        &["fetch", &seed, "--site-delay", "0s", "--format", "json"],
    ];
    let mut shown = String::new();
    for command in commands {
        let done = place.geomi(command);
        is_safe(&done);
        shown += &done.out;
        shown += &done.err;
    }
    // What could not be printed is not hidden either.
    assert!(shown.contains("\\u001b[8m"), "{shown}");
    assert!(shown.contains("\\u009b31m"), "{shown}");
}

#[test]
fn no_cell_of_a_table_is_a_formula() {
    let formula = "=HYPERLINK(\"http://evil.test\")";
    let mime = format!("Content-Type: {formula}");
    let server = Server::start(vec![("/", answer("200 OK", &[&mime], b"x"))]);
    let seed = format!("http://127.0.0.1:{}/", server.port());
    let place = Workplace::new();
    place.geomi(&["crawl", &seed, "-o", "out", "--site-delay", "0s", "-q"]);
    let report = ["report", "out", "--section", "types", "--format", "csv"];
    let list = ["cat", "out", &seed, "-l", "--format", "csv"];
    for command in [&report, &list] {
        let done = place.geomi(command);
        assert_eq!(done.code, Some(0), "{done:#?}");
        assert!(done.out.to_lowercase().contains("hyperlink"), "{done:#?}");
        let cells = done.out.split(['\n', ',']);
        let is_formula = |cell: &str| cell.trim_matches('"').starts_with(['=', '+', '@']);
        assert_eq!(
            cells.filter(|cell| is_formula(cell)).count(),
            0,
            "{done:#?}"
        );
    }
}
