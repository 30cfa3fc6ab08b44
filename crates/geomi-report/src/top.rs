//! The greatest of many, each URL once, in memory for as many as are asked for.

use std::cmp::Reverse;
use std::collections::{BTreeMap, HashMap};

use geomi_url::CrawlUrl;

/// Keeps the URLs with the greatest measure, and something about each.
#[derive(Debug)]
pub(crate) struct Top<T> {
    max: Option<usize>,
    measures: HashMap<CrawlUrl, u64>,
    /// Greatest last; of equals, the first by spelling.
    order: BTreeMap<(u64, Reverse<CrawlUrl>), T>,
}

impl<T> Top<T> {
    /// Keeps `max`, or all.
    pub(crate) fn new(max: Option<usize>) -> Self {
        Self {
            max,
            measures: HashMap::new(),
            order: BTreeMap::new(),
        }
    }

    /// Takes a URL in if its measure is among the greatest. A URL that comes
    /// again counts by the greater of its measures.
    pub(crate) fn add(&mut self, measure: u64, url: &CrawlUrl, about: impl FnOnce() -> T) {
        let is_full = self.max.is_some_and(|max| self.order.len() >= max);
        let least = self.order.first_key_value();
        if is_full && least.is_none_or(|((least, _), _)| measure < *least) {
            return;
        }
        if let Some(known) = self.measures.get(url).copied() {
            if known >= measure {
                return;
            }
            self.order.remove(&(known, Reverse(url.clone())));
        }
        self.measures.insert(url.clone(), measure);
        self.order.insert((measure, Reverse(url.clone())), about());
        if self.max.is_some_and(|max| self.order.len() > max)
            && let Some(((_, Reverse(url)), _)) = self.order.pop_first()
        {
            self.measures.remove(&url);
        }
    }

    /// The greatest first.
    pub(crate) fn rows(&self) -> impl Iterator<Item = (u64, &CrawlUrl, &T)> {
        let rows = self.order.iter().rev();
        rows.map(|((measure, Reverse(url)), about)| (*measure, url, about))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(max: Option<usize>, of: &[(u64, &str)]) -> Vec<(u64, String)> {
        let mut top = Top::new(max);
        for (measure, path) in of {
            let url = CrawlUrl::parse(&format!("http://x.test/{path}")).unwrap();
            top.add(*measure, &url, || ());
        }
        let rows = top.rows();
        rows.map(|(measure, url, ())| (measure, url.path()[1..].to_owned()))
            .collect()
    }

    #[test]
    fn the_greatest_are_kept_each_once() {
        let of = [(3, "a"), (5, "b"), (1, "c"), (4, "a"), (2, "b"), (5, "a0")];
        let expected = [(5, "a0".to_owned()), (5, "b".to_owned())];
        assert_eq!(rows(Some(2), &of), expected);
        assert_eq!(rows(None, &of).len(), 4);
        assert_eq!(rows(None, &of)[2], (4, "a".to_owned()));
        assert_eq!(rows(Some(0), &of), []);
    }

    #[test]
    fn of_equals_the_first_by_spelling_stay() {
        let expected = [(1, "a".to_owned()), (1, "b".to_owned())];
        assert_eq!(rows(Some(2), &[(1, "b"), (1, "c"), (1, "a")]), expected);
    }
}
