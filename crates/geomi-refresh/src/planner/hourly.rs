//! What an hour allows: a limit on the requests of any hour, and hours of the week in
//! which the plan is silent or reduced.
//!
//! Pages that are due then wait in the queue. What the plan may spend is spread over
//! the hours that are used, and is never more than those allow.

use super::Planner;
use crate::bucket::Bucket;
use crate::hours::Hours;
use crate::policy::Policy;

/// How much more pages should ask for than hours that are limited allow.
const MORE: f64 = 1.05;
/// Days of an hour.
const HOUR: f64 = 1.0 / 24.0;

impl<P: Policy> Planner<P> {
    /// So many requests in any hour, at most.
    pub fn limit_hour(&mut self, requests: Option<f64>) {
        let clock = self.hour_clock(self.bucket_at);
        self.hour = requests.map(|requests| Bucket::new(requests, HOUR, clock));
    }

    /// Which hours of the week are used; all of them unless given. What is limited
    /// begins anew at this time.
    pub fn use_hours(&mut self, hours: Option<Hours>, now: f64) {
        self.accounts.set_hours(hours);
        self.restart_accounts(0.0, now);
    }

    /// The hours of the week that are used, if not all.
    pub fn hours(&self) -> Option<&Hours> {
        self.accounts.hours()
    }

    /// Requests in any hour, at most.
    pub fn requests_per_hour(&self) -> Option<f64> {
        let hour = self.hour.as_ref();
        hour.map(|hour| hour.requests_per_day() * HOUR)
    }

    /// Requests a day: what was given, or what the hours allow.
    pub fn requests_per_day(&self) -> f64 {
        self.terms.requests_per_day.min(self.allowed_a_day())
    }

    /// The same at a time, which may be one of learning.
    pub(super) fn requests_at(&self, now: f64) -> f64 {
        self.terms.requests_at(now).min(self.allowed_a_day())
    }

    /// What pages should ask for. Where the limit of an hour is what counts, a
    /// little more: an hour in which none is due cannot be made up for.
    pub(super) fn wanted_a_day(&self) -> f64 {
        let allowed = self.allowed_a_day();
        if self.terms.requests_per_day < allowed {
            return self.terms.requests_per_day;
        }
        allowed * MORE
    }

    /// What the limit of an hour adds up to.
    fn allowed_a_day(&self) -> f64 {
        let used = self.hours().map_or(1.0, Hours::of_week);
        let hour = self.hour.as_ref();
        hour.map_or(f64::INFINITY, |hour| hour.requests_per_day() * used)
    }

    /// Whether a request may be made at this hour.
    pub fn is_open(&mut self, now: f64) -> bool {
        if self.hours().is_some_and(|hours| hours.share(now) <= 0.0) {
            return false;
        }
        let clock = self.hour_clock(now);
        self.hour.as_mut().is_none_or(|hour| {
            hour.fill(clock);
            hour.has_room()
        })
    }

    /// The first time from this one on at which that may be.
    pub fn opens_at(&self, at: f64) -> f64 {
        let room = match (&self.hour, self.hours()) {
            (None, _) => at,
            (Some(hour), None) => hour.room_at().max(at),
            (Some(hour), Some(hours)) => hours.when(hour.room_at()).max(at),
        };
        self.next_open(room)
    }

    /// A time itself, or when the next hour begins that is used.
    pub(super) fn next_open(&self, at: f64) -> f64 {
        self.hours().map_or(at, |hours| hours.next_open(at))
    }

    pub(super) fn restart_hour(&mut self, saved_days: f64, now: f64) {
        let clock = self.hour_clock(now);
        if let Some(hour) = &mut self.hour {
            let saved = hour.requests_per_day() * saved_days.min(HOUR);
            hour.restart(saved, clock);
        }
    }

    /// Days in which the budget of the whole plan fills, between two times.
    pub(super) fn passed(&self, from: f64, to: f64) -> f64 {
        match self.hours() {
            None => (to - from).max(0.0),
            Some(hours) => (hours.clock(to) - hours.clock(from)).max(0.0) / hours.of_week(),
        }
    }

    /// The time at which so many of those days have passed.
    pub(super) fn later(&self, from: f64, days: f64) -> f64 {
        match self.hours() {
            None => from + days,
            Some(hours) => hours
                .when(hours.clock(from) + days * hours.of_week())
                .max(from),
        }
    }

    /// The clock by which an hour's limit fills: an hour that is reduced has less.
    fn hour_clock(&self, now: f64) -> f64 {
        self.hours().map_or(now, |hours| hours.clock(now))
    }
}
