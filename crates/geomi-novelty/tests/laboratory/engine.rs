//! A crawl without network: model webs go through the real rule in the orders a
//! crawl may take.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};

use geomi_novelty::{Combines, Content, NoveltyConfig, Sight, SiteNovelty, Ties};
use geomi_url::CrawlUrl;
use geomi_url::template::Template;
use xxhash_rust::xxh3::xxh3_64;

/// The year in which the laboratory stands.
pub(crate) const YEAR: u16 = 2026;
/// No model web is that large.
const REQUESTS_MAX: usize = 50_000;

/// What a model web answers.
pub(crate) struct Page {
    /// Equal for pages that differ in numbers only.
    pub(crate) words: u64,
    /// Equal for the same page.
    pub(crate) exact: u64,
    /// Numbers that tell pages with the same words apart.
    pub(crate) numbers: Option<u64>,
    pub(crate) links: Vec<String>,
}

pub(crate) fn hash(text: &str) -> u64 {
    xxh3_64(text.as_bytes())
}

/// A page with words of its own.
pub(crate) fn unique(at: &str, links: Vec<String>) -> Page {
    Page {
        words: hash(at),
        exact: hash(at),
        numbers: None,
        links,
    }
}

/// A page like all others but for its numbers.
pub(crate) fn alike(at: &str, links: Vec<String>) -> Page {
    Page {
        words: 1,
        ..unique(at, links)
    }
}

/// A web: what stands at a URL.
pub(crate) type Web = Box<dyn Fn(&str) -> Option<Page>>;

/// In which order a site's queue is served.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Order {
    /// First found, first fetched; one request at a time.
    Breadth,
    /// By lanes as the crawl has them; so many requests at a time.
    Lanes(usize),
}

pub(crate) const ORDERS: [Order; 3] = [Order::Breadth, Order::Lanes(1), Order::Lanes(4)];

#[derive(Clone)]
struct Entry {
    url: CrawlUrl,
    via: Option<CrawlUrl>,
    depth: u16,
    is_seed: bool,
    is_dive: bool,
    is_called: bool,
}

/// One site: its queue, and what was learned of it.
#[derive(Default)]
struct Site {
    lanes: [VecDeque<Entry>; 8],
    passes: [u64; 8],
    clock: u64,
    known: SiteNovelty,
    held: Vec<Entry>,
}

impl Site {
    fn push(&mut self, order: Order, entry: Entry) {
        let lane = match order {
            _ if entry.is_seed || entry.is_dive => 0,
            Order::Breadth => 1,
            // About what the prioritizer makes of depth.
            Order::Lanes(_) => (1 + usize::from(entry.depth) / 2).min(7),
        };
        self.lanes[lane].push_back(entry);
    }

    /// As the frontier chooses: each lane has twice the turns of the next.
    fn take(&mut self, order: Order) -> Option<Entry> {
        let mut best: Option<(usize, u64)> = None;
        for (at, lane) in self.lanes.iter().enumerate() {
            if lane.is_empty() {
                self.passes[at] = self.passes[at].max(self.clock);
                continue;
            }
            let finish = match order {
                Order::Breadth => at as u64,
                Order::Lanes(_) => self.passes[at] + (1 << at),
            };
            if best.is_none_or(|(_, earliest)| finish < earliest) {
                best = Some((at, finish));
            }
        }
        let (at, finish) = best?;
        self.clock = self.passes[at];
        self.passes[at] = finish;
        self.lanes[at].pop_front()
    }
}

pub(crate) struct Crawl<'w> {
    web: &'w Web,
    order: Order,
    config: NoveltyConfig,
    sites: BTreeMap<String, Site>,
    seen: HashSet<u64>,
    fetched: HashSet<u64>,
    /// What was asked for, in order.
    pub(crate) asked: Vec<String>,
}

/// Crawls a model to its end.
pub(crate) fn crawl(
    web: &Web,
    seeds: &[String],
    order: Order,
    config: NoveltyConfig,
) -> Vec<String> {
    let mut crawl = Crawl {
        web,
        order,
        config: NoveltyConfig {
            year: Some(YEAR),
            ..config
        },
        sites: BTreeMap::new(),
        seen: HashSet::new(),
        fetched: HashSet::new(),
        asked: Vec::new(),
    };
    for seed in seeds {
        let url = CrawlUrl::parse(seed).unwrap();
        crawl.seen.insert(url.hash64().0);
        crawl.queue(Entry {
            url,
            via: None,
            depth: 0,
            is_seed: true,
            is_dive: false,
            is_called: false,
        });
    }
    while crawl.asked.len() < REQUESTS_MAX && (crawl.round() || crawl.last_calls()) {}
    crawl.asked
}

impl Crawl<'_> {
    fn site(&mut self, url: &CrawlUrl) -> &mut Site {
        if !self.sites.contains_key(url.origin()) {
            self.sites.insert(url.origin().to_owned(), Site::default());
        }
        self.sites.get_mut(url.origin()).unwrap()
    }

    fn queue(&mut self, entry: Entry) {
        let order = self.order;
        self.site(&entry.url.clone()).push(order, entry);
    }

    /// Every site gets its turn.
    fn round(&mut self) -> bool {
        let width = match self.order {
            Order::Breadth => 1,
            Order::Lanes(width) => width,
        };
        let names: Vec<String> = self.sites.keys().cloned().collect();
        let mut any = false;
        for name in names {
            let mut under_way = Vec::new();
            while under_way.len() < width {
                let order = self.order;
                let site = self.sites.get_mut(&name).unwrap();
                let Some(entry) = site.take(order) else {
                    break;
                };
                any = true;
                let template = Template::of(&entry.url);
                if !entry.is_seed && site.known.judge(&self.config, &template).is_some() {
                    site.held.push(entry);
                } else {
                    under_way.push(entry);
                }
            }
            for entry in under_way {
                self.fetch(&entry);
            }
        }
        any
    }

    fn fetch(&mut self, entry: &Entry) {
        let text = entry.url.as_str().to_owned();
        self.asked.push(text.clone());
        let page = (self.web)(&text);
        let Some(page) = page else {
            self.fetched.insert(entry.url.hash64().0);
            let template = Template::of(&entry.url);
            self.site(&entry.url)
                .known
                .note_forbidden(&entry.url, &template);
            return;
        };
        let template = Template::of(&entry.url);
        let links: Vec<CrawlUrl> = page
            .links
            .iter()
            .filter_map(|link| entry.url.join(link).ok())
            .collect();
        let ties = self.ties(&entry.url, &template, &links);
        let dived = self.dive(entry, &template, &links);
        let mut fresh = dived.unwrap_or_default();
        for link in &links {
            fresh += self.admit(entry, link, false).unwrap_or_default();
        }
        let via = entry.via.as_ref();
        let via = via
            .filter(|via| via.origin() == entry.url.origin())
            .map(Template::of);
        let sight = Sight {
            url: &entry.url,
            template: &template,
            via: via.as_ref(),
            via_url: entry.via.as_ref(),
            content: Content {
                exact: page.exact,
                words: Some(page.words),
                numbers: page.numbers,
            },
            images: &[],
            fresh_links: fresh.links,
            fresh_queued: 0,
            fresh_abroad: fresh.abroad,
            fresh_pairs: fresh.pairs,
            fresh_words: fresh.words,
            own_text_bytes: 1_000,
            is_last_call: entry.is_called,
            fresh_below: fresh.below,
            ties,
        };
        self.fetched.insert(entry.url.hash64().0);
        let config = self.config;
        let site = self.site(&entry.url);
        let learned = site.known.observe(&config, &sight);
        let stripped = site.known.stripped(&config, &entry.url, &template);
        let held = if learned.has_reopened {
            std::mem::take(&mut site.held)
        } else {
            Vec::new()
        };
        self.seen.extend(learned.known.iter().map(|hash| hash.0));
        self.seen.extend(stripped.map(|(hash, _)| hash.0));
        for entry in held {
            self.queue(entry);
        }
    }

    fn ties(&self, url: &CrawlUrl, template: &Template, links: &[CrawlUrl]) -> Option<Ties> {
        let own = self.sites.get(url.origin())?;
        if !own.known.needs_proof(&self.config, template) {
            return None;
        }
        let mut ties = Ties::default();
        for link in links {
            let hash = link.hash64().0;
            if link == url || !self.seen.contains(&hash) || self.fetched.contains(&hash) {
                continue;
            }
            let target = Template::of(link);
            ties.alike += u32::from(link.origin() == url.origin() && target == *template);
            let there = self.sites.get(link.origin());
            ties.sideways |= there
                .is_some_and(|there| there.known.is_sideways((url, template), (link, &target)));
        }
        Some(ties)
    }

    fn dive(&mut self, entry: &Entry, template: &Template, links: &[CrawlUrl]) -> Option<Fresh> {
        let config = self.config;
        let known = &self.site(&entry.url).known;
        let pick = known.dives_from(&config, &entry.url, template)?;
        let own = links.iter().filter(|link| {
            link.origin() == entry.url.origin() && !self.seen.contains(&link.hash64().0)
        });
        let link = pick.among(template, own)?.clone();
        let admitted = self.admit(entry, &link, true);
        if admitted.is_some() && self.seen.contains(&link.hash64().0) {
            self.site(&entry.url)
                .known
                .dive(&entry.url, template, &link);
        }
        admitted
    }

    /// Takes in a link; says what it is like if it was new.
    fn admit(&mut self, on: &Entry, link: &CrawlUrl, is_dive: bool) -> Option<Fresh> {
        if self.seen.contains(&link.hash64().0) {
            return None;
        }
        let config = self.config;
        let template = Template::of(link);
        let known = &self.site(link).known;
        if let Some((stripped, _)) = known.stripped(&config, link, &template)
            && !self.seen.insert(stripped.0)
        {
            return None;
        }
        let entry = Entry {
            url: link.clone(),
            via: Some(on.url.clone()),
            depth: on.depth + 1,
            is_seed: false,
            is_dive,
            is_called: false,
        };
        self.seen.insert(link.hash64().0);
        let site = self.site(link);
        let found = site.known.found(link, &template);
        if site.known.judge(&config, &template).is_some() {
            site.held.push(entry);
        } else {
            self.queue(entry);
        }
        let known = &self.site(link).known;
        let is_beside = known.is_closed(&config, &template)
            && !known.is_closed(&config, &Template::of(&on.url));
        (!found.is_idle && !is_beside).then(|| Fresh {
            links: 1,
            abroad: u32::from(link.host() != on.url.host()),
            pairs: u32::from(found.combines == Combines::Pairs),
            words: u32::from(found.combines != Combines::Nothing),
            below: u32::from(link.path_and_query().starts_with(on.url.path_and_query())),
        })
    }

    /// When nothing else is left: deferred URLs that may lead on, as many as each
    /// account allows; where none of these is left, the others.
    fn last_calls(&mut self) -> bool {
        let config = self.config;
        let mut released = Vec::new();
        for site in self.sites.values_mut() {
            let Site { known, held, .. } = site;
            let mut stays = Vec::new();
            let (mut leading, ends): (Vec<Entry>, Vec<Entry>) = std::mem::take(held)
                .into_iter()
                .partition(|entry| known.may_lead_on(&Template::of(&entry.url)));
            let mut called = HashSet::new();
            leading.sort_by_key(|entry| {
                let template = Template::of(&entry.url);
                let is_like = |via: &CrawlUrl| {
                    via.as_str().len().abs_diff(entry.url.as_str().len()) <= 1
                        && Template::of(via) == template
                };
                let is_next = entry.via.as_ref().is_some_and(is_like);
                Reverse((known.is_unknown(&template), is_next, entry.depth))
            });
            for entry in leading {
                let template = Template::of(&entry.url);
                let account = known.holding_account(&config, &template);
                if called.insert(account) && known.last_call(&config, &template).is_some() {
                    released.push(entry);
                } else {
                    stays.push(entry);
                }
            }
            for entry in ends {
                let via = entry.via.as_ref().map(Template::of);
                if !released.is_empty() || via.is_some_and(|via| known.is_given_up(&config, &via)) {
                    stays.push(entry);
                } else {
                    released.push(entry);
                }
            }
            *held = stays;
        }
        for entry in &released {
            let entry = Entry {
                is_called: true,
                ..entry.clone()
            };
            self.fetch(&entry);
        }
        !released.is_empty()
    }
}

/// What a page leads to that was not known.
#[derive(Clone, Copy, Default)]
struct Fresh {
    links: u32,
    abroad: u32,
    pairs: u32,
    words: u32,
    below: u32,
}

impl std::ops::AddAssign for Fresh {
    fn add_assign(&mut self, more: Self) {
        self.links += more.links;
        self.abroad += more.abroad;
        self.pairs += more.pairs;
        self.words += more.words;
        self.below += more.below;
    }
}

/// How often each URL was asked for.
pub(crate) fn counts(asked: &[String]) -> HashMap<&str, usize> {
    let mut counts = HashMap::new();
    for url in asked {
        *counts.entry(&**url).or_insert(0) += 1;
    }
    counts
}
