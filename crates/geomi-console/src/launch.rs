//! Crawls and plans: child processes of the same program.
//!
//! The words of the command are made once ([`Plan`]); they are what the console
//! shows and what runs. Every user of the machine can read the command line of a
//! process, so a setting with a secret is no part of it: it goes to the child in the
//! variable `GEOMI_SET`, and is shown without its secret. A child has a process group of its own, so that the
//! console can be stopped without it, and what it says goes to `run.log` in its
//! directory. It has begun when its socket answers; if it ends before that,
//! what it said is the reason.

use std::collections::HashSet;
use std::ffi::{OsStr, OsString};
use std::fs::{self, File};
use std::io::{ErrorKind, Read as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use geomi_crawler::remote::{self, RemoteError};
use geomi_engine::Status;
use geomi_refresh::upkeep::RefreshDrive;
use geomi_store::{CrawlDir, StoreError, open_in_place, open_regular};

use crate::accounts::hold;
use crate::app::Settings;
use crate::library::Crawl;
use crate::new_dir::NewDir;

/// Where what a crawl says is kept.
pub(crate) const RUN_LOG: &str = "run.log";
/// The same of a plan, while it is made.
const PLAN_LOG: &str = "plan.log";
/// How much of it is told when it fails.
const SAID_BYTES_MAX: u64 = 16 << 10;
/// How long a crawl may take to begin before it is believed to.
const BEGIN_MAX: Duration = Duration::from_secs(10);
const LOOK_EVERY: Duration = Duration::from_millis(50);
/// How many seconds a crawl without work may take to end before it is believed to run.
const IDLE_MAX_S: f64 = 2.0;
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
/// The variable for settings that may not be on a command line, one a line.
const SETTINGS_VARIABLE: &str = "GEOMI_SET";
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
    pub(crate) settings: Vec<Setting>,
    /// What a new directory begins with; `None` for one that is there.
    pub(crate) new: Option<New>,
    /// How a crawl is kept fresh, instead of following links.
    pub(crate) refresh: Option<Refresh>,
    /// Whether every known page is visited once more.
    pub(crate) is_again: bool,
}

/// What a new directory begins with.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct New {
    /// Its geomi.toml, if one was given.
    pub(crate) toml: Option<String>,
}

/// A value for a key.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Setting {
    /// `KEY=VALUE`.
    text: String,
    /// The same without its secret, if it holds one.
    redacted: Option<String>,
}

impl Setting {
    pub(crate) fn new(text: &str, settings: &dyn Settings) -> Self {
        Self {
            text: text.to_owned(),
            redacted: settings.redact_setting(text),
        }
    }

    /// For logs and people.
    pub(crate) fn shown(&self) -> &str {
        self.redacted.as_ref().unwrap_or(&self.text)
    }
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

    /// What visits every page of a crawl once more.
    pub(crate) fn visit_again(crawl: &Crawl) -> Self {
        Self {
            dir: crawl.dir.root().to_owned(),
            is_again: true,
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
            words.extend(self.is_again.then(|| "--again".to_owned()));
            words.extend(["-o".to_owned(), dir]);
        }
        for setting in self.settings.iter().filter(|one| one.redacted.is_none()) {
            words.extend(["--set".to_owned(), setting.text.clone()]);
        }
        words
    }

    /// The command as it would be typed, without secrets.
    pub(crate) fn command(&self) -> String {
        let secret = self
            .settings
            .iter()
            .filter_map(|one| one.redacted.as_deref());
        let secret: Vec<&str> = secret.collect();
        let begin = match &*secret.join("\n") {
            "" => "geomi".to_owned(),
            lines => format!("{SETTINGS_VARIABLE}={} geomi", quote(lines)),
        };
        let words = self.words();
        let quoted = words.iter().map(|word| quote(word));
        quoted.fold(begin, |line, word| line + " " + &word)
    }

    /// What the variable for settings holds for the child: what it holds here, and
    /// the settings with secrets. `None` leaves it as it is.
    fn variable(&self, ours: Option<String>) -> Option<String> {
        let secret = self.settings.iter().filter(|one| one.redacted.is_some());
        let secret: Vec<String> = secret.map(|one| one.text.clone()).collect();
        if secret.is_empty() {
            return None;
        }
        let lines: Vec<String> = ours.into_iter().chain(secret).collect();
        Some(lines.join("\n"))
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
    /// The name of a new crawl is taken, or somebody else is at work on the directory
    /// or starting a crawl there. Nothing was touched.
    Taken,
}

/// Starts crawls, one at a time in each directory.
#[derive(Debug)]
pub(crate) struct Launcher {
    program: PathBuf,
    busy: Busy,
}

impl Launcher {
    pub(crate) fn new(program: PathBuf) -> Self {
        Self {
            program,
            busy: Arc::default(),
        }
    }

    /// Starts a crawl and waits until it has begun. Blocks.
    pub(crate) fn start(&self, plan: &Plan) -> Result<Begun, StoreError> {
        let Some(_turn) = Turn::take(&self.busy, &plan.dir) else {
            return Ok(Begun::Taken);
        };
        let said = plan.dir.join(RUN_LOG);
        let Some(new) = &plan.new else {
            // The log is that of the process at work.
            if CrawlDir::new(&plan.dir).lock_owner()?.is_some() {
                return Ok(Begun::Taken);
            }
            return self.run(plan, create(&said)?);
        };
        let Some(mut dir) = NewDir::make(&plan.dir)? else {
            return Ok(Begun::Taken);
        };
        if let Some(toml) = &new.toml {
            dir.make_file(&CrawlDir::new(&plan.dir).config(), toml)?;
        }
        let log = dir.make_file(&said, "")?;
        let begun = self.run(plan, log)?;
        if begun == Begun::Running {
            dir.keep();
        }
        Ok(begun)
    }

    fn run(&self, plan: &Plan, log: File) -> Result<Begun, StoreError> {
        let said = plan.dir.join(RUN_LOG);
        let mut command = Command::new(&self.program);
        command.args(plan.words());
        // What is no text cannot be added to, and is none of geomi's.
        if let Some(settings) = plan.variable(std::env::var(SETTINGS_VARIABLE).ok()) {
            command.env(SETTINGS_VARIABLE, settings);
        }
        let child = spawn(command, log, &said)?;
        // One that cannot be asked yet is asked again; one that takes the
        // question and does not answer has begun, and was suspended.
        let has_begun = || match remote::status(&plan.dir) {
            Ok(Some((_, status))) => plan.new.is_some() || has_work(&status),
            Err(RemoteError::NoAnswer { source, .. }) => {
                matches!(source.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut)
            }
            _ => false,
        };
        Ok(match wait(child, &plan.dir, has_begun, ())? {
            Some(status) => ended(status, &said),
            None => Begun::Running,
        })
    }
}

/// Whether a crawl that was started again has something to do. One that has not ends in
/// a moment, which is waited for, so that what came of it can be told.
fn has_work(status: &Status) -> bool {
    status.queued > 0 || status.in_flight > 0 || status.elapsed_s > IDLE_MAX_S
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

/// Directories in which a crawl is being started, or whose plan is being made.
type Busy = Arc<Mutex<HashSet<PathBuf>>>;

/// Plans the visits of a week, one plan a crawl at a time.
#[derive(Debug)]
pub(crate) struct Planner {
    program: PathBuf,
    busy: Busy,
}

/// The right to start or plan a crawl in a directory; dropping it gives it up.
struct Turn {
    busy: Busy,
    root: PathBuf,
}

impl Turn {
    /// `None` while somebody else has it.
    fn take(busy: &Busy, root: &Path) -> Option<Self> {
        let is_free = hold(busy).insert(root.to_owned());
        is_free.then(|| Self {
            busy: Arc::clone(busy),
            root: root.to_owned(),
        })
    }
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
        let Some(turn) = Turn::take(&self.busy, &root) else {
            return Ok(Made::UnderWay);
        };
        let said = root.join(PLAN_LOG);
        let path = |path: &Path| path.display().to_string();
        let (from, to) = (path(&root), path(&dir.schedule()));
        let mut command = Command::new(&self.program);
        command.args(["refresh", "plan", &from, "-o", &to]);
        let child = spawn(command, create(&said)?, &said)?;
        let Some(status) = wait(child, &root, || false, turn)? else {
            return Ok(Made::UnderWay);
        };
        let made = match ended(status, &said) {
            Begun::Refused(errors) => Made::Refused(errors),
            Begun::Running | Begun::Taken => Made::Done,
        };
        // It is told already, and nobody looks for it.
        let _not_there = fs::remove_file(&said);
        Ok(made)
    }
}

/// A log in a crawl directory that is there, emptied. Only its owner may read one
/// that is new.
fn create(said: &Path) -> Result<File, StoreError> {
    let mut options = File::options();
    options.create(true).truncate(true).write(true).mode(0o600);
    open_in_place(&mut options, said).map_err(|error| StoreError::from_io("write", said, error))
}

/// Runs a command with what it says going to a file.
fn spawn(mut command: Command, log: File, said: &Path) -> Result<Child, StoreError> {
    let again = log
        .try_clone()
        .map_err(|error| StoreError::from_io("write", said, error))?;
    command
        .stdin(Stdio::null())
        .stdout(log)
        .stderr(again)
        .process_group(0);
    leave_out(&mut command, std::env::vars_os().map(|(name, _)| name));
    command.spawn().map_err(|error| {
        let program = Path::new(command.get_program());
        StoreError::from_io("run", program, error)
    })
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
        open_regular(said).and_then(|file| file.take(SAID_BYTES_MAX).read_to_string(&mut text));
    let lines = text.lines();
    let errors = lines.filter_map(|line| line.strip_prefix("error: "));
    let mut errors: Vec<String> = errors.map(str::to_owned).collect();
    if errors.is_empty() || read.is_err() {
        errors.push(format!("it ended at once: {status}"));
    }
    Begun::Refused(errors)
}

#[cfg(test)]
mod tests {
    use geomi_engine::RefreshStatus;

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
    fn a_log_is_the_owners_and_no_link_leads_it_elsewhere() {
        use std::os::unix::fs::{PermissionsExt as _, symlink};
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path()).unwrap();
        let precious = folder.path().join("precious");
        fs::write(&precious, "kept").unwrap();
        for log in [RUN_LOG, PLAN_LOG] {
            symlink(&precious, folder.path().join(log)).unwrap();
        }
        let plan = Plan {
            dir: folder.path().to_owned(),
            ..Plan::default()
        };
        Launcher::new("true".into()).start(&plan).unwrap_err();
        Planner::new("true".into()).plan(&dir).unwrap_err();
        assert_eq!(fs::read_to_string(&precious).unwrap(), "kept");

        let log = folder.path().join(RUN_LOG);
        fs::remove_file(&log).unwrap();
        Launcher::new("true".into()).start(&plan).unwrap();
        let mode = fs::metadata(&log).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
    }

    #[test]
    fn the_command_shown_is_the_command_that_runs() {
        let plan = Plan {
            seeds: vec!["https://example.com/?a=b&c".to_owned()],
            dir: PathBuf::from("/data/my crawls/it's"),
            settings: vec![Setting {
                text: "crawl.max_pages=10".to_owned(),
                redacted: None,
            }],
            ..Plan::default()
        };
        assert_eq!(plan.variable(Some("crawl.tries=1".to_owned())), None);
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

    #[test]
    fn a_secret_is_in_no_command_and_reaches_the_child() {
        let secret = "fetch.proxies=http://me:pw@h:80";
        let plan = Plan {
            seeds: vec!["example.com".to_owned()],
            dir: PathBuf::from("news"),
            settings: vec![Setting {
                text: secret.to_owned(),
                redacted: Some("fetch.proxies=http://(hidden)@h:80".to_owned()),
            }],
            ..Plan::default()
        };
        assert_eq!(plan.words(), ["crawl", "example.com", "-o", "news"]);
        assert_eq!(
            plan.command(),
            "GEOMI_SET='fetch.proxies=http://(hidden)@h:80' geomi crawl example.com -o news"
        );
        assert_eq!(plan.variable(None).as_deref(), Some(secret));
        let ours = plan.variable(Some("crawl.tries=1".to_owned()));
        assert_eq!(ours, Some(format!("crawl.tries=1\n{secret}")));
    }

    #[test]
    fn a_new_name_is_taken_once_and_a_running_directory_is_left_alone() {
        let folder = tempfile::tempdir().unwrap();
        let launcher = Launcher::new("false".into());
        let plan = Plan {
            dir: folder.path().join("one"),
            new: Some(New::default()),
            ..Plan::default()
        };
        let begun = launcher.start(&plan).unwrap();
        assert!(matches!(begun, Begun::Refused(_)), "{begun:?}");
        assert!(!plan.dir.exists());
        fs::create_dir(&plan.dir).unwrap();
        assert_eq!(launcher.start(&plan).unwrap(), Begun::Taken);

        let dir = CrawlDir::create(&plan.dir).unwrap();
        let owner = geomi_store::Owner {
            pid: 1,
            host: "here".to_owned(),
            started: "now".to_owned(),
        };
        let _lock = dir.lock(&owner).unwrap();
        fs::write(plan.dir.join(RUN_LOG), "at work").unwrap();
        let again = Plan { new: None, ..plan };
        assert_eq!(launcher.start(&again).unwrap(), Begun::Taken);
        let log = fs::read_to_string(again.dir.join(RUN_LOG)).unwrap();
        assert_eq!(log, "at work");
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
            discovery_per_day: None,
            discovered: 0,
            postponed: 0,
            timezone: "UTC".to_owned(),
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
