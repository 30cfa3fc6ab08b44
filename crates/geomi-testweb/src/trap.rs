//! Sites without an end.
//!
//! A [`Trap`] is a site whose front page links to good pages and to the mouth of
//! something endless. The good pages are known ([`Trap::good_paths`]), so that a
//! test can ask for both: that they were all found, and that the rest cost
//! little. What each request costs the trap is nothing: pages are a function of
//! their path.

use crate::dice::hash64;
use crate::{Answer, Endless};

/// Good pages of each trap.
const GOOD: u64 = 24;
/// Of these, how many the front page links to; each of them links to another.
const GOOD_IN_FRONT: u64 = 12;

/// What a site has besides its good pages.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Trap {
    /// Months and days to the end of time, none with anything on it.
    Calendar,
    /// Every link bears a session id of its own as a parameter; the good pages
    /// are behind it.
    SessionInQuery,
    /// The same in the path.
    SessionInPath,
    /// Each page links to paths below its own, with text of its own.
    GrowingPath,
    /// Each page links to itself with another parameter.
    GrowingQuery,
    /// A list without an end: each page has a next one, and neighbours.
    Pagination,
    /// A maze of new text: each page links to five others.
    Maze,
    /// Every path is answered by 200 and a page that says it is not there, whose
    /// relative links lead on.
    Soft404,
    /// Pages of links to pages of links.
    LinkFarm,
    /// Months with a text of their own, and days below them that lead nowhere.
    Diary,
    /// Months by a parameter, each with a text of its own.
    Months,
    /// A filter of five parameters with four values each, and text of its own.
    Facets,
    /// Relative links to folders within folders.
    Folders,
    /// Pages with numbers and text, each linked to five before and after it.
    Numbered,
    /// Host names under `wild.test`, each with a page that names more.
    Hosts,
    /// Something endless beside a whole site that looks real.
    Beside(Endless),
}

/// What the pages of a trap say that was not said before.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum TrapText {
    /// Nothing: the same text, or the same but for a date or a number.
    Repeats,
    /// Known parts in other combinations, of text or of the choices in their
    /// addresses.
    Recombines,
    /// New text on each page, without an end. No page tells it from a large site.
    New,
}

impl Trap {
    /// Those of bare pages with [`Trap::good_words`]; for the others see
    /// [`Endless::ALL`].
    pub const ALL: [Self; 15] = [
        Self::Calendar,
        Self::SessionInQuery,
        Self::SessionInPath,
        Self::GrowingPath,
        Self::GrowingQuery,
        Self::Pagination,
        Self::Maze,
        Self::Soft404,
        Self::LinkFarm,
        Self::Diary,
        Self::Months,
        Self::Facets,
        Self::Folders,
        Self::Numbered,
        Self::Hosts,
    ];

    /// The domain of [`Trap::Hosts`].
    pub const WILD: &'static str = "wild.test";

    /// What its pages say.
    pub fn text(self) -> TrapText {
        match self {
            Self::Calendar
            | Self::SessionInQuery
            | Self::SessionInPath
            | Self::Pagination
            | Self::Soft404
            | Self::Folders => TrapText::Repeats,
            Self::Facets => TrapText::Recombines,
            Self::GrowingPath
            | Self::GrowingQuery
            | Self::Maze
            | Self::LinkFarm
            | Self::Diary
            | Self::Months
            | Self::Numbered
            | Self::Hosts => TrapText::New,
            Self::Beside(endless) => endless.text(),
        }
    }

    /// What every good page of a trap in [`Trap::ALL`] can be told by: each path
    /// has one of these words in it, and no other path has. For the others see
    /// [`Endless::good_pages`].
    pub fn good_words(self) -> impl Iterator<Item = String> {
        (0..GOOD).map(|number| format!("good{number}x"))
    }

    /// The answer to a path and query; `None` where even a trap has nothing.
    pub(crate) fn answer(self, host: &str, target: &str) -> Option<Answer> {
        if let Self::Beside(endless) = self {
            return Some(endless.answer(host, target));
        }
        if target == "/robots.txt" {
            return None;
        }
        let port = host.rsplit_once(':').map_or("", |(_, port)| port);
        let page = if target == "/" && !host.contains(Self::WILD) {
            self.front(port)
        } else if let Some(number) = good_number(target) {
            self.good(number, target)
        } else {
            self.inside(target, host, port)?
        };
        let mut html = format!("<!DOCTYPE html><title>Page</title>\n<p>{}</p>\n", page.text);
        for link in page.links {
            html.extend(["<a href=\"", &link, "\">more</a>\n"]);
        }
        Some(Answer::new(200, html).with("Content-Type", "text/html; charset=utf-8"))
    }

    /// A good page as this site would link to it, on a page drawn by `draw`.
    fn good_path(self, number: u64, draw: u64) -> String {
        let session = hash64(draw ^ number);
        match self {
            Self::SessionInQuery => format!("/view?page=good{number}x&visit={session:016x}"),
            Self::SessionInPath => format!("/v/{session:016x}/good{number}x.html"),
            _ => format!("/pages/good{number}x.html"),
        }
    }

    fn front(self, port: &str) -> Page {
        let mut links: Vec<String> = (0..GOOD_IN_FRONT)
            .map(|number| self.good_path(number, 0))
            .collect();
        links.push(match self {
            Self::Calendar => "/events/2026/11".to_owned(),
            Self::SessionInQuery | Self::SessionInPath => "/".to_owned(),
            Self::GrowingPath => "/deep/start/".to_owned(),
            Self::GrowingQuery => "/filter?a=1".to_owned(),
            Self::Pagination => "/list?page=1".to_owned(),
            Self::Maze => "/maze/1".to_owned(),
            Self::Soft404 => "/lost/one".to_owned(),
            Self::LinkFarm => "/links/1".to_owned(),
            Self::Diary => "/diary/2026/11".to_owned(),
            Self::Months => "/when?month=2026-11".to_owned(),
            Self::Facets => "/shop?color=a".to_owned(),
            Self::Folders => "/docs/more/".to_owned(),
            Self::Numbered => "/leaf/1".to_owned(),
            Self::Hosts => format!("http://a.{}:{port}/", Self::WILD),
            Self::Beside(endless) => endless.mouth(),
        });
        Page {
            text: "The front page has a little to say".to_owned(),
            links,
        }
    }

    fn good(self, number: u64, target: &str) -> Page {
        let draw = draw_of(target);
        let mut links = vec!["/".to_owned()];
        if number + GOOD_IN_FRONT < GOOD {
            links.push(self.good_path(number + GOOD_IN_FRONT, draw));
        }
        if matches!(self, Self::SessionInQuery | Self::SessionInPath) {
            // Such sites write their session into every link.
            links.extend((0..GOOD_IN_FRONT).map(|number| self.good_path(number, draw)));
        }
        Page {
            text: words(number ^ 0xF00D, 40),
            links,
        }
    }

    fn inside(self, target: &str, host: &str, port: &str) -> Option<Page> {
        let draw = draw_of(target);
        let number = last_number(target);
        let branch = |k: u64| hash64(draw.wrapping_add(k));
        Some(match self {
            Self::Calendar => calendar(target)?,
            Self::SessionInQuery | Self::SessionInPath | Self::Beside(_) => return None,
            Self::GrowingPath => Page {
                text: words(draw, 20),
                links: (0..3)
                    .map(|k| format!("{}{}/", target, word(branch(k))))
                    .collect(),
            },
            Self::GrowingQuery => Page {
                text: words(draw, 20),
                links: (0..3)
                    .map(|k| format!("{target}&{}=1", word(branch(k))))
                    .collect(),
            },
            Self::Pagination => Page {
                text: format!("Nothing found. You are on page {number}"),
                links: (1..4)
                    .map(|k| format!("/list?page={}", number + k))
                    .chain([format!("/list?page={}", number.saturating_sub(1).max(1))])
                    .collect(),
            },
            Self::Maze => Page {
                text: words(draw, 200),
                links: (0..5)
                    .map(|k| format!("/maze/{}", branch(k) % 1_000_000_000))
                    .collect(),
            },
            Self::Soft404 => Page {
                text: "We are sorry, but that page is not here".to_owned(),
                links: vec![format!("{target}/up"), format!("{target}/{}", word(draw))],
            },
            Self::LinkFarm => Page {
                text: words(draw, 8),
                links: (0..60)
                    .map(|k| format!("/links/{}", branch(k) % 1_000_000_000))
                    .collect(),
            },
            Self::Diary => diary(target)?,
            Self::Months => months(target)?,
            Self::Facets => facets(target)?,
            Self::Folders => Page {
                text: format!("Folder {}", target.len()),
                links: vec!["more/".to_owned(), "other/".to_owned(), "../".to_owned()],
            },
            Self::Numbered => Page {
                text: words(draw, 20),
                links: (number.saturating_sub(5)..=number + 5)
                    .filter(|near| *near != number)
                    .map(|near| format!("/leaf/{near}"))
                    .collect(),
            },
            Self::Hosts => {
                let own = draw_of(host);
                Page {
                    text: words(own, 20),
                    links: (0..4)
                        .map(|k| {
                            let name = word(hash64(own.wrapping_add(k)));
                            format!("http://{name}.{}:{port}/", Self::WILD)
                        })
                        .collect(),
                }
            }
        })
    }
}

struct Page {
    text: String,
    links: Vec<String>,
}

/// The months link to the next, to their days and to the next year; the days to
/// their neighbours.
fn calendar(target: &str) -> Option<Page> {
    let mut parts = target.strip_prefix("/events/")?.split('/');
    let mut number = || parts.next().and_then(|part| part.parse::<u64>().ok());
    let (year, month, day) = (number()?, number()?, number());
    let (next_year, next_month) = if month == 12 {
        (year + 1, 1)
    } else {
        (year, month + 1)
    };
    Some(match day {
        Some(day) => Page {
            text: format!("Events on {day}.{month}.{year}: none"),
            links: vec![
                format!("/events/{year}/{month}/{}", (day % 28) + 1),
                format!("/events/{next_year}/{next_month}/{day}"),
            ],
        },
        None => Page {
            text: format!("Events in {month}/{year}: none"),
            links: (1..29)
                .map(|day| format!("/events/{year}/{month}/{day}"))
                .chain([
                    format!("/events/{next_year}/{next_month}"),
                    format!("/events/{}/{month}", year + 1),
                ])
                .collect(),
        },
    })
}

/// Year and month of a target that has them as its first numbers.
fn year_and_month(target: &str) -> Option<(u64, u64)> {
    let digits = target.split(|c: char| !c.is_ascii_digit());
    let mut numbers = digits.filter_map(|digits| digits.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}

fn months_around((year, month): (u64, u64)) -> [(u64, u64); 2] {
    let at = year * 12 + month - 1;
    [at - 1, at + 1].map(|at| (at / 12, at % 12 + 1))
}

fn diary(target: &str) -> Option<Page> {
    let (year, month) = year_and_month(target)?;
    let text = words(draw_of(target), 30);
    if target.matches('/').count() > 3 {
        let links = vec![format!("/diary/{year}/{month}")];
        return Some(Page { text, links });
    }
    let near = months_around((year, month));
    let near = near
        .iter()
        .map(|(year, month)| format!("/diary/{year}/{month}"));
    let days = (1..=28).map(|day| format!("/diary/{year}/{month}/{day}"));
    let links = days.chain(near).collect();
    Some(Page { text, links })
}

fn months(target: &str) -> Option<Page> {
    let near = months_around(year_and_month(target)?);
    let near = near.iter();
    Some(Page {
        text: words(draw_of(target), 30),
        links: near
            .map(|(year, month)| format!("/when?month={year}-{month:02}"))
            .collect(),
    })
}

/// Links to the same choice with one parameter set or changed.
fn facets(target: &str) -> Option<Page> {
    let query = target.strip_prefix("/shop?")?;
    let mut links = Vec::new();
    for name in ["brand", "color", "price", "size", "sort"] {
        for value in ["a", "b", "c", "d"] {
            let others = query
                .split('&')
                .filter(|pair| pair.split('=').next() != Some(name));
            let mut pairs: Vec<String> = others.map(str::to_owned).collect();
            pairs.push(format!("{name}={value}"));
            pairs.sort();
            links.push(format!("/shop?{}", pairs.join("&")));
        }
    }
    let text = words(draw_of(target), 30);
    Some(Page { text, links })
}

fn good_number(target: &str) -> Option<u64> {
    let (_, after) = target.rsplit_once("good")?;
    let number = after.split_once('x')?.0.parse().ok()?;
    (number < GOOD).then_some(number)
}

fn last_number(target: &str) -> u64 {
    let digits = target.rsplit(|c: char| !c.is_ascii_digit()).next();
    digits.and_then(|digits| digits.parse().ok()).unwrap_or(0)
}

fn draw_of(text: &str) -> u64 {
    text.bytes()
        .fold(7, |draw, byte| hash64(draw ^ u64::from(byte)))
}

/// A word of letters.
fn word(draw: u64) -> String {
    (0..6)
        .map(|at| char::from(b'a' + (draw >> (8 * at)) as u8 % 26))
        .collect()
}

fn words(draw: u64, count: u64) -> String {
    let all: Vec<String> = (0..count)
        .map(|at| word(hash64(draw.wrapping_mul(31).wrapping_add(at))))
        .collect();
    all.join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_front_page_leads_to_good_pages_and_to_the_trap() {
        for trap in Trap::ALL {
            let front = trap.answer("h:81", "/").unwrap();
            let text = String::from_utf8(front.body.to_vec()).unwrap();
            assert_eq!(
                text.matches("good").count(),
                GOOD_IN_FRONT as usize,
                "{trap:?}"
            );
            assert_eq!(trap.good_words().count(), GOOD as usize);
            assert!(trap.answer("h:81", "/robots.txt").is_none());
        }
    }

    #[test]
    fn good_pages_are_told_by_their_number() {
        assert_eq!(good_number("/pages/good7x.html"), Some(7));
        assert_eq!(good_number("/view?page=good23x&visit=0"), Some(23));
        assert_eq!(good_number("/maze/7"), None);
        assert_eq!(good_number("/good99x"), None);
    }
}
