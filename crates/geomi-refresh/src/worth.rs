//! What a fresh copy is worth by the time of day.
//!
//! For a page of known rate and shape and a price of a request, the best plan is
//! a matter of one number a part of the day: the worth of having a fresh copy
//! then. It is found backwards from a far horizon: a copy made at a time is worth
//! the fresh time until the next visit, less the price of that visit, plus what
//! a copy is worth then, with the next visit placed where that sum is greatest.
//! Far from the horizon the worth falls by the same amount every day, the **yield** of
//! the page; what is left over is its course through the day.

use std::collections::HashMap;

use crate::policy::best_gap;
use crate::rates::{RATES, rate};
use crate::shape::{PARTS, PerPart, SHAPES, Shape, shapes};

/// Parts a gap may have: 14 days.
pub(crate) const GAP_PARTS: usize = 14 * PARTS;
/// Parts to the horizon.
const HORIZON: usize = 36 * PARTS;
/// Prices are told apart by a twelfth in the logarithm.
const CELLS: f64 = 12.0;
/// Rates below this, a day, do not care for the hour.
const SLOW: f64 = 0.03;

/// For each part of the day the share of freshness below which a visit is better than
/// waiting: the yield less how the worth grows in that part.
type Thresholds = PerPart;

/// Thresholds that have been asked for.
#[derive(Clone, Debug, Default)]
pub(crate) struct Worths {
    found: HashMap<i32, Vec<Option<Thresholds>>>,
}

impl Worths {
    /// The thresholds of all shapes and rates at a price, as a table to read from.
    pub(crate) fn at(&mut self, price: f64) -> Cell<'_> {
        let cell = (price.max(1e-9).ln() * CELLS).round();
        let empty = || vec![None; SHAPES * RATES];
        Cell {
            price: (cell / CELLS).exp(),
            found: self.found.entry(cell as i32).or_insert_with(empty),
        }
    }
}

/// The thresholds at one price.
pub(crate) struct Cell<'a> {
    price: f64,
    found: &'a mut Vec<Option<Thresholds>>,
}

impl Cell<'_> {
    /// Those of a shape and a rate; computed when they are first asked for.
    pub(crate) fn of(&mut self, shape: usize, at: usize) -> &Thresholds {
        let price = self.price;
        self.found[shape * RATES + at].get_or_insert_with(|| {
            let rate = rate(at);
            if shape == 0 || rate < SLOW {
                return [steady(rate, price) as f32; PARTS];
            }
            solve(&shapes()[shape], rate, price)
        })
    }
}

/// Without hours: the freshness at which a visit is due, which is also the yield.
fn steady(rate: f64, price: f64) -> f64 {
    let gap = best_gap(rate, price);
    if gap.is_infinite() {
        return 0.0;
    }
    (-rate * gap).exp()
}

fn solve(shape: &Shape, rate: f64, price: f64) -> Thresholds {
    let part_days = 1.0 / PARTS as f64;
    // Of a copy that is right when a part begins: the share still right at its
    // end, and the days it was right within.
    let passed: [(f64, f64); PARTS] = std::array::from_fn(|part| {
        let x = rate * shape.rate(part) * part_days;
        let right = if x < 1e-9 { 1.0 } else { -(-x).exp_m1() / x };
        ((-x).exp(), right * part_days)
    });
    // worth[t]: of a copy made t parts after the start, seen from there.
    let mut worth = vec![0.0_f64; HORIZON + 1];
    for made in (0..HORIZON).rev() {
        let (mut right, mut days, mut best) = (1.0, 0.0, 0.0_f64);
        for next in made + 1..=HORIZON.min(made + GAP_PARTS) {
            let (kept, within) = passed[(next - 1) % PARTS];
            days += right * within;
            right *= kept;
            best = best.max(days - price + worth[next]);
            if right < 1e-3 && next > made + 2 * PARTS {
                break;
            }
        }
        worth[made] = best.max(days);
    }
    // Two days in, the horizon is far away.
    let a_day = worth[0] - worth[PARTS];
    std::array::from_fn(|part| {
        let slope = (worth[part + 1] - worth[part] + a_day * part_days) / part_days;
        (a_day - slope) as f32
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn without_hours_it_is_the_optimal_gap() {
        let flat = solve(&shapes()[0], 1.0, 0.3);
        let expected = steady(1.0, 0.3) as f32;
        for threshold in flat {
            assert!((threshold - expected).abs() < 0.05, "{flat:?} {expected}");
        }
    }

    #[test]
    fn a_copy_is_worth_most_when_the_busy_hours_are_over() {
        // Busy from 09 to 18: parts 3 to 5.
        let day = 1 + 3;
        let worth = solve(&shapes()[day], 2.0, 0.3);
        let least = (0..PARTS).min_by(|a, b| worth[*a].total_cmp(&worth[*b]));
        // In the last busy part waiting is best of all: its end is near.
        assert_eq!(least, Some(5), "{worth:?}");
    }
}
