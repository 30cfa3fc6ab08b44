//! What the visits of a crawl add up to: requests, changes, predictions.

use std::collections::BTreeMap;

use geomi_refresh::upkeep::{Sighting, hour_of_week};

use super::Moment;

/// Classes of predicted chances.
pub const CLASSES: usize = 10;
/// Days whose budget a run may spend at once when it begins.
const SAVED_DAYS: f64 = 1.0;
/// Days in which a load can be told; what fewer show is a burst and no load.
const LOAD_DAYS_MIN: f64 = 1.0;

/// Visits for which about the same chance of a change was predicted. One for the sake of a
/// signal comes when there is a change to be found, whatever was predicted for that time;
/// those at the turn of their pages find the changes of which nothing was told, which are
/// fewer than there are. So neither sort is a fair sample without the other: the first
/// counts as the visit at the page's turn that it made needless.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Class {
    /// Visits.
    pub visits: u64,
    /// Those that found a change.
    pub changed: u64,
    chances: f64,
}

impl Class {
    /// The mean of what was predicted.
    pub fn predicted(&self) -> f64 {
        self.chances / (self.visits as f64).max(1.0)
    }

    /// The share that had changed.
    pub fn seen(&self) -> f64 {
        self.changed as f64 / (self.visits as f64).max(1.0)
    }
}

/// The sums.
#[derive(Clone, Debug)]
pub struct Tally {
    /// Visits by what they found; those that found a page first are no refresh.
    pub kinds: BTreeMap<&'static str, u64>,
    /// Requests for the sake of freshness and changes found, of each day since 1970.
    pub by_day: BTreeMap<i64, (u64, u64)>,
    /// Comparisons and changes by the hour of the week.
    pub by_hour: Vec<(u64, u64)>,
    /// Predicted against seen.
    pub classes: [Class; CLASSES],
    /// The first and the last visit, in days since 1970.
    pub span: Option<(f64, f64)>,
    /// The time in which pages were kept fresh, likewise.
    kept: Option<(f64, f64)>,
}

impl Default for Tally {
    fn default() -> Self {
        let kinds = Sighting::ALL.map(|kind| (kind.as_str(), 0));
        Self {
            kinds: kinds.into_iter().collect(),
            by_day: BTreeMap::new(),
            by_hour: vec![(0, 0); 7 * 24],
            classes: [Class::default(); CLASSES],
            span: None,
            kept: None,
        }
    }
}

impl Tally {
    /// Takes a visit in.
    pub fn take(&mut self, moment: &Moment<'_>) {
        let sighted = &moment.sighted;
        *self.kinds.entry(sighted.kind.as_str()).or_default() += 1;
        let changed = u64::from(sighted.kind.changed() == Some(true));
        if sighted.kind != Sighting::First {
            count(
                self.by_day.entry(sighted.at.floor() as i64).or_default(),
                changed,
            );
            let begin = self.span.map_or(sighted.at, |span| span.1);
            self.kept = Some(kept_until(self.kept, begin, sighted.at));
        }
        self.span = Some(widened(self.span, sighted.at));
        let Some(chance) = moment.chance else { return };
        count(&mut self.by_hour[hour_of_week(sighted.at)], changed);
        let class = &mut self.classes[((chance * CLASSES as f64) as usize).min(CLASSES - 1)];
        class.visits += 1;
        class.changed += changed;
        class.chances += chance;
    }

    /// Visits in all, the first one of each page included.
    pub fn visits(&self) -> u64 {
        self.kinds.values().sum()
    }

    /// Requests for the sake of freshness: visits to pages of which there was a copy.
    pub fn requests(&self) -> u64 {
        self.visits() - self.kinds[Sighting::First.as_str()]
    }

    /// The last run reported at this time: until then it kept pages fresh, visits or none.
    /// Of a report that came later than a day, as of a crawl that went on for other
    /// reasons, one day is believed.
    pub fn reported(&mut self, at: f64) {
        if let Some((_, last)) = &mut self.kept {
            *last = at.clamp(*last, *last + SAVED_DAYS);
        }
    }

    /// Days in which pages were kept fresh.
    pub fn days(&self) -> f64 {
        self.kept.map_or(0.0, |(first, last)| last - first)
    }

    /// Requests a day for the sake of freshness; nothing if less than a day was seen.
    pub fn requests_a_day(&self) -> Option<f64> {
        let days = self.days();
        (days >= LOAD_DAYS_MIN).then(|| self.requests() as f64 / days)
    }
}

/// Counts one more, and whether it found a change.
fn count((all, changes): &mut (u64, u64), changed: u64) {
    *all += 1;
    *changes += changed;
}

/// A span that has this time in it.
fn widened(span: Option<(f64, f64)>, at: f64) -> (f64, f64) {
    let (first, last) = span.unwrap_or((at, at));
    (first.min(at), last.max(at))
}

/// The time in which pages were kept fresh, with one more revisit. It begins with the
/// visit `before` the first revisit, as the budget does, but no more than
/// [`SAVED_DAYS`] before it: a crawl that rested for a month was not kept fresh in it.
fn kept_until(kept: Option<(f64, f64)>, before: f64, at: f64) -> (f64, f64) {
    let kept = kept.unwrap_or((before.clamp(at - SAVED_DAYS, at), at));
    widened(Some(kept), at)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pages_are_kept_fresh_from_the_first_revisit_on() {
        let check = |before: f64, revisits: &[f64], expected: (f64, f64)| {
            let take = |kept, at: &f64| Some(kept_until(kept, before, *at));
            assert_eq!(revisits.iter().fold(None, take), Some(expected));
        };
        // A crawl of an hour, refreshed for two weeks: two weeks.
        check(10.0, &[10.25, 17.0, 24.0], (10.0, 24.0));
        // A month later, for three days: no month, but what a day had saved.
        check(10.0, &[40.0, 43.0], (39.0, 43.0));
    }

    #[test]
    fn rounds_have_the_load_of_their_budget() {
        let load = |revisits: &[f64], reported: f64| {
            let mut tally = Tally::default();
            let take = |kept, at: &f64| Some(kept_until(kept, 10.0, *at));
            tally.kept = revisits.iter().fold(None, take);
            tally.kinds.insert("same", revisits.len() as u64);
            tally.reported(reported);
            tally.requests_a_day()
        };
        // Four rounds in four days, the first one at once.
        assert_eq!(load(&[10.0, 11.0, 12.0, 13.0], 14.0), Some(1.0));
        // A round of minutes, soon after the crawl: that is no load.
        assert_eq!(load(&[10.01, 10.02], 10.03), None);
        // A round of which the report is a year old or wrong.
        assert_eq!(load(&[11.0, 12.0], 0.0), Some(1.0));
        assert_eq!(load(&[11.0, 12.0, 13.0], 400.0), Some(0.75));
    }
}
