//! What one site has brought: accounts, texts, and URL parts without effect.

mod deferral;
mod probing;
mod spelling;
mod worth;

use std::collections::BTreeMap;

use geomi_url::template::Template;
use geomi_url::{CrawlUrl, UrlHash};
use serde::{Deserialize, Serialize};

use crate::account::Worth;
use crate::choices::Choices;
use crate::dive::Dive;
use crate::memory::{HashTable, Notes, Ring};
use crate::probe::{End, Probes};
use crate::recombined::{Combines, Parts};
use crate::{Account, NoveltyConfig, Param, SiteStanding, TemplateStanding};
use deferral::is_ahead;
use spelling::{SPELLINGS, learn};

/// Templates a site may have.
const TEMPLATES_MAX: usize = 256;
/// Sections a site may have; the others share one.
const SECTIONS_MAX: usize = 16;
/// The section of all that have none of their own.
const OTHER_SECTIONS: &str = "*";
/// Names of parameters that are not dropped on a site.
const IDENTIFIERS_MAX: usize = 16;
/// Shelves a site may have.
const SHELVES_MAX: usize = 64;
/// A calendar page more years ahead than this is no event.
const FAR_YEARS: u16 = 1;
/// Links to waiting pages of its template that make a page the midst of a choice.
const MIDST: u32 = 3;
/// Bytes of main text outside links from which on a page is more than a list.
const OWN_TEXT_MIN: u64 = 200;
/// New links of a page that are several.
const SEVERAL_LINKS: u32 = 3;
/// Answers without content after which links to a template are no evidence.
const IDLE_AFTER: u32 = 3;
/// Path segments and query pairs beyond which a URL that grows from page to page
/// is no tree.
const DEEP_PARTS: usize = 8;
/// What a supported page gives back to the budget of a site.
const SITE_SUPPORT: u32 = 10;

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
    /// Whether its query pairs are combined without an end.
    combines: bool,
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
    /// Whether the ways of spelling make a difference that some servers do not tell apart.
    spellings: [Param; SPELLINGS],
    /// Names of parameters that look like sessions and are not: they tell pages apart.
    identifiers: Vec<String>,
    /// Probes made so far.
    probed: u32,
    /// Sections whose paths grow without an end, and the depth from which all of them do.
    growing: u32,
    grows_from: usize,
    /// Pages with new content that led on without support, of all templates, less
    /// what support has given back.
    unsupported: u32,
    /// URLs deferred.
    deferred: u32,
    /// Pages with new content that were not deferred.
    brought: u32,
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

    /// Names of parameters that look like sessions and are not.
    pub fn identifiers(&self) -> &[String] {
        &self.identifiers
    }

    /// A page has shown that a parameter is no session.
    pub fn note_identifier(&mut self, name: String) {
        if self.identifiers.len() < IDENTIFIERS_MAX && !self.identifiers.contains(&name) {
            self.identifiers.push(name);
        }
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
        self.brought += u32::from(worth.is_new() && !sight.is_last_call);
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
        known.extend(self.learn_spellings(config, sight));
        Observation {
            is_new: worth.is_new(),
            is_supported: worth == Worth::Supported,
            known,
            has_reopened: closed_before
                .is_some_and(|before| self.closed(config).is_none_or(|now| now < before)),
        }
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
        // A verdict about its template says all there is to say: the rest of the site does
        // not pay for it.
        let is_judged = self.end_of(template) != End::Unknown;
        let mut is_proven = is_judged || kind.is_some_and(|kind| kind.account.is_proven());
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

#[cfg(test)]
#[path = "site_tests.rs"]
mod tests;
