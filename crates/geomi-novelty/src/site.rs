//! What one site has brought: accounts, texts, and parts that do not matter.

use std::collections::BTreeMap;
use std::fmt;

use geomi_url::{CrawlUrl, UrlHash};
use serde::{Deserialize, Serialize};

use crate::account::Worth;
use crate::memory::{Note, Notes, Ring};
use crate::params::{hash_without, parts};
use crate::{Account, NoveltyConfig, Param, Template};

/// Templates a site may have.
const TEMPLATES_MAX: usize = 256;
/// Sections a site may have; the others share one.
const SECTIONS_MAX: usize = 16;
/// The section of all that have none of their own.
const OTHER_SECTIONS: &str = "*";
/// Parts of a template that are learned about.
const PARAMS_MAX: usize = 16;
/// Deeper pages are not excused for being linked from several places: pages
/// far down a chain are, too.
const SHALLOW: u16 = 16;

/// Content of an answer, as far as it is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Content {
    /// Equal for what is the same to a reader, numbers included; for what is no
    /// page, for the same bytes.
    pub exact: u64,
    /// Equal for pages that differ in numbers and dates only; `None` for what
    /// is no page or has no words.
    pub words: Option<u64>,
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
    /// What came.
    pub content: Content,
    /// Links of it that nobody had seen before.
    pub fresh_links: u32,
    /// It links to a page of its shape that was found elsewhere and is not
    /// fetched yet.
    pub links_sideways: bool,
    /// Links away from its seed.
    pub depth: u16,
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
}

/// Why a URL is not worth a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NoveltyRefusal {
    /// Its template brings nothing new.
    Template,
    /// Its part of the site brings nothing new.
    Section,
    /// Its site brings nothing new.
    Site,
}

impl NoveltyRefusal {
    /// The name in counters and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Template => "template-exhausted",
            Self::Section => "section-exhausted",
            Self::Site => "site-novelty",
        }
    }
}

impl fmt::Display for NoveltyRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self {
            Self::Template => "URLs of its template",
            Self::Section => "URLs of its part of the site",
            Self::Site => "URLs of its site",
        };
        write!(f, "{what} have brought nothing new for too long")
    }
}

#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct Kind {
    text: String,
    account: Account,
    params: Vec<Param>,
}

/// All that is learned of a site.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct SiteNovelty {
    account: Account,
    sections: BTreeMap<String, Account>,
    kinds: BTreeMap<u64, Kind>,
    exact: Ring,
    words: Ring,
    notes: Notes,
}

/// What is known of a template, for people.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TemplateStanding {
    /// As it is shown.
    pub template: String,
    /// Its section.
    pub section: String,
    /// What its URLs brought.
    pub account: Account,
    /// Requests left that bring nothing.
    pub left: u32,
    /// The same of its section.
    pub section_left: u32,
    /// Parts that pages were compared over.
    pub params: Vec<Param>,
    /// Of these, those that are ignored.
    pub ignored: Vec<String>,
}

/// What is known of a site, for people.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SiteStanding {
    /// What its URLs brought.
    pub account: Account,
    /// Requests left that bring nothing.
    pub left: u32,
    /// Templates known.
    pub templates: u32,
    /// Templates that are closed: text and requests.
    pub closed: Vec<(String, u32)>,
    /// Parts that are ignored: template and name.
    pub ignored: Vec<(String, String)>,
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

    /// Takes in a page.
    pub fn observe(&mut self, config: &NoveltyConfig, sight: &Sight<'_>) -> Observation {
        let worth = self.worth(sight);
        let hash = sight.template.hash();
        self.account.add(worth);
        self.section_mut(sight.template.section()).add(worth);
        let has_room = self.kinds.len() < TEMPLATES_MAX || self.kinds.contains_key(&hash);
        self.credit(worth, sight);
        let mut known = Vec::new();
        if has_room {
            let kind = self.kinds.entry(hash).or_insert_with(|| Kind {
                text: sight.template.text().to_owned(),
                ..Kind::default()
            });
            kind.account.add(worth);
            known = learn(kind, &mut self.notes, config, hash, sight);
        }
        Observation {
            is_new: worth.is_new(),
            is_supported: worth == Worth::Supported,
            known,
        }
    }

    /// Whether it is worth looking for links sideways on pages of this template:
    /// where all is well nobody needs the proof.
    pub fn needs_proof(&self, config: &NoveltyConfig, template: &Template) -> bool {
        let half = |account: &Account, budget: u32| account.left(budget) <= budget / 2;
        let kind = self.kinds.get(&template.hash());
        kind.is_some_and(|kind| half(&kind.account, config.template_budget))
            || half(self.section(template.section()), config.section_budget)
            || half(&self.account, config.site_budget)
    }

    /// Why a URL is not worth a request; `None` if it is.
    pub fn standing(&self, config: &NoveltyConfig, template: &Template) -> Option<NoveltyRefusal> {
        if !config.is_on {
            return None;
        }
        let kind = self.kinds.get(&template.hash());
        if kind.is_some_and(|kind| kind.account.left(config.template_budget) == 0) {
            return Some(NoveltyRefusal::Template);
        }
        if kind.is_some_and(|kind| kind.account.is_proven()) {
            return None;
        }
        let section = self.section(template.section());
        if section.left(config.section_budget) == 0 {
            return Some(NoveltyRefusal::Section);
        }
        (self.account.left(config.site_budget) == 0).then_some(NoveltyRefusal::Site)
    }

    /// The same for a URL whose turn has come: refusals are counted, and now and
    /// then one is let through as a probe.
    pub fn judge(&mut self, config: &NoveltyConfig, template: &Template) -> Option<NoveltyRefusal> {
        let refusal = self.standing(config, template)?;
        let account = match refusal {
            NoveltyRefusal::Template => {
                let kind = self.kinds.get_mut(&template.hash());
                &mut kind.expect("a refused template is known").account
            }
            NoveltyRefusal::Section => self.section_mut(template.section()),
            NoveltyRefusal::Site => &mut self.account,
        };
        (!account.refuse()).then_some(refusal)
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
        let kind = self.kinds.get(&template.hash())?;
        let is_ignored = |name: &str| {
            let mut params = kind.params.iter();
            params.any(|param| param.name == name && param.is_ignored(config.pairs_min))
        };
        if !kind
            .params
            .iter()
            .any(|param| param.is_ignored(config.pairs_min))
        {
            return None;
        }
        let all = parts(url);
        let ignored: Vec<_> = all.iter().filter(|part| is_ignored(&part.name)).collect();
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
            section_left: section.left(config.section_budget),
            ignored: ignored.map(|param| param.name.clone()).collect(),
            params,
        }
    }

    /// What is known of the site.
    pub fn site(&self, config: &NoveltyConfig) -> SiteStanding {
        let kinds = self.kinds.values();
        let is_closed = |kind: &&Kind| kind.account.left(config.template_budget) == 0;
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
            return if is_same { Worth::Same } else { Worth::File };
        };
        let is_alike = self.words.meet(words);
        let is_dead_end = sight.fresh_links == 0;
        if is_same {
            return if is_dead_end {
                Worth::SameDeadEnd
            } else {
                Worth::Same
            };
        }
        if is_alike {
            let shallow_sideways = sight.links_sideways && sight.depth <= SHALLOW;
            let is_finite = !sight.template.is_dated() && (is_dead_end || shallow_sideways);
            return if is_finite {
                Worth::AlikeDeadEnd
            } else {
                Worth::Alike
            };
        }
        if is_dead_end || sight.links_sideways {
            Worth::Supported
        } else {
            Worth::New
        }
    }

    /// A list is as good as what it leads to: a dead end with new text speaks
    /// for the pages it was found on.
    fn credit(&mut self, worth: Worth, sight: &Sight<'_>) {
        let Some(via) = sight.via.filter(|via| *via != sight.template) else {
            return;
        };
        if worth != Worth::Supported || sight.fresh_links > 0 {
            return;
        }
        if let Some(kind) = self.kinds.get_mut(&via.hash()) {
            kind.account.credit();
        }
        if via.section() != sight.template.section() {
            self.section_mut(via.section()).credit();
        }
    }

    fn section(&self, name: &str) -> &Account {
        const NONE: &Account = &Account {
            requests: 0,
            new: 0,
            supported: 0,
            refused: 0,
            lost: 0,
        };
        let own = self.sections.get(name);
        let other = || self.sections.get(OTHER_SECTIONS);
        own.or_else(|| other().filter(|_| self.sections.len() > SECTIONS_MAX))
            .unwrap_or(NONE)
    }

    fn section_mut(&mut self, name: &str) -> &mut Account {
        let has_room = self.sections.len() < SECTIONS_MAX || self.sections.contains_key(name);
        let name = if has_room { name } else { OTHER_SECTIONS };
        if !self.sections.contains_key(name) {
            self.sections.insert(name.to_owned(), Account::default());
        }
        self.sections.get_mut(name).expect("it is there now")
    }
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
        match notes.find(of, stripped.0) {
            Some(before) if before == content => param.same = param.same.saturating_add(1),
            Some(_) => param.different = param.different.saturating_add(1),
            None => notes.add(Note {
                of,
                stripped: stripped.0,
                content,
            }),
        }
        if param.same == config.pairs_min && param.is_ignored(config.pairs_min) {
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
