//! HTTP: the table of routes and what surrounds every handler.
//!
//! A request goes through [`headers`] (what every answer carries), [`host`] (was
//! it meant for us), the router made of [`routes`], and [`guard`] (who is it, may
//! they). What a handler
//! takes is read by [`extract`], what it gives is made by [`respond`]; whatever
//! goes wrong is a [`problem::Problem`], which is `application/problem+json`
//! for programs and a page for people.

pub(crate) mod assets;
pub(crate) mod bounded;
pub(crate) mod extract;
pub(crate) mod guard;
pub(crate) mod headers;
pub(crate) mod host;
pub(crate) mod openapi;
pub(crate) mod operation;
pub(crate) mod problem;
pub(crate) mod respond;
pub(crate) mod routes;
