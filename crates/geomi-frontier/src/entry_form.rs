//! The form in which an [`Entry`] is stored and posted.
//!
//! What is to be visited again is marked in the place where entries of earlier
//! versions say whether they are seeds: their queues read as they always did.

use std::borrow::Cow;

use geomi_model::{LinkKind, Timestamp};
use geomi_url::CrawlUrl;
use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Entry;

/// The bit of a seed.
const SEED: u8 = 1;
/// The bit of what is to be visited again.
const REVISIT: u8 = 2;

#[derive(Serialize, Deserialize)]
struct Form<'a> {
    url: Cow<'a, CrawlUrl>,
    seed: u32,
    via: Cow<'a, Option<CrawlUrl>>,
    kind: LinkKind,
    depth: u16,
    priority: u8,
    attempts: u8,
    redirects: u8,
    marks: u8,
    not_before: Option<Timestamp>,
}

impl Serialize for Entry {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let form = Form {
            url: Cow::Borrowed(&self.url),
            seed: self.seed,
            via: Cow::Borrowed(&self.via),
            kind: self.kind,
            depth: self.depth,
            priority: self.priority,
            attempts: self.attempts,
            redirects: self.redirects,
            marks: u8::from(self.is_seed) * SEED + u8::from(self.is_revisit) * REVISIT,
            not_before: self.not_before,
        };
        form.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Entry {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let form = Form::deserialize(deserializer)?;
        Ok(Self {
            url: form.url.into_owned(),
            seed: form.seed,
            via: form.via.into_owned(),
            kind: form.kind,
            depth: form.depth,
            priority: form.priority,
            attempts: form.attempts,
            redirects: form.redirects,
            is_seed: form.marks & SEED != 0,
            is_revisit: form.marks & REVISIT != 0,
            not_before: form.not_before,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// An entry as versions before revisits stored it.
    #[derive(Serialize)]
    struct Earlier {
        url: CrawlUrl,
        seed: u32,
        via: Option<CrawlUrl>,
        kind: LinkKind,
        depth: u16,
        priority: u8,
        attempts: u8,
        redirects: u8,
        is_seed: bool,
        not_before: Option<Timestamp>,
    }

    #[test]
    fn entries_of_earlier_versions_read_as_they_were() {
        let url = CrawlUrl::parse("http://a.test/x").unwrap();
        for is_seed in [false, true] {
            let before = Earlier {
                url: url.clone(),
                seed: 7,
                via: Some(url.clone()),
                kind: LinkKind::Anchor,
                depth: 3,
                priority: 2,
                attempts: 1,
                redirects: 4,
                is_seed,
                not_before: Some(Timestamp::from_secs(9)),
            };
            let bytes = postcard::to_stdvec(&before).unwrap();
            let read: Entry = postcard::from_bytes(&bytes).unwrap();
            assert_eq!((read.is_seed, read.is_revisit), (is_seed, false));
            assert_eq!((read.seed, read.depth, read.redirects), (7, 3, 4));
            assert_eq!(read.not_before, before.not_before);
            assert_eq!(postcard::to_stdvec(&read).unwrap(), bytes);
            let again = Entry {
                is_revisit: true,
                ..read
            };
            let bytes = postcard::to_stdvec(&again).unwrap();
            assert_eq!(postcard::from_bytes::<Entry>(&bytes).unwrap(), again);
            assert!(!again.is_first_visit());
        }
    }
}
