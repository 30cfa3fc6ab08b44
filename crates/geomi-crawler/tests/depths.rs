//! The depth of a page is the length of the shortest path to it, and breadth-first
//! visits pages in that order: generated sites with redirects and failures that pass,
//! against the true depths, with crashes.

#![expect(clippy::unwrap_used, reason = "helpers of tests fail as tests do")]

mod house;

use std::collections::{BTreeMap, VecDeque};

use geomi_crawler::{CrawlConfig, CrawlError, DurableStep, NoFaults, Steps};
use geomi_engine::{Ending, SeedInput};
use geomi_frontier::PageOrder;
use geomi_model::{Fate, Visit};
use geomi_scope::ScopeKind;
use geomi_testweb::{FixedPage, SiteBehaviour, WebSpec};
use geomi_url::CrawlUrl;
use house::{CrashAt, House};

const PAGES: usize = 160;
const DEPTH_MAX: u16 = 3;

/// What a page of a generated site is.
enum Page {
    /// Links to these pages.
    Links(Vec<usize>),
    /// Redirects to that page.
    Redirect(usize),
}

/// A generated site.
struct Site {
    pages: Vec<Page>,
    /// Whether the first request for a page fails.
    fails_first: Vec<bool>,
    seeds: Vec<usize>,
}

struct Dice(u64);

impl Dice {
    fn below(&mut self, below: usize) -> usize {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 % below as u64) as usize
    }
}

impl Site {
    /// Most links lead to pages with numbers near by, so that a site is several links
    /// deep; some lead anywhere, so that paths differ in length.
    fn new(seed: u64) -> Self {
        let mut dice = Dice(seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1);
        for _ in 0..8 {
            dice.below(2);
        }
        let mut pages = Vec::new();
        for page in 0..PAGES {
            let is_redirect = page % 10 == 7;
            let target = |dice: &mut Dice| match dice.below(8) {
                0 => dice.below(PAGES),
                _ => (page + 1 + dice.below(PAGES / 4)) % PAGES,
            };
            pages.push(if is_redirect {
                let to = target(&mut dice);
                // Not to another redirect: chains have a limit of their own.
                Page::Redirect(if to % 10 == 7 { to - 1 } else { to })
            } else {
                let len = 1 + dice.below(4);
                Page::Links((0..len).map(|_| target(&mut dice)).collect())
            });
        }
        Self {
            pages,
            fails_first: (0..PAGES).map(|_| dice.below(12) == 0).collect(),
            seeds: vec![0, PAGES / 2],
        }
    }

    /// The true depth of each page that can be reached: links cost one, redirects
    /// nothing.
    fn depths(&self) -> BTreeMap<String, u16> {
        let mut depths: BTreeMap<usize, u16> = BTreeMap::new();
        let mut line: VecDeque<(usize, u16)> = self.seeds.iter().map(|seed| (*seed, 0)).collect();
        while let Some((page, depth)) = line.pop_front() {
            if depths.get(&page).is_some_and(|known| *known <= depth) {
                continue;
            }
            depths.insert(page, depth);
            match &self.pages[page] {
                Page::Redirect(to) => line.push_front((*to, depth)),
                Page::Links(to) => line.extend(to.iter().map(|to| (*to, depth + 1))),
            }
        }
        let wanted = depths.into_iter().filter(|(_, depth)| *depth <= DEPTH_MAX);
        wanted.map(|(page, depth)| (path(page), depth)).collect()
    }

    fn behaviour(&self) -> SiteBehaviour {
        let mut fixed = Vec::new();
        for (page, content) in self.pages.iter().enumerate() {
            if self.fails_first[page] {
                fixed.push((path(page), FixedPage::new(500, "no").first_only(1)));
            }
            fixed.push((path(page), answer(page, content)));
        }
        SiteBehaviour {
            fixed,
            ..SiteBehaviour::default()
        }
    }
}

fn path(page: usize) -> String {
    format!("/p{page}")
}

fn is_generated(url: &CrawlUrl) -> bool {
    let number = url.path().strip_prefix("/p");
    number.is_some_and(|number| number.parse::<usize>().is_ok())
}

fn answer(page: usize, content: &Page) -> FixedPage {
    match content {
        Page::Redirect(to) => FixedPage::redirect(302, &path(*to)),
        Page::Links(to) => {
            let links = to.iter().map(|to| format!("<a href={}>x</a>", path(*to)));
            let links = links.collect::<Vec<_>>().concat();
            FixedPage::html(format!("<title>page {page}</title>{links}"))
        }
    }
}

fn house(behaviour: SiteBehaviour) -> House {
    let mut spec = WebSpec::plain(1, 1);
    spec.site_overrides = vec![(0, behaviour)];
    House::new(spec)
}

fn config(house: &House, seeds: &[String]) -> CrawlConfig {
    let home: CrawlUrl = house.server.seeds().remove(0);
    let mut config = house.config();
    config.seeds = seeds
        .iter()
        .map(|path| SeedInput {
            url: home.join(path).unwrap(),
            topic: None,
        })
        .collect();
    config.engine.scope.kind = ScopeKind::Party;
    config.engine.scope.depth_max = Some(DEPTH_MAX);
    config.engine.frontier.page_order = PageOrder::BreadthFirst;
    config.engine.novelty.is_on = false;
    config
}

/// Visits that were settled, in the order of their numbers.
fn settled(house: &House, tries: u8) -> Vec<Visit> {
    let mut visits = house.visits();
    visits.retain(|visit| !visit.is_robots && Fate::of(visit, tries) != Fate::Retry);
    visits
}

fn check(house: &House, site: &Site, seed: u64) {
    let visits = settled(house, 3);
    let found: Vec<(String, u16)> = visits
        .iter()
        .map(|visit| (visit.url.path().to_owned(), visit.depth))
        .collect();
    let in_order = found.windows(2).all(|pair| pair[0].1 <= pair[1].1);
    assert!(in_order, "seed {seed}: by depth, but {found:?}");
    let as_map: BTreeMap<String, u16> = found.iter().cloned().collect();
    assert_eq!(as_map.len(), found.len(), "seed {seed}: each page once");
    let truth = site.depths();
    assert!(truth.len() > 20, "seed {seed}: a site worth a test");
    assert_eq!(as_map, truth, "seed {seed}");
}

#[test]
fn breadth_first_finds_the_true_depths() {
    for seed in 0..6 {
        let site = Site::new(seed);
        let house = house(site.behaviour());
        let seeds: Vec<String> = site.seeds.iter().map(|page| path(*page)).collect();
        let status = house.crawl(&config(&house, &seeds));
        assert_eq!(status.reason, Some(Ending::Finished));
        assert_eq!(status.counters.failed, 0);
        check(&house, &site, seed);
        house.verify();
    }
}

#[test]
fn also_with_crashes_and_sites_that_take_turns() {
    for (seed, step) in (10..).zip(DurableStep::ALL) {
        let site = Site::new(seed);
        let mut spec = WebSpec::plain(4, 10);
        spec.site_overrides = vec![(0, site.behaviour())];
        let house = House::new(spec);
        let seeds: Vec<String> = site.seeds.iter().map(|page| path(*page)).collect();
        let mut config = config(&house, &seeds);
        let others = house.server.seeds().into_iter().skip(1);
        config
            .seeds
            .extend(others.map(|url| SeedInput { url, topic: None }));
        config.engine.frontier.sites_max = 2;
        config.engine.frontier.turn_pages = 5;
        config.engine.frontier.front_len_max = 4;
        config.output.segment_rows = 20;
        config.output.warc_bytes_max = 100_000;
        let (mut crashes, mut countdown) = (0, 1);
        let status = loop {
            let mut steps: Box<dyn Steps> = Box::new(CrashAt { step, countdown });
            if crashes > 6 {
                steps = Box::new(NoFaults);
            }
            match house.try_crawl(&config, &mut *steps) {
                Ok(status) => break status,
                Err(CrawlError::Crashed) => crashes += 1,
                Err(other) => panic!("{step:?}: {other}"),
            }
            countdown += 3;
        };
        assert!(crashes > 0, "{step:?} was never passed");
        assert_eq!(status.reason, Some(Ending::Finished));
        let home = house.server.seeds().remove(0).site();
        let mut visits = settled(&house, 3);
        // Links of the other sites make its front page a seed, too.
        visits.retain(|visit| visit.url.site() == home && is_generated(&visit.url));
        let found: Vec<(String, u16)> = visits
            .iter()
            .map(|visit| (visit.url.path().to_owned(), visit.depth))
            .collect();
        let as_map: BTreeMap<String, u16> = found.iter().cloned().collect();
        assert_eq!(as_map, site.depths(), "{step:?}");
        assert_eq!(as_map.len(), found.len(), "{step:?}: each page once");
        let in_order = found.windows(2).all(|pair| pair[0].1 <= pair[1].1);
        assert!(in_order, "{step:?}: {found:?}");
        house.verify();
    }
}

/// The long path comes first: `/a` and `/a2` are preferred.
#[test]
fn by_priority_a_shorter_path_corrects_the_depth_of_a_page_that_waits() {
    let page = |links: &[&str]| {
        let links = links.iter().map(|to| format!("<a href={to}>x</a>"));
        let links = links.collect::<Vec<_>>().concat();
        FixedPage::html(format!("<title>t</title>{links}"))
    };
    let pages = [
        ("/", page(&["/a", "/b"])),
        ("/a", page(&["/a2"])),
        ("/a2", page(&["/target", "/a3"])),
        ("/a3", page(&["/refused"])),
        ("/b", page(&["/target"])),
        ("/target", page(&["/end"])),
        // Found first as too deep, then at the limit.
        ("/end", page(&[])),
        ("/refused", page(&[])),
    ];
    let house = house(SiteBehaviour {
        fixed: pages.map(|(path, page)| (path.to_owned(), page)).into(),
        ..SiteBehaviour::default()
    });
    let mut config = config(&house, &["/".to_owned()]);
    config.engine.frontier.page_order = PageOrder::Priority;
    config.engine.frontier.politeness.site_connections = 1;
    config.engine.prefer = vec!["*/a".to_owned(), "*/a2".to_owned(), "*/a3".to_owned()];
    let status = house.crawl(&config);
    let depths: BTreeMap<String, u16> = settled(&house, 3)
        .iter()
        .map(|visit| (visit.url.path().to_owned(), visit.depth))
        .collect();
    let order: Vec<String> = house
        .visits()
        .iter()
        .map(|visit| visit.url.path().to_owned())
        .collect();
    let at = |path: &str| order.iter().position(|other| other == path);
    assert!(at("/a2") < at("/b"), "the long path comes first: {order:?}");
    assert_eq!(depths.get("/target"), Some(&2));
    assert_eq!(depths.get("/end"), Some(&3));
    assert_eq!(depths.get("/refused"), None);
    assert_eq!(status.counters.refusals.get("too-deep"), Some(&1));
}

#[test]
fn a_later_run_with_a_higher_limit_goes_deeper() {
    let path = |at: usize| {
        if at == 0 {
            "/".to_owned()
        } else {
            format!("/{at}")
        }
    };
    let fixed = (0..8).map(|at| {
        let link = format!("<title>{at}</title><a href={}>on</a>", path(at + 1));
        (path(at), FixedPage::html(link))
    });
    let mut spec = WebSpec::plain(1, 1);
    let site = SiteBehaviour {
        fixed: fixed.collect(),
        ..SiteBehaviour::default()
    };
    spec.site_overrides = vec![(0, site)];
    let house = House::new(spec);
    let mut config = house.config();
    config.engine.scope.kind = ScopeKind::Host;
    for (limit, saved) in [(2, 3), (4, 5), (3, 5), (5, 6)] {
        config.engine.scope.depth_max = Some(limit);
        let status = house.crawl(&config);
        assert_eq!(status.reason, Some(Ending::Finished));
        assert_eq!(status.counters.saved, saved, "at most {limit} links away");
    }
    house.verify();
}
