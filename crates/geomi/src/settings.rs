//! `geomi init` and `geomi config`: the configuration, written and explained.

use std::io::Write as _;

use anyhow::{Context as _, bail};
use serde_json::json;

use crate::Exit;
use crate::args::{ConfigArgs, Format, Global, InitArgs};
use crate::config::keys::KEYS;
use crate::config::{self, FILE_NAME, Place, Problems, Sources, Written};
use crate::crawl::sets;
use crate::session::print;

/// Writes geomi.toml with every key; never over a file that is there.
pub(crate) fn init(args: &InitArgs) -> anyhow::Result<Exit> {
    let path = args.dir.join(FILE_NAME);
    let mut file = match std::fs::File::create_new(&path) {
        Ok(file) => file,
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => {
            bail!("{} is there already: move it away first", path.display())
        }
        Err(error) => {
            return Err(error).with_context(|| format!("cannot create {}", path.display()));
        }
    };
    file.write_all(config::template().as_bytes())
        .with_context(|| format!("cannot write {}", path.display()))?;
    print(&format!("wrote {}", path.display()))?;
    Ok(Exit::Done)
}

/// Shows what would be used, and where each value is from.
pub(crate) fn show(args: &ConfigArgs, global: &Global) -> anyhow::Result<Exit> {
    let mut problems = Problems::default();
    let (from_variable, from_flag) = sets(global, &mut problems);
    let settings = [from_variable, from_flag].concat();
    let written = config::load(
        &Sources {
            config: global.config.as_deref(),
            dir: args.out.as_deref(),
            settings: &settings,
        },
        &mut problems,
    );
    let explained = args.key.as_deref().map(|key| {
        let text = config::explain(&written, key);
        if text.is_none() {
            problems.add(&Place::Flag(format!("key {key:?}")), config::unknown(key));
        }
        text.unwrap_or_default()
    });
    problems.into_result()?;
    match (explained, global.format) {
        (_, Format::Json | Format::Jsonl) => print(&all_json(&written, args.key.as_deref()))?,
        (Some(text), Format::Human) => print(&text)?,
        (None, Format::Human) => print(config::as_used(&written).trim_end())?,
        (_, Format::Csv) => unreachable!("csv was refused before"),
    }
    Ok(Exit::Done)
}

fn all_json(written: &Written, only: Option<&str>) -> String {
    let mut all = serde_json::Map::new();
    for (at, key) in KEYS.iter().enumerate() {
        if only.is_none_or(|only| only == key.path) {
            let (value, place) = written.get(at);
            all.insert(
                key.path.to_owned(),
                json!({ "value": value, "from": place.to_string() }),
            );
        }
    }
    serde_json::Value::Object(all).to_string()
}
