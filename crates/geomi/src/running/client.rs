//! The other end of the socket, for commands.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use geomi_crawler::remote::{self, Request, Response};

use super::registry;
use crate::config::Problems;

/// Asks a crawl that has to be running, and has to agree.
pub(crate) fn demand(dir: &Path, request: &Request) -> anyhow::Result<Response> {
    match remote::ask(dir, request)? {
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

/// The directory that was named, or that of the only running crawl.
pub(crate) fn the_crawl(named: Option<&Path>) -> anyhow::Result<PathBuf> {
    if let Some(dir) = named {
        return Ok(dir.to_owned());
    }
    let mut running = Vec::new();
    for (dir, _) in registry::noted().context("cannot list running crawls")? {
        if matches!(remote::status(&dir), Ok(Some(_))) {
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
