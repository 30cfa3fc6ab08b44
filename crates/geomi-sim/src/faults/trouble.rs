//! What goes wrong with a site, and when: it is slow, dies, answers 503 for a
//! while, loses its name, or forbids what it allowed.

use std::time::Duration;

use geomi_model::Timestamp;
use geomi_url::CrawlUrl;

use super::web::{Answer, SITES, START};
use crate::draws::Draws;

/// A span in which something is wrong.
type Span = (Timestamp, Timestamp);

/// How a request ends.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Ends {
    Answered(Answer),
    Throttled(Option<Duration>),
    Silent,
    Unreachable,
}

/// The truth about a site.
#[derive(Clone, Debug)]
pub(super) struct Site {
    /// Its mean time for an answer.
    took_ms: u64,
    /// From then on nobody listens.
    dies_at: Option<Timestamp>,
    /// When it answers 503.
    storms: Vec<Span>,
    /// What it asks for then.
    asks: Option<Duration>,
    /// When its name cannot be looked up.
    nameless: Vec<Span>,
    /// When its robots.txt forbids a folder that is open otherwise.
    pub(super) closes: Option<Closed>,
    /// Its robots.txt is kept at this site.
    pub(super) robots_at: Option<usize>,
}

/// A folder that is forbidden for some days.
#[derive(Clone, Debug)]
pub(super) struct Closed {
    pub(super) from: Timestamp,
    to: Timestamp,
    pub(super) folder: String,
}

impl Closed {
    /// Whether it is forbidden at a time.
    pub(super) fn covers(&self, now: Timestamp) -> bool {
        self.from <= now && now < self.to
    }
}

impl Site {
    /// The site of a number, which has these pages.
    pub(super) fn drawn(number: usize, urls: &[CrawlUrl], draws: &mut Draws) -> Self {
        let dies_at = if draws.once_in(16) {
            Some(START + Duration::from_secs(draws.below(60)))
        } else {
            draws.once_in(12).then(|| day(draws))
        };
        let took_ms = if draws.once_in(5) {
            6_000
        } else {
            50 + draws.below(600)
        };
        Self {
            took_ms,
            dies_at,
            storms: spans(4, draws),
            asks: (!draws.once_in(3)).then(|| Duration::from_secs(2 + draws.below(15))),
            nameless: spans(5, draws),
            closes: draws.once_in(2).then(|| closed(urls, draws)),
            robots_at: draws
                .once_in(6)
                .then(|| draws.below(SITES as u64) as usize)
                .filter(|other| *other != number),
        }
    }

    /// The same site, busy for two hours, of which it asks for one.
    pub(super) fn asking_for_an_hour(mut self) -> Self {
        self.storms = vec![(START, START + Duration::from_hours(2))];
        self.asks = Some(Duration::from_hours(1));
        self
    }

    /// How a request that starts now fails, if it does, and how long it takes.
    pub(super) fn serve(&self, now: Timestamp, draws: &mut Draws) -> (Option<Ends>, Duration) {
        let millis = |most: u64, draws: &mut Draws| Duration::from_millis(1 + draws.below(most));
        if self.dies_at.is_some_and(|dies_at| now >= dies_at) || draws.once_in(60) {
            return (Some(Ends::Unreachable), millis(2_000, draws));
        }
        let took = millis(2 * self.took_ms, draws);
        if is_within(&self.storms, now) {
            return (Some(Ends::Throttled(self.asks)), took);
        }
        if draws.once_in(25) {
            return (Some(Ends::Silent), Duration::from_secs(5));
        }
        (None, took)
    }

    /// Whether nothing was wrong with it from a time until now.
    pub(super) fn is_well(&self, from: Timestamp, now: Timestamp) -> bool {
        let lives = self.dies_at.is_none_or(|dies_at| now < dies_at);
        let mut spans = self.storms.iter().chain(&self.nameless);
        lives && !spans.any(|(begin, end)| *begin < now && from < *end)
    }

    /// Whether its name can be looked up now.
    pub(super) fn has_name(&self, now: Timestamp) -> bool {
        !is_within(&self.nameless, now)
    }
}

fn is_within(spans: &[Span], now: Timestamp) -> bool {
    spans.iter().any(|(from, to)| *from <= now && now < *to)
}

/// A moment in the weeks after the first crawl.
fn day(draws: &mut Draws) -> Timestamp {
    START + Duration::from_secs(3_600 + draws.below(20 * 86_400))
}

/// One site in so many has trouble while it is crawled first, for seconds, and
/// as many have it later, for hours.
fn spans(times: u64, draws: &mut Draws) -> Vec<Span> {
    let mut spans = Vec::new();
    if draws.once_in(times) {
        let from = START + Duration::from_secs(draws.below(60));
        spans.push((from, from + Duration::from_secs(1 + draws.below(40))));
    }
    while draws.once_in(times) {
        let from = day(draws);
        spans.push((from, from + Duration::from_secs(600 + draws.below(43_200))));
    }
    spans
}

/// The folder of one of these pages, for some days.
fn closed(urls: &[CrawlUrl], draws: &mut Draws) -> Closed {
    let from = day(draws);
    let path = urls[draws.below(urls.len() as u64) as usize].path_and_query();
    let end = path.rfind(['/', '?']).map_or(0, |end| end + 1);
    Closed {
        from,
        to: from + Duration::from_secs(86_400 * (2 + draws.below(10))),
        folder: path[..end].to_owned(),
    }
}
