//! A range of addresses in the notation `10.0.0.0/8`.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::str::FromStr;

/// A range of addresses of one family.
///
/// ```
/// use geomi_fetch::Cidr;
/// let range: Cidr = "10.0.0.0/8".parse().unwrap();
/// assert!(range.contains("10.1.2.3".parse().unwrap()));
/// assert!("10.0.0.1/8".parse::<Cidr>().is_err());
/// ```
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct Cidr {
    addr: IpAddr,
    prefix: u8,
}

/// Why a text is not a range of addresses.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CidrError {
    /// The part before the slash is not an address.
    #[error("{text:?} is not an address range: the address cannot be read")]
    Address {
        /// The text as given.
        text: String,
    },
    /// The part after the slash is not a prefix length of that family.
    #[error("{text:?} is not an address range: the prefix length must be 0 to {max}")]
    Prefix {
        /// The text as given.
        text: String,
        /// The longest prefix of the family.
        max: u8,
    },
    /// Bits are set behind the prefix, which more often than not is a slip.
    #[error("{text:?} has bits set behind its prefix; did you mean {meant}?")]
    HostBits {
        /// The text as given.
        text: String,
        /// The range the address lies in.
        meant: Cidr,
    },
}

impl Cidr {
    /// A range of IPv4 addresses; only for tables known to be right.
    pub(crate) const fn v4(a: u8, b: u8, c: u8, d: u8, prefix: u8) -> Self {
        Self {
            addr: IpAddr::V4(Ipv4Addr::new(a, b, c, d)),
            prefix,
        }
    }

    /// A range of IPv6 addresses by its first two groups; only for tables.
    pub(crate) const fn v6(first: u16, second: u16, prefix: u8) -> Self {
        Self {
            addr: IpAddr::V6(Ipv6Addr::new(first, second, 0, 0, 0, 0, 0, 0)),
            prefix,
        }
    }

    /// Whether the address lies in the range. The families never mix: an IPv4
    /// address written as IPv6 lies in no IPv4 range.
    pub fn contains(&self, addr: IpAddr) -> bool {
        match (self.addr, addr) {
            (IpAddr::V4(_), IpAddr::V4(_)) | (IpAddr::V6(_), IpAddr::V6(_)) => {
                mask(addr, self.prefix) == self.addr
            }
            _ => false,
        }
    }
}

fn mask(addr: IpAddr, prefix: u8) -> IpAddr {
    match addr {
        IpAddr::V4(v4) => {
            let keep = u32::MAX.checked_shl(32 - u32::from(prefix)).unwrap_or(0);
            IpAddr::V4(Ipv4Addr::from_bits(v4.to_bits() & keep))
        }
        IpAddr::V6(v6) => {
            let keep = u128::MAX.checked_shl(128 - u32::from(prefix)).unwrap_or(0);
            IpAddr::V6(Ipv6Addr::from_bits(v6.to_bits() & keep))
        }
    }
}

impl FromStr for Cidr {
    type Err = CidrError;

    fn from_str(text: &str) -> Result<Self, CidrError> {
        let (address, prefix) = match text.split_once('/') {
            Some((address, prefix)) => (address, Some(prefix)),
            None => (text, None),
        };
        let addr: IpAddr = address.parse().map_err(|_| CidrError::Address {
            text: text.to_owned(),
        })?;
        let max = if addr.is_ipv4() { 32 } else { 128 };
        let prefix = match prefix {
            None => max,
            Some(digits) => digits
                .parse()
                .ok()
                .filter(|prefix| *prefix <= max)
                .ok_or_else(|| CidrError::Prefix {
                    text: text.to_owned(),
                    max,
                })?,
        };
        let range = Self {
            addr: mask(addr, prefix),
            prefix,
        };
        if range.addr == addr {
            Ok(range)
        } else {
            Err(CidrError::HostBits {
                text: text.to_owned(),
                meant: range,
            })
        }
    }
}

impl fmt::Display for Cidr {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.addr, self.prefix)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn holds(range: &str, addr: &str) -> bool {
        let range: Cidr = range.parse().unwrap();
        range.contains(addr.parse().unwrap())
    }

    #[test]
    fn a_range_holds_its_addresses_only() {
        assert!(holds("10.0.0.0/8", "10.255.255.255"));
        assert!(!holds("10.0.0.0/8", "11.0.0.0"));
        assert!(holds("0.0.0.0/0", "255.1.2.3"));
        assert!(holds("127.0.0.1", "127.0.0.1"));
        assert!(!holds("127.0.0.1", "127.0.0.2"));
        assert!(holds("fc00::/7", "fdff::1"));
        assert!(holds("::/0", "2001::"));
        assert!(!holds("0.0.0.0/0", "::ffff:1.2.3.4"));
    }

    #[test]
    fn slips_are_named() {
        let error = |text: &str| text.parse::<Cidr>().unwrap_err();
        assert!(matches!(error("ten/8"), CidrError::Address { .. }));
        assert!(matches!(
            error("10.0.0.0/33"),
            CidrError::Prefix { max: 32, .. }
        ));
        assert!(matches!(
            error("::/129"),
            CidrError::Prefix { max: 128, .. }
        ));
        assert!(matches!(error("10.0.0.0/"), CidrError::Prefix { .. }));
        assert_eq!(
            error("10.0.0.1/8").to_string(),
            "\"10.0.0.1/8\" has bits set behind its prefix; did you mean 10.0.0.0/8?"
        );
    }
}
