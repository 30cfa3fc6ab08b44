//! The threads a journey works with: the network and the readers.
//!
//! ```text
//! owner ── lease ──▶ network task ── fetched ──▶ reader thread ── read ──▶ owner
//!                         └───────── resolved ─────────────────────────────▲
//! ```
//!
//! At most `connections` leases are out at a time and every channel has room
//! for all of them, so no send ever waits. There is room for some more, as
//! connections can be added to a running crawl.

use std::sync::Arc;
use std::thread::JoinHandle;
use std::time::Duration;

use crossbeam_channel::{Receiver, Sender, bounded};
use geomi_engine::{Job, LookedUp};
use geomi_fetch::{BodyFilter, Fetcher};
use geomi_frontier::Lease;
use geomi_page::Readers;
use tokio::runtime::{Builder, Runtime};

use crate::stage::fetch::{Carried, Fetched, carry_out, looked_up};
use crate::stage::read::{Read, ReadSettings, read};
use crate::{Clock, CrawlError};

/// Leases there is always room for.
const ROOM_MIN: usize = 1_024;

/// What comes back to the owner.
#[derive(Debug)]
pub(crate) enum Event {
    /// A look-up, of the job of this engine.
    Resolved(usize, Box<Lease>, LookedUp),
    /// An answer that was read, to the job of this engine.
    Read(usize, Box<Read>),
    /// Whoever had a lease panicked.
    Lost,
}

/// Tells the owner if its holder panics.
struct Alarm(Sender<Event>);

impl Drop for Alarm {
    fn drop(&mut self) {
        if std::thread::panicking() {
            // If the owner is gone as well, nobody waits.
            drop(self.0.send(Event::Lost));
        }
    }
}

/// Threads and channels of one crawl.
#[derive(Debug)]
pub(crate) struct Crew {
    runtime: Runtime,
    fetcher: Fetcher,
    clock: Arc<dyn Clock>,
    ready: Vec<Job>,
    body_filter: Option<BodyFilter>,
    to_readers: Sender<(usize, Box<Fetched>)>,
    to_owner: Sender<Event>,
    pub(crate) events: Receiver<Event>,
    readers: Vec<JoinHandle<()>>,
}

impl Crew {
    pub(crate) fn assemble(
        fetcher: Fetcher,
        clock: Arc<dyn Clock>,
        settings: &ReadSettings,
        make_readers: fn() -> Readers,
        connections: usize,
        body_filter: Option<BodyFilter>,
    ) -> Result<Self, CrawlError> {
        let cores = std::thread::available_parallelism().map_or(2, std::num::NonZero::get);
        let runtime = Builder::new_multi_thread()
            .worker_threads(cores.div_ceil(2))
            .thread_name("network")
            .enable_all()
            .build()
            .map_err(CrawlError::Thread)?;
        let room = connections.max(ROOM_MIN);
        let (to_readers, fetched) = bounded::<(usize, Box<Fetched>)>(room);
        let (to_owner, events) = bounded(room);
        let readers = (0..cores).map(|number| {
            let (fetched, to_owner, settings) =
                (fetched.clone(), to_owner.clone(), settings.clone());
            let work = move || read_all(&fetched, &to_owner, &settings, &make_readers());
            std::thread::Builder::new()
                .name(format!("reader-{number}"))
                .spawn(work)
                .map_err(CrawlError::Thread)
        });
        let readers = readers.collect::<Result<_, _>>()?;
        Ok(Self {
            runtime,
            fetcher,
            clock,
            ready: Vec::new(),
            body_filter,
            to_readers,
            to_owner,
            events,
            readers,
        })
    }

    /// How many leases there is room for.
    pub(crate) fn connections_max(&self) -> usize {
        self.to_readers.capacity().unwrap_or(usize::MAX)
    }

    /// Makes a job ready to leave with the others of its round: waking the
    /// network costs more than a request does.
    pub(crate) fn make_ready(&mut self, job: Job) {
        self.ready.push(job);
    }

    /// Sends what is ready on its way; each lease comes back as an event.
    pub(crate) fn send_out(&mut self) {
        if self.ready.is_empty() {
            return;
        }
        let tasks: Vec<_> = std::mem::take(&mut self.ready)
            .into_iter()
            .map(|job| self.task(job))
            .collect();
        let alarm = Alarm(self.to_owner.clone());
        self.runtime.spawn(async move {
            let _alarm = alarm;
            for task in tasks {
                tokio::spawn(task);
            }
        });
    }

    fn task(&self, job: Job) -> impl Future<Output = ()> + Send + 'static {
        let Job {
            engine,
            lease,
            extras,
        } = job;
        let clock = Arc::clone(&self.clock);
        let body_filter = self.body_filter.clone().filter(|_| extras.filters_types);
        let carried = carry_out(self.fetcher.clone(), clock, lease, extras, body_filter);
        let (to_readers, to_owner) = (self.to_readers.clone(), self.to_owner.clone());
        let alarm = Alarm(self.to_owner.clone());
        async move {
            let _alarm = alarm;
            // A closed channel means that the crawl is over and nobody waits
            // for this answer: it was not acknowledged, so it will be repeated.
            match carried.await {
                Carried::Resolved(lease, resolution) => {
                    drop(to_owner.send(Event::Resolved(engine, lease, looked_up(resolution))));
                }
                Carried::Fetched(fetched) => drop(to_readers.send((engine, fetched))),
            }
        }
    }

    /// Lets everybody go. Requests under way are given up.
    pub(crate) fn dismiss(self) {
        self.runtime.shutdown_timeout(Duration::from_secs(1));
        drop((self.to_readers, self.to_owner, self.events));
        for reader in self.readers {
            if let Err(panic) = reader.join() {
                std::panic::resume_unwind(panic);
            }
        }
    }
}

fn read_all(
    fetched: &Receiver<(usize, Box<Fetched>)>,
    to_owner: &Sender<Event>,
    settings: &ReadSettings,
    readers: &Readers,
) {
    let _alarm = Alarm(to_owner.clone());
    for (engine, fetched) in fetched {
        let read = read(readers, settings, *fetched);
        if to_owner.send(Event::Read(engine, Box::new(read))).is_err() {
            return;
        }
    }
}
