//! The trap guard: what was learned of sites and domains, and where it is used.
//!
//! The decisions are those of `geomi-novelty`; here they are kept and applied. A
//! link is judged when it is admitted and again when its turn comes, because
//! queues may hold thousands of a trap's URLs when it is recognised.
//!
//! The state of a site is in memory while the site is open, and is written when
//! it has doubled, every 256 pages, and when the site or the crawl is closed. A
//! crash therefore forgets some of the last pages' evidence and nothing else.
//! Deferred URLs are kept (`held.rs`), not lost.

use geomi_frontier::Entry;
use geomi_model::{Document, Fate, LinkKind, Timestamp};
use geomi_novelty::{
    Content, DomainNovelty, DropParams, FoundLink, NoveltyConfig, NoveltyRefusal, ProbeAnswer,
    Sight, SiteNovelty, Ties, telling_numbers,
};
use geomi_url::template::Template;
use geomi_url::{CrawlUrl, SiteHash, registrable_domain, strong_hash};
use hashbrown::{HashMap, HashSet};
use xxhash_rust::xxh3::xxh3_64;

use crate::books::Access;
use crate::engine::{Around, Engine};
use crate::held::HeldBook;
use crate::partition::Partition;
use crate::refusal::RefusalRule;
use crate::stage::admit::may_follow;
use crate::stage::arrival::Arrival;
use crate::stage::links::Taken;
use crate::{EngineConfig, EngineError};

/// Pages of a site after which its state is written each time.
const SAVE_EVERY: u32 = 256;
/// Domains held in memory; all of them are on disk.
const DOMAINS_MAX: usize = 1 << 18;
/// Links of a page that are examined for support.
const LINKS_LOOKED_AT: usize = 64;
/// Of these, records that are looked up.
const RECORDS_LOOKED_UP: usize = 16;
/// Waiting pages of the page's own template after which no more are counted.
const ALIKE_COUNTED: u32 = 3;
/// Images of a page that are compared.
const IMAGES_MAX: usize = 16;
/// How many of the extensions below are those of pictures.
const PICTURES: usize = 6;
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
    /// Deferred URLs that were queued for a last call, and have not had their turn;
    /// a few per site.
    called: HashSet<u64>,
    /// The same, until they are fetched.
    fetching: HashSet<u64>,
    /// Deferred URLs that are to be judged again.
    pub(crate) held: HeldBook,
}

impl NoveltyBook {
    pub(crate) fn new(config: &EngineConfig, now: Timestamp) -> Self {
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
            called: HashSet::new(),
            fetching: HashSet::new(),
            held: HeldBook::default(),
        }
    }

    pub(crate) fn reconfigure(&mut self, config: &EngineConfig) {
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
        let known = self.sites.get(&url.site_hash());
        let kept = known.map_or(&[][..], SiteNovelty::identifiers);
        self.drop_params.apply_except(url, kept)
    }

    /// The same for a link of a page, with the names that are no sessions there.
    pub(crate) fn shortened_link(&self, url: &CrawlUrl, kept: &[String]) -> Option<CrawlUrl> {
        let shortened = self.shortened(url)?;
        if kept.is_empty() {
            return Some(shortened);
        }
        self.drop_params.apply_except(url, kept)
    }

    /// What is known of a site, for an explanation.
    pub(crate) fn look(
        &self,
        partition: &Partition,
        site: SiteHash,
    ) -> Result<SiteNovelty, EngineError> {
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
    ) -> Result<DomainNovelty, EngineError> {
        let hash = strong_hash(domain.as_bytes());
        match self.domains.get(&hash) {
            Some(known) => Ok(*known),
            None => Ok(partition.domain(hash)?.unwrap_or_default()),
        }
    }

    fn site(
        &mut self,
        partition: &Partition,
        site: SiteHash,
    ) -> Result<&mut SiteNovelty, EngineError> {
        if !self.sites.contains_key(&site) {
            let known = partition.novelty(site)?.unwrap_or_default();
            if known.has_deferred() {
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
    strong_hash(registrable_domain(url.host()).as_bytes())
}

/// Why a URL is not worth a request, at least not now.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) enum NotWorth {
    /// Its site has the same pages as another.
    Mirror,
    /// It differs from a known URL only in parameters without effect, which are
    /// named here.
    ParameterIgnored(String),
    /// The trap guard defers it.
    Deferred(NoveltyRefusal),
}

impl NotWorth {
    /// The rule.
    pub(crate) const fn rule(&self) -> RefusalRule {
        match self {
            Self::Mirror => RefusalRule::Mirror,
            Self::ParameterIgnored(_) => RefusalRule::ParameterIgnored,
            Self::Deferred(refusal) => RefusalRule::Trap(*refusal),
        }
    }

    /// The reason in words.
    pub(crate) fn reason(&self) -> String {
        match self {
            Self::Mirror => "its site has the same pages as another".to_owned(),
            Self::ParameterIgnored(names) => format!("{names} makes no difference on its site"),
            Self::Deferred(refusal) => refusal.to_string(),
        }
    }
}

/// Whether a link belongs to a page rather than leading to one.
pub(crate) fn is_asset(url: &CrawlUrl) -> bool {
    has_extension(url, &ASSETS)
}

fn has_extension(url: &CrawlUrl, known: &[&str]) -> bool {
    let Some((_, extension)) = url.path().rsplit_once('.') else {
        return false;
    };
    known
        .iter()
        .any(|known| extension.eq_ignore_ascii_case(known))
}

/// Hashes of the images a page embeds, queries left out: those often change with
/// every answer.
fn images(document: &Document) -> Vec<u64> {
    let links = document.links.iter();
    links
        .filter(|link| {
            link.kind == LinkKind::Embedded && has_extension(&link.url, &ASSETS[..PICTURES])
        })
        .take(IMAGES_MAX)
        .map(|link| xxh3_64(link.url.path().as_bytes()))
        .collect()
}

/// What an answer is compared by.
fn content(read: &Arrival, images: &[u64]) -> Option<Content> {
    let stored = read.content.as_ref()?;
    if read.answer.code != Some(200) || stored.bytes == 0 {
        return None;
    }
    let document = &read.document;
    if document.charset.is_none() {
        let (start, _) = stored.digest.0.split_first_chunk::<8>()?;
        return Some(Content {
            exact: u64::from_le_bytes(*start),
            words: None,
            numbers: None,
        });
    }
    // A page without words is a page that says nothing, like all others.
    let [words, seen] =
        [document.wording, document.fingerprint].map(|hash| hash.map_or(0, |hash| hash.0));
    let parts = [seen, document.numbers, document.text_bytes];
    let parts = parts.iter().chain(images);
    let bytes: Vec<u8> = parts.flat_map(|part| part.to_le_bytes()).collect();
    Some(Content {
        exact: xxh3_64(&bytes),
        words: Some(words),
        numbers: telling_numbers(&read.url, &document.figures),
    })
}

impl Engine {
    /// Names of parameters that look like sessions but, by the links of a page, are not.
    /// Those of items are not sessions on the whole site.
    pub(crate) fn not_sessions(
        &mut self,
        url: &CrawlUrl,
        document: &Document,
    ) -> Result<Vec<String>, EngineError> {
        let site = url.site_hash();
        let links = document.links.iter().map(|link| &link.url);
        let links = links.filter(|link| link.site_hash() == site);
        let names = self.learned.novelty.drop_params.not_sessions(links);
        for item in names.iter().filter(|name| name.is_item) {
            let known = self.learned.novelty.site(&self.store, site)?;
            known.note_identifier(item.name.clone());
            self.learned.novelty.unsaved.insert(site);
        }
        Ok(names.into_iter().map(|name| name.name).collect())
    }

    /// Whether robots.txt of a site that is open forbids a URL.
    pub(crate) fn is_disallowed(&self, url: &CrawlUrl) -> bool {
        let (site, path) = (url.site_hash(), url.path_and_query());
        let access = self
            .sites
            .robots
            .access(site, &self.rules.config.agent, path);
        matches!(access, Access::Disallowed(_))
    }

    /// A URL was found that was not known: what it says of the growth of its site, if
    /// anything.
    pub(crate) fn note_found(
        &mut self,
        url: &CrawlUrl,
        template: &Template,
        on: Option<&CrawlUrl>,
    ) -> Result<Option<FoundLink>, EngineError> {
        let site = url.site_hash();
        let partition = &self.store;
        let config = self.learned.novelty.config;
        let known = self.learned.novelty.site(partition, site)?;
        let found = known.found(url, template);
        let is_beside = known.is_closed(&config, template)
            && on
                .filter(|on| on.site_hash() == site)
                .is_some_and(|on| !known.is_closed(&config, &Template::of(on)));
        Ok((!found.is_idle && !is_beside).then_some(found))
    }

    /// Why a URL is not worth a request now; `None` if it is. Without its template
    /// the trap guard is not asked.
    pub(crate) fn not_worth(
        &mut self,
        around: &mut Around<'_>,
        url: &CrawlUrl,
        template: Option<&Template>,
    ) -> Result<Option<NotWorth>, EngineError> {
        if self.is_of_mirror(around, url) {
            return Ok(Some(NotWorth::Mirror));
        }
        let Some(template) = template else {
            return Ok(None);
        };
        let site = url.site_hash();
        let partition = &self.store;
        let config = self.learned.novelty.config;
        let known = self.learned.novelty.site(partition, site)?;
        if known.requests() == 0 {
            return Ok(None);
        }
        if let Some((stripped, names)) = known.stripped(&config, url, template)
            && partition.has_seen(site, stripped)?
        {
            return Ok(Some(NotWorth::ParameterIgnored(names.join(", "))));
        }
        // A last call is not turned away when its turn comes.
        if self.learned.novelty.called.contains(&url.hash64().0) {
            return Ok(None);
        }
        let known = self.learned.novelty.site(partition, site)?;
        Ok(known.judge(&config, template).map(NotWorth::Deferred))
    }

    /// The links of a page to pages that were found elsewhere and are not fetched
    /// yet. Asked before its links are admitted, and only where the site is in
    /// doubt.
    pub(crate) fn ties(
        &mut self,
        url: &CrawlUrl,
        template: &Template,
        document: &Document,
    ) -> Result<Option<Ties>, EngineError> {
        let site = url.site_hash();
        let config = self.learned.novelty.config;
        let known = self.learned.novelty.site(&self.store, site)?;
        if !known.needs_proof(&config, template) {
            return Ok(None);
        }
        let mut ties = Ties::default();
        let mut looked_up = 0;
        let links = document.links.iter().map(|link| &link.url);
        for link in links.filter(|link| *link != url).take(LINKS_LOOKED_AT) {
            let there = link.site_hash();
            let partition = &self.store;
            if !partition.has_seen(there, link.hash64())? {
                continue;
            }
            let target = Template::of(link);
            let is_alike = there == site && target == *template;
            let speaks = self
                .learned
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
    ) -> Result<Option<CrawlUrl>, EngineError> {
        let site = entry.url.site_hash();
        let config = self.learned.novelty.config;
        let known = self.learned.novelty.site(&self.store, site)?;
        let Some(pick) = known.dives_from(&config, &entry.url, template) else {
            return Ok(None);
        };
        let partition = &self.store;
        let mut fresh = Vec::new();
        for link in &document.links {
            if may_follow(&self.rules.config, document, link)
                && link.url.origin() == entry.url.origin()
                && !is_asset(&link.url)
                && !partition.has_seen(link.url.site_hash(), link.url.hash64())?
            {
                fresh.push(&link.url);
            }
        }
        let Some(link) = pick.among(template, fresh.into_iter()) else {
            return Ok(None);
        };
        let kept = self.not_sessions(&entry.url, document)?;
        let shortened = self.learned.novelty.shortened_link(link, &kept);
        Ok(Some(shortened.unwrap_or_else(|| link.clone())))
    }

    /// A link of a page has jumped the queue.
    pub(crate) fn dived(&mut self, entry: &Entry, template: &Template, link: &CrawlUrl) {
        if let Some(known) = self.learned.novelty.sites.get_mut(&entry.url.site_hash()) {
            known.dive(&entry.url, template, link);
        }
    }

    /// Learns from a page.
    pub(crate) fn learn(
        &mut self,
        around: &mut Around<'_>,
        entry: &Entry,
        template: &Template,
        read: &Arrival,
        taken: Taken,
        ties: Option<Ties>,
    ) -> Result<(), EngineError> {
        let site = entry.url.site_hash();
        let config = self.learned.novelty.config;
        let known = self.learned.novelty.site(&self.store, site)?;
        let images = images(&read.document);
        let Some(content) = content(read, &images) else {
            // A redirect to a page that was not known leads on like a link to it.
            let leads_on = taken.admitted > 0;
            let probe = known.miss(&config, &entry.url, template, leads_on);
            return probe.map_or(Ok(()), |probe| self.queue_probe(around, entry, probe));
        };
        let via = entry.via.as_ref();
        let via = via.filter(|via| via.site_hash() == site).map(Template::of);
        let is_last_call = self.learned.novelty.fetching.remove(&entry.url.hash64().0);
        let known = self.learned.novelty.site(&self.store, site)?;
        let sight = Sight {
            url: &entry.url,
            template,
            via: via.as_ref(),
            via_url: entry.via.as_ref(),
            content,
            images: &images,
            fresh_links: taken.fresh,
            fresh_queued: taken.admitted.min(taken.fresh),
            fresh_abroad: taken.abroad,
            fresh_pairs: taken.pairs,
            fresh_words: taken.words,
            own_text_bytes: read.document.own_text_bytes,
            is_last_call,
            fresh_below: taken.below,
            ties,
        };
        let observation = known.observe(&config, &sight);
        let links = read.document.links.iter().map(|link| &link.url);
        let links = links.filter(|link| link.site_hash() == site && **link != entry.url);
        let partition = &self.store;
        let is_known = |url: &CrawlUrl| partition.has_seen(site, url.hash64()).unwrap_or(false);
        let probe = known.probe(&config, &sight, links, is_known);
        let stripped = known.stripped(&config, &entry.url, template);
        let (requests, supported) = (known.requests(), known.supported());
        if observation.has_reopened {
            self.learned.novelty.held.reopen(site);
        }
        let hashes = observation.known.into_iter();
        for hash in hashes.chain(stripped.map(|(hash, _)| hash)) {
            self.store.first_sight(site, hash)?;
        }
        if requests.is_power_of_two() || requests.is_multiple_of(SAVE_EVERY) {
            self.store
                .set_novelty(site, &self.learned.novelty.sites[&site]);
            self.learned.novelty.unsaved.remove(&site);
        } else {
            self.learned.novelty.unsaved.insert(site);
        }
        if observation.is_supported {
            self.support_domain(&entry.url, supported)?;
        }
        match probe {
            Some(probe) => self.queue_probe(around, entry, probe),
            None => Ok(()),
        }
    }

    /// Queues a URL that no page links to, to see whether a part of a site has an end.
    fn queue_probe(
        &mut self,
        around: &mut Around<'_>,
        entry: &Entry,
        probe: CrawlUrl,
    ) -> Result<(), EngineError> {
        let site = probe.site_hash();
        let is_known = self.store.has_seen(site, probe.hash64())?;
        if is_known
            || self.rules.admit.scope().denies(&probe).is_some()
            || self.is_disallowed(&probe)
        {
            let known = self.learned.novelty.site(&self.store, site)?;
            known.answer_probe(&probe, &Template::of(&probe), ProbeAnswer::Undecided);
            return Ok(());
        }
        tracing::debug!(url = %probe, "asked for to see whether there is an end");
        // It is not turned away by what it is to find out.
        self.learned.novelty.called.insert(probe.hash64().0);
        let entry = Entry {
            url: probe,
            via: Some(entry.url.clone()),
            kind: LinkKind::Other,
            priority: 1,
            attempts: 0,
            redirects: 0,
            is_seed: false,
            is_revisit: false,
            not_before: None,
            ..entry.clone()
        };
        self.queue(around, entry)?;
        Ok(())
    }

    /// Takes in the answer to a URL that no page links to. Its links are not followed.
    pub(crate) fn settle_probe(
        &mut self,
        url: &CrawlUrl,
        template: &Template,
        read: &Arrival,
        fate: Fate,
    ) -> Result<(), EngineError> {
        let site = url.site_hash();
        let known = self.learned.novelty.site(&self.store, site)?;
        let mut onward = Vec::new();
        for link in &read.document.links {
            if link.url.site_hash() == site
                && known.leads_on(url, template, &link.url)
                && !self.store.has_seen(site, link.url.hash64())?
            {
                onward.push(link.url.clone());
            }
        }
        let is_answer = read.answer.state.is_answer();
        let answer = match (fate, read.answer.code) {
            (Fate::Redirected, _) => ProbeAnswer::Redirect,
            // A short page may resemble a missing one; a missing page has no links onward.
            (_, Some(200)) if is_answer && !(onward.is_empty() && read.document.says_not_found) => {
                ProbeAnswer::Page(&onward)
            }
            (_, Some(429 | 503)) => ProbeAnswer::Undecided,
            _ if is_answer => ProbeAnswer::NoPage,
            _ => ProbeAnswer::Undecided,
        };
        tracing::debug!(%url, ?answer, "answered, though no page links to it");
        known.answer_probe(url, template, answer);
        if known.has_deferred() {
            self.learned.novelty.held.reopen(site);
        }
        self.learned.novelty.unsaved.insert(site);
        Ok(())
    }

    /// Whether a URL was requested although no page links to it.
    pub(crate) fn is_probe(&self, url: &CrawlUrl, template: &Template) -> bool {
        let known = self.learned.novelty.sites.get(&url.site_hash());
        known.is_some_and(|known| known.is_probe(url, template))
    }

    /// A host has brought a supported page, its `number`th: where hosts of its
    /// domain were refused, there may be room for them now.
    fn support_domain(&mut self, url: &CrawlUrl, number: u32) -> Result<(), EngineError> {
        let has_reopened =
            self.with_domain(url, |domain| domain.support(number) && domain.refused > 0)?;
        if has_reopened {
            self.learned.novelty.held.reopen(SiteHash(domain_hash(url)));
        }
        Ok(())
    }

    /// robots.txt forbids a URL: links to its template say nothing of growth.
    pub(crate) fn note_forbidden(&mut self, url: &CrawlUrl) -> Result<(), EngineError> {
        if self.learned.novelty.is_on() {
            let site = url.site_hash();
            let known = self.learned.novelty.site(&self.store, site)?;
            known.note_forbidden(url, &Template::of(url));
        }
        Ok(())
    }

    /// What is known of a site, for last calls.
    pub(crate) fn known_of(&mut self, site: SiteHash) -> Result<&mut SiteNovelty, EngineError> {
        self.learned.novelty.unsaved.insert(site);
        self.learned.novelty.site(&self.store, site)
    }

    /// A deferred URL is queued for a last call: it is not turned away when its turn
    /// comes.
    pub(crate) fn note_called(&mut self, url: &CrawlUrl) {
        self.learned.novelty.fetching.insert(url.hash64().0);
        self.learned.novelty.called.insert(url.hash64().0);
    }

    /// The turn of a URL has come: a last call is made once.
    pub(crate) fn note_turn(&mut self, url: &CrawlUrl) {
        self.learned.novelty.called.remove(&url.hash64().0);
    }

    /// Whether a queued URL was deferred before and never visited. When its site was
    /// open for a moment, thousands of them may have been queued again.
    pub(crate) fn was_deferred(&self, url: &CrawlUrl) -> Result<bool, EngineError> {
        let site = url.site_hash();
        let known = self.learned.novelty.sites.get(&site);
        if !known.is_some_and(SiteNovelty::has_deferred) {
            return Ok(false);
        }
        let record = self.store.record(url)?;
        Ok(record.is_some_and(|record| record.visits == 0))
    }

    /// Whether a deferred host of a domain is opened in a last call.
    pub(crate) fn last_call_of_domain(&mut self, url: &CrawlUrl) -> Result<bool, EngineError> {
        let config = self.learned.novelty.config;
        self.with_domain(url, |domain| {
            let may = domain.last_call(&config);
            if may {
                domain.open_anyway();
            }
            may
        })
    }

    /// Whether a URL of a site is not deferred by what is known now.
    pub(crate) fn stands(&mut self, url: &CrawlUrl) -> Result<bool, EngineError> {
        let site = url.site_hash();
        let config = self.learned.novelty.config;
        let known = self.learned.novelty.site(&self.store, site)?;
        Ok(known.standing(&config, &Template::of(url)).is_none())
    }

    /// Whether the site of a URL may be opened if it is new. A typed seed always may, and
    /// counts.
    pub(crate) fn may_open(&mut self, url: &CrawlUrl, is_seed: bool) -> Result<bool, EngineError> {
        let site = url.site_hash();
        if self.queues.frontier.is_open(site) {
            return Ok(true);
        }
        let partition = &self.store;
        if partition.is_parked(site) || partition.site(site)?.is_some() {
            return Ok(true);
        }
        let config = self.learned.novelty.config;
        self.with_domain(url, |domain| {
            if is_seed {
                domain.open_anyway();
                return true;
            }
            domain.open(&config)
        })
    }

    /// Whether the domain of a URL has room for another host.
    pub(crate) fn has_hosts_left(&mut self, url: &CrawlUrl) -> Result<bool, EngineError> {
        if self.queues.frontier.is_open(url.site_hash()) {
            return Ok(true);
        }
        let config = self.learned.novelty.config;
        self.with_domain(url, |domain| !config.is_on || domain.left(&config) > 0)
    }

    /// Changes what is known of a domain, and records the change.
    fn with_domain<T>(
        &mut self,
        url: &CrawlUrl,
        work: impl FnOnce(&mut DomainNovelty) -> T,
    ) -> Result<T, EngineError> {
        let hash = domain_hash(url);
        let partition = &mut self.store;
        let mut domain = match self.learned.novelty.domains.get(&hash) {
            Some(domain) => *domain,
            None => partition.domain(hash)?.unwrap_or_default(),
        };
        let before = domain;
        let answer = work(&mut domain);
        if domain != before {
            partition.set_domain(hash, &domain);
        }
        self.learned.novelty.domains.insert(hash, domain);
        Ok(answer)
    }

    /// Writes what is not written yet of sites that are closed, and lets go of them.
    pub(crate) fn close_novelty(&mut self) {
        let frontier = &self.queues.frontier;
        let unsaved = self.learned.novelty.unsaved.iter().copied();
        let due: Vec<SiteHash> = unsaved.filter(|site| !frontier.is_open(*site)).collect();
        self.save_novelty(&due);
        let frontier = &self.queues.frontier;
        self.learned
            .novelty
            .sites
            .retain(|site, _| frontier.is_open(*site));
        if self.learned.novelty.domains.len() > DOMAINS_MAX {
            self.learned.novelty.domains.clear();
        }
    }

    /// Writes all that is not written yet.
    pub(crate) fn save_all_novelty(&mut self) {
        let due: Vec<SiteHash> = self.learned.novelty.unsaved.iter().copied().collect();
        self.save_novelty(&due);
    }

    fn save_novelty(&mut self, due: &[SiteHash]) {
        for site in due {
            if let Some(known) = self.learned.novelty.sites.get(site) {
                self.store.set_novelty(*site, known);
            }
            self.learned.novelty.unsaved.remove(site);
        }
    }
}
