//! geomi.toml and everything else that sets a value.
//!
//! Two steps, as in ripgrep: what was written ([`written::Written`], with the
//! place of every value) becomes what is meant ([`CrawlConfig`]). The layers,
//! lowest first:
//!
//! 1. the default in the [`table`] of keys,
//! 2. the preset, whichever layer names it,
//! 3. `./geomi.toml`, unless `--config` names another file,
//! 4. `DIR/geomi.toml` of the crawl directory: the configuration as last used,
//! 5. the file `--config` names,
//! 6. `GEOMI_*` variables,
//! 7. flags and `--set KEY=VALUE`, the later one winning.
//!
//! Nothing stops at the first mistake: [`Problems`] collects them all.

mod authority;
mod draft;
mod explain;
mod file;
pub(crate) mod keys;
mod kind;
mod live;
mod locality;
mod place;
mod presets;
mod running;
mod schema;
mod secrecy;
mod signing;
mod site_draft;
mod site_keys;
mod site_table;
mod table;
mod units;
mod written;

use std::net::IpAddr;
use std::path::{Path, PathBuf};

use geomi_crawler::CrawlConfig;
use geomi_engine::SeedInput;
use geomi_fetch::HostPattern;
use geomi_store::{CrawlDir, StoreError};

pub(crate) use authority::{is_for_admins, is_key_pattern, key_of, keys_in};
pub(crate) use explain::{SiteValue, explain, for_site};
pub(crate) use file::{as_used, redacted, template, with_places};
pub(crate) use kind::Raw;
use live::change_live;
pub(crate) use locality::Locality;
pub(crate) use place::{Place, Problems};
pub(crate) use running::RunningConfig;
pub(crate) use schema::schema;
pub(crate) use secrecy::redact_setting;
pub(crate) use units::{parse_duration, parse_size, write_duration};
pub(crate) use written::{Written, unknown};

/// The name of the file.
pub(crate) const FILE_NAME: &str = "geomi.toml";
/// A file longer than this is not a configuration.
const FILE_BYTES_MAX: u64 = 1 << 20;

/// One value from the command line or the environment.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Setting {
    /// The key's path.
    pub(crate) path: String,
    /// Its value.
    pub(crate) raw: Raw,
    /// Flag or variable.
    pub(crate) place: Place,
}

/// Where settings come from, beside the current directory.
#[derive(Debug, Default)]
pub(crate) struct Sources<'a> {
    /// The file `--config` names.
    pub(crate) config: Option<&'a Path>,
    /// The crawl directory.
    pub(crate) dir: Option<&'a Path>,
    /// Variables and flags, variables first.
    pub(crate) settings: &'a [Setting],
}

/// Reads all layers; what is wrong with them goes to `problems`.
pub(crate) fn load(sources: &Sources<'_>, problems: &mut Problems) -> Written {
    let mut written = Written::defaults();
    let mut before = written.preset_value();
    let beside = PathBuf::from(FILE_NAME);
    let in_dir = sources.dir.map(|dir| dir.join(FILE_NAME));
    if sources.config.is_none() && !is_same(&beside, in_dir.as_deref()) {
        read_if_there(&beside, &mut written, problems);
    }
    if let Some(path) = &in_dir {
        read_if_there(path, &mut written, problems);
        let (preset, place) = written.preset_value();
        if matches!(&place, Place::File(file, _) if file == path) {
            before = (preset, place);
        }
    }
    if let Some(path) = sources.config {
        match read_text(path) {
            Ok(text) => file::read(path, &text, &mut written, problems),
            Err(error) => problems.add(
                &Place::Flag("--config".to_owned()),
                format!("cannot read {}: {error}", path.display()),
            ),
        }
    }
    take(sources.settings, &mut written, problems);
    written.fill_preset();
    if let Some(idle) = written.drop_idle_preset(before) {
        tracing::warn!(
            "preset {idle} changes nothing: every key it sets is written already, \
             as in the geomi.toml of a crawl that has begun; use --set for what shall differ"
        );
    }
    written
}

/// The configuration a crawl ran with: that of its directory and no other.
/// Seeds, and the rules for starting a crawl, are left out.
pub(crate) fn of_crawl(dir: &Path, problems: &mut Problems) -> CrawlConfig {
    let mut written = Written::defaults();
    read_if_there(&dir.join(FILE_NAME), &mut written, problems);
    let draft = written.apply(problems);
    draft.check_patterns(&written, problems);
    draft.crawl
}

/// Settings over the defaults, and no file at all.
pub(crate) fn load_alone(settings: &[Setting], problems: &mut Problems) -> Written {
    let mut written = Written::defaults();
    take(settings, &mut written, problems);
    written.fill_preset();
    written
}

fn take(settings: &[Setting], written: &mut Written, problems: &mut Problems) {
    for Setting { path, raw, place } in settings {
        written.set(path, raw, place.clone(), problems);
    }
}

/// Turns what was written into what is meant.
pub(crate) fn resolve(
    written: &Written,
    seeds: Vec<SeedInput>,
    problems: &mut Problems,
) -> CrawlConfig {
    resolve_beside(written, seeds, None, problems)
}

/// The same where there are more seeds than these, one of them on this public
/// host.
pub(crate) fn resolve_beside(
    written: &Written,
    seeds: Vec<SeedInput>,
    public: Option<&str>,
    problems: &mut Problems,
) -> CrawlConfig {
    let draft = written.apply(problems);
    draft.finish(seeds, public, written, problems)
}

/// What is wrong with the configuration if a seed is on this public host.
fn public_faults(written: &Written, host: &str) -> Vec<String> {
    let mut problems = Problems::default();
    // What else is wrong was told when the crawl began.
    let draft = written.apply(&mut Problems::default());
    draft.check_manners(host, written, &mut problems);
    problems.iter().map(str::to_owned).collect()
}

/// Addresses of hosts that the operator decided. What is wrong with the values
/// is told by [`resolve`].
pub(crate) fn overrides(written: &Written) -> Vec<(HostPattern, IpAddr)> {
    let draft = written.apply(&mut Problems::default());
    draft.crawl.fetch.overrides
}

/// Reads `KEY=VALUE` as `--set` takes it: the value as in the file, or bare.
pub(crate) fn parse_set(text: &str, place: Place) -> Result<Setting, String> {
    let (path, value) = text
        .split_once('=')
        .ok_or_else(|| format!("{text:?} is not KEY=VALUE, for example crawl.tries=2"))?;
    let (path, value) = (path.trim(), value.trim());
    let raw = match file::read_value(value) {
        // A bare number could be meant for any kind of key: let the kind decide.
        Some(Raw::Integer(_) | Raw::Other(_) | Raw::Bool(_)) | None => Raw::Typed(value.to_owned()),
        Some(Raw::Text(text)) => Raw::Typed(text),
        Some(raw) => raw,
    };
    Ok(Setting {
        path: path.to_owned(),
        raw,
        place,
    })
}

fn is_same(a: &Path, b: Option<&Path>) -> bool {
    let Some(b) = b else { return false };
    // A file that is not there is not the same as any.
    matches!((a.canonicalize(), b.canonicalize()), (Ok(a), Ok(b)) if a == b)
}

fn read_if_there(path: &Path, written: &mut Written, problems: &mut Problems) {
    match read_text(path) {
        Ok(text) => file::read(path, &text, written, problems),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
        Err(error) => problems.add_general(format!("cannot read {}: {error}", path.display())),
    }
}

fn read_text(path: &Path) -> std::io::Result<String> {
    geomi_store::read_small_text(path, FILE_BYTES_MAX)
}

/// Writes the configuration as used into a crawl directory. A file with secrets is
/// readable by its owner only.
pub(crate) fn keep(dir: &CrawlDir, written: &Written) -> Result<(), StoreError> {
    let (path, text) = (dir.config(), as_used(written));
    if written.has_secrets() {
        CrawlDir::write_private(&path, text.as_bytes())
    } else {
        CrawlDir::write_atomic(&path, text.as_bytes())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn set_takes_values_bare_or_as_in_the_file() {
        let raw = |text| parse_set(text, Place::Default).unwrap().raw;
        assert_eq!(raw("crawl.tries=2"), Raw::Typed("2".into()));
        assert_eq!(raw("crawl.order=fifo"), Raw::Typed("fifo".into()));
        assert_eq!(raw("crawl.order=\"fifo\""), Raw::Typed("fifo".into()));
        let list = Raw::List(vec!["a".into(), "b".into()]);
        assert_eq!(raw("scope.include=[\"a\", \"b\"]"), list);
        assert_eq!(raw("scope.include=*x=1"), Raw::Typed("*x=1".into()));
        assert!(
            parse_set("crawl.tries", Place::Default)
                .unwrap_err()
                .contains("KEY=VALUE")
        );
    }

    #[test]
    fn layers_win_in_order() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("mine.toml");
        let tries = |n: u32| format!("[crawl]\ntries = {n}\n");
        let dir = folder.path().join("dir");
        std::fs::create_dir(&dir).unwrap();
        std::fs::write(
            dir.join(FILE_NAME),
            tries(4) + "connections = 4\nname = \"four\"\n",
        )
        .unwrap();
        std::fs::write(&config, tries(5) + "connections = 5\n").unwrap();
        let settings = [parse_set("crawl.tries=6", Place::Default).unwrap()];
        let sources = Sources {
            config: Some(&config),
            dir: Some(&dir),
            settings: &settings,
        };
        let mut problems = Problems::default();
        let meant = resolve(&load(&sources, &mut problems), Vec::new(), &mut problems);
        assert!(problems.clone().into_result().is_ok(), "{problems}");
        assert_eq!(
            (meant.engine.tries, meant.connections, &*meant.name),
            (6, 5, "four")
        );
    }

    #[test]
    fn a_preset_is_weaker_than_everything_written() {
        let folder = tempfile::tempdir().unwrap();
        let config = folder.path().join("mine.toml");
        let text = "preset = \"robot-2003\"\n[fetch]\nbody_max = \"3MiB\"\n";
        std::fs::write(&config, text).unwrap();
        let load = |settings: &[Setting], dir: Option<&Path>| {
            let mut problems = Problems::default();
            let sources = Sources {
                config: Some(&config),
                dir,
                settings,
            };
            let written = load(&sources, &mut problems);
            assert!(problems.clone().into_result().is_ok(), "{problems}");
            written
        };
        let written = load(&[], None);
        let meant = resolve(&written, Vec::new(), &mut Problems::default());
        assert_eq!((meant.connections, meant.engine.tries), (30, 1));
        assert_eq!(meant.engine.frontier.sites_max, 450);
        assert_eq!(meant.fetch.body_bytes_max, 3 << 20);
        assert_eq!(meant.engine.scope.depth_max, Some(5));
        assert_eq!(meant.engine.party_urls_max, Some(640_000));
        let place = |path| written.place(path).to_string();
        assert_eq!(place("crawl.connections"), "preset robot-2003");
        assert!(place("fetch.body_max").ends_with("mine.toml:3"));
        assert_eq!(place("crawl.retry_wait"), "default");

        let other = [parse_set("preset=polite", Place::Flag("--set".to_owned())).unwrap()];
        let meant = resolve(&load(&other, None), Vec::new(), &mut Problems::default());
        assert_eq!((meant.connections, meant.engine.tries), (16, 2));
        assert_eq!(meant.engine.scope.depth_max, None, "one preset at a time");

        // In a directory that has begun, everything is written already.
        let dir = folder.path().join("dir");
        std::fs::create_dir(&dir).unwrap();
        std::fs::write(dir.join(FILE_NAME), as_used(&written)).unwrap();
        let resumed = load(&other, Some(&dir));
        assert_eq!(resumed.preset_value().0, written.preset_value().0);
        assert_eq!(as_used(&resumed), as_used(&written));
    }

    #[test]
    fn a_named_file_must_be_there() {
        let mut problems = Problems::default();
        let sources = Sources {
            config: Some(Path::new("/nonexistent/geomi.toml")),
            ..Sources::default()
        };
        load(&sources, &mut problems);
        assert!(
            problems.to_string().contains("--config: cannot read"),
            "{problems}"
        );
    }
}
