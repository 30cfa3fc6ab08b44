//! Contents: where each content is stored, whichever partition its page is in.
//!
//! A digest belongs to a partition like a site does, by its first bits. That partition
//! keeps where the content is stored, so that copies are found across partitions.
//!
//! A digest whose page is in another partition is kept one commit later than the page's
//! visit: a crash must not leave a digest that refers to a record without a visit. Until
//! then it is in a table here, which is as large as a round.

use geomi_model::Digest;
use geomi_url::SiteHash;
use hashbrown::HashMap;

use crate::CrawlError;
use crate::journey::Journey;
use crate::partition::Stored;

/// Contents stored since the last commit by pages of other partitions than their own.
pub(crate) type FreshContents = HashMap<Digest, Stored>;

impl Journey<'_> {
    /// The partition that keeps where a content is stored.
    fn keeper(&self, content: &Digest) -> usize {
        let (start, _) = content.0.split_first_chunk().expect("a digest is longer");
        self.partition_of(SiteHash(u64::from_be_bytes(*start)))
    }

    /// Where this content is stored, if it is.
    pub(crate) fn stored(&self, content: &Digest) -> Result<Option<Stored>, CrawlError> {
        match self.contents.get(content) {
            Some(stored) => Ok(Some(stored.clone())),
            None => self.partitions[self.keeper(content)].stored(content),
        }
    }

    /// Remembers where the content of a page of this partition is stored.
    pub(crate) fn set_stored(&mut self, partition: usize, content: Digest, stored: Stored) {
        if self.keeper(&content) == partition {
            self.partitions[partition].set_stored(&content, &stored);
        } else {
            self.contents.insert(content, stored);
        }
    }

    /// After a commit: the visits that stored these contents are durable.
    pub(crate) fn hand_over_contents(&mut self) {
        for (content, stored) in std::mem::take(&mut self.contents) {
            let keeper = self.keeper(&content);
            self.partitions[keeper].set_stored(&content, &stored);
        }
    }
}
