//! A seeded synthetic web, as data and as a loopback server.
//!
//! Tests, the demonstration, benchmarks and the simulator need a web whose
//! truth is known: which pages there are, how they link, when each changes and
//! how each misbehaves. [`Web`] is that web as a pure function of
//! (seed, site, page, time): thousands of sites cost no storage, and the same
//! [`WebSpec`] gives the same bytes wherever it runs. [`Server`] puts it on
//! loopback addresses over real sockets and keeps a [`RequestLog`], so that a
//! test asserts what a crawler did from the server's side.
//!
//! Read in this order: [`WebSpec`] (what can be asked for), [`Role`] and
//! [`ChangeProcess`] (the truth about a page), [`Web::answer`] and, without bytes,
//! [`Web::state_at`], then the server.
//!
//! It does not follow anybody's HTTP library, speaks no TLS and never listens
//! outside 127.0.0.0/8.

mod address;
mod answer;
mod behaviour;
mod change;
mod charset;
mod dice;
mod endless;
mod fault;
mod finite;
mod graph;
mod http_date;
mod log;
mod page;
mod robots;
mod role;
mod server;
mod site;
mod spec;
mod state;
mod text;
mod trap;
mod web;

pub use address::Naming;
pub use answer::{Answer, Ask};
pub use behaviour::{FixedPage, Robots, RobotsFault, SiteBehaviour};
pub use change::{ChangeMix, ChangeProcess, HourProfile, RateLaw};
pub use charset::{Encoding, SiteCharset};
pub use endless::Endless;
pub use fault::Fault;
pub use finite::FiniteSite;
pub use log::{Entry, RequestLog};
pub use role::{RedirectTarget, Role};
pub use server::{ServeError, Server, ServerHandle, ServerOptions, ServerThread, WebTime};
pub use spec::{Latency, PageBytes, Pages, Span, Traits, WebSpec};
pub use state::{Content, PageState};
pub use trap::{Trap, TrapText};
pub use web::{PageId, Web};
