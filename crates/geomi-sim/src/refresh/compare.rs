//! Policies side by side on the same webs.
//!
//! `match_static` is the number people ask for: how many requests a policy needs
//! to be as fresh as the static cycle, as a share of what the cycle needs. It is
//! searched for by running the policy at other budgets; both freshness and
//! requests are measured, in the counted days, never taken from the budget.
//!
//! Webs drawn alike differ: where a few fast pages decide, a policy that needs 2.5
//! times the requests on one needs 3 times on another. So a match has an error: how
//! far, by what the trials differ, the mean of other trials may lie from this one.

use super::kind::PolicyKind;
use super::trial::{Measures, Setup, run};
use super::web::World;

/// Budgets tried in a search, against the one asked for.
const BUDGETS: (f64, f64) = (0.02, 12.0);
/// Runs in a search.
const TRIES_MAX: u32 = 10;
/// Freshness this near to the wanted one is the same.
const NEAR: f64 = 4e-4;
/// A policy that comes this near with the largest budget is as fresh.
const NEAR_ENOUGH: f64 = 2e-3;
/// How freshness grows with the logarithm of the budget, to begin with.
const SLOPE: f64 = 0.18;

/// A line of the comparison: means over the trials.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Row {
    /// The policy.
    pub policy: PolicyKind,
    /// Visits a page a day that were allowed.
    pub budget: f64,
    /// What it came to.
    pub mean: Measures,
    /// How far freshness lies from its mean over trials: the standard deviation.
    pub freshness_spread: f64,
    /// Requests to be as fresh as the static cycle; `None` if no budget that was
    /// tried is enough, or none was searched for.
    pub match_static: Option<Match>,
}

/// What a policy needs to be as fresh as the static cycle.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Match {
    /// Requests, as a share of the cycle's own.
    pub share: f64,
    /// The standard error of `share`; `None` for a single trial.
    pub error: Option<f64>,
}

/// Whether the requests that match the static cycle are searched for, which takes ten
/// times as long as the rest.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Matching {
    /// They are.
    Searched,
    /// They are left out.
    Skipped,
}

/// Runs the policies on all webs; `tell` hears which one is at work.
pub fn compare(
    worlds: &[World],
    policies: &[PolicyKind],
    setup: Setup,
    matching: Matching,
    mut tell: impl FnMut(PolicyKind),
) -> Vec<Row> {
    let base = match matching {
        Matching::Searched => Some(Trials::run(worlds, PolicyKind::Static, setup)),
        Matching::Skipped => None,
    };
    let mut rows = Vec::with_capacity(policies.len());
    for policy in policies.iter().copied() {
        tell(policy);
        let trials = Trials::run(worlds, policy, setup);
        rows.push(Row {
            policy,
            budget: setup.budget,
            mean: trials.mean,
            freshness_spread: spread(trials.all.iter().map(|one| one.freshness)),
            match_static: base
                .as_ref()
                .and_then(|base| search(worlds, policy, setup, base, trials)),
        });
    }
    rows
}

/// A policy's trials at one budget, one a web.
#[derive(Clone)]
struct Trials {
    all: Vec<Measures>,
    mean: Measures,
}

impl Trials {
    /// Each on a thread of its own.
    fn run(worlds: &[World], policy: PolicyKind, setup: Setup) -> Self {
        let setup = setup.of(policy);
        let all: Vec<Measures> = std::thread::scope(|scope| {
            let started: Vec<_> = worlds
                .iter()
                .map(|world| scope.spawn(move || run(world, policy.build(world), setup, |_| {})))
                .collect();
            let joined = started.into_iter().map(std::thread::ScopedJoinHandle::join);
            joined
                .map(|trial| trial.expect("a trial does not panic"))
                .collect()
        });
        let count = all.len() as f64;
        let mean = |field: fn(&Measures) -> f64| all.iter().map(field).sum::<f64>() / count;
        let mean = Measures {
            freshness: mean(|one| one.freshness),
            weighted_freshness: mean(|one| one.weighted_freshness),
            freshness_of_others: mean(|one| one.freshness_of_others),
            mean_age_h: mean(|one| one.mean_age_h),
            requests_per_page_day: mean(|one| one.requests_per_page_day),
        };
        Self { all, mean }
    }
}

/// The standard deviation, of these and no others.
fn spread(values: impl Iterator<Item = f64> + Clone) -> f64 {
    let count = values.clone().count() as f64;
    let mean = values.clone().sum::<f64>() / count;
    let squares = values.map(|value| (value - mean).powi(2));
    (squares.sum::<f64>() / count).sqrt()
}

/// What is matched: freshness as the policy sees it.
fn aim(measures: &Measures, setup: Setup) -> f64 {
    if setup.is_weighted {
        measures.weighted_freshness
    } else {
        measures.freshness
    }
}

/// A budget that was tried, as the logarithm of its share of the one asked for.
struct Tried {
    at: f64,
    trials: Trials,
    missing: f64,
}

fn search(
    worlds: &[World],
    policy: PolicyKind,
    setup: Setup,
    base: &Trials,
    first: Trials,
) -> Option<Match> {
    let missing = |trials: &Trials| aim(&base.mean, setup) - aim(&trials.mean, setup);
    let (mut low, mut high, mut slope) = (BUDGETS.0.ln(), BUDGETS.1.ln(), SLOPE);
    let mut all = vec![Tried {
        at: 0.0,
        missing: missing(&first),
        trials: first,
    }];
    for _ in 0..TRIES_MAX {
        let last = all.last().expect("it begins with one");
        if last.missing.abs() < NEAR {
            break;
        }
        if last.missing > 0.0 {
            low = last.at;
        } else {
            high = last.at;
        }
        let margin = 0.05 * (high - low);
        let at = (last.at + last.missing / slope).clamp(low + margin, high - margin);
        let setup = Setup {
            budget: setup.budget * at.exp(),
            ..setup
        };
        let trials = Trials::run(worlds, policy, setup);
        let next = Tried {
            at,
            missing: missing(&trials),
            trials,
        };
        slope = rise(last, &next);
        all.push(next);
    }
    let (requests, at_match) = matched(&all)?;
    let share = requests / base.mean.requests_per_page_day;
    let ends = |one: &&Tried, other: &&Tried| one.at.total_cmp(&other.at);
    let slope = rise(all.iter().min_by(ends)?, all.iter().max_by(ends)?);
    let pairs = at_match.trials.all.iter().zip(&base.all);
    let ahead = spread(pairs.map(|(one, other)| aim(one, setup) - aim(other, setup)));
    let others = (worlds.len() - 1) as f64;
    share.is_finite().then(|| Match {
        share,
        error: (worlds.len() > 1).then(|| share * ahead / others.sqrt() / slope),
    })
}

/// The requests that are just enough, and the budget that came nearest. A web of few
/// pages may have no budget that comes near: freshness rises in steps. Then it is in
/// proportion between the largest that was not enough and the smallest that was.
fn matched(all: &[Tried]) -> Option<(f64, &Tried)> {
    let requests = |tried: &Tried| tried.trials.mean.requests_per_page_day;
    let nearest = |one: &&Tried, other: &&Tried| one.missing.abs().total_cmp(&other.missing.abs());
    let found = all.iter().min_by(nearest)?;
    let by_budget = |one: &&Tried, other: &&Tried| one.at.total_cmp(&other.at);
    let too_few = all.iter().filter(|one| one.missing > 0.0);
    let enough = all.iter().filter(|one| one.missing <= 0.0);
    let just = match (too_few.max_by(by_budget), enough.min_by(by_budget)) {
        _ if found.missing.abs() < NEAR => requests(found),
        (Some(few), Some(enough)) => {
            let part = few.missing / (few.missing - enough.missing);
            requests(few) + part * (requests(enough) - requests(few))
        }
        (None, Some(enough)) => requests(enough),
        (_, None) if found.missing < NEAR_ENOUGH => requests(found),
        (_, None) => return None,
    };
    Some((just, found))
}

/// How freshness grows with the logarithm of the budget. Trials differ a little from
/// budget to budget: no slope is believed that is far from what freshness can do.
fn rise(from: &Tried, to: &Tried) -> f64 {
    let step = to.at - from.at;
    if step.abs() < f64::EPSILON {
        return SLOPE;
    }
    let rise = (from.missing - to.missing) / step;
    rise.clamp(0.03, 0.6)
}

/// Freshness, as the policy sees it, at several budgets: the points of a curve.
pub fn curve(
    worlds: &[World],
    policy: PolicyKind,
    setup: Setup,
    shares: &[f64],
) -> Vec<(f64, f64)> {
    let point = |share: &f64| {
        let setup = Setup {
            budget: setup.budget * share,
            ..setup
        };
        let mean = Trials::run(worlds, policy, setup).mean;
        (mean.requests_per_page_day, aim(&mean, setup))
    };
    shares.iter().map(point).collect()
}

#[cfg(test)]
mod tests {
    use super::super::web::ModelWeb;
    use super::*;

    const SETUP: Setup = Setup {
        budget: 1.0 / 7.0,
        learn: 1.0,
        is_weighted: false,
    };

    fn draw(seed: u64, trials: u32) -> Vec<World> {
        let trials = 0..trials;
        trials
            .map(|trial| ModelWeb::Web.draw(seed, trial))
            .collect()
    }

    fn match_of(worlds: &[World], policy: PolicyKind) -> Match {
        let rows = compare(worlds, &[policy], SETUP, Matching::Searched, |_| {});
        rows[0].match_static.expect("a budget is enough")
    }

    #[test]
    fn the_static_cycle_matches_itself() {
        let found = match_of(&draw(1, 2), PolicyKind::Static);
        let expected = Match {
            share: 1.0,
            error: Some(0.0),
        };
        assert_eq!(found, expected);
    }

    #[test]
    fn one_trial_tells_no_error() {
        assert_eq!(match_of(&draw(1, 1), PolicyKind::Group6).error, None);
    }

    #[test]
    fn other_trials_lie_as_far_off_as_the_error_says() {
        let found: Vec<Match> = (1..=12)
            .map(|seed| match_of(&draw(seed, 3), PolicyKind::Group6))
            .collect();
        let shares = spread(found.iter().map(|one| one.share));
        let errors = found.iter().filter_map(|one| one.error);
        let error = errors.sum::<f64>() / found.len() as f64;
        assert!((0.5..2.0).contains(&(error / shares)), "{error}, {shares}");
    }
}
