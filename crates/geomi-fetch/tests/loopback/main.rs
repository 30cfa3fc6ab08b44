//! The fetcher against real sockets on the loopback interface: servers that
//! send scripted bytes, a name server that counts, a server with a certificate.

#![expect(
    clippy::unwrap_used,
    reason = "every function here is part of a test, also those that are not marked as one"
)]

mod addresses;
mod authority;
mod bytes;
mod certificates;
mod dns;
mod filters;
mod hostile;
mod http2;
mod proxies;
mod reuse;
mod server;
mod states;
mod tls;
