//! The networks that an account signed in from lately.
//!
//! They are kept with the account as keyed hashes: HMAC-SHA-256 of the network,
//! cut to 16 bytes, whose key is the hash of the account's password. So a
//! changed password makes all networks unfamiliar, and two accounts that signed in
//! from one network have nothing in common. Whoever can read the file can also read the keys: the
//! hashes keep addresses out of backups and screenshots, not from its owner.

use std::net::IpAddr;

use data_encoding::HEXLOWER;
use geomi_model::Timestamp;
use ring::hmac::{HMAC_SHA256, Key, sign};
use serde::{Deserialize, Serialize};

/// Networks kept for one account; the one not used for longest makes room.
const NETWORKS_MAX: usize = 16;
/// How long a network stays familiar, in days.
const DAYS_MAX: i64 = 90;
const DAY_SECS: i64 = 86_400;
/// Bytes kept of a hash.
const HASH_BYTES: usize = 16;

/// A network that an account signed in from.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub(crate) struct Familiar {
    /// Keyed hash of the network, in hex.
    hash: String,
    /// The last day of a log-in, since 1970.
    day: i64,
}

/// The keyed hash of a network.
pub(super) fn hash(key: &str, network: IpAddr) -> String {
    let key = Key::new(HMAC_SHA256, key.as_bytes());
    let tag = sign(&key, network.to_string().as_bytes());
    HEXLOWER.encode(&tag.as_ref()[..HASH_BYTES])
}

fn day(now: Timestamp) -> i64 {
    now.micros() / (DAY_SECS * 1_000_000)
}

/// Whether the network with this hash is familiar.
pub(super) fn is_familiar(networks: &[Familiar], hash: &str, now: Timestamp) -> bool {
    let mut networks = networks.iter();
    networks.any(|known| known.hash == hash && day(now) - known.day < DAYS_MAX)
}

/// Adds the network with this hash, or renews it. Whether something changed:
/// a network is renewed once a day.
pub(super) fn remember(networks: &mut Vec<Familiar>, hash: String, now: Timestamp) -> bool {
    let day = day(now);
    if networks
        .iter()
        .any(|known| known.hash == hash && known.day == day)
    {
        return false;
    }
    networks.retain(|known| known.hash != hash && day - known.day < DAYS_MAX);
    if networks.len() >= NETWORKS_MAX
        && let Some(oldest) = (0..networks.len()).min_by_key(|at| networks[*at].day)
    {
        networks.remove(oldest);
    }
    networks.push(Familiar { hash, day });
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(day: i64) -> Timestamp {
        Timestamp::from_secs(day * DAY_SECS)
    }

    fn network(n: u8) -> IpAddr {
        IpAddr::from([203, 0, 113, n])
    }

    #[test]
    fn a_network_is_familiar_for_ninety_days_and_sixteen_are_kept() {
        let mut networks = Vec::new();
        let of = |n: u8| hash("the hash of a password", network(n));
        assert!(remember(&mut networks, of(1), at(0)));
        assert!(!remember(&mut networks, of(1), at(0)), "once a day");
        assert!(is_familiar(&networks, &of(1), at(89)));
        assert!(!is_familiar(&networks, &of(1), at(90)));
        assert!(!is_familiar(&networks, &of(2), at(0)));
        assert!(!is_familiar(&networks, &hash("another", network(1)), at(0)));
        assert!(remember(&mut networks, of(1), at(50)));
        assert_eq!(networks.len(), 1);
        for n in 2..=17 {
            remember(&mut networks, of(n), at(50 + i64::from(n)));
        }
        assert_eq!(networks.len(), NETWORKS_MAX);
        assert!(!is_familiar(&networks, &of(1), at(70)), "the oldest went");
        assert!(is_familiar(&networks, &of(2), at(70)));
    }
}
