//! Pages that broke the reader: kept aside, and not asked for again by the same
//! version.
//!
//! Reading must not panic. Where it does all the same, the page is recorded like any
//! other, without what reading would have told, and its answer goes to a file in
//! `quarantine/` for whoever mends the reader. Another version tries the page again.

use std::io;
use std::path::{Path, PathBuf};

use bytes::Bytes;
use geomi_store::{CrawlDir, StoreError};
use geomi_url::CrawlUrl;
use hashbrown::HashSet;

use crate::CrawlError;

/// Which reader it was.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Files that hold the answer; further ones only name the page.
const ANSWERS_MAX: usize = 1_000;
/// Files in all. A reader that breaks on more pages than this asks for the rest of
/// them again.
const FILES_MAX: usize = 65_536;

/// An answer that broke the reader.
#[derive(Debug)]
pub(crate) struct Culprit {
    /// What the panic said.
    pub(crate) message: String,
    pub(crate) head: Bytes,
    pub(crate) body: Bytes,
}

/// The answers kept aside.
#[derive(Debug)]
pub(crate) struct Quarantine {
    folder: PathBuf,
    /// Pages of this version's files, by the hash of their URL.
    held: HashSet<u64>,
}

impl Quarantine {
    /// Reads which pages are kept aside.
    pub(crate) fn open(dir: &CrawlDir) -> Result<Self, CrawlError> {
        let folder = dir.quarantine();
        let mut held = HashSet::new();
        if folder.is_dir() {
            let failed = |error| io_error("read", &folder, error);
            for entry in std::fs::read_dir(&folder).map_err(failed)? {
                let name = entry.map_err(failed)?.file_name();
                held.extend(name.to_str().and_then(hash_in));
            }
        }
        Ok(Self { folder, held })
    }

    /// Whether a page broke this version's reader.
    pub(crate) fn holds(&self, url: &CrawlUrl) -> bool {
        !self.held.is_empty() && self.held.contains(&url.hash64().0)
    }

    /// Keeps an answer aside.
    pub(crate) fn take(&mut self, url: &CrawlUrl, culprit: &Culprit) -> Result<(), CrawlError> {
        let message = &culprit.message;
        tracing::error!(%url, message, "the reader panicked; the page is in quarantine/");
        let hash = url.hash64().0;
        if self.held.len() >= FILES_MAX || !self.held.insert(hash) {
            return Ok(());
        }
        let reason = message.replace(['\r', '\n'], " ");
        let mut file = format!("url: {url}\nversion: {VERSION}\nreason: {reason}\n\n").into_bytes();
        if self.held.len() <= ANSWERS_MAX {
            file.extend_from_slice(&culprit.head);
            file.extend_from_slice(&culprit.body);
        }
        let failed = |error| io_error("create", &self.folder, error);
        std::fs::create_dir_all(&self.folder).map_err(failed)?;
        let path = self.folder.join(format!("{hash:016x}-{VERSION}.http"));
        CrawlDir::write_atomic(&path, &file)?;
        Ok(())
    }
}

fn io_error(action: &'static str, path: &Path, source: io::Error) -> CrawlError {
    let path = path.to_owned();
    CrawlError::Store(StoreError::Io {
        action,
        path,
        source,
    })
}

/// The hash in the name of a file, if it is one of this version's.
fn hash_in(name: &str) -> Option<u64> {
    let (hash, version) = name.strip_suffix(".http")?.split_once('-')?;
    let hash = u64::from_str_radix(hash, 16).ok()?;
    (version == VERSION).then_some(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_this_version_are_known_again() {
        let temp = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(temp.path().join("crawl")).unwrap();
        let [broken, fine] =
            ["http://a.test/x", "http://a.test/y"].map(|text| CrawlUrl::parse(text).unwrap());
        let culprit = Culprit {
            message: "index out of\nbounds".to_owned(),
            head: Bytes::from_static(b"HTTP/1.1 200 OK\r\n\r\n"),
            body: Bytes::from_static(b"<p>"),
        };
        let mut quarantine = Quarantine::open(&dir).unwrap();
        quarantine.take(&broken, &culprit).unwrap();
        let again = Quarantine::open(&dir).unwrap();
        assert!(again.holds(&broken) && !again.holds(&fine));

        let name = format!("{:016x}-{VERSION}.http", broken.hash64().0);
        let file = dir.quarantine().join(&name);
        let text = std::fs::read_to_string(&file).unwrap();
        assert!(
            text.starts_with("url: http://a.test/x\nversion: "),
            "{text}"
        );
        assert!(text.ends_with("reason: index out of bounds\n\nHTTP/1.1 200 OK\r\n\r\n<p>"));
        let older = name.replace(VERSION, "0.0.1");
        std::fs::rename(file, dir.quarantine().join(older)).unwrap();
        assert!(
            !Quarantine::open(&dir).unwrap().holds(&broken),
            "another version"
        );
    }
}
