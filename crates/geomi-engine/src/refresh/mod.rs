//! The refresh plan of a partition in its engine: what is due is queued, and what was
//! seen goes into the plan ([`turn`]); new pages have a budget ([`discovery`]).

pub(crate) mod discovery;
pub(crate) mod turn;

pub(crate) use discovery::Discovery;
pub(crate) use turn::SignalledVisit;
