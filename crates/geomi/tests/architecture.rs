//! Crates depend strictly downward: the order of ARCHITECTURE.md, checked
//! against what Cargo says. And what the documents name is there.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::process::Command;

/// Which of our crates each of our crates may depend on.
const WORDS: [&str; 3] = ["geomi-url", "geomi-model", "geomi-state"];
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
        "geomi-state" | "geomi-testweb" => vec!["geomi-url", "geomi-model"],
        name if DECISIONS.contains(&name) || ADAPTERS.contains(&name) => WORDS.to_vec(),
        "geomi-engine" => [&WORDS[..], &DECISIONS, &["geomi-cluster"]].concat(),
        "geomi-sim" => [
            &WORDS[..],
            &DECISIONS,
            &["geomi-cluster", "geomi-engine", "geomi-testweb"],
        ]
        .concat(),
        "geomi-fuzz" | "geomi-crawler" => {
            [&WORDS[..], &DECISIONS, &ADAPTERS, &["geomi-engine"]].concat()
        }
        "geomi-report" => [
            &WORDS[..],
            &DECISIONS,
            &ADAPTERS,
            &["geomi-engine", "geomi-crawler"],
        ]
        .concat(),
        "geomi-console" => [
            &WORDS[..],
            &DECISIONS,
            &ADAPTERS,
            &["geomi-engine", "geomi-crawler", "geomi-report"],
        ]
        .concat(),
        "geomi" => [
            &WORDS[..],
            &DECISIONS,
            &ADAPTERS,
            &[
                "geomi-engine",
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

/// All documents of the project.
fn documents() -> Vec<PathBuf> {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let folders = ["", "docs", "docs/adr"].map(|folder| root.join(folder));
    let entries = folders
        .iter()
        .flat_map(|dir| std::fs::read_dir(dir).unwrap());
    let paths = entries.map(|entry| entry.unwrap().path());
    paths
        .filter(|path| path.extension().is_some_and(|kind| kind == "md"))
        .collect()
}

/// Files and folders that a text names in code marks: `geomi-fetch/src/tls.rs`,
/// `docs/guide.md`. One word in braces may stand for several.
fn named_paths(text: &str) -> Vec<String> {
    let mut found = Vec::new();
    for word in text.split('`').skip(1).step_by(2) {
        let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./{},".contains(c);
        let parts: Vec<&str> = word.trim_start_matches("crates/").split('/').collect();
        let in_crate = parts[0].starts_with("geomi") && parts.len() > 1;
        let in_crate = in_crate && ["src", "tests", "examples"].contains(&parts[1]);
        let beside = word.starts_with("tests/acceptance/") || word.starts_with("scripts/");
        if !word.chars().all(is_plain) || !(in_crate || beside) {
            continue;
        }
        let path = if in_crate {
            format!("crates/{}", parts.join("/"))
        } else {
            word.to_owned()
        };
        match path.split_once('{').zip(path.split_once('}')) {
            Some(((start, _), (middle, end))) => {
                let names = middle.trim_start_matches(start).trim_start_matches('{');
                found.extend(names.split(',').map(|name| format!("{start}{name}{end}")));
            }
            None => found.push(path),
        }
    }
    found
}

#[test]
fn what_the_documents_name_is_there() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let mut checked = 0;
    for document in documents() {
        let text = std::fs::read_to_string(&document).unwrap();
        for path in named_paths(&text) {
            let is_there = root.join(&path).exists();
            assert!(is_there, "{} names {path}", document.display());
            checked += 1;
        }
        for link in text.split("](").skip(1) {
            let link = link.split([')', '#']).next().unwrap();
            let is_outside = link.is_empty() || link.contains("://") || link.starts_with("mailto:");
            let is_there = is_outside || document.with_file_name(link).exists();
            assert!(is_there, "{} links to {link}", document.display());
            checked += 1;
        }
    }
    assert!(checked > 100, "only {checked} names found");
}

#[test]
fn decisions_tell_when_they_changed() {
    for document in documents() {
        let name = document.file_name().unwrap().to_str().unwrap();
        let text = std::fs::read_to_string(&document).unwrap();
        if document.parent().unwrap().ends_with("adr") && name != "README.md" {
            let third = text.lines().nth(2).unwrap();
            assert!(third.starts_with("Last changed: 20"), "{name}: {third}");
            let index = std::fs::read_to_string(document.with_file_name("README.md")).unwrap();
            assert!(index.contains(name), "{name} is not in the index");
        }
    }
}
