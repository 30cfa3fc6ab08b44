//! Connections to one address, shared by all the sites it serves.

use std::collections::VecDeque;
use std::net::IpAddr;

use geomi_url::SiteHash;
use hashbrown::HashMap;

/// Who is connected where, and who waits for whom.
#[derive(Debug, Default)]
pub(crate) struct AddressBook {
    uses: HashMap<IpAddr, Use>,
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
        let uses = self.uses.entry(addr).or_default();
        uses.limit = uses.limit.max(limit);
        if uses.connections < uses.limit {
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

    /// Whether no address carries more than its limit.
    pub(crate) fn is_within_limits(&self) -> bool {
        let mut uses = self.uses.values();
        uses.all(|uses| uses.connections <= uses.limit)
    }
}
