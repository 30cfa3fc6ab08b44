//! The schedule table that `geomi refresh run --schedule` follows, with what is
//! wrong in it told as problems of the flag.

use std::collections::HashSet;
use std::path::Path;

use geomi_crawler::refresh::{TableError, read_table};
use geomi_refresh::upkeep::{Pages, TableRows};
use geomi_url::CrawlUrl;

use crate::config::Problems;
use crate::words::plural;

/// Reads a table: hours of the week, and URLs.
pub(super) fn read(path: &Path, problems: &mut Problems) -> TableRows {
    read_table(path).unwrap_or_else(|error| {
        let wrong = match error {
            TableError::Wrong(wrong) => wrong,
            TableError::Unread(error) => vec![format!("{:#}", anyhow::Error::new(error))],
        };
        for why in wrong {
            problems.add_general(format!("--schedule: {why}"));
        }
        TableRows::new()
    })
}

/// What to say of URLs in a table of which the crawl has no copy; nothing if there are
/// none. A run passes them over: it visits again, and finds nothing new by a table.
pub(super) fn strangers_in_words(
    path: &Path,
    rows: &[(usize, CrawlUrl)],
    pages: &Pages,
) -> Option<String> {
    let is_stranger = |url: &&CrawlUrl| pages.find(url).is_none();
    let mut strangers = rows.iter().map(|(_, url)| url).filter(is_stranger);
    let first = strangers.next()?;
    let others: HashSet<&str> = strangers.map(CrawlUrl::as_str).collect();
    let count = others.len() + usize::from(!others.contains(first.as_str()));
    Some(format!(
        "{} names {} of which the crawl has no copy, the first is {first}; no such URL is visited",
        path.display(),
        plural(count as u64, "URL"),
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn urls_without_a_copy_are_counted_once() {
        let url = |path: &str| CrawlUrl::parse(&format!("http://a.test/{path}")).unwrap();
        let rows = ["b", "c", "b", "b"].map(|path| (9, url(path)));
        let words = |rows: &[_]| strangers_in_words(Path::new("week.csv"), rows, &Pages::default());
        let told = words(&rows).unwrap();
        assert!(told.starts_with("week.csv names 2 URLs of which"), "{told}");
        assert!(told.contains("the first is http://a.test/b;"), "{told}");
        assert_eq!(words(&[]), None);
    }
}
