//! What one site has brought: accounts, texts, and URL parts without effect.

use std::collections::BTreeMap;

use geomi_url::{CrawlUrl, UrlHash};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

use crate::account::Worth;
use crate::choices::Choices;
use crate::dive::{Dive, Pick};
use crate::memory::{HashTable, Note, Notes, Ring};
use crate::params::{Part, hash_without, is_drawn, parts};
use crate::probe::{End, ProbeAnswer, Probes, Suspect};
use crate::recombined::{Combines, Parts};
use crate::template::are_neighbours;
use crate::{
    Account, NoveltyConfig, NoveltyRefusal, Param, SiteStanding, Template, TemplateStanding,
};

/// Templates a site may have.
const TEMPLATES_MAX: usize = 256;
/// Sections a site may have; the others share one.
const SECTIONS_MAX: usize = 16;
/// The section of all that have none of their own.
const OTHER_SECTIONS: &str = "*";
/// Shelves a site may have.
const SHELVES_MAX: usize = 64;
/// A calendar page more years ahead than this is no event.
const FAR_YEARS: u16 = 1;
/// Pages that far ahead after which a calendar counts as endless.
const FAR_PAGES: u32 = 3;
/// Pages of a dated template among which dives look for its end.
const DATED_DIVES: u32 = 100;
/// Links to waiting pages of its template that make a page the midst of a choice.
const MIDST: u32 = 3;
/// Last calls in a row that lead nowhere new after which there is an end.
const ENDS_MIN: u32 = 3;
/// How often that opens an account again.
const REOPENED_MAX: u32 = 3;
/// Bytes of main text outside links from which on a page is more than a list.
const OWN_TEXT_MIN: u64 = 200;
/// New links of a page that are several.
const SEVERAL_LINKS: u32 = 3;
/// Answers without content after which links to a template are no evidence.
const IDLE_AFTER: u32 = 3;
/// Path segments and query pairs beyond which a URL that grows from page to page
/// is no tree.
const DEEP_PARTS: usize = 8;
/// One page in so many may lead on before a template counts as leading on.
const LEAF_SHARE: u32 = 16;
/// What a supported page gives back to the budget of a site.
const SITE_SUPPORT: u32 = 10;
/// Parts of a template that are learned about.
const PARAMS_MAX: usize = 16;
/// Probes of a site.
const PROBES_MAX: u32 = 40;

/// Content of an answer, as far as it is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Content {
    /// Equal for what is the same to a reader, numbers included; for what is no
    /// page, for the same bytes.
    pub exact: u64,
    /// Equal for pages that differ in numbers and dates only; `None` for what
    /// is no page or has no words.
    pub words: Option<u64>,
    /// Numbers that tell pages with the same words apart
    /// ([`telling_numbers`](crate::telling_numbers)).
    pub numbers: Option<u64>,
}

/// A page that was fetched.
#[derive(Clone, Copy, Debug)]
pub struct Sight<'a> {
    /// Its URL.
    pub url: &'a CrawlUrl,
    /// Its template.
    pub template: &'a Template,
    /// The template of the page it was found on, where that is on its site.
    pub via: Option<&'a Template>,
    /// The URL of that page.
    pub via_url: Option<&'a CrawlUrl>,
    /// What came.
    pub content: Content,
    /// Hashes of the images it embeds.
    pub images: &'a [u64],
    /// Links to pages that were not known; images, links that robots.txt forbids
    /// and links to templates that bring no content left out.
    pub fresh_links: u32,
    /// Of these, those that were queued and not deferred.
    pub fresh_queued: u32,
    /// Of these, those that leave its domain.
    pub fresh_abroad: u32,
    /// Of these, new combinations of known query pairs.
    pub fresh_pairs: u32,
    /// Of these, new combinations of known pairs or words.
    pub fresh_words: u32,
    /// Bytes of its main text outside links.
    pub own_text_bytes: u64,
    /// Of these, those whose path and query begin with the page's own.
    pub fresh_below: u32,
    /// Whether it was deferred and fetched in a last call.
    pub is_last_call: bool,
    /// Its links to pages that were found elsewhere and are not fetched yet;
    /// `None` if nobody looked.
    pub ties: Option<Ties>,
}

/// Links of a page to pages that wait to be fetched.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Ties {
    /// One of them speaks for the page; see [`SiteNovelty::is_sideways`].
    pub sideways: bool,
    /// How many are of the page's own template.
    pub alike: u32,
}

impl Sight<'_> {
    /// Whether a page that leads nowhere new is only the midst of something that
    /// does: a page of a list whose next ones are known, a day among days.
    fn is_midst(&self, ties: Ties, dives: bool) -> bool {
        let is_choice = self.template.is_choice() && ties.alike >= MIDST;
        let is_in_row = ties.alike > 0 && !ties.sideways && self.via == Some(self.template);
        is_choice || (is_in_row && !dives)
    }

    /// Whether it leads nowhere new. A reference or two to elsewhere may stand on
    /// the last page of a site, too.
    const fn is_dead_end(&self) -> bool {
        self.fresh_links == self.fresh_abroad && self.fresh_abroad <= 2
    }

    /// Whether all it leads to is new combinations: of known filters for a page that
    /// has little to say itself or leads to several of them, of known words for one
    /// that does both. A post with text of its own that leads to the next one is
    /// neither.
    const fn only_combines(&self) -> bool {
        let is_list = self.own_text_bytes < OWN_TEXT_MIN;
        let has_several = self.fresh_links >= SEVERAL_LINKS;
        ((is_list || has_several) && are_most(self.fresh_pairs, self.fresh_links))
            || (is_list && has_several && are_most(self.fresh_words, self.fresh_links))
    }

    /// Whether it stands far down a URL that grows from page to page.
    fn is_deep(&self) -> bool {
        self.fresh_links > 0
            && self.fresh_below == self.fresh_links
            && self.template.parts() > DEEP_PARTS
    }
}

/// Whether nine of ten are some, and one is.
const fn are_most(some: u32, all: u32) -> bool {
    some > 0 && some >= all - all / 10
}

/// What a link that was not known looks like.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FoundLink {
    /// Its template has brought no content so far: it is no sign of growth.
    pub is_idle: bool,
    /// How far it is a new combination of what is known.
    pub combines: Combines,
}

/// What a page has taught.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct Observation {
    /// It had something new.
    pub is_new: bool,
    /// It showed that it belongs to a site.
    pub is_supported: bool,
    /// Spellings without a part that was just found not to matter: they count
    /// as seen.
    pub known: Vec<UrlHash>,
    /// Something that was closed is open again: what was refused is to be looked
    /// at once more.
    pub has_reopened: bool,
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct Kind {
    text: String,
    account: Account,
    params: Vec<Param>,
    /// Whether a dive through it has reached a dead end.
    has_bottom: bool,
    /// Answers without content: redirects, errors, what robots.txt forbids.
    idle: u32,
    /// Whether there is an end to it.
    probes: Probes,
}

/// A part of a site.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct Section {
    account: Account,
    /// Pages of it that are years ahead and lead on.
    far: u32,
    /// Whether there is an end to it.
    probes: Probes,
    /// The depth from which on its URLs grow without an end.
    grows_from: Option<usize>,
}

/// All that is learned of a site.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SiteNovelty {
    account: Account,
    sections: BTreeMap<String, Section>,
    shelves: BTreeMap<u64, Account>,
    kinds: BTreeMap<u64, Kind>,
    exact: Ring,
    words: Ring,
    numbers: Ring,
    images: HashTable,
    notes: Notes,
    parts: Parts,
    choices: Choices,
    /// Names of parameters whose values a machine draws and which make no difference on
    /// any template.
    drawn: Vec<String>,
    /// Probes made so far.
    probed: u32,
    /// Pages with new content that led on without support, of all templates, less
    /// what support has given back.
    unsupported: u32,
    /// URLs deferred.
    deferred: u32,
    #[serde(skip)]
    dive: Dive,
}

impl SiteNovelty {
    /// Answers with content so far.
    pub const fn requests(&self) -> u32 {
        self.account.requests
    }

    /// Supported pages so far.
    pub const fn supported(&self) -> u32 {
        self.account.supported
    }

    /// Whether a URL was ever deferred.
    pub const fn has_deferred(&self) -> bool {
        self.deferred > 0
    }

    /// Takes in a link to a page that was not known. To be asked before
    /// [`SiteNovelty::judge`].
    pub fn found(&mut self, url: &CrawlUrl, template: &Template) -> FoundLink {
        let combines = self.parts.meet(url, template.section());
        self.choices.meet(url);
        let count = |account: &mut Account| account.found = account.found.saturating_add(1);
        count(&mut self.account);
        if let Some(shelf) = self.shelves.get_mut(&template.shelf()) {
            count(shelf);
        }
        count(&mut self.section_mut(template.section()).account);
        let kind = self.kinds.get_mut(&template.hash());
        let is_idle = kind.is_some_and(|kind| {
            count(&mut kind.account);
            kind.account.requests == 0 && kind.idle >= IDLE_AFTER
        });
        FoundLink { is_idle, combines }
    }

    /// Takes in a page.
    pub fn observe(&mut self, config: &NoveltyConfig, sight: &Sight<'_>) -> Observation {
        let closed_before = self.closed(config);
        let worth = self.worth(sight);
        let template = sight.template;
        let hash = template.hash();
        let leads_on = !sight.is_dead_end();
        self.add(worth, config, template, sight);
        self.credit(worth, sight);
        self.go_on_diving(worth, sight);
        if sight.is_last_call {
            self.answer_last_call(config, template, leads_on);
            if sight.fresh_queued > 0 {
                self.refund_last_call(config, template);
            }
        }
        let mut known = Vec::new();
        if let Some(kind) = kind_of(&mut self.kinds, template) {
            kind.account.add(worth, leads_on);
            known = learn(kind, &mut self.notes, config, hash, sight);
        }
        known.extend(self.learn_drawn(config, sight.url));
        Observation {
            is_new: worth.is_new(),
            is_supported: worth == Worth::Supported,
            known,
            has_reopened: closed_before
                .is_some_and(|before| self.closed(config).is_none_or(|now| now < before)),
        }
    }

    /// Looks whether a drawn part of a page's URL makes no difference on the site as a
    /// whole: a session id stands on every link, and each template has a few pages only.
    /// Returns the spellings that count as seen if so.
    fn learn_drawn(&mut self, config: &NoveltyConfig, url: &CrawlUrl) -> Vec<UrlHash> {
        let mut known = Vec::new();
        let all = parts(url);
        for part in all.iter().filter(|part| is_drawn(part.value(url))) {
            let mut sum = Param::default();
            for kind in self.kinds.values() {
                let params = kind.params.iter().filter(|param| param.name == part.name);
                params.for_each(|param| sum.add(param));
            }
            let known_at = self.drawn.iter().position(|name| *name == part.name);
            match (sum.is_ignored(config.pairs_min), known_at) {
                (true, None) if self.drawn.len() < PARAMS_MAX => {
                    self.drawn.push(part.name.clone());
                    for kind in self.kinds.keys() {
                        let taken = self.notes.take(part.key(*kind));
                        known.extend(taken.into_iter().map(UrlHash));
                    }
                }
                (false, Some(at)) => drop(self.drawn.swap_remove(at)),
                _ => {}
            }
        }
        known
    }

    /// Charges shelf, section and site, as far as the page's template has not
    /// proven itself: what is good pays for nobody else.
    fn add(
        &mut self,
        worth: Worth,
        config: &NoveltyConfig,
        template: &Template,
        sight: &Sight<'_>,
    ) {
        let leads_on = !sight.is_dead_end();
        match worth {
            Worth::New => self.unsupported = self.unsupported.saturating_add(1),
            Worth::Supported => self.unsupported = self.unsupported.saturating_sub(SITE_SUPPORT),
            // Where there is an end, nothing but the budget of the site bounds repetition.
            worth if !worth.is_new() && leads_on => self.unsupported += 1,
            _ => {}
        }
        let kind = self.kinds.get(&template.hash());
        let is_bounded = self.end_of(template) == End::Exists;
        let mut is_proven = is_bounded || kind.is_some_and(|kind| kind.account.is_proven());
        let shelf = template.shelf();
        if self.shelves.len() < SHELVES_MAX || self.shelves.contains_key(&shelf) {
            let shelf = self.shelves.entry(shelf).or_default();
            let was_proven = shelf.is_proven();
            if is_proven {
                shelf.count(worth, leads_on);
            } else {
                shelf.add(worth, leads_on);
            }
            is_proven |= was_proven;
        }
        let is_far = leads_on && is_ahead(config, template, FAR_YEARS);
        let section = self.section_mut(template.section());
        section.far = section.far.saturating_add(u32::from(is_far));
        if is_proven {
            section.account.count(worth, leads_on);
            self.account.count(worth, leads_on);
        } else {
            section.account.add(worth, leads_on);
            self.account.add(worth, leads_on);
        }
    }

    /// How many accounts are closed, less those that are proven by now; `None`
    /// while nothing was deferred.
    fn closed(&self, config: &NoveltyConfig) -> Option<i64> {
        if self.deferred == 0 {
            return None;
        }
        let growth = config.growth_budget;
        let count = |account: &Account, budget: u32| {
            i64::from(account.is_closed(budget, growth)) - i64::from(account.is_proven())
        };
        let kinds = self.kinds.values().map(|kind| &kind.account);
        let kinds: i64 = kinds.map(|kind| count(kind, config.template_budget)).sum();
        let shelves = self.shelves.values();
        let shelves: i64 = shelves
            .map(|shelf| count(shelf, config.section_budget))
            .sum();
        let sections = self.sections.values();
        let sections: i64 = sections
            .map(|section| i64::from(section.account.is_closed(config.section_budget, growth)))
            .sum();
        let site = i64::from(self.account.is_closed(config.site_budget, growth));
        Some(kinds + shelves + sections + site)
    }

    /// Whether it is worth looking for links sideways on pages of this template:
    /// where all is well no proof is needed.
    pub fn needs_proof(&self, config: &NoveltyConfig, template: &Template) -> bool {
        if u64::from(self.unsupported) * 10 >= u64::from(config.site_pages) * 6 {
            return true;
        }
        if self.end_of(template) == End::Exists {
            return false;
        }
        let kind = self.kinds.get(&template.hash()).map(|kind| &kind.account);
        if kind.is_some_and(|kind| kind.is_in_doubt(config.template_budget)) {
            return true;
        }
        if kind.is_some_and(Account::is_proven) {
            return false;
        }
        let shelf = self.shelves.get(&template.shelf());
        if shelf.is_some_and(|shelf| shelf.is_in_doubt(config.section_budget)) {
            return true;
        }
        if shelf.is_some_and(Account::is_proven) {
            return false;
        }
        let section = self.section(template.section());
        section.is_some_and(|section| section.account.is_in_doubt(config.section_budget))
            || self.account.is_in_doubt(config.site_budget)
    }

    /// Whether a link of a page speaks for it, given that the link's target was
    /// found elsewhere and is not fetched yet. To be asked of the site the link
    /// leads to.
    pub fn is_sideways(
        &self,
        (page, template): (&CrawlUrl, &Template),
        (link, target): (&CrawlUrl, &Template),
    ) -> bool {
        if !template.can_link_sideways()
            || !target.can_link_sideways()
            || !target.has_shape_of(template)
            || are_neighbours(page, link, template.segments())
        {
            return false;
        }
        if page.origin() == link.origin() && target.section() == template.section() {
            return true;
        }
        // Elsewhere only what looks the same and is as doubtful: every page of a
        // trap may link to the good pages beside it.
        let kind = self.kinds.get(&target.hash());
        target.tail() == template.tail() && !kind.is_some_and(|kind| kind.account.is_proven())
    }

    /// Whether one of a page's links is to jump the queue, and which.
    pub fn dives_from(
        &self,
        config: &NoveltyConfig,
        url: &CrawlUrl,
        template: &Template,
    ) -> Option<Pick> {
        let kind = self.kinds.get(&template.hash());
        let is_dated = || {
            let requests = kind.map_or(0, |kind| kind.account.requests);
            template.year().is_some() && requests < DATED_DIVES
        };
        let is_due = self.dive.awaits(url) || self.needs_proof(config, template) || is_dated();
        is_due.then(|| self.dive.takes(url)).flatten()
    }

    /// A link of a page has jumped the queue.
    pub fn dive(&mut self, url: &CrawlUrl, template: &Template, link: &CrawlUrl) {
        self.dive.step(url, template, link);
    }

    /// A URL brought no content: a redirect, an error, or robots.txt forbids it.
    pub fn miss(&mut self, url: &CrawlUrl, template: &Template) {
        if let Some(kind) = kind_of(&mut self.kinds, template) {
            kind.idle = kind.idle.saturating_add(1);
        }
        if self.dive.awaits(url) {
            self.dive.end();
        }
    }

    /// Why a URL is deferred; `None` if it is not.
    pub fn standing(&self, config: &NoveltyConfig, template: &Template) -> Option<NoveltyRefusal> {
        if !config.is_on {
            return None;
        }
        let growth = config.growth_budget;
        let section = self.section(template.section());
        match self.end_of(template) {
            End::Missing => return Some(NoveltyRefusal::Endless),
            End::Exists if self.unsupported < config.site_pages => return None,
            End::Exists => return Some(NoveltyRefusal::Budget),
            End::Unknown => {}
        }
        let is_endless = section.is_some_and(|section| section.far >= FAR_PAGES);
        if is_endless && template.is_only_dated() {
            return Some(NoveltyRefusal::Calendar);
        }
        let kind = self.kinds.get(&template.hash()).map(|kind| &kind.account);
        if kind.is_some_and(|kind| kind.is_closed(config.template_budget, growth)) {
            return Some(NoveltyRefusal::Template);
        }
        if self.unsupported >= config.site_pages {
            return Some(NoveltyRefusal::Budget);
        }
        if kind.is_some_and(Account::is_proven) {
            return None;
        }
        let shelf = self.shelves.get(&template.shelf());
        if shelf.is_some_and(|shelf| shelf.is_closed(config.section_budget, growth)) {
            return Some(NoveltyRefusal::Section);
        }
        if shelf.is_some_and(Account::is_proven) {
            return None;
        }
        if section.is_some_and(|section| section.account.is_closed(config.section_budget, growth)) {
            return Some(NoveltyRefusal::Section);
        }
        // A part of the site in which nothing repeats is not to blame for the others.
        let is_charged = section.is_some_and(|section| section.account.repeated > 0);
        let is_closed = self.account.branches(growth)
            || (is_charged && self.account.left(config.site_budget) == 0);
        is_closed.then_some(NoveltyRefusal::Site)
    }

    /// The same for a URL that was found or whose turn has come: deferred URLs are
    /// counted.
    pub fn judge(&mut self, config: &NoveltyConfig, template: &Template) -> Option<NoveltyRefusal> {
        let refusal = self.standing(config, template)?;
        self.deferred = self.deferred.saturating_add(1);
        let account = self.account_of(refusal, template);
        account.deferred = account.deferred.saturating_add(1);
        Some(refusal)
    }

    /// The account on which a URL of this template was deferred.
    fn account_of(&mut self, refusal: NoveltyRefusal, template: &Template) -> &mut Account {
        match refusal {
            NoveltyRefusal::Template => {
                let kind = self.kinds.get_mut(&template.hash());
                &mut kind.expect("a closed template is known").account
            }
            _ => self.calling_account(refusal, template),
        }
    }

    /// The account that counts last calls: templates share that of their section,
    /// because a trap may have many.
    fn calling_account(&mut self, refusal: NoveltyRefusal, template: &Template) -> &mut Account {
        match refusal {
            NoveltyRefusal::Template
            | NoveltyRefusal::Section
            | NoveltyRefusal::Calendar
            | NoveltyRefusal::Endless => &mut self.section_mut(template.section()).account,
            NoveltyRefusal::Site | NoveltyRefusal::Budget => &mut self.account,
        }
    }

    /// Whether a template is closed. A link to one says nothing about growth, unless
    /// it is on a page of a closed one itself: a trap that every page links to does
    /// not make all of them look endless.
    pub fn is_closed(&self, config: &NoveltyConfig, template: &Template) -> bool {
        let (budget, growth) = (config.template_budget, config.growth_budget);
        match self.end_of(template) {
            End::Missing => true,
            End::Exists => false,
            End::Unknown => {
                let kind = self.kinds.get(&template.hash());
                kind.is_some_and(|kind| kind.account.is_closed(budget, growth))
            }
        }
    }

    /// Whether probes have found an end to a template or its section, or none.
    pub fn end_of(&self, template: &Template) -> End {
        let section = self.section(template.section());
        let grows_from = section.and_then(|section| section.grows_from);
        if grows_from.is_some_and(|from| template.depth() >= from) {
            return End::Missing;
        }
        let kind = self.kinds.get(&template.hash());
        match kind.map_or(End::Unknown, |kind| kind.probes.end) {
            End::Unknown => section.map_or(End::Unknown, |section| section.probes.end),
            end => end,
        }
    }

    /// A URL to be asked for that no page links to, if there is doubt whether the page's
    /// template or section has an end; see [`probe`](crate::probe). `links` are links of
    /// the page that were not known.
    pub fn probe<'a>(
        &mut self,
        config: &NoveltyConfig,
        sight: &Sight<'_>,
        links: impl Iterator<Item = &'a CrawlUrl>,
    ) -> Option<CrawlUrl> {
        let template = sight.template;
        let known = self.kinds.get(&template.hash()).map(|kind| &kind.account);
        let led_on = known.is_some_and(|known| known.led_on > 0);
        let is_end = sight.is_dead_end() && (led_on || !template.is_dated());
        // A few filters are fetched whole, though any combination of them is answered.
        let is_few = self.choices.are_few(sight.url);
        let is_idle = is_end || is_few || self.probed >= PROBES_MAX || !config.is_on;
        if is_idle || self.end_of(template) != End::Unknown {
            return None;
        }
        let section = template.section();
        let is_suspect =
            |account: &Account, probes: &Probes| account.is_suspect() && probes.may_ask();
        let kind = self.kinds.get_mut(&template.hash());
        let kind = kind.filter(|kind| is_suspect(&kind.account, &kind.probes));
        if kind.is_none() {
            let section = self.section(section);
            section.filter(|section| is_suspect(&section.account, &section.probes))?;
        }
        let links: Vec<&CrawlUrl> = links
            .filter(|link| Template::of(link).section() == section)
            .collect();
        let suspect = Suspect {
            url: sight.url,
            template,
            via: sight.via_url,
            links: &links,
            combines: sight.fresh_words > 0,
        };
        let kind = self.kinds.get_mut(&template.hash());
        let kind = kind.filter(|kind| is_suspect(&kind.account, &kind.probes));
        let probe = match kind {
            Some(kind) => kind.probes.next(suspect),
            None => self.section_mut(section).probes.next(suspect),
        };
        self.probed += u32::from(probe.is_some());
        probe
    }

    /// Whether a URL is a probe that was not answered yet.
    pub fn is_probe(&self, url: &CrawlUrl, template: &Template) -> bool {
        self.probes_of(url, template).is_some()
    }

    fn probes_of(&self, url: &CrawlUrl, template: &Template) -> Option<&Probes> {
        if self.probed == 0 {
            return None;
        }
        // Another name may have another form: the template is that of the page.
        let kinds = self.kinds.values().map(|kind| &kind.probes);
        let section = self
            .section(template.section())
            .map(|section| &section.probes);
        kinds.chain(section).find(|probes| probes.awaits(url))
    }

    /// Whether a link of a probe, not known yet, goes further in its direction.
    pub fn leads_on(&self, probe: &CrawlUrl, template: &Template, link: &CrawlUrl) -> bool {
        let probes = self.probes_of(probe, template);
        probes.is_some_and(|probes| probes.leads_on(probe, link))
    }

    /// Takes in what came of a probe.
    pub fn answer_probe(&mut self, url: &CrawlUrl, template: &Template, answer: ProbeAnswer<'_>) {
        let kinds = self.kinds.values_mut().map(|kind| &mut kind.probes);
        let sections = self
            .sections
            .values_mut()
            .map(|section| &mut section.probes);
        let mut all = kinds.chain(sections);
        let probes = all.find(|probes| probes.awaits(url));
        let Some(grows_from) = probes.and_then(|probes| probes.answered(answer)) else {
            return;
        };
        let section = self.section_mut(template.section());
        let least = section
            .grows_from
            .map_or(grows_from, |from| from.min(grows_from));
        section.grows_from = Some(least);
    }

    /// Whether nothing was fetched of a template yet.
    pub fn is_unknown(&self, template: &Template) -> bool {
        let kind = self.kinds.get(&template.hash()).map(|kind| &kind.account);
        kind.is_none_or(|kind| kind.requests == 0)
    }

    /// Whether pages of a template may lead on to more: some did, or none was
    /// fetched yet.
    pub fn may_lead_on(&self, template: &Template) -> bool {
        let kind = self.kinds.get(&template.hash()).map(|kind| &kind.account);
        kind.is_none_or(|kind| kind.requests == 0 || kind.led_on > kind.requests / LEAF_SHARE)
    }

    /// Whether a deferred URL that may lead on is fetched at the end of a crawl, and
    /// which number of its account it is. To be asked for one URL of an account
    /// at a time, the deepest first: if there is an end, it is found there.
    pub fn last_call(&mut self, config: &NoveltyConfig, template: &Template) -> Option<u32> {
        let Some(refusal) = self.standing(config, template) else {
            return Some(0);
        };
        let account = self.calling_account(refusal, template);
        if account.last_calls >= config.last_calls {
            return None;
        }
        account.last_calls += 1;
        Some(account.last_calls)
    }

    /// A last call that has led to something that is not deferred may be followed by
    /// another.
    fn refund_last_call(&mut self, config: &NoveltyConfig, template: &Template) {
        if let Some(refusal) = self.standing(config, template) {
            let account = self.calling_account(refusal, template);
            account.last_calls = account.last_calls.saturating_sub(1);
        }
    }

    /// A deferred page that leads nowhere new: after some of them in a row nothing
    /// grows any more, and the accounts are open again.
    fn answer_last_call(&mut self, config: &NoveltyConfig, template: &Template, leads_on: bool) {
        let Some(refusal) = self.standing(config, template) else {
            return;
        };
        let account = self.calling_account(refusal, template);
        account.ends = if leads_on { 0 } else { account.ends + 1 };
        if account.ends < ENDS_MIN || account.reopened >= REOPENED_MAX {
            return;
        }
        account.reopen();
        let section = self.section_mut(template.section());
        section.account.reopen();
        section.far = 0;
        if let Some(kind) = self.kinds.get_mut(&template.hash()) {
            kind.account.reopen();
        }
        if let Some(shelf) = self.shelves.get_mut(&template.shelf()) {
            shelf.reopen();
        }
        self.account.reopen();
    }

    /// What tells the accounts apart that count last calls.
    pub fn holding_account(&self, config: &NoveltyConfig, template: &Template) -> Option<u64> {
        Some(match self.standing(config, template)? {
            NoveltyRefusal::Template
            | NoveltyRefusal::Section
            | NoveltyRefusal::Calendar
            | NoveltyRefusal::Endless => xxh3_64(template.section().as_bytes()),
            NoveltyRefusal::Site | NoveltyRefusal::Budget => 0,
        })
    }

    /// Whether a template is deferred and its last calls are used up: what was
    /// found there stays where it is.
    pub fn is_given_up(&mut self, config: &NoveltyConfig, template: &Template) -> bool {
        let refusal = self.standing(config, template);
        refusal.is_some_and(|refusal| {
            self.calling_account(refusal, template).last_calls >= config.last_calls
        })
    }

    /// What the seen test is to know a URL by, where parts of it make no
    /// difference; with the names of these parts.
    pub fn stripped(
        &self,
        config: &NoveltyConfig,
        url: &CrawlUrl,
        template: &Template,
    ) -> Option<(UrlHash, Vec<String>)> {
        if !config.is_on {
            return None;
        }
        let kind = self.kinds.get(&template.hash());
        let params = || kind.into_iter().flat_map(|kind| &kind.params);
        let has_ignored = params().any(|param| param.is_ignored(config.pairs_min));
        if !has_ignored && self.drawn.is_empty() {
            return None;
        }
        let all = parts(url);
        let is_ignored = |part: &&Part| {
            params().any(|param| param.name == part.name && param.is_ignored(config.pairs_min))
                || (self.drawn.contains(&part.name) && is_drawn(part.value(url)))
        };
        let ignored: Vec<_> = all.iter().filter(is_ignored).collect();
        if ignored.is_empty() {
            return None;
        }
        let names = ignored.iter().map(|part| part.name.clone()).collect();
        Some((hash_without(url, &ignored), names))
    }

    /// What is known of a template.
    pub fn template(&self, config: &NoveltyConfig, template: &Template) -> TemplateStanding {
        let kind = self.kinds.get(&template.hash());
        let account = kind.map(|kind| kind.account).unwrap_or_default();
        let params = kind.map(|kind| kind.params.clone()).unwrap_or_default();
        let section = self.section(template.section());
        let ignored = params
            .iter()
            .filter(|param| param.is_ignored(config.pairs_min));
        TemplateStanding {
            template: template.text().to_owned(),
            section: template.section().to_owned(),
            account,
            left: account.left(config.template_budget),
            section_left: section.map_or(config.section_budget, |section| {
                section.account.left(config.section_budget)
            }),
            ignored: ignored.map(|param| param.name.clone()).collect(),
            params,
        }
    }

    /// What is known of the site.
    pub fn site(&self, config: &NoveltyConfig) -> SiteStanding {
        let kinds = self.kinds.values();
        let is_closed = |kind: &&Kind| {
            let (budget, growth) = (config.template_budget, config.growth_budget);
            kind.account.is_closed(budget, growth)
        };
        let ignored = kinds.clone().flat_map(|kind| {
            let params = kind.params.iter();
            let ignored = params.filter(|param| param.is_ignored(config.pairs_min));
            ignored.map(|param| (kind.text.clone(), param.name.clone()))
        });
        SiteStanding {
            account: self.account,
            left: self.account.left(config.site_budget),
            templates: self.kinds.len() as u32,
            ignored: ignored.collect(),
            closed: kinds
                .filter(is_closed)
                .map(|kind| (kind.text.clone(), kind.account.requests))
                .collect(),
        }
    }

    fn worth(&mut self, sight: &Sight<'_>) -> Worth {
        let is_same = self.exact.meet(sight.content.exact);
        let Some(words) = sight.content.words else {
            return Worth::File;
        };
        let has_words = self.words.meet(words);
        let numbers = sight.content.numbers;
        let has_numbers = numbers.is_none_or(|numbers| self.numbers.meet(numbers));
        let mut has_images = true;
        for image in sight.images {
            has_images &= self.images.meet(*image) > 0;
        }
        let is_dead_end = sight.is_dead_end();
        let dives = self.dive.awaits(sight.url);
        let sideways = sight.ties.is_some_and(|ties| ties.sideways);
        let is_midst = sight.ties.is_some_and(|ties| sight.is_midst(ties, dives));
        let is_end = is_dead_end && !is_midst;
        if is_same || (has_words && has_numbers && has_images) {
            let is_finite = !sight.template.is_dated() && (is_end || sideways);
            return match (is_finite, is_same) {
                (true, true) => Worth::SameLeaf,
                (true, false) => Worth::Leaf,
                (false, true) if !is_dead_end => Worth::Same,
                (false, _) => Worth::Repeat,
            };
        }
        if sight.only_combines()
            && self
                .parts
                .has_nothing_own(sight.url, sight.template.section())
        {
            return if self.choices.are_few(sight.url) {
                Worth::Quiet
            } else {
                Worth::Repeat
            };
        }
        if sight.is_deep() && !self.has_ends(sight.template) {
            return Worth::Deep;
        }
        if is_end && self.is_combination(sight) {
            return Worth::Quiet;
        }
        if is_end && sight.ties.is_none() && !dives {
            let is_plain = sight.template.can_link_sideways() && sight.via != Some(sight.template);
            return if is_plain {
                Worth::Supported
            } else {
                Worth::Quiet
            };
        }
        if is_end || sideways {
            return Worth::Supported;
        }
        if is_dead_end && !sight.template.is_choice() && self.has_bottom(sight.template) {
            return Worth::Quiet;
        }
        Worth::New
    }

    /// Whether a page is one of the combinations of what other URLs have.
    fn is_combination(&self, sight: &Sight<'_>) -> bool {
        let section = sight.template.section();
        self.parts.shares_pairs(sight.url)
            || (sight.own_text_bytes < OWN_TEXT_MIN && self.parts.shares_words(sight.url, section))
    }

    /// Whether the section of a template has shown that it comes to ends.
    fn has_ends(&self, template: &Template) -> bool {
        let section = self.section(template.section());
        section.is_some_and(|section| section.account.is_proven())
    }

    fn has_bottom(&self, template: &Template) -> bool {
        let kind = self.kinds.get(&template.hash());
        kind.is_some_and(|kind| kind.has_bottom)
    }

    /// A list is as good as what it leads to: a dead end with new text speaks
    /// for the pages it was found on.
    fn credit(&mut self, worth: Worth, sight: &Sight<'_>) {
        let Some(via) = sight.via.filter(|via| *via != sight.template) else {
            return;
        };
        if worth != Worth::Supported || !sight.is_dead_end() {
            return;
        }
        let is_combined = |url: &CrawlUrl| self.parts.is_combined(url, via.section());
        let credit = if sight.via_url.is_some_and(is_combined) {
            Account::credit_combination
        } else {
            Account::credit
        };
        if let Some(kind) = self.kinds.get_mut(&via.hash()) {
            credit(&mut kind.account);
        }
        let (own, other) = (sight.template.shelf(), via.shelf());
        if let Some(shelf) = self.shelves.get_mut(&other).filter(|_| own != other) {
            credit(shelf);
        }
        if via.section() != sight.template.section() {
            credit(&mut self.section_mut(via.section()).account);
        }
    }

    /// A dive that has come to a dead end speaks for all it came through.
    fn go_on_diving(&mut self, worth: Worth, sight: &Sight<'_>) {
        if !self.dive.awaits(sight.url) {
            self.dive.wait();
            return;
        }
        let is_bottom = match worth {
            Worth::Supported | Worth::Leaf => sight.is_dead_end(),
            _ => false,
        };
        if !is_bottom {
            // Had it gone on, it would await another page by now.
            self.dive.end();
            return;
        }
        let way = self.dive.arrive(sight.template);
        for (kind, shelf) in way.path {
            if let Some(kind) = self.kinds.get_mut(&kind) {
                kind.account.credit_dive();
                kind.has_bottom = true;
            }
            if let Some(shelf) = self.shelves.get_mut(&shelf) {
                shelf.credit_dive();
            }
        }
        for section in way.sections {
            self.section_mut(&section).account.credit_dive();
        }
        self.account.credit();
    }

    fn section(&self, name: &str) -> Option<&Section> {
        let own = self.sections.get(name);
        let other = || self.sections.get(OTHER_SECTIONS);
        own.or_else(|| other().filter(|_| self.sections.len() > SECTIONS_MAX))
    }

    fn section_mut(&mut self, name: &str) -> &mut Section {
        let has_room = self.sections.len() < SECTIONS_MAX || self.sections.contains_key(name);
        let name = if has_room { name } else { OTHER_SECTIONS };
        if !self.sections.contains_key(name) {
            self.sections.insert(name.to_owned(), Section::default());
        }
        self.sections.get_mut(name).expect("it is there now")
    }
}

/// The kind of a template, where there is room for it.
fn kind_of<'a>(kinds: &'a mut BTreeMap<u64, Kind>, template: &Template) -> Option<&'a mut Kind> {
    let hash = template.hash();
    if kinds.len() >= TEMPLATES_MAX && !kinds.contains_key(&hash) {
        return None;
    }
    Some(kinds.entry(hash).or_insert_with(|| Kind {
        text: template.text().to_owned(),
        ..Kind::default()
    }))
}

/// Whether a template's date is more than so many years ahead.
fn is_ahead(config: &NoveltyConfig, template: &Template, years: u16) -> bool {
    let bounds = config.year.zip(template.year());
    bounds.is_some_and(|(now, year)| year > now.saturating_add(years))
}

/// Compares a page with those whose URLs differ in one part only.
fn learn(
    kind: &mut Kind,
    notes: &mut Notes,
    config: &NoveltyConfig,
    template: u64,
    sight: &Sight<'_>,
) -> Vec<UrlHash> {
    let mut known = Vec::new();
    for part in parts(sight.url) {
        let at = kind.params.iter().position(|param| param.name == part.name);
        let Some(at) = at.or_else(|| {
            (kind.params.len() < PARAMS_MAX).then(|| {
                let name = part.name.clone();
                kind.params.push(Param {
                    name,
                    ..Param::default()
                });
                kind.params.len() - 1
            })
        }) else {
            continue;
        };
        let param = &mut kind.params[at];
        let (of, stripped) = (part.key(template), hash_without(sight.url, &[&part]));
        let content = sight.content.exact;
        let was_ignored = param.is_ignored(config.pairs_min);
        match notes.find(of, stripped.0) {
            Some(before) if before.content == content => {
                param.same = param.same.saturating_add(1);
                param.pages = param.pages.saturating_add(u32::from(!before.is_paired));
                before.is_paired = true;
            }
            Some(_) => param.different = param.different.saturating_add(1),
            None => notes.add(Note {
                of,
                stripped: stripped.0,
                content,
                is_paired: false,
            }),
        }
        if !was_ignored && param.is_ignored(config.pairs_min) {
            known.extend(notes.take(of).into_iter().map(UrlHash));
        } else if param.is_ignored(config.pairs_min) {
            known.push(stripped);
        }
    }
    known
}

#[cfg(test)]
#[path = "site_tests.rs"]
mod tests;
