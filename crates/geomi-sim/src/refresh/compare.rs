//! Policies side by side on the same webs.
//!
//! `match_static` is the number people ask for: how many requests a policy needs
//! to be as fresh as the static cycle, as a share of what the cycle needs. It is
//! searched for by running the policy at other budgets; both freshness and
//! requests are measured, in the counted days, never taken from the budget.

use super::kind::PolicyKind;
use super::trial::{Measures, Setup, run};
use super::web::World;

/// Budgets tried in a search, against the one asked for.
const BUDGETS: (f64, f64) = (0.02, 12.0);
/// Runs in a search.
const TRIES_MAX: u32 = 10;
/// Freshness this near to the wanted one is the same.
const NEAR: f64 = 4e-4;
/// A single web may have no budget that comes as near: freshness does not rise evenly.
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
    /// Requests to be as fresh as the static cycle, as a share of its own; `None`
    /// if no budget that was tried is enough.
    pub match_static: Option<f64>,
}

/// Runs the policies on all webs; `tell` hears which one is at work.
pub fn compare(
    worlds: &[World],
    policies: &[PolicyKind],
    setup: Setup,
    mut tell: impl FnMut(PolicyKind),
) -> Vec<Row> {
    let base = means(worlds, PolicyKind::Static, setup).0;
    let mut rows = Vec::with_capacity(policies.len());
    for policy in policies.iter().copied() {
        tell(policy);
        let (mean, freshness_spread) = means(worlds, policy, setup);
        rows.push(Row {
            policy,
            budget: setup.budget,
            mean,
            freshness_spread,
            match_static: match policy {
                PolicyKind::Static => Some(1.0),
                other => search(worlds, other, setup, &base, &mean),
            },
        });
    }
    rows
}

/// What is matched: freshness as the policy sees it.
fn aim(measures: &Measures, setup: Setup) -> f64 {
    if setup.is_weighted {
        measures.weighted_freshness
    } else {
        measures.freshness
    }
}

fn search(
    worlds: &[World],
    policy: PolicyKind,
    setup: Setup,
    base: &Measures,
    first: &Measures,
) -> Option<f64> {
    let wanted = aim(base, setup);
    let (mut low, mut high) = (BUDGETS.0.ln(), BUDGETS.1.ln());
    let (mut at, mut found, mut slope) = (0.0_f64, *first, SLOPE);
    let mut nearest = (f64::INFINITY, *first);
    for _ in 0..=TRIES_MAX {
        let missing = wanted - aim(&found, setup);
        if missing.abs() < nearest.0 {
            nearest = (missing.abs(), found);
        }
        if missing.abs() < NEAR {
            break;
        }
        if missing > 0.0 {
            low = at;
        } else {
            high = at;
        }
        let margin = 0.05 * (high - low);
        let next = (at + missing / slope).clamp(low + margin, high - margin);
        let setup = Setup {
            budget: setup.budget * next.exp(),
            ..setup
        };
        let tried = means(worlds, policy, setup).0;
        let rise = (aim(&tried, setup) - aim(&found, setup)) / (next - at);
        // Trials differ a little from budget to budget: no slope is believed that
        // is far from what freshness can do.
        slope = rise.clamp(0.03, 0.6);
        (at, found) = (next, tried);
    }
    let (missing, found) = nearest;
    (missing < NEAR_ENOUGH).then(|| found.requests_per_page_day / base.requests_per_page_day)
}

/// Means over all webs, each on a thread of its own, and the spread of freshness.
fn means(worlds: &[World], policy: PolicyKind, setup: Setup) -> (Measures, f64) {
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
    let means = Measures {
        freshness: mean(|one| one.freshness),
        weighted_freshness: mean(|one| one.weighted_freshness),
        freshness_of_others: mean(|one| one.freshness_of_others),
        mean_age_h: mean(|one| one.mean_age_h),
        requests_per_page_day: mean(|one| one.requests_per_page_day),
    };
    let squares = all
        .iter()
        .map(|one| (one.freshness - means.freshness).powi(2));
    (means, (squares.sum::<f64>() / count).sqrt())
}

/// Freshness at several budgets: the points of a curve.
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
        let mean = means(worlds, policy, setup).0;
        (mean.requests_per_page_day, mean.freshness)
    };
    shares.iter().map(point).collect()
}
