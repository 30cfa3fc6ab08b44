//! The schedule table that `geomi refresh run --schedule` follows, with what is
//! wrong in it told as problems of the flag.

use std::collections::HashSet;
use std::ops::ControlFlow;
use std::path::Path;

use geomi_crawler::refresh::Pages;
use geomi_store::schedule::{self, FreeHours, Row};
use geomi_url::CrawlUrl;

use crate::config::Problems;
use crate::words::plural;

/// Problems told of one file.
const TOLD_MAX: usize = 5;

/// Reads a table: hours of the week, and URLs. Visits of hours that are left
/// free have moved.
pub(super) fn read(path: &Path, problems: &mut Problems) -> Vec<(usize, CrawlUrl)> {
    let (mut rows, mut free, mut told) = (Vec::new(), FreeHours::default(), 0);
    let done = schedule::read(path, |line, row| {
        match row {
            Ok(Row::Visit(hour, url)) => rows.push((hour, url)),
            Ok(Row::Free(hour)) => free.set(hour, true),
            Err(why) => {
                told += 1;
                problems.add_general(format!("{}: line {line}: {why}", path.display()));
            }
        }
        if told < TOLD_MAX {
            ControlFlow::Continue(())
        } else {
            ControlFlow::Break(())
        }
    });
    if let Err(error) = done {
        let error = anyhow::Error::new(error);
        problems.add_general(format!("--schedule: {error:#}"));
        return Vec::new();
    }
    if told == 0 && free.is_whole_week() {
        problems.add_general(format!(
            "{} leaves the whole week free: open an hour to visit in",
            path.display()
        ));
    } else if told == 0 && rows.is_empty() {
        problems.add_general(format!(
            "{} has no visits: write lines such as Monday,9,https://example.com/",
            path.display()
        ));
    }
    for (hour, _) in &mut rows {
        *hour = free.moved(*hour);
    }
    rows
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

    #[test]
    fn visits_of_free_hours_have_moved() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("week.csv");
        let text = "day,hour,url\nMon,9,http://a.test/\nMon,9,-\nMon,10,-\nMon,12,http://b.test/\n";
        std::fs::write(&path, text).unwrap();
        let mut problems = Problems::default();
        let rows = read(&path, &mut problems);
        problems.into_result().unwrap();
        let hours: Vec<usize> = rows.iter().map(|(hour, _)| *hour).collect();
        assert_eq!(hours, [35, 36]);
    }
}
