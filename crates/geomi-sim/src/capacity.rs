//! What so many pages in so much time take: arithmetic over what a page was
//! measured to cost.
//!
//! Nothing is rounded until it is told, and every figure that goes in is a
//! field of [`Cost`] that can be given. It does not know prices, and it does not
//! plan for failures beyond the share of capacity that is kept free.

use std::time::Duration;

/// What a page costs. The defaults are measured where they say so.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Cost {
    /// Processor seconds for a page: `geomi bench`, whole journey at 18 kB a
    /// page, with everything written (docs/benchmarks.md).
    pub cpu_s: f64,
    /// Processor seconds more for each kB beyond 18: the same at 100 kB.
    pub cpu_s_per_kb: f64,
    /// Bytes of a page as it is received.
    pub page_bytes: f64,
    /// Bytes kept of a page for each byte received: the bench's text compresses
    /// 2.5 times.
    pub kept_share: f64,
    /// How long a request holds its connection: two round trips of 80 ms and
    /// the body.
    pub request_s: f64,
    /// A site's rest after each answer.
    pub rest_s: f64,
    /// New URLs a page brings to the queues.
    pub new_urls: f64,
    /// Bytes of a queued URL on disk (ADR 0002).
    pub url_bytes: f64,
    /// URLs a partition holds well: the size its seen table was measured at.
    pub partition_urls: f64,
}

impl Default for Cost {
    fn default() -> Self {
        Self {
            cpu_s: 204e-6,
            cpu_s_per_kb: 4.94e-6,
            page_bytes: 18_000.0,
            kept_share: 0.4,
            request_s: 0.25,
            rest_s: 1.0,
            new_urls: 1.0,
            url_bytes: 128.0,
            partition_urls: 1e8,
        }
    }
}

/// What is wanted.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Demand {
    /// Pages in each period.
    pub pages: f64,
    /// The period.
    pub period: Duration,
    /// The peak over the mean rate.
    pub peak: f64,
    /// Cores of a worker.
    pub cores: f64,
    /// Share of a worker's cores that is used at the peak.
    pub load: f64,
    /// How long pages are kept.
    pub keep: Duration,
}

/// What it takes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct Plan {
    /// Pages a second, in the mean.
    pub pages_per_s: f64,
    /// At the peak.
    pub peak_pages_per_s: f64,
    /// Cores busy at the peak.
    pub cores: f64,
    /// Workers.
    pub workers: u64,
    /// Requests under way at the peak.
    pub connections: u64,
    /// Sites that must be in progress at the peak, each resting between pages.
    pub sites: u64,
    /// Bits a second received at the peak.
    pub bandwidth_bps: f64,
    /// Bytes received in a period.
    pub received_bytes: f64,
    /// Bytes stored in a period.
    pub stored_bytes: f64,
    /// Bytes stored when the first pages are thrown away.
    pub kept_bytes: f64,
    /// Bytes of queues on disk after a period.
    pub queue_bytes: f64,
    /// Partitions, by the URLs of a period.
    pub partitions: u64,
}

/// Works the plan out.
pub fn plan(demand: &Demand, cost: &Cost) -> Plan {
    let period_s = demand.period.as_secs_f64();
    let pages_per_s = demand.pages / period_s;
    let peak_pages_per_s = pages_per_s * demand.peak;
    let beyond_kb = (cost.page_bytes / 1_000.0 - 18.0).max(0.0);
    let cores = peak_pages_per_s * (cost.cpu_s + beyond_kb * cost.cpu_s_per_kb);
    let connections = peak_pages_per_s * cost.request_s;
    let sites = peak_pages_per_s * (cost.request_s + cost.rest_s);
    let received_bytes = demand.pages * cost.page_bytes;
    let stored_bytes = received_bytes * cost.kept_share;
    let urls = demand.pages * (1.0 + cost.new_urls);
    Plan {
        pages_per_s,
        peak_pages_per_s,
        cores,
        workers: whole(cores / (demand.cores * demand.load)),
        connections: whole(connections),
        sites: whole(sites),
        bandwidth_bps: peak_pages_per_s * cost.page_bytes * 8.0,
        received_bytes,
        stored_bytes,
        kept_bytes: stored_bytes * demand.keep.as_secs_f64() / period_s,
        queue_bytes: demand.pages * cost.new_urls * cost.url_bytes,
        partitions: whole(urls / cost.partition_urls),
    }
}

/// So many things, none of which comes in parts.
fn whole(count: f64) -> u64 {
    count.ceil().max(1.0) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    const DAY: Duration = Duration::from_hours(24);

    #[test]
    fn the_design_for_a_billion_pages_a_month_comes_out() {
        let demand = Demand {
            pages: 1e9,
            period: 30 * DAY,
            peak: 2.0,
            cores: 2.0,
            load: 0.7,
            keep: 60 * 30 * DAY,
        };
        let cost = Cost {
            page_bytes: 500_000.0,
            kept_share: 1.0,
            ..Cost::default()
        };
        let plan = plan(&demand, &cost);
        assert!((plan.pages_per_s - 385.8).abs() < 0.1);
        assert!(
            (plan.stored_bytes / 1e12 - 500.0).abs() < 1e-6,
            "500 TB a month"
        );
        assert!(
            (plan.kept_bytes / 1e15 - 30.0).abs() < 1e-6,
            "30 PB in 5 years"
        );
    }

    #[test]
    fn a_small_demand_still_takes_one_of_each() {
        let demand = Demand {
            pages: 1.0,
            period: DAY,
            peak: 1.0,
            cores: 2.0,
            load: 0.7,
            keep: DAY,
        };
        let plan = plan(&demand, &Cost::default());
        assert_eq!((plan.workers, plan.connections, plan.partitions), (1, 1, 1));
    }
}
