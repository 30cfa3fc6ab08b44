//! What is measured in a trial, and put together over several.

use std::time::Duration;

use geomi_model::Timestamp;
use serde::Serialize;

use super::web::ModelSite;

/// Points of the curve of pages over time.
pub(crate) const POINTS: usize = 200;
/// Groups of sites by round-trip time.
pub(crate) const DECILES: usize = 10;

/// What happened in a trial.
#[derive(Debug)]
pub(crate) struct Record {
    start: Timestamp,
    wanted: u64,
    done: u64,
    /// When each 1/[`POINTS`] of the wanted pages was there.
    curve: Vec<Timestamp>,
    /// Connection time used, in microseconds, until nine tenths were there.
    busy_us: u128,
    /// Longest wait, sum of waits and requests, by site.
    waits: Vec<(Duration, Duration, u32)>,
    /// The decile of each site by round-trip time, the quickest first.
    deciles: Vec<usize>,
}

impl Record {
    pub(crate) fn new(sites: &[ModelSite], wanted: u64, start: Timestamp) -> Self {
        let mut by_rtt: Vec<usize> = (0..sites.len()).collect();
        by_rtt.sort_by(|a, b| sites[*a].rtt_s.total_cmp(&sites[*b].rtt_s).then(a.cmp(b)));
        let mut deciles = vec![0; sites.len()];
        for (rank, site) in by_rtt.into_iter().enumerate() {
            deciles[site] = rank * DECILES / sites.len();
        }
        Self {
            start,
            wanted,
            done: 0,
            curve: Vec::with_capacity(POINTS),
            busy_us: 0,
            waits: vec![(Duration::ZERO, Duration::ZERO, 0); sites.len()],
            deciles,
        }
    }

    pub(crate) fn done(&self) -> u64 {
        self.done
    }

    /// A site was asked after waiting so long for its turn.
    pub(crate) fn served(&mut self, site: usize, wait: Duration) {
        let (longest, sum, requests) = &mut self.waits[site];
        *longest = wait.max(*longest);
        *sum += wait;
        *requests += 1;
    }

    /// A page is dealt with.
    pub(crate) fn ended(&mut self, now: Timestamp) {
        self.done += 1;
        while self.curve.len() < POINTS
            && self.done * POINTS as u64 >= (self.curve.len() as u64 + 1) * self.wanted
        {
            self.curve.push(now);
        }
    }

    /// Time passes with so many connections in use.
    pub(crate) fn pass(&mut self, from: Timestamp, to: Timestamp, in_use: usize) {
        if self.done * 10 < self.wanted * 9 {
            self.busy_us += to.since(from).as_micros() * in_use as u128;
        }
    }

    /// The longest wait of each site.
    pub(crate) fn longest_waits(&self) -> impl Iterator<Item = Duration> {
        self.waits.iter().map(|(longest, ..)| *longest)
    }

    /// Seconds until this share of the wanted pages was there.
    fn until(&self, share: f64) -> f64 {
        let point = ((share * POINTS as f64).round() as usize).clamp(1, POINTS) - 1;
        let when = self.curve.get(point).or(self.curve.last());
        when.map_or(0.0, |when| when.since(self.start).as_secs_f64())
    }

    /// The trial in figures; `by_turns` is the same web under round-robin.
    pub(crate) fn figures(&self, connections: usize, by_turns: Option<&Self>) -> Figures {
        let t90_s = self.until(0.9);
        let capacity_us = t90_s * 1e6 * connections as f64;
        Figures {
            pages_per_s: 0.9 * self.wanted as f64 / t90_s,
            t50_s: self.until(0.5),
            t90_s,
            t99_s: self.until(0.99),
            end_s: self.until(1.0),
            slowest_decile_wait_s: self.decile_waits()[DECILES - 1],
            longest_wait_s: self.longest_waits().max().unwrap_or_default().as_secs_f64(),
            wait_to_round_robin: by_turns.map_or(f64::NAN, |other| self.worst_ratio(other)),
            idle_share: 1.0 - self.busy_us as f64 / capacity_us,
        }
    }

    /// By how much the site that is worst off waits longer than it does there.
    fn worst_ratio(&self, other: &Self) -> f64 {
        let pairs = self.longest_waits().zip(other.longest_waits());
        let ratios = pairs.map(|(here, there)| {
            // A site hardly waited for is nobody's complaint.
            here.as_secs_f64() / there.as_secs_f64().max(NO_WAIT_S)
        });
        ratios.fold(0.0, f64::max)
    }

    /// Mean wait of the requests to each decile of sites, in seconds.
    pub(crate) fn decile_waits(&self) -> [f64; DECILES] {
        let mut sums = [(0.0, 0.0); DECILES];
        for (site, (_, sum, requests)) in self.waits.iter().enumerate() {
            let (wait, count) = &mut sums[self.deciles[site]];
            *wait += sum.as_secs_f64();
            *count += f64::from(*requests);
        }
        sums.map(|(wait, count)| if count == 0.0 { 0.0 } else { wait / count })
    }

    /// When each 1/[`POINTS`] of the pages was there, in seconds.
    pub(crate) fn curve_s(&self) -> Vec<f64> {
        let since = |when: &Timestamp| when.since(self.start).as_secs_f64();
        self.curve.iter().map(since).collect()
    }
}

/// A wait that counts as none when waits are compared.
const NO_WAIT_S: f64 = 1.0;

/// What is told of an order on a web. Times are virtual seconds.
#[derive(Clone, Copy, PartialEq, Debug, Default, Serialize)]
pub struct Figures {
    /// Pages a second until nine tenths were there. What comes after is the
    /// largest site being waited for, in whatever order.
    pub pages_per_s: f64,
    /// Until half of the pages were there.
    pub t50_s: f64,
    /// Until nine tenths were there.
    pub t90_s: f64,
    /// Until 99 % were there.
    pub t99_s: f64,
    /// Until all were there.
    pub end_s: f64,
    /// Mean wait for a turn at the slowest tenth of the sites.
    pub slowest_decile_wait_s: f64,
    /// The longest any site waited for its turn.
    pub longest_wait_s: f64,
    /// The largest ratio of a site's longest wait to its longest wait under
    /// round-robin; waits under a second count as one.
    #[serde(skip_serializing_if = "is_unknown")]
    pub wait_to_round_robin: f64,
    /// Share of the connections' time not used until nine tenths were there.
    pub idle_share: f64,
}

#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands a reference over"
)]
fn is_unknown(value: &f64) -> bool {
    value.is_nan()
}

impl Figures {
    const COUNT: usize = 9;

    fn values(&self) -> [f64; Self::COUNT] {
        [
            self.pages_per_s,
            self.t50_s,
            self.t90_s,
            self.t99_s,
            self.end_s,
            self.slowest_decile_wait_s,
            self.longest_wait_s,
            self.wait_to_round_robin,
            self.idle_share,
        ]
    }

    fn from_values(values: [f64; Self::COUNT]) -> Self {
        // Six digits: enough for any use, and short to read.
        let [
            pages_per_s,
            t50_s,
            t90_s,
            t99_s,
            end_s,
            slowest_decile_wait_s,
            longest_wait_s,
            wait_to_round_robin,
            idle_share,
        ] = values.map(|value| (value * 1e6).round() / 1e6);
        Self {
            pages_per_s,
            t50_s,
            t90_s,
            t99_s,
            end_s,
            slowest_decile_wait_s,
            longest_wait_s,
            wait_to_round_robin,
            idle_share,
        }
    }

    /// Means and standard deviations over trials.
    pub(crate) fn over(trials: &[Self]) -> (Self, Self) {
        let count = trials.len() as f64;
        let mean_of = |pick: usize| -> f64 {
            trials.iter().map(|trial| trial.values()[pick]).sum::<f64>() / count
        };
        let means: [f64; Self::COUNT] = std::array::from_fn(mean_of);
        let spread_of = |pick: usize| -> f64 {
            let off = |trial: &Self| (trial.values()[pick] - means[pick]).powi(2);
            let squares: f64 = trials.iter().map(off).sum();
            (squares / (count - 1.0).max(1.0)).sqrt()
        };
        let spreads = std::array::from_fn(spread_of);
        (Self::from_values(means), Self::from_values(spreads))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn means_and_spreads_are_those_of_the_trials() {
        let trial = |t50_s| Figures {
            t50_s,
            ..Figures::default()
        };
        let (mean, spread) = Figures::over(&[trial(1.0), trial(2.0), trial(3.0)]);
        assert!((mean.t50_s - 2.0).abs() < 1e-9 && (spread.t50_s - 1.0).abs() < 1e-9);
        let (alone, none) = Figures::over(&[trial(4.0)]);
        assert!((alone.t50_s - 4.0).abs() < 1e-9 && none.t50_s.abs() < 1e-9);
    }
}
