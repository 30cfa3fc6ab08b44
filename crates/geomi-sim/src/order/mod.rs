//! The host orders side by side: equal politeness, equal connections, equal
//! webs, and nothing but the order between them.
//!
//! In a trial every order crawls the same sites with the same round trips, and
//! the n-th request to a site goes the same way. Three regimes say what is
//! short: in [`Regime::Few`] it is the sites' patience, in [`Regime::Many`] the
//! connections, in [`Regime::Limit`] the number of pages one may take.

mod drive;
mod measure;
mod plot;
mod web;

use geomi_frontier::HostOrder;
use serde::Serialize;

pub use drive::CONNECTIONS;
pub use measure::Figures;
use measure::{DECILES, Record};
pub use plot::page as html;
pub use web::{LARGEST, ModelWeb, SMALLEST};

use crate::trials::in_parallel;

/// What is short.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Regime {
    /// Fewer sites than connections: everybody waits for delays.
    Few,
    /// Far more sites than connections: sites wait for their turn.
    Many,
    /// The same, ended after a tenth of the pages.
    Limit,
}

impl Regime {
    /// Every regime.
    pub const ALL: [Self; 3] = [Self::Few, Self::Many, Self::Limit];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Few => "few",
            Self::Many => "many",
            Self::Limit => "limit",
        }
    }

    /// Reads a name written by [`Regime::as_str`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|regime| regime.as_str() == name)
    }

    /// Sites of the web.
    pub const fn sites(self) -> usize {
        match self {
            Self::Few => 200,
            Self::Many | Self::Limit => 20_000,
        }
    }

    /// Pages after which the crawl ends.
    pub const fn pages_max(self) -> Option<u64> {
        match self {
            Self::Few | Self::Many => None,
            Self::Limit => Some(20_000),
        }
    }
}

/// What to compare.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Experiment {
    /// On which webs.
    pub webs: Vec<ModelWeb>,
    /// Which orders.
    pub orders: Vec<HostOrder>,
    /// With what being short.
    pub regimes: Vec<Regime>,
    /// Where the draws begin.
    pub seed: u64,
    /// How often each is drawn.
    pub trials: u64,
}

/// One order on one web.
#[derive(Clone, PartialEq, Debug, Serialize)]
pub struct Row {
    /// The order.
    pub policy: &'static str,
    /// The web.
    pub web: &'static str,
    /// What was short.
    pub regime: &'static str,
    /// Means over the trials.
    #[serde(flatten)]
    pub mean: Figures,
    /// Standard deviations over the trials.
    pub spread: Figures,
    /// The first trial, for plots.
    #[serde(skip)]
    pub(crate) shape: Shape,
}

/// What is drawn of a trial.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Shape {
    /// When each part of the pages was there, in seconds.
    pub(crate) curve_s: Vec<f64>,
    /// Mean wait by decile of round-trip time.
    pub(crate) waits_s: [f64; DECILES],
}

/// Runs an experiment; rows by regime, web and order, as they were asked for.
pub fn compare(experiment: &Experiment) -> Vec<Row> {
    let mut rows = Vec::new();
    for regime in &experiment.regimes {
        for web in &experiment.webs {
            let trials = in_parallel(experiment.trials, |trial| {
                run_trial(experiment, *web, *regime, trial)
            });
            rows.extend(rows_of(experiment, *web, *regime, &trials));
        }
    }
    rows
}

/// Every order through one draw of a web.
fn run_trial(
    experiment: &Experiment,
    web: ModelWeb,
    regime: Regime,
    trial: u64,
) -> Vec<(Figures, Shape)> {
    let sites = web::sites(web, regime.sites(), experiment.seed, trial);
    let draws = experiment.seed ^ trial.wrapping_mul(0x5851_F42D_4C95_7F2D);
    let run = |order: &HostOrder| drive::drive(&sites, *order, draws, regime.pages_max());
    let records: Vec<Record> = experiment.orders.iter().map(run).collect();
    let is_by_turns = |order: &HostOrder| *order == HostOrder::RoundRobin;
    let by_turns = experiment.orders.iter().position(is_by_turns);
    let by_turns = by_turns.map(|at| &records[at]);
    let tell = |record: &Record| {
        let shape = Shape {
            curve_s: record.curve_s(),
            waits_s: record.decile_waits(),
        };
        (record.figures(CONNECTIONS, by_turns), shape)
    };
    records.iter().map(tell).collect()
}

fn rows_of(
    experiment: &Experiment,
    web: ModelWeb,
    regime: Regime,
    trials: &[Vec<(Figures, Shape)>],
) -> Vec<Row> {
    let row = |(at, order): (usize, &HostOrder)| {
        let figures: Vec<Figures> = trials.iter().map(|trial| trial[at].0).collect();
        let (mean, spread) = Figures::over(&figures);
        Row {
            policy: order.as_str(),
            web: web.as_str(),
            regime: regime.as_str(),
            mean,
            spread,
            shape: trials[0][at].1.clone(),
        }
    };
    experiment.orders.iter().enumerate().map(row).collect()
}
