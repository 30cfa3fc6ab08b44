//! `geomi serve`, and the console inside the process of a crawl (`--serve`).
//!
//! The console itself is geomi-console; here it is told what to serve, where to
//! listen and how configurations are read, and its address is printed. Words
//! go to standard error; `--format json` puts one object with the addresses on
//! standard output.

mod operators;

use std::net::{IpAddr, SocketAddr};
use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use clap::Args;
use geomi_console::{ConsoleError, Forbidden, Options, Order, Server, TlsFiles};
use geomi_crawler::CrawlConfig;
use geomi_url::CrawlUrl;
use serde_json::json;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;

use crate::Exit;
use crate::args::{Format, Global};
use crate::config::{self, Problems};
use crate::terminal::{print, stderr_line};

/// What `geomi serve --help` ends with.
pub(crate) const AFTER_HELP: &str = "\
Examples:
  geomi serve ~/crawls
  geomi serve news --listen 127.0.0.1:9000
  geomi serve /srv/crawls --listen 0.0.0.0:8600 --tls-cert cert.pem --tls-key key.pem \\
    --host crawler.example.org

The first start prints a link that makes the first admin; it works once. Crawls that are
started in the console are processes of their own and go on when it ends. Requests to
another host than localhost, the address listened on and those given with --host get 421.
Exit codes: 0 stopped by a signal, 1 error, 2 usage.";

/// Where the console listens unless told otherwise.
pub(crate) const LISTEN: &str = "127.0.0.1:8600";

/// Arguments of `geomi serve`.
#[derive(Debug, Args)]
pub(crate) struct ServeArgs {
    /// A crawl directory, or a folder with crawls in it
    #[arg(value_name = "DIR|ROOT", default_value = ".")]
    root: PathBuf,
    /// Address and port to listen on
    #[arg(
        long,
        value_name = "ADDR",
        default_value = LISTEN,
        env = "GEOMI_LISTEN",
        hide_env_values = true
    )]
    listen: SocketAddr,
    /// Certificate in PEM, with those up to the root; needs --tls-key
    #[arg(long, value_name = "FILE", requires = "tls_key")]
    tls_cert: Option<PathBuf>,
    /// Key of the certificate in PEM
    #[arg(long, value_name = "FILE", requires = "tls_cert")]
    tls_key: Option<PathBuf>,
    /// Address of a proxy in front, whose X-Forwarded-For and -Proto count; repeatable
    #[arg(long, value_name = "IP")]
    proxy: Vec<IpAddr>,
    /// Host name by which the console is reached, besides localhost and the address; repeatable
    #[arg(
        long,
        value_name = "NAME",
        env = "GEOMI_HOST",
        hide_env_values = true,
        value_delimiter = ','
    )]
    host: Vec<String>,
    /// Listen beyond this machine without TLS: passwords cross the network in the clear
    #[arg(long)]
    plain_http: bool,
    /// URL that is told of alerts: ended, budget-spent, stalled, failing, disk-low; repeatable
    #[arg(long, value_name = "URL")]
    webhook: Vec<String>,
}

/// Runs the command.
pub(crate) fn run(args: &ServeArgs, global: &Global) -> anyhow::Result<Exit> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).context("cannot listen for signals")?;
    let tls = tls_files(args.tls_cert.as_ref(), args.tls_key.as_ref());
    let is_agreed = tls.is_some() || !args.proxy.is_empty() || args.plain_http;
    if !is_agreed && !args.listen.ip().is_loopback() {
        return Err(Problems::one(format!(
            "{} is beyond this machine, and passwords would cross the network in the clear: give --tls-cert and --tls-key, --proxy, or --plain-http to accept it",
            args.listen
        ))
        .into());
    }
    let program = std::env::current_exe().context("cannot find this program")?;
    let server = start(Options {
        root: args.root.clone(),
        listen: args.listen,
        tls,
        proxies: args.proxy.clone(),
        hosts: args.host.clone(),
        program: Some(program),
        webhooks: webhooks(&args.webhook)?,
        settings: Arc::new(Configurations),
    })?;
    announce(&server, global);
    if global.format != Format::Human {
        let told = json!({ "url": server.url(), "first_admin": server.first_link() });
        print(&told.to_string())?;
    }
    // Any of them will do: crawls are processes of their own and go on.
    signals.forever().next();
    Ok(Exit::Done)
}

fn webhooks(texts: &[String]) -> anyhow::Result<Vec<CrawlUrl>> {
    let mut problems = Problems::default();
    let mut urls = Vec::new();
    for text in texts {
        match CrawlUrl::parse(text) {
            Ok(url) => urls.push(url),
            Err(error) => problems.add_general(format!("--webhook {text:?}: {error}")),
        }
    }
    problems.into_result()?;
    Ok(urls)
}

fn tls_files(certificate: Option<&PathBuf>, key: Option<&PathBuf>) -> Option<TlsFiles> {
    Some(TlsFiles {
        certificate: certificate?.clone(),
        key: key?.clone(),
    })
}

/// Flags of commands that serve the console of their crawl while they run. The
/// help of a crawl is long: it has `--serve` alone. The others are in the guide,
/// and in what is said where they are needed.
#[derive(Debug, Default, Args)]
pub(crate) struct BesideArgs {
    /// Serve the web console of this crawl while it runs [default ADDR: 127.0.0.1:8600]
    #[arg(
        long,
        value_name = "ADDR",
        num_args = 0..=1,
        default_missing_value = LISTEN,
        env = "GEOMI_SERVE",
        hide_env_values = true
    )]
    pub(crate) serve: Option<SocketAddr>,
    /// Certificate of --serve in PEM, with those up to the root
    #[arg(long, value_name = "FILE", requires = "serve_tls_key", hide = true)]
    serve_tls_cert: Option<PathBuf>,
    /// Key of that certificate in PEM
    #[arg(long, value_name = "FILE", requires = "serve_tls_cert", hide = true)]
    serve_tls_key: Option<PathBuf>,
    /// Host name by which --serve is reached, besides localhost and the address; repeatable
    #[arg(
        long,
        value_name = "NAME",
        env = "GEOMI_SERVE_HOST",
        hide_env_values = true,
        value_delimiter = ',',
        hide = true
    )]
    serve_host: Vec<String>,
    /// Let --serve listen beyond this machine without TLS: passwords cross the network in the clear
    #[arg(long, hide = true)]
    serve_plain_http: bool,
}

impl BesideArgs {
    /// What is wrong with them, before anything is begun.
    pub(crate) fn check(&self, problems: &mut Problems) {
        let Some(listen) = self.serve.filter(|listen| !listen.ip().is_loopback()) else {
            return;
        };
        if self.serve_tls_cert.is_none() && !self.serve_plain_http {
            problems.add_general(format!(
                "--serve {listen} is beyond this machine, and passwords would cross the network in the clear: give --serve-tls-cert and --serve-tls-key, or --serve-plain-http to accept it"
            ));
        }
    }
}

/// The console of one crawl, in the process that runs it.
pub(crate) fn beside(dir: &Path, listen: SocketAddr, args: &BesideArgs) -> anyhow::Result<Server> {
    start(Options {
        root: dir.to_owned(),
        listen,
        tls: tls_files(args.serve_tls_cert.as_ref(), args.serve_tls_key.as_ref()),
        proxies: Vec::new(),
        hosts: args.serve_host.clone(),
        program: None,
        webhooks: Vec::new(),
        settings: Arc::new(Configurations),
    })
}

fn start(options: Options) -> anyhow::Result<Server> {
    geomi_console::start(options).map_err(|error| match error {
        ConsoleError::NoFolder(_) | ConsoleError::Tls { .. } => {
            Problems::one(error.to_string()).into()
        }
        error => error.into(),
    })
}

/// Says where the console is.
pub(crate) fn announce(server: &Server, global: &Global) {
    if !global.quiet {
        stderr_line!("console: {}", server.url());
    }
    // Without it nobody could ever log in, however quiet it shall be.
    if let Some(link) = server.first_link() {
        stderr_line!("make the first admin with this link, which works once:\n  {link}");
    }
}

/// Configurations as the command line reads them.
#[derive(Debug)]
struct Configurations;

impl geomi_console::Settings for Configurations {
    fn of_crawl(&self, dir: &Path) -> Result<CrawlConfig, Vec<String>> {
        let mut problems = Problems::default();
        let config = config::of_crawl(dir, &mut problems);
        match problems.into_result() {
            Ok(()) => Ok(config),
            Err(problems) => Err(problems.iter().map(ToString::to_string).collect()),
        }
    }

    fn redact_toml(&self, toml: &str) -> String {
        config::redacted(toml)
    }

    fn redact_setting(&self, setting: &str) -> Option<String> {
        config::redact_setting(setting)
    }

    fn forbidden(&self, rules: &Path, order: &Order<'_>) -> Vec<Forbidden> {
        operators::forbidden(rules, order)
    }
}
