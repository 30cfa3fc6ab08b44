//! Which hours are common, asked of some of the pages.
//!
//! What a visit says of a page's hours depends on its rate, and the other way round: one
//! that was found unchanged at noon is a slow page, or one that is busy later. Of every
//! page the two are kept apart, which is small, and nearly enough for the page itself. How
//! common the hours are is a matter of faint hints of many pages, most of which would be lost
//! like that. So of some pages, no more than 4,096, what their visits say is kept of each
//! rate and each shape together.
//!
//! Which pages are asked is a matter of their numbers, in no step with them: every
//! thousandth page may be of one kind. When there are too many, half of them drop out;
//! none comes in later, so that of those asked all visits are known.

use std::collections::BTreeMap;

use crate::policy::{PageId, Sight};
use crate::posterior::{COARSE, FLOOR, Rounding, SCALE, likelihood, likelihoods, take_in};
use crate::rates::{PerRate, RATES};
use crate::rhythm::PerShape;
use crate::shape::{Moment, SHAPES, shapes};

/// Pages that are asked; more would tell little more.
const ASKED_MAX: usize = 4_096;
/// Rates times shapes.
const BOTH: usize = RATES * SHAPES;

/// What the visits of one page say.
#[derive(Clone, Debug)]
struct Said {
    /// Of all rates and shapes, by shape: logarithms.
    both: [u16; BOTH],
    /// Of shapes, as it was seen at the last visit.
    shapes: PerShape,
}

/// What some of the pages say.
#[derive(Clone, Debug, Default)]
pub(crate) struct Survey {
    asked: BTreeMap<PageId, Box<Said>>,
    pages: usize,
    /// How many times half of them have dropped out.
    halvings: u32,
}

impl Survey {
    /// One more page.
    pub(crate) fn add(&mut self, page: PageId) {
        self.pages += 1;
        if self.pages > ASKED_MAX << self.halvings {
            self.halvings += 1;
            let halvings = self.halvings;
            self.asked.retain(|page, _| is_asked(*page, halvings));
        }
        if is_asked(page, self.halvings) {
            self.asked.insert(page, Box::default());
        }
    }

    /// Takes in a visit, if its page is asked. On the days since the last one, it is
    /// believed to change at this part of its mean rate; of that this is to be believed
    /// before looking at it.
    pub(crate) fn hear(&mut self, sight: &Sight, part: f64, prior: impl FnOnce() -> PerRate) {
        let Some(said) = self.asked.get_mut(&sight.page) else {
            return;
        };
        let (from, to) = (Moment::of(sight.from), Moment::of(sight.to));
        let mut likely = [0.0; BOTH];
        for (shape, likely) in shapes().iter().zip(likely.chunks_exact_mut(RATES)) {
            let days = part * shape.between(&from, &to);
            likely.copy_from_slice(&likelihood(days, sight.changed));
        }
        let rounding = Rounding::of_visit(sight.to);
        take_in(&mut said.both, &likely, FLOOR, 1.0, rounding);
        said.look_at_shapes(&prior());
    }

    /// How likely each shape is for each page that is asked.
    pub(crate) fn ask(&self) -> Vec<PerShape> {
        self.asked.values().map(|said| said.shapes).collect()
    }
}

impl Default for Said {
    fn default() -> Self {
        Self {
            both: [0; BOTH],
            shapes: [1.0; SHAPES],
        }
    }
}

impl Said {
    fn look_at_shapes(&mut self, prior: &PerRate) {
        for (sum, of_shape) in self.shapes.iter_mut().zip(self.both.chunks_exact(RATES)) {
            let terms = of_shape.iter().zip(prior);
            *sum = terms.map(|(below, prior)| prior * read(*below)).sum();
        }
    }
}

/// The likelihood of a stored logarithm, to its last bit: most pages say little.
fn read(below: u16) -> f32 {
    let rest = f32::from(below & ((1 << COARSE) - 1)) / SCALE;
    likelihoods()[usize::from(below >> COARSE)] * (1.0 - rest + rest * rest / 2.0)
}

/// Whether a page is among those left when half of them have dropped out so often.
fn is_asked(page: PageId, halvings: u32) -> bool {
    // Each bit of the number tells on the first bits of this.
    let mut mixed = page;
    for factor in [0x85EB_CA6B, 0xC2B2_AE35] {
        mixed = (mixed ^ (mixed >> 15)).wrapping_mul(factor);
    }
    (mixed ^ (mixed >> 16)).leading_zeros() >= halvings
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::posterior::Posterior;

    fn survey(pages: PageId) -> Survey {
        let mut survey = Survey::default();
        (0..pages).for_each(|page| survey.add(page));
        survey
    }

    #[test]
    fn all_pages_of_a_small_plan_are_asked() {
        assert_eq!(survey(1_200).asked.len(), 1_200);
    }

    #[test]
    fn those_asked_are_spread_and_in_no_step() {
        let pages = 60_000;
        let survey = survey(pages);
        let asked = survey.asked.len();
        assert!((ASKED_MAX * 3 / 4..=ASKED_MAX).contains(&asked), "{asked}");
        let share = |is_in: &dyn Fn(PageId) -> bool| {
            let count = survey.asked.keys().filter(|page| is_in(**page)).count();
            count as f64 / asked as f64
        };
        assert!((share(&|page| page % 3 == 0) - 1.0 / 3.0).abs() < 0.05);
        assert!((share(&|page| page < pages / 4) - 0.25).abs() < 0.05);
        let golden = |page: PageId| f64::from(page) * 0.618_033_988_749_895;
        assert!((share(&|page| golden(page).fract() < 0.5) - 0.5).abs() < 0.05);
    }

    #[test]
    fn a_page_found_unchanged_is_slow_or_has_other_hours() {
        // Busy from 09 to 18; seen at 09 and, unchanged, at 18.
        let (from, to) = (9.0 / 24.0, 18.0 / 24.0);
        let sight = Sight {
            page: 0,
            from,
            to,
            changed: false,
        };
        let believed = |rate: f64| {
            let mut survey = survey(1);
            survey.hear(&sight, 1.0, || Posterior::known(rate).0);
            let said = survey.ask()[0];
            said[4] / said[0]
        };
        assert!(believed(0.001) > 0.99);
        assert!(believed(2.0) < 0.5);
    }

    #[test]
    fn logarithms_are_read_to_the_last_bit() {
        for below in [0, 1, 7, 15, 16, 1_000, 12_345] {
            let exact = (-f32::from(below) / SCALE).exp();
            let found = read(below);
            assert!((found / exact - 1.0).abs() < 1e-5, "{below}: {found}");
        }
    }
}
