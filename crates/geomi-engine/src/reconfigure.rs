//! Settings that can change in a running crawl.

use geomi_model::Timestamp;
use geomi_refresh::upkeep::TableRows;
use geomi_url::{CrawlUrl, SiteKey};

use crate::engine::Engine;
use crate::policies::SitePolicies;
use crate::stage::admit::Admit;
use crate::{EngineConfig, EngineError};

impl Engine {
    /// Goes on by other rules: what can change in a running crawl.
    pub fn reconfigure(&mut self, new: &EngineConfig, now: Timestamp) -> Result<(), EngineError> {
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
        self.rules.config.change(new);
        Ok(())
    }

    /// Follows another schedule; how many of its visits are of unknown pages, or `None`
    /// if it is the one that is followed.
    pub fn follow_table(&mut self, rows: &TableRows, now: Timestamp) -> Option<u64> {
        let is_ours = |url: &CrawlUrl| self.elsewhere(url).is_none();
        let rows = rows.iter().filter(|(_, url)| is_ours(url)).cloned();
        let rows: TableRows = rows.collect();
        let plan = self.upkeep.plan.as_mut()?;
        plan.follow(rows, plan.days(now))
    }
}
