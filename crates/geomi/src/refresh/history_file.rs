//! A recorded history for `geomi refresh simulate`: CSV, Parquet or a crawl.
//!
//! What a crawl saw is coarser than what happened: a change is put at the visit that
//! found it, and several between two visits are one. A history of probes every few
//! minutes is a better judge of policies than one of weekly visits.

use std::fs::File;
use std::io::BufReader;
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

/// Reads a history: a directory is a crawl, a name that ends in `.parquet` a table,
/// anything else CSV.
pub(super) fn read(path: &Path, global: &Global) -> anyhow::Result<World> {
    let world = if path.is_dir() {
        let rows = of_crawl(path, global)?;
        history::gather(rows.into_iter().map(Ok))
    } else if path.extension().is_some_and(|end| end == "parquet") {
        of_table(path)
    } else {
        let file = File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
        history::read(BufReader::new(file), instant).map_err(Unusable::History)
    };
    world.map_err(|error| match error {
        Unusable::History(error) => Problems::one(format!("{}: {error}", path.display())).into(),
        Unusable::Store(error) => error.into(),
    })
}

fn of_table(path: &Path) -> Result<World, Unusable> {
    let rows = read_history(path).map_err(Unusable::Store)?;
    history::gather(rows.zip(1..).map(|(row, number)| {
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
    }))
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
