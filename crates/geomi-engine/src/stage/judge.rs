//! Judge: has the page changed, and is its content stored already?

use geomi_model::{Change, Digest, Document, UrlRecord};

use crate::EngineError;
use crate::partition::Stored;
use crate::stage::arrival::{Answer, Content};

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

/// Compares an answer with what is known; `known` says where a content is stored.
pub(crate) fn judge(
    known: impl FnOnce(&Digest) -> Result<Option<Stored>, EngineError>,
    before: Option<UrlRecord>,
    answer: &Answer,
    document: &Document,
    stored: Option<&Content>,
) -> Result<Judgement, EngineError> {
    let now = stored.map(|stored| stored.digest);
    let change = before
        .as_ref()
        .and_then(|before| change(before, answer, document, now));
    // Only content that is worth a reference: an empty body, or an error page,
    // takes less room than a revisit record.
    let worth = stored.filter(|stored| answer.code == Some(200) && stored.bytes > 0);
    let content = if answer.is_not_modified() {
        before.as_ref().and_then(|before| before.digest)
    } else {
        worth.map(|stored| stored.digest)
    };
    let duplicate_of = content.map(|content| known(&content)).transpose()?;
    Ok(Judgement {
        before,
        change,
        duplicate_of: duplicate_of.flatten(),
    })
}

/// A change is what a reader would notice: the fingerprint of the main text, without
/// dates, counters and nonces, decides where both visits have one, the digest where
/// they have not. A server that says "not modified" when asked is believed. Failures
/// decide nothing. Its size is how many bytes longer or shorter the body is than that of
/// the last complete answer, also where no reader would notice.
fn change(
    before: &UrlRecord,
    answer: &Answer,
    document: &Document,
    content: Option<Digest>,
) -> Option<Change> {
    let digest = before.digest?;
    if answer.is_not_modified() {
        return Some(Change {
            changed: false,
            size: 0,
        });
    }
    let content = content.filter(|_| answer.code == Some(200))?;
    let changed = match (before.fingerprint, document.fingerprint) {
        (Some(then), Some(now)) => then != now,
        _ => digest != content,
    };
    Some(Change {
        changed,
        size: before.body_bytes.abs_diff(answer.body_bytes),
    })
}

#[cfg(test)]
mod tests {
    use geomi_model::{Fingerprint, NetworkState};

    use super::*;

    const THEN: Digest = Digest([1; 20]);
    const NOW: Digest = Digest([2; 20]);

    fn answer(code: u16, body_bytes: u64) -> Answer {
        Answer {
            code: Some(code),
            body_bytes,
            ..Answer::none(NetworkState::Ok, String::new())
        }
    }

    fn read(text: Option<u64>) -> Document {
        Document {
            fingerprint: text.map(Fingerprint),
            ..Document::default()
        }
    }

    #[test]
    fn a_change_has_the_size_by_which_the_body_differs() {
        let before = UrlRecord {
            digest: Some(THEN),
            fingerprint: Some(Fingerprint(1)),
            body_bytes: 1_000,
            ..UrlRecord::default()
        };
        let found = |text: Option<u64>, content: Digest, body_bytes: u64| {
            let change = change(
                &before,
                &answer(200, body_bytes),
                &read(text),
                Some(content),
            );
            change.map(|change| (change.changed, change.size))
        };
        assert_eq!(found(Some(2), NOW, 1_300), Some((true, 300)), "longer");
        assert_eq!(found(Some(2), NOW, 400), Some((true, 600)), "shorter");
        assert_eq!(found(Some(2), NOW, 1_000), Some((true, 0)), "as long");
        assert_eq!(found(Some(1), NOW, 1_010), Some((false, 10)), "a counter");
        assert_eq!(found(None, NOW, 1_024), Some((true, 24)), "no text");
        assert_eq!(found(None, THEN, 1_000), Some((false, 0)), "no text");

        let other = |code: u16| change(&before, &answer(code, 0), &read(None), None);
        let unchanged = Change {
            changed: false,
            size: 0,
        };
        assert_eq!(other(304), Some(unchanged));
        assert_eq!(other(404), None);
        let unknown = UrlRecord::default();
        let first = change(&unknown, &answer(200, 7), &read(Some(1)), Some(NOW));
        assert_eq!(first, None);
    }
}
