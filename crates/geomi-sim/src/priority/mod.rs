//! Priorities side by side: how soon a crawl has the pages that matter.
//!
//! Every rule crawls the same web, whose page rank is known, from the same seeds,
//! without delays; what is measured is the share of all page rank among the first
//! pages visited. The queues of a site, its lanes and the order of sites are those
//! of the frontier, and so are the prioritizer and the table of importance. Pages
//! are spelt alike, so that nothing but depth and links can tell them apart.

mod graph;

use std::collections::VecDeque;
use std::time::Duration;

use geomi_frontier::{
    Action, Addresses, Config, Delay, Entry, Features, Frontier, FrontierId, HostOrder, Importance,
    Known, Lease, Politeness, Prioritizer, Resolved, Settlement, SiteSignal, SiteState, Timing,
    Work,
};
use geomi_model::{LinkKind, Timestamp};
use geomi_url::CrawlUrl;

use graph::Graph;

/// Where the curve has its points: shares of all pages.
pub const SHARES: [f64; 6] = [0.01, 0.02, 0.05, 0.1, 0.2, 0.5];

/// The rules that are compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Rule {
    /// First come, first served, over all sites.
    BreadthFirst,
    /// The best that can be: by page rank, known beforehand.
    Oracle,
    /// The frontier, all URLs alike.
    Plain,
    /// The prioritizer without importance.
    Depth,
    /// The prioritizer as it is, when a URL is found.
    Found,
    /// The same, and URLs that wait are promoted.
    Promoted,
    /// The same, and sites with URLs of high priority go first.
    PromotedSites,
}

impl Rule {
    /// All of them.
    pub const ALL: [Self; 7] = [
        Self::BreadthFirst,
        Self::Plain,
        Self::Depth,
        Self::Found,
        Self::Promoted,
        Self::PromotedSites,
        Self::Oracle,
    ];

    /// Its name in a table.
    pub const fn name(self) -> &'static str {
        match self {
            Self::BreadthFirst => "breadth-first",
            Self::Oracle => "oracle",
            Self::Plain => "sites in turn",
            Self::Depth => "without importance",
            Self::Found => "when found",
            Self::Promoted => "promoted",
            Self::PromotedSites => "promoted, sites by priority",
        }
    }
}

/// What a web is like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Web {
    /// Where the draws begin.
    pub seed: u64,
    /// Pages in all.
    pub pages: u32,
    /// Sites in all; the front pages of a tenth of them are seeds.
    pub sites: u32,
}

/// For each rule, the share of page rank among the first pages, by [`SHARES`].
pub fn compare(web: Web, prioritizer: Prioritizer) -> Vec<(Rule, [f64; SHARES.len()])> {
    let graph = Graph::new(web.seed, web.pages, web.sites);
    let seeds: Vec<u32> = graph.front.iter().copied().step_by(10).collect();
    Rule::ALL
        .into_iter()
        .map(|rule| {
            let visited = match rule {
                Rule::BreadthFirst => breadth_first(&graph, &seeds),
                Rule::Oracle => oracle(&graph),
                _ => Crawl::new(&graph, rule, prioritizer).run(&seeds),
            };
            (rule, curve(&graph, &visited))
        })
        .collect()
}

fn curve(graph: &Graph, visited: &[u32]) -> [f64; SHARES.len()] {
    SHARES.map(|share| {
        let first = (graph.rank.len() as f64 * share) as usize;
        let pages = visited.iter().take(first);
        pages.map(|page| graph.rank[*page as usize]).sum()
    })
}

fn breadth_first(graph: &Graph, seeds: &[u32]) -> Vec<u32> {
    let mut seen = vec![false; graph.links.len()];
    let mut queue: VecDeque<u32> = seeds.iter().copied().collect();
    for seed in seeds {
        seen[*seed as usize] = true;
    }
    let mut visited = Vec::new();
    while let Some(page) = queue.pop_front() {
        visited.push(page);
        for link in &graph.links[page as usize] {
            if !std::mem::replace(&mut seen[*link as usize], true) {
                queue.push_back(*link);
            }
        }
    }
    visited
}

fn oracle(graph: &Graph) -> Vec<u32> {
    let mut pages: Vec<u32> = (0..graph.rank.len() as u32).collect();
    let rank = |page: &u32| graph.rank[*page as usize];
    pages.sort_by(|a, b| rank(b).total_cmp(&rank(a)));
    pages
}

/// What a page is to the crawl.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Page {
    New,
    Waits,
    Visited,
}

/// A crawl through the real frontier.
struct Crawl<'a> {
    graph: &'a Graph,
    rule: Rule,
    prioritizer: Prioritizer,
    frontier: Frontier,
    addresses: Addresses,
    importance: Importance,
    pages: Vec<Page>,
    urls: Vec<CrawlUrl>,
    now: Timestamp,
    visited: Vec<u32>,
}

impl<'a> Crawl<'a> {
    fn new(graph: &'a Graph, rule: Rule, mut prioritizer: Prioritizer) -> Self {
        let politeness = Politeness {
            delay: Delay::Fixed(Duration::ZERO),
            ..Politeness::default()
        };
        let config = Config {
            politeness,
            order: match rule {
                Rule::PromotedSites => HostOrder::Priority,
                _ => HostOrder::RoundRobin,
            },
            ask_robots: false,
            front_len_max: usize::MAX,
            memory_len_max: usize::MAX,
            sites_max: usize::MAX,
            ..Config::default()
        };
        if rule == Rule::Depth {
            prioritizer.importance = 0.0;
        }
        let url = |page: usize| {
            let text = format!("http://s{:06}.test/{page:08}", graph.site[page]);
            CrawlUrl::parse(&text).expect("a made-up URL is one")
        };
        Self {
            graph,
            rule,
            prioritizer,
            frontier: Frontier::new(FrontierId::default(), config),
            addresses: Addresses::new(),
            importance: Importance::new(graph.links.len() / 4),
            pages: vec![Page::New; graph.links.len()],
            urls: (0..graph.links.len()).map(url).collect(),
            now: Timestamp::from_secs(1_000_000),
            visited: Vec::new(),
        }
    }

    fn run(mut self, seeds: &[u32]) -> Vec<u32> {
        for seed in seeds {
            self.enqueue(*seed, 0, 1);
        }
        loop {
            match self.frontier.poll(self.now, &mut self.addresses) {
                Action::Lease(lease) => self.answer(lease),
                Action::Wait(Some(later)) => self.now = later,
                Action::Wait(None) => return self.visited,
                Action::Refill { .. } => unreachable!("all of it is in memory"),
            }
        }
    }

    fn answer(&mut self, lease: Lease) {
        let Work::Page(entry, _) = lease.work().clone() else {
            let [.., a, b] = lease.site().0.to_be_bytes();
            let resolved = Resolved::Address {
                addr: [10, 0, a, b].into(),
                until: self.now + Duration::from_hours(24_000),
                is_public: false,
            };
            self.frontier.settle_resolve(lease, resolved, self.now);
            return;
        };
        let page = page_of(&entry);
        let done = if self.pages[page as usize] == Page::Visited {
            // It was promoted, and this is its old place.
            Settlement::NotAsked
        } else {
            self.visit(page, entry.depth);
            Settlement::Done(self.timing(), SiteSignal::Fine)
        };
        self.frontier
            .settle(lease, done, &mut self.addresses, self.now);
    }

    fn timing(&self) -> Timing {
        Timing {
            ended: self.now,
            took: Duration::from_millis(1),
            rtt: Some(Duration::from_millis(1)),
            connect: None,
        }
    }

    fn visit(&mut self, page: u32, depth: u16) {
        self.now = self.now + Duration::from_millis(1);
        self.pages[page as usize] = Page::Visited;
        self.visited.push(page);
        let links = &self.graph.links[page as usize];
        let hash = self.urls[page as usize].hash64();
        let share = self.importance.visited(hash, links.len());
        for link in links {
            self.link(*link, depth + 1, share);
        }
    }

    fn link(&mut self, link: u32, depth: u16, share: u32) {
        let hash = self.urls[link as usize].hash64();
        let credit = self.importance.give(hash, share);
        let priority = match self.rule {
            Rule::Plain => 2,
            _ => self.priority(depth, self.importance.of(credit.cash)),
        };
        match self.pages[link as usize] {
            Page::New => self.enqueue(link, depth, priority),
            Page::Waits if self.promotes() && credit.has_doubled => {
                let before = match self.importance.known(hash) {
                    Known::Waits(before) => before,
                    Known::Unknown => self.priority(depth, 0.0),
                    Known::Done => 0,
                };
                if priority < before {
                    self.enqueue(link, depth, priority);
                }
            }
            Page::Waits | Page::Visited => {}
        }
    }

    fn promotes(&self) -> bool {
        matches!(self.rule, Rule::Promoted | Rule::PromotedSites)
    }

    fn priority(&self, depth: u16, importance: f32) -> u8 {
        self.prioritizer.priority(&Features {
            depth,
            path_segments: 1,
            chars: 28,
            has_query: false,
            kind: LinkKind::Anchor,
            importance,
            site_success: 1.0,
            traffic: None,
            change: None,
            preferred: false,
        })
    }

    fn enqueue(&mut self, page: u32, depth: u16, priority: u8) {
        self.pages[page as usize] = Page::Waits;
        let url = self.urls[page as usize].clone();
        self.importance.queued(url.hash64(), priority);
        if !self.frontier.is_open(url.site_hash()) {
            let state = SiteState::new(url.site());
            self.frontier.open_site(state, self.now, self.now);
        }
        let entry = Entry {
            seed: page,
            depth,
            ..crate::entry::entry(url, priority)
        };
        self.frontier.admit(entry, self.now);
        // Nothing is written here: the chunks of a commit are thrown away.
        self.frontier.take_appends().for_each(drop);
        drop(self.frontier.take_saves());
    }
}

/// Here the number of a seed is that of the page.
const fn page_of(entry: &Entry) -> u32 {
    entry.seed
}

#[cfg(test)]
mod tests {
    use super::*;

    const WEB: Web = Web {
        seed: 1,
        pages: 20_000,
        sites: 200,
    };

    #[test]
    fn promotion_finds_what_matters_sooner_than_the_order_of_finding() {
        let curves = compare(WEB, Prioritizer::default());
        let of = |rule: Rule| curves.iter().find(|(known, _)| *known == rule).unwrap().1;
        let tenth = SHARES.iter().position(|share| *share > 0.09).unwrap();
        let (promoted, found) = (of(Rule::Promoted)[tenth], of(Rule::Found)[tenth]);
        let (plain, best) = (of(Rule::Plain)[tenth], of(Rule::Oracle)[tenth]);
        assert!(promoted > plain * 1.05, "{promoted:.3} and {plain:.3}");
        assert!(promoted > found, "{promoted:.3} and {found:.3}");
        assert!(promoted < best);
        for (rule, curve) in &curves {
            assert!(curve.is_sorted(), "{rule:?}");
        }
    }

    #[test]
    fn every_page_that_can_be_found_is_visited_once() {
        let graph = Graph::new(3, 2_000, 20);
        let seeds = [graph.front[0]];
        let reachable = breadth_first(&graph, &seeds).len();
        for rule in [Rule::Plain, Rule::Depth, Rule::Found, Rule::Promoted] {
            let mut visited = Crawl::new(&graph, rule, Prioritizer::default()).run(&seeds);
            visited.sort_unstable();
            visited.dedup();
            assert_eq!(visited.len(), reachable, "{rule:?}");
        }
    }
}
