//! `geomi cat`: captures read back from outside.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod common;

use common::Workplace;
use geomi_testweb::{ServerOptions, ServerThread, Web, WebSpec};
use serde_json::Value;

/// A small site crawled twice: its pages are unchanged the second time.
fn crawled() -> (Workplace, ServerThread, String) {
    let mut spec = WebSpec::plain(1, 6);
    spec.traits.validators = 1.0;
    let server = ServerThread::start(Web::new(spec), ServerOptions::default()).unwrap();
    let place = Workplace::new();
    let seed = server.seeds()[0].to_string();
    let flags = ["-o", "c", "--site-delay", "0s", "--no-progress"];
    let done = place.geomi(&[&["crawl", &seed], &flags[..]].concat());
    assert_eq!(done.code, Some(0), "{done:#?}");
    let done = place.geomi(&[&["crawl", "--again"], &flags[..]].concat());
    assert_eq!(done.code, Some(0), "{done:#?}");
    (place, server, seed)
}

#[test]
fn a_capture_reads_back_in_every_form() {
    let (place, _server, seed) = crawled();
    let cat = |more: &[&str]| {
        let done = place.geomi(&[&["cat", "c", &seed], more].concat());
        assert_eq!(done.code, Some(0), "{done:#?}");
        done
    };
    let list: Value = serde_json::from_str(&cat(&["--list", "--format", "json"]).out).unwrap();
    let list = list.as_array().unwrap();
    assert_eq!(list.len(), 2, "{list:#?}");
    assert_eq!(
        (&list[0]["revisit"], &list[1]["revisit"]),
        (&false.into(), &true.into())
    );
    assert_eq!(
        (&list[0]["status"], &list[1]["status"]),
        (&200.into(), &304.into())
    );

    let latest = cat(&[]);
    assert!(latest.out.contains("<html"), "{latest:#?}");
    assert!(
        latest.err.contains("as unchanged; its content is that of"),
        "{latest:#?}"
    );
    let first = list[0]["time"].as_str().unwrap();
    let earliest = cat(&["--at", first, "--body"]);
    assert_eq!(
        earliest.out, latest.out,
        "the revisit has the body of the first"
    );
    assert!(!earliest.err.contains("unchanged"), "{earliest:#?}");

    assert!(cat(&["--headers"]).out.starts_with("HTTP/1.1 304"));
    assert!(
        cat(&["--headers", "--at", "2000"])
            .out
            .starts_with("HTTP/1.1 200")
    );
    let raw = cat(&["--raw"]).out;
    assert!(
        raw.starts_with("HTTP/1.1 200") && raw.ends_with(&latest.out),
        "{raw}"
    );
    let text = cat(&["--text"]).out;
    assert!(!text.contains('<') && text.len() > 10, "{text}");

    let whole: Value = serde_json::from_str(&cat(&["--format", "json"]).out).unwrap();
    assert_eq!(whole["body"].as_str(), Some(latest.out.as_str()));
    assert_eq!(whole["content_of"]["time"], list[0]["time"]);
    let csv = cat(&["--list", "--format", "csv"]).out;
    assert_eq!(csv.lines().count(), 3, "{csv}");
    assert!(cat(&["--list"]).out.contains("warc/revisit"));
}

#[test]
fn what_is_not_there_is_told_apart() {
    let (place, _server, seed) = crawled();
    let missing = format!("{seed}never/seen");
    let done = place.geomi(&["cat", "c", &missing]);
    done.fails(
        2,
        &[
            "was never captured",
            "these were, for example: http",
            "geomi explain c",
        ],
    );
    let done = place.geomi(&["cat", "c", "http://elsewhere.test/"]);
    done.fails(2, &["was never captured; nothing of elsewhere.test was"]);
    let done = place.geomi(&["cat", "nothing", &seed]);
    done.fails(2, &["nothing has no index of captures"]);
    let done = place.geomi(&["cat", "c", &seed, "--at", "noon"]);
    done.fails(2, &["--at", "is no time", "20261115094200"]);
    let done = place.geomi(&["cat", "c", &seed, "--format", "csv"]);
    done.fails(2, &["add --list"]);

    let listed = place.geomi(&["cat", "c", &seed, "--list", "--format", "json"]);
    let listed: Value = serde_json::from_str(&listed.out).unwrap();
    let warc = place
        .path("c/warc")
        .join(listed[0]["file"].as_str().unwrap());
    let number = |name: &str| usize::try_from(listed[0][name].as_u64().unwrap()).unwrap();
    let mut bytes = std::fs::read(&warc).unwrap();
    bytes[number("offset") + number("length") / 2] ^= 0x55;
    std::fs::write(&warc, bytes).unwrap();
    let done = place.geomi(&["cat", "c", &seed]);
    done.fails(1, &["cannot read the capture of", "damaged at"]);
}
