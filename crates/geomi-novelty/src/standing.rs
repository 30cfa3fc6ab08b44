//! What is known of a site and its templates, for people.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Account, Param};

/// Why a URL is deferred.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NoveltyRefusal {
    /// URLs of its template go on without an end.
    Template,
    /// URLs of its part of the site go on without an end.
    Section,
    /// URLs of its site go on without an end.
    Site,
    /// It is a date of a calendar without an end.
    Calendar,
    /// A URL that nobody linked to was answered like all others, and led on.
    Endless,
    /// Its site has had its budget of pages that show no end.
    Budget,
}

impl NoveltyRefusal {
    /// All of them.
    pub const ALL: [Self; 6] = [
        Self::Template,
        Self::Section,
        Self::Site,
        Self::Calendar,
        Self::Endless,
        Self::Budget,
    ];

    /// The name in counters and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Template => "template-exhausted",
            Self::Section => "section-exhausted",
            Self::Site => "site-novelty",
            Self::Calendar => "endless-calendar",
            Self::Endless => "endless",
            Self::Budget => "site-budget",
        }
    }

    /// Whether it is known that there is no end, so that none need be looked for.
    pub const fn is_endless(self) -> bool {
        matches!(self, Self::Calendar | Self::Endless)
    }

    /// The refusal of this name.
    pub fn parse(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|refusal| refusal.as_str() == name)
    }
}

impl fmt::Display for NoveltyRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Template => "URLs of its template lead on and on without new content",
            Self::Section => "URLs of its part of the site lead on and on without new content",
            Self::Site => "URLs of its site lead on and on without new content",
            Self::Calendar => "it is a date of a calendar that goes on for years to come",
            Self::Endless => {
                "its part of the site has no end: it answers addresses that no page links to"
            }
            Self::Budget => "its site has had its budget of pages that show no end",
        })
    }
}

/// What is known of a template, for people.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct TemplateStanding {
    /// As it is shown.
    pub template: String,
    /// Its section.
    pub section: String,
    /// What its URLs brought.
    pub account: Account,
    /// What is left of its budget for repeated content.
    pub left: u32,
    /// The same of its section.
    pub section_left: u32,
    /// Parts that pages were compared over.
    pub params: Vec<Param>,
    /// Of these, those that are ignored.
    pub ignored: Vec<String>,
}

/// What is known of a site, for people.
#[derive(Clone, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct SiteStanding {
    /// What its URLs brought.
    pub account: Account,
    /// What is left of its budget for repeated content.
    pub left: u32,
    /// Templates known.
    pub templates: u32,
    /// Templates that are closed: text and requests.
    pub closed: Vec<(String, u32)>,
    /// Parts that are ignored: template and name.
    pub ignored: Vec<(String, String)>,
}
