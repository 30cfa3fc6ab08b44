//! Traps, each beside good pages of the same site.

use crate::engine::{Page, Web, alike, hash, unique};
use crate::good::{number, word};

/// A trap: its name, its mouth, what stands inside.
pub(crate) struct Trap {
    pub(crate) name: String,
    pub(crate) says: Says,
    mouth: &'static str,
    inside: fn(&str) -> Option<Page>,
}

/// What a trap's pages say, on which it depends what they may cost.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Says {
    /// What is known already, or combinations of it.
    Known,
    /// New text, and each page leads to several others.
    NewBranching,
    /// New text, and each page leads to one more.
    NewChain,
}

impl Says {
    /// Requests it may cost; a crawl adds robots.txt and what is under way.
    pub(crate) const fn cost_max(self) -> usize {
        match self {
            Self::Known => 145,
            Self::NewBranching => 480,
            Self::NewChain => 1_100,
        }
    }
}

/// How the good pages lie.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Beside {
    /// Linked from the front page.
    Flat(u64),
    /// A tree of words, ten a page.
    Tree(u64),
}

impl Beside {
    pub(crate) const ALL: [Self; 3] = [Self::Flat(30), Self::Flat(200), Self::Tree(200)];

    fn page(self, at: &str) -> Option<Vec<String>> {
        let name = |n: u64| format!("/good/{}.html", word(n + 100));
        let n = if at == "/" {
            0
        } else {
            let letters = at.strip_prefix("/good/")?.strip_suffix(".html")?;
            let digits: String = letters
                .bytes()
                .map(|b| char::from(b'0' + b - b'a'))
                .collect();
            digits.parse::<u64>().ok()? - 100
        };
        Some(match self {
            Self::Flat(pages) if n == 0 => (1..=pages).map(name).collect(),
            Self::Flat(_) => vec!["/".to_owned()],
            Self::Tree(pages) => {
                let children = (n * 10 + 1..=n * 10 + 10).take_while(|child| *child <= pages);
                children.map(name).chain(["/".to_owned()]).collect()
            }
        })
    }

    pub(crate) fn count(self) -> usize {
        match self {
            Self::Flat(pages) | Self::Tree(pages) => pages as usize,
        }
    }
}

impl Trap {
    pub(crate) fn web(&self, beside: Beside) -> Web {
        let (mouth, inside) = (self.mouth, self.inside);
        Box::new(move |url| {
            let at = url.strip_prefix("http://e.com").unwrap_or(url);
            let Some(mut links) = beside.page(at) else {
                return inside(at);
            };
            if at == "/" {
                links.push(mouth.to_owned());
            }
            Some(unique(at, links))
        })
    }
}

fn letters(text: &str, k: u64) -> String {
    word(hash(&format!("{text}{k}")) % 1_000_000_000_000)
}

fn numbers(at: &str, count: u64) -> Vec<u64> {
    let draw = |k| hash(&format!("{at}{k}")) % 1_000_000_000;
    (0..count).map(draw).collect()
}

fn maze(at: &str, count: u64, name: &str) -> Vec<String> {
    numbers(at, count)
        .iter()
        .map(|n| format!("{name}{n}"))
        .collect()
}

/// Year and month, from a path or a query.
fn month(at: &str) -> Option<(u64, u64)> {
    let numbers: Vec<u64> = at
        .split(|c: char| !c.is_ascii_digit())
        .filter_map(|digits| digits.parse().ok())
        .collect();
    Some((*numbers.first()?, *numbers.get(1)?))
}

fn around((year, month): (u64, u64)) -> Vec<(u64, u64)> {
    let next = if month == 12 {
        (year + 1, 1)
    } else {
        (year, month + 1)
    };
    let before = if month == 1 {
        (year - 1, 12)
    } else {
        (year, month - 1)
    };
    vec![before, next]
}

fn calendar(
    at: &str,
    says: fn(&str, Vec<String>) -> Page,
    days: bool,
    years: bool,
) -> Option<Page> {
    let (year, month) = month(at)?;
    if at.matches('/').count() == 4 {
        return Some(says(at, vec![format!("/cal/{year}/{month}")]));
    }
    let mut to = around((year, month));
    if years {
        to.extend([(year - 1, month), (year + 1, month)]);
    }
    let mut links: Vec<String> = to.iter().map(|(y, m)| format!("/cal/{y}/{m}")).collect();
    if days {
        links.extend((1..=28).map(|day| format!("/cal/{year}/{month}/{day}")));
    }
    Some(says(at, links))
}

fn facets(at: &str, says: fn(&str, Vec<String>) -> Page) -> Option<Page> {
    let query = at.strip_prefix("/shop?")?;
    let pairs: Vec<(String, String)> = query
        .split('&')
        .filter_map(|pair| pair.split_once('='))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let mut links = Vec::new();
    for name in ["brand", "color", "price", "size", "sort"] {
        for value in ["a", "b", "c", "d", "e", "f"] {
            let mut now = pairs.clone();
            now.retain(|(known, _)| known != name);
            now.push((name.to_owned(), value.to_owned()));
            now.sort();
            let text: Vec<String> = now.iter().map(|(n, v)| format!("{n}={v}")).collect();
            links.push(format!("/shop?{}", text.join("&")));
        }
    }
    Some(says(at, links))
}

fn pages(at: &str, name: &str, ahead: u64, says: fn(&str, Vec<String>) -> Page) -> Page {
    let n = number(at);
    let links = (n.saturating_sub(ahead).max(1)..=n + ahead).filter(|k| *k != n);
    says(at, links.map(|k| format!("{name}{k}")).collect())
}

fn same(_: &str, links: Vec<String>) -> Page {
    Page {
        exact: 7,
        ..alike("", links)
    }
}

/// Which traps have new text on every page; all others repeat or recombine.
fn says(name: &str) -> Says {
    const BRANCHING: [&str; 7] = [
        "maze of 3",
        "maze of 5 in root",
        "maze by query",
        "link farm",
        "farm that names the good",
        "back to the front",
        "two parameters",
    ];
    // Words in a directory of good pages look like these.
    const CHAINS: [&str; 7] = [
        "link farm in good folder",
        "words in root",
        "words in good folder",
        "maze of 1",
        "pages in a window, new text",
        "pages in a path, new text",
        "growing path in front",
    ];
    if BRANCHING.contains(&name) {
        Says::NewBranching
    } else if CHAINS.contains(&name) {
        Says::NewChain
    } else {
        Says::Known
    }
}

pub(crate) fn all() -> Vec<Trap> {
    let trap = |name: &str, mouth, inside| Trap {
        name: name.to_owned(),
        says: says(name),
        mouth,
        inside,
    };
    vec![
        trap("maze of 1", "/maze/1", |at| {
            Some(unique(at, maze(at, 1, "/maze/")))
        }),
        trap("maze of 3", "/maze/1", |at| {
            Some(unique(at, maze(at, 3, "/maze/")))
        }),
        trap("maze of 5 in root", "/1", |at| {
            Some(unique(at, maze(at, 5, "/")))
        }),
        trap("maze by query", "/v?id=1", |at| {
            Some(unique(at, maze(at, 5, "/v?id=")))
        }),
        trap("link farm", "/links/1", |at| {
            Some(unique(at, maze(at, 60, "/links/")))
        }),
        trap("link farm in good folder", "/good/1", |at| {
            Some(unique(at, maze(at, 60, "/good/")))
        }),
        trap("farm that names the good", "/links/1", |at| {
            let mut links = maze(at, 9, "/links/");
            links.extend(Beside::Flat(30).page("/").unwrap());
            Some(unique(at, links))
        }),
        trap("words in root", "/aaa", |at| {
            Some(unique(
                at,
                (0..3).map(|k| format!("/{}", letters(at, k))).collect(),
            ))
        }),
        trap("words in good folder", "/good/aaa", |at| {
            Some(unique(
                at,
                (0..3)
                    .map(|k| format!("/good/x{}", letters(at, k)))
                    .collect(),
            ))
        }),
        trap("growing path", "/deep/a", |at| {
            Some(unique(
                at,
                (0..3).map(|k| format!("{at}/{}", letters(at, k))).collect(),
            ))
        }),
        trap("growing path with siblings", "/deep/a", |at| {
            let (parent, _) = at.rsplit_once('/')?;
            let own = (0..3).map(|k| format!("{at}/{}", letters(at, k)));
            let beside = (0..3).map(|k| format!("{parent}/{}", letters(parent, k)));
            Some(unique(at, own.chain(beside).collect()))
        }),
        trap("growing path in front", "/a/b", |at| {
            Some(unique(
                at,
                (0..3).map(|k| format!("/{}{at}", letters(at, k))).collect(),
            ))
        }),
        trap("nested folders", "/docs/foo/", |at| {
            Some(alike(
                at,
                vec![format!("{at}foo/"), format!("{at}bar/"), "/".to_owned()],
            ))
        }),
        trap("growing query", "/q?a=1", |at| {
            Some(unique(
                at,
                (0..3)
                    .map(|k| format!("{at}&{}=1", letters(at, k)))
                    .collect(),
            ))
        }),
        trap("months, alike", "/cal/2026/11", |at| {
            calendar(at, alike, false, true)
        }),
        trap("months, new text", "/cal/2026/11", |at| {
            calendar(at, unique, false, true)
        }),
        trap("months in a row", "/cal/2026/11", |at| {
            calendar(at, unique, false, false)
        }),
        trap("days, alike", "/cal/2026/11", |at| {
            calendar(at, alike, true, true)
        }),
        trap("days, new text", "/cal/2026/11", |at| {
            calendar(at, unique, true, true)
        }),
        trap("days in a row, new text", "/cal/2026/11", |at| {
            calendar(at, unique, true, false)
        }),
        trap("months by query", "/cal?month=2026-11", |at| {
            let to = around(month(at)?).into_iter();
            Some(unique(
                at,
                to.map(|(y, m)| format!("/cal?month={y}-{m}")).collect(),
            ))
        }),
        trap("months and years by query", "/cal?y=2026&m=11", |at| {
            let to = around(month(at)?).into_iter();
            Some(alike(
                at,
                to.map(|(y, m)| format!("/cal?y={y}&m={m}")).collect(),
            ))
        }),
        trap("pages in a row, alike", "/list?page=1", |at| {
            Some(pages(at, "/list?page=", 1, alike))
        }),
        trap("pages, same", "/list?page=1", |at| {
            Some(pages(at, "/list?page=", 3, same))
        }),
        trap("pages in a window, new text", "/list?page=1", |at| {
            Some(pages(at, "/list?page=", 3, unique))
        }),
        trap("pages in a path, new text", "/list/1", |at| {
            Some(pages(at, "/list/", 5, unique))
        }),
        trap("not here, same", "/lost/one", |at| {
            Some(same(
                at,
                vec![format!("{at}/up"), format!("{at}/{}", letters(at, 1))],
            ))
        }),
        trap("not here, with its name", "/lost/one", |at| {
            Some(unique(
                at,
                vec![format!("{at}/up"), format!("{at}/{}", letters(at, 1))],
            ))
        }),
        trap("facets, new text", "/shop?color=a", |at| facets(at, unique)),
        trap("facets, same", "/shop?color=a", |at| facets(at, same)),
        trap("session in query", "/s?sid=1", |at| {
            Some(same(at, maze(at, 5, "/s?sid=")))
        }),
        trap("session in path", "/s/1a2b3c4d5e/x", |at| {
            let links = numbers(at, 3)
                .into_iter()
                .map(|n| format!("/s/{n:010x}a/x"));
            Some(same(at, links.collect()))
        }),
        trap("capital letters drawn anew", "/docs/page-a", |at| {
            let name = at.to_ascii_lowercase();
            let links = (0..6).map(|k| {
                let draws = hash(&format!("{at}{k}"));
                let link = format!("/docs/page-{}", char::from(b'a' + (draws % 20) as u8));
                let cased = link.chars().enumerate().map(|(place, letter)| {
                    let is_capital = place > 5 && draws >> (place % 60) & 2 > 0;
                    if is_capital {
                        letter.to_ascii_uppercase()
                    } else {
                        letter
                    }
                });
                cased.collect()
            });
            Some(unique(&name, links.collect()))
        }),
        trap("back to the front", "/maze/1", |at| {
            let mut links = maze(at, 2, "/maze/");
            links.insert(0, "/".to_owned());
            Some(unique(at, links))
        }),
        trap("two parameters", "/x?a=1&b=2", |at| {
            let links = numbers(at, 4)
                .into_iter()
                .map(|n| format!("/x?a={n}&b={}", n / 7));
            Some(unique(at, links.collect()))
        }),
    ]
}
