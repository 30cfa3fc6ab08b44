//! Row: a visit as it is written to visits/, the log and the index.

use geomi_frontier::Entry;
use geomi_model::{
    Capture, Change, Digest, Document, DocumentKind, NearDuplicate, PageFacts, Protocol, Timestamp,
    Visit,
};
use geomi_url::CrawlUrl;

use crate::seeds::Seed;
use crate::stage::arrival::Answer;

/// What a visit's row says beside the answer.
#[derive(Debug, Default)]
pub struct Story {
    /// The seed whose party the page belongs to.
    pub seed: Option<CrawlUrl>,
    /// The label of that seed.
    pub topic: Option<String>,
    /// The page that linked to it.
    pub via: Option<CrawlUrl>,
    /// Links from the seed.
    pub depth: u16,
    /// The priority it was queued with, from 1, the highest.
    pub priority: u8,
    /// Which try it was, from 1.
    pub attempt: u8,
    /// Whether it was a robots.txt.
    pub is_robots: bool,
    /// Links of the page that were new.
    pub links_admitted: u32,
    /// How it differs from the visit before.
    pub changed: Option<Change>,
    /// The near-duplicate fetched before.
    pub near: Option<NearDuplicate>,
}

impl Story {
    pub(crate) fn of(
        entry: &Entry,
        seed: &Seed,
        links_admitted: u32,
        changed: Option<Change>,
    ) -> Self {
        Self {
            seed: Some(seed.url.clone()),
            topic: seed.topic.clone(),
            via: entry.via.clone(),
            depth: entry.depth,
            priority: entry.priority,
            attempt: entry.attempts + 1,
            is_robots: false,
            links_admitted,
            changed,
            near: None,
        }
    }
}

/// The result of a visit.
#[derive(Clone, Copy, Debug)]
pub struct Row<'a> {
    /// The URL that was requested.
    pub url: &'a CrawlUrl,
    /// When the visit began.
    pub started: Timestamp,
    /// The answer.
    pub answer: &'a Answer,
    /// What the reader made of the content.
    pub document: &'a Document,
    /// Payload digest, where there is something to store.
    pub digest: Option<Digest>,
    /// What was spoken, where there was an answer.
    pub protocol: Option<Protocol>,
}

impl Row<'_> {
    /// The whole story; its number is given when it is committed.
    pub fn visit(self, story: Story, capture: Option<Capture>) -> Visit {
        let Row {
            answer, document, ..
        } = self;
        let is_page = document.charset.is_some();
        let is_html = document.kind == DocumentKind::Html;
        Visit {
            number: 0,
            time: self.started,
            url: self.url.clone(),
            seed: story.seed,
            topic: story.topic,
            via: story.via,
            depth: story.depth,
            priority: story.priority,
            attempt: story.attempt,
            is_robots: story.is_robots,
            state: answer.state,
            code: answer.code,
            error: answer.error.clone(),
            ip: answer.ip,
            mime: answer.mime.clone(),
            charset: document.charset.map(|charset| charset.name.to_owned()),
            charset_source: document.charset.map(|charset| charset.source),
            wire_bytes: answer.wire_bytes,
            body_bytes: answer.body_bytes,
            text_bytes: is_page.then_some(document.text_bytes),
            digest: self.digest,
            fingerprint: document.fingerprint,
            changed: story.changed,
            location: answer.location.clone(),
            title: document.title.clone(),
            link_type: is_page.then(|| document.link_type()),
            links: document.links.len() as u32,
            links_admitted: story.links_admitted,
            phases: answer.phases,
            capture,
            facts: PageFacts {
                kind: (document.kind != DocumentKind::Unread).then_some(document.kind),
                protocol: self.protocol,
                main_text_bytes: is_page.then_some(document.main_text_bytes),
                simhash: document.simhash,
                near_duplicate: story.near,
                spam_percent: is_html.then_some(document.spam_percent),
                soft_404: is_html.then_some(document.says_not_found),
            },
            early: None,
            truncated: answer.truncated,
            validity: answer.validity,
        }
    }
}
