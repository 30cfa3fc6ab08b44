//! Which addresses a page may lead us to.
//!
//! A link is written by a stranger, and a name resolves to what its owner says.
//! Without a rule, a crawler inside a network is a way to read that network
//! (server-side request forgery). So every address that is not plainly on the
//! public internet is refused, unless the operator allowed its range, allowed
//! everything, or named the host, whose address nobody outside can choose
//! ([`crate::NamedHosts`]). The addresses at which clouds hand out credentials are
//! opened only by a range or by everything, not by naming a host: a seed list pasted from
//! elsewhere may contain one.
//!
//! An address that carries an IPv4 address inside is judged by what it carries
//! where a real network translates it (NAT64, 6to4), and refused where only a
//! trick would write it so (IPv4-mapped and IPv4-compatible).

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use crate::{Cidr, NamedHosts};

/// What is allowed beyond the public internet, and whether that is. The default
/// allows the public internet and nothing else.
#[derive(Clone, Debug, Default)]
pub struct AddressPolicy {
    /// Ranges that may be asked although they are not public.
    pub allow: Vec<Cidr>,
    /// Every address may be asked.
    pub allow_all: bool,
    /// No address of the public internet may be asked: nobody there could
    /// reach the operator.
    pub deny_public: bool,
    /// Hosts the operator named; they may be at any address.
    pub named_hosts: NamedHosts,
}

/// An address that may not be asked, and why.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Refusal {
    /// The address.
    pub addr: IpAddr,
    /// What kind of address it is.
    pub reason: &'static str,
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "address {} refused: {}", self.addr, self.reason)
    }
}

impl AddressPolicy {
    /// Whether `host` may be asked at `addr` and `port`.
    pub fn check(&self, host: &str, port: u16, addr: IpAddr) -> Result<(), Refusal> {
        let Some(reason) = not_public(addr) else {
            return if self.deny_public {
                Err(Refusal {
                    addr,
                    reason: "public, which takes a contact",
                })
            } else {
                Ok(())
            };
        };
        if self.allow_all
            || self.allow.iter().any(|range| range.contains(addr))
            || self.named_hosts.contains(host, port) && !is_metadata(addr)
        {
            return Ok(());
        }
        Err(Refusal { addr, reason })
    }
}

/// Where clouds answer their machines, with credentials among other things.
const METADATA_V4: [Ipv4Addr; 6] = [
    Ipv4Addr::new(169, 254, 169, 254), // nearly all of them
    Ipv4Addr::new(169, 254, 170, 2),   // containers of Amazon
    Ipv4Addr::new(169, 254, 170, 23),  // pods of Amazon
    Ipv4Addr::new(168, 63, 129, 16),   // Microsoft
    Ipv4Addr::new(100, 100, 100, 200), // Alibaba
    Ipv4Addr::new(192, 0, 0, 192),     // Oracle
];
const METADATA_V6: [Ipv6Addr; 3] = [
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x254), // Amazon
    Ipv6Addr::new(0xfd00, 0xec2, 0, 0, 0, 0, 0, 0x23),  // pods of Amazon
    Ipv6Addr::new(0xfd20, 0xce, 0, 0, 0, 0, 0, 0x254),  // Google
];

/// Whether clouds answer there. An IPv6 address that carries such an IPv4
/// address leads to the same machine: the system itself translates mapped ones.
fn is_metadata(addr: IpAddr) -> bool {
    match addr {
        IpAddr::V4(v4) => METADATA_V4.contains(&v4),
        IpAddr::V6(v6) => {
            METADATA_V6.contains(&v6) || carried_v4(v6).is_some_and(|v4| METADATA_V4.contains(&v4))
        }
    }
}

/// The IPv4 address inside an IPv6 address: IPv4-mapped, IPv4-compatible, NAT64
/// or 6to4.
fn carried_v4(v6: Ipv6Addr) -> Option<Ipv4Addr> {
    match v6.segments() {
        [0, 0, 0, 0, 0, 0 | 0xffff, high, low]
        | [0x64, 0xff9b, 0, 0, 0, 0, high, low]
        | [0x2002, high, low, ..] => Some(embedded(high, low)),
        _ => None,
    }
}

/// Whether the address is plainly on the public internet.
pub fn is_public(addr: IpAddr) -> bool {
    not_public(addr).is_none()
}

/// A host without the brackets of an IPv6 literal.
pub(crate) fn bare_host(host: &str) -> &str {
    host.strip_prefix('[')
        .and_then(|host| host.strip_suffix(']'))
        .unwrap_or(host)
}

/// The IANA special-purpose IPv4 registry, less the entries inside others, and
/// the address at which a cloud answers its machines although it is a public one.
const V4_SPECIAL: [(Cidr, &str); 16] = [
    (Cidr::v4(0, 0, 0, 0, 8), "this network"),
    (Cidr::v4(10, 0, 0, 0, 8), "private"),
    (Cidr::v4(100, 64, 0, 0, 10), "carrier-grade NAT"),
    (Cidr::v4(127, 0, 0, 0, 8), "loopback"),
    (Cidr::v4(168, 63, 129, 16, 32), "cloud metadata"),
    (Cidr::v4(169, 254, 0, 0, 16), "link-local"),
    (Cidr::v4(172, 16, 0, 0, 12), "private"),
    (Cidr::v4(192, 0, 0, 0, 24), "protocol assignments"),
    (Cidr::v4(192, 0, 2, 0, 24), "documentation"),
    (Cidr::v4(192, 88, 99, 0, 24), "6to4 relay"),
    (Cidr::v4(192, 168, 0, 0, 16), "private"),
    (Cidr::v4(198, 18, 0, 0, 15), "benchmarking"),
    (Cidr::v4(198, 51, 100, 0, 24), "documentation"),
    (Cidr::v4(203, 0, 113, 0, 24), "documentation"),
    (Cidr::v4(224, 0, 0, 0, 4), "multicast"),
    (Cidr::v4(240, 0, 0, 0, 4), "reserved or broadcast"),
];

/// Ranges inside the global unicast space that are not for hosts, and ranges
/// outside it that deserve a better word than "not global unicast".
const V6_SPECIAL: [(Cidr, &str); 8] = [
    (Cidr::v6(0x2001, 0, 23), "protocol assignments"),
    (Cidr::v6(0x2001, 0x0db8, 32), "documentation"),
    (Cidr::v6(0x3fff, 0, 20), "documentation"),
    (Cidr::v6(0xfc00, 0, 7), "unique local"),
    (Cidr::v6(0xfe80, 0, 10), "link-local"),
    (Cidr::v6(0xfec0, 0, 10), "site-local"),
    (Cidr::v6(0xff00, 0, 8), "multicast"),
    (Cidr::v6(0x0100, 0, 64), "discard only"),
];

/// The only space IPv6 addresses of hosts are assigned from.
const V6_GLOBAL_UNICAST: Cidr = Cidr::v6(0x2000, 0, 3);

fn not_public(addr: IpAddr) -> Option<&'static str> {
    match addr {
        IpAddr::V4(v4) => v4_not_public(v4),
        IpAddr::V6(v6) => v6_not_public(v6),
    }
}

fn v4_not_public(v4: Ipv4Addr) -> Option<&'static str> {
    reason_in(&V4_SPECIAL, IpAddr::V4(v4))
}

fn v6_not_public(v6: Ipv6Addr) -> Option<&'static str> {
    if v6.is_unspecified() {
        return Some("unspecified");
    }
    if v6.is_loopback() {
        return Some("loopback");
    }
    match v6.segments() {
        [0, 0, 0, 0, 0, 0xffff, ..] => Some("IPv4-mapped"),
        [0, 0, 0, 0, 0, 0, ..] => Some("IPv4-compatible"),
        [0x64, 0xff9b, 0, 0, 0, 0, high, low] => {
            v4_not_public(embedded(high, low)).map(|_| "NAT64 of an address that is not public")
        }
        [0x2002, high, low, ..] => {
            v4_not_public(embedded(high, low)).map(|_| "6to4 of an address that is not public")
        }
        _ => reason_in(&V6_SPECIAL, IpAddr::V6(v6)).or_else(|| {
            (!V6_GLOBAL_UNICAST.contains(IpAddr::V6(v6))).then_some("not global unicast")
        }),
    }
}

fn embedded(high: u16, low: u16) -> Ipv4Addr {
    Ipv4Addr::from_bits(u32::from(high) << 16 | u32::from(low))
}

fn reason_in(table: &[(Cidr, &'static str)], addr: IpAddr) -> Option<&'static str> {
    let found = table.iter().find(|(range, _)| range.contains(addr));
    found.map(|(_, reason)| *reason)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ip(text: &str) -> IpAddr {
        text.parse().unwrap()
    }

    #[test]
    fn without_a_contact_the_public_internet_is_closed() {
        let policy = AddressPolicy {
            deny_public: true,
            allow_all: true,
            ..AddressPolicy::default()
        };
        assert!(policy.check("example.com", 80, ip("8.8.8.8")).is_err());
        assert!(policy.check("localhost", 80, ip("127.0.0.1")).is_ok());
    }

    #[test]
    fn public_addresses_pass() {
        for addr in [
            "1.1.1.1",
            "8.8.8.8",
            "9.255.255.255",
            "11.0.0.0",
            "100.63.255.255",
            "100.128.0.0",
            "126.255.255.255",
            "128.0.0.0",
            "168.63.129.15",
            "168.63.129.17",
            "169.253.255.255",
            "172.15.255.255",
            "172.32.0.0",
            "192.167.255.255",
            "192.169.0.0",
            "198.17.255.255",
            "198.20.0.0",
            "223.255.255.255",
            "2606:4700::1111",
            "2a00:1450:4001::1",
            "2001:200::1",
            "64:ff9b::8.8.8.8",
            "2002:808:808::1",
        ] {
            assert!(is_public(ip(addr)), "{addr}");
            assert_eq!(AddressPolicy::default().check("h", 80, ip(addr)), Ok(()));
        }
    }

    #[test]
    fn special_addresses_are_refused_with_their_kind() {
        for (addr, reason) in [
            ("0.0.0.0", "this network"),
            ("0.1.2.3", "this network"),
            ("10.0.0.1", "private"),
            ("100.64.0.0", "carrier-grade NAT"),
            ("100.127.255.255", "carrier-grade NAT"),
            ("127.0.0.1", "loopback"),
            ("127.255.255.255", "loopback"),
            ("168.63.129.16", "cloud metadata"),
            ("169.254.169.254", "link-local"),
            ("172.16.0.1", "private"),
            ("172.31.255.255", "private"),
            ("192.0.0.1", "protocol assignments"),
            ("192.0.2.1", "documentation"),
            ("192.88.99.1", "6to4 relay"),
            ("192.168.0.1", "private"),
            ("198.18.0.1", "benchmarking"),
            ("198.19.255.255", "benchmarking"),
            ("198.51.100.1", "documentation"),
            ("203.0.113.1", "documentation"),
            ("224.0.0.1", "multicast"),
            ("240.0.0.1", "reserved or broadcast"),
            ("255.255.255.255", "reserved or broadcast"),
            ("::", "unspecified"),
            ("::1", "loopback"),
            ("::ffff:8.8.8.8", "IPv4-mapped"),
            ("::ffff:127.0.0.1", "IPv4-mapped"),
            ("::8.8.8.8", "IPv4-compatible"),
            (
                "64:ff9b::10.0.0.1",
                "NAT64 of an address that is not public",
            ),
            (
                "64:ff9b::169.254.169.254",
                "NAT64 of an address that is not public",
            ),
            (
                "64:ff9b::168.63.129.16",
                "NAT64 of an address that is not public",
            ),
            ("64:ff9b:1::8.8.8.8", "not global unicast"),
            ("2002:7f00:1::1", "6to4 of an address that is not public"),
            ("2002:c0a8:1::1", "6to4 of an address that is not public"),
            ("100::1", "discard only"),
            ("2001::1", "protocol assignments"),
            ("2001:db8::1", "documentation"),
            ("3fff::1", "documentation"),
            ("5f00::1", "not global unicast"),
            ("fc00::1", "unique local"),
            ("fd12:3456::1", "unique local"),
            ("fe80::1", "link-local"),
            ("fec0::1", "site-local"),
            ("ff02::1", "multicast"),
            ("4000::1", "not global unicast"),
        ] {
            let refusal = AddressPolicy::default()
                .check("h", 80, ip(addr))
                .unwrap_err();
            assert_eq!((refusal.addr, refusal.reason), (ip(addr), reason));
        }
    }

    #[test]
    fn the_operator_may_open_a_range_a_host_or_everything() {
        let mut policy = AddressPolicy {
            allow: vec!["10.1.0.0/16".parse().unwrap()],
            ..AddressPolicy::default()
        };
        assert!(policy.check("h", 80, ip("10.1.2.3")).is_ok());
        assert!(policy.check("h", 80, ip("10.2.2.3")).is_err());
        for host in ["intranet:8080", "[::1]", "www.example.com"] {
            policy.named_hosts.insert(host.parse().unwrap());
        }
        assert!(policy.check("intranet", 8080, ip("10.2.2.3")).is_ok());
        assert!(policy.check("intranet", 80, ip("10.2.2.3")).is_err());
        assert!(policy.check("[::1]", 80, ip("::1")).is_ok());
        assert!(policy.check("other", 80, ip("10.2.2.3")).is_err());
        let owned_by_a_stranger = policy.check("www.example.com", 80, ip("127.0.0.1"));
        assert!(owned_by_a_stranger.is_err());
        policy.allow_all = true;
        assert!(policy.check("other", 80, ip("127.0.0.1")).is_ok());
    }

    #[test]
    fn naming_a_host_does_not_open_cloud_metadata() {
        let mut policy = AddressPolicy::default();
        for host in [
            "169.254.169.254",
            "169.254.170.2",
            "169.254.170.23",
            "168.63.129.16",
            "100.100.100.200",
            "192.0.0.192",
            "[fd00:ec2::254]",
            "[fd00:ec2::23]",
            "[fd20:ce::254]",
            // The same in IPv6 forms that carry IPv4.
            "[::ffff:169.254.169.254]",
            "[::169.254.169.254]",
            "[64:ff9b::169.254.169.254]",
            "[2002:a9fe:a9fe::1]",
            "[::ffff:168.63.129.16]",
        ] {
            policy.named_hosts.insert(host.parse().unwrap());
            let addr = ip(bare_host(host));
            assert!(policy.check(host, 80, addr).is_err(), "{host}");
        }
        let mapped = "[::ffff:10.0.0.1]";
        policy.named_hosts.insert(mapped.parse().unwrap());
        assert!(policy.check(mapped, 80, ip("::ffff:10.0.0.1")).is_ok());
        policy.allow = vec!["169.254.169.254/32".parse().unwrap()];
        let opened = policy.check("169.254.169.254", 80, ip("169.254.169.254"));
        assert!(opened.is_ok());
        policy.allow_all = true;
        let opened = policy.check("168.63.129.16", 80, ip("168.63.129.16"));
        assert!(opened.is_ok());
    }

    #[test]
    fn an_allowed_range_does_not_reach_into_ipv6() {
        let policy = AddressPolicy {
            allow: vec!["0.0.0.0/0".parse().unwrap()],
            ..AddressPolicy::default()
        };
        assert!(policy.check("h", 80, ip("::ffff:127.0.0.1")).is_err());
    }
}
