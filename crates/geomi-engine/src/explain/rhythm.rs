//! When the pages of a site change: the hours and days by which a running plan visits
//! them. A directory at rest has no plan; what each page of it is planned by, `geomi
//! refresh explain` reads from all its visits.

use geomi_model::week::DAYS;
use geomi_refresh::upkeep::{RefreshPlan, hour_of_week};
use geomi_refresh::{Policy as _, Profile};
use geomi_url::CrawlUrl;
use serde::{Deserialize, Serialize};

/// Pages that are looked at: a plan is asked between two rounds, and more of them would
/// not change the mean.
const PAGES_MAX: usize = 1_000;

/// The mean of what is believed of a site's pages. Each number is how often they change
/// then, against the mean.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SiteRhythm {
    /// Pages it is the mean of.
    pub pages: u64,
    /// The zone whose clock hours and days go by.
    #[serde(default = "utc")]
    pub timezone: String,
    /// In each part of the day, from midnight on.
    pub hours: Vec<f32>,
    /// On each day of the week, from Sunday on.
    pub days: Vec<f32>,
}

impl SiteRhythm {
    /// That of a site, by any URL on it; `None` where hours and days have not been seen
    /// to matter.
    pub(super) fn of(plan: &RefreshPlan, url: &CrawlUrl) -> Option<Self> {
        let pages = plan.pages().of_site(url).take(PAGES_MAX);
        let policy = plan.planner().policy();
        let zone = plan.config().timezone.name();
        Self::mean(zone, pages.filter_map(|page| policy.profile(page)))
    }

    fn mean(zone: &str, profiles: impl Iterator<Item = Profile>) -> Option<Self> {
        let mut pages = 0_u64;
        let (mut hours, mut days) = (Vec::new(), vec![0.0; DAYS.len()]);
        for profile in profiles {
            pages += 1;
            hours.resize(profile.hours.len(), 0.0);
            for (sum, rate) in hours.iter_mut().zip(profile.hours) {
                *sum += rate;
            }
            // The days of a plan begin with that on which 1970 began.
            for (day, rate) in profile.days.into_iter().enumerate() {
                days[hour_of_week(day as f64) / 24] += rate;
            }
        }
        for sum in hours.iter_mut().chain(&mut days) {
            *sum /= pages as f32;
        }
        (pages > 0).then(|| Self {
            pages,
            timezone: zone.to_owned(),
            hours,
            days,
        })
    }

    /// For people: when they change most and least.
    pub fn in_words(&self) -> String {
        let part = 24 / self.hours.len().max(1);
        let hours = ends(&self.hours);
        let days = ends(&self.days);
        let hour = |(at, rate): (usize, f32)| {
            let from = at * part;
            format!("{from:02} to {:02}h {rate:.2}", from + part)
        };
        let day = |(at, rate): (usize, f32)| {
            let name = DAYS.get(at).copied().unwrap_or("-");
            format!("{name} {rate:.2}")
        };
        format!(
            "changes against the mean, {}: most {} and {}, least {} and {} ({} pages)",
            self.timezone,
            hour(hours[1]),
            day(days[1]),
            hour(hours[0]),
            day(days[0]),
            self.pages
        )
    }
}

/// The zone of plans of earlier versions.
fn utc() -> String {
    "UTC".to_owned()
}

/// The least and the most of some numbers and where they are; the first of equal ones.
fn ends(numbers: &[f32]) -> [(usize, f32); 2] {
    let mut ends = [(0, 1.0); 2];
    for (at, number) in numbers.iter().copied().enumerate() {
        if at == 0 || number < ends[0].1 {
            ends[0] = (at, number);
        }
        if at == 0 || number > ends[1].1 {
            ends[1] = (at, number);
        }
    }
    ends
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_rhythm_of_a_site_is_the_mean_of_its_pages() {
        assert_eq!(SiteRhythm::mean("UTC", std::iter::empty()), None);
        let even = Profile {
            hours: [1.0; _],
            days: [1.0; 7],
        };
        let mut by_day = even;
        by_day.hours[3] = 3.0;
        by_day.hours[7] = 0.2;
        // The first day of 1970 was a Thursday.
        by_day.days[0] = 2.0;
        by_day.days[3] = 0.0;
        let rhythm = SiteRhythm::mean("UTC", [even, by_day].into_iter()).unwrap();
        assert_eq!(rhythm.pages, 2);
        assert!((rhythm.days[4] - 1.5).abs() < 1e-6, "{rhythm:?}");
        let words = rhythm.in_words();
        let told =
            "most 09 to 12h 2.00 and Thursday 1.50, least 21 to 24h 0.60 and Sunday 0.50 (2 pages)";
        assert!(words.ends_with(told), "{words}");
    }
}
