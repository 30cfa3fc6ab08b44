//! What a person can do to a crawl. Pages and API both come here, so that they
//! cannot differ, and here it is written down who did it.

use std::path::{Path, PathBuf};
use std::time::Duration;

use geomi_crawler::remote::{self, Request, Response};
use geomi_scope::{Scope, ScopeConfig};
use geomi_url::{CrawlUrl, without_userinfo};
use schemars::JsonSchema;
use serde::Serialize;

use crate::accounts::audit::Entry;
use crate::app::{App, Order};
use crate::http::guard::Caller;
use crate::http::problem::Problem;
use crate::launch::{Begun, New, Plan, Setting};
use crate::library::{Crawl, id};
use crate::wrong::Wrong;

/// Seeds given at once.
const SEEDS_MAX: usize = 100_000;
/// Settings and patterns given at once.
const SETTINGS_MAX: usize = 1_000;
/// The longest name of a new crawl.
const NAME_MAX: usize = 100;
/// How long a running crawl may take to answer: many seeds take seconds.
const PATIENCE: Duration = Duration::from_secs(30);
/// A crawl to be started.
#[derive(Clone, Debug, Default)]
pub(crate) struct NewCrawl {
    /// Where to begin; a host alone will do.
    pub(crate) urls: Vec<String>,
    /// Name of the directory; made of the first host unless given.
    pub(crate) name: Option<String>,
    /// Values for keys, as `KEY=VALUE`.
    pub(crate) settings: Vec<String>,
    /// A whole geomi.toml.
    pub(crate) toml: Option<String>,
}

/// What became of a crawl that was started.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct Started {
    /// Its id.
    pub(crate) id: String,
    /// The command that was run.
    pub(crate) command: String,
}

/// What became of added seeds.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct SeedsTaken {
    /// Queued.
    pub(crate) added: u64,
    /// Known already.
    pub(crate) known: u64,
    /// Refused, and why.
    pub(crate) refused: Vec<RefusedSeed>,
}

/// A seed that was refused.
#[derive(Clone, Debug, Serialize, JsonSchema)]
pub(crate) struct RefusedSeed {
    /// The seed.
    pub(crate) url: String,
    /// Why.
    pub(crate) reason: String,
}

/// Writes down what was done.
pub(crate) fn note(app: &App, caller: &Caller, did: &str, to: &str) {
    let who = caller.principal.as_ref().map_or("", |known| &*known.id);
    let from = caller.address.to_string();
    app.accounts
        .audit
        .write(&Entry::new(app.now(), who, &from, did, to));
}

/// How the crawl would be started: what is shown before and run after.
pub(crate) fn plan(app: &App, caller: &Caller, new: &NewCrawl) -> Result<Plan, Problem> {
    let mut faults = Vec::new();
    let seeds = read_seeds(&new.urls, &mut faults);
    let first_host = seeds.first().map(|(_, url)| {
        let authority = url.authority();
        authority.replace(['[', ']'], "").replace(':', "-")
    });
    if new.urls.is_empty() || new.urls.len() > SETTINGS_MAX {
        faults.push(Wrong::SeedCount);
    }
    check_settings(&new.settings, &mut faults);
    let toml = new.toml.clone().filter(|toml| !toml.trim().is_empty());
    faults.extend(app.forbidden(
        caller,
        &Order {
            hosts: &hosts(&seeds),
            settings: &new.settings,
            toml: toml.as_deref(),
        },
    ));
    let dir = directory(app, new.name.as_deref(), first_host.as_deref(), &mut faults);
    if !faults.is_empty() {
        return Err(Problem::conflict(Wrong::CannotStart).with_errors(faults));
    }
    let settings = new.settings.iter();
    let settings = settings.map(|text| Setting::new(text, &*app.options.settings));
    Ok(Plan {
        seeds: seeds.into_iter().map(|(text, _)| text).collect(),
        dir,
        settings: settings.collect(),
        new: Some(New { toml }),
        refresh: None,
        is_again: false,
    })
}

/// Seeds as they are passed on, with their URLs. They lose a user name and a
/// password: no crawl uses them, and no command line or log may hold them.
fn read_seeds(urls: &[String], faults: &mut Vec<Wrong>) -> Vec<(String, CrawlUrl)> {
    let mut seeds = Vec::new();
    for text in urls {
        let text = without_userinfo(text.trim());
        match seed(&text) {
            Ok(url) => seeds.push((text.into_owned(), url)),
            Err(fault) => faults.push(Wrong::Said(format!("{text:?}: {fault}"))),
        }
    }
    seeds
}

fn hosts(seeds: &[(String, CrawlUrl)]) -> Vec<String> {
    seeds.iter().map(|(_, url)| url.host().to_owned()).collect()
}

/// A seed as typed; a host alone is one by http.
fn seed(text: &str) -> Result<CrawlUrl, String> {
    if text.starts_with('-') {
        return Err("a URL does not begin with a dash".to_owned());
    }
    let whole = if text.contains("://") {
        text.to_owned()
    } else {
        format!("http://{text}")
    };
    CrawlUrl::parse(&whole).map_err(|error| error.to_string())
}

fn check_settings(settings: &[String], faults: &mut Vec<Wrong>) {
    for setting in settings {
        // A line break would make two settings of one.
        let is_one = !setting.starts_with('-') && !setting.contains(char::is_control);
        if !is_one || !setting.contains('=') {
            faults.push(Wrong::NoSetting(setting.clone()));
        }
    }
}

/// Where a new crawl goes: the name given, which must be free, or the first
/// free one after the host.
fn directory(
    app: &App,
    name: Option<&str>,
    host: Option<&str>,
    faults: &mut Vec<Wrong>,
) -> PathBuf {
    let root = app.library.root();
    if let Some(name) = name.map(str::trim).filter(|name| !name.is_empty()) {
        let path = root.join(name);
        if !is_name(name) {
            faults.push(Wrong::CrawlName);
        } else if path.exists() {
            faults.push(Wrong::CrawlThere(name.to_owned()));
        }
        return path;
    }
    let host = host.unwrap_or("crawl");
    let numbered = (1..).map(|n| match n {
        1 => format!("geomi-{host}"),
        n => format!("geomi-{host}-{n}"),
    });
    let mut free = numbered
        .map(|name| root.join(name))
        .filter(|path| !path.exists());
    free.next().expect("numbers do not run out")
}

fn is_name(name: &str) -> bool {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "._-".contains(c);
    name.len() <= NAME_MAX
        && name != "console"
        && name.starts_with(|c: char| c.is_ascii_alphanumeric())
        && name.chars().all(is_plain)
}

/// Starts a new crawl.
pub(crate) async fn start_new(
    app: &App,
    caller: &Caller,
    new: NewCrawl,
) -> Result<Started, Problem> {
    let by = caller.clone();
    let planned = app.read(move |app| plan(app, &by, &new)).await?;
    launch(app, caller, planned).await
}

/// Starts a crawl at rest again: it resumes, or is kept fresh as it was.
pub(crate) async fn start_again(
    app: &App,
    caller: &Caller,
    crawl: &Crawl,
) -> Result<Started, Problem> {
    if crawl.is_running() {
        return Err(Problem::conflict(Wrong::Running));
    }
    let plan = Plan::again(crawl);
    if let Some(table) = plan.table().map(Path::to_owned) {
        let (is_there, table) = app.read(move |_| (table.is_file(), table)).await;
        if !is_there {
            return Err(Problem::conflict(Wrong::NoTable(table)));
        }
    }
    launch(app, caller, plan).await
}

/// Starts what was planned.
pub(crate) async fn launch(app: &App, caller: &Caller, plan: Plan) -> Result<Started, Problem> {
    if app.launcher.is_none() {
        return Err(Problem::conflict(Wrong::StartsNone));
    }
    let command = plan.command();
    let is_new = plan.new.is_some();
    let name = plan
        .dir
        .strip_prefix(app.library.root())
        .unwrap_or(&plan.dir);
    let name = name.display().to_string();
    let begun = app
        .start(move |app| app.launcher.as_ref().map(|launcher| launcher.start(&plan)))
        .await
        .transpose()?;
    app.library.forget();
    match begun {
        Some(Begun::Refused(errors)) => Err(Problem::conflict(Wrong::NotStarted).with_said(errors)),
        Some(Begun::Taken) if is_new => Err(Problem::conflict(Wrong::CrawlThere(name))),
        Some(Begun::Taken) => Err(Problem::conflict(Wrong::Running)),
        Some(Begun::Running) | None => {
            note(app, caller, "start", &command);
            Ok(Started {
                id: id::encode(&name),
                command,
            })
        }
    }
}

/// Asks a running crawl, which has to agree. No thread waits for the answer,
/// and one that is known not to answer is not asked.
pub(crate) async fn ask(crawl: &Crawl, request: Request) -> Result<Response, Problem> {
    let silent = || Problem::conflict(Wrong::Silent);
    if crawl.is_silent {
        return Err(silent());
    }
    let asked = remote::ask_async(crawl.dir.root(), &request);
    let answer = tokio::time::timeout(PATIENCE, asked).await;
    match answer.map_err(|_| silent())?? {
        None => Err(Problem::conflict(Wrong::NotRunning)),
        Some(Response::Refused { problems }) => {
            Err(Problem::conflict(Wrong::Refused).with_said(problems))
        }
        Some(response) => Ok(response),
    }
}

/// Pause, resume or stop.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Steer {
    Pause,
    Resume,
    Stop,
}

/// Steers a running crawl.
pub(crate) async fn steer(
    app: &App,
    caller: &Caller,
    crawl: &Crawl,
    how: Steer,
) -> Result<(), Problem> {
    let (request, word) = match how {
        Steer::Pause => (Request::Pause, "pause"),
        Steer::Resume => (Request::Resume, "resume"),
        Steer::Stop => (Request::Stop { now: false }, "stop"),
    };
    ask(crawl, request).await?;
    app.library.forget();
    note(app, caller, word, &crawl.name);
    Ok(())
}

/// Adds seeds to a running crawl.
pub(crate) async fn add_seeds(
    app: &App,
    caller: &Caller,
    crawl: &Crawl,
    urls: &[String],
) -> Result<SeedsTaken, Problem> {
    let mut faults = Vec::new();
    let seeds = read_seeds(urls, &mut faults);
    let order = Order {
        hosts: &hosts(&seeds),
        ..Order::default()
    };
    faults.extend(app.forbidden(caller, &order));
    let seeds: Vec<_> = seeds
        .into_iter()
        .map(|(_, url)| (url.to_string(), None))
        .collect();
    if seeds.is_empty() && faults.is_empty() || urls.len() > SEEDS_MAX {
        faults.push(Wrong::UrlCount);
    }
    if !faults.is_empty() {
        return Err(Problem::conflict(Wrong::NothingAdded).with_errors(faults));
    }
    let texts: Vec<&str> = seeds.iter().map(|(url, _)| url.as_str()).collect();
    let what = format!("{}: {}", crawl.name, texts.join(" "));
    match ask(crawl, Request::Add { seeds }).await? {
        Response::Added {
            added,
            known,
            refused,
        } => {
            note(app, caller, "add-seeds", &shortened(&what));
            let refused = refused.into_iter();
            let refused = refused.map(|(url, reason)| RefusedSeed { url, reason });
            Ok(SeedsTaken {
                added,
                known,
                refused: refused.collect(),
            })
        }
        _ => Err(Problem::conflict(Wrong::OtherAnswer)),
    }
}

fn shortened(text: &str) -> String {
    text.chars().take(500).collect()
}

/// Changes keys of a running crawl.
pub(crate) async fn set(
    app: &App,
    caller: &Caller,
    crawl: &Crawl,
    settings: Vec<String>,
) -> Result<(), Problem> {
    let mut faults = Vec::new();
    check_settings(&settings, &mut faults);
    let order = Order {
        settings: &settings,
        ..Order::default()
    };
    faults.extend(app.forbidden(caller, &order));
    if settings.is_empty() || settings.len() > SETTINGS_MAX {
        faults.push(Wrong::SettingCount);
    }
    if !faults.is_empty() {
        return Err(Problem::conflict(Wrong::NothingChanged).with_errors(faults));
    }
    let shown = settings.iter();
    let shown = shown.map(|text| Setting::new(text, &*app.options.settings));
    let shown: Vec<String> = shown.map(|one| one.shown().to_owned()).collect();
    let what = format!("{}: {}", crawl.name, shown.join(" "));
    ask(crawl, Request::Set { settings }).await?;
    note(app, caller, "set", &shortened(&what));
    Ok(())
}

/// Keeps what matches these patterns out of a running crawl.
pub(crate) async fn exclude(
    app: &App,
    caller: &Caller,
    crawl: &Crawl,
    patterns: &[String],
) -> Result<(), Problem> {
    compile(patterns)?;
    let settings = patterns
        .iter()
        .map(|pattern| format!("scope.exclude+={pattern}"));
    set(app, caller, crawl, settings.collect()).await
}

/// The patterns as rules, or everything that is wrong with them.
pub(crate) fn compile(patterns: &[String]) -> Result<Scope, Problem> {
    let mut faults = Vec::new();
    if patterns.is_empty() || patterns.len() > SETTINGS_MAX {
        faults.push(Wrong::PatternCount);
    }
    if patterns.iter().any(|pattern| pattern.trim().is_empty()) {
        faults.push(Wrong::EmptyPattern);
    }
    let config = ScopeConfig {
        exclude: patterns.to_vec(),
        ..ScopeConfig::default()
    };
    match Scope::new(config) {
        Ok(scope) if faults.is_empty() => Ok(scope),
        compiled => {
            faults.extend(
                compiled
                    .err()
                    .into_iter()
                    .flatten()
                    .map(|error| Wrong::Said(error.to_string())),
            );
            Err(Problem::conflict(Wrong::Patterns).with_errors(faults))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_stay_inside_the_root() {
        for name in ["..", ".hidden", "a/b", "-o", "console", "", "a\0b", "한글"] {
            assert!(!is_name(name), "{name:?}");
        }
        assert!(is_name("news-2026.11_a"));
    }

    #[test]
    fn a_seed_is_never_a_flag() {
        assert!(seed("--config=/etc/passwd").is_err());
        assert!(seed("example.com").is_ok());
        assert!(seed("ftp://example.com").is_err());
    }
}
