//! Mirrors: which site has the same pages as another.
//!
//! Two sites are mirrors if their pages at the same path say the same. Of each
//! site the first [`SAMPLE_MAX`] pages are kept, as a hash of the path and one of
//! the content; crawls take the pages near a site's front first, so the samples
//! of two mirrors have most of their paths in common. A pair needs
//! [`CONTENTS_MIN`] different contents in common, and [`AGREEING_PERCENT_MIN`] of
//! the paths that both samples have must agree: two hosts that answer everything
//! with one parking page are not called mirrors, nor are two sites that share
//! their terms of use. Of a pair the site of which less was fetched by then is the
//! mirror, of equals the one whose first page came later.
//!
//! A page of a site with a full sample costs one look-up in a hash table. Memory
//! is bounded and stated: [`PAGES_MAX`] pages in about 30 MiB once full, after
//! which the site met first is forgotten, and [`VERDICTS_MAX`] mirrors. So a
//! mirror of a site met long ago is taken for a site of its own, and so is one
//! that is entered at quite another place than its original was.

use std::cmp::Reverse;
use std::collections::{HashMap, VecDeque};

use geomi_url::{CrawlUrl, SiteHash};
use serde::{Deserialize, Serialize};
use xxhash_rust::xxh3::xxh3_64;

/// Pages of a site that are kept.
pub(crate) const SAMPLE_MAX: usize = 32;
/// Pages of all sites that are kept.
pub const PAGES_MAX: usize = 1 << 19;
/// Mirrors that are known at once; beyond them no more are called so.
pub(crate) const VERDICTS_MAX: usize = 1 << 16;
/// Different contents that a mirror and its original have at the same paths.
pub(crate) const CONTENTS_MIN: usize = 5;
/// Of the paths that both have, those with the same content, in hundredths.
pub(crate) const AGREEING_PERCENT_MIN: usize = 90;

/// A page as it is compared.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct MirrorPage {
    /// Place of its site in the order of first pages.
    pub order: u64,
    /// Hash of its path and query.
    pub path: u64,
    /// Hash of what it says.
    pub content: u64,
}

/// That a site is a mirror, and the evidence.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
pub struct Mirror {
    /// The site it mirrors.
    pub of: SiteHash,
    /// Paths at which both say the same.
    pub agreeing: u32,
    /// Paths that both samples have.
    pub common: u32,
}

/// What a page changed.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Met {
    /// The page as it was kept, and its place in its site's sample.
    pub kept: Option<(usize, MirrorPage)>,
    /// A site of which something else is known now: that it is a mirror, or by
    /// other evidence, or that it is none.
    pub news: Option<(SiteHash, Option<Mirror>)>,
}

/// The samples of the sites met lately, and the mirrors among them.
#[derive(Clone, Debug, Default)]
pub struct Mirrors {
    samples: HashMap<SiteHash, Vec<MirrorPage>>,
    /// The sites of the samples, the one met first in front.
    order: VecDeque<SiteHash>,
    next_order: u64,
    /// The site that first had a content at a path.
    holders: HashMap<u64, SiteHash>,
    pages: usize,
    verdicts: HashMap<SiteHash, Mirror>,
}

impl Mirrors {
    /// Takes the first visit of a page in; `content` is a hash of what it says.
    ///
    /// ```
    /// use geomi_novelty::Mirrors;
    /// use geomi_url::CrawlUrl;
    ///
    /// let mut mirrors = Mirrors::default();
    /// for host in ["a.test", "b.test"] {
    ///     for page in 0..5 {
    ///         let url = CrawlUrl::parse(&format!("http://{host}/{page}")).unwrap();
    ///         mirrors.meet(&url, page);
    ///     }
    /// }
    /// let [a, b] = ["http://a.test/", "http://b.test/"].map(|url| CrawlUrl::parse(url).unwrap());
    /// assert_eq!(mirrors.mirror(b.site_hash()).unwrap().of, a.site_hash());
    /// assert_eq!(mirrors.mirror(a.site_hash()), None);
    /// ```
    pub fn meet(&mut self, url: &CrawlUrl, content: u64) -> Met {
        let site = url.site_hash();
        let sample = self.samples.get(&site);
        if sample.is_some_and(|sample| sample.len() >= SAMPLE_MAX) {
            return Met::default();
        }
        // Collisions can be made, but a site may as well have the very path of another.
        let path = xxh3_64(url.path_and_query().as_bytes());
        if sample.is_some_and(|sample| sample.iter().any(|page| page.path == path)) {
            return Met::default();
        }
        let page = MirrorPage {
            order: sample.map_or(self.next_order, |sample| sample[0].order),
            path,
            content,
        };
        let (at, holder) = self.keep(site, page);
        let known = self.verdicts.get(&site).map(|mirror| mirror.of);
        let other = known.or_else(|| Some(self.original(holder?, site)));
        Met {
            kept: Some((at, page)),
            news: other.and_then(|other| self.compare(site, other)),
        }
    }

    /// What is known of a site.
    pub fn mirror(&self, site: SiteHash) -> Option<Mirror> {
        self.verdicts.get(&site).copied()
    }

    /// Every mirror that is known.
    pub fn iter(&self) -> impl Iterator<Item = (SiteHash, Mirror)> + '_ {
        let verdicts = self.verdicts.iter();
        verdicts.map(|(site, mirror)| (*site, *mirror))
    }

    /// Takes a page back that was kept in an earlier run. Pages come in the order
    /// of their sites.
    pub fn restore(&mut self, site: SiteHash, page: MirrorPage) {
        self.keep(site, page);
    }

    /// Takes a verdict of an earlier run back.
    pub fn restore_mirror(&mut self, site: SiteHash, mirror: Mirror) {
        if self.verdicts.len() < VERDICTS_MAX {
            self.verdicts.insert(site, mirror);
        }
    }

    /// Adds a page to its site's sample: its place there, and another site that
    /// has the same content at the same path.
    fn keep(&mut self, site: SiteHash, page: MirrorPage) -> (usize, Option<SiteHash>) {
        let sample = self.samples.entry(site).or_default();
        if sample.is_empty() {
            self.order.push_back(site);
            self.next_order = self.next_order.max(page.order + 1);
        }
        let at = sample.len();
        sample.push(page);
        self.pages += 1;
        if self.pages > PAGES_MAX {
            self.forget_first(site);
        }
        let holder = *self.holders.entry(held_under(&page)).or_insert(site);
        (at, Some(holder).filter(|holder| *holder != site))
    }

    /// Forgets the site met first, unless it is the one at hand.
    fn forget_first(&mut self, at_hand: SiteHash) {
        let Some(first) = self.order.pop_front() else {
            return;
        };
        if first == at_hand {
            self.order.push_back(first);
            return;
        }
        for page in self.samples.remove(&first).unwrap_or_default() {
            self.pages -= 1;
            let key = held_under(&page);
            if self.holders.get(&key) == Some(&first) {
                self.holders.remove(&key);
            }
        }
    }

    /// What a site is a mirror of in the end, `site` being no mirror itself; so
    /// that mirrors of mirrors refer to one original, and never to each other.
    fn original(&self, mut of: SiteHash, site: SiteHash) -> SiteHash {
        while let Some(mirror) = self.verdicts.get(&of)
            && mirror.of != site
        {
            of = mirror.of;
        }
        of
    }

    /// Compares two sites, and says what is new about the one that is the mirror.
    fn compare(&mut self, one: SiteHash, other: SiteHash) -> Option<(SiteHash, Option<Mirror>)> {
        let (one_sample, other_sample) = (self.samples.get(&one)?, self.samples.get(&other)?);
        let is_known = |mirror, of| {
            self.verdicts
                .get(&mirror)
                .is_some_and(|known| known.of == of)
        };
        let rank = |sample: &[MirrorPage]| (Reverse(sample.len()), sample[0].order);
        let is_mirror = if is_known(one, other) || is_known(other, one) {
            is_known(one, other)
        } else {
            rank(one_sample) > rank(other_sample)
        };
        let (mirror_site, of) = if is_mirror {
            (one, other)
        } else {
            (other, one)
        };
        let evidence = evidence(one_sample, other_sample).map(|(agreeing, common)| Mirror {
            of,
            agreeing,
            common,
        });
        match (self.verdicts.get(&mirror_site), evidence) {
            (Some(known), Some(mirror)) if *known == mirror => None,
            (None, Some(_)) if self.verdicts.len() >= VERDICTS_MAX => None,
            (_, Some(mirror)) => {
                self.verdicts.insert(mirror_site, mirror);
                Some((mirror_site, Some(mirror)))
            }
            (Some(_), None) => {
                self.verdicts.remove(&mirror_site);
                Some((mirror_site, None))
            }
            (None, None) => None,
        }
    }
}

/// Paths at which two samples agree, and paths they have in common, if that is
/// enough for mirrors.
fn evidence(one: &[MirrorPage], other: &[MirrorPage]) -> Option<(u32, u32)> {
    let mut contents = Vec::with_capacity(SAMPLE_MAX);
    let mut common = 0;
    for page in one {
        let Some(twin) = other.iter().find(|twin| twin.path == page.path) else {
            continue;
        };
        common += 1;
        if twin.content == page.content {
            contents.push(page.content);
        }
    }
    let agreeing = contents.len();
    contents.sort_unstable();
    contents.dedup();
    let is_enough =
        contents.len() >= CONTENTS_MIN && agreeing * 100 >= common * AGREEING_PERCENT_MIN;
    is_enough.then_some((agreeing as u32, common as u32))
}

/// What a page is found by: its path and content in one.
const fn held_under(page: &MirrorPage) -> u64 {
    page.path.rotate_left(32) ^ page.content.wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn url(host: &str, page: u64) -> CrawlUrl {
        CrawlUrl::parse(&format!("http://{host}/{page}?q=1")).unwrap()
    }

    fn site(host: &str) -> SiteHash {
        url(host, 0).site_hash()
    }

    /// Meets pages of a host, each with its content.
    fn meet(mirrors: &mut Mirrors, host: &str, pages: impl IntoIterator<Item = (u64, u64)>) {
        for (page, content) in pages {
            mirrors.meet(&url(host, page), content);
        }
    }

    fn same(count: u64) -> impl Iterator<Item = (u64, u64)> {
        (0..count).map(|page| (page, page))
    }

    #[test]
    fn five_different_contents_in_common_make_a_mirror() {
        let mut mirrors = Mirrors::default();
        meet(&mut mirrors, "a.test", same(20));
        meet(&mut mirrors, "b.test", same(4));
        assert_eq!(mirrors.mirror(site("b.test")), None);
        let met = mirrors.meet(&url("b.test", 4), 4);
        let mirror = Mirror {
            of: site("a.test"),
            agreeing: 5,
            common: 5,
        };
        assert_eq!(met.news, Some((site("b.test"), Some(mirror))));
        assert_eq!(mirrors.iter().count(), 1, "and the first is none");
        assert_eq!(mirrors.meet(&url("b.test", 4), 4), Met::default(), "again");
    }

    #[test]
    fn one_page_everywhere_and_shared_terms_of_use_are_no_mirrors() {
        let mut mirrors = Mirrors::default();
        for host in ["a.test", "b.test"] {
            meet(&mut mirrors, host, (0..30).map(|page| (page, 7)));
        }
        let own = |host: u64| (0..10).map(move |page| (page, if page < 8 { page } else { host }));
        meet(&mut mirrors, "c.test", own(100));
        meet(&mut mirrors, "d.test", own(200));
        // The first eight agree, and make a mirror until the next two speak.
        assert_eq!(mirrors.iter().count(), 0);
    }

    #[test]
    fn a_verdict_follows_its_evidence() {
        let mut mirrors = Mirrors::default();
        meet(&mut mirrors, "a.test", same(32));
        meet(&mut mirrors, "b.test", same(8));
        assert_eq!(mirrors.mirror(site("b.test")).unwrap().agreeing, 8);
        let met = mirrors.meet(&url("b.test", 8), 900);
        assert_eq!(met.news, Some((site("b.test"), None)), "8 of 9 is too few");
        meet(&mut mirrors, "b.test", (9..20).map(|page| (page, page)));
        let mirror = mirrors.mirror(site("b.test")).unwrap();
        assert_eq!((mirror.agreeing, mirror.common), (19, 20));
    }

    #[test]
    fn the_site_of_which_less_was_fetched_is_the_mirror() {
        let mut mirrors = Mirrors::default();
        meet(&mut mirrors, "a.test", same(1));
        meet(&mut mirrors, "b.test", same(20));
        meet(&mut mirrors, "a.test", same(20));
        let mirror = mirrors.mirror(site("a.test")).unwrap();
        assert_eq!((mirror.of, mirror.agreeing), (site("b.test"), 20));
        assert_eq!(mirrors.mirror(site("b.test")), None, "and it stays so");
    }

    #[test]
    fn of_equals_the_later_site_is_the_mirror() {
        let mut mirrors = Mirrors::default();
        meet(&mut mirrors, "a.test", [(99, 99)]);
        meet(&mut mirrors, "b.test", same(6));
        meet(&mut mirrors, "a.test", same(6));
        assert_eq!(mirrors.mirror(site("a.test")), None);
        assert_eq!(mirrors.mirror(site("b.test")).unwrap().of, site("a.test"));
    }

    #[test]
    fn mirrors_of_mirrors_refer_to_one_original() {
        let mut mirrors = Mirrors::default();
        meet(&mut mirrors, "a.test", same(6));
        meet(&mut mirrors, "b.test", same(20));
        meet(&mut mirrors, "c.test", same(32));
        meet(&mut mirrors, "a.test", (6..32).map(|page| (page, page)));
        meet(&mut mirrors, "d.test", same(32));
        let originals = ["b.test", "c.test", "d.test"];
        let originals = originals.map(|host| mirrors.mirror(site(host)).map(|mirror| mirror.of));
        assert_eq!(originals, [Some(site("a.test")); 3]);
        assert_eq!(mirrors.mirror(site("a.test")), None);
    }

    #[test]
    fn what_was_kept_can_be_taken_back() {
        let mut before = Mirrors::default();
        let mut rows = Vec::new();
        for (host, count) in [("a.test", 32), ("b.test", 4)] {
            for (page, content) in same(count) {
                let met = before.meet(&url(host, page), content);
                let (at, kept) = met.kept.unwrap();
                rows.push((kept.order, at, site(host), kept));
            }
        }
        rows.sort_by_key(|row| (row.0, row.1));
        let mut after = Mirrors::default();
        for (.., site, page) in rows {
            after.restore(site, page);
        }
        let met = after.meet(&url("b.test", 4), 4);
        assert_eq!(met.kept.unwrap().0, 4, "its place in the sample");
        assert!(after.mirror(site("b.test")).is_some());
        assert_eq!(after.meet(&url("a.test", 40), 1), Met::default(), "full");
    }

    #[test]
    fn memory_is_bounded_and_the_first_site_is_forgotten() {
        let mut mirrors = Mirrors::default();
        let sites = (PAGES_MAX / SAMPLE_MAX) as u64 + 10;
        for number in 0..sites {
            for page in 0..SAMPLE_MAX as u64 {
                let kept = MirrorPage {
                    order: number,
                    path: page,
                    content: number * 1_000 + page,
                };
                mirrors.restore(SiteHash(number), kept);
            }
        }
        assert!(mirrors.pages <= PAGES_MAX);
        assert_eq!(mirrors.holders.len(), mirrors.pages);
        assert!(!mirrors.samples.contains_key(&SiteHash(0)));
        assert!(mirrors.samples.contains_key(&SiteHash(sites - 1)));
    }
}
