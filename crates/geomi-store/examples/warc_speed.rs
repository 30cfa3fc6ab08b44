//! What an 18 KB page costs: digest, compression, index line, table row.
//! `cargo run --release --example warc_speed`

#[path = "../tests/sample/mod.rs"]
mod sample;

use std::hint::black_box;
use std::time::{Duration, Instant};

use geomi_model::{Capture, CaptureKind};
use geomi_store::cdxj;
use geomi_store::visits::write_visits;
use geomi_store::warc::{Exchange, GzipLevel, encode_exchange, payload_digest};
use geomi_url::CrawlUrl;

const ROUNDS: u64 = 5000;

fn main() {
    let pages: Vec<String> = (0..64).map(sample::page).collect();
    let head = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nServer: speed\r\n\
                 Date: Sun, 15 Nov 2026 12:00:00 GMT\r\nConnection: keep-alive\r\n\r\n";
    let request = b"GET /dir/page.html HTTP/1.1\r\nHost: 127.0.1.5:8080\r\nUser-Agent: geomi\r\n\
                    Accept: */*\r\nAccept-Encoding: gzip\r\n\r\n";
    let page = |round: u64| pages[(round % 64) as usize].as_bytes();
    let raw: usize = pages.iter().map(String::len).sum();
    eprintln!("page: {} bytes", raw / 64);

    time("payload_digest", |round| {
        black_box(payload_digest(head, page(round)));
    });
    let visit = sample::visit(1, "http://127.0.1.5:8080/dir/page.html");
    for (level, has_body) in [(1, true), (1, false), (6, true)] {
        let gzip = GzipLevel::new(level).expect("a level");
        let what = if has_body { "a page" } else { "no body" };
        let mut bytes = 0;
        time(
            &format!("encode_exchange, level {level}, {what}"),
            |round| {
                let exchange = Exchange {
                    url: &visit.url,
                    time: visit.time,
                    serial: round,
                    ip: None,
                    protocol: geomi_model::Protocol::Http1,
                    request,
                    head,
                    wire_body: if has_body { page(round) } else { b"" },
                    truncated: None,
                    payload_digest: geomi_model::Digest([7; 20]),
                };
                let encoded = encode_exchange(&exchange, gzip);
                bytes += encoded.members.len() as u64;
                black_box(encoded);
            },
        );
        eprintln!("    {} bytes an exchange", bytes / ROUNDS);
    }
    let rows: Vec<_> = (1..=ROUNDS)
        .map(|number| {
            let url = format!("http://127.0.1.5:8080/dir/page-{number}.html?q={number}");
            let mut visit = sample::answered(number, &sample::answers()[1]);
            visit.url = CrawlUrl::parse(&url).expect("a URL");
            visit.phases.total += Duration::from_micros(number % 977);
            visit.title = Some(format!("Page {number} of many"));
            visit.digest = Some(payload_digest(head, &number.to_be_bytes()));
            visit.capture = Some(Capture {
                file: "crawl-20261115120000-00001-w0.warc.gz".to_owned(),
                offset: number * 7000,
                length: 6500,
                kind: CaptureKind::Response,
            });
            visit
        })
        .collect();
    time("cdxj::line", |round| {
        black_box(cdxj::line(&rows[round as usize]));
    });
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = folder.path().join("visits.parquet");
    time_batches("write_visits", 5, ROUNDS, |_| {
        write_visits(&path, &rows).expect("written");
    });
    let bytes = std::fs::metadata(&path).expect("there").len() / ROUNDS;
    eprintln!("    {bytes} bytes a row");
}

fn time(what: &str, mut work: impl FnMut(u64)) {
    let units = ROUNDS / 50;
    time_batches(what, 50, units, |batch| {
        (batch * units..(batch + 1) * units).for_each(&mut work);
    });
}

/// The best of many batches, a unit: what the work costs when nobody interrupts.
fn time_batches(what: &str, batches: u64, units: u64, mut batch: impl FnMut(u64)) {
    let mut best = f64::MAX;
    for index in 0..batches {
        #[expect(clippy::disallowed_methods, reason = "measuring is what this is for")]
        let start = Instant::now();
        batch(index);
        best = best.min(start.elapsed().as_secs_f64() * 1e6 / units as f64);
    }
    eprintln!("{what}: {best:.2} us");
}
