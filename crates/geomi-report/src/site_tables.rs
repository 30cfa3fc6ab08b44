//! Sections about sites, addresses and robots.txt.

use crate::report::Findings;
use crate::sites::{RobotsAnswer, SiteTally};
use crate::{Section, SectionKind, Value};

/// Every site, the largest first.
pub(crate) fn sites(findings: &Findings) -> Section {
    let mut sites: Vec<&SiteTally> = findings.sweep.sites.all.iter().collect();
    sites.sort_by(|a, b| b.pages.cmp(&a.pages).then_with(|| a.name.cmp(&b.name)));
    let rows_in_all = sites.len() as u64;
    sites.truncate(findings.top.unwrap_or(usize::MAX));
    let rows = sites.into_iter().map(|site| {
        vec![
            site.name.as_str().into(),
            Value::Count(site.pages),
            Value::Count(site.visits),
            Value::Count(site.saved),
            Value::Count(site.redirected),
            Value::Count(site.failed),
            Value::Bytes(site.wire_bytes),
            site.mean_rtt_s().map_or(Value::Nothing, Value::Seconds),
            Value::share(site.saved, site.saved + site.failed),
            Value::share(site.changes, site.comparisons),
            age_variation(site),
        ]
    });
    Section {
        rows_in_all,
        ..Section::rows(
            SectionKind::Sites,
            &[
                "site",
                "pages",
                "visits",
                "saved",
                "redirected",
                "failed",
                "wire_bytes",
                "mean_rtt_s",
                "success_rate",
                "change_rate",
                "age_variation",
            ],
            rows.collect(),
            None,
        )
    }
}

fn age_variation(site: &SiteTally) -> Value {
    if site.age_variations == 0 {
        return Value::Nothing;
    }
    Value::Ratio(site.age_variation / site.age_variations as f64)
}

/// Sites that answered, the slowest first.
pub(crate) fn slowest_sites(findings: &Findings) -> Section {
    let all = findings.sweep.sites.all.iter();
    let mut sites: Vec<(f64, &SiteTally)> = all
        .filter_map(|site| Some((site.mean_rtt_s()?, site)))
        .collect();
    sites.sort_by(|a, b| b.0.total_cmp(&a.0).then_with(|| a.1.name.cmp(&b.1.name)));
    let rows_in_all = sites.len() as u64;
    sites.truncate(findings.top.unwrap_or(usize::MAX));
    let rows = sites.into_iter().map(|(rtt_s, site)| {
        vec![
            site.name.as_str().into(),
            Value::Seconds(rtt_s),
            Value::Count(site.rtts),
        ]
    });
    Section {
        rows_in_all,
        ..Section::rows(
            SectionKind::SlowestSites,
            &["site", "mean_rtt_s", "answers"],
            rows.collect(),
            None,
        )
    }
}

/// Addresses, those with the most sites first.
pub(crate) fn servers(findings: &Findings) -> Section {
    let sites = &findings.sweep.sites;
    let mut servers: Vec<_> = sites.servers.iter().collect();
    servers.sort_by(|(a_ip, a), (b_ip, b)| {
        let by_size = (b.sites.len(), b.visits).cmp(&(a.sites.len(), a.visits));
        by_size.then(a_ip.cmp(b_ip))
    });
    let pairs: usize = servers.iter().map(|(_, server)| server.sites.len()).sum();
    let mut addressed = vec![false; sites.all.len()];
    for site in servers.iter().flat_map(|(_, server)| &server.sites) {
        addressed[*site as usize] = true;
    }
    let addressed = addressed.iter().filter(|has| **has).count() as u64;
    let per_address = match servers.len() {
        0 => Value::Nothing,
        addresses => Value::Ratio(pairs as f64 / addresses as f64),
    };
    let facts = vec![
        ("addresses", Value::Count(servers.len() as u64)),
        ("sites", Value::Count(sites.all.len() as u64)),
        ("sites_with_address", Value::Count(addressed)),
        ("sites_per_address", per_address),
    ];
    let rows = servers.into_iter().map(|(ip, server)| {
        vec![
            Value::Text(ip.to_string()),
            Value::Count(server.sites.len() as u64),
            Value::Count(server.visits),
            Value::Bytes(server.wire_bytes),
        ]
    });
    Section::rows(
        SectionKind::Servers,
        &["address", "sites", "visits", "wire_bytes"],
        rows.collect(),
        findings.top,
    )
    .with(facts)
}

/// What sites answered to robots.txt, and what was not asked for and why.
pub(crate) fn robots(findings: &Findings) -> Section {
    let all = &findings.sweep.sites.all;
    let count = |answer| {
        let sites = all.iter().filter(|site| site.robots == answer);
        Value::Count(sites.count() as u64)
    };
    let counters = findings.status.as_ref().map(|status| &status.counters);
    let refused = counters.map_or(Value::Nothing, |counters| Value::Count(counters.refused));
    let facts = vec![
        ("visits", Value::Count(findings.sweep.totals.robots)),
        ("sites_with_robots", count(RobotsAnswer::Found)),
        ("sites_without_robots", count(RobotsAnswer::Missing)),
        ("sites_with_other_answer", count(RobotsAnswer::Other)),
        ("sites_unreachable", count(RobotsAnswer::Unreachable)),
        ("sites_not_asked", count(RobotsAnswer::NotAsked)),
        ("pages_refused", refused),
    ];
    let refusals = counters.map(|counters| &counters.refusals);
    let mut refusals: Vec<_> = refusals.into_iter().flatten().collect();
    refusals.sort_by(|a, b| b.1.cmp(a.1).then(a.0.cmp(b.0)));
    let rows = refusals
        .into_iter()
        .map(|(reason, count)| vec![reason.as_str().into(), Value::Count(*count)]);
    Section::rows(
        SectionKind::Robots,
        &["refusal", "links"],
        rows.collect(),
        None,
    )
    .with(facts)
}
