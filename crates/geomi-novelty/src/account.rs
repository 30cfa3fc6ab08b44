//! What the requests for a template, a section or a site have brought.

use serde::{Deserialize, Serialize};

/// Supported pages after which a template counts as good.
const PROVEN_BY: u32 = 3;
/// What a supported page gives back.
const SUPPORT: u32 = 10;
/// What a dead end reached by a dive gives back to everything above it.
const DIVE: u32 = 30;
/// What repeated content must have cost before it is asked whether there is an end.
const SUSPECT_REPEATED: u32 = 12;
/// The same for pages with new content that led on without support.
const SUSPECT_NEW: u32 = 60;
/// The same for pages that led on, and as many URLs that wait, without links sideways.
const SUSPECT_GROWTH: u32 = 60;
/// What a page far down a growing path or query costs.
const DEEP: u32 = 10;

/// What a fetched page was worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Worth {
    /// The site has said exactly this before, and the page leads on.
    Same,
    /// The page repeats or recombines what is known, and leads on; or it is one
    /// of many dates without content.
    Repeat,
    /// The page stands far down a path or query that keeps growing.
    Deep,
    /// The site has said exactly this before, and the page leads nowhere.
    SameLeaf,
    /// The page repeats what is known but for numbers, and leads nowhere: such
    /// pages are finite.
    Leaf,
    /// New content that leads on, without a sign that there is an end to it.
    New,
    /// New content without evidence for or against it.
    Quiet,
    /// New content on a page that belongs to a finite site.
    Supported,
    /// Content that is not a page.
    File,
}

impl Worth {
    /// What it costs of the budget for repeated content.
    const fn cost(self) -> u32 {
        match self {
            Self::Same => 2,
            Self::Repeat => 1,
            Self::Deep => DEEP,
            Self::SameLeaf
            | Self::Leaf
            | Self::New
            | Self::Quiet
            | Self::Supported
            | Self::File => 0,
        }
    }

    /// Whether the site had not said this before.
    pub(crate) const fn is_new(self) -> bool {
        matches!(self, Self::New | Self::Quiet | Self::Supported | Self::File)
    }
}

/// What requests brought. Budgets are not part of it, so that they can change
/// while a crawl runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Account {
    /// Answers with content.
    pub requests: u32,
    /// Of these, with content that was new.
    pub new: u32,
    /// Of these, with links to pages that were not known.
    pub led_on: u32,
    /// Pages with support, its own and those found on its pages.
    pub supported: u32,
    /// Of its own, those that lead on and link to pages that others link to as well.
    pub sideways: u32,
    /// URLs found.
    pub found: u32,
    /// URLs deferred.
    pub deferred: u32,
    /// What repeated content has cost, less what support has given back.
    pub repeated: u32,
    /// Pages with new content that led on without support, less what support has
    /// given back.
    pub unsupported: u32,
    /// Deferred URLs that were fetched at the end although they may lead on.
    pub last_calls: u32,
    /// Of these, those that were given back because they led to something.
    pub refunds: u32,
    /// Pages with new content that were no last calls, when one was given back last.
    pub refunded_at: u32,
    /// The last of these that led nowhere new, in a row.
    pub ends: u32,
    /// How often that has opened it again.
    pub reopened: u32,
}

impl Account {
    /// Counts a page, and what it was worth.
    pub(crate) fn add(&mut self, worth: Worth, leads_on: bool) {
        self.count(worth, leads_on);
        self.repeated = self.repeated.saturating_add(worth.cost());
        match worth {
            Worth::New => self.unsupported = self.unsupported.saturating_add(1),
            Worth::Supported => self.give_back(SUPPORT),
            _ => {}
        }
    }

    /// Counts a page without its worth.
    pub(crate) fn count(&mut self, worth: Worth, leads_on: bool) {
        self.requests = self.requests.saturating_add(1);
        self.new = self.new.saturating_add(u32::from(worth.is_new()));
        self.led_on = self.led_on.saturating_add(u32::from(leads_on));
        let is_supported = worth == Worth::Supported;
        self.supported = self.supported.saturating_add(u32::from(is_supported));
        self.sideways = (self.sideways).saturating_add(u32::from(is_supported && leads_on));
    }

    /// A supported page was found on one of its pages.
    pub(crate) fn credit(&mut self) {
        self.supported = self.supported.saturating_add(1);
        self.give_back(SUPPORT);
    }

    /// The same on a page that is a combination of what others have: it shows that
    /// there is an end, but not that more combinations are worth a request.
    pub(crate) fn credit_combination(&mut self) {
        self.unsupported = self.unsupported.saturating_sub(SUPPORT);
    }

    /// A dive through here has reached a dead end.
    pub(crate) fn credit_dive(&mut self) {
        self.supported = self.supported.saturating_add(1);
        self.give_back(DIVE);
    }

    fn give_back(&mut self, credit: u32) {
        self.repeated = self.repeated.saturating_sub(credit);
        self.unsupported = self.unsupported.saturating_sub(credit);
        self.last_calls = 0;
    }

    /// It has come to an end: nothing speaks against it any more.
    pub(crate) fn reopen(&mut self) {
        self.repeated = 0;
        self.unsupported = 0;
        self.last_calls = 0;
        self.ends = 0;
        self.reopened = self.reopened.saturating_add(1);
    }

    /// What is left of a budget for repeated content.
    pub fn left(&self, budget: u32) -> u32 {
        budget.saturating_sub(self.repeated)
    }

    /// Whether its pages have shown that they belong to a finite site.
    pub fn is_proven(&self) -> bool {
        self.supported >= PROVEN_BY
    }

    /// URLs found and not fetched yet.
    pub fn pending(&self) -> u32 {
        self.found.saturating_sub(self.requests)
    }

    /// Whether it is closed: it repeats itself, or it has grown to `growth` pages
    /// and as many that wait without one sign of an end.
    pub fn is_closed(&self, budget: u32, growth: u32) -> bool {
        self.left(budget) == 0 || self.branches(growth)
    }

    /// Whether it has grown to `growth` pages and as many that wait without one sign of
    /// an end.
    pub(crate) fn branches(&self, growth: u32) -> bool {
        !self.is_proven() && self.unsupported >= growth && self.pending() >= growth
    }

    /// Whether it is worth asking whether there is an end to it.
    pub(crate) fn is_suspect(&self) -> bool {
        self.repeated >= SUSPECT_REPEATED
            || self.unsupported >= SUSPECT_NEW
            || (self.led_on >= SUSPECT_GROWTH
                && self.pending() >= SUSPECT_GROWTH
                && self.sideways < PROVEN_BY)
    }

    /// Whether it may be closed soon, so that it is worth looking for support.
    pub(crate) fn is_in_doubt(&self, budget: u32) -> bool {
        let spent = u64::from(self.repeated) + u64::from(self.unsupported);
        spent * 10 >= u64::from(budget) * 4
    }
}
