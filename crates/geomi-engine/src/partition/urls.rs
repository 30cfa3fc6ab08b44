//! What is known of single URLs and contents, and what was refused or held back.

use geomi_frontier::Entry;
use geomi_model::{Digest, Timestamp, UrlRecord};
use geomi_state::Scan;
use geomi_url::{CrawlUrl, SiteHash, UrlHash};

use super::{Partition, Stored, read};
use crate::depths::ShortestPath;
use crate::left::Waiting;
use crate::{EngineError, keys};

/// The next key there can be.
fn next_key(after: Option<Vec<u8>>) -> Option<Vec<u8>> {
    after.map(|mut key| {
        key.push(0);
        key
    })
}

impl Partition {
    /// What is remembered of a URL.
    pub(crate) fn record(&self, url: &CrawlUrl) -> Result<Option<UrlRecord>, EngineError> {
        read(
            &self.state,
            "url",
            &keys::url(url.site_hash(), url.hash64()),
        )
    }

    /// Remembers a URL.
    pub(crate) fn set_record(&mut self, url: &CrawlUrl, record: &UrlRecord) {
        self.state.put(
            &keys::url(url.site_hash(), url.hash64()),
            &keys::encode(record),
        );
    }

    /// The shortest known path to a URL, where depth matters.
    pub(crate) fn shortest(&self, url: &CrawlUrl) -> Result<Option<ShortestPath>, EngineError> {
        let key = keys::shortest(url.site_hash(), url.hash64());
        read(&self.state, "path", &key)
    }

    /// Remembers the shortest path to a URL.
    pub(crate) fn set_shortest(&mut self, url: &CrawlUrl, path: &ShortestPath) {
        let key = keys::shortest(url.site_hash(), url.hash64());
        self.state.put(&key, &keys::encode(path));
    }

    /// Keeps what was refused and why, for the day on which it is not: no visit tells
    /// of it. The reason stands behind the entry, where earlier versions do not look.
    pub(crate) fn set_refused(&mut self, entry: &Entry, why: &str) {
        let key = keys::refused(entry.url.site_hash(), entry.url.hash64());
        self.state.put(&key, &keys::encode(&(entry, why)));
    }

    /// Why a URL was refused when its turn came; `None` if it was not, or if an earlier
    /// version refused it.
    pub(crate) fn refusal(&self, url: &CrawlUrl) -> Result<Option<String>, EngineError> {
        let key = keys::refused(url.site_hash(), url.hash64());
        let stored = self.state.get(&key)?;
        let stored =
            stored.and_then(|bytes| keys::decode::<(Entry, String)>("refused", &bytes).ok());
        Ok(stored.map(|(_, why)| why))
    }

    /// Whether a URL was refused when its turn came, and not put back since.
    pub(crate) fn is_refused(&self, url: &CrawlUrl) -> Result<bool, EngineError> {
        let key = keys::refused(url.site_hash(), url.hash64());
        Ok(self.state.get(&key)?.is_some())
    }

    /// Forgets that a URL was refused.
    pub(crate) fn forget_refused(&mut self, url: &CrawlUrl) {
        self.state
            .delete(&keys::refused(url.site_hash(), url.hash64()));
    }

    /// Up to `len` URLs that were refused, after that one.
    pub(crate) fn refused(
        &self,
        after: Option<&CrawlUrl>,
        len: usize,
    ) -> Result<Vec<Entry>, EngineError> {
        let (first, end) = keys::all(b'n');
        let after = after.map(|url| keys::refused(url.site_hash(), url.hash64()));
        let from = next_key(after).unwrap_or(first.to_vec());
        self.some_entries("refused", (&from, &end), len)
    }

    /// Keeps a URL that was refused as too deep, for a run that goes deeper.
    pub(crate) fn set_too_deep(&mut self, entry: &Entry) {
        let key = keys::too_deep(entry.url.site_hash(), entry.url.hash64());
        self.state.put(&key, &keys::encode(entry));
    }

    /// Forgets that a URL was refused as too deep.
    pub(crate) fn forget_too_deep(&mut self, url: &CrawlUrl) {
        self.state
            .delete(&keys::too_deep(url.site_hash(), url.hash64()));
    }

    /// Up to `len` URLs that were refused as too deep, after that one.
    pub(crate) fn too_deep(
        &self,
        after: Option<&CrawlUrl>,
        len: usize,
    ) -> Result<Vec<Entry>, EngineError> {
        let (first, end) = keys::all(b'g');
        let after = after.map(|url| keys::too_deep(url.site_hash(), url.hash64()));
        let from = next_key(after).unwrap_or(first.to_vec());
        self.some_entries("too-deep", (&from, &end), len)
    }

    /// Up to `len` entries stored between two keys.
    fn some_entries(
        &self,
        what: &str,
        (from, end): (&[u8], &[u8]),
        len: usize,
    ) -> Result<Vec<Entry>, EngineError> {
        let mut entries = Vec::new();
        self.state.scan(from, end, &mut |_, value| {
            entries.push(keys::decode(what, value));
            if entries.len() >= len {
                Scan::Stop
            } else {
                Scan::Continue
            }
        })?;
        entries.into_iter().collect()
    }

    /// Keeps a new URL until there is a budget for it.
    pub(crate) fn set_postponed(&mut self, entry: &Entry) {
        let key = keys::postponed(entry.url.site_hash(), entry.url.hash64());
        self.state.put(&key, &keys::encode(entry));
    }

    /// Whether a URL waits for a budget.
    pub(crate) fn is_postponed(&self, url: &CrawlUrl) -> Result<bool, EngineError> {
        let key = keys::postponed(url.site_hash(), url.hash64());
        Ok(self.state.get(&key)?.is_some())
    }

    /// Forgets that a URL waits for a budget.
    pub(crate) fn forget_postponed(&mut self, url: &CrawlUrl) {
        self.state
            .delete(&keys::postponed(url.site_hash(), url.hash64()));
    }

    /// Up to `len` URLs that wait for a budget.
    pub(crate) fn postponed(&self, len: usize) -> Result<Vec<Entry>, EngineError> {
        if len == 0 {
            return Ok(Vec::new());
        }
        let (from, end) = keys::all(b'z');
        self.some_entries("postponed", (&from, &end), len)
    }

    /// Defers a URL because of its site or domain.
    pub(crate) fn set_held(&mut self, holder: SiteHash, entry: &Entry) {
        let key = keys::held(holder, entry.url.hash64());
        self.state.put(&key, &keys::encode(entry));
    }

    /// Whether a URL is kept back.
    pub(crate) fn is_held(&self, holder: SiteHash, url: &CrawlUrl) -> Result<bool, EngineError> {
        Ok(self.state.get(&keys::held(holder, url.hash64()))?.is_some())
    }

    /// Forgets that a URL was kept back.
    pub(crate) fn forget_held(&mut self, holder: SiteHash, url: &CrawlUrl) {
        self.state.delete(&keys::held(holder, url.hash64()));
    }

    /// The first holder after that one.
    pub(crate) fn next_holder(
        &self,
        after: Option<SiteHash>,
    ) -> Result<Option<SiteHash>, EngineError> {
        let (first, end) = keys::all(b'y');
        let from = after.map_or(first.to_vec(), |after| {
            let mut key = keys::held(after, UrlHash(u64::MAX));
            // The next key there can be.
            key.push(0);
            key
        });
        let mut holder = None;
        self.state.scan(&from, &end, &mut |key, _| {
            holder = keys::holder(key);
            Scan::Stop
        })?;
        Ok(holder)
    }

    /// Up to `len` URLs that are kept back by one holder, after that one.
    pub(crate) fn held(
        &self,
        holder: SiteHash,
        after: Option<UrlHash>,
        len: usize,
    ) -> Result<Vec<Entry>, EngineError> {
        let mut from = keys::held(holder, after.unwrap_or(UrlHash(0)));
        if after.is_some() {
            // The next key there can be.
            from.push(0);
        }
        let mut end = keys::held(holder, UrlHash(u64::MAX));
        end.push(0);
        self.some_entries("held", (&from, &end), len)
    }

    /// How many URLs are kept back on account of how many sites or domains, and the site
    /// of one of them.
    pub(crate) fn held_counts(&self) -> Result<Waiting, EngineError> {
        self.waiting_counts("held", keys::all(b'y'))
    }

    /// How many new URLs of how many sites wait for a budget, and one of the sites.
    pub(crate) fn postponed_counts(&self) -> Result<Waiting, EngineError> {
        self.waiting_counts("postponed", keys::all(b'z'))
    }

    /// Counts entries whose keys are a tag, a site or domain, and a URL.
    fn waiting_counts(
        &self,
        what: &str,
        (from, to): ([u8; 1], [u8; 1]),
    ) -> Result<Waiting, EngineError> {
        let (mut urls, mut holders) = (0, 0);
        let mut last: Vec<u8> = Vec::new();
        let mut example = None;
        self.state.scan(&from, &to, &mut |key, value| {
            urls += 1;
            let holder = key.get(..9).unwrap_or(key);
            if holder != last {
                holders += 1;
                holder.clone_into(&mut last);
            }
            if example.is_none() {
                // One that cannot be read is named when its turn comes.
                let entry = keys::decode::<Entry>(what, value).ok();
                example = entry.map(|entry| entry.url.site().to_string());
            }
            Scan::Continue
        })?;
        Ok((urls, holders, example))
    }

    /// Where this content is stored, if it is.
    pub(crate) fn stored(&self, content: &Digest) -> Result<Option<Stored>, EngineError> {
        read(&self.state, "digest", &keys::digest(content))
    }

    /// Remembers where content is stored.
    pub(crate) fn set_stored(&mut self, content: &Digest, stored: &Stored) {
        self.state
            .put(&keys::digest(content), &keys::encode(stored));
    }

    /// Pages of a site that were saved since then, by what is remembered of
    /// its URLs.
    pub(crate) fn saved_of(&self, site: SiteHash, since: Timestamp) -> Result<u64, EngineError> {
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
}
