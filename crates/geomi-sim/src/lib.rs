//! Laboratories: the decisions of the crawler in virtual time, on model webs.
//!
//! What decides here is what decides in a crawl: the engines, the frontier, politeness
//! and robots rules are the real ones, driven by a loop that jumps from event to event.
//! What surrounds them is a model: sites with round-trip times, workers with disks,
//! archive files and mail.
//!
//! * [`order`]: the host orders side by side;
//! * [`faults`]: engines under faults, then kept fresh, with every invariant checked at every step;
//! * [`capacity`]: what so many pages in so much time take;
//! * [`priority`]: how soon the pages that matter are visited;
//! * [`refresh`]: refresh policies side by side.
//!
//! One seed is one history: nothing here reads a clock or rolls other dice than
//! its own.

pub mod capacity;
mod draws;
mod entry;
pub mod faults;
pub mod order;
pub mod priority;
pub mod refresh;
mod trials;
