//! The network an address belongs to, for limits.

use std::net::{IpAddr, Ipv6Addr};

/// An IPv4 address itself, or the /64 of an IPv6 address: a subscriber is given
/// a whole /64 and can use any address in it.
pub(crate) fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => {
            let prefix = address.to_bits() & (u128::MAX << 64);
            IpAddr::V6(Ipv6Addr::from_bits(prefix))
        }
        address @ IpAddr::V4(_) => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ipv6_is_cut_to_its_64() {
        let of = |text: &str| network(text.parse().unwrap()).to_string();
        assert_eq!(of("2001:db8:1:2:3:4:5:6"), "2001:db8:1:2::");
        assert_eq!(of("203.0.113.7"), "203.0.113.7");
        assert_eq!(of("::ffff:203.0.113.7"), "203.0.113.7");
    }
}
