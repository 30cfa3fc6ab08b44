//! One lease carried out: a look-up, a robots.txt or a page.

use std::time::Duration;

use geomi_frontier::{Entry, Lease, Resolved, Settlement, SiteSignal, Timing, Work};
use geomi_model::Timestamp;
use geomi_robots::CACHE_MAX;
use geomi_testweb::Content;
use geomi_url::CrawlUrl;

use super::disk::Letter;
use super::mutation::Mutation;
use super::row::{Record, Row, Seen};
use super::trouble::Ends;
use super::web::{Answer, START, Served};
use super::world::{AGENT, Flight, LastVisit, Stop, World};

pub(super) const HOUR: Duration = Duration::from_hours(1);
/// Tries of a page and of a robots.txt.
pub(super) const TRIES: u8 = 3;
/// What a crash and a wrong clock may add to the age of a robots.txt.
const ROBOTS_SLACK: Duration = Duration::from_mins(10);

impl World {
    /// Starts a lease, or settles one for which no request is needed.
    pub(super) fn start(&mut self, lease: Lease) -> Result<(), Stop> {
        match lease.work().clone() {
            Work::Resolve { host, .. } => {
                self.tell(format_args!("look up {host}"));
                let served = Served {
                    ends: Ends::Silent,
                    took: Duration::from_millis(1 + self.draws.below(50)),
                    holds: None,
                };
                self.fly(lease, served);
                Ok(())
            }
            Work::Robots(errand, _) => self.request(lease, &errand.url, None),
            Work::Page(entry, None) => Ok(self.give_up(lease, &entry)?),
            Work::Page(entry, Some(_)) => self.start_page(lease, &entry),
        }
    }

    fn start_page(&mut self, lease: Lease, entry: &Entry) -> Result<(), Stop> {
        let record = self.record(&entry.url);
        let rules = self.rules.get(&lease.site());
        let path = entry.url.path_and_query();
        let may = rules.is_some_and(|rules| rules.verdict(AGENT, path).allowed);
        if may || self.is(Mutation::RobotsIgnored) {
            let known = record.copy.filter(|_| record.has_tag);
            return self.request(lease, &entry.url, known);
        }
        let is_forbidden = rules.is_some_and(|rules| rules.unreachable_reason().is_none());
        if is_forbidden {
            self.refuse(lease, entry);
            return Ok(());
        }
        Ok(self.give_up(lease, entry)?)
    }

    fn request(
        &mut self,
        lease: Lease,
        url: &CrawlUrl,
        known: Option<Content>,
    ) -> Result<(), Stop> {
        let site = self.web.site_of(url);
        let served = self.web.serve(url, known, self.now, &mut self.draws);
        self.tell(format_args!("ask {url}"));
        self.turns.served(lease.site());
        // Rules may be as old as they may be kept.
        let forbidden = self.web.forbidden_since(url, self.now);
        let forbidden = forbidden.filter(|_| matches!(lease.work(), Work::Page(..)));
        let is_forbidden = forbidden
            .is_some_and(|since| since == START || since + CACHE_MAX + ROBOTS_SLACK < self.now);
        let times = if self.is(Mutation::DoubleLease) { 2 } else { 1 };
        for _ in 0..times {
            let addr = self.web.address(site);
            self.watch
                .request(site, addr, url, is_forbidden, self.now)?;
        }
        self.fly(lease, served);
        Ok(())
    }

    fn fly(&mut self, lease: Lease, served: Served) {
        self.flying.push(Flight {
            started: self.now,
            lands: self.now + served.took,
            ends: served.ends,
            holds: served.holds,
            lease,
        });
    }

    /// An answer came, or did not.
    pub(super) fn land(&mut self, flight: Flight) -> Result<(), String> {
        self.is_dirty = true;
        let took = self.now.since(flight.started);
        let url = match flight.lease.work() {
            Work::Resolve { host, attempts, .. } => {
                let (host, attempts) = (host.clone(), *attempts);
                self.looked_up(flight.lease, &host, attempts);
                return Ok(());
            }
            Work::Robots(errand, _) => errand.url.clone(),
            Work::Page(entry, _) => entry.url.clone(),
        };
        let site = self.web.site_of(&url);
        let ends = flight.ends;
        self.tell(format_args!("{ends:?} {url}"));
        let addr = self.web.address(site);
        self.watch.answer(site, addr, &url, ends, took, self.now);
        let timing = Timing {
            ended: self.clock(),
            took,
            rtt: matches!(ends, Ends::Answered(_)).then_some(took / 2),
            connect: None,
        };
        match flight.lease.work().clone() {
            Work::Robots(errand, _) => self.settle_robots(flight.lease, &errand, ends, timing),
            Work::Page(entry, _) => self.settle_page(flight, &entry, timing)?,
            Work::Resolve { .. } => {}
        }
        Ok(())
    }

    fn looked_up(&mut self, lease: Lease, host: &str, attempts: u8) {
        let now = self.clock();
        let site = self.web.site_named(host);
        let outcome = if self.web.has_name(site, self.now) {
            Resolved::Address {
                addr: self.web.address(site),
                until: now + HOUR,
                is_public: false,
            }
        } else if attempts + 1 < TRIES {
            Resolved::Retry
        } else {
            Resolved::Nowhere(now + HOUR)
        };
        self.frontier.settle_resolve(lease, outcome, now);
    }

    pub(super) fn signal(&self, ends: Ends) -> SiteSignal {
        match ends {
            Ends::Answered(_) if self.is(Mutation::BackoffNotReset) => SiteSignal::Silent,
            Ends::Answered(_) => SiteSignal::Fine,
            Ends::Throttled(_) if self.is(Mutation::RetryAfterIgnored) => SiteSignal::Fine,
            Ends::Throttled(retry_after) => SiteSignal::Throttled { retry_after },
            Ends::Silent => SiteSignal::Silent,
            Ends::Unreachable => SiteSignal::Unreachable,
        }
    }

    /// What an answer says of a page, against the copy there is.
    fn judge(&self, entry: &Entry, ends: Ends) -> Seen {
        let record = self.records.get(&entry.url);
        let copy = record.and_then(|record| record.copy);
        let is_last = entry.attempts + 1 >= TRIES;
        match ends {
            Ends::Answered(Answer::Page(content, _)) => match copy {
                None => Seen::First,
                Some(copy) if copy == content => Seen::Same,
                Some(_) => Seen::Changed,
            },
            Ends::Answered(Answer::NotModified) => Seen::Same,
            Ends::Answered(Answer::Gone) => Seen::Gone,
            Ends::Answered(Answer::Moved(_) | Answer::Robots) => Seen::Failed,
            _ if !is_last => Seen::Retry,
            _ if self.is(Mutation::FailureAsUnchanged) && copy.is_some() => Seen::Same,
            _ => Seen::Failed,
        }
    }

    fn settle_page(&mut self, flight: Flight, entry: &Entry, timing: Timing) -> Result<(), String> {
        let Flight { ends, lease, .. } = flight;
        let url = &entry.url;
        let seen = self.judge(entry, ends);
        let started = self.clock() - timing.took;
        self.remember(entry, ends);
        self.write(url, started, seen, flight.holds)?;
        let signal = self.signal(ends);
        let now = self.clock();
        if seen == Seen::Retry {
            let after = Duration::from_secs(self.draws.below(10));
            let retry = Settlement::Retry {
                timing,
                signal,
                after,
            };
            self.frontier.settle(lease, retry, &mut self.addresses, now);
            return Ok(());
        }
        let links = match ends {
            Ends::Answered(Answer::Page(..)) if seen != Seen::Same => self.web.links(url),
            Ends::Answered(Answer::Moved(Some(to))) => vec![self.web.url(to).clone()],
            _ => Vec::new(),
        };
        self.finish(url, links);
        if self.is(Mutation::SettleDropped) && self.draws.once_in(20) {
            drop(lease);
            return Ok(());
        }
        let done = Settlement::Done(timing, signal);
        self.frontier.settle(lease, done, &mut self.addresses, now);
        Ok(())
    }

    /// Remembers a try, and the copy it brought; the archive has it, too.
    fn remember(&mut self, entry: &Entry, ends: Ends) {
        let url = &entry.url;
        let mut record = self.records.get(url).copied().unwrap_or_default();
        let partition = self.partition_of(url);
        if let Ends::Answered(answer) = ends {
            let key = (url.clone(), record.round, entry.attempts);
            self.batches[partition].archive.push(key);
            if let Answer::Page(content, has_tag) = answer {
                record.copy = Some(content);
                record.has_tag = has_tag;
            }
        }
        if self.is(Mutation::ValidatorTooEarly)
            && let Some(stored) = self.disks[partition].records.get_mut(url)
        {
            stored.copy = record.copy;
        }
        record.attempts = entry.attempts + 1;
        self.keep_record(url, record);
    }

    /// Remembers that a page was dealt with, without an answer.
    fn count_try(&mut self, entry: &Entry) {
        let record = self.record(&entry.url);
        let attempts = entry.attempts + 1;
        self.keep_record(&entry.url, Record { attempts, ..record });
    }

    /// Writes the row of an attempt.
    fn write(
        &mut self,
        url: &CrawlUrl,
        at: Timestamp,
        seen: Seen,
        holds: Option<Content>,
    ) -> Result<(), String> {
        let row = Row {
            number: self.next_row,
            url: url.clone(),
            at,
            seen,
        };
        self.next_row += 1;
        let partition = self.partition_of(url);
        self.ledger.writes(&row, holds, partition)?;
        self.hear(&row)?;
        self.batches[partition].rows.push(row);
        Ok(())
    }

    /// A page that robots.txt forbids: never requested.
    fn refuse(&mut self, lease: Lease, entry: &Entry) {
        self.tell(format_args!("refused {}", entry.url));
        self.turns.served(lease.site());
        let record = self.record(&entry.url);
        let refused = Record {
            attempts: entry.attempts + 1,
            is_refused: true,
            ..record
        };
        self.keep_record(&entry.url, refused);
        self.hear_refused(&entry.url);
        self.finish(&entry.url, Vec::new());
        let now = self.clock();
        self.frontier
            .settle(lease, Settlement::NotAsked, &mut self.addresses, now);
    }

    /// A page whose site is known to be out of reach ends as its site did.
    fn give_up(&mut self, lease: Lease, entry: &Entry) -> Result<(), String> {
        self.tell(format_args!("given up {}", entry.url));
        self.turns.served(lease.site());
        self.count_try(entry);
        let now = self.clock();
        self.write(&entry.url, now, Seen::Failed, None)?;
        self.finish(&entry.url, Vec::new());
        self.frontier
            .settle(lease, Settlement::NotAsked, &mut self.addresses, now);
        Ok(())
    }

    /// The last visit of a URL: its links go to their queues, or into the mail.
    fn finish(&mut self, url: &CrawlUrl, links: Vec<CrawlUrl>) {
        let partition = self.partition_of(url);
        let mut letters = Vec::new();
        for link in &links {
            if self.partition_of(link) == partition {
                self.admit(link);
                continue;
            }
            self.next_letter += 1;
            letters.push(self.next_letter);
            let letter = Letter {
                number: self.next_letter,
                url: link.clone(),
            };
            self.batches[partition].outbox.push(letter);
        }
        self.last_visits[partition].push(LastVisit {
            url: url.clone(),
            links,
            letters,
        });
    }
}
