//! The sites a crawl has something to do with, a page at a time, and some of the
//! URLs that wait.
//!
//! Sites that are drained are not in memory and not listed. The order is by a
//! number, the largest first, or by name; the name decides between equal
//! numbers, so that the place behind the last row ([`SitesPage::next`]) says
//! where to go on even though the numbers move.

use std::cmp::Reverse;
use std::collections::HashSet;

use geomi_frontier::SiteView;
use geomi_model::Timestamp;
use serde::{Deserialize, Serialize};

use super::reason::Held;
use super::site::{hold_until, why};
use super::{Knowledge, Place};
use crate::EngineError;
use crate::partition::Reading;

/// The most rows a page has.
pub const SITES_PER_PAGE_MAX: usize = 1_000;

/// In which order sites are listed.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SiteOrder {
    /// Those with most URLs waiting first.
    #[default]
    Queued,
    /// The slowest first.
    Rtt,
    /// Those that failed most often in a row first.
    Failures,
    /// By name.
    Name,
}

/// A site in a list.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub struct SiteLine {
    /// Its name.
    pub site: String,
    /// What it waits for: see [`SiteReport::hold`](super::SiteReport::hold).
    pub hold: String,
    /// The same in a sentence, in English.
    pub why: String,
    /// The same, for other languages. `None` from a process of an older version.
    #[serde(default)]
    pub held: Option<Held>,
    /// When that ends by itself.
    pub until: Option<String>,
    /// URLs waiting.
    pub queued: u64,
    /// Requests under way.
    pub in_flight: u64,
    /// Requests made.
    pub requests: u64,
    /// Requests that were answered.
    pub answers: u64,
    /// Failures in a row.
    pub failures: u32,
    /// Rest after each answer as things are, in seconds.
    pub delay_s: f64,
    /// Crawl-delay of its robots.txt, in seconds.
    pub crawl_delay_s: Option<f64>,
    /// Smoothed time from request to first byte, in milliseconds.
    pub rtt_ms: Option<f64>,
    /// Its address, if it has one.
    pub address: Option<String>,
}

/// A page of sites.
#[derive(Clone, PartialEq, Debug, Default, Serialize, Deserialize)]
pub struct SitesPage {
    /// How many sites there are in all, of those asked for.
    pub total: u64,
    /// The rows.
    pub rows: Vec<SiteLine>,
    /// The place behind the last row, if there are more.
    pub next: Option<String>,
}

/// Which sites are listed.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct SitesQuery {
    /// In which order.
    pub order: SiteOrder,
    /// Those behind this place.
    pub after: Option<String>,
    /// How many at most.
    pub limit: usize,
    /// Only those whose name has this in it.
    pub part: Option<String>,
}

/// Some of the URLs that wait.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct QueuedSample {
    /// How many wait in all, those of sites not in memory included.
    pub total: u64,
    /// Some of them: the next ones of every site in memory, as many of each.
    pub urls: Vec<String>,
}

/// The most URLs of such a sample, which is read between two rounds of the loop.
pub const QUEUED_SAMPLE_MAX: usize = 2_000;

/// Where a site stands in an order.
type Rank = (Reverse<u64>, String);

impl Knowledge<'_> {
    /// Lists sites.
    pub(crate) fn sites(&self, query: &SitesQuery) -> SitesPage {
        let limit = query.limit.clamp(1, SITES_PER_PAGE_MAX);
        let after = query.after.as_deref().and_then(read_rank);
        let mut total = 0;
        let mut found: Vec<(Rank, Place<'_>, SiteView)> = Vec::new();
        for (place, view) in self.views() {
            let name = view.key.to_string();
            if query.part.as_ref().is_some_and(|part| !name.contains(part)) {
                continue;
            }
            total += 1;
            let rank = (Reverse(rank(&view, query.order)), name);
            if after.as_ref().is_none_or(|after| rank > *after) {
                found.push((rank, place, view));
            }
        }
        found.sort_unstable_by(|one, other| one.0.cmp(&other.0));
        let next = (found.len() > limit).then(|| write_rank(&found[limit - 1].0));
        found.truncate(limit);
        let rows = found.iter().map(|(_, place, view)| place.line(view));
        let rows = rows.collect();
        SitesPage { total, rows, next }
    }

    /// The next URLs of the sites in memory, `limit` in all at most.
    pub(crate) fn queued(&self, limit: usize) -> Result<QueuedSample, EngineError> {
        let limit = limit.clamp(1, QUEUED_SAMPLE_MAX);
        let lanes = self.views().flat_map(|(place, view)| {
            let (store, site) = (place.engine.store, view.key.hash64());
            let lanes = (0u8..).zip(view.state.lanes);
            lanes.map(move |(lane, state)| (store, site, lane, state))
        });
        let lanes = lanes.filter(|(.., state)| state.len > 0).take(limit);
        let lanes: Vec<_> = lanes.collect();
        let each = Reading {
            len: limit / lanes.len().max(1),
            is_ragged: false,
        };
        // A URL that was promoted has an entry in two lanes.
        let mut seen = HashSet::new();
        let mut urls = Vec::new();
        for (store, site, lane, state) in lanes {
            let (entries, _) = store.read_lane(site, lane, state.watermark, each)?;
            let entries = entries.into_iter().map(|(_, entry)| entry.url.to_string());
            urls.extend(entries.filter(|url| seen.insert(url.clone())));
        }
        // Its second entry stays in the sample, but waits no longer, once it was requested.
        let total = self.waiting.max(urls.len() as u64);
        Ok(QueuedSample { total, urls })
    }
}

impl Place<'_> {
    fn line(&self, view: &SiteView) -> SiteLine {
        let held = self.held(view, true);
        let state = &view.state;
        SiteLine {
            site: view.key.to_string(),
            hold: held.code().as_str().to_owned(),
            why: why(&held, view),
            held: Some(held),
            until: hold_until(&view.hold).map(Timestamp::to_rfc3339_millis),
            queued: view.queued.iter().sum(),
            in_flight: view.leased as u64,
            requests: state.requests,
            answers: state.answers,
            failures: state.failures,
            delay_s: view.rest.as_secs_f64(),
            crawl_delay_s: state.crawl_delay.map(|delay| delay.as_secs_f64()),
            rtt_ms: state.rtt.mean.map(|rtt| rtt.as_secs_f64() * 1e3),
            address: state
                .address
                .and_then(|(address, _)| Some(address?.to_string())),
        }
    }
}

fn rank(view: &SiteView, order: SiteOrder) -> u64 {
    match order {
        SiteOrder::Queued => view.queued.iter().sum(),
        SiteOrder::Rtt => view.state.rtt.mean.map_or(0, |rtt| rtt.as_micros() as u64),
        SiteOrder::Failures => u64::from(view.state.failures),
        SiteOrder::Name => 0,
    }
}

fn write_rank((Reverse(rank), name): &Rank) -> String {
    format!("{rank}~{name}")
}

/// A place that was not written by us is no place: the list begins anew.
fn read_rank(text: &str) -> Option<Rank> {
    let (rank, name) = text.split_once('~')?;
    Some((Reverse(rank.parse().ok()?), name.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_read_back_and_order_by_rank_then_name() {
        let place = |rank, name: &str| (Reverse(rank), name.to_owned());
        let one = place(7, "a.test:80");
        assert_eq!(read_rank(&write_rank(&one)), Some(one.clone()));
        assert!(one < place(7, "b.test") && place(8, "z.test") < one);
        assert_eq!(read_rank("rubbish"), None);
    }
}
