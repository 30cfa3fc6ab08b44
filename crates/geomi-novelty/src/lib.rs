//! The trap guard: which URLs are fetched last because their site does not stop
//! growing.
//!
//! A crawler that follows every link never comes out of an endless calendar. This
//! crate learns from what was fetched, site by site, and answers three questions:
//! is this URL deferred ([`SiteNovelty::judge`]), which of its parts have no effect
//! ([`SiteNovelty::stripped`]), and may another host of this domain be opened
//! ([`DomainNovelty`]). [`DropParams`] is the static part: session and tracking
//! parameters known by name. [`Nearby`] finds pages that say nearly the same,
//! [`Mirrors`] sites with the same pages, and [`Missing`] pages that say what their
//! site says of pages it does not have.
//!
//! It is pure: no clock, no random numbers, no disk. It never decides about a typed
//! seed.
//!
//! # What a trap is
//!
//! A trap is a part of a site whose URLs do not stop growing. That its pages
//! resemble each other is not enough: the items of a shop may differ in a price
//! and a picture only. So a page is evidence only if it *leads on*, that is, links
//! to pages of its site that were not known. Not counted as leading on are links
//! that robots.txt or the scope refuses, images and other files, links to templates
//! that fail or only redirect to known pages, and links to templates that are closed. A
//! page that leads nowhere is never evidence, unless its URL bears a date and it repeats
//! what other dates say.
//!
//! # Accounts
//!
//! Each URL belongs to a **template** (its path with numbers, dates, ids and slugs
//! made general, and the names of its parameters), a **shelf** (all URLs of its
//! section with as many segments, with a query or without), a **section** (its
//! first directory; for a URL with a query, its path), and its site. Each has an
//! [`Account`] with two sums:
//!
//! | page | repeated | unsupported |
//! |---|---|---|
//! | exactly what the site said before, and leads on | +2 | |
//! | the same words, no new details, and leads on | +1 | |
//! | the same on a page that bears a date, leading on or not | +1 | |
//! | is a combination of known query pairs and leads only to more of them, whatever it says | +1 | |
//! | the same, but the filters have at most 512 combinations in all | | |
//! | the same of words in paths and values, if it has less than 200 bytes of text outside links | +1 | |
//! | more than 8 segments and query pairs long, and leads only to longer forms of its URL | +10 | |
//! | repeats what is known and leads nowhere | | |
//! | new content that leads on, without *support* | | +1 |
//! | new content with support | -10 | -10 |
//! | a dead end that a *dive* reached: everything the dive came through | -30 | -30 |
//!
//! **Details** tell pages with the same words apart: numbers of three digits or
//! more that are not near a number of the URL ([`telling_numbers`]), and embedded
//! images. Dates, counters and years are no details.
//!
//! **Support** is what endless generators lack and finite sites have: the page
//! leads nowhere, or it links to a page of its own shape that another page linked
//! to before and that is not fetched yet. Generators grow trees and chains; sites
//! are graphs. Links to neighbours by number are no support, nor are links of
//! calendars, lists and filters. A supported page that leads nowhere also gives
//! credit to the template it was found on, unless that page is a combination.
//!
//! **Dives** find dead ends: where an account is in doubt (40 % of its budget), one
//! new link of a page jumps the queue, then one of the page it leads to, and so on
//! ([`SiteNovelty::dives_from`]). A wide tree shows its first leaf after a few
//! requests instead of after all of its inner pages.
//!
//! # Probes
//!
//! Evidence takes long, and alike pages look endless. So where a template or section is
//! suspect, the server is asked for a URL that no page links to ([`probe`]): another
//! century, a thousand times the number, two combinations in one. A template or section
//! is suspect after 12 points of repeated content, 60 unsupported pages, 3 pages more
//! than a year ahead, or 60 pages that led on and as many URLs that wait, without links
//! sideways. A template that has only redirected to known pages is suspect after 20
//! redirects in a row.
//!
//! A generator answers the probe and leads on from there. That decides:
//!
//! * **There is no end:** the template is deferred at once. Where paths grow, the longer
//!   ones are, and after three such sections those of all other sections without support;
//!   where paths combine filters, those with two filters or more are. Where query pairs
//!   are combined, the URLs of the section with two pairs or more are, except templates
//!   that have proven themselves: a list keeps its pages. What the template has repeated
//!   is not held against the rest of the site.
//! * **There is an end:** the template is not deferred for what its pages say, however
//!   alike they are, only by the budget of its site. One probe can be of the wrong kind,
//!   so the server is asked again when four times as many pages have led on (240 at
//!   least), then sixteen times, and so on.
//! * **Nothing was decided** (no probe can be made, robots.txt forbids it, failures): the
//!   evidence counts.
//!
//! # When URLs are deferred
//!
//! * Their template, section or length of path has no end by its probes.
//! * They were quoted within themselves three times (`%252525`).
//! * An account without a verdict with 80 (template), 90 (shelf and section) or 100
//!   (site) repeated is closed.
//! * An account without a verdict with 400 unsupported and 400 pending URLs, and fewer
//!   than three supported pages, is closed: it branches without an end in sight.
//! * A section with three pages more than a year ahead that lead on is an endless
//!   calendar, unless there is a verdict: its URLs that only a date tells apart are
//!   deferred.
//! * A site with 25,000 unsupported pages has had its budget. No finite site of
//!   20,000 pages reaches it, and larger ones get it back by support.
//!
//! A closed shelf, section or site does not concern templates and shelves that have
//! proven themselves by three supported pages. A site that is closed for repeated
//! content does not concern sections in which nothing was repeated.
//!
//! What is deferred is not lost: it is released when its account is open again, and
//! otherwise at the end of the crawl, when nothing else is left. Where there is no end,
//! the URLs nearest to the seed come first then; elsewhere those that may lead on: of
//! each account one of a template that was never fetched, or else one like the page it
//! was found on, the deepest. One comes after the other, each later than the one before,
//! 20 per account and one more for each that led to something that is not deferred, as
//! long as that brings new content ([`SiteNovelty::last_call`]). If there is an end, it is found there: three of them in
//! a row lead nowhere new, or no URL that may lead on is left, and everything else in it
//! is fetched. If it still grows, the rest stays where it is and is reported.
//!
//! So a trap that repeats or recombines content costs at most 150 requests: 60 or fewer
//! until it is suspect, a few probes, those that were queued before, and 20 at the end.
//!
//! A parameter whose value a machine draws (eight characters or more, with a digit)
//! is ignored on the whole site if it made no difference on three pages of any template.
//! The same holds for a path segment with a drawn part in it (`s~9f8a7b6c5d`). All pairs
//! of a query are ignored together on a template where they made no difference on three
//! pages: several of them may change from link to link. Capital letters and the number of
//! slashes are ignored on a site under the same condition.
//!
//! # Where it fails
//!
//! * A server that answers any path below a folder with a page makes deep pages of that
//!   folder look endless: they come last, and 20 of them are fetched.
//! * A finite part of which no probe can be made (words only) and whose pages repeat for
//!   more than 100 pages in a chain stays deferred.
//! * A generator that answers only the URLs it has linked to looks like a site: 25,000
//!   requests. So does one with new text whose links often meet the same pages: they count
//!   as support and give the budget back.
//! * Finite variants of a page (print, share, old revisions) cost a few requests per page,
//!   and so do combined filters on the lists of a large shop. Pages that link to each
//!   other over redirects cost up to 260 requests.
//! * A site that shows a page under any drawn id or large number, with links drawn at
//!   random below it, looks like a generator. What is deferred of it is 20 requests from
//!   being released, if three of them lead nowhere.
//!
//! Memory is bounded: 256 templates, 64 shelves, 17 sections, 3 x 512 content
//! hashes, 512 comparisons, 1,024 query pairs and the filters of 8 paths per site. What does not fit is
//! judged by section and site alone.

mod account;
mod choices;
mod dive;
mod domain;
mod drop_params;
mod memory;
mod mirrors;
mod missing;
mod nearby;
mod numbers;
mod params;
pub mod probe;
mod recombined;
mod site;
mod standing;

pub use account::Account;
pub use dive::Pick;
pub use domain::DomainNovelty;
pub use drop_params::{BadParam, DEFAULT_DROP_PARAMS, DropParams, NotSession};
pub use mirrors::{Met, Mirror, MirrorPage, Mirrors, PAGES_MAX as MIRROR_PAGES_MAX};
pub use missing::{Missing, Shape};
pub use nearby::{BUCKET_MAX, DISTANCE_MAX, Near, Nearby, PAGES_MAX};
pub use numbers::telling_numbers;
pub use params::Param;
pub use probe::{End, ProbeAnswer};
pub use recombined::Combines;
pub use site::{Content, FoundLink, Observation, Sight, SiteNovelty, Ties};
pub use standing::{NoveltyRefusal, SiteStanding, TemplateStanding};

/// The numbers of the rule.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct NoveltyConfig {
    /// Whether the trap guard is on. A crawl without it need not learn.
    pub is_on: bool,
    /// Repeated content after which a template is closed.
    pub template_budget: u32,
    /// The same for a section.
    pub section_budget: u32,
    /// The same for a site.
    pub site_budget: u32,
    /// Unsupported pages, and as many pending URLs, after which an account is
    /// closed.
    pub growth_budget: u32,
    /// Unsupported pages of one site, at most.
    pub site_pages: u32,
    /// Deferred URLs of one account that are fetched at the end although they may
    /// lead on; and hosts of one domain.
    pub last_calls: u32,
    /// Hosts of one registrable domain that may be opened without bringing
    /// anything.
    pub domain_hosts: u32,
    /// Pairs of pages that must agree before a parameter is ignored.
    pub pairs_min: u32,
    /// The current year, by which dates far ahead are recognised; `None` if it is
    /// not known.
    pub year: Option<u16>,
}

impl Default for NoveltyConfig {
    fn default() -> Self {
        Self {
            is_on: true,
            template_budget: 80,
            section_budget: 90,
            site_budget: 100,
            growth_budget: 400,
            site_pages: 25_000,
            last_calls: 20,
            domain_hosts: 40,
            pairs_min: 8,
            year: None,
        }
    }
}
