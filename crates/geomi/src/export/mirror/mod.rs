//! `--as files`: a mirror that a browser reads from disk.
//!
//! Each page is the latest content of its URL that the selection holds; error
//! pages do not take the place of content, and robots.txt is no page. Links
//! ([`geomi_page::rewrite_html`]) lead to the files beside, through redirects
//! where there are some, and to the original address where the mirror has no
//! copy. Text becomes UTF-8.
//!
//! The folder is built under another name and gets its own when it is complete.
//! Memory is a name and a few numbers for each page, and one page at a time.

mod front;
mod kind;
mod names;
mod pages;
mod plan;
mod safe;

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use geomi_fetch::StoredAnswer;
use geomi_model::Visit;
use geomi_store::StoreError;
use geomi_store::warc::Captures;

use super::Exported;
use super::source::Source;
use crate::words;
use plan::{CONTENT_BYTES_MAX, Plan};

/// No header is longer: none would have been taken.
const HEAD_BYTES_MAX: usize = 1 << 20;

/// Writes the mirror as `folder`.
pub(crate) fn write(source: &Source, folder: &Path) -> anyhow::Result<Exported> {
    let building = Building::begin(folder)?;
    let captures = Captures::of(source.dir());
    let plan = Plan::make(source, &captures)?;
    let mut files = 0;
    source.every(|visit| {
        files += u64::from(write_page(&plan, &captures, &visit, &building.path)?);
        Ok(())
    })?;
    let crawl = source.dir().root().file_name().unwrap_or_default();
    let front = front::page(&plan, &crawl.to_string_lossy());
    put(&building.path.join(front::NAME), front.as_bytes())?;
    building.finish(folder)?;
    let mut exported = Exported::visits(plan.considered).with("file", files);
    if plan.missing > 0 {
        exported.warnings.push(format!(
            "{} left out, because the archive does not hold the content referred to",
            words::plural(plan.missing, "page")
        ));
    }
    Ok(exported)
}

/// Writes the file of a visit, if it has one.
fn write_page(
    plan: &Plan,
    captures: &Captures,
    visit: &Visit,
    root: &Path,
) -> anyhow::Result<bool> {
    let Some((name, capture)) = plan.file_of(visit).zip(plan.content(visit)) else {
        return Ok(false);
    };
    let unreadable = || {
        format!(
            "cannot read {} from the archive; see geomi verify",
            visit.url
        )
    };
    let block = captures
        .read(capture, CONTENT_BYTES_MAX + HEAD_BYTES_MAX)
        .with_context(unreadable)?;
    let answer = StoredAnswer::parse(block.bytes, CONTENT_BYTES_MAX)
        .map_err(anyhow::Error::msg)
        .with_context(unreadable)?;
    let path = root.join(name);
    let folder = path.parent().expect("a file lies in a folder");
    fs::create_dir_all(folder).map_err(|error| StoreError::from_io("create", folder, error))?;
    put(&path, &pages::ready(plan, visit, name, &answer))?;
    Ok(true)
}

fn put(path: &Path, bytes: &[u8]) -> Result<(), StoreError> {
    fs::write(path, bytes).map_err(|error| StoreError::from_io("write", path, error))
}

/// The folder under its other name; dropping it unfinished removes it.
struct Building {
    path: PathBuf,
    finished: bool,
}

impl Building {
    fn begin(folder: &Path) -> anyhow::Result<Self> {
        let mut path = folder.as_os_str().to_owned();
        path.push(".tmp");
        let path = PathBuf::from(path);
        match fs::create_dir(&path) {
            Ok(()) => Ok(Self {
                path,
                finished: false,
            }),
            Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => bail!(
                "{} is there: another export is running, or one was interrupted; remove it and try again",
                path.display()
            ),
            Err(error) => Err(StoreError::from_io("create", &path, error).into()),
        }
    }

    fn finish(mut self, folder: &Path) -> Result<(), StoreError> {
        // Over an empty folder this works as well.
        fs::rename(&self.path, folder)
            .map_err(|error| StoreError::from_io("rename", &self.path, error))?;
        self.finished = true;
        Ok(())
    }
}

impl Drop for Building {
    fn drop(&mut self) {
        if !self.finished {
            // The first error is the one to report; what stays is named by the
            // next attempt.
            let _ = fs::remove_dir_all(&self.path);
        }
    }
}
