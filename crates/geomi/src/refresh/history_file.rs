//! A recorded history: CSV, Parquet or a crawl. `geomi refresh simulate` tries
//! policies on it, `geomi refresh report` compares its estimates with it.
//!
//! What a crawl saw is coarser than what happened: a change is put at the visit that
//! found it, and several between two visits are one. A history of probes every few
//! minutes is a better judge of policies than one of weekly visits.

use std::fs::File;
use std::io::{BufRead as _, BufReader, Read as _};
use std::path::Path;

use anyhow::Context as _;
use geomi_crawler::refresh::Sighting;
use geomi_model::Timestamp;
use geomi_sim::refresh::history::{self, HistoryError, Row};
use geomi_sim::refresh::web::World;
use geomi_store::StoreError;
use geomi_store::history::{HistoryTime, read_history};

use super::run::PlanArgs;
use super::view::View;
use crate::args::Global;
use crate::config::Problems;

const DAY_SECONDS: f64 = 86_400.0;

/// Why a history cannot be used.
#[derive(Debug)]
enum Unusable {
    History(HistoryError),
    Store(StoreError),
}

impl From<HistoryError> for Unusable {
    fn from(error: HistoryError) -> Self {
        Self::History(error)
    }
}

/// A page that is nobody's, and its changes, in Unix seconds: with them any history
/// has the first and the last change that a web is made of.
const NOBODY: &str = "geomi:window";
const WINDOW: [f64; 2] = [0.0, DAY_SECONDS];

/// Reads a history: a directory is a crawl, a name that ends in `.parquet` a table,
/// anything else CSV.
pub(super) fn read(path: &Path, global: &Global) -> anyhow::Result<World> {
    read_with(path, &[], global)
}

/// The pages of a history and when each changed, in days since 1970. That nothing
/// changed, or everything at once, is a history as well.
pub(super) fn changes(path: &Path, global: &Global) -> anyhow::Result<Vec<(String, Vec<f64>)>> {
    let world = read_with(path, &WINDOW, global)?;
    let start = world.start_unix.unwrap_or(0.0) / DAY_SECONDS;
    let pages = world.pages.into_iter().filter(|page| page.url != NOBODY);
    Ok(pages
        .map(|page| {
            let changes = page.changes.iter().map(|change| start + change);
            (page.url, changes.collect())
        })
        .collect())
}

/// Reads a history in which nobody's page changes at these times too.
fn read_with(path: &Path, more: &[f64], global: &Global) -> anyhow::Result<World> {
    let world = if path.is_dir() {
        let rows = of_crawl(path, global)?;
        history::gather(rows.into_iter().chain(nobodys(more)).map(Ok))
    } else if path.extension().is_some_and(|end| end == "parquet") {
        of_table(path, more)
    } else {
        let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        of_text(file, more)
    };
    world.map_err(|error| match error {
        Unusable::History(error) => Problems::one(format!("{}: {error}", path.display())).into(),
        Unusable::Store(error) => error.into(),
    })
}

fn nobodys(times: &[f64]) -> impl Iterator<Item = Row> {
    times.iter().map(|time| Row {
        url: NOBODY.to_owned(),
        time: Some(*time),
        weight: None,
    })
}

fn of_text(file: File, more: &[f64]) -> Result<World, Unusable> {
    let mut file = BufReader::new(file);
    let mut header = String::new();
    let unread = |error| Unusable::History(HistoryError::Read(error));
    file.read_line(&mut header).map_err(unread)?;
    let lines: String = more
        .iter()
        .map(|time| nobodys_line(&header, *time))
        .collect();
    let text = header.as_bytes().chain(file).chain(lines.as_bytes());
    Ok(history::read(text, instant)?)
}

/// A change of nobody's page as a line under this header.
fn nobodys_line(header: &str, time: f64) -> String {
    let fields =
        header.split(',').map(
            |name| match name.trim_matches(['\u{feff}', '"', ' ', '\r', '\n']) {
                "url" => NOBODY.to_owned(),
                "time" => time.to_string(),
                _ => String::new(),
            },
        );
    format!("\n{}", fields.collect::<Vec<_>>().join(","))
}

fn of_table(path: &Path, more: &[f64]) -> Result<World, Unusable> {
    let rows = read_history(path).map_err(Unusable::Store)?;
    let rows = rows.zip(1..).map(|(row, number)| {
        let row = row.map_err(Unusable::Store)?;
        let wrong = |what: String| Unusable::History(HistoryError::Line(number, what));
        let time = match row.time {
            None => None,
            Some(HistoryTime::Unix(seconds)) => Some(seconds),
            Some(HistoryTime::Text(text)) => {
                Some(instant(&text).ok_or_else(|| wrong(format!("{text:?} is no RFC 3339 time")))?)
            }
        };
        if row.url.is_empty() {
            return Err(wrong("it has no URL".to_owned()));
        }
        if let Some(weight) = row
            .weight
            .filter(|weight| weight.is_nan() || *weight <= 0.0)
        {
            return Err(wrong(format!(
                "{weight} is no weight: write a number above 0"
            )));
        }
        Ok(Row {
            url: row.url,
            time,
            weight: row.weight,
        })
    });
    history::gather(rows.chain(nobodys(more).map(Ok)))
}

/// What the visits of a crawl found.
fn of_crawl(dir: &Path, global: &Global) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    View::open(dir, &PlanArgs::default(), global, |moment| {
        let time = match moment.sighted.kind {
            Sighting::First => None,
            Sighting::Changed => Some(moment.sighted.at * DAY_SECONDS),
            _ => return,
        };
        rows.push(Row {
            url: moment.visit.url.as_str().to_owned(),
            time,
            weight: None,
        });
    })?;
    Ok(rows)
}

/// RFC 3339 as Unix seconds.
fn instant(text: &str) -> Option<f64> {
    let time = Timestamp::parse_rfc3339(text)?;
    Some(time.micros() as f64 / 1e6)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The changes of a file with this text, as global flags do not matter here.
    fn changes_of(text: &str) -> Result<Vec<(String, Vec<f64>)>, String> {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("truth.csv");
        std::fs::write(&path, text).unwrap();
        let file = File::open(&path).unwrap();
        let world = of_text(file, &WINDOW).map_err(|error| format!("{error:?}"))?;
        let pages = world.pages.into_iter().filter(|page| page.url != NOBODY);
        Ok(pages.map(|page| (page.url, page.changes)).collect())
    }

    #[test]
    fn a_history_without_two_times_has_changes() {
        let check = |text: &str, expected: &[(&str, &[f64])]| {
            let found = changes_of(text).unwrap();
            let found: Vec<_> = found.iter().map(|(u, c)| (u.as_str(), &c[..])).collect();
            assert_eq!(found, expected);
        };
        check("url,time\nu,\n", &[("u", &[])]);
        check("\u{feff}weight,time,url\r\n,172800,u", &[("u", &[2.0])]);
        check(
            "url,time\nu,172800\nv,172800\n",
            &[("u", &[2.0]), ("v", &[2.0])],
        );
        assert!(changes_of("a,b\n").unwrap_err().contains("Header"));
        assert!(
            changes_of("url,time\nu,1\n,5\n")
                .unwrap_err()
                .contains("Line(3")
        );
    }
}
