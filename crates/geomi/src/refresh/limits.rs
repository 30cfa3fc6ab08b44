//! The budgets of a plan beside that of the whole: which there are, what each costs
//! its pages, and what was spent of it.

use geomi_refresh::upkeep::Sighting;
use geomi_refresh::{AccountId, PageId};
use geomi_report::freshness::Moment;
use serde_json::{Value, json};

use super::view::{View, print_table};
use crate::terminal::print;

/// Budgets shown to people.
const SHOWN: usize = 20;

/// One of them.
#[derive(Clone, PartialEq, Debug)]
pub(super) struct Limit {
    kind: &'static str,
    name: String,
    requests_per_day: f64,
    pages: usize,
    /// How much dearer a request is there than in the whole plan; 1 where the budget
    /// holds nobody back.
    dearer: f64,
}

impl Limit {
    /// That of an account.
    pub(super) fn of(view: &View, account: AccountId) -> Self {
        let planner = view.plan.planner();
        let (state, limit) = (
            planner.account(account),
            &view.plan.limits()[account as usize],
        );
        Self {
            kind: limit.kind.as_str(),
            name: limit.name.clone(),
            requests_per_day: state.requests_per_day,
            pages: state.pages,
            dearer: (state.price / planner.price()).max(1.0),
        }
    }

    /// All of them.
    pub(super) fn all(view: &View) -> Vec<Self> {
        let accounts = 0..view.plan.planner().accounts() as AccountId;
        accounts.map(|account| Self::of(view, account)).collect()
    }

    /// As JSON, with what else is to be told.
    pub(super) fn to_json(&self, more: &[(&str, Value)]) -> Value {
        let mut told = json!({
            "kind": self.kind,
            "name": self.name,
            "requests_per_day": self.requests_per_day,
            "pages": self.pages,
            "dearer": self.dearer,
        });
        for (name, value) in more {
            told[*name] = value.clone();
        }
        told
    }

    /// In a sentence, for a page of it.
    pub(super) fn in_words(&self) -> String {
        let what = if self.dearer > 1.0 {
            format!(
                "a request costs {:.2} times what it costs elsewhere",
                self.dearer
            )
        } else {
            "it holds nothing back".to_owned()
        };
        format!(
            "{} {}: {:.1} requests a day for {} pages; {what}",
            self.kind, self.name, self.requests_per_day, self.pages
        )
    }
}

/// Budgets as lines of a table with more columns, the dearest first. The first line names
/// the columns.
pub(super) fn limit_lines(limits: &[(Limit, Vec<String>)], more: &[&str]) -> Vec<Vec<String>> {
    let mut rows: Vec<&(Limit, Vec<String>)> = limits.iter().collect();
    rows.sort_by(|(one, _), (other, _)| other.dearer.total_cmp(&one.dearer));
    let heads = ["budget", "of", "pages", "requests a day", "dearer by"];
    let heads = heads.iter().chain(more).map(ToString::to_string);
    let mut lines: Vec<Vec<String>> = vec![heads.collect()];
    for (limit, told) in rows {
        let mut line = vec![
            limit.kind.to_owned(),
            limit.name.clone(),
            limit.pages.to_string(),
            format!("{:.1}", limit.requests_per_day),
            format!("{:.2}", limit.dearer),
        ];
        line.extend(told.iter().cloned());
        lines.push(line);
    }
    lines
}

/// Prints a table of budgets with more columns, if there are any.
pub(super) fn print_limits(limits: &[(Limit, Vec<String>)], more: &[&str]) -> anyhow::Result<()> {
    if limits.is_empty() {
        return Ok(());
    }
    print("")?;
    let mut lines = limit_lines(limits, more);
    lines.truncate(1 + SHOWN);
    print_table(&lines, &[0, 1])?;
    if limits.len() > SHOWN {
        print(&format!("{SHOWN} of {} budgets", limits.len()))?;
    }
    Ok(())
}

/// What was spent of each budget, by account.
#[derive(Clone, PartialEq, Debug, Default)]
pub(super) struct Spending {
    accounts: Vec<Spent>,
    /// Of all of them, by the hour.
    hours: Spent,
}

/// Visits to pages of which there was a copy.
#[derive(Clone, Copy, PartialEq, Debug, Default)]
pub(super) struct Spent {
    pub(super) visits: u64,
    /// The most in a day, from midnight to midnight, or in an hour of the clock.
    pub(super) most: u64,
    span: i64,
    in_span: u64,
}

impl Spent {
    /// Takes in a visit of a day, or of an hour.
    fn take(&mut self, span: i64) {
        if span != self.span {
            (self.span, self.in_span) = (span, 0);
        }
        self.in_span += 1;
        self.visits += 1;
        self.most = self.most.max(self.in_span);
    }
}

impl Spending {
    /// Takes a visit in. New pages are no part of keeping fresh.
    pub(super) fn take(&mut self, moment: &Moment<'_>) {
        if moment.sighted.kind == Sighting::First {
            return;
        }
        let at = moment.sighted.at;
        self.hours.take((at * 24.0).floor() as i64);
        for account in moment.accounts.iter().flatten() {
            let place = *account as usize;
            if self.accounts.len() <= place {
                self.accounts.resize(place + 1, Spent::default());
            }
            self.accounts[place].take(at.floor() as i64);
        }
    }

    /// That of an account.
    pub(super) fn of(&self, account: usize) -> Spent {
        self.accounts.get(account).copied().unwrap_or_default()
    }

    /// The most in an hour of the clock.
    pub(super) fn most_in_an_hour(&self) -> u64 {
        self.hours.most
    }
}

/// What an hour allows, in words; nothing where all hours are alike.
pub(super) fn hours_in_words(view: &View) -> String {
    let planner = view.plan.planner();
    let limit = planner.requests_per_hour();
    let limit = limit.map_or(String::new(), |requests| {
        format!(", {requests:.0} in any hour at most")
    });
    let quiet = planner.hours().map_or(String::new(), |hours| {
        format!(", {:.0} % of the week is used", hours.of_week() * 100.0)
    });
    limit + &quiet
}

/// Why a page is not visited sooner, where one of its budgets is the reason.
pub(super) fn held_by(view: &View, page: PageId) -> Option<String> {
    let limit = Limit::of(view, view.plan.planner().held_by(page)?);
    Some(format!(
        "the budget of {} {} holds it back",
        limit.kind, limit.name
    ))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_busiest_day_is_kept() {
        let mut spent = Spent::default();
        for day in [3, 3, 3, 4, 6, 6] {
            spent.take(day);
        }
        assert_eq!((spent.visits, spent.most), (6, 3));
    }
}
