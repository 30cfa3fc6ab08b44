//! The web: from a request and a time to an answer.

use std::collections::HashMap;
use std::net::Ipv4Addr;
use std::sync::OnceLock;

use geomi_model::Timestamp;
use geomi_url::CrawlUrl;

use crate::address::nth_address;
use crate::change::History;
use crate::charset::Encoding;
use crate::dice::{Dice, Draw};
use crate::site::SiteTrait;
use crate::text::{Language, Pool};
use crate::{
    Answer, Ask, ChangeProcess, Content, Fault, FixedPage, Naming, PageState, RedirectTarget,
    SiteBehaviour, Trap, WebSpec, http_date, page,
};

/// A page of the web by its numbers.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct PageId {
    /// The site, from 0.
    pub site: u32,
    /// The page within it; 0 is the front page.
    pub page: u32,
}

/// A web as a pure function; see the crate's documentation.
///
/// Besides its pages, every site answers `/fault/` and `/fault/<name>`,
/// `/redirect/loop`, `/redirect/chain/<n>` (n redirects, then the front page)
/// and `/status/<code>`. No page links to these.
pub struct Web {
    spec: WebSpec,
    overrides: HashMap<u32, SiteBehaviour>,
    pools: [OnceLock<Pool>; Encoding::ALL.len() * 2],
    /// Whether any page may be other than [`crate::Role::Page`].
    pub(crate) has_roles: bool,
}

/// `Last-Modified` of what never changed: the first day of 2020.
const CREATED: Timestamp = Timestamp::from_secs(1_577_836_800);

impl Web {
    /// The web a specification describes.
    pub fn new(mut spec: WebSpec) -> Self {
        assert!(spec.sites > 0, "a web has at least one site");
        let traits = &spec.traits;
        let shares = [
            traits.missing,
            traits.failing,
            traits.busy,
            traits.redirects,
            traits.duplicates,
            traits.faults,
            traits.disallowed,
        ];
        Self {
            has_roles: shares.iter().any(|share| *share > 0.0),
            overrides: std::mem::take(&mut spec.site_overrides)
                .into_iter()
                .collect(),
            pools: std::array::from_fn(|_| OnceLock::new()),
            spec,
        }
    }

    /// The same web at another port.
    #[must_use]
    pub fn with_port(mut self, port: u16) -> Self {
        self.spec.port = port;
        self
    }

    /// What the web was made from; overrides are kept apart and not in it.
    pub fn spec(&self) -> &WebSpec {
        &self.spec
    }

    /// Answers a plain GET.
    pub fn answer(&self, host: &str, path_and_query: &str, at: Timestamp) -> Answer {
        let ask = Ask {
            host,
            target: path_and_query,
            ..Ask::default()
        };
        self.answer_to(&ask, at)
    }

    /// Answers a GET with all that matters of its header.
    pub fn answer_to(&self, ask: &Ask<'_>, at: Timestamp) -> Answer {
        match self.site_of(ask.host) {
            Some(site) => self.answer_of_site(site, ask, at),
            None => Answer::text(421, "no such site in this web\n"),
        }
    }

    /// The site a host names.
    pub fn site_of(&self, host: &str) -> Option<u32> {
        let own = self.spec.naming.site_of(host, self.spec.sites);
        own.or_else(|| self.wild_site(host))
    }

    /// The site that answers for every name under [`Trap::WILD`].
    fn wild_site(&self, host: &str) -> Option<u32> {
        let name = host.split_once(':').map_or(host, |(name, _)| name);
        let mut sites = self.overrides.iter();
        let (site, _) = sites.find(|(_, own)| own.trap == Some(Trap::Hosts))?;
        name.ends_with(Trap::WILD).then_some(*site)
    }

    /// The host of a site, without port.
    pub fn host_of(&self, site: u32) -> String {
        self.spec.naming.host(site)
    }

    /// The address a site listens on.
    pub fn address_of(&self, site: u32) -> Ipv4Addr {
        self.spec.naming.address(site)
    }

    /// Every address of the web, once.
    pub fn addresses(&self) -> impl Iterator<Item = Ipv4Addr> + use<> {
        (0..self.spec.naming.address_count(self.spec.sites)).map(nth_address)
    }

    /// `HOST:ADDR` for every site that is named by host; empty where sites are
    /// named by address.
    pub fn resolve_rules(&self) -> Vec<String> {
        match self.spec.naming {
            Naming::Addresses => Vec::new(),
            Naming::Hosts { .. } => (0..self.spec.sites)
                .map(|site| format!("{}:{}", self.host_of(site), self.address_of(site)))
                .collect(),
        }
    }

    /// The URL of a page.
    pub fn page_url(&self, site: u32, page: u32) -> CrawlUrl {
        self.url(site, &self.page_path(site, page))
    }

    /// The URL of any path on a site.
    pub fn url(&self, site: u32, path_and_query: &str) -> CrawlUrl {
        let host = self.host_of(site);
        let port = self.spec.port;
        CrawlUrl::parse(&format!("http://{host}:{port}{path_and_query}"))
            .expect("hosts and paths of the web make a URL")
    }

    /// The front pages of all sites.
    pub fn seeds(&self) -> Vec<CrawlUrl> {
        (0..self.spec.sites)
            .map(|site| self.page_url(site, 0))
            .collect()
    }

    /// Every page of the web, whatever its role.
    pub fn all_pages(&self) -> impl Iterator<Item = PageId> {
        (0..self.spec.sites)
            .flat_map(|site| (0..self.pages_of(site)).map(move |page| PageId { site, page }))
    }

    /// How a page changes.
    pub fn change_process(&self, site: u32, page: u32) -> ChangeProcess {
        let of = [site, page].map(u64::from);
        let mut dice = Dice::new(self.spec.seed, Draw::ChangeProcess, of);
        self.spec.traits.changes.process(&mut dice)
    }

    /// How often a page has changed up to and including a moment.
    pub fn version_at(&self, site: u32, page: u32, at: Timestamp) -> u64 {
        self.history(site, page).version_at(at)
    }

    /// The changes of a page after `from`, up to and including `to`.
    pub fn changes_between(
        &self,
        site: u32,
        page: u32,
        from: Timestamp,
        to: Timestamp,
    ) -> Vec<Timestamp> {
        self.history(site, page).changes_between(from, to)
    }

    /// Whether an answer depends on how often it was asked for.
    pub(crate) fn answers_differently_later(&self, host: &str, target: &str) -> bool {
        if self.overrides.is_empty() {
            return false;
        }
        let site = self.site_of(host);
        site.and_then(|site| self.behaviour(site))
            .is_some_and(|own| {
                let mut fixed = own.fixed.iter();
                fixed.any(|(path, page)| path == target && page.first_only.is_some())
            })
    }

    pub(crate) fn behaviour(&self, site: u32) -> Option<&SiteBehaviour> {
        if self.overrides.is_empty() {
            return None;
        }
        self.overrides.get(&site)
    }

    pub(crate) fn pool(&self, language: Language, encoding: Encoding) -> &Pool {
        let index = language as usize * Encoding::ALL.len() + encoding as usize;
        self.pools[index].get_or_init(|| Pool::new(self.spec.seed, language, encoding))
    }

    fn answer_of_site(&self, site: u32, ask: &Ask<'_>, at: Timestamp) -> Answer {
        let fixed = self.fixed_answer(site, ask);
        let mut answer = fixed
            .or_else(|| {
                let finite = self.behaviour(site)?.finite.as_ref()?;
                Some(finite.answer(ask.host, ask.target, at))
            })
            .or_else(|| self.behaviour(site)?.trap?.answer(ask.host, ask.target))
            .or_else(|| {
                let page = self.page_at(site, ask.target)?;
                Some(self.page_answer(site, page, ask, at))
            })
            .or_else(|| self.robots_answer(site, ask.target))
            .or_else(|| self.special_answer(ask.target))
            .unwrap_or_else(|| Answer::text(404, "no such page\n"));
        let is_conditional = ask.if_none_match.is_some() || ask.if_modified_since.is_some();
        let denies = || self.behaviour(site).is_some_and(|own| own.denies_change);
        if is_conditional && answer.status == 200 && denies() {
            answer = answer.not_modified();
        }
        answer.latency = self.latency_of(site);
        answer
    }

    fn fixed_answer(&self, site: u32, ask: &Ask<'_>) -> Option<Answer> {
        let mut fixed = self.behaviour(site)?.fixed.iter();
        let is_over = |page: &FixedPage| page.first_only.is_some_and(|n| ask.asked_before >= n);
        let (_, page) = fixed.find(|(path, page)| path == ask.target && !is_over(page))?;
        let answer = Answer::fixed(page);
        // One with an entity tag is not sent again to whoever has it.
        let is_known = ask.if_none_match.is_some() && answer.header("ETag").is_some();
        Some(if is_known && answer.status == 200 {
            answer.if_changed(ask, Timestamp::EPOCH)
        } else {
            answer
        })
    }

    fn page_answer(&self, site: u32, page: u32, ask: &Ask<'_>, at: Timestamp) -> Answer {
        match self.state_at(site, page, at) {
            PageState::There(content) => self.page_as_it_is(site, content, ask, at),
            PageState::Missing(status) => Answer::text(status, "no such page any more\n"),
            PageState::Failing => Answer::text(500, "it does not work\n"),
            PageState::Busy(seconds) => {
                Answer::text(503, "busy\n").with("Retry-After", seconds.to_string())
            }
            PageState::Moved(status, RedirectTarget::Page(to)) if to.site == site => {
                Answer::redirect(status, self.page_path(site, to.page))
            }
            PageState::Moved(status, RedirectTarget::Page(to)) => {
                Answer::redirect(status, self.page_url(to.site, to.page).to_string())
            }
            PageState::Moved(status, RedirectTarget::Loop) => {
                Answer::redirect(status, "/redirect/loop".to_owned())
            }
            PageState::Broken(fault) => Answer::broken(fault),
        }
    }

    fn page_as_it_is(
        &self,
        site: u32,
        Content { page, version }: Content,
        ask: &Ask<'_>,
        at: Timestamp,
    ) -> Answer {
        let traits = &self.spec.traits;
        let rendered = page::render(self, PageId { site, page }, version, at);
        let mut answer = Answer::new(200, rendered.bytes)
            .with("Content-Type", page::content_type(self.charset_of(site)));
        if ask.accepts_gzip && self.site_has(site, SiteTrait::Gzip, traits.gzip) {
            answer.body = page::gzip(&answer.body).into();
            answer = answer
                .with("Content-Encoding", "gzip")
                .with("Vary", "Accept-Encoding");
        }
        answer.chunked = self.site_has(site, SiteTrait::Chunked, traits.chunked);
        // A page that differs at every fetch cannot have a validator.
        if rendered.noisy || !self.has_validators(site) {
            return answer;
        }
        let modified = self.history(site, page).last_change(at).unwrap_or(CREATED);
        answer
            .with("ETag", format!("\"{site:x}-{page:x}-{version:x}\""))
            .with("Last-Modified", http_date::format(modified))
            .if_changed(ask, modified)
    }

    fn special_answer(&self, target: &str) -> Option<Answer> {
        if target == "/fault/" {
            return Some(fault_index());
        }
        if let Some(name) = target.strip_prefix("/fault/") {
            return Fault::from_name(name).map(Answer::broken);
        }
        if target == "/redirect/loop" {
            return Some(Answer::redirect(302, target.to_owned()));
        }
        if let Some(left) = target.strip_prefix("/redirect/chain/") {
            let left: u32 = left.parse().ok()?;
            return Some(Answer::redirect(
                302,
                match left {
                    0 | 1 => "/".to_owned(),
                    _ => format!("/redirect/chain/{}", left - 1),
                },
            ));
        }
        if let Some(code) = target.strip_prefix("/status/") {
            let code = code.parse().ok().filter(|code| (200..600).contains(code))?;
            return Some(Answer::text(code, "as you wish\n"));
        }
        if self.spec.traits.resources > 0.0 {
            return page::resource(target);
        }
        None
    }

    fn history(&self, site: u32, page: u32) -> History {
        History {
            seed: self.spec.seed,
            site,
            page,
            process: self.change_process(site, page),
        }
    }
}

fn fault_index() -> Answer {
    let mut html = String::from("<!DOCTYPE html><title>Faults</title>\n<ul>\n");
    for fault in Fault::ALL {
        let path = fault.path();
        html.extend(["<li><a href=\"", &path, "\">", fault.name(), "</a>\n"]);
    }
    html.push_str("</ul>\n");
    Answer::new(200, html).with("Content-Type", "text/html; charset=utf-8")
}
