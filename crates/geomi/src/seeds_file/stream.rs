//! A list of seeds as a stream, read while the crawl goes on.
//!
//! Each seed is checked against the rules for leaving our own machine when it
//! comes, since a pipe cannot be looked through before and a file may have
//! changed since it was. A line that cannot be used is told on standard error
//! and passed over; when the crawl is over the exit code tells of it.

use std::net::IpAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use geomi_crawler::SeedStream;
use geomi_engine::SeedInput;
use geomi_fetch::{HostPattern, NamedHost, NamedHosts};

use super::hosts::{InternalHosts, LEFT_OUT};
use super::lines::Lines;
use super::list::{BadLines, List};
use crate::Exit;
use crate::config::{Locality, RunningConfig};
use crate::terminal::stderr_line;

/// Seeds handed over at once, at most.
const BATCH_MAX: usize = 1_024;

/// Checks seeds while the crawl runs.
#[derive(Debug)]
pub(crate) struct Vetting {
    /// The configuration as it is by then.
    pub(crate) running: RunningConfig,
    /// Addresses the operator decided.
    pub(crate) overrides: Vec<(HostPattern, IpAddr)>,
    /// Hosts that may be at private addresses, known to whoever fetches.
    pub(crate) allowed: NamedHosts,
    /// Those the configuration has already.
    pub(crate) internal: InternalHosts,
}

/// What came of a stream; complete when it has ended.
#[derive(Debug, Default)]
pub(crate) struct Outcome {
    name: String,
    seeds: AtomicU64,
    bad: AtomicU64,
    has_failed: AtomicBool,
}

impl Outcome {
    /// The exit code of a crawl that came to its end: it did all it could, but
    /// some of what it was given may have been of no use, or all of it.
    pub(crate) fn exit(&self, exit: Exit, has_others: bool) -> Exit {
        if exit != Exit::Done {
            return exit;
        }
        if self.has_failed.load(Ordering::Acquire) {
            return Exit::Error;
        }
        if !has_others && self.seeds.load(Ordering::Acquire) == 0 {
            stderr_line!(
                "error: {} has no seeds that can be used: write one URL a line",
                self.name
            );
            return Exit::Usage;
        }
        if self.bad.load(Ordering::Acquire) > 0 {
            return Exit::Usage;
        }
        exit
    }
}

/// Makes a stream of a list. It opens nothing and reads nothing before it is
/// asked for its first seeds.
pub(crate) fn stream(list: List, vetting: Vetting) -> (SeedStream, Arc<Outcome>) {
    let bad = BadLines::new(list.path());
    let outcome = Arc::new(Outcome {
        name: bad.name().to_string(),
        ..Outcome::default()
    });
    let reader = Reader {
        bad,
        place: Place::Closed(list),
        vetting,
        fresh_hosts: Vec::new(),
        outcome: Arc::clone(&outcome),
    };
    (Box::new(reader), outcome)
}

struct Reader {
    place: Place,
    vetting: Vetting,
    bad: BadLines,
    /// Hosts of this batch that are to be allowed.
    fresh_hosts: Vec<NamedHost>,
    outcome: Arc<Outcome>,
}

/// How far the reader is.
enum Place {
    Closed(List),
    At(Lines),
    End,
}

impl Iterator for Reader {
    type Item = Vec<SeedInput>;

    fn next(&mut self) -> Option<Vec<SeedInput>> {
        let mut lines = match std::mem::replace(&mut self.place, Place::End) {
            Place::Closed(list) => match list.lines() {
                Ok(lines) => lines,
                Err(error) => {
                    self.fail(&error);
                    return None;
                }
            },
            Place::At(lines) => lines,
            Place::End => return None,
        };
        let mut batch = Vec::new();
        let is_over = self.fill(&mut batch, &mut lines);
        self.allow_hosts();
        self.outcome
            .seeds
            .fetch_add(batch.len() as u64, Ordering::AcqRel);
        if is_over {
            self.tell_rest();
        } else {
            self.place = Place::At(lines);
        }
        (!batch.is_empty()).then_some(batch)
    }
}

impl Reader {
    /// Reads what can be had without waiting, but one seed at least. Says
    /// whether that was all.
    fn fill(&mut self, batch: &mut Vec<SeedInput>, lines: &mut Lines) -> bool {
        while batch.len() < BATCH_MAX {
            if !batch.is_empty() && lines.may_wait() {
                return false;
            }
            match lines.next_seed() {
                Err(error) => {
                    self.fail(&error);
                    return true;
                }
                Ok(None) => return true,
                Ok(Some((number, line))) => match line.and_then(|seed| self.vet(seed)) {
                    Ok(seed) => batch.push(seed),
                    Err(what) => self.refuse(number, &what),
                },
            }
        }
        false
    }

    /// A seed on the internet needs manners, one on an internal network is
    /// allowed to be there.
    fn vet(&mut self, seed: SeedInput) -> Result<SeedInput, String> {
        let Vetting {
            running,
            overrides,
            internal,
            ..
        } = &mut self.vetting;
        let host = seed.url.host();
        if !Locality::new(overrides).is_local(host) {
            running.vet_public(host)?;
        }
        self.fresh_hosts.extend(internal.take(&seed.url));
        Ok(seed)
    }

    /// Before the seeds are handed over: who fetches them has to know.
    fn allow_hosts(&mut self) {
        if self.fresh_hosts.is_empty() {
            return;
        }
        let hosts = std::mem::take(&mut self.fresh_hosts);
        let words = hosts.iter().map(NamedHost::to_string).collect();
        for host in hosts {
            self.vetting.allowed.insert(host);
        }
        if let Err(error) = self.vetting.running.allow_hosts(words) {
            stderr_line!("warning: hosts of seeds are not kept for the next run: {error}");
        }
    }

    fn refuse(&mut self, number: usize, what: &str) {
        self.outcome.bad.fetch_add(1, Ordering::AcqRel);
        if let Some(words) = self.bad.tell(number, what) {
            stderr_line!("error: {words}; passed over");
        }
    }

    fn fail(&self, error: &std::io::Error) {
        self.outcome.has_failed.store(true, Ordering::Release);
        let name = self.bad.name();
        stderr_line!(
            "error: cannot read on in {name}: {error}; the seeds before are crawled, and the same command again takes the rest"
        );
    }

    fn tell_rest(&self) {
        if let Some(words) = self.bad.rest() {
            stderr_line!("error: {words}");
        }
        if self.vetting.internal.has_left_out() {
            stderr_line!("warning: {LEFT_OUT}");
        }
    }
}
