//! What every handler is given: the parts the console is made of.

use std::fmt;
use std::net::{IpAddr, SocketAddr};
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use geomi_crawler::{Clock, CrawlConfig, SystemClock};
use geomi_model::Timestamp;
use geomi_url::CrawlUrl;
use tokio::sync::Semaphore;

use crate::ConsoleError;
use crate::accounts::{Accounts, Role};
use crate::caches::Caches;
use crate::http::guard::Caller;
use crate::http::problem::Problem;
use crate::in_flight::InFlight;
use crate::launch::{Launcher, Planner};
use crate::library::{Crawl, Library};
use crate::live::Hubs;
use crate::server::TlsFiles;
use crate::wrong::Wrong;

/// Folder of accounts and audit log, below what is served.
const FOLDER: &str = "console";
/// What operators may set, in that folder.
const RULES: &str = "operators.toml";
/// Passwords hashed at once: each takes 19 MiB and a core.
const HASHES_MAX: usize = 2;
/// Estimates at once: each takes a core, tens of megabytes and, for a large crawl, many
/// seconds. Whoever waits for one finds it made.
const ESTIMATES_MAX: usize = 1;
/// Captures unpacked at once: each takes up to 100 MiB for a moment.
const UNPACKS_MAX: usize = 2;
/// Processes that are waited for at once, until they have begun.
const STARTS_MAX: usize = 4;
/// Blocking reads at once, over all requests.
const READS_MAX: usize = 16;

/// How the configuration of a crawl is read; what a key means is not the
/// console's to know.
pub trait Settings: fmt::Debug + Send + Sync {
    /// What the crawl in a directory ran with, or everything that is wrong
    /// with it.
    fn of_crawl(&self, dir: &Path) -> Result<CrawlConfig, Vec<String>>;

    /// A geomi.toml without its secrets, for everybody but admins.
    fn redact_toml(&self, toml: &str) -> String;

    /// `KEY=VALUE` without its secret, for logs and command lines; `None` if it
    /// holds none.
    fn redact_setting(&self, setting: &str) -> Option<String>;

    /// Everything in an order that is for admins only. The file of rules, which
    /// need not exist, says what admins have opened to operators.
    fn forbidden(&self, rules: &Path, order: &Order<'_>) -> Vec<Forbidden>;
}

/// What somebody wants a crawl to do.
#[derive(Clone, Copy, Debug, Default)]
pub struct Order<'a> {
    /// Hosts of seeds.
    pub hosts: &'a [String],
    /// Settings, as `KEY=VALUE` or `KEY+=VALUE`.
    pub settings: &'a [String],
    /// A whole geomi.toml.
    pub toml: Option<&'a str>,
}

/// A part of an order that is for admins only.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Forbidden {
    /// A key.
    Key(String),
    /// A host on this machine or in a private network.
    Host(String),
    /// The file of rules cannot be used, so that nothing is open to operators.
    Rules(String),
}

/// What to serve, and how.
#[derive(Clone, Debug)]
pub struct Options {
    /// A crawl directory, or a folder of them.
    pub root: PathBuf,
    /// Where to listen.
    pub listen: SocketAddr,
    /// Certificate and key; plain HTTP without.
    pub tls: Option<TlsFiles>,
    /// Proxies in front of the console, whose word about the address of a
    /// visitor counts.
    pub proxies: Vec<IpAddr>,
    /// Host names, besides loopback and the address that is listened on, by which
    /// the console may be reached.
    pub hosts: Vec<String>,
    /// The program that runs new crawls; without one, none can be started.
    pub program: Option<PathBuf>,
    /// Who is told of alerts.
    pub webhooks: Vec<CrawlUrl>,
    /// Reads configurations.
    pub settings: Arc<dyn Settings>,
}

/// The parts, shared by all handlers.
#[derive(Clone, Debug)]
pub(crate) struct App(Arc<Parts>);

/// The parts.
#[derive(Debug)]
pub(crate) struct Parts {
    pub(crate) options: Options,
    pub(crate) clock: SystemClock,
    pub(crate) accounts: Accounts,
    pub(crate) library: Library,
    pub(crate) hubs: Hubs,
    pub(crate) launcher: Option<Launcher>,
    pub(crate) planner: Option<Planner>,
    pub(crate) caches: Caches,
    pub(crate) in_flight: InFlight,
    hashing: Arc<Semaphore>,
    estimating: Arc<Semaphore>,
    reading: Arc<Semaphore>,
    starting: Arc<Semaphore>,
    unpacking: Arc<Semaphore>,
}

impl Deref for App {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl App {
    /// Opens what is to be served.
    pub(crate) fn open(mut options: Options) -> Result<Self, ConsoleError> {
        for proxy in &mut options.proxies {
            *proxy = proxy.to_canonical();
        }
        if !options.root.is_dir() {
            return Err(ConsoleError::NoFolder(options.root));
        }
        let accounts = Accounts::open(&options.root.join(FOLDER))?;
        let launcher = options
            .program
            .clone()
            .filter(|_| !crate::library::is_crawl(&options.root))
            .map(Launcher::new);
        let planner = options.program.clone().map(Planner::new);
        Ok(Self(Arc::new(Parts {
            accounts,
            library: Library::new(&options.root),
            hubs: Hubs::default(),
            launcher,
            planner,
            caches: Caches::default(),
            in_flight: InFlight::default(),
            clock: SystemClock::default(),
            hashing: Arc::new(Semaphore::new(HASHES_MAX)),
            estimating: Arc::new(Semaphore::new(ESTIMATES_MAX)),
            reading: Arc::new(Semaphore::new(READS_MAX)),
            starting: Arc::new(Semaphore::new(STARTS_MAX)),
            unpacking: Arc::new(Semaphore::new(UNPACKS_MAX)),
            options,
        })))
    }

    /// Everything in an order that this caller may not set: admins may set
    /// everything.
    pub(crate) fn forbidden(&self, caller: &Caller, order: &Order<'_>) -> Vec<Wrong> {
        if caller.may(Role::Admin) {
            return Vec::new();
        }
        let rules = self.options.root.join(FOLDER).join(RULES);
        let forbidden = self.options.settings.forbidden(&rules, order);
        forbidden.into_iter().map(Wrong::ForAdmins).collect()
    }

    /// Now.
    pub(crate) fn now(&self) -> Timestamp {
        self.clock.now()
    }

    /// Runs what waits for a disk, away from the event loop; few at a time, so
    /// that many requests cannot take all threads.
    pub(crate) async fn read<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> T {
        self.block(&self.reading, work).await
    }

    /// The same for starting a process: however slow it is, nobody who reads
    /// waits for it.
    pub(crate) async fn start<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> T {
        self.block(&self.starting, work).await
    }

    /// The same for hashing passwords.
    pub(crate) async fn hash<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> T {
        self.block(&self.hashing, work).await
    }

    /// The same for what is estimated from all visits of a crawl.
    pub(crate) async fn estimate<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> T {
        self.block(&self.estimating, work).await
    }

    /// The same for unpacking captures.
    pub(crate) async fn unpack<T: Send + 'static>(
        &self,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> T {
        self.block(&self.unpacking, work).await
    }

    /// The permit goes with the work: a request that is given up does not end
    /// what was begun for it, so its place is not free before.
    async fn block<T: Send + 'static>(
        &self,
        at_once: &Arc<Semaphore>,
        work: impl FnOnce(&Self) -> T + Send + 'static,
    ) -> T {
        let permit = Arc::clone(at_once).acquire_owned().await;
        let permit = permit.expect("it is never closed");
        let app = self.clone();
        let done = tokio::task::spawn_blocking(move || {
            let done = work(&app);
            drop(permit);
            done
        });
        let done = done.await;
        done.expect("a panic in there is a bug, and was reported by its message")
    }

    /// The crawl of this id, as it stands.
    pub(crate) async fn crawl(&self, id: String) -> Result<Arc<Crawl>, Problem> {
        let found = self.library.get(&id, self.now()).await?;
        found.ok_or_else(|| Problem::not_found(Wrong::NoCrawl))
    }
}
