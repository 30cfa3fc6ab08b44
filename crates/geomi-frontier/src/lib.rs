//! Which URL next, and when.
//!
//! The [`Frontier`] is a pure state machine in the manner of a sans-I/O
//! protocol: it reads no clock, touches no disk and starts no request. Whoever
//! drives it calls
//!
//! * [`Frontier::admit`] with a URL that is wanted and new,
//! * [`Frontier::poll`] for the next thing to do: a [`Lease`] to carry out, a
//!   piece of queue to read back from disk, or how long to wait,
//! * [`Frontier::settle`] with what became of a lease,
//!
//! each time with the current time as an argument. So a month of crawling runs
//! in a simulation in seconds, and a failure replays from its seed.
//!
//! # The life of a site
//!
//! A site is in memory while it has URLs to visit (Kim and Lee's *seed
//! context*) and is freed when drained. Before its first page it needs an
//! address and its robots.txt; both are ordinary leases.
//!
//! ```text
//!            admit                    delay over, something due
//!  (freed) ────────▶ waiting ───────────────────────────────▶ ready
//!     ▲                ▲  ▲                                     │ poll
//!     │ drained        │  └── blocked (address at its limit) ◀──┤
//!     └────────────────┴───────────── leased ◀──────────────────┘
//!                          settle
//! ```
//!
//! What holds for a site may differ from the [`Config`]: whoever opens it says so
//! with [`SiteRules`].
//!
//! *Retired* is the way out: a site that would have to be waited for longer
//! than [`Config::wait_max`], of which enough pages are saved, or of which no
//! answer is to be expected any more ([`Outlook`]), is left alone for this run;
//! its URLs stay queued.
//!
//! # Queues
//!
//! A URL enters one of [`PRIORITIES`](geomi_model::PRIORITIES) lanes of its site by its priority. These
//! are the front queues of the Mercator design, kept apart by site so that a
//! polite wait for one host never holds up another. The chooser ([`lane`])
//! favours high lanes and starves none. Each lane keeps a bounded front in
//! memory; the rest is on disk in numbered chunks, which the frontier asks for
//! by [`Action::Refill`].
//!
//! With [`PageOrder::BreadthFirst`] a lane holds the pages of one depth instead, and
//! the lowest lane that has a page waiting or under way is the only one served.
//!
//! # Several frontiers
//!
//! A crawl may have several frontiers in one process, each with sites of its own. They
//! share the [`Addresses`], because the limit of connections holds for an address and not
//! for a site. The caller owns them and passes them to each call that may connect or
//! release. When a connection becomes free and the next in line is a site of another
//! frontier, the address keeps the connection for it and has a [`Call`]. The contract:
//!
//! * the caller takes calls out with [`Addresses::next_call`] until there is none, and
//!   hands each to [`Frontier::call`] of the frontier it names, which is polled then;
//! * the frontier either uses the connection or passes the call on, which may make
//!   another call. So no connection stays free while a site waits for it, and no site
//!   waits for ever;
//! * a frontier is polled after every change until it says wait. A site that was called
//!   and is retired or closed instead leaves its connection to others only then;
//! * when a frontier is dropped, the caller ends its requests and then calls
//!   [`Addresses::forget`].
//!
//! A frontier answers calls for its own sites itself when it is polled, so a crawl with
//! one frontier need not route calls.
//!
//! # A robots.txt at a site of another frontier
//!
//! A robots.txt may redirect to a site of another frontier. Then the caller carries the
//! question there and the answer back. The contract:
//!
//! * the frontier that asked settles with [`RobotsNext::Elsewhere`]. Its site waits, with
//!   nothing under way. While other sites wait for memory it may be closed, and asks
//!   again in its next turn;
//! * the frontier of the target takes the errand with [`Frontier::add_foreign_errand`].
//!   It ends in one of two ways. Either its lease is settled, and the caller reads the
//!   site that waits from [`Errand::for_site`]; or it is among
//!   [`Frontier::take_lost_errands`], which the caller asks for after each use;
//! * the caller ends the wait with one of [`Frontier::robots_known`],
//!   [`Frontier::robots_put_off`] (a [`LostErrand`] that says until when) and
//!   [`Frontier::robots_unavailable`] (one that does not). If the site is not open by
//!   then, the rules are kept by the caller, with its stored state; the other two have
//!   no effect.
//!
//! # Invariants
//!
//! Checked by [`Frontier::check_invariants`] in tests and simulation:
//!
//! 1. a site has never more live leases that make a request than it is allowed
//!    connections, and no slot is leased before its delay is over;
//! 2. an address never carries more connections than its limit, and no connection is free
//!    while a site waits for it ([`Addresses::check_invariants`]);
//! 3. no queue position is leased twice at once;
//! 4. admitted = waiting + leased + settled, retired URLs being waiting ones;
//! 5. a lane's watermark never passes a position that is not settled.

mod address;
mod entry;
mod entry_form;
mod frontier;
mod importance;
pub mod lane;
mod order;
mod outlook;
mod page_order;
mod politeness;
mod prioritizer;
mod retire;
mod round_trip;
mod rules;
mod server;
mod site;

pub use address::{Addresses, Call, FrontierId};
pub use entry::{
    Entry, Errand, Lease, LeaseId, LostErrand, Resolved, RobotsNext, Settlement, SiteSignal,
    Timing, Work,
};
pub use frontier::{
    Action, Append, Closed, Config, Counts, FAILING_LISTED, Frontier, Hold, Overview,
    RETIRED_LISTED, Save, SiteView,
};
pub use importance::{Credit, Importance, Known};
pub use lane::Position;
pub use order::HostOrder;
pub use outlook::Outlook;
pub use page_order::PageOrder;
pub use politeness::{Delay, Pause, Politeness};
pub use prioritizer::{Features, Parts, Prioritizer};
pub use retire::{RetireReason, Retirement, Tries};
pub use round_trip::RoundTrip;
pub use rules::SiteRules;
pub use server::ServerSign;
pub use site::{LaneState, SiteState};
