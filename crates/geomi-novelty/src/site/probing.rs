//! When the server is asked whether there is an end, and what follows from its answer.

use geomi_url::CrawlUrl;
use geomi_url::template::Template;

use super::deferral::FAR_PAGES;
use super::{Sight, SiteNovelty};
use crate::probe::{End, ProbeAnswer, Probes, Suspect, Verdict};
use crate::{Account, NoveltyConfig};

/// Probes of a site.
pub(super) const PROBES_MAX: u32 = 40;
/// Pages with a number in place of a year after which the year may be a number, too.
const NUMBERED_MIN: u32 = 3;
/// Sections whose paths grow without an end after which those of the others count as
/// growing.
const GROWING_MIN: u32 = 3;
/// Query pairs of a combination.
const COMBINED_MIN: usize = 2;
/// How often a URL that is fetched in its turn may be quoted within itself.
const NESTING_MAX: usize = 3;

impl SiteNovelty {
    /// Whether probes have found an end to a template or its section, or none.
    pub fn end_of(&self, template: &Template) -> End {
        let section = self.section(template.section());
        let grows_from = section.and_then(|section| section.grows_from);
        let is_good = section.is_some_and(|section| section.account.is_proven());
        let grows = grows_from.is_some_and(|from| template.depth() >= from);
        // Where several folders answer any path, the others do so, too.
        let grows = grows || (!is_good && self.grows_everywhere(template));
        if grows || template.nesting() >= NESTING_MAX {
            return End::Missing;
        }
        let kind = self.kinds.get(&template.hash());
        let is_proven = kind.is_some_and(|kind| kind.account.is_proven());
        let combines = section.is_some_and(|section| section.combines);
        if combines && template.pairs() >= COMBINED_MIN && !is_proven {
            return End::Missing;
        }
        match kind.map_or(End::Unknown, |kind| kind.probes.end) {
            End::Unknown => section.map_or(End::Unknown, |section| section.probes.end),
            end => end,
        }
    }

    /// Whether a template is one of the long paths of a site on which any path is answered.
    pub(super) fn grows_everywhere(&self, template: &Template) -> bool {
        self.growing >= GROWING_MIN && template.depth() >= self.grows_from
    }

    /// A URL to be asked for that no page links to, if there is doubt whether the page's
    /// template or section has an end; see [`probe`](crate::probe). `links` are the links
    /// of the page to its site, `is_known` says whether a URL of the site was found before.
    pub fn probe<'a>(
        &mut self,
        config: &NoveltyConfig,
        sight: &Sight<'_>,
        links: impl Iterator<Item = &'a CrawlUrl>,
        is_known: impl Fn(&CrawlUrl) -> bool,
    ) -> Option<CrawlUrl> {
        let template = sight.template;
        let known = self.kinds.get(&template.hash()).map(|kind| &kind.account);
        let led_on = known.is_some_and(|known| known.led_on > 0);
        let is_end = sight.is_dead_end() && (led_on || !template.is_dated());
        // A few filters are fetched whole, though any combination of them is answered.
        // Of dates only those found so far are known.
        let is_few = !template.is_dated() && self.choices.are_few(sight.url);
        let is_idle = is_end || is_few || self.probed >= PROBES_MAX || !config.is_on;
        if is_idle {
            return None;
        }
        let section = template.section();
        self.doubt(template);
        if self.end_of(template) == End::Missing {
            return None;
        }
        let is_ahead = template.year().is_some()
            && (self.section(section)).is_some_and(|section| section.far >= FAR_PAGES);
        let is_suspect = |account: &Account, probes: &Probes| {
            (is_ahead || account.is_suspect() || probes.has_begun()) && probes.may_ask()
        };
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
            combines: sight.fresh_words > 0 || self.parts.is_combined(sight.url, section),
            is_number: (template.hash_of_numbers())
                .and_then(|numbers| self.kinds.get(&numbers))
                .is_some_and(|kind| kind.account.requests >= NUMBERED_MIN),
            is_known: &is_known,
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

    /// Doubts that a template and its section have an end, where they have grown much.
    fn doubt(&mut self, template: &Template) {
        if let Some(kind) = self.kinds.get_mut(&template.hash()) {
            kind.probes.doubt(kind.account.led_on);
        }
        let section = self.section_mut(template.section());
        section.probes.doubt(section.account.led_on);
    }

    /// Whether a URL is a probe that was not answered yet.
    pub fn is_probe(&self, url: &CrawlUrl, template: &Template) -> bool {
        self.probes_of(url, template).is_some()
    }

    pub(super) fn probes_of(&self, url: &CrawlUrl, template: &Template) -> Option<&Probes> {
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
        let Some(probes) = all.find(|probes| probes.awaits(url)) else {
            return;
        };
        let mut verdict = probes.answered(answer);
        if verdict == Some(Verdict::Combines) && template.pairs() < COMBINED_MIN {
            // Words are combined: that concerns all of the template or section.
            probes.end = End::Missing;
            verdict = None;
        }
        if verdict.is_some() || probes.end == End::Missing {
            // What was repeated is explained: the rest of the site is not to blame.
            self.account.repeated = 0;
        }
        let section = self.section_mut(template.section());
        let grows_from = match verdict {
            None => return,
            Some(Verdict::Combines) => {
                section.combines = true;
                return;
            }
            Some(Verdict::Grows(from)) => from,
        };
        let before = section.grows_from;
        section.grows_from = Some(before.map_or(grows_from, |from| from.min(grows_from)));
        self.growing += u32::from(before.is_none());
        self.grows_from = self.grows_from.max(grows_from);
    }
}
