//! URLs that the trap guard defers, and when they are looked at again.
//!
//! A deferred URL is kept under its holder: its site, or its domain where that has
//! opened too many hosts. It is queued after all in one of two cases:
//!
//! * Its holder is open again ([`HeldBook::reopen`]): a few hundred URLs are looked
//!   at between two rounds of the loop.
//! * Nothing else is left to fetch ([`Journey::call_last`]). Then each account of a
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
use geomi_novelty::Template;
use geomi_url::{SiteHash, UrlHash};
use hashbrown::{HashMap, HashSet};

use crate::CrawlError;
use crate::control::Desired;
use crate::journey::Journey;
use crate::novelty::domain_hash;

/// URLs looked at between two commits.
const ROWS_MAX: usize = 512;
/// URLs remembered as held, so that a link on every page is written once.
const RECENT_MAX: usize = 1 << 16;
/// The longest wait before a last call.
const LAST_CALL_WAIT_MAX: Duration = Duration::from_secs(30);
/// Holders remembered as given up.
const GIVEN_UP_MAX: usize = 1 << 16;

/// One look through what a holder has.
#[derive(Debug)]
struct Look {
    holder: SiteHash,
    /// The last URL that was looked at.
    after: Option<UrlHash>,
    /// Whether another look is due after this one.
    again: bool,
}

/// Holders to be looked at again.
#[derive(Debug, Default)]
pub(crate) struct HeldBook {
    looks: VecDeque<Look>,
    recent: HashSet<(u64, u64)>,
    /// Holders whose last calls were all made and of which nothing was released.
    given_up: HashSet<SiteHash>,
}

impl HeldBook {
    /// A holder has shown that it was misjudged.
    pub(crate) fn reopen(&mut self, holder: SiteHash) {
        self.given_up.remove(&holder);
        if let Some(look) = self.looks.iter_mut().find(|look| look.holder == holder) {
            // What it has come past may be worth a request by now.
            look.again = look.after.is_some();
            return;
        }
        self.looks.push_back(Look {
            holder,
            after: None,
            again: false,
        });
    }

    /// Whether something is to be looked at.
    pub(crate) fn is_due(&self) -> bool {
        !self.looks.is_empty()
    }
}

/// Which of several URLs is called first, the greatest: one whose template was never
/// fetched, one that looks like the page it was found on and so may be its next, the
/// deepest; among equals the first in order of hashes, so that a run can be repeated.
type Rank = (bool, bool, u16, Reverse<u64>);

/// What is released of a holder in one turn of last calls.
#[derive(Default)]
struct LastCalls {
    /// The first URL of each account that may lead on, and its rank.
    leading: HashMap<Option<u64>, (Rank, Entry)>,
    /// URLs that lead nowhere, as far as one can tell.
    ends: Vec<Entry>,
}

impl Journey<'_> {
    /// Keeps a URL back on account of its site.
    pub(crate) fn hold(&mut self, entry: &Entry) {
        self.hold_by(entry.url.site_hash(), entry);
    }

    /// Keeps a URL back on account of its domain.
    pub(crate) fn hold_for_domain(&mut self, entry: &Entry) {
        self.hold_by(SiteHash(domain_hash(&entry.url)), entry);
    }

    fn hold_by(&mut self, holder: SiteHash, entry: &Entry) {
        let recent = &mut self.novelty.held.recent;
        if recent.len() >= RECENT_MAX {
            recent.clear();
        }
        if recent.insert((holder.0, entry.url.hash64().0)) {
            let at = self.partition_of(holder);
            self.partitions[at].set_held(holder, entry);
        }
    }

    /// Whether held URLs are to be looked at now.
    pub(crate) fn is_releasing(&self) -> bool {
        self.novelty.held.is_due() && self.control.desired() == Desired::Run
    }

    /// Looks at some of what the next holder has held, and queues what is worth a
    /// request now.
    pub(crate) fn release_held(&mut self) -> Result<(), CrawlError> {
        if !self.is_releasing() {
            return Ok(());
        }
        let Some(mut look) = self.novelty.held.looks.pop_front() else {
            return Ok(());
        };
        let holder = look.holder;
        let at = self.partition_of(holder);
        let entries = self.partitions[at].held(holder, look.after, ROWS_MAX)?;
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
                self.release(holder, entry)?;
            } else if !is_site {
                // A domain has room for all of its hosts or for none.
                is_over = true;
                break;
            }
        }
        if !is_over {
            self.novelty.held.looks.push_front(look);
        } else if look.again {
            self.novelty.held.reopen(holder);
        }
        Ok(())
    }

    /// Queues deferred URLs when nothing else is left; says whether there were any.
    pub(crate) fn call_last(&mut self) -> Result<bool, CrawlError> {
        let mut any = false;
        for at in 0..self.partitions.len() {
            let mut after = None;
            while let Some(holder) = self.partitions[at].next_holder(after)? {
                after = Some(holder);
                if !self.novelty.is_on() {
                    // Nothing is deferred any more.
                    self.novelty.held.reopen(holder);
                    any = true;
                    continue;
                }
                if self.novelty.held.given_up.contains(&holder) {
                    continue;
                }
                if self.call_last_of(at, holder)? {
                    any = true;
                } else if self.novelty.held.given_up.len() < GIVEN_UP_MAX {
                    self.novelty.held.given_up.insert(holder);
                }
            }
        }
        Ok(any)
    }

    fn call_last_of(&mut self, at: usize, holder: SiteHash) -> Result<bool, CrawlError> {
        let LastCalls { leading, ends } = self.last_calls(at, holder)?;
        let config = *self.novelty.config();
        let mut any = false;
        for (_, entry) in leading.into_values() {
            let number = if entry.url.site_hash() == holder {
                let template = Template::of(&entry.url);
                self.known_of(holder)?.last_call(&config, &template)
            } else {
                let may = self.last_call_of_domain(&entry.url)?;
                may.then_some(0)
            };
            if let Some(number) = number {
                any = true;
                self.call(holder, entry, number)?;
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
            self.call(holder, entry, 0)?;
        }
        Ok(any)
    }

    /// Looks through all that a holder has.
    fn last_calls(&mut self, at: usize, holder: SiteHash) -> Result<LastCalls, CrawlError> {
        let config = *self.novelty.config();
        let mut calls = LastCalls::default();
        let mut after = None;
        loop {
            let entries = self.partitions[at].held(holder, after, ROWS_MAX)?;
            let is_over = entries.len() < ROWS_MAX;
            after = entries.last().map(|entry| entry.url.hash64());
            for entry in entries {
                let template = Template::of(&entry.url);
                let (account, leads_on, is_unknown) = if entry.url.site_hash() == holder {
                    let known = self.known_of(holder)?;
                    let account = known.holding_account(&config, &template);
                    let is_unknown = known.is_unknown(&template);
                    (account, known.may_lead_on(&template), is_unknown)
                } else {
                    (None, true, true)
                };
                if leads_on {
                    let rank = (
                        is_unknown,
                        is_like_via(&entry, &template),
                        entry.depth,
                        Reverse(entry.url.hash64().0),
                    );
                    calls.keep_first(account, rank, entry);
                } else if calls.ends.len() < ROWS_MAX {
                    calls.ends.push(entry);
                }
            }
            if is_over {
                return Ok(calls);
            }
        }
    }

    /// Queues a deferred URL; the later its number, the longer it waits.
    fn call(&mut self, holder: SiteHash, entry: Entry, number: u32) -> Result<(), CrawlError> {
        let delay = self.policies.delay_floor(&entry.url.site());
        let wait = Duration::min(delay * number / 2, LAST_CALL_WAIT_MAX);
        let not_before = (!wait.is_zero()).then(|| self.clock.now() + wait);
        self.note_called(&entry.url);
        self.release(
            holder,
            Entry {
                not_before,
                ..entry
            },
        )
    }

    /// Queues a URL that was held. What was turned away when its turn came is known
    /// to the seen test, and is put back; the rest is new.
    fn release(&mut self, holder: SiteHash, entry: Entry) -> Result<(), CrawlError> {
        let at = self.partition_of(holder);
        let key = (holder.0, entry.url.hash64().0);
        self.novelty.held.recent.remove(&key);
        self.partitions[at].forget_held(holder, &entry.url);
        let partition = self.partition_of(entry.url.site_hash());
        if !self.partitions[partition].has_seen(entry.url.site_hash(), entry.url.hash64())? {
            self.queue(partition, entry)?;
            return Ok(());
        }
        match self.partitions[partition].record(&entry.url)? {
            Some(record) if record.visits == 0 && record.attempts > 0 => {
                self.put_back(partition, entry, record)
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

/// Whether a URL looks like the page it was found on: the next page of a list, the
/// next month of a calendar.
fn is_like_via(entry: &Entry, template: &Template) -> bool {
    entry.via.as_ref().is_some_and(|via| {
        let length = entry.url.as_str().len();
        via.as_str().len().abs_diff(length) <= 1 && Template::of(via) == *template
    })
}
