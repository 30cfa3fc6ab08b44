//! Letters: messages from one partition to another.
//!
//! Letters are written with the commit that causes them, leave when it is durable, and
//! are taken in once: the sender's outbox keeps them until the receiver's cursor, which
//! is in its state, has passed them. They may arrive twice or late, never in part. All
//! of them are idempotent besides.
//!
//! Seeds are numbered within a partition, so a link travels with a *card*: what the
//! other side needs to know of its seed.

use geomi_cluster::{PartitionId, Partitions};
use geomi_frontier::{Entry, Errand};
use geomi_model::{ChangeSignal, Digest, NetworkState, Timestamp};
use geomi_url::{CrawlUrl, SiteHash};
use serde::{Deserialize, Serialize};

use crate::books::SiteAccess;
use crate::engine::{Around, Engine, partition_of};
use crate::partition::Stored;
use crate::refusal::RefusalRule;
use crate::seeds::{Added, SeedCard, SeedOutcome};
use crate::{EngineError, SeedInput};
use geomi_refresh::upkeep::SignalSource;

/// Links to other partitions that are remembered as sent.
const SENT_MAX: usize = 1 << 20;

/// One message for another partition.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) enum Letter {
    /// A link leads there.
    Link(Box<LinkLetter>),
    /// A party proposes a seed there.
    Candidate {
        url: CrawlUrl,
        topic: Option<String>,
        /// The page it was found on.
        via: CrawlUrl,
    },
    /// A content whose digest belongs there is stored here.
    Content { digest: Digest, stored: Stored },
    /// The outcome of a seed of that partition that redirected here.
    Seed {
        url: CrawlUrl,
        outcome: SeedOutcome,
        state: NetworkState,
        digest: Option<Digest>,
    },
    /// The robots.txt of a site here is at a site there.
    AskRobots(RobotsErrand),
    /// It redirects to yet another site: it must be requested there.
    RobotsMoved(RobotsErrand),
    /// The rules of a robots.txt that was asked for.
    Robots {
        for_site: SiteHash,
        access: SiteAccess,
        until: Timestamp,
    },
    /// A robots.txt that was asked for could not be fetched. It may be requested again at
    /// `until`; `None`: not in this run.
    RobotsLost {
        for_site: SiteHash,
        attempts: u8,
        until: Option<Timestamp>,
    },
}

/// A link to another partition.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct LinkLetter {
    pub(crate) entry: Entry,
    pub(crate) card: SeedCard,
    /// When it changed, according to a sitemap or feed here.
    pub(crate) told: Option<ChangeSignal>,
}

/// A robots.txt to request for a site of another partition.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct RobotsErrand {
    pub(crate) url: CrawlUrl,
    pub(crate) for_site: SiteHash,
    /// Redirects that led there.
    pub(crate) redirects: u8,
}

impl Letter {
    /// About how many bytes it takes.
    pub(crate) fn bytes(&self) -> usize {
        match self {
            Self::Link(link) => {
                let via = link.entry.via.as_ref().map_or(0, |via| via.as_str().len());
                link.entry.url.as_str().len() + via + 2 * link.card.url.as_str().len() + 64
            }
            Self::Candidate { url, via, .. } => url.as_str().len() + via.as_str().len() + 64,
            Self::Content { stored, .. } => stored.url.as_str().len() + 64,
            Self::Seed { url, .. } => url.as_str().len() + 64,
            Self::AskRobots(errand) | Self::RobotsMoved(errand) => errand.url.as_str().len() + 32,
            // Rules have 512 KiB at most; they are rare.
            Self::Robots { access, .. } => access.memory_bytes(),
            Self::RobotsLost { .. } => 32,
        }
    }
}

/// The partition that keeps where a content is stored: digests are spread like domains.
pub fn keeper(map: Partitions, content: &Digest) -> PartitionId {
    let (start, _) = content.0.split_first_chunk().expect("a digest is longer");
    map.partition_of(SiteHash(u64::from_be_bytes(*start)))
}

impl Engine {
    /// Whether a link was sent to its partition lately, from no deeper than this where
    /// depth matters.
    pub(crate) fn has_sent(&self, url: &CrawlUrl, depth: u16) -> bool {
        let sent = self.queues.sent.get(&(url.site_hash(), url.hash64()));
        sent.is_some_and(|sent| *sent <= depth || !self.rules.admit.tracks_depth())
    }

    /// Sends a link to the partition that owns it.
    pub(crate) fn send_link(
        &mut self,
        owner: PartitionId,
        entry: Entry,
        told: Option<&ChangeSignal>,
    ) -> Result<bool, EngineError> {
        if self.has_sent(&entry.url, entry.depth) {
            return Ok(false);
        }
        if self.queues.sent.len() >= SENT_MAX {
            self.queues.sent.clear();
        }
        let key = (entry.url.site_hash(), entry.url.hash64());
        self.queues.sent.insert(key, entry.depth);
        self.edit_seed(entry.seed, |seed| seed.urls += 1)?;
        let card = SeedCard::of(&*self.seed(entry.seed)?);
        let told = told.copied();
        self.store.post(
            owner,
            Letter::Link(Box::new(LinkLetter { entry, card, told })),
        );
        Ok(true)
    }

    /// Takes in the letters of another partition.
    pub(crate) fn read_letters(
        &mut self,
        from: PartitionId,
        letters: Vec<Letter>,
        around: &mut Around<'_>,
    ) -> Result<(), EngineError> {
        for letter in letters {
            self.receive_one(from, letter, around)?;
        }
        Ok(())
    }

    fn receive_one(
        &mut self,
        from: PartitionId,
        letter: Letter,
        around: &mut Around<'_>,
    ) -> Result<(), EngineError> {
        match letter {
            Letter::Link(link) => self.receive_link(*link, around)?,
            Letter::Candidate { url, topic, via } => {
                if self.has_hosts_left(&url)? {
                    self.propose_seed(around, SeedInput { url, topic }, &via)?;
                } else {
                    self.store.counters.refusal(RefusalRule::DomainHosts);
                }
            }
            Letter::Content { digest, stored } => {
                around.shared.contents.remove(&digest);
                if self.store.stored(&digest)?.is_none() {
                    self.store.set_stored(&digest, &stored);
                }
            }
            Letter::Seed {
                url,
                outcome,
                state,
                digest,
            } => {
                if let Some(number) = self.seeds.book.number_of(&url) {
                    self.edit_seed(number, |seed| seed.became(Some(outcome), state, digest))?;
                }
            }
            Letter::AskRobots(errand) => self.receive_errand(from, errand, around)?,
            Letter::RobotsMoved(errand) => match self.elsewhere(&errand.url) {
                Some(owner) => self.store.post(owner, Letter::AskRobots(errand)),
                None => self.add_errand(errand, around)?,
            },
            Letter::Robots {
                for_site,
                access,
                until,
            } => self.receive_robots(for_site, access, until, around)?,
            Letter::RobotsLost {
                for_site,
                attempts,
                until,
            } => {
                let (frontier, now) = (&mut self.queues.frontier, around.now);
                match until {
                    Some(until) => frontier.robots_put_off(for_site, attempts, until, now),
                    None => frontier.robots_unavailable(for_site, now),
                }
            }
        }
        Ok(())
    }

    fn receive_link(
        &mut self,
        LinkLetter { entry, card, told }: LinkLetter,
        around: &mut Around<'_>,
    ) -> Result<(), EngineError> {
        let seed = self.seeds.book.take_card(&self.store, &card)?;
        let entry = Entry { seed, ..entry };
        let url = entry.url.clone();
        if self.store.has_seen(url.site_hash(), url.hash64())? {
            self.shorten(around, entry)?;
        } else if self.has_room(&entry)? {
            self.admit_worthy(around, entry)?;
        }
        match told {
            Some(told) => self.note_signal(around, &url, &told, SignalSource::Sitemap),
            None => Ok(()),
        }
    }

    /// Queues a seed that a party proposes if it is new, or sends it to its partition.
    pub(crate) fn propose_seed(
        &mut self,
        around: &mut Around<'_>,
        input: SeedInput,
        via: &CrawlUrl,
    ) -> Result<(), EngineError> {
        if let Some(owner) = self.elsewhere(&input.url) {
            let SeedInput { url, topic } = input;
            if !self.has_sent(&url, 0) {
                let key = (url.site_hash(), url.hash64());
                self.queues.sent.insert(key, 0);
                let via = via.clone();
                self.store
                    .post(owner, Letter::Candidate { url, topic, via });
            }
            return Ok(());
        }
        match self.seeds.book.add(&self.store, &input, Some(via))? {
            Added::New(number) => self.admit_seed(around, &input.url, number),
            Added::Known => Ok(()),
        }
    }

    /// Reports the outcome of a seed that redirected here to the partition of the seed.
    pub(crate) fn report_seed(
        &mut self,
        number: u32,
        outcome: Option<SeedOutcome>,
        state: NetworkState,
        digest: Option<Digest>,
    ) -> Result<(), EngineError> {
        let seed = self.seed(number)?;
        if let Some(outcome) = outcome.filter(|_| seed.is_guest) {
            let url = seed.url.clone();
            self.store.post(
                partition_of(self.map, &url),
                Letter::Seed {
                    url,
                    outcome,
                    state,
                    digest,
                },
            );
        }
        Ok(())
    }

    fn receive_errand(
        &mut self,
        from: PartitionId,
        errand: RobotsErrand,
        around: &mut Around<'_>,
    ) -> Result<(), EngineError> {
        self.sites.errands.insert(from, errand.clone());
        self.add_errand(errand, around)
    }

    /// Asks again for what other partitions asked for in an earlier run: they wait for the
    /// answer and do not ask twice.
    pub(crate) fn take_up_errands(&mut self, around: &mut Around<'_>) -> Result<(), EngineError> {
        for errand in self.sites.errands.all() {
            self.add_errand(errand, around)?;
        }
        Ok(())
    }

    fn add_errand(
        &mut self,
        errand: RobotsErrand,
        around: &mut Around<'_>,
    ) -> Result<(), EngineError> {
        self.ensure_open(&errand.url, around.now)?;
        let errand = Errand {
            url: errand.url,
            for_site: errand.for_site,
            redirects: errand.redirects,
            attempts: 0,
            is_foreign: true,
        };
        self.queues.frontier.add_foreign_errand(errand, around.now);
        Ok(())
    }

    fn receive_robots(
        &mut self,
        for_site: SiteHash,
        access: SiteAccess,
        until: Timestamp,
        around: &mut Around<'_>,
    ) -> Result<(), EngineError> {
        let crawl_delay = access.crawl_delay(&self.rules.config.agent);
        let frontier = &mut self.queues.frontier;
        if frontier.robots_known(for_site, until, crawl_delay, around.now) {
            self.know(for_site, access);
        } else if let Some(mut state) = self.store.site(for_site)? {
            // It is not in memory: its next turn begins with these rules.
            state.robots_until = Some(until);
            state.crawl_delay = crawl_delay;
            self.store.set_site(&state);
            self.store.set_access(for_site, &access);
        }
        Ok(())
    }

    /// Reports to other partitions that a robots.txt they asked for cannot be fetched.
    pub(crate) fn report_lost_errands(&mut self) {
        for lost in self.queues.frontier.take_lost_errands() {
            let for_site = lost.errand.for_site;
            if let Some(asker) = self.sites.errands.remove(for_site) {
                let letter = Letter::RobotsLost {
                    for_site,
                    attempts: lost.errand.attempts,
                    until: lost.until,
                };
                self.store.post(asker, letter);
            }
        }
    }
}
