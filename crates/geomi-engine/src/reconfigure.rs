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
            let share = self.upkeep.share;
            let before = self.rules.config.plan.shared(share);
            plan.reconfigure(&before, &new.plan.shared(share), now);
        }
        self.rules.config.change(new);
        Ok(())
    }

    /// Spends another share of the crawl's refresh budget from now on.
    pub fn share_budget(&mut self, share: f64, now: Timestamp) {
        let before = std::mem::replace(&mut self.upkeep.share, share);
        let (Some(plan), Some(whole)) = (&mut self.upkeep.plan, &self.rules.config.refresh) else {
            return;
        };
        let now = plan.days(now);
        plan.reconfigure(&whole.shared(before), &whole.shared(share), now);
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
