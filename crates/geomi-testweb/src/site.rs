//! What a site is: its size, its pace, its language, its traits.

use std::time::Duration;

use crate::dice::{Dice, Draw};
use crate::text::Language;
use crate::{Latency, Pages, SiteCharset, Web};

/// Traits that a site has or has not.
#[derive(Clone, Copy)]
pub(crate) enum SiteTrait {
    CrawlDelay = 1,
    Slow,
    Gzip,
    Chunked,
    Validators,
    QueryUrls,
}

impl Web {
    /// The number of pages of a site.
    pub fn pages_of(&self, site: u32) -> u32 {
        if let Some(pages) = self.behaviour(site).and_then(|own| own.pages) {
            return pages.max(1);
        }
        match self.spec().pages_per_site {
            Pages::Fixed(pages) => pages.max(1),
            Pages::Zipf { min, max } => {
                let (min, max) = (f64::from(min.max(1)), f64::from(max.max(1)));
                let u = self.site_dice(Draw::SitePages, site, 0).unit();
                // The inverse of the Pareto law with exponent 1, cut at `max`.
                (min / (1.0 - u * (1.0 - min / max))) as u32
            }
        }
    }

    /// How long a site takes before the first byte of an answer.
    pub fn latency_of(&self, site: u32) -> Duration {
        if let Some(latency) = self.behaviour(site).and_then(|own| own.latency) {
            return latency;
        }
        let traits = &self.spec().traits;
        let mut dice = self.site_dice(Draw::Latency, site, 0);
        if self.site_has(site, SiteTrait::Slow, traits.slow_sites) {
            traits.slow.drawn(&mut dice)
        } else {
            traits.latency.drawn(&mut dice)
        }
    }

    /// The charset of a site's pages and how it labels them.
    pub fn charset_of(&self, site: u32) -> SiteCharset {
        if let Some(charset) = self.behaviour(site).and_then(|own| own.charset) {
            return charset;
        }
        let mut dice = self.site_dice(Draw::Charset, site, 0);
        let mixed = self.spec().traits.charsets;
        if mixed > 0.0 && self.language(site) == Language::Korean && dice.chance(mixed) {
            SiteCharset::drawn(&mut dice)
        } else {
            SiteCharset::UTF8
        }
    }

    pub(crate) fn site_has(&self, site: u32, which: SiteTrait, share: f64) -> bool {
        share > 0.0 && {
            let mut dice = self.site_dice(Draw::SiteTrait, site, which as u32);
            dice.chance(share)
        }
    }

    pub(crate) fn has_query_urls(&self, site: u32) -> bool {
        self.site_has(site, SiteTrait::QueryUrls, self.spec().traits.query_urls)
    }

    pub(crate) fn language(&self, site: u32) -> Language {
        let mut dice = self.site_dice(Draw::Language, site, 0);
        if dice.chance(self.spec().traits.korean) {
            Language::Korean
        } else {
            Language::English
        }
    }

    fn site_dice(&self, draw: Draw, site: u32, which: u32) -> Dice {
        Dice::new(self.spec().seed, draw, [site, which].map(u64::from))
    }
}

impl Latency {
    fn drawn(self, dice: &mut Dice) -> Duration {
        match self {
            Self::None => Duration::ZERO,
            Self::Equal(latency) => latency,
            Self::Uniform(span) => {
                Duration::from_secs_f64(dice.within(span.from.as_secs_f64(), span.to.as_secs_f64()))
            }
            Self::LogNormal { median, sigma } => {
                // A day is longer than any client waits.
                let drawn = dice.log_normal(median.as_secs_f64(), sigma);
                Duration::from_secs_f64(drawn.min(86_400.0))
            }
        }
    }
}
