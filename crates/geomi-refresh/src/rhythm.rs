//! Which pages have which hours, learned from when visits find changes.
//!
//! A visit from noon to midnight that finds nothing speaks against busy
//! afternoons; one that finds a change speaks for them. Each page keeps what its
//! visits said of each [shape](crate::shape), each beside the others. A single page
//! of a wide web, visited days apart, says next to nothing; all of them together
//! say how common the shapes are, which is fitted to what some of them say
//! ([`survey`](crate::survey)) by repeated expectation until it hardly moves. That is
//! enough to visit a page when most pages like it have changed.
//!
//! A shape is used only where it has proven itself: every visit is predicted
//! before it is taken in, once with the shapes as believed and once flat, and the
//! logarithms of the two predictions are summed up. That is held-out likelihood,
//! with every visit held out in its turn. As long as the sum of all pages does
//! not favour shapes, all pages count as flat; and those of a site do where its own sum
//! has proven them wrong. A site of few visits goes by what all pages say, and sites of a few
//! pages have their sum together.

use crate::policy::Sight;
use crate::posterior::{COARSE, Posterior, Rounding, likelihoods, take_in};
use crate::rates::{PerRate, RATES, Span, dot};
use crate::shape::{Moment, SHAPES, shapes};
use crate::week::PROVEN;

/// A number for every shape.
pub(crate) type PerShape = [f32; SHAPES];

/// The share of flat pages that is assumed at first.
const FLAT_FIRST: f32 = 0.5;
/// Pages that are assumed to be as at first, whatever was seen.
const FIRST: f32 = 3.0;
/// Rounds of a fit: it goes on from the last one.
const ROUNDS: usize = 40;
/// A single visit says no more than this of a shape.
const FLOOR: f32 = 0.02;
/// A site that has been right or wrong for years may change its ways: it is believed no
/// more than this.
const FAVOUR_MAX: f32 = 4.0 * PROVEN as f32;

/// What one page's visits said of the shapes: the logarithms of the likelihoods, each
/// as its distance below the best one.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct ShapeEvidence([u16; SHAPES]);

/// What all pages say.
#[derive(Clone, Debug)]
pub(crate) struct Rhythm {
    first: PerShape,
    prior: PerShape,
    /// How far shapes are ahead in prediction: a sum of millions of small numbers, which
    /// an `f32` would lose.
    favour: f64,
    /// The same of each site by its number, no further from even than [`FAVOUR_MAX`].
    sites: Vec<f32>,
}

/// What a visit says, of rates and of shapes.
pub(crate) struct Said {
    pub(crate) rates: PerRate,
    shapes: PerShape,
    rounding: Rounding,
}

impl Default for Rhythm {
    fn default() -> Self {
        let mut first = [(1.0 - FLAT_FIRST) / (SHAPES - 1) as f32; SHAPES];
        first[0] = FLAT_FIRST;
        Self {
            first,
            prior: first,
            favour: 0.0,
            sites: Vec::new(),
        }
    }
}

impl Rhythm {
    /// What is believed where shapes are not used.
    pub(crate) fn flat() -> PerShape {
        let mut belief = [0.0; SHAPES];
        belief[0] = 1.0;
        belief
    }

    /// What is believed of a page's shape.
    pub(crate) fn belief(&self, evidence: &ShapeEvidence) -> PerShape {
        let likelihoods = likelihoods();
        let mut belief: PerShape = std::array::from_fn(|at| {
            self.prior[at] * likelihoods[usize::from(evidence.0[at] >> COARSE)]
        });
        let sum: f32 = belief.iter().sum();
        for share in &mut belief {
            *share /= sum;
        }
        belief
    }

    /// Whether shapes have been right more often than not.
    pub(crate) fn is_used(&self) -> bool {
        self.favour > 0.0
    }

    /// Whether they are used for the pages of a site.
    pub(crate) fn is_used_on(&self, site: u32) -> bool {
        let favour = self.sites.get(site as usize).copied().unwrap_or(0.0);
        self.is_used() && f64::from(favour) >= -PROVEN
    }

    /// What a visit says, predicted and compared on the way. On the days since the last
    /// one, pages of the site are believed to change at this part of their mean rate.
    pub(crate) fn hear(
        &mut self,
        site: u32,
        sight: &Sight,
        part: f64,
        belief: &PerShape,
        rates: &Posterior,
    ) -> Said {
        // The probabilities of no change, of all shapes and of all rates.
        let mut said = Said {
            rates: [0.0; RATES],
            shapes: [0.0; SHAPES],
            rounding: Rounding::of_visit(sight.to),
        };
        let (from, to) = (Moment::of(sight.from), Moment::of(sight.to));
        for (at, shape) in shapes().iter().enumerate() {
            let fresh = Span::of(part * shape.between(&from, &to)).fresh_all();
            for (sum, fresh) in said.rates.iter_mut().zip(&fresh) {
                *sum += belief[at] * fresh;
            }
            said.shapes[at] = dot(&rates.0, &fresh);
        }
        if sight.changed {
            said.rates = said.rates.map(|fresh| (1.0 - fresh).max(0.0));
            said.shapes = said.shapes.map(|fresh| (1.0 - fresh).max(0.0));
        }
        let mixed: f32 = belief.iter().zip(&said.shapes).map(|(p, l)| p * l).sum();
        let (mixed, flat) = (mixed.max(1e-6), said.shapes[0].max(1e-6));
        let favour = (mixed / flat).ln();
        self.favour += f64::from(favour);
        if self.sites.len() <= site as usize {
            self.sites.resize(site as usize + 1, 0.0);
        }
        let of_site = &mut self.sites[site as usize];
        *of_site = (*of_site + favour).clamp(-FAVOUR_MAX, FAVOUR_MAX);
        said
    }

    /// Fits how common the shapes are to how likely each is for these pages.
    pub(crate) fn fit(&mut self, said: &[PerShape]) {
        for _ in 0..ROUNDS {
            let mut sum = self.first.map(|share| FIRST * share);
            for likelihoods in said {
                let joint: f32 = likelihoods
                    .iter()
                    .zip(&self.prior)
                    .map(|(l, p)| l * p)
                    .sum();
                for ((sum, likely), share) in sum.iter_mut().zip(likelihoods).zip(&self.prior) {
                    *sum += likely * share / joint;
                }
            }
            self.prior = sum.map(|sum| sum / (said.len() as f32 + FIRST));
        }
    }
}

impl ShapeEvidence {
    /// Takes in what a visit says.
    pub(crate) fn take(&mut self, said: &Said) {
        take_in(&mut self.0, &said.shapes, FLOOR, 1.0, said.rounding);
    }
}
