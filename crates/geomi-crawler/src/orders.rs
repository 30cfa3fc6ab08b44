//! Orders to a running crawl, carried out between two rounds: other settings, more
//! seeds, questions.

use geomi_engine::explain::{
    CrawlFacts, Disk, Explanation, QueuedSample, SitesPage, SitesQuery, Topic, explain, queued,
    sites,
};
use geomi_engine::{Engine, Phase, SeedAdded, SeedInput};

use crate::worker::Worker;
use crate::{CrawlConfig, CrawlError};

/// What can be asked of a running crawl.
#[derive(Debug)]
pub enum Order {
    /// Go on with these settings. What can change in a running crawl does, from
    /// the next request on: delays, limits, scope, connections, tries.
    Reconfigure(Box<CrawlConfig>),
    /// Take these seeds in.
    AddSeeds(Vec<SeedInput>),
    /// Explain something.
    Explain(Topic),
    /// List sites.
    Sites(SitesQuery),
    /// Name some of the URLs that wait, at most this number.
    Queued(usize),
}

/// What a running crawl answers.
#[derive(Debug)]
pub enum Reply {
    /// It is done.
    Done,
    /// What became of the seeds.
    Seeds(SeedsAdded),
    /// The explanation.
    Explained(Box<Explanation>),
    /// A page of sites.
    Sites(Box<SitesPage>),
    /// Some of the URLs that wait.
    Queued(QueuedSample),
}

/// What became of added seeds.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct SeedsAdded {
    /// Queued.
    pub added: u64,
    /// Known already, as a seed or as a page.
    pub known: u64,
    /// Refused by a rule of scope: URL and reason.
    pub refused: Vec<(String, String)>,
}

impl Worker<'_> {
    /// Carries out what was ordered since the last round.
    pub(crate) fn take_orders(&mut self) -> Result<(), CrawlError> {
        for (order, answer) in self.control.take_orders() {
            let reply = match order {
                Order::Reconfigure(config) => {
                    self.reconfigure(*config)?;
                    Reply::Done
                }
                Order::AddSeeds(seeds) => Reply::Seeds(self.add_seeds(&seeds)?),
                Order::Explain(topic) => {
                    let explained = self.ask(|facts, engines| explain(facts, engines, &topic))?;
                    Reply::Explained(Box::new(explained))
                }
                Order::Sites(query) => Reply::Sites(Box::new(
                    self.ask(|facts, engines| sites(facts, engines, &query)),
                )),
                Order::Queued(limit) => {
                    Reply::Queued(self.ask(|facts, engines| queued(facts, engines, limit))?)
                }
            };
            // The client may have gone away; the order is carried out all the same.
            let _asker_gone = answer.send(reply);
        }
        Ok(())
    }

    fn reconfigure(&mut self, new: CrawlConfig) -> Result<(), CrawlError> {
        let connections = new.connections.min(self.crew.connections_max());
        let new = CrawlConfig { connections, ..new };
        self.each_engine(|engine, around| engine.reconfigure(&new.engine, around.now))?;
        self.config.change(&new);
        // A limit that was raised in time no longer holds.
        self.run.limit = None;
        Ok(())
    }

    fn add_seeds(&mut self, seeds: &[SeedInput]) -> Result<SeedsAdded, CrawlError> {
        let mut result = SeedsAdded::default();
        for input in seeds {
            let index = self.index_of(&input.url);
            match self.with_engine(index, |engine, around| engine.add_seed(input, around))? {
                SeedAdded::Queued => result.added += 1,
                SeedAdded::Known => result.known += 1,
                SeedAdded::Refused(reason) => {
                    result.refused.push((input.url.to_string(), reason));
                }
            }
        }
        Ok(result)
    }

    /// Asks the engines something, with what is known of the crawl.
    fn ask<T>(&mut self, question: impl FnOnce(CrawlFacts<'_>, &[Engine]) -> T) -> T {
        let now = self.clock.now();
        let phase = self.phase();
        let limit = self.run.limit.filter(|_| phase == Phase::Stopping);
        let status = self.status(phase, limit, now);
        let facts = CrawlFacts {
            config: &self.config.engine,
            map: self.map,
            importance: Some(&self.shared.importance),
            status: &status,
            is_running: true,
            awaits_seeds: !self.feed.is_over() || self.engines.iter().any(Engine::awaits_seeds),
            disk: Disk {
                free: self.reporter.free_bytes,
                min: self.config.limits.disk_free_min,
            },
            now,
        };
        question(facts, &self.engines)
    }
}
