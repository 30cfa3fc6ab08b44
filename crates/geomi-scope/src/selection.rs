//! Which of the pages a crawl has are meant: sites, URLs and types.
//!
//! The words are those of the scope, so that who can write `scope.include` and
//! `scope.sites_denied` can select: `example.com:8080` is one site,
//! `*.example.com` that host and all under it, a pattern is a glob over the
//! whole URL or a regular expression after `re:`. Entries of one kind are
//! alternatives; the kinds must all agree.

use geomi_url::CrawlUrl;

use crate::pattern::Patterns;
use crate::place::SiteList;
use crate::scope::{Mime, read_mimes};
use crate::{PatternList, ScopeError};

/// What the operator wrote; an empty list asks for nothing.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SelectionConfig {
    /// Sites, or `*.` and a host for all under it.
    pub sites: Vec<String>,
    /// Patterns over the whole URL.
    pub urls: Vec<String>,
    /// Media types, such as `text/html` or `image/*`.
    pub mimes: Vec<String>,
}

/// A selection, compiled.
///
/// ```
/// use geomi_scope::{Selection, SelectionConfig};
/// use geomi_url::CrawlUrl;
///
/// let selection = Selection::new(&SelectionConfig {
///     sites: vec!["*.example.com".to_owned()],
///     mimes: vec!["image/*".to_owned()],
///     ..SelectionConfig::default()
/// })
/// .unwrap();
/// let url = CrawlUrl::parse("http://www.example.com/a.png").unwrap();
/// assert!(selection.has(&url, Some("image/png")));
/// assert!(!selection.has(&url, None));
/// ```
#[derive(Debug)]
pub struct Selection {
    sites: Option<SiteList>,
    urls: Patterns,
    mimes: Vec<Mime>,
}

impl Selection {
    /// Checks and compiles; on failure, everything wrong with it.
    pub fn new(config: &SelectionConfig) -> Result<Self, Vec<ScopeError>> {
        let mut errors = Vec::new();
        let sites = SiteList::new(&config.sites, &mut errors);
        let selection = Self {
            sites: (!config.sites.is_empty()).then_some(sites),
            urls: Patterns::new(PatternList::Include, &config.urls, &mut errors),
            mimes: read_mimes(&config.mimes, &mut errors),
        };
        if errors.is_empty() {
            Ok(selection)
        } else {
            Err(errors)
        }
    }

    /// Whether a page is selected. Where types are asked for, one without a type
    /// is not.
    pub fn has(&self, url: &CrawlUrl, mime: Option<&str>) -> bool {
        let has_site = self.sites.as_ref().is_none_or(|list| list.contains(url));
        has_site
            && (self.urls.is_empty() || self.urls.first_match(url.as_str()).is_some())
            && (self.mimes.is_empty()
                || mime.is_some_and(|mime| {
                    let essence = mime.split(';').next().unwrap_or(mime).trim();
                    self.mimes.iter().any(|wanted| wanted.matches(essence))
                }))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn has(config: &SelectionConfig, url: &str, mime: Option<&str>) -> bool {
        let url = CrawlUrl::parse(url).unwrap();
        Selection::new(config).unwrap().has(&url, mime)
    }

    fn words(words: &[&str]) -> Vec<String> {
        words.iter().map(ToString::to_string).collect()
    }

    #[test]
    fn nothing_asked_for_is_everything() {
        assert!(has(&SelectionConfig::default(), "http://e.com/", None));
    }

    #[test]
    fn kinds_agree_and_entries_are_alternatives() {
        let config = SelectionConfig {
            sites: words(&["a.com", "b.com:81"]),
            urls: words(&["*/x*", "re:y$"]),
            mimes: words(&["text/html", "image/*"]),
        };
        let html = Some("Text/HTML");
        assert!(has(&config, "https://a.com/x1", html));
        assert!(has(&config, "http://b.com:81/y", Some("image/gif")));
        assert!(!has(&config, "http://b.com/y", html));
        assert!(!has(&config, "http://a.com/z", html));
        assert!(!has(&config, "http://a.com/x", Some("text/css")));
        assert!(!has(&config, "http://a.com/x", None));
    }

    #[test]
    fn every_mistake_is_said() {
        let config = SelectionConfig {
            sites: words(&["e.com/x"]),
            urls: words(&["/x"]),
            mimes: words(&["html"]),
        };
        let errors = Selection::new(&config).unwrap_err();
        let said: Vec<String> = errors.iter().map(ToString::to_string).collect();
        assert_eq!(said.len(), 3, "{said:?}");
        assert!(said[0].contains("e.com/x") && said[1].contains("\"*/x\""));
        assert!(said[2].contains("text/html"));
    }
}
