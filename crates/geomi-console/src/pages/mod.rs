//! Pages for people: one file each.
//!
//! A handler reads what it needs through `api` and `actions`, the same way
//! programs do, and hands it to a function that makes HTML. [`layout::View`]
//! is who looks, in which language and theme; every page is made inside
//! [`layout::page`] or, below a crawl, [`crawl::page`]. Everything is escaped by
//! the macro that writes it; nothing here writes markup from text.
//!
//! A page works without scripts: links and forms do all of it. With them, htmx
//! swaps in what the stream of [`live`] sends.

pub(crate) mod captures;
pub(crate) mod changes;
pub(crate) mod config;
pub(crate) mod crawl;
pub(crate) mod crawls;
pub(crate) mod first;
pub(crate) mod format;
pub(crate) mod freshness;
pub(crate) mod layout;
pub(crate) mod live;
pub(crate) mod log;
pub(crate) mod login;
pub(crate) mod preferences;
pub(crate) mod problem;
pub(crate) mod queue;
pub(crate) mod reach;
pub(crate) mod report;
pub(crate) mod schedule;
pub(crate) mod settings;
pub(crate) mod sites;
pub(crate) mod stored;
pub(crate) mod workers;

use axum::response::Response;
use maud::Markup;

use crate::http::respond;

/// A page as an answer.
pub(crate) fn html(markup: Markup) -> Response {
    respond::with_type("text/html; charset=utf-8", markup.into_string().into())
}

/// Lines of a text field, without the empty ones.
pub(crate) fn lines(text: &str) -> Vec<String> {
    let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
    lines.map(str::to_owned).collect()
}

/// A field of a form that was left empty says nothing.
pub(crate) fn empty_as_none(text: &str) -> Option<String> {
    let text = text.trim();
    (!text.is_empty()).then(|| text.to_owned())
}
