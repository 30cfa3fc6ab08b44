//! The rules by which URLs and links are not requested, each with its name.
//!
//! Counters, `status.json`, explanations and the console know a rule by its name
//! ([`RefusalRule::as_str`]); inside the program it is this type. To add a rule: a
//! variant, its name, its place in [`RefusalRule::OWN`], and where it is applied.

use geomi_novelty::NoveltyRefusal;
use geomi_scope::Refusal;

/// Why a URL or link is not requested.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RefusalRule {
    /// Scope does not want it.
    Scope(Refusal),
    /// The trap guard defers it.
    Trap(NoveltyRefusal),
    /// Its domain has opened too many hosts.
    DomainHosts,
    /// robots.txt forbids it.
    Robots,
    /// The address of its host is forbidden.
    Address,
    /// Its site has the same pages as another.
    Mirror,
    /// It differs from a known URL only in parameters without effect.
    ParameterIgnored,
    /// This version's reader panicked over it.
    Quarantined,
    /// It was found in a script, and others like it led nowhere.
    ScriptLink,
    /// Its sitemap is nested too deeply in indexes.
    SitemapsTooDeep,
    /// It is needed by a page that is itself needed by another, and so on.
    RequisitesTooDeep,
    /// Its party has as many URLs as it may.
    PartyFull,
    /// It is the target of one redirect too many.
    TooManyRedirects,
    /// It is the target of a form, and forms are not followed.
    Form,
    /// It is in an advertisement, and those are not followed.
    Advert,
    /// Its page asks not to follow it.
    Nofollow,
    /// Its page has more links than are read.
    TooManyLinks,
    /// Its page is spam.
    Spam,
    /// Its page is a near-duplicate.
    NearDuplicate,
    /// Its site has the hash of another site.
    HashCollision,
}

/// The names of all rules, for tables that have a column or row for each.
pub fn refusal_names() -> impl Iterator<Item = &'static str> {
    let traps = NoveltyRefusal::ALL.into_iter().map(NoveltyRefusal::as_str);
    let own = RefusalRule::OWN.into_iter().map(RefusalRule::as_str);
    Refusal::NAMES.into_iter().chain(traps).chain(own)
}

impl RefusalRule {
    /// The rules that are neither of scope nor of the trap guard.
    const OWN: [Self; 18] = [
        Self::DomainHosts,
        Self::Robots,
        Self::Address,
        Self::Mirror,
        Self::ParameterIgnored,
        Self::Quarantined,
        Self::ScriptLink,
        Self::SitemapsTooDeep,
        Self::RequisitesTooDeep,
        Self::PartyFull,
        Self::TooManyRedirects,
        Self::Form,
        Self::Advert,
        Self::Nofollow,
        Self::TooManyLinks,
        Self::Spam,
        Self::NearDuplicate,
        Self::HashCollision,
    ];

    /// The name in counters, logs and status.json.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Scope(refusal) => refusal.as_str(),
            Self::Trap(refusal) => refusal.as_str(),
            Self::DomainHosts => "domain-hosts",
            Self::Robots => "robots",
            Self::Address => "address",
            Self::Mirror => "mirror",
            Self::ParameterIgnored => "parameter-ignored",
            Self::Quarantined => "quarantined",
            Self::ScriptLink => "script-link",
            Self::SitemapsTooDeep => "sitemaps-too-deep",
            Self::RequisitesTooDeep => "requisites-too-deep",
            Self::PartyFull => "party-full",
            Self::TooManyRedirects => "too-many-redirects",
            Self::Form => "form",
            Self::Advert => "advert",
            Self::Nofollow => "nofollow",
            Self::TooManyLinks => "too-many-links",
            Self::Spam => "spam",
            Self::NearDuplicate => "near-duplicate",
            Self::HashCollision => "hash-collision",
        }
    }
}
