//! Budgets of some of the pages: a site's, or that of a group of sites.
//!
//! An account has a limit on the requests of any day, a price of its own and the
//! pages that wait for it. A page comes up when it is due at the price of the whole
//! plan. If its account has no room then, it waits there, in the order in which pages
//! are due at the account's price; whenever there is room the first of them is
//! visited. So a limit that is too small is used up to the last request, by the pages
//! of most worth, and those left alone for the longest gap go before all others.
//!
//! An account's price is what makes its pages ask for as much as it has. The
//! demand of a page is that at the highest price it is subject to; what a limited site
//! cannot use thus goes to the others, because the price of the whole plan falls.
//! Where sites are parts of groups, and no page is in two groups, that is the best
//! allocation: the multipliers of nested limits add up.
//!
//! A page has two accounts at most, the narrower one first. One that has room in its
//! site but not in its group waits for the group, and the site offers no other before
//! that one has gone: a group compares the best pages of its sites. Everything
//! here costs a logarithm of the number of pages or accounts, never their number.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::bucket::Bucket;
use crate::hours::Hours;
use crate::policy::PageId;

/// An account by its place, from 0 on without gaps.
pub type AccountId = u32;

/// No account.
const NONE: AccountId = AccountId::MAX;
/// Accounts a page may have.
const EACH: usize = 2;
/// Members that must have been looked at before a price moves, if there are as many.
const SAMPLE: usize = 32;
/// The least, of accounts with few members.
const SAMPLE_MIN: usize = 8;
/// Members looked at with each visit, where visits are few, and from how many a day on
/// one is enough.
const LOOKED_AT: usize = 4;
const MANY: f64 = 128.0;
/// How much of a mismatch one step of a price corrects.
const DAMPING: f64 = 0.3;
/// A step of a price is no more than this, in the logarithm.
const STEP_MAX: f64 = 0.7;
/// A price that binds nobody stays within reach: no lower than this part of that of
/// the whole plan.
pub(crate) const REACH: f64 = 0.25;
/// Nor is one higher than this: rules that know no price ask for as much at any.
const DEAREST: f64 = 1e6;

/// What may be told of an account.
#[derive(Clone, Copy, PartialEq, Debug)]
pub struct AccountState {
    /// Requests a day, at most.
    pub requests_per_day: f64,
    /// Pages in it.
    pub pages: usize,
    /// What a request costs its pages, if that is more than in the whole plan.
    pub price: f64,
    /// Pages that are due and wait until there is room.
    pub waiting: usize,
}

#[derive(Debug)]
struct Account {
    bucket: Bucket,
    price: f64,
    members: Vec<PageId>,
    /// Members that were looked at so far.
    looks: u32,
    demand: f64,
    looked_at: usize,
    /// Pages that wait, by the tick at which they are due at this price. One that has
    /// gone elsewhere leaves a void entry.
    waiting: BinaryHeap<Reverse<(u32, PageId)>>,
    /// How many of those still do.
    waiting_count: usize,
    /// Whether it is among those that are called when they have room.
    is_listed: bool,
}

/// All accounts of a plan.
#[derive(Debug, Default)]
pub(crate) struct Accounts {
    all: Vec<Account>,
    /// The accounts of each page; empty while there are none.
    of: Vec<[AccountId; EACH]>,
    /// The account each of them waits for.
    waits_for: Vec<AccountId>,
    /// Accounts for which pages wait, by the tick at which they have room.
    rooms: BinaryHeap<Reverse<(u32, AccountId)>>,
    /// The hours of the week by which they fill, if not all alike.
    hours: Option<Hours>,
}

impl Accounts {
    /// One more account.
    pub(crate) fn open(&mut self, requests_per_day: f64, now: f64) -> AccountId {
        let bucket = Bucket::new(requests_per_day, 1.0, self.clock(now));
        self.all.push(Account {
            bucket,
            price: 0.0,
            members: Vec::new(),
            looks: 0,
            demand: 0.0,
            looked_at: 0,
            waiting: BinaryHeap::new(),
            waiting_count: 0,
            is_listed: false,
        });
        (self.all.len() - 1) as AccountId
    }

    /// Puts a page into an account.
    pub(crate) fn join(&mut self, page: PageId, account: AccountId) {
        let at = page as usize;
        if self.of.len() <= at {
            self.of.resize(at + 1, [NONE; EACH]);
            self.waits_for.resize(at + 1, NONE);
        }
        let free = self.of[at].iter_mut().find(|slot| **slot == NONE);
        *free.expect("a page has two accounts at most") = account;
        self.all[account as usize].members.push(page);
    }

    /// How many there are.
    pub(crate) fn len(&self) -> usize {
        self.all.len()
    }

    /// The accounts of a page.
    pub(crate) fn of(&self, page: PageId) -> impl Iterator<Item = AccountId> + use<> {
        let accounts = self.of.get(page as usize).copied().unwrap_or([NONE; EACH]);
        accounts.into_iter().filter(|account| *account != NONE)
    }

    /// The highest price of a page's accounts; 0 without any.
    pub(crate) fn price_of(&self, page: PageId) -> f64 {
        let prices = self.of(page).map(|id| self.all[id as usize].price);
        prices.fold(0.0, f64::max)
    }

    /// The first account of a page that has no room now.
    pub(crate) fn without_room(&mut self, page: PageId, now: f64) -> Option<AccountId> {
        self.of(page).find(|id| !self.has_room(*id, now))
    }

    /// Whether an account has room now.
    pub(crate) fn has_room(&mut self, id: AccountId, now: f64) -> bool {
        let clock = self.clock(now);
        let bucket = &mut self.all[id as usize].bucket;
        bucket.fill(clock);
        bucket.has_room()
    }

    /// A request is made for a page.
    pub(crate) fn spend(&mut self, page: PageId) {
        self.forget(page);
        for id in self.of(page) {
            self.spend_from(id);
        }
    }

    /// A request is made that an account pays for.
    pub(crate) fn spend_from(&mut self, id: AccountId) {
        self.all[id as usize].bucket.spend();
        self.list(id, 0);
    }

    /// A page no longer waits, and no request is made for it.
    pub(crate) fn leave(&mut self, page: PageId) {
        self.forget(page);
        for id in self.of(page) {
            self.list(id, 0);
        }
    }

    /// Whether an account is the narrower one of a page that has two.
    pub(crate) fn is_narrower(&self, id: AccountId, page: PageId) -> bool {
        let mut accounts = self.of(page);
        accounts.next() == Some(id) && accounts.next().is_some()
    }

    /// Lets a page wait until an account has room, by when it is due.
    pub(crate) fn park(&mut self, page: PageId, id: AccountId, due: u32) {
        self.forget(page);
        self.waits_for[page as usize] = id;
        let account = &mut self.all[id as usize];
        account.waiting_count += 1;
        account.waiting.push(Reverse((due, page)));
        if account.waiting.len() > 2 * account.waiting_count + 64 {
            let waits_for = &self.waits_for;
            let is_valid = |page: PageId| waits_for[page as usize] == id;
            account.waiting.retain(|Reverse((_, page))| is_valid(*page));
        }
        self.list(id, 0);
    }

    /// Has an account called when it has room, and not before a tick, if pages wait
    /// for it.
    pub(crate) fn list(&mut self, id: AccountId, earliest: u32) {
        let account = &mut self.all[id as usize];
        if account.is_listed || account.waiting.is_empty() {
            return;
        }
        account.is_listed = true;
        let room = account.bucket.room_at();
        let room = crate::planner::tick(self.when(room));
        self.rooms.push(Reverse((room.max(earliest), id)));
    }

    /// When the first account with pages that wait has room.
    pub(crate) fn first_room(&self) -> Option<u32> {
        self.rooms.peek().map(|Reverse((tick, _))| *tick)
    }

    /// The account that has room by now and pages that wait. It is listed again when
    /// one of its pages goes.
    pub(crate) fn pop_room(&mut self, now_tick: u32, now: f64) -> Option<AccountId> {
        while self.first_room().is_some_and(|tick| tick <= now_tick) {
            let Reverse((_, id)) = self.rooms.pop()?;
            let clock = self.clock(now);
            let account = &mut self.all[id as usize];
            account.is_listed = false;
            account.bucket.fill(clock);
            if account.bucket.has_room() {
                return Some(id);
            }
            self.list(id, now_tick + 1);
        }
        None
    }

    /// Takes the first page that waits for an account.
    pub(crate) fn unpark(&mut self, id: AccountId) -> Option<PageId> {
        loop {
            let Reverse((_, page)) = self.all[id as usize].waiting.pop()?;
            if self.waits_for[page as usize] == id {
                self.forget(page);
                return Some(page);
            }
        }
    }

    /// When the next one that waits for it is due.
    pub(crate) fn next_due(&self, id: AccountId) -> Option<u32> {
        let next = self.all[id as usize].waiting.peek();
        next.map(|Reverse((tick, _))| *tick)
    }

    /// A page waits for no account.
    fn forget(&mut self, page: PageId) {
        if let Some(slot) = self.waits_for.get_mut(page as usize)
            && *slot != NONE
        {
            self.all[*slot as usize].waiting_count -= 1;
            *slot = NONE;
        }
    }

    /// The member of an account that is to be asked next.
    pub(crate) fn next_member(&mut self, id: AccountId) -> PageId {
        let account = &mut self.all[id as usize];
        account.looks = account.looks.wrapping_add(1);
        // Multiples of the golden ratio fall evenly, whatever the order of members.
        let part = (f64::from(account.looks) * 0.618_033_988_749_895).fract();
        account.members[(part * account.members.len() as f64) as usize]
    }

    /// Members to ask with each visit.
    pub(crate) fn looked_at(&self, id: AccountId) -> usize {
        let budget = self.all[id as usize].bucket.requests_per_day();
        if budget < MANY { LOOKED_AT } else { 1 }
    }

    /// Members to ask for one step of the price.
    pub(crate) fn sample(&self, id: AccountId) -> usize {
        let members = self.all[id as usize].members.len();
        members.clamp(SAMPLE_MIN, SAMPLE)
    }

    /// Takes in how often a member would like to be visited, a day, and moves the
    /// price once enough of them have been asked. `general` is the price of the plan.
    pub(crate) fn note_demand(&mut self, id: AccountId, visits_a_day: f64, general: f64) {
        let sample = self.sample(id);
        let account = &mut self.all[id as usize];
        account.demand += visits_a_day;
        account.looked_at += 1;
        if account.looked_at < sample {
            return;
        }
        let demand = account.demand / sample as f64 * account.members.len() as f64;
        let budget = account.bucket.requests_per_day();
        let step = (DAMPING * (demand / budget).ln()).clamp(-STEP_MAX, STEP_MAX);
        let price = account.price * step.exp();
        account.price = price.min(DEAREST).max(general * REACH);
        (account.demand, account.looked_at) = (0.0, 0);
    }

    /// Sets a price outright.
    pub(crate) fn set_price(&mut self, id: AccountId, price: f64) {
        self.all[id as usize].price = price;
    }

    /// All buckets begin anew at this time, with what fills them in so many days.
    pub(crate) fn restart(&mut self, saved_days: f64, now: f64) {
        let clock = self.clock(now);
        for account in &mut self.all {
            let held = account.bucket.requests_per_day() * saved_days;
            account.bucket.restart(held, clock);
        }
    }

    /// The hours of the week that are used; the limits must be restarted.
    pub(crate) fn set_hours(&mut self, hours: Option<Hours>) {
        self.hours = hours;
    }

    /// The hours of the week that are used.
    pub(crate) fn hours(&self) -> Option<&Hours> {
        self.hours.as_ref()
    }

    /// A time on the clock of the hours that are used: no day of it is shorter than
    /// one of them.
    fn clock(&self, now: f64) -> f64 {
        let used = self.hours.as_ref();
        used.map_or(now, |hours| hours.clock(now) / hours.of_busiest_day())
    }

    /// The time at which that clock is there.
    fn when(&self, clock: f64) -> f64 {
        let used = self.hours.as_ref();
        used.map_or(clock, |hours| hours.when(clock * hours.of_busiest_day()))
    }

    /// What may be told of an account.
    pub(crate) fn state(&self, id: AccountId) -> AccountState {
        let account = &self.all[id as usize];
        AccountState {
            requests_per_day: account.bucket.requests_per_day(),
            pages: account.members.len(),
            price: account.price,
            waiting: account.waiting_count,
        }
    }

    /// Accounts with the fewest members first: sites before their groups.
    pub(crate) fn by_size(&self) -> Vec<AccountId> {
        let mut ids: Vec<AccountId> = (0..self.all.len() as AccountId).collect();
        ids.sort_by_key(|id| self.all[*id as usize].members.len());
        ids
    }
}
