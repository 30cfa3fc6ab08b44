//! What a site permits, by RFC 9309.
//!
//! [`Robots`] is one robots.txt, read; [`RobotsPolicy`] is what a site permits
//! given how the fetch of its robots.txt ended, which is what a crawler keeps
//! with the site. Both answer one question, [`Robots::verdict`]: may this robot
//! request this path, and which line says so.
//!
//! Where the RFC leaves room, this crate does what search engines document:
//! common misspellings of the keys count, a missing colon is forgiven, a rule
//! for `index.html` covers its directory. Where the two differ the RFC wins,
//! and where a file is unclear the reading kinder to the site wins.
//!
//! Reading never fails and never panics: a file that is not a robots.txt is a
//! file without rules. There is no clock and no I/O here: fetching, following
//! redirects and throwing away an answer older than [`CACHE_MAX`] are the
//! caller's part.
//!
//! ```
//! use geomi_robots::Robots;
//!
//! let robots = Robots::parse(b"User-agent: *\nDisallow: /private/\nAllow: /private/map$\n");
//! let verdict = robots.verdict("geomi", "/private/diary");
//! assert!(!verdict.allowed);
//! assert_eq!(verdict.rule.unwrap().to_string(), "line 2: disallow: /private/");
//! assert!(robots.verdict("geomi", "/private/map").allowed);
//! ```

mod agent;
mod pattern;
mod policy;
mod read;
mod robots;

pub use agent::product_token;
pub use policy::{CACHE_MAX, REDIRECTS_MAX, RobotsPolicy};
pub use robots::{LINE_BYTES_MAX, MatchedRule, ROBOTS_BYTES_MAX, Robots, Verdict};
