//! Days of the week on which changes fall.
//!
//! Hours are a matter of the page ([`rhythm`](crate::rhythm)), days one of the site: an
//! office rests at the weekend, a club does not. So seven factors with a mean of one
//! are learned for every site, and for all pages together; a site's are drawn from
//! those of all by as much as few changes of it were seen. Sites of a few pages count as one
//! site. A page's profile of the week is its hours times its site's days.
//!
//! They are learned by expectation: a visit that finds a change spreads it over the days
//! since the last one, as they are believed to have brought it, and one that finds
//! none counts as time without. Gaps of more than half a week say next to nothing. What
//! a week has shown is taken in when it is over, as shares of its changes: what is
//! believed of rates moves with time, above all in the first weeks, and must not be
//! taken for a matter of days.
//!
//! Days are used only where they have proven themselves: every visit is predicted
//! from the weeks before, with days and without, and the logarithms of the two
//! predictions are summed up, for all pages and for each site. As long as either sum
//! is against days, all days of the site count as the same.

use crate::policy::Sight;
use crate::posterior::Posterior;

/// Days of a week.
pub(crate) const WEEK: usize = 7;
/// A number for every day of the week; the first is that of day 0.
pub(crate) type PerDay = [f32; WEEK];
/// All days alike.
pub(crate) const EVEN: PerDay = [1.0; WEEK];

/// The longest gap that says something of days.
const GAP_MAX: f64 = 3.5;
/// Changes expected in a gap beyond which finding one says nothing.
const EXPECTED_MAX: f64 = 3.0;
/// Changes a day of a site that weigh as much as what all pages say.
const SHRINK: f64 = 4.0;
/// Changes a day that are assumed of an even week, whatever was seen.
const FIRST: f64 = 10.0;
/// What is kept of all that was seen, from week to week: half of it for a quarter.
const KEPT: f64 = 0.95;
/// How far prediction must be ahead: a chance of one in twenty.
pub(crate) const PROVEN: f64 = 3.0;

/// Changes by day: sums of millions of small numbers, which an `f32` would lose.
#[derive(Clone, Copy, Debug, Default)]
struct Counts {
    /// Changes, as far as it is known when they happened.
    changes: [f64; WEEK],
    /// Changes to expect were all days alike.
    expected: [f64; WEEK],
}

/// What was seen of the days of some pages.
#[derive(Clone, Copy, Debug)]
struct Seen {
    /// Of the weeks that are over, and what is believed after them.
    before: Counts,
    believed: PerDay,
    /// Of the week that is not, and which that is.
    now: Counts,
    week: i32,
    favour: f64,
}

impl Seen {
    fn new(believed: PerDay) -> Self {
        Self {
            before: Counts::default(),
            believed,
            now: Counts::default(),
            week: 0,
            favour: 0.0,
        }
    }

    /// Factors with a mean of one, drawn from others of which so much is assumed.
    fn factors(&self, from: &PerDay, assumed: f64) -> PerDay {
        let Counts { changes, expected } = &self.before;
        let mut factors: PerDay = std::array::from_fn(|day| {
            let changes = changes[day] + assumed * f64::from(from[day]);
            (changes / (expected[day] + assumed)) as f32
        });
        let mean = factors.iter().sum::<f32>() / WEEK as f32;
        for factor in &mut factors {
            *factor /= mean;
        }
        factors
    }

    /// Takes in the week that is over if another has begun. What is believed then is
    /// drawn from what is believed of others, of which so much is assumed.
    fn turn_to(&mut self, week: i32, from: &PerDay, assumed: f64) {
        if week != self.week {
            self.close_week();
            self.week = week;
            self.believed = self.factors(from, assumed);
        }
    }

    fn add(&mut self, counts: &Counts, favour: f64) {
        for day in 0..WEEK {
            self.now.changes[day] += counts.changes[day];
            self.now.expected[day] += counts.expected[day];
        }
        self.favour += favour;
    }

    /// Takes in what the week has shown.
    fn close_week(&mut self) {
        let Counts { changes, expected } = std::mem::take(&mut self.now);
        let sum = |days: &[f64; WEEK]| days.iter().sum::<f64>();
        let scale = sum(&changes) / sum(&expected).max(f64::MIN_POSITIVE);
        for day in 0..WEEK {
            let (found, due) = (
                &mut self.before.changes[day],
                &mut self.before.expected[day],
            );
            *found = KEPT * *found + changes[day];
            *due = KEPT * *due + scale * expected[day];
        }
        self.favour *= KEPT;
    }
}

/// What is known of the days of all sites.
#[derive(Clone, Debug)]
pub(crate) struct Week {
    all: Seen,
    /// By the numbers of sites, as far as they were heard of.
    sites: Vec<Option<Box<Seen>>>,
}

impl Default for Week {
    fn default() -> Self {
        Self {
            all: Seen::new(EVEN),
            sites: Vec::new(),
        }
    }
}

impl Week {
    /// Whether days have proven themselves anywhere.
    pub(crate) fn is_used(&self) -> bool {
        self.all.favour > PROVEN
    }

    /// How the days of a site differ, if that has proven itself.
    pub(crate) fn of(&self, site: u32) -> Option<PerDay> {
        if !self.is_used() {
            return None;
        }
        let seen = self.sites.get(site as usize).and_then(Option::as_deref);
        let seen = seen.unwrap_or(&self.all);
        (seen.favour >= 0.0).then_some(seen.believed)
    }

    /// Takes in a visit to a page of a site, of whose rate this is believed.
    pub(crate) fn hear(&mut self, site: u32, sight: &Sight, rates: &Posterior) {
        if sight.gap() > GAP_MAX {
            return;
        }
        let even = rates.fresh(sight.gap());
        let expected = -even.max(1e-6).ln();
        if expected > EXPECTED_MAX {
            return;
        }
        let week = (sight.to / WEEK as f64).floor() as i32;
        self.all.turn_to(week, &EVEN, FIRST);
        let of_all = self.all.believed;
        if self.sites.len() <= site as usize {
            self.sites.resize_with(site as usize + 1, || None);
        }
        let seen = self.sites[site as usize].get_or_insert_with(|| Box::new(Seen::new(of_all)));
        seen.turn_to(week, &of_all, SHRINK);
        let believed = seen.believed;
        let part = part_of_mean(&believed, sight);
        let likely = |fresh: f64| if sight.changed { 1.0 - fresh } else { fresh };
        let with_days = likely(rates.fresh(part * sight.gap()));
        let favour = (with_days.max(1e-4) / likely(even).max(1e-4)).ln();
        let counts = Counts::of(sight, expected, &believed);
        seen.add(&counts, favour);
        self.all.add(&counts, favour);
    }
}

impl Counts {
    /// What a visit shows where so many changes were to be expected in an even week.
    fn of(sight: &Sight, expected: f64, believed: &PerDay) -> Self {
        let a_day = expected / sight.gap().max(1e-9);
        let expected = by_day(sight.from, sight.to).map(|days| days * a_day);
        if !sight.changed {
            let changes = [0.0; WEEK];
            return Self { changes, expected };
        }
        let mut changes = expected;
        for (changes, factor) in changes.iter_mut().zip(believed) {
            *changes *= f64::from(*factor);
        }
        // As many as there are on average where there is one at least.
        let sum: f64 = changes.iter().sum();
        let each = 1.0 / (1.0 - (-sum).exp()).max(1e-4);
        let changes = changes.map(|changes| changes * each);
        Self { changes, expected }
    }
}

/// The day of the week of a time.
pub(crate) fn day_of(time: f64) -> usize {
    time.floor().rem_euclid(WEEK as f64) as usize
}

/// How the days from one time to another are spread over the week.
fn by_day(from: f64, to: f64) -> [f64; WEEK] {
    let mut spent = [0.0; WEEK];
    let mut now = from;
    while now < to {
        let end = (now.floor() + 1.0).min(to);
        spent[day_of(now)] += end - now;
        now = end;
    }
    spent
}

/// How fast a page changed between its visits, on average, against its mean rate.
pub(crate) fn part_of_mean(factors: &PerDay, sight: &Sight) -> f64 {
    let gap = sight.gap();
    if gap <= 0.0 {
        return 1.0;
    }
    // Whole weeks are what they are.
    let weeks = (gap / WEEK as f64).floor() * WEEK as f64;
    let rest = by_day(sight.from + weeks, sight.to);
    let days = rest
        .iter()
        .zip(factors)
        .map(|(days, factor)| days * f64::from(*factor));
    (weeks + days.sum::<f64>()) / gap
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Chance, the same in every run.
    struct Dice(u64);

    impl Dice {
        fn unit(&mut self) -> f64 {
            self.0 = self
                .0
                .wrapping_mul(6_364_136_223_846_793_005)
                .wrapping_add(1_442_695_040_888_963_407);
            (self.0 >> 11) as f64 / (1_u64 << 53) as f64
        }
    }

    /// Fifty pages of a site seen every 0.7 days for so many weeks, on which changes fall
    /// by days like this.
    fn watch(week: &mut Week, site: u32, factors: &PerDay, weeks: u32, dice: &mut Dice) {
        let rates = Posterior::known(0.8);
        for visit in 0..(f64::from(weeks) * 7.0 / 0.7) as u32 {
            for page in 0..50 {
                let from = f64::from(visit) * 0.7 + f64::from(page) / 50.0;
                let mut sight = Sight {
                    page,
                    from,
                    to: from + 0.7,
                    changed: false,
                };
                let days = part_of_mean(factors, &sight) * sight.gap();
                sight.changed = dice.unit() > rates.fresh(days);
                week.hear(site, &sight, &rates);
            }
        }
    }

    const OFFICE: PerDay = [1.3, 1.3, 1.3, 1.3, 1.3, 0.25, 0.25];
    const CLUB: PerDay = [0.5, 0.5, 0.5, 0.5, 0.5, 2.25, 2.25];

    #[test]
    fn every_site_has_its_days() {
        let (mut week, mut dice) = (Week::default(), Dice(1));
        watch(&mut week, 1, &OFFICE, 12, &mut dice);
        watch(&mut week, 2, &CLUB, 12, &mut dice);
        for (site, truth) in [(1, OFFICE), (2, CLUB)] {
            let found = week.of(site).expect("days are used");
            for (found, truth) in found.iter().zip(truth) {
                // Visits that span two days say little of which it was.
                let part = (found - 1.0) / (truth - 1.0);
                assert!((0.5..1.3).contains(&part), "{site}: {found} {truth}");
            }
        }
    }

    #[test]
    fn where_all_days_are_alike_they_are_not_used() {
        for seed in 0..20 {
            let mut week = Week::default();
            watch(&mut week, 1, &EVEN, 12, &mut Dice(seed));
            assert_eq!(week.of(1), None, "{seed}");
        }
    }

    #[test]
    fn a_site_that_is_unlike_the_others_is_left_out() {
        let (mut week, mut dice) = (Week::default(), Dice(5));
        watch(&mut week, 1, &OFFICE, 12, &mut dice);
        assert!(
            week.of(3).is_some(),
            "a new site is taken to be like the others"
        );
        watch(&mut week, 3, &EVEN, 2, &mut dice);
        assert_eq!(week.of(3), None);
        assert!(week.of(1).is_some());
    }

    #[test]
    fn weeks_pass_at_the_mean_rate() {
        let sight = |from: f64, to: f64| Sight {
            page: 0,
            from,
            to,
            changed: false,
        };
        let part = |from, to| part_of_mean(&OFFICE, &sight(from, to));
        assert!((part(2.3, 23.3) - 1.0).abs() < 1e-6);
        assert!((part(5.2, 6.9) - 0.25).abs() < 1e-6);
        assert!((part(18.5, 19.5) - f64::midpoint(1.3, 0.25)).abs() < 1e-6);
        assert!((part(3.0, 3.0) - 1.0).abs() < 1e-9);
    }
}
