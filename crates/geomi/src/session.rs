//! One run of a crawl as this process sees it: lock, signals, progress, output,
//! exit code. `geomi crawl` and `geomi demo` differ only in what they pass in.

use std::io::{self, Write};
use std::path::Path;
use std::sync::Arc;

use geomi_crawler::{
    Clock, Control, CrawlConfig, CrawlError, Desired, NoFaults, SeedStream, Surroundings,
    SystemClock,
};
use geomi_engine::{Ending, EngineError, LogLine, Observer, Status};
use geomi_model::{Timestamp, Visit};
use geomi_store::{CrawlDir, DirLock, Owner, StoreError};

use crate::Exit;
use crate::args::{Format, Global};
use crate::config::{self, Locality, Problems, RunningConfig, Written};
use crate::progress::Progress;
use crate::report;
use crate::running::server::{Desk, Server};
use crate::signals::Listener;
use crate::terminal::{self, print, stderr_line};

/// A crawl directory that is ours to write.
#[derive(Debug)]
pub(crate) struct Session {
    dir: CrawlDir,
    clock: Arc<dyn Clock>,
    started: Timestamp,
    /// The configuration of this run.
    config: RunningConfig,
    /// That of the run before.
    previous: Option<String>,
    /// Held until the session ends.
    _lock: DirLock,
}

impl Session {
    /// Creates the directory where it is missing, takes its lock and writes the
    /// configuration as used.
    pub(crate) fn open(root: &Path, written: &Written) -> anyhow::Result<Self> {
        Self::open_at(root, written, Arc::new(SystemClock::default()))
    }

    /// The same by another clock.
    pub(crate) fn open_at(
        root: &Path,
        written: &Written,
        clock: Arc<dyn Clock>,
    ) -> anyhow::Result<Self> {
        let started = clock.now();
        let dir = CrawlDir::create(root)?;
        let lock = take_lock(&dir, started)?;
        // A file that is not there, or cannot be read, is written anew.
        let previous = std::fs::read_to_string(dir.config()).ok();
        // Written even if nothing changed: a file with secrets gets the mode it needs.
        if written.has_secrets() || previous.as_deref() != Some(&*config::as_used(written)) {
            config::keep(&dir, written)?;
        }
        Ok(Self {
            config: RunningConfig::new(dir.clone(), written.clone()),
            dir,
            clock,
            started,
            previous,
            _lock: lock,
        })
    }

    /// The configuration, which others may change while the crawl runs.
    pub(crate) const fn config(&self) -> &RunningConfig {
        &self.config
    }

    /// Runs to the end; the last status, and how to exit.
    pub(crate) fn run(
        &self,
        config: &CrawlConfig,
        global: &Global,
    ) -> anyhow::Result<(Status, Exit)> {
        self.run_from(config, None, global)
    }

    /// The same with a stream of seeds beside those of the configuration.
    pub(crate) fn run_from(
        &self,
        config: &CrawlConfig,
        seeds: Option<SeedStream>,
        global: &Global,
    ) -> anyhow::Result<(Status, Exit)> {
        let control = Control::default();
        let signals = Listener::start(control.clone())?;
        let server = self.reachable(&control, config);
        let mut watcher = Watcher {
            progress: Progress::new(global),
            lines: (global.format == Format::Jsonl).then(terminal::stdout_lines),
            control: control.clone(),
            failure: None,
        };
        let surroundings = Surroundings {
            clock: Arc::clone(&self.clock),
            control: control.clone(),
            observer: &mut watcher,
            steps: &mut NoFaults,
        };
        let outcome = geomi_crawler::run_from(config, &self.dir, surroundings, seeds);
        watcher.close();
        if let Some(error) = watcher.failure.take() {
            stderr_line!("warning: standard output was closed ({error}); the crawl was stopped");
        }
        match outcome {
            Ok(status) => {
                let by_command = server.as_ref().is_some_and(Server::was_stopped);
                let exit = exit_of(&status, &signals, by_command);
                Ok((status, exit))
            }
            Err(error) if error.is_disk_full() => {
                stderr_line!("error: {error}");
                Ok((self.disk_full(&control), Exit::DiskFull))
            }
            Err(CrawlError::Engine(error @ EngineError::Partitions { .. })) => {
                self.put_back()?;
                let mut problems = Problems::default();
                problems.add_general(error.to_string());
                Err(problems.into())
            }
            Err(error) => Err(error.into()),
        }
    }

    /// Lets other terminals reach the crawl. One that cannot be reached is
    /// still a crawl.
    fn reachable(&self, control: &Control, config: &CrawlConfig) -> Option<Server> {
        let locality = Locality::new(&config.fetch.overrides);
        let mut hosts = config.seeds.iter().map(|seed| seed.url.host());
        if let Some(public) = hosts.find(|host| !locality.is_local(host)) {
            self.config.note_public(public);
        }
        let desk = Desk::new(self.dir.clone(), control.clone(), self.config.clone());
        Server::start(desk)
            .inspect_err(|error| {
                tracing::warn!(%error, "this crawl cannot be steered from another terminal");
            })
            .ok()
    }

    /// Restores the configuration of the run before, for a run that never was.
    fn put_back(&self) -> anyhow::Result<()> {
        if let Some(previous) = &self.previous {
            // What it holds is not looked at again, so it is kept as a secret.
            CrawlDir::write_private(&self.dir.config(), previous.as_bytes())?;
        }
        Ok(())
    }

    /// The disk was full before the crawl could close its files: what it had
    /// committed is safe, and the counters are those of its last report.
    fn disk_full(&self, control: &Control) -> Status {
        Status {
            reason: Some(Ending::DiskFull),
            elapsed_s: self.clock.now().since(self.started).as_secs_f64(),
            ..control.status()
        }
    }
}

/// Prints the closing report, what else there is to say, and the last line.
/// Standard output is for data: in the formats for machines, words go to
/// standard error.
pub(crate) fn tell(
    status: &Status,
    root: &Path,
    more: &str,
    global: &Global,
) -> anyhow::Result<()> {
    if status.reason == Some(Ending::DiskFull) {
        stderr_line!("{}", room_needed(root));
    }
    let line = report::last_line_of(status, root);
    let words = if global.quiet {
        line
    } else {
        format!("{}{more}{line}", report::closing(status, root))
    };
    match global.format {
        Format::Human => print(&words)?,
        Format::Json => {
            print(&serde_json::to_string_pretty(status)?)?;
            stderr_line!("{words}");
        }
        Format::Jsonl => stderr_line!("{words}"),
        Format::Csv => unreachable!("csv was refused before"),
    }
    Ok(())
}

fn room_needed(root: &Path) -> String {
    format!(
        "the disk of {} is full: free some space and run the same command again, it goes on where it stopped",
        root.display()
    )
}

fn exit_of(status: &Status, signals: &Listener, by_command: bool) -> Exit {
    match status.reason {
        Some(Ending::SeedsFailed | Ending::NothingSaved | Ending::TooManyFailures) => Exit::Failed,
        // What is left may come later; so far the crawl brought nothing.
        Some(Ending::Incomplete) if status.counters.saved == 0 => Exit::Failed,
        Some(Ending::Incomplete | Ending::PageLimit | Ending::ByteLimit | Ending::TimeLimit) => {
            Exit::Limit
        }
        Some(Ending::DiskFull) => Exit::DiskFull,
        // `geomi stop` ends a crawl as SIGTERM does.
        Some(Ending::Stopped) if by_command => Exit::Signal(143),
        Some(Ending::Stopped) => signals.exit_code().map_or(Exit::Error, Exit::Signal),
        Some(Ending::Finished) | None => Exit::Done,
    }
}

fn owner(started: Timestamp) -> Owner {
    // Without a name the process number still says who it is.
    let host = std::fs::read_to_string("/proc/sys/kernel/hostname").unwrap_or_default();
    let host = host.trim();
    Owner {
        pid: std::process::id(),
        host: if host.is_empty() {
            "this machine"
        } else {
            host
        }
        .to_owned(),
        started: started.to_rfc3339_secs(),
    }
}

/// Becomes the only one at work on a directory.
pub(crate) fn take_lock(dir: &CrawlDir, now: Timestamp) -> anyhow::Result<DirLock> {
    dir.lock(&owner(now)).map_err(explain_lock)
}

fn explain_lock(error: StoreError) -> anyhow::Error {
    let is_locked = matches!(error, StoreError::Locked { .. });
    let error = anyhow::Error::new(error);
    if is_locked {
        return error.context("another process writes to this crawl directory: wait for it or stop it, or choose another with -o");
    }
    error
}

/// Hears of visits and statuses on the crawl's own thread.
#[derive(Debug)]
struct Watcher {
    progress: Progress,
    /// Where `--format jsonl` goes.
    lines: Option<terminal::Lines>,
    control: Control,
    /// Why standard output cannot be written to any more.
    failure: Option<io::Error>,
}

impl Watcher {
    /// Nobody reads on: there is no point in going on either.
    fn give_up(&mut self, error: io::Error) {
        self.lines = None;
        self.failure = Some(error);
        self.control.set(Desired::Stop);
    }

    fn flush(&mut self) {
        if let Some(Err(error)) = self.lines.as_mut().map(Write::flush) {
            self.give_up(error);
        }
    }

    fn close(&mut self) {
        self.progress.clear();
        self.flush();
    }
}

impl Observer for Watcher {
    fn visited(&mut self, visit: &Visit) {
        let Some(out) = &mut self.lines else { return };
        let written = serde_json::to_writer(&mut *out, &LogLine::new(None, visit))
            .map_err(io::Error::from)
            .and_then(|()| out.write_all(b"\n"));
        if let Err(error) = written {
            self.give_up(error);
        }
    }

    fn status(&mut self, status: &Status) {
        self.progress.show(status);
        self.flush();
    }
}
