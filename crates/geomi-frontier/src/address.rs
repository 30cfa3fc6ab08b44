//! Connections to one server, shared by all the sites it serves.
//!
//! They are counted by address. Where several addresses belong to one server,
//! the limit holds for all of them together; connections that were open when
//! that came to light are not broken.

use std::collections::VecDeque;
use std::net::IpAddr;

use geomi_url::SiteHash;
use hashbrown::HashMap;

use crate::server::{ServerSign, Servers};

/// Who is connected where, and who waits for whom.
#[derive(Debug, Default)]
pub(crate) struct AddressBook {
    uses: HashMap<IpAddr, Use>,
    servers: Servers,
}

#[derive(Debug, Default)]
struct Use {
    connections: usize,
    /// The highest limit of the sites that asked for it: where one of them is
    /// allowed more, so is the address.
    limit: usize,
    blocked: VecDeque<SiteHash>,
}

impl AddressBook {
    /// Takes a connection, or puts the site in line for one.
    pub(crate) fn connect(&mut self, addr: IpAddr, limit: usize, site: SiteHash) -> bool {
        let elsewhere = self.servers.others(addr);
        let elsewhere = elsewhere.iter().filter_map(|other| self.uses.get(other));
        let elsewhere: usize = elsewhere.map(|uses| uses.connections).sum();
        let uses = self.uses.entry(addr).or_default();
        uses.limit = uses.limit.max(limit);
        if uses.connections + elsewhere < uses.limit {
            uses.connections += 1;
            return true;
        }
        uses.blocked.push_back(site);
        false
    }

    /// Gives a connection back.
    pub(crate) fn release(&mut self, addr: IpAddr) {
        let uses = self.uses.get_mut(&addr);
        let uses = uses.expect("a released address was connected");
        uses.connections = uses
            .connections
            .checked_sub(1)
            .expect("a released connection was taken");
    }

    /// The site first in line for this address, which leaves the line. It may
    /// have found something else to do since.
    pub(crate) fn next_in_line(&mut self, addr: IpAddr) -> Option<SiteHash> {
        let uses = self.uses.get_mut(&addr)?;
        let next = uses.blocked.pop_front();
        if next.is_none() && uses.connections == 0 {
            self.uses.remove(&addr);
        }
        next
    }

    /// The addresses whose lines may move when a connection to this one is given
    /// back: its own and those of the same server.
    pub(crate) fn lines(&self, addr: IpAddr) -> Vec<IpAddr> {
        let mut lines = self.servers.others(addr);
        lines.insert(0, addr);
        lines
    }

    /// Notes that a sign of one server was seen at these addresses; whoever waits
    /// for one of the addresses returned is to ask again.
    pub(crate) fn recognise(&mut self, addrs: &[IpAddr], sign: ServerSign) -> Vec<IpAddr> {
        self.servers.recognise(addrs, sign)
    }

    /// Whether no address carries more than its limit.
    pub(crate) fn is_within_limits(&self) -> bool {
        let mut uses = self.uses.values();
        uses.all(|uses| uses.connections <= uses.limit)
    }
}
