//! Recorded histories: what really happened to pages somebody watched.
//!
//! A history is a table with the columns `url,time[,weight]`, in any order, one row a
//! change; time is RFC 3339 or Unix seconds. A URL that never changed has one row
//! with an empty time. The window runs from the first to the last time; its first
//! third is for learning and not counted. [`rows`] reads CSV: quoted fields are
//! understood, line breaks within them are not, for no URL has any. [`gather`] makes a
//! web of rows, from there or elsewhere.

use std::collections::HashMap;
use std::io::BufRead;

use super::web::{Hours, World, WorldPage};

const DAY_SECONDS: f64 = 86_400.0;
/// The year 2200, in Unix seconds. Milliseconds of any time since April 1970 lie beyond it.
const LATEST: f64 = 7_258_118_400.0;
/// Days of the shortest window that anything can be measured in.
const WINDOW_DAYS_MIN: f64 = 1.0;

/// Why a history cannot be used.
#[derive(Debug)]
#[non_exhaustive]
pub enum HistoryError {
    /// It cannot be read.
    Read(std::io::Error),
    /// There is no first line with the names `url` and `time`.
    Header,
    /// A line is wrong: its number, and what is wrong with it.
    Line(usize, String),
    /// There are not two times that differ.
    NoWindow,
    /// The first and the last time are less than a day apart: so many days.
    ShortWindow(f64),
}

impl std::fmt::Display for HistoryError {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Self::Read(error) => write!(out, "cannot be read: {error}"),
            Self::Header => out.write_str(
                "its first line must name the columns url and time, and may name weight",
            ),
            Self::Line(number, what) => write!(out, "line {number}: {what}"),
            Self::NoWindow => out.write_str(
                "it has no two different times: a window needs a first and a last change",
            ),
            Self::ShortWindow(days) => write!(
                out,
                "its first and last change are {:.1} hours apart: nothing can be measured in less than a day; times are seconds since 1970",
                days * 24.0
            ),
        }
    }
}

impl std::error::Error for HistoryError {}

/// The rows of a history in CSV; `instant` turns RFC 3339 into Unix seconds. An error in
/// a line is told with its number.
pub fn rows(
    lines: impl BufRead,
    instant: impl Fn(&str) -> Option<f64>,
) -> Result<impl Iterator<Item = Result<Row, HistoryError>>, HistoryError> {
    let mut lines = lines.lines();
    let header = lines.next().ok_or(HistoryError::Header)?;
    let columns = Columns::find(&header.map_err(HistoryError::Read)?)?;
    Ok(lines.zip(2..).filter_map(move |(line, number)| {
        let line = match line.map_err(HistoryError::Read) {
            Ok(line) if line.trim().is_empty() => return None,
            Ok(line) => line,
            Err(error) => return Some(Err(error)),
        };
        let row = columns.row(&line, &instant);
        Some(row.map_err(|what| HistoryError::Line(number, what)))
    }))
}

/// A time in Unix seconds, if it can be one; `written` is how it stands in the history.
/// A time in milliseconds would make a window of thousands of years.
pub fn checked_time(seconds: f64, written: &str) -> Result<f64, String> {
    if (0.0..LATEST).contains(&seconds) {
        return Ok(seconds);
    }
    Err(format!(
        "{written} is no time between the years 1970 and 2200: give seconds since 1970"
    ))
}

/// One change of a page, or the page alone.
#[derive(Clone, PartialEq, Debug)]
pub struct Row {
    /// The page.
    pub url: String,
    /// When it changed, in Unix seconds, if it ever did.
    pub time: Option<f64>,
    /// What the page weighs, if that is said.
    pub weight: Option<f64>,
}

/// The web of these rows; the first error ends it.
pub fn gather<E: From<HistoryError>>(
    rows: impl IntoIterator<Item = Result<Row, E>>,
) -> Result<World, E> {
    let mut pages: Vec<WorldPage> = Vec::new();
    let mut places: HashMap<String, usize> = HashMap::new();
    for row in rows {
        let row = row?;
        let place = *places.entry(row.url).or_insert_with_key(|url| {
            pages.push(page(url));
            pages.len() - 1
        });
        pages[place].weight = row.weight.unwrap_or(pages[place].weight);
        pages[place].changes.extend(row.time);
    }
    window(pages).map_err(E::from)
}

fn page(url: &str) -> WorldPage {
    let host = url.split_once("://").map_or(url, |(_, rest)| rest);
    let host = host.split(['/', '?', '#']).next().unwrap_or(host);
    WorldPage {
        url: url.to_owned(),
        site: fnv(host),
        weight: 1.0,
        rate: 0.0,
        hours: Hours::Flat,
        is_noisy: false,
        changes: Vec::new(),
    }
}

/// A number for a name, never 0.
fn fnv(name: &str) -> u64 {
    let hash = name.bytes().fold(0xCBF2_9CE4_8422_2325, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0100_0000_01B3)
    });
    hash | 1
}

/// Cuts the window and counts days from its first time.
fn window(mut pages: Vec<WorldPage>) -> Result<World, HistoryError> {
    let times = || pages.iter().flat_map(|page| page.changes.iter().copied());
    let first = times().fold(f64::INFINITY, f64::min);
    let last = times().fold(f64::NEG_INFINITY, f64::max);
    if last <= first {
        return Err(HistoryError::NoWindow);
    }
    let days = (last - first) / DAY_SECONDS;
    if days < WINDOW_DAYS_MIN {
        return Err(HistoryError::ShortWindow(days));
    }
    for page in &mut pages {
        for change in &mut page.changes {
            *change = (*change - first) / DAY_SECONDS;
        }
        page.changes.sort_by(f64::total_cmp);
        page.changes.dedup();
        page.rate = page.changes.len() as f64 / days;
    }
    Ok(World {
        pages,
        start_unix: Some(first),
        days,
        learning_days: days / 3.0,
    })
}

/// Where the columns are.
struct Columns {
    url: usize,
    time: usize,
    weight: Option<usize>,
}

impl Columns {
    fn find(header: &str) -> Result<Self, HistoryError> {
        let names = fields(header.trim_start_matches('\u{feff}').trim_end());
        let place = |wanted: &str| names.iter().position(|name| name.trim() == wanted);
        Ok(Self {
            url: place("url").ok_or(HistoryError::Header)?,
            time: place("time").ok_or(HistoryError::Header)?,
            weight: place("weight"),
        })
    }

    fn row(&self, line: &str, instant: impl Fn(&str) -> Option<f64>) -> Result<Row, String> {
        let fields = fields(line.trim_end_matches('\r'));
        let field = |at: usize| fields.get(at).map_or("", |field| field.trim());
        let number = |text: &str| text.parse::<f64>().ok().filter(|number| number.is_finite());
        let url = field(self.url).to_owned();
        if url.is_empty() {
            return Err("it has no URL".to_owned());
        }
        let time = match field(self.time) {
            "" => None,
            text => {
                let seconds = number(text).or_else(|| instant(text));
                let seconds = seconds.ok_or_else(|| {
                    format!("{text:?} is no time: write RFC 3339 or Unix seconds")
                })?;
                Some(checked_time(seconds, text)?)
            }
        };
        let weight = match self.weight.map_or("", field) {
            "" => None,
            text => Some(
                number(text)
                    .filter(|weight| *weight > 0.0)
                    .ok_or_else(|| format!("{text:?} is no weight: write a number above 0"))?,
            ),
        };
        Ok(Row { url, time, weight })
    }
}

/// The fields of a line of CSV.
fn fields(line: &str) -> Vec<String> {
    let (mut fields, mut field, mut is_quoted) = (Vec::new(), String::new(), false);
    let mut letters = line.chars().peekable();
    while let Some(letter) = letters.next() {
        match letter {
            '"' if is_quoted && letters.peek() == Some(&'"') => {
                letters.next();
                field.push('"');
            }
            '"' => is_quoted = !is_quoted,
            ',' if !is_quoted => fields.push(std::mem::take(&mut field)),
            other => field.push(other),
        }
    }
    fields.push(field);
    fields
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(text: &str) -> Result<World, HistoryError> {
        gather(rows(text.as_bytes(), |_| Some(864_000.0))?)
    }

    #[test]
    fn rows_become_pages() {
        let text = "time,url,weight\n0,http://a/1,2\n86400,http://a/1,\n,\"http://b/x,y\",\nx,http://a/2,\n";
        let world = of(text).unwrap();
        let urls: Vec<&str> = world.pages.iter().map(|page| page.url.as_str()).collect();
        assert_eq!(urls, ["http://a/1", "http://b/x,y", "http://a/2"]);
        assert_eq!(world.pages[0].changes, [0.0, 1.0]);
        assert!(world.pages[1].changes.is_empty());
        assert_eq!(world.pages[2].changes, [10.0]);
        assert!((world.pages[0].weight - 2.0).abs() < 1e-12);
        assert!((world.learning_days - 10.0 / 3.0).abs() < 1e-12);
        assert_eq!(world.pages[0].site, world.pages[2].site);
        assert_ne!(world.pages[0].site, world.pages[1].site);
    }

    #[test]
    fn what_is_wrong_is_told_with_its_line() {
        let wrong = |text| of(text).unwrap_err().to_string();
        assert!(wrong("a,b\n").contains("url and time"));
        assert!(wrong("url,time\n,5\n").starts_with("line 2: it has no URL"));
        assert!(wrong("url,time,weight\nu,5,-1\n").contains("no weight"));
        assert!(wrong("url,time\nu,5\n").contains("window"));
        assert!(wrong("url,time\nu,5\nu,50000\n").contains("13.9 hours apart"));
        let mut never = rows("url,time\nu,soon\n".as_bytes(), |_| None).unwrap();
        let never = never.next().unwrap();
        assert!(never.unwrap_err().to_string().contains("RFC 3339"));
    }

    #[test]
    fn milliseconds_are_no_seconds() {
        let of = |time: &str| of(&format!("url,time\nu,0\nu,{time}\n"));
        let told = of("1700000000000").unwrap_err().to_string();
        assert!(
            told.starts_with("line 3: 1700000000000 is no time"),
            "{told}"
        );
        assert!(told.ends_with("give seconds since 1970"), "{told}");
        assert!(of("1700000000").is_ok());
        assert!(of("-86400").is_err() && of("7258118400").is_err());
        assert!(checked_time(f64::NAN, "NaN").is_err());
    }
}
