//! What is held back, and when it is looked at again.
//!
//! A URL that is not worth a request as things stand is kept under its holder:
//! its site, or its domain where that has opened too many hosts. When a holder
//! shows that it was misjudged, what it held is queued after all, a few hundred
//! URLs between two rounds of the loop. So a wrong verdict costs time and no
//! pages.
//!
//! It does not say what is worth a request: `novelty.rs` does.

use std::collections::VecDeque;

use geomi_frontier::Entry;
use geomi_novelty::NoveltyRefusal;
use geomi_url::{SiteHash, UrlHash};
use hashbrown::HashSet;

use crate::CrawlError;
use crate::control::Desired;
use crate::journey::Journey;
use crate::novelty::domain_hash;

/// URLs looked at between two commits.
const ROWS_MAX: usize = 512;
/// URLs remembered as held, so that a link on every page is written once.
const RECENT_MAX: usize = 1 << 16;

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
}

impl HeldBook {
    /// A holder has shown that it was misjudged.
    pub(crate) fn reopen(&mut self, holder: SiteHash) {
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

/// Whether what is refused by this rule is held back.
pub(crate) fn is_held(rule: &str) -> bool {
    [
        NoveltyRefusal::Template,
        NoveltyRefusal::Section,
        NoveltyRefusal::Site,
        NoveltyRefusal::Calendar,
    ]
    .iter()
    .any(|refusal| refusal.as_str() == rule)
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

    /// Queues a URL that was held. What was refused when its turn came is known
    /// to the seen test, and is put back; the rest is new.
    fn release(&mut self, holder: SiteHash, entry: Entry) -> Result<(), CrawlError> {
        let at = self.partition_of(holder);
        let key = (holder.0, entry.url.hash64().0);
        self.novelty.held.recent.remove(&key);
        self.partitions[at].forget_held(holder, &entry.url);
        let partition = self.partition_of(entry.url.site_hash());
        if !self.partitions[partition].has_seen(entry.url.hash64())? {
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
