//! Which hosts are on this machine or in a private range, as far as a name can
//! tell before it is looked up.

use std::net::IpAddr;

use geomi_fetch::{HostPattern, is_public};

/// Knows the addresses the operator decided.
#[derive(Debug)]
pub(crate) struct Locality<'a> {
    overrides: &'a [(HostPattern, IpAddr)],
}

impl<'a> Locality<'a> {
    pub(crate) fn new(overrides: &'a [(HostPattern, IpAddr)]) -> Self {
        Self { overrides }
    }

    /// Whether a host, as it stands in a URL, is plainly not on the internet.
    pub(crate) fn is_local(&self, host: &str) -> bool {
        let bare = host.trim_start_matches('[').trim_end_matches(']');
        if let Some((_, addr)) = self.overrides.iter().find(|(rule, _)| rule.matches(bare)) {
            return !is_public(*addr);
        }
        match bare.parse::<IpAddr>() {
            Ok(addr) => !is_public(addr),
            Err(_) => bare == "localhost" || bare.ends_with(".localhost"),
        }
    }
}

#[cfg(test)]
mod tests {
    use geomi_fetch::parse_override;

    use super::*;

    #[test]
    fn literals_names_and_overrides() {
        let none = Locality::new(&[]);
        for host in [
            "127.0.1.20",
            "10.1.2.3",
            "[::1]",
            "localhost",
            "a.localhost",
            "[fd00::1]",
        ] {
            assert!(none.is_local(host), "{host}");
        }
        for host in [
            "example.com",
            "8.8.8.8",
            "shop.test",
            "localhost.example.com",
            "intranet",
        ] {
            assert!(!none.is_local(host), "{host}");
        }
        let rules = [
            parse_override("shop.test:127.0.0.1").unwrap(),
            parse_override("*:8.8.8.8").unwrap(),
        ];
        let some = Locality::new(&rules);
        assert!(some.is_local("shop.test"));
        assert!(
            !some.is_local("localhost"),
            "sent elsewhere by the operator"
        );
    }
}
