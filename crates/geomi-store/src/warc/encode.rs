//! Exchanges to gzip members: pure, and safe on any thread.

use std::fmt::Display;
use std::io::Write as _;
use std::net::IpAddr;

use geomi_model::{CaptureKind, Digest, Protocol, Timestamp, Truncation};
use geomi_url::CrawlUrl;

use super::gzip::{GzipLevel, Scratch};
use super::record_id::RecordId;

/// One request and the complete answer to it.
#[derive(Clone, Debug)]
pub struct Exchange<'a> {
    /// What was asked for.
    pub url: &'a CrawlUrl,
    /// When the attempt started.
    pub time: Timestamp,
    /// Any number that sets apart two exchanges of one URL in one microsecond:
    /// the visit's number serves.
    pub serial: u64,
    /// Address asked.
    pub ip: Option<IpAddr>,
    /// What was spoken. Of HTTP/2, the other fields are an HTTP/1.1 view, and
    /// the records say so.
    pub protocol: Protocol,
    /// The request as sent.
    pub request: &'a [u8],
    /// The answer's header as received, with the blank line that ends it.
    pub head: &'a [u8],
    /// The answer's body as received: framing and encoding untouched.
    pub wire_body: &'a [u8],
    /// Why the body is not whole, if it is not.
    pub truncated: Option<Truncation>,
    /// [`payload_digest`](super::payload_digest) of `head` and `wire_body`.
    pub payload_digest: Digest,
}

/// An answer whose content an earlier record holds already.
#[derive(Clone, Debug)]
pub struct Revisit<'a> {
    /// What was asked for.
    pub url: &'a CrawlUrl,
    /// When the attempt started.
    pub time: Timestamp,
    /// As in [`Exchange`].
    pub serial: u64,
    /// Address asked.
    pub ip: Option<IpAddr>,
    /// What was spoken. Of HTTP/2, the other fields are an HTTP/1.1 view, and
    /// the records say so.
    pub protocol: Protocol,
    /// The request as sent.
    pub request: &'a [u8],
    /// The answer's header as received, with the blank line that ends it.
    pub head: &'a [u8],
    /// How we know that the content is the same.
    pub profile: RevisitProfile,
    /// Digest of the content, which is that of the earlier record: for a 304
    /// too, so that replay finds the content by it.
    pub payload_digest: Digest,
    /// URL of the earlier record.
    pub refers_to_url: &'a CrawlUrl,
    /// Time of the earlier record.
    pub refers_to_time: Timestamp,
}

/// How a revisit knows that the content is the same.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RevisitProfile {
    /// It was downloaded again and has the same digest.
    IdenticalPayload,
    /// The server said so (304).
    NotModified,
}

impl RevisitProfile {
    const fn uri(self) -> &'static str {
        match self {
            Self::IdenticalPayload => {
                "http://netpreserve.org/warc/1.1/revisit/identical-payload-digest"
            }
            Self::NotModified => "http://netpreserve.org/warc/1.1/revisit/server-not-modified",
        }
    }
}

/// Gzip members ready to be appended: the capture first, then its request.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Encoded {
    /// Both members.
    pub members: Vec<u8>,
    /// Compressed length of the first one, the capture.
    pub capture_length: u64,
    /// Length of the capture before compression.
    pub capture_bytes: u64,
    /// Length of the request record before compression.
    pub request_bytes: u64,
    /// What the first one is.
    pub kind: CaptureKind,
}

/// A response record and its request record.
pub fn encode_exchange(exchange: &Exchange<'_>, level: GzipLevel) -> Encoded {
    let context = Context {
        url: exchange.url,
        time: exchange.time,
        serial: exchange.serial,
        ip: exchange.ip,
        protocol: exchange.protocol,
    };
    Scratch::with(level, |scratch| {
        let record = &mut scratch.record;
        let id = context.begin(record, "response");
        field(record, "WARC-Payload-Digest", exchange.payload_digest);
        if let Some(truncated) = exchange.truncated {
            field(record, "WARC-Truncated", truncated.as_str());
        }
        end(record, RESPONSE, &[exchange.head, exchange.wire_body]);
        context.with_request(scratch, id, exchange.request, CaptureKind::Response)
    })
}

/// A revisit record, which holds the HTTP header only, and its request record.
pub fn encode_revisit(revisit: &Revisit<'_>, level: GzipLevel) -> Encoded {
    let context = Context {
        url: revisit.url,
        time: revisit.time,
        serial: revisit.serial,
        ip: revisit.ip,
        protocol: revisit.protocol,
    };
    Scratch::with(level, |scratch| {
        let record = &mut scratch.record;
        let id = context.begin(record, "revisit");
        field(record, "WARC-Profile", revisit.profile.uri());
        field(record, "WARC-Refers-To-Target-URI", revisit.refers_to_url);
        field(
            record,
            "WARC-Refers-To-Date",
            revisit.refers_to_time.to_rfc3339_secs(),
        );
        field(record, "WARC-Payload-Digest", revisit.payload_digest);
        end(record, RESPONSE, &[revisit.head]);
        context.with_request(scratch, id, revisit.request, CaptureKind::Revisit)
    })
}

/// The record every file starts with: who made it, and how.
pub fn encode_warcinfo(
    file: &str,
    time: Timestamp,
    fields: &[(String, String)],
    level: GzipLevel,
) -> Vec<u8> {
    let mut block = Vec::new();
    for (name, value) in fields {
        // A line break in a configured value would start another field.
        field(&mut block, name, value.replace(['\r', '\n'], " "));
    }
    Scratch::with(level, |scratch| {
        let record = &mut scratch.record;
        let id = RecordId::of("warcinfo", file, time, 0);
        begin(record, "warcinfo", id, time);
        field(record, "WARC-Filename", file);
        end(record, "application/warc-fields", &[&block]);
        scratch.take_member().to_vec()
    })
}

const RESPONSE: &str = "application/http;msgtype=response";
const REQUEST: &str = "application/http;msgtype=request";

/// What the two records of an exchange share.
struct Context<'a> {
    url: &'a CrawlUrl,
    time: Timestamp,
    serial: u64,
    ip: Option<IpAddr>,
    protocol: Protocol,
}

impl Context<'_> {
    fn begin(&self, record: &mut Vec<u8>, kind: &str) -> RecordId {
        let id = RecordId::of(kind, self.url.as_str(), self.time, self.serial);
        begin(record, kind, id, self.time);
        field(record, "WARC-Target-URI", self.url);
        if let Some(ip) = self.ip {
            field(record, "WARC-IP-Address", ip);
        }
        if self.protocol == Protocol::Http2 {
            field(record, "WARC-Protocol", self.protocol.as_str());
        }
        id
    }

    /// Finishes the capture in `scratch` and adds the request record.
    fn with_request(
        &self,
        scratch: &mut Scratch,
        capture: RecordId,
        request: &[u8],
        kind: CaptureKind,
    ) -> Encoded {
        let capture_bytes = scratch.record.len() as u64;
        let member = scratch.take_member();
        let capture_length = member.len() as u64;
        let mut members = Vec::with_capacity(member.len() + 512);
        members.extend_from_slice(member);
        let record = &mut scratch.record;
        self.begin(record, "request");
        field(record, "WARC-Concurrent-To", capture);
        end(record, REQUEST, &[request]);
        let request_bytes = record.len() as u64;
        members.extend_from_slice(scratch.take_member());
        Encoded {
            members,
            capture_length,
            capture_bytes,
            request_bytes,
            kind,
        }
    }
}

fn begin(record: &mut Vec<u8>, kind: &str, id: RecordId, time: Timestamp) {
    record.extend_from_slice(b"WARC/1.1\r\n");
    field(record, "WARC-Type", kind);
    field(record, "WARC-Record-ID", id);
    field(record, "WARC-Date", time.to_rfc3339_secs());
}

fn field(record: &mut Vec<u8>, name: &str, value: impl Display) {
    write!(record, "{name}: {value}\r\n").expect("a vector takes any write");
}

fn end(record: &mut Vec<u8>, content_type: &str, block: &[&[u8]]) {
    let length: usize = block.iter().map(|part| part.len()).sum();
    field(record, "Content-Type", content_type);
    field(record, "Content-Length", length);
    record.extend_from_slice(b"\r\n");
    for part in block {
        record.extend_from_slice(part);
    }
    record.extend_from_slice(b"\r\n\r\n");
}
