//! Blogs: posts by date, archives of years, months and days, some months empty,
//! tags and categories with pages.

use std::collections::BTreeSet;

use crate::finite::{FiniteSite, Link, Plan, Reply, Sheet, Target, paged};

#[derive(Debug)]
pub(crate) struct Blog {
    pub(crate) posts: u32,
    pub(crate) first_year: u32,
    pub(crate) years: u32,
}

const TAGS: u32 = 17;
const CATEGORIES: u32 = 5;
const PER_LIST: u32 = 10;

impl Blog {
    fn is_empty_month(site: &FiniteSite, month: u32) -> bool {
        site.words.draw(&[40, month.into()]).is_multiple_of(4) && month > 0
    }

    /// The months with posts, counted from the first.
    fn months(&self, site: &FiniteSite) -> Vec<u32> {
        let all = 0..self.years * 12;
        all.filter(|month| !Self::is_empty_month(site, *month))
            .collect()
    }

    /// Year, month and day of a post, counted from 0.
    fn date(&self, site: &FiniteSite, post: u32) -> (u32, u32, u32) {
        let months = self.months(site);
        let month = months[(post as usize * months.len()) / self.posts as usize];
        (
            self.first_year + month / 12,
            month % 12 + 1,
            Self::day(site, post),
        )
    }

    fn day(site: &FiniteSite, post: u32) -> u32 {
        (1 + site.words.draw(&[41, post.into()]) % 28) as u32
    }

    fn path(&self, site: &FiniteSite, post: u32) -> String {
        let (year, month, day) = self.date(site, post);
        let word = site.words.word(site.words.draw(&[42, post.into()]));
        format!("/{year}/{month:02}/{day:02}/{word}-{post}")
    }

    fn title(site: &FiniteSite, post: u32) -> String {
        let mut title = site.words.sentence(site.words.draw(&[43, post.into()]));
        title.pop();
        title
    }

    fn links(&self, site: &FiniteSite, posts: impl Iterator<Item = u32>) -> Vec<Link> {
        posts
            .map(|post| (self.path(site, post), Self::title(site, post)))
            .collect()
    }

    /// The posts of a month, or of a day of it.
    fn of(&self, site: &FiniteSite, year: u32, month: u32, day: Option<u32>) -> Vec<u32> {
        let months = self.months(site);
        let month = (year - self.first_year) * 12 + month - 1;
        let Ok(place) = months.binary_search(&month) else {
            return Vec::new();
        };
        // The first post whose date falls on the month at a place.
        let first = |place: usize| (place * self.posts as usize).div_ceil(months.len()) as u32;
        let own = first(place)..first(place + 1);
        own.filter(|post| day.is_none_or(|day| day == Self::day(site, *post)))
            .collect()
    }

    fn year(&self, year: u32) -> Option<Sheet> {
        if !(self.first_year..self.first_year + self.years).contains(&year) {
            return None;
        }
        let mut sheet = Sheet::new(year.to_string());
        let months = 1..=12;
        sheet.list(
            months.map(|month| (format!("/{year}/{month:02}/"), format!("{year}-{month:02}"))),
        );
        Some(sheet)
    }

    fn archive(&self, site: &FiniteSite, year: u32, month: u32, day: Option<u32>) -> Option<Sheet> {
        self.year(year)?;
        if !(1..=12).contains(&month) {
            return None;
        }
        let posts = self.of(site, year, month, day);
        let mut sheet =
            Sheet::new(format!("{year}-{month:02}")).under(format!("/{year}/"), year.to_string());
        if posts.is_empty() {
            if day.is_some() {
                return None;
            }
            sheet.p(site.words.t("글이 없습니다.", "No posts."));
        }
        if day.is_none() {
            let days: BTreeSet<u32> = posts.iter().map(|post| Self::day(site, *post)).collect();
            sheet.list(
                days.into_iter()
                    .map(|day| (format!("/{year}/{month:02}/{day:02}/"), day.to_string())),
            );
        }
        sheet.list(self.links(site, posts.into_iter()));
        Some(sheet)
    }

    fn group(&self, site: &FiniteSite, base: &str, group: (u32, u32), page: u32) -> Option<Sheet> {
        let (number, of) = group;
        let posts: Vec<u32> = (0..self.posts).filter(|post| post % of == number).collect();
        let last = (posts.len() as u32).div_ceil(PER_LIST).max(1);
        if number >= of || !(1..=last).contains(&page) {
            return None;
        }
        let mut sheet = Sheet::new(base.trim_matches('/').replace('/', " "));
        let own = posts.into_iter().skip(((page - 1) * PER_LIST) as usize);
        sheet.list(self.links(site, own.take(PER_LIST as usize)));
        sheet.pager(page, last, |page| paged(base, page));
        Some(sheet)
    }

    fn post(&self, site: &FiniteSite, post: u32) -> Option<Sheet> {
        if post >= self.posts {
            return None;
        }
        let (year, month, day) = self.date(site, post);
        let words = site.words;
        let mut sheet = Sheet::new(Self::title(site, post))
            .under(format!("/{year}/"), year.to_string())
            .under(format!("/{year}/{month:02}/"), month.to_string())
            .under(format!("/{year}/{month:02}/{day:02}/"), day.to_string());
        let draw = words.draw(&[44, post.into()]);
        for paragraph in 0..=draw % 4 {
            sheet.p(words.text(draw ^ paragraph, 4));
        }
        sheet.a(format!("/tag/t{}/", post % TAGS), "#tag");
        sheet.a(format!("/category/c{}/", post % CATEGORIES), "category");
        sheet.neighbours(words, post + 1, self.posts, |post| {
            self.path(site, post - 1)
        });
        Some(sheet)
    }
}

impl Plan for Blog {
    fn kind(&self) -> &'static str {
        "blog"
    }

    fn menu(&self, _: &FiniteSite) -> Vec<Link> {
        let categories = (0..CATEGORIES).map(|at| (format!("/category/c{at}/"), format!("c{at}")));
        let years = (self.first_year..self.first_year + self.years)
            .map(|year| (format!("/{year}/"), year.to_string()));
        categories.chain(years).collect()
    }

    fn reply(&self, site: &FiniteSite, at: &Target) -> Option<Reply> {
        let number = |text: &str| text.parse::<u32>().ok();
        let sheet = match *at.parts() {
            [] => {
                let mut sheet = Sheet::new(site.words.t("나의 일기", "My diary"));
                sheet.list(self.links(site, (0..self.posts).rev().take(10)));
                sheet.list((0..TAGS).map(|tag| (format!("/tag/t{tag}/"), format!("#t{tag}"))));
                Some(sheet)
            }
            ["tag", tag] => {
                let group = (number(tag.strip_prefix('t')?)?, TAGS);
                self.group(site, &format!("/tag/{tag}/"), group, at.page()?)
            }
            ["category", name] => {
                let group = (number(name.strip_prefix('c')?)?, CATEGORIES);
                self.group(site, &format!("/category/{name}/"), group, at.page()?)
            }
            [year] => self.year(number(year)?),
            [year, month] => self.archive(site, number(year)?, number(month)?, None),
            [year, month, day] => {
                self.archive(site, number(year)?, number(month)?, Some(number(day)?))
            }
            [_, _, _, slug] => self.post(site, number(slug.rsplit_once('-')?.1)?),
            _ => None,
        };
        sheet.map(Reply::Page)
    }

    fn pages(&self, site: &FiniteSite) -> Vec<String> {
        let mut pages = BTreeSet::from(["/".to_owned()]);
        for year in self.first_year..self.first_year + self.years {
            pages.insert(format!("/{year}/"));
            pages.extend((1..=12).map(|month| format!("/{year}/{month:02}/")));
        }
        for post in 0..self.posts {
            let (year, month, day) = self.date(site, post);
            pages.insert(format!("/{year}/{month:02}/{day:02}/"));
            pages.insert(self.path(site, post));
        }
        for (name, of) in [("tag/t", TAGS), ("category/c", CATEGORIES)] {
            for number in 0..of {
                let posts = (0..self.posts).filter(|post| post % of == number).count() as u32;
                let last = posts.div_ceil(PER_LIST).max(1);
                pages.extend((1..=last).map(|page| paged(&format!("/{name}{number}/"), page)));
            }
        }
        pages.into_iter().collect()
    }
}
