//! From a host to the addresses at which it may be asked.
//!
//! In this order: the operator's overrides; address literals, which are their
//! own answer; `localhost`, which never leaves the machine (RFC 6761 §6.3); what
//! is remembered; `/etc/hosts` and the name servers. Look-ups of one name that
//! come together are one look-up. The address policy has the last word, each
//! time, and a name with some addresses that pass is given those.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use hickory_resolver::TokioResolver;
use hickory_resolver::config::{
    ConnectionConfig, LookupIpStrategy, NameServerConfig, ResolverConfig,
};
use hickory_resolver::lookup_ip::LookupIp;
use hickory_resolver::net::runtime::TokioRuntimeProvider;
use tokio::sync::OnceCell;
use tokio::time::{Instant, timeout};

use crate::dns_cache::{Addresses, Answer, DnsCache};
use crate::policy::bare_host;
use crate::{FetchConfig, FetchError};

/// What a host name stands for.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Resolution {
    /// It may be asked at these addresses, the preferred one first.
    Addresses {
        /// At least one address.
        addrs: Vec<IpAddr>,
        /// The name at the end of its aliases, where it is one.
        canonical: Option<Arc<str>>,
        /// How long they hold.
        expires_in: Duration,
    },
    /// It has addresses, but none of them may be asked.
    Refused {
        /// One of the addresses.
        addr: IpAddr,
        /// What kind of address it is.
        reason: &'static str,
    },
    /// It has no address: the network state noIP.
    Failed {
        /// Why, in words.
        error: String,
    },
}

/// A resolution with its reasons.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct LookUp {
    /// Where the addresses come from.
    pub source: AddressSource,
    /// Every address the host has, the preferred one first.
    pub addresses: Vec<Considered>,
    /// What came of it.
    pub resolution: Resolution,
}

/// Where the addresses of a host come from.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum AddressSource {
    /// The operator decided it (`--resolve`).
    Override,
    /// The host is an address.
    Literal,
    /// `localhost` is this machine.
    Localhost,
    /// `/etc/hosts`, the name servers, or what is remembered of them.
    Names,
}

/// An address, and whether it may be asked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Considered {
    /// The address.
    pub addr: IpAddr,
    /// What kind of address it is, where that is why it may not be asked.
    pub refused: Option<&'static str>,
}

/// The addresses of a host before anybody judged them.
struct Found {
    source: AddressSource,
    answer: Answer,
    expires_in: Duration,
}

/// Looks names up and remembers them.
pub(crate) struct Resolver {
    config: Arc<FetchConfig>,
    dns: TokioResolver,
    memory: Mutex<Memory>,
}

struct Memory {
    cache: DnsCache,
    /// Look-ups under way, so that nobody starts a second one.
    pending: HashMap<Box<str>, Arc<Pending>>,
}

/// A look-up under way, and then its answer and how long to keep it.
type Pending = OnceCell<(Answer, Duration)>;

impl Resolver {
    pub(crate) fn new(config: Arc<FetchConfig>) -> Result<Self, FetchError> {
        Ok(Self {
            dns: make_resolver(&config)?,
            memory: Mutex::new(Memory {
                cache: DnsCache::new(config.dns_names_max),
                pending: HashMap::new(),
            }),
            config,
        })
    }

    pub(crate) async fn resolve(self: &Arc<Self>, host: &str, port: u16) -> Resolution {
        let host = bare_host(host);
        let found = self.find(host).await;
        self.judge(host, port, &found)
    }

    pub(crate) async fn explain(self: &Arc<Self>, host: &str, port: u16) -> LookUp {
        let host = bare_host(host);
        let found = self.find(host).await;
        let is_decided = found.source == AddressSource::Override;
        let policy = &self.config.address_policy;
        let consider = |&addr: &IpAddr| Considered {
            addr,
            refused: match policy.check(host, port, addr) {
                Err(refusal) if !is_decided => Some(refusal.reason),
                _ => None,
            },
        };
        LookUp {
            source: found.source,
            addresses: match &found.answer {
                Ok(found) => found.addrs.iter().map(consider).collect(),
                Err(_) => Vec::new(),
            },
            resolution: self.judge(host, port, &found),
        }
    }

    async fn find(self: &Arc<Self>, host: &str) -> Found {
        let known = |source, addrs: &[IpAddr]| Found {
            source,
            answer: Ok(Addresses {
                addrs: addrs.into(),
                canonical: None,
            }),
            expires_in: self.config.dns_ttl_max,
        };
        if let Some(addr) = self.config.override_for(host) {
            return known(AddressSource::Override, &[addr]);
        }
        if let Ok(addr) = host.parse::<IpAddr>() {
            return known(AddressSource::Literal, &[addr]);
        }
        if host == "localhost" || host.ends_with(".localhost") {
            let loopback = [Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()];
            return known(AddressSource::Localhost, &loopback);
        }
        let (answer, expires_in) = self.remembered_or_looked_up(host).await;
        Found {
            source: AddressSource::Names,
            answer,
            expires_in,
        }
    }

    fn judge(&self, host: &str, port: u16, found: &Found) -> Resolution {
        match &found.answer {
            Err(error) => Resolution::Failed {
                error: error.to_string(),
            },
            Ok(known) if found.source == AddressSource::Override => Resolution::Addresses {
                addrs: known.addrs.to_vec(),
                canonical: None,
                expires_in: found.expires_in,
            },
            Ok(known) => self.permitted((host, port), known, found.expires_in),
        }
    }

    fn permitted(
        &self,
        (host, port): (&str, u16),
        known: &Addresses,
        expires_in: Duration,
    ) -> Resolution {
        let policy = &self.config.address_policy;
        let mut refusal = None;
        let mut permitted = Vec::with_capacity(known.addrs.len());
        for &addr in &*known.addrs {
            match policy.check(host, port, addr) {
                Ok(()) => permitted.push(addr),
                Err(refused) => refusal = refusal.or(Some(refused)),
            }
        }
        match refusal {
            Some(refused) if permitted.is_empty() => Resolution::Refused {
                addr: refused.addr,
                reason: refused.reason,
            },
            _ => Resolution::Addresses {
                addrs: permitted,
                canonical: known.canonical.clone(),
                expires_in,
            },
        }
    }

    async fn remembered_or_looked_up(self: &Arc<Self>, name: &str) -> (Answer, Duration) {
        let pending = {
            let mut memory = self.lock();
            if let Some(hit) = memory.cache.get(name, Instant::now()) {
                drop(memory);
                if hit.refresh_due {
                    self.refresh(name);
                }
                return (hit.answer, hit.expires_in);
            }
            Arc::clone(memory.pending.entry(name.into()).or_default())
        };
        let waiting = Waiting {
            resolver: self,
            name,
            pending,
        };
        let looking = || self.look_up(name);
        let (answer, ttl) = waiting.pending.get_or_init(looking).await.clone();
        waiting.remember(&answer, ttl);
        (answer, ttl)
    }

    /// Looks a name up again in the background. If that fails the old answer
    /// serves out its time.
    fn refresh(self: &Arc<Self>, name: &str) {
        let resolver = Arc::clone(self);
        let name: Box<str> = name.into();
        tokio::spawn(async move {
            let (answer, ttl) = resolver.look_up(&name).await;
            if answer.is_ok() {
                let mut memory = resolver.lock();
                memory.cache.insert(&name, answer, ttl, Instant::now());
            }
        });
    }

    async fn look_up(&self, name: &str) -> (Answer, Duration) {
        // That a name does not exist is an answer and is remembered; that
        // nobody answered is not, and the next to ask tries again.
        let failed = |error: String, ttl| (Err(error.into()), ttl);
        let negative = self.config.dns_negative_ttl;
        // A dot at the end keeps the machine's search list out of names that
        // are whole already; one without dots can only be meant locally.
        let query = if name.contains('.') {
            format!("{name}.")
        } else {
            name.to_owned()
        };
        match timeout(self.config.dns_timeout, self.dns.lookup_ip(query)).await {
            Err(_) => failed(
                "no answer from the name servers in time".to_owned(),
                Duration::ZERO,
            ),
            Ok(Err(error)) => {
                let ttl = if error.is_no_records_found() {
                    negative
                } else {
                    Duration::ZERO
                };
                failed(error.to_string(), ttl)
            }
            Ok(Ok(lookup)) => {
                let addrs = distinct(&lookup);
                if addrs.is_empty() {
                    return failed("the name has no address".to_owned(), negative);
                }
                let now = Instant::now().into_std();
                let ttl = lookup.valid_until().saturating_duration_since(now);
                let (min, max) = (self.config.dns_ttl_min, self.config.dns_ttl_max);
                let found = Addresses {
                    addrs: addrs.into(),
                    canonical: canonical(&lookup, name),
                };
                (Ok(found), ttl.max(min).min(max))
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, Memory> {
        // No code that can panic changes the memory halfway.
        self.memory.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// One of those who wait for a look-up. Whoever leaves last without an answer
/// takes the entry along, so that abandoned names do not pile up.
struct Waiting<'a> {
    resolver: &'a Resolver,
    name: &'a str,
    pending: Arc<Pending>,
}

impl Waiting<'_> {
    /// The first to get here moves the answer into the cache.
    fn remember(&self, answer: &Answer, ttl: Duration) {
        let mut memory = self.resolver.lock();
        let current = memory.pending.get(self.name);
        if current.is_some_and(|current| Arc::ptr_eq(current, &self.pending)) {
            memory.pending.remove(self.name);
            let answer = answer.clone();
            memory.cache.insert(self.name, answer, ttl, Instant::now());
        }
    }
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        if self.pending.initialized() {
            return;
        }
        let mut memory = self.resolver.lock();
        let current = memory.pending.get(self.name);
        // Two holders, the table and this one: nobody else waits.
        let is_last = Arc::strong_count(&self.pending) == 2;
        if is_last && current.is_some_and(|current| Arc::ptr_eq(current, &self.pending)) {
            memory.pending.remove(self.name);
        }
    }
}

fn distinct(lookup: &LookupIp) -> Vec<IpAddr> {
    let mut addrs = Vec::new();
    for addr in lookup.iter() {
        if !addrs.contains(&addr) {
            addrs.push(addr);
        }
    }
    addrs
}

/// Whose addresses they are, if not the name's own: an address belongs to the
/// name at the end of the aliases.
fn canonical(lookup: &LookupIp, name: &str) -> Option<Arc<str>> {
    let mut answers = lookup.as_lookup().answers().iter();
    let address = answers.find(|record| record.data.ip_addr().is_some())?;
    let owner = address.name.to_ascii().to_lowercase();
    let owner = owner.trim_end_matches('.');
    (owner != name).then(|| owner.into())
}

fn make_resolver(config: &FetchConfig) -> Result<TokioResolver, FetchError> {
    let provider = TokioRuntimeProvider::default();
    let mut builder = match &config.name_servers {
        Some(servers) => {
            let servers = servers.iter().copied().map(name_server).collect();
            let config = ResolverConfig::from_name_servers(servers);
            TokioResolver::builder_with_config(config, provider)
        }
        // A machine without name servers can still crawl its own hosts: every
        // look-up beyond /etc/hosts will say that there is nobody to ask.
        None => TokioResolver::builder_tokio().unwrap_or_else(|_| {
            let nobody = ResolverConfig::from_name_servers(Vec::new());
            TokioResolver::builder_with_config(nobody, provider)
        }),
    };
    let options = builder.options_mut();
    // IPv4 first: the address is pinned, so there is no second try over IPv4
    // where IPv6 leads nowhere.
    options.ip_strategy = LookupIpStrategy::Ipv4thenIpv6;
    // Ours is the only cache; a second one would answer refreshes with itself.
    options.cache_size = 0;
    builder
        .build()
        .map_err(|error| FetchError::Resolver(Box::new(error)))
}

fn name_server(addr: SocketAddr) -> NameServerConfig {
    let mut connections = [ConnectionConfig::udp(), ConnectionConfig::tcp()];
    for connection in &mut connections {
        connection.port = addr.port();
    }
    NameServerConfig::new(addr.ip(), true, connections.into())
}
