//! The way of one URL, stage by stage.

use std::collections::{HashMap, HashSet};
use std::net::IpAddr;
use std::sync::Arc;
use std::time::Duration;

use geomi_engine::{
    Admission, Admit, Found, RefusalRule, Row, Standing, Story, as_seed, fate, may_follow,
    retry_wait, signal,
};
use geomi_fetch::{FetchRequest, Fetcher};
use geomi_frontier::Entry;
use geomi_model::{Capture, Fate, Link, LinkKind};
use geomi_page::{Readers, declared_charset};
use geomi_scope::{Candidate, Verdict};
use geomi_store::cdxj;
use geomi_url::{CrawlUrl, SiteHash, UrlHash};

use super::site::SiteNotes;
use super::{
    ExchangeStep, Hop, HopEnd, LinkStep, LinkVerdict, Probe, Question, RefusedBy, ScopeStep,
    StoredStep,
};
use crate::stage::fetch::{ask, fetcher};
use crate::stage::read::{Declared, ReadSettings, Storable, Subject, Understood, understand};
use crate::{Clock, CrawlConfig, CrawlError};

/// One pass, with what it has met so far.
pub(super) struct Pass<'a> {
    pub(super) config: &'a CrawlConfig,
    pub(super) clock: Arc<dyn Clock>,
    pub(super) fetcher: Fetcher,
    pub(super) readers: Readers,
    pub(super) settings: ReadSettings,
    pub(super) sites: HashMap<SiteHash, SiteNotes>,
    /// Sets the records of a pass apart.
    pub(super) serial: u64,
    pub(super) resting: &'a mut dyn FnMut(&CrawlUrl, Duration),
    admit: Admit,
    asked: HashSet<UrlHash>,
}

/// A URL to look at, and where it was found.
struct Step {
    url: CrawlUrl,
    /// The page that leads to it; `None` for a seed.
    on: Option<Entry>,
    /// The URL scope is judged by.
    home: CrawlUrl,
    is_redirect: bool,
}

impl<'a> Pass<'a> {
    pub(super) fn new(
        config: &'a CrawlConfig,
        clock: Arc<dyn Clock>,
        resting: &'a mut dyn FnMut(&CrawlUrl, Duration),
    ) -> Result<Self, CrawlError> {
        Ok(Self {
            config,
            clock,
            fetcher: fetcher(config)?,
            readers: Readers::standard(),
            settings: ReadSettings::of(config),
            sites: HashMap::new(),
            serial: 0,
            resting,
            admit: Admit::new(&config.engine)?,
            asked: HashSet::new(),
        })
    }

    /// Takes the URL and its redirects as far as they go.
    pub(super) async fn follow(mut self, question: &Question) -> Probe {
        let (on, home) = match &question.seed {
            None => (None, &question.url),
            Some(seed) => {
                let Admission::Queue(on, _) = self.admit.seed(seed, 0) else {
                    let hops = vec![self.without_seed(&question.url, seed)];
                    return Probe { hops };
                };
                (Some(on), seed)
            }
        };
        let mut hops = Vec::new();
        let mut next = Some(Step {
            url: question.url.clone(),
            on,
            home: home.clone(),
            is_redirect: false,
        });
        while let Some(step) = next {
            let (hop, then) = self.hop(&step).await;
            hops.push(hop);
            next = then;
        }
        Probe { hops }
    }

    /// A link of a seed that is itself refused.
    fn without_seed(&self, url: &CrawlUrl, seed: &CrawlUrl) -> Hop {
        let verdict = self.admit.scope().judge(&as_seed(seed));
        let words = self.admit.scope().explain(&as_seed(seed), &verdict);
        let reason = format!("its seed is refused: {words}");
        Hop {
            url: url.clone(),
            scope: ScopeStep {
                verdict,
                words: reason.clone(),
                seed: seed.clone(),
                depth: 1,
                priority: None,
            },
            address: None,
            robots: None,
            waited: Duration::ZERO,
            exchange: None,
            end: HopEnd::Refused {
                by: RefusedBy::Scope,
                reason,
            },
        }
    }

    async fn hop(&mut self, step: &Step) -> (Hop, Option<Step>) {
        let (scope, admitted) = self.admit(step);
        let mut hop = Hop {
            url: step.url.clone(),
            scope,
            address: None,
            robots: None,
            waited: Duration::ZERO,
            exchange: None,
            end: HopEnd::Answered,
        };
        let next = match self.walk(step, admitted, &mut hop).await {
            Ok(next) => next,
            Err(end) => {
                hop.end = end;
                None
            }
        };
        (hop, next)
    }

    async fn walk(
        &mut self,
        step: &Step,
        admitted: Result<Entry, HopEnd>,
        hop: &mut Hop,
    ) -> Result<Option<Step>, HopEnd> {
        let entry = admitted?;
        let (address, addr) = self.address(&step.url).await;
        let dns = address.took;
        hop.address = Some(address);
        let addr = addr?;
        let (robots, permitted) = self.permission(&step.url).await;
        hop.robots = Some(robots);
        permitted?;
        hop.waited = self.rest(&step.url).await?;
        let (mut exchange, fate) = self.exchange(&entry, &step.home, addr).await;
        exchange.outcome.phases.dns = dns;
        let exchange = hop.exchange.insert(Box::new(exchange));
        if !exchange.state.is_answer() {
            let error = exchange.outcome.error.clone();
            return Err(HopEnd::Failed {
                state: exchange.state,
                reason: error.unwrap_or_else(|| exchange.state.to_string()),
            });
        }
        match exchange.location.clone() {
            Some(target) if fate == Fate::Redirected => {
                let next = self.redirect(entry, &step.home, target)?;
                hop.end = HopEnd::Redirected;
                Ok(Some(next))
            }
            _ => Ok(None),
        }
    }

    fn admit(&self, step: &Step) -> (ScopeStep, Result<Entry, HopEnd>) {
        let Some(on) = &step.on else {
            let admission = self.admit.seed(&step.url, 0);
            return self.told(&as_seed(&step.url), admission);
        };
        let found = Found {
            url: &step.url,
            kind: if step.is_redirect {
                LinkKind::Other
            } else {
                LinkKind::Anchor
            },
            is_redirect: step.is_redirect,
            is_sitemap: false,
            on,
            importance: 0.0,
            home: &step.home,
            standing: Standing::UNKNOWN,
        };
        self.told(&found.candidate(), self.admit.link(&found))
    }

    fn told(
        &self,
        candidate: &Candidate<'_>,
        admission: Admission,
    ) -> (ScopeStep, Result<Entry, HopEnd>) {
        let (verdict, entry) = match admission {
            Admission::Queue(entry, rule) => (Verdict::Accept { rule }, Some(entry)),
            Admission::CandidateSeed => (Verdict::CandidateSeed, None),
            Admission::Refused(refusal) => (Verdict::Refuse(refusal), None),
        };
        let words = self.admit.scope().explain(candidate, &verdict);
        let step = ScopeStep {
            verdict,
            words: words.clone(),
            seed: candidate.seed.clone(),
            depth: candidate.depth,
            priority: entry.as_ref().map(|entry| entry.priority),
        };
        let refused = HopEnd::Refused {
            by: RefusedBy::Scope,
            reason: words,
        };
        (step, entry.ok_or(refused))
    }

    /// Where a redirect leads, by the rules of the crawl: so many in a row, and
    /// to no URL that was asked for already.
    fn redirect(&self, on: Entry, home: &CrawlUrl, target: CrawlUrl) -> Result<Step, HopEnd> {
        let refused = |reason| HopEnd::Refused {
            by: RefusedBy::Redirects,
            reason,
        };
        if on.redirects >= self.config.engine.redirects_max {
            let max = self.config.engine.redirects_max;
            return Err(refused(format!(
                "it redirects to {target}, and only {max} redirects in a row are followed"
            )));
        }
        if self.asked.contains(&target.hash64()) {
            return Err(refused(format!(
                "it redirects to {target}, which was asked for already"
            )));
        }
        Ok(Step {
            home: if on.is_seed {
                target.clone()
            } else {
                home.clone()
            },
            url: target,
            on: Some(on),
            is_redirect: true,
        })
    }

    /// Asks for the page and makes of the answer what a crawl would.
    async fn exchange(
        &mut self,
        entry: &Entry,
        home: &CrawlUrl,
        addr: IpAddr,
    ) -> (ExchangeStep, Fate) {
        let url = &entry.url;
        self.asked.insert(url.hash64());
        let mut request = FetchRequest::new(url.clone(), addr);
        request.describe_tls = true;
        let (started, outcome, ended) = ask(&self.fetcher, &*self.clock, request).await;
        self.serial += 1;
        let subject = Subject {
            url,
            is_robots: false,
            serial: self.serial,
            started,
            ended,
        };
        let mut understood = understand(&self.readers, &self.settings, subject, &outcome);
        self.admit.settle_state(&mut understood.answer);
        let fate = fate(
            url,
            &understood.answer,
            entry.attempts,
            self.config.engine.tries,
        );
        let signal = signal(&understood.answer);
        let site = url.site_hash();
        let notes = self.sites.entry(site).or_default();
        let pause = notes.asked(self.config, site, (started, ended), signal);
        let crawl_delay = notes.crawl_delay;
        let stored = stored(&understood, subject, entry, home);
        let Understood {
            answer, document, ..
        } = understood;
        let declared = Declared::of(&outcome);
        let links = document.links.iter().filter(|_| fate != Fate::Redirected);
        let links = links.map(|link| self.link(entry, home, &document, link));
        let step = ExchangeStep {
            started,
            state: answer.state,
            location: answer.location,
            read_as: self.readers.read_as(&declared.input(url, &outcome)),
            declared_charset: declared_charset(&outcome.body),
            mime: declared.mime,
            header_charset: declared.charset,
            links: links.collect(),
            document,
            stored,
            fate: fate.as_str(),
            again_after: (fate == Fate::Retry)
                .then(|| retry_wait(self.config.engine.retry_wait, entry.attempts)),
            pause,
            crawl_delay,
            outcome,
        };
        (step, fate)
    }

    /// What would become of a link on a page.
    fn link(
        &self,
        on: &Entry,
        home: &CrawlUrl,
        document: &geomi_model::Document,
        link: &Link,
    ) -> LinkStep {
        if !may_follow(&self.config.engine, document, link) {
            return LinkStep {
                verdict: LinkVerdict::Refuse,
                rule: RefusalRule::Nofollow.as_str(),
                words: "the page asks not to follow it".to_owned(),
                priority: None,
            };
        }
        let found = Found {
            url: &link.url,
            kind: link.kind,
            is_redirect: false,
            is_sitemap: false,
            on,
            importance: 0.0,
            home,
            standing: Standing::UNKNOWN,
        };
        let (step, admitted) = self.told(&found.candidate(), self.admit.link(&found));
        let (verdict, rule) = match step.verdict {
            Verdict::Accept { rule } => (LinkVerdict::Accept, rule.as_str()),
            Verdict::CandidateSeed => (LinkVerdict::CandidateSeed, "candidate-seed"),
            Verdict::Refuse(refusal) => (LinkVerdict::Refuse, refusal.as_str()),
        };
        LinkStep {
            verdict,
            rule,
            words: step.words,
            priority: admitted.ok().map(|entry| entry.priority),
        }
    }
}

/// What the archive would hold.
fn stored(
    understood: &Understood,
    subject: Subject<'_>,
    entry: &Entry,
    home: &CrawlUrl,
) -> Option<StoredStep> {
    let storable: &Storable = understood.stored.as_ref()?;
    let encoded = &storable.encoded;
    let story = Story {
        seed: Some(home.clone()),
        via: entry.via.clone(),
        depth: entry.depth,
        priority: entry.priority,
        attempt: entry.attempts + 1,
        ..Story::default()
    };
    let row = Row {
        url: subject.url,
        started: subject.started,
        answer: &understood.answer,
        document: &understood.document,
        digest: Some(storable.payload),
        protocol: Some(storable.protocol),
    };
    let capture = Capture {
        file: "-".to_owned(),
        offset: 0,
        length: encoded.capture_length,
        kind: encoded.kind,
    };
    let visit = row.visit(story, Some(capture));
    let request_length = encoded.members.len() as u64 - encoded.capture_length;
    Some(StoredStep {
        payload: storable.payload,
        content: storable.content,
        content_bytes: storable.content_bytes,
        response_bytes: (encoded.capture_bytes, encoded.capture_length),
        request_bytes: (encoded.request_bytes, request_length),
        index_line: cdxj::line(&visit)?,
    })
}
