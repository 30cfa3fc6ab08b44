//! `geomi init`, `geomi config` and `geomi schema`: the configuration, written,
//! explained and described.

use std::io::Write as _;
use std::os::unix::fs::OpenOptionsExt as _;

use anyhow::{Context as _, bail};
use serde_json::json;

use crate::Exit;
use crate::args::{ConfigArgs, Format, Global, InitArgs};
use crate::config::keys::KEYS;
use crate::config::{self, FILE_NAME, Place, Problems, SiteValue, Sources, Written};
use crate::crawl::settings;
use crate::seeds_file;
use crate::terminal::print;

/// Writes geomi.toml with every key; never over a file that is there.
pub(crate) fn init(args: &InitArgs) -> anyhow::Result<Exit> {
    let path = args.dir.join(FILE_NAME);
    // People write credentials into it: it is for its owner only.
    let created = std::fs::File::options()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(&path);
    let mut file = match created {
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

/// Prints the schema of geomi.toml.
pub(crate) fn schema() -> anyhow::Result<Exit> {
    print(&serde_json::to_string_pretty(&config::schema())?)?;
    Ok(Exit::Done)
}

/// Shows what would be used, and where each value is from.
pub(crate) fn show(args: &ConfigArgs, global: &Global) -> anyhow::Result<Exit> {
    let mut problems = Problems::default();
    let settings = settings(&args.settings, global, &mut problems);
    let written = config::load(
        &Sources {
            config: global.config.as_deref(),
            dir: args.out.as_deref(),
            settings: &settings,
        },
        &mut problems,
    );
    let is_human = global.format == Format::Human;
    let text = match (&args.site, &args.key) {
        (Some(site), key) => of_site(&written, site, key.as_deref(), is_human, &mut problems),
        (None, Some(key)) => of_key(&written, key, is_human, &mut problems),
        (None, None) if is_human => config::with_places(&written).trim_end().to_owned(),
        (None, None) => all_json(&written, None),
    };
    problems.into_result()?;
    print(&text)?;
    Ok(Exit::Done)
}

fn of_key(written: &Written, key: &str, is_human: bool, problems: &mut Problems) -> String {
    let Some(text) = config::explain(written, key) else {
        problems.add(&Place::Flag(format!("key {key:?}")), config::unknown(key));
        return String::new();
    };
    if is_human {
        return text;
    }
    all_json(written, Some(key))
}

/// What holds for one site. A key may be given by its name in `[[site]]` or by
/// that of the general one.
fn of_site(
    written: &Written,
    site: &str,
    key: Option<&str>,
    is_human: bool,
    problems: &mut Problems,
) -> String {
    let site = match seeds_file::typed(site) {
        Ok(seed) => seed.url.site(),
        Err(what) => {
            problems.add(&Place::Flag("--site".to_owned()), what);
            return String::new();
        }
    };
    let name = key.map(|key| key.rsplit('.').next().unwrap_or(key));
    let mut values = config::for_site(written, &site);
    if let Some(name) = name {
        values.retain(|value| value.name == name);
    }
    if values.is_empty() {
        // A key that cannot differ by site is what it is everywhere.
        let key = key.unwrap_or_default();
        return of_key(written, key, is_human, problems);
    }
    if is_human {
        let lines = values.iter().map(|SiteValue { name, value, place }| {
            let value = value.as_deref().unwrap_or("unset");
            format!("{name} = {value}  # {place}")
        });
        let lines: Vec<String> = lines.collect();
        return format!("# What holds for {site}.\n{}", lines.join("\n"));
    }
    let values = values.into_iter().map(|SiteValue { name, value, place }| {
        let value = json!({ "value": value, "from": place.to_string() });
        (name.to_owned(), value)
    });
    serde_json::Value::Object(values.collect()).to_string()
}

fn all_json(written: &Written, only: Option<&str>) -> String {
    let mut all = serde_json::Map::new();
    for (at, key) in KEYS.iter().enumerate() {
        if only.is_none_or(|only| only == key.path) {
            let (value, place) = written.get_shown(at);
            all.insert(
                key.path.to_owned(),
                json!({ "value": value, "from": place.to_string() }),
            );
        }
    }
    serde_json::Value::Object(all).to_string()
}
