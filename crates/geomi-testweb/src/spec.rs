//! What can be asked for: the description of a web.

use std::time::Duration;

use crate::{ChangeMix, Naming, SiteBehaviour};

/// A web in one value. Equal specifications are equal webs.
///
/// ```
/// use geomi_testweb::{Web, WebSpec};
///
/// let mut spec = WebSpec::plain(20, 1000);
/// spec.traits.missing = 0.01;
/// let web = Web::new(spec);
/// assert_eq!(web.seeds()[19].host(), "127.0.1.20");
/// ```
#[derive(Clone, Debug)]
pub struct WebSpec {
    /// Every draw comes from this.
    pub seed: u64,
    /// Number of sites.
    pub sites: u32,
    /// Pages of each site, its front page included.
    pub pages_per_site: Pages,
    /// Sizes of pages.
    pub page_bytes: PageBytes,
    /// Links on a page; at least 1, or no second page could be reached.
    pub links_per_page: u32,
    /// How sites are named.
    pub naming: Naming,
    /// The port in URLs; 0 lets the server choose a free one.
    pub port: u16,
    /// What is not plain about it.
    pub traits: Traits,
    /// Sites that behave as a test says.
    pub site_overrides: Vec<(u32, SiteBehaviour)>,
}

/// Number of pages of a site.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pages {
    /// The same for all.
    Fixed(u32),
    /// Zipf with exponent 1: many small sites, few large ones.
    Zipf {
        /// The smallest site.
        min: u32,
        /// The largest site.
        max: u32,
    },
}

/// Log-normal page sizes, in bytes on the wire before compression. A page is
/// never smaller than its links need (about 5 KB for 50 links).
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct PageBytes {
    /// Mean size.
    pub mean: u32,
    /// Standard deviation of the logarithm.
    pub sigma: f64,
}

impl PageBytes {
    /// Pages of about 18 KB.
    pub const SMALL: Self = Self::of_mean(18_000);
    /// Pages of about 100 KB.
    pub const LARGE: Self = Self::of_mean(100_000);

    /// Pages of this mean size with the usual spread.
    pub const fn of_mean(mean: u32) -> Self {
        Self { mean, sigma: 0.5 }
    }
}

/// A span of time between two bounds, drawn evenly.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Span {
    /// Least.
    pub from: Duration,
    /// Greatest.
    pub to: Duration,
}

/// How long a site takes before it answers. Drawn once a site, so that every
/// answer of a site takes the same time.
#[derive(Clone, Copy, PartialEq, Debug)]
pub enum Latency {
    /// At once.
    None,
    /// The same for all sites.
    Equal(Duration),
    /// Evenly between two bounds.
    Uniform(Span),
    /// Log-normal.
    LogNormal {
        /// Median over sites.
        median: Duration,
        /// Standard deviation of the logarithm.
        sigma: f64,
    },
}

/// What is not plain about a web. Shares are between 0 and 1; those of pages
/// are met by pages without children in the link tree, so that every page that
/// answers 200 stays reachable from its front page.
#[derive(Clone, Debug)]
pub struct Traits {
    /// Share of pages that answer 404 or 410.
    pub missing: f64,
    /// Share of pages that answer 500.
    pub failing: f64,
    /// Share of pages that answer 503 with `Retry-After` in every other window
    /// of four seconds.
    pub busy: f64,
    /// Share of pages that redirect (301, 302, 307) to a page of the same site,
    /// of another site, or round in a loop.
    pub redirects: f64,
    /// Share of pages whose bytes are those of another page of the site.
    pub duplicates: f64,
    /// Share of pages that play one of [`crate::Fault::QUICK`].
    pub faults: f64,
    /// Share of pages that robots.txt disallows (they lie under `/private/` and
    /// answer 200 to whoever asks nevertheless); every site has a robots.txt
    /// then.
    pub disallowed: f64,
    /// Share of sites whose robots.txt asks for `crawl_delay`.
    pub crawl_delay_sites: f64,
    /// The delay those ask for.
    pub crawl_delay: Duration,
    /// Time before an answer.
    pub latency: Latency,
    /// Share of sites that take `slow` instead.
    pub slow_sites: f64,
    /// How slow those are.
    pub slow: Latency,
    /// Share of sites in Korean; the others are in English.
    pub korean: f64,
    /// Share of Korean sites with a charset of [`crate::SiteCharset::KOREAN_MIX`]; the others
    /// are in labelled UTF-8.
    pub charsets: f64,
    /// Share of sites that compress for clients that accept gzip.
    pub gzip: f64,
    /// Share of sites that send chunks instead of `Content-Length`.
    pub chunked: f64,
    /// Share of sites with `ETag` and `Last-Modified`, which answer 304.
    pub validators: f64,
    /// When pages change.
    pub changes: ChangeMix,
    /// Share of pages with a clock and an advertisement that differ at every
    /// fetch and are no change.
    pub noise: f64,
    /// Share of pages that refer to a style sheet, a script and images, which
    /// then exist under `/static/`.
    pub resources: f64,
    /// Share of sites whose pages are named by a query (`/view?id=7`).
    pub query_urls: f64,
}

impl WebSpec {
    /// A web in which nothing goes wrong and nothing moves: exactly
    /// `sites * pages` pages, all 200, all reachable from the front pages.
    pub fn plain(sites: u32, pages: u32) -> Self {
        Self {
            seed: 1,
            sites,
            pages_per_site: Pages::Fixed(pages),
            page_bytes: PageBytes::SMALL,
            links_per_page: 50,
            naming: Naming::Addresses,
            port: 0,
            traits: Traits::plain(),
            site_overrides: Vec::new(),
        }
    }

    /// A web with a little of everything, for demonstrations and for crawls
    /// that should meet what the real web holds.
    pub fn lively(sites: u32, pages: u32) -> Self {
        Self {
            traits: Traits::lively(),
            ..Self::plain(sites, pages)
        }
    }
}

impl Traits {
    /// Nothing but pages: half of the sites Korean, all in UTF-8.
    pub fn plain() -> Self {
        Self {
            missing: 0.0,
            failing: 0.0,
            busy: 0.0,
            redirects: 0.0,
            duplicates: 0.0,
            faults: 0.0,
            disallowed: 0.0,
            crawl_delay_sites: 0.0,
            crawl_delay: Duration::from_secs(1),
            latency: Latency::None,
            slow_sites: 0.0,
            slow: Latency::None,
            korean: 0.5,
            charsets: 0.0,
            gzip: 0.0,
            chunked: 0.0,
            validators: 0.0,
            changes: ChangeMix::NEVER,
            noise: 0.0,
            resources: 0.0,
            query_urls: 0.0,
        }
    }

    /// A little of everything.
    pub fn lively() -> Self {
        Self {
            missing: 0.03,
            failing: 0.005,
            busy: 0.002,
            redirects: 0.03,
            duplicates: 0.05,
            faults: 0.005,
            disallowed: 0.02,
            crawl_delay_sites: 0.1,
            latency: Latency::LogNormal {
                median: Duration::from_millis(20),
                sigma: 0.8,
            },
            slow_sites: 0.05,
            slow: Latency::Uniform(Span {
                from: Duration::from_millis(200),
                to: Duration::from_millis(800),
            }),
            charsets: 0.5,
            gzip: 0.5,
            chunked: 0.2,
            validators: 0.5,
            changes: ChangeMix::web(),
            noise: 0.1,
            resources: 0.2,
            query_urls: 0.1,
            ..Self::plain()
        }
    }
}
