//! Links: what becomes of where a page leads.
//!
//! What [`Admit`](super::admit::Admit) wants goes to the partition that owns its
//! site: the seen test and the queue are there. Links to another partition travel
//! as mail and are taken in when they arrive. Two short cuts hold while all
//! partitions are in one process: a link known to be seen over there is not sent,
//! and a candidate seed is queued at once.

use geomi_frontier::Entry;
use geomi_model::{
    ChangeFrequency, ChangeSignal, Document, DocumentKind, GUESSED_SITEMAP, LinkKind,
};
use geomi_novelty::Combines;
use geomi_refresh::upkeep::SignalSource;
use geomi_scope::{Candidate, Refusal, Requisites, Rule, candidate_seed};
use geomi_url::template::Template;
use geomi_url::{CrawlUrl, UrlHash, registrable_domain};

use crate::journey::Journey;
use crate::novelty::{NotWorth, is_asset};
use crate::refusal::RefusalRule;
use crate::seeds::Added;
use crate::stage::admit::{Admission, Found, Standing, may_follow};
use crate::{CrawlError, SeedInput, SitemapMode};

/// Links to other partitions that are remembered as sent.
const SENT_MAX: usize = 1 << 20;

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

impl Journey<'_> {
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
                self.partitions[home]
                    .counters
                    .refusal(RefusalRule::SitemapsTooDeep);
                return Ok(taken);
            }
            DocumentKind::SitemapIndex => Way::Sitemap,
            _ => Way::Link,
        };
        let kept = self.not_sessions(&on.url, document)?;
        let share = self
            .importance
            .visited(on.url.hash64(), document.links.len());
        let hashes: Vec<UrlHash> = document.links.iter().map(|l| l.url.hash64()).collect();
        self.importance.warm(&hashes);
        let is_outside = self.is_outside(on)?;
        if document.links_dropped > 0 {
            let home = self.partition_of(on.url.site_hash());
            let dropped = u64::from(document.links_dropped);
            self.partitions[home]
                .counters
                .refusals(RefusalRule::TooManyLinks, dropped);
        }
        for link in &document.links {
            let refusal = (self.config.follow.refusal(link)).or_else(|| {
                (!may_follow(&self.config, document, link)).then_some(RefusalRule::Nofollow)
            });
            if let Some(rule) = refusal {
                let home = self.partition_of(on.url.site_hash());
                self.partitions[home].counters.refusal(rule);
                continue;
            }
            if is_outside && !link.kind.is_requisite() {
                continue;
            }
            // The server's own spelling is kept where it redirects, or the two
            // would send each other round in circles.
            let shortened = self.novelty.shortened_link(&link.url, &kept);
            let url = shortened.as_ref().unwrap_or(&link.url);
            let lead = Lead {
                url,
                kind: link.kind,
                told: link.signal.as_ref(),
            };
            taken += self.admit_link(on, lead, share, way)?;
            if let Some(signal) = &link.signal {
                self.note_signal(url, signal, SignalSource::of(document.kind))?;
            }
        }
        Ok(taken)
    }

    /// Whether a page is wanted only because another needs it: then the same holds
    /// for what it leads to.
    fn is_outside(&mut self, on: &Entry) -> Result<bool, CrawlError> {
        if self.config.scope.requisites == Requisites::Scope || on.is_seed {
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
        Ok(!self.admit.scope().judge(&candidate).is_accepted())
    }

    /// Keeps what a sitemap or feed says of a page that is wanted.
    fn note_signal(
        &mut self,
        url: &CrawlUrl,
        signal: &ChangeSignal,
        source: SignalSource,
    ) -> Result<(), CrawlError> {
        let (site, hash) = (url.site_hash(), url.hash64());
        let to = self.partition_of(site);
        if self.partitions[to].has_seen(site, hash)? || self.sent.contains(&(site, hash)) {
            self.partitions[to].set_signal(url, signal);
            self.refresh_told(url, signal, source)?;
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
                .refusal(RefusalRule::TooManyRedirects);
            return Ok(false);
        }
        if on.is_seed {
            let target = target.clone();
            self.edit_seed(on.seed, |seed| seed.home = target)?;
        }
        // What a page has is that of the page it stands for.
        let share = self.importance.visited(on.url.hash64(), 1);
        // What an image redirects to is that image.
        let kind = match on.kind {
            kind if kind.is_requisite() => kind,
            LinkKind::Script => LinkKind::Script,
            _ => LinkKind::Other,
        };
        let taken = self.admit_link(on, Lead::to(target, kind), share, Way::Redirect)?;
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
        let has_seen = self.partitions[to].has_seen(site, hash)?;
        if has_seen && credit.has_doubled && way == Way::Link {
            self.promote(on, url, kind, credit)?;
        }
        // What was sent is in the mail, and in no queue yet.
        let is_known = has_seen || self.sent.contains(&(site, hash));
        let depth = on.depth.saturating_add(way.step());
        let may_be_nearer =
            self.admit.tracks_depth() && (!has_seen || self.frontier.may_wait_deeper(site, depth));
        if is_known && !may_be_nearer {
            return Ok(none);
        }
        let home = self.partition_of(on.url.site_hash());
        let seed = self.seed(on.seed)?;
        let found = Found {
            url,
            kind,
            is_redirect: way == Way::Redirect,
            is_sitemap: way == Way::Sitemap,
            on,
            importance: self.importance.of(credit.cash),
            home: &seed.home,
            standing: self.standing(url, told),
        };
        if is_known {
            self.found_again(to, &found)?;
            return Ok(none);
        }
        let admission = self.admit.link(&found);
        if let Admission::Refused(Refusal::TooDeep { .. }) = admission {
            self.note_too_deep(to, &found)?;
        }
        // Held on to, it would be copied when it is changed.
        drop(seed);
        match admission {
            Admission::Queue(mut entry, rule) => {
                if !self.has_room(home, &entry)? {
                    return Ok(none);
                }
                if rule == Rule::Requisite
                    && way == Way::Link
                    && !self.may_nest(home, on, &mut entry)
                {
                    return Ok(none);
                }
                if kind == LinkKind::Script && !self.script_links.may_try(url) {
                    self.partitions[home]
                        .counters
                        .refusal(RefusalRule::ScriptLink);
                    return Ok(none);
                }
                if way == Way::Dive {
                    entry.priority = 1;
                }
                self.admit_worthy(home, to, entry)
            }
            Admission::Refused(refusal) => {
                self.partitions[home]
                    .counters
                    .refusal(RefusalRule::Scope(refusal));
                // A page whose links have grown past a limit is no dead end.
                let fresh = u32::from(has_grown(&refusal));
                Ok(Taken {
                    fresh,
                    below: fresh,
                    ..none
                })
            }
            Admission::CandidateSeed => {
                self.add_candidate(on, url)?;
                Ok(none)
            }
        }
    }

    /// Whether a page may need what is so far from it. What is needed may need more
    /// in turn, and a hostile server could go on for ever.
    fn may_nest(&mut self, home: usize, on: &Entry, entry: &mut Entry) -> bool {
        let nesting = if on.kind.is_requisite() {
            on.redirects
        } else {
            0
        };
        entry.redirects = nesting.saturating_add(1);
        let may = entry.redirects <= self.config.redirects_max;
        if !may {
            self.partitions[home]
                .counters
                .refusal(RefusalRule::RequisitesTooDeep);
        }
        may
    }

    /// Takes in a URL that is wanted, if it is worth a request now.
    fn admit_worthy(
        &mut self,
        home: usize,
        to: usize,
        mut entry: Entry,
    ) -> Result<Taken, CrawlError> {
        let is_exempt = entry.is_seed || (entry.redirects > 0 && entry.kind.is_requisite());
        let template = self.novelty.is_on().then(|| Template::of(&entry.url));
        let template = template.as_ref();
        let mut taken = self.growth(&entry, template)?;
        let not_worth = if is_exempt {
            None
        } else {
            self.not_worth(&entry.url, template)?
        };
        // The target of a redirect may be a spelling that the server insists on.
        let is_deferred = |reason: &NotWorth| matches!(reason, NotWorth::Deferred(_));
        match not_worth.filter(|reason| entry.redirects == 0 || is_deferred(reason)) {
            None => taken.admitted = u32::from(self.hand_over(home, to, entry)?),
            Some(reason) => {
                self.partitions[home].counters.refusal(reason.rule());
                match reason {
                    NotWorth::Deferred(_) => {
                        self.note_path(to, &mut entry)?;
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
    fn growth(&mut self, entry: &Entry, template: Option<&Template>) -> Result<Taken, CrawlError> {
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
                .refusal(RefusalRule::DomainHosts);
            return Ok(());
        }
        let topic = self.seed(on.seed)?.topic.clone();
        let input = SeedInput { url, topic };
        match self.seeds.add(&self.partitions[0], &input, Some(&on.url))? {
            Added::New(number) => self.admit_seed(&input.url, number),
            Added::Known => Ok(()),
        }
    }

    /// Whether the party of a URL may have another one; where not, the link
    /// counts as refused.
    pub(crate) fn has_room(&mut self, partition: usize, entry: &Entry) -> Result<bool, CrawlError> {
        let Some(max) = self.config.party_urls_max.filter(|_| !entry.is_seed) else {
            return Ok(true);
        };
        if self.seed(entry.seed)?.urls < max {
            return Ok(true);
        }
        self.partitions[partition]
            .counters
            .refusal(RefusalRule::PartyFull);
        Ok(false)
    }

    /// Queues a URL here, or posts it to the partition that owns its site.
    fn hand_over(&mut self, from: usize, to: usize, mut entry: Entry) -> Result<bool, CrawlError> {
        if from == to {
            return self.queue(to, entry);
        }
        if self.sent.len() >= SENT_MAX {
            self.sent.clear();
        }
        let new = (self.sent).insert((entry.url.site_hash(), entry.url.hash64()));
        if new {
            self.note_path(to, &mut entry)?;
            self.partitions[from].post(to as u16, entry);
        }
        Ok(new)
    }

    /// The seen test, and the site's queue.
    pub(crate) fn queue(&mut self, partition: usize, mut entry: Entry) -> Result<bool, CrawlError> {
        let (site, hash) = (entry.url.site_hash(), entry.url.hash64());
        if self.partitions[partition].has_seen(site, hash)? {
            self.shorten(partition, entry)?;
            return Ok(false);
        }
        self.note_path(partition, &mut entry)?;
        if !self.may_open(&entry.url, entry.is_seed)? {
            self.partitions[partition]
                .counters
                .refusal(RefusalRule::DomainHosts);
            self.hold_for_domain(&entry);
            return Ok(false);
        }
        self.partitions[partition].first_sight(site, hash)?;
        self.partitions[partition].counters.admitted += 1;
        self.edit_seed(entry.seed, |seed| seed.urls += 1)?;
        self.importance.queued(entry.url.hash64(), entry.priority);
        let now = self.clock.now();
        self.enqueue(partition, entry, now)?;
        Ok(true)
    }
}
