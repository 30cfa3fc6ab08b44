//! Judge: has the page changed, and is its content stored already?

use geomi_model::{Change, Document, UrlRecord};

use crate::CrawlError;
use crate::partition::{Partition, Stored};
use crate::stage::read::{Answer, Storable};

/// What the state says about an answer.
#[derive(Debug)]
pub(crate) struct Judgement {
    /// What was remembered of the URL.
    pub(crate) before: Option<UrlRecord>,
    /// Against the visit before.
    pub(crate) change: Option<Change>,
    /// Where the same content is stored.
    pub(crate) duplicate_of: Option<Stored>,
}

/// Compares an answer with what is known.
pub(crate) fn judge(
    partition: &Partition,
    before: Option<UrlRecord>,
    answer: &Answer,
    document: &Document,
    stored: Option<&Storable>,
) -> Result<Judgement, CrawlError> {
    let change = before
        .as_ref()
        .and_then(|before| change(before, answer, document, stored));
    // Only content that is worth a reference: an empty body, or an error page,
    // takes less room than a revisit record.
    let worth = stored.filter(|stored| answer.code == Some(200) && stored.content_bytes > 0);
    let content = if answer.is_not_modified() {
        before.as_ref().and_then(|before| before.digest)
    } else {
        worth.map(|stored| stored.content)
    };
    let duplicate_of = content
        .map(|content| partition.stored(&content))
        .transpose()?
        .flatten();
    Ok(Judgement {
        before,
        change,
        duplicate_of,
    })
}

/// A change is what a reader would notice: the fingerprint of the main text, without
/// dates, counters and nonces, decides where both visits have one, the digest where
/// they have not. A server that says "not modified" when asked is believed. Failures
/// decide nothing.
fn change(
    before: &UrlRecord,
    answer: &Answer,
    document: &Document,
    stored: Option<&Storable>,
) -> Option<Change> {
    let digest = before.digest?;
    if answer.is_not_modified() {
        return Some(Change {
            changed: false,
            size: 0,
        });
    }
    let stored = stored.filter(|_| answer.code == Some(200))?;
    let changed = match (before.fingerprint, document.fingerprint) {
        (Some(then), Some(now)) => then != now,
        _ => digest != stored.content,
    };
    Some(Change {
        changed,
        size: before.body_bytes.abs_diff(answer.body_bytes),
    })
}
