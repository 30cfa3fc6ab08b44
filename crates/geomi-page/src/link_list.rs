//! Links of content that is not a page: whole addresses, each with its signal.

use std::collections::HashSet;

use geomi_model::{ChangeSignal, Link, LinkKind};
use geomi_url::CrawlUrl;

use crate::reader::ReadLimits;
use crate::values::followable;

/// The links of a document in the making: in order, without repetition, bounded.
pub(crate) struct LinkList<'a> {
    base: &'a CrawlUrl,
    links: Vec<Link>,
    seen: HashSet<u64>,
    links_max: usize,
    text_bytes_max: usize,
    truncated: bool,
    dropped: u32,
}

impl<'a> LinkList<'a> {
    /// For at most `links_max` links that are resolved against `base`.
    pub(crate) fn new(base: &'a CrawlUrl, links_max: usize, limits: &ReadLimits) -> Self {
        Self {
            base,
            links: Vec::new(),
            seen: HashSet::new(),
            links_max,
            text_bytes_max: limits.attribute_bytes_max,
            truncated: false,
            dropped: 0,
        }
    }

    /// Takes a link as written. What is no address is passed over.
    pub(crate) fn add(&mut self, text: &str, kind: LinkKind, signal: Option<ChangeSignal>) {
        let Some(text) = followable(text) else {
            return;
        };
        if text.len() > self.text_bytes_max {
            self.truncated = true;
            return;
        }
        // What does not parse is no link, and there is nothing to report.
        let url = CrawlUrl::parse_plain(text).or_else(|| self.base.join(text).ok());
        let Some(url) = url else {
            return;
        };
        self.push(Link {
            url,
            kind,
            nofollow: false,
            is_advert: false,
            signal: signal.filter(|signal| *signal != ChangeSignal::default()),
        });
    }

    /// Takes a link that is resolved already.
    pub(crate) fn push(&mut self, link: Link) {
        let hash = link.url.hash64().0;
        if self.links.len() >= self.links_max {
            let is_new = !self.seen.contains(&hash);
            self.truncated |= is_new;
            self.dropped += u32::from(is_new);
        } else if self.seen.insert(hash) {
            self.links.push(link);
        }
    }

    /// Whether no further link would be taken.
    pub(crate) fn is_full(&self) -> bool {
        self.links.len() >= self.links_max
    }

    /// Something was left out.
    pub(crate) fn cut(&mut self) {
        self.truncated = true;
    }

    /// Links left out since it was full.
    pub(crate) fn dropped(&self) -> u32 {
        self.dropped
    }

    /// The links, and whether some were left out.
    pub(crate) fn finish(self) -> (Vec<Link>, bool) {
        (self.links, self.truncated)
    }
}
