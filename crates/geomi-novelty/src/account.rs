//! The balance of a template, a section or a site.

use serde::{Deserialize, Serialize};

/// Supported pages after which a template counts as good.
const PROVEN_BY: u32 = 3;
/// What a supported page is worth.
const SUPPORT: i64 = 10;
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
            Self::AlikeDeadEnd | Self::File => 0,
            Self::Supported => SUPPORT,
        }
    }

    /// Whether the site had not said this before.
    pub(crate) const fn is_new(self) -> bool {
        matches!(self, Self::New | Self::Supported | Self::File)
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
    pub(crate) fn add(&mut self, worth: Worth) {
        self.requests = self.requests.saturating_add(1);
        self.new = self.new.saturating_add(u32::from(worth.is_new()));
        let is_supported = worth == Worth::Supported;
        self.supported = self.supported.saturating_add(u32::from(is_supported));
        let lost = i64::from(self.lost) - worth.change();
        self.lost = lost.clamp(0, i64::from(u32::MAX)) as u32;
    }

    /// A supported page was found on one of its pages.
    pub(crate) fn credit(&mut self) {
        self.supported = self.supported.saturating_add(1);
        self.lost = self.lost.saturating_sub(SUPPORT as u32);
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
