//! Rates by rules of thumb, as baselines for the [posterior](crate::Posterior).
//!
//! All are in changes a day, from visits that each found a change or not.

/// Changes found by the time watched: what everybody computes first. It can never
/// say more than one change a visit, so fast pages look slow.
pub fn naive(changes: u32, days: f64) -> f64 {
    if days <= 0.0 {
        return 0.0;
    }
    f64::from(changes) / days
}

/// Cho and Garcia-Molina's estimator for visits at one gap, `n` in all of which
/// `x` found a change: `-ln((n - x + 0.5) / (n + 0.5)) / gap`. The halves keep it
/// finite and nearly without bias.
pub fn reduced_bias(visits: u32, changes: u32, gap_days: f64) -> f64 {
    // The logarithm of one would make this a zero below zero.
    if visits == 0 || changes == 0 || gap_days <= 0.0 {
        return 0.0;
    }
    let still = f64::from(visits.saturating_sub(changes)) + 0.5;
    -(still / (f64::from(visits) + 0.5)).ln() / gap_days
}

/// The most likely rate for visits at gaps of any lengths: where changes found
/// and time without them balance. Infinite if every visit found a change.
pub fn irregular_mle(visits: &[(f64, bool)]) -> f64 {
    let quiet: f64 = visits
        .iter()
        .filter(|visit| !visit.1)
        .map(|visit| visit.0)
        .sum();
    let found = || visits.iter().filter(|visit| visit.1).map(|visit| visit.0);
    if found().next().is_none() {
        return 0.0;
    }
    if quiet <= 0.0 {
        return f64::INFINITY;
    }
    // The sum of gap / (e^(rate gap) - 1) over changes falls with the rate.
    let surplus = |rate: f64| found().map(|gap| gap / (rate * gap).exp_m1()).sum::<f64>() - quiet;
    let (mut low, mut high) = (1e-9_f64, 1e6_f64);
    for _ in 0..100 {
        let middle = (low * high).sqrt();
        if surplus(middle) > 0.0 {
            low = middle;
        } else {
            high = middle;
        }
    }
    (low * high).sqrt()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn regular_gaps_agree() {
        // 10 visits a day apart, 6 changes: -ln(4/10) is the most likely.
        let visits: Vec<_> = (0..10).map(|at| (1.0, at < 6)).collect();
        let mle = irregular_mle(&visits);
        assert!((mle + 0.4_f64.ln()).abs() < 1e-6, "{mle}");
        let reduced = reduced_bias(10, 6, 1.0);
        assert!((reduced + (4.5_f64 / 10.5).ln()).abs() < 1e-12);
        assert!(naive(6, 10.0) < reduced && reduced < mle);
    }

    #[test]
    fn ends_are_told() {
        assert!(irregular_mle(&[(1.0, false)]).abs() < 1e-12);
        assert!(irregular_mle(&[(1.0, true)]).is_infinite());
        assert!(reduced_bias(5, 5, 1.0).is_finite());
        assert!(reduced_bias(5, 0, 1.0).is_sign_positive());
        assert!(naive(1, 0.0).abs() < 1e-12);
    }
}
