//! Parts of URLs that make no difference.

use geomi_url::template::Template;
use geomi_url::{CrawlUrl, UrlHash, strong_hash};

use super::{Kind, Sight, SiteNovelty};
use crate::memory::{Note, Notes};
use crate::params::{Part, hash_without, in_lower_case, is_drawn, parts, without};
use crate::{NoveltyConfig, Param};

/// Parts of a template that are learned about.
const PARAMS_MAX: usize = 16;
/// Which notes are about capital letters.
const LETTER_CASE: u64 = 0x6c65_7474_6572_7321;

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
        let ignores_case = self.letter_case.is_ignored(config.pairs_min);
        if !has_ignored && self.drawn.is_empty() && !ignores_case {
            return None;
        }
        let all = parts(url);
        let is_ignored = |part: &&Part| {
            params().any(|param| param.name == part.name && param.is_ignored(config.pairs_min))
                || (self.drawn.contains(&part.name) && is_drawn(part.value(url)))
        };
        let ignored: Vec<_> = all.iter().filter(is_ignored).collect();
        let mut names: Vec<_> = ignored.iter().map(|part| part.name.clone()).collect();
        let mut spelling = without(url, &ignored);
        if ignores_case {
            let lower = in_lower_case(&spelling);
            if lower != spelling {
                names.push("letter case".to_owned());
                spelling = lower;
            }
        }
        (!names.is_empty()).then(|| (UrlHash(strong_hash(spelling.as_bytes())), names))
    }

    /// Compares a page with those whose URLs differ in capital letters only: some servers
    /// do not tell them apart. Returns the spellings that count as seen.
    pub(super) fn learn_letter_case(
        &mut self,
        config: &NoveltyConfig,
        sight: &Sight<'_>,
    ) -> Vec<UrlHash> {
        let lower = in_lower_case(sight.url.as_str());
        if lower == sight.url.as_str() {
            return Vec::new();
        }
        let stripped = strong_hash(lower.as_bytes());
        let was_ignored = self.letter_case.is_ignored(config.pairs_min);
        self.letter_case.compare(
            &mut self.notes,
            Note::new(LETTER_CASE, stripped, sight.content.exact),
        );
        match (was_ignored, self.letter_case.is_ignored(config.pairs_min)) {
            (false, true) => self
                .notes
                .take(LETTER_CASE)
                .into_iter()
                .map(UrlHash)
                .collect(),
            _ => Vec::new(),
        }
    }
}

/// Compares a page with those whose URLs differ in one part only.
pub(super) fn learn(
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
