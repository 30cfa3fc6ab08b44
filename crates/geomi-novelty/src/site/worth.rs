//! What a page is worth: whether it speaks for its site or against it.

use geomi_url::CrawlUrl;
use geomi_url::template::{Template, are_neighbours};

use super::probing::PROBES_MAX;
use super::{OWN_TEXT_MIN, Sight, SiteNovelty, kind_of};
use crate::account::Worth;
use crate::dive::Pick;
use crate::probe::End;
use crate::{Account, NoveltyConfig};

/// Pages of a dated template among which dives look for its end.
const DATED_DIVES: u32 = 100;

/// Answers without content, in a row, after which it is asked whether any name is
/// answered so.
const IDLE_SUSPECT: u32 = 20;

impl SiteNovelty {
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

    /// robots.txt forbids a URL: links to its template are no sign of growth.
    pub fn note_forbidden(&mut self, url: &CrawlUrl, template: &Template) {
        if let Some(kind) = kind_of(&mut self.kinds, template) {
            kind.idle = kind.idle.saturating_add(1);
        }
        if self.dive.awaits(url) {
            self.dive.end();
        }
    }

    /// A URL brought no content: an error or a redirect, which leads on if its target was
    /// not known. Returns a URL to be asked for if the template only redirects to what is
    /// known: if any name does, there is no end to them.
    pub fn miss(
        &mut self,
        config: &NoveltyConfig,
        url: &CrawlUrl,
        template: &Template,
        leads_on: bool,
    ) -> Option<CrawlUrl> {
        if self.dive.awaits(url) {
            self.dive.end();
        }
        let kind = kind_of(&mut self.kinds, template)?;
        if leads_on {
            kind.idle = 0;
            return None;
        }
        kind.idle = kind.idle.saturating_add(1);
        let is_suspect = kind.account.requests == 0 && kind.idle >= IDLE_SUSPECT;
        if !config.is_on || !is_suspect || self.probed >= PROBES_MAX {
            return None;
        }
        let probe = kind.probes.next_redirect(url);
        self.probed += u32::from(probe.is_some());
        probe
    }

    pub(super) fn worth(&mut self, sight: &Sight<'_>) -> Worth {
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
    pub(super) fn is_combination(&self, sight: &Sight<'_>) -> bool {
        let section = sight.template.section();
        self.parts.shares_pairs(sight.url)
            || (sight.own_text_bytes < OWN_TEXT_MIN && self.parts.shares_words(sight.url, section))
    }

    /// Whether the section of a template has shown that it comes to ends.
    pub(super) fn has_ends(&self, template: &Template) -> bool {
        let section = self.section(template.section());
        section.is_some_and(|section| section.account.is_proven())
    }

    pub(super) fn has_bottom(&self, template: &Template) -> bool {
        let kind = self.kinds.get(&template.hash());
        kind.is_some_and(|kind| kind.has_bottom)
    }

    /// A list is as good as what it leads to: a dead end with new text speaks
    /// for the pages it was found on.
    pub(super) fn credit(&mut self, worth: Worth, sight: &Sight<'_>) {
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
    pub(super) fn go_on_diving(&mut self, worth: Worth, sight: &Sight<'_>) {
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
}
