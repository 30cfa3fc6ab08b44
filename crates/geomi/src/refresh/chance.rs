//! Whether the next visit of a page will succeed: ROBOT's SS and FF, counted over the
//! visits of a crawl.
//!
//! What the last visit of a page came to says most of the next one: a success is mostly
//! followed by a success, a failure by a failure. Before a crawl has shown its own, what
//! ROBOT found counts for some visits, as it does of a site ([`Outlook`]). ROBOT asked for every page as often and took any two
//! visits of a page for a pair; here pages are visited as often as they are worth, and a
//! visit makes a pair with the next one.

use geomi_frontier::Outlook;
use geomi_refresh::PageId;
use geomi_refresh::upkeep::Sighting;

/// Visits of one kind, and what followed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(super) struct Followed {
    /// Visits that followed.
    pub(super) visits: u64,
    /// Those of them that succeeded.
    pub(super) well: u64,
}

impl Followed {
    /// How likely the next one is to succeed, if the last one did or did not.
    pub(super) fn chance(self, is_well: bool) -> f64 {
        let count = |visits: u64| u32::try_from(visits).unwrap_or(u32::MAX);
        let (well, ill) = (count(self.well), count(self.visits - self.well));
        let pairs = if is_well {
            [well, ill, 0, 0]
        } else {
            [0, 0, well, ill]
        };
        Outlook::new(pairs, Some(is_well)).next_answered
    }
}

/// A share, and the pairs of visits it rests on.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Share {
    /// Nothing without pairs.
    pub(super) share: Option<f64>,
    pub(super) pairs: u64,
}

impl Share {
    fn of(times: u64, pairs: u64) -> Self {
        Self {
            share: (pairs > 0).then(|| times as f64 / pairs as f64),
            pairs,
        }
    }

    /// In words.
    pub(super) fn in_words(self) -> String {
        match self.share {
            Some(share) => format!("{:.1} % of {} pairs of visits", share * 100.0, self.pairs),
            None => "no pair of visits".to_owned(),
        }
    }
}

/// How visits follow each other.
#[derive(Clone, Debug, Default)]
pub(super) struct Chances {
    /// Whether the last visit of each page succeeded.
    last: Vec<bool>,
    after_success: Followed,
    after_failure: Followed,
}

impl Chances {
    /// Takes a visit in; pages come in the order of their first ones.
    pub(super) fn take(&mut self, page: PageId, kind: Sighting) {
        let is_well = !matches!(kind, Sighting::Gone | Sighting::Failed);
        let Some(last) = self.last.get_mut(page as usize) else {
            self.last.push(is_well);
            return;
        };
        let followed = if *last {
            &mut self.after_success
        } else {
            &mut self.after_failure
        };
        followed.visits += 1;
        followed.well += u64::from(is_well);
        *last = is_well;
    }

    /// SS: the share of successes that were followed by a success.
    pub(super) fn success_after_success(&self) -> Share {
        let Followed { visits, well } = self.after_success;
        Share::of(well, visits)
    }

    /// FF: the share of failures that were followed by a failure.
    pub(super) fn failure_after_failure(&self) -> Share {
        let Followed { visits, well } = self.after_failure;
        Share::of(visits - well, visits)
    }

    /// Whether the last visit of a page succeeded, and what followed such visits.
    pub(super) fn of(&self, page: PageId) -> (bool, Followed) {
        let is_well = self.last[page as usize];
        let followed = if is_well {
            self.after_success
        } else {
            self.after_failure
        };
        (is_well, followed)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_visit_goes_as_those_after_its_like() {
        let mut chances = Chances::default();
        for page in [0, 1] {
            chances.take(page, Sighting::First);
        }
        for _ in 0..9 {
            chances.take(0, Sighting::Same);
            chances.take(1, Sighting::Failed);
        }
        let (is_well, after) = chances.of(0);
        assert!(is_well && after.chance(true) > 0.9, "{after:?}");
        let (is_well, after) = chances.of(1);
        assert_eq!((is_well, after), (false, Followed { visits: 8, well: 0 }));
        assert!(after.chance(false) < 0.15, "{after:?}");
        let all_well = Share {
            share: Some(0.9),
            pairs: 10,
        };
        assert_eq!(chances.success_after_success(), all_well, "and one failed");
        assert_eq!(chances.failure_after_failure(), Share::of(8, 8));
        assert_eq!(Chances::default().success_after_success().share, None);
        let unknown = Followed::default();
        assert!(unknown.chance(true) > 0.9 && unknown.chance(false) < 0.3);
    }
}
