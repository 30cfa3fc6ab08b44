//! Crawls and plans: child processes of the same program.
//!
//! The words of the command are made once ([`Plan`]); they are what the console
//! shows and what runs. A child has a process group of its own, so that the
//! console can be stopped without it, and what it says goes to `run.log` in its
//! directory. It has begun when its socket answers; if it ends before that,
//! what it said is the reason.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use geomi_crawler::RefreshDrive;
use geomi_crawler::remote::{self, RemoteError};
use geomi_store::{CrawlDir, StoreError};

use crate::accounts::hold;
use crate::library::Crawl;

/// Where what a crawl says is kept.
pub(crate) const RUN_LOG: &str = "run.log";
/// The same of a plan, while it is made.
const PLAN_LOG: &str = "plan.log";
/// How much of it is told when it fails.
const SAID_BYTES_MAX: u64 = 16 << 10;
/// How long a crawl may take to begin before it is believed to.
const BEGIN_MAX: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// Variables that would change what the shown command does. Those of keys, such
/// as a contact, are the environment that every crawl of the console is to have.
const NOT_INHERITED: [&str; 6] = [
    "GEOMI_OUT",
    "GEOMI_SEEDS",
    "GEOMI_SERVE",
    "GEOMI_FORMAT",
    "GEOMI_AGAIN",
    "GEOMI_TIME_SCALE",
];
/// How those begin that the program makes of the flags of commands run here.
const NOT_INHERITED_PREFIXES: [&str; 2] = ["GEOMI_REFRESH_RUN_", "GEOMI_REFRESH_PLAN_"];

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
    /// How a crawl is kept fresh, instead of following links.
    pub(crate) refresh: Option<Refresh>,
}

/// How a crawl is kept fresh.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Refresh {
    /// What decides when a page is due.
    pub(crate) drive: Drive,
    /// Whether it ends when what is due has been visited.
    pub(crate) once: bool,
}

/// What decides when a page is due.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Drive {
    /// The policy of its geomi.toml.
    Policy,
    /// Rounds.
    Rounds,
    /// A table of visits.
    Table(PathBuf),
}

impl Plan {
    /// What goes on with what a crawl did last.
    pub(crate) fn again(crawl: &Crawl) -> Self {
        let last = crawl.status.as_ref();
        let refresh = last.and_then(|status| status.refresh.as_ref());
        Self {
            dir: crawl.dir.root().to_owned(),
            refresh: refresh.map(|refresh| Refresh {
                drive: match refresh.drive {
                    RefreshDrive::Plan => Drive::Policy,
                    RefreshDrive::Rounds => Drive::Rounds,
                    // A run that did not say which table it followed is taken to have
                    // followed the crawl's own, as every run does that began here.
                    RefreshDrive::Table => Drive::Table(match &refresh.table {
                        Some(table) => crawl.dir.root().join(table),
                        None => crawl.dir.schedule(),
                    }),
                },
                once: refresh.once,
            }),
            ..Self::default()
        }
    }

    /// The table that is to be followed.
    pub(crate) fn table(&self) -> Option<&Path> {
        match &self.refresh.as_ref()?.drive {
            Drive::Policy | Drive::Rounds => None,
            Drive::Table(path) => Some(path),
        }
    }

    /// The words after the program's name.
    pub(crate) fn words(&self) -> Vec<String> {
        let dir = self.dir.display().to_string();
        let mut words = Vec::new();
        if let Some(refresh) = &self.refresh {
            words.extend(["refresh", "run"].map(str::to_owned));
            words.push(dir);
            words.extend(refresh.flags());
        } else {
            words.push("crawl".to_owned());
            words.extend(self.seeds.iter().cloned());
            words.extend(["-o".to_owned(), dir]);
        }
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

impl Refresh {
    fn flags(&self) -> Vec<String> {
        let mut flags = match &self.drive {
            Drive::Policy => Vec::new(),
            Drive::Rounds => ["--mode", "periodic"].map(str::to_owned).to_vec(),
            Drive::Table(path) => vec!["--schedule".to_owned(), path.display().to_string()],
        };
        if self.once {
            flags.push("--once".to_owned());
        }
        flags
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
        let child = spawn(&self.program, &plan.words(), &said)?;
        // One that cannot be asked yet is asked again; one that takes the
        // question and does not answer has begun, and was suspended.
        let has_begun = || match remote::status(&plan.dir) {
            Ok(status) => status.is_some(),
            Err(RemoteError::NoAnswer { source, .. }) => {
                matches!(source.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
            }
            Err(_) => false,
        };
        let begun = match wait(child, &plan.dir, has_begun, ())? {
            Some(status) => ended(status, &said),
            None => Begun::Running,
        };
        if is_new && matches!(begun, Begun::Refused(_)) {
            clear_away(&plan.dir);
        }
        Ok(begun)
    }
}

/// How making a plan went.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum Made {
    /// It is there.
    Done,
    /// It takes longer, and goes on.
    UnderWay,
    /// It could not be made: everything that was said.
    Refused(Vec<String>),
}

/// Directories whose plan is being made.
type Busy = Arc<Mutex<HashSet<PathBuf>>>;

/// Plans the visits of a week, one plan a crawl at a time.
#[derive(Debug)]
pub(crate) struct Planner {
    program: PathBuf,
    busy: Busy,
}

/// The right to plan a crawl; dropping it gives it up.
struct Turn {
    busy: Busy,
    root: PathBuf,
}

impl Drop for Turn {
    fn drop(&mut self) {
        hold(&self.busy).remove(&self.root);
    }
}

impl Planner {
    pub(crate) fn new(program: PathBuf) -> Self {
        Self {
            program,
            busy: Arc::default(),
        }
    }

    /// Whether a plan of this crawl is being made.
    pub(crate) fn is_busy(&self, dir: &CrawlDir) -> bool {
        hold(&self.busy).contains(dir.root())
    }

    /// Plans the coming week into the crawl's table and waits a while for it.
    /// Blocks.
    pub(crate) fn plan(&self, dir: &CrawlDir) -> Result<Made, StoreError> {
        let root = dir.root().to_owned();
        if !hold(&self.busy).insert(root.clone()) {
            return Ok(Made::UnderWay);
        }
        let turn = Turn {
            busy: Arc::clone(&self.busy),
            root: root.clone(),
        };
        let said = root.join(PLAN_LOG);
        let path = |path: &Path| path.display().to_string();
        let (from, to) = (path(&root), path(&dir.schedule()));
        let words = ["refresh", "plan", &from, "-o", &to].map(str::to_owned);
        let child = spawn(&self.program, &words, &said)?;
        let Some(status) = wait(child, &root, || false, turn)? else {
            return Ok(Made::UnderWay);
        };
        let made = match ended(status, &said) {
            Begun::Running => Made::Done,
            Begun::Refused(errors) => Made::Refused(errors),
        };
        // It is told already, and nobody looks for it.
        let _not_there = fs::remove_file(&said);
        Ok(made)
    }
}

/// Runs the program with what it says going to a file.
fn spawn(program: &Path, words: &[String], said: &Path) -> Result<Child, StoreError> {
    let failed = |error| StoreError::from_io("write", said, error);
    let log = File::create(said).map_err(failed)?;
    let again = log.try_clone().map_err(failed)?;
    let mut command = Command::new(program);
    command
        .args(words)
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(again)
        .process_group(0);
    leave_out(&mut command, std::env::vars_os().map(|(name, _)| name));
    command
        .spawn()
        .map_err(|error| StoreError::from_io("run", program, error))
}

/// Keeps from a child those of our variables that would have it do something
/// else than its words say.
fn leave_out(command: &mut Command, ours: impl Iterator<Item = OsString>) {
    for name in ours.filter(|name| decides(name)) {
        command.env_remove(name);
    }
}

/// Whether a variable would change what the shown command does.
fn decides(name: &OsStr) -> bool {
    // A name that is not text is none of ours.
    name.to_str().is_some_and(|name| {
        NOT_INHERITED.contains(&name)
            || NOT_INHERITED_PREFIXES
                .iter()
                .any(|prefix| name.starts_with(prefix))
    })
}

/// Waits until a child is over, or has begun, or long enough: its end, where
/// that is what came. What is `held` is let go when it ends, whenever that is.
#[expect(
    clippy::disallowed_methods,
    reason = "a process that is starting has no event to wait for but its socket or its end; this runs on a thread that may block"
)]
fn wait(
    mut child: Child,
    dir: &Path,
    has_begun: impl Fn() -> bool,
    held: impl Send + 'static,
) -> Result<Option<ExitStatus>, StoreError> {
    let failed = |error| StoreError::from_io("wait for", dir, error);
    let mut left = BEGIN_MAX;
    loop {
        if let Some(status) = child.try_wait().map_err(failed)? {
            return Ok(Some(status));
        }
        if has_begun() || left.is_zero() {
            break;
        }
        std::thread::sleep(LOOK_EVERY);
        left = left.saturating_sub(LOOK_EVERY);
    }
    // Somebody has to take note of its end, or it stays as a zombie.
    let waiting = std::thread::Builder::new().name("child".to_owned());
    let waited = waiting.spawn(move || {
        let ended = child.wait();
        drop(held);
        ended
    });
    if let Err(error) = waited {
        tracing::warn!(%error, "nobody waits for the end of a child");
    }
    Ok(None)
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
        errors.push(format!("it ended at once: {status}"));
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
    use geomi_crawler::{RefreshStatus, Status};

    use super::*;

    #[test]
    fn a_plan_that_cannot_be_made_says_why_and_blocks_no_other() {
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path()).unwrap();
        let refuses = Planner::new("false".into());
        for _ in 0..2 {
            let made = refuses.plan(&dir).unwrap();
            assert!(matches!(made, Made::Refused(_)), "{made:?}");
        }
        let planner = Planner::new("/not/there".into());
        planner.plan(&dir).unwrap_err();
        assert!(!planner.is_busy(&dir));
        assert_eq!(Planner::new("true".into()).plan(&dir).unwrap(), Made::Done);
    }

    #[test]
    fn the_command_shown_is_the_command_that_runs() {
        let plan = Plan {
            seeds: vec!["https://example.com/?a=b&c".to_owned()],
            dir: PathBuf::from("/data/my crawls/it's"),
            settings: vec!["crawl.max_pages=10".to_owned()],
            ..Plan::default()
        };
        assert_eq!(
            plan.command(),
            r"geomi crawl 'https://example.com/?a=b&c' -o '/data/my crawls/it'\''s' --set crawl.max_pages=10"
        );
        assert_eq!(plan.words()[0..2], ["crawl", "https://example.com/?a=b&c"]);
        let follow = Plan {
            dir: PathBuf::from("news"),
            refresh: Some(Refresh {
                drive: Drive::Table(PathBuf::from("news/schedule.csv")),
                once: false,
            }),
            ..Plan::default()
        };
        let command = "geomi refresh run news --schedule news/schedule.csv";
        assert_eq!(follow.command(), command);
    }

    /// The command that starts a crawl again which was last kept fresh so.
    fn again(drive: RefreshDrive, once: bool, table: Option<&str>) -> String {
        let refresh = RefreshStatus {
            drive,
            table: table.map(str::to_owned),
            once,
            policy: "clock".to_owned(),
            pages: 7,
            requests_per_day: 1.0,
            next_due: None,
        };
        let status = Status {
            refresh: Some(refresh),
            ..Status::default()
        };
        Plan::again(&Crawl::sample("news", None, status)).command()
    }

    #[test]
    fn a_crawl_that_was_kept_fresh_goes_on_so() {
        let crawled = Crawl::sample("news", None, Status::default());
        assert_eq!(Plan::again(&crawled).command(), "geomi crawl -o news");
        let run = "geomi refresh run news";
        assert_eq!(again(RefreshDrive::Plan, false, None), run);
        let rounds = format!("{run} --mode periodic");
        assert_eq!(again(RefreshDrive::Rounds, false, None), rounds);
    }

    #[test]
    fn a_run_that_was_to_end_ends_again() {
        let run = "geomi refresh run news";
        let once = format!("{run} --once");
        assert_eq!(again(RefreshDrive::Plan, true, None), once);
        let rounds = format!("{run} --mode periodic --once");
        assert_eq!(again(RefreshDrive::Rounds, true, None), rounds);
        let table = format!("{run} --schedule /tmp/edited.csv --once");
        let edited = Some("/tmp/edited.csv");
        assert_eq!(again(RefreshDrive::Table, true, edited), table);
    }

    #[test]
    fn the_table_that_was_followed_is_followed_again() {
        let run = "geomi refresh run news --schedule";
        let edited = Some("/tmp/edited.csv");
        let elsewhere = format!("{run} /tmp/edited.csv");
        assert_eq!(again(RefreshDrive::Table, false, edited), elsewhere);
        let own = format!("{run} news/schedule.csv");
        let inside = Some("schedule.csv");
        assert_eq!(again(RefreshDrive::Table, false, inside), own);
        // As of a version that did not say.
        assert_eq!(again(RefreshDrive::Table, false, None), own);
    }

    #[test]
    fn no_variable_changes_what_the_command_says() {
        let ours = [
            "GEOMI_REFRESH_RUN_ONCE",
            "GEOMI_REFRESH_RUN_MODE",
            "GEOMI_REFRESH_RUN_LEARN",
            "GEOMI_REFRESH_PLAN_BUDGET",
            "GEOMI_SERVE",
            "GEOMI_CONTACT",
            "PATH",
        ];
        let mut command = Command::new("geomi");
        leave_out(&mut command, ours.iter().map(OsString::from));
        let left_out: HashSet<&OsStr> = command.get_envs().map(|(name, _)| name).collect();
        let expected = ours[..5].iter().map(OsStr::new).collect();
        assert_eq!(left_out, expected);
    }
}
