//! Credentials on the command line: read from a variable, written nowhere.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use common::{Done, Workplace};
use geomi_testweb::{ServerOptions, ServerThread, Web, WebSpec};

#[test]
fn a_secret_from_a_variable_is_written_nowhere() {
    let server = ServerThread::start(Web::new(WebSpec::plain(1, 3)), ServerOptions::default());
    let server = server.unwrap();
    let place = Workplace::new();
    let seed = server.seeds()[0].to_string();
    let site = seed.trim_start_matches("http://").trim_end_matches('/');
    place.write(
        "geomi.toml",
        &format!(
            "[[site]]\nmatch = \"{site}\"\nauth = \"env:SITE_SECRET\"\nauth_over_http = true\n"
        ),
    );
    let arguments = [
        "crawl",
        &seed,
        "-o",
        "c",
        "--site-delay",
        "0s",
        "--no-progress",
        "-vv",
    ];
    place
        .geomi(&arguments)
        .fails(2, &["SITE_SECRET is not set"]);
    let mut command = place.command(&arguments);
    let done: Done = command
        .env("SITE_SECRET", "basic:me:hunter2")
        .output()
        .unwrap()
        .into();
    assert_eq!(done.code, Some(0), "{done:#?}");
    assert!(!format!("{done:?}").contains("hunter2"));
    let used = place.read("c/geomi.toml");
    assert!(
        used.contains("auth = \"env:SITE_SECRET\"") && !used.contains("hunter2"),
        "{used}"
    );
    assert!(!place.read("c/log.jsonl").contains("hunter2"));
}

#[test]
fn a_secret_in_the_file_is_not_shown_and_needs_one_site() {
    let place = Workplace::new();
    let table =
        |name: &str, auth: &str| format!("[[site]]\nmatch = \"{name}\"\nauth = \"{auth}\"\n");
    place.write("geomi.toml", &table("a.example", "basic:me:hunter2"));
    for arguments in [&["config"][..], &["config", "--site", "a.example"]] {
        let done = place.geomi(arguments);
        assert_eq!(done.code, Some(0), "{done:#?}");
        assert!(
            done.out.contains("(hidden)") && !done.out.contains("hunter2"),
            "{done:#?}"
        );
    }
    let crawl = ["crawl", "http://127.0.0.1:9/", "-o", "c", "--no-progress"];
    place.write("geomi.toml", &table("*.example", "basic:me:hunter2"));
    let done = place.geomi(&crawl);
    done.fails(2, &["sites named in full"]);
    assert!(!done.err.contains("hunter2"), "{done:#?}");
    place.write("geomi.toml", &table("a.example", "hunter2"));
    let done = place.geomi(&crawl);
    done.fails(2, &["basic:USER:PASSWORD"]);
    assert!(!done.err.contains("hunter2"), "{done:#?}");
}
