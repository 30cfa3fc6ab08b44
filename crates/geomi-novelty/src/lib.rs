//! What a site's URLs have brought so far, and whether more are worth a request.
//!
//! A crawler that follows every link never comes out of a calendar. This crate
//! learns from what was fetched, site by site, and answers three questions:
//! is this URL likely to bring something new ([`SiteNovelty::judge`]), which of
//! its parts make no difference ([`SiteNovelty::stripped`]), and may one more
//! host of this domain be opened ([`DomainNovelty`]). [`DropParams`] is the
//! static part: session and tracking parameters known by name. What pages have in
//! common is told by [`Nearby`] (they say nearly the same), [`Mirrors`] (their
//! sites have the same pages) and [`Missing`] (they say what their site says of
//! pages it does not have).
//!
//! It is pure: no clock, no dice, no disk. It never decides about a typed seed.
//!
//! # The rule
//!
//! Each URL belongs to a **template** (its path with numbers, dates, ids and
//! slugs made general, and the set of its parameters' names), a **shelf** (all
//! URLs of its section with as many segments, with a query or without), a
//! **section** (its first directory; for a URL with a query, its path), and its
//! site. Each has a balance, which begins at a budget (100, 120, 120, 140
//! requests) and can never be more. A page that was fetched changes them:
//!
//! | the page brought | change |
//! |---|---|
//! | text this site had before, numbers included, or the same bytes | -2 |
//! | the same, on a page that links to nothing new | -1 |
//! | text this site had before but for dates and numbers | -1 |
//! | the same, and it is a dead end that bears no date: such pages are finite | 0 |
//! | new text, found and linked as a generator would | -1 |
//! | a long new text with one new link, as a chapter has | -1 every fourth time |
//! | new text with *support* | +10; for a dead end, what it was found on gains as much |
//! | a dead end at the end of a *dive* | +30 for all the dive came through |
//! | an error, a redirect, a new image or file | 0 |
//!
//! **Support** is what an endless generator lacks and real sites have: the page is
//! a dead end (it links to nothing that was not known), or it links to a page of
//! its own shape that another page linked to before and nobody has fetched yet.
//! Generators grow trees and chains, whose every page is linked from one place
//! and links to fresh ones only; sites are graphs. Links to neighbours by number
//! are no support, nor are those of calendars, lists and filters; and a page
//! whose next ones in a row or choice are known but wait is no dead end but the
//! midst of something. Where all is well nobody looks that closely, and such
//! pages count for nothing.
//!
//! **Dives** find dead ends where there are any: while a balance is below 60 %,
//! one new link of a page jumps the queue, then one of the page it leads to, and
//! so on ([`SiteNovelty::dives_from`]). A wide tree shows its first leaf after a
//! few requests instead of after all of its inner pages.
//!
//! A template at zero is closed. A shelf, section or site at zero is closed for
//! templates and shelves that have not proven themselves by three supported
//! pages; those that have neither pay for it nor feed it. A section with three
//! pages that are more than a year ahead and lead on is an endless calendar: all
//! of its URLs are closed that only a date tells apart. Of the URLs refused, the
//! 64th, 128th, 256th … are let through as probes. [`Observation::has_reopened`]
//! says when what was refused is to be looked at again.
//!
//! So a trap of one template costs at most 100 requests, one that spreads over
//! templates 120, one that spreads over sections 140, each plus what is under way
//! and some probes. The laboratory in `tests/` says what good sites and traps
//! cost.
//!
//! # Where it fails
//!
//! * A chain of more than a hundred short pages, each named by the one before it
//!   alone, looks endless and is cut; of long ones, four hundred are fetched.
//! * Pages that differ in numbers only, link to fresh pages and are sparsely
//!   linked look like a calendar, and are cut after a hundred.
//! * More than a hundred pages of one template that say the very same are not
//!   fetched to the last.
//! * A graph of tens of thousands of pages that link to each other at random,
//!   without lists, menus or dead ends, looks like a generator.
//! * Several requests to a site at a time leave a dive a smaller share: rows of
//!   some hundred pages with numbers below them may be cut then.
//! * A generator that makes dead ends of new text with every step, or links
//!   sideways as a site does, looks like a site. Depth and page limits remain.
//!
//! Memory is bounded: 256 templates, 64 shelves, 16 sections, 512 texts and 512
//! comparisons a site. What does not fit is judged by section and site alone.

mod account;
mod dive;
mod domain;
mod drop_params;
mod memory;
mod mirrors;
mod missing;
mod nearby;
mod params;
mod site;
mod standing;
mod template;

pub use account::Account;
pub use dive::Pick;
pub use domain::DomainNovelty;
pub use drop_params::{BadParam, DEFAULT_DROP_PARAMS, DropParams};
pub use mirrors::{Met, Mirror, MirrorPage, Mirrors, PAGES_MAX as MIRROR_PAGES_MAX};
pub use missing::{Missing, Shape};
pub use nearby::{BUCKET_MAX, DISTANCE_MAX, Near, Nearby, PAGES_MAX};
pub use params::Param;
pub use site::{Content, Observation, Sight, SiteNovelty, Ties};
pub use standing::{NoveltyRefusal, SiteStanding, TemplateStanding};
pub use template::Template;

/// The numbers of the rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoveltyConfig {
    /// Whether anything is refused. A crawl that refuses nothing need not learn.
    pub is_on: bool,
    /// Requests a template may cost that bring nothing.
    pub template_budget: u32,
    /// The same for a section.
    pub section_budget: u32,
    /// The same for a site.
    pub site_budget: u32,
    /// Hosts of one registrable domain that may be opened without bringing
    /// anything.
    pub domain_hosts: u32,
    /// Pairs of pages that must agree before a parameter is ignored.
    pub pairs_min: u32,
    /// The year it is, by which dates far ahead are told; where it is not known,
    /// none is.
    pub year: Option<u16>,
}

impl Default for NoveltyConfig {
    fn default() -> Self {
        Self {
            is_on: true,
            template_budget: 100,
            section_budget: 120,
            site_budget: 140,
            domain_hosts: 40,
            pairs_min: 8,
            year: None,
        }
    }
}
