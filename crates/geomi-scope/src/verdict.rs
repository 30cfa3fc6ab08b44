//! The answer, and its names.

use std::fmt;

/// What becomes of a URL.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Verdict {
    /// It is wanted.
    Accept {
        /// The rule that lets it in.
        rule: Rule,
    },
    /// It leaves the party and proposes a new one: see
    /// [`candidate_seed`](crate::candidate_seed). Whether that seed is wanted is
    /// judged when it is offered as a seed.
    CandidateSeed,
    /// It is not wanted.
    Refuse(Refusal),
}

impl Verdict {
    /// Whether the URL is to be fetched.
    pub const fn is_accepted(&self) -> bool {
        matches!(self, Self::Accept { .. })
    }
}

/// The rule that lets a URL in.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Rule {
    /// It is a seed.
    Seed,
    /// A seed redirected to it.
    SeedRedirect,
    /// It is at or below the directory of its seed.
    Path,
    /// It is on the site of its seed.
    Host,
    /// It is in the registrable domain of its seed.
    Domain,
    /// Every URL is wanted.
    Any,
    /// It belongs to the party of its seed.
    Party,
    /// A page in scope needs it to be shown.
    Requisite,
    /// It is within the scope and matches the include pattern with this index
    /// in the list that holds for the URL's site.
    Include(usize),
}

impl Rule {
    /// The name of the rule in reports.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Seed => "seed",
            Self::SeedRedirect => "seed-redirect",
            Self::Path => "path",
            Self::Host => "host",
            Self::Domain => "domain",
            Self::Any => "any",
            Self::Party => "party",
            Self::Requisite => "requisite",
            Self::Include(_) => "include",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Include(pattern) => write!(f, "include pattern {}", pattern + 1),
            rule => f.write_str(rule.as_str()),
        }
    }
}

/// Why a URL is not wanted.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum Refusal {
    /// The URL is longer than allowed.
    TooLong {
        /// Its length.
        chars: usize,
        /// The limit.
        chars_max: usize,
    },
    /// A seed is longer than allowed for seeds.
    SeedTooLong {
        /// Its length.
        chars: usize,
        /// The limit.
        chars_max: usize,
    },
    /// It lies outside the scope of its seed.
    OffScope,
    /// It is too many links away from its seed.
    TooDeep {
        /// Its depth.
        depth: u16,
        /// The limit.
        depth_max: u16,
    },
    /// Its site is on the deny list.
    SiteDenied,
    /// Its path has too many segments.
    TooManySegments {
        /// The limit.
        segments_max: u16,
    },
    /// Its path repeats itself, as relative links in a loop make it do.
    RepeatedSegments {
        /// Times in a row that are still allowed.
        repeat_max: u16,
    },
    /// Its file name extension is denied.
    Extension,
    /// It matches an exclude pattern.
    Excluded {
        /// The first such pattern, by its index in the list that holds for the
        /// URL's site.
        pattern: usize,
    },
    /// There are include patterns and it matches none.
    NotIncluded,
}

impl Refusal {
    /// The names of all refusals, in the order of [`Refusal::index`].
    pub const NAMES: [&'static str; 10] = [
        "too-long",
        "seed-too-long",
        "off-scope",
        "too-deep",
        "site-denied",
        "too-many-segments",
        "repeated-segments",
        "extension",
        "excluded",
        "not-included",
    ];

    /// The number of the refusal's name, for a table of counters.
    pub const fn index(self) -> usize {
        match self {
            Self::TooLong { .. } => 0,
            Self::SeedTooLong { .. } => 1,
            Self::OffScope => 2,
            Self::TooDeep { .. } => 3,
            Self::SiteDenied => 4,
            Self::TooManySegments { .. } => 5,
            Self::RepeatedSegments { .. } => 6,
            Self::Extension => 7,
            Self::Excluded { .. } => 8,
            Self::NotIncluded => 9,
        }
    }

    /// The name of the refusal in counters and logs.
    pub const fn as_str(self) -> &'static str {
        Self::NAMES[self.index()]
    }
}

impl fmt::Display for Refusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooLong { chars, chars_max } => {
                write!(
                    f,
                    "the URL has {chars} characters, at most {chars_max} are allowed"
                )
            }
            Self::SeedTooLong { chars, chars_max } => {
                write!(
                    f,
                    "the seed has {chars} characters, at most {chars_max} are allowed"
                )
            }
            Self::OffScope => f.write_str("it is outside the scope of its seed"),
            Self::TooDeep { depth, depth_max } => {
                write!(
                    f,
                    "it is {depth} links from its seed, at most {depth_max} are followed"
                )
            }
            Self::SiteDenied => f.write_str("its site is on the deny list"),
            Self::TooManySegments { segments_max } => {
                write!(f, "its path has more than {segments_max} segments")
            }
            Self::RepeatedSegments { repeat_max } => {
                write!(
                    f,
                    "its path repeats itself more than {repeat_max} times in a row"
                )
            }
            Self::Extension => f.write_str("its file extension is denied"),
            Self::Excluded { pattern } => write!(f, "exclude pattern {} matches it", pattern + 1),
            Self::NotIncluded => f.write_str("no include pattern matches it"),
        }
    }
}
