//! Keep: what the archive gets of an answer whose content is stored already.

use std::net::IpAddr;

use geomi_engine::Stored;
use geomi_model::Timestamp;
use geomi_store::warc::{self, Encoded, GzipLevel, Revisit, RevisitProfile};
use geomi_url::CrawlUrl;

use crate::stage::read::Storable;

/// A visit, as far as its archive record is concerned.
#[derive(Clone, Copy, Debug)]
pub(crate) struct KeptVisit<'a> {
    pub(crate) url: &'a CrawlUrl,
    pub(crate) time: Timestamp,
    pub(crate) serial: u64,
    pub(crate) ip: Option<IpAddr>,
    pub(crate) is_not_modified: bool,
}

/// A record that refers to the one that has the content.
pub(crate) fn keep(
    visit: KeptVisit<'_>,
    stored: &Storable,
    original: &Stored,
    gzip: GzipLevel,
) -> Encoded {
    let revisit = Revisit {
        url: visit.url,
        time: visit.time,
        serial: visit.serial,
        ip: visit.ip,
        protocol: stored.protocol,
        request: &stored.request,
        head: &stored.head,
        profile: if visit.is_not_modified {
            RevisitProfile::NotModified
        } else {
            RevisitProfile::IdenticalPayload
        },
        payload_digest: original.payload,
        refers_to_url: &original.url,
        refers_to_time: original.time,
    };
    warc::encode_revisit(&revisit, gzip)
}
