//! Admit: is a URL in scope, and how urgent is it?
//!
//! Decided from the link alone, and from what is known of its site. What becomes
//! of a link then is in [`links`](super::links).

use geomi_frontier::{Entry, Features, PageOrder, Parts, Prioritizer};
use geomi_model::{Document, Link, LinkKind, NetworkState};
use geomi_scope::{Candidate, Refusal, Rule, Scope, ScopeConfig, ScopeKind, Verdict};
use geomi_url::CrawlUrl;

use crate::stage::arrival::Answer;
use crate::{EngineConfig, EngineError};

/// The rules of admission.
#[derive(Debug)]
pub struct Admit {
    scope: Scope,
    prefer: Option<Scope>,
    prioritizer: Prioritizer,
    /// Whether only some types are wanted.
    has_wanted: bool,
    /// Whether how deep a page is decides what becomes of it or its links.
    tracks_depth: bool,
}

/// A link, or a redirect, and where it was found.
#[derive(Clone, Copy, Debug)]
pub struct Found<'a> {
    /// Where it leads.
    pub url: &'a CrawlUrl,
    /// The kind of link.
    pub kind: LinkKind,
    /// Whether it is a redirect.
    pub is_redirect: bool,
    /// A sitemap, as its site's robots.txt or an index of sitemaps names it.
    pub is_sitemap: bool,
    /// The entry of the page it was found on.
    pub on: &'a Entry,
    /// Its importance by the links found so far, 0 to 1.
    pub importance: f32,
    /// The seed's home, by which scope is judged.
    pub home: &'a CrawlUrl,
    /// What is known of the site it leads to, and what sitemaps and feeds say of the page.
    pub standing: Standing,
}

/// What raises the priority of a URL beside its links and its spelling.
#[derive(Clone, Copy, Debug)]
pub struct Standing {
    /// Success of its site.
    pub site_success: f32,
    /// Traffic of its site, where it was given.
    pub traffic: Option<f32>,
    /// How often it changes, where a sitemap says so.
    pub change: Option<f32>,
}

impl Standing {
    /// The standing of a URL whose site is unknown.
    pub const UNKNOWN: Self = Self {
        site_success: 1.0,
        traffic: None,
        change: None,
    };
}

impl<'a> Found<'a> {
    /// What the scope is asked. A redirect keeps its page's depth, and so does a
    /// sitemap: the pages it lists are one link away, not two.
    pub fn candidate(&self) -> Candidate<'a> {
        Candidate {
            url: self.url,
            seed: self.home,
            depth: (self.on.depth).saturating_add(u16::from(!self.is_redirect && !self.is_sitemap)),
            is_seed: false,
            is_redirect: self.is_redirect,
        }
    }
}

/// What the scope is asked about a seed.
pub const fn as_seed(url: &CrawlUrl) -> Candidate<'_> {
    Candidate {
        url,
        seed: url,
        depth: 0,
        is_seed: true,
        is_redirect: false,
    }
}

/// Whether a page lets us follow one of its links, where such wishes count.
pub fn may_follow(config: &EngineConfig, document: &Document, link: &Link) -> bool {
    (!config.respect_nofollow || !(document.robots.nofollow || link.nofollow))
        && config.follow.refusal(link).is_none()
}

/// What becomes of a link.
#[derive(Debug)]
#[expect(
    clippy::large_enum_variant,
    reason = "it is taken apart where it is returned"
)]
pub enum Admission {
    /// Wanted, by this rule.
    Queue(Entry, Rule),
    /// Party scope: it leads to another site, and proposes this seed.
    CandidateSeed,
    /// Refused by this rule.
    Refused(Refusal),
}

impl Admit {
    /// The rules of a configuration. Fails if a pattern or limit of its scope is invalid.
    pub fn new(config: &EngineConfig) -> Result<Self, EngineError> {
        let scope = Scope::new(config.scope.clone()).map_err(EngineError::Scope)?;
        let prefer = (!config.prefer.is_empty()).then(|| {
            let include = config.prefer.clone();
            Scope::new(ScopeConfig {
                kind: ScopeKind::Any,
                include,
                ..ScopeConfig::default()
            })
            .map_err(EngineError::Scope)
        });
        Ok(Self {
            scope,
            prefer: prefer.transpose()?,
            prioritizer: config.prioritizer,
            has_wanted: !config.scope.mimes_wanted.is_empty(),
            tracks_depth: config.page_order() == PageOrder::BreadthFirst
                || config.scope.depth_max.is_some()
                || config
                    .scope
                    .sites
                    .iter()
                    .any(|site| site.depth_max.is_some()),
        })
    }

    /// A complete 200 is what we came for only if its type is wanted.
    pub fn settle_state(&self, answer: &mut Answer) {
        if answer.state != NetworkState::Ok || answer.code != Some(200) {
            return;
        }
        let mime = answer.mime.as_deref().map(str::to_ascii_lowercase);
        if mime.is_some_and(|mime| !self.scope.wanted_mime(&mime)) {
            answer.state = NetworkState::Code;
        }
    }

    /// Whether the body of a URL is taken only if its type is wanted. Sitemaps and feeds
    /// are read whatever is wanted: they are not content but a way to it.
    pub(crate) fn filters_types(&self, url: &CrawlUrl) -> bool {
        self.has_wanted && !url.path().ends_with(".xml.gz")
    }

    /// The scope links are judged by.
    pub const fn scope(&self) -> &Scope {
        &self.scope
    }

    /// Judges a seed.
    pub fn seed(&self, url: &CrawlUrl, number: u32) -> Admission {
        match self.scope.judge(&as_seed(url)) {
            Verdict::Refuse(refusal) => Admission::Refused(refusal),
            Verdict::CandidateSeed => Admission::CandidateSeed,
            Verdict::Accept { rule } => Admission::Queue(
                Entry {
                    url: url.clone(),
                    seed: number,
                    via: None,
                    kind: LinkKind::Other,
                    depth: 0,
                    priority: 1,
                    attempts: 0,
                    redirects: 0,
                    is_seed: true,
                    is_revisit: false,
                    not_before: None,
                },
                rule,
            ),
        }
    }

    /// Judges a link or a redirect.
    pub fn link(&self, found: &Found<'_>) -> Admission {
        let candidate = found.candidate();
        let depth = candidate.depth;
        let is_seed = found.is_redirect && found.on.is_seed;
        let verdict = if found.kind.is_requisite() {
            self.scope.judge_requisite(&candidate)
        } else {
            self.scope.judge(&candidate)
        };
        match verdict {
            Verdict::Refuse(refusal) => Admission::Refused(refusal),
            Verdict::CandidateSeed => Admission::CandidateSeed,
            Verdict::Accept { rule } => Admission::Queue(
                Entry {
                    url: found.url.clone(),
                    seed: found.on.seed,
                    via: Some(found.on.url.clone()),
                    kind: found.kind,
                    depth,
                    priority: if is_seed {
                        1
                    } else {
                        self.priority_at(found, depth, found.importance)
                    },
                    attempts: 0,
                    redirects: if found.is_redirect || found.is_sitemap {
                        found.on.redirects + 1
                    } else {
                        0
                    },
                    is_seed,
                    is_revisit: false,
                    not_before: None,
                },
                rule,
            ),
        }
    }

    /// Whether URLs that wait are promoted.
    pub(crate) fn promotes(&self) -> bool {
        self.prioritizer.importance > 0.0 && !self.tracks_depth
    }

    /// Whether the shortest path to each URL is kept.
    pub(crate) const fn tracks_depth(&self) -> bool {
        self.tracks_depth
    }

    /// The priority of a link, were it that important.
    pub(crate) fn priority_at(&self, found: &Found<'_>, depth: u16, importance: f32) -> u8 {
        self.prioritizer.priority(&Features {
            preferred: self.is_preferred(found.url),
            ..features(found.url, found.kind, depth, importance, found.standing)
        })
    }

    /// What makes up the score of a URL that waits.
    /// Without its importance where that is not known.
    pub(crate) fn parts(
        &self,
        entry: &Entry,
        importance: Option<f32>,
        standing: Standing,
    ) -> (Parts, f32) {
        let parts = Parts::of(&features(
            &entry.url,
            entry.kind,
            entry.depth,
            importance.unwrap_or(0.0),
            standing,
        ));
        let mut prioritizer = self.prioritizer;
        if importance.is_none() {
            prioritizer.importance = 0.0;
        }
        (parts, prioritizer.score(&parts))
    }

    fn is_preferred(&self, url: &CrawlUrl) -> bool {
        let candidate = Candidate {
            url,
            seed: url,
            depth: 0,
            is_seed: false,
            is_redirect: false,
        };
        self.prefer
            .as_ref()
            .is_some_and(|prefer| prefer.judge(&candidate).is_accepted())
    }
}

fn features(
    url: &CrawlUrl,
    kind: LinkKind,
    depth: u16,
    importance: f32,
    standing: Standing,
) -> Features {
    let segments = url.path().split('/');
    Features {
        depth,
        path_segments: segments.filter(|segment| !segment.is_empty()).count(),
        chars: url.as_str().len(),
        has_query: url.query().is_some(),
        kind,
        importance,
        site_success: standing.site_success,
        traffic: standing.traffic,
        change: standing.change,
        preferred: false,
    }
}
