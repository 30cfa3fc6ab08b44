//! Which of several tables speak for a site.
//!
//! A table names its sites the way the deny list does: `example.com` or
//! `example.com:8080` for one site, `*.example.com` for that host and every host
//! under it, on any port. A site may be named by several tables; they are told
//! in the order in which they were written, so that the caller can let the first
//! one that says something win. What the tables say is not known here.

use std::collections::HashMap;

use crate::{CrawlUrl, SiteKey, UrlError};

/// Why an entry does not name a site.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum SiteNameError {
    /// It has no host.
    #[error("{entry:?} is not a site ({source}): write a host such as \"example.com\"")]
    NoSite {
        /// As written.
        entry: String,
        /// What the parser found.
        source: UrlError,
    },
    /// It has more than host and port.
    #[error("site {entry:?} is more than host and port: use a URL or exclude pattern for a path")]
    MoreThanSite {
        /// As written.
        entry: String,
    },
}

/// Tables by the sites they name.
///
/// ```
/// use geomi_url::{CrawlUrl, SiteTables};
///
/// let names = [vec!["shop.example".to_owned()], vec!["*.example".to_owned()]];
/// let tables = SiteTables::new(names.iter().map(Vec::as_slice)).unwrap();
/// let site = |url| CrawlUrl::parse(url).unwrap().site();
/// assert_eq!(tables.of(&site("https://shop.example/")), [0, 1]);
/// assert_eq!(tables.of(&site("http://www.shop.example:8080/")), [1]);
/// assert!(tables.of(&site("http://other.test/")).is_empty());
/// ```
#[derive(Clone, Debug, Default)]
pub struct SiteTables {
    /// By the text of a site's key.
    sites: HashMap<Box<str>, Vec<usize>>,
    /// By a host that is meant with everything under it.
    trees: HashMap<Box<str>, Vec<usize>>,
}

impl SiteTables {
    /// Reads the names of each table; on failure, everything wrong with them,
    /// each with the index of its table.
    pub fn new<'a>(
        tables: impl IntoIterator<Item = &'a [String]>,
    ) -> Result<Self, Vec<(usize, SiteNameError)>> {
        let mut read = Self::default();
        let mut errors = Vec::new();
        for (table, names) in tables.into_iter().enumerate() {
            for name in names {
                if let Err(error) = read.add(table, name) {
                    errors.push((table, error));
                }
            }
        }
        if errors.is_empty() {
            Ok(read)
        } else {
            Err(errors)
        }
    }

    /// Whether there is no table that names a site.
    pub fn is_empty(&self) -> bool {
        self.sites.is_empty() && self.trees.is_empty()
    }

    /// The tables that name a site, in their order.
    pub fn of(&self, site: &SiteKey) -> Vec<usize> {
        if self.is_empty() {
            return Vec::new();
        }
        let exact = self.sites.get(site.as_str()).into_iter();
        let parents = std::iter::successors(Some(host_of(site)), |name| {
            name.split_once('.').map(|(_, parent)| parent)
        });
        let above = parents.filter_map(|name| self.trees.get(name));
        let mut found: Vec<usize> = exact.chain(above).flatten().copied().collect();
        found.sort_unstable();
        found.dedup();
        found
    }

    fn add(&mut self, table: usize, entry: &str) -> Result<(), SiteNameError> {
        let (name, is_tree) = match entry.strip_prefix("*.") {
            Some(name) => (name, true),
            None => (entry, false),
        };
        // The parser brings case and international names to the spelling of URLs.
        let url = CrawlUrl::parse(&format!("http://{name}/")).map_err(|source| {
            SiteNameError::NoSite {
                entry: entry.to_owned(),
                source,
            }
        })?;
        if !url.as_str().ends_with(&format!("{}/", url.authority())) {
            return Err(SiteNameError::MoreThanSite {
                entry: entry.to_owned(),
            });
        }
        let tables = if is_tree {
            self.trees.entry(url.host().into()).or_default()
        } else {
            self.sites.entry(url.site().as_str().into()).or_default()
        };
        tables.push(table);
        Ok(())
    }
}

/// The host of a site, its port taken off.
fn host_of(site: &SiteKey) -> &str {
    let text = site.as_str();
    match text.rsplit_once(':') {
        Some((host, port)) if !port.contains(']') => host,
        _ => text,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn site(url: &str) -> SiteKey {
        CrawlUrl::parse(url).unwrap().site()
    }

    #[test]
    fn tables_come_in_their_order_and_once() {
        let names = [
            vec!["*.example.com".to_owned(), "example.com".to_owned()],
            vec!["example.com:8080".to_owned()],
            vec!["*.com".to_owned()],
        ];
        let tables = SiteTables::new(names.iter().map(Vec::as_slice)).unwrap();
        assert_eq!(tables.of(&site("https://EXAMPLE.com/x")), [0, 2]);
        assert_eq!(tables.of(&site("http://example.com:8080/")), [0, 1, 2]);
        assert_eq!(tables.of(&site("http://badexample.com/")), [2]);
        assert_eq!(tables.of(&site("http://[::1]:81/")), Vec::<usize>::new());
    }

    #[test]
    fn addresses_are_sites_too() {
        let names = [vec!["[::1]:81".to_owned(), "127.0.0.1".to_owned()]];
        let tables = SiteTables::new(names.iter().map(Vec::as_slice)).unwrap();
        assert_eq!(tables.of(&site("http://[::1]:81/")), [0]);
        assert_eq!(tables.of(&site("http://127.0.0.1/")), [0]);
        assert!(tables.of(&site("http://127.0.0.1:81/")).is_empty());
    }

    #[test]
    fn what_is_no_site_is_told_with_its_table() {
        let names = [
            vec!["fine.example".to_owned()],
            vec!["a b".to_owned(), "e.com/x".to_owned()],
        ];
        let errors = SiteTables::new(names.iter().map(Vec::as_slice)).unwrap_err();
        let tables: Vec<usize> = errors.iter().map(|(table, _)| *table).collect();
        assert_eq!(tables, [1, 1]);
    }
}
