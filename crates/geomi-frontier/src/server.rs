//! Which addresses belong to one server.
//!
//! A server may be reached at several addresses, and then its limit must not be
//! counted an address at a time. Addresses are taken for one server's where
//! something is seen at each of them that one server has: its certificate, or a
//! name that stands for all of them (a host's own, or the canonical name its
//! aliases lead to).
//!
//! A content network shows the same certificate or name at any number of
//! addresses, and its sites have nothing to do with each other. So a sign seen
//! at more than [`ADDRESSES_MAX`] addresses is no sign of one server, and what
//! was taken together because of it is taken apart again.

use std::collections::VecDeque;
use std::net::IpAddr;

use hashbrown::HashMap;

/// A server has no more addresses than these: two of each kind.
const ADDRESSES_MAX: usize = 4;
/// Signs an address is known by together with others; further ones are passed
/// over.
const SIGNS_MAX: usize = 8;
/// Signs remembered in all; the oldest are forgotten.
const MEMORY_MAX: usize = 1 << 16;

/// Something a server shows at each of its addresses, by its hash.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub struct ServerSign(pub u64);

/// What was seen where.
#[derive(Debug, Default)]
pub(crate) struct Servers {
    seen_at: HashMap<ServerSign, Vec<IpAddr>>,
    /// Oldest first.
    line: VecDeque<ServerSign>,
    /// The signs that an address shares with others.
    shared: HashMap<IpAddr, Vec<ServerSign>>,
}

impl Servers {
    /// Notes that a sign was seen at these addresses; the addresses that are no
    /// longer taken for one server's because of it.
    pub(crate) fn recognise(&mut self, addrs: &[IpAddr], sign: ServerSign) -> Vec<IpAddr> {
        let mut apart = Vec::new();
        if !self.seen_at.contains_key(&sign) {
            apart = self.forget_oldest();
            self.line.push_back(sign);
        }
        let seen_at = self.seen_at.entry(sign).or_default();
        let before = seen_at.len();
        for addr in addrs {
            if seen_at.len() <= ADDRESSES_MAX && !seen_at.contains(addr) {
                seen_at.push(*addr);
            }
        }
        if seen_at.len() == before || seen_at.len() < 2 {
            return apart;
        }
        let seen_at = seen_at.clone();
        if seen_at.len() > ADDRESSES_MAX {
            self.part(&seen_at, sign);
            apart.extend(seen_at);
        } else {
            self.share(&seen_at, sign);
        }
        apart
    }

    /// The other addresses of the same server.
    pub(crate) fn others(&self, addr: IpAddr) -> Vec<IpAddr> {
        let mut others = Vec::new();
        for sign in self.shared.get(&addr).into_iter().flatten() {
            for other in &self.seen_at[sign] {
                let is_new = *other != addr && !others.contains(other);
                if is_new && self.has_sign(*other, *sign) {
                    others.push(*other);
                }
            }
        }
        others
    }

    /// Whether an address is known by this sign; one with many signs may not be.
    fn has_sign(&self, addr: IpAddr, sign: ServerSign) -> bool {
        let signs = self.shared.get(&addr);
        signs.is_some_and(|signs| signs.contains(&sign))
    }

    fn share(&mut self, addrs: &[IpAddr], sign: ServerSign) {
        for addr in addrs {
            let signs = self.shared.entry(*addr).or_default();
            if signs.len() < SIGNS_MAX && !signs.contains(&sign) {
                signs.push(sign);
            }
        }
    }

    fn part(&mut self, addrs: &[IpAddr], sign: ServerSign) {
        for addr in addrs {
            if let Some(signs) = self.shared.get_mut(addr) {
                signs.retain(|other| *other != sign);
                if signs.is_empty() {
                    self.shared.remove(addr);
                }
            }
        }
    }

    /// Makes room for one more sign.
    fn forget_oldest(&mut self) -> Vec<IpAddr> {
        if self.line.len() < MEMORY_MAX {
            return Vec::new();
        }
        let oldest = self.line.pop_front();
        let oldest = oldest.and_then(|sign| Some((sign, self.seen_at.remove(&sign)?)));
        let Some((sign, addrs)) = oldest else {
            return Vec::new();
        };
        self.part(&addrs, sign);
        addrs
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn addr(last: u8) -> IpAddr {
        [192, 0, 2, last].into()
    }

    #[test]
    fn addresses_with_a_sign_in_common_are_one_servers() {
        let mut servers = Servers::default();
        let (certificate, name) = (ServerSign(1), ServerSign(2));
        assert!(servers.recognise(&[addr(1)], certificate).is_empty());
        assert!(servers.others(addr(1)).is_empty());
        servers.recognise(&[addr(2)], certificate);
        servers.recognise(&[addr(2), addr(3)], name);
        assert_eq!(servers.others(addr(1)), [addr(2)]);
        assert_eq!(servers.others(addr(2)), [addr(1), addr(3)]);
        assert_eq!(servers.others(addr(3)), [addr(2)]);
    }

    #[test]
    fn a_network_is_no_server() {
        let mut servers = Servers::default();
        let sign = ServerSign(1);
        for last in 1..=4 {
            assert!(servers.recognise(&[addr(last)], sign).is_empty());
        }
        assert_eq!(servers.others(addr(4)).len(), 3);
        let apart = servers.recognise(&[addr(5)], sign);
        assert_eq!(apart.len(), 5);
        assert!((1..=5).all(|last| servers.others(addr(last)).is_empty()));
        assert!(servers.recognise(&[addr(6)], sign).is_empty());
        assert!(servers.others(addr(6)).is_empty() && servers.shared.is_empty());
    }

    #[test]
    fn what_is_remembered_is_bounded() {
        let mut servers = Servers::default();
        let sign = ServerSign(u64::MAX);
        servers.recognise(&[addr(1), addr(2)], sign);
        let mut apart = Vec::new();
        for number in 0..MEMORY_MAX as u64 {
            apart.extend(servers.recognise(&[addr(9)], ServerSign(number)));
        }
        assert_eq!(apart, [addr(1), addr(2)]);
        assert!(servers.others(addr(1)).is_empty());
        assert_eq!(servers.seen_at.len(), MEMORY_MAX);
        for number in 0..100 {
            servers.recognise(&[addr(7), addr(8)], ServerSign(number << 32));
        }
        assert_eq!(servers.shared[&addr(7)].len(), SIGNS_MAX);
    }
}
