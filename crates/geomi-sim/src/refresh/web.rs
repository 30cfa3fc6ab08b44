//! Webs that change: drawn from a model, or recorded.
//!
//! A [`World`] is what really happened: for every page the times of its changes,
//! in days from the start, which is a Monday midnight for the model webs. Only
//! the laboratory sees it; a policy that learns sees what its visits find.

use super::dice::Dice;

/// Days of a model web.
pub const DAYS: f64 = 84.0;
/// Days that are for learning and not counted.
pub const LEARNING_DAYS: f64 = 28.0;
/// Pages of a model web.
pub const PAGES: usize = 1_200;
/// Sites they lie on.
const SITES: usize = 40;
/// The share of pages of `noisy` that look changed at every visit.
const NOISY_SHARE: f64 = 0.1;
/// What the seed of their dice differs in from that of all others.
const NOISE: u64 = 0x6E6F_6973_6500_0000;
/// Times a day at which REFRESH's probing looks at a page: every 20 minutes.
const PROBES_PER_DAY: f64 = 72.0;

/// The model webs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModelWeb {
    /// REFRESH's 1,200 pages in six groups, most with busy hours.
    Shop,
    /// Rates as on the web: log-normal, a tenth never changes.
    Web,
    /// `shop` without busy hours.
    Flat,
    /// `shop`, and a tenth of the pages look changed at every visit: the same pages with the
    /// same changes as `shop` has with that seed, so that the others can be compared.
    Noisy,
}

impl ModelWeb {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Shop, Self::Web, Self::Flat, Self::Noisy];

    /// As it is typed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Shop => "shop",
            Self::Web => "web",
            Self::Flat => "flat",
            Self::Noisy => "noisy",
        }
    }

    /// Visits a page a day, where nothing else is said.
    pub const fn budget(self) -> f64 {
        match self {
            Self::Web => 1.0 / 7.0,
            Self::Shop | Self::Flat | Self::Noisy => 1.0,
        }
    }

    /// Draws the web of a trial.
    pub fn draw(self, seed: u64, trial: u32) -> World {
        let seed = seed ^ (u64::from(trial) << 32);
        let (mut dice, mut noise) = (Dice::new(seed), Dice::new(seed ^ NOISE));
        let rates = match self {
            Self::Web => (0..PAGES).map(|_| web_rate(&mut dice)).collect(),
            Self::Shop | Self::Flat | Self::Noisy => shop_rates(&mut dice),
        };
        let pages = rates.into_iter().enumerate();
        let pages = pages
            .map(|(at, rate)| {
                let hours = match self {
                    Self::Flat => Hours::Flat,
                    Self::Shop | Self::Web | Self::Noisy => Hours::draw(&mut dice),
                };
                let changes = changes(rate, hours, &mut dice);
                WorldPage {
                    url: format!("https://site{:02}.example/page{at:04}", at % SITES),
                    site: (at % SITES) as u64 + 1,
                    weight: dice.normal().exp(),
                    rate,
                    hours,
                    is_noisy: self == Self::Noisy && noise.unit() < NOISY_SHARE,
                    changes,
                }
            })
            .collect();
        World {
            pages,
            start_unix: None,
            days: DAYS,
            learning_days: LEARNING_DAYS,
        }
    }
}

/// The hours in which a page changes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Hours {
    /// At any hour alike.
    Flat,
    /// 85 % of the changes from 09 to 18.
    Day,
    /// 85 % of the changes from 18 to 09.
    Night,
}

impl Hours {
    fn draw(dice: &mut Dice) -> Self {
        match dice.unit() {
            low if low < 0.2 => Self::Flat,
            middle if middle < 0.8 => Self::Day,
            _ => Self::Night,
        }
    }

    /// The rate in the hours from 09 to 18 and in the others, against the mean.
    pub const fn factors(self) -> (f64, f64) {
        match self {
            Self::Flat => (1.0, 1.0),
            Self::Day => (0.85 / 9.0 * 24.0, 0.15 / 15.0 * 24.0),
            Self::Night => (0.15 / 9.0 * 24.0, 0.85 / 15.0 * 24.0),
        }
    }

    /// The time at which a page of rate 1 has had this many expected changes
    /// since midnight of day 0.
    fn time_of(self, expected: f64) -> f64 {
        let (day, night) = self.factors();
        let pieces = [(9.0 / 24.0, night), (9.0 / 24.0, day), (6.0 / 24.0, night)];
        let (mut time, mut rest) = (expected.floor(), expected.fract());
        for (length, factor) in pieces {
            if rest < length * factor {
                return time + rest / factor;
            }
            rest -= length * factor;
            time += length;
        }
        time
    }
}

/// Rates of `shop` a week, by band: how many pages, and from where to where.
const BANDS: [(usize, f64, f64); 6] = [
    (240, 10.5, 28.0),
    (144, 4.5, 10.5),
    (216, 1.5, 4.5),
    (480, 0.5, 1.5),
    (60, 0.25, 0.5),
    (60, 0.02, 0.25),
];

/// In no order: a page's number must tell nothing of its rate, for cycles begin by it.
fn shop_rates(dice: &mut Dice) -> Vec<f64> {
    let mut rates = Vec::with_capacity(PAGES);
    for (pages, low, high) in BANDS {
        rates.extend((0..pages).map(|_| dice.between(low, high) / 7.0));
    }
    dice.shuffle(&mut rates);
    rates
}

fn web_rate(dice: &mut Dice) -> f64 {
    if dice.unit() < 0.1 {
        return 0.0;
    }
    ((1.0 / 15.0_f64).ln() + 1.9 * dice.normal())
        .exp()
        .clamp(1e-4, 48.0)
}

/// A Poisson process in the page's own time, brought to the clock's.
fn changes(rate: f64, hours: Hours, dice: &mut Dice) -> Vec<f64> {
    let mut changes = Vec::new();
    if rate <= 0.0 {
        return changes;
    }
    let mut own = dice.wait();
    while own < rate * DAYS {
        changes.push(hours.time_of(own / rate));
        own += dice.wait();
    }
    changes
}

/// A page as it really is.
#[derive(Clone, PartialEq, Debug)]
pub struct WorldPage {
    /// Its name.
    pub url: String,
    /// A number of its site; 0 if there are none.
    pub site: u64,
    /// How much it matters.
    pub weight: f64,
    /// Changes a day; in a recorded history, as many as there were.
    pub rate: f64,
    /// When it changes.
    pub hours: Hours,
    /// Whether every visit finds it changed though its content is not.
    pub is_noisy: bool,
    /// Days from the start at which it changed, in order.
    pub changes: Vec<f64>,
}

/// A web and what happened to it.
#[derive(Clone, PartialEq, Debug)]
pub struct World {
    /// Its pages.
    pub pages: Vec<WorldPage>,
    /// When day 0 was, for a recorded history.
    pub start_unix: Option<f64>,
    /// How long it was watched.
    pub days: f64,
    /// How much of that is not counted.
    pub learning_days: f64,
}

impl World {
    /// The changes a day of a page in the learning days, as REFRESH's probing counts them:
    /// every change there was, and one at every probe of a page that looks changed each
    /// time.
    pub fn counted_rate(&self, page: &WorldPage) -> f64 {
        if page.is_noisy {
            return PROBES_PER_DAY;
        }
        let seen = |change: &f64| (0.0..self.learning_days).contains(change);
        page.changes.iter().filter(|change| seen(change)).count() as f64 / self.learning_days
    }

    /// The start of a recorded history in days after a midnight in UTC, always of the same
    /// day of the week; 0 for a model web.
    pub fn start_in_week(&self) -> f64 {
        let unix = self.start_unix.unwrap_or(0.0);
        (unix / 86_400.0).rem_euclid(7.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn busy_hours_hold_their_share() {
        let mut dice = Dice::new(3);
        for (hours, share) in [
            (Hours::Flat, 0.375),
            (Hours::Day, 0.85),
            (Hours::Night, 0.15),
        ] {
            let times = changes(200.0, hours, &mut dice);
            let is_day = |time: &&f64| (9.0..18.0).contains(&(time.fract() * 24.0));
            let found = times.iter().filter(is_day).count() as f64 / times.len() as f64;
            assert!((found - share).abs() < 0.015, "{hours:?}: {found}");
            assert!((times.len() as f64 / (200.0 * DAYS) - 1.0).abs() < 0.03);
            assert!(times.is_sorted());
        }
    }

    #[test]
    fn a_web_is_its_seed_and_trial() {
        for web in ModelWeb::ALL {
            let world = web.draw(5, 0);
            assert_eq!(world.pages.len(), PAGES);
            assert_eq!(world, web.draw(5, 0));
            assert_ne!(world, web.draw(5, 1));
        }
    }

    #[test]
    fn noise_comes_on_top_of_a_shop() {
        let mut world = ModelWeb::Noisy.draw(5, 3);
        let is_noisy: Vec<bool> = world.pages.iter().map(|page| page.is_noisy).collect();
        let noisy = is_noisy.iter().filter(|is_noisy| **is_noisy).count();
        assert!((90..=150).contains(&noisy), "{noisy}");
        let other = ModelWeb::Noisy.draw(6, 3);
        let alike = other.pages.iter().zip(is_noisy);
        let alike = alike.filter(|(page, is_noisy)| page.is_noisy && *is_noisy);
        assert!(alike.count() < 40, "another seed has other noise");
        world
            .pages
            .iter_mut()
            .for_each(|page| page.is_noisy = false);
        assert_eq!(world, ModelWeb::Shop.draw(5, 3));
    }

    #[test]
    fn probing_counts_a_change_at_every_probe_of_a_noisy_page() {
        let world = ModelWeb::Noisy.draw(1, 0);
        for page in &world.pages {
            let counted = world.counted_rate(page);
            if page.is_noisy {
                assert!((counted - 72.0).abs() < 1e-9, "{counted}");
            } else {
                let learning = page.changes.partition_point(|at| *at < LEARNING_DAYS);
                let expected = learning as f64 / LEARNING_DAYS;
                assert!((counted - expected).abs() < 1e-9, "{counted} {expected}");
            }
        }
    }

    #[test]
    fn the_web_is_as_it_is_described() {
        let world = ModelWeb::Web.draw(1, 0);
        let never = world.pages.iter().filter(|page| page.rate == 0.0).count();
        assert!((90..=150).contains(&never), "{never}");
        let mut rates: Vec<f64> = world.pages.iter().map(|page| page.rate).collect();
        rates.retain(|rate| *rate > 0.0);
        rates.sort_by(f64::total_cmp);
        let median = rates[rates.len() / 2];
        assert!((median * 15.0 - 1.0).abs() < 0.25, "{median}");
    }

    #[test]
    fn a_shop_has_its_groups_in_no_order() {
        let world = ModelWeb::Shop.draw(1, 0);
        let fast = |pages: &[WorldPage]| {
            let weekly = pages.iter().map(|page| page.rate * 7.0);
            weekly.filter(|rate| *rate >= 10.5).count()
        };
        assert_eq!(fast(&world.pages), 240);
        let (first, second) = world.pages.split_at(PAGES / 2);
        assert!(fast(first).abs_diff(fast(second)) < 60);
    }
}
