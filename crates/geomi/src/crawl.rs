//! `geomi crawl`: from what was typed to a running crawl.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use geomi_crawler::{CrawlConfig, FastClock, SeedStream};
use geomi_engine::SeedInput;

use crate::Exit;
use crate::args::{CrawlArgs, Global, Settings};
use crate::config::{self, Locality, Place, Problems, Setting, Sources, Written};
use crate::seeds_file::{self, List, Survey, Vetting};
use crate::serve;
use crate::session::{Session, tell};

/// The flag that names a list of seeds.
const FLAG: &str = "--seeds";

/// Runs the command.
pub(crate) fn run(args: &CrawlArgs, global: &Global) -> anyhow::Result<Exit> {
    let mut problems = Problems::default();
    let mut seeds = Seeds::collect(args, &mut problems);
    let dir = args.out.clone().or_else(|| seeds.directory(args));
    if dir.as_deref().is_none_or(|dir| !has_begun(dir)) && !seeds.were_given {
        problems.add_general(
            "nothing to crawl: give a URL, --seeds FILE, or -o with the directory of a crawl to resume",
        );
    }
    let settings = settings(&args.settings, global, &mut problems);
    let mut written = config::load(
        &Sources {
            config: global.config.as_deref(),
            dir: dir.as_deref(),
            settings: &settings,
        },
        &mut problems,
    );
    seeds.survey(&written, &mut problems);
    seeds.allow_hosts(&mut written);
    let typed = std::mem::take(&mut seeds.arguments);
    let public = seeds.survey.public.as_deref();
    let mut config = config::resolve_beside(&written, typed, public, &mut problems);
    config.again = args.again;
    args.console.check(&mut problems);
    problems.into_result()?;
    let dir = dir.expect("a crawl without seeds and without a directory was refused");
    let was_begun = has_begun(&dir);
    let session = match args.time_scale {
        None => Session::open(&dir, &written)?,
        Some(times) => {
            // A rest that is over too soon is for nobody's servers but one's own.
            config.fetch.address_policy.deny_public = true;
            Session::open_at(&dir, &written, Arc::new(FastClock::new(times)))?
        }
    };
    let console = match args.console.serve {
        Some(listen) => Some(serve::beside(&dir, listen, &args.console)?),
        None => None,
    };
    if let Some(console) = &console {
        serve::announce(console, global);
    }
    let has_others = was_begun || !config.seeds.is_empty();
    let (stream, listed) = seeds.stream(&config, &session).unzip();
    let (status, exit) = session.run_from(&config, stream, global)?;
    drop(console);
    tell(&status, &dir, "", global)?;
    Ok(listed.map_or(exit, |listed| listed.exit(exit, has_others)))
}

/// Variables first, then flags, then `--set`.
pub(crate) fn settings(typed: &Settings, global: &Global, problems: &mut Problems) -> Vec<Setting> {
    let (from_variable, from_flag) = sets(global, problems);
    let typed = typed.clone();
    [from_variable, typed.variables, typed.flags, from_flag].concat()
}

/// What the variable `GEOMI_SET` says, one setting a line, and what `--set`
/// says.
pub(crate) fn sets(global: &Global, problems: &mut Problems) -> (Vec<Setting>, Vec<Setting>) {
    let mut read = |texts: &mut dyn Iterator<Item = &str>, place: Place| {
        let mut settings = Vec::new();
        for text in texts {
            match config::parse_set(text, place.clone()) {
                Ok(setting) => settings.push(setting),
                Err(what) => problems.add(&place, what),
            }
        }
        settings
    };
    // A variable that is not there sets nothing.
    let variable = std::env::var("GEOMI_SET").unwrap_or_default();
    let mut lines = variable.lines().filter(|line| !line.trim().is_empty());
    let from_variable = read(&mut lines, Place::Variable("GEOMI_SET"));
    let mut flags = global.set.iter().map(String::as_str);
    let from_flag = read(&mut flags, Place::Flag("--set".to_owned()));
    (from_variable, from_flag)
}

/// Whether an earlier run left its state there.
pub(crate) fn has_begun(dir: &Path) -> bool {
    let frontier = geomi_store::CrawlDir::new(dir).frontier();
    // A folder that cannot be listed holds no crawl we could resume.
    std::fs::read_dir(frontier).is_ok_and(|mut entries| entries.next().is_some())
}

/// The seeds, by how they were given.
#[derive(Debug, Default)]
struct Seeds {
    arguments: Vec<SeedInput>,
    list: Option<List>,
    /// What is in the list, if it could be looked through.
    survey: Survey,
    /// Whether there were any, usable or not.
    were_given: bool,
}

impl Seeds {
    fn collect(args: &CrawlArgs, problems: &mut Problems) -> Self {
        let mut seeds = Self {
            were_given: !args.urls.is_empty() || args.seeds.is_some(),
            ..Self::default()
        };
        for text in &args.urls {
            match seeds_file::typed(text) {
                Ok(seed) => seeds.arguments.push(seed),
                Err(what) => {
                    let shown = geomi_url::without_userinfo(text);
                    problems.add(&Place::Flag(format!("seed {shown:?}")), what);
                }
            }
        }
        if let Some(path) = &args.seeds {
            match List::open(path) {
                Ok(list) => seeds.list = Some(list),
                Err(error) => seeds_file::cannot_read(FLAG, path, &error, problems),
            }
        }
        seeds
    }

    /// Looks through a list that can be read twice.
    fn survey(&mut self, written: &Written, problems: &mut Problems) {
        let Some(list) = self.list.as_ref().filter(|list| list.is_repeatable()) else {
            return;
        };
        let overrides = config::overrides(written);
        self.survey = list.survey(FLAG, &Locality::new(&overrides), problems);
        if self.survey.seeds == 0 && self.arguments.is_empty() && !self.survey.has_problems {
            problems.add_general(format!(
                "{} has no seeds: write one URL a line",
                list.name().display()
            ));
        }
    }

    /// A directory named after the first seed, or after the file of seeds, so
    /// that the same command finds it again.
    fn directory(&self, args: &CrawlArgs) -> Option<PathBuf> {
        if let Some(seed) = self.arguments.first() {
            let authority = seed
                .url
                .authority()
                .replace(['[', ']'], "")
                .replace(':', "-");
            return Some(PathBuf::from(format!("geomi-{authority}")));
        }
        let path = args.seeds.as_deref()?;
        let stem = path.file_name()?.to_str()?.split('.').next()?;
        let stem = if stem == "-" || stem.is_empty() {
            "crawl"
        } else {
            stem
        };
        Some(PathBuf::from(format!("geomi-{stem}")))
    }

    /// Internal hosts the user named may be at private addresses, at the ports
    /// they were named with. A public name may not: its owner decides where it
    /// leads.
    fn allow_hosts(&mut self, written: &mut Written) {
        for seed in &self.arguments {
            self.survey.internal.take(&seed.url);
        }
        let hosts = self.survey.internal.iter().map(ToString::to_string);
        written.extend("fetch.allow_hosts", hosts);
    }

    /// The list as a stream, and what will come of it.
    fn stream(
        self,
        config: &CrawlConfig,
        session: &Session,
    ) -> Option<(SeedStream, Arc<seeds_file::Outcome>)> {
        let running = session.config().clone();
        if let Some(public) = &self.survey.public {
            running.note_public(public);
        }
        let vetting = Vetting {
            running,
            overrides: config.fetch.overrides.clone(),
            allowed: config.fetch.address_policy.named_hosts.clone(),
            internal: self.survey.internal,
        };
        Some(seeds_file::stream(self.list?, vetting))
    }
}
