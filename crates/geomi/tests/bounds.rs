//! docs/promises.md lists every collection in a struct that is keyed by hosts, URLs,
//! addresses or text of strangers, with its bound.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

use std::path::{Path, PathBuf};

const CRATES: [&str; 9] = [
    "geomi-engine",
    "geomi-crawler",
    "geomi-fetch",
    "geomi-frontier",
    "geomi-novelty",
    "geomi-refresh",
    "geomi-robots",
    "geomi-console",
    "geomi-report",
];

/// Ordered collections count where they hold one of these; hash maps and sets always do.
const STRANGERS: [&str; 6] = [
    "SiteHash", "UrlHash", "CrawlUrl", "IpAddr", "SiteKey", "String",
];

fn sources(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            sources(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            found.push(path);
        }
    }
}

/// The name of the field that a line declares, if it is a collection of a struct. Fields
/// stand one level deep; those of structs within functions and tests stand deeper.
fn map_field(line: &str) -> Option<&str> {
    let field = line
        .strip_prefix("    ")
        .filter(|rest| !rest.starts_with(' '))?;
    let field = field.strip_suffix(',')?;
    let (name, kind) = field.split_once(": ")?;
    let name = name.rsplit(' ').next()?;
    let is_owned = !kind.contains('&') && !kind.contains("fn");
    let is_name = name
        .bytes()
        .all(|byte| byte.is_ascii_lowercase() || byte == b'_');
    let is_ordered = ["BTreeMap<", "BTreeSet<", "VecDeque<", "BinaryHeap<"]
        .iter()
        .any(|ordered| kind.contains(ordered));
    let is_map = kind.contains("HashMap<")
        || kind.contains("HashSet<")
        || is_ordered && STRANGERS.iter().any(|stranger| kind.contains(stranger));
    (is_owned && is_name && is_map).then_some(name)
}

#[test]
fn every_map_has_its_bound_in_the_documentation() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    let promises = std::fs::read_to_string(root.join("docs/promises.md")).unwrap();
    let mut files = Vec::new();
    for name in CRATES {
        sources(&root.join("crates").join(name).join("src"), &mut files);
    }
    let (mut maps, mut missing) = (0, Vec::new());
    for path in files {
        let text = std::fs::read_to_string(&path).unwrap();
        let from = root.join("crates");
        let file = path.strip_prefix(from).unwrap().display().to_string();
        if file.contains("tests") {
            continue;
        }
        for name in text.lines().filter_map(map_field) {
            maps += 1;
            let is_row = |row: &&str| row.starts_with(&format!("| `{file}` |"));
            let mut rows = promises.lines().filter(is_row);
            if !rows.any(|row| row.contains(&format!("`{name}`"))) {
                missing.push(format!("{file}: {name}"));
            }
        }
    }
    assert!(maps > 30, "only {maps} maps were found");
    assert!(
        missing.is_empty(),
        "add a row with the bound to docs/promises.md for {missing:#?}"
    );
}
