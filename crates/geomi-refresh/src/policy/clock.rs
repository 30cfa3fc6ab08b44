//! At the hours in which a visit brings most, and with an eye on what it teaches.
//!
//! How often a page is visited is a mixture ([`wishes`](crate::wishes)) of what a visit
//! brings and of how often the rates it may have would be visited. When is a matter
//! of the hour: a page that changes by day is worth a visit in the evening, when the
//! copy will stay right all night, and hardly one at noon. For every rate and shape
//! a page may have, [`worth`](crate::worth) says how fresh a copy must be for waiting to
//! be better than a visit, by the time of day. Averaged over what is believed
//! of the page, that is a threshold; the next visit is where the freshness above
//! it, summed up since the last visit, is greatest ([`course`](crate::course)). Without
//! hours the threshold is the same all day and the visit is where freshness falls
//! below it. New pages are probed ([`probe`](crate::probe)).

use super::{Pace, Page, PageId, Policy, Profile, Sight};
use crate::belief::Belief;
use crate::course::Course;
use crate::learner::Learner;
use crate::posterior::Posterior;
use crate::probe;
use crate::rhythm::{PerShape, Rhythm, ShapeEvidence};
use crate::shape;
use crate::survey::Survey;
use crate::week::{self, PerDay, Week};
use crate::wishes::Wishes;
use crate::worth::Worths;

/// The longest gap whose end is looked for hour by hour, in days; of longer ones
/// only the last day is.
const LONG_GAP: f64 = 14.0;
/// How common the hours are is asked again after as many visits as a sixteenth of the pages, and these at
/// least.
const ASKED_EVERY_MIN: usize = 128;

/// The clock policy.
#[derive(Debug, Default)]
pub struct Clock {
    learner: Learner,
    rhythm: Rhythm,
    week: Week,
    shapes: Vec<ShapeEvidence>,
    survey: Survey,
    /// Visits since the pages were last asked how common the hours are.
    heard: usize,
    worths: Worths,
    wishes: Wishes,
}

impl Clock {
    /// What is believed of the pages.
    pub fn learner(&self) -> &Learner {
        &self.learner
    }

    /// Whether hours have predicted changes better than no hours, and are used on sites
    /// where they have not been proven wrong.
    pub fn uses_hours(&self) -> bool {
        self.rhythm.is_used()
    }

    /// Whether days of the week have done so, and are used on some site.
    pub fn uses_days(&self) -> bool {
        self.week.is_used()
    }

    /// What is believed of a page, the price by what it weighs, and its gap without
    /// hours.
    fn wished(&mut self, page: PageId, price: f64) -> (Posterior, f64, f64) {
        let posterior = self.learner.posterior(page);
        let price = price / f64::from(self.learner.weight(page));
        let steady = self.wishes.gap(&posterior, price);
        (posterior, price, steady)
    }

    /// The hours of a page and the days of its site; `None` if neither are used.
    fn believed(&self, page: PageId) -> Option<(PerShape, Option<PerDay>)> {
        let site = self.learner.site(page);
        let days = self.week.of(site);
        if self.rhythm.is_used_on(site) {
            let evidence = &self.shapes[page as usize];
            return Some((self.rhythm.belief(evidence), days));
        }
        days.is_some().then(|| (Rhythm::flat(), days))
    }

    /// When a page is due if there is nothing to find out about it, at the best hour.
    /// `steady` is the gap without hours.
    fn timed(
        &mut self,
        page: PageId,
        posterior: &Posterior,
        (last, price): (f64, f64),
        steady: f64,
    ) -> f64 {
        let Some((belief, days)) = self.believed(page) else {
            return last + steady;
        };
        let worths = &mut self.worths;
        let course = Course::new(posterior, &belief, worths, price, days, steady);
        at_best_hour(course, last, steady)
    }

    /// Now and then asks some pages how common the hours are.
    fn ask_pages(&mut self) {
        self.heard += 1;
        if self.heard >= ASKED_EVERY_MIN.max(self.shapes.len() / 16) {
            self.heard = 0;
            self.rhythm.fit(&self.survey.ask());
        }
    }
}

/// When a page on this course is due; `steady` is the gap without hours.
pub(super) fn at_best_hour(course: Course, last: f64, steady: f64) -> f64 {
    if steady > LONG_GAP {
        return course.nearby(last);
    }
    course.best(last).unwrap_or(last + steady)
}

impl Policy for Clock {
    fn pace(&self) -> Pace {
        Pace::WhenDue
    }

    fn saves_days(&self) -> f64 {
        if self.week.is_used() {
            2.0
        } else if self.rhythm.is_used() {
            1.0
        } else {
            0.5
        }
    }

    fn add(&mut self, page: &Page) {
        self.learner.add(page);
        self.survey.add(self.shapes.len() as PageId);
        self.shapes.push(ShapeEvidence::default());
    }

    fn observe(&mut self, sight: &Sight) {
        let evidence = &mut self.shapes[sight.page as usize];
        let belief = self.rhythm.belief(evidence);
        let posterior = self.learner.posterior(sight.page);
        let site = self.learner.site(sight.page);
        let days = self.week.of(site);
        let part = days.map_or(1.0, |days| week::part_of_mean(&days, sight));
        let said = self.rhythm.hear(site, sight, part, &belief, &posterior);
        self.week.hear(site, sight, &posterior);
        let learner = &self.learner;
        self.survey.hear(sight, part, || learner.prior(sight.page));
        evidence.take(&said);
        self.learner.take(sight, &said.rates);
        self.ask_pages();
    }

    fn due(&mut self, page: PageId, last: f64, price: f64) -> f64 {
        let (posterior, price, steady) = self.wished(page, price);
        if self.learner.is_new(page, last) {
            let gap = probe::gap(&posterior);
            if gap < steady {
                return last + gap;
            }
        }
        self.timed(page, &posterior, (last, price), steady)
    }

    fn settled(&mut self, page: PageId, last: f64, price: f64) -> f64 {
        let (posterior, price, steady) = self.wished(page, price);
        self.timed(page, &posterior, (last, price), steady)
    }

    fn profile(&self, page: PageId) -> Option<Profile> {
        let (belief, days) = self.believed(page)?;
        Some(Profile {
            hours: shape::profile(&belief),
            days: days.unwrap_or(week::EVEN),
        })
    }

    fn belief(&self, page: PageId) -> Option<Belief> {
        Some(Belief {
            rates: self.learner.posterior(page),
            profile: self.profile(page),
        })
    }
}
