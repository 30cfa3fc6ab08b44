use super::*;

/// A model of a web site: for a URL its words, its numbers, and its links.
struct Page {
    words: u64,
    exact: u64,
    links: Vec<String>,
}

fn hash(text: &str) -> u64 {
    xxhash_rust::xxh3::xxh3_64(text.as_bytes())
}

/// Crawls a model breadth first as the crawler does; gives the URLs fetched.
fn crawl(seeds: &[&str], requests_max: usize, page: impl Fn(&str) -> Option<Page>) -> Vec<String> {
    let config = NoveltyConfig::default();
    let mut site = SiteNovelty::default();
    let url = |text: &str| CrawlUrl::parse(&format!("http://e.com{text}")).unwrap();
    let mut queue: std::collections::VecDeque<(String, u16, Option<Template>)> = seeds
        .iter()
        .map(|seed| ((*seed).to_owned(), 0, None))
        .collect();
    let mut seen: std::collections::HashSet<u64> =
        seeds.iter().map(|seed| url(seed).hash64().0).collect();
    let mut fetched = Vec::new();
    while let Some((at, depth, via)) = queue.pop_front() {
        let here = url(&at);
        let template = Template::of(&here);
        if depth > 0 && site.judge(&config, &template).is_some() {
            continue;
        }
        fetched.push(at.clone());
        assert!(fetched.len() <= requests_max, "{:?}", site.site(&config));
        let Some(page) = page(&at) else { continue };
        let mut fresh_links = 0;
        let mut links_sideways = false;
        for link in &page.links {
            let target = url(link);
            let of = Template::of(&target);
            if seen.contains(&target.hash64().0) {
                let waits = *link != at && !fetched.contains(link);
                links_sideways |= waits && of.has_shape_of(&template);
                continue;
            }
            if let Some((stripped, _)) = site.stripped(&config, &target, &of)
                && !seen.insert(stripped.0)
            {
                continue;
            }
            fresh_links += 1;
            if site.standing(&config, &of).is_some() && site.judge(&config, &of).is_some() {
                continue;
            }
            seen.insert(target.hash64().0);
            queue.push_back((link.clone(), depth + 1, Some(template.clone())));
        }
        let sight = Sight {
            url: &here,
            template: &template,
            via: via.as_ref(),
            content: Content {
                exact: page.exact,
                words: Some(page.words),
            },
            fresh_links,
            links_sideways,
            depth,
        };
        seen.extend(
            site.observe(&config, &sight)
                .known
                .iter()
                .map(|hash| hash.0),
        );
    }
    fetched
}

fn number(text: &str) -> u64 {
    let digits: String = text
        .chars()
        .rev()
        .take_while(char::is_ascii_digit)
        .collect();
    digits
        .chars()
        .rev()
        .collect::<String>()
        .parse()
        .unwrap_or(0)
}

/// Words and numbers of their own, and these links.
fn unique(at: &str, links: Vec<String>) -> Page {
    Page {
        words: hash(at),
        exact: hash(at),
        links,
    }
}

/// A front page that links to twenty good pages, and to a trap.
fn beside(at: &str, entry: &str) -> Option<Page> {
    if at == "/" {
        let mut links: Vec<String> = (0..20).map(|n| format!("/good/{n}")).collect();
        links.push(entry.to_owned());
        return Some(unique(at, links));
    }
    at.starts_with("/good/")
        .then(|| unique(at, vec!["/".to_owned()]))
}

fn assert_trap(entry: &str, trap: impl Fn(&str) -> Page) {
    let fetched = crawl(&["/"], 200, |at| {
        Some(beside(at, entry).unwrap_or_else(|| trap(at)))
    });
    let good = fetched.iter().filter(|at| at.starts_with("/good/")).count();
    assert_eq!(good, 20);
    let cost = fetched.len() - good - 1;
    assert!(cost <= 150, "{entry} cost {cost}");
}

#[test]
fn calendars_are_left_after_a_while() {
    assert_trap("/cal/2026/1", |at| {
        let month = number(at);
        Page {
            words: 1,
            exact: hash(at),
            links: vec![
                format!("/cal/2026/{}", month + 1),
                format!("/cal/2027/{}", month + 1),
            ],
        }
    });
}

#[test]
fn endless_text_is_left_after_a_while() {
    assert_trap("/maze/1", |at| {
        let n = number(at);
        unique(at, (2..5).map(|k| format!("/maze/{}", n * 5 + k)).collect())
    });
}

#[test]
fn growing_paths_and_queries_are_left_after_a_while() {
    let word = |text: &str, k: u64| {
        let letters = hash(&format!("{text}{k}")) % 1_000_000;
        letters
            .to_string()
            .bytes()
            .map(|b| (b'a' + b - b'0') as char)
            .collect::<String>()
    };
    assert_trap("/deep/a", |at| {
        unique(
            at,
            (0..3).map(|k| format!("{at}/{}", word(at, k))).collect(),
        )
    });
    assert_trap("/a/b", |at| {
        unique(
            at,
            (0..3).map(|k| format!("/{}{at}", word(at, k))).collect(),
        )
    });
    assert_trap("/q?a=1", |at| {
        unique(
            at,
            (0..3).map(|k| format!("{at}&{}=1", word(at, k))).collect(),
        )
    });
}

#[test]
fn sessions_are_seen_through_and_their_pages_found() {
    // Each page links to all thirty pages under a session of its own.
    let page = |at: &str| {
        let id = number(at.split("&sid").next().unwrap());
        let session = hash(at);
        Page {
            words: hash(&format!("page {id}")),
            exact: hash(&format!("page {id}")),
            links: (0..30)
                .map(|id| format!("/p?id={id}&sid={session:x}"))
                .collect(),
        }
    };
    let fetched = crawl(&["/p?id=0&sid=0"], 150, |at| Some(page(at)));
    let ids: std::collections::HashSet<u64> = fetched
        .iter()
        .map(|at| number(at.split("&sid").next().unwrap()))
        .collect();
    assert_eq!(ids.len(), 30);
}

#[test]
fn a_parameter_that_matters_is_never_ignored() {
    // Nine of ten ids show the same page; the tenth does not.
    let config = NoveltyConfig::default();
    let mut site = SiteNovelty::default();
    for id in 0..200_u64 {
        let url = CrawlUrl::parse(&format!("http://e.com/p?id={id}")).unwrap();
        let template = Template::of(&url);
        let exact = u64::from(id % 5 == 4);
        site.observe(
            &config,
            &Sight {
                url: &url,
                template: &template,
                via: None,
                content: Content {
                    exact,
                    words: Some(1),
                },
                fresh_links: 0,
                links_sideways: false,
                depth: 1,
            },
        );
        assert_eq!(site.stripped(&config, &url, &template), None);
    }
}

#[test]
fn large_good_sites_are_not_cut() {
    // A board: a chain of lists, twenty posts each, posts are dead ends.
    let board = |at: &str| {
        let n = number(at);
        if at.starts_with("/post") {
            return unique(at, vec!["/list?page=0".to_owned()]);
        }
        let mut links: Vec<String> = (0..20).map(|k| format!("/post/{}", n * 20 + k)).collect();
        if n < 199 {
            links.push(format!("/list?page={}", n + 1));
        }
        unique(at, links)
    };
    let fetched = crawl(&["/list?page=0"], usize::MAX, |at| Some(board(at)));
    assert_eq!(fetched.len(), 200 + 4000);
    // A graph: three thousand pages, ten links each, all of one template.
    let graph = |at: &str| {
        let n = number(at);
        unique(
            at,
            (0..10)
                .map(|k| format!("/{}", hash(&format!("{n} {k}")) % 3000))
                .collect(),
        )
    };
    let fetched = crawl(&["/0"], usize::MAX, |at| Some(graph(at)));
    assert!(fetched.len() > 2990, "{}", fetched.len());
}

#[test]
fn pages_that_differ_in_numbers_only_are_found_where_they_are_finite() {
    let page = |at: &str| {
        let n = number(at);
        Page {
            words: 1,
            exact: hash(at),
            links: (0..10)
                .map(|k| format!("/{}", (n * 7 + k * 31) % 400))
                .collect(),
        }
    };
    let fetched = crawl(&["/0"], usize::MAX, |at| Some(page(at)));
    assert_eq!(fetched.len(), 400);
}

#[test]
fn memory_stays_bounded() {
    let config = NoveltyConfig::default();
    let mut site = SiteNovelty::default();
    for n in 0..5_000_u64 {
        let name: String = n
            .to_string()
            .bytes()
            .map(|b| (b'a' + b - b'0') as char)
            .collect();
        let url = CrawlUrl::parse(&format!("http://e.com/{name}/{name}?{name}=1")).unwrap();
        let template = Template::of(&url);
        let sight = Sight {
            url: &url,
            template: &template,
            via: None,
            content: Content {
                exact: n,
                words: Some(n),
            },
            fresh_links: 0,
            links_sideways: false,
            depth: 1,
        };
        site.observe(&config, &sight);
    }
    assert_eq!(site.kinds.len(), TEMPLATES_MAX);
    assert_eq!(site.sections.len(), SECTIONS_MAX + 1);
}
