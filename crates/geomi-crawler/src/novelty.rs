//! What was learned of sites and domains, and where a crawl asks it.
//!
//! The decisions are those of `geomi-novelty`; here they are kept and put to
//! use. A link is judged when it is admitted and again when its turn comes,
//! because queues may hold thousands of a trap's URLs when the verdict falls.
//!
//! The state of a site is in memory while the site is open, and is written when
//! it has doubled, every 256 pages, and when the site or the crawl is closed. A
//! crash therefore forgets some of the last pages' evidence and nothing else.
//! What is refused is held back (`held.rs`), not lost.

use geomi_frontier::Entry;
use geomi_model::Document;
use geomi_model::Timestamp;
use geomi_novelty::{
    Content, DomainNovelty, DropParams, NoveltyConfig, Sight, SiteNovelty, Template, Ties,
};
use geomi_url::{CrawlUrl, SiteHash, registrable_domain};
use hashbrown::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_64;

use crate::held::HeldBook;
use crate::journey::Journey;
use crate::mirrors::MIRROR;
use crate::partition::Partition;
use crate::stage::admit::may_follow;
use crate::stage::links::Taken;
use crate::stage::read::Read;
use crate::{CrawlConfig, CrawlError};

/// The refusal of a URL that differs from a known one in a part that does not
/// matter.
pub(crate) const PARAMETER_IGNORED: &str = "parameter-ignored";

/// Pages of a site after which its state is written each time.
const SAVE_EVERY: u32 = 256;
/// Domains held in memory; all of them are on disk.
const DOMAINS_MAX: usize = 1 << 18;
/// Links of a page that are looked at for support.
const LINKS_LOOKED_AT: usize = 64;
/// Of these, records that are looked up.
const RECORDS_LOOKED_UP: usize = 16;
/// Waiting pages of the page's own template after which no more are counted.
const ALIKE_COUNTED: u32 = 3;
/// Extensions of what belongs to a page and leads nowhere.
const ASSETS: [&str; 20] = [
    "png", "jpg", "jpeg", "gif", "webp", "avif", "svg", "ico", "bmp", "css", "js", "mjs", "woff",
    "woff2", "ttf", "otf", "mp3", "mp4", "webm", "pdf",
];

/// Everything learned, as far as it is in memory.
#[derive(Debug)]
pub(crate) struct NoveltyBook {
    config: NoveltyConfig,
    drop_params: DropParams,
    sites: HashMap<SiteHash, SiteNovelty>,
    /// Sites that have changed since they were written.
    unsaved: HashSet<SiteHash>,
    domains: HashMap<u64, DomainNovelty>,
    /// URLs let through to see whether a verdict still holds; a few a site.
    probes: HashSet<u64>,
    /// What is held back, as far as it is to be looked at again.
    pub(crate) held: HeldBook,
}

impl NoveltyBook {
    pub(crate) fn new(config: &CrawlConfig, now: Timestamp) -> Self {
        let year = now.to_rfc3339_secs();
        Self {
            config: NoveltyConfig {
                year: year.get(..4).and_then(|year| year.parse().ok()),
                ..config.novelty
            },
            drop_params: config.drop_params.clone(),
            sites: HashMap::new(),
            unsaved: HashSet::new(),
            domains: HashMap::new(),
            probes: HashSet::new(),
            held: HeldBook::default(),
        }
    }

    pub(crate) fn reconfigure(&mut self, config: &CrawlConfig) {
        self.config = NoveltyConfig {
            year: self.config.year,
            ..config.novelty
        };
        self.drop_params.clone_from(&config.drop_params);
    }

    /// Whether anything is refused by what is learned.
    pub(crate) const fn is_on(&self) -> bool {
        self.config.is_on
    }

    pub(crate) const fn config(&self) -> &NoveltyConfig {
        &self.config
    }

    /// A link without the parameters that are dropped by name; `None` if it
    /// stays as it is.
    pub(crate) fn shortened(&self, url: &CrawlUrl) -> Option<CrawlUrl> {
        self.drop_params.apply(url)
    }

    /// What is known of a site, for an explanation.
    pub(crate) fn look(
        &self,
        partition: &Partition,
        site: SiteHash,
    ) -> Result<SiteNovelty, CrawlError> {
        match self.sites.get(&site) {
            Some(known) => Ok(known.clone()),
            None => Ok(partition.novelty(site)?.unwrap_or_default()),
        }
    }

    /// What is known of a domain, for an explanation.
    pub(crate) fn look_domain(
        &self,
        partition: &Partition,
        domain: &str,
    ) -> Result<DomainNovelty, CrawlError> {
        let hash = xxh3_64(domain.as_bytes());
        match self.domains.get(&hash) {
            Some(known) => Ok(*known),
            None => Ok(partition.domain(hash)?.unwrap_or_default()),
        }
    }

    fn site(
        &mut self,
        partition: &Partition,
        site: SiteHash,
    ) -> Result<&mut SiteNovelty, CrawlError> {
        if !self.sites.contains_key(&site) {
            let known = partition.novelty(site)?.unwrap_or_default();
            if known.has_refused() {
                // What an earlier run had reopened may be waiting still.
                self.held.reopen(site);
            }
            self.sites.insert(site, known);
        }
        Ok(self.sites.get_mut(&site).expect("it is there now"))
    }
}

/// The partition's key for a domain: domains are spread like sites.
pub(crate) fn domain_hash(url: &CrawlUrl) -> u64 {
    xxh3_64(registrable_domain(url.host()).as_bytes())
}

/// Whether a link belongs to a page rather than leading to one.
pub(crate) fn is_asset(url: &CrawlUrl) -> bool {
    let extension = url.path().rsplit_once('.').map_or("", |(_, after)| after);
    ASSETS
        .iter()
        .any(|known| extension.eq_ignore_ascii_case(known))
}

/// What an answer is compared by.
fn content(read: &Read) -> Option<Content> {
    let stored = read.stored.as_ref()?;
    if read.answer.code != Some(200) || stored.content_bytes == 0 {
        return None;
    }
    let document = &read.document;
    if document.charset.is_none() {
        let (start, _) = stored.content.0.split_first_chunk::<8>()?;
        return Some(Content {
            exact: u64::from_le_bytes(*start),
            words: None,
        });
    }
    // A page without words is a page that says nothing, like all others.
    let [words, seen] =
        [document.wording, document.fingerprint].map(|hash| hash.map_or(0, |hash| hash.0));
    let parts = [seen, document.numbers, document.text_bytes];
    let bytes: Vec<u8> = parts.into_iter().flat_map(u64::to_le_bytes).collect();
    Some(Content {
        exact: xxh3_64(&bytes),
        words: Some(words),
    })
}

impl Journey<'_> {
    /// Why a URL is not worth a request, by name and in words.
    pub(crate) fn not_worth(
        &mut self,
        url: &CrawlUrl,
    ) -> Result<Option<(&'static str, String)>, CrawlError> {
        if self.is_of_mirror(url) {
            let reason = "its site has the same pages as another".to_owned();
            return Ok(Some((MIRROR, reason)));
        }
        if !self.novelty.config.is_on {
            return Ok(None);
        }
        let site = url.site_hash();
        let partition = &self.partitions[usize::from(self.map.partition_of(site).0)];
        let config = self.novelty.config;
        let known = self.novelty.site(partition, site)?;
        if known.requests() == 0 {
            return Ok(None);
        }
        let template = Template::of(url);
        if let Some((stripped, names)) = known.stripped(&config, url, &template)
            && partition.has_seen(stripped)?
        {
            let reason = format!("{} makes no difference on its site", names.join(", "));
            return Ok(Some((PARAMETER_IGNORED, reason)));
        }
        if known.standing(&config, &template).is_none() {
            return Ok(None);
        }
        let refusal = known.judge(&config, &template);
        // A probe that was let in is not turned away when its turn comes.
        let hash = url.hash64().0;
        if self.novelty.probes.remove(&hash) {
            return Ok(None);
        }
        if refusal.is_none() {
            self.novelty.probes.insert(hash);
        }
        Ok(refusal.map(|refusal| (refusal.as_str(), refusal.to_string())))
    }

    /// The links of a page to pages that were found elsewhere and are not fetched
    /// yet. Asked before its links are admitted, and only where the site is in
    /// doubt.
    pub(crate) fn ties(
        &mut self,
        url: &CrawlUrl,
        template: &Template,
        document: &Document,
    ) -> Result<Option<Ties>, CrawlError> {
        let site = url.site_hash();
        let own = self.partition_of(site);
        let config = self.novelty.config;
        let known = self.novelty.site(&self.partitions[own], site)?;
        if !known.needs_proof(&config, template) {
            return Ok(None);
        }
        let mut ties = Ties::default();
        let mut looked_up = 0;
        let links = document.links.iter().map(|link| &link.url);
        for link in links.filter(|link| *link != url).take(LINKS_LOOKED_AT) {
            let there = link.site_hash();
            let partition = &self.partitions[self.partition_of(there)];
            if !partition.has_seen(link.hash64())? {
                continue;
            }
            let target = Template::of(link);
            let is_alike = there == site && target == *template;
            let speaks = self
                .novelty
                .sites
                .get(&there)
                .is_some_and(|known| known.is_sideways((url, template), (link, &target)));
            if !is_alike && !speaks {
                continue;
            }
            let is_enough = ties.sideways || ties.alike >= ALIKE_COUNTED;
            if is_enough || looked_up == RECORDS_LOOKED_UP {
                break;
            }
            looked_up += 1;
            if partition.record(link)?.is_none() {
                ties.alike += u32::from(is_alike);
                ties.sideways |= speaks;
            }
        }
        Ok(Some(ties))
    }

    /// Which link of a page is to jump the queue, if its site is in doubt: see
    /// `geomi_novelty` on dives.
    pub(crate) fn dives_to(
        &mut self,
        entry: &Entry,
        template: &Template,
        document: &Document,
    ) -> Result<Option<CrawlUrl>, CrawlError> {
        let site = entry.url.site_hash();
        let at = self.partition_of(site);
        let config = self.novelty.config;
        let known = self.novelty.site(&self.partitions[at], site)?;
        let Some(pick) = known.dives_from(&config, &entry.url, template) else {
            return Ok(None);
        };
        let partition = &self.partitions[at];
        let mut fresh = Vec::new();
        for link in &document.links {
            if may_follow(&self.config, document, link)
                && link.url.origin() == entry.url.origin()
                && !is_asset(&link.url)
                && !partition.has_seen(link.url.hash64())?
            {
                fresh.push(&link.url);
            }
        }
        let link = pick.among(template, fresh.into_iter());
        Ok(link.map(|link| {
            let shortened = self.novelty.shortened(link);
            shortened.unwrap_or_else(|| link.clone())
        }))
    }

    /// A link of a page has jumped the queue.
    pub(crate) fn dived(&mut self, entry: &Entry, template: &Template, link: &CrawlUrl) {
        if let Some(known) = self.novelty.sites.get_mut(&entry.url.site_hash()) {
            known.dive(&entry.url, template, link);
        }
    }

    /// Learns from a page.
    pub(crate) fn learn(
        &mut self,
        entry: &Entry,
        template: &Template,
        read: &Read,
        taken: Taken,
        ties: Option<Ties>,
    ) -> Result<(), CrawlError> {
        let site = entry.url.site_hash();
        let at = self.partition_of(site);
        let config = self.novelty.config;
        let known = self.novelty.site(&self.partitions[at], site)?;
        let Some(content) = content(read) else {
            known.miss(&entry.url);
            return Ok(());
        };
        let via = entry.via.as_ref();
        let via = via.filter(|via| via.site_hash() == site).map(Template::of);
        let observation = known.observe(
            &config,
            &Sight {
                url: &entry.url,
                template,
                via: via.as_ref(),
                content,
                text_bytes: read.document.text_bytes,
                fresh_links: taken.fresh,
                fresh_abroad: taken.abroad,
                ties,
            },
        );
        let stripped = known.stripped(&config, &entry.url, template);
        let (requests, supported) = (known.requests(), known.supported());
        if observation.has_reopened {
            self.novelty.held.reopen(site);
        }
        let hashes = observation.known.into_iter();
        for hash in hashes.chain(stripped.map(|(hash, _)| hash)) {
            self.partitions[at].first_sight(hash)?;
        }
        if requests.is_power_of_two() || requests.is_multiple_of(SAVE_EVERY) {
            self.partitions[at].set_novelty(site, &self.novelty.sites[&site]);
            self.novelty.unsaved.remove(&site);
        } else {
            self.novelty.unsaved.insert(site);
        }
        if observation.is_supported {
            self.support_domain(&entry.url, supported)?;
        }
        Ok(())
    }

    /// A host has brought a supported page, its `number`th: where hosts of its
    /// domain were refused, there may be room for them now.
    fn support_domain(&mut self, url: &CrawlUrl, number: u32) -> Result<(), CrawlError> {
        let has_reopened =
            self.with_domain(url, |domain| domain.support(number) && domain.refused > 0)?;
        if has_reopened {
            self.novelty.held.reopen(SiteHash(domain_hash(url)));
        }
        Ok(())
    }

    /// Whether a URL of a site is not refused by what is known now.
    pub(crate) fn stands(&mut self, url: &CrawlUrl) -> Result<bool, CrawlError> {
        let site = url.site_hash();
        let at = self.partition_of(site);
        let config = self.novelty.config;
        let known = self.novelty.site(&self.partitions[at], site)?;
        Ok(known.standing(&config, &Template::of(url)).is_none())
    }

    /// Whether the site of a URL may be opened, should it be a new one. What
    /// somebody typed always may, and counts.
    pub(crate) fn may_open(&mut self, url: &CrawlUrl, is_seed: bool) -> Result<bool, CrawlError> {
        let site = url.site_hash();
        if self.frontier.is_open(site) {
            return Ok(true);
        }
        let partition = &self.partitions[self.partition_of(site)];
        if partition.is_parked(site) || partition.site(site)?.is_some() {
            return Ok(true);
        }
        let config = self.novelty.config;
        self.with_domain(url, |domain| {
            if is_seed {
                domain.open_anyway();
                return true;
            }
            domain.open(&config)
        })
    }

    /// Whether the domain of a URL has room for another host.
    pub(crate) fn has_hosts_left(&mut self, url: &CrawlUrl) -> Result<bool, CrawlError> {
        if self.frontier.is_open(url.site_hash()) {
            return Ok(true);
        }
        let config = self.novelty.config;
        self.with_domain(url, |domain| !config.is_on || domain.left(&config) > 0)
    }

    /// Does something with a domain, and keeps what became of it.
    fn with_domain<T>(
        &mut self,
        url: &CrawlUrl,
        work: impl FnOnce(&mut DomainNovelty) -> T,
    ) -> Result<T, CrawlError> {
        let hash = domain_hash(url);
        let partition = self.partition_of(SiteHash(hash));
        let partition = &mut self.partitions[partition];
        let mut domain = match self.novelty.domains.get(&hash) {
            Some(domain) => *domain,
            None => partition.domain(hash)?.unwrap_or_default(),
        };
        let before = domain;
        let answer = work(&mut domain);
        if domain != before {
            partition.set_domain(hash, &domain);
        }
        self.novelty.domains.insert(hash, domain);
        Ok(answer)
    }

    /// Writes what is not written yet and lets go of sites that are closed. What
    /// is written only now stays until the next time, when it is durable.
    pub(crate) fn close_novelty(&mut self) {
        let (frontier, unsaved) = (&self.frontier, &self.novelty.unsaved);
        self.novelty
            .sites
            .retain(|site, _| frontier.is_open(*site) || unsaved.contains(site));
        let closed = |site: &SiteHash| !frontier.is_open(*site);
        let due: Vec<SiteHash> = unsaved.iter().copied().filter(closed).collect();
        self.save_novelty(&due);
        if self.novelty.domains.len() > DOMAINS_MAX {
            self.novelty.domains.clear();
        }
    }

    /// Writes all that is not written yet.
    pub(crate) fn save_all_novelty(&mut self) {
        let due: Vec<SiteHash> = self.novelty.unsaved.iter().copied().collect();
        self.save_novelty(&due);
    }

    fn save_novelty(&mut self, due: &[SiteHash]) {
        for site in due {
            let partition = self.partition_of(*site);
            if let Some(known) = self.novelty.sites.get(site) {
                self.partitions[partition].set_novelty(*site, known);
            }
            self.novelty.unsaved.remove(site);
        }
    }
}
