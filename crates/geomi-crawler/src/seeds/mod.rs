//! Seeds on their way in ([`feed`]) and in files ([`table`]).

mod feed;
mod table;

pub(crate) use feed::SeedFeed;
pub use feed::SeedStream;
pub(crate) use table::write_seeds;
