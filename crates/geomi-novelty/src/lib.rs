//! What a site's URLs have brought so far, and whether more are worth a request.
//!
//! A crawler that follows every link never comes out of a calendar. This crate
//! learns from what was fetched, site by site, and answers three questions:
//! is this URL likely to bring something new ([`SiteNovelty::judge`]), which of
//! its parts make no difference ([`SiteNovelty::stripped`]), and may one more
//! host of this domain be opened ([`DomainNovelty`]). [`DropParams`] is the
//! static part: session and tracking parameters known by name.
//!
//! It is pure: no clock, no dice, no disk. It never decides about a typed seed.
//!
//! # The rule
//!
//! Each URL belongs to a **template** (its path with numbers, dates, ids and
//! slugs made general, and the set of its parameters' names), a **section** (its
//! first directory; for a URL with a query, its path), and its site. Each of the
//! three has a balance, which begins at a budget (100, 120, 140 requests) and can
//! never be more. A page that was fetched changes all three:
//!
//! | the page brought | change |
//! |---|---|
//! | text this site had before, numbers included, or the same bytes | -2 |
//! | the same, on a page that links to nothing new | -1 |
//! | text this site had before but for dates and numbers | -1 |
//! | the same, and it is a dead end that bears no date: such pages are finite | 0 |
//! | new text, found and linked as a generator would | -1 |
//! | new text with *support* | +10; for a dead end, the template it was found on gains as much |
//! | an error, a redirect, a new image or file | 0 |
//!
//! **Support** is what an endless generator lacks and real sites have: the page is
//! a dead end (it links to nothing that was not known), or it links to a page of
//! its own shape that another page linked to before and nobody has fetched yet.
//! Generators grow trees and chains, whose every page is linked from one place
//! and links to fresh ones only; sites are graphs.
//!
//! A template at zero is closed. A section or site at zero is closed for templates
//! that have not proven themselves by three supported pages. Of the URLs refused,
//! the 64th, 128th, 256th … are let through as probes, so that a wrong verdict is
//! found out.
//!
//! So a trap of one template costs at most 100 requests, one that spreads over
//! templates 120, one that spreads over sections 140, each plus what is under way
//! and some probes; a site whose pages have support at least once in eleven times
//! is never cut.
//!
//! # Where it fails
//!
//! * More than a hundred pages that differ in numbers only, link to fresh pages
//!   and bear no support look like a calendar, and are cut.
//! * More than a hundred pages of one template that say the very same are not
//!   fetched to the last.
//! * A very large site whose pages link to each other at random, with neither
//!   common targets nor dead ends among its first hundred pages, looks like a
//!   generator. Sites with lists, menus or "related" boxes do not.
//! * So does a site that is a pure tree, whose pages are linked from their parents
//!   only and have more than a hundred inner pages of one template.
//! * A generator that makes dead ends of new text with every step, or links
//!   sideways as a site does, looks like a site. Depth and page limits remain.
//! * What was refused at its turn is not queued again when a probe reopens its
//!   template; links found later are.
//!
//! Memory is bounded: 256 templates, 16 sections, 512 texts and 512 comparisons a
//! site. What does not fit is judged by section and site alone.

mod account;
mod domain;
mod drop_params;
mod memory;
mod nearby;
mod params;
mod site;
mod template;

pub use account::Account;
pub use domain::DomainNovelty;
pub use drop_params::{BadParam, DEFAULT_DROP_PARAMS, DropParams};
pub use nearby::{BUCKET_MAX, DISTANCE_MAX, Near, Nearby, PAGES_MAX};
pub use params::Param;
pub use site::{
    Content, NoveltyRefusal, Observation, Sight, SiteNovelty, SiteStanding, TemplateStanding,
};
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
        }
    }
}
