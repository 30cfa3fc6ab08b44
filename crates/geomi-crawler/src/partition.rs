//! One partition of the URL space: its state, its seen test, its post.
//!
//! Everything a round changes in a partition is collected in one batch and
//! becomes durable at once. Nothing here decides what to change.

mod compact;
mod gather;
mod seen_log;
mod site_list;

use std::collections::BTreeMap;
use std::path::Path;

use geomi_frontier::{Append, Closed, Entry, LaneState, Position, Save, SiteState};
use geomi_model::{ChangeSignal, Digest, Timestamp, UrlRecord, Visit};
use geomi_novelty::{DomainNovelty, MirrorPage, SiteNovelty};
use geomi_store::state::{Batch, Scan, StateStore};
use geomi_url::{CrawlUrl, SiteHash, UrlHash};
use hashbrown::HashMap;
use serde::{Deserialize, Serialize};

use crate::CrawlError;
use crate::books::SiteAccess;
use crate::keys;
use crate::mirrors::MirrorRecord;
use crate::refresh::SiteSigns;
use crate::seeds::Seed;
use crate::status::{Answers, Counters};
use compact::Chunk;
use seen_log::SeenLog;
use site_list::SiteList;

/// Format of what was learned of a site. The first had no shelves.
const NOVELTY_FORMAT: u8 = 2;

/// Where content is stored that may turn up again.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Stored {
    /// Digest the archive knows it by.
    pub(crate) payload: Digest,
    /// URL it was stored under.
    pub(crate) url: CrawlUrl,
    /// When.
    pub(crate) time: Timestamp,
}

/// Where the archive stood at a partition's last commit.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Debug, Default, Serialize, Deserialize)]
pub(crate) struct ArchiveMark {
    /// Visits numbered so far.
    pub(crate) visits: u64,
    /// WARC file being written, without `.open`.
    pub(crate) file: Option<String>,
    /// Its length.
    pub(crate) offset: u64,
}

/// Gathered URLs take this part of what the seen test is given.
const GATHER_SHARE: usize = 4;

/// Entries read at once when looking for a URL.
const FIND_QUEUED_LEN: usize = 4_096;

/// Past every chunk a lane can have.
const LANE_END: Position = Position {
    chunk: u64::MAX,
    index: 0,
};

/// Chunks of a lane that are looked up before the rest is scanned.
const LOOKED_UP: u64 = 3;

/// How a lane is read back.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Reading {
    /// Entries, at most.
    pub(crate) len: usize,
    /// Entries may be dealt with already: their records are looked up.
    pub(crate) is_ragged: bool,
}

/// A link on its way to another partition.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct MailBody {
    pub(crate) entries: Vec<Entry>,
}

pub(crate) struct Partition {
    store: Box<dyn StateStore>,
    batch: Batch,
    seen: SeenLog,
    /// `None` in a partition of an earlier version, until it is made.
    sites: Option<SiteList>,
    /// What URLs gathered for sites not in memory may take of it.
    gather_bytes: usize,
    /// Content first stored in this round: the same may come twice in one.
    fresh_stored: HashMap<Digest, Stored>,
    pub(crate) counters: Counters,
    counted: Counters,
    pub(crate) answers: Answers,
    outgoing: BTreeMap<u16, Vec<Entry>>,
    /// Mail written in this commit, to be published after it.
    pub(crate) posted: Vec<(u16, u64, Vec<u8>)>,
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
    /// Opens a partition's state, and its seen test in a folder of its own. URLs
    /// of sites that are not in memory gather in a quarter as much memory again.
    pub(crate) fn open(
        store: Box<dyn StateStore>,
        seen: &Path,
        seen_bytes: usize,
    ) -> Result<Self, CrawlError> {
        let counters: Counters =
            read(&*store, "counters", &keys::meta("counters"))?.unwrap_or_default();
        let gather_bytes = seen_bytes / GATHER_SHARE;
        let answers: Answers =
            read(&*store, "answers", &keys::meta("answers"))?.unwrap_or_default();
        let mut partition = Self {
            seen: SeenLog::open(&*store, seen, seen_bytes)?,
            sites: SiteList::open(&*store, gather_bytes)?,
            gather_bytes,
            store,
            batch: Batch::new(),
            fresh_stored: HashMap::new(),
            counted: counters.clone(),
            counters,
            answers,
            outgoing: BTreeMap::new(),
            posted: Vec::new(),
            next_mail: 0,
            unacknowledged: BTreeMap::new(),
            cursors: BTreeMap::new(),
        };
        partition.load_post()?;
        Ok(partition)
    }

    fn load_post(&mut self) -> Result<(), CrawlError> {
        let (from, to) = keys::all(b'o');
        let mut rows = Vec::new();
        self.store.scan(&from, &to, &mut |key, body| {
            rows.push((key.to_vec(), body.to_vec()));
            Scan::Continue
        })?;
        for (key, body) in rows {
            let damaged = || CrawlError::Damaged {
                what: "an outbox key".to_owned(),
            };
            let (to, number) = key[1..].split_first_chunk::<2>().ok_or_else(damaged)?;
            let to = u16::from_be_bytes(*to);
            let number = u64::from_be_bytes(number.try_into().map_err(|_| damaged())?);
            self.next_mail = self.next_mail.max(number);
            self.unacknowledged.entry(to).or_default().push(number);
            // The outbox is the truth: everything in it is posted again.
            self.posted.push((to, number, body));
        }
        let stored: Option<u64> = self.meta("mail")?;
        self.next_mail = self.next_mail.max(stored.unwrap_or(0));
        Ok(())
    }

    /// A single record.
    pub(crate) fn meta<T: serde::de::DeserializeOwned>(
        &self,
        name: &str,
    ) -> Result<Option<T>, CrawlError> {
        read(&*self.store, name, &keys::meta(name))
    }

    /// Sets a single record in the next commit.
    pub(crate) fn set_meta<T: Serialize>(&mut self, name: &str, value: &T) {
        self.batch.put(&keys::meta(name), &keys::encode(value));
    }

    /// Whether a URL was admitted before.
    pub(crate) fn has_seen(&self, url: UrlHash) -> Result<bool, CrawlError> {
        self.seen.contains(url.0)
    }

    /// The seen test: true once for each URL, and durable with the next commit.
    pub(crate) fn first_sight(&mut self, url: UrlHash) -> Result<bool, CrawlError> {
        self.seen.first_sight(url.0)
    }

    /// What the seen test takes of the memory.
    pub(crate) fn seen_bytes(&self) -> u64 {
        self.seen.memory_bytes()
    }

    /// A site's saved state.
    pub(crate) fn site(&self, site: SiteHash) -> Result<Option<SiteState>, CrawlError> {
        read(&*self.store, "site", &keys::site(site))
    }

    /// Whether URLs wait that are in no queue yet.
    pub(crate) fn has_parked(&self) -> bool {
        self.sites
            .as_ref()
            .is_some_and(|list| !list.parked().is_empty())
    }

    /// Every site with URLs in its queue, up to that many.
    pub(crate) fn pending_sites(&self, max: usize) -> Result<Vec<SiteState>, CrawlError> {
        let (from, to) = keys::all(b's');
        let mut sites = Vec::new();
        let mut broken = None;
        self.store.scan(&from, &to, &mut |_, value| {
            match keys::decode::<SiteState>("site", value) {
                Ok(site) if site.pending() > 0 => sites.push(site),
                Ok(_) => {}
                Err(error) => broken = Some(error),
            }
            if sites.len() < max && broken.is_none() {
                Scan::Continue
            } else {
                Scan::Stop
            }
        })?;
        broken.map_or(Ok(sites), Err)
    }

    /// Makes the list of sites, in a partition that has none: a new one, or one
    /// of an earlier version.
    pub(crate) fn list_sites(&mut self, mark: &ArchiveMark) -> Result<(), CrawlError> {
        if self.sites.is_some() {
            return Ok(());
        }
        let (from, to) = keys::all(b's');
        let mut waiting = Vec::new();
        self.each(&from, &to, "site", &mut |site: SiteState| {
            waiting.extend((site.pending() > 0).then(|| site.key.hash64()));
        })?;
        let mut list = SiteList::new(self.gather_bytes);
        for site in &waiting {
            list.closed(*site, true, &mut self.batch);
        }
        self.sites = Some(list);
        if waiting.is_empty() {
            return Ok(());
        }
        self.commit(mark)
    }

    fn list(&mut self) -> (&mut SiteList, &mut Batch) {
        let bytes = self.gather_bytes;
        let list = self.sites.get_or_insert_with(|| SiteList::new(bytes));
        (list, &mut self.batch)
    }

    /// Whether sites wait for their turn.
    pub(crate) fn others_wait(&self) -> bool {
        self.sites.as_ref().is_some_and(SiteList::others_wait)
    }

    /// The next site whose turn it is, with its row in the list.
    pub(crate) fn next_listed(&mut self) -> Result<Option<(u64, SiteHash)>, CrawlError> {
        match &mut self.sites {
            Some(list) => list.next(&*self.store, &mut self.batch),
            None => Ok(None),
        }
    }

    /// That site was opened.
    pub(crate) fn opened_listed(&mut self, row: u64, site: SiteHash) {
        self.list().0.opened(row, site);
    }

    /// That site has nothing waiting.
    pub(crate) fn drop_listed(&mut self, row: u64) {
        SiteList::drop_row(row, &mut self.batch);
    }

    /// That site is left alone in this run.
    pub(crate) fn leave_listed(&mut self, row: u64) {
        self.list().0.keep_row(row);
    }

    /// A site is in memory: it is listed from now on. What was parked for it.
    pub(crate) fn list_open(&mut self, site: SiteHash) -> Result<Vec<Entry>, CrawlError> {
        let (list, batch) = self.list();
        list.add(site, batch)
    }

    /// A site was taken out of memory.
    pub(crate) fn site_closed(&mut self, closed: &Closed) {
        let (list, batch) = self.list();
        if closed.is_retired {
            list.retired(closed.site);
        } else {
            list.closed(closed.site, closed.pending > 0, batch);
        }
    }

    /// Whether a site has URLs that are neither in its queue nor in memory.
    pub(crate) fn is_parked(&self, site: SiteHash) -> bool {
        self.sites
            .as_ref()
            .is_some_and(|list| list.parked().contains(site))
    }

    /// Before a commit: lets what was parked for long join the queues. What belongs
    /// to sites in memory is to be admitted in the same commit.
    pub(crate) fn spill_due(
        &mut self,
        is_open: &dyn Fn(SiteHash) -> bool,
    ) -> Result<Vec<Entry>, CrawlError> {
        match &mut self.sites {
            Some(list) => list.spill_due(is_open, &*self.store, &mut self.batch),
            None => Ok(Vec::new()),
        }
    }

    /// Keeps a URL whose site is not in memory, or has plenty; durable with the next
    /// commit.
    pub(crate) fn park(&mut self, entry: &Entry) {
        self.list().0.park(entry);
    }

    /// What a site's robots.txt permitted.
    pub(crate) fn access(&self, site: SiteHash) -> Result<Option<SiteAccess>, CrawlError> {
        read(&*self.store, "robots", &keys::robots(site))
    }

    /// Keeps what a site's robots.txt permits.
    pub(crate) fn set_access(&mut self, site: SiteHash, access: &SiteAccess) {
        self.batch.put(&keys::robots(site), &keys::encode(access));
    }

    /// What was learned of a site's URLs.
    pub(crate) fn novelty(&self, site: SiteHash) -> Result<Option<SiteNovelty>, CrawlError> {
        match self.store.get(&keys::novelty(site))? {
            // What an earlier version learned is learned anew.
            Some(bytes) if bytes.first() != Some(&NOVELTY_FORMAT) => Ok(None),
            Some(bytes) => keys::decode_as(NOVELTY_FORMAT, "novelty", &bytes).map(Some),
            None => Ok(None),
        }
    }

    /// Keeps what was learned of a site's URLs.
    pub(crate) fn set_novelty(&mut self, site: SiteHash, novelty: &SiteNovelty) {
        self.batch.put(
            &keys::novelty(site),
            &keys::encode_as(NOVELTY_FORMAT, novelty),
        );
    }

    /// How many hosts of a domain were opened.
    pub(crate) fn domain(&self, domain: u64) -> Result<Option<DomainNovelty>, CrawlError> {
        read(&*self.store, "domain", &keys::domain(domain))
    }

    /// Keeps how many hosts of a domain were opened.
    pub(crate) fn set_domain(&mut self, domain: u64, novelty: &DomainNovelty) {
        self.batch
            .put(&keys::domain(domain), &keys::encode(novelty));
    }

    /// Keeps a page of a site's sample.
    pub(crate) fn set_mirror_page(&mut self, site: SiteHash, place: u8, page: &MirrorPage) {
        let key = keys::mirror(site, place);
        self.batch.put(&key, &keys::encode(page));
    }

    /// Keeps that a site is a mirror, or that it is none after all.
    pub(crate) fn set_mirror_record(&mut self, site: SiteHash, record: Option<&MirrorRecord>) {
        let key = keys::mirror(site, keys::MIRROR_RECORD);
        match record {
            Some(record) => self.batch.put(&key, &keys::encode(record)),
            None => self.batch.delete(&key),
        }
    }

    /// What a site is a mirror of, if it is one.
    pub(crate) fn mirror_record(&self, site: SiteHash) -> Result<Option<MirrorRecord>, CrawlError> {
        let key = keys::mirror(site, keys::MIRROR_RECORD);
        read(&*self.store, "mirror", &key)
    }

    /// Every page of every sample, and every mirror.
    pub(crate) fn mirrors(
        &self,
        page: &mut dyn FnMut(SiteHash, u8, MirrorPage),
        mirror: &mut dyn FnMut(SiteHash, MirrorRecord),
    ) -> Result<(), CrawlError> {
        let (from, to) = keys::all(b'j');
        let mut broken = None;
        self.store.scan(&from, &to, &mut |key, value| {
            let took = match keys::mirror_place(key) {
                Some((site, keys::MIRROR_RECORD)) => {
                    keys::decode("mirror", value).map(|record| mirror(site, record))
                }
                Some((site, place)) => {
                    keys::decode("mirror", value).map(|one| page(site, place, one))
                }
                None => Err(CrawlError::Damaged {
                    what: "the key of a sample".to_owned(),
                }),
            };
            match took {
                Ok(()) => Scan::Continue,
                Err(error) => {
                    broken = Some(error);
                    Scan::Stop
                }
            }
        })?;
        broken.map_or(Ok(()), Err)
    }

    /// What is remembered of a URL.
    pub(crate) fn record(&self, url: &CrawlUrl) -> Result<Option<UrlRecord>, CrawlError> {
        read(
            &*self.store,
            "url",
            &keys::url(url.site_hash(), url.hash64()),
        )
    }

    /// Remembers a URL.
    pub(crate) fn set_record(&mut self, url: &CrawlUrl, record: &UrlRecord) {
        self.batch.put(
            &keys::url(url.site_hash(), url.hash64()),
            &keys::encode(record),
        );
    }

    /// Keeps what was refused, for the day on which it is not: no visit tells
    /// of it.
    pub(crate) fn set_refused(&mut self, entry: &Entry) {
        let key = keys::refused(entry.url.site_hash(), entry.url.hash64());
        self.batch.put(&key, &keys::encode(entry));
    }

    /// Forgets that a URL was refused.
    pub(crate) fn forget_refused(&mut self, url: &CrawlUrl) {
        self.batch
            .delete(&keys::refused(url.site_hash(), url.hash64()));
    }

    /// Up to `len` URLs that were refused, after that one.
    pub(crate) fn refused(
        &self,
        after: Option<&CrawlUrl>,
        len: usize,
    ) -> Result<Vec<Entry>, CrawlError> {
        let (first, end) = keys::all(b'n');
        let from = after.map_or(first.to_vec(), |url| {
            let mut key = keys::refused(url.site_hash(), url.hash64());
            // The next key there can be.
            key.push(0);
            key
        });
        let mut entries = Vec::new();
        self.store.scan(&from, &end, &mut |_, value| {
            entries.push(keys::decode("refused", value));
            if entries.len() >= len {
                Scan::Stop
            } else {
                Scan::Continue
            }
        })?;
        entries.into_iter().collect()
    }

    /// Keeps a URL back on account of its site or domain.
    pub(crate) fn set_held(&mut self, holder: SiteHash, entry: &Entry) {
        let key = keys::held(holder, entry.url.hash64());
        self.batch.put(&key, &keys::encode(entry));
    }

    /// Forgets that a URL was kept back.
    pub(crate) fn forget_held(&mut self, holder: SiteHash, url: &CrawlUrl) {
        self.batch.delete(&keys::held(holder, url.hash64()));
    }

    /// Up to `len` URLs that are kept back by one holder, after that one.
    pub(crate) fn held(
        &self,
        holder: SiteHash,
        after: Option<UrlHash>,
        len: usize,
    ) -> Result<Vec<Entry>, CrawlError> {
        let mut from = keys::held(holder, after.unwrap_or(UrlHash(0)));
        if after.is_some() {
            // The next key there can be.
            from.push(0);
        }
        let mut end = keys::held(holder, UrlHash(u64::MAX));
        end.push(0);
        let mut entries = Vec::new();
        self.store.scan(&from, &end, &mut |_, value| {
            entries.push(keys::decode("held", value));
            if entries.len() >= len {
                Scan::Stop
            } else {
                Scan::Continue
            }
        })?;
        entries.into_iter().collect()
    }

    /// What sitemaps and feeds say of a URL.
    pub(crate) fn signal(&self, url: &CrawlUrl) -> Result<Option<ChangeSignal>, CrawlError> {
        let key = keys::signal(url.site_hash(), url.hash64());
        read(&*self.store, "signal", &key)
    }

    /// Keeps what a sitemap or feed says of a URL; the last word counts.
    pub(crate) fn set_signal(&mut self, url: &CrawlUrl, signal: &ChangeSignal) {
        let key = keys::signal(url.site_hash(), url.hash64());
        self.batch.put(&key, &keys::encode(signal));
    }

    /// What was learned of a site's own words.
    pub(crate) fn signs(&self, site: SiteHash) -> Result<Option<SiteSigns>, CrawlError> {
        read(&*self.store, "signs", &keys::signs(site))
    }

    /// Keeps what was learned of a site's own words.
    pub(crate) fn set_signs(&mut self, site: SiteHash, signs: &SiteSigns) {
        self.batch.put(&keys::signs(site), &keys::encode(signs));
    }

    /// Where this content is stored, if it is.
    pub(crate) fn stored(&self, content: &Digest) -> Result<Option<Stored>, CrawlError> {
        if let Some(stored) = self.fresh_stored.get(content) {
            return Ok(Some(stored.clone()));
        }
        read(&*self.store, "digest", &keys::digest(content))
    }

    /// Remembers where content is stored.
    pub(crate) fn set_stored(&mut self, content: Digest, stored: Stored) {
        self.batch
            .put(&keys::digest(&content), &keys::encode(&stored));
        self.fresh_stored.insert(content, stored);
    }

    /// Adds a visit that waits for its Parquet file.
    pub(crate) fn add_visit(&mut self, visit: &Visit) {
        self.batch
            .put(&keys::visit(visit.number), &keys::encode_visit(visit));
    }

    /// Forgets a visit that is in a Parquet file now.
    pub(crate) fn forget_visit(&mut self, number: u64) {
        self.batch.delete(&keys::visit(number));
    }

    /// Visits that are not in a Parquet file yet, in order.
    pub(crate) fn visits(&self, visit: &mut dyn FnMut(Visit)) -> Result<(), CrawlError> {
        let (from, to) = keys::all(b'v');
        let mut broken = None;
        self.store.scan(
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
        self.batch.put(&keys::seed(number), seed);
    }

    /// Every seed, in order.
    pub(crate) fn seeds(&self) -> Result<Vec<Seed>, CrawlError> {
        let (from, to) = keys::all(b'e');
        let mut seeds = Vec::new();
        self.store.scan(&from, &to, &mut |_, value| {
            seeds.push(Seed::decode(value));
            Scan::Continue
        })?;
        seeds.into_iter().collect()
    }

    /// Pages of a site that were saved since then, by what is remembered of
    /// its URLs.
    pub(crate) fn saved_of(&self, site: SiteHash, since: Timestamp) -> Result<u64, CrawlError> {
        let (from, to) = keys::urls(site);
        let mut saved = 0;
        self.each(&from, &to, "url", &mut |record: UrlRecord| {
            let is_saved = record.state.is_answer()
                && matches!(record.code, Some(200 | 304))
                && record.last_visit >= since;
            saved += u64::from(is_saved);
        })?;
        Ok(saved)
    }

    /// Writes a new chunk of a queue.
    pub(crate) fn append(&mut self, append: &Append) {
        let Some(first) = append.entries.first() else {
            return;
        };
        let mut chunk = Chunk::new(first.url.origin());
        for entry in &append.entries {
            chunk.push(entry);
        }
        let key = keys::chunk(append.site, append.lane, append.chunk);
        self.batch.put(&key, chunk.as_bytes());
    }

    /// Writes a site's state and drops the chunks it is done with.
    pub(crate) fn save(&mut self, save: &Save) {
        let site = save.state.key.hash64();
        self.batch
            .put(&keys::site(site), &keys::encode(&save.state));
        for (lane, chunks) in &save.freed {
            for chunk in chunks.clone() {
                self.batch.delete(&keys::chunk(site, *lane, chunk));
            }
        }
    }

    /// Reads up to `len` entries of a lane that are not dealt with, and says
    /// where it stopped.
    pub(crate) fn read_lane(
        &self,
        site: SiteHash,
        lane: u8,
        from: Position,
        Reading { len, is_ragged }: Reading,
    ) -> Result<(Vec<(Position, Entry)>, Position), CrawlError> {
        // The first chunk may be half used.
        let enough = len + from.index as usize;
        let chunks = self.read_chunks(site, lane, from.chunk, enough)?;
        let found: usize = chunks.iter().map(|(_, entries)| entries.len()).sum();
        let mut out = Vec::with_capacity(len);
        let mut next = LANE_END;
        for (chunk, entries) in chunks {
            let skip = if chunk == from.chunk { from.index } else { 0 };
            for (index, entry) in (0u32..).zip(entries).skip(skip as usize) {
                let position = Position { chunk, index };
                if out.len() == len {
                    return Ok((out, position));
                }
                if !(is_ragged && self.is_dealt_with(&entry)?) {
                    out.push((position, entry));
                }
            }
            next = Position {
                chunk: chunk + 1,
                index: 0,
            };
        }
        Ok((out, if found >= enough { next } else { LANE_END }))
    }

    /// Chunks of a lane from that number on, with at least that many entries if
    /// there are as many.
    fn read_chunks(
        &self,
        site: SiteHash,
        lane: u8,
        first: u64,
        enough: usize,
    ) -> Result<Vec<(u64, Vec<Entry>)>, CrawlError> {
        let mut chunks = Vec::new();
        let mut found = 0;
        // Most lanes are short, and to look a chunk up is much cheaper than to
        // begin a scan.
        for number in first..first.saturating_add(LOOKED_UP) {
            let stored = self.store.get(&keys::chunk(site, lane, number))?;
            let Some(value) = stored else {
                return Ok(chunks);
            };
            let entries = compact::decode(&value)?;
            found += entries.len();
            chunks.push((number, entries));
            if found >= enough {
                return Ok(chunks);
            }
        }
        let from = keys::chunk(site, lane, first.saturating_add(LOOKED_UP));
        let mut broken = None;
        self.store
            .scan(&from, &keys::chunk(site, lane + 1, 0), &mut |key, value| {
                let number = keys::chunk_number(key).ok_or_else(|| CrawlError::Damaged {
                    what: "a queue key".to_owned(),
                });
                match number.and_then(|number| Ok((number, compact::decode(value)?))) {
                    Ok((number, entries)) => {
                        found += entries.len();
                        chunks.push((number, entries));
                    }
                    Err(error) => broken = Some(error),
                }
                if found >= enough || broken.is_some() {
                    Scan::Stop
                } else {
                    Scan::Continue
                }
            })?;
        broken.map_or(Ok(chunks), Err)
    }

    /// Looks for a URL among the queues of its site: how many wait before it in
    /// its own, and its entry.
    pub(crate) fn find_queued(
        &self,
        url: &CrawlUrl,
        lanes: &[LaneState],
    ) -> Result<Option<(u64, Entry)>, CrawlError> {
        for (lane, state) in (0u8..).zip(lanes) {
            let mut from = state.watermark;
            let mut ahead = 0;
            while state.len > 0 && from != LANE_END {
                let reading = Reading {
                    len: FIND_QUEUED_LEN,
                    is_ragged: true,
                };
                let (entries, next) = self.read_lane(url.site_hash(), lane, from, reading)?;
                let found = entries.iter().position(|(_, entry)| entry.url == *url);
                if let Some(at) = found {
                    let (_, entry) = entries.into_iter().nth(at).expect("it was just found");
                    return Ok(Some((ahead + at as u64, entry)));
                }
                ahead += entries.len() as u64;
                from = next;
            }
        }
        let Some(list) = &self.sites else {
            return Ok(None);
        };
        let parked = list.parked().entries(url.site_hash())?;
        let found = (0..).zip(parked).find(|(_, entry)| entry.url == *url);
        Ok(found)
    }

    /// Whether an entry was visited before a crash could move the watermark.
    pub(crate) fn is_dealt_with(&self, entry: &Entry) -> Result<bool, CrawlError> {
        Ok(self
            .record(&entry.url)?
            .is_some_and(|record| record.attempts > entry.attempts))
    }

    /// Hands a URL to another partition, with the next commit.
    pub(crate) fn post(&mut self, to: u16, entry: Entry) {
        self.outgoing.entry(to).or_default().push(entry);
    }

    /// Notes that mail was taken in; durable with the next commit.
    pub(crate) fn advance_cursor(&mut self, from: u16, number: u64) {
        self.batch.put(&keys::inbox(from), &keys::encode(&number));
        self.cursors.insert(from, number);
    }

    /// The last mail taken in from there.
    pub(crate) fn cursor(&mut self, from: u16) -> Result<Option<u64>, CrawlError> {
        if let Some(cursor) = self.cursors.get(&from) {
            return Ok(Some(*cursor));
        }
        let stored = read(&*self.store, "inbox", &keys::inbox(from))?;
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
        let batch = &mut self.batch;
        rows.retain(|row| {
            let done = *row <= number;
            if done {
                batch.delete(&keys::outbox(to, *row));
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
        !self.batch.is_empty()
            || self.seen.is_dirty()
            || self.sites.as_ref().is_some_and(SiteList::is_dirty)
            || !self.outgoing.is_empty()
            || self.counters != self.counted
    }

    /// Makes everything since the last commit durable, with where the archive
    /// stands.
    pub(crate) fn commit(&mut self, mark: &ArchiveMark) -> Result<(), CrawlError> {
        self.seen.write(&mut self.batch)?;
        if let Some(sites) = &mut self.sites {
            sites.write(&mut self.batch);
        }
        for (to, entries) in std::mem::take(&mut self.outgoing) {
            for entries in parcels(entries) {
                self.next_mail += 1;
                let body = keys::encode(&MailBody { entries });
                self.batch.put(&keys::outbox(to, self.next_mail), &body);
                self.unacknowledged
                    .entry(to)
                    .or_default()
                    .push(self.next_mail);
                self.posted.push((to, self.next_mail, body));
            }
        }
        if self.counters != self.counted {
            self.batch
                .put(&keys::meta("counters"), &keys::encode(&self.counters));
            // An answer is a visit, which is counted too.
            self.batch
                .put(&keys::meta("answers"), &keys::encode(&self.answers));
            self.counted.clone_from(&self.counters);
        }
        self.batch.put(&keys::meta("archive"), &keys::encode(mark));
        self.batch
            .put(&keys::meta("mail"), &keys::encode(&self.next_mail));
        self.store.commit(&self.batch)?;
        self.batch.clear();
        self.fresh_stored.clear();
        self.seen.committed()
    }

    fn each<T: serde::de::DeserializeOwned>(
        &self,
        from: &[u8],
        to: &[u8],
        kind: &str,
        take: &mut dyn FnMut(T),
    ) -> Result<(), CrawlError> {
        let mut broken = None;
        self.store
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
    store: &dyn StateStore,
    kind: &str,
    key: &[u8],
) -> Result<Option<T>, CrawlError> {
    store
        .get(key)?
        .map(|value| keys::decode(kind, &value))
        .transpose()
}

/// Cuts mail into bodies well below what a mailbox takes.
fn parcels(entries: Vec<Entry>) -> Vec<Vec<Entry>> {
    const PARCEL_BYTES_MAX: usize = 256 << 10;
    let mut parcels = vec![Vec::new()];
    let mut bytes = 0;
    for entry in entries {
        let via = entry.via.as_ref().map_or(0, |via| via.as_str().len());
        bytes += entry.url.as_str().len() + via + 32;
        if bytes > PARCEL_BYTES_MAX {
            parcels.push(Vec::new());
            bytes = 0;
        }
        parcels
            .last_mut()
            .expect("there is always one parcel")
            .push(entry);
    }
    parcels.retain(|parcel| !parcel.is_empty());
    parcels
}
