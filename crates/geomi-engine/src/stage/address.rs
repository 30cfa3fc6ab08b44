//! Addresses: what a look-up means for a site, and which addresses are one server's.

use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::net::IpAddr;
use std::time::Duration;

use geomi_frontier::{Addresses, Lease, Resolved, ServerSign, Work};

use crate::books::Unaddressed;
use crate::engine::{Around, Engine};
use crate::stage::arrival::Answer;

/// How long it is believed that a site cannot be reached.
pub(crate) const UNREACHABLE_FOR: Duration = Duration::from_hours(1);

/// The result of a look-up of a host name.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum LookedUp {
    /// Its addresses, the one to be asked first.
    Addresses {
        /// The addresses, in the order in which they are tried.
        addrs: Vec<IpAddr>,
        /// Whether the first one is on the public internet.
        is_public: bool,
        /// The name that its alias leads to.
        canonical: Option<String>,
        /// How long the answer may be cached.
        expires_in: Duration,
    },
    /// No address, and why.
    Failed(String),
    /// An address that a rule forbids, and why.
    Refused(String),
}

impl Engine {
    /// Takes the result of a look-up.
    pub fn looked_up(&mut self, lease: Lease, looked_up: LookedUp, around: &mut Around<'_>) {
        self.queues.in_flight -= 1;
        let now = around.now;
        let site = lease.site();
        let Work::Resolve { attempts, host, .. } = lease.work() else {
            unreachable!("a look-up was leased")
        };
        let is_last_try = attempts.saturating_add(1) >= self.rules.config.tries;
        let resolved = match looked_up {
            LookedUp::Addresses {
                addrs,
                is_public,
                canonical,
                expires_in,
            } => {
                self.sites.unaddressed.remove(&site);
                if canonical.is_some() || addrs.len() > 1 {
                    let name = canonical.as_deref().unwrap_or(host);
                    recognise_by_name(name, &addrs, &mut around.shared.addresses);
                }
                Resolved::Address {
                    addr: addrs[0],
                    until: now + expires_in,
                    is_public,
                }
            }
            LookedUp::Failed(_) if !is_last_try => Resolved::Retry,
            LookedUp::Failed(error) => {
                self.sites
                    .unaddressed
                    .insert(site, Unaddressed::NoAddress(error));
                Resolved::Nowhere(now + UNREACHABLE_FOR)
            }
            LookedUp::Refused(reason) => {
                if self.notices.addresses.allows() {
                    let site = self.queues.frontier.site_key(site);
                    let site = site.map(ToString::to_string);
                    tracing::warn!(site, %reason, "address refused");
                }
                self.sites
                    .unaddressed
                    .insert(site, Unaddressed::Refused(reason));
                Resolved::Nowhere(now + UNREACHABLE_FOR)
            }
        };
        self.queues.frontier.settle_resolve(lease, resolved, now);
    }
}

/// Sites at one server share its limit, also where it has several addresses.
fn recognise_by_name(name: &str, addrs: &[IpAddr], addresses: &mut Addresses) {
    let mut hasher = DefaultHasher::new();
    name.hash(&mut hasher);
    addresses.recognise(addrs, ServerSign(hasher.finish()));
}

/// The same, by the certificate the server shows.
pub(crate) fn recognise_by_certificate(answer: &Answer, addresses: &mut Addresses) {
    if let (Some(certificate), Some(ip)) = (answer.certificate, answer.ip) {
        addresses.recognise(&[ip], ServerSign(certificate));
    }
}
