//! Where a URL lies, seen from its seed and by a list of sites.
//!
//! The questions are asked of every link of every page, so they compare pieces
//! of the URLs as they stand and allocate nothing, unless there is a deny list.

use geomi_url::{CrawlUrl, SiteTables, registrable_domain};

use crate::ScopeError;

/// Whether two URLs have one site: [`CrawlUrl::site`] without making the keys.
pub(crate) fn same_site(a: &CrawlUrl, b: &CrawlUrl) -> bool {
    a.host() == b.host() && site_port(a) == site_port(b)
}

/// 80 and 443 are one site, whatever the scheme.
fn site_port(url: &CrawlUrl) -> u16 {
    match url.port() {
        443 => 80,
        port => port,
    }
}

/// Whether `url` is at or below the directory of `seed`, on its site.
pub(crate) fn below_path(url: &CrawlUrl, seed: &CrawlUrl) -> bool {
    let path = seed.path();
    let directory = path.rfind('/').map_or("", |slash| &path[..=slash]);
    same_site(url, seed) && url.path().starts_with(directory)
}

/// Whether two URLs have one registrable domain.
pub(crate) fn same_domain(url: &CrawlUrl, seed: &CrawlUrl) -> bool {
    if url.host() == seed.host() {
        return true;
    }
    let domain = registrable_domain(seed.host());
    // The cheap test first: it settles nearly every link that leads away.
    url.host().ends_with(domain) && registrable_domain(url.host()) == domain
}

/// Sites by name: those of a deny list, or those selected.
#[derive(Debug, Default)]
pub(crate) struct SiteList(SiteTables);

impl SiteList {
    pub(crate) fn new(entries: &[String], errors: &mut Vec<ScopeError>) -> Self {
        match SiteTables::new([entries]) {
            Ok(tables) => Self(tables),
            Err(wrong) => {
                errors.extend(wrong.into_iter().map(|(_, error)| error.into()));
                Self::default()
            }
        }
    }

    pub(crate) fn contains(&self, url: &CrawlUrl) -> bool {
        !self.0.is_empty() && !self.0.of(&url.site()).is_empty()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn url(text: &str) -> CrawlUrl {
        CrawlUrl::parse(text).unwrap()
    }

    fn denies(entry: &str, link: &str) -> bool {
        let mut errors = Vec::new();
        let list = SiteList::new(&[entry.to_owned()], &mut errors);
        assert!(errors.is_empty(), "{errors:?}");
        list.contains(&url(link))
    }

    #[test]
    fn a_denied_site_is_that_site_only() {
        assert!(denies("Example.com", "https://example.com/x"));
        assert!(!denies("example.com", "https://www.example.com/x"));
        assert!(!denies("example.com", "http://example.com:8080/x"));
        assert!(denies("example.com:8080", "http://example.com:8080/x"));
        assert!(denies("한글.kr", "http://한글.kr/"));
    }

    #[test]
    fn a_denied_tree_is_the_host_and_all_under_it() {
        assert!(denies("*.example.com", "https://example.com/"));
        assert!(denies("*.example.com", "https://a.b.example.com:81/"));
        assert!(!denies("*.example.com", "https://badexample.com/"));
    }

    #[test]
    fn what_is_no_site_is_said() {
        let mut errors = Vec::new();
        let entries = ["", "a b", "e.com/x"].map(String::from);
        SiteList::new(&entries, &mut errors);
        assert_eq!(errors.len(), 3);
        assert!(errors[2].to_string().contains("exclude pattern"));
    }

    #[test]
    fn a_domain_is_not_its_public_suffix() {
        let same = |a, b| same_domain(&url(a), &url(b));
        assert!(same("http://a.example.co.kr/", "http://b.example.co.kr/"));
        assert!(!same("http://other.co.kr/", "http://b.example.co.kr/"));
        assert!(!same("http://badexample.co.kr/", "http://example.co.kr/"));
        assert!(!same("http://me.github.io/", "http://you.github.io/"));
        assert!(!same("http://me.github.io/", "http://github.io/"));
        assert!(same("http://10.0.0.1:81/", "http://10.0.0.1/"));
        assert!(!same("http://110.0.0.1/", "http://10.0.0.1/"));
    }

    proptest! {
        #[test]
        fn same_site_is_equality_of_sites(
            a in "https?://[ab]\\.kr(:(80|443|81))?/x",
            b in "https?://[ab]\\.kr(:(80|443|81))?/y",
        ) {
            let (a, b) = (url(&a), url(&b));
            prop_assert_eq!(same_site(&a, &b), a.site() == b.site());
        }
    }
}
