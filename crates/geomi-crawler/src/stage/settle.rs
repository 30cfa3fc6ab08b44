//! Settle: is the URL done, will it come again, and what did its site tell us?

use std::time::Duration;

use geomi_frontier::{Entry, Lease, Settlement, SiteSignal, Timing, Work};
use geomi_model::{
    Attempt, Capture, CaptureKind, Change, Document, Fate, LinkKind, NetworkState, Timestamp,
    UrlRecord, Validity, Visit, is_guess,
};
use geomi_novelty::NoveltyRefusal;
use geomi_url::CrawlUrl;
use geomi_url::template::Template;

use crate::crew::Event;
use crate::journey::Journey;
use crate::partition::{Partition, Stored};
use crate::refusal::RefusalRule;
use crate::seeds::SeedOutcome;
use crate::stage::judge::judge;
use crate::stage::keep::keep;
use crate::stage::links::Taken;
use crate::stage::read::{Answer, Read};
use crate::stage::row::{Row, Story};
use crate::status::PageBefore;
use crate::{CrawlConfig, CrawlError};

/// Decides what an attempt means. `attempts` were made before it.
pub(crate) fn fate(url: &CrawlUrl, answer: &Answer, attempts: u8, tries: u8) -> Fate {
    Attempt {
        state: answer.state,
        code: answer.code,
        has_target: answer.location.is_some(),
        is_guess: is_guess(url),
        number: attempts + 1,
    }
    .fate(tries)
}

/// What the answer says about the site.
pub(crate) fn signal(answer: &Answer) -> SiteSignal {
    match (answer.state, answer.code) {
        (state, Some(429 | 503)) if state.is_answer() => SiteSignal::Throttled {
            retry_after: answer.retry_after,
        },
        (NetworkState::NoIp | NetworkState::ConnectError | NetworkState::ConnectTimeout, _) => {
            SiteSignal::Unreachable
        }
        (state, _) if !state.is_answer() => SiteSignal::Silent,
        _ => SiteSignal::Fine,
    }
}

/// The settlement of a page's lease.
pub(crate) fn settlement(
    config: &CrawlConfig,
    answer: &Answer,
    fate: Fate,
    attempts: u8,
    timing: Timing,
) -> Settlement {
    let signal = signal(answer);
    if fate == Fate::Retry {
        return Settlement::Retry {
            timing,
            signal,
            after: retry_wait(config.retry_wait, attempts),
        };
    }
    Settlement::Done(timing, signal)
}

/// Doubles with each try.
pub(crate) fn retry_wait(first: Duration, attempts: u8) -> Duration {
    first.saturating_mul(1 << u32::from(attempts.min(10)))
}

impl Journey<'_> {
    /// Takes in what a lease brought.
    pub(crate) fn arrive(&mut self, event: Event) -> Result<(), CrawlError> {
        self.in_flight -= 1;
        match event {
            Event::Lost => Err(CrawlError::LostWork),
            Event::Resolved(lease, resolution) => {
                self.settle_resolution(*lease, resolution);
                Ok(())
            }
            Event::Read(read) => {
                self.recognise_by_certificate(&read.answer, self.clock.now());
                match read.lease.work() {
                    Work::Robots(..) => self.settle_robots(*read),
                    _ => self.settle_page(*read),
                }
            }
        }
    }

    /// A page: judged, kept, its links admitted, its site given a rest.
    fn settle_page(&mut self, mut read: Read) -> Result<(), CrawlError> {
        let now = self.clock.now();
        let Work::Page(entry, _) = read.lease.work().clone() else {
            unreachable!("a page was leased")
        };
        let hash = entry.url.hash64();
        self.under_way.remove(&hash.0);
        self.importance.done(hash);
        let partition = self.partition_of(read.lease.site());
        let entry = self.by_shortest_path(partition, entry)?;
        self.failing.note(&entry.url, &read.answer);
        self.admit.settle_state(&mut read.answer);
        if let Some(culprit) = &read.culprit {
            self.quarantine.take(&read.url, culprit)?;
        }
        self.leave_broken(&mut read);
        if self.config.cookies && !read.answer.cookies.is_empty() {
            self.cookies
                .take(&read.url, &read.answer.cookies, read.ended);
        }
        // Most visits are first ones, and looking for nothing is not free.
        let before = if entry.is_first_visit() {
            None
        } else {
            self.partitions[partition].record(&entry.url)?
        };
        let judgement = judge(
            |content| self.stored(content),
            before,
            &read.answer,
            &read.document,
            read.stored.as_ref(),
        )?;
        if let (Some(original), Some(stored)) = (&judgement.duplicate_of, &mut read.stored) {
            // However it was chunked this time: the archive knows it by the
            // digest of the record it refers to.
            stored.payload = original.payload;
        }
        let capture = self.keep_answer(partition, &read, judgement.duplicate_of.as_ref())?;
        let fate = self.fate_of(&entry, &read.answer);
        let is_first = judgement
            .before
            .as_ref()
            .is_none_or(|before| before.digest.is_none());
        if is_first {
            self.compare_sites(&read)?;
        }
        self.look_for_soft_404(&mut read);
        let near = self.near_duplicate(&read, judgement.duplicate_of.is_some());
        let links_admitted = self.take_links(&entry, &read, fate, is_first, near.is_some())?;
        let known = PageBefore::of(judgement.before.as_ref(), &entry);
        self.partitions[partition].counters.page(fate, known);
        self.count_page(partition, &entry, &read, fate, links_admitted)?;
        self.refresh_heard(judgement.before.as_ref(), &read, judgement.change)?;
        let record = record(judgement.before, &entry, &read, judgement.change);
        self.partitions[partition].set_record(&entry.url, &record);
        let seed = self.seed(entry.seed)?;
        let story = Story::of(&entry, &seed, links_admitted, judgement.change);
        let story = Story { near, ..story };
        let settlement = settlement(
            &self.config,
            &read.answer,
            fate,
            entry.attempts,
            timing(&read),
        );
        self.add_visit(partition, &read, story, capture)?;
        let site = read.lease.site();
        self.frontier.settle(read.lease, settlement, now);
        // A limit on a site's pages is about pages, not about looking at them again.
        let is_counted = self.refresh.is_none() || !entry.is_revisit;
        if fate == Fate::Saved && is_counted {
            self.frontier.count_saved(site);
        }
        Ok(())
    }

    /// By rule, what is broken is not stored, and so not saved.
    fn leave_broken(&self, read: &mut Read) {
        let is_broken = read.answer.validity == Some(Validity::Broken);
        if is_broken && !self.config.output.store_broken && read.stored.take().is_some() {
            if read.answer.state == NetworkState::Ok {
                read.answer.state = NetworkState::Code;
            }
            let reason = "the content is broken: not stored, by rule";
            read.answer.error.get_or_insert_with(|| reason.to_owned());
        }
    }

    /// What the answer means for its page. A challenge that can be met is a
    /// reason to ask again.
    fn fate_of(&mut self, entry: &Entry, answer: &Answer) -> Fate {
        let is_challenged = !answer.challenges.is_empty()
            && entry.attempts + 1 < self.config.tries
            && self.keyring.challenged(&entry.url, &answer.challenges);
        if is_challenged {
            return Fate::Retry;
        }
        let fate = fate(&entry.url, answer, entry.attempts, self.config.tries);
        let is_missing = fate == Fate::Failed && answer.state.is_answer();
        if is_missing && self.is_probe(&entry.url, &Template::of(&entry.url)) {
            // That there is no such page is what was to be found out.
            return Fate::Answered;
        }
        fate
    }

    /// Takes in where a page leads, learns from it, and says how many URLs were
    /// new.
    fn take_links(
        &mut self,
        entry: &Entry,
        read: &Read,
        fate: Fate,
        is_first: bool,
        is_near: bool,
    ) -> Result<u32, CrawlError> {
        let leads_nowhere = entry.kind == LinkKind::Script && fate == Fate::Failed;
        if entry.kind == LinkKind::Script && entry.is_first_visit() && fate != Fate::Retry {
            self.script_links.tried(&entry.url, !leads_nowhere);
        }
        // Where nothing is refused by it, nothing need be learned. A string in a
        // script that was no address says nothing about its site.
        let learns = is_first && self.novelty.is_on() && !leads_nowhere;
        let template = learns.then(|| Template::of(&entry.url));
        if let Some(template) = &template
            && self.is_probe(&entry.url, template)
        {
            if fate != Fate::Retry {
                self.settle_probe(&entry.url, template, read, fate)?;
            }
            return Ok(0);
        }
        let ties = match &template {
            Some(template) => self.ties(&entry.url, template, &read.document)?,
            None => None,
        };
        let mut taken = Taken::default();
        if let (Some(target), Fate::Redirected) = (&read.answer.location, fate) {
            taken.admitted = u32::from(self.admit_redirect(entry, target)?);
        } else if !self.left_alone(entry, &read.document, is_near) {
            if let Some(template) = &template {
                taken = self.admit_dive(entry, template, &read.document)?;
            }
            taken += self.admit_links(entry, &read.document)?;
        }
        if let Some(template) = &template {
            self.learn(entry, template, read, taken, ties)?;
        }
        Ok(taken.admitted)
    }

    pub(crate) fn keep_answer(
        &mut self,
        partition: usize,
        read: &Read,
        duplicate_of: Option<&Stored>,
    ) -> Result<Option<Capture>, CrawlError> {
        let Some(stored) = &read.stored else {
            return Ok(None);
        };
        let visit = (&read.url, read.started, read.lease.id().number());
        let archive = &mut self.archive;
        let capture = keep(archive, visit, &read.answer, stored, duplicate_of)?;
        if duplicate_of.is_none() && read.answer.code == Some(200) && stored.content_bytes > 0 {
            let original = Stored {
                payload: stored.payload,
                url: read.url.clone(),
                time: read.started,
            };
            self.set_stored(partition, stored.content, original);
        }
        self.ends[partition] = self.archive.end();
        Ok(Some(capture))
    }

    fn count_page(
        &mut self,
        partition: usize,
        entry: &Entry,
        read: &Read,
        fate: Fate,
        links_admitted: u32,
    ) -> Result<(), CrawlError> {
        let counters = &mut self.partitions[partition].counters;
        counters.links += read.document.links.len() as u64;
        let outcome = match fate {
            Fate::Saved | Fate::Answered => Some(SeedOutcome::Saved),
            // A redirect to a URL that is queued decides later.
            Fate::Redirected => (links_admitted == 0).then_some(SeedOutcome::Saved),
            Fate::Failed => Some(SeedOutcome::Failed),
            Fate::Retry => None,
        };
        let (state, digest) = (
            read.answer.state,
            read.stored.as_ref().map(|stored| stored.payload),
        );
        let (started, ended) = (read.started, read.ended);
        self.edit_seed(entry.seed, |seed| {
            seed.pages += u64::from(fate != Fate::Retry);
            let first = seed.party.map_or(started, |(first, _)| first.min(started));
            seed.party = Some((first, seed.party.map_or(ended, |(_, last)| last.max(ended))));
            if entry.is_seed {
                seed.state = state;
                seed.digest = digest.or(seed.digest);
                seed.outcome = outcome.unwrap_or(seed.outcome);
            }
        })
    }

    /// Queues the row of a visit for the next commit.
    pub(crate) fn add_visit(
        &mut self,
        partition: usize,
        read: &Read,
        story: Story,
        capture: Option<Capture>,
    ) -> Result<(), CrawlError> {
        let answer = &read.answer;
        let document = &read.document;
        let counters = &mut self.partitions[partition].counters;
        counters.visits += 1;
        counters.captured += u64::from(capture.is_some());
        counters.revisits += u64::from(
            capture
                .as_ref()
                .is_some_and(|capture| capture.kind == CaptureKind::Revisit),
        );
        counters.wire_bytes += answer.wire_bytes;
        counters.body_bytes += answer.body_bytes;
        counters.state(answer.state);
        self.partitions[partition]
            .answers
            .count(answer.code, answer.mime.as_deref());
        let row = Row {
            url: &read.url,
            started: read.started,
            answer,
            document,
            digest: read.stored.as_ref().map(|stored| stored.payload),
            protocol: read.stored.as_ref().map(|stored| stored.protocol),
        };
        let visit = row.visit(story, capture);
        let visit = Visit {
            early: self.refresh_early(&visit),
            ..visit
        };
        self.refresh_saw(&visit)?;
        self.visits[partition].push(visit);
        Ok(())
    }

    /// A URL that a rule forbids when its turn comes: never requested.
    pub(crate) fn refuse(
        &mut self,
        lease: Lease,
        rule: RefusalRule,
        reason: &str,
        now: Timestamp,
    ) -> Result<(), CrawlError> {
        let Work::Page(entry, _) = lease.work().clone() else {
            unreachable!("only pages are refused")
        };
        tracing::debug!(url = %entry.url, reason, "refused");
        let partition = self.turn_away(&entry, rule, now)?;
        partition.counters.refused += 1;
        partition.set_refused(&entry, &format!("{}: {reason}", rule.as_str()));
        if entry.is_seed {
            if self.warn_seeds.allows() {
                tracing::warn!(url = %entry.url, reason, "seed refused");
            }
            self.edit_seed(entry.seed, |seed| seed.outcome = SeedOutcome::Refused)?;
        }
        self.refresh_refused(&entry.url, now);
        self.frontier.settle(lease, Settlement::NotAsked, now);
        Ok(())
    }

    /// A URL that the trap guard defers: kept for later.
    pub(crate) fn defer(
        &mut self,
        lease: Lease,
        refusal: NoveltyRefusal,
        now: Timestamp,
    ) -> Result<(), CrawlError> {
        let Work::Page(entry, _) = lease.work().clone() else {
            unreachable!("only pages are deferred")
        };
        self.turn_away(&entry, RefusalRule::Trap(refusal), now)?;
        self.hold(&entry);
        self.refresh_refused(&entry.url, now);
        self.frontier.settle(lease, Settlement::NotAsked, now);
        Ok(())
    }

    /// Remembers that a URL was not requested when its turn came.
    fn turn_away(
        &mut self,
        entry: &Entry,
        rule: RefusalRule,
        now: Timestamp,
    ) -> Result<&mut Partition, CrawlError> {
        self.importance.done(entry.url.hash64());
        let partition = self.partition_of(entry.url.site_hash());
        let partition = &mut self.partitions[partition];
        partition.counters.refusal(rule);
        let before = partition.record(&entry.url)?.unwrap_or_default();
        let record = UrlRecord {
            attempts: entry.attempts + 1,
            last_visit: now,
            ..before
        };
        partition.set_record(&entry.url, &record);
        Ok(partition)
    }

    /// A page whose site is known to be out of reach ends as its site did.
    pub(crate) fn give_up(
        &mut self,
        lease: Lease,
        state: NetworkState,
        reason: String,
        now: Timestamp,
    ) -> Result<(), CrawlError> {
        let Work::Page(entry, ip) = lease.work().clone() else {
            unreachable!("only pages are given up")
        };
        let partition = self.partition_of(lease.site());
        let entry = self.by_shortest_path(partition, entry)?;
        let answer = Answer {
            ip,
            ..Answer::none(state, reason)
        };
        let (url, document) = (entry.url.clone(), Document::default());
        let read = Read {
            lease,
            url,
            started: now,
            ended: now,
            is_conditional: false,
            answer,
            document,
            stored: None,
            culprit: None,
        };
        let before = self.partitions[partition].record(&entry.url)?;
        let known = PageBefore::of(before.as_ref(), &entry);
        self.partitions[partition]
            .counters
            .page(Fate::Failed, known);
        self.count_page(partition, &entry, &read, Fate::Failed, 0)?;
        let record = record(before, &entry, &read, None);
        self.partitions[partition].set_record(&entry.url, &record);
        let seed = self.seed(entry.seed)?;
        let story = Story::of(&entry, &seed, 0, None);
        self.add_visit(partition, &read, story, None)?;
        self.frontier.settle(read.lease, Settlement::NotAsked, now);
        Ok(())
    }
}

pub(crate) fn timing(read: &Read) -> Timing {
    Timing {
        ended: read.ended,
        took: read.ended.since(read.started),
        rtt: read.answer.phases.first_byte,
        connect: read.answer.phases.connect,
    }
}

/// What to remember of a URL after this visit.
fn record(
    before: Option<UrlRecord>,
    entry: &Entry,
    read: &Read,
    change: Option<Change>,
) -> UrlRecord {
    let before = before.unwrap_or_default();
    let answer = &read.answer;
    let mut record = UrlRecord {
        attempts: entry.attempts + 1,
        visits: before.visits + 1,
        last_visit: read.started,
        state: answer.state,
        code: answer.code,
        comparisons: before.comparisons + u32::from(change.is_some()),
        changes: before.changes + u32::from(change.is_some_and(|change| change.changed)),
        ..before
    };
    if let Some(stored) = read.stored.as_ref().filter(|_| answer.code == Some(200)) {
        record.digest = Some(stored.content);
        record.fingerprint = read.document.fingerprint;
        record.body_bytes = answer.body_bytes;
        record.etag.clone_from(&answer.etag);
        record.last_modified.clone_from(&answer.last_modified);
    } else if answer.is_not_modified() {
        // It may name new validators for the same content (RFC 9111 §3.2).
        record.etag = answer.etag.clone().or(record.etag);
        record.last_modified = answer.last_modified.clone().or(record.last_modified);
    }
    record
}
