//! What is believed of one page: how often it changes, and when.
//!
//! A rule that knows no hours believes a rate. [`Clock`](crate::policy::Clock) believes
//! a rate and a profile of the week: then days do not all count the same, and what
//! matters is how many days of the mean rate lie between two times
//! ([`Belief::mean_days`]). A prediction is made with the profile and not with every
//! shape the page may have, as the plan is (`course`).

use crate::policy::Profile;
use crate::posterior::Posterior;
use crate::rates::rates;
use crate::shape::PARTS;
use crate::week::{WEEK, day_of};

/// Below this probability of a change nothing tells when it was: the numbers are too
/// small to divide.
const CHANGE_MIN: f64 = 1e-4;

/// What is believed of a page.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Belief {
    /// How often it changes.
    pub rates: Posterior,
    /// At which hours and on which days, if that has proven itself.
    pub profile: Option<Profile>,
}

impl Belief {
    /// One of a page that changes at any hour alike.
    pub fn steady(rates: Posterior) -> Self {
        Self {
            rates,
            profile: None,
        }
    }

    /// The probability that a copy made at one time is right at another.
    pub fn fresh(&self, from: f64, to: f64) -> f64 {
        self.rates.fresh(self.mean_days(from, to))
    }

    /// Days since the first change that a copy made at one time lacks at another, on
    /// average. How many changes there are goes by hours and days; between the two times
    /// they are taken to fall evenly, which is off by some hours for a page that changes
    /// by day only.
    pub fn age(&self, from: f64, to: f64) -> f64 {
        let gap = (to - from).max(0.0);
        if gap <= 0.0 {
            return 0.0;
        }
        let pace = self.mean_days(from, to) / gap;
        let terms = self.rates.0.iter().zip(rates());
        let term = |(p, rate): (&f32, &f32)| {
            let r = (f64::from(*rate) * pace).max(f64::MIN_POSITIVE);
            f64::from(*p) * (gap + (-r * gap).exp_m1() / r)
        };
        terms.map(term).sum()
    }

    /// The same of a copy of which it is known that it was wrong by then.
    pub fn age_if_stale(&self, from: f64, to: f64) -> f64 {
        let gap = (to - from).max(0.0);
        let stale = 1.0 - self.fresh(from, to);
        if stale < CHANGE_MIN {
            return gap / 2.0;
        }
        (self.age(from, to) / stale).min(gap)
    }

    /// Days of the mean rate between two times; none if the second is the earlier one.
    pub fn mean_days(&self, from: f64, to: f64) -> f64 {
        let gap = (to - from).max(0.0);
        let Some(profile) = &self.profile else {
            return gap;
        };
        // Whole weeks are what they are.
        let weeks = (gap / WEEK as f64).floor() * WEEK as f64;
        let (mut sum, mut now) = (weeks, from + weeks);
        while now < to {
            let day = now.floor();
            let end = (day + 1.0).min(to);
            let hours = until(&profile.hours, end - day) - until(&profile.hours, now - day);
            sum += f64::from(profile.days[day_of(now)]) * hours;
            now = end;
        }
        sum
    }
}

/// Days of the mean rate from midnight to a time of the day.
fn until(hours: &[f32; PARTS], time: f64) -> f64 {
    let place = time * PARTS as f64;
    let terms = hours.iter().enumerate().map(|(part, rate)| {
        let within = (place - part as f64).clamp(0.0, 1.0);
        f64::from(*rate) * within
    });
    terms.sum::<f64>() / PARTS as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Twice as much by day as on average, nothing by night; nothing on days 5 and 6.
    fn by_day(rate: f64) -> Belief {
        let busy = |part: usize| if (2..6).contains(&part) { 2.0 } else { 0.0 };
        let mut days = [7.0 / 5.0; WEEK];
        days[5..].fill(0.0);
        Belief {
            rates: Posterior::known(rate),
            profile: Some(Profile {
                hours: std::array::from_fn(busy),
                days,
            }),
        }
    }

    #[test]
    fn time_passes_by_the_hours_and_days_of_the_page() {
        let belief = by_day(1.0);
        let check = |from: f64, to: f64, days: f64| {
            let found = belief.mean_days(from, to);
            assert!((found - days).abs() < 1e-6, "{from} to {to}: {found}");
        };
        // From 6 to 18 o'clock, all of the first day; then nothing until the morning.
        check(0.25, 0.75, 1.4);
        check(0.75, 1.25, 0.0);
        check(0.5, 1.5, 1.4);
        // A weekend, and whole weeks from any time on.
        check(5.0, 7.0, 0.0);
        check(3.3, 3.3 + 21.0, 21.0);
        check(3.0, 2.0, 0.0);
        assert!((belief.fresh(0.75, 1.25) - 1.0).abs() < 1e-6);
        assert!(belief.fresh(0.25, 0.75) < 0.3);
        let steady = Belief::steady(Posterior::known(1.0));
        assert!((steady.mean_days(0.75, 1.25) - 0.5).abs() < 1e-9);
    }

    #[test]
    fn age_grows_from_nothing_to_the_gap() {
        let age = |rate: f64| Belief::steady(Posterior::known(rate)).age(5.0, 6.0);
        assert!(age(0.001) < 0.001);
        assert!((age(40.0) - 0.975).abs() < 0.01);
        assert!(
            by_day(40.0).age(0.75, 1.25).abs() < 1e-9,
            "nothing at night"
        );
    }

    #[test]
    fn a_copy_that_is_wrong_has_been_so_for_half_of_the_gap_or_longer() {
        let age = |rate: f64| Belief::steady(Posterior::known(rate)).age_if_stale(5.0, 7.0);
        assert!((age(0.0005) - 1.0).abs() < 0.01, "{}", age(0.0005));
        assert!(age(1.0) > 1.1, "{}", age(1.0));
        assert!((1.9..=2.0).contains(&age(40.0)), "{}", age(40.0));
    }
}
