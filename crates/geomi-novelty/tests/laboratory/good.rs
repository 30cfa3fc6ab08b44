//! Shapes of good sites. All of their pages must be fetched, each once.

use crate::engine::{Page, Web, alike, hash, unique};

/// A good web: its name, its pages, how many there are.
pub(crate) struct Good {
    pub(crate) name: String,
    pub(crate) web: Web,
    pub(crate) seeds: Vec<String>,
    pub(crate) pages: usize,
}

/// Letters instead of digits: such a word is a template of its own.
pub(crate) fn word(number: u64) -> String {
    let digits = number.to_string();
    digits
        .bytes()
        .map(|digit| char::from(b'a' + digit - b'0'))
        .collect()
}

/// The last number of a URL.
pub(crate) fn number(url: &str) -> u64 {
    let end = url
        .rfind(|c: char| c.is_ascii_digit())
        .map_or(0, |at| at + 1);
    let start = url[..end]
        .rfind(|c: char| !c.is_ascii_digit())
        .map_or(0, |at| at + 1);
    url[start..end].parse().unwrap_or(0)
}

fn path(url: &str) -> &str {
    url.strip_prefix("http://e.com").unwrap_or(url)
}

fn site(
    name: impl Into<String>,
    pages: usize,
    web: impl Fn(&str) -> Option<Page> + 'static,
) -> Good {
    Good {
        name: name.into(),
        web: Box::new(move |url| web(path(url))),
        seeds: vec!["http://e.com/".to_owned()],
        pages,
    }
}

/// Pages linked from their parents only; the name of page `n` is up to `name`.
fn tree(kind: &str, fan: u64, pages: u64, name: fn(u64, u64) -> String, says: Say) -> Good {
    site(
        format!("tree {kind} fan {fan} of {pages}"),
        pages as usize,
        move |at| {
            let n = if at == "/" { 0 } else { tree_number(at) };
            let children = (n * fan + 1..=n * fan + fan).take_while(|child| *child < pages);
            let mut links: Vec<String> = children.map(|child| name(child, fan)).collect();
            links.push("/".to_owned());
            Some(says(at, links))
        },
    )
}

type Say = fn(&str, Vec<String>) -> Page;

fn tree_number(at: &str) -> u64 {
    match at.strip_prefix("/w/") {
        // A path of words: each says which child it is.
        Some(words) => words
            .split('/')
            .filter(|word| !word.is_empty())
            .fold(0, |number, word| {
                let digits: String = word
                    .bytes()
                    .map(|letter| char::from(b'0' + letter - b'a'))
                    .collect();
                let digits: u64 = digits.parse().unwrap();
                // Fan-out and child, as `by_words` wrote them.
                number * (digits / 1_000) + digits % 1_000
            }),
        None => number(at),
    }
}

fn by_number(n: u64, _: u64) -> String {
    format!("/{n}")
}

fn by_query(n: u64, _: u64) -> String {
    format!("/view?no={n}")
}

fn by_section(n: u64, _: u64) -> String {
    let section = ["news", "people", "places", "goods", "events"][(n % 5) as usize];
    format!("/{section}/{n}.html")
}

fn by_words(n: u64, fan: u64) -> String {
    let (mut at, mut words) = (n, Vec::new());
    while at > 0 {
        words.push(word(fan * 1_000 + (at - 1) % fan + 1));
        at = (at - 1) / fan;
    }
    words.reverse();
    format!("/w/{}", words.join("/"))
}

/// A graph at random, over sites: `p/17` links to pages of all of them. Each page
/// is linked from another one, so that all can be found.
fn graph(sites: u64, pages: u64, links: u64, says: Say) -> Good {
    let name = move |n: u64| format!("http://s{}.com/p/{}", n / pages, n % pages);
    let kind = if says("", vec![]).words == 1 {
        "alike"
    } else {
        "new"
    };
    Good {
        name: format!("graph {kind} of {sites} x {pages} by {links} links"),
        pages: (sites * pages) as usize,
        seeds: (0..sites).map(|site| name(site * pages)).collect(),
        web: Box::new(move |url| {
            let host = url.split('/').nth(2)?;
            let at = number(host.strip_suffix(".com")?) * pages + number(url);
            let all = sites * pages;
            let mut out: Vec<String> = (1..links)
                .map(|k| name(hash(&format!("{at} {k}")) % all))
                .collect();
            out.push(name((at * 21 + 1) % all));
            Some(says(url, out))
        }),
    }
}

/// Each page links to the next one, and to the front page.
fn chain(kind: &str, pages: u64, menu: u64) -> Good {
    let name = format!("chain {kind} of {pages}");
    site(name, (pages + menu) as usize, move |at| {
        let mut links: Vec<String> = (0..menu)
            .map(|k| format!("/menu/{}", word(k + 1)))
            .collect();
        links.push("/".to_owned());
        if !at.starts_with("/menu") && number(at) + 1 < pages {
            links.push(format!("/chapter/{}.html", number(at) + 1));
        }
        Some(unique(at, links))
    })
}

/// A board: a chain of lists with items that are dead ends.
fn board(
    name: &str,
    lists: u64,
    items: u64,
    list: &'static str,
    item: &'static str,
    says: Say,
) -> Good {
    let pages = (1 + lists + lists * items) as usize;
    site(name, pages, move |at| {
        let n = number(at);
        let list_of = |n: u64| format!("{list}{n}");
        if at == "/" {
            return Some(unique(at, vec![list_of(0)]));
        }
        if at.starts_with(item) {
            return Some(says(at, vec!["/".to_owned(), list_of(n / items)]));
        }
        let mut links: Vec<String> = (0..items)
            .map(|k| format!("{item}{}", n * items + k))
            .collect();
        links.extend((n + 1 < lists).then(|| list_of(n + 1)));
        links.extend((n > 0).then(|| list_of(n - 1)));
        Some(unique(at, links))
    })
}

/// A guest book: each page has its entries on it, and page numbers below.
fn guest_book(pages: u64) -> Good {
    site(
        format!("guest book of {pages}"),
        pages as usize,
        move |at| {
            let n = number(at);
            let around = n.saturating_sub(5)..(n + 6).min(pages);
            let links = around.map(|n| {
                if n == 0 {
                    "/".to_owned()
                } else {
                    format!("/book?page={n}")
                }
            });
            Some(unique(at, links.collect()))
        },
    )
}

/// Years, months, days up to now, and posts on them.
fn archive(years: u64) -> Good {
    let pages = 1 + years + years * 12 + years * 12 * 2;
    site(
        format!("archive of {years} years"),
        pages as usize,
        move |at| {
            let parts: Vec<&str> = at.trim_matches('/').split('/').collect();
            let links = match parts[..] {
                [""] => (0..years)
                    .map(|year| format!("/{}/", 2026 - year))
                    .collect(),
                [year] => (1..=12)
                    .map(|month| format!("/{year}/{month:02}/"))
                    .collect(),
                [year, month] => [3, 17]
                    .map(|day| format!("/{year}/{month}/{day:02}/"))
                    .to_vec(),
                _ => vec!["/".to_owned()],
            };
            Some(unique(at, links))
        },
    )
}

/// Pages with names, twenty links each, all over the place.
fn wiki(pages: u64) -> Good {
    site(format!("wiki of {pages}"), 1 + pages as usize, move |at| {
        let near = hash(at);
        let name = |n: u64| format!("/wiki/{}", word(n % pages + 1_000_000));
        let own = at.strip_prefix("/wiki/").map_or(0, |own| {
            let digits: String = own.bytes().map(|b| char::from(b'0' + b - b'a')).collect();
            digits.parse::<u64>().unwrap() - 1_000_000
        });
        let mut links: Vec<String> = (0..20).map(|k| name(hash(&format!("{near}{k}")))).collect();
        links.push(name(own + 1));
        Some(unique(at, links))
    })
}

/// One page that links to all others.
fn star(pages: u64) -> Good {
    site(format!("star of {pages}"), 1 + pages as usize, move |at| {
        let links = (1..=pages).map(|n| format!("/item-{n}.html"));
        Some(if at == "/" {
            unique(at, links.collect())
        } else {
            alike(at, vec!["/".to_owned()])
        })
    })
}

pub(crate) fn all() -> Vec<Good> {
    let mut all = Vec::new();
    for (fan, pages) in [
        (2, 500),
        (2, 3_000),
        (3, 2_000),
        (10, 2_000),
        (10, 12_000),
        (50, 6_000),
    ] {
        all.push(tree("number", fan, pages, by_number, unique));
        all.push(tree("query", fan, pages, by_query, unique));
        all.push(tree("section", fan, pages, by_section, unique));
        all.push(tree("words", fan, pages, by_words, unique));
    }
    all.push(tree("alike", 10, 2_000, by_number, alike));
    for links in [2, 3, 5, 10, 50] {
        all.push(graph(1, 1_000, links, unique));
        all.push(graph(20, 500, links, unique));
    }
    all.push(graph(1, 1_000, 6, alike));
    all.push(graph(1, 1_000, 50, alike));
    all.push(graph(1, 5_000, 10, alike));
    all.push(graph(1, 8_000, 6, unique));
    all.push(chain("alone", 3_000, 0));
    all.push(chain("beside a menu", 3_000, 20));
    all.push(chain("in front of all", 20_000, 3));
    all.push(graph(1, 20_000, 2, unique));
    all.push(graph(1, 20_000, 3, unique));
    all.push(board(
        "board by page",
        500,
        10,
        "/list?page=",
        "/post/",
        unique,
    ));
    all.push(board(
        "board by query",
        300,
        20,
        "/b.php?id=free&page=",
        "/b.php?id=free&no=",
        unique,
    ));
    all.push(board(
        "shop alike",
        300,
        20,
        "/c/all/page/",
        "/goods?no=",
        alike,
    ));
    all.push(board("blog", 150, 5, "/page/", "/how-to-do-", unique));
    all.push(guest_book(110));
    all.push(archive(20));
    all.push(wiki(3_000));
    all.push(star(5_000));
    all
}
