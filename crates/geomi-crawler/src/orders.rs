//! What a running crawl is told between two rounds: other settings, more
//! seeds, questions.

use geomi_model::Timestamp;
use geomi_url::{CrawlUrl, SiteKey};

use crate::engine::Engine;
use crate::explain::{
    EngineView, Explanation, Knowledge, QueuedSample, SitesPage, SitesQuery, Topic,
};
use crate::policies::SitePolicies;
use crate::stage::admit::Admit;
use crate::stage::start::SeedAdded;
use crate::status::Phase;
use crate::worker::Worker;
use crate::{CrawlConfig, CrawlError, SeedInput};
use geomi_refresh::upkeep::TableRows;

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
    /// Name some of the URLs that wait, so many at most.
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
                    let explained = self.look(|knowledge| knowledge.explain(&topic))?;
                    Reply::Explained(Box::new(explained))
                }
                Order::Sites(query) => {
                    Reply::Sites(Box::new(self.look(|knowledge| knowledge.sites(&query))))
                }
                Order::Queued(limit) => {
                    Reply::Queued(self.look(|knowledge| knowledge.queued(limit))?)
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
        self.each_engine(|engine, around| engine.reconfigure(&new, around.now))?;
        self.config.change(new);
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

    /// Looks through the parts the crawl is made of.
    fn look<T>(&mut self, question: impl FnOnce(&Knowledge<'_>) -> T) -> T {
        let now = self.clock.now();
        let phase = self.phase();
        let limit = self.run.limit.filter(|_| phase == Phase::Stopping);
        let status = self.status(phase, limit, now);
        let views: Vec<EngineView<'_>> = self.engines.iter().map(EngineView::of).collect();
        let knowledge = Knowledge {
            config: &self.config,
            map: self.map,
            engines: &views,
            importance: Some(&self.shared.importance),
            status: &status,
            is_running: true,
            awaits_seeds: !self.feed.is_over()
                || self.engines.iter().any(|it| !it.seeds.known.is_empty()),
            waiting: self.engines.iter().map(Engine::waiting).sum(),
            free_bytes: self.reporter.free_bytes,
            now,
        };
        question(&knowledge)
    }
}

impl Engine {
    /// Goes on by other rules: what can change in a running crawl.
    fn reconfigure(&mut self, new: &CrawlConfig, now: Timestamp) -> Result<(), CrawlError> {
        self.rules.admit = Admit::new(new)?;
        self.rules.policies = SitePolicies::new(new)?;
        self.learned.novelty.reconfigure(new);
        let policies = &self.rules.policies;
        let own = |site: &SiteKey| policies.own(site).map(|policy| policy.politeness);
        let wait_max = self.rules.config.wait_max(new.frontier.wait_max);
        self.queues
            .frontier
            .reconfigure(new.frontier.politeness, wait_max, own, now);
        if let Some(plan) = &mut self.upkeep.plan {
            let now = plan.days(now);
            plan.reconfigure(&self.rules.config.plan, &new.plan, now);
        }
        self.rules.config.change(new.clone());
        Ok(())
    }

    /// Follows another schedule; how many of its visits are of unknown pages, or `None`
    /// if it is the one that is followed.
    pub(crate) fn follow_table(&mut self, rows: &TableRows, now: Timestamp) -> Option<u64> {
        let is_ours = |url: &CrawlUrl| self.elsewhere(url).is_none();
        let rows = rows.iter().filter(|(_, url)| is_ours(url)).cloned();
        let rows: TableRows = rows.collect();
        let plan = self.upkeep.plan.as_mut()?;
        plan.follow(rows, plan.days(now))
    }
}
