//! Admit: is a URL in scope, and how urgent is it?
//!
//! [`Admit`] decides what can be decided from the link alone. The seen test and
//! the queue come after it, in the partition that owns the URL's site: links to
//! another partition travel there as mail and are taken in when they arrive.
//! Two short cuts hold while all partitions are in one process: a link known to
//! be seen over there is not sent, and a candidate seed is queued at once.

use geomi_frontier::{Entry, Features, Parts, Prioritizer, SiteState};
use geomi_model::{
    ChangeFrequency, ChangeSignal, Document, DocumentKind, Link, LinkKind, NetworkState, Timestamp,
    UrlRecord,
};
use geomi_novelty::{DomainNovelty, Template};
use geomi_scope::{
    Candidate, Refusal, Rule, Scope, ScopeConfig, ScopeKind, Verdict, candidate_seed,
};
use geomi_url::{CrawlUrl, UrlHash, registrable_domain};

use crate::books::SiteAccess;
use crate::held::is_held;
use crate::journey::Journey;
use crate::novelty::{PARAMETER_IGNORED, is_asset};
use crate::seeds::SeedOutcome;
use crate::stage::read::Answer;
use crate::{CrawlConfig, CrawlError, RobotsMode, SeedInput, SitemapMode};

/// Links to other partitions that are remembered as sent.
const SENT_MAX: usize = 1 << 20;

/// Seeds queued in one commit. All of them are known from the first one on, so
/// that a crash between two leaves none behind.
const SEEDS_PER_COMMIT: u32 = 4_096;

/// Indexes of sitemaps within one another, at most. The protocol allows one.
const SITEMAP_NESTING_MAX: u8 = 3;

/// Why the sitemaps of an index are refused.
const SITEMAPS_TOO_DEEP: &str = "sitemaps-too-deep";

/// How a URL was come by.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Way {
    Link,
    Redirect,
    /// As a sitemap of its site.
    Sitemap,
    /// As a link that jumps the queue.
    Dive,
}

/// Why a link is refused when its party has as many URLs as it may.
const PARTY_FULL: &str = "party-full";

/// The rules of admission.
#[derive(Debug)]
pub(crate) struct Admit {
    scope: Scope,
    prefer: Option<Scope>,
    prioritizer: Prioritizer,
    /// Whether how deep a page is decides what becomes of its links.
    limits_depth: bool,
}

/// A link, or a redirect, and where it was found.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Found<'a> {
    pub(crate) url: &'a CrawlUrl,
    pub(crate) kind: LinkKind,
    pub(crate) is_redirect: bool,
    /// A sitemap, as its site's robots.txt or an index of sitemaps names it.
    pub(crate) is_sitemap: bool,
    /// The entry of the page it was found on.
    pub(crate) on: &'a Entry,
    /// Its importance by the links found so far, 0 to 1.
    pub(crate) importance: f32,
    /// The seed's home, by which scope is judged.
    pub(crate) home: &'a CrawlUrl,
    /// What is known of the site it leads to, and told of the page itself.
    pub(crate) standing: Standing,
}

/// What speaks for a URL beside its links and its spelling.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Standing {
    /// Success of its site.
    pub(crate) site_success: f32,
    /// Traffic of its site, where it was given.
    pub(crate) traffic: Option<f32>,
    /// How often it changes, where a sitemap says so.
    pub(crate) change: Option<f32>,
}

impl Standing {
    /// Of a URL whose site nobody knows yet.
    pub(crate) const UNKNOWN: Self = Self {
        site_success: 1.0,
        traffic: None,
        change: None,
    };
}

impl<'a> Found<'a> {
    /// What the scope is asked. A redirect keeps its page's depth, and so does a
    /// sitemap: the pages it lists are one link away, not two.
    pub(crate) fn candidate(&self) -> Candidate<'a> {
        Candidate {
            url: self.url,
            seed: self.home,
            depth: (self.on.depth).saturating_add(u16::from(!self.is_redirect && !self.is_sitemap)),
            is_seed: false,
            is_redirect: self.is_redirect,
        }
    }
}

/// Where a page leads, and what it tells of that.
#[derive(Clone, Copy)]
struct Lead<'a> {
    url: &'a CrawlUrl,
    kind: LinkKind,
    told: Option<&'a ChangeSignal>,
}

impl<'a> Lead<'a> {
    const fn to(url: &'a CrawlUrl, kind: LinkKind) -> Self {
        Self {
            url,
            kind,
            told: None,
        }
    }
}

/// What the scope is asked about a seed.
pub(crate) const fn as_seed(url: &CrawlUrl) -> Candidate<'_> {
    Candidate {
        url,
        seed: url,
        depth: 0,
        is_seed: true,
        is_redirect: false,
    }
}

/// Whether a page lets us follow one of its links, where such wishes count.
pub(crate) const fn may_follow(config: &CrawlConfig, document: &Document, link: &Link) -> bool {
    !config.respect_nofollow || !(document.robots.nofollow || link.nofollow)
}

/// Whether a link is refused for what becomes of a URL that goes on growing.
const fn has_grown(refusal: &Refusal) -> bool {
    matches!(
        refusal,
        Refusal::TooLong { .. }
            | Refusal::TooManySegments { .. }
            | Refusal::RepeatedSegments { .. }
    )
}

/// Whether a URL is of another domain than the page it was found on.
fn leaves_domain(entry: &Entry) -> bool {
    entry.via.as_ref().is_some_and(|via| {
        via.host() != entry.url.host()
            && registrable_domain(via.host()) != registrable_domain(entry.url.host())
    })
}

/// What becomes of a link.
#[derive(Debug)]
pub(crate) enum Admission {
    /// Wanted, by this rule.
    Queue(Entry, Rule),
    /// Party scope: it leads to another site, and proposes this seed.
    CandidateSeed,
    Refused(Refusal),
}

/// What became of the links of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Taken {
    /// Queued.
    pub(crate) admitted: u32,
    /// In scope and new, whether queued or not worth it; images and the like
    /// left out.
    pub(crate) fresh: u32,
    /// Of the fresh ones, those that leave the page's domain.
    pub(crate) abroad: u32,
}

impl std::ops::AddAssign for Taken {
    fn add_assign(&mut self, more: Self) {
        self.admitted += more.admitted;
        self.fresh += more.fresh;
        self.abroad += more.abroad;
    }
}

impl Admit {
    pub(crate) fn new(config: &CrawlConfig) -> Result<Self, CrawlError> {
        let scope = Scope::new(config.scope.clone()).map_err(CrawlError::Scope)?;
        let prefer = (!config.prefer.is_empty()).then(|| {
            let include = config.prefer.clone();
            Scope::new(ScopeConfig {
                kind: ScopeKind::Any,
                include,
                ..ScopeConfig::default()
            })
            .map_err(CrawlError::Scope)
        });
        Ok(Self {
            scope,
            prefer: prefer.transpose()?,
            prioritizer: config.prioritizer,
            limits_depth: config.scope.depth_max.is_some()
                || config
                    .scope
                    .sites
                    .iter()
                    .any(|site| site.depth_max.is_some()),
        })
    }

    /// A complete 200 is what we came for only if its type is wanted.
    pub(crate) fn settle_state(&self, answer: &mut Answer) {
        if answer.state != NetworkState::Ok || answer.code != Some(200) {
            return;
        }
        let mime = answer.mime.as_deref().map(str::to_ascii_lowercase);
        if mime.is_some_and(|mime| !self.scope.wanted_mime(&mime)) {
            answer.state = NetworkState::Code;
        }
    }

    /// The scope links are judged by.
    pub(crate) const fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Judges a seed.
    pub(crate) fn seed(&self, url: &CrawlUrl, number: u32) -> Admission {
        match self.scope.judge(&as_seed(url)) {
            Verdict::Refuse(refusal) => Admission::Refused(refusal),
            Verdict::CandidateSeed => Admission::CandidateSeed,
            Verdict::Accept { rule } => Admission::Queue(
                Entry {
                    url: url.clone(),
                    seed: number,
                    via: None,
                    kind: LinkKind::Other,
                    depth: 0,
                    priority: 1,
                    attempts: 0,
                    redirects: 0,
                    is_seed: true,
                    is_revisit: false,
                    not_before: None,
                },
                rule,
            ),
        }
    }

    /// Judges a link or a redirect.
    pub(crate) fn link(&self, found: &Found<'_>) -> Admission {
        let candidate = found.candidate();
        let depth = candidate.depth;
        let is_seed = found.is_redirect && found.on.is_seed;
        match self.scope.judge(&candidate) {
            Verdict::Refuse(refusal) => Admission::Refused(refusal),
            Verdict::CandidateSeed => Admission::CandidateSeed,
            Verdict::Accept { rule } => Admission::Queue(
                Entry {
                    url: found.url.clone(),
                    seed: found.on.seed,
                    via: Some(found.on.url.clone()),
                    kind: found.kind,
                    depth,
                    priority: if is_seed {
                        1
                    } else {
                        self.priority_at(found, depth, found.importance)
                    },
                    attempts: 0,
                    redirects: if found.is_redirect || found.is_sitemap {
                        found.on.redirects + 1
                    } else {
                        0
                    },
                    is_seed,
                    is_revisit: false,
                    not_before: None,
                },
                rule,
            ),
        }
    }

    /// Whether URLs that wait are promoted.
    pub(crate) fn promotes(&self) -> bool {
        self.prioritizer.importance > 0.0 && !self.limits_depth
    }

    /// The priority of a link, were it that important.
    pub(crate) fn priority_at(&self, found: &Found<'_>, depth: u16, importance: f32) -> u8 {
        self.prioritizer.priority(&Features {
            preferred: self.is_preferred(found.url),
            ..features(found.url, found.kind, depth, importance, found.standing)
        })
    }

    /// What makes up the score of a URL that waits.
    pub(crate) fn parts(&self, entry: &Entry, importance: f32, standing: Standing) -> (Parts, f32) {
        let parts = Parts::of(&features(
            &entry.url,
            entry.kind,
            entry.depth,
            importance,
            standing,
        ));
        (parts, self.prioritizer.score(&parts))
    }

    fn is_preferred(&self, url: &CrawlUrl) -> bool {
        let candidate = Candidate {
            url,
            seed: url,
            depth: 0,
            is_seed: false,
            is_redirect: false,
        };
        self.prefer
            .as_ref()
            .is_some_and(|prefer| prefer.judge(&candidate).is_accepted())
    }
}

fn features(
    url: &CrawlUrl,
    kind: LinkKind,
    depth: u16,
    importance: f32,
    standing: Standing,
) -> Features {
    let segments = url.path().split('/');
    Features {
        depth,
        path_segments: segments.filter(|segment| !segment.is_empty()).count(),
        chars: url.as_str().len(),
        has_query: url.query().is_some(),
        kind,
        importance,
        site_success: standing.site_success,
        traffic: standing.traffic,
        change: standing.change,
        preferred: false,
    }
}

impl Journey<'_> {
    /// Queues the seeds. Those of an earlier run are seen already, unless a
    /// crash came between finding one and queueing it.
    pub(crate) fn admit_seeds(&mut self) -> Result<(), CrawlError> {
        for input in std::mem::take(&mut self.config.seeds) {
            self.seeds.add(&input, None);
        }
        for number in 0..self.seeds.len() as u32 {
            if number % SEEDS_PER_COMMIT == SEEDS_PER_COMMIT - 1 {
                self.commit()?;
            }
            if self.seeds.get(number).is_unreached() {
                self.retry_seed(number)?;
            } else {
                self.admit_seed(number)?;
            }
        }
        Ok(())
    }

    /// A seed that could not be reached in an earlier run gets another chance:
    /// whoever runs a crawl again has perhaps mended the network.
    fn retry_seed(&mut self, number: u32) -> Result<(), CrawlError> {
        let url = self.seeds.get(number).url.clone();
        let Admission::Queue(entry, _) = self.admit.seed(&url, number) else {
            return Ok(());
        };
        let now = self.clock.now();
        let at = self.partition_of(url.site_hash());
        let partition = &mut self.partitions[at];
        if let Some(record) = partition.record(&url)? {
            partition.set_record(
                &url,
                &UrlRecord {
                    attempts: 0,
                    ..record
                },
            );
        }
        partition.counters.failed = partition.counters.failed.saturating_sub(1);
        self.seeds
            .edit(number, |seed| seed.outcome = SeedOutcome::Pending);
        self.enqueue(at, entry, now)
    }

    fn admit_seed(&mut self, number: u32) -> Result<(), CrawlError> {
        let url = self.seeds.get(number).url.clone();
        match self.admit.seed(&url, number) {
            Admission::Queue(entry, _) => {
                let partition = self.partition_of(url.site_hash());
                self.queue(partition, entry)?;
            }
            Admission::Refused(refusal) => self.refuse_seed(number, &refusal),
            Admission::CandidateSeed => unreachable!("a seed is no candidate"),
        }
        Ok(())
    }

    pub(crate) fn refuse_seed(&mut self, number: u32, refusal: &Refusal) {
        let seed = self.seeds.get(number);
        if seed.outcome == SeedOutcome::Refused {
            return;
        }
        tracing::warn!(url = %seed.url, reason = %refusal, "seed refused");
        self.seeds
            .edit(number, |seed| seed.outcome = SeedOutcome::Refused);
        self.partitions[0].counters.refused += 1;
        self.partitions[0].counters.refusal(refusal.as_str());
    }

    /// Takes in the links of a page.
    pub(crate) fn admit_links(
        &mut self,
        on: &Entry,
        document: &Document,
    ) -> Result<Taken, CrawlError> {
        let mut taken = Taken::default();
        let way = match document.kind {
            DocumentKind::SitemapIndex if on.redirects >= SITEMAP_NESTING_MAX => {
                let home = self.partition_of(on.url.site_hash());
                self.partitions[home].counters.refusal(SITEMAPS_TOO_DEEP);
                return Ok(taken);
            }
            DocumentKind::SitemapIndex => Way::Sitemap,
            _ => Way::Link,
        };
        let share = self
            .importance
            .visited(on.url.hash64(), document.links.len());
        let hashes: Vec<UrlHash> = document.links.iter().map(|l| l.url.hash64()).collect();
        self.importance.warm(&hashes);
        for link in &document.links {
            if !may_follow(&self.config, document, link) {
                continue;
            }
            // The server's own spelling is kept where it redirects, or the two
            // would send each other round in circles.
            let shortened = self.novelty.shortened(&link.url);
            let url = shortened.as_ref().unwrap_or(&link.url);
            let lead = Lead {
                url,
                kind: link.kind,
                told: link.signal.as_ref(),
            };
            taken += self.admit_link(on, lead, share, way)?;
            if let Some(signal) = &link.signal {
                self.note_signal(url, signal)?;
            }
        }
        Ok(taken)
    }

    /// Keeps what a sitemap or feed says of a page that is wanted.
    fn note_signal(&mut self, url: &CrawlUrl, signal: &ChangeSignal) -> Result<(), CrawlError> {
        let (hash, to) = (url.hash64(), self.partition_of(url.site_hash()));
        if self.partitions[to].has_seen(hash)? || self.sent.contains(&hash.0) {
            self.partitions[to].set_signal(url, signal);
            self.refresh_told(url, signal)?;
        }
        Ok(())
    }

    /// Takes in the sitemaps of a page's site, the first time one of its pages is
    /// about to be asked for: they belong to that page's party.
    pub(crate) fn admit_sitemaps(&mut self, on: &Entry) -> Result<(), CrawlError> {
        if self.config.sitemaps == SitemapMode::None {
            return Ok(());
        }
        let Some(mut named) = self.robots.take_sitemaps(on.url.site_hash()) else {
            return Ok(());
        };
        if named.is_empty() && self.config.sitemaps == SitemapMode::Guess {
            named.push("/sitemap.xml".to_owned());
        }
        // As if the page had been reached without a redirect: nesting counts from here.
        let on = Entry {
            redirects: 0,
            ..on.clone()
        };
        for name in named {
            // What is no URL is passed over: the line is in the archive.
            if let Ok(url) = on.url.join(&name) {
                self.admit_link(&on, Lead::to(&url, LinkKind::Other), 0, Way::Sitemap)?;
            }
        }
        Ok(())
    }

    /// Takes in where a page redirects to.
    pub(crate) fn admit_redirect(
        &mut self,
        on: &Entry,
        target: &CrawlUrl,
    ) -> Result<bool, CrawlError> {
        if on.redirects >= self.config.redirects_max {
            let partition = self.partition_of(on.url.site_hash());
            self.partitions[partition]
                .counters
                .refusal("too-many-redirects");
            return Ok(false);
        }
        if on.is_seed {
            let target = target.clone();
            self.seeds.edit(on.seed, |seed| seed.home = target);
        }
        // What a page has is that of the page it stands for.
        let share = self.importance.visited(on.url.hash64(), 1);
        let taken = self.admit_link(on, Lead::to(target, LinkKind::Other), share, Way::Redirect)?;
        Ok(taken.admitted > 0)
    }

    /// What speaks for a URL, of which a sitemap or feed may have said something.
    pub(crate) fn standing(&self, url: &CrawlUrl, signal: Option<&ChangeSignal>) -> Standing {
        let knows_traffic = self.policies.know_traffic();
        let traffic = knows_traffic.then(|| self.policies.traffic(&url.site()));
        let frequency = signal.and_then(|signal| signal.frequency);
        Standing {
            site_success: self.frontier.success(url.site_hash()),
            traffic: traffic.flatten(),
            change: frequency.map(ChangeFrequency::score),
        }
    }

    fn admit_link(
        &mut self,
        on: &Entry,
        Lead { url, kind, told }: Lead<'_>,
        share: u32,
        way: Way,
    ) -> Result<Taken, CrawlError> {
        let none = Taken::default();
        let site = url.site_hash();
        let (hash, to) = (url.hash64(), self.partition_of(site));
        let credit = self.importance.give(hash, share);
        // Most links lead to pages known already: nothing more is asked of them.
        if self.partitions[to].has_seen(hash)? {
            if credit.has_doubled && way == Way::Link {
                self.promote(on, url, kind, credit)?;
            }
            return Ok(none);
        }
        // In the mail, and in no queue yet.
        if self.sent.contains(&hash.0) {
            return Ok(none);
        }
        let home = self.partition_of(on.url.site_hash());
        let found = Found {
            url,
            kind,
            is_redirect: way == Way::Redirect,
            is_sitemap: way == Way::Sitemap,
            on,
            importance: self.importance.of(credit.cash),
            home: &self.seeds.get(on.seed).home,
            standing: self.standing(url, told),
        };
        match self.admit.link(&found) {
            Admission::Queue(entry, _) if !self.has_room(home, &entry) => Ok(none),
            Admission::Queue(mut entry, _) => {
                if way == Way::Dive {
                    entry.priority = 1;
                }
                self.admit_worthy(home, to, entry)
            }
            Admission::Refused(refusal) => {
                self.partitions[home].counters.refusal(refusal.as_str());
                // A page whose links have grown past a limit is no dead end.
                let fresh = u32::from(has_grown(&refusal));
                Ok(Taken { fresh, ..none })
            }
            Admission::CandidateSeed => {
                self.add_candidate(on, url)?;
                Ok(none)
            }
        }
    }

    /// Takes in a URL that is wanted, if it is worth a request.
    fn admit_worthy(&mut self, home: usize, to: usize, entry: Entry) -> Result<Taken, CrawlError> {
        let refusal = if entry.is_seed || entry.redirects > 0 {
            None
        } else {
            self.not_worth(&entry.url)?
        };
        let is_known = refusal
            .as_ref()
            .is_some_and(|(rule, _)| *rule == PARAMETER_IGNORED);
        let fresh = u32::from(!is_known && !is_asset(&entry.url));
        let abroad = u32::from(fresh > 0 && self.novelty.is_on() && leaves_domain(&entry));
        let mut taken = Taken {
            admitted: 0,
            fresh,
            abroad,
        };
        if let Some((rule, _)) = refusal {
            self.partitions[home].counters.refusal(rule);
            if is_held(rule) {
                self.hold(&entry);
            }
            return Ok(taken);
        }
        taken.admitted = u32::from(self.hand_over(home, to, entry)?);
        Ok(taken)
    }

    /// Takes in one link of a page before all others, where its site is in doubt.
    pub(crate) fn admit_dive(
        &mut self,
        on: &Entry,
        template: &Template,
        document: &Document,
    ) -> Result<Taken, CrawlError> {
        let Some(link) = self.dives_to(on, template, document)? else {
            return Ok(Taken::default());
        };
        // It is given its share with all other links of the page.
        let taken = self.admit_link(on, Lead::to(&link, LinkKind::Anchor), 0, Way::Dive)?;
        if taken.admitted > 0 {
            self.dived(on, template, &link);
        }
        Ok(taken)
    }

    /// An external link of a party becomes a seed if it is new.
    fn add_candidate(&mut self, on: &Entry, url: &CrawlUrl) -> Result<(), CrawlError> {
        let url = candidate_seed(url);
        if self.seeds.knows(&url) {
            return Ok(());
        }
        if !self.has_hosts_left(&url)? {
            let home = self.partition_of(on.url.site_hash());
            self.partitions[home]
                .counters
                .refusal(DomainNovelty::REFUSAL);
            return Ok(());
        }
        let topic = self.seeds.get(on.seed).topic.clone();
        let number = self.seeds.add(&SeedInput { url, topic }, Some(&on.url));
        self.admit_seed(number)
    }

    /// Whether the party of a URL may have another one; where not, the link
    /// counts as refused.
    pub(crate) fn has_room(&mut self, partition: usize, entry: &Entry) -> bool {
        let urls = self.seeds.get(entry.seed).urls;
        let is_full = self.config.party_urls_max.is_some_and(|max| urls >= max);
        if entry.is_seed || !is_full {
            return true;
        }
        self.partitions[partition].counters.refusal(PARTY_FULL);
        false
    }

    /// Queues a URL here, or posts it to the partition that owns its site.
    fn hand_over(&mut self, from: usize, to: usize, entry: Entry) -> Result<bool, CrawlError> {
        if from == to {
            return self.queue(to, entry);
        }
        if self.sent.len() >= SENT_MAX {
            self.sent.clear();
        }
        let new = self.sent.insert(entry.url.hash64().0);
        if new {
            self.partitions[from].post(to as u16, entry);
        }
        Ok(new)
    }

    /// The seen test, and the site's queue.
    pub(crate) fn queue(&mut self, partition: usize, entry: Entry) -> Result<bool, CrawlError> {
        if self.partitions[partition].has_seen(entry.url.hash64())? {
            return Ok(false);
        }
        if !self.may_open(&entry.url, entry.is_seed)? {
            self.partitions[partition]
                .counters
                .refusal(DomainNovelty::REFUSAL);
            self.hold_for_domain(&entry);
            return Ok(false);
        }
        self.partitions[partition].first_sight(entry.url.hash64())?;
        self.partitions[partition].counters.admitted += 1;
        self.seeds.edit(entry.seed, |seed| seed.urls += 1);
        self.importance.queued(entry.url.hash64(), entry.priority);
        let now = self.clock.now();
        self.enqueue(partition, entry, now)?;
        Ok(true)
    }

    /// Brings the site of a URL into memory, unless it is there.
    pub(crate) fn ensure_open(&mut self, url: &CrawlUrl, now: Timestamp) -> Result<(), CrawlError> {
        let site = url.site_hash();
        if self.frontier.is_open(site) {
            return Ok(());
        }
        let partition = self.partition_of(site);
        let state = self.partitions[partition].site(site)?;
        let pending = state.as_ref().map_or(0, SiteState::pending);
        self.parked = self.parked.saturating_sub(pending);
        self.open_site(
            partition,
            state.unwrap_or_else(|| SiteState::new(url.site())),
            now,
        )
    }

    /// Brings a site into memory, with what its robots.txt permitted.
    pub(crate) fn open_site(
        &mut self,
        partition: usize,
        mut state: SiteState,
        now: Timestamp,
    ) -> Result<(), CrawlError> {
        let site = state.key.hash64();
        let own = self.policies.own(&state.key);
        let policy = own.unwrap_or(self.policies.general());
        if policy.robots == RobotsMode::Respect
            && !self.robots.knows(site)
            && let Some(access) = self.partitions[partition].access(site)?
        {
            if matches!(access, SiteAccess::NoAnswer { .. }) {
                // That it gave no answer once is no rule: it is asked again.
                state.robots_until = None;
            } else {
                self.robots.set(site, access);
            }
        }
        let rest = policy
            .politeness
            .rest(state.last_download, state.crawl_delay);
        let not_before = self.unclean_since.map_or(now, |since| since + rest);
        let rules = match own {
            // Counting means reading every record of the site: only where asked.
            Some(own) if own.pages_max.is_some() => {
                Some(own.rules(self.partitions[partition].saved_of(site, self.round.started())?))
            }
            own => own.map(|own| own.rules(0)),
        };
        self.frontier.open_site_with(state, rules, not_before, now);
        for entry in self.partitions[partition].list_open(site)? {
            self.parked = self.parked.saturating_sub(1);
            self.frontier.admit(entry, now);
        }
        Ok(())
    }
}
