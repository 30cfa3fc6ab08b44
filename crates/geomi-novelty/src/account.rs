//! The balance of a template, a section or a site.

use serde::{Deserialize, Serialize};

/// Supported pages after which a template counts as good.
const PROVEN_BY: u32 = 3;
/// What a supported page is worth.
const SUPPORT: i64 = 10;
/// What a dead end that a dive has reached is worth to those above it.
const DIVE: u32 = 30;
/// So many chapters cost as much as one page.
const CHAPTERS: u32 = 4;
/// The first refused URL that is let through as a probe; then at each doubling.
const FIRST_PROBE: u32 = 64;

/// What a fetched page was worth.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Worth {
    /// The site has said this before, word and number.
    Same,
    /// The same, but the page leads nowhere.
    SameDeadEnd,
    /// It has said this before but for numbers and dates.
    Alike,
    /// Alike, but of a kind that is finite.
    AlikeDeadEnd,
    /// New text as a generator would make it.
    New,
    /// New text on a page that leads nowhere, which nobody looked at closely:
    /// all is well there.
    Quiet,
    /// A long new text that leads to one page only, as chapters do.
    Chapter,
    /// New text on a page that belongs to a site.
    Supported,
    /// New content that is no page.
    File,
}

impl Worth {
    const fn change(self) -> i64 {
        match self {
            Self::Same => -2,
            Self::SameDeadEnd | Self::Alike | Self::New => -1,
            Self::AlikeDeadEnd | Self::Quiet | Self::Chapter | Self::File => 0,
            Self::Supported => SUPPORT,
        }
    }

    /// Whether the site had not said this before.
    pub(crate) const fn is_new(self) -> bool {
        matches!(
            self,
            Self::New | Self::Quiet | Self::Chapter | Self::Supported | Self::File
        )
    }
}

/// What requests brought. The balance is kept as what was lost, so that the
/// budget can be changed while a crawl runs.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct Account {
    /// Answers with content.
    pub requests: u32,
    /// Of these, with content that was new.
    pub new: u32,
    /// Pages with support, its own and those found on its pages.
    pub supported: u32,
    /// URLs refused.
    pub refused: u32,
    /// What is missing from the budget.
    pub lost: u32,
}

impl Account {
    /// Counts a page, and what it was worth.
    pub(crate) fn add(&mut self, worth: Worth) {
        self.count(worth);
        let mut change = worth.change();
        if worth == Worth::Chapter && self.requests.is_multiple_of(CHAPTERS) {
            change = -1;
        }
        let lost = i64::from(self.lost) - change;
        self.lost = lost.clamp(0, i64::from(u32::MAX)) as u32;
    }

    /// Counts a page whose worth is nobody's concern here.
    pub(crate) fn count(&mut self, worth: Worth) {
        self.requests = self.requests.saturating_add(1);
        self.new = self.new.saturating_add(u32::from(worth.is_new()));
        let is_supported = worth == Worth::Supported;
        self.supported = self.supported.saturating_add(u32::from(is_supported));
    }

    /// A supported page was found on one of its pages.
    pub(crate) fn credit(&mut self) {
        self.supported = self.supported.saturating_add(1);
        self.lost = self.lost.saturating_sub(SUPPORT as u32);
    }

    /// A dive that came through here has reached a dead end.
    pub(crate) fn credit_dive(&mut self) {
        self.supported = self.supported.saturating_add(1);
        self.lost = self.lost.saturating_sub(DIVE);
    }

    /// Requests left of a budget.
    pub fn left(&self, budget: u32) -> u32 {
        budget.saturating_sub(self.lost)
    }

    /// Whether its pages have shown that they belong to a site.
    pub fn is_proven(&self) -> bool {
        self.supported >= PROVEN_BY
    }

    /// Counts a refusal; says whether this one is to be let through instead.
    pub(crate) fn refuse(&mut self) -> bool {
        self.refused = self.refused.saturating_add(1);
        self.refused >= FIRST_PROBE && self.refused.is_power_of_two()
    }
}
