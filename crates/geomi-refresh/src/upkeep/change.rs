//! Applying a changed configuration to a running plan.

use geomi_url::CrawlUrl;

use super::budgets::Budgets;
use super::plan::{RefreshConfig, RefreshPlan};
use crate::PageId;

impl RefreshPlan {
    /// Applies what differs between two configurations: budgets, hours and the longest gap.
    /// Where they do not differ, command-line values of the running plan stay in force.
    pub fn reconfigure(&mut self, before: &RefreshConfig, new: &RefreshConfig, now: f64) {
        if before.budget != new.budget {
            self.config.budget = new.budget;
            let requests = new.budget.requests_per_day(self.pages.len());
            self.planner.set_requests_per_day(requests);
            self.move_rounds();
        }
        if before.longest_gap != new.longest_gap {
            self.config.longest_gap = new.longest_gap;
            let days = new.longest_gap.as_secs_f64() / 86_400.0;
            self.planner.set_longest_gap(days);
        }
        let hours = |of: &RefreshConfig| (of.requests_per_hour, of.quiet_hours.clone());
        if hours(before) != hours(new) {
            self.config.requests_per_hour = new.requests_per_hour;
            self.config.quiet_hours = new.quiet_hours.clone();
            let requests = new.requests_per_hour.map(|requests| requests as f64);
            self.planner.limit_hour(requests);
            self.planner.use_hours(new.quiet_hours.hours(), now);
        }
        let sites = |of: &RefreshConfig| (of.site_requests_per_day, of.sites.clone());
        if sites(before) != sites(new) {
            self.config.site_requests_per_day = new.site_requests_per_day;
            self.config.sites.clone_from(&new.sites);
            self.open_budgets(now);
        }
    }

    /// Reopens all accounts and assigns every page. It visits all pages, so it is called only
    /// when the budgets of sites change.
    fn open_budgets(&mut self, now: f64) {
        self.planner.close_accounts(now);
        self.budgets = Budgets::new(&self.config);
        for page in 0..self.pages.len() as PageId {
            // Stored URLs parse, unless a row is damaged.
            if let Ok(url) = CrawlUrl::parse(self.pages.url(page)) {
                self.budgets.join(&mut self.planner, page, &url);
            }
        }
        self.planner.restart_accounts(0.0, now);
        self.planner.price_accounts();
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use geomi_model::Visit;

    use super::super::plan::tests::{TRIES, visit};
    use super::*;
    use crate::upkeep::{Budget, Drive, SitePlan, Weights};

    /// A page of one of three sites, seen before the plan begins.
    fn page_of(site: u32, page: u32, day: f64) -> Visit {
        let mut visit = visit(page, day, 200, None);
        visit.url = CrawlUrl::parse(&format!("http://s{site}.test/{page}")).unwrap();
        visit
    }

    /// Runs a plan from one day to another; returns the visits of each site.
    fn follow(plan: &mut RefreshPlan, (from, to): (f64, f64)) -> [u32; 3] {
        let (mut made, mut now) = ([0; 3], from);
        while now < to {
            while let Some(page) = plan.next(now) {
                let url = CrawlUrl::parse(plan.pages().url(page)).unwrap();
                let mut seen = visit(0, now, 200, Some(page % 2 == 0));
                made[url.host()[1..2].parse::<usize>().unwrap()] += 1;
                seen.url = url;
                plan.take(&seen, TRIES);
            }
            now += 0.01;
        }
        made
    }

    #[test]
    fn budgets_of_sites_and_groups_hold_and_change_while_it_runs() {
        let table = |names: &[&str], each, together| SitePlan {
            names: names.iter().map(|name| (*name).to_owned()).collect(),
            each_per_day: each,
            together_per_day: together,
            weight_percent: None,
        };
        let config = RefreshConfig {
            policy: "static".to_owned(),
            budget: Budget::PerDay(60.0),
            sites: vec![
                table(&["s0.test"], Some(4), None),
                table(&["*.test"], None, Some(20)),
            ],
            ..RefreshConfig::default()
        };
        let mut plan = RefreshPlan::new(&config);
        for page in 0..90 {
            plan.take(&page_of(page % 3, page, 100.0), TRIES);
        }
        plan.start(100.0, 1.0);
        let names: Vec<&str> = plan.limits().iter().map(|limit| &*limit.name).collect();
        assert_eq!(names, ["s0.test", "*.test"]);
        let made = follow(&mut plan, (100.0, 110.0));
        assert!((36..=40).contains(&made[0]), "{made:?}");
        assert!((190..=200).contains(&made.iter().sum::<u32>()), "{made:?}");

        let freer = RefreshConfig {
            sites: vec![table(&["s0.test"], Some(8), None)],
            longest_gap: Duration::from_hours(24 * 12),
            ..config.clone()
        };
        plan.reconfigure(&config, &freer, 110.0);
        let made = follow(&mut plan, (110.0, 120.0));
        assert!((75..=80).contains(&made[0]), "{made:?}");
        assert!((560..=610).contains(&made.iter().sum::<u32>()), "{made:?}");
        assert!((plan.planner().terms().longest_gap - 12.0).abs() < 1e-9);

        let silent = RefreshConfig {
            requests_per_hour: Some(1),
            ..freer.clone()
        };
        plan.reconfigure(&freer, &silent, 120.0);
        let made = follow(&mut plan, (120.0, 122.0));
        assert!((40..=48).contains(&made.iter().sum::<u32>()), "{made:?}");
    }

    #[test]
    fn rounds_keep_to_a_budget_that_changes_and_to_pages_that_are_found() {
        let config = RefreshConfig {
            budget: Budget::PerDay(30.0),
            drive: Drive::Rounds,
            ..RefreshConfig::default()
        };
        let mut plan = RefreshPlan::new(&config);
        for page in 0..30 {
            plan.take(&page_of(page % 3, page, 100.0), TRIES);
        }
        plan.start(100.0, 1.0);
        assert_eq!(follow(&mut plan, (100.0, 101.5)).iter().sum::<u32>(), 30);
        let twice = RefreshConfig {
            budget: Budget::PerDay(60.0),
            ..config.clone()
        };
        plan.reconfigure(&config, &twice, 101.5);
        // From 101 on, a round each half day.
        let made = follow(&mut plan, (101.5, 103.95)).iter().sum::<u32>();
        assert_eq!(made, 5 * 30, "{made}");
        // As many pages again: a round is a day again, from the next one on.
        for page in 30..60 {
            plan.take(&page_of(page % 3, page, 103.95), TRIES);
        }
        let made = follow(&mut plan, (103.95, 107.95)).iter().sum::<u32>();
        assert_eq!(made, 4 * 60, "{made}");
    }

    #[test]
    fn weights_come_from_sites_and_from_the_priority_of_the_first_visit() {
        let mut plan = RefreshPlan::new(&RefreshConfig {
            weights: Weights::Importance,
            sites: vec![SitePlan {
                names: vec!["s1.test".to_owned()],
                weight_percent: Some(50),
                ..SitePlan::default()
            }],
            ..RefreshConfig::default()
        });
        let mut weight = |site, priority| {
            let mut visit = page_of(site, u32::from(priority), 100.0);
            visit.priority = priority;
            plan.take(&visit, TRIES).unwrap().weight
        };
        assert!((weight(0, 1) - 4.0).abs() < 1e-6);
        assert!((weight(1, 1) - 2.0).abs() < 1e-6);
        assert!(weight(0, 8) < 0.3);
    }

    #[test]
    fn a_run_that_ends_has_a_day_of_a_sites_budget_at_most() {
        for (days, expected) in [(0.5, 5), (9.0, 10)] {
            let mut plan = RefreshPlan::new(&RefreshConfig {
                budget: Budget::PerPage(1.0),
                site_requests_per_day: Some(10),
                once: true,
                ..RefreshConfig::default()
            });
            for page in 0..60 {
                plan.take(&page_of(0, page, 100.0), TRIES);
            }
            plan.start(100.0 + days, f64::INFINITY);
            let count = std::iter::from_fn(|| plan.next(100.0 + days)).count();
            assert_eq!(count, expected);
        }
    }
}
