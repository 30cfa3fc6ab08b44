//! A budget for any day, or any hour: none, whenever it begins, has more requests.
//!
//! A small budget of `n` is `n` places. A request takes one, and the place is free
//! again a day later; so a request that is made late costs nobody else anything. A
//! large one is a bucket that fills evenly and holds a 64th of the day's requests;
//! it fills by as much less than `n` a day. Either way, where requests are wanted
//! all the time, 98 % of the budget are used.

use std::collections::VecDeque;

/// The largest budget that is kept as places.
const PLACES_MAX: f64 = 64.0;
/// The part of the requests that may be made at once.
const AT_ONCE: f64 = 1.0 / 64.0;
/// Sums of parts err by less than this.
const CLOSE: f64 = 1e-6;
/// Steps of a day in which places tell the time.
const STEPS: f64 = 16_384.0;

/// The budget.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Bucket {
    requests: f64,
    /// The time for which those are meant, in days.
    window: f64,
    at: f64,
    kept: Kept,
}

#[derive(Clone, PartialEq, Debug)]
enum Kept {
    /// When each place is free again, in steps, the first one first.
    Places(VecDeque<u32>),
    /// What the bucket holds.
    Held(f64),
}

impl Bucket {
    /// An empty one, that fills from now on.
    pub(crate) fn new(requests: f64, window: f64, now: f64) -> Self {
        let mut bucket = Self {
            requests,
            window,
            at: now,
            kept: Kept::Held(0.0),
        };
        bucket.restart(0.0, now);
        bucket
    }

    /// What may be spent a day.
    pub(crate) fn requests_per_day(&self) -> f64 {
        self.requests / self.window
    }

    /// Empties it, but for what may be spent at once, and lets it fill from this
    /// time on.
    pub(crate) fn restart(&mut self, held: f64, now: f64) {
        self.at = now;
        self.kept = if self.requests <= PLACES_MAX {
            let count = self.requests.floor().max(1.0);
            let step = self.window / count;
            let free = |place: f64| now + (place + 1.0 - held.floor()).max(0.0) * step;
            let places = 0..count as u32;
            Kept::Places(places.map(|place| steps(free(f64::from(place)))).collect())
        } else {
            Kept::Held(held)
        };
    }

    /// Lets time pass.
    pub(crate) fn fill(&mut self, now: f64) {
        let (rate, size) = (self.rate(), 1.0 + self.at_once());
        if let Kept::Held(held) = &mut self.kept
            && now > self.at
        {
            // What was given at the start may be more than it holds.
            *held = held.max((*held + (now - self.at) * rate).min(size));
        }
        self.at = self.at.max(now);
    }

    /// Whether a request may be made.
    pub(crate) fn has_room(&self) -> bool {
        match &self.kept {
            Kept::Places(_) => self.room_at() <= self.at + CLOSE,
            Kept::Held(held) => *held >= 1.0 - CLOSE,
        }
    }

    /// When a request may be made.
    pub(crate) fn room_at(&self) -> f64 {
        match &self.kept {
            Kept::Places(places) => {
                let first = places.front().expect("there is a place");
                self.at.max(f64::from(*first) / STEPS)
            }
            Kept::Held(held) => self.at + (1.0 - held).max(0.0) / self.rate(),
        }
    }

    /// A request is made.
    pub(crate) fn spend(&mut self) {
        let again = steps(self.at + self.window);
        match &mut self.kept {
            Kept::Places(places) => {
                places.pop_front();
                places.push_back(again);
            }
            Kept::Held(held) => *held -= 1.0,
        }
    }

    fn rate(&self) -> f64 {
        (self.requests - self.at_once()) / self.window
    }

    fn at_once(&self) -> f64 {
        (self.requests * AT_ONCE).floor()
    }
}

/// A time on the clock of places.
fn steps(days: f64) -> u32 {
    (days * STEPS).ceil() as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_day_is_over_budget_and_hardly_anything_is_left() {
        for budget in [1.0, 7.0, 64.0, 640.0, 12_345.0] {
            let mut bucket = Bucket::new(budget, 1.0, 3.0);
            let (mut times, mut now) = (Vec::new(), 3.0);
            while now < 23.0 {
                // Requests come a little late, and once half a day.
                let is_stuck = (8.0..8.1).contains(&now);
                let late = if is_stuck { 0.5 } else { 0.003 };
                now = bucket.room_at().max(now) + late;
                bucket.fill(now);
                while bucket.has_room() {
                    bucket.spend();
                    times.push(now);
                }
            }
            for (at, from) in times.iter().enumerate() {
                let within = times[at..].iter().take_while(|time| **time < from + 0.9999);
                assert!(within.count() as f64 <= budget, "{budget}");
            }
            let last_days = times.iter().filter(|time| **time > 13.0).count() as f64;
            assert!(last_days >= 9.8 * budget - 1.0, "{budget}: {last_days}");
        }
    }

    #[test]
    fn what_was_saved_may_be_spent_at_once() {
        for budget in [10.0, 1_000.0] {
            let mut bucket = Bucket::new(budget, 1.0, 0.0);
            bucket.restart(budget / 2.0, 5.0);
            bucket.fill(5.0);
            let mut spent = 0.0;
            while bucket.has_room() {
                bucket.spend();
                spent += 1.0;
            }
            assert!((spent - budget / 2.0).abs() < 1.5, "{budget}: {spent}");
            assert!(bucket.room_at() <= 5.0 + 1.1 / budget);
        }
    }
}
