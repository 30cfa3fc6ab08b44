//! How pages are named and how they link.
//!
//! The pages of a site form a tree: page `p` links to its children
//! `p * f + 1 ..= p * f + f`, so that every page is reached from the front page
//! within a few clicks. The other links of a page go to its front page, its
//! parent, random pages of the site and, one in ten, to pages of other sites.

use crate::dice::{Dice, Draw};
use crate::{PageId, Role, Web};

/// Folders that pages lie in, by page number.
pub(crate) const SECTIONS: [&str; 12] = [
    "news", "people", "places", "goods", "events", "notes", "guide", "photo", "music", "sport",
    "science", "archive",
];
const PRIVATE: &str = "private";
const FAN_OUT: u32 = 10;
/// One link in so many leads to another site.
const ABROAD: u32 = 10;

impl Web {
    /// Where the links of a page lead, in the order in which they stand there.
    pub fn links_of(&self, site: u32, page: u32) -> Vec<PageId> {
        let pages = self.pages_of(site);
        let count = self.links_per_page();
        let here = |page| PageId { site, page };
        let children = self.children(page, pages);
        let mut spare = count - children.len() as u32;
        let mut links = Vec::with_capacity(count as usize);
        if spare > 0 {
            links.push(here(0));
            spare -= 1;
        }
        if spare > 0 && page > 0 {
            links.push(here((page - 1) / self.fan_out()));
            spare -= 1;
        }
        links.extend(children.map(here));
        let of = [site, page].map(u64::from);
        let mut dice = Dice::new(self.spec().seed, Draw::Links, of);
        let abroad = if self.spec().sites > 1 {
            spare.min(count / ABROAD)
        } else {
            0
        };
        links.extend((abroad..spare).map(|_| here(dice.below(pages))));
        links.extend((0..abroad).map(|_| self.elsewhere(site, &mut dice)));
        links
    }

    /// The path and query of a page.
    pub fn page_path(&self, site: u32, page: u32) -> String {
        let mut path = Vec::with_capacity(32);
        self.push_page_path(site, page, &mut path);
        String::from_utf8(path).expect("paths are ASCII")
    }

    /// The page at a path and query, if there is one.
    pub fn page_at(&self, site: u32, target: &str) -> Option<u32> {
        if target == "/" {
            return Some(0);
        }
        let digits = match target.strip_prefix("/view?id=") {
            Some(digits) => digits,
            None => target.strip_suffix(".html")?.rsplit_once('/')?.1,
        };
        let page = digits.parse().ok()?;
        if page == 0 || page >= self.pages_of(site) {
            return None;
        }
        let mut path = Vec::with_capacity(32);
        self.push_page_path(site, page, &mut path);
        (path == target.as_bytes()).then_some(page)
    }

    pub(crate) fn push_page_path(&self, site: u32, page: u32, out: &mut Vec<u8>) {
        out.push(b'/');
        if let Some(folder) = self.folder(site, page) {
            out.extend_from_slice(folder.as_bytes());
            out.push(b'/');
        }
        self.push_file_name(site, page, out);
    }

    /// Host and port as they stand in URLs.
    pub(crate) fn push_authority(&self, site: u32, out: &mut Vec<u8>) {
        self.spec().naming.push_host(site, out);
        out.push(b':');
        push_number(u32::from(self.spec().port), out);
    }

    /// Appends a reference from a page to another one of the same site, as
    /// seen from the folder of the first.
    pub(crate) fn push_relative(&self, site: u32, from: u32, to: u32, out: &mut Vec<u8>) {
        let (here, there) = (self.folder(site, from), self.folder(site, to));
        if here != there {
            if here.is_some() {
                out.extend_from_slice(b"../");
            }
            if let Some(folder) = there {
                out.extend_from_slice(folder.as_bytes());
                out.push(b'/');
            }
        } else if to == 0 {
            out.extend_from_slice(b"./");
        }
        self.push_file_name(site, to, out);
    }

    /// Pages that have children; those from here on have none. At least the
    /// front page counts among them.
    pub(crate) fn inner_pages(&self, pages: u32) -> u32 {
        (pages - 1).div_ceil(self.fan_out()).max(1)
    }

    fn children(&self, page: u32, pages: u32) -> std::ops::Range<u32> {
        let fan_out = self.fan_out();
        let first = page.saturating_mul(fan_out).saturating_add(1).min(pages);
        first..first.saturating_add(fan_out).min(pages)
    }

    fn fan_out(&self) -> u32 {
        FAN_OUT.min(self.links_per_page())
    }

    fn links_per_page(&self) -> u32 {
        self.spec().links_per_page.max(1)
    }

    /// Every third link abroad leads to a front page, as on the real web.
    fn elsewhere(&self, site: u32, dice: &mut Dice) -> PageId {
        let other = dice.below(self.spec().sites - 1);
        let site = if other >= site { other + 1 } else { other };
        let page = match dice.below(3) {
            0 => 0,
            _ => dice.below(self.pages_of(site)),
        };
        PageId { site, page }
    }

    /// The folder of a page; front pages and pages named by a query lie in the
    /// root.
    fn folder(&self, site: u32, page: u32) -> Option<&'static str> {
        if page == 0 {
            None
        } else if self.role(site, page) == Role::Disallowed {
            Some(PRIVATE)
        } else if self.has_query_urls(site) {
            None
        } else {
            Some(SECTIONS[page as usize % SECTIONS.len()])
        }
    }

    fn push_file_name(&self, site: u32, page: u32, out: &mut Vec<u8>) {
        if page == 0 {
            return;
        }
        if self.folder(site, page).is_none() {
            out.extend_from_slice(b"view?id=");
            push_number(page, out);
        } else {
            push_number(page, out);
            out.extend_from_slice(b".html");
        }
    }
}

/// Appends decimal digits: a page has hundreds of numbers, and the formatting
/// machinery would be most of its cost.
pub(crate) fn push_number(number: u32, out: &mut Vec<u8>) {
    let mut digits = [0u8; 10];
    let mut at = digits.len();
    let mut left = number;
    loop {
        at -= 1;
        digits[at] = b'0' + (left % 10) as u8;
        left /= 10;
        if left == 0 {
            break;
        }
    }
    out.extend_from_slice(&digits[at..]);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::WebSpec;

    #[test]
    fn paths_lead_back_to_their_pages() {
        let mut spec = WebSpec::lively(6, 500);
        spec.traits.query_urls = 0.5;
        let web = Web::new(spec);
        for id in web.all_pages() {
            let path = web.page_path(id.site, id.page);
            assert_eq!(web.page_at(id.site, &path), Some(id.page), "{path}");
        }
        for path in [
            "/news/1.html",
            "/people/01.html",
            "/news/",
            "/people/x.html",
        ] {
            assert_eq!(Web::new(WebSpec::plain(1, 9)).page_at(0, path), None);
        }
    }

    #[test]
    fn links_are_as_many_as_asked_for() {
        for links in [1, 3, 50, 120] {
            let mut spec = WebSpec::plain(3, 40);
            spec.links_per_page = links;
            let web = Web::new(spec);
            for id in web.all_pages() {
                assert_eq!(web.links_of(id.site, id.page).len(), links as usize);
            }
        }
    }

    #[test]
    fn numbers_are_decimal() {
        for number in [0, 7, 10, 4_294_967_295] {
            let mut out = Vec::new();
            push_number(number, &mut out);
            assert_eq!(out, number.to_string().as_bytes());
        }
    }
}
