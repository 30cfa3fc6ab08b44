//! Fetch: carry a lease out on the network.

use std::sync::Arc;

use geomi_fetch::{FetchOutcome, FetchRequest, Fetcher, Resolution};
use geomi_frontier::{Lease, Work};
use geomi_model::Timestamp;

use crate::Clock;

/// A request and what came of it.
#[derive(Debug)]
pub(crate) struct Fetched {
    pub(crate) lease: Lease,
    pub(crate) started: Timestamp,
    pub(crate) ended: Timestamp,
    pub(crate) outcome: FetchOutcome,
}

/// What a task on the network brings back.
#[derive(Debug)]
pub(crate) enum Carried {
    Resolved(Lease, Resolution),
    Fetched(Box<Fetched>),
}

/// Carries out a lease that needs the network.
pub(crate) async fn carry_out(fetcher: Fetcher, clock: Arc<dyn Clock>, lease: Lease) -> Carried {
    let (url, addr, body_bytes_max) = match lease.work() {
        Work::Resolve { host, .. } => {
            let resolution = fetcher.resolve(host).await;
            return Carried::Resolved(lease, resolution);
        }
        Work::Robots(errand, addr) => (
            errand.url.clone(),
            *addr,
            Some(geomi_robots::ROBOTS_BYTES_MAX),
        ),
        Work::Page(entry, addr) => (
            entry.url.clone(),
            addr.expect("a page without an address is not fetched"),
            None,
        ),
    };
    let mut request = FetchRequest::new(url, addr);
    request.body_bytes_max = body_bytes_max;
    let started = clock.now();
    let outcome = fetcher.fetch(request).await;
    Carried::Fetched(Box::new(Fetched {
        lease,
        started,
        ended: clock.now(),
        outcome,
    }))
}
