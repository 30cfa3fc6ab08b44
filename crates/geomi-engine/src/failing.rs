//! Sites whose last requests all failed, whether or not they are in memory.
//!
//! The frontier counts the failures of a site in order to leave it alone for a while.
//! This table is for reports and decides nothing. It differs in three ways: a site keeps
//! its place when it leaves memory, an answer 5xx is a failure, and `/sitemap.xml`,
//! which is only guessed to exist, says nothing where it is missing.

use geomi_url::{CrawlUrl, SiteHash};
use hashbrown::HashMap;

use crate::stage::arrival::Answer;
use geomi_model::is_guess;

/// Sites in the table. When it is full, those with the fewest failures make room.
const SITES_MAX: usize = 4_096;
/// Sites that are named.
const LISTED_MAX: usize = 10;
/// Failures in a row from which a site is named.
const FAILURES_MIN: u32 = 3;

/// Failures in a row, by site.
#[derive(Debug, Default)]
pub struct FailingSites {
    sites: HashMap<SiteHash, Failing>,
}

#[derive(Debug)]
struct Failing {
    name: String,
    failures: u32,
}

impl FailingSites {
    /// Takes the result of a request.
    pub(crate) fn note(&mut self, url: &CrawlUrl, answer: &Answer) {
        let site = url.site_hash();
        let code = answer.code.filter(|_| answer.state.is_answer());
        match code {
            None | Some(500..=599) => self.failed(site, url),
            Some(400..=499) if is_guess(url) => {}
            Some(_) => {
                self.sites.remove(&site);
            }
        }
    }

    fn failed(&mut self, site: SiteHash, url: &CrawlUrl) {
        if let Some(failing) = self.sites.get_mut(&site) {
            failing.failures = failing.failures.saturating_add(1);
            return;
        }
        if self.sites.len() >= SITES_MAX {
            self.sites
                .retain(|_, failing| failing.failures >= FAILURES_MIN);
        }
        if self.sites.len() < SITES_MAX {
            let name = url.site().to_string();
            self.sites.insert(site, Failing { name, failures: 1 });
        }
    }

    /// The sites with most failures in several tables, and how many; with `others` that
    /// are known from elsewhere. Where nothing has been saved, a site with one failure is
    /// named too.
    pub fn worst<'a>(
        tables: impl Iterator<Item = &'a Self>,
        others: Vec<(String, u32)>,
        is_nothing_saved: bool,
    ) -> Vec<(String, u32)> {
        let least = if is_nothing_saved { 1 } else { FAILURES_MIN };
        let sites = tables.flat_map(|table| table.sites.values());
        let sites = sites.filter(|failing| failing.failures >= least);
        let mut worst: Vec<(String, u32)> = sites
            .map(|failing| (failing.name.clone(), failing.failures))
            .collect();
        for (name, failures) in others {
            match worst.iter_mut().find(|(known, _)| *known == name) {
                Some((_, known)) => *known = failures.max(*known),
                None => worst.push((name, failures)),
            }
        }
        worst.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        worst.truncate(LISTED_MAX);
        worst
    }
}

#[cfg(test)]
mod tests {
    use geomi_model::NetworkState;

    use super::*;

    fn answered(code: u16) -> Answer {
        Answer {
            code: Some(code),
            ..Answer::none(NetworkState::Code, String::new())
        }
    }

    fn silent() -> Answer {
        Answer::none(NetworkState::HeaderTimeout, "no header in time".to_owned())
    }

    fn worst(
        failing: &FailingSites,
        others: Vec<(String, u32)>,
        is_nothing_saved: bool,
    ) -> Vec<(String, u32)> {
        FailingSites::worst(std::iter::once(failing), others, is_nothing_saved)
    }

    #[test]
    fn a_guessed_sitemap_that_is_missing_ends_no_row_of_failures() {
        let at = |path: &str| CrawlUrl::parse(&format!("http://a.test{path}")).unwrap();
        let mut failing = FailingSites::default();
        failing.note(&at("/"), &silent());
        failing.note(&at("/"), &answered(502));
        assert_eq!(worst(&failing, Vec::new(), false), []);
        assert_eq!(
            worst(&failing, Vec::new(), true),
            [("a.test".to_owned(), 2)],
            "nothing was saved"
        );
        failing.note(&at("/sitemap.xml"), &answered(404));
        failing.note(&at("/b"), &silent());
        let others = vec![("a.test".to_owned(), 1), ("b.test".to_owned(), 9)];
        let named = [("b.test".to_owned(), 9), ("a.test".to_owned(), 3)];
        assert_eq!(worst(&failing, others, false), named);
        failing.note(&at("/c"), &answered(404));
        assert_eq!(worst(&failing, Vec::new(), true), []);
    }

    #[test]
    fn sites_that_failed_once_make_room() {
        let mut failing = FailingSites::default();
        let bad = CrawlUrl::parse("http://bad.test/").unwrap();
        for _ in 0..3 {
            failing.note(&bad, &silent());
        }
        for n in 0..2 * SITES_MAX {
            let url = CrawlUrl::parse(&format!("http://s{n}.test/")).unwrap();
            failing.note(&url, &silent());
        }
        assert!(failing.sites.len() <= SITES_MAX);
        assert_eq!(
            worst(&failing, Vec::new(), false),
            [("bad.test".to_owned(), 3)]
        );
    }
}
