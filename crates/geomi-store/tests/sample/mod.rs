//! A small crawl directory with one of everything, made without a network.

#![allow(dead_code, reason = "each test and example uses its own part of it")]

use std::collections::BTreeMap;
use std::fmt::Write as _;
use std::net::{IpAddr, Ipv4Addr};
use std::path::Path;
use std::time::Duration;

use geomi_model::{
    Capture, Change, CharsetSource, Fingerprint, LinkKind, LinkType, NetworkState, Phases,
    Timestamp, Visit,
};
use geomi_store::warc::{
    Encoded, Exchange, GzipLevel, Revisit, RevisitProfile, WarcConfig, WarcWriter, encode_exchange,
    encode_revisit, payload_digest,
};
use geomi_store::{CrawlDir, segment};
use geomi_url::CrawlUrl;

/// Noon of a day in November 2026.
pub(crate) const START: Timestamp = Timestamp::from_secs(1_794_744_000);

/// An answer as it came over the wire.
pub(crate) struct Answer {
    pub(crate) url: &'static str,
    pub(crate) code: u16,
    pub(crate) mime: Option<&'static str>,
    pub(crate) head: String,
    pub(crate) body: Vec<u8>,
}

impl Answer {
    fn new(url: &'static str, status: &str, fields: &str, body: &[u8]) -> Self {
        let mime = fields
            .lines()
            .find_map(|line| line.strip_prefix("Content-Type: "))
            .map(|value| value.split([';', ' ']).next().unwrap_or(""));
        Self {
            url,
            code: status[..3].parse().expect("a status code"),
            mime: mime.map(|mime| Box::leak(mime.to_owned().into_boxed_str()) as &str),
            head: format!("HTTP/1.1 {status}\r\n{}\r\n", fields.replace('\n', "\r\n")),
            body: body.to_vec(),
        }
    }
}

/// Answers of every kind the index treats in its own way.
pub(crate) fn answers() -> Vec<Answer> {
    let page = page(1);
    let chunked = format!("{:x}\r\n{}\r\n0\r\n\r\n", page.len(), page);
    vec![
        Answer::new(
            "http://127.0.1.5:8080/robots.txt",
            "404 Not Found",
            "Content-Type: text/plain\n",
            b"no\n",
        ),
        Answer::new(
            "http://127.0.1.5:8080/",
            "200 OK",
            "Content-Type: text/html; charset=utf-8\n",
            page.as_bytes(),
        ),
        Answer::new(
            "http://www.example.com/Chunked?b=2&a=1",
            "200 OK",
            "Content-Type: text/html\nTransfer-Encoding: chunked\n",
            chunked.as_bytes(),
        ),
        Answer::new(
            "http://www.example.com/moved",
            "301 Moved Permanently",
            "Location: /\nContent-Length: 0\n",
            b"",
        ),
        Answer::new(
            "http://example.com/odd-type",
            "302 Found",
            "Location: /x\nContent-Type: weird\n",
            b"x",
        ),
        Answer::new(
            "http://example.com/empty-type",
            "200 OK",
            "Content-Type: \n",
            b"?",
        ),
        Answer::new(
            "http://example.com/%EA%B0%80?q=%22%5C'|[]",
            "200 OK",
            "Content-Type: text/html;charset=euc-kr\n",
            &[0xb0, 0xa1, b'\n'],
        ),
        Answer::new(
            "http://xn--bj0bj06e.kr/a//b/?",
            "500 Internal Server Error",
            "Content-Type: text/html\nX-Folded: a\n b\n",
            b"oops",
        ),
        Answer::new(
            "http://[::1]:8080/six",
            "204 No Content",
            "Server: x\n",
            b"",
        ),
        Answer::new(
            "https://www2.example.co.kr/x.aspx?PHPSESSID=0123456789abcdef0123456789abcdef&z=1",
            "200 OK",
            "Content-Type: application/xhtml+xml\n",
            b"<html/>",
        ),
    ]
}

/// A page of about 18 KB with some variety in it.
pub(crate) fn page(seed: u64) -> String {
    let mut state = seed;
    let mut text = String::from("<!doctype html><html><head><title>A page</title></head><body>\n");
    while text.len() < 18_000 {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        let (a, b) = (state >> 33 & 0xfff, state >> 45 & 0xffff);
        let dir = a % 17;
        writeln!(
            text,
            "<p>Paragraph {a} tells of item {b:x} and links to <a href=\"/dir{dir}/page-{b}.html\">page {b}</a>.</p>"
        )
        .expect("a string takes any write");
    }
    text.push_str("</body></html>\n");
    text
}

/// A failed visit; the starting point of all others.
pub(crate) fn visit(number: u64, url: &str) -> Visit {
    Visit {
        number,
        time: START + Duration::from_millis(number * 1500),
        priority: 1,
        attempt: 1,
        is_robots: url.ends_with("/robots.txt"),
        state: NetworkState::ConnectTimeout,
        error: Some("connect timed out after 5 s".to_owned()),
        phases: Phases {
            total: Duration::from_secs(5),
            ..Phases::default()
        },
        ..Visit::unknown(CrawlUrl::parse(url).expect("a URL"))
    }
}

/// A visit that got `answer`, with most fields filled.
pub(crate) fn answered(number: u64, answer: &Answer) -> Visit {
    Visit {
        seed: Some(CrawlUrl::parse("http://127.0.1.5:8080/").expect("a URL")),
        topic: Some("topic, \"quoted\"".to_owned()),
        depth: 2,
        state: if answer.code == 200 {
            NetworkState::Ok
        } else {
            NetworkState::Code
        },
        code: Some(answer.code),
        error: None,
        ip: Some(IpAddr::V4(Ipv4Addr::new(127, 0, 1, 5))),
        mime: answer.mime.map(str::to_owned),
        charset: Some("UTF-8".to_owned()),
        charset_source: Some(CharsetSource::Header),
        wire_bytes: (answer.head.len() + answer.body.len()) as u64,
        body_bytes: answer.body.len() as u64,
        text_bytes: Some(answer.body.len() as u64 / 2),
        digest: Some(payload_digest(answer.head.as_bytes(), &answer.body)),
        fingerprint: Some(Fingerprint(u64::MAX - number)),
        title: Some("제목".to_owned()),
        link_type: Some(LinkType::default().with(LinkKind::Anchor)),
        links: 50,
        links_admitted: 7,
        phases: Phases {
            connect: Some(Duration::from_micros(310)),
            first_byte: Some(Duration::from_micros(1234)),
            download: Some(Duration::from_micros(99)),
            total: Duration::from_micros(1700),
            ..Phases::default()
        },
        ..visit(number, answer.url)
    }
}

/// Writes visits and their records as a crawl would.
pub(crate) struct Crawl {
    pub(crate) dir: CrawlDir,
    writer: WarcWriter,
    rows: Vec<Visit>,
}

impl Crawl {
    /// Starts in an empty folder, with files that roll at `bytes_max`.
    pub(crate) fn start(root: &Path, bytes_max: u64) -> Self {
        let dir = CrawlDir::create(root).expect("a crawl directory");
        let config = WarcConfig {
            bytes_max,
            ..WarcConfig::new(dir.warc(), "sample", "w0")
        };
        Self {
            writer: WarcWriter::resume(config, None).expect("a writer"),
            dir,
            rows: Vec::new(),
        }
    }

    fn next_number(&self) -> u64 {
        self.rows.last().map_or(1, |row| row.number + 1)
    }

    /// A visit that got no answer.
    pub(crate) fn fail(&mut self, url: &str) {
        let row = visit(self.next_number(), url);
        self.rows.push(row);
    }

    /// A visit whose answer is stored.
    pub(crate) fn store(&mut self, answer: &Answer) {
        self.store_with_digest_of(answer, answer);
    }

    /// A visit whose answer is stored under another one's digest.
    pub(crate) fn store_with_digest_of(&mut self, answer: &Answer, other: &Answer) {
        let mut row = answered(self.next_number(), answer);
        let digest = payload_digest(other.head.as_bytes(), &other.body);
        row.digest = Some(digest);
        let exchange = Exchange {
            url: &row.url,
            time: row.time,
            serial: row.number,
            ip: row.ip,
            protocol: geomi_model::Protocol::Http1,
            request: b"GET / HTTP/1.1\r\nHost: sample\r\n\r\n",
            head: answer.head.as_bytes(),
            wire_body: &answer.body,
            truncated: None,
            payload_digest: digest,
        };
        let encoded = encode_exchange(&exchange, GzipLevel::default());
        self.append(row, &encoded);
    }

    /// A visit whose answer is the same as that of the first visit to `answer`.
    pub(crate) fn revisit(&mut self, answer: &Answer, profile: RevisitProfile) {
        let first = self.rows.iter().find(|row| row.url.as_str() == answer.url);
        let first = first.expect("visited before").clone();
        let mut row = answered(self.next_number(), answer);
        let head = match profile {
            RevisitProfile::IdenticalPayload => answer.head.clone(),
            RevisitProfile::NotModified => {
                row.code = Some(304);
                "HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\n\r\n".to_owned()
            }
        };
        row.changed = Some(Change {
            changed: false,
            size: 0,
        });
        let revisit = Revisit {
            url: &row.url,
            time: row.time,
            serial: row.number,
            ip: row.ip,
            protocol: geomi_model::Protocol::Http1,
            request: b"GET / HTTP/1.1\r\nHost: sample\r\nIf-None-Match: \"1\"\r\n\r\n",
            head: head.as_bytes(),
            profile,
            payload_digest: row.digest.expect("an answer has a digest"),
            refers_to_url: &first.url,
            refers_to_time: first.time,
        };
        let encoded = encode_revisit(&revisit, GzipLevel::default());
        self.append(row, &encoded);
    }

    fn append(&mut self, mut row: Visit, encoded: &Encoded) {
        let at = self
            .writer
            .append(&encoded.members, row.time)
            .expect("room on disk");
        row.capture = Some(Capture {
            file: at.file,
            offset: at.offset,
            length: encoded.capture_length,
            kind: encoded.kind,
        });
        self.rows.push(row);
    }

    /// Ends the crawl of several partitions: `partition_of` says where a visit belongs.
    /// The visits of a partition are numbered anew, in segments of `segment_rows`.
    pub(crate) fn finish_in_partitions(
        mut self,
        segment_rows: usize,
        partition_of: impl Fn(&Visit) -> u16,
    ) -> (CrawlDir, BTreeMap<u16, Vec<Visit>>) {
        self.writer.sync().expect("synced");
        self.writer.close().expect("closed");
        let mut partitions: BTreeMap<u16, Vec<Visit>> = BTreeMap::new();
        for mut row in self.rows {
            let rows = partitions.entry(partition_of(&row)).or_default();
            row.number = rows.len() as u64 + 1;
            rows.push(row);
        }
        for (partition, rows) in &partitions {
            for rows in rows.chunks(segment_rows) {
                segment::write(&self.dir, Some(*partition), rows).expect("a segment");
            }
        }
        segment::merge_index(&self.dir).expect("an index");
        (self.dir, partitions)
    }

    /// Ends the crawl: files closed, visits in segments of `segment_rows`.
    pub(crate) fn finish(mut self, segment_rows: usize) -> (CrawlDir, Vec<Visit>) {
        self.writer.sync().expect("synced");
        self.writer.close().expect("closed");
        for rows in self.rows.chunks(segment_rows) {
            segment::write(&self.dir, None, rows).expect("a segment");
        }
        segment::merge_index(&self.dir).expect("an index");
        (self.dir, self.rows)
    }
}

/// A whole crawl with one of everything.
pub(crate) fn crawl(root: &Path, bytes_max: u64) -> (CrawlDir, Vec<Visit>) {
    let mut crawl = Crawl::start(root, bytes_max);
    let answers = answers();
    for answer in &answers {
        crawl.store(answer);
        crawl.fail("http://silent.example/");
    }
    crawl.revisit(&answers[1], RevisitProfile::IdenticalPayload);
    crawl.revisit(&answers[2], RevisitProfile::NotModified);
    crawl.finish(7)
}
