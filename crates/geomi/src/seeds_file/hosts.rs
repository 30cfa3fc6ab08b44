//! Hosts of seeds whose names say that they are not on the internet.
//!
//! They may be at private addresses, since the operator named them. They are
//! written to geomi.toml, so that a crawl that is resumed by its directory alone
//! finds them; therefore their number is bounded. Past it the operator opens
//! whole ranges with `--allow-private`.

use std::collections::BTreeSet;

use geomi_fetch::NamedHost;
use geomi_url::CrawlUrl;

/// Hosts that are listed at most.
const HOSTS_MAX: usize = 10_000;
/// What their names may take: geomi.toml has a greatest length.
const BYTES_MAX: usize = 512 << 10;

/// The hosts found so far.
#[derive(Debug, Default)]
pub(crate) struct InternalHosts {
    hosts: BTreeSet<NamedHost>,
    bytes: usize,
    has_left_out: bool,
}

impl InternalHosts {
    /// Takes the host and port of a seed, if its name is of that kind. Returns
    /// them if they were not there before.
    pub(crate) fn take(&mut self, url: &CrawlUrl) -> Option<NamedHost> {
        let host = NamedHost::of(url);
        if !host.is_internal() || self.hosts.contains(&host) {
            return None;
        }
        let bytes = url.authority().len();
        if self.hosts.len() >= HOSTS_MAX || self.bytes + bytes > BYTES_MAX {
            self.has_left_out = true;
            return None;
        }
        self.bytes += bytes;
        self.hosts.insert(host.clone());
        Some(host)
    }

    /// Whether some were left out.
    pub(crate) const fn has_left_out(&self) -> bool {
        self.has_left_out
    }

    /// All of them.
    pub(crate) fn iter(&self) -> impl Iterator<Item = &NamedHost> {
        self.hosts.iter()
    }
}

/// What to do about hosts that were left out.
pub(crate) const LEFT_OUT: &str = "the list names more hosts of internal networks than geomi.toml can hold: \
     those after the first are refused at private addresses unless --allow-private opens their range";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn internal_names_are_kept_once_and_not_without_bound() {
        let mut hosts = InternalHosts::default();
        let mut take = |url: &str| hosts.take(&url.parse().unwrap()).is_some();
        assert!(take("http://127.0.0.1:8000/"));
        assert!(!take("http://127.0.0.1:8000/x"), "known");
        assert!(take("http://127.0.0.1:9000/x"), "another port");
        assert!(!take("https://example.com/"), "public");
        assert!(take("http://intranet/"));
        for number in 0..HOSTS_MAX {
            take(&format!("http://h{number}.test/"));
        }
        assert!(hosts.has_left_out());
        assert_eq!(hosts.iter().count(), HOSTS_MAX);
        let mut hosts = InternalHosts::default();
        let long = format!("http://{}.{}.test/", "a".repeat(60), "b".repeat(60));
        hosts.bytes = BYTES_MAX - 100;
        assert!(hosts.take(&long.parse().unwrap()).is_none() && hosts.has_left_out());
    }
}
