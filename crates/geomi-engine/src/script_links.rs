//! What addresses found in scripts came to.
//!
//! A string in a script may look like an address and be none. Such links have the
//! lowest priority, and they are counted by site and by template: a template of
//! which the first few lead nowhere is not asked for again, nor are those of a site
//! where next to none lead anywhere. Nothing else is concluded from them: a string
//! that was no address says nothing about its site.
//!
//! The counts are in memory only. A crawl that is resumed tries a few again.

use geomi_url::template::Template;
use geomi_url::{CrawlUrl, SiteHash};
use hashbrown::HashMap;

/// Addresses of a template that are tried before it is given up.
const TEMPLATE_TRIES: u32 = 3;
/// Addresses of a site that are tried before their success counts.
const SITE_TRIES: u32 = 24;
/// One in this number of tries of a site must lead to a page.
const SITE_SUCCESS: u32 = 8;
/// Sites and templates that are counted; beyond that all counts begin anew.
const SITES_MAX: usize = 1 << 14;
const TEMPLATES_MAX: usize = 1 << 16;

/// What was tried, and how much of it led somewhere.
#[derive(Clone, Copy, Debug, Default)]
struct Tally {
    tried: u32,
    led: u32,
}

/// The counts of a crawl.
#[derive(Debug, Default)]
pub(crate) struct ScriptLinks {
    sites: HashMap<SiteHash, Tally>,
    templates: HashMap<(SiteHash, u64), Tally>,
}

impl ScriptLinks {
    /// Whether an address is worth a request.
    pub(crate) fn may_try(&self, url: &CrawlUrl) -> bool {
        let site = self.sites.get(&url.site_hash());
        let is_barren = |all: &Tally| all.tried >= SITE_TRIES && all.led * SITE_SUCCESS < all.tried;
        if self.sites.is_empty() {
            return true;
        }
        let template = self.templates.get(&template(url));
        !site.is_some_and(is_barren)
            && template.is_none_or(|kin| kin.led > 0 || kin.tried < TEMPLATE_TRIES)
    }

    /// Takes in what came of one.
    pub(crate) fn tried(&mut self, url: &CrawlUrl, led: bool) {
        if self.sites.len() >= SITES_MAX || self.templates.len() >= TEMPLATES_MAX {
            self.sites.clear();
            self.templates.clear();
        }
        let site = self.sites.entry(url.site_hash()).or_default();
        let kin = self.templates.entry(template(url)).or_default();
        for tally in [site, kin] {
            tally.tried = tally.tried.saturating_add(1);
            tally.led = tally.led.saturating_add(u32::from(led));
        }
    }
}

fn template(url: &CrawlUrl) -> (SiteHash, u64) {
    (url.site_hash(), Template::of(url).hash())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(text: &str) -> CrawlUrl {
        CrawlUrl::parse(text).unwrap()
    }

    #[test]
    fn a_template_that_leads_nowhere_is_given_up() {
        let mut links = ScriptLinks::default();
        let item = |number: u32| url(&format!("http://a.test/api/{number}/x"));
        for number in 0..TEMPLATE_TRIES {
            assert!(links.may_try(&item(number)));
            links.tried(&item(number), false);
        }
        assert!(!links.may_try(&item(99)));
        assert!(links.may_try(&url("http://a.test/other/page.html")));
        assert!(links.may_try(&url("http://b.test/api/1/x")), "another site");
        links.tried(&item(7), true);
        assert!(links.may_try(&item(99)), "one led somewhere");
    }

    #[test]
    fn a_site_where_nothing_leads_anywhere_is_given_up() {
        let mut links = ScriptLinks::default();
        let word = |at: u32| {
            let letters: String = (0..4)
                .map(|n| char::from(b'a' + ((at >> n) % 26) as u8))
                .collect();
            url(&format!("http://a.test/{letters}/{at}"))
        };
        for at in 0..SITE_TRIES {
            links.tried(&word(at), false);
        }
        assert!(!links.may_try(&url("http://a.test/zz/new")));
        for at in 0..SITE_TRIES {
            links.tried(&word(at), true);
        }
        assert!(links.may_try(&url("http://a.test/zz/new")));
    }

    #[test]
    fn counts_are_bounded() {
        let mut links = ScriptLinks::default();
        for number in 0..SITES_MAX + 10 {
            links.tried(&url(&format!("http://h{number}.test/a/b")), false);
        }
        assert!(links.sites.len() <= SITES_MAX && links.templates.len() <= TEMPLATES_MAX);
    }
}
