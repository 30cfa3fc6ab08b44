//! Accounts in the plan: pages that wait for them, and what their prices are.

use super::{GAP_MIN, Planner, Stand, TICKS, tick};
use crate::accounts::{AccountId, AccountState, Accounts, REACH};
use crate::policy::{PageId, Policy};

/// Pages that wait are looked at anew when they are first, so many at a time.
const LOOKED_AT_ANEW: usize = 4;
/// Steps in which an account's first price is found; each halves the error.
const HALVINGS: usize = 14;
/// The highest first price of an account, times that of the plan, as a logarithm.
const DEAREST: f64 = 14.0;

/// What became of a page that was asked for.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Asked {
    /// It is to be visited now, and must be given back.
    Out,
    /// There is no room in an account, or in the whole plan: it is handed out as soon
    /// as there is.
    Waits,
    /// Nothing is visited at this hour: it stays where it was.
    NotNow,
    /// It is under way already.
    UnderWay,
}

impl<P: Policy> Planner<P> {
    /// A budget of its own for some pages: those that [`Planner::join`] it.
    pub fn open_account(&mut self, requests_per_day: f64) -> AccountId {
        let id = self.accounts.open(requests_per_day, self.bucket_at);
        self.accounts.set_price(id, self.price * REACH);
        id
    }

    /// Makes a page subject to an account; to two of them at most. Of a page with
    /// two, the second account must hold all pages of the first.
    pub fn join(&mut self, page: PageId, account: AccountId) {
        self.accounts.join(page, account);
    }

    /// The accounts, and what an hour allows, fill from this time on and not before,
    /// with so many days' worth in them already.
    pub fn restart_accounts(&mut self, saved_days: f64, now: f64) {
        self.accounts.restart(saved_days, now);
        self.restart_hour(saved_days, now);
    }

    /// Forgets all accounts. Pages that waited for one are due now.
    pub fn close_accounts(&mut self, now: f64) {
        let hours = self.accounts.hours().cloned();
        self.accounts = Accounts::default();
        self.accounts.set_hours(hours);
        for page in 0..self.places.len() as PageId {
            if self.waits(page) {
                self.push(page, now);
            }
        }
    }

    /// Finds the prices of accounts that were opened for pages of a plan under way.
    pub fn price_accounts(&mut self) {
        self.find_account_prices();
    }

    /// How many accounts there are.
    pub fn accounts(&self) -> usize {
        self.accounts.len()
    }

    /// How an account stands.
    pub fn account(&self, account: AccountId) -> AccountState {
        self.accounts.state(account)
    }

    /// The accounts of a page.
    pub fn accounts_of(&self, page: PageId) -> impl Iterator<Item = AccountId> + use<P> {
        self.accounts.of(page)
    }

    /// The account that holds a page back: the dearest of its own, if it is dearer
    /// than the plan.
    pub fn held_by(&self, page: PageId) -> Option<AccountId> {
        let price = |id: &AccountId| self.accounts.state(*id).price;
        let dearest = self
            .accounts
            .of(page)
            .max_by(|one, other| price(one).total_cmp(&price(other)));
        dearest.filter(|id| price(id) > self.price)
    }

    /// When a page is expected to be visited: when it is due, or later if an account
    /// holds it back or nothing is visited at that hour.
    pub fn expected(&mut self, page: PageId) -> f64 {
        let due = self.due(page);
        if self.held_by(page).is_none() {
            return self.next_open(due);
        }
        // One that was spread over its first interval is as far in its own one.
        let last = self.last(page);
        let part = (due - last) / self.gap(page);
        let own_gap = self.expected_after(page, last) - last;
        self.next_open(due.max(last + own_gap * part.min(1.0)))
    }

    /// When a page is expected to be visited after a visit at this time, as things
    /// stand. New pages of an account that is too small are not probed.
    fn expected_after(&mut self, page: PageId, visit: f64) -> f64 {
        if self.held_by(page).is_none() {
            let due = self.due_after(page, visit);
            return self.next_open(due);
        }
        let due = self.policy.settled(page, visit, self.price_of(page));
        let gap = (due - visit).clamp(GAP_MIN, self.terms.longest_gap);
        self.next_open(visit + gap)
    }

    /// What a request costs a page.
    pub fn price_of(&self, page: PageId) -> f64 {
        self.accounts.price_of(page).max(self.price)
    }

    /// A page is wanted now though it was not its turn, as with [`Planner::call`], but
    /// within what its accounts allow.
    pub fn ask(&mut self, page: PageId, now: f64) -> Asked {
        if self.is_out(page) {
            return Asked::UnderWay;
        }
        if !self.is_open(now) {
            return Asked::NotNow;
        }
        if self.places[page as usize].stand == Stand::Asked {
            return Asked::Waits;
        }
        match self.accounts.without_room(page, now) {
            None => {
                self.hand_out(page);
                Asked::Out
            }
            Some(account) => {
                self.places[page as usize].stand = Stand::Asked;
                self.accounts.park(page, account, 0);
                Asked::Waits
            }
        }
    }

    /// The same within the budget of the whole plan, too: a page for which that has
    /// nothing left is due now and waits in the queue, behind those that were due
    /// before. A crowd of them raises the price like any other that waits; what is not
    /// worth it then goes back to its own time.
    pub fn ask_within_budget(&mut self, page: PageId, now: f64) -> Asked {
        let is_queued = self.places[page as usize].stand == Stand::Queued;
        if !is_queued || self.bucket >= 1.0 - 1e-6 || !self.is_open(now) {
            return self.ask(page, now);
        }
        if self.due(page) > now {
            self.push(page, now);
        }
        Asked::Waits
    }

    /// Pays for a request to what is no page of the plan, from these accounts and from
    /// what an hour allows; if one of them has no room nothing is paid, and it must not be
    /// made. The budget of the whole plan is that of its pages.
    pub fn pay_beside(&mut self, accounts: &[AccountId], now: f64) -> bool {
        let has_room = |id: &AccountId| self.accounts.has_room(*id, now);
        if !accounts.iter().all(has_room) || !self.is_open(now) {
            return false;
        }
        for id in accounts {
            self.accounts.spend_from(*id);
        }
        if let Some(hour) = &mut self.hour {
            hour.spend();
        }
        true
    }

    /// A page that waited for an account that has room by now. The budget of the
    /// whole plan is not asked: [`Planner::next`] does both.
    pub fn next_waiting(&mut self, now: f64) -> Option<PageId> {
        if !self.is_open(now) {
            return None;
        }
        let now_tick = tick(now);
        while let Some(account) = self.accounts.pop_room(now_tick, now) {
            if let Some(page) = self.first_waiting(account, now) {
                self.hand_out(page);
                return Some(page);
            }
        }
        None
    }

    /// The page that waits for an account and is due first, if its other account has
    /// room as well; if not it waits there. One that was put here at a lower price goes
    /// back.
    fn first_waiting(&mut self, account: AccountId, now: f64) -> Option<PageId> {
        let mut looks = 0;
        loop {
            let page = self.accounts.unpark(account)?;
            if self.is_parked(page, now) {
                if self.accounts.is_narrower(account, page) {
                    // The site is called again when the group has let this one go.
                    return None;
                }
                continue;
            }
            looks += 1;
            let due = self.due_by_accounts(page);
            let next = self.accounts.next_due(account);
            if looks == LOOKED_AT_ANEW || next.is_none_or(|next| due <= next) {
                return Some(page);
            }
            self.accounts.park(page, account, due);
        }
    }

    /// Whether a page is due and waits for an account.
    pub fn waits(&self, page: PageId) -> bool {
        let stand = self.places[page as usize].stand;
        matches!(stand, Stand::Parked | Stand::Asked)
    }

    /// When an account has room for a page that waits.
    pub fn waiting_wake(&self) -> Option<f64> {
        let tick = self.accounts.first_room()?;
        Some(self.opens_at(f64::from(tick) / TICKS))
    }

    /// Lets a page that is due wait if one of its accounts has no room.
    pub(super) fn is_parked(&mut self, page: PageId, now: f64) -> bool {
        let Some(account) = self.accounts.without_room(page, now) else {
            return false;
        };
        let due = self.due_by_accounts(page);
        let stand = &mut self.places[page as usize].stand;
        if *stand == Stand::Queued {
            *stand = Stand::Parked;
        }
        self.accounts.park(page, account, due);
        true
    }

    /// The place of a page among those that wait: when it is due at the price of its
    /// accounts. One that was asked for is first, one that was never seen again is
    /// where it was put to spread pages, and one that waits for the longest gap goes
    /// before those that are late by less than a tenth of it.
    fn due_by_accounts(&mut self, page: PageId) -> u32 {
        let place = self.places[page as usize];
        match place.stand {
            Stand::Asked => 0,
            _ if place.is_first => place.tick,
            _ => {
                let gap = self.due_after(page, place.last) - place.last;
                let is_longest = gap >= self.terms.longest_gap * 0.999;
                tick(place.last + if is_longest { 0.9 * gap } else { gap })
            }
        }
    }

    /// Asks members of each account of a page what they would like, as is done for
    /// the whole plan.
    pub(super) fn look_at_members(&mut self, page: PageId) {
        for account in self.accounts.of(page) {
            for _ in 0..self.accounts.looked_at(account) {
                self.look_at_member(account);
            }
        }
    }

    fn look_at_member(&mut self, account: AccountId) {
        let member = self.accounts.next_member(account);
        let price = self.accounts.price_of(member);
        let settled = self.settled_gap_at(member, price);
        self.accounts
            .note_demand(account, 1.0 / settled, self.price);
    }

    /// Finds the first prices of the accounts, and that of the plan which falls by
    /// what they cannot use. Twice: at a lower price more accounts are too small.
    pub(super) fn find_account_prices(&mut self) {
        if self.accounts.len() == 0 {
            return;
        }
        for _ in 0..2 {
            for account in self.accounts.by_size() {
                self.find_account_price(account);
            }
            self.find_price();
        }
    }

    fn find_account_price(&mut self, account: AccountId) {
        let state = self.accounts.state(account);
        if state.pages == 0 {
            return;
        }
        let asked = self.accounts.sample(account).min(state.pages);
        let members: Vec<PageId> = (0..asked)
            .map(|_| self.accounts.next_member(account))
            .collect();
        let (mut low, mut high) = (0.0, DEAREST);
        self.accounts.set_price(account, 0.0);
        if self.demand_of(&members) * state.pages as f64 <= state.requests_per_day {
            self.accounts.set_price(account, self.price * REACH);
            return;
        }
        for _ in 0..HALVINGS {
            let middle = f64::midpoint(low, high);
            self.accounts.set_price(account, self.price * middle.exp());
            if self.demand_of(&members) * state.pages as f64 > state.requests_per_day {
                low = middle;
            } else {
                high = middle;
            }
        }
    }

    /// How often a page of these would be visited, a day and on average.
    fn demand_of(&mut self, pages: &[PageId]) -> f64 {
        let visits = pages.iter().map(|page| 1.0 / self.settled_gap(*page));
        visits.sum::<f64>() / pages.len() as f64
    }
}
