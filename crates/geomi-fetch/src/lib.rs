//! DNS, TCP, TLS and HTTP under limits, with the raw bytes kept.
//!
//! A [`Fetcher`] answers two questions: at which addresses a host may be asked
//! ([`Fetcher::resolve`]), and what it says when asked for one URL at one of
//! them ([`Fetcher::fetch`]). [`Fetcher::look_up`] is the first one with its reasons. The web's failures are data: a fetch always
//! returns a [`FetchOutcome`], whose [`NetworkState`](geomi_model::NetworkState)
//! says how far the attempt came. Only the operator's and the machine's
//! failures are a [`FetchError`].
//!
//! What it promises:
//!
//! * the request and the answer are kept byte for byte, as archives need them
//!   (of HTTP/2, an HTTP/1.1 view of them);
//! * nothing is unbounded: header, body, decoded body, time, idle connections
//!   and remembered names all have a limit in [`FetchConfig`];
//! * a connection goes only to the address that was resolved and passed the
//!   [`AddressPolicy`], so a name that changes its mind in between (DNS
//!   rebinding) leads nowhere;
//! * a connection is used again only after an answer whose end is beyond doubt.
//!
//! What it does not do: follow redirects, keep cookies, wait between requests,
//! or judge whether an answer is wanted. Those are its caller's.
//!
//! ```
//! use geomi_fetch::{FetchConfig, FetchRequest, Fetcher, Resolution};
//! use geomi_model::NetworkState;
//! use geomi_url::CrawlUrl;
//!
//! # #[tokio::main(flavor = "current_thread")]
//! # async fn main() {
//! let mut config = FetchConfig::default();
//! config.address_policy.named_hosts.insert("localhost".parse().unwrap());
//! let fetcher = Fetcher::new(config).unwrap();
//! let Resolution::Addresses { addrs, .. } = fetcher.resolve("localhost", 80).await else {
//!     panic!("localhost has an address");
//! };
//! // Port 1 is not served: the outcome says so, and nothing is an error.
//! let url = CrawlUrl::parse("http://localhost:1/").unwrap();
//! let outcome = fetcher.fetch(FetchRequest::new(url, addrs[0])).await;
//! assert_eq!(outcome.state, NetworkState::ConnectError);
//! # }
//! ```

mod body;
mod certificate;
mod chunked;
mod cidr;
mod config;
pub mod decode;
mod dns_cache;
mod error;
mod exchange;
mod fetcher;
mod head;
mod http2;
mod link;
mod named;
mod outcome;
mod policy;
mod pool;
mod proxy;
mod request;
mod resolve;
mod signature;
mod stored;
mod stream;
mod tls;

pub use certificate::{Certificate, TlsDescription};
pub use cidr::{Cidr, CidrError};
pub use config::{FetchConfig, HostPattern, parse_override};
pub use error::FetchError;
pub use fetcher::Fetcher;
pub use head::Headers;
pub use named::{NamedHost, NamedHosts, is_internal_name};
pub use outcome::{Body, FetchOutcome};
pub use policy::{AddressPolicy, Refusal, is_public};
pub use proxy::{Proxy, ProxyRotation};
pub use request::{BodyFilter, FetchRequest};
pub use resolve::{AddressSource, Considered, LookUp, Resolution};
pub use signature::{Signature, Signer};
pub use stored::StoredAnswer;
pub use tls::parse_ca_file;
