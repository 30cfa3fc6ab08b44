//! Sites of one kind of page, told apart by a number: serial novels, comics,
//! part catalogues, profiles, questions, pages that say nearly nothing, related
//! items, redirects. They differ in how a page is reached and what it says.

use crate::finite::{FiniteSite, Link, Plan, Reply, Sheet, Target, paged};

/// What a page says.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Says {
    /// A chapter: twelve sentences.
    Chapter,
    /// A picture and nothing else.
    Comic,
    /// The same words in all, other numbers.
    Figures,
    /// "Under construction" and nothing else.
    Soon,
    /// One question and a short answer.
    Question,
    /// A name, and that there is nothing yet.
    Profile,
    /// One line.
    Line,
    /// A few sentences.
    Article,
}

/// How a page is reached.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(crate) enum Reached {
    /// The front page leads to the first; then by next and previous alone.
    Chain,
    /// Lists of so many.
    Lists(u32),
    /// Lists of so many with nothing but a link to the next list.
    NextList(u32),
    /// All from the front page.
    Front,
    /// Lists of so many; each page leads to ten others.
    Related(u32),
    /// Lists of so many; every link is a redirect to the page.
    Redirects(u32),
    /// By the sitemap alone.
    Sitemap,
}

#[derive(Debug)]
pub(crate) struct Numbered {
    pub(crate) kind: &'static str,
    /// What stands before the number.
    pub(crate) before: &'static str,
    /// What stands after it.
    pub(crate) after: &'static str,
    /// The address of the lists.
    pub(crate) list: &'static str,
    pub(crate) count: u32,
    pub(crate) says: Says,
    pub(crate) reached: Reached,
}

impl Numbered {
    fn path(&self, number: u32) -> String {
        format!("{}{number}{}", self.before, self.after)
    }

    fn per_list(&self) -> Option<u32> {
        match self.reached {
            Reached::Lists(per)
            | Reached::NextList(per)
            | Reached::Related(per)
            | Reached::Redirects(per) => Some(per),
            Reached::Chain | Reached::Front | Reached::Sitemap => None,
        }
    }

    fn lists(&self) -> u32 {
        self.per_list().map_or(0, |per| self.count.div_ceil(per))
    }

    fn number_of(&self, at: &Target) -> Option<u32> {
        let number = if let Some((path, query)) = self.before.split_once('?') {
            let (fixed, name) = query.rsplit_once('&').unwrap_or(("", query));
            let mut fixed = fixed.split('&').filter_map(|pair| pair.split_once('='));
            if at.path != path || fixed.any(|(name, value)| at.value(name) != Some(value)) {
                return None;
            }
            at.number(name.trim_end_matches('='))?
        } else {
            let rest = at.path.strip_prefix(self.before)?;
            rest.strip_suffix(self.after)?.parse().ok()?
        };
        (1..=self.count).contains(&number).then_some(number)
    }

    fn link(&self, site: &FiniteSite, number: u32) -> Link {
        let words = site.words;
        let path = match self.reached {
            Reached::Redirects(_) => format!("/go/{number}"),
            _ => self.path(number),
        };
        let text = match self.says {
            Says::Article | Says::Question => words.sentence(words.draw(&[110, number.into()])),
            _ => number.to_string(),
        };
        (path, text)
    }

    fn list(&self, site: &FiniteSite, page: u32) -> Option<Sheet> {
        let per = self.per_list()?;
        if !(1..=self.lists()).contains(&page) {
            return None;
        }
        let mut sheet = Sheet::new(format!("{} {page}", site.words.t("목록", "List")));
        let first = (page - 1) * per + 1;
        let own = first..(first + per).min(self.count + 1);
        sheet.list(own.map(|number| self.link(site, number)));
        if matches!(self.reached, Reached::NextList(_)) {
            if page < self.lists() {
                sheet.a(paged(self.list, page + 1), site.words.t("다음", "Next"));
            }
        } else {
            sheet.pager(page, self.lists(), |page| paged(self.list, page));
        }
        Some(sheet)
    }

    fn page(&self, site: &FiniteSite, number: u32) -> Sheet {
        let words = site.words;
        let draw = words.draw(&[110, number.into()]);
        let mut sheet = Sheet::new(match self.says {
            Says::Chapter => format!("{} {number}", words.t("제", "Chapter")),
            Says::Figures => format!("{} {number:06}", words.t("품번", "Part no.")),
            Says::Profile => format!("{} {number}", words.person(draw)),
            Says::Comic | Says::Soon => words.t("안내", "Page").to_owned(),
            Says::Question | Says::Article | Says::Line => words.sentence(draw),
        });
        match self.says {
            Says::Chapter => sheet.p(words.text(draw, 12)),
            Says::Comic => sheet.img(format!("/img/strip/{number}.png"), ""),
            Says::Figures => figures(site, number, draw, &mut sheet),
            Says::Soon => sheet.p(words.t("준비중입니다", "Under construction")),
            Says::Question => sheet.p(words.sentence(draw >> 3)),
            Says::Profile => sheet.p(words.t("작성한 글이 없습니다.", "Nothing here yet.")),
            Says::Line => {}
            Says::Article => sheet.p(words.text(draw, 4)),
        }
        match self.reached {
            Reached::Chain => sheet.neighbours(words, number, self.count, |at| self.path(at)),
            Reached::Related(_) => {
                for part in 0..10 {
                    let other = words.draw(&[111, number.into(), part]) % u64::from(self.count);
                    let (path, text) = self.link(site, other as u32 + 1);
                    sheet.a(path, text);
                }
            }
            _ => {}
        }
        sheet
    }
}

fn figures(site: &FiniteSite, number: u32, draw: u64, sheet: &mut Sheet) {
    let words = site.words;
    let names = [
        ("길이", "Length"),
        ("무게", "Weight"),
        ("지름", "Diameter"),
        ("재고", "In stock"),
    ];
    for (at, (korean, english)) in names.into_iter().enumerate() {
        let figure = (draw >> (8 * at)) % 900 + u64::from(number % 7);
        sheet.p(format!("{}: {figure}", words.t(korean, english)));
    }
}

impl Plan for Numbered {
    fn kind(&self) -> &'static str {
        self.kind
    }

    fn sitemaps(&self) -> &'static [&'static str] {
        match self.reached {
            Reached::Sitemap => &["/sitemap-a.xml", "/sitemap-b.xml"],
            _ => &[],
        }
    }

    fn menu(&self, site: &FiniteSite) -> Vec<Link> {
        let words = site.words;
        match self.reached {
            Reached::Chain => vec![(self.path(1), words.t("처음부터", "Start").to_owned())],
            Reached::Front | Reached::Sitemap => Vec::new(),
            _ => vec![(self.list.to_owned(), words.t("목록", "List").to_owned())],
        }
    }

    fn reply(&self, site: &FiniteSite, at: &Target) -> Option<Reply> {
        if at.path == "/" && at.query.is_empty() {
            let mut sheet = Sheet::new(site.words.t("첫 화면", "Home"));
            if self.reached == Reached::Front {
                sheet.list((1..=self.count).map(|number| self.link(site, number)));
            }
            return Some(Reply::Page(sheet));
        }
        if let Some(number) = self.number_of(at) {
            return Some(Reply::Page(self.page(site, number)));
        }
        if let ["go", number] = *at.parts()
            && matches!(self.reached, Reached::Redirects(_))
        {
            let number = number
                .parse()
                .ok()
                .filter(|at| (1..=self.count).contains(at))?;
            return Some(Reply::Moved(self.path(number)));
        }
        if self.reached == Reached::Sitemap {
            let half = self.count / 2;
            let own = match &*at.path {
                "/sitemap-a.xml" => 1..=half,
                "/sitemap-b.xml" => half + 1..=self.count,
                _ => return None,
            };
            return Some(Reply::Urls(own.map(|number| self.path(number)).collect()));
        }
        let base = Target::parse(self.list);
        let is_list = at.path == base.path
            && base
                .query
                .iter()
                .all(|(name, value)| at.value(name) == Some(value));
        let sheet = is_list.then(|| self.list(site, at.page()?)).flatten();
        sheet.map(Reply::Page)
    }

    fn pages(&self, _: &FiniteSite) -> Vec<String> {
        let mut pages = vec!["/".to_owned()];
        pages.extend((1..=self.lists()).map(|page| paged(self.list, page)));
        pages.extend((1..=self.count).map(|number| self.path(number)));
        pages
    }
}
