//! What a URL is to a crawler.
//!
//! A page is named by its URL, and the web spells one URL in many ways. This
//! crate decides the one spelling ([`CrawlUrl`]), the unit of politeness it
//! belongs to ([`SiteKey`]), its registrable domain, the sort key archives use
//! for it ([`surt`]) and its 64-bit hash ([`UrlHash`]).
//!
//! It does no I/O, knows nothing of scope (whether a URL is wanted is
//! `geomi-scope`'s question) and never changes what a URL points to: parameters
//! keep their order, paths keep their case.

mod crawl_url;
mod rewritten;
mod site;
mod site_tables;
mod strong_hash;
pub mod surt;
pub mod template;
mod url_text;
mod userinfo;

pub use crawl_url::{CrawlUrl, UrlError, UrlHash, with_two_slashes};
pub use rewritten::rewritten;
pub use site::{SiteHash, SiteKey, public_suffix, registrable_domain};
pub use site_tables::{SiteNameError, SiteTables};
pub use strong_hash::{strong_hash, strong_hash_in};
pub use userinfo::without_userinfo;
