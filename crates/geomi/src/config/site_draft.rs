//! A `[[site]]` table as meant, and the rules it must keep: those that hold for
//! the whole crawl hold for a single site as well.

use std::time::Duration;

use geomi_engine::{Credentials, RobotsMode, SiteOverride};
use geomi_frontier::Delay;
use geomi_refresh::upkeep::SitePlan;
use geomi_scope::{PatternList, Scope, ScopeConfig, ScopeError, SiteScope};
use geomi_url::{CrawlUrl, SiteTables};

use super::draft::{Draft, PAUSE_MIN};
use super::locality::Locality;
use super::place::Problems;
use super::site_keys::MATCH;
use super::written::Written;

/// A delay a table asks for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum SiteDelay {
    Fixed(Duration),
    /// By the general floor, factor and ceiling.
    Adaptive,
}

/// A table in the making.
#[derive(Debug, Default)]
pub(crate) struct SiteDraft {
    pub(crate) scope: SiteScope,
    pub(crate) delay: Option<SiteDelay>,
    pub(crate) connections: Option<usize>,
    pub(crate) pages_max: Option<u64>,
    pub(crate) traffic_percent: Option<u8>,
    pub(crate) robots: Option<RobotsMode>,
    pub(crate) plan: SitePlan,
    /// As written: a secret, or where it is found.
    pub(crate) auth: Option<String>,
    pub(crate) auth_over_http: bool,
}

impl Draft {
    /// Checks the tables and puts them into the configuration.
    pub(super) fn finish_sites(&mut self, written: &Written, problems: &mut Problems) {
        for (at, table) in self.sites.iter().enumerate() {
            check_names(table, at, written, problems);
            check_patterns(table, at, written, problems);
            self.check_site_robots(table, at, written, problems);
            self.check_site_manners(table, at, written, problems);
        }
        let adaptive = self.adaptive();
        for (at, table) in self.sites.drain(..).enumerate() {
            let credentials = credentials(&table, at, written, problems);
            self.crawl.engine.sites.push(SiteOverride {
                names: table.scope.names.clone(),
                delay: table.delay.map(|delay| match delay {
                    SiteDelay::Fixed(span) => Delay::Fixed(span),
                    SiteDelay::Adaptive => adaptive,
                }),
                connections: table.connections,
                pages_max: table.pages_max,
                traffic_percent: table.traffic_percent,
                robots: table.robots,
                credentials,
                credentials_over_http: table.auth_over_http,
            });
            self.crawl.engine.plan.sites.push(SitePlan {
                names: table.scope.names.clone(),
                ..table.plan
            });
            self.crawl.engine.scope.sites.push(table.scope);
        }
    }

    fn check_site_robots(
        &self,
        table: &SiteDraft,
        at: usize,
        written: &Written,
        problems: &mut Problems,
    ) {
        if table.robots == Some(RobotsMode::Ignore) && !self.owns_hosts {
            problems.add(
                written.site_place(at, "robots"),
                "robots.txt may be ignored only on hosts of your own: add --i-own-these-hosts if they are",
            );
        }
    }

    /// The rules for leaving our own machine and network.
    fn check_site_manners(
        &self,
        table: &SiteDraft,
        at: usize,
        written: &Written,
        problems: &mut Problems,
    ) {
        let locality = Locality::new(&self.crawl.fetch.overrides);
        let hosts = table.scope.names.iter().filter_map(|name| host(name));
        let Some(public) = hosts.into_iter().find(|host| !locality.is_local(host)) else {
            return;
        };
        let pause = table.delay.map(|delay| match delay {
            SiteDelay::Fixed(span) => span,
            SiteDelay::Adaptive => self.adaptive_floor,
        });
        if pause.is_some_and(|pause| pause < PAUSE_MIN) {
            problems.add(
                written.site_place(at, "site_delay"),
                format!(
                    "a delay under 100ms is allowed on loopback and private addresses only, and {public} is not one: \
                     give at least \"1s\" or leave it adaptive"
                ),
            );
        }
        if table.connections.is_some_and(|connections| connections > 1) {
            problems.add(
                written.site_place(at, "site_connections"),
                format!(
                    "several connections a site are allowed on loopback and private addresses only, \
                     and {public} is not one: use 1"
                ),
            );
        }
    }
}

/// The credentials of a table; only sites named in full may have some.
fn credentials(
    table: &SiteDraft,
    at: usize,
    written: &Written,
    problems: &mut Problems,
) -> Option<Credentials> {
    let text = table.auth.as_deref()?;
    let mut wrong = |what: String| problems.add(written.site_place(at, "auth"), what);
    if let Some(name) = table.scope.names.iter().find(|name| name.contains('*')) {
        wrong(format!(
            "auth is for sites named in full, and {name:?} means many: name each site it is for"
        ));
        return None;
    }
    let secret = match text.strip_prefix("env:") {
        None => text.to_owned(),
        Some(name) => {
            let Ok(value) = std::env::var(name) else {
                wrong(format!(
                    "the variable {name} is not set, or is no text: it should hold the credentials"
                ));
                return None;
            };
            value
        }
    };
    match Credentials::parse(&secret) {
        Ok(credentials) => Some(credentials),
        Err(what) => {
            wrong(what.to_owned());
            None
        }
    }
}

/// The host a name of a table stands for; `None` where it is no name.
fn host(name: &str) -> Option<String> {
    let bare = name.strip_prefix("*.").unwrap_or(name);
    // What is no name is told by the check of names.
    let url = CrawlUrl::parse(&format!("http://{bare}/")).ok()?;
    Some(url.host().to_owned())
}

fn check_names(table: &SiteDraft, at: usize, written: &Written, problems: &mut Problems) {
    let tables = SiteTables::new([table.scope.names.as_slice()]);
    for (_, error) in tables.err().into_iter().flatten() {
        problems.add(written.site_place(at, MATCH), error);
    }
}

fn check_patterns(table: &SiteDraft, at: usize, written: &Written, problems: &mut Problems) {
    let alone = SiteScope {
        names: Vec::new(),
        ..table.scope.clone()
    };
    let scope = Scope::new(ScopeConfig {
        sites: vec![alone],
        ..ScopeConfig::default()
    });
    for error in scope.err().into_iter().flatten() {
        problems.add(written.site_place(at, list_of(&error)), &error);
    }
}

/// The list of a table an error is about.
fn list_of(error: &ScopeError) -> &'static str {
    match error {
        ScopeError::EmptyPattern { list }
        | ScopeError::GlobMatchesNothing { list, .. }
        | ScopeError::BadRegex { list, .. }
        | ScopeError::PatternsTooLarge { list, .. } => match list {
            PatternList::Include => "include",
            PatternList::Exclude => "exclude",
        },
        _ => MATCH,
    }
}
