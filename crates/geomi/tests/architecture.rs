//! Crates depend strictly downward: the order of ARCHITECTURE.md, checked
//! against what Cargo says.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::collections::{BTreeMap, BTreeSet};
use std::process::Command;

/// Which of our crates each of our crates may depend on.
const WORDS: [&str; 2] = ["geomi-url", "geomi-model"];
const DECISIONS: [&str; 6] = [
    "geomi-scope",
    "geomi-robots",
    "geomi-frontier",
    "geomi-novelty",
    "geomi-page",
    "geomi-refresh",
];
const ADAPTERS: [&str; 3] = ["geomi-fetch", "geomi-store", "geomi-cluster"];

fn allowed(name: &str) -> Option<Vec<&'static str>> {
    Some(match name {
        "geomi-url" => Vec::new(),
        "geomi-model" => vec!["geomi-url"],
        name if DECISIONS.contains(&name) || ADAPTERS.contains(&name) => WORDS.to_vec(),
        "geomi-testweb" => WORDS.to_vec(),
        "geomi-sim" => [&WORDS[..], &DECISIONS, &["geomi-testweb"]].concat(),
        "geomi-fuzz" | "geomi-crawler" => [&WORDS[..], &DECISIONS, &ADAPTERS].concat(),
        "geomi-report" => [&WORDS[..], &DECISIONS, &ADAPTERS, &["geomi-crawler"]].concat(),
        "geomi-console" => [
            &WORDS[..],
            &DECISIONS,
            &ADAPTERS,
            &["geomi-crawler", "geomi-report"],
        ]
        .concat(),
        "geomi" => [
            &WORDS[..],
            &DECISIONS,
            &ADAPTERS,
            &[
                "geomi-crawler",
                "geomi-report",
                "geomi-sim",
                "geomi-console",
                "geomi-testweb",
            ],
        ]
        .concat(),
        _ => return None,
    })
}

/// Crates that are pure decisions: no clock, no sockets, no disk. What they
/// may not even link against.
const IMPURE: [&str; 5] = ["tokio", "fjall", "parquet", "hickory-resolver", "rustix"];

/// The dependencies of each of our crates, those for tests left out.
fn dependencies() -> BTreeMap<String, BTreeSet<String>> {
    let output = Command::new(env!("CARGO"))
        .args([
            "metadata",
            "--no-deps",
            "--format-version",
            "1",
            "--offline",
        ])
        .current_dir(env!("CARGO_MANIFEST_DIR"))
        .output()
        .unwrap();
    let error = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{error}");
    let metadata: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    let packages = metadata["packages"].as_array().unwrap().iter();
    packages
        .map(|package| {
            let all = package["dependencies"].as_array().unwrap().iter();
            let normal = all.filter(|dependency| dependency["kind"] != "dev");
            let names = normal.map(|dependency| text(&dependency["name"]));
            (text(&package["name"]), names.collect())
        })
        .collect()
}

#[test]
fn crates_depend_strictly_downward() {
    let found = dependencies();
    for name in [&WORDS[..], &DECISIONS, &ADAPTERS].concat() {
        assert!(found.contains_key(name), "{name} is gone: update this test");
    }
    for (name, needs) in &found {
        let allowed = allowed(name)
            .unwrap_or_else(|| panic!("{name} has no layer: give it one in this test"));
        for needed in needs.iter().filter(|needed| needed.starts_with("geomi")) {
            assert!(
                allowed.contains(&needed.as_str()),
                "{name} depends on {needed}, which is not below it"
            );
        }
    }
}

#[test]
fn decisions_touch_neither_clock_nor_network_nor_disk() {
    let found = dependencies();
    for name in [&WORDS[..], &DECISIONS].concat() {
        for impure in IMPURE {
            assert!(!found[name].contains(impure), "{name} depends on {impure}");
        }
    }
}
