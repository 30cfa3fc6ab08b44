//! What was learned of sites: access, novelty, mirrors, what they say of their changes.

use geomi_model::ChangeSignal;
use geomi_novelty::{DomainNovelty, MirrorPage, SiteNovelty};
use geomi_refresh::upkeep::SiteSignals;
use geomi_state::Scan;
use geomi_url::{CrawlUrl, SiteHash};

use super::{Partition, read};
use crate::books::SiteAccess;
use crate::mirrors::MirrorRecord;
use crate::{EngineError, keys};

/// Format of what was learned of a site. The first had no shelves, the second
/// counted pages that lead nowhere.
const NOVELTY_FORMAT: u8 = 5;
/// Format of what is known of a domain. The first had no last calls.
const DOMAIN_FORMAT: u8 = 2;

impl Partition {
    /// What a site's robots.txt permitted.
    pub(crate) fn access(&self, site: SiteHash) -> Result<Option<SiteAccess>, EngineError> {
        read(&self.state, "robots", &keys::robots(site))
    }

    /// Keeps what a site's robots.txt permits.
    pub(crate) fn set_access(&mut self, site: SiteHash, access: &SiteAccess) {
        self.state.put(&keys::robots(site), &keys::encode(access));
    }

    /// What was learned of a site's URLs.
    pub(crate) fn novelty(&self, site: SiteHash) -> Result<Option<SiteNovelty>, EngineError> {
        match self.state.get(&keys::novelty(site))? {
            // What an earlier version learned is learned anew.
            Some(bytes) if bytes.first() != Some(&NOVELTY_FORMAT) => Ok(None),
            Some(bytes) => keys::decode_as(NOVELTY_FORMAT, "novelty", &bytes).map(Some),
            None => Ok(None),
        }
    }

    /// Keeps what was learned of a site's URLs.
    pub(crate) fn set_novelty(&mut self, site: SiteHash, novelty: &SiteNovelty) {
        self.state.put(
            &keys::novelty(site),
            &keys::encode_as(NOVELTY_FORMAT, novelty),
        );
    }

    /// How many hosts of a domain were opened.
    pub(crate) fn domain(&self, domain: u64) -> Result<Option<DomainNovelty>, EngineError> {
        match self.state.get(&keys::domain(domain))? {
            Some(bytes) if bytes.first() != Some(&DOMAIN_FORMAT) => Ok(None),
            Some(bytes) => keys::decode_as(DOMAIN_FORMAT, "domain", &bytes).map(Some),
            None => Ok(None),
        }
    }

    /// Keeps how many hosts of a domain were opened.
    pub(crate) fn set_domain(&mut self, domain: u64, novelty: &DomainNovelty) {
        self.state.put(
            &keys::domain(domain),
            &keys::encode_as(DOMAIN_FORMAT, novelty),
        );
    }

    /// Keeps a page of a site's sample.
    pub(crate) fn set_mirror_page(&mut self, site: SiteHash, place: u8, page: &MirrorPage) {
        let key = keys::mirror(site, place);
        self.state.put(&key, &keys::encode(page));
    }

    /// Records that a site is a mirror, or that it is not.
    pub(crate) fn set_mirror_record(&mut self, site: SiteHash, record: Option<&MirrorRecord>) {
        let key = keys::mirror(site, keys::MIRROR_RECORD);
        match record {
            Some(record) => self.state.put(&key, &keys::encode(record)),
            None => self.state.delete(&key),
        }
    }

    /// What a site is a mirror of, if it is one.
    pub(crate) fn mirror_record(
        &self,
        site: SiteHash,
    ) -> Result<Option<MirrorRecord>, EngineError> {
        let key = keys::mirror(site, keys::MIRROR_RECORD);
        read(&self.state, "mirror", &key)
    }

    /// Every page of every sample, and every mirror.
    pub(crate) fn mirrors(
        &self,
        page: &mut dyn FnMut(SiteHash, u8, MirrorPage),
        mirror: &mut dyn FnMut(SiteHash, MirrorRecord),
    ) -> Result<(), EngineError> {
        let (from, to) = keys::all(b'j');
        let mut broken = None;
        self.state.scan(&from, &to, &mut |key, value| {
            let took = match keys::mirror_place(key) {
                Some((site, keys::MIRROR_RECORD)) => {
                    keys::decode("mirror", value).map(|record| mirror(site, record))
                }
                Some((site, place)) => {
                    keys::decode("mirror", value).map(|one| page(site, place, one))
                }
                None => Err(EngineError::Damaged {
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

    /// What sitemaps and feeds say of a URL.
    pub(crate) fn signal(&self, url: &CrawlUrl) -> Result<Option<ChangeSignal>, EngineError> {
        let key = keys::signal(url.site_hash(), url.hash64());
        read(&self.state, "signal", &key)
    }

    /// Records what a sitemap or feed says of a URL, in place of what was recorded before.
    pub(crate) fn set_signal(&mut self, url: &CrawlUrl, signal: &ChangeSignal) {
        let key = keys::signal(url.site_hash(), url.hash64());
        self.state.put(&key, &keys::encode(signal));
    }

    /// What was learned of a site's own words.
    pub(crate) fn signals(&self, site: SiteHash) -> Result<Option<SiteSignals>, EngineError> {
        let stored = self.state.get(&keys::signals(site))?;
        stored.map(|bytes| keys::decode_signals(&bytes)).transpose()
    }

    /// Keeps what was learned of a site's own words.
    pub(crate) fn set_signals(&mut self, site: SiteHash, signals: &SiteSignals) {
        self.state
            .put(&keys::signals(site), &keys::encode_signals(signals));
    }
}
