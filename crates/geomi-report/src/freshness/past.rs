//! The visits of a crawl as its plan sees them.
//!
//! Rates are learned here, from all visits and with what pages of one kind have in
//! common, whatever the policy. What is predicted of a copy goes by what the policy
//! believes, hours and days included, where it believes anything; otherwise by that rate.

use geomi_crawler::refresh::{RefreshBook, RefreshConfig, Sighted, Sighting, days, facts};
use geomi_model::Visit;
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
    /// How likely a change was, where there is something to compare with.
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
    pub book: RefreshBook,
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
            book: RefreshBook::new(plan),
            learner: Learner::default(),
            seen: Vec::new(),
            tries,
        }
    }

    /// Takes a visit in; `watch` hears of it if it is one of a page of the plan.
    pub fn take(&mut self, visit: &Visit, watch: &mut impl FnMut(&Moment<'_>)) {
        let foreseen = self.foreseen(visit);
        let Some(sighted) = self.book.take(visit, self.tries) else {
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
        let mut accounts = self.book.planner().accounts_of(page);
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
            let early = visit
                .early
                .map_or(0.0, |early| early.as_secs_f64() / 86_400.0);
            let due = at + early;
            self.learner
                .observe(&Sight::called(page, changed, (from, at), due));
        }
    }

    /// What is believed of all pages by now.
    pub fn beliefs(&self) -> Vec<Belief> {
        let pages = 0..self.seen.len() as PageId;
        pages
            .map(|page| belief(&self.book, &self.learner, page))
            .collect()
    }

    /// How likely a change was before a visit that can be compared. It is asked before
    /// anybody hears of the visit, for that would be hindsight.
    fn foreseen(&self, visit: &Visit) -> Option<f64> {
        visit.changed?;
        let page = self.book.pages().find(&visit.url)?;
        let before = self.seen[page as usize].last;
        let belief = belief(&self.book, &self.learner, page);
        Some(1.0 - belief.fresh(before, days(visit.time)))
    }
}

/// What is predicted of a page with: what the policy of a plan believes, or its rate.
pub fn belief(book: &RefreshBook, learner: &Learner, page: PageId) -> Belief {
    let by_policy = book.planner().policy().belief(page);
    by_policy.unwrap_or_else(|| Belief::steady(learner.posterior(page)))
}
