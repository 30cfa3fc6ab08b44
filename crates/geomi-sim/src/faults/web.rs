//! The web of a history: a few sites, what is wrong with each, and how their
//! pages link.

use std::net::IpAddr;
use std::time::Duration;

use geomi_model::Timestamp;
use geomi_url::CrawlUrl;

use crate::draws::Draws;

pub(super) const SITES: usize = 9;
const PAGES: u64 = 14;
/// When a history begins.
pub(super) const START: Timestamp = Timestamp::from_secs(1_000_000);

/// The truth about a site.
#[derive(Clone, Debug)]
pub(super) struct Site {
    /// Its mean time for an answer.
    took_ms: u64,
    /// From then on nobody listens.
    dies_at: Option<Timestamp>,
    /// From when to when it answers 503, and what it asks for.
    storm: Option<(Timestamp, Timestamp, Option<Duration>)>,
    /// From when to when its name cannot be looked up.
    dns_lost: Option<(Timestamp, Timestamp)>,
    pub(super) crawl_delay: Option<Duration>,
    /// Whether its robots.txt forbids /private/.
    pub(super) is_private: bool,
    /// Its robots.txt is kept at this site.
    pub(super) robots_at: Option<usize>,
}

/// How a request ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ends {
    Answered,
    Throttled(Option<Duration>),
    Silent,
    Unreachable,
}

/// Draws the sites of a history.
pub(super) fn sites(draws: &mut Draws) -> Vec<Site> {
    (0..SITES).map(|number| site(number, draws)).collect()
}

fn site(number: usize, draws: &mut Draws) -> Site {
    let span = |draws: &mut Draws, longest_s: u64| {
        let from = START + Duration::from_secs(draws.below(60));
        (from, from + Duration::from_secs(1 + draws.below(longest_s)))
    };
    let sometimes = |times, draws: &mut Draws| draws.once_in(times).then(|| span(draws, 40));
    let dies_at = sometimes(8, draws).map(|(from, _)| from);
    let storm = sometimes(4, draws);
    let dns_lost = sometimes(5, draws);
    let asks = (!draws.once_in(3)).then(|| Duration::from_secs(2 + draws.below(15)));
    Site {
        took_ms: if draws.once_in(5) {
            6_000
        } else {
            50 + draws.below(600)
        },
        dies_at,
        storm: storm.map(|(from, to)| (from, to, asks)),
        dns_lost,
        crawl_delay: draws
            .once_in(4)
            .then(|| Duration::from_secs(2 + draws.below(3))),
        is_private: draws.once_in(2),
        robots_at: draws
            .once_in(6)
            .then(|| draws.below(SITES as u64) as usize)
            .filter(|other| *other != number),
    }
}

impl Site {
    /// How a request that starts now ends, and how long that takes.
    pub(super) fn serve(&self, now: Timestamp, draws: &mut Draws) -> (Ends, Duration) {
        let millis = |most: u64, draws: &mut Draws| Duration::from_millis(1 + draws.below(most));
        if self.dies_at.is_some_and(|dies_at| now >= dies_at) || draws.once_in(60) {
            return (Ends::Unreachable, millis(2_000, draws));
        }
        let took = millis(2 * self.took_ms, draws);
        match self.storm {
            Some((from, to, asks)) if from <= now && now < to => (Ends::Throttled(asks), took),
            _ if draws.once_in(25) => (Ends::Silent, Duration::from_secs(5)),
            _ => (Ends::Answered, took),
        }
    }

    /// Whether its name can be looked up now.
    pub(super) fn has_name(&self, now: Timestamp) -> bool {
        self.dns_lost
            .is_none_or(|(from, to)| now < from || to <= now)
    }

    /// Its robots.txt.
    pub(super) fn robots_txt(&self) -> String {
        let private = if self.is_private {
            "Disallow: /private/\n"
        } else {
            ""
        };
        let delay = self
            .crawl_delay
            .map(|delay| format!("Crawl-delay: {}\n", delay.as_secs()));
        format!("User-agent: *\n{private}{}", delay.unwrap_or_default())
    }
}

/// A page of a site; every fifth lies where robots.txt may forbid it.
pub(super) fn page(site: usize, number: u64) -> CrawlUrl {
    let folder = if number % 5 == 4 { "private/" } else { "" };
    CrawlUrl::parse(&format!("http://s{site}.test/{folder}{number}")).expect("it is a URL")
}

/// Which site and page a URL is.
pub(super) fn numbers(url: &CrawlUrl) -> (usize, u64) {
    let page = url.path_and_query().rsplit('/').next();
    let page = page.and_then(|page| page.parse().ok());
    (site_of(url.host()), page.unwrap_or(0))
}

/// The number of a site by its host.
pub(super) fn site_of(host: &str) -> usize {
    let number = host.trim_start_matches('s').trim_end_matches(".test");
    number.parse().expect("every host here has a number")
}

/// Several sites share an address, so that its limit matters.
pub(super) fn address(site: usize) -> IpAddr {
    [127, 0, 0, 1 + site as u8 / 4].into()
}

/// Where a page links to: on in its own site, and to two others.
pub(super) fn links(seed: u64, url: &CrawlUrl) -> Vec<CrawlUrl> {
    let (site, number) = numbers(url);
    let mut draws = Draws::new(seed, [site as u64, number, 7]);
    let own = [2 * number + 1, 2 * number + 2];
    let own = own.into_iter().filter(|next| *next < PAGES);
    let mut links: Vec<CrawlUrl> = own.map(|next| page(site, next)).collect();
    for _ in 0..2 {
        let other = draws.below(SITES as u64) as usize;
        links.push(page(other, draws.below(PAGES)));
    }
    links
}
