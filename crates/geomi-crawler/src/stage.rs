//! The stages of the journey, one file each, in the order a URL meets them.

pub(crate) mod address;
pub(crate) mod admit;
pub(crate) mod fetch;
pub(crate) mod judge;
pub(crate) mod keep;
pub(crate) mod lease;
pub(crate) mod likeness;
pub(crate) mod links;
pub(crate) mod read;
pub(crate) mod robots;
pub(crate) mod row;
pub(crate) mod settle;
pub(crate) mod start;
