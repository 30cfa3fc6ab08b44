//! The web of a history: a test web, which says what its pages are at any
//! moment, and around it what goes wrong with each site.

use std::collections::HashMap;
use std::net::IpAddr;
use std::time::Duration;

use geomi_model::Timestamp;
use geomi_testweb::{
    ChangeMix, Content, Naming, PageId, PageState, Pages, RedirectTarget, Traits, Web, WebSpec,
};
use geomi_url::{CrawlUrl, SiteHash};

use super::trouble::{Ends, Site};
use crate::draws::Draws;

pub(super) const SITES: usize = 9;
/// When a history begins.
pub(super) const START: Timestamp = Timestamp::from_secs(1_000_000);
/// Several sites share an address, so that its limit matters.
const ADDRESSES: u32 = 3;
/// Enough of them that two lead to other sites.
const LINKS: u32 = 20;

/// A test web and what goes wrong in it.
pub(super) struct FaultyWeb {
    web: Web,
    sites: Vec<Site>,
    urls: Vec<Vec<CrawlUrl>>,
    pages: HashMap<CrawlUrl, PageId>,
    hosts: HashMap<SiteHash, usize>,
}

/// A complete answer.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Answer {
    /// 200; with validators, if so it says.
    Page(Content, bool),
    /// 304.
    NotModified,
    /// 404 or 410.
    Gone,
    /// 500.
    Failing,
    /// A redirect, and where it leads.
    Moved(Option<PageId>),
    /// A robots.txt; whoever wants it reads it when it has come.
    Robots,
}

/// A request as it will end.
#[derive(Clone, Copy, Debug)]
pub(super) struct Served {
    pub(super) ends: Ends,
    pub(super) took: Duration,
    /// The truth: what the page holds, if the answer tells.
    pub(super) holds: Option<Content>,
}

impl FaultyWeb {
    /// The web of a seed.
    pub(super) fn new(seed: u64, is_crowded: bool, draws: &mut Draws) -> Self {
        let web = Web::new(spec(seed, draws));
        let urls: Vec<Vec<CrawlUrl>> = (0..SITES as u32)
            .map(|site| {
                let pages = 0..web.pages_of(site);
                pages.map(|page| web.page_url(site, page)).collect()
            })
            .collect();
        let mut pages = HashMap::new();
        let mut hosts = HashMap::new();
        for id in web.all_pages() {
            let url = &urls[id.site as usize][id.page as usize];
            hosts.insert(url.site_hash(), id.site as usize);
            pages.insert(url.clone(), id);
        }
        let sites = urls.iter().zip(0..);
        let sites = sites.map(|(urls, number)| {
            let site = Site::drawn(number, urls, draws);
            if is_crowded && draws.once_in(2) {
                site.asking_for_an_hour()
            } else {
                site
            }
        });
        let mut sites: Vec<Site> = sites.collect();
        // One redirect and not a chain of them, which might be a circle.
        for site in 0..sites.len() {
            let keeper = sites[site].robots_at;
            if keeper.is_some_and(|keeper| sites[keeper].robots_at.is_some()) {
                sites[site].robots_at = None;
            }
        }
        Self {
            web,
            sites,
            urls,
            pages,
            hosts,
        }
    }

    /// The front page of a site.
    pub(super) fn front(&self, site: usize) -> &CrawlUrl {
        &self.urls[site][0]
    }

    /// The URL of a page.
    pub(super) fn url(&self, page: PageId) -> &CrawlUrl {
        &self.urls[page.site as usize][page.page as usize]
    }

    /// The number of a URL's site.
    pub(super) fn site_of(&self, url: &CrawlUrl) -> usize {
        self.site(url.site_hash())
    }

    /// The number of a site.
    pub(super) fn site(&self, hash: SiteHash) -> usize {
        self.hosts[&hash]
    }

    /// The number of the site of a host.
    pub(super) fn site_named(&self, host: &str) -> usize {
        let site = self.web.site_of(host);
        site.expect("every host here is one of the web") as usize
    }

    /// Where a site listens.
    pub(super) fn address(&self, site: usize) -> IpAddr {
        self.web.address_of(site as u32).into()
    }

    /// Whether the name of a site can be looked up now.
    pub(super) fn has_name(&self, site: usize, now: Timestamp) -> bool {
        self.sites[site].has_name(now)
    }

    /// Whether nothing was wrong with the site of a URL from a time until now. One
    /// that has its robots.txt elsewhere depends on others: a process leaves it
    /// alone for good where those could not be asked.
    pub(super) fn is_well(&self, url: &CrawlUrl, from: Timestamp, now: Timestamp) -> bool {
        let site = &self.sites[self.site_of(url)];
        site.robots_at.is_none() && site.is_well(from, now)
    }

    /// Whether nothing was ever wrong with the site of a URL up to now.
    pub(super) fn was_always_well(&self, url: &CrawlUrl, now: Timestamp) -> bool {
        self.is_well(url, START, now)
    }

    /// The site and number of a page.
    pub(super) fn page(&self, url: &CrawlUrl) -> Option<PageId> {
        self.pages.get(url).copied()
    }

    /// Where a page links to.
    pub(super) fn links(&self, url: &CrawlUrl) -> Vec<CrawlUrl> {
        let Some(id) = self.pages.get(url) else {
            return Vec::new();
        };
        let links = self.web.links_of(id.site, id.page);
        links.into_iter().map(|id| self.url(id).clone()).collect()
    }

    /// How a request that starts now ends. `known` is what the visitor holds, if
    /// it asks for changes only.
    pub(super) fn serve(
        &self,
        url: &CrawlUrl,
        known: Option<Content>,
        now: Timestamp,
        draws: &mut Draws,
    ) -> Served {
        let site = self.site_of(url);
        let (fails, took) = self.sites[site].serve(now, draws);
        let (ends, holds) = match (fails, self.pages.get(url)) {
            (Some(fails), _) => (fails, None),
            (None, None) => (Ends::Answered(Answer::Robots), None),
            (None, Some(id)) => self.answer(*id, known, now),
        };
        Served { ends, took, holds }
    }

    fn answer(
        &self,
        id: PageId,
        known: Option<Content>,
        now: Timestamp,
    ) -> (Ends, Option<Content>) {
        let answer = match self.web.state_at(id.site, id.page, now) {
            PageState::There(content) => {
                let has_tag = self.web.has_validators(id.site);
                let answer = if has_tag && known == Some(content) {
                    Answer::NotModified
                } else {
                    Answer::Page(content, has_tag)
                };
                return (Ends::Answered(answer), Some(content));
            }
            PageState::Busy(seconds) => {
                let wait = Duration::from_secs(seconds.into());
                return (Ends::Throttled(Some(wait)), None);
            }
            PageState::Broken(_) => return (Ends::Silent, None),
            PageState::Missing(_) => Answer::Gone,
            PageState::Failing => Answer::Failing,
            PageState::Moved(_, RedirectTarget::Page(to)) => Answer::Moved(Some(to)),
            PageState::Moved(_, RedirectTarget::Loop) => Answer::Moved(None),
        };
        (Ends::Answered(answer), None)
    }

    /// The robots.txt to which a site redirects, if it has none of its own.
    pub(super) fn robots_elsewhere(&self, site: usize) -> Option<CrawlUrl> {
        let keeper = self.robots_at(site)?;
        let url = self.front(keeper).join("/robots.txt");
        Some(url.expect("a site has a robots.txt"))
    }

    /// The site that keeps the robots.txt of a site, if that is another one.
    pub(super) fn robots_at(&self, site: usize) -> Option<usize> {
        self.sites[site].robots_at
    }

    /// The robots.txt that a site keeps now.
    pub(super) fn robots_txt(&self, site: usize, now: Timestamp) -> String {
        let usual = self.web.robots_txt_of(site as u32);
        let usual = usual.unwrap_or_else(|| "User-agent: *\n".to_owned());
        match &self.sites[site].closes {
            Some(closed) if closed.covers(now) => format!("{usual}Disallow: {}\n", closed.folder),
            _ => usual,
        }
    }

    /// Whether the robots.txt of its site forbids a page at any time.
    pub(super) fn is_ever_forbidden(&self, url: &CrawlUrl) -> bool {
        let path = url.path_and_query();
        let site = self.site_of(url);
        let keeper = &self.sites[self.robots_at(site).unwrap_or(site)];
        let closes = keeper.closes.as_ref();
        path.starts_with("/private/")
            || closes.is_some_and(|closed| path.starts_with(&closed.folder))
    }

    /// Since when the robots.txt of its site has forbidden a page; `None` if it
    /// does not.
    pub(super) fn forbidden_since(&self, url: &CrawlUrl, now: Timestamp) -> Option<Timestamp> {
        let path = url.path_and_query();
        if path.starts_with("/private/") {
            return Some(START);
        }
        let site = self.site_of(url);
        let keeper = &self.sites[self.robots_at(site).unwrap_or(site)];
        let closed = keeper.closes.as_ref()?;
        (closed.covers(now) && path.starts_with(&closed.folder)).then_some(closed.from)
    }
}

fn spec(seed: u64, draws: &mut Draws) -> WebSpec {
    let changes = if draws.once_in(2) {
        ChangeMix::shop()
    } else {
        ChangeMix::web()
    };
    WebSpec {
        seed,
        pages_per_site: Pages::Zipf { min: 6, max: 40 },
        links_per_page: LINKS,
        naming: Naming::Hosts {
            addresses: ADDRESSES,
        },
        port: 80,
        traits: Traits {
            missing: 0.04,
            failing: 0.02,
            busy: 0.02,
            redirects: 0.05,
            duplicates: 0.05,
            disallowed: 0.1,
            crawl_delay_sites: 0.25,
            crawl_delay: Duration::from_secs(2 + draws.below(3)),
            validators: 0.5,
            changes,
            query_urls: 0.2,
            ..Traits::plain()
        },
        ..WebSpec::plain(SITES as u32, 1)
    }
}

#[cfg(test)]
mod tests {
    use geomi_robots::RobotsPolicy;

    use super::*;

    #[test]
    fn robots_txt_says_what_is_forbidden_at_every_time() {
        let (mut closed, mut open) = (0, 0);
        for seed in 1..20 {
            let web = FaultyWeb::new(seed, false, &mut Draws::new(seed, [1]));
            for day in [0, 4, 9, 16] {
                let now = START + Duration::from_hours(24 * day);
                for url in web.urls.iter().flatten() {
                    let site = web.site_of(url);
                    let text = web.robots_txt(web.robots_at(site).unwrap_or(site), now);
                    let rules = RobotsPolicy::from_answer(200, text.as_bytes());
                    let is_allowed = rules.verdict("geomi", url.path_and_query()).allowed;
                    let since = web.forbidden_since(url, now);
                    assert_eq!(since.is_none(), is_allowed, "{url} {text}");
                    closed += u32::from(since.is_some_and(|since| since > START));
                    open += u32::from(is_allowed);
                }
            }
        }
        assert!(closed > 100 && open > closed, "{closed} {open}");
    }

    #[test]
    fn a_page_is_sent_again_when_it_has_changed() {
        let web = FaultyWeb::new(3, false, &mut Draws::new(3, [1]));
        let (mut same, mut changed) = (0, 0);
        for id in web
            .web
            .all_pages()
            .filter(|id| web.web.has_validators(id.site))
        {
            let (_, before) = web.answer(id, None, START);
            let later = START + Duration::from_hours(24 * 7);
            match web.answer(id, before, later) {
                (Ends::Answered(Answer::NotModified), holds) => {
                    assert_eq!(holds, before);
                    same += 1;
                }
                (Ends::Answered(Answer::Page(content, _)), holds) => {
                    assert_eq!(holds, Some(content));
                    changed += u32::from(before.is_some() && holds != before);
                }
                (_, holds) => assert_eq!(holds, None),
            }
        }
        assert!(same > 0 && changed > 0, "{same} {changed}");
    }
}
