//! The other end of the socket.

use std::io;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail};
use geomi_crawler::Status;
use geomi_store::CrawlDir;

use super::protocol::{self, Request, Response};
use super::{address, registry};
use crate::config::Problems;

/// Asks the crawl in `dir`; `None` if none is running there.
pub(crate) fn ask(dir: &Path, request: &Request) -> anyhow::Result<Option<Response>> {
    let stream = match address(dir).and_then(|address| UnixStream::connect(&address.path)) {
        Ok(stream) => stream,
        Err(error) if is_nobody(&error) => return unreachable_crawl(dir),
        Err(error) => {
            return Err(error).with_context(|| format!("cannot reach {}", dir.display()));
        }
    };
    protocol::send(&stream, request)
        .and_then(|()| protocol::receive(&stream, None))
        .map(Some)
        .with_context(|| format!("the crawl in {} gave no answer", dir.display()))
}

/// The same for a crawl that has to be running, and has to agree.
pub(crate) fn demand(dir: &Path, request: &Request) -> anyhow::Result<Response> {
    match ask(dir, request)? {
        Some(Response::Refused { problems }) => {
            let mut all = Problems::default();
            for problem in problems {
                all.add_general(problem);
            }
            Err(all.into())
        }
        Some(response) => Ok(response),
        None => {
            let what = format!(
                "no crawl is running in {}; `geomi ls` lists those that are",
                dir.display()
            );
            Err(Problems::one(what).into())
        }
    }
}

/// How a crawl stands, and which process runs it.
pub(crate) fn status(dir: &Path) -> anyhow::Result<Option<(u32, Status)>> {
    match ask(dir, &Request::Status)? {
        Some(Response::Status { pid, status }) => Ok(Some((pid, *status))),
        Some(_) => bail!("the crawl in {} speaks another language", dir.display()),
        None => Ok(None),
    }
}

/// The directory that was named, or that of the only running crawl.
pub(crate) fn the_crawl(named: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(dir) = named {
        return Ok(dir.to_owned());
    }
    let mut running = Vec::new();
    for (dir, _) in registry::noted().context("cannot list running crawls")? {
        if matches!(status(&dir), Ok(Some(_))) {
            running.push(dir);
        }
    }
    if let [only] = &running[..] {
        return Ok(only.clone());
    }
    let names: Vec<String> = running
        .iter()
        .map(|dir| dir.display().to_string())
        .collect();
    let what = if names.is_empty() {
        "no crawl is running: name its directory if this is wrong".to_owned()
    } else {
        format!(
            "several crawls are running, say which: {}",
            names.join(", ")
        )
    };
    Err(Problems::one(what).into())
}

fn is_nobody(error: &io::Error) -> bool {
    matches!(
        error.kind(),
        io::ErrorKind::NotFound | io::ErrorKind::ConnectionRefused | io::ErrorKind::NotADirectory
    )
}

/// Nobody listens: is there really no crawl, or one that cannot be reached?
fn unreachable_crawl(dir: &Path) -> anyhow::Result<Option<Response>> {
    match CrawlDir::new(dir).lock_owner()? {
        None => Ok(None),
        Some(owner) => bail!(
            "{} belongs to {}, which cannot be reached from here: steer it from its own terminal",
            dir.display(),
            owner.trim()
        ),
    }
}
