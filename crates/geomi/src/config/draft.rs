//! The configuration as meant, while it is being put together.
//!
//! Single values are set by the table of keys; [`Draft::finish`] resolves the
//! settings that belong together and checks the rules that no single value can
//! break: who may be asked without a contact, or without a pause.

use std::net::{IpAddr, SocketAddr};
use std::path::Path;
use std::time::Duration;

use geomi_crawler::CrawlConfig;
use geomi_engine::{RobotsMode, SeedInput, SitemapMode};
use geomi_fetch::{Cidr, FetchError, Proxy, ProxyRotation, parse_override};
use geomi_frontier::{Delay, HostOrder, PageOrder};
use geomi_model::Zone;
use geomi_novelty::DropParams;
use geomi_refresh::upkeep::Budget;
use geomi_robots::product_token;
use geomi_scope::{PatternList, Requisites, Scope, ScopeConfig, ScopeError, ScopeKind};

use super::locality::Locality;
use super::place::Problems;
use super::site_draft::SiteDraft;
use super::written::Written;

/// A delay shorter than this is no pause for a server on the internet.
pub(super) const PAUSE_MIN: Duration = Duration::from_millis(100);

/// The longest file of certificate authorities; that of a whole system has 0.3 MB.
const CA_BYTES_MAX: u64 = 4 << 20;

/// A configuration in the making.
#[derive(Debug)]
pub(crate) struct Draft {
    pub(crate) crawl: CrawlConfig,
    /// The order of pages, where one was set.
    pub(crate) page_order: Option<PageOrder>,
    /// A fixed delay; `None` for the adaptive one.
    pub(crate) delay: Option<Duration>,
    pub(crate) adaptive_floor: Duration,
    pub(crate) adaptive_factor: u32,
    pub(crate) adaptive_ceiling: Option<Duration>,
    pub(crate) contact: Option<String>,
    pub(crate) user_agent: Option<String>,
    pub(crate) owns_hosts: bool,
    /// The file of the key that signs requests.
    pub(crate) signature_key_file: Option<String>,
    pub(crate) signature_agent: Option<String>,
    /// The tables of sites.
    pub(crate) sites: Vec<SiteDraft>,
}

impl Draft {
    /// Everything at the crawler's own defaults; the table sets all of it.
    pub(crate) fn new() -> Self {
        let mut crawl = CrawlConfig::new(Vec::new());
        crawl.engine.drop_params = DropParams::default();
        Self {
            crawl,
            page_order: None,
            delay: None,
            adaptive_floor: Duration::ZERO,
            adaptive_factor: 0,
            adaptive_ceiling: None,
            contact: None,
            user_agent: None,
            owns_hosts: false,
            signature_key_file: None,
            signature_agent: None,
            sites: Vec::new(),
        }
    }

    /// Resolves what belongs together, takes the seeds, and checks the whole. There
    /// may be more seeds than these, one of them on a public host.
    pub(crate) fn finish(
        mut self,
        seeds: Vec<SeedInput>,
        public: Option<&str>,
        written: &Written,
        problems: &mut Problems,
    ) -> CrawlConfig {
        self.crawl.engine.frontier.politeness.delay = match self.delay {
            Some(delay) => Delay::Fixed(delay),
            None => self.adaptive(),
        };
        self.crawl.engine.frontier.page_order = self.page_order();
        self.name_ourselves();
        self.take_key(written, problems);
        self.check_patterns(written, problems);
        self.check_robots(written, problems);
        let locality = Locality::new(&self.crawl.fetch.overrides);
        let mut hosts = seeds.iter().map(|seed| seed.url.host());
        if let Some(host) = hosts.find(|host| !locality.is_local(host)).or(public) {
            self.check_manners(host, written, problems);
        }
        self.finish_sites(written, problems);
        self.crawl.seeds = seeds;
        self.crawl
    }

    fn take_key(&mut self, written: &Written, problems: &mut Problems) {
        let Some(path) = &self.signature_key_file else {
            return;
        };
        match super::signing::signer(path, self.signature_agent.as_deref()) {
            Ok(signer) => self.crawl.fetch.signer = Some(signer),
            Err(what) => problems.add(written.place("fetch.signature_key_file"), what),
        }
    }

    /// The adaptive delay as it was set up.
    pub(super) fn adaptive(&self) -> Delay {
        Delay::Adaptive {
            floor: self.adaptive_floor,
            factor: self.adaptive_factor,
            ceiling: self.adaptive_ceiling,
        }
    }

    /// The order of pages. Depth limits and parties are about depth, which only
    /// breadth-first gets right.
    fn page_order(&self) -> PageOrder {
        let scope = &self.crawl.engine.scope;
        let is_about_depth = scope.kind == ScopeKind::Party
            || scope.depth_max.is_some()
            || self.sites.iter().any(|site| site.scope.depth_max.is_some());
        self.page_order.unwrap_or(if is_about_depth {
            PageOrder::BreadthFirst
        } else {
            PageOrder::Priority
        })
    }

    fn name_ourselves(&mut self) {
        let user_agent = self.user_agent.clone().unwrap_or_else(|| {
            let version = env!("CARGO_PKG_VERSION");
            match &self.contact {
                Some(contact) => format!("geomi/{version} (+{contact})"),
                None => format!("geomi/{version}"),
            }
        });
        if let Some(token) = product_token(&user_agent) {
            token.clone_into(&mut self.crawl.engine.agent);
        }
        self.crawl.fetch.user_agent = user_agent;
        // Seeds are checked below; this holds for what links lead to.
        self.crawl.fetch.address_policy.deny_public = self.contact.is_none();
    }

    pub(super) fn check_patterns(&self, written: &Written, problems: &mut Problems) {
        let scope = Scope::new(self.crawl.engine.scope.clone());
        for error in scope.err().into_iter().flatten() {
            problems.add(written.place(key_of(&error)), &error);
        }
        let prefer = Scope::new(ScopeConfig {
            include: self.crawl.engine.prefer.clone(),
            ..ScopeConfig::default()
        });
        for error in prefer.err().into_iter().flatten() {
            let words = error.to_string().replace("include", "prefer");
            problems.add(written.place("crawl.prefer"), words);
        }
    }

    fn check_robots(&self, written: &Written, problems: &mut Problems) {
        if self.crawl.engine.robots == RobotsMode::Ignore && !self.owns_hosts {
            problems.add(
                written.place("fetch.robots"),
                "robots.txt may be ignored only on hosts of your own: add --i-own-these-hosts if they are",
            );
        }
    }

    /// The rules for leaving our own machine and network, as a seed on this host
    /// does.
    pub(super) fn check_manners(&self, host: &str, written: &Written, problems: &mut Problems) {
        if self.contact.is_none() {
            problems.add_general(format!(
                "{host} is not on this machine or in a private range, so its owner must be able to reach you: \
                 add --contact https://example.org/about-our-crawler (a page of yours, or mailto:you@example.org)"
            ));
        }
        let pause = self.delay.unwrap_or(self.adaptive_floor);
        if pause < PAUSE_MIN {
            let key = match self.delay {
                Some(_) => "politeness.site_delay",
                None => "politeness.adaptive_floor",
            };
            problems.add(
                written.place(key),
                format!(
                    "a delay under 100ms is allowed on loopback and private addresses only, and {host} is not one: \
                     give at least \"1s\" or leave it adaptive"
                ),
            );
        }
        if self.crawl.engine.frontier.politeness.site_connections > 1 {
            problems.add(
                written.place("politeness.site_connections"),
                format!(
                    "several connections a site are allowed on loopback and private addresses only, \
                     and {host} is not one: use 1"
                ),
            );
        }
    }
}

/// The key an error of the scope is about.
fn key_of(error: &ScopeError) -> &'static str {
    match error {
        ScopeError::EmptyPattern { list }
        | ScopeError::GlobMatchesNothing { list, .. }
        | ScopeError::BadRegex { list, .. }
        | ScopeError::PatternsTooLarge { list, .. } => match list {
            PatternList::Include => "scope.include",
            PatternList::Exclude => "scope.exclude",
        },
        ScopeError::SiteName(_) => "scope.sites_denied",
        ScopeError::BadExtension { .. } => "scope.extensions_denied",
        ScopeError::BadMime { .. } => "scope.mimes_wanted",
        _ => "scope.kind",
    }
}

/// [`geomi_novelty::DEFAULT_DROP_PARAMS`] as it is written.
pub(super) const DROP_PARAMS: &str = "[\"utm_*\", \"gclid\", \"gclsrc\", \"dclid\", \"gbraid\", \"wbraid\", \"fbclid\", \
\"msclkid\", \"yclid\", \"twclid\", \"ttclid\", \"igshid\", \"mc_cid\", \"mc_eid\", \
\"_ga\", \"_gl\", \"_hsenc\", \"_hsmi\", \"mkt_tok\", \"n_media:token\", \"jsessionid\", \
\"phpsessid\", \"aspsessionid*\", \"cftoken\", \"cfid:token\", \"sid:token\", \
\"s:token\", \"session:token\", \"sessionid:token\", \"session_id:token\"]";

pub(super) fn add_drop_param(draft: &mut Draft, entry: &str) -> Result<(), String> {
    if entry == "none" {
        return Ok(());
    }
    draft
        .crawl
        .engine
        .drop_params
        .add(entry)
        .map_err(|error| error.to_string())
}

pub(super) fn set_name(draft: &mut Draft, name: &str) -> Result<(), String> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || matches!(c, '-' | '_' | '.');
    if name.is_empty() || name.starts_with('.') || !name.chars().all(is_plain) {
        return Err(format!(
            "{name:?} cannot be part of a file name: use letters, digits, `-`, `_` and `.`"
        ));
    }
    name.clone_into(&mut draft.crawl.name);
    Ok(())
}

pub(super) fn set_order(draft: &mut Draft, place: usize) {
    draft.crawl.engine.frontier.order = HostOrder::ALL[place];
}

pub(super) fn set_page_order(draft: &mut Draft, place: usize) {
    draft.page_order = PageOrder::ALL.get(place).copied();
}

/// A budget as the time between two visits of a page, on average.
pub(super) fn set_every(draft: &mut Draft, every: Duration) {
    let visits_a_day = Duration::from_hours(24).as_secs_f64() / every.as_secs_f64();
    draft.crawl.engine.plan.budget = Budget::PerPage(visits_a_day);
}

/// Keys are set in the order of the table: this one has the last word.
pub(super) fn set_requests_per_day(draft: &mut Draft, requests: Option<u64>) {
    if let Some(requests) = requests {
        draft.crawl.engine.plan.budget = Budget::PerDay(requests as f64);
    }
}

pub(super) fn set_timezone(draft: &mut Draft, name: &str) -> Result<(), String> {
    draft.crawl.engine.plan.timezone = Zone::named(name).ok_or_else(|| {
        format!(
            "{name:?} is no time zone: write a name of the IANA database such as \"Asia/Seoul\""
        )
    })?;
    Ok(())
}

pub(super) fn set_scope(draft: &mut Draft, place: usize) {
    draft.crawl.engine.scope.kind = ScopeKind::ALL[place];
}

pub(super) fn set_requisites(draft: &mut Draft, place: usize) {
    draft.crawl.engine.scope.requisites = Requisites::ALL[place];
}

pub(super) fn set_sitemaps(draft: &mut Draft, place: usize) {
    draft.crawl.engine.sitemaps =
        [SitemapMode::Robots, SitemapMode::Guess, SitemapMode::None][place];
}

pub(super) fn set_robots(draft: &mut Draft, place: usize) {
    draft.crawl.engine.robots = [RobotsMode::Respect, RobotsMode::Ignore][place];
}

pub(super) fn set_contact(draft: &mut Draft, contact: &str) -> Result<(), String> {
    let is_url = ["https://", "http://", "mailto:"]
        .iter()
        .any(|scheme| contact.len() > scheme.len() && contact.starts_with(scheme));
    if !is_url || contact.chars().any(|c| c.is_whitespace() || c.is_control()) {
        return Err(format!(
            "{contact:?} is no contact: give the URL of a page about your crawler, or mailto:you@example.org"
        ));
    }
    draft.contact = Some(contact.to_owned());
    Ok(())
}

pub(super) fn set_user_agent(draft: &mut Draft, text: &str) -> Result<(), String> {
    if text.chars().any(char::is_control) || product_token(text).is_none() {
        return Err(format!(
            "{text:?} has no name robots.txt could address: begin it like \"my-crawler/1.0\""
        ));
    }
    draft.user_agent = Some(text.to_owned());
    Ok(())
}

pub(super) fn add_resolve(draft: &mut Draft, text: &str) -> Result<(), String> {
    let rule = parse_override(text).map_err(|error| error.to_string())?;
    draft.crawl.fetch.overrides.push(rule);
    Ok(())
}

pub(super) fn add_private(draft: &mut Draft, text: &str) -> Result<(), String> {
    let policy = &mut draft.crawl.fetch.address_policy;
    if text == "all" {
        policy.allow_all = true;
        return Ok(());
    }
    let range: Cidr = text
        .parse()
        .map_err(|error| format!("{error}; write a range such as 10.0.0.0/8, or all"))?;
    policy.allow.push(range);
    Ok(())
}

/// A public name is passed over: directories of earlier versions list every
/// typed host here, and those are refused inside when they lead there.
pub(super) fn add_host(draft: &mut Draft, text: &str) -> Result<(), String> {
    let host = text
        .parse()
        .map_err(|error: FetchError| error.to_string())?;
    draft.crawl.fetch.address_policy.named_hosts.insert(host);
    Ok(())
}

pub(super) fn add_name_server(draft: &mut Draft, text: &str) -> Result<(), String> {
    let address = text
        .parse::<SocketAddr>()
        .or_else(|_| text.parse::<IpAddr>().map(|ip| SocketAddr::new(ip, 53)))
        .map_err(|_| format!("{text:?} is no address: write 192.0.2.53 or 192.0.2.53:5353"))?;
    let servers = draft.crawl.fetch.name_servers.get_or_insert_default();
    servers.push(address);
    Ok(())
}

pub(super) fn add_proxy(draft: &mut Draft, text: &str) -> Result<(), String> {
    let proxy: Proxy = text
        .parse()
        .map_err(|error: FetchError| error.to_string())?;
    draft.crawl.fetch.proxies.push(proxy);
    Ok(())
}

pub(super) fn set_proxy_rotation(draft: &mut Draft, place: usize) {
    draft.crawl.fetch.proxy_rotation = [ProxyRotation::Site, ProxyRotation::Request][place];
}

pub(super) fn set_ca_file(draft: &mut Draft, path: &str) -> Result<(), String> {
    let file = Path::new(path);
    let pem = geomi_store::read_small(file, CA_BYTES_MAX)
        .map_err(|error| format!("cannot read {path}: {error}"))?;
    let roots = geomi_fetch::parse_ca_file(file, &pem).map_err(|error| error.to_string())?;
    draft.crawl.fetch.extra_roots = roots;
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::super::keys::KEYS;
    use super::super::place::{Place, Problems};
    use super::super::written::Written;
    use super::*;

    fn finished(written: &Written, seeds: &[&str]) -> (CrawlConfig, Vec<String>) {
        let mut problems = Problems::default();
        let draft = written.apply(&mut problems);
        let seeds = seeds
            .iter()
            .map(|url| SeedInput {
                url: url.parse().unwrap(),
                topic: None,
            })
            .collect();
        let config = draft.finish(seeds, None, written, &mut problems);
        (config, problems.iter().map(str::to_owned).collect())
    }

    fn with(settings: &[(&str, &str)]) -> Written {
        let mut problems = Problems::default();
        let mut written = Written::defaults();
        for (path, text) in settings {
            written.set(
                path,
                &super::super::kind::Raw::Typed((*text).to_owned()),
                Place::Flag("test".to_owned()),
                &mut problems,
            );
        }
        assert!(problems.clone().into_result().is_ok(), "{problems}");
        written
    }

    #[test]
    fn the_defaults_of_the_table_are_those_of_the_crawler() {
        let (config, problems) = finished(&Written::defaults(), &[]);
        assert_eq!(problems, Vec::<String>::new());
        let mut expected = CrawlConfig::new(Vec::new());
        // The command line has no contact unless it is given one.
        expected.fetch.address_policy.deny_public = true;
        assert_eq!(format!("{config:#?}"), format!("{expected:#?}"));
        assert!(KEYS.len() > 40);
    }

    #[test]
    fn words_of_the_table_are_the_names_of_what_they_set() {
        for order in HostOrder::ALL {
            let (config, _) = finished(&with(&[("crawl.order", order.as_str())]), &[]);
            assert_eq!(config.engine.frontier.order, order);
        }
        for order in PageOrder::ALL {
            let (config, _) = finished(&with(&[("crawl.page_order", order.as_str())]), &[]);
            assert_eq!(config.engine.frontier.page_order, order);
        }
        for kind in ScopeKind::ALL {
            let (config, _) = finished(&with(&[("scope.kind", kind.as_str())]), &[]);
            assert_eq!(config.engine.scope.kind, kind);
        }
    }

    #[test]
    fn pages_are_visited_breadth_first_where_depth_matters() {
        let order = |settings: &[(&str, &str)]| {
            let (config, problems) = finished(&with(settings), &[]);
            assert_eq!(problems, Vec::<String>::new());
            config.engine.frontier.page_order
        };
        assert_eq!(order(&[]), PageOrder::Priority);
        assert_eq!(order(&[("scope.kind", "party")]), PageOrder::BreadthFirst);
        assert_eq!(order(&[("scope.depth", "3")]), PageOrder::BreadthFirst);
        let chosen = [("scope.kind", "party"), ("crawl.page_order", "priority")];
        assert_eq!(order(&chosen), PageOrder::Priority);
    }

    #[test]
    fn a_public_seed_needs_contact_pause_and_one_connection() {
        let rude = with(&[
            ("politeness.site_delay", "0s"),
            ("politeness.site_connections", "8"),
        ]);
        let (_, problems) = finished(&rude, &["https://example.com/"]);
        assert_eq!(problems.len(), 3, "{problems:?}");
        assert!(problems[0].contains("--contact https://"), "{problems:?}");
        let (_, problems) = finished(&rude, &["http://127.0.1.1:8080/", "http://[::1]/"]);
        assert_eq!(problems, Vec::<String>::new());
        let polite = with(&[("fetch.contact", "https://example.org/crawler")]);
        let (config, problems) = finished(&polite, &["https://example.com/"]);
        assert_eq!(problems, Vec::<String>::new());
        let agent = config.fetch.user_agent;
        assert!(agent.ends_with("(+https://example.org/crawler)"), "{agent}");
    }

    #[test]
    fn names_resolved_to_loopback_are_local() {
        let resolved = with(&[
            ("fetch.resolve", "shop.test:127.0.0.1"),
            ("politeness.site_delay", "0s"),
        ]);
        assert!(finished(&resolved, &["http://shop.test/"]).1.is_empty());
        assert_eq!(finished(&resolved, &["http://other.test/"]).1.len(), 2);
    }

    #[test]
    fn ignoring_robots_needs_a_confirmation() {
        let ignoring = with(&[("fetch.robots", "ignore")]);
        assert_eq!(finished(&ignoring, &[]).1.len(), 1);
        let owning = with(&[
            ("fetch.robots", "ignore"),
            ("fetch.i_own_these_hosts", "true"),
        ]);
        let (config, problems) = finished(&owning, &[]);
        assert!(problems.is_empty());
        assert_eq!(config.engine.robots, RobotsMode::Ignore);
    }

    #[test]
    fn patterns_are_checked_with_their_place() {
        let wrong = with(&[("scope.exclude", "re:(["), ("crawl.prefer", "re:)")]);
        let (_, problems) = finished(&wrong, &[]);
        assert_eq!(problems.len(), 2, "{problems:?}");
        assert!(problems[0].contains("exclude pattern") && problems[0].contains("test"));
        assert!(problems[1].contains("prefer pattern"), "{problems:?}");
    }

    #[test]
    fn a_plan_is_as_the_section_refresh_says() {
        let plan = |values: &[(&str, &str)]| finished(&with(values), &[]).0.engine.plan;
        assert_eq!(plan(&[]), geomi_refresh::upkeep::RefreshConfig::default());
        let weekly = plan(&[
            ("refresh.policy", "greedy"),
            ("refresh.every", "2d"),
            ("refresh.longest_gap", "30d"),
        ]);
        assert_eq!(weekly.policy, "greedy");
        assert_eq!(weekly.budget, Budget::PerPage(0.5));
        assert_eq!(weekly.longest_gap, Duration::from_hours(30 * 24));
        let seoul = plan(&[("refresh.timezone", "Asia/Seoul")]);
        assert_eq!(seoul.timezone.name(), "Asia/Seoul");
        let wrong = with(&[("refresh.timezone", "Seoul")]);
        let (_, problems) = finished(&wrong, &[]);
        assert!(problems[0].contains("no time zone"), "{problems:?}");
        let capped = plan(&[("refresh.every", "2d"), ("refresh.requests_per_day", "500")]);
        assert_eq!(capped.budget, Budget::PerDay(500.0));
    }
}
