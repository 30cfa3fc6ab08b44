//! The kinds of finite site.

pub(crate) mod blog;
pub(crate) mod board;
pub(crate) mod directory;
pub(crate) mod docs;
pub(crate) mod events;
pub(crate) mod forum;
pub(crate) mod gallery;
pub(crate) mod newspaper;
pub(crate) mod numbered;
pub(crate) mod old;
pub(crate) mod recipes;
pub(crate) mod shop;
pub(crate) mod tree;
pub(crate) mod wiki;
