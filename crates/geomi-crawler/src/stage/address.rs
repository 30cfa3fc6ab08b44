//! Addresses: what a look-up means for a site, and which addresses are one server's.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::IpAddr;
use std::time::Duration;

use geomi_fetch::Resolution;
use geomi_frontier::{Lease, Resolved, ServerSign, Work};

use crate::books::Unaddressed;
use crate::journey::Journey;
use crate::stage::read::Answer;

/// How long it is believed that a site cannot be reached.
pub(crate) const UNREACHABLE_FOR: Duration = Duration::from_hours(1);

/// Why an address is not asked, and what would open it.
pub(crate) fn refused_address(addr: IpAddr, reason: &str) -> String {
    let remedy = if geomi_fetch::is_public(addr) {
        "--contact"
    } else {
        "--allow-private"
    };
    format!("{addr} is {reason}; {remedy} opens it")
}

impl Journey<'_> {
    /// Takes in what a look-up brought.
    pub(crate) fn settle_resolution(&mut self, lease: Lease, resolution: Resolution) {
        let now = self.clock.now();
        let site = lease.site();
        let Work::Resolve { attempts, host, .. } = lease.work() else {
            unreachable!("a look-up was leased")
        };
        let last_try = attempts.saturating_add(1) >= self.config.tries;
        let resolved = match resolution {
            Resolution::Addresses {
                addrs,
                canonical,
                expires_in,
            } => {
                self.unaddressed.remove(&site);
                if canonical.is_some() || addrs.len() > 1 {
                    let name = canonical.as_deref().unwrap_or(host);
                    self.recognise_by_name(name, &addrs);
                }
                Resolved::Address {
                    addr: addrs[0],
                    until: now + expires_in,
                    is_public: geomi_fetch::is_public(addrs[0]),
                }
            }
            Resolution::Failed { .. } if !last_try => Resolved::Retry,
            Resolution::Failed { error } => {
                self.unaddressed.insert(site, Unaddressed::NoAddress(error));
                Resolved::Nowhere(now + UNREACHABLE_FOR)
            }
            Resolution::Refused { addr, reason } => {
                let reason = refused_address(addr, reason);
                if self.warn_addresses.allows() {
                    let site = self.frontier.site_key(site);
                    let site = site.map(ToString::to_string);
                    tracing::warn!(site, %reason, "address refused");
                }
                self.unaddressed.insert(site, Unaddressed::Refused(reason));
                Resolved::Nowhere(now + UNREACHABLE_FOR)
            }
        };
        self.frontier.settle_resolve(lease, resolved, now);
    }

    /// Sites at one server share its limit, also where it has several addresses.
    fn recognise_by_name(&mut self, name: &str, addrs: &[IpAddr]) {
        let mut hasher = DefaultHasher::new();
        name.hash(&mut hasher);
        let sign = ServerSign(hasher.finish());
        self.addresses.recognise(addrs, sign);
    }

    /// The same, by the certificate it shows.
    pub(crate) fn recognise_by_certificate(&mut self, answer: &Answer) {
        if let (Some(certificate), Some(ip)) = (answer.certificate, answer.ip) {
            let sign = ServerSign(certificate);
            self.addresses.recognise(&[ip], sign);
        }
    }
}
