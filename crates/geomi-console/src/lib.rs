//! The web console and the API: crawl directories, seen and steered in a browser.
//!
//! # What it is
//!
//! A **client of crawl directories** (ADR 0015). A running crawl is a process of
//! its own with a socket in its directory; the console reads the directory's
//! files, asks the socket for what only the process knows, and gives it orders.
//! It holds no state of any crawl, so it can be started, stopped and updated
//! beside crawls that run for weeks, and a crash of one side is nothing to the
//! other. A new crawl is a child process of the same program: the command that
//! the console shows is the command that runs.
//!
//! # Where to look
//!
//! | module | holds |
//! |---|---|
//! | `http::routes` | **the table of all routes**: path, who may, handler, documentation. Router, `OpenAPI` and the test that walks every route by role are made of it |
//! | [`accounts`] | users, sessions, tokens, log-in limits, audit |
//! | `library` | which crawls there are, and reading them |
//! | `live` | one reader a watched crawl, shared by everyone who watches it |
//! | `diff` | two captures of a page, line by line |
//! | `schedule` | the week of a crawl's visits: counted, painted, planned, followed |
//! | `in_flight` | the memory that contents take until their clients have them |
//! | `preview` | what patterns would keep out, before they do |
//! | `actions` | what a person can do to a crawl; pages and API both call it |
//! | `api` | JSON in and out, one file a subject |
//! | `pages` | HTML, one file a page; `pages::layout` is the frame, `words` the sentences in two languages |
//! | `wrong` | what can be wrong with a request; `http::problem` sends it |
//! | `alerts` | what a person should know of, told once |
//! | [`client`] | one request to another server: webhooks, `--server` |
//! | `metrics` | Prometheus text |
//! | [`server`] | the listener, TLS, and the thread it all runs on; `server::door` decides which connections are kept |
//!
//! # What it promises
//!
//! * No route answers without its role, but for health, the log-in and the
//!   style sheets and scripts the log-in needs.
//! * What came from the web is text: it is escaped where it is shown, and no
//!   script or style runs that is not a file of ours (Content-Security-Policy).
//! * Memory does not grow with the crawl: logs are read by place, lists are
//!   paged, watchers share one reader, caches are bounded.
//!
//! # What it does not do
//!
//! It decides nothing about crawling, writes nothing into a crawl directory but
//! the geomi.toml of a crawl it starts and the schedule.csv that is painted, and keeps no passwords, only their
//! argon2id hashes.

pub mod accounts;
mod actions;
mod alerts;
mod api;
mod app;
mod caches;
pub mod client;
mod diff;
mod error;
mod http;
mod in_flight;
mod launch;
mod library;
mod live;
mod metrics;
mod network;
mod new_dir;
mod pages;
mod preview;
mod schedule;
mod secret;
pub mod server;
#[cfg(test)]
mod tests;
mod why;
mod words;
mod wrong;

pub use app::{Forbidden, Options, Order, Settings};
pub use error::ConsoleError;
pub use http::openapi::document as openapi;
pub use server::{Server, TlsFiles, start};
