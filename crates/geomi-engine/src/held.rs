//! URLs that the trap guard defers, and when they are judged again.
//!
//! A deferred URL is kept under its holder: its site, or its domain where that has
//! opened too many hosts. It is queued after all in one of two cases:
//!
//! * Its holder is open again ([`HeldBook::reopen`]): a few hundred URLs are judged
//!   between two rounds of the loop.
//! * Nothing else is left to fetch ([`Engine::call_last`]). Then each account of a
//!   holder may fetch its URLs that may lead on, one after the
//!   other, each later than the one before and no more than
//!   `geomi_novelty::NoveltyConfig::last_calls`. Where no such URL is left, there
//!   was an end, and everything else is fetched.
//!
//! So a finite site is fetched whole, however much it looks like a trap at first,
//! and of a trap the rest stays here: the crawl is then incomplete and says so.
//!
//! `novelty.rs` decides which URLs are deferred.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::time::Duration;

use geomi_frontier::Entry;
use geomi_novelty::NoveltyRefusal;
use geomi_url::template::Template;
use geomi_url::{SiteHash, UrlHash};
use hashbrown::{HashMap, HashSet};

use crate::EngineError;
use crate::engine::{Around, Engine};
use crate::novelty::domain_hash;

/// URLs judged between two commits.
const ROWS_MAX: usize = 512;
/// URLs remembered as held, so that a link on every page is written once.
const RECENT_MAX: usize = 1 << 16;
/// The longest wait before a last call.
const LAST_CALL_WAIT_MAX: Duration = Duration::from_secs(30);
/// Holders remembered as given up.
const GIVEN_UP_MAX: usize = 1 << 16;
/// Holders to be looked at again, at most. Of others the URLs are looked at when
/// nothing else is left.
const LOOKS_MAX: usize = 1 << 16;
/// Holders whose last calls are made between two commits.
const HOLDERS_PER_COMMIT: usize = 64;
/// URLs looked through for last calls between two commits.
const SURVEYED_PER_COMMIT: usize = 16_384;

/// One look through what a holder has.
#[derive(Debug, Default)]
struct Look {
    /// The last URL that was looked at.
    after: Option<UrlHash>,
    /// Whether another look is due after this one.
    again: bool,
}

/// Holders to be judged again.
#[derive(Debug, Default)]
pub(crate) struct HeldBook {
    looks: HashMap<SiteHash, Look>,
    /// The same holders, in the order in which they are judged.
    line: VecDeque<SiteHash>,
    recent: HashSet<(u64, u64)>,
    /// Holders whose last calls were all made and of which nothing was released.
    given_up: HashSet<SiteHash>,
    /// The holder that last calls have come to.
    called_to: Option<SiteHash>,
    /// What is being looked through for last calls.
    survey: Option<Survey>,
}

impl HeldBook {
    /// A holder has shown that it was misjudged.
    pub(crate) fn reopen(&mut self, holder: SiteHash) {
        self.given_up.remove(&holder);
        if let Some(look) = self.looks.get_mut(&holder) {
            // What it has come past may be worth a request by now.
            look.again = look.after.is_some();
        } else if self.looks.len() < LOOKS_MAX {
            self.looks.insert(holder, Look::default());
            self.line.push_back(holder);
        }
    }

    /// Whether a holder is to be judged.
    pub(crate) fn is_due(&self) -> bool {
        !self.line.is_empty()
    }
}

/// Which of several URLs is called first, the greatest: one whose template was never
/// fetched, one that looks like the page it was found on and so may be its next, the
/// deepest; among equals the first in order of hashes, so that a run can be repeated.
type Rank = (bool, bool, u16, Reverse<u64>);

/// A look through all that a holder has, which may take several rounds of the loop.
#[derive(Debug)]
struct Survey {
    holder: SiteHash,
    /// The last URL that was looked at.
    after: Option<UrlHash>,
    calls: LastCalls,
}

/// What is released of a holder in one turn of last calls.
#[derive(Debug, Default)]
struct LastCalls {
    /// The first URL of each account that may lead on, and its rank.
    leading: HashMap<Option<u64>, (Rank, Entry)>,
    /// URLs that seem to have no links.
    ends: Vec<Entry>,
}

impl Engine {
    /// Defers a URL because of its site.
    pub(crate) fn hold(&mut self, entry: &Entry) {
        self.hold_by(entry.url.site_hash(), entry);
    }

    /// Defers a URL because of its domain.
    pub(crate) fn hold_for_domain(&mut self, entry: &Entry) {
        self.hold_by(SiteHash(domain_hash(&entry.url)), entry);
    }

    fn hold_by(&mut self, holder: SiteHash, entry: &Entry) {
        let recent = &mut self.learned.novelty.held.recent;
        if recent.len() >= RECENT_MAX {
            recent.clear();
        }
        if recent.insert((holder.0, entry.url.hash64().0)) {
            self.store.set_held(holder, entry);
        }
    }

    /// Whether deferred URLs are to be judged now.
    pub(crate) fn is_releasing(&self) -> bool {
        self.learned.novelty.held.is_due() && self.is_running
    }

    /// Looks at some of what the next holder has held, and queues what is worth a
    /// request now.
    pub(crate) fn release_held(&mut self, around: &mut Around<'_>) -> Result<(), EngineError> {
        if !self.is_releasing() {
            return Ok(());
        }
        let Some(holder) = self.learned.novelty.held.line.pop_front() else {
            return Ok(());
        };
        let look = self.learned.novelty.held.looks.remove(&holder);
        let mut look = look.expect("every holder in line has its look");
        let entries = self.store.held(holder, look.after, ROWS_MAX)?;
        look.after = entries.last().map(|entry| entry.url.hash64());
        let mut is_over = entries.len() < ROWS_MAX;
        for entry in entries {
            let is_site = entry.url.site_hash() == holder;
            let is_free = if is_site {
                self.stands(&entry.url)?
            } else {
                self.has_hosts_left(&entry.url)?
            };
            if is_free {
                self.release(around, holder, entry)?;
            } else if !is_site {
                // A domain has room for all of its hosts or for none.
                is_over = true;
                break;
            }
        }
        if !is_over {
            self.learned.novelty.held.looks.insert(holder, look);
            self.learned.novelty.held.line.push_front(holder);
        } else if look.again {
            self.learned.novelty.held.reopen(holder);
        }
        Ok(())
    }

    /// Queues deferred URLs when nothing else is left; says whether there were any, or
    /// may be more. Holders take turns from one call to the next; one call with nothing
    /// to queue has looked at all of them.
    pub fn call_last(&mut self, around: &mut Around<'_>) -> Result<bool, EngineError> {
        if let Some(survey) = self.learned.novelty.held.survey.take() {
            self.call_last_of(around, survey)?;
            return Ok(true);
        }
        let mut called = 0;
        let mut after = self.learned.novelty.held.called_to;
        let mut starts = usize::from(after.is_none());
        loop {
            after = self.store.next_holder(after)?;
            match after {
                Some(holder) => called += usize::from(self.call_last_at(around, holder)?),
                None => starts += 1,
            }
            let is_slice =
                called == HOLDERS_PER_COMMIT || self.learned.novelty.held.survey.is_some();
            if is_slice || starts == 2 {
                self.learned.novelty.held.called_to = after;
                return Ok(is_slice || called > 0);
            }
        }
    }

    /// Makes the last calls of one holder, if it has any.
    fn call_last_at(
        &mut self,
        around: &mut Around<'_>,
        holder: SiteHash,
    ) -> Result<bool, EngineError> {
        if !self.learned.novelty.is_on() {
            // Nothing is deferred any more.
            self.learned.novelty.held.reopen(holder);
            return Ok(true);
        }
        if self.learned.novelty.held.given_up.contains(&holder) {
            return Ok(false);
        }
        self.call_last_of(
            around,
            Survey {
                holder,
                after: None,
                calls: LastCalls::default(),
            },
        )
    }

    fn call_last_of(
        &mut self,
        around: &mut Around<'_>,
        mut survey: Survey,
    ) -> Result<bool, EngineError> {
        if !self.look_through(&mut survey)? {
            self.learned.novelty.held.survey = Some(survey);
            return Ok(true);
        }
        let holder = survey.holder;
        let any = self.release_last(around, holder, survey.calls)?;
        if !any && self.learned.novelty.held.given_up.len() < GIVEN_UP_MAX {
            self.learned.novelty.held.given_up.insert(holder);
        }
        Ok(any)
    }

    fn release_last(
        &mut self,
        around: &mut Around<'_>,
        holder: SiteHash,
        calls: LastCalls,
    ) -> Result<bool, EngineError> {
        let LastCalls { leading, ends } = calls;
        let config = *self.learned.novelty.config();
        let mut any = false;
        let mut leading: Vec<Entry> = leading.into_values().map(|(_, entry)| entry).collect();
        // There may be room for some of them only: one history has one order.
        leading.sort_by(|a, b| a.url.as_str().cmp(b.url.as_str()));
        for entry in leading {
            let number = if entry.url.site_hash() == holder {
                let template = Template::of(&entry.url);
                self.known_of(holder)?.last_call(&config, &template)
            } else {
                let may = self.last_call_of_domain(&entry.url)?;
                may.then_some(0)
            };
            if let Some(number) = number {
                any = true;
                self.call(around, holder, entry, number)?;
            }
        }
        if any {
            return Ok(true);
        }
        for entry in ends {
            let via = entry.via.as_ref().map(Template::of);
            let known = self.known_of(holder)?;
            if via.is_some_and(|via| known.is_given_up(&config, &via)) {
                continue;
            }
            any = true;
            self.call(around, holder, entry, 0)?;
        }
        Ok(any)
    }

    /// Looks through what a holder has, or some more of it; says whether that was all.
    fn look_through(&mut self, survey: &mut Survey) -> Result<bool, EngineError> {
        let holder = survey.holder;
        for _ in 0..SURVEYED_PER_COMMIT / ROWS_MAX {
            let entries = self.store.held(holder, survey.after, ROWS_MAX)?;
            let is_over = entries.len() < ROWS_MAX;
            survey.after = entries.last().map(|entry| entry.url.hash64());
            for entry in entries {
                self.survey_one(survey, entry)?;
            }
            if is_over {
                return Ok(true);
            }
        }
        Ok(false)
    }

    fn survey_one(&mut self, survey: &mut Survey, entry: Entry) -> Result<(), EngineError> {
        let template = Template::of(&entry.url);
        let (mut account, mut leads_on, mut is_unknown) = (None, true, true);
        let mut is_endless = false;
        if entry.url.site_hash() == survey.holder {
            let config = *self.learned.novelty.config();
            let known = self.known_of(survey.holder)?;
            account = known.holding_account(&config, &template);
            leads_on = known.may_lead_on(&template);
            is_unknown = known.is_unknown(&template);
            let refusal = known.standing(&config, &template);
            is_endless = refusal.is_some_and(NoveltyRefusal::is_endless);
        }
        if leads_on {
            let rank = if is_endless {
                // No end is to be found: what is nearest to the seed comes first.
                (is_unknown, false, u16::MAX - entry.depth, order(&entry))
            } else {
                let is_next = is_like_via(&entry, &template);
                (is_unknown, is_next, entry.depth, order(&entry))
            };
            survey.calls.keep_first(account, rank, entry);
        } else if survey.calls.ends.len() < ROWS_MAX {
            survey.calls.ends.push(entry);
        }
        Ok(())
    }

    /// Queues a deferred URL; the later its number, the longer it waits.
    fn call(
        &mut self,
        around: &mut Around<'_>,
        holder: SiteHash,
        entry: Entry,
        number: u32,
    ) -> Result<(), EngineError> {
        let delay = self.rules.policies.delay_floor(&entry.url.site());
        let wait = Duration::min(delay * number / 2, LAST_CALL_WAIT_MAX);
        let not_before = (!wait.is_zero()).then(|| around.now + wait);
        self.note_called(&entry.url);
        self.release(
            around,
            holder,
            Entry {
                not_before,
                ..entry
            },
        )
    }

    /// Queues a URL that was held. What was turned away when its turn came is known
    /// to the seen test, and is put back; the rest is new.
    fn release(
        &mut self,
        around: &mut Around<'_>,
        holder: SiteHash,
        entry: Entry,
    ) -> Result<(), EngineError> {
        let key = (holder.0, entry.url.hash64().0);
        self.learned.novelty.held.recent.remove(&key);
        self.store.forget_held(holder, &entry.url);
        if !self
            .store
            .has_seen(entry.url.site_hash(), entry.url.hash64())?
        {
            self.queue(around, entry)?;
            return Ok(());
        }
        match self.store.record(&entry.url)? {
            Some(record) if record.visits == 0 && record.attempts > 0 => {
                self.put_back(around, entry, record)
            }
            // It was found again meanwhile, and waits or has been visited.
            _ => Ok(()),
        }
    }
}

impl LastCalls {
    fn keep_first(&mut self, account: Option<u64>, rank: Rank, entry: Entry) {
        match self.leading.get(&account) {
            Some((kept, _)) if *kept >= rank => {}
            _ => {
                self.leading.insert(account, (rank, entry));
            }
        }
    }
}

/// A fixed order of URLs, so that a run can be repeated.
fn order(entry: &Entry) -> Reverse<u64> {
    Reverse(entry.url.hash64().0)
}

/// Whether a URL looks like the page it was found on: the next page of a list, the
/// next month of a calendar.
fn is_like_via(entry: &Entry, template: &Template) -> bool {
    entry.via.as_ref().is_some_and(|via| {
        let length = entry.url.as_str().len();
        via.as_str().len().abs_diff(length) <= 1 && Template::of(via) == *template
    })
}
