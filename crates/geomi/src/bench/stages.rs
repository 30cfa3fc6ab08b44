//! The stages of a page's journey, each run alone over the same pages.

use std::hint::black_box;
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context as _, bail};
use geomi_crawler::CrawlConfig;
use geomi_fetch::{FetchOutcome, FetchRequest, Fetcher};
use geomi_model::{NetworkState, Visit};
use geomi_page::{PageInput, Readers};
use geomi_store::warc::{
    Exchange, GzipLevel, WarcConfig, WarcWriter, encode_exchange, payload_digest,
};
use geomi_store::{cdxj, visits};
use tokio::task::JoinSet;

use super::usage::Usage;

/// A stage is repeated until it took this long: the clock has ticks of 10 ms.
const MEASURE_S: f64 = 1.0;
/// Records that share a sync, as in a busy crawl.
const SYNC_EVERY: usize = 32;

/// A stage and its cost.
#[derive(Clone, PartialEq, Debug)]
pub(crate) struct Stage {
    /// For machines.
    pub(crate) key: &'static str,
    /// For people.
    pub(crate) name: &'static str,
    /// Processor time.
    pub(crate) us_per_page: f64,
}

/// Measures every stage; the last one is what remains of `per_page_s`.
pub(super) fn measure(
    config: &CrawlConfig,
    sample: &[Visit],
    per_page_s: f64,
    folder: &Path,
) -> anyhow::Result<Vec<Stage>> {
    let network = Network::new(config)?;
    let mut outcomes = Vec::new();
    let fetch = Stage::measure(
        "fetch",
        "fetch: socket, HTTP, decoding",
        sample.len(),
        || {
            outcomes = network.fetch(sample)?;
            Ok(())
        },
    )?;
    let read = read(config, sample, &outcomes)?;
    let digest = Stage::measure(
        "digest",
        "digest: SHA-1 of the payload",
        sample.len(),
        || {
            for outcome in &outcomes {
                black_box(payload_digest(&outcome.head, &outcome.wire_body));
            }
            Ok(())
        },
    )?;
    let encode = encode(config, sample, &outcomes)?;
    let append = append(config, sample, &outcomes, folder)?;
    let rows = rows(sample, folder)?;
    let mut stages = vec![fetch, read, digest, encode, append, rows];
    let alone: f64 = stages.iter().map(|stage| stage.us_per_page).sum();
    stages.push(Stage {
        key: "rest",
        name: "rest: frontier, seen test, commits, log",
        us_per_page: per_page_s * 1e6 - alone,
    });
    Ok(stages)
}

impl Stage {
    fn measure(
        key: &'static str,
        name: &'static str,
        pages: usize,
        mut work: impl FnMut() -> anyhow::Result<()>,
    ) -> anyhow::Result<Self> {
        let before = Usage::now()?;
        let mut rounds = 0_usize;
        let mut taken = 0.0;
        while taken < MEASURE_S {
            work()?;
            rounds += 1;
            taken = Usage::now()?.since(&before).seconds();
        }
        let us_per_page = taken * 1e6 / (rounds * pages) as f64;
        Ok(Self {
            key,
            name,
            us_per_page,
        })
    }
}

/// Fetches as the crawl does: many connections on one thread.
struct Network {
    runtime: tokio::runtime::Runtime,
    fetcher: Arc<Fetcher>,
    connections: usize,
}

impl Network {
    fn new(config: &CrawlConfig) -> anyhow::Result<Self> {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .context("cannot start a runtime")?;
        let guard = runtime.enter();
        let fetcher = Arc::new(Fetcher::new(config.fetch.clone())?);
        drop(guard);
        Ok(Self {
            runtime,
            fetcher,
            connections: config.connections,
        })
    }

    fn fetch(&self, sample: &[Visit]) -> anyhow::Result<Vec<FetchOutcome>> {
        self.runtime.block_on(async {
            let mut tasks = JoinSet::new();
            let mut outcomes: Vec<(usize, FetchOutcome)> = Vec::with_capacity(sample.len());
            for (at, visit) in sample.iter().enumerate() {
                let addr = visit.ip.context("a captured page has an address")?;
                let request = FetchRequest::new(visit.url.clone(), addr);
                let fetcher = Arc::clone(&self.fetcher);
                tasks.spawn(async move { (at, fetcher.fetch(request).await) });
                if tasks.len() >= self.connections {
                    outcomes.extend(tasks.join_next().await.transpose()?);
                }
            }
            while let Some(done) = tasks.join_next().await {
                outcomes.push(done?);
            }
            // The other stages go through both lists side by side.
            outcomes.sort_unstable_by_key(|(at, _)| *at);
            let outcomes: Vec<_> = outcomes.into_iter().map(|(_, outcome)| outcome).collect();
            let failed = outcomes
                .iter()
                .find(|outcome| outcome.state != NetworkState::Ok);
            if let Some(outcome) = failed {
                bail!("a page could not be fetched again: {}", outcome.state);
            }
            Ok(outcomes)
        })
    }
}

fn read(
    config: &CrawlConfig,
    sample: &[Visit],
    outcomes: &[FetchOutcome],
) -> anyhow::Result<Stage> {
    let readers = Readers::standard();
    Stage::measure(
        "read",
        "read: charset, links, text, fingerprint",
        sample.len(),
        || {
            for (visit, outcome) in sample.iter().zip(outcomes) {
                let input = PageInput {
                    url: &visit.url,
                    mime: visit.mime.as_deref(),
                    charset_label: visit.charset.as_deref(),
                    body: &outcome.body,
                };
                black_box(readers.read(&input, &config.read));
            }
            Ok(())
        },
    )
}

fn exchange<'a>(visit: &'a Visit, outcome: &'a FetchOutcome) -> Exchange<'a> {
    Exchange {
        url: &visit.url,
        time: visit.time,
        serial: visit.number,
        ip: outcome.ip,
        protocol: outcome.protocol,
        request: &outcome.request,
        head: &outcome.head,
        wire_body: &outcome.wire_body,
        truncated: None,
        payload_digest: visit.digest.unwrap_or(geomi_model::Digest([0; 20])),
    }
}

fn gzip(config: &CrawlConfig) -> GzipLevel {
    GzipLevel::new(config.output.gzip_level).unwrap_or_default()
}

fn encode(
    config: &CrawlConfig,
    sample: &[Visit],
    outcomes: &[FetchOutcome],
) -> anyhow::Result<Stage> {
    Stage::measure("encode", "encode: WARC records, gzip", sample.len(), || {
        for (visit, outcome) in sample.iter().zip(outcomes) {
            black_box(encode_exchange(&exchange(visit, outcome), gzip(config)));
        }
        Ok(())
    })
}

fn append(
    config: &CrawlConfig,
    sample: &[Visit],
    outcomes: &[FetchOutcome],
    folder: &Path,
) -> anyhow::Result<Stage> {
    let folder = folder.join("append");
    std::fs::create_dir(&folder).context("cannot create a folder")?;
    let mut writer = WarcWriter::resume(WarcConfig::new(&folder, "bench", "w0"), None)?;
    let records: Vec<Vec<u8>> = sample
        .iter()
        .zip(outcomes)
        .map(|(visit, outcome)| encode_exchange(&exchange(visit, outcome), gzip(config)).members)
        .collect();
    Stage::measure("append", "append: WARC file, synced", sample.len(), || {
        for (batch, visits) in records.chunks(SYNC_EVERY).zip(sample.chunks(SYNC_EVERY)) {
            for (record, visit) in batch.iter().zip(visits) {
                writer.append(record, visit.time)?;
            }
            writer.sync()?;
        }
        Ok(())
    })
}

fn rows(sample: &[Visit], folder: &Path) -> anyhow::Result<Stage> {
    let path = folder.join("visits.parquet");
    Stage::measure(
        "rows",
        "rows: index lines, table of visits",
        sample.len(),
        || {
            for visit in sample {
                black_box(cdxj::line(visit));
            }
            visits::write_visits(&path, sample)?;
            Ok(())
        },
    )
}
