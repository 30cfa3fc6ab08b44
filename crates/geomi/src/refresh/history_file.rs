//! A recorded history: CSV, Parquet or a crawl. `geomi refresh simulate` tries
//! policies on it, `geomi refresh report` compares its estimates with it.
//!
//! What a crawl saw is coarser than what happened: a change is put at the visit that
//! found it, and several between two visits are one. A history of probes every few
//! minutes is a better judge of policies than one of weekly visits.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::Context as _;
use geomi_model::Timestamp;
use geomi_refresh::upkeep::Sighting;
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

/// Reads a history as a web that policies can be tried on.
pub(super) fn read(path: &Path, global: &Global) -> anyhow::Result<World> {
    with_rows(path, global, |rows| history::gather(rows))
}

/// The pages of a history and when each changed, in days since 1970. That nothing
/// changed, or everything at once, is a history as well.
pub(super) fn changes(path: &Path, global: &Global) -> anyhow::Result<BTreeMap<String, Vec<f64>>> {
    with_rows(path, global, by_page)
}

fn by_page(rows: &mut Rows<'_>) -> Result<BTreeMap<String, Vec<f64>>, Unusable> {
    let mut pages: BTreeMap<String, Vec<f64>> = BTreeMap::new();
    for row in rows {
        let Row { url, time, .. } = row?;
        let changes = pages.entry(url).or_default();
        changes.extend(time.map(|seconds| seconds / DAY_SECONDS));
    }
    for changes in pages.values_mut() {
        changes.sort_by(f64::total_cmp);
    }
    Ok(pages)
}

type Rows<'a> = dyn Iterator<Item = Result<Row, Unusable>> + 'a;

/// Hands the rows of a history on: a directory is a crawl, a name that ends in `.parquet`
/// a table, anything else CSV.
fn with_rows<T>(
    path: &Path,
    global: &Global,
    take: impl FnOnce(&mut Rows<'_>) -> Result<T, Unusable>,
) -> anyhow::Result<T> {
    let taken = if path.is_dir() {
        take(&mut of_crawl(path, global)?.into_iter().map(Ok))
    } else if path.extension().is_some_and(|end| end == "parquet") {
        of_table(path).and_then(|mut rows| take(&mut rows))
    } else {
        let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        of_text(BufReader::new(file)).and_then(|mut rows| take(&mut rows))
    };
    taken.map_err(|error| match error {
        Unusable::History(error) => Problems::one(format!("{}: {error}", path.display())).into(),
        Unusable::Store(error) => error.into(),
    })
}

fn of_text(lines: impl BufRead) -> Result<impl Iterator<Item = Result<Row, Unusable>>, Unusable> {
    let rows = history::rows(lines, instant)?;
    Ok(rows.map(|row| row.map_err(Unusable::History)))
}

fn of_table(path: &Path) -> Result<impl Iterator<Item = Result<Row, Unusable>>, Unusable> {
    let rows = read_history(path).map_err(Unusable::Store)?;
    Ok(rows.zip(1..).map(|(row, number)| {
        let row = row.map_err(Unusable::Store)?;
        let wrong = |what: String| Unusable::History(HistoryError::Line(number, what));
        let time = row.time.map(time_of).transpose().map_err(wrong)?;
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
    }))
}

/// The time of a row in Unix seconds, or what is wrong with it.
fn time_of(time: HistoryTime) -> Result<f64, String> {
    match time {
        HistoryTime::Unix(seconds) => history::checked_time(seconds, &seconds.to_string()),
        HistoryTime::Text(text) => {
            let seconds = instant(&text);
            let seconds = seconds.ok_or_else(|| format!("{text:?} is no RFC 3339 time"))?;
            history::checked_time(seconds, &text)
        }
    }
}

/// What the visits of a crawl found.
fn of_crawl(dir: &Path, global: &Global) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    View::open(dir, &PlanArgs::default(), global, |moment| {
        let time = match moment.sighted.kind {
            Sighting::First => None,
            Sighting::Changed => Some(moment.visit.time.micros() as f64 / 1e6),
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

    fn changes_of(text: &str) -> Result<BTreeMap<String, Vec<f64>>, Unusable> {
        by_page(&mut of_text(text.as_bytes())?)
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
            "url,time\nu,172800\nv,172800\nu,86400\n",
            &[("u", &[1.0, 2.0]), ("v", &[2.0])],
        );
        let wrong = |text: &str| format!("{:?}", changes_of(text).unwrap_err());
        assert!(wrong("a,b\n").contains("Header"));
        assert!(wrong("url,time\nu,1\n,5\n").contains("Line(3"));
    }
}
