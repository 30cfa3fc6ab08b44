//! What patterns would keep out of a crawl, told before they do: of the latest
//! visits, and of a bounded sample of what waits. Changes nothing.

use std::sync::Arc;

use geomi_crawler::log_reader::{self, Bounds, LoggedVisit};
use geomi_crawler::remote::{Request, Response};
use geomi_engine::explain::{QUEUED_SAMPLE_MAX, QueuedSample};
use geomi_scope::Scope;
use geomi_url::CrawlUrl;
use schemars::JsonSchema;
use serde::Serialize;

use crate::actions::{ask, compile};
use crate::app::App;
use crate::http::problem::Problem;
use crate::library::Crawl;

/// Visits a preview looks at, the latest ones.
const PREVIEW_LOOKS: usize = 50_000;
/// Examples a preview gives.
const PREVIEW_EXAMPLES: usize = 20;

/// What patterns would keep out.
#[derive(Clone, Debug, Default, Serialize, JsonSchema)]
pub(crate) struct Preview {
    /// Visits that were looked at, the latest ones.
    pub(crate) looked_at: u64,
    /// Of these, how many would not have been made.
    pub(crate) matches: u64,
    /// Some of them.
    pub(crate) examples: Vec<String>,
    /// URLs that wait and were looked at: the next ones of every site.
    pub(crate) queued_looked_at: u64,
    /// Of these, how many would be kept out.
    pub(crate) queued_matches: u64,
    /// Some of them.
    pub(crate) queued_examples: Vec<String>,
    /// URLs that wait in all; 0 where the crawl is not running.
    pub(crate) queued_total: u64,
}

/// What these patterns would have kept out of the latest visits, and would keep
/// out of what waits. Changes nothing.
pub(crate) async fn preview(
    app: &App,
    crawl: Arc<Crawl>,
    patterns: &[String],
) -> Result<Preview, Problem> {
    let scope = compile(patterns)?;
    let limit = QUEUED_SAMPLE_MAX;
    let asked = ask(&crawl, Request::Queued { limit }).await;
    app.read(move |_| {
        let mut preview = look_back(&crawl, &scope)?;
        // A crawl at rest has nobody to ask, and one of an older program does
        // not know the question: then the past alone is told.
        if let Ok(Response::Queued { sample }) = asked {
            look_ahead(&mut preview, &sample, &scope);
        }
        Ok(preview)
    })
    .await
}

fn look_back(crawl: &Crawl, scope: &Scope) -> Result<Preview, geomi_store::StoreError> {
    let seen = std::cell::RefCell::new(Preview::default());
    let count = |visit: &LoggedVisit| {
        let mut seen = seen.borrow_mut();
        seen.looked_at += 1;
        if is_out(scope, &visit.url) {
            seen.matches += 1;
            if seen.examples.len() < PREVIEW_EXAMPLES {
                seen.examples.push(visit.url.clone());
            }
        }
        false
    };
    let bounds = Bounds {
        lines: 1,
        looks: PREVIEW_LOOKS,
    };
    log_reader::before(&crawl.dir, None, bounds, &count)?;
    Ok(seen.into_inner())
}

fn look_ahead(preview: &mut Preview, sample: &QueuedSample, scope: &Scope) {
    preview.queued_total = sample.total;
    preview.queued_looked_at = sample.urls.len() as u64;
    let out = sample.urls.iter().filter(|url| is_out(scope, url));
    for url in out {
        preview.queued_matches += 1;
        if preview.queued_examples.len() < PREVIEW_EXAMPLES {
            preview.queued_examples.push(url.clone());
        }
    }
}

fn is_out(scope: &Scope, url: &str) -> bool {
    CrawlUrl::parse(url).is_ok_and(|url| scope.denies(&url).is_some())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_waits_is_counted_by_the_patterns() {
        let scope = compile(&["*logout*".to_owned()]).unwrap();
        let url = |n: u32| format!("http://a.test/{}/{n}", ["in", "logout"][n as usize % 2]);
        let sample = QueuedSample {
            total: 5_000,
            urls: (0..100).map(url).collect(),
        };
        let mut preview = Preview::default();
        look_ahead(&mut preview, &sample, &scope);
        assert_eq!(
            (preview.queued_total, preview.queued_looked_at),
            (5_000, 100)
        );
        assert_eq!(preview.queued_matches, 50);
        assert_eq!(preview.queued_examples.len(), PREVIEW_EXAMPLES);
        assert!(
            preview
                .queued_examples
                .iter()
                .all(|url| url.contains("logout"))
        );
    }
}
