//! Which site has which host name and which loopback address.

use std::net::Ipv4Addr;

use crate::graph::push_number;

/// How sites are named in URLs.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Naming {
    /// By address: site 0 is `127.0.1.1`, site 19 `127.0.1.20`, site 249
    /// `127.0.1.250`, site 250 `127.0.2.1` and so on.
    Addresses,
    /// By host name under `.test` (`shop0.example.test`, `news1.co.test`), for
    /// clients that can be told where names lead ([`crate::Web::resolve_rules`]).
    /// The sites share this many addresses (at least one is used), the first of
    /// which is `127.0.1.1`.
    Hosts {
        /// How many addresses the sites are spread over, round robin.
        addresses: u32,
    },
}

const KINDS: [&str; 10] = [
    "shop", "news", "blog", "school", "city", "forum", "wiki", "music", "travel", "lab",
];
const ZONES: [&str; 6] = ["example", "co", "or", "ac", "go", "pe"];

/// Addresses per third octet, and third octets per second octet: 0 and the
/// last five of each are left out.
const PER_OCTET: u32 = 250;

impl Naming {
    /// The host as it stands in URLs, without port.
    pub(crate) fn host(self, site: u32) -> String {
        match self {
            Self::Addresses => nth_address(site).to_string(),
            Self::Hosts { .. } => format!(
                "{}{site}.{}.test",
                KINDS[site as usize % KINDS.len()],
                ZONES[site as usize % ZONES.len()]
            ),
        }
    }

    /// Appends the host: what [`Naming::host`] gives, without an allocation for
    /// the case that pages are full of.
    pub(crate) fn push_host(self, site: u32, out: &mut Vec<u8>) {
        match self {
            Self::Addresses => {
                for (i, octet) in nth_address(site).octets().into_iter().enumerate() {
                    if i > 0 {
                        out.push(b'.');
                    }
                    push_number(u32::from(octet), out);
                }
            }
            Self::Hosts { .. } => out.extend_from_slice(self.host(site).as_bytes()),
        }
    }

    /// The site a host belongs to, if it is one of `sites`. Letter case and a
    /// port do not matter.
    pub(crate) fn site_of(self, host: &str, sites: u32) -> Option<u32> {
        let name = host.split_once(':').map_or(host, |(name, _)| name);
        let site = match self {
            Self::Addresses => nth_of(name.parse().ok()?)?,
            Self::Hosts { .. } => {
                let label = name.split_once('.')?.0;
                let digits = label.trim_start_matches(|c: char| !c.is_ascii_digit());
                let site = digits.parse().ok()?;
                if !name.eq_ignore_ascii_case(&self.host(site)) {
                    return None;
                }
                site
            }
        };
        (site < sites).then_some(site)
    }

    /// The address the site listens on.
    pub(crate) fn address(self, site: u32) -> Ipv4Addr {
        match self {
            Self::Addresses => nth_address(site),
            Self::Hosts { addresses } => nth_address(site % addresses.max(1)),
        }
    }

    /// How many addresses `sites` sites need.
    pub(crate) fn address_count(self, sites: u32) -> u32 {
        match self {
            Self::Addresses => sites,
            Self::Hosts { addresses } => addresses.clamp(1, sites.max(1)),
        }
    }
}

/// The `n`-th loopback address of the web.
pub(crate) fn nth_address(n: u32) -> Ipv4Addr {
    let (block, last) = (n / PER_OCTET, n % PER_OCTET);
    let (second, third) = (block / PER_OCTET, block % PER_OCTET);
    assert!(second < 256, "a web has at most 16 million sites");
    Ipv4Addr::new(127, second as u8, third as u8 + 1, last as u8 + 1)
}

fn nth_of(address: Ipv4Addr) -> Option<u32> {
    let [first, second, third, last] = address.octets().map(u32::from);
    let in_block = |octet: u32| (1..=PER_OCTET).contains(&octet);
    (first == 127 && in_block(third) && in_block(last))
        .then(|| (second * PER_OCTET + third - 1) * PER_OCTET + last - 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn twenty_sites_are_127_0_1_1_to_20_and_blocks_carry() {
        let host = |site| Naming::Addresses.host(site);
        assert_eq!(host(0), "127.0.1.1");
        assert_eq!(host(19), "127.0.1.20");
        assert_eq!(host(249), "127.0.1.250");
        assert_eq!(host(250), "127.0.2.1");
        assert_eq!(host(62_500), "127.1.1.1");
    }

    #[test]
    fn hosts_lead_back_to_their_sites() {
        let named = Naming::Hosts { addresses: 3 };
        for site in (0..100_000).step_by(37) {
            for naming in [Naming::Addresses, named] {
                let host = naming.host(site);
                assert_eq!(naming.site_of(&host, 100_000), Some(site), "{host}");
                assert_eq!(naming.site_of(&format!("{host}:8080"), 100_000), Some(site));
                assert_eq!(naming.site_of(&host, site), None, "past the last site");
            }
        }
        assert_eq!(named.site_of("SHOP0.Example.test", 1), Some(0));
        assert_eq!(named.site_of("news0.example.test", 10), None);
        assert_eq!(Naming::Addresses.site_of("127.0.0.1", 10), None);
        assert_eq!(Naming::Addresses.site_of("10.0.1.1", 10), None);
    }

    #[test]
    fn named_sites_share_addresses() {
        let naming = Naming::Hosts { addresses: 2 };
        assert_eq!(naming.address(0), naming.address(2));
        assert_ne!(naming.address(0), naming.address(1));
        assert_eq!(naming.address_count(10), 2);
        assert_eq!(naming.address_count(1), 1);
    }
}
