//! What a page turns out to be when it is asked for.

use crate::dice::{Dice, Draw};
use crate::{Fault, PageId, Web};

/// The part a page plays. Front pages and pages with children in the link tree
/// are always [`Role::Page`].
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Role {
    /// It answers 200.
    Page,
    /// It answers 404 or 410, whichever stands here.
    Missing(u16),
    /// It answers 500.
    Failing,
    /// It answers 503 in every other window of four seconds.
    Busy,
    /// It sends the client elsewhere.
    Redirect(u16, RedirectTarget),
    /// It answers 200 with the bytes of this page of its site.
    DuplicateOf(u32),
    /// It breaks on the socket.
    Faulty(Fault),
    /// It answers 200, but robots.txt disallows it.
    Disallowed,
}

/// Where a redirect leads.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum RedirectTarget {
    /// To a page that answers 200.
    Page(PageId),
    /// To a path that redirects to itself.
    Loop,
}

impl Role {
    /// Whether a GET ends in a 200 with a page, whoever asks.
    pub const fn is_page(self) -> bool {
        matches!(
            self,
            Self::Page | Self::DuplicateOf(_) | Self::Disallowed | Self::Busy
        )
    }
}

impl Web {
    /// The part a page plays.
    pub fn role(&self, site: u32, page: u32) -> Role {
        let pages = self.pages_of(site);
        let inner = self.inner_pages(pages);
        if !self.has_roles || page < inner {
            return Role::Page;
        }
        let of = [site, page].map(u64::from);
        let mut dice = Dice::new(self.spec().seed, Draw::Role, of);
        let traits = &self.spec().traits;
        // Only pages without children are drawn from, so each share is raised
        // to keep its meaning as a share of all pages.
        let raise = f64::from(pages) / f64::from(pages - inner);
        let mut left = dice.unit();
        let mut is = |share: f64| {
            left -= share * raise;
            left < 0.0
        };
        if is(traits.missing) {
            Role::Missing(if dice.chance(0.8) { 404 } else { 410 })
        } else if is(traits.failing) {
            Role::Failing
        } else if is(traits.busy) {
            Role::Busy
        } else if is(traits.redirects) {
            self.drawn_redirect(site, &mut dice)
        } else if is(traits.duplicates) {
            self.original_of(site, page)
                .map_or(Role::Page, Role::DuplicateOf)
        } else if is(traits.faults) {
            let quick = Fault::QUICK;
            Role::Faulty(quick[dice.below(quick.len() as u32) as usize])
        } else if is(traits.disallowed) {
            Role::Disallowed
        } else {
            Role::Page
        }
    }

    /// Targets are pages with children (or front pages), which answer 200.
    fn drawn_redirect(&self, site: u32, dice: &mut Dice) -> Role {
        let status = [301, 302, 307][dice.below(3) as usize];
        let site = match dice.unit() {
            u if u < 0.8 => site,
            u if u < 0.95 => dice.below(self.spec().sites),
            _ => return Role::Redirect(status, RedirectTarget::Loop),
        };
        let page = dice.below(self.inner_pages(self.pages_of(site)));
        Role::Redirect(status, RedirectTarget::Page(PageId { site, page }))
    }

    /// A page with children in the same folder: relative links in its bytes
    /// lead to the same places from the copy.
    fn original_of(&self, site: u32, page: u32) -> Option<u32> {
        let folders = crate::graph::SECTIONS.len() as u32;
        let inner = self.inner_pages(self.pages_of(site));
        let lowest = page % folders;
        let first = if lowest == 0 { folders } else { lowest };
        if first >= inner {
            return None;
        }
        let choices = (inner - 1 - first) / folders + 1;
        Some(first + page / folders % choices * folders)
    }
}
