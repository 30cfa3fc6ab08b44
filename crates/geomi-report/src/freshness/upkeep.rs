//! How right the copies of a crawl were over time.
//!
//! What is believed of a page at the end is what its copies are judged by all along: what
//! was believed when a copy was made was less. A copy is as right as its page is likely not
//! to have changed since. That of a page that was found gone is wrong from then on, until
//! the page is seen again.
//!
//! A visit costs 16 bytes while the report is made.

use geomi_refresh::upkeep::Sighting;
use geomi_refresh::{Belief, PageId};

use super::Moment;

/// Points of the curves over time.
const POINTS: usize = 56;
/// Points are no closer than this, in days: a minute.
const STEP_MIN: f64 = 1.0 / 1_440.0;

/// How right copies are: a mean over pages.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Copies {
    /// The share that is right.
    pub freshness: f64,
    /// Hours since the first change that each lacks; 0 of one that is right.
    pub age_h: f64,
}

impl Copies {
    /// The mean of how probably each copy is right, and its age in days; nothing
    /// without copies.
    pub fn mean(pages: impl Iterator<Item = (f64, f64)>) -> Option<Self> {
        let (mut fresh, mut age, mut count) = (0.0, 0.0, 0.0);
        for (fresh_here, age_here) in pages {
            fresh += fresh_here;
            age += age_here;
            count += 1.0;
        }
        (count > 0.0).then(|| Self {
            freshness: fresh / count,
            age_h: age / count * 24.0,
        })
    }
}

/// The copy of a page. Times are days since 1970.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Held {
    /// When it was made.
    pub made: f64,
    /// When the page was first found gone after that.
    pub gone: Option<f64>,
}

impl Held {
    /// How probably it is right at a time, and its age in days.
    fn estimated(&self, belief: &Belief, at: f64) -> (f64, f64) {
        match self.gone {
            None => (belief.fresh(self.made, at), belief.age(self.made, at)),
            Some(gone) => {
                let age = belief.age_if_stale(self.made, gone) + (at - gone).max(0.0);
                (0.0, age)
            }
        }
    }
}

/// How fresh the copies were at a time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Point {
    /// Days since 1970.
    pub at: f64,
    /// With what is believed of each page now.
    pub estimated: Copies,
    /// Of the pages of which somebody knows it.
    pub truth: Option<Copies>,
}

/// When copies were made and pages found gone, in the order of visits.
#[derive(Clone, Debug, Default)]
pub struct Upkeep(Vec<Event>);

#[derive(Clone, Copy, Debug)]
struct Event {
    at: f64,
    page: PageId,
    is_gone: bool,
}

impl Upkeep {
    /// Takes a visit in.
    pub fn take(&mut self, moment: &Moment<'_>) {
        let sighted = &moment.sighted;
        if sighted.kind == Sighting::Failed {
            return;
        }
        self.0.push(Event {
            at: sighted.at,
            page: sighted.page,
            is_gone: sighted.kind == Sighting::Gone,
        });
    }

    /// Freshness and age from the first visit until now, with what is believed of every
    /// page, and what `truth` says of the same copies.
    pub fn over_time(
        &self,
        beliefs: &[Belief],
        now: f64,
        truth: impl Fn(&[Option<Held>], f64) -> Option<Copies>,
    ) -> Vec<Point> {
        let times = || self.0.iter().map(|event| event.at);
        let Some(first) = times().reduce(f64::min) else {
            return Vec::new();
        };
        let last = times().fold(first, f64::max);
        let point = |copies: &[Option<Held>], at: f64| {
            Some(Point {
                at,
                estimated: estimated(beliefs, copies, at)?,
                truth: truth(copies, at),
            })
        };
        let step = ((last - first) / POINTS as f64).max(STEP_MIN);
        let mut copies: Vec<Option<Held>> = vec![None; beliefs.len()];
        let (mut points, mut next) = (Vec::new(), first + step);
        for event in &self.0 {
            while next <= event.at {
                points.extend(point(&copies, next));
                next += step;
            }
            event.bear_on(&mut copies[event.page as usize]);
        }
        points.extend(point(&copies, now.max(last)));
        points
    }
}

impl Event {
    fn bear_on(&self, copy: &mut Option<Held>) {
        if !self.is_gone {
            *copy = Some(Held {
                made: self.at,
                gone: None,
            });
        } else if let Some(copy) = copy {
            copy.gone = copy.gone.or(Some(self.at));
        }
    }
}

/// Over the pages of which there was a copy then.
fn estimated(beliefs: &[Belief], copies: &[Option<Held>], at: f64) -> Option<Copies> {
    let pages = beliefs.iter().zip(copies);
    let copies = pages.filter_map(|(belief, copy)| Some((belief, copy.as_ref()?)));
    Copies::mean(copies.map(|(belief, copy)| copy.estimated(belief, at)))
}

#[cfg(test)]
mod tests {
    use geomi_refresh::Posterior;

    use super::*;

    /// Two pages that change once in three years; the first is gone on day 4 and back on
    /// day 8.
    fn upkeep() -> Upkeep {
        let event = |at: f64, page: PageId, is_gone: bool| Event { at, page, is_gone };
        Upkeep(vec![
            event(0.0, 0, false),
            event(0.0, 1, false),
            event(4.0, 0, true),
            event(6.0, 0, true),
            event(8.0, 0, false),
        ])
    }

    #[test]
    fn the_copy_of_a_page_that_is_gone_is_wrong_until_it_is_seen_again() {
        let beliefs = [Belief::steady(Posterior::known(0.001)); 2];
        let points = upkeep().over_time(&beliefs, 9.0, |_, _| None);
        let at = |day: f64| {
            let found = points.iter().rfind(|point| point.at <= day);
            found.unwrap().estimated
        };
        assert!(at(3.9).freshness > 0.99);
        for day in [4.2, 6.5, 7.9] {
            let found = at(day);
            assert!((0.49..0.51).contains(&found.freshness), "{day}: {found:?}");
        }
        // It went in the middle of four days, as far as anybody knows, two days before it
        // was found out; and is one of two pages.
        let age_d = at(6.0).age_h / 24.0;
        assert!((age_d - 2.0).abs() < 0.1, "{age_d}");
        assert!(at(9.0).freshness > 0.99);
        assert!((points.last().unwrap().at - 9.0).abs() < 1e-9);
    }

    #[test]
    fn without_visits_there_is_nothing_to_tell() {
        assert!(
            Upkeep::default()
                .over_time(&[], 9.0, |_, _| None)
                .is_empty()
        );
    }
}
