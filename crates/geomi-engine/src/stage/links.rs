//! Links: the links and redirects of a page are admitted, refused or sent elsewhere.
//!
//! What [`Admit`](super::admit::Admit) wants goes to the partition that owns its
//! domain: the seen test and the queue are there. Links to another partition travel
//! as letters ([`letters`](crate::letters)) and are judged like any other when they
//! arrive.

use geomi_frontier::Entry;
use geomi_model::{ChangeFrequency, ChangeSignal, Document, DocumentKind, LinkKind};
use geomi_novelty::Combines;
use geomi_scope::{Candidate, Refusal, Requisites, Rule, candidate_seed};
use geomi_url::template::Template;
use geomi_url::{CrawlUrl, UrlHash, registrable_domain};

use crate::engine::{Around, Engine};
use crate::novelty::{NotWorth, is_asset};
use crate::refusal::RefusalRule;
use crate::stage::admit::{Admission, Found, Standing, may_follow};
use crate::{EngineError, SeedInput, SitemapMode};
use geomi_model::GUESSED_SITEMAP;
use geomi_refresh::upkeep::SignalSource;

/// Indexes of sitemaps within one another, at most. The protocol allows one.
const SITEMAP_NESTING_MAX: u8 = 3;

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

impl Way {
    /// Links it adds to the depth of the page it was found on. A redirect keeps that
    /// depth, and so does a sitemap: the pages it lists are one link away, not two.
    pub(crate) const fn step(self) -> u16 {
        match self {
            Self::Link | Self::Dive => 1,
            Self::Redirect | Self::Sitemap => 0,
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

/// What became of the links of a page.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) struct Taken {
    /// Queued.
    pub(crate) admitted: u32,
    /// In scope and new, whether queued or deferred. Left out are images and other
    /// files, what robots.txt forbids, and templates that bring no content.
    pub(crate) fresh: u32,
    /// Of the fresh ones, those that leave the page's domain.
    pub(crate) abroad: u32,
    /// Of the fresh ones, new combinations of known query pairs.
    pub(crate) pairs: u32,
    /// Of the fresh ones, new combinations of known pairs or words.
    pub(crate) words: u32,
    /// Of the fresh ones, those whose URL begins with the page's own.
    pub(crate) below: u32,
}

impl std::ops::AddAssign for Taken {
    fn add_assign(&mut self, more: Self) {
        self.admitted += more.admitted;
        self.fresh += more.fresh;
        self.abroad += more.abroad;
        self.pairs += more.pairs;
        self.words += more.words;
        self.below += more.below;
    }
}

impl Engine {
    /// Takes in the links of a page.
    pub(crate) fn admit_links(
        &mut self,
        around: &mut Around<'_>,
        on: &Entry,
        document: &Document,
    ) -> Result<Taken, EngineError> {
        let mut taken = Taken::default();
        let way = match document.kind {
            DocumentKind::SitemapIndex if on.redirects >= SITEMAP_NESTING_MAX => {
                self.store.counters.refusal(RefusalRule::SitemapsTooDeep);
                return Ok(taken);
            }
            DocumentKind::SitemapIndex => Way::Sitemap,
            _ => Way::Link,
        };
        let kept = self.not_sessions(&on.url, document)?;
        let share = around
            .shared
            .importance
            .visited(on.url.hash64(), document.links.len());
        let hashes: Vec<UrlHash> = document.links.iter().map(|l| l.url.hash64()).collect();
        around.shared.importance.warm(&hashes);
        let is_outside = self.is_outside(on)?;
        if document.links_dropped > 0 {
            let dropped = u64::from(document.links_dropped);
            self.store
                .counters
                .refusals(RefusalRule::TooManyLinks, dropped);
        }
        for link in &document.links {
            let refusal = (self.rules.config.follow.refusal(link)).or_else(|| {
                (!may_follow(&self.rules.config, document, link)).then_some(RefusalRule::Nofollow)
            });
            if let Some(rule) = refusal {
                self.store.counters.refusal(rule);
                continue;
            }
            if is_outside && !link.kind.is_requisite() {
                continue;
            }
            // The server's own spelling is kept where it redirects, or the two
            // would send each other round in circles.
            let shortened = self.learned.novelty.shortened_link(&link.url, &kept);
            let url = shortened.as_ref().unwrap_or(&link.url);
            let lead = Lead {
                url,
                kind: link.kind,
                told: link.signal.as_ref(),
            };
            taken += self.admit_link(around, on, lead, share, way)?;
            if let Some(signal) = &link.signal {
                self.note_signal(around, url, signal, SignalSource::of(document.kind))?;
            }
        }
        Ok(taken)
    }

    /// Whether a page is wanted only because another needs it: then the same holds
    /// for what it leads to.
    fn is_outside(&mut self, on: &Entry) -> Result<bool, EngineError> {
        if self.rules.config.scope.requisites == Requisites::Scope || on.is_seed {
            return Ok(false);
        }
        let seed = self.seed(on.seed)?;
        let candidate = Candidate {
            url: &on.url,
            seed: &seed.home,
            depth: on.depth,
            is_seed: false,
            is_redirect: false,
        };
        Ok(!self.rules.admit.scope().judge(&candidate).is_accepted())
    }

    /// Keeps what a sitemap or feed says of a page that is wanted.
    pub(crate) fn note_signal(
        &mut self,
        around: &mut Around<'_>,
        url: &CrawlUrl,
        signal: &ChangeSignal,
        source: SignalSource,
    ) -> Result<(), EngineError> {
        let (site, hash) = (url.site_hash(), url.hash64());
        if self.elsewhere(url).is_none() && self.store.has_seen(site, hash)? {
            self.store.set_signal(url, signal);
            self.refresh_told(around, url, signal, source)?;
        }
        Ok(())
    }

    /// Takes in the sitemaps of a page's site, the first time one of its pages is
    /// about to be asked for: they belong to that page's party.
    pub(crate) fn admit_sitemaps(
        &mut self,
        around: &mut Around<'_>,
        on: &Entry,
    ) -> Result<(), EngineError> {
        if self.rules.config.sitemaps == SitemapMode::None {
            return Ok(());
        }
        let Some(mut named) = self.sites.robots.take_sitemaps(on.url.site_hash()) else {
            return Ok(());
        };
        if named.is_empty() && self.rules.config.sitemaps == SitemapMode::Guess {
            named.push(GUESSED_SITEMAP.to_owned());
        }
        // As if the page had been reached without a redirect: nesting counts from here.
        let on = Entry {
            redirects: 0,
            ..on.clone()
        };
        for name in named {
            // What is no URL is passed over: the line is in the archive.
            if let Ok(url) = on.url.join(&name) {
                self.admit_link(
                    around,
                    &on,
                    Lead::to(&url, LinkKind::Other),
                    0,
                    Way::Sitemap,
                )?;
            }
        }
        Ok(())
    }

    /// Takes in where a page redirects to.
    pub(crate) fn admit_redirect(
        &mut self,
        around: &mut Around<'_>,
        on: &Entry,
        target: &CrawlUrl,
    ) -> Result<bool, EngineError> {
        if on.redirects >= self.rules.config.redirects_max {
            self.store.counters.refusal(RefusalRule::TooManyRedirects);
            return Ok(false);
        }
        if on.is_seed {
            let target = target.clone();
            self.edit_seed(on.seed, |seed| seed.home = target)?;
        }
        // What a page has is that of the page it stands for.
        let share = around.shared.importance.visited(on.url.hash64(), 1);
        // What an image redirects to is that image.
        let kind = match on.kind {
            kind if kind.is_requisite() => kind,
            LinkKind::Script => LinkKind::Script,
            _ => LinkKind::Other,
        };
        let taken = self.admit_link(around, on, Lead::to(target, kind), share, Way::Redirect)?;
        Ok(taken.admitted > 0)
    }

    /// What speaks for a URL, of which a sitemap or feed may have said something.
    pub(crate) fn standing(&self, url: &CrawlUrl, signal: Option<&ChangeSignal>) -> Standing {
        let knows_traffic = self.rules.policies.know_traffic();
        let traffic = knows_traffic.then(|| self.rules.policies.traffic(&url.site()));
        let frequency = signal.and_then(|signal| signal.frequency);
        Standing {
            site_success: self.queues.frontier.success(url.site_hash()),
            traffic: traffic.flatten(),
            change: frequency.map(ChangeFrequency::score),
        }
    }

    fn admit_link(
        &mut self,
        around: &mut Around<'_>,
        on: &Entry,
        Lead { url, kind, told }: Lead<'_>,
        share: u32,
        way: Way,
    ) -> Result<Taken, EngineError> {
        let none = Taken::default();
        let site = url.site_hash();
        let hash = url.hash64();
        let owner = self.elsewhere(url);
        let credit = around.shared.importance.give(hash, share);
        // Most links lead to pages known already: nothing more is asked of them.
        let depth = on.depth.saturating_add(way.step());
        let has_seen = match owner {
            None => self.store.has_seen(site, hash)?,
            Some(_) => self.has_sent(url, depth),
        };
        if has_seen && owner.is_none() && credit.has_doubled && way == Way::Link {
            self.promote(around, on, url, kind, credit)?;
        }
        let may_be_nearer = owner.is_none()
            && self.rules.admit.tracks_depth()
            && (!has_seen || self.queues.frontier.may_wait_deeper(site, depth));
        if has_seen && !may_be_nearer {
            return Ok(none);
        }
        let seed = self.seed(on.seed)?;
        let found = Found {
            url,
            kind,
            is_redirect: way == Way::Redirect,
            is_sitemap: way == Way::Sitemap,
            on,
            importance: around.shared.importance.of(credit.cash),
            home: &seed.home,
            standing: self.standing(url, told),
        };
        if has_seen {
            self.found_again(around, &found)?;
            return Ok(none);
        }
        let admission = self.rules.admit.link(&found);
        if let Admission::Refused(Refusal::TooDeep { .. }) = admission {
            self.note_too_deep(&found)?;
        }
        // Held on to, it would be copied when it is changed.
        drop(seed);
        match admission {
            Admission::Queue(mut entry, rule) => {
                if !self.has_room(&entry)? {
                    return Ok(none);
                }
                if rule == Rule::Requisite && way == Way::Link && !self.may_nest(on, &mut entry) {
                    return Ok(none);
                }
                if kind == LinkKind::Script && !self.learned.script_links.may_try(url) {
                    self.store.counters.refusal(RefusalRule::ScriptLink);
                    return Ok(none);
                }
                if way == Way::Dive {
                    entry.priority = 1;
                }
                match owner {
                    None => self.admit_worthy(around, entry),
                    Some(owner) => {
                        let fresh = u32::from(kind != LinkKind::Script && !is_asset(url));
                        let abroad = u32::from(leaves_domain(&entry)).min(fresh);
                        let admitted = u32::from(self.send_link(owner, entry, told)?);
                        Ok(Taken {
                            admitted,
                            fresh,
                            abroad,
                            ..none
                        })
                    }
                }
            }
            Admission::Refused(refusal) => {
                self.store.counters.refusal(RefusalRule::Scope(refusal));
                // A page whose links have grown past a limit is no dead end.
                let fresh = u32::from(has_grown(&refusal));
                Ok(Taken {
                    fresh,
                    below: fresh,
                    ..none
                })
            }
            Admission::CandidateSeed => {
                self.add_candidate(around, on, url)?;
                Ok(none)
            }
        }
    }

    /// Whether a page may need what is so far from it. What is needed may need more
    /// in turn, and a hostile server could go on for ever.
    fn may_nest(&mut self, on: &Entry, entry: &mut Entry) -> bool {
        let nesting = if on.kind.is_requisite() {
            on.redirects
        } else {
            0
        };
        entry.redirects = nesting.saturating_add(1);
        let may = entry.redirects <= self.rules.config.redirects_max;
        if !may {
            self.store.counters.refusal(RefusalRule::RequisitesTooDeep);
        }
        may
    }

    /// Takes in a URL that is wanted, if it is worth a request now.
    pub(crate) fn admit_worthy(
        &mut self,
        around: &mut Around<'_>,
        mut entry: Entry,
    ) -> Result<Taken, EngineError> {
        if self.is_taken(&entry.url)? {
            self.refuse_collision(&entry.url);
            return Ok(Taken::default());
        }
        let is_exempt = entry.is_seed || (entry.redirects > 0 && entry.kind.is_requisite());
        let template = self
            .learned
            .novelty
            .is_on()
            .then(|| Template::of(&entry.url));
        let template = template.as_ref();
        let mut taken = self.growth(&entry, template)?;
        let not_worth = if is_exempt {
            None
        } else {
            self.not_worth(around, &entry.url, template)?
        };
        // The target of a redirect may be a spelling that the server insists on.
        let is_deferred = |reason: &NotWorth| matches!(reason, NotWorth::Deferred(_));
        match not_worth.filter(|reason| entry.redirects == 0 || is_deferred(reason)) {
            None => taken.admitted = u32::from(self.queue(around, entry)?),
            Some(reason) => {
                self.store.counters.refusal(reason.rule());
                match reason {
                    NotWorth::Deferred(_) => {
                        self.note_path(&mut entry)?;
                        self.hold(&entry);
                    }
                    NotWorth::ParameterIgnored(_) => return Ok(Taken::default()),
                    NotWorth::Mirror => {}
                }
            }
        }
        Ok(taken)
    }

    /// What a URL that was found says about the growth of its site.
    fn growth(&mut self, entry: &Entry, template: Option<&Template>) -> Result<Taken, EngineError> {
        let Some(template) = template else {
            return Ok(Taken::default());
        };
        // A string in a script may be no address at all.
        let is_guess = entry.kind == LinkKind::Script;
        if is_guess || is_asset(&entry.url) || self.is_disallowed(&entry.url) {
            return Ok(Taken::default());
        }
        let Some(found) = self.note_found(&entry.url, template, entry.via.as_ref())? else {
            return Ok(Taken::default());
        };
        let own = entry.via.as_ref().map(CrawlUrl::as_str);
        Ok(Taken {
            admitted: 0,
            fresh: 1,
            abroad: u32::from(leaves_domain(entry)),
            pairs: u32::from(found.combines == Combines::Pairs),
            words: u32::from(found.combines != Combines::Nothing),
            below: u32::from(own.is_some_and(|own| entry.url.as_str().starts_with(own))),
        })
    }

    /// Takes in one link of a page before all others, where its site is in doubt.
    pub(crate) fn admit_dive(
        &mut self,
        around: &mut Around<'_>,
        on: &Entry,
        template: &Template,
        document: &Document,
    ) -> Result<Taken, EngineError> {
        let Some(link) = self.dives_to(on, template, document)? else {
            return Ok(Taken::default());
        };
        // It is given its share with all other links of the page.
        let taken = self.admit_link(around, on, Lead::to(&link, LinkKind::Anchor), 0, Way::Dive)?;
        if taken.admitted > 0 {
            self.dived(on, template, &link);
        }
        Ok(taken)
    }

    /// An external link of a party becomes a seed if it is new.
    fn add_candidate(
        &mut self,
        around: &mut Around<'_>,
        on: &Entry,
        url: &CrawlUrl,
    ) -> Result<(), EngineError> {
        let url = candidate_seed(url);
        if self.seeds.book.knows(&url) {
            return Ok(());
        }
        if self.elsewhere(&url).is_none() && !self.has_hosts_left(&url)? {
            self.store.counters.refusal(RefusalRule::DomainHosts);
            return Ok(());
        }
        let topic = self.seed(on.seed)?.topic.clone();
        self.propose_seed(around, SeedInput { url, topic }, &on.url)
    }

    /// Whether the party of a URL may have another one; where not, the link
    /// counts as refused.
    pub(crate) fn has_room(&mut self, entry: &Entry) -> Result<bool, EngineError> {
        let Some(max) = self.rules.config.party_urls_max.filter(|_| !entry.is_seed) else {
            return Ok(true);
        };
        if self.seed(entry.seed)?.urls < max {
            return Ok(true);
        }
        self.store.counters.refusal(RefusalRule::PartyFull);
        Ok(false)
    }

    /// The seen test, and the site's queue.
    pub(crate) fn queue(
        &mut self,
        around: &mut Around<'_>,
        mut entry: Entry,
    ) -> Result<bool, EngineError> {
        let (site, hash) = (entry.url.site_hash(), entry.url.hash64());
        if self.store.has_seen(site, hash)? {
            self.shorten(around, entry)?;
            return Ok(false);
        }
        if self.is_taken(&entry.url)? {
            self.refuse_collision(&entry.url);
            return Ok(false);
        }
        self.note_path(&mut entry)?;
        if !self.may_open(&entry.url, entry.is_seed)? {
            self.store.counters.refusal(RefusalRule::DomainHosts);
            self.hold_for_domain(&entry);
            return Ok(false);
        }
        self.store.first_sight(site, hash)?;
        self.store.counters.admitted += 1;
        self.edit_seed(entry.seed, |seed| seed.urls += 1)?;
        around
            .shared
            .importance
            .queued(entry.url.hash64(), entry.priority);
        let now = around.now;
        self.enqueue(entry, now)?;
        Ok(true)
    }
}
