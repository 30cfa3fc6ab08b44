//! What a kind of site has to say.

use std::fmt::Debug;

use super::{FiniteSite, Link, Sheet, Target};

/// A kind of site.
pub(crate) trait Plan: Debug + Send + Sync {
    /// Its name.
    fn kind(&self) -> &'static str;

    /// What a target is answered with; `None` is 404.
    fn reply(&self, site: &FiniteSite, at: &Target) -> Option<Reply>;

    /// Every page that must be fetched, the front page included.
    fn pages(&self, site: &FiniteSite) -> Vec<String>;

    /// The menu on every page.
    fn menu(&self, site: &FiniteSite) -> Vec<Link>;

    /// What robots.txt forbids.
    fn forbidden(&self) -> &'static [&'static str] {
        &[]
    }

    /// The sitemaps that robots.txt names.
    fn sitemaps(&self) -> &'static [&'static str] {
        &[]
    }
}

/// What a target is answered with.
pub(crate) enum Reply {
    /// 200 and a page.
    Page(Sheet),
    /// 302 and where to.
    Moved(String),
    /// A sitemap of these paths.
    Urls(Vec<String>),
}
