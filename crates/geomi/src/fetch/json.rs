//! The telling as one object; its fields are listed in docs/formats.md.

use std::collections::BTreeMap;
use std::time::Duration;

use geomi_crawler::{AddressStep, ExchangeStep, Hop, HopEnd, LinkVerdict, RobotsStep, ScopeStep};
use geomi_engine::SiteAccess;
use geomi_fetch::{AddressSource, Resolution, TlsDescription};
use geomi_model::{CharsetSource, LinkClass, Phases};
use geomi_page::ReadAs;
use geomi_robots::RobotsPolicy;
use geomi_scope::Verdict;
use geomi_url::surt::surt_key;
use geomi_url::{CrawlUrl, rewritten};
use serde_json::{Value, json};

use super::{Told, exit};

/// All of it.
pub(super) fn all(told: &Told<'_>) -> Value {
    let last = told.probe.last();
    let mut outcome = end(&last.end);
    outcome["url"] = json!(last.url.as_str());
    outcome["code"] = json!(last.exchange.as_ref().and_then(|step| step.outcome.code));
    outcome["exit_code"] = json!(if exit(told.probe) == crate::Exit::Done {
        0
    } else {
        3
    });
    let hops = told.probe.hops.iter();
    json!({
        "typed": told.typed,
        "url": told.question.url.as_str(),
        "rewritten": rewritten(told.typed, &told.question.url),
        "as": if told.question.seed.is_some() { "link" } else { "seed" },
        "seed": told.question.seed.as_ref().map(CrawlUrl::as_str),
        "outcome": outcome,
        "hops": hops.map(|step| hop(step, told)).collect::<Vec<_>>(),
    })
}

fn end(end: &HopEnd) -> Value {
    match end {
        HopEnd::Answered => json!({"result": "answered", "by": null, "reason": null}),
        HopEnd::Redirected => json!({"result": "redirected", "by": null, "reason": null}),
        HopEnd::Refused { by, reason } => {
            json!({"result": "refused", "by": by.as_str(), "reason": reason})
        }
        HopEnd::Failed { state, reason } => {
            json!({"result": "failed", "by": state.as_str(), "reason": reason})
        }
    }
}

fn hop(hop: &Hop, told: &Told<'_>) -> Value {
    let exchange = hop.exchange.as_deref();
    json!({
        "url": hop.url.as_str(),
        "surt": surt_key(hop.url.as_str()),
        "site": hop.url.site().as_str(),
        "hash": format!("{:016x}", hop.url.hash64().0),
        "scope": scope(&hop.scope),
        "dns": hop.address.as_ref().map(|step| dns(step, &hop.url)),
        "robots": hop.robots.as_ref().map(|step| robots(step, hop, told)),
        "waited_ms": millis(hop.waited),
        "connection": exchange.map(|step| connection(step, &hop.url)),
        "request": exchange.map(|step| text(&step.outcome.request)),
        "answer": exchange.map(answer),
        "page": exchange.map(|step| page(step, told)),
        "fingerprints": exchange.map(fingerprints),
        "store": exchange.map(store),
        "politeness": exchange.map(politeness),
        "end": end(&hop.end),
    })
}

fn scope(step: &ScopeStep) -> Value {
    let (verdict, rule) = match step.verdict {
        Verdict::Accept { rule } => ("accept", rule.as_str()),
        Verdict::CandidateSeed => ("candidate-seed", "party"),
        Verdict::Refuse(refusal) => ("refuse", refusal.as_str()),
    };
    json!({
        "verdict": verdict,
        "rule": rule,
        "reason": step.words,
        "seed": step.seed.as_str(),
        "depth": step.depth,
        "priority": step.priority,
    })
}

fn dns(step: &AddressStep, url: &CrawlUrl) -> Value {
    let addresses = step.look_up.addresses.iter();
    let addresses = addresses.map(|found| json!({"address": found.addr, "refused": found.refused}));
    json!({
        "host": url.host(),
        "source": match step.look_up.source {
            AddressSource::Override => "override",
            AddressSource::Literal => "literal",
            AddressSource::Localhost => "localhost",
            AddressSource::Names => "names",
        },
        "addresses": addresses.collect::<Vec<_>>(),
        "chosen": step.chosen,
        "took_ms": step.took.map(millis),
        "remembered": step.took.is_none(),
        "error": match &step.look_up.resolution {
            Resolution::Failed { error } => Some(error),
            _ => None,
        },
    })
}

fn robots(step: &RobotsStep, hop: &Hop, told: &Told<'_>) -> Value {
    let agent = &told.config.engine.agent;
    let asked = step.asked.iter().map(|request| {
        json!({
            "url": request.url.as_str(),
            "address": request.ip,
            "state": request.state.as_str(),
            "code": request.code,
            "error": request.error,
            "location": request.location.as_ref().map(CrawlUrl::as_str),
            "body_bytes": request.body_bytes,
            "phases": phases(&request.phases),
            "would_retry": request.would_retry,
        })
    });
    let policy = match &step.access {
        Some(SiteAccess::Policy(policy)) => Some(policy),
        _ => None,
    };
    let verdict = policy.map(|policy| policy.verdict(agent, hop.url.path_and_query()));
    let rule = verdict.and_then(|verdict| verdict.rule);
    let rules = policy.and_then(RobotsPolicy::robots);
    json!({
        "answer": match (&step.access, policy) {
            (None, _) if step.asked.is_empty() => "ignored",
            (_, Some(RobotsPolicy::Rules(_))) => "rules",
            (_, Some(RobotsPolicy::Unavailable { .. })) => "unavailable",
            (_, Some(RobotsPolicy::Unreachable { .. })) => "unreachable",
            _ => "no answer",
        },
        "agent": agent,
        "allowed": match (&step.access, verdict) {
            (_, Some(verdict)) => verdict.allowed,
            (access, None) => access.is_none() && step.asked.is_empty(),
        },
        "group": verdict.and_then(|verdict| verdict.agent),
        "group_lines": rules.map(|rules| rules.agent_lines(agent)),
        "line": rule.map(|rule| rule.line),
        "rule": rule.map(|rule| format!("{}: {}", if rule.allow { "allow" } else { "disallow" }, rule.text)),
        "crawl_delay_ms": policy.and_then(|policy| policy.crawl_delay(agent)).map(millis),
        "sitemaps": policy.map_or(&[][..], RobotsPolicy::sitemaps),
        "asked": asked.collect::<Vec<_>>(),
        "remembered": step.access.is_some() && step.asked.is_empty(),
    })
}

fn connection(step: &ExchangeStep, url: &CrawlUrl) -> Value {
    let outcome = &step.outcome;
    json!({
        "address": outcome.ip,
        "port": url.port(),
        "reused": outcome.reused_connection,
        "tls": outcome.tls.as_deref().map(tls),
    })
}

fn tls(tls: &TlsDescription) -> Value {
    let certificate = tls.certificate.as_ref().map(|certificate| {
        json!({
            "subject": certificate.subject,
            "issuer": certificate.issuer,
            "not_before": certificate.not_before.to_rfc3339_secs(),
            "not_after": certificate.not_after.to_rfc3339_secs(),
            "names": certificate.names,
        })
    });
    json!({
        "version": tls.version,
        "cipher_suite": tls.cipher_suite,
        "alpn": tls.alpn,
        "certificate": certificate,
        "certificates": tls.certificates,
    })
}

fn answer(step: &ExchangeStep) -> Value {
    let outcome = &step.outcome;
    let headers = outcome.headers.iter();
    let headers = headers.map(|(name, value)| json!({"name": text(name), "value": text(value)}));
    json!({
        "time": step.started.to_rfc3339_millis(),
        "state": step.state.as_str(),
        "code": outcome.code,
        "status_line": super::human::status_line(outcome),
        "headers": headers.collect::<Vec<_>>(),
        "error": outcome.error,
        "phases": phases(&outcome.phases),
        "head_bytes": outcome.head.len(),
        "wire_body_bytes": outcome.wire_body.len(),
        "body_bytes": outcome.body.len(),
        "content_encoding": outcome.header("content-encoding"),
        "transfer_encoding": outcome.header("transfer-encoding"),
        "truncated": outcome.truncated.map(geomi_model::Truncation::as_str),
        "body_cut": outcome.body.truncated,
        "location": step.location.as_ref().map(CrawlUrl::as_str),
    })
}

fn phases(phases: &Phases) -> Value {
    json!({
        "dns_ms": phases.dns.map(millis),
        "connect_ms": phases.connect.map(millis),
        "tls_ms": phases.tls.map(millis),
        "first_byte_ms": phases.first_byte.map(millis),
        "body_ms": phases.download.map(millis),
        "total_ms": millis(phases.total),
    })
}

fn page(step: &ExchangeStep, told: &Told<'_>) -> Value {
    let document = &step.document;
    let is_page = document.charset.is_some();
    let (read_as, is_sniffed) = match &step.read_as {
        ReadAs::Declared(mime) => (Some(mime), false),
        ReadAs::Sniffed(mime) => (Some(mime), true),
        ReadAs::NotRead => (None, false),
    };
    json!({
        "mime": step.mime,
        "read_as": read_as.filter(|_| is_page),
        "sniffed": is_sniffed && is_page,
        "charset": document.charset.map(|charset| json!({
            "name": charset.name,
            "source": source(charset.source),
            "header": step.header_charset,
            "declared": step.declared_charset,
        })),
        "title": document.title,
        "language": step.outcome.header("content-language"),
        "text_bytes": is_page.then_some(document.text_bytes),
        "robots": {
            "noindex": document.robots.noindex,
            "nofollow": document.robots.nofollow,
            "x_robots_tag": step.outcome.headers.get_all("x-robots-tag").collect::<Vec<_>>(),
        },
        "base": document.base.as_ref().map(CrawlUrl::as_str),
        "canonical": document.canonical.as_ref().map(CrawlUrl::as_str),
        "links": links(step, told),
    })
}

/// What decided a charset, by name.
pub(super) const fn source(source: CharsetSource) -> &'static str {
    match source {
        CharsetSource::Bom => "bom",
        CharsetSource::Header => "header",
        CharsetSource::Meta => "meta",
        CharsetSource::Corrected => "corrected",
        CharsetSource::Detected => "detected",
    }
}

fn links(step: &ExchangeStep, told: &Told<'_>) -> Value {
    let document = &step.document;
    let count = |class| {
        let links = document.links.iter();
        links.filter(|link| link.kind.class() == class).count()
    };
    let mut refused: BTreeMap<&str, u64> = BTreeMap::new();
    for link in &step.links {
        if link.verdict != LinkVerdict::Accept {
            *refused.entry(link.rule).or_default() += 1;
        }
    }
    let accepted = step
        .links
        .iter()
        .filter(|link| link.verdict == LinkVerdict::Accept);
    let mut all = json!({
        "total": document.links.len(),
        "frame": count(LinkClass::Frame),
        "anchor": count(LinkClass::Anchor),
        "other": count(LinkClass::Other),
        "nofollow": document.links.iter().filter(|link| link.nofollow).count(),
        "type": document.link_type().as_str(),
        "truncated": document.truncated,
        "dropped": document.links_dropped,
        "accepted": accepted.count(),
        "refused": refused,
    });
    if told.links {
        let each = document.links.iter().zip(&step.links).map(|(link, step)| {
            json!({
                "url": link.url.as_str(),
                "kind": link.kind.name(),
                "nofollow": link.nofollow,
                "advert": link.is_advert,
                "verdict": verdict(step.verdict),
                "rule": step.rule,
                "reason": step.words,
                "priority": step.priority,
            })
        });
        all["each"] = each.collect();
    }
    all
}

/// What would become of a link, by name.
pub(super) const fn verdict(verdict: LinkVerdict) -> &'static str {
    match verdict {
        LinkVerdict::Accept => "accept",
        LinkVerdict::CandidateSeed => "candidate-seed",
        LinkVerdict::Refuse => "refuse",
    }
}

fn fingerprints(step: &ExchangeStep) -> Value {
    let stored = step.stored.as_ref();
    json!({
        "payload": stored.map(|stored| stored.payload.to_string()),
        "content": stored.map(|stored| stored.content.to_string()),
        "text": step.document.fingerprint.map(|print| format!("{:016x}", print.0)),
    })
}

fn store(step: &ExchangeStep) -> Value {
    let Some(stored) = &step.stored else {
        return json!({"captured": false, "records": [], "cdxj": null});
    };
    let record =
        |kind, (bytes, gzip_bytes)| json!({"type": kind, "bytes": bytes, "gzip_bytes": gzip_bytes});
    json!({
        "captured": true,
        "records": [
            record("response", stored.response_bytes),
            record("request", stored.request_bytes),
        ],
        "cdxj": stored.index_line,
    })
}

fn politeness(step: &ExchangeStep) -> Value {
    let pause = &step.pause;
    json!({
        "fate": step.fate,
        "retry_after_ms": step.again_after.map(millis),
        "next_request_ms": millis(pause.total()),
        "rest_ms": millis(pause.rest),
        "margin_ms": millis(pause.margin),
        "backoff_ms": pause.backoff.map(millis),
        "throttled_ms": pause.throttled.map(millis),
        "crawl_delay_ms": step.crawl_delay.map(millis),
    })
}

/// Milliseconds to the microsecond.
fn millis(span: Duration) -> f64 {
    (span.as_secs_f64() * 1e6).round() / 1e3
}

/// Foreign bytes as text.
fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
