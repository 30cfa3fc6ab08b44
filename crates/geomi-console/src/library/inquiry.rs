//! Asking crawls how they stand, without waiting for one that does not answer.
//!
//! A crawl whose process is suspended takes connections and answers none. So
//! at most one question per crawl is under way, everybody who wants to know
//! waits for that one, and not for long: a question that was not answered in
//! time stays open, and until it is answered the crawl counts as silent at
//! once. No thread waits.

use std::collections::HashMap;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use geomi_crawler::remote::{self, Request, Response};
use geomi_engine::Status;
use tokio::sync::watch;
use tokio::time::{Instant, timeout};

use crate::accounts::hold;

/// How long an answer is waited for.
const PATIENCE: Duration = Duration::from_millis(500);
/// The same where the question has been open for longer than that.
const LITTLE_PATIENCE: Duration = Duration::from_millis(10);

/// What a crawl said.
#[derive(Clone, Debug)]
pub(super) enum Heard {
    /// The process at work on it, and how it stands.
    Status(u32, Arc<Status>),
    /// No process is at work on it.
    Nobody,
    /// Nothing, so far.
    Silence,
    /// It cannot be asked, and why.
    Trouble(String),
}

/// A question under way: since when, and where its answer will be.
type Open = (Instant, watch::Receiver<Option<Heard>>);

/// The questions under way, by crawl directory.
#[derive(Clone, Debug, Default)]
pub(super) struct Inquiry {
    open: Arc<Mutex<HashMap<PathBuf, Open>>>,
}

impl Inquiry {
    /// Asks the crawl in a directory how it stands.
    pub(super) async fn status(&self, dir: &Path) -> Heard {
        let (since, mut answer) = self.question(dir);
        let patience = if since.elapsed() > PATIENCE {
            LITTLE_PATIENCE
        } else {
            PATIENCE
        };
        match timeout(patience, answer.wait_for(Option::is_some)).await {
            Ok(Ok(heard)) => heard.clone().unwrap_or(Heard::Silence),
            // Not in time, or the console is about to end.
            Ok(Err(_)) | Err(_) => Heard::Silence,
        }
    }

    /// The question that is under way, or a new one.
    fn question(&self, dir: &Path) -> Open {
        let mut open = hold(&self.open);
        if let Some(question) = open.get(dir) {
            return question.clone();
        }
        let (sender, receiver) = watch::channel(None);
        let question = (Instant::now(), receiver);
        open.insert(dir.to_owned(), question.clone());
        let (inquiry, dir) = (self.clone(), dir.to_owned());
        tokio::spawn(async move {
            let heard = ask(&dir).await;
            hold(&inquiry.open).remove(&dir);
            // Nobody may be waiting any more.
            let _no_one = sender.send(Some(heard));
        });
        question
    }
}

async fn ask(dir: &Path) -> Heard {
    match remote::ask_async(dir, &Request::Status).await {
        Ok(Some(Response::Status { pid, status })) => Heard::Status(pid, Arc::from(status)),
        Ok(None) => Heard::Nobody,
        Ok(Some(_)) => Heard::Trouble("the crawl was started by another version".to_owned()),
        Err(error) => Heard::Trouble(error.to_string()),
    }
}
