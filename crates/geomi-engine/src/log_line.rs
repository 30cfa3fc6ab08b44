//! A visit as a line of log.jsonl.

use geomi_model::Visit;
use serde::Serialize;

/// One line of log.jsonl, and of `--format jsonl`.
#[derive(Debug, Serialize)]
pub struct LogLine<'a> {
    n: u64,
    #[serde(skip_serializing_if = "Option::is_none")]
    p: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    /// Its own number, in a crawl of several partitions.
    pub line: Option<u64>,
    time: String,
    url: &'a str,
    state: &'static str,
    #[serde(skip_serializing_if = "Option::is_none")]
    code: Option<u16>,
    #[serde(skip_serializing_if = "Option::is_none")]
    mime: Option<&'a str>,
    bytes: u64,
    depth: u16,
    priority: u8,
    attempt: u8,
    #[serde(skip_serializing_if = "Option::is_none")]
    ip: Option<std::net::IpAddr>,
    #[serde(skip_serializing_if = "Option::is_none")]
    rtt_ms: Option<f64>,
    total_ms: f64,
    #[serde(skip_serializing_if = "Option::is_none")]
    via: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    topic: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    location: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    digest: Option<String>,
    links: u32,
    new: u32,
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    revisit: bool,
    #[serde(skip_serializing_if = "Option::is_none")]
    error: Option<&'a str>,
}

impl<'a> LogLine<'a> {
    /// The line for a visit; with its partition, if there are several.
    pub fn new(partition: Option<u16>, visit: &'a Visit) -> Self {
        let millis = |span: std::time::Duration| (span.as_secs_f64() * 1e6).round() / 1e3;
        Self {
            n: visit.number,
            p: partition,
            line: None,
            time: visit.time.to_rfc3339_millis(),
            url: visit.url.as_str(),
            state: visit.state.as_str(),
            code: visit.code,
            mime: visit.mime.as_deref(),
            bytes: visit.body_bytes,
            depth: visit.depth,
            priority: visit.priority,
            attempt: visit.attempt,
            ip: visit.ip,
            rtt_ms: visit.phases.first_byte.map(millis),
            total_ms: millis(visit.phases.total),
            via: visit.via.as_ref().map(geomi_url::CrawlUrl::as_str),
            seed: visit.seed.as_ref().map(geomi_url::CrawlUrl::as_str),
            topic: visit.topic.as_deref(),
            location: visit.location.as_ref().map(geomi_url::CrawlUrl::as_str),
            digest: visit.digest.map(|digest| digest.to_string()),
            links: visit.links,
            new: visit.links_admitted,
            revisit: visit
                .capture
                .as_ref()
                .is_some_and(|capture| capture.kind == geomi_model::CaptureKind::Revisit),
            error: visit.error.as_deref(),
        }
    }
}
