//! What a running crawl is told between two rounds: other settings, more
//! seeds, questions.

use geomi_url::SiteKey;

use crate::explain::{Explanation, Knowledge, QueuedSample, SitesPage, SitesQuery, Topic};
use crate::journey::Journey;
use crate::policies::SitePolicies;
use crate::stage::admit::Admission;
use crate::status::Phase;
use crate::{CrawlConfig, CrawlError, SeedInput};

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

impl Journey<'_> {
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
                    let told = self.look(|knowledge| knowledge.explain(&topic))?;
                    Reply::Explained(Box::new(told))
                }
                Order::Sites(query) => {
                    Reply::Sites(Box::new(self.look(|knowledge| knowledge.sites(&query))))
                }
                Order::Queued(limit) => {
                    Reply::Queued(self.look(|knowledge| knowledge.queued(limit))?)
                }
            };
            // Whoever asked may have gone away; the order is carried out all
            // the same.
            let _asker_gone = answer.send(reply);
        }
        Ok(())
    }

    fn reconfigure(&mut self, new: CrawlConfig) -> Result<(), CrawlError> {
        let now = self.clock.now();
        self.admit = crate::stage::admit::Admit::new(&new)?;
        self.policies = SitePolicies::new(&new)?;
        self.novelty.reconfigure(&new);
        let policies = &self.policies;
        let own = |site: &SiteKey| policies.own(site).map(|policy| policy.politeness);
        let wait_max = self.config.wait_max(new.frontier.wait_max);
        self.frontier
            .reconfigure(new.frontier.politeness, wait_max, own, now);
        self.config.frontier.politeness.delay = new.frontier.politeness.delay;
        self.config.scope = new.scope;
        self.config.novelty = new.novelty;
        self.config.drop_params = new.drop_params;
        self.config.prefer = new.prefer;
        self.config.connections = new.connections.min(self.crew.connections_max());
        self.config.tries = new.tries;
        self.config.retry_wait = new.retry_wait;
        self.config.respect_nofollow = new.respect_nofollow;
        self.config.follow = new.follow;
        self.config.likeness = new.likeness;
        self.config.limits = new.limits;
        if let Some(plan) = &mut self.refresh {
            let now = plan.days(now);
            plan.reconfigure(&self.config.plan, &new.plan, now);
        }
        self.config.plan = new.plan;
        // A limit that was raised in time no longer holds.
        self.limit = None;
        Ok(())
    }

    fn add_seeds(&mut self, seeds: &[SeedInput]) -> Result<SeedsAdded, CrawlError> {
        let mut result = SeedsAdded::default();
        for input in seeds {
            if self.seeds.knows(&input.url) {
                result.known += 1;
                continue;
            }
            let added = self.seeds.add(&self.partitions[0], input, None)?;
            let crate::seeds::Added::New(number) = added else {
                unreachable!("it was not known")
            };
            match self.admit.seed(&input.url, number) {
                Admission::Queue(entry, _) => {
                    let partition = self.partition_of(input.url.site_hash());
                    if self.queue(partition, entry)? {
                        result.added += 1;
                    } else {
                        result.known += 1;
                    }
                }
                Admission::Refused(refusal) => {
                    self.refuse_seed(&input.url, number, &refusal)?;
                    let reason = self.admit.scope().explain_refusal(&input.url, refusal);
                    result.refused.push((input.url.to_string(), reason));
                }
                Admission::CandidateSeed => unreachable!("a seed is no candidate"),
            }
        }
        Ok(result)
    }

    /// Looks through the parts the crawl is made of.
    fn look<T>(&mut self, question: impl FnOnce(&Knowledge<'_>) -> T) -> T {
        let now = self.clock.now();
        let phase = self.phase();
        let limit = self.limit.filter(|_| phase == Phase::Stopping);
        let status = self.status(phase, limit, now);
        let knowledge = Knowledge {
            config: &self.config,
            frontier: &self.frontier,
            partitions: &self.partitions,
            map: self.map,
            admit: &self.admit,
            novelty: &self.novelty,
            policies: &self.policies,
            seeds: &self.seeds,
            importance: Some(&self.importance),
            unaddressed: Some(&self.unaddressed),
            refresh: self.refresh.as_ref(),
            status: &status,
            is_running: true,
            awaits_seeds: !self.feed.is_over(),
            waiting: self.waiting(),
            free_bytes: self.reporter.free_bytes,
            now,
        };
        question(&knowledge)
    }
}
