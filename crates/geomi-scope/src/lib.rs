//! Do we want this URL, and by which rule.
//!
//! A [`ScopeConfig`] is what the operator wrote; [`Scope::new`] turns it into a
//! [`Scope`], or says everything that is wrong with it at once. [`Scope::judge`]
//! then answers for each URL found: accepted and by which [`Rule`], a candidate
//! seed, or refused with a named [`Refusal`].
//!
//! The order of the questions, cheap ones first:
//!
//! 1. Is it too long?
//! 2. Is it within the [`ScopeKind`] of its seed, and not too deep?
//! 3. Is its site on the deny list?
//! 4. Does it look like a trap: too many path segments, or repeating ones?
//! 5. Is its extension denied?
//! 6. Does it match an exclude pattern? Exclude wins over include.
//! 7. If there are include patterns, does it match one?
//!
//! Depth and patterns may differ by site: [`ScopeConfig::sites`].
//!
//! A seed is exempt from kind, depth, traps and include, because the operator
//! asked for it by name; it is not exempt from the rest.
//!
//! What a page needs to be shown ([`Scope::judge_requisite`]) is exempt from kind,
//! depth and include where [`Requisites::Any`] says so, and from nothing else.
//!
//! What this crate does not do: it keeps no state, so endless calendars and
//! session ids, which show only over many URLs, are not recognised here; and it
//! does not ask robots.txt, which is the site's rule and not ours.
//!
//! # Seeds that redirect
//!
//! A seed `http://example.com/` that answers with a redirect to
//! `https://www.example.com/` has left its own host, and under
//! [`ScopeKind::Host`] every page behind it would be off scope. Nobody who
//! types the seed means that. The caller therefore makes the target of a seed's
//! redirect the *effective seed*: it passes the target as [`Candidate::seed`],
//! for the redirect itself and for all that is found behind it. The redirect of
//! any other page gets no such favour.

mod candidate;
mod config;
mod pattern;
mod place;
mod scope;
mod selection;
mod site_scopes;
mod trap;
mod verdict;

pub use candidate::{Candidate, candidate_seed};
pub use config::{
    PatternList, Requisites, ScopeConfig, ScopeError, ScopeKind, SiteScope, UnknownScopeKind,
};
pub use scope::Scope;
pub use selection::{Selection, SelectionConfig};
pub use verdict::{Refusal, Rule, Verdict};
