//! Alerts: told once when something happens that a person should know of.
//!
//! Every few seconds all crawls are looked at. What is told:
//!
//! | event | when |
//! |---|---|
//! | `ended` | a crawl that was running is not any more |
//! | `budget-spent` | it ended at a limit of pages, bytes or time |
//! | `stalled` | it runs, has a queue, is not paused, and no visit ended for five minutes |
//! | `failing` | more than half of at least 100 pages failed |
//! | `disk-low` | less than 1 GiB is left on the disk of the crawls |
//!
//! Each is told once a run (`disk-low` once until there is room again): to the
//! log of the program, to the audit log, and to the webhooks, which get one
//! JSON object by POST and are tried again while they do not answer with 2xx.
//! What happens while no console runs is not told.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;
use std::time::Duration;

use geomi_engine::{Ending, Phase};
use geomi_model::Timestamp;
use geomi_store::CrawlDir;
use geomi_url::CrawlUrl;
use serde::Serialize;
use tokio::sync::mpsc;
use tokio::time::MissedTickBehavior;

use crate::accounts::audit::Entry;
use crate::app::App;
use crate::client::{self, Ask, ClientError};
use crate::library::Crawl;

const LOOK_EVERY: Duration = Duration::from_secs(2);
/// No visit for so long is a stall.
const STALL: Duration = Duration::from_mins(5);
/// Pages before a ratio means anything.
const PAGES_MIN: u64 = 100;
/// Room below which a disk is low.
const FREE_BYTES_MIN: u64 = 1 << 30;
/// Alerts that wait for a webhook.
const WAITING_MAX: usize = 1_000;
/// Times a webhook is tried.
const TRIES_MAX: u32 = 20;

/// Something a person should know of.
#[derive(Clone, PartialEq, Eq, Debug, Serialize)]
pub(crate) struct Alert {
    /// What happened, in a word.
    event: &'static str,
    /// Id of the crawl; empty if it is about the machine.
    crawl: String,
    /// When it was noticed.
    time: String,
    /// The same for people.
    text: String,
}

/// What is remembered of a crawl.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
struct Memory {
    was_running: bool,
    /// When its present run began, by its own word.
    run: String,
    visits: u64,
    /// When the number of visits last changed.
    moved: Timestamp,
    told: BTreeSet<&'static str>,
}

/// Decides what is worth an alert. It only looks.
#[derive(Debug, Default)]
struct Watch {
    crawls: BTreeMap<String, Memory>,
    has_looked: bool,
    is_disk_low: bool,
}

impl Watch {
    /// What has to be told since the last look.
    fn look(&mut self, crawls: &[Arc<Crawl>], free_bytes: u64, now: Timestamp) -> Vec<Alert> {
        let mut alerts = Vec::new();
        // What had ended before the console began is not told.
        let is_first_look = !std::mem::replace(&mut self.has_looked, true);
        let is_low = free_bytes < FREE_BYTES_MIN;
        if is_low && !self.is_disk_low {
            let text = format!("the disk of the crawls has {free_bytes} bytes left: make room");
            alerts.push(alert("disk-low", "", now, text));
        }
        self.is_disk_low = is_low;
        self.crawls
            .retain(|id, _| crawls.iter().any(|crawl| crawl.id == *id));
        for crawl in crawls {
            let memory = self.crawls.entry(crawl.id.clone()).or_default();
            for (event, text) in memory.look(crawl, is_first_look, now) {
                if memory.told.insert(event) {
                    alerts.push(alert(event, &crawl.id, now, text));
                }
            }
        }
        alerts
    }
}

fn alert(event: &'static str, crawl: &str, now: Timestamp, text: String) -> Alert {
    Alert {
        event,
        crawl: crawl.to_owned(),
        time: now.to_rfc3339_millis(),
        text,
    }
}

impl Memory {
    /// What is so now; whether it was told already is not asked here.
    fn look(
        &mut self,
        crawl: &Crawl,
        is_first_look: bool,
        now: Timestamp,
    ) -> Vec<(&'static str, String)> {
        let Some(status) = &crawl.status else {
            return Vec::new();
        };
        let is_running = crawl.is_running();
        let is_another_run = self.run != status.started;
        if is_another_run {
            self.run.clone_from(&status.started);
            self.told.clear();
            self.moved = now;
        }
        let mut events = Vec::new();
        // A short run may begin and end between two looks.
        let was_running = self.was_running || (is_another_run && !is_first_look);
        if was_running && !is_running {
            let name = &crawl.name;
            events.push(("ended", format!("{name} ended: {}", crawl.state())));
            let limits = [Ending::PageLimit, Ending::ByteLimit, Ending::TimeLimit];
            if status.reason.is_some_and(|reason| limits.contains(&reason)) {
                events.push((
                    "budget-spent",
                    format!("{name} spent its budget: {}", crawl.state()),
                ));
            }
        }
        self.was_running = is_running;
        if status.counters.visits != self.visits {
            self.visits = status.counters.visits;
            self.moved = now;
        }
        if is_running {
            events.extend(self.running(crawl, now));
        }
        events
    }

    fn running(&self, crawl: &Crawl, now: Timestamp) -> Vec<(&'static str, String)> {
        let Some(status) = &crawl.status else {
            return Vec::new();
        };
        let mut events = Vec::new();
        let is_meant_to_move = status.state == Phase::Running && status.queued > 0;
        if is_meant_to_move && now.since(self.moved) >= STALL {
            let text = format!(
                "{} has {} URLs queued and made no visit for {} minutes: its page Queue says why",
                crawl.name,
                status.queued,
                STALL.as_secs() / 60
            );
            events.push(("stalled", text));
        }
        let (saved, failed) = (status.counters.saved, status.counters.failed);
        if saved + failed >= PAGES_MIN && failed > saved {
            let text = format!(
                "{}: {failed} of {} pages failed",
                crawl.name,
                saved + failed
            );
            events.push(("failing", text));
        }
        events
    }
}

/// Looks on for as long as the console runs.
pub(crate) async fn run(app: App) {
    let mut every = tokio::time::interval(LOOK_EVERY);
    every.set_missed_tick_behavior(MissedTickBehavior::Delay);
    let hooks: Vec<mpsc::Sender<Alert>> = app.options.webhooks.iter().map(hook).collect();
    let mut watch = Watch::default();
    loop {
        every.tick().await;
        app.read(|app| app.accounts.write_unlisted(app.now(), false))
            .await;
        for alert in look(&app, &mut watch).await {
            for (hook, url) in hooks.iter().zip(&app.options.webhooks) {
                if hook.try_send(alert.clone()).is_err() {
                    tracing::warn!(%url, ?alert, "an alert was given up: too many wait");
                }
            }
            app.read(move |app| note(app, &alert)).await;
        }
    }
}

/// A webhook: a queue, and a task that empties it. A webhook that does not
/// answer holds up no other and no look at the crawls.
fn hook(url: &CrawlUrl) -> mpsc::Sender<Alert> {
    let (sender, alerts) = mpsc::channel(WAITING_MAX);
    tokio::spawn(deliver(url.clone(), alerts));
    sender
}

/// Sends alerts in order; one that is not taken is tried again.
async fn deliver(url: CrawlUrl, mut alerts: mpsc::Receiver<Alert>) {
    let mut retry = tokio::time::interval(LOOK_EVERY);
    while let Some(alert) = alerts.recv().await {
        let body = serde_json::to_string(&alert).expect("an alert is plain data");
        for tried in 1..=TRIES_MAX {
            let (to, sent) = (url.clone(), body.clone());
            let answer = tokio::task::spawn_blocking(move || post(&to, &sent)).await;
            let refused = match answer.expect("sending does not panic") {
                Ok((200..=299, _)) => break,
                refused => refused.map(|(code, _)| code),
            };
            if tried == TRIES_MAX {
                tracing::warn!(%url, %body, ?refused, "an alert was given up");
                break;
            }
            retry.reset();
            retry.tick().await;
        }
    }
}

/// Posts a body of JSON. Blocks.
fn post(url: &CrawlUrl, body: &str) -> Result<(u16, Vec<u8>), ClientError> {
    let ask = Ask {
        method: "POST",
        path: None,
        token: None,
        body: Some(body),
    };
    client::send(url, &ask)
}

async fn look(app: &App, watch: &mut Watch) -> Vec<Alert> {
    let now = app.now();
    let crawls = app.library.list(now).await;
    let free = app
        .read(|app| CrawlDir::new(app.library.root()).free_bytes())
        .await;
    match (crawls, free) {
        (Ok(crawls), Ok(free)) => watch.look(&crawls, free, now),
        (Err(error), _) | (_, Err(error)) => {
            tracing::warn!(%error, "crawls cannot be looked at");
            Vec::new()
        }
    }
}

fn note(app: &App, alert: &Alert) {
    tracing::warn!(event = alert.event, crawl = alert.crawl, "{}", alert.text);
    let entry = Entry::new(
        app.now(),
        "geomi",
        "",
        &format!("alert: {}", alert.event),
        &alert.text,
    );
    app.accounts.audit.write(&entry);
}

#[cfg(test)]
mod tests {
    use geomi_engine::Status;

    use super::*;

    const ROOM: u64 = 100 << 30;

    fn at(seconds: i64) -> Timestamp {
        Timestamp::from_secs(seconds)
    }

    fn crawl(pid: Option<u32>, status: Status) -> Vec<Arc<Crawl>> {
        vec![Arc::new(Crawl::sample("news", pid, status))]
    }

    fn running(visits: u64, queued: u64) -> Status {
        let mut status = Status {
            state: Phase::Running,
            started: "now".to_owned(),
            queued,
            ..Status::default()
        };
        status.counters.visits = visits;
        status
    }

    fn events(alerts: &[Alert]) -> Vec<&str> {
        alerts.iter().map(|alert| alert.event).collect()
    }

    #[test]
    fn an_end_and_a_spent_budget_are_told_once() {
        let mut watch = Watch::default();
        assert_eq!(watch.look(&crawl(Some(7), running(1, 1)), ROOM, at(0)), []);
        let ended = Status {
            state: Phase::Done,
            reason: Some(Ending::PageLimit),
            ..running(2, 1)
        };
        let told = watch.look(&crawl(None, ended.clone()), ROOM, at(2));
        assert_eq!(events(&told), ["ended", "budget-spent"]);
        assert_eq!(watch.look(&crawl(None, ended.clone()), ROOM, at(4)), []);
        let again = Status {
            started: "later".to_owned(),
            ..running(2, 1)
        };
        assert_eq!(watch.look(&crawl(Some(8), again), ROOM, at(6)), []);
        let told = watch.look(&crawl(None, ended), ROOM, at(8));
        assert_eq!(events(&told), ["ended", "budget-spent"], "another run");
    }

    #[test]
    fn what_ended_before_is_not_told_and_a_short_run_is() {
        let ended = |started: &str| Status {
            state: Phase::Done,
            reason: Some(Ending::Finished),
            started: started.to_owned(),
            ..Status::default()
        };
        let mut watch = Watch::default();
        assert_eq!(watch.look(&crawl(None, ended("a")), ROOM, at(0)), []);
        assert_eq!(watch.look(&crawl(None, ended("a")), ROOM, at(2)), []);
        let told = watch.look(&crawl(None, ended("b")), ROOM, at(4));
        assert_eq!(events(&told), ["ended"]);
        assert_eq!(watch.look(&crawl(None, ended("b")), ROOM, at(6)), []);
    }

    #[test]
    fn a_stall_is_told_once_and_a_pause_is_none() {
        let mut watch = Watch::default();
        watch.look(&crawl(Some(7), running(1, 5)), ROOM, at(0));
        assert_eq!(
            watch.look(&crawl(Some(7), running(1, 5)), ROOM, at(299)),
            []
        );
        let told = watch.look(&crawl(Some(7), running(1, 5)), ROOM, at(300));
        assert_eq!(events(&told), ["stalled"]);
        assert_eq!(
            watch.look(&crawl(Some(7), running(1, 5)), ROOM, at(900)),
            []
        );
        let paused = Status {
            state: Phase::Paused,
            ..running(1, 5)
        };
        let mut watch = Watch::default();
        watch.look(&crawl(Some(7), paused.clone()), ROOM, at(0));
        assert_eq!(watch.look(&crawl(Some(7), paused), ROOM, at(900)), []);
    }

    #[test]
    fn failures_and_a_low_disk_are_told() {
        let mut watch = Watch::default();
        let mut status = running(100, 1);
        status.counters.saved = 49;
        status.counters.failed = 51;
        let told = watch.look(&crawl(Some(7), status.clone()), 1 << 20, at(0));
        assert_eq!(events(&told), ["disk-low", "failing"]);
        assert_eq!(
            watch.look(&crawl(Some(7), status.clone()), 1 << 20, at(2)),
            []
        );
        assert_eq!(watch.look(&crawl(Some(7), status.clone()), ROOM, at(4)), []);
        let told = watch.look(&crawl(Some(7), status), 1 << 20, at(6));
        assert_eq!(events(&told), ["disk-low"]);
    }
}
