//! The laboratories, as a user calls them.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::process::{Command, Output};

use serde_json::Value;

fn geomi(args: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_geomi"));
    command.arg("sim").args(args).output().unwrap()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8(bytes.to_vec()).unwrap()
}

fn json(args: &[&str]) -> Value {
    let output = geomi(args);
    assert!(output.status.success(), "{}", text(&output.stderr));
    serde_json::from_slice(&output.stdout).unwrap()
}

#[test]
fn orders_are_compared_with_the_same_bytes_for_the_same_seed() {
    let folder = tempfile::tempdir().unwrap();
    let page = folder.path().join("orders.html");
    let asked = [
        "order",
        "--web",
        "mixed,equal",
        "--policy",
        "rtt,round-robin",
        "--regime",
        "few",
        "--trials",
        "2",
        "--seed",
        "7",
        "--format",
        "json",
        "--html",
        page.to_str().unwrap(),
    ];
    let (first, second) = (geomi(&asked), geomi(&asked));
    assert!(first.status.success(), "{}", text(&first.stderr));
    assert_eq!(first.stdout, second.stdout);
    let told: Value = serde_json::from_slice(&first.stdout).unwrap();
    let rows = told["rows"].as_array().unwrap();
    assert_eq!(rows.len(), 4);
    let wanted = [
        "pages_per_s",
        "t50_s",
        "t90_s",
        "t99_s",
        "slowest_decile_wait_s",
        "longest_wait_s",
        "idle_share",
    ];
    for row in rows {
        for field in wanted {
            assert!(row[field].is_f64(), "{field} in {row}");
            assert!(row["spread"][field].is_f64(), "spread of {field} in {row}");
        }
    }
    assert_eq!(
        (&rows[1]["policy"], &rows[1]["web"]),
        (&"round-robin".into(), &"mixed".into())
    );
    assert!(std::fs::read_to_string(page).unwrap().contains("<svg"));
}

#[test]
fn orders_are_a_table_too() {
    let output = geomi(&[
        "order", "--web", "equal", "--regime", "few", "--trials", "1", "--format", "csv",
    ]);
    let table = text(&output.stdout);
    assert_eq!(table.lines().count(), 5, "{table}");
    assert!(
        table.starts_with("policy,web,regime,pages_per_s,"),
        "{table}"
    );
}

#[test]
fn names_that_do_not_exist_are_answered_with_those_that_do() {
    for (args, known) in [
        (
            ["order", "--web", "internet"],
            "mixed, regions, tail, equal",
        ),
        (
            ["order", "--policy", "fastest"],
            "rtt, round-robin, fifo, priority",
        ),
    ] {
        let output = geomi(&args);
        assert_eq!(output.status.code(), Some(2), "{args:?}");
        assert!(
            text(&output.stderr).contains(known),
            "{}",
            text(&output.stderr)
        );
    }
    for number in ["0", "-1", "many"] {
        let output = geomi(&["capacity", "--pages", number]);
        assert_eq!(output.status.code(), Some(2), "{number}");
    }
}

#[test]
fn invariants_hold_and_a_history_replays_from_its_seed() {
    let told = json(&["run", "--trials", "20", "--format", "json"]);
    assert_eq!((&told["ok"], &told["trials"]), (&true.into(), &20.into()));
    assert!(told["days"].as_f64() > Some(140.0), "weeks each: {told}");
    let one = json(&["run", "--seed", "3", "--format", "json"]);
    assert_eq!(one["seed"], 3);
    assert_eq!(one, json(&["run", "--seed", "3", "--format", "json"]));
}

#[test]
fn the_papers_capacity_comes_out() {
    let told = json(&[
        "capacity",
        "--pages",
        "1e9",
        "--per",
        "month",
        "--page-size",
        "500kB",
        "--kept",
        "1",
        "--format",
        "json",
    ]);
    assert_eq!(told["pages_per_s"].as_f64().unwrap().round() as u64, 386);
    assert_eq!(
        told["stored_bytes"].as_f64().unwrap() as u64,
        500_000_000_000_000
    );
    assert_eq!(
        told["kept_bytes"].as_f64().unwrap() as u64,
        30_000_000_000_000_000
    );
    let day = json(&["capacity", "--per", "day", "--format", "json"]);
    assert!(day["workers"].as_u64() > told["workers"].as_u64());
    let human = text(&geomi(&["capacity"]).stdout);
    assert!(human.contains("386 pages/s, 772 at the peak"), "{human}");
}

#[test]
fn priorities_are_compared_on_a_web_whose_rank_is_known() {
    let asked = [
        "priority", "--pages", "5000", "--sites", "50", "--seed", "3", "--format", "json",
    ];
    let told = json(&asked);
    assert_eq!(told, json(&asked), "one seed, one history");
    let rules = told["rules"].as_array().unwrap();
    let tenth = |name: &str| {
        let rule = rules.iter().find(|rule| rule["rule"] == name).unwrap();
        rule["rank_shares"][3].as_f64().unwrap()
    };
    assert!(tenth("promoted") > tenth("sites in turn"));
    assert!(tenth("oracle") > tenth("promoted"));
    let table = geomi(&["priority", "--pages", "5000", "--sites", "50"]);
    assert!(text(&table.stdout).contains("promoted, sites by priority"));
}
