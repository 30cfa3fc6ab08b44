//! `geomi sim priority`: how soon a crawl has the pages that matter.

use geomi_sim::priority::{Rule, SHARES, Web, compare};
use serde_json::json;

use super::args::PriorityArgs;
use crate::Exit;
use crate::args::{Format, Global};
use crate::table::{aligned, columns};
use crate::terminal::print;

pub(super) fn run(args: &PriorityArgs, global: &Global) -> anyhow::Result<Exit> {
    let web = Web {
        seed: args.seed,
        pages: args.pages,
        sites: args.sites.min(args.pages),
    };
    let curves = compare(
        web,
        geomi_crawler::CrawlConfig::new(Vec::new())
            .engine
            .prioritizer,
    );
    print(&match global.format {
        Format::Human => human(&curves),
        Format::Json => serde_json::to_string_pretty(&json(web, &curves))?,
        Format::Jsonl => json(web, &curves).to_string(),
        Format::Csv => unreachable!("csv was refused before"),
    })?;
    Ok(Exit::Done)
}

type Curve = (Rule, [f64; SHARES.len()]);

fn human(curves: &[Curve]) -> String {
    let percent = |share: f64| format!("{:.1} %", share * 100.0);
    let mut head = vec!["share of all page rank after".to_owned()];
    head.extend(SHARES.map(|share| format!("{:.0} %", share * 100.0)));
    let mut lines = vec![head];
    lines.extend(curves.iter().map(|(rule, curve)| {
        let mut line = vec![rule.name().to_owned()];
        line.extend(curve.map(percent));
        line
    }));
    let columns = columns(&lines, |column| column > 0);
    let text: Vec<String> = lines.iter().map(|line| aligned(line, &columns)).collect();
    text.join("\n")
}

fn json(web: Web, curves: &[Curve]) -> serde_json::Value {
    let rules: Vec<_> = curves
        .iter()
        .map(|(rule, curve)| json!({"rule": rule.name(), "rank_shares": curve}))
        .collect();
    json!({
        "seed": web.seed,
        "pages": web.pages,
        "sites": web.sites,
        "page_shares": SHARES,
        "rules": rules,
    })
}
