//! Settle: is the URL done or will it be tried again, and what does the answer say of its
//! site?

use std::time::Duration;

use geomi_frontier::{Entry, Lease, Settlement, SiteSignal, Timing, Work};
use geomi_model::{
    Capture, CaptureKind, Change, Digest, Document, LinkKind, NetworkState, Timestamp, UrlRecord,
    Validity, Visit,
};
use geomi_novelty::NoveltyRefusal;
use geomi_url::CrawlUrl;
use geomi_url::template::Template;

use crate::engine::{Around, Engine};
use crate::letters::{Letter, keeper};
use crate::partition::Stored;
use crate::refusal::RefusalRule;
use crate::seeds::SeedOutcome;
use crate::stage::address::recognise_by_certificate;
use crate::stage::arrival::{Answer, Arrival, Content};
use crate::stage::judge::judge;
use crate::stage::likeness;
use crate::stage::links::Taken;
use crate::stage::row::{Row, Story};
use crate::status::PageBefore;
use crate::{EngineConfig, EngineError};
use geomi_model::{Attempt, Fate, is_guess};

/// Decides what an attempt means. `attempts` were made before it.
pub fn fate(url: &CrawlUrl, answer: &Answer, attempts: u8, tries: u8) -> Fate {
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
pub fn signal(answer: &Answer) -> SiteSignal {
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
    config: &EngineConfig,
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
pub fn retry_wait(first: Duration, attempts: u8) -> Duration {
    first.saturating_mul(1 << u32::from(attempts.min(10)))
}

impl Engine {
    /// Takes the result of a job.
    pub fn arrived(
        &mut self,
        arrival: Arrival,
        around: &mut Around<'_>,
    ) -> Result<(), EngineError> {
        self.queues.in_flight -= 1;
        recognise_by_certificate(&arrival.answer, &mut around.shared.addresses);
        match arrival.lease.work() {
            Work::Robots(..) => self.settle_robots(around, arrival),
            _ => self.settle_page(around, arrival),
        }
    }

    /// The content of an answer whose original another partition may know.
    pub fn unknown_content(&self, arrival: &Arrival) -> Result<Option<Digest>, EngineError> {
        let Some(content) = arrival.content.filter(|content| content.bytes > 0) else {
            return Ok(None);
        };
        let is_ours = keeper(self.map, &content.digest) == self.id;
        if is_ours
            || arrival.answer.code != Some(200)
            || self.store.stored(&content.digest)?.is_some()
        {
            return Ok(None);
        }
        Ok(Some(content.digest))
    }

    /// A page: judged, kept, its links admitted, its site given a rest.
    fn settle_page(
        &mut self,
        around: &mut Around<'_>,
        mut read: Arrival,
    ) -> Result<(), EngineError> {
        let now = around.now;
        let Work::Page(entry, _) = read.lease.work().clone() else {
            unreachable!("a page was leased")
        };
        let hash = entry.url.hash64();
        self.queues.under_way.remove(&hash.0);
        around.shared.importance.done(hash);
        let entry = self.by_shortest_path(entry)?;
        self.sites.failing.note(&entry.url, &read.answer);
        self.rules.admit.settle_state(&mut read.answer);
        self.leave_broken(&mut read);
        if self.rules.config.cookies && !read.answer.cookies.is_empty() {
            self.sites
                .cookies
                .take(&read.url, &read.answer.cookies, read.ended);
        }
        // Most visits are first ones, and looking for nothing is not free.
        let before = if entry.is_first_visit() {
            None
        } else {
            self.store.record(&entry.url)?
        };
        let judgement = judge(
            |content| self.original(content, &read, around),
            before,
            &read.answer,
            &read.document,
            read.content.as_ref(),
        )?;
        if let (Some(original), Some(content)) = (&judgement.duplicate_of, &mut read.content) {
            // However it was chunked this time: the archive knows it by the
            // digest of the record it refers to.
            content.payload = original.payload;
        }
        let capture = self.keep_answer(around, &read, judgement.duplicate_of.as_ref())?;
        let fate = self.fate_of(&entry, &read.answer);
        let is_first = judgement
            .before
            .as_ref()
            .is_none_or(|before| before.digest.is_none());
        if is_first {
            self.compare_sites(around, &read)?;
        }
        self.look_for_soft_404(&mut read);
        let near = likeness::near_duplicate(around, &read, judgement.duplicate_of.is_some());
        let links_admitted =
            self.take_links(around, &entry, &read, fate, is_first, near.is_some())?;
        let known = PageBefore::of(judgement.before.as_ref(), &entry);
        self.store.counters.page(fate, known);
        self.count_page(&entry, &read, fate, links_admitted)?;
        self.refresh_heard(judgement.before.as_ref(), &read, judgement.change)?;
        let record = record(judgement.before, &entry, &read, judgement.change);
        self.store.set_record(&entry.url, &record);
        let seed = self.seed(entry.seed)?;
        let story = Story::of(&entry, &seed, links_admitted, judgement.change);
        let story = Story { near, ..story };
        let settlement = settlement(
            &self.rules.config,
            &read.answer,
            fate,
            entry.attempts,
            timing(&read),
        );
        self.add_visit(&read, story, capture)?;
        let site = read.lease.site();
        self.queues
            .frontier
            .settle(read.lease, settlement, &mut around.shared.addresses, now);
        // A limit on a site's pages is about pages, not about looking at them again.
        let is_counted = self.upkeep.plan.is_none() || !entry.is_revisit;
        if fate == Fate::Saved && is_counted {
            self.queues.frontier.count_saved(site);
        }
        Ok(())
    }

    /// By rule, what is broken is not stored, and so not saved.
    fn leave_broken(&self, read: &mut Arrival) {
        let is_broken = read.answer.validity == Some(Validity::Broken);
        if is_broken && !self.rules.config.store_broken && read.content.take().is_some() {
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
            && entry.attempts + 1 < self.rules.config.tries
            && self
                .sites
                .keyring
                .challenged(&entry.url, &answer.challenges);
        if is_challenged {
            return Fate::Retry;
        }
        let fate = fate(&entry.url, answer, entry.attempts, self.rules.config.tries);
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
        around: &mut Around<'_>,
        entry: &Entry,
        read: &Arrival,
        fate: Fate,
        is_first: bool,
        is_near: bool,
    ) -> Result<u32, EngineError> {
        let leads_nowhere = entry.kind == LinkKind::Script && fate == Fate::Failed;
        if entry.kind == LinkKind::Script && entry.is_first_visit() && fate != Fate::Retry {
            self.learned.script_links.tried(&entry.url, !leads_nowhere);
        }
        // Where nothing is refused by it, nothing need be learned. A string in a
        // script that was no address says nothing about its site.
        let learns = is_first && self.learned.novelty.is_on() && !leads_nowhere;
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
            taken.admitted = u32::from(self.admit_redirect(around, entry, target)?);
        } else if !self.left_alone(entry, &read.document, is_near) {
            if let Some(template) = &template {
                taken = self.admit_dive(around, entry, template, &read.document)?;
            }
            taken += self.admit_links(around, entry, &read.document)?;
        }
        if let Some(template) = &template {
            self.learn(around, entry, template, read, taken, ties)?;
        }
        Ok(taken.admitted)
    }

    /// Puts an answer into the archive, and remembers where its content is stored.
    pub(crate) fn keep_answer(
        &mut self,
        around: &mut Around<'_>,
        read: &Arrival,
        duplicate_of: Option<&Stored>,
    ) -> Result<Option<Capture>, EngineError> {
        let Some(content) = &read.content else {
            return Ok(None);
        };
        let capture = around.world.keep(duplicate_of)?;
        if read.answer.code == Some(200) && content.bytes > 0 {
            self.remember_content(around, content, &read.url, read.started, duplicate_of);
        }
        Ok(Some(capture))
    }

    /// Remembers where content is stored, here and in the partition that keeps its
    /// digest: there, copies are found across partitions.
    fn remember_content(
        &mut self,
        around: &mut Around<'_>,
        content: &Content,
        url: &CrawlUrl,
        time: Timestamp,
        duplicate_of: Option<&Stored>,
    ) {
        if let Some(original) = duplicate_of {
            self.store.set_stored(&content.digest, original);
            return;
        }
        let stored = Stored {
            payload: content.payload,
            url: url.clone(),
            time,
        };
        self.store.set_stored(&content.digest, &stored);
        let keeper = keeper(self.map, &content.digest);
        if keeper != self.id {
            around
                .shared
                .contents
                .insert(content.digest, stored.clone());
            let digest = content.digest;
            self.store.post(keeper, Letter::Content { digest, stored });
        }
    }

    /// Where a content is stored, as far as this partition and its worker know.
    fn original(
        &self,
        content: &Digest,
        read: &Arrival,
        around: &Around<'_>,
    ) -> Result<Option<Stored>, EngineError> {
        if let Some(stored) = self.store.stored(content)? {
            return Ok(Some(stored));
        }
        let is_asked = read.content.is_some_and(|own| own.digest == *content);
        let original = read.original.as_ref().filter(|_| is_asked);
        Ok(original
            .or_else(|| around.shared.contents.get(content))
            .cloned())
    }

    fn count_page(
        &mut self,
        entry: &Entry,
        read: &Arrival,
        fate: Fate,
        links_admitted: u32,
    ) -> Result<(), EngineError> {
        let counters = &mut self.store.counters;
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
            read.content.as_ref().map(|content| content.payload),
        );
        if entry.is_seed {
            self.report_seed(entry.seed, outcome, state, digest)?;
        }
        let (started, ended) = (read.started, read.ended);
        self.edit_seed(entry.seed, |seed| {
            seed.pages += u64::from(fate != Fate::Retry);
            let first = seed.party.map_or(started, |(first, _)| first.min(started));
            seed.party = Some((first, seed.party.map_or(ended, |(_, last)| last.max(ended))));
            if entry.is_seed {
                seed.became(outcome, state, digest);
            }
        })
    }

    /// Queues the row of a visit for the next commit.
    pub(crate) fn add_visit(
        &mut self,
        read: &Arrival,
        story: Story,
        capture: Option<Capture>,
    ) -> Result<(), EngineError> {
        let answer = &read.answer;
        let document = &read.document;
        let counters = &mut self.store.counters;
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
        self.store
            .answers
            .count(answer.code, answer.mime.as_deref());
        let row = Row {
            url: &read.url,
            started: read.started,
            answer,
            document,
            digest: read.content.as_ref().map(|content| content.payload),
            protocol: read.content.as_ref().map(|content| content.protocol),
        };
        let visit = row.visit(story, capture);
        let visit = Visit {
            early: self.refresh_early(&visit),
            ..visit
        };
        self.refresh_saw(&visit)?;
        self.outgoing.visits.push(visit);
        Ok(())
    }

    /// A URL that a rule forbids when its turn comes: never requested.
    pub(crate) fn refuse(
        &mut self,
        around: &mut Around<'_>,
        lease: Lease,
        rule: RefusalRule,
        reason: &str,
        now: Timestamp,
    ) -> Result<(), EngineError> {
        let Work::Page(entry, _) = lease.work().clone() else {
            unreachable!("only pages are refused")
        };
        tracing::debug!(url = %entry.url, reason, "refused");
        self.turn_away(around, &entry, rule, now)?;
        self.store.counters.refused += 1;
        self.store
            .set_refused(&entry, &format!("{}: {reason}", rule.as_str()));
        if entry.is_seed {
            if self.notices.seeds.allows() {
                tracing::warn!(url = %entry.url, reason, "seed refused");
            }
            self.edit_seed(entry.seed, |seed| seed.outcome = SeedOutcome::Refused)?;
        }
        self.refresh_refused(&entry.url, now);
        self.queues.frontier.settle(
            lease,
            Settlement::NotAsked,
            &mut around.shared.addresses,
            now,
        );
        Ok(())
    }

    /// A URL that the trap guard defers: kept for later.
    pub(crate) fn defer(
        &mut self,
        around: &mut Around<'_>,
        lease: Lease,
        refusal: NoveltyRefusal,
        now: Timestamp,
    ) -> Result<(), EngineError> {
        let Work::Page(entry, _) = lease.work().clone() else {
            unreachable!("only pages are deferred")
        };
        self.turn_away(around, &entry, RefusalRule::Trap(refusal), now)?;
        self.hold(&entry);
        self.refresh_refused(&entry.url, now);
        self.queues.frontier.settle(
            lease,
            Settlement::NotAsked,
            &mut around.shared.addresses,
            now,
        );
        Ok(())
    }

    /// Remembers that a URL was not requested when its turn came.
    fn turn_away(
        &mut self,
        around: &mut Around<'_>,
        entry: &Entry,
        rule: RefusalRule,
        now: Timestamp,
    ) -> Result<(), EngineError> {
        around.shared.importance.done(entry.url.hash64());
        self.store.counters.refusal(rule);
        let before = self.store.record(&entry.url)?.unwrap_or_default();
        let record = UrlRecord {
            attempts: entry.attempts + 1,
            last_visit: now,
            ..before
        };
        self.store.set_record(&entry.url, &record);
        Ok(())
    }

    /// A page whose site is known to be out of reach ends as its site did.
    pub(crate) fn give_up(
        &mut self,
        around: &mut Around<'_>,
        lease: Lease,
        state: NetworkState,
        reason: String,
        now: Timestamp,
    ) -> Result<(), EngineError> {
        let Work::Page(entry, ip) = lease.work().clone() else {
            unreachable!("only pages are given up")
        };
        let entry = self.by_shortest_path(entry)?;
        let answer = Answer {
            ip,
            ..Answer::none(state, reason)
        };
        let (url, document) = (entry.url.clone(), Document::default());
        let read = Arrival {
            lease,
            url,
            started: now,
            ended: now,
            is_conditional: false,
            answer,
            document,
            content: None,
            original: None,
        };
        let before = self.store.record(&entry.url)?;
        let known = PageBefore::of(before.as_ref(), &entry);
        self.store.counters.page(Fate::Failed, known);
        self.count_page(&entry, &read, Fate::Failed, 0)?;
        let record = record(before, &entry, &read, None);
        self.store.set_record(&entry.url, &record);
        let seed = self.seed(entry.seed)?;
        let story = Story::of(&entry, &seed, 0, None);
        self.add_visit(&read, story, None)?;
        self.queues.frontier.settle(
            read.lease,
            Settlement::NotAsked,
            &mut around.shared.addresses,
            now,
        );
        Ok(())
    }
}

pub(crate) fn timing(read: &Arrival) -> Timing {
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
    read: &Arrival,
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
    if let Some(content) = read.content.filter(|_| answer.code == Some(200)) {
        record.digest = Some(content.digest);
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
