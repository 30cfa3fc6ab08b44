//! Parts of URLs that make no difference.

use geomi_url::template::Template;
use geomi_url::{CrawlUrl, UrlHash, strong_hash};

use super::{Kind, Sight, SiteNovelty};
use crate::memory::{Note, Notes};
use crate::params::{
    Part, WHOLE_QUERY, hash_without, in_lower_case, is_drawn, key, parts, with_few_slashes, without,
};
use crate::{NoveltyConfig, Param};

/// Parts of a template that are learned about.
const PARAMS_MAX: usize = 16;
/// Ways of spelling that some servers do not tell apart.
pub(super) const SPELLINGS: usize = 2;

/// A way of spelling: its name, which notes are about it, and the plain form of a URL.
struct Spelling {
    name: &'static str,
    notes: u64,
    plain: fn(&str) -> String,
}

const ALL_SPELLINGS: [Spelling; SPELLINGS] = [
    Spelling {
        name: "letter case",
        notes: 0x6c65_7474_6572_7321,
        plain: in_lower_case,
    },
    Spelling {
        name: "number of slashes",
        notes: 0x736c_6173_6865_7321,
        plain: with_few_slashes,
    },
];

impl SiteNovelty {
    /// Looks whether a drawn part of a page's URL makes no difference on the site as a
    /// whole: a session id stands on every link, and each template has a few pages only.
    /// Returns the spellings that count as seen if so.
    pub(super) fn learn_drawn(&mut self, config: &NoveltyConfig, url: &CrawlUrl) -> Vec<UrlHash> {
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
        let spellings = || {
            let all = ALL_SPELLINGS.iter().zip(&self.spellings);
            all.filter(|(_, learned)| learned.is_ignored(config.pairs_min))
        };
        if !has_ignored && self.drawn.is_empty() && spellings().next().is_none() {
            return None;
        }
        let all = parts(url);
        let is_ignored = |part: &&Part| {
            params().any(|param| {
                let is_it = param.name == part.name || (part.is_pair && param.name == WHOLE_QUERY);
                is_it && param.is_ignored(config.pairs_min)
            }) || (self.drawn.contains(&part.name) && is_drawn(part.value(url)))
        };
        let ignored: Vec<_> = all.iter().filter(is_ignored).collect();
        let mut names: Vec<_> = ignored.iter().map(|part| part.name.clone()).collect();
        let mut spelling = without(url, &ignored);
        for (way, _) in spellings() {
            let plain = (way.plain)(&spelling);
            if plain != spelling {
                names.push(way.name.to_owned());
                spelling = plain;
            }
        }
        (!names.is_empty()).then(|| (UrlHash(strong_hash(spelling.as_bytes())), names))
    }

    /// Compares a page with those whose URLs differ in a way of spelling only. Returns the
    /// plain forms that count as seen.
    pub(super) fn learn_spellings(
        &mut self,
        config: &NoveltyConfig,
        sight: &Sight<'_>,
    ) -> Vec<UrlHash> {
        let mut known = Vec::new();
        for (way, learned) in ALL_SPELLINGS.iter().zip(&mut self.spellings) {
            let plain = (way.plain)(sight.url.as_str());
            if plain == sight.url.as_str() {
                continue;
            }
            let was_ignored = learned.is_ignored(config.pairs_min);
            let note = Note::new(
                way.notes,
                strong_hash(plain.as_bytes()),
                sight.content.exact,
            );
            learned.compare(&mut self.notes, note);
            if !was_ignored && learned.is_ignored(config.pairs_min) {
                known.extend(self.notes.take(way.notes).into_iter().map(UrlHash));
            }
        }
        known
    }
}

/// What may make no difference: each part, and all pairs of a query together, where several
/// of them change from link to link.
fn subjects(parts: &[Part]) -> Vec<(&str, Vec<&Part>)> {
    let mut subjects: Vec<(&str, Vec<&Part>)> =
        parts.iter().map(|part| (&*part.name, vec![part])).collect();
    let pairs: Vec<&Part> = parts.iter().filter(|part| part.is_pair).collect();
    if pairs.len() > 1 {
        subjects.push((WHOLE_QUERY, pairs));
    }
    subjects
}

/// Compares a page with those whose URLs differ in one part only, or in the query only.
pub(super) fn learn(
    kind: &mut Kind,
    notes: &mut Notes,
    config: &NoveltyConfig,
    template: u64,
    sight: &Sight<'_>,
) -> Vec<UrlHash> {
    let mut known = Vec::new();
    for (name, taken) in subjects(&parts(sight.url)) {
        let at = kind.params.iter().position(|param| param.name == name);
        let Some(at) = at.or_else(|| {
            (kind.params.len() < PARAMS_MAX).then(|| {
                let name = name.to_owned();
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
        let (of, stripped) = (key(name, template), hash_without(sight.url, &taken));
        let was_ignored = param.is_ignored(config.pairs_min);
        param.compare(notes, Note::new(of, stripped.0, sight.content.exact));
        if !was_ignored && param.is_ignored(config.pairs_min) {
            known.extend(notes.take(of).into_iter().map(UrlHash));
        } else if param.is_ignored(config.pairs_min) {
            known.push(stripped);
        }
    }
    known
}
