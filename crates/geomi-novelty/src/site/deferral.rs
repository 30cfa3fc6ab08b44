//! Which URLs are deferred, and which of them are tried at the end.

use geomi_url::strong_hash;
use geomi_url::template::Template;

use super::SiteNovelty;
use crate::probe::End;
use crate::{Account, NoveltyConfig, NoveltyRefusal};

/// Pages that far ahead after which a calendar counts as endless.
pub(super) const FAR_PAGES: u32 = 3;
/// Last calls in a row that lead nowhere new after which there is an end.
const ENDS_MIN: u32 = 3;

/// Last calls that are given back before what they led to has brought anything.
const REFUNDS_FREE: u32 = 5;
/// How often that opens an account again.
const REOPENED_MAX: u32 = 3;

/// One page in so many may lead on before a template counts as leading on.
const LEAF_SHARE: u32 = 16;

impl SiteNovelty {
    /// How many accounts are closed, less those that are proven by now; `None`
    /// while nothing was deferred.
    pub(super) fn closed(&self, config: &NoveltyConfig) -> Option<i64> {
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
    pub(super) fn account_of(
        &mut self,
        refusal: NoveltyRefusal,
        template: &Template,
    ) -> &mut Account {
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
    pub(super) fn calling_account(
        &mut self,
        refusal: NoveltyRefusal,
        template: &Template,
    ) -> &mut Account {
        match refusal {
            NoveltyRefusal::Endless if self.grows_everywhere(template) => &mut self.account,
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
    /// another, as long as that brings new content: two parts of a trap may lead to each
    /// other in turn.
    pub(super) fn refund_last_call(&mut self, config: &NoveltyConfig, template: &Template) {
        if let Some(refusal) = self.standing(config, template) {
            let brought = self.brought;
            let account = self.calling_account(refusal, template);
            if account.refunds < REFUNDS_FREE || account.refunded_at < brought {
                account.refunds += 1;
                account.refunded_at = brought;
                account.last_calls = account.last_calls.saturating_sub(1);
            }
        }
    }

    /// A deferred page that leads nowhere new: after some of them in a row nothing
    /// grows any more, and the accounts are open again.
    pub(super) fn answer_last_call(
        &mut self,
        config: &NoveltyConfig,
        template: &Template,
        leads_on: bool,
    ) {
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
            NoveltyRefusal::Endless if self.grows_everywhere(template) => 0,
            NoveltyRefusal::Template
            | NoveltyRefusal::Section
            | NoveltyRefusal::Calendar
            | NoveltyRefusal::Endless => strong_hash(template.section().as_bytes()),
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
}

/// Whether a template's date is more than so many years ahead.
pub(super) fn is_ahead(config: &NoveltyConfig, template: &Template, years: u16) -> bool {
    let bounds = config.year.zip(template.year());
    bounds.is_some_and(|(now, year)| year > now.saturating_add(years))
}
