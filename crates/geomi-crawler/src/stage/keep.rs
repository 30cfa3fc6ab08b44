//! Keep: put an answer into the archive, as a response or as a reference.

use geomi_model::{Capture, Timestamp};
use geomi_store::warc::{self, Revisit, RevisitProfile};
use geomi_url::CrawlUrl;

use crate::CrawlError;
use crate::archive::Archive;
use crate::partition::Stored;
use crate::stage::read::{Answer, Storable};

/// Writes the records of one visit and says where they lie. Not durable until
/// the archive is synced.
pub(crate) fn keep(
    archive: &mut Archive,
    visit: (&CrawlUrl, Timestamp, u64),
    answer: &Answer,
    stored: &Storable,
    duplicate_of: Option<&Stored>,
) -> Result<Capture, CrawlError> {
    let (url, time, serial) = visit;
    let Some(original) = duplicate_of else {
        return archive.append(&stored.encoded, time);
    };
    let revisit = Revisit {
        url,
        time,
        serial,
        ip: answer.ip,
        protocol: stored.protocol,
        request: &stored.request,
        head: &stored.head,
        profile: if answer.is_not_modified() {
            RevisitProfile::NotModified
        } else {
            RevisitProfile::IdenticalPayload
        },
        payload_digest: original.payload,
        refers_to_url: &original.url,
        refers_to_time: original.time,
    };
    archive.append(&warc::encode_revisit(&revisit, archive.gzip()), time)
}
