//! The durable side of a partition: its state, its seen test, its outbox and inbox.
//!
//! Everything a round changes in a partition is collected in one batch, which is
//! committed atomically. Nothing here decides what to change.

mod compact;
mod gather;
mod lanes;
mod learned;
mod seen_log;
mod site_list;
mod turns;
mod urls;

pub(crate) use lanes::Reading;

use std::collections::{BTreeMap, VecDeque};
use std::sync::Arc;

use geomi_cluster::PartitionId;
use geomi_frontier::SiteState;
use geomi_model::{Digest, Timestamp, Visit};
use geomi_state::seen::BaseStore;
use geomi_state::{CommitNo, Scan, State, StateStore};
use geomi_url::{CrawlUrl, SiteHash, UrlHash};
use serde::{Deserialize, Serialize};

use crate::EngineError;
use crate::keys;
use crate::letters::Letter;
use crate::seeds::Seed;
use crate::status::{Answers, Counters};
use seen_log::SeenLog;
use site_list::SiteList;

/// Where content is stored that may turn up again.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Stored {
    /// Digest the archive knows it by.
    pub payload: Digest,
    /// URL it was stored under.
    pub url: CrawlUrl,
    /// When.
    pub time: Timestamp,
}

/// Where the archive stood at a partition's last commit.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct ArchiveMark {
    /// Visits numbered so far.
    pub visits: u64,
    /// WARC file being written, without `.open`.
    pub file: Option<String>,
    /// Its length.
    pub offset: u64,
}

impl ArchiveMark {
    /// Where the archive ended, in the order in which it is written.
    pub fn place(&self) -> (Option<&str>, u64) {
        (self.file.as_deref(), self.offset)
    }
}

/// Letters on their way to another partition.
#[derive(Clone, PartialEq, Debug, Serialize, Deserialize)]
pub(crate) struct MailBody {
    pub(crate) letters: Vec<Letter>,
}

/// Mail in the outbox that has not left yet.
#[derive(Clone, Debug)]
pub struct Posted {
    /// The partition it goes to.
    pub to: PartitionId,
    /// The number of it, in order.
    pub number: u64,
    /// What it says.
    pub body: Vec<u8>,
    /// The commit it was written with; it leaves when that is durable.
    pub commit: CommitNo,
}

pub(crate) struct Partition {
    state: State,
    seen: SeenLog,
    /// `None` in a partition of an earlier version, until it is made.
    sites: Option<SiteList>,
    /// Every visit before this one is in a Parquet file: where looking for the
    /// others begins, so as not to pass over all that were deleted.
    visits_from: u64,
    /// What URLs gathered for sites not in memory may take of it.
    gather_bytes: usize,
    pub(crate) counters: Counters,
    counted: Counters,
    pub(crate) answers: Answers,
    outgoing: BTreeMap<u16, Vec<Letter>>,
    /// Mail in the outbox that has not left yet, in order.
    posted: VecDeque<Posted>,
    next_mail: u64,
    /// Outbox rows not yet acknowledged, by receiver.
    unacknowledged: BTreeMap<u16, Vec<u64>>,
    cursors: BTreeMap<u16, u64>,
}

impl std::fmt::Debug for Partition {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Partition")
            .field("seen", &self.seen.len())
            .finish_non_exhaustive()
    }
}

impl Partition {
    /// Opens a partition's state and its seen test. URLs of sites that are not in memory
    /// are gathered in as much memory again as the seen test has.
    pub(crate) fn open(
        store: Box<dyn StateStore>,
        seen: Arc<dyn BaseStore>,
        seen_bytes: usize,
    ) -> Result<Self, EngineError> {
        let state = State::new(store);
        let counters: Option<Counters> = read(&state, "counters", &keys::meta("counters"))?;
        let counters = counters.unwrap_or_default();
        // Gathered URLs may take as much as the seen test.
        let gather_bytes = seen_bytes;
        let answers: Answers = read(&state, "answers", &keys::meta("answers"))?.unwrap_or_default();
        let mut partition = Self {
            seen: SeenLog::open(&state, seen, seen_bytes)?,
            sites: SiteList::open(&state, gather_bytes)?,
            visits_from: 0,
            gather_bytes,
            state,
            counted: counters.clone(),
            counters,
            answers,
            outgoing: BTreeMap::new(),
            posted: VecDeque::new(),
            next_mail: 0,
            unacknowledged: BTreeMap::new(),
            cursors: BTreeMap::new(),
        };
        partition.load_post()?;
        Ok(partition)
    }

    fn load_post(&mut self) -> Result<(), EngineError> {
        let (from, to) = keys::all(b'o');
        let mut rows = Vec::new();
        self.state.scan(&from, &to, &mut |key, body| {
            rows.push((key.to_vec(), body.to_vec()));
            Scan::Continue
        })?;
        for (key, body) in rows {
            let damaged = || EngineError::Damaged {
                what: "an outbox key".to_owned(),
            };
            let (to, number) = key[1..].split_first_chunk::<2>().ok_or_else(damaged)?;
            let to = u16::from_be_bytes(*to);
            let number = u64::from_be_bytes(number.try_into().map_err(|_| damaged())?);
            self.next_mail = self.next_mail.max(number);
            self.unacknowledged.entry(to).or_default().push(number);
            // The outbox is the truth: everything in it is posted again.
            self.posted.push_back(Posted {
                to: PartitionId(to),
                number,
                body,
                commit: CommitNo::default(),
            });
        }
        let stored: Option<u64> = self.meta("mail")?;
        self.next_mail = self.next_mail.max(stored.unwrap_or(0));
        Ok(())
    }

    /// A single record.
    pub(crate) fn meta<T: serde::de::DeserializeOwned>(
        &self,
        name: &str,
    ) -> Result<Option<T>, EngineError> {
        read(&self.state, name, &keys::meta(name))
    }

    /// Sets a single record in the next commit.
    pub(crate) fn set_meta<T: Serialize>(&mut self, name: &str, value: &T) {
        self.state.put(&keys::meta(name), &keys::encode(value));
    }

    /// Whether a URL was admitted before.
    pub(crate) fn has_seen(&self, site: SiteHash, url: UrlHash) -> Result<bool, EngineError> {
        self.seen.contains(site, url)
    }

    /// The seen test: true once for each URL, and durable with the next commit.
    pub(crate) fn first_sight(
        &mut self,
        site: SiteHash,
        url: UrlHash,
    ) -> Result<bool, EngineError> {
        self.seen.first_sight(site, url)
    }

    /// What the seen test takes of the memory.
    pub(crate) fn seen_bytes(&self) -> u64 {
        self.seen.memory_bytes()
    }

    /// A site's saved state.
    pub(crate) fn site(&self, site: SiteHash) -> Result<Option<SiteState>, EngineError> {
        read(&self.state, "site", &keys::site(site))
    }

    /// Keeps the state of a site that is not in memory.
    pub(crate) fn set_site(&mut self, site: &SiteState) {
        self.state
            .put(&keys::site(site.key.hash64()), &keys::encode(site));
    }

    /// Adds a visit that waits for its Parquet file.
    pub(crate) fn add_visit(&mut self, visit: &Visit) {
        self.state
            .put(&keys::visit(visit.number), &keys::encode_visit(visit));
    }

    /// Forgets a visit that is in a Parquet file now, as are all before it.
    pub(crate) fn forget_visit(&mut self, number: u64) {
        self.visits_from = self.visits_from.max(number + 1);
        self.state.delete(&keys::visit(number));
    }

    /// Visits that are not in a Parquet file yet, in order.
    pub(crate) fn visits(&self, visit: &mut dyn FnMut(Visit)) -> Result<(), EngineError> {
        let (_, to) = keys::all(b'v');
        let from = keys::visit(self.visits_from);
        let mut broken = None;
        self.state.scan(
            &from,
            &to,
            &mut |_, value| match keys::decode_visit(value) {
                Ok(one) => {
                    visit(one);
                    Scan::Continue
                }
                Err(error) => {
                    broken = Some(error);
                    Scan::Stop
                }
            },
        )?;
        broken.map_or(Ok(()), Err)
    }

    /// Adds a seed, in its stored form.
    pub(crate) fn set_seed(&mut self, number: u32, seed: &[u8]) {
        self.state.put(&keys::seed(number), seed);
    }

    /// A seed.
    pub(crate) fn seed(&self, number: u32) -> Result<Option<Seed>, EngineError> {
        let stored = self.state.get(&keys::seed(number))?;
        stored.map(|value| Seed::decode(&value)).transpose()
    }

    /// Shows seeds in order, from this number on, until `visit` returns [`Scan::Stop`].
    pub(crate) fn each_seed(
        &self,
        from: u32,
        visit: &mut dyn FnMut(u32, Seed) -> Result<Scan, EngineError>,
    ) -> Result<(), EngineError> {
        let (_, to) = keys::all(b'e');
        let mut broken = None;
        self.state.scan(&keys::seed(from), &to, &mut |key, value| {
            let shown =
                keys::seed_number(key).and_then(|number| visit(number, Seed::decode(value)?));
            shown.unwrap_or_else(|error| {
                broken = Some(error);
                Scan::Stop
            })
        })?;
        broken.map_or(Ok(()), Err)
    }

    /// Writes a letter to another partition, with the next commit.
    pub(crate) fn post(&mut self, to: PartitionId, letter: Letter) {
        self.outgoing.entry(to.0).or_default().push(letter);
    }

    /// The next mail that may leave: its commit is durable.
    pub(crate) fn next_posted(&mut self) -> Option<Posted> {
        let durable = self.state.durable();
        let is_durable = |first: &Posted| first.commit <= durable;
        self.posted
            .front()
            .is_some_and(is_durable)
            .then(|| self.posted.pop_front())?
    }

    /// Puts mail back that could not be sent.
    pub(crate) fn not_posted(&mut self, mail: Posted) {
        self.posted.push_front(mail);
    }

    /// Notes that mail was taken in; durable with the next commit.
    pub(crate) fn advance_cursor(&mut self, from: u16, number: u64) {
        self.state.put(&keys::inbox(from), &keys::encode(&number));
        self.cursors.insert(from, number);
    }

    /// The last mail taken in from there.
    pub(crate) fn cursor(&mut self, from: u16) -> Result<Option<u64>, EngineError> {
        if let Some(cursor) = self.cursors.get(&from) {
            return Ok(Some(*cursor));
        }
        let stored = read(&self.state, "inbox", &keys::inbox(from))?;
        if let Some(cursor) = stored {
            self.cursors.insert(from, cursor);
        }
        Ok(stored)
    }

    /// Drops outbox rows that the receiver has made durable on its side.
    pub(crate) fn acknowledged(&mut self, to: u16, number: u64) {
        let Some(rows) = self.unacknowledged.get_mut(&to) else {
            return;
        };
        let state = &mut self.state;
        rows.retain(|row| {
            let done = *row <= number;
            if done {
                state.delete(&keys::outbox(to, *row));
            }
            !done
        });
    }

    /// Receivers that have not acknowledged everything yet.
    pub(crate) fn awaited(&self) -> impl Iterator<Item = u16> + '_ {
        self.unacknowledged
            .iter()
            .filter(|(_, rows)| !rows.is_empty())
            .map(|(to, _)| *to)
    }

    /// Whether mail is on its way from here.
    pub(crate) fn awaits_mail(&self) -> bool {
        !self.posted.is_empty() || self.awaited().next().is_some()
    }

    /// Whether the next commit would write anything.
    pub(crate) fn is_dirty(&self) -> bool {
        !self.state.is_clean()
            || self.seen.is_dirty()
            || self.sites.as_ref().is_some_and(SiteList::is_dirty)
            || !self.outgoing.is_empty()
            || self.counters != self.counted
    }

    /// Makes everything since the last commit durable, with where the archive
    /// stands.
    pub(crate) fn commit(&mut self, mark: &ArchiveMark) -> Result<CommitNo, EngineError> {
        self.seen.write(&mut self.state)?;
        if let Some(sites) = &mut self.sites {
            sites.write(&mut self.state);
        }
        let commit = self.state.next_commit();
        for (to, letters) in std::mem::take(&mut self.outgoing) {
            for letters in parcels(letters) {
                self.next_mail += 1;
                let body = keys::encode(&MailBody { letters });
                self.state.put(&keys::outbox(to, self.next_mail), &body);
                self.unacknowledged
                    .entry(to)
                    .or_default()
                    .push(self.next_mail);
                self.posted.push_back(Posted {
                    to: PartitionId(to),
                    number: self.next_mail,
                    body,
                    commit,
                });
            }
        }
        if self.counters != self.counted {
            self.state
                .put(&keys::meta("counters"), &keys::encode(&self.counters));
            // An answer is a visit, which is counted too.
            self.state
                .put(&keys::meta("answers"), &keys::encode(&self.answers));
            self.counted.clone_from(&self.counters);
        }
        self.state.put(&keys::meta("archive"), &keys::encode(mark));
        self.state
            .put(&keys::meta("mail"), &keys::encode(&self.next_mail));
        let number = self.state.commit()?;
        self.seen.committed(number);
        Ok(number)
    }

    /// The number of the last commit.
    pub(crate) const fn last_commit(&self) -> CommitNo {
        CommitNo(self.state.next_commit().0 - 1)
    }

    /// The number of the next commit.
    pub(crate) const fn next_commit(&self) -> CommitNo {
        self.state.next_commit()
    }

    /// Up to which commit everything is durable.
    pub(crate) fn durable(&mut self) -> Result<CommitNo, EngineError> {
        let durable = self.state.durable();
        self.seen.durable(durable)?;
        Ok(durable)
    }

    fn each<T: serde::de::DeserializeOwned>(
        &self,
        from: &[u8],
        to: &[u8],
        kind: &str,
        take: &mut dyn FnMut(T),
    ) -> Result<(), EngineError> {
        let mut broken = None;
        self.state
            .scan(from, to, &mut |_, value| match keys::decode(kind, value) {
                Ok(value) => {
                    take(value);
                    Scan::Continue
                }
                Err(error) => {
                    broken = Some(error);
                    Scan::Stop
                }
            })?;
        broken.map_or(Ok(()), Err)
    }
}

fn read<T: serde::de::DeserializeOwned>(
    state: &State,
    kind: &str,
    key: &[u8],
) -> Result<Option<T>, EngineError> {
    state
        .get(key)?
        .map(|value| keys::decode(kind, &value))
        .transpose()
}

/// Cuts mail into bodies well below what a mailbox takes.
fn parcels(letters: Vec<Letter>) -> Vec<Vec<Letter>> {
    const PARCEL_BYTES_MAX: usize = 256 << 10;
    let mut parcels = vec![Vec::new()];
    let mut bytes = 0;
    for letter in letters {
        bytes += letter.bytes();
        if bytes > PARCEL_BYTES_MAX {
            parcels.push(Vec::new());
            bytes = 0;
        }
        parcels
            .last_mut()
            .expect("there is always one parcel")
            .push(letter);
    }
    parcels.retain(|parcel| !parcel.is_empty());
    parcels
}
