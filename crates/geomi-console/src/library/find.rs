//! Finding crawl directories below a folder.

use std::path::{Path, PathBuf};

use geomi_store::{CrawlDir, StoreError};

use super::id;

/// How deep below the root crawls are looked for.
const DEPTH_MAX: usize = 3;

/// Whether a folder is a crawl directory.
pub(crate) fn is_crawl(folder: &Path) -> bool {
    let dir = CrawlDir::new(folder);
    dir.frontier().is_dir() || dir.status().is_file()
}

/// Every crawl directory at or below `root`: id, name and directory, by name.
pub(super) fn crawls(root: &Path) -> Result<Vec<(String, String, CrawlDir)>, StoreError> {
    if is_crawl(root) {
        // Where the path ends in `..` or is `/`, the absolute one has a name.
        let absolute = root.canonicalize().unwrap_or_else(|_| root.to_owned());
        let name = absolute.file_name().unwrap_or(absolute.as_os_str());
        let name = name.to_string_lossy().into_owned();
        return Ok(vec![(id::encode(&name), name, CrawlDir::new(root))]);
    }
    let mut found = Vec::new();
    walk(root, 1, &mut found)?;
    let mut crawls: Vec<_> = found
        .into_iter()
        .filter_map(|path| {
            // A name that is no text has no address either.
            let name = path.strip_prefix(root).ok()?.to_str()?.to_owned();
            Some((id::encode(&name), name, CrawlDir::new(path)))
        })
        .collect();
    crawls.sort_unstable_by(|one, other| one.1.cmp(&other.1));
    Ok(crawls)
}

/// The crawl directory with this id, where [`crawls`] would find it.
pub(super) fn one(root: &Path, id: &str) -> Option<(String, String, CrawlDir)> {
    let name = id::decode(id)?;
    // As written, so that a crawl has one name: no empty part, no dots.
    let parts: Vec<&str> = name.split('/').collect();
    let is_plain = |part: &&str| !matches!(*part, "" | "." | "..");
    if parts.len() > DEPTH_MAX || !parts.iter().all(is_plain) || is_crawl(root) {
        return None;
    }
    let mut path = root.to_owned();
    for (at, part) in parts.iter().enumerate() {
        path.push(part);
        let is_last = at + 1 == parts.len();
        // Links are not followed, as in a walk.
        let is_dir = std::fs::symlink_metadata(&path).is_ok_and(|meta| meta.is_dir());
        if !is_dir || is_crawl(&path) != is_last {
            return None;
        }
    }
    Some((id.to_owned(), name, CrawlDir::new(path)))
}

fn walk(folder: &Path, depth: usize, found: &mut Vec<PathBuf>) -> Result<(), StoreError> {
    let list = |source| StoreError::from_io("list", folder, source);
    for entry in std::fs::read_dir(folder).map_err(list)? {
        let entry = entry.map_err(list)?;
        if !entry.file_type().is_ok_and(|kind| kind.is_dir()) {
            continue;
        }
        let path = entry.path();
        if is_crawl(&path) {
            found.push(path);
        } else if depth < DEPTH_MAX
            && let Err(error) = walk(&path, depth + 1, found)
        {
            // A folder we may not read holds no crawl of ours.
            tracing::debug!(%error, "not looked into");
        }
    }
    Ok(())
}
