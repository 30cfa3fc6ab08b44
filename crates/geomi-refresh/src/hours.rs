//! Hours of the week in which a plan is silent, or reduced.
//!
//! Each hour has a share, from 0 for silence to 1. Budgets fill by a clock that
//! runs that fast: [`Hours::clock`]. So a plan that is silent at night spends what
//! it may in the day, and no day, and no hour, is over its budget.

/// Hours of a week.
pub const WEEK_HOURS: usize = 7 * 24;
const DAY_HOURS: usize = 24;

/// How much of each hour is used. Hours are counted from day 0 of the plan.
#[derive(Clone, PartialEq, Debug)]
pub struct Hours {
    shares: [f64; WEEK_HOURS],
    /// Hours of the clock from the start of the week until each hour begins.
    until: [f64; WEEK_HOURS + 1],
    of_busiest_day: f64,
}

impl Hours {
    /// From the share of each hour; `None` if all are silent.
    pub fn new(shares: [f64; WEEK_HOURS]) -> Option<Self> {
        let shares = shares.map(|share| share.clamp(0.0, 1.0));
        let mut until = [0.0; WEEK_HOURS + 1];
        for (hour, share) in shares.iter().enumerate() {
            until[hour + 1] = until[hour] + share;
        }
        (until[WEEK_HOURS] > 0.0).then_some(Self {
            shares,
            until,
            of_busiest_day: busiest_day(&shares),
        })
    }

    /// The share of the hour of a time.
    pub fn share(&self, at: f64) -> f64 {
        self.shares[Self::place(at).1]
    }

    /// A time itself if it is in an hour that is used, or when the next one begins.
    pub fn next_open(&self, at: f64) -> f64 {
        let (week, hour, _) = Self::place(at);
        let later = (hour..hour + WEEK_HOURS).find(|hour| self.shares[hour % WEEK_HOURS] > 0.0);
        let open = later.expect("an hour of the week is used");
        if open == hour {
            return at;
        }
        (week * WEEK_HOURS as f64 + open as f64) / DAY_HOURS as f64
    }

    /// Days of the clock until a time.
    pub(crate) fn clock(&self, at: f64) -> f64 {
        let (week, hour, part) = Self::place(at);
        let in_week = self.until[hour] + self.shares[hour] * part;
        (week * self.until[WEEK_HOURS] + in_week) / DAY_HOURS as f64
    }

    /// The time at which the clock shows so many days.
    pub(crate) fn when(&self, clock: f64) -> f64 {
        let whole = self.until[WEEK_HOURS];
        let hours = clock * DAY_HOURS as f64;
        let week = (hours / whole).floor();
        let rest = hours - week * whole;
        // The hour in which the clock gets there is one that is used.
        let hour = self.until.partition_point(|until| *until < rest).max(1) - 1;
        let share = self.shares[hour.min(WEEK_HOURS - 1)];
        let part = if share > 0.0 {
            (rest - self.until[hour]) / share
        } else {
            0.0
        };
        (week * WEEK_HOURS as f64 + hour as f64 + part) / DAY_HOURS as f64
    }

    /// The share of a week that is used.
    pub fn of_week(&self) -> f64 {
        self.until[WEEK_HOURS] / WEEK_HOURS as f64
    }

    /// The share of the day, beginning at any time, of which most is used.
    pub(crate) fn of_busiest_day(&self) -> f64 {
        self.of_busiest_day
    }

    /// The week, the hour of it and the part of that.
    fn place(at: f64) -> (f64, usize, f64) {
        let hours = at * DAY_HOURS as f64;
        let week = (hours / WEEK_HOURS as f64).floor();
        let in_week = hours - week * WEEK_HOURS as f64;
        let hour = (in_week as usize).min(WEEK_HOURS - 1);
        (week, hour, in_week - hour as f64)
    }
}

/// The clock is straight within an hour: one of them begins the busiest day.
fn busiest_day(shares: &[f64; WEEK_HOURS]) -> f64 {
    let day = |from: usize| {
        let hours = (from..from + DAY_HOURS).map(|hour| shares[hour % WEEK_HOURS]);
        hours.sum::<f64>()
    };
    let most = (0..WEEK_HOURS).map(day).fold(0.0, f64::max);
    most / DAY_HOURS as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Silent from 22 to 6, half from 6 to 9, and all of the first day.
    fn hours() -> Hours {
        let share = |hour: usize| match (hour / 24, hour % 24) {
            (0, _) | (_, 0..6 | 22..) => 0.0,
            (_, 6..9) => 0.5,
            _ => 1.0,
        };
        Hours::new(std::array::from_fn(share)).unwrap()
    }

    #[test]
    fn the_clock_runs_by_the_shares_and_back() {
        let hours = hours();
        let at = |day: f64, hour: f64| day + hour / 24.0;
        let passed = |from, to| (hours.clock(to) - hours.clock(from)) * 24.0;
        assert!(passed(at(0.0, 0.0), at(1.0, 6.0)).abs() < 1e-9);
        assert!((passed(at(1.0, 5.0), at(1.0, 8.0)) - 1.0).abs() < 1e-9);
        assert!((passed(at(1.0, 21.0), at(2.0, 7.0)) - 1.5).abs() < 1e-9);
        assert!((hours.of_week() - 6.0 * 14.5 / 168.0).abs() < 1e-9);
        assert!((hours.of_busiest_day() - 14.5 / 24.0).abs() < 1e-9);
        for step in 0..2_000 {
            let time = 20_500.0 + f64::from(step) * 0.013;
            // Silence is one moment of the clock.
            let back = hours.next_open(hours.when(hours.clock(time)) + 1e-9);
            let open = hours.next_open(time + 1e-9);
            assert!((back - open).abs() < 1e-6, "{time} {back} {open}");
        }
    }

    #[test]
    fn silence_ends_with_the_next_hour_that_is_used() {
        let hours = hours();
        assert!((hours.next_open(0.3) - 1.25).abs() < 1e-9);
        assert!((hours.next_open(1.5) - 1.5).abs() < 1e-9);
        assert!(
            (hours.next_open(6.95) - 8.25).abs() < 1e-9,
            "over the end of the week"
        );
        assert_eq!(Hours::new([0.0; WEEK_HOURS]), None);
    }
}
