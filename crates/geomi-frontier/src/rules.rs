//! What holds for one site where it differs from all others.

use crate::Politeness;

/// The rules of one site, given when it is opened. The frontier asks nobody
/// whose idea they were.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct SiteRules {
    /// Its delay and its connections.
    pub politeness: Politeness,
    /// Whether its robots.txt is asked for before its pages.
    pub ask_robots: bool,
    /// Pages that may still be saved from it; `None` for as many as there are.
    /// A site never has more pages under way than this, so that the number is
    /// kept exactly, and is retired when it comes to nothing.
    pub pages_left: Option<u64>,
}

/// Why a site is retired whose pages are all saved.
pub(crate) const PAGES_SAVED: &str = "as many of its pages are saved as its max_pages allows";
