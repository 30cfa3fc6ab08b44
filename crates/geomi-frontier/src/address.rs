//! Connections per address, limited over all frontiers of a process.
//!
//! They are counted by address. Where several addresses belong to one server,
//! the limit holds for all of them together; connections that were open when
//! that came to light are not broken.
//!
//! A site that finds its address at its limit waits in line there. When a
//! connection becomes free, the first in line is *called*: the connection is
//! kept for its frontier until the site connects or declines the call. A
//! declined call goes to the next in line.

use std::collections::VecDeque;
use std::net::IpAddr;

use geomi_url::SiteHash;
use hashbrown::HashMap;

use crate::server::{ServerSign, Servers};

/// Number of a frontier, unique among those that share their [`Addresses`].
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default)]
pub struct FrontierId(pub u16);

/// A free connection, offered to the site first in line for it.
///
/// To be handed to [`Frontier::call`](crate::Frontier::call) of that frontier. If the
/// frontier does not exist any more, the call may be dropped.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Call {
    /// The frontier that has the site.
    pub frontier: FrontierId,
    /// The site that waits.
    pub site: SiteHash,
    /// Where it may connect.
    pub addr: IpAddr,
}

/// The connections to each address, and the sites that wait for one.
///
/// All frontiers of a process share it, so that an address carries no more connections
/// than its limit, however its sites are spread over frontiers.
#[derive(Debug, Default)]
pub struct Addresses {
    uses: HashMap<IpAddr, Use>,
    servers: Servers,
    /// Calls that were not taken out yet.
    calls: VecDeque<Call>,
}

/// A site of a frontier.
type Waiter = (FrontierId, SiteHash);

#[derive(Debug, Default)]
struct Use {
    /// Open connections of each frontier that has some.
    connections: Vec<(FrontierId, usize)>,
    /// The highest limit of the sites that asked for it: where one of them is
    /// allowed more, so is the address.
    limit: usize,
    line: VecDeque<Waiter>,
    /// Sites that were called and have not answered yet.
    called: Vec<Waiter>,
}

impl Use {
    fn connections(&self) -> usize {
        self.connections.iter().map(|(_, count)| count).sum()
    }

    /// Connections that are open or kept for a site that was called.
    fn taken(&self) -> usize {
        self.connections() + self.called.len()
    }

    /// The same, as a frontier sees it: what is kept for it, it may take.
    fn taken_for(&self, frontier: FrontierId) -> usize {
        let others = self.called.iter().filter(|(other, _)| *other != frontier);
        self.connections() + others.count()
    }

    fn is_unused(&self) -> bool {
        self.connections.is_empty() && self.line.is_empty() && self.called.is_empty()
    }

    fn connect(&mut self, frontier: FrontierId) {
        let mut held = self.connections.iter_mut();
        match held.find(|(holder, _)| *holder == frontier) {
            Some((_, count)) => *count += 1,
            None => self.connections.push((frontier, 1)),
        }
    }

    fn release(&mut self, frontier: FrontierId) {
        let mut held = self.connections.iter();
        let at = held.position(|(holder, _)| *holder == frontier);
        let at = at.expect("a released connection was taken");
        self.connections[at].1 -= 1;
        if self.connections[at].1 == 0 {
            self.connections.swap_remove(at);
        }
    }

    /// Ends a call; whether there was one.
    fn end_call(&mut self, waiter: Waiter) -> bool {
        let at = self.called.iter().position(|called| *called == waiter);
        at.map(|at| self.called.swap_remove(at)).is_some()
    }
}

impl Addresses {
    /// No connections, and nothing known of any server.
    pub fn new() -> Self {
        Self::default()
    }

    /// The next call that no frontier has been given yet. To be asked for after
    /// each use of a frontier, and after [`Addresses::recognise`] and
    /// [`Addresses::forget`], until there is none.
    pub fn next_call(&mut self) -> Option<Call> {
        self.calls.pop_front()
    }

    /// Notes that something one server shows at each of its addresses was seen at
    /// these: a certificate, or a name that stands for them all. From now on
    /// they share one limit, unless they turn out to be a network's.
    pub fn recognise(&mut self, addrs: &[IpAddr], sign: ServerSign) {
        for apart in self.servers.recognise(addrs, sign) {
            self.call_line(apart);
        }
    }

    /// Forgets a frontier that is dropped: its connections, its places in lines and the
    /// calls that wait for it. Its requests must have ended or been aborted before.
    pub fn forget(&mut self, frontier: FrontierId) {
        self.calls.retain(|call| call.frontier != frontier);
        let mut addrs: Vec<IpAddr> = self.uses.keys().copied().collect();
        addrs.sort_unstable();
        for uses in self.uses.values_mut() {
            uses.connections.retain(|(holder, _)| *holder != frontier);
            uses.line.retain(|(waiting, _)| *waiting != frontier);
            uses.called.retain(|(called, _)| *called != frontier);
        }
        for addr in addrs {
            self.call_line(addr);
        }
    }

    /// Panics where an address carries more than its limit, or where a connection is
    /// free and kept for no site while one waits.
    pub fn check_invariants(&self) {
        for (addr, uses) in &self.uses {
            assert!(
                uses.connections() <= uses.limit,
                "an address carries no more than its limit"
            );
            assert!(
                uses.line.is_empty() || self.taken(*addr) >= uses.limit,
                "no connection is free while a site waits for it"
            );
        }
        for call in &self.calls {
            assert!(self.is_open(call), "a call is taken out before it ends");
        }
    }

    /// Takes a connection, or puts the site in line for one. If it was called, that
    /// answers the call.
    pub(crate) fn connect(&mut self, call: Call, limit: usize) -> bool {
        let Call {
            frontier,
            site,
            addr,
        } = call;
        let elsewhere = self.servers.others(addr);
        let elsewhere = elsewhere.iter().filter_map(|other| self.uses.get(other));
        let elsewhere: usize = elsewhere.map(|uses| uses.taken_for(frontier)).sum();
        let uses = self.uses.entry(addr).or_default();
        let was_called = uses.end_call((frontier, site));
        let is_raised = limit > uses.limit;
        uses.limit = uses.limit.max(limit);
        let connects = uses.taken_for(frontier) + elsewhere < uses.limit;
        if connects {
            uses.connect(frontier);
        } else {
            uses.line.push_back((frontier, site));
        }
        if is_raised && !uses.line.is_empty() || was_called && !connects {
            self.call_lines(addr);
        }
        connects
    }

    /// Gives a connection back and calls whoever waits for it.
    pub(crate) fn release(&mut self, addr: IpAddr, frontier: FrontierId) {
        let uses = self.uses.get_mut(&addr);
        let uses = uses.expect("a released address was connected");
        uses.release(frontier);
        self.call_lines(addr);
    }

    /// Passes a call on to the next in line: its site has no use for it.
    pub(crate) fn decline(&mut self, call: &Call) {
        let uses = self.uses.get_mut(&call.addr);
        if uses.is_some_and(|uses| uses.end_call((call.frontier, call.site))) {
            self.call_lines(call.addr);
        }
    }

    /// Whether a call was not answered yet.
    pub(crate) fn is_open(&self, call: &Call) -> bool {
        let uses = self.uses.get(&call.addr);
        uses.is_some_and(|uses| uses.called.contains(&(call.frontier, call.site)))
    }

    /// The next call for a site of this frontier.
    pub(crate) fn next_call_for(&mut self, frontier: FrontierId) -> Option<Call> {
        let mut calls = self.calls.iter();
        let at = calls.position(|call| call.frontier == frontier)?;
        self.calls.remove(at)
    }

    /// Calls those in line for this address and for the others of the same server.
    fn call_lines(&mut self, addr: IpAddr) {
        self.call_line(addr);
        for other in self.servers.others(addr) {
            self.call_line(other);
        }
    }

    /// Calls as many of those in line as there are connections free.
    fn call_line(&mut self, addr: IpAddr) {
        let Some(uses) = self.uses.get(&addr) else {
            return;
        };
        if uses.is_unused() {
            self.uses.remove(&addr);
            return;
        }
        if uses.line.is_empty() {
            return;
        }
        let free = uses.limit.saturating_sub(self.taken(addr));
        let uses = self.uses.get_mut(&addr).expect("it was just there");
        let next = free.min(uses.line.len());
        for (frontier, site) in uses.line.drain(..next) {
            uses.called.push((frontier, site));
            self.calls.push_back(Call {
                frontier,
                site,
                addr,
            });
        }
    }

    /// Connections to the server at this address that are open or kept for a site.
    fn taken(&self, addr: IpAddr) -> usize {
        let mut addrs = self.servers.others(addr);
        addrs.push(addr);
        let uses = addrs.iter().filter_map(|addr| self.uses.get(addr));
        uses.map(Use::taken).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const A: FrontierId = FrontierId(0);
    const B: FrontierId = FrontierId(1);

    fn addr(last: u8) -> IpAddr {
        [192, 0, 2, last].into()
    }

    fn site(frontier: FrontierId, site: u64, last: u8) -> Call {
        Call {
            frontier,
            site: SiteHash(site),
            addr: addr(last),
        }
    }

    fn connect(addresses: &mut Addresses, call: Call) -> bool {
        let connects = addresses.connect(call, 1);
        addresses.check_invariants();
        connects
    }

    #[test]
    fn a_call_keeps_its_connection_from_other_frontiers() {
        let mut addresses = Addresses::new();
        assert!(connect(&mut addresses, site(A, 1, 1)));
        assert!(!connect(&mut addresses, site(B, 2, 1)));
        addresses.release(addr(1), A);
        let call = addresses.next_call();
        assert_eq!(call, Some(site(B, 2, 1)));
        assert!(!connect(&mut addresses, site(A, 3, 1)));
        assert!(connect(&mut addresses, site(B, 2, 1)));
        assert!(!addresses.is_open(&site(B, 2, 1)));
        addresses.release(addr(1), B);
        assert_eq!(addresses.next_call(), Some(site(A, 3, 1)));
    }

    #[test]
    fn a_declined_call_goes_to_the_next_in_line() {
        let mut addresses = Addresses::new();
        assert!(connect(&mut addresses, site(A, 1, 1)));
        for number in 2..4 {
            assert!(!connect(&mut addresses, site(B, number, 1)));
        }
        addresses.release(addr(1), A);
        let call = addresses.next_call().unwrap();
        addresses.decline(&call);
        addresses.decline(&call);
        addresses.check_invariants();
        assert_eq!(addresses.next_call(), Some(site(B, 3, 1)));
        assert_eq!(addresses.next_call(), None);
        addresses.decline(&site(B, 3, 1));
        assert!(addresses.uses.is_empty());
    }

    #[test]
    fn a_higher_limit_helps_those_who_wait_already() {
        let mut addresses = Addresses::new();
        assert!(connect(&mut addresses, site(A, 1, 1)));
        assert!(!connect(&mut addresses, site(B, 2, 1)));
        assert!(addresses.connect(site(A, 3, 1), 4));
        addresses.check_invariants();
        assert_eq!(addresses.next_call(), Some(site(B, 2, 1)));
    }

    #[test]
    fn addresses_of_one_server_call_each_others_lines() {
        let mut addresses = Addresses::new();
        addresses.recognise(&[addr(1), addr(2)], ServerSign(7));
        assert!(connect(&mut addresses, site(A, 1, 1)));
        assert!(!connect(&mut addresses, site(B, 2, 2)));
        addresses.release(addr(1), A);
        assert_eq!(addresses.next_call(), Some(site(B, 2, 2)));
        assert!(connect(&mut addresses, site(B, 2, 2)));
        assert!(!connect(&mut addresses, site(A, 1, 1)));
        // It is a network's: each address has its own limit.
        let network: Vec<IpAddr> = (1..6).map(addr).collect();
        addresses.recognise(&network, ServerSign(7));
        addresses.check_invariants();
        assert_eq!(addresses.next_call(), Some(site(A, 1, 1)));
    }

    #[test]
    fn a_frontier_that_is_forgotten_leaves_its_connections_to_others() {
        let mut addresses = Addresses::new();
        assert!(connect(&mut addresses, site(A, 1, 1)));
        assert!(connect(&mut addresses, site(A, 1, 2)));
        for last in 1..3 {
            assert!(!connect(&mut addresses, site(A, 2, last)));
            assert!(!connect(&mut addresses, site(B, 3, last)));
        }
        addresses.release(addr(2), A);
        assert!(addresses.is_open(&site(A, 2, 2)));
        addresses.forget(A);
        addresses.check_invariants();
        assert_eq!(addresses.next_call(), Some(site(B, 3, 1)));
        assert_eq!(addresses.next_call(), Some(site(B, 3, 2)));
        assert_eq!(addresses.next_call(), None);
        addresses.forget(B);
        assert!(addresses.uses.is_empty());
    }
}
