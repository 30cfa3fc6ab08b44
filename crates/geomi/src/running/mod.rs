//! Running crawls, seen and steered from another terminal.
//!
//! A crawl listens on a socket in its own directory ([`server`]) and leaves a
//! note of itself where the user's other processes find it ([`registry`]). The
//! commands `ls`, `pause`, `resume`, `stop`, `set`, `add` and `explain` talk to it
//! in one line of JSON each way ([`geomi_crawler::remote`], [`client`]). Only the user who
//! started a crawl may connect. A crawl on a file system without sockets runs all
//! the same; it just cannot be reached.

pub(crate) mod api;
pub(crate) mod client;
pub(crate) mod commands;
pub(crate) mod list;
pub(crate) mod registry;
pub(crate) mod server;
