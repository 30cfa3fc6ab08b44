//! The scope as the operator writes it, and what can be wrong with it.

use std::fmt;
use std::str::FromStr;

use geomi_url::SiteNameError;

/// How far a crawl may go from its seeds.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum ScopeKind {
    /// The seeds and nothing else; what a page needs to be shown is not taken.
    Page,
    /// The seed's site, at or below the directory of the seed: a seed
    /// `/docs/intro.html` takes `/docs/…`.
    Path,
    /// The seed's site: its host and port, where 80 and 443 are one.
    #[default]
    Host,
    /// The seed's registrable domain: every host under `example.co.kr`.
    Domain,
    /// Everything.
    Any,
    /// The seed's site; a link that leaves it is a candidate seed.
    Party,
}

impl ScopeKind {
    /// Every kind, narrowest first.
    pub const ALL: [Self; 6] = [
        Self::Page,
        Self::Path,
        Self::Host,
        Self::Domain,
        Self::Any,
        Self::Party,
    ];

    /// The name of the kind in options and in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Page => "page",
            Self::Path => "path",
            Self::Host => "host",
            Self::Domain => "domain",
            Self::Any => "any",
            Self::Party => "party",
        }
    }
}

impl fmt::Display for ScopeKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// From where a page in scope may get what it needs to be shown: images, style
/// sheets, scripts, fonts, frames.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Default)]
pub enum Requisites {
    /// From where its links may lead, too.
    #[default]
    Scope,
    /// From every host, at any depth.
    Any,
}

impl Requisites {
    /// Both, in the order of their names in options.
    pub const ALL: [Self; 2] = [Self::Any, Self::Scope];
}

/// A name that is no [`ScopeKind`].
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
#[error("unknown scope {0:?}: use page, path, host, domain, any or party")]
pub struct UnknownScopeKind(pub String);

impl FromStr for ScopeKind {
    type Err = UnknownScopeKind;
    fn from_str(name: &str) -> Result<Self, UnknownScopeKind> {
        Self::ALL
            .into_iter()
            .find(|kind| kind.as_str() == name)
            .ok_or_else(|| UnknownScopeKind(name.to_owned()))
    }
}

/// The scope as written. Every list may be empty, and by default is.
///
/// A pattern of `include` and `exclude` is a glob over the whole URL: `*` is any
/// run of characters, slashes included, and everything else is itself. `?` too,
/// because it is in half of all URLs and people copy them. `re:` before a
/// pattern makes it a regular expression, which matches anywhere in the URL.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct ScopeConfig {
    /// How far from its seed a URL may be.
    pub kind: ScopeKind,
    /// If there are any, a URL must match one; seeds need not.
    pub include: Vec<String>,
    /// A URL must match none, and seeds neither.
    pub exclude: Vec<String>,
    /// Links from the seed, at most; seeds are at depth 0.
    pub depth_max: Option<u16>,
    /// Characters of a URL, at most.
    pub url_chars_max: usize,
    /// Characters of a seed, at most.
    pub seed_chars_max: usize,
    /// File name extensions not to fetch, with or without their dot. Empty by
    /// default: what a link leads to is known only once it is fetched, and an
    /// archive that lacks what a page links to is incomplete.
    pub extensions_denied: Vec<String>,
    /// Content types wanted, such as `text/html` or `image/*`; all if empty.
    pub mimes_wanted: Vec<String>,
    /// Times that one path segment, or one run of them, may stand in a row:
    /// with 2, `/a/b/a/b/` is wanted and `/a/b/a/b/a/b/` is not.
    pub path_repeat_max: Option<u16>,
    /// Segments of a path, at most.
    pub segments_max: Option<u16>,
    /// Sites never to visit: `example.com` or `example.com:8080` for one site,
    /// `*.example.com` for that host and every host under it, on any port.
    pub sites_denied: Vec<String>,
    /// Whether what pages need to be shown is wanted from everywhere.
    pub requisites: Requisites,
    /// What differs on some sites. Of the tables that name a URL's site, the
    /// first that has a value wins.
    pub sites: Vec<SiteScope>,
}

/// What differs on the sites of one table; what is `None` is as everywhere.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SiteScope {
    /// The sites, named as in [`ScopeConfig::sites_denied`].
    pub names: Vec<String>,
    /// Replaces [`ScopeConfig::depth_max`].
    pub depth_max: Option<u16>,
    /// Replaces [`ScopeConfig::include`], the whole list.
    pub include: Option<Vec<String>>,
    /// Replaces [`ScopeConfig::exclude`], the whole list.
    pub exclude: Option<Vec<String>>,
}

impl Default for ScopeConfig {
    fn default() -> Self {
        Self {
            kind: ScopeKind::default(),
            include: Vec::new(),
            exclude: Vec::new(),
            depth_max: None,
            url_chars_max: 2_048,
            seed_chars_max: 2_048,
            extensions_denied: Vec::new(),
            mimes_wanted: Vec::new(),
            path_repeat_max: Some(8),
            segments_max: Some(32),
            sites_denied: Vec::new(),
            requisites: Requisites::default(),
            sites: Vec::new(),
        }
    }
}

/// Which list a pattern stands in.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum PatternList {
    /// [`ScopeConfig::include`].
    Include,
    /// [`ScopeConfig::exclude`].
    Exclude,
}

impl fmt::Display for PatternList {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Include => "include",
            Self::Exclude => "exclude",
        })
    }
}

/// Something wrong with a [`ScopeConfig`], and what to do about it.
#[derive(Clone, Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ScopeError {
    /// A pattern without a character.
    #[error("an {list} pattern is empty: remove it, or write `*` for every URL")]
    EmptyPattern {
        /// Where it stands.
        list: PatternList,
    },
    /// A glob that no URL can match, since URLs start with `http`.
    #[error(
        "{list} pattern {pattern:?} matches no URL: a glob covers the whole URL, \
         so start it with `http` or `*`, for example {suggestion:?}"
    )]
    GlobMatchesNothing {
        /// Where it stands.
        list: PatternList,
        /// As written.
        pattern: String,
        /// What was probably meant.
        suggestion: String,
    },
    /// A regular expression that is none.
    #[error("{list} pattern {pattern:?} is not a regular expression: {source}")]
    BadRegex {
        /// Where it stands.
        list: PatternList,
        /// As written.
        pattern: String,
        /// What the parser found.
        source: regex::Error,
    },
    /// The patterns of one list are fine one by one and too much together.
    #[error("the {list} patterns are too large together: use fewer or simpler ones ({source})")]
    PatternsTooLarge {
        /// Which list.
        list: PatternList,
        /// What the compiler found.
        source: regex::Error,
    },
    /// An entry of a list of sites that does not name a site.
    #[error(transparent)]
    SiteName(#[from] SiteNameError),
    /// A denied extension that no path can end in.
    #[error("denied extension {entry:?} is not a file extension: write it like \"zip\"")]
    BadExtension {
        /// As written.
        entry: String,
    },
    /// A content type that is none.
    #[error("{entry:?} is not a content type: write it like \"text/html\" or \"image/*\"")]
    BadMime {
        /// As written.
        entry: String,
    },
    /// A limit of zero, under which nothing is wanted.
    #[error("{key} is 0, which refuses every URL: give at least 1")]
    ZeroLimit {
        /// The key's name.
        key: &'static str,
    },
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_read_back() {
        for kind in ScopeKind::ALL {
            assert_eq!(kind.to_string().parse(), Ok(kind));
        }
        let error = "site".parse::<ScopeKind>().unwrap_err();
        assert!(error.to_string().contains("page, path, host"), "{error}");
    }
}
