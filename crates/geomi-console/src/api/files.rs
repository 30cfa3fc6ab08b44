//! Files of a crawl, whole or in part.
//!
//! Only what other tools may read is listed and given: the archive, the
//! indexes, the tables, the lists and the logs. `frontier/`, the lock, the
//! socket and the accounts are not there. geomi.toml may hold secrets: everybody
//! but admins is given it without them.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::Path as FsPath;
use std::sync::Arc;
use std::time::UNIX_EPOCH;

use axum::body::Body;
use axum::extract::State;
use axum::response::{IntoResponse as _, Response};
use bytes::Bytes;
use geomi_store::{CrawlDir, StoreError, open_beneath};
use http::{HeaderMap, HeaderValue, StatusCode, header};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use super::crawls::config_text;
use super::{bounded, limit};
use crate::accounts::Principal;
use crate::accounts::Role;
use crate::app::App;
use crate::http::extract::{Path, Query};
use crate::http::guard::Caller;
use crate::http::operation::{Answer, Operation, number, schema, text};
use crate::http::problem::Problem;
use crate::http::respond;
use crate::library::Crawl;
use crate::live::Frames;
use crate::wrong::Wrong;

/// The file that may hold secrets.
const CONFIG: &str = "geomi.toml";
/// Files at the top that are given.
const TOP: [&str; 6] = [
    CONFIG,
    "status.json",
    "stats.jsonl",
    "seeds-out.txt",
    "seeds.parquet",
    "items.db",
];
/// Folders whose files are given.
const FOLDERS: [&str; 4] = ["warc", "index", "index/parts", "visits"];
/// Read at once.
const PIECE_BYTES: u64 = 64 << 10;

/// A file of a crawl.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FileRow {
    /// Its path in the crawl directory.
    pub(crate) path: String,
    /// Its size.
    pub(crate) bytes: u64,
}

/// A page of files.
#[derive(Debug, Serialize, JsonSchema)]
pub(crate) struct FileRows {
    /// The files, by path.
    pub(crate) items: Vec<FileRow>,
    /// Send this as `after` for those behind; null at the end.
    pub(crate) next: Option<String>,
}

/// Which files.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct FilesQuery {
    after: Option<String>,
    limit: Option<u64>,
}

pub(crate) const LIST: Operation = Operation {
    id: "listFiles",
    tag: "files",
    summary: "The files of a crawl, by path.",
    params: &[
        text("after", 1000, "Files behind this path: what `next` said"),
        number("limit", 1, 10_000, "How many, 1,000 unless given"),
    ],
    body: None,
    answer: Answer::Json(schema::<FileRows>),
    problems: &[],
};

/// Lists files.
pub(crate) async fn list(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Path(id): Path<String>,
    Query(query): Query<FilesQuery>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    let limit = limit(query.limit, 1_000, 10_000)?;
    let after = bounded("after", query.after, 1_000)?;
    let mut files = app.read(move |app| files_for(app, &caller, &crawl)).await?;
    files.retain(|file| after.as_ref().is_none_or(|after| file.path > *after));
    let has_more = files.len() > limit;
    files.truncate(limit);
    let next = files
        .last()
        .filter(|_| has_more)
        .map(|file| file.path.clone());
    Ok(respond::json(&headers, &FileRows { items: files, next }))
}

/// Every file that this caller is given, by path.
pub(crate) fn files_for(
    app: &App,
    caller: &Caller,
    crawl: &Crawl,
) -> Result<Vec<FileRow>, StoreError> {
    let mut files = all_files(&crawl.dir)?;
    for file in files.iter_mut().filter(|file| file.path == CONFIG) {
        file.bytes = config_text(app, caller, crawl)?.len() as u64;
    }
    Ok(files)
}

fn all_files(dir: &CrawlDir) -> Result<Vec<FileRow>, StoreError> {
    let mut files = Vec::new();
    let mut folders = vec![String::new()];
    folders.extend(FOLDERS.map(str::to_owned));
    folders.extend(partition_folders(dir));
    for folder in folders {
        let path = dir.root().join(&folder);
        if has_link(dir, &folder) {
            continue;
        }
        // A folder that is not there has no files.
        let Ok(entries) = std::fs::read_dir(&path) else {
            continue;
        };
        for entry in entries {
            let entry = entry.map_err(|error| StoreError::from_io("list", &path, error))?;
            let name = entry.file_name().to_string_lossy().into_owned();
            let relative = if folder.is_empty() {
                name
            } else {
                format!("{folder}/{name}")
            };
            // A file that vanished in this moment is not listed.
            if let Ok(meta) = entry.metadata()
                && meta.is_file()
                && is_given(&relative)
            {
                files.push(FileRow {
                    path: relative,
                    bytes: meta.len(),
                });
            }
        }
    }
    files.sort_unstable_by(|one, other| one.path.cmp(&other.path));
    Ok(files)
}

/// The folders of the visits of each partition.
fn partition_folders(dir: &CrawlDir) -> Vec<String> {
    let entries = std::fs::read_dir(dir.visits()).into_iter().flatten();
    let names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
    let folders = names.map(|name| format!("visits/{name}"));
    folders.filter(|folder| is_of_partition(folder)).collect()
}

fn is_of_partition(folder: &str) -> bool {
    let name = folder.strip_prefix("visits/");
    name.is_some_and(|name| CrawlDir::partition_of_folder(name).is_some())
}

/// Whether a folder below a crawl directory is reached by a symbolic link: its
/// files are not given.
fn has_link(dir: &CrawlDir, folder: &str) -> bool {
    let mut steps = FsPath::new(folder).ancestors();
    steps.any(|step| {
        let is_below = !step.as_os_str().is_empty();
        is_below && dir.root().join(step).is_symlink()
    })
}

/// Whether a path is one that is given: no step up, nothing private.
fn is_given(path: &str) -> bool {
    match path.rsplit_once('/') {
        None => {
            let numbered = path.strip_prefix("log-");
            let numbered = numbered.and_then(|rest| rest.strip_suffix(".jsonl"));
            let is_log = path == "log.jsonl" || numbered.is_some();
            is_log || TOP.contains(&path)
        }
        Some((folder, name)) => {
            (FOLDERS.contains(&folder) || is_of_partition(folder))
                && !name.starts_with('.')
                && !name.is_empty()
                && !name.contains(['\\', '\0'])
        }
    }
}

pub(crate) const GET: Operation = Operation {
    id: "getFile",
    tag: "files",
    summary: "A file of a crawl; with `Range`, a part of it.",
    params: &[],
    body: None,
    answer: Answer::File,
    problems: &[],
};

/// Gives a file.
pub(crate) async fn get(
    State(app): State<App>,
    caller: Caller,
    headers: HeaderMap,
    Path((id, path)): Path<(String, String)>,
) -> Result<Response, Problem> {
    let crawl = app.crawl(id).await?;
    if !is_given(&path) {
        return Err(Problem::not_found(Wrong::NoFile));
    }
    if path == CONFIG && !caller.may(Role::Admin) {
        return redacted_config(&app, caller, crawl).await;
    }
    let is_config = path == CONFIG;
    let root = crawl.dir.root().to_owned();
    let opened = app.read(move |_| open(&root, &path)).await?;
    let Some((file, len, tag)) = opened else {
        return Err(Problem::not_found(Wrong::NoFile));
    };
    if respond::is_known(&headers, &tag) {
        return Ok(StatusCode::NOT_MODIFIED.into_response());
    }
    let (status, first, last) = match part(&headers, len, &tag) {
        Part::Whole => (StatusCode::OK, 0, len),
        Part::Of(first, last) => (StatusCode::PARTIAL_CONTENT, first, last + 1),
        Part::Nothing => {
            let all =
                HeaderValue::from_str(&format!("bytes */{len}")).expect("digits are plain text");
            let problem = Problem::new(
                StatusCode::RANGE_NOT_SATISFIABLE,
                Wrong::Said(format!("the file has {len} bytes")),
            );
            return Ok(problem.with(header::CONTENT_RANGE, all).into_response());
        }
    };
    let (sender, body) = Frames::new(1);
    let known = caller.known().clone();
    tokio::spawn(send(app, known, file, first..last, sender));
    let mut response = respond::with_type("application/octet-stream", Body::new(body));
    *response.status_mut() = status;
    let mut put = |name: header::HeaderName, text: String| {
        let value = HeaderValue::from_str(&text).expect("numbers and names of ours are plain text");
        response.headers_mut().insert(name, value);
    };
    put(header::CONTENT_LENGTH, (last - first).to_string());
    put(header::ACCEPT_RANGES, "bytes".to_owned());
    put(header::ETAG, tag);
    put(header::CONTENT_DISPOSITION, "attachment".to_owned());
    if is_config {
        put(header::CACHE_CONTROL, "no-store".to_owned());
    }
    if status == StatusCode::PARTIAL_CONTENT {
        put(
            header::CONTENT_RANGE,
            format!("bytes {first}-{}/{len}", last - 1),
        );
    }
    Ok(response)
}

/// geomi.toml without secrets, always whole.
async fn redacted_config(
    app: &App,
    caller: Caller,
    crawl: Arc<Crawl>,
) -> Result<Response, Problem> {
    let text = app
        .read(move |app| {
            let is_there = crawl.dir.config().symlink_metadata();
            let is_there = is_there.is_ok_and(|meta| meta.is_file());
            let text = is_there.then(|| config_text(app, &caller, &crawl));
            text.transpose()
        })
        .await?;
    let text = text.ok_or_else(|| Problem::not_found(Wrong::NoFile))?;
    let mut response = respond::with_type("application/octet-stream", Body::from(text));
    let attachment = HeaderValue::from_static("attachment");
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_DISPOSITION, attachment);
    Ok(response)
}

/// A file of a crawl directory, its size, and a tag that changes when it does.
/// `None` for what is no regular file, or is reached by a symbolic link.
fn open(root: &FsPath, path: &str) -> Result<Option<(File, u64, String)>, StoreError> {
    use std::io::ErrorKind::{InvalidInput, NotFound};
    let opened = open_beneath(root, FsPath::new(path));
    let (meta, file) = match opened.and_then(|file| Ok((file.metadata()?, file))) {
        Ok(opened) => opened,
        Err(error) if matches!(error.kind(), NotFound | InvalidInput) => return Ok(None),
        Err(error) => return Err(StoreError::from_io("read", &root.join(path), error)),
    };
    // A file system without dates has sizes.
    let age = meta
        .modified()
        .ok()
        .and_then(|time| time.duration_since(UNIX_EPOCH).ok());
    let tag = format!(
        "\"{:x}-{:x}\"",
        age.unwrap_or_default().as_micros(),
        meta.len()
    );
    Ok(Some((file, meta.len(), tag)))
}

/// Which part is asked for.
#[derive(PartialEq, Eq, Debug)]
enum Part {
    Whole,
    /// First and last byte.
    Of(u64, u64),
    /// None that there is.
    Nothing,
}

/// Reads `Range`: one range of bytes. Several, or what cannot be read, is the
/// whole, as RFC 9110 lets us.
fn part(headers: &HeaderMap, len: u64, tag: &str) -> Part {
    let text = |name| {
        headers
            .get(name)
            .and_then(|value: &HeaderValue| value.to_str().ok())
    };
    if text(header::IF_RANGE).is_some_and(|known| known != tag) {
        return Part::Whole;
    }
    let range = text(header::RANGE).and_then(|range| range.trim().strip_prefix("bytes="));
    let Some((from, to)) = range
        .filter(|range| !range.contains(','))
        .and_then(|range| range.split_once('-'))
    else {
        return Part::Whole;
    };
    let number = |text: &str| text.trim().parse::<u64>().ok();
    match (number(from), number(to)) {
        (None, Some(0)) => Part::Nothing,
        (None, Some(last)) if from.trim().is_empty() && len > 0 => {
            Part::Of(len.saturating_sub(last), len - 1)
        }
        (Some(first), _) if first >= len => Part::Nothing,
        (Some(first), None) if to.trim().is_empty() => Part::Of(first, len - 1),
        (Some(first), Some(last)) if last >= first => Part::Of(first, last.min(len - 1)),
        _ => Part::Whole,
    }
}

/// Sends a part of a file, until it ends, the reader goes away or is not known
/// any more. A thread is taken for the time a piece is read, and none while the
/// reader is slow.
async fn send(
    app: App,
    known: Principal,
    file: File,
    part: Range<u64>,
    sender: tokio::sync::mpsc::Sender<Bytes>,
) {
    let (file, mut at) = (Arc::new(file), part.start);
    while at < part.end && app.accounts.is_still_known(&known, app.now()) {
        let len = PIECE_BYTES.min(part.end - at) as usize;
        let from = Arc::clone(&file);
        let read = app.read(move |_| {
            let mut piece = vec![0; len];
            let read = from.read_at(&mut piece, at)?;
            piece.truncate(read);
            Ok::<_, std::io::Error>(piece)
        });
        match read.await {
            // The file is shorter now.
            Ok(piece) if piece.is_empty() => return,
            Ok(piece) => {
                at += piece.len() as u64;
                if sender.send(piece.into()).await.is_err() {
                    return;
                }
            }
            Err(error) => {
                tracing::warn!(%error, "a file cannot be sent to its end");
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_private_is_not_given() {
        for path in [
            "lock",
            "control.sock",
            "console/accounts.json",
            "frontier/p0000/x",
            "../a/status.json",
            "warc/../lock",
            "warc/",
            "warc/.hidden",
            "",
            "run.log",
            "index/parts/../../lock",
        ] {
            assert!(!is_given(path), "{path}");
        }
        for path in [
            "log.jsonl",
            "log-000000000010.jsonl",
            "warc/a.warc.gz",
            "index/index.cdxj",
        ] {
            assert!(is_given(path), "{path}");
        }
    }

    #[test]
    fn ranges_are_read_as_the_standard_says() {
        let ask = |range: &str| {
            let mut headers = HeaderMap::new();
            headers.insert(header::RANGE, HeaderValue::from_str(range).unwrap());
            part(&headers, 100, "\"t\"")
        };
        assert_eq!(ask("bytes=0-9"), Part::Of(0, 9));
        assert_eq!(ask("bytes=90-"), Part::Of(90, 99));
        assert_eq!(ask("bytes=-10"), Part::Of(90, 99));
        assert_eq!(ask("bytes=-1000"), Part::Of(0, 99));
        assert_eq!(ask("bytes=50-1000"), Part::Of(50, 99));
        assert_eq!(ask("bytes=100-"), Part::Nothing);
        assert_eq!(ask("bytes=-0"), Part::Nothing);
        assert_eq!(ask("bytes=0-1,5-6"), Part::Whole);
        assert_eq!(ask("bytes=9-1"), Part::Whole);
        assert_eq!(ask("lines=0-1"), Part::Whole);
    }
}
