//! Dives: from a doubtful page straight down, to see whether there is a bottom.
//!
//! In the order of a crawl the first dead end of a wide tree comes after all of
//! its inner pages. So where an account is in doubt, one link of a page jumps
//! the queue, then one link of the page it leads to, and so on. A finite site
//! ends in a page that leads nowhere new; a generator does not.

use geomi_url::CrawlUrl;
use geomi_url::template::Template;

/// Steps of one dive.
const STEPS_MAX: u32 = 64;
/// Pages after which a dive that is not heard of is given up.
const PATIENCE: u32 = 48;

/// The dive of a site that is under way, if one is. It is not kept over a
/// restart: another one begins.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub(crate) struct Dive {
    /// The page that is awaited.
    at: Option<u64>,
    steps: u32,
    /// Templates and shelves it came through, each once.
    path: Vec<(u64, u64)>,
    /// Sections it came through.
    sections: Vec<String>,
    /// Pages seen since its last step.
    waited: u32,
    /// Which one it is.
    number: u32,
}

/// What a dive came through.
pub(crate) struct Way {
    pub(crate) path: Vec<(u64, u64)>,
    pub(crate) sections: Vec<String>,
}

/// Which of a page's links a dive takes.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Pick {
    /// The last one of the page's own kind: in a row of page numbers it leads
    /// furthest.
    Last,
    /// The one that stands first.
    First,
}

impl Pick {
    /// The link to take among new ones, in the order of the page, whose template
    /// is given. In a calendar it is always the one furthest ahead.
    pub fn among<'a>(
        self,
        page: &Template,
        mut links: impl Iterator<Item = &'a CrawlUrl>,
    ) -> Option<&'a CrawlUrl> {
        if self == Self::First && page.year().is_none() {
            return links.next();
        }
        links.max_by_key(|link| {
            let target = Template::of(link);
            (target.year(), target == *page)
        })
    }
}

impl Dive {
    /// Whether a page is the one that is awaited.
    pub(crate) fn awaits(&self, url: &CrawlUrl) -> bool {
        self.at == Some(url.hash64().0)
    }

    /// Whether a page may be the next step, or the first one.
    pub(crate) fn takes(&self, url: &CrawlUrl) -> Option<Pick> {
        let goes_on = self.awaits(url) && self.steps < STEPS_MAX;
        let may_begin = self.at.is_none() || self.waited > PATIENCE;
        (goes_on || may_begin).then_some(if self.number.is_multiple_of(2) {
            Pick::Last
        } else {
            Pick::First
        })
    }

    /// From a page to one it links to.
    pub(crate) fn step(&mut self, url: &CrawlUrl, template: &Template, link: &CrawlUrl) {
        if !self.awaits(url) {
            self.end();
        }
        self.pass(template);
        self.steps += 1;
        self.at = Some(link.hash64().0);
        self.waited = 0;
    }

    /// A page was seen that is not its own.
    pub(crate) fn wait(&mut self) {
        self.waited = self.waited.saturating_add(1);
    }

    /// It has reached a dead end of this template.
    pub(crate) fn arrive(&mut self, template: &Template) -> Way {
        self.pass(template);
        let way = Way {
            path: std::mem::take(&mut self.path),
            sections: std::mem::take(&mut self.sections),
        };
        self.end();
        way
    }

    /// It goes no further.
    pub(crate) fn end(&mut self) {
        *self = Self {
            number: self.number.wrapping_add(1),
            ..Self::default()
        };
    }

    fn pass(&mut self, template: &Template) {
        let place = (template.hash(), template.shelf());
        if !self.path.contains(&place) {
            self.path.push(place);
        }
        if !self
            .sections
            .iter()
            .any(|known| known == template.section())
        {
            self.sections.push(template.section().to_owned());
        }
    }
}
