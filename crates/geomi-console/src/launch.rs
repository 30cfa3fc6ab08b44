//! New crawls: child processes of the same program.
//!
//! The words of the command are made once ([`Plan`]); they are what the console
//! shows and what runs. A child has a process group of its own, so that the
//! console can be stopped without it, and what it says goes to `run.log` in its
//! directory. It has begun when its socket answers; if it ends before that,
//! what it said is the reason.

use std::fs::{self, File};
use std::io::Read as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use geomi_crawler::remote;
use geomi_store::{CrawlDir, StoreError};

/// Where what a crawl says is kept.
pub(crate) const RUN_LOG: &str = "run.log";
/// How much of it is told when it fails.
const SAID_BYTES_MAX: u64 = 16 << 10;
/// How long a crawl may take to begin before it is believed to.
const BEGIN_MAX: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Variables that would change what the shown command does.
const NOT_INHERITED: [&str; 5] = [
    "GEOMI_OUT",
    "GEOMI_SEEDS",
    "GEOMI_SERVE",
    "GEOMI_FORMAT",
    "GEOMI_AGAIN",
];

/// A crawl to be started.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Plan {
    /// Where to begin; none to resume.
    pub(crate) seeds: Vec<String>,
    /// The crawl directory.
    pub(crate) dir: PathBuf,
    /// Values for keys.
    pub(crate) settings: Vec<String>,
    /// A geomi.toml for a new directory.
    pub(crate) toml: Option<String>,
}

impl Plan {
    /// The words after the program's name.
    pub(crate) fn words(&self) -> Vec<String> {
        let mut words = vec!["crawl".to_owned()];
        words.extend(self.seeds.iter().cloned());
        words.extend(["-o".to_owned(), self.dir.display().to_string()]);
        for setting in &self.settings {
            words.extend(["--set".to_owned(), setting.clone()]);
        }
        words
    }

    /// The command as it would be typed.
    pub(crate) fn command(&self) -> String {
        let words = self.words();
        let quoted = words.iter().map(|word| quote(word));
        quoted.fold("geomi".to_owned(), |line, word| line + " " + &word)
    }
}

/// A word as a shell reads it back.
fn quote(word: &str) -> String {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=@%+,".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', "'\\''"))
}

/// How starting a crawl went.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Begun {
    /// It is at work, or has already come to its end.
    Running,
    /// It refused what it was given: everything it said.
    Refused(Vec<String>),
}

/// Starts crawls.
#[derive(Debug)]
pub(crate) struct Launcher {
    program: PathBuf,
}

impl Launcher {
    pub(crate) fn new(program: PathBuf) -> Self {
        Self { program }
    }

    /// Starts a crawl and waits until it has begun. Blocks.
    pub(crate) fn start(&self, plan: &Plan) -> Result<Begun, StoreError> {
        let is_new = !crate::library::is_crawl(&plan.dir);
        fs::create_dir_all(&plan.dir)
            .map_err(|error| StoreError::from_io("create", &plan.dir, error))?;
        if let Some(toml) = &plan.toml {
            CrawlDir::write_atomic(&CrawlDir::new(&plan.dir).config(), toml.as_bytes())?;
        }
        let said = plan.dir.join(RUN_LOG);
        let child = self.spawn(plan, &said)?;
        let begun = wait(child, &plan.dir, &said)?;
        if is_new && matches!(begun, Begun::Refused(_)) {
            clear_away(&plan.dir);
        }
        Ok(begun)
    }

    fn spawn(&self, plan: &Plan, said: &Path) -> Result<Child, StoreError> {
        let open = || File::create(said);
        let log = open().map_err(|error| StoreError::from_io("write", said, error))?;
        let again = log
            .try_clone()
            .map_err(|error| StoreError::from_io("write", said, error))?;
        let mut command = Command::new(&self.program);
        command
            .args(plan.words())
            .stdin(Stdio::null())
            .stdout(log)
            .stderr(again)
            .process_group(0);
        for name in NOT_INHERITED {
            command.env_remove(name);
        }
        command
            .spawn()
            .map_err(|error| StoreError::from_io("run", &self.program, error))
    }
}

/// Waits until the crawl answers, or is over.
#[expect(
    clippy::disallowed_methods,
    reason = "a process that is starting has no event to wait for but its socket or its end; this runs on a thread that may block"
)]
fn wait(mut child: Child, dir: &Path, said: &Path) -> Result<Begun, StoreError> {
    let failed = |error| StoreError::from_io("wait for", dir, error);
    let mut left = BEGIN_MAX;
    loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            return Ok(ended(status, said));
        }
        // One that cannot be asked yet is asked again.
        if matches!(remote::status(dir), Ok(Some(_))) || left.is_zero() {
            break;
        }
        std::thread::sleep(LOOK_EVERY);
        left = left.saturating_sub(LOOK_EVERY);
    }
    // Somebody has to take note of its end, or it stays as a zombie.
    let waiting = std::thread::Builder::new().name("child".to_owned());
    let waited = waiting.spawn(move || child.wait());
    if let Err(error) = waited {
        tracing::warn!(%error, "nobody waits for the end of a crawl");
    }
    Ok(Begun::Running)
}

/// A crawl that is over before it was asked: refused, or so small that it is
/// done.
fn ended(status: ExitStatus, said: &Path) -> Begun {
    if matches!(status.code(), Some(0 | 3 | 4)) {
        return Begun::Running;
    }
    let mut text = String::new();
    // Without what it said there is still the code.
    let read =
        File::open(said).and_then(|file| file.take(SAID_BYTES_MAX).read_to_string(&mut text));
    let lines = text.lines();
    let errors = lines.filter_map(|line| line.strip_prefix("error: "));
    let mut errors: Vec<String> = errors.map(str::to_owned).collect();
    if errors.is_empty() || read.is_err() {
        errors.push(format!("the crawl ended at once: {status}"));
    }
    Begun::Refused(errors)
}

/// Leaves nothing of a crawl that never was.
fn clear_away(dir: &Path) {
    for name in [RUN_LOG, "geomi.toml", "lock"] {
        // What is not there need not be removed.
        let _not_there = fs::remove_file(dir.join(name));
    }
    for name in ["warc", "index/parts", "index", "visits", "frontier", ""] {
        // A folder that is not empty is somebody's, and stays.
        let _not_empty = fs::remove_dir(dir.join(name));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_shown_is_the_command_that_runs() {
        let plan = Plan {
            seeds: vec!["https://example.com/?a=b&c".to_owned()],
            dir: PathBuf::from("/data/my crawls/it's"),
            settings: vec!["crawl.max_pages=10".to_owned()],
            toml: None,
        };
        assert_eq!(
            plan.command(),
            r"geomi crawl 'https://example.com/?a=b&c' -o '/data/my crawls/it'\''s' --set crawl.max_pages=10"
        );
        assert_eq!(plan.words()[0..2], ["crawl", "https://example.com/?a=b&c"]);
    }
}
