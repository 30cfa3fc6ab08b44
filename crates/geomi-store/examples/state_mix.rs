//! What the key-value state costs a page, on the crawler's own access pattern.
//!
//! ```text
//! cargo run --release -p geomi-store --example state_mix -- <mix> <urls> [name=value ...]
//!
//! mix      first     each visit is a URL's first and admits ten new URLs
//!          revisit   each visit rewrites a record, of <urls> loaded before
//! engine   fjall (default), none (the cost of this program itself)
//! cache    block cache in MiB          memtable   memtable in MiB
//! visits   how many; by default <urls>/10
//! seconds  stop after so long, 180 by default
//! dir      where to put it, a temporary folder by default
//! ```
//!
//! A visit pops a URL from its site's chunked queue, reads the URL's record,
//! and writes the record, the site's state and a pending-visit row; 32 visits
//! are one commit, which also appends each site's new URLs as one chunk and the
//! hashes of all of them as one value of the seen log. Pending rows are deleted
//! 8,192 at a time. Sites are drawn from a Zipf law over 200,000.

use std::collections::BTreeMap;
use std::error::Error;
use std::fs;
use std::io::{self, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use geomi_state::{Batch, CommitNo, Scan, StateError, StateStore};
use geomi_store::{FjallOptions, FjallStore};

const SITES: u64 = 200_000;
const VISITS_A_COMMIT: u64 = 32;
const PENDING_BLOCK: u64 = 8192;
const RECORD_BYTES: usize = 140;
const SITE_BYTES: usize = 160;
const PENDING_BYTES: usize = 350;
const QUEUED_URL_BYTES: usize = 60;
const MIB: u64 = 1 << 20;

fn main() -> Result<(), Box<dyn Error>> {
    let plan = Plan::from_arguments(std::env::args().skip(1))?;
    let temporary = tempfile::tempdir()?;
    let dir = plan.dir.clone();
    let dir = dir.unwrap_or_else(|| temporary.path().to_path_buf());
    let store: Box<dyn StateStore> = match plan.engine.as_str() {
        "fjall" => Box::new(FjallStore::open(&dir, plan.options)?),
        "none" => Box::new(Nothing),
        other => return Err(format!("no engine is called {other}").into()),
    };
    let mut crawl = Crawl::new(store);
    if plan.mix == Mix::Revisit {
        crawl.load(plan.urls)?;
        // The merges that loading left behind are not the revisits' cost.
        let warm_up = plan.visits / 3;
        crawl.run(&plan, warm_up)?;
        let peak = field("/proc/self/status", "VmHWM:")? / 1024;
        writeln!(stdout(), "loaded {} URLs: peak RSS {peak} MiB", plan.urls)?;
        // From here on the peak of memory is that of the run.
        fs::write("/proc/self/clear_refs", "5")?;
    }
    crawl.commit_us.clear();
    let before = Usage::now()?;
    let visits = crawl.run(&plan, plan.visits)?;
    let used = Usage::now()?.since(&before);
    report(&plan, &dir, visits, &used, &mut crawl.commit_us)?;
    Ok(())
}

#[derive(Clone, Copy, PartialEq, Debug)]
enum Mix {
    First,
    Revisit,
}

struct Plan {
    mix: Mix,
    urls: u64,
    visits: u64,
    engine: String,
    options: FjallOptions,
    limit: Duration,
    dir: Option<PathBuf>,
}

impl Plan {
    fn from_arguments(mut arguments: impl Iterator<Item = String>) -> Result<Self, Box<dyn Error>> {
        let mix = match arguments.next().as_deref() {
            Some("first") => Mix::First,
            Some("revisit") => Mix::Revisit,
            _ => return Err("say first or revisit, then the number of URLs".into()),
        };
        let urls = arguments.next().ok_or("say how many URLs")?.parse()?;
        let mut plan = Self {
            mix,
            urls,
            visits: urls / 10,
            engine: "fjall".to_owned(),
            options: FjallOptions::default(),
            limit: Duration::from_mins(3),
            dir: None,
        };
        for argument in arguments {
            match argument.split_once('=') {
                Some(("engine", name)) => name.clone_into(&mut plan.engine),
                Some(("visits", visits)) => plan.visits = visits.parse()?,
                Some(("cache", mib)) => plan.options.cache_bytes = mib.parse::<u64>()? * MIB,
                Some(("memtable", mib)) => plan.options.memtable_bytes = mib.parse::<u64>()? * MIB,
                Some(("seconds", seconds)) => plan.limit = Duration::from_secs(seconds.parse()?),
                Some(("dir", path)) => plan.dir = Some(path.into()),
                _ => return Err(format!("what is {argument}?").into()),
            }
        }
        Ok(plan)
    }
}

/// The store under test, and as much of a frontier as its pattern needs.
struct Crawl {
    store: Box<dyn StateStore>,
    random: Random,
    batch: Batch,
    queues: Vec<Queue>,
    visit: u64,
    commits: u64,
    commit_us: Vec<u32>,
}

/// A site's queue: chunks `read..written` are in the store, the rest in memory.
#[derive(Clone, Copy, Default)]
struct Queue {
    read: u32,
    written: u32,
    in_memory: u32,
    records: u32,
}

impl Crawl {
    fn new(store: Box<dyn StateStore>) -> Self {
        Self {
            store,
            random: Random(0x9e37_79b9_7f4a_7c15),
            batch: Batch::new(),
            queues: vec![Queue::default(); SITES as usize],
            visit: 0,
            commits: 0,
            commit_us: Vec::new(),
        }
    }

    /// Gives the store the records of earlier visits.
    fn load(&mut self, urls: u64) -> Result<(), StateError> {
        for loaded in 0..urls {
            let site = self.random.site();
            self.put_record(site, self.queues[site].records);
            self.queues[site].records += 1;
            if loaded % 4096 == 4095 {
                self.commit()?;
            }
        }
        self.commit()
    }

    /// Makes `visits` visits, or as many as there is time for.
    fn run(&mut self, plan: &Plan, visits: u64) -> Result<u64, StateError> {
        let start = now();
        let first = self.visit;
        while self.visit - first < visits && start.elapsed() < plan.limit {
            let mut found: BTreeMap<usize, u32> = BTreeMap::new();
            for _ in 0..VISITS_A_COMMIT {
                let site = self.random.site();
                match plan.mix {
                    Mix::First => self.first_visit(site, &mut found)?,
                    Mix::Revisit => self.revisit(site, &mut found)?,
                }
                self.finish_visit(site);
            }
            self.append_queues(&found);
            if self.visit.is_multiple_of(PENDING_BLOCK) {
                for row in self.visit - PENDING_BLOCK..self.visit {
                    self.batch.delete(&key(b'p', row, 0));
                }
            }
            self.commit()?;
        }
        Ok(self.visit - first)
    }

    /// A new URL: eight of its ten links stay on the site.
    fn first_visit(
        &mut self,
        site: usize,
        found: &mut BTreeMap<usize, u32>,
    ) -> Result<(), StateError> {
        self.pop(site)?;
        let record = self.queues[site].records;
        self.queues[site].records += 1;
        self.store.get(&record_key(site, record))?;
        self.put_record(site, record);
        *found.entry(site).or_default() += 8;
        for _ in 0..2 {
            *found.entry(self.random.site()).or_default() += 1;
        }
        Ok(())
    }

    /// A known URL, which is queued again, and one new URL.
    fn revisit(&mut self, site: usize, found: &mut BTreeMap<usize, u32>) -> Result<(), StateError> {
        self.pop(site)?;
        let known = self.queues[site].records.max(1);
        let record = self.random.below(u64::from(known)) as u32;
        self.store.get(&record_key(site, record))?;
        self.put_record(site, record);
        *found.entry(site).or_default() += 2;
        Ok(())
    }

    /// Takes the site's next URL, reading and deleting a chunk if need be.
    fn pop(&mut self, site: usize) -> Result<(), StateError> {
        let queue = &mut self.queues[site];
        if queue.in_memory == 0 && queue.read < queue.written {
            // The cursor names the next chunk: a look-up, which a filter helps,
            // and not a scan, which cannot use one.
            let next = chunk_key(site, queue.read);
            let chunk = self.store.get(&next)?.unwrap_or_default();
            queue.in_memory = (chunk.len() / QUEUED_URL_BYTES) as u32;
            queue.read += 1;
            self.batch.delete(&next);
        }
        queue.in_memory = queue.in_memory.saturating_sub(1);
        Ok(())
    }

    fn put_record(&mut self, site: usize, record: u32) {
        let value: [u8; RECORD_BYTES] = self.random.bytes();
        self.batch.put(&record_key(site, record), &value);
    }

    fn finish_visit(&mut self, site: usize) {
        let state: [u8; SITE_BYTES] = self.random.bytes();
        self.batch.put(&key(b's', site_hash(site), 0)[..9], &state);
        let row: [u8; PENDING_BYTES] = self.random.bytes();
        self.batch.put(&key(b'p', self.visit, 0), &row);
        self.visit += 1;
    }

    fn append_queues(&mut self, found: &BTreeMap<usize, u32>) {
        let mut seen = Vec::new();
        for (&site, &urls) in found {
            let mut chunk = Vec::with_capacity(urls as usize * QUEUED_URL_BYTES);
            for _ in 0..urls {
                let url: [u8; QUEUED_URL_BYTES] = self.random.bytes();
                chunk.extend_from_slice(&url);
                seen.extend_from_slice(&url[..8]);
            }
            let queue = &mut self.queues[site];
            self.batch.put(&chunk_key(site, queue.written), &chunk);
            queue.written += 1;
        }
        self.batch.put(&key(b'l', self.commits, 0)[..9], &seen);
    }

    fn commit(&mut self) -> Result<(), StateError> {
        let start = now();
        self.store.commit(&self.batch)?;
        self.commit_us.push(start.elapsed().as_micros() as u32);
        self.commits += 1;
        self.batch.clear();
        Ok(())
    }
}

/// An engine that keeps nothing.
struct Nothing;

impl StateStore for Nothing {
    fn get(&self, _: &[u8]) -> Result<Option<Vec<u8>>, StateError> {
        Ok(None)
    }
    fn scan(
        &self,
        _: &[u8],
        _: &[u8],
        _: &mut dyn FnMut(&[u8], &[u8]) -> Scan,
    ) -> Result<(), StateError> {
        Ok(())
    }
    fn commit(&mut self, _: &Batch) -> Result<CommitNo, StateError> {
        Ok(CommitNo::default())
    }
    fn durable(&self) -> CommitNo {
        CommitNo::default()
    }
}

fn key(kind: u8, one: u64, two: u64) -> [u8; 17] {
    let mut key = [kind; 17];
    key[1..9].copy_from_slice(&one.to_be_bytes());
    key[9..].copy_from_slice(&two.to_be_bytes());
    key
}

fn site_hash(site: usize) -> u64 {
    (site as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

fn record_key(site: usize, record: u32) -> [u8; 17] {
    let url_hash = u64::from(record + 1).wrapping_mul(0xd6e8_feb8_6659_fd93);
    key(b'u', site_hash(site), url_hash)
}

fn chunk_key(site: usize, chunk: u32) -> [u8; 17] {
    key(b'q', site_hash(site), u64::from(chunk))
}

struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 ^= self.0 >> 12;
        self.0 ^= self.0 << 25;
        self.0 ^= self.0 >> 27;
        self.0.wrapping_mul(0x2545_f491_4f6c_dd1d)
    }

    fn below(&mut self, bound: u64) -> u64 {
        (self.next() >> 32) % bound
    }

    /// A site by Zipf's law with exponent one.
    fn site(&mut self) -> usize {
        let uniform = (self.next() >> 11) as f64 / (1_u64 << 53) as f64;
        let rank = (uniform * (SITES as f64).ln()).exp();
        (rank as usize).min(SITES as usize - 1)
    }

    /// Half noise, half zeros: about as compressible as records and URLs are.
    fn bytes<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        for piece in bytes.chunks_mut(16) {
            let noise = self.next().to_le_bytes();
            let len = piece.len().min(8);
            piece[..len].copy_from_slice(&noise[..len]);
        }
        bytes
    }
}

#[expect(clippy::disallowed_methods, reason = "all it prints is its own")]
fn stdout() -> io::Stdout {
    io::stdout()
}

#[expect(
    clippy::disallowed_methods,
    reason = "a benchmark measures real time and bounds its own"
)]
fn now() -> Instant {
    Instant::now()
}

/// What the process has used so far.
struct Usage {
    at: Instant,
    cpu_us: f64,
    written: u64,
}

impl Usage {
    fn now() -> io::Result<Self> {
        let stat = fs::read_to_string("/proc/self/stat")?;
        let after_name = stat.rsplit(')').next().unwrap_or_default();
        let ticks = after_name.split_whitespace().skip(11).take(2);
        let ticks: f64 = ticks.filter_map(|field| field.parse::<f64>().ok()).sum();
        Ok(Self {
            at: now(),
            cpu_us: ticks * 1e6 / rustix::param::clock_ticks_per_second() as f64,
            written: field("/proc/self/io", "write_bytes:")?,
        })
    }

    fn since(&self, earlier: &Self) -> Used {
        Used {
            wall: self.at - earlier.at,
            cpu_us: self.cpu_us - earlier.cpu_us,
            written: self.written - earlier.written,
        }
    }
}

struct Used {
    wall: Duration,
    cpu_us: f64,
    written: u64,
}

/// The number after `name` in a file of names and numbers.
fn field(path: &str, name: &str) -> io::Result<u64> {
    let text = fs::read_to_string(path)?;
    let value = text.lines().find_map(|line| line.strip_prefix(name));
    let number = value.and_then(|value| value.split_whitespace().next()?.parse().ok());
    number.ok_or_else(|| io::Error::other(format!("{path} has no {name}")))
}

fn disk_bytes(path: &Path) -> io::Result<u64> {
    let mut bytes = 0;
    for entry in fs::read_dir(path)? {
        let entry = entry?;
        // Background merges delete files while we look.
        let Ok(metadata) = entry.metadata() else {
            continue;
        };
        bytes += if metadata.is_dir() {
            disk_bytes(&entry.path())?
        } else {
            metadata.blocks() * 512
        };
    }
    Ok(bytes)
}

fn report(
    plan: &Plan,
    dir: &Path,
    visits: u64,
    used: &Used,
    commit_us: &mut [u32],
) -> io::Result<()> {
    commit_us.sort_unstable();
    let quantile = |share: f64| {
        let index = (commit_us.len() - 1) as f64 * share;
        f64::from(commit_us[index as usize]) / 1000.0
    };
    let urls = match plan.mix {
        Mix::First => visits * 10,
        Mix::Revisit => plan.urls,
    };
    let pages = visits as f64;
    writeln!(
        stdout(),
        "{:?} engine={} cache={}MiB memtable={}MiB visits={visits} urls={urls}: \
         {:.1} us CPU a page, {:.0} pages/s, RSS {} MiB (peak {}), \
         {:.0} B written a page, {:.0} B on disk a URL, \
         commit ms p50 {:.2} p99 {:.2} max {:.0}",
        plan.mix,
        plan.engine,
        plan.options.cache_bytes / MIB,
        plan.options.memtable_bytes / MIB,
        used.cpu_us / pages,
        pages / used.wall.as_secs_f64(),
        field("/proc/self/status", "VmRSS:")? / 1024,
        field("/proc/self/status", "VmHWM:")? / 1024,
        used.written as f64 / pages,
        disk_bytes(dir)? as f64 / urls as f64,
        quantile(0.5),
        quantile(0.99),
        quantile(1.0),
    )
}
