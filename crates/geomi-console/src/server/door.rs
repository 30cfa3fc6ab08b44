//! Admission of connections: all are accepted, a bounded number is kept.
//!
//! A connection belongs to a *stranger* until one of its requests is
//! authenticated, and again after a request that is not. Strangers'
//! connections are limited by network (an IPv4 address or an IPv6 /64) and in
//! total; those of users by user and in total. When a limit is exceeded, the
//! connection of that group whose last request is the oldest is closed.
//!
//! So accepting never waits. A client that holds many connections and
//! completes no request loses its own oldest ones, and a client that sends its
//! request at once is the newest and is answered, also from the same address.
//! For that a connection is looked at once before more than a few others are
//! accepted.
//!
//! A connection from a trusted proxy counts in total only, until the header of a request says
//! whose it is; from then on it counts for the network of that visitor.
//! Strangers cannot take the place of users, nor users that of strangers
//! (`/healthz`, the log-in).

use std::collections::{BTreeMap, HashMap};
use std::net::IpAddr;
use std::sync::{Arc, Mutex};

use tokio::sync::Notify;

use crate::accounts::hold;
use crate::network::network;

/// How many connections are kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) struct Limits {
    /// Of strangers, in total.
    pub(crate) strangers: usize,
    /// Of strangers from one network, also behind trusted proxies.
    pub(crate) strangers_per_network: usize,
    /// Of users, in total.
    pub(crate) users: usize,
    /// Of one user.
    pub(crate) per_user: usize,
}

impl Limits {
    /// The limits of a process that may have this many files open.
    pub(crate) fn for_open_files(open_files: usize) -> Self {
        let strangers = (open_files / 4).clamp(16, 1_024);
        let users = (open_files / 4).clamp(16, 1_024);
        Self {
            strangers,
            strangers_per_network: strangers / 4,
            users,
            per_user: users / 2,
        }
    }
}

/// Who a connection counts for.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
enum Holder {
    /// A stranger from this network.
    Network(IpAddr),
    /// A stranger behind a trusted proxy, who is not known yet.
    Proxy,
    /// A stranger from this network, behind a trusted proxy.
    Behind(IpAddr),
    /// The user with this number.
    User(u32),
}

/// The connections of strangers, or those of users.
#[derive(Debug, Default)]
struct Group {
    /// By turn: the lowest made no request for the longest time.
    places: BTreeMap<u64, (Holder, Arc<Notify>)>,
    counts: HashMap<Holder, usize>,
}

impl Group {
    fn add(&mut self, turn: u64, holder: Holder, close: Arc<Notify>) {
        self.places.insert(turn, (holder, close));
        *self.counts.entry(holder).or_default() += 1;
    }

    fn remove(&mut self, turn: u64) -> Option<Arc<Notify>> {
        let (holder, close) = self.places.remove(&turn)?;
        if let Some(count) = self.counts.get_mut(&holder) {
            *count -= 1;
            if *count == 0 {
                self.counts.remove(&holder);
            }
        }
        Some(close)
    }

    fn count(&self, holder: Holder) -> usize {
        self.counts.get(&holder).copied().unwrap_or(0)
    }

    /// Closes the oldest connection, of this holder if one is given.
    fn close_oldest(&mut self, of: Option<Holder>) {
        let mut places = self.places.iter();
        let oldest = places.find(|(_, (holder, _))| of.is_none_or(|of| *holder == of));
        let turn = oldest.map(|(turn, _)| *turn);
        if let Some(close) = turn.and_then(|turn| self.remove(turn)) {
            close.notify_one();
        }
    }
}

#[derive(Debug, Default)]
struct Table {
    last_turn: u64,
    strangers: Group,
    users: Group,
}

impl Table {
    fn group(&mut self, holder: Holder) -> &mut Group {
        match holder {
            Holder::User(_) => &mut self.users,
            Holder::Network(_) | Holder::Proxy | Holder::Behind(_) => &mut self.strangers,
        }
    }

    /// Takes a place as the newest connection of a holder; its turn.
    fn place(&mut self, holder: Holder, close: Arc<Notify>, limits: &Limits) -> u64 {
        self.last_turn += 1;
        let turn = self.last_turn;
        let (all, of_holder) = match holder {
            Holder::User(_) => (limits.users, limits.per_user),
            Holder::Network(_) | Holder::Behind(_) => {
                (limits.strangers, limits.strangers_per_network)
            }
            Holder::Proxy => (limits.strangers, limits.strangers),
        };
        let group = self.group(holder);
        group.add(turn, holder, close);
        if group.count(holder) > of_holder {
            group.close_oldest(Some(holder));
        } else if group.places.len() > all {
            group.close_oldest(None);
        }
        turn
    }
}

/// All connections of a console.
#[derive(Debug)]
pub(crate) struct Door {
    limits: Limits,
    proxies: Vec<IpAddr>,
    table: Mutex<Table>,
    /// Notified when a connection ends.
    pub(super) ended: Notify,
}

impl Door {
    pub(crate) fn new(limits: Limits, proxies: Vec<IpAddr>) -> Arc<Self> {
        Arc::new(Self {
            limits,
            proxies,
            table: Mutex::default(),
            ended: Notify::new(),
        })
    }

    /// Takes in a connection from this address.
    pub(crate) fn admit(self: &Arc<Self>, from: IpAddr) -> Connection {
        let from = from.to_canonical();
        let stranger = if self.proxies.contains(&from) {
            Holder::Proxy
        } else {
            Holder::Network(network(from))
        };
        let close = Arc::new(Notify::new());
        let turn = hold(&self.table).place(stranger, Arc::clone(&close), &self.limits);
        Connection {
            door: Arc::clone(self),
            stranger,
            close,
            place: Mutex::new((stranger, turn)),
        }
    }

    /// Closes the oldest connection of a stranger: the process is out of files.
    pub(super) fn make_room(&self) {
        hold(&self.table).strangers.close_oldest(None);
    }

    #[cfg(test)]
    fn counts(&self) -> (usize, usize) {
        let table = hold(&self.table);
        (table.strangers.places.len(), table.users.places.len())
    }
}

/// A connection's place in the table; freed when dropped.
#[derive(Debug)]
pub(crate) struct Connection {
    door: Arc<Door>,
    /// Its holder while it is not authenticated.
    stranger: Holder,
    close: Arc<Notify>,
    place: Mutex<(Holder, u64)>,
}

impl Connection {
    /// A request has arrived, of this user or of a stranger, from a visitor with
    /// this address; one that a proxy did not name is unspecified.
    pub(crate) fn requested(&self, user: Option<u32>, visitor: IpAddr) {
        let stranger = match self.stranger {
            Holder::Proxy if !visitor.is_unspecified() => Holder::Behind(network(visitor)),
            stranger => stranger,
        };
        let holder = user.map_or(stranger, Holder::User);
        let mut place = hold(&self.place);
        let mut table = hold(&self.door.table);
        // One that is being closed has no place any more, and gets none.
        let Some(close) = table.group(place.0).remove(place.1) else {
            return;
        };
        let turn = table.place(holder, close, &self.door.limits);
        *place = (holder, turn);
    }

    /// Waits until the place is needed for another connection.
    pub(super) async fn closed(&self) {
        self.close.notified().await;
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        let (holder, turn) = *hold(&self.place);
        hold(&self.door.table).group(holder).remove(turn);
        self.door.ended.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMITS: Limits = Limits {
        strangers: 6,
        strangers_per_network: 3,
        users: 4,
        per_user: 2,
    };

    fn is_closed(connection: &Connection) -> bool {
        let (holder, turn) = *hold(&connection.place);
        let mut table = hold(&connection.door.table);
        !table.group(holder).places.contains_key(&turn)
    }

    fn address(last: u8) -> IpAddr {
        IpAddr::from([203, 0, 113, last])
    }

    #[test]
    fn a_network_loses_its_own_oldest_connection() {
        let door = Door::new(LIMITS, Vec::new());
        let other = door.admit(address(2));
        let held: Vec<Connection> = (0..4).map(|_| door.admit(address(1))).collect();
        let closed: Vec<bool> = held.iter().map(is_closed).collect();
        assert_eq!(closed, [true, false, false, false]);
        assert!(!is_closed(&other));
        // A request makes a connection the newest again.
        held[1].requested(None, address(1));
        let next = door.admit(address(1));
        assert!(is_closed(&held[2]) && !is_closed(&held[1]) && !is_closed(&next));
        drop((held, next, other));
        assert_eq!(door.counts(), (0, 0));
        assert_eq!(hold(&door.table).strangers.counts.len(), 0);
    }

    #[test]
    fn strangers_and_users_do_not_take_each_others_places() {
        let door = Door::new(LIMITS, Vec::new());
        let user = door.admit(address(1));
        user.requested(Some(7), address(1));
        let strangers: Vec<Connection> = (0..40).map(|n| door.admit(address(n))).collect();
        assert_eq!(door.counts(), (6, 1));
        assert!(!is_closed(&user) && !is_closed(strangers.last().unwrap()));
        // A user has a limit too, and a user who logs out is a stranger again.
        let more: Vec<Connection> = (0..2).map(|_| door.admit(address(9))).collect();
        for one in &more {
            one.requested(Some(7), address(9));
        }
        assert!(is_closed(&user));
        assert_eq!(door.counts(), (4, 2));
        more[0].requested(None, address(9));
        assert_eq!(door.counts(), (5, 1));
        // One that was closed does not come back.
        user.requested(Some(7), address(1));
        assert_eq!(door.counts(), (5, 1));
    }

    #[test]
    fn ipv6_counts_by_64_and_proxies_in_total_until_the_visitor_is_known() {
        let proxy = address(200);
        let door = Door::new(LIMITS, vec![proxy]);
        let v6 = |text: &str| door.admit(text.parse().unwrap());
        let held: Vec<Connection> = (0..4).map(|n| v6(&format!("2001:db8::{n}"))).collect();
        assert!(is_closed(&held[0]));
        let other = v6("2001:db8:0:1::1");
        assert_eq!(door.counts(), (4, 0));
        drop((held, other));
        let held: Vec<Connection> = (0..7).map(|_| door.admit(proxy)).collect();
        assert_eq!(door.counts(), (6, 0));
        assert!(is_closed(&held[0]) && !is_closed(&held[1]));
        drop(held);
        let held: Vec<Connection> = (0..5).map(|_| door.admit(proxy)).collect();
        for one in &held[..4] {
            one.requested(None, address(1));
        }
        let closed: Vec<bool> = held.iter().map(is_closed).collect();
        assert_eq!(closed, [true, false, false, false, false]);
        // The next request on a connection may be of somebody else.
        held[1].requested(None, address(2));
        held[4].requested(None, address(1));
        assert!(!is_closed(&held[1]) && !is_closed(&held[4]));
        let nowhere = IpAddr::from([0, 0, 0, 0]);
        held[4].requested(None, nowhere);
        assert_eq!(door.counts(), (4, 0));
    }
}
