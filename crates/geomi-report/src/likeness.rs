//! What pages and sites are like: mirrors, near-duplicates, soft 404s, spam.
//!
//! A crawl has judged each page when it came, and its visits say so; those are
//! counted and listed. Mirrors are found anew from the visits, in their order and
//! by the crawl's own rule, so that crawls of a version that knew of none, and
//! those whose frontier/ was deleted, have them too.

use std::collections::{BTreeMap, BTreeSet};

use geomi_engine::mirrored_content;
use geomi_model::Visit;
use geomi_novelty::Mirrors;
use geomi_url::CrawlUrl;

use crate::report::Findings;
use crate::tables::Rows;
use crate::top::Top;
use crate::{Section, SectionKind, Value};

/// Spam scores from which on pages are counted, with the names they have.
const SPAM_STEPS: [(u8, &str); 4] = [
    (20, "percent_20_or_more"),
    (40, "percent_40_or_more"),
    (60, "percent_60_or_more"),
    (80, "percent_80_or_more"),
];

/// What the pass over every visit finds.
#[derive(Debug)]
pub(crate) struct Likeness {
    mirrors: Mirrors,
    near: u64,
    near_top: Top<Near>,
    soft_404s: u64,
    /// Numbers of visits.
    soft_404_top: Top<u64>,
    scored: u64,
    /// Pages with a score above 0.
    suspected: u64,
    spam: [u64; SPAM_STEPS.len()],
    spam_top: Top<()>,
}

/// A near-duplicate of another page.
#[derive(Clone, Copy, Debug)]
struct Near {
    /// Hash of the other's URL.
    of: u64,
    bits: u8,
}

impl Likeness {
    /// An empty one that keeps `top` rows of each kind.
    pub(crate) fn new(top: Option<usize>) -> Self {
        Self {
            mirrors: Mirrors::default(),
            near: 0,
            near_top: Top::new(top),
            soft_404s: 0,
            soft_404_top: Top::new(top),
            scored: 0,
            suspected: 0,
            spam: [0; SPAM_STEPS.len()],
            spam_top: Top::new(top),
        }
    }

    /// Takes the next answer for a page.
    pub(crate) fn add(&mut self, visit: &Visit) {
        let facts = &visit.facts;
        if visit.changed.is_none()
            && let Some(content) = mirrored_content(visit.code, facts.kind, visit.fingerprint)
        {
            self.mirrors.meet(&visit.url, content);
        }
        if let Some(near) = facts.near_duplicate {
            self.near += 1;
            let nearness = u64::from(u8::MAX - near.distance);
            self.near_top.add(nearness, &visit.url, || Near {
                of: near.url,
                bits: near.distance,
            });
        }
        if facts.soft_404 == Some(true) {
            self.soft_404s += 1;
            self.soft_404_top.add(0, &visit.url, || visit.number);
        }
        if let Some(percent) = facts.spam_percent {
            self.scored += 1;
            for ((from, _), count) in SPAM_STEPS.iter().zip(&mut self.spam) {
                *count += u64::from(percent >= *from);
            }
            if percent > 0 {
                self.suspected += 1;
                self.spam_top.add(percent.into(), &visit.url, || ());
            }
        }
    }

    /// The visits whose rows are told.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u64> + '_ {
        self.soft_404_top.rows().map(|(_, _, number)| *number)
    }

    /// The pages that others are near to, by the hashes of their URLs.
    pub(crate) fn originals(&self) -> BTreeSet<u64> {
        self.near_top.rows().map(|(_, _, near)| near.of).collect()
    }
}

/// Sites that have the same pages as another.
pub(crate) fn mirrors(findings: &Findings) -> Section {
    let sites = &findings.sweep.sites;
    let mut mirrors: Vec<_> = findings.sweep.likeness.mirrors.iter().collect();
    mirrors
        .sort_by_key(|(site, mirror)| (std::cmp::Reverse(mirror.agreeing), sites.name_of(*site)));
    let rows = mirrors.iter().map(|(site, mirror)| {
        vec![
            Value::text(sites.name_of(*site)),
            Value::text(sites.name_of(mirror.of)),
            Value::Count(mirror.agreeing.into()),
            Value::Count(mirror.common.into()),
        ]
    });
    Section::rows(
        SectionKind::Mirrors,
        &["site", "mirror_of", "pages_agreeing", "pages_compared"],
        rows.collect(),
        findings.top,
    )
}

/// Pages that say nearly what another said, the nearest first.
pub(crate) fn near_duplicates(findings: &Findings) -> Section {
    let likeness = &findings.sweep.likeness;
    let rows = likeness.near_top.rows().map(|(_, url, near)| {
        vec![
            url.as_str().into(),
            Value::text(findings.originals.get(&near.of)),
            Value::Count(near.bits.into()),
        ]
    });
    Section {
        rows_in_all: likeness.near,
        ..Section::rows(
            SectionKind::NearDuplicates,
            &["url", "near_to", "bits"],
            rows.collect(),
            None,
        )
    }
    .with(vec![("near_duplicates", Value::Count(likeness.near))])
}

/// Pages that came with 200 and are not there.
pub(crate) fn soft_404s(findings: &Findings, visits: &Rows) -> Section {
    let likeness = &findings.sweep.likeness;
    let rows = likeness.soft_404_top.rows().map(|(_, url, number)| {
        let title = visits.get(number).and_then(|visit| visit.title.as_ref());
        vec![url.as_str().into(), Value::text(title)]
    });
    Section {
        rows_in_all: likeness.soft_404s,
        ..Section::rows(
            SectionKind::Soft404s,
            &["url", "title"],
            rows.collect(),
            None,
        )
    }
    .with(vec![("soft_404s", Value::Count(likeness.soft_404s))])
}

/// Pages with the highest spam scores, and how many there are from a score on.
pub(crate) fn spam(findings: &Findings) -> Section {
    let likeness = &findings.sweep.likeness;
    let rows = likeness
        .spam_top
        .rows()
        .map(|(percent, url, ())| vec![url.as_str().into(), Value::Count(percent)]);
    let mut facts = vec![("scored", Value::Count(likeness.scored))];
    let steps = SPAM_STEPS.iter().zip(likeness.spam);
    facts.extend(steps.map(|((_, name), count)| (*name, Value::Count(count))));
    Section {
        rows_in_all: likeness.suspected,
        ..Section::rows(
            SectionKind::Spam,
            &["url", "spam_percent"],
            rows.collect(),
            None,
        )
    }
    .with(facts)
}

/// URLs by their hashes.
pub(crate) type Originals = BTreeMap<u64, CrawlUrl>;
