//! The one reader of a watched crawl.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, OnceLock, Weak};
use std::time::Duration;

use bytes::Bytes;
use geomi_crawler::log_reader::{self, Bounds, LoggedVisit};
use geomi_engine::explain::Cause;
use geomi_model::Timestamp;
use geomi_store::{CrawlDir, StoreError};
use tokio::sync::broadcast;
use tokio::time::MissedTickBehavior;

use super::frames::{self, Form, Frame};
use crate::accounts::hold;
use crate::app::App;
use crate::library::Crawl;
use crate::why;
use crate::words::Language;

/// How often a watched crawl is looked at.
const LOOK_EVERY: Duration = Duration::from_millis(500);
/// Visits of one look that are shown one by one: twice that a second.
pub(super) const SHOWN_MAX: u64 = 100;
/// Looks a watcher may fall behind before it is given what it missed from the
/// log.
const BEHIND_MAX: usize = 16;

/// What was visited since the look before.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Visits {
    /// First and last number of those not shown, the older ones.
    pub(super) skipped: Option<(u64, u64)>,
    /// Those that are shown, oldest first.
    pub(super) lines: Vec<LoggedVisit>,
}

impl Visits {
    /// What came after `after` and up to `until`, of which the last `shown` are
    /// shown.
    pub(super) fn read(
        dir: &CrawlDir,
        after: u64,
        until: u64,
        shown: u64,
    ) -> Result<Self, StoreError> {
        if until <= after {
            return Ok(Self::default());
        }
        let from = until.saturating_sub(shown).max(after);
        let bounds = Bounds {
            lines: (until - from) as usize,
            looks: (until - from) as usize,
        };
        let found = log_reader::after(dir, from, bounds, &|visit| visit.position() <= until)?;
        // A log that was cut or moved under us has fewer lines than numbers.
        let first = found.lines.first().map_or(until + 1, LoggedVisit::position);
        let skipped = (first > after + 1).then_some((after + 1, first - 1));
        Ok(Self {
            skipped,
            lines: found.lines,
        })
    }
}

/// One look at a crawl.
#[derive(Debug)]
pub(crate) struct Tick {
    crawl: Arc<Crawl>,
    /// Why it is not running.
    causes: Vec<Cause>,
    visits: Visits,
    /// When it was.
    time: Timestamp,
    /// Number of the visit before the first of this tick.
    pub(super) after: u64,
    /// Number of the last visit of this tick.
    pub(super) last: u64,
    json: OnceLock<Bytes>,
    html: [OnceLock<Bytes>; Language::ALL.len()],
}

impl Tick {
    /// As text; made once, whoever asks first.
    pub(super) fn frame(&self, form: Form) -> Frame {
        let made = match form {
            Form::Json => &self.json,
            Form::Html(language) => &self.html[language as usize],
        };
        let frame = made.get_or_init(|| {
            let status = frames::status(&self.crawl, &self.causes, form);
            Bytes::from(status + &frames::visits(&self.visits, form, self.time))
        });
        frame.clone()
    }
}

/// The reader of one crawl, and those who watch.
#[derive(Debug)]
pub(crate) struct Hub {
    id: String,
    ticks: broadcast::Sender<Arc<Tick>>,
    /// Number of the last visit the watchers were told of.
    position: Mutex<u64>,
}

/// All readers.
#[derive(Debug, Default)]
pub(crate) struct Hubs {
    hubs: Mutex<HashMap<String, Weak<Hub>>>,
}

/// A place among the watchers of a crawl.
pub(super) struct Seat {
    /// Kept while somebody watches: its reader ends with the last one.
    pub(super) hub: Arc<Hub>,
    pub(super) ticks: broadcast::Receiver<Arc<Tick>>,
    /// Number of the last visit the others were told of.
    pub(super) position: u64,
}

impl Hubs {
    /// Takes a seat. The first one starts the reader, which begins at `last`.
    pub(super) fn sit(&self, app: &App, crawl: &Crawl, last: u64) -> Seat {
        let mut hubs = hold(&self.hubs);
        hubs.retain(|_, hub| hub.strong_count() > 0);
        let hub = hubs
            .get(&crawl.id)
            .and_then(Weak::upgrade)
            .unwrap_or_else(|| {
                let hub = Arc::new(Hub {
                    id: crawl.id.clone(),
                    ticks: broadcast::channel(BEHIND_MAX).0,
                    position: Mutex::new(last),
                });
                hubs.insert(crawl.id.clone(), Arc::downgrade(&hub));
                tokio::spawn(look_on(app.clone(), Arc::downgrade(&hub)));
                hub
            });
        let seat = hub.seat();
        Seat {
            ticks: seat.0,
            position: seat.1,
            hub,
        }
    }

    /// How many crawls are watched, and by how many.
    pub(crate) fn counts(&self) -> (usize, usize) {
        let hubs = hold(&self.hubs);
        let live = hubs.values().filter_map(Weak::upgrade);
        live.fold((0, 0), |(crawls, watchers), hub| {
            (crawls + 1, watchers + hub.ticks.receiver_count())
        })
    }
}

impl Hub {
    /// Both at one moment, so that no tick falls between them.
    pub(super) fn seat(&self) -> (broadcast::Receiver<Arc<Tick>>, u64) {
        let position = hold(&self.position);
        (self.ticks.subscribe(), *position)
    }

    fn tell(&self, tick: Tick) {
        let mut position = hold(&self.position);
        *position = tick.last;
        // Whoever left in this moment is not told.
        let _nobody_left = self.ticks.send(Arc::new(tick));
    }

    async fn look(&self, app: &App) -> Option<Tick> {
        let time = app.now();
        let found = app.library.get(&self.id, time).await;
        // A folder that vanished or cannot be read has nothing new to tell.
        let crawl = found.ok()??;
        let after = *hold(&self.position);
        app.read(move |app| Tick::read(app, crawl, after, time))
            .await
    }
}

impl Tick {
    /// What is new in the log of a crawl. Blocks.
    fn read(app: &App, crawl: Arc<Crawl>, after: u64, time: Timestamp) -> Option<Self> {
        let last = log_reader::last(&crawl.dir).ok().flatten().unwrap_or(0);
        // A log that was begun anew is followed from its beginning.
        let after = if last < after { 0 } else { after };
        let visits = Visits::read(&crawl.dir, after, last, SHOWN_MAX).ok()?;
        Some(Self {
            causes: why::causes(app, &crawl),
            crawl,
            visits,
            time,
            after,
            last,
            json: OnceLock::new(),
            html: Default::default(),
        })
    }
}

/// Looks at a crawl until nobody watches any more.
async fn look_on(app: App, hub: Weak<Hub>) {
    let mut every = tokio::time::interval(LOOK_EVERY);
    every.set_missed_tick_behavior(MissedTickBehavior::Delay);
    loop {
        every.tick().await;
        let Some(hub) = hub.upgrade() else { return };
        if let Some(tick) = hub.look(&app).await {
            hub.tell(tick);
        }
    }
}
