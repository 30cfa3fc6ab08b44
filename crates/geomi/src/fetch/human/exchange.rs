//! The lines about a request, its answer, and what is made of it.

use geomi_crawler::{ExchangeStep, Hop, LinkVerdict};
use geomi_fetch::TlsDescription;
use geomi_model::{CharsetSource, LinkClass};
use geomi_page::ReadAs;

use super::super::{Told, json};
use super::{Sheet, phases, short};
use crate::words;

/// Names of a certificate that are worth reading.
const NAMES_SHOWN: usize = 5;

/// All of them.
pub(super) fn lines(sheet: &mut Sheet, step: &ExchangeStep, hop: &Hop, told: &Told<'_>) {
    connection_lines(sheet, step, hop);
    answer_lines(sheet, step);
    if step.document.charset.is_some() || step.mime.is_some() {
        page_lines(sheet, step, told);
    }
    store_lines(sheet, step);
}

fn connection_lines(sheet: &mut Sheet, step: &ExchangeStep, hop: &Hop) {
    let outcome = &step.outcome;
    let addr = outcome.ip.map_or_else(String::new, |ip| {
        std::net::SocketAddr::new(ip, hop.url.port()).to_string()
    });
    let how = match outcome.phases.connect {
        _ if outcome.reused_connection => "used before".to_owned(),
        Some(took) => format!("connected in {}", short(took)),
        None => "not connected".to_owned(),
    };
    sheet.line("connection", &format!("{addr}, {how}"));
    if let Some(tls) = &outcome.tls {
        tls_lines(sheet, tls);
    }
    let request = String::from_utf8_lossy(&outcome.request);
    for (at, line) in request.trim_end().lines().enumerate() {
        sheet.line(if at == 0 { "request" } else { "" }, line);
    }
}

fn tls_lines(sheet: &mut Sheet, tls: &TlsDescription) {
    let alpn = tls.alpn.as_deref().unwrap_or("no protocol agreed on");
    sheet.line(
        "tls",
        &format!("{}, {}, {alpn}", tls.version, tls.cipher_suite),
    );
    let Some(certificate) = &tls.certificate else {
        return;
    };
    sheet.more(&format!(
        "certificate of {}, issued by {}",
        certificate.subject, certificate.issuer
    ));
    sheet.more(&format!(
        "valid from {} to {}",
        certificate.not_before.to_rfc3339_secs(),
        certificate.not_after.to_rfc3339_secs()
    ));
    let shown = certificate.names.len().min(NAMES_SHOWN);
    let hidden = certificate.names.len() - shown;
    let more = if hidden > 0 {
        format!(" and {hidden} more")
    } else {
        String::new()
    };
    sheet.more(&format!(
        "for {}{more}",
        certificate.names[..shown].join(", ")
    ));
}

fn answer_lines(sheet: &mut Sheet, step: &ExchangeStep) {
    let outcome = &step.outcome;
    let note = outcome.error.as_ref();
    let note = note.map_or_else(String::new, |error| format!(" ({error})"));
    sheet.line("answer", &format!("{}{note}", step.state));
    let head = String::from_utf8_lossy(&outcome.head);
    for line in head.trim_end().lines() {
        sheet.more(line);
    }
    sheet.line("time", &phases(&outcome.phases));
    if outcome.code.is_none() {
        return;
    }
    let coding = outcome.header("content-encoding");
    let coding = coding.map_or_else(String::new, |coding| format!(" ({coding})"));
    let cut = match outcome.truncated {
        Some(why) => format!(", cut by {why}"),
        None if outcome.body.truncated => ", cut by length after decoding".to_owned(),
        None => String::new(),
    };
    sheet.line(
        "size",
        &format!(
            "header {}, body {} as sent, {} decoded{coding}{cut}",
            words::bytes(outcome.head.len() as f64),
            words::bytes(outcome.wire_body.len() as f64),
            words::bytes(outcome.body.len() as f64),
        ),
    );
    if let Some(target) = &step.location {
        sheet.line("redirect", target.as_str());
    }
}

fn page_lines(sheet: &mut Sheet, step: &ExchangeStep, told: &Told<'_>) {
    let document = &step.document;
    let mime = step.mime.as_deref().unwrap_or("none declared");
    let reading = match &step.read_as {
        _ if document.charset.is_none() => "not read".to_owned(),
        ReadAs::Declared(mime) => format!("read as {mime}"),
        ReadAs::Sniffed(mime) => format!("read as {mime}, which it begins like"),
        ReadAs::NotRead => "not read".to_owned(),
    };
    sheet.line("type", &format!("{mime}, {reading}"));
    let Some(charset) = document.charset else {
        return;
    };
    let why = match charset.source {
        CharsetSource::Bom => "by its byte order mark",
        CharsetSource::Header => "by Content-Type",
        CharsetSource::Meta => "declared in the page",
        CharsetSource::Corrected => "by its bytes, against its label",
        CharsetSource::Detected => "guessed from its bytes",
    };
    let header = step.header_charset.as_deref().unwrap_or("nothing");
    let declared = step.declared_charset.unwrap_or("nothing");
    sheet.line(
        "charset",
        &format!(
            "{}, {why} (header says {header}, page says {declared})",
            charset.name
        ),
    );
    if let Some(title) = &document.title {
        sheet.line("title", title);
    }
    let language = step.outcome.header("content-language");
    let language = language.map_or_else(String::new, |code| format!(", language {code}"));
    sheet.line(
        "text",
        &format!(
            "{} visible{language}",
            words::bytes(document.text_bytes as f64)
        ),
    );
    let wishes = [
        ("noindex", document.robots.noindex),
        ("nofollow", document.robots.nofollow),
    ];
    let wishes: Vec<&str> = wishes
        .iter()
        .filter(|(_, is_so)| *is_so)
        .map(|(name, _)| *name)
        .collect();
    if !wishes.is_empty() {
        sheet.line("asks", &wishes.join(", "));
    }
    for (label, url) in [("base", &document.base), ("canonical", &document.canonical)] {
        if let Some(url) = url {
            sheet.line(label, url.as_str());
        }
    }
    link_lines(sheet, step, told);
}

fn link_lines(sheet: &mut Sheet, step: &ExchangeStep, told: &Told<'_>) {
    let links = &step.document.links;
    let count = |kind| {
        links
            .iter()
            .filter(|link| link.kind.class() == kind)
            .count() as u64
    };
    let mut refused: Vec<(&str, usize)> = Vec::new();
    for link in step
        .links
        .iter()
        .filter(|link| link.verdict != LinkVerdict::Accept)
    {
        match refused.iter_mut().find(|(rule, _)| *rule == link.rule) {
            Some((_, count)) => *count += 1,
            None => refused.push((link.rule, 1)),
        }
    }
    let turned_away: usize = refused.iter().map(|(_, count)| count).sum();
    let reasons: Vec<String> = refused
        .iter()
        .map(|(rule, count)| format!("{rule} {count}"))
        .collect();
    let why = if reasons.is_empty() {
        String::new()
    } else {
        format!(": {}", reasons.join(", "))
    };
    sheet.line(
        "links",
        &format!(
            "{} ({}, {}, {} of other kinds; type {})",
            links.len(),
            words::plural(count(LinkClass::Anchor), "anchor"),
            words::plural(count(LinkClass::Frame), "frame"),
            count(LinkClass::Other),
            step.document.link_type()
        ),
    );
    sheet.more(&format!(
        "{} would be followed, {turned_away} would not{why}",
        step.links.len() - turned_away
    ));
    match step.document.links_dropped {
        0 if step.document.truncated => sheet.more("a limit of the reader left links out"),
        0 => {}
        dropped => sheet.more(&format!(
            "{dropped} more left out: a page has more links than are read"
        )),
    }
    if told.links {
        for (link, step) in links.iter().zip(&step.links) {
            let (kind, verdict) = (link.kind.name(), json::verdict(step.verdict));
            sheet.more(&format!(
                "{kind:8} {verdict:6} {}: {}",
                link.url, step.words
            ));
        }
    }
}

fn store_lines(sheet: &mut Sheet, step: &ExchangeStep) {
    if let Some(stored) = &step.stored {
        sheet.line("payload", &stored.payload.to_string());
        sheet.line("content", &stored.content.to_string());
        if let Some(print) = step.document.fingerprint {
            sheet.line("fingerprint", &format!("{:016x}", print.0));
        }
        let record = |name, (bytes, gzip): (u64, u64)| {
            let sizes = [bytes, gzip].map(|bytes| words::bytes(bytes as f64));
            format!("{name} record {}, {} in gzip", sizes[0], sizes[1])
        };
        let response = record("response", stored.response_bytes);
        let request = record("request", stored.request_bytes);
        sheet.line("stored", &format!("{response}; {request}"));
        sheet.more(&stored.index_line);
    } else {
        sheet.line("stored", "nothing: there is no complete answer");
    }
    let again = step.again_after;
    let again = again.map_or_else(String::new, |wait| {
        format!(", tried again in {}", short(wait))
    });
    sheet.line(
        "next",
        &format!(
            "counts as {}{again}; the site rests for {}",
            step.fate,
            short(step.pause.total())
        ),
    );
}
