//! The scope as meant: compiled once, asked for every link.

use std::collections::HashSet;

use geomi_url::{CrawlUrl, registrable_domain};

use crate::pattern::Patterns;
use crate::place::{self, SiteList};
use crate::site_scopes::{Rules, SiteScopes};
use crate::{
    Candidate, PatternList, Refusal, Requisites, Rule, ScopeConfig, ScopeError, ScopeKind, Verdict,
    candidate_seed, trap,
};

/// Decides which URLs are wanted.
///
/// ```
/// use geomi_scope::{Candidate, Refusal, Rule, Scope, ScopeConfig, Verdict};
/// use geomi_url::CrawlUrl;
///
/// let scope = Scope::new(ScopeConfig {
///     exclude: vec!["*/login*".to_owned()],
///     ..ScopeConfig::default()
/// })
/// .unwrap();
/// let seed = CrawlUrl::parse("http://example.com/").unwrap();
/// let judge = |link: &str| {
///     let url = seed.join(link).unwrap();
///     scope.judge(&Candidate { url: &url, seed: &seed, depth: 1, is_seed: false, is_redirect: false })
/// };
/// assert_eq!(judge("/page"), Verdict::Accept { rule: Rule::Host });
/// assert_eq!(judge("/login?to=/"), Verdict::Refuse(Refusal::Excluded { pattern: 0 }));
/// assert_eq!(judge("http://other.example/"), Verdict::Refuse(Refusal::OffScope));
/// ```
#[derive(Debug)]
pub struct Scope {
    config: ScopeConfig,
    include: Patterns,
    exclude: Patterns,
    sites: SiteScopes,
    denied: SiteList,
    /// In lower case, without the dot.
    extensions_denied: HashSet<Box<str>>,
    mimes_wanted: Vec<Mime>,
}

/// A content type, or a whole class of them, in lower case.
#[derive(Debug)]
pub(crate) enum Mime {
    Exact(String),
    /// `image/` for `image/*`.
    Class(String),
    Every,
}

impl Mime {
    /// Whether a type without parameters is meant.
    pub(crate) fn matches(&self, essence: &str) -> bool {
        match self {
            Self::Exact(name) => essence.eq_ignore_ascii_case(name),
            Self::Class(class) => {
                let start = essence.as_bytes().get(..class.len());
                start.is_some_and(|start| start.eq_ignore_ascii_case(class.as_bytes()))
            }
            Self::Every => true,
        }
    }
}

impl Scope {
    /// Checks and compiles a configuration; on failure, everything wrong with it.
    pub fn new(config: ScopeConfig) -> Result<Self, Vec<ScopeError>> {
        let mut errors = Vec::new();
        check_limits(&config, &mut errors);
        let scope = Self {
            include: Patterns::new(PatternList::Include, &config.include, &mut errors),
            exclude: Patterns::new(PatternList::Exclude, &config.exclude, &mut errors),
            sites: SiteScopes::new(&config.sites, &mut errors),
            denied: SiteList::new(&config.sites_denied, &mut errors),
            extensions_denied: read_extensions(&config.extensions_denied, &mut errors),
            mimes_wanted: read_mimes(&config.mimes_wanted, &mut errors),
            config,
        };
        if errors.is_empty() {
            Ok(scope)
        } else {
            Err(errors)
        }
    }

    /// The configuration this scope was made of.
    pub const fn config(&self) -> &ScopeConfig {
        &self.config
    }

    /// Whether a URL is wanted, and by which rule it is or is not.
    pub fn judge(&self, candidate: &Candidate<'_>) -> Verdict {
        match self.try_judge(candidate) {
            Ok(verdict) => verdict,
            Err(refusal) => Verdict::Refuse(refusal),
        }
    }

    /// The same for what a page in scope needs to be shown.
    pub fn judge_requisite(&self, candidate: &Candidate<'_>) -> Verdict {
        let verdict = self.judge(candidate);
        let is_outside = matches!(
            verdict,
            Verdict::CandidateSeed
                | Verdict::Refuse(
                    Refusal::OffScope | Refusal::TooDeep { .. } | Refusal::NotIncluded
                )
        );
        if !is_outside || self.config.requisites == Requisites::Scope {
            return verdict;
        }
        let denied = match self.check_traps(candidate.url) {
            Err(refusal) => Some(refusal),
            Ok(()) => self.denies(candidate.url),
        };
        match denied {
            Some(refusal) => Verdict::Refuse(refusal),
            None => Verdict::Accept {
                rule: Rule::Requisite,
            },
        }
    }

    /// Why a URL must not be asked for whoever links to it: its site, extension
    /// or spelling is denied. What was queued before such a rule was made is
    /// caught by this.
    pub fn denies(&self, url: &CrawlUrl) -> Option<Refusal> {
        self.denied_by(url, &self.rules(url))
    }

    fn denied_by(&self, url: &CrawlUrl, rules: &Rules<'_>) -> Option<Refusal> {
        if self.denied.contains(url) {
            return Some(Refusal::SiteDenied);
        }
        if self.has_denied_extension(url) {
            return Some(Refusal::Extension);
        }
        let pattern = rules.exclude.first_match(url.as_str())?;
        Some(Refusal::Excluded { pattern })
    }

    /// Whether content of this type is wanted. `mime` is the value of
    /// Content-Type, parameters or not; an empty one says nothing, and is
    /// wanted.
    pub fn wanted_mime(&self, mime: &str) -> bool {
        let essence = mime.split(';').next().unwrap_or(mime).trim();
        if self.mimes_wanted.is_empty() || essence.is_empty() {
            return true;
        }
        self.mimes_wanted
            .iter()
            .any(|wanted| wanted.matches(essence))
    }

    /// A verdict in words that name what decided: the pattern or entry as the
    /// operator wrote it. For people who ask about one URL; [`Scope::judge`]
    /// itself does not look that far.
    pub fn explain(&self, candidate: &Candidate<'_>, verdict: &Verdict) -> String {
        let &Candidate { url, seed, .. } = candidate;
        match *verdict {
            Verdict::Accept { rule } => match rule {
                Rule::Seed => "it is a seed".to_owned(),
                Rule::SeedRedirect => "its seed redirected to it".to_owned(),
                Rule::Path => format!("it is below the directory of its seed {seed}"),
                Rule::Host => format!("it is on the site of its seed, {}", seed.site()),
                Rule::Domain => {
                    let domain = registrable_domain(seed.host());
                    format!("it is in the domain of its seed, {domain}")
                }
                Rule::Any => "every URL is wanted".to_owned(),
                Rule::Party => format!("it is of the party of its seed {seed}"),
                Rule::Requisite => "a page in scope needs it to be shown".to_owned(),
                Rule::Include(at) => {
                    let pattern = self.rules(url).include.named(at);
                    format!("include pattern {pattern} matches it")
                }
            },
            Verdict::CandidateSeed => format!(
                "it leaves the party and proposes the seed {}",
                candidate_seed(url)
            ),
            Verdict::Refuse(Refusal::Excluded { pattern }) => {
                let pattern = self.rules(url).exclude.named(pattern);
                format!("exclude pattern {pattern} matches it")
            }
            Verdict::Refuse(Refusal::SiteDenied) => {
                let denies = |entry: &&String| {
                    // Every entry was read without mistakes when the scope was made.
                    SiteList::new(&[(*entry).clone()], &mut Vec::new()).contains(url)
                };
                let entry = self.config.sites_denied.iter().find(denies);
                format!(
                    "{:?} of the deny list is its site",
                    entry.map_or("", |entry| entry)
                )
            }
            Verdict::Refuse(Refusal::OffScope) => format!(
                "it is outside the scope {} of its seed {seed}",
                self.config.kind
            ),
            Verdict::Refuse(refusal) => refusal.to_string(),
        }
    }

    /// The same for a URL that is refused whoever links to it.
    pub fn explain_refusal(&self, url: &CrawlUrl, refusal: Refusal) -> String {
        let candidate = Candidate {
            url,
            seed: url,
            depth: 0,
            is_seed: true,
            is_redirect: false,
        };
        self.explain(&candidate, &Verdict::Refuse(refusal))
    }

    /// Whether a URL matches an include pattern; `None` where there are none.
    pub fn matches_include(&self, url: &CrawlUrl) -> Option<bool> {
        if self.include.is_empty() {
            return None;
        }
        Some(self.include.first_match(url.as_str()).is_some())
    }

    fn try_judge(&self, candidate: &Candidate<'_>) -> Result<Verdict, Refusal> {
        let url = candidate.url;
        self.check_length(candidate)?;
        let rules = self.rules(url);
        // `None` is a link out of the party: no depth or include pattern of
        // this party can speak for it.
        let rule = self.place(candidate, &rules)?;
        if !candidate.is_seed {
            self.check_traps(url)?;
        }
        if let Some(refusal) = self.denied_by(url, &rules) {
            return Err(refusal);
        }
        match rule {
            None => Ok(Verdict::CandidateSeed),
            Some(rule) => {
                let rule = narrow(rule, rules.include, url)?;
                Ok(Verdict::Accept { rule })
            }
        }
    }

    /// The rules that may differ by site, as they hold for this URL.
    fn rules(&self, url: &CrawlUrl) -> Rules<'_> {
        let general = Rules {
            depth_max: self.config.depth_max,
            include: &self.include,
            exclude: &self.exclude,
        };
        self.sites.rules(url, general)
    }

    fn check_length(&self, candidate: &Candidate<'_>) -> Result<(), Refusal> {
        // Normalised URLs are ASCII: characters are bytes.
        let chars = candidate.url.as_str().len();
        let (url_max, seed_max) = (self.config.url_chars_max, self.config.seed_chars_max);
        if candidate.is_seed && chars > seed_max {
            return Err(Refusal::SeedTooLong {
                chars,
                chars_max: seed_max,
            });
        }
        if chars > url_max {
            return Err(Refusal::TooLong {
                chars,
                chars_max: url_max,
            });
        }
        Ok(())
    }

    /// The rule by which a URL lies in the scope of its seed, at its depth.
    fn place(&self, candidate: &Candidate<'_>, rules: &Rules<'_>) -> Result<Option<Rule>, Refusal> {
        let &Candidate { url, seed, .. } = candidate;
        if candidate.is_seed {
            return Ok(Some(Rule::Seed));
        }
        let rule = match self.config.kind {
            ScopeKind::Page if candidate.is_seed_redirect() => Rule::SeedRedirect,
            ScopeKind::Path if place::below_path(url, seed) => Rule::Path,
            ScopeKind::Host if place::same_site(url, seed) => Rule::Host,
            ScopeKind::Domain if place::same_domain(url, seed) => Rule::Domain,
            ScopeKind::Any => Rule::Any,
            ScopeKind::Party if place::same_site(url, seed) => Rule::Party,
            ScopeKind::Party => return Ok(None),
            _ => return Err(Refusal::OffScope),
        };
        match rules.depth_max {
            Some(depth_max) if candidate.depth > depth_max => Err(Refusal::TooDeep {
                depth: candidate.depth,
                depth_max,
            }),
            _ if candidate.is_seed_redirect() => Ok(Some(Rule::SeedRedirect)),
            _ => Ok(Some(rule)),
        }
    }

    fn check_traps(&self, url: &CrawlUrl) -> Result<(), Refusal> {
        let path = url.path();
        if let Some(segments_max) = self.config.segments_max
            && trap::has_too_many_segments(path, segments_max)
        {
            return Err(Refusal::TooManySegments { segments_max });
        }
        if let Some(repeat_max) = self.config.path_repeat_max
            && trap::repeats_itself(path, repeat_max)
        {
            return Err(Refusal::RepeatedSegments { repeat_max });
        }
        Ok(())
    }

    fn has_denied_extension(&self, url: &CrawlUrl) -> bool {
        if self.extensions_denied.is_empty() {
            return false;
        }
        let name = url.path().rsplit('/').next().unwrap_or_default();
        name.rsplit_once('.').is_some_and(|(_, extension)| {
            let extension = extension.to_ascii_lowercase();
            self.extensions_denied.contains(extension.as_str())
        })
    }
}

/// Include patterns narrow what the scope lets in, seeds excepted.
fn narrow(rule: Rule, include: &Patterns, url: &CrawlUrl) -> Result<Rule, Refusal> {
    if include.is_empty() || matches!(rule, Rule::Seed | Rule::SeedRedirect) {
        return Ok(rule);
    }
    let pattern = include.first_match(url.as_str());
    pattern.map(Rule::Include).ok_or(Refusal::NotIncluded)
}

fn check_limits(config: &ScopeConfig, errors: &mut Vec<ScopeError>) {
    let limits = [
        ("url_chars_max", config.url_chars_max == 0),
        ("seed_chars_max", config.seed_chars_max == 0),
        ("path_repeat_max", config.path_repeat_max == Some(0)),
        ("segments_max", config.segments_max == Some(0)),
    ];
    let zeros = limits.iter().filter(|(_, is_zero)| *is_zero);
    errors.extend(zeros.map(|&(key, _)| ScopeError::ZeroLimit { key }));
}

fn read_extensions(entries: &[String], errors: &mut Vec<ScopeError>) -> HashSet<Box<str>> {
    let mut extensions = HashSet::with_capacity(entries.len());
    for entry in entries {
        let extension = entry.strip_prefix('.').unwrap_or(entry);
        if extension.is_empty() || extension.contains(['/', '.', '?', '*', ' ']) {
            errors.push(ScopeError::BadExtension {
                entry: entry.clone(),
            });
        } else {
            extensions.insert(extension.to_ascii_lowercase().into());
        }
    }
    extensions
}

pub(crate) fn read_mimes(entries: &[String], errors: &mut Vec<ScopeError>) -> Vec<Mime> {
    let mut mimes = Vec::with_capacity(entries.len());
    for entry in entries {
        let lower = entry.to_ascii_lowercase();
        match lower.split_once('/') {
            Some(("*", "*")) => mimes.push(Mime::Every),
            Some((class, "*")) if is_mime_part(class) => {
                mimes.push(Mime::Class(format!("{class}/")));
            }
            Some((class, name)) if is_mime_part(class) && is_mime_part(name) => {
                mimes.push(Mime::Exact(lower));
            }
            _ => errors.push(ScopeError::BadMime {
                entry: entry.clone(),
            }),
        }
    }
    mimes
}

/// A token of RFC 9110 §5.6.2, less the `*` that is a sign here.
fn is_mime_part(part: &str) -> bool {
    let is_token = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'+-.^_`|~".contains(&byte);
    !part.is_empty() && part.bytes().all(is_token)
}
