//! How many URLs the filters of a path can make.
//!
//! A page with five filters of two or three values each has a few hundred
//! combinations: a finite part of a site, even if every combination links to all
//! others. Thirty filters have a billion. This module counts the names and values
//! that were found on a path and answers whether their product is small.
//!
//! The product says nothing, and counts as endless, where a name stands twice in one
//! query (then every subset of its values is possible), where the same names come in
//! different orders, where a name pages through a list (its last value is not known),
//! and where a path has more names or values than are counted.
//!
//! Paths, names and values are kept as XXH3-64, of which collisions can be made. They are
//! of no use to a stranger: a link to the path itself, with any names, counts the same.

use geomi_url::CrawlUrl;
use geomi_url::template::LIST_NAMES;
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// Combinations that are fetched whole.
const FEW: u32 = 512;
/// Paths whose filters are counted.
const PATHS_MAX: usize = 8;
/// Names of one path, and values of one name.
const NAMES_MAX: usize = 8;
const VALUES_MAX: usize = 64;

/// The filters of a site's paths.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Choices {
    paths: Vec<Filters>,
}

/// The filters of one path.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct Filters {
    path: u64,
    names: Vec<Values>,
    /// Bit `8 * a + b`: name `a` was found before name `b` in a query.
    order: u64,
    is_endless: bool,
}

/// The values of one name.
#[derive(Clone, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
struct Values {
    name: u64,
    values: Vec<u64>,
}

impl Choices {
    /// Notes the filters of a URL that was found.
    pub(crate) fn meet(&mut self, url: &CrawlUrl) {
        let Some(query) = url.query() else {
            return;
        };
        let path = xxh3_64(url.path().as_bytes());
        let known = self.paths.iter().position(|filters| filters.path == path);
        let at = known.unwrap_or(self.paths.len());
        if at == self.paths.len() {
            if at == PATHS_MAX {
                return;
            }
            self.paths.push(Filters {
                path,
                ..Filters::default()
            });
        }
        let filters = &mut self.paths[at];
        if !filters.is_endless && !filters.meet(query) {
            *filters = Filters {
                path,
                is_endless: true,
                ..Filters::default()
            };
        }
    }

    /// Whether the filters of a URL's path have few combinations in all.
    pub(crate) fn are_few(&self, url: &CrawlUrl) -> bool {
        let path = xxh3_64(url.path().as_bytes());
        let mut paths = self.paths.iter();
        paths.any(|filters| filters.path == path && filters.are_few())
    }
}

impl Filters {
    /// Notes a query; `false` if its path has no known number of combinations.
    fn meet(&mut self, query: &str) -> bool {
        let mut before = 0_u8;
        for pair in query.split('&') {
            let (name, value) = pair.split_once('=').unwrap_or((pair, ""));
            if LIST_NAMES.contains(&name) {
                return false;
            }
            let Some(at) = self.place(xxh3_64(name.as_bytes())) else {
                return false;
            };
            let is_twice = before & (1 << at) != 0;
            let is_disordered = (self.order >> (NAMES_MAX * at)) as u8 & before != 0;
            let has_room = self.names[at].add(xxh3_64(value.as_bytes()));
            if is_twice || is_disordered || !has_room {
                return false;
            }
            for earlier in (0..NAMES_MAX).filter(|earlier| before & (1 << earlier) != 0) {
                self.order |= 1 << (NAMES_MAX * earlier + at);
            }
            before |= 1 << at;
        }
        true
    }

    /// Where the values of a name are; `None` if there is no room for it.
    fn place(&mut self, name: u64) -> Option<usize> {
        let known = self.names.iter().position(|values| values.name == name);
        known.or_else(|| {
            (self.names.len() < NAMES_MAX).then(|| {
                let values = Vec::new();
                self.names.push(Values { name, values });
                self.names.len() - 1
            })
        })
    }

    /// Whether the product of all values, with "not set" for each name, is small.
    fn are_few(&self) -> bool {
        let mut product = 1_u32;
        for values in &self.names {
            product = product.saturating_mul(values.values.len() as u32 + 1);
        }
        !self.is_endless && product <= FEW
    }
}

impl Values {
    /// Adds a value; `false` if there is no room for it.
    fn add(&mut self, value: u64) -> bool {
        if self.values.contains(&value) {
            return true;
        }
        let has_room = self.values.len() < VALUES_MAX;
        if has_room {
            self.values.push(value);
        }
        has_room
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(query: &str) -> CrawlUrl {
        CrawlUrl::parse(&format!("http://e.com/find?{query}")).unwrap()
    }

    fn after(queries: &[&str]) -> bool {
        let mut choices = Choices::default();
        for query in queries {
            choices.meet(&url(query));
        }
        choices.are_few(&url("anything=1"))
    }

    #[test]
    fn a_product_of_some_hundred_is_few() {
        let values = |name: &str, count: u32| {
            let values = (0..count).map(|value| format!("{name}={value}"));
            values.collect::<Vec<_>>()
        };
        let all = [values("a", 7), values("b", 7), values("c", 7)].concat();
        let all: Vec<&str> = all.iter().map(String::as_str).collect();
        assert!(after(&all), "512 combinations");
        assert!(!after(&[&all[..], &["c=8"]].concat()), "576 combinations");
        assert!(after(&["a=1", "a=1&b=1", "b=1&c=1", "a=1&c=1"]));
    }

    #[test]
    fn repeated_names_orders_and_page_numbers_have_no_known_end() {
        assert!(!after(&["a=1&a=2"]), "a name twice");
        assert!(!after(&["a=1&b=1", "b=1&a=1"]), "two orders");
        assert!(!after(&["a=1&page=2"]), "pages of a list");
        let names: Vec<String> = (0..9).map(|name| format!("n{name}=1")).collect();
        let names: Vec<&str> = names.iter().map(String::as_str).collect();
        assert!(!after(&names), "too many names");
        assert!(
            !Choices::default().are_few(&url("a=1")),
            "a path never found"
        );
    }
}
