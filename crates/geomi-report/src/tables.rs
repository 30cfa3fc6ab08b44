//! From what the passes found to the sections of a report: which section is
//! made where, and the plain counts.

use std::collections::BTreeMap;

use geomi_model::Visit;

use crate::report::Findings;
use crate::sweep::Group;
use crate::{Section, SectionKind, Value, likeness, measures, overview, page_tables, site_tables};

/// Whole rows of visits, by number.
pub(crate) type Rows = BTreeMap<u64, Visit>;

/// Makes a section.
pub(crate) fn section(findings: &Findings, kind: SectionKind, rows: &Rows) -> Section {
    match kind {
        SectionKind::Overview => overview::section(findings),
        SectionKind::Measures => measures::section(findings),
        SectionKind::States => states(findings),
        SectionKind::Codes => codes(findings),
        SectionKind::Types => types(findings),
        SectionKind::Charsets => charsets(findings),
        SectionKind::Depths => depths(findings),
        SectionKind::LinkTypes => link_types(findings),
        SectionKind::Topics => topics(findings),
        SectionKind::Sites => site_tables::sites(findings),
        SectionKind::SlowestSites => site_tables::slowest_sites(findings),
        SectionKind::Servers => site_tables::servers(findings),
        SectionKind::Robots => site_tables::robots(findings),
        SectionKind::SlowestPages => page_tables::slowest_pages(findings),
        SectionKind::BiggestPages => page_tables::biggest_pages(findings),
        SectionKind::Pages => page_tables::pages(findings, rows),
        SectionKind::Duplicates => page_tables::duplicates(findings, rows),
        SectionKind::Mirrors => likeness::mirrors(findings),
        SectionKind::NearDuplicates => likeness::near_duplicates(findings),
        SectionKind::Soft404s => likeness::soft_404s(findings, rows),
        SectionKind::Spam => likeness::spam(findings),
        SectionKind::DeadLinks => page_tables::dead_links(findings, rows),
        SectionKind::Known => page_tables::known(findings),
    }
}

fn states(findings: &Findings) -> Section {
    let visits = findings.sweep.totals.visits;
    let mut states: Vec<_> = findings.sweep.states.iter().collect();
    states.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let rows = states.into_iter().map(|(state, count)| {
        vec![
            state.as_str().into(),
            Value::Count(*count),
            Value::share(*count, visits),
        ]
    });
    // Network states and codes are few: a bound would only hide some.
    Section::rows(
        SectionKind::States,
        &["state", "visits", "share"],
        rows.collect(),
        None,
    )
}

fn codes(findings: &Findings) -> Section {
    let answers: u64 = findings.sweep.codes.values().sum();
    let rows = findings.sweep.codes.iter().map(|(code, count)| {
        vec![
            Value::Code(*code),
            Value::Count(*count),
            Value::share(*count, answers),
        ]
    });
    Section::rows(
        SectionKind::Codes,
        &["code", "visits", "share"],
        rows.collect(),
        None,
    )
}

fn types(findings: &Findings) -> Section {
    let types = findings.sweep.types.iter();
    groups(
        findings,
        SectionKind::Types,
        &["type", "visits", "share", "saved", "failed", "body_bytes"],
        types.map(|(mime, group)| (Value::text(mime.as_ref()), *group)),
    )
}

fn charsets(findings: &Findings) -> Section {
    let charsets = findings.sweep.charsets.iter();
    groups(
        findings,
        SectionKind::Charsets,
        &[
            "charset",
            "visits",
            "share",
            "saved",
            "failed",
            "body_bytes",
        ],
        charsets.map(|(charset, group)| (charset.as_str().into(), *group)),
    )
}

fn link_types(findings: &Findings) -> Section {
    let types = findings.sweep.link_types.iter();
    groups(
        findings,
        SectionKind::LinkTypes,
        &[
            "link_type",
            "visits",
            "share",
            "saved",
            "failed",
            "body_bytes",
        ],
        types.map(|(kinds, group)| ((*kinds).into(), *group)),
    )
}

fn topics(findings: &Findings) -> Section {
    let topics = findings.sweep.topics.iter();
    groups(
        findings,
        SectionKind::Topics,
        &["topic", "visits", "share", "saved", "failed", "body_bytes"],
        topics.map(|(topic, group)| (Value::text(topic.as_ref()), *group)),
    )
}

/// Groups of page visits, the largest first.
fn groups(
    findings: &Findings,
    kind: SectionKind,
    columns: &'static [&'static str],
    groups: impl Iterator<Item = (Value, Group)>,
) -> Section {
    let mut groups: Vec<_> = groups.collect();
    let visits = groups.iter().map(|(_, group)| group.visits).sum();
    groups.sort_by_key(|(_, group)| std::cmp::Reverse(group.visits));
    let rows = groups.into_iter().map(|(name, group)| {
        vec![
            name,
            Value::Count(group.visits),
            Value::share(group.visits, visits),
            Value::Count(group.saved),
            Value::Count(group.failed),
            Value::Bytes(group.body_bytes),
        ]
    });
    Section::rows(kind, columns, rows.collect(), findings.top)
}

fn depths(findings: &Findings) -> Section {
    let depths = &findings.sweep.depths;
    let visits = depths.values().map(|group| group.visits).sum();
    let rows = depths.iter().map(|(depth, group)| {
        vec![
            Value::Count(u64::from(*depth)),
            Value::Count(group.visits),
            Value::share(group.visits, visits),
            Value::Count(group.saved),
            Value::Count(group.redirected),
            Value::Count(group.failed),
            Value::Bytes(group.body_bytes),
        ]
    });
    Section::rows(
        SectionKind::Depths,
        &[
            "depth",
            "visits",
            "share",
            "saved",
            "redirected",
            "failed",
            "body_bytes",
        ],
        rows.collect(),
        None,
    )
}
