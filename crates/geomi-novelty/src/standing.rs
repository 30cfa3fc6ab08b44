//! What is known of a site and its templates, for people.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::{Account, Param};

/// Why a URL is not worth a request.
#[derive(Clone, Copy, PartialEq, Eq, Hash, Debug)]
pub enum NoveltyRefusal {
    /// Its template brings nothing new.
    Template,
    /// Its part of the site brings nothing new.
    Section,
    /// Its site brings nothing new.
    Site,
    /// It is a day of a calendar without an end.
    Calendar,
}

impl NoveltyRefusal {
    /// The name in counters and logs.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Template => "template-exhausted",
            Self::Section => "section-exhausted",
            Self::Site => "site-novelty",
            Self::Calendar => "endless-calendar",
        }
    }
}

impl fmt::Display for NoveltyRefusal {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let what = match self {
            Self::Template => "URLs of its template",
            Self::Section => "URLs of its part of the site",
            Self::Site => "URLs of its site",
            Self::Calendar => {
                return f.write_str("its part of the site goes on for years to come");
            }
        };
        write!(f, "{what} have brought nothing new for too long")
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
    /// Requests left that bring nothing.
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
    /// Requests left that bring nothing.
    pub left: u32,
    /// Templates known.
    pub templates: u32,
    /// Templates that are closed: text and requests.
    pub closed: Vec<(String, u32)>,
    /// Parts that are ignored: template and name.
    pub ignored: Vec<(String, String)>,
}
