//! The visits of a crawl as its plan sees them.
//!
//! Rates are learned here, from all visits and with what pages of one kind have in
//! common, whatever the policy. What is predicted of a copy goes by what the policy
//! believes, hours and days included, where it believes anything; otherwise by that rate.

use geomi_model::Visit;
use geomi_refresh::upkeep::{RefreshConfig, RefreshPlan, Sighted, Sighting, facts};
use geomi_refresh::{AccountId, Belief, Learner, PageId, Policy as _, Sight};

/// What was seen of a page.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub struct Seen {
    /// Visits that came to an end, the first one included.
    pub visits: u32,
    /// Those that could be compared.
    pub compared: u32,
    /// Those of them that found a change.
    pub changed: u32,
    /// Visits that found it gone, or came to nothing.
    pub missed: u32,
    /// Days between the visits that were compared.
    pub watched: f64,
    /// When it was first seen, in days.
    pub first: f64,
    /// When it was last seen.
    pub last: f64,
    /// What its freshness weighs; 0 where many pages are summed up.
    pub weight: f32,
}

impl Seen {
    /// What a belief of the page's rate rests on, in words.
    pub fn evidence(&self) -> String {
        format!(
            "{} visits over {:.1} days, {} of {} comparisons found a change, {} came to nothing",
            self.visits,
            self.last - self.first,
            self.changed,
            self.compared,
            self.missed
        )
    }
}

/// A visit, and what was thought before it.
#[derive(Clone, Copy, Debug)]
pub struct Moment<'a> {
    /// The visit.
    pub visit: &'a Visit,
    /// What it found.
    pub sighted: Sighted,
    /// How likely a change was, where there is something to compare with: by this visit,
    /// or by the page's turn if somebody said before it that the page has changed, and was
    /// right. See [`Sight::called`].
    pub chance: Option<f64>,
    /// When the page was seen before.
    pub before: f64,
    /// The budgets it is subject to.
    pub accounts: [Option<AccountId>; 2],
}

/// All visits that were heard.
#[derive(Debug)]
pub struct Past {
    /// The plan.
    pub plan: RefreshPlan,
    /// The rates.
    pub learner: Learner,
    /// What was seen of each page.
    pub seen: Vec<Seen>,
    tries: u8,
}

impl Past {
    /// Before any visit, of a crawl that is kept fresh by this plan and tries a page so
    /// many times.
    pub fn new(plan: &RefreshConfig, tries: u8) -> Self {
        Self {
            plan: RefreshPlan::new(plan),
            learner: Learner::default(),
            seen: Vec::new(),
            tries,
        }
    }

    /// Takes a visit in; `watch` hears of it if it is one of a page of the plan.
    pub fn take(&mut self, visit: &Visit, watch: &mut impl FnMut(&Moment<'_>)) {
        let foreseen = self.foreseen(visit);
        let Some(sighted) = self.plan.take(visit, self.tries) else {
            return;
        };
        let Sighted { page, kind, at, .. } = sighted;
        if kind == Sighting::First {
            self.learner.add(&facts(visit));
            self.seen.push(Seen {
                first: at,
                last: at,
                weight: sighted.weight,
                ..Seen::default()
            });
        }
        let before = self.seen[page as usize].last;
        let mut accounts = self.plan.planner().accounts_of(page);
        watch(&Moment {
            visit,
            sighted,
            chance: foreseen.filter(|_| kind.changed().is_some()),
            before,
            accounts: [accounts.next(), accounts.next()],
        });
        let seen = &mut self.seen[page as usize];
        seen.visits += 1;
        if matches!(kind, Sighting::Gone | Sighting::Failed) {
            seen.missed += 1;
            return;
        }
        seen.last = at;
        if let Some(changed) = kind.changed() {
            seen.compared += 1;
            seen.changed += u32::from(changed);
            let from = before.min(at);
            seen.watched += at - from;
            let due = at + early_days(visit);
            self.learner
                .observe(&Sight::called(page, changed, (from, at), due));
        }
    }

    /// What is believed of all pages by now.
    pub fn beliefs(&self) -> Vec<Belief> {
        let pages = 0..self.seen.len() as PageId;
        pages
            .map(|page| belief(&self.plan, &self.learner, page))
            .collect()
    }

    /// How likely a change was before a visit that can be compared. It is asked before
    /// anybody hears of the visit, for that would be hindsight.
    fn foreseen(&self, visit: &Visit) -> Option<f64> {
        let changed = visit.changed?.changed;
        let page = self.plan.pages().find(&visit.url)?;
        let (before, at) = (self.seen[page as usize].last, self.plan.days(visit.time));
        let sight = Sight::called(page, changed, (before.min(at), at), at + early_days(visit));
        let belief = belief(&self.plan, &self.learner, page);
        Some(1.0 - belief.fresh(sight.from, sight.to))
    }
}

/// Days by which a visit came before the turn of its page.
fn early_days(visit: &Visit) -> f64 {
    let early = visit.early;
    early.map_or(0.0, |early| early.as_secs_f64() / 86_400.0)
}

/// What is predicted of a page with: what the policy of a plan believes, or its rate.
pub fn belief(plan: &RefreshPlan, learner: &Learner, page: PageId) -> Belief {
    let by_policy = plan.planner().policy().belief(page);
    by_policy.unwrap_or_else(|| Belief::steady(learner.posterior(page)))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use geomi_model::{Change, NetworkState};
    use geomi_refresh::upkeep::instant;
    use geomi_url::CrawlUrl;

    use super::*;

    /// A visit on a day, which may have been made so many days before its turn.
    fn visit(day: f64, changed: Option<bool>, early: Option<u64>) -> Visit {
        let mut visit = Visit::unknown(CrawlUrl::parse("http://a.test/").unwrap());
        visit.time = instant(day);
        (visit.state, visit.code) = (NetworkState::Ok, Some(200));
        visit.attempt = 1;
        visit.changed = changed.map(|changed| Change { changed, size: 0 });
        visit.early = early.map(|days| Duration::from_hours(days * 24));
        visit
    }

    /// How likely a change was thought to be before the last of these visits.
    fn chance(last: &Visit) -> f64 {
        let mut past = Past::new(&RefreshConfig::default(), 1);
        let mut chance = None;
        for visit in [&visit(10.0, None, None), last] {
            past.take(visit, &mut |moment| chance = moment.chance);
        }
        chance.unwrap()
    }

    #[test]
    fn a_change_that_was_told_counts_at_the_turn_of_its_page() {
        let told = chance(&visit(11.0, Some(true), Some(9)));
        let at_its_turn = chance(&visit(20.0, Some(true), None));
        assert!((told - at_its_turn).abs() < 1e-9, "{told} {at_its_turn}");
        let false_alarm = chance(&visit(11.0, Some(false), Some(9)));
        let at_once = chance(&visit(11.0, Some(false), None));
        assert!((false_alarm - at_once).abs() < 1e-9);
        assert!(at_once < at_its_turn, "{at_once} {at_its_turn}");
    }
}
