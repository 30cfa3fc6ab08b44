//! Runs the program as a person would: by its path, in a folder of its own.

#![allow(dead_code, reason = "each file of tests uses what it needs")]

pub(crate) mod console;

use std::collections::BTreeMap;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};
use std::sync::Arc;

use geomi_model::Timestamp;
use geomi_store::{CrawlDir, segment, visits};
use geomi_testweb::{ServerOptions, ServerThread, Web, WebSpec, WebTime};
use rustls::ServerConfig;
use rustls::pki_types::PrivateKeyDer;
use tempfile::TempDir;

/// Where the time of a web begins whose days pass in seconds: a midnight.
pub(crate) const START: Timestamp = Timestamp::from_secs(20_500 * 86_400);

/// Serves a web in which so many seconds pass in one.
pub(crate) fn serve_fast(spec: WebSpec, speed: u32) -> ServerThread {
    let options = ServerOptions {
        time: WebTime::From {
            start: START,
            speed: f64::from(speed),
        },
        ..ServerOptions::default()
    };
    ServerThread::start(Web::new(spec), options).unwrap()
}

/// A certificate for these names: how a server shows it, and as PEM.
pub(crate) fn identity(names: &[&str]) -> (Arc<ServerConfig>, String) {
    let names: Vec<String> = names.iter().map(|name| (*name).to_owned()).collect();
    let made = rcgen::generate_simple_self_signed(names).unwrap();
    let key = PrivateKeyDer::try_from(made.signing_key.serialize_der()).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(vec![made.cert.der().clone()], key)
        .unwrap();
    (Arc::new(config), made.cert.pem())
}

/// A folder to work in, without anybody's configuration.
pub(crate) struct Workplace {
    folder: TempDir,
}

/// What a command did.
#[derive(Debug)]
pub(crate) struct Done {
    pub(crate) code: Option<i32>,
    pub(crate) out: String,
    pub(crate) err: String,
}

impl Workplace {
    pub(crate) fn new() -> Self {
        Self {
            folder: tempfile::tempdir().unwrap(),
        }
    }

    pub(crate) fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub(crate) fn write(&self, name: &str, text: &str) {
        std::fs::write(self.path(name), text).unwrap();
    }

    pub(crate) fn read(&self, name: &str) -> String {
        std::fs::read_to_string(self.path(name)).unwrap()
    }

    /// The program, ready to be started here.
    pub(crate) fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(env!("CARGO_BIN_EXE_geomi"));
        command.args(arguments);
        if arguments.first() == Some(&"crawl") && arguments.len() > 2 {
            // Tests count requests; guessed sitemaps have tests of their own.
            command.args(["--set", "scope.sitemaps=robots"]);
        }
        command.current_dir(self.folder.path()).stdin(Stdio::null());
        for (name, _) in std::env::vars_os() {
            if name.to_string_lossy().starts_with("GEOMI_") {
                command.env_remove(name);
            }
        }
        command
    }

    pub(crate) fn geomi(&self, arguments: &[&str]) -> Done {
        self.command(arguments).output().unwrap().into()
    }

    /// Kills the program once it has told so many lines of standard output:
    /// `kill` is SIGKILL.
    pub(crate) fn kill_after(&self, lines: usize, arguments: &[&str]) {
        let mut program = self
            .command(arguments)
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let out = BufReader::new(program.stdout.take().unwrap());
        assert_eq!(out.lines().take(lines).count(), lines);
        program.kill().unwrap();
        program.wait().unwrap();
    }

    /// How often each page of a crawl directory is stored.
    pub(crate) fn stored(&self, name: &str) -> BTreeMap<String, u32> {
        let dir = CrawlDir::new(self.path(name));
        let mut stored = BTreeMap::new();
        for segment in segment::list(&dir).unwrap() {
            for visit in visits::read_visits(&segment.table(&dir)).unwrap() {
                let visit = visit.unwrap();
                if visit.capture.is_some() && !visit.is_robots {
                    *stored.entry(visit.url.to_string()).or_default() += 1;
                }
            }
        }
        stored
    }

    pub(crate) fn exists(&self, name: &str) -> bool {
        Path::new(&self.path(name)).exists()
    }
}

impl From<Output> for Done {
    fn from(output: Output) -> Self {
        Self {
            code: output.status.code(),
            out: String::from_utf8(output.stdout).unwrap(),
            err: String::from_utf8(output.stderr).unwrap(),
        }
    }
}

impl Done {
    /// Asserts the exit code and that standard error says each of these.
    #[track_caller]
    pub(crate) fn fails(&self, code: i32, said: &[&str]) {
        assert_eq!(self.code, Some(code), "{self:#?}");
        for words in said {
            assert!(self.err.contains(words), "no {words:?} in\n{}", self.err);
        }
    }

    /// The last line of standard output.
    pub(crate) fn last_line(&self) -> &str {
        self.out.lines().last().unwrap_or("")
    }
}
