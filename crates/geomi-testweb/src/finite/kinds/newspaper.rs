//! Newspapers: an archive by day with none to five articles each.

use crate::finite::{FiniteSite, Link, Plan, Reply, Sheet, Target};

#[derive(Debug)]
pub(crate) struct Newspaper {
    pub(crate) first_year: u32,
    pub(crate) years: u32,
}

/// How many days a month has.
pub(crate) fn days_of(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl Newspaper {
    fn has(&self, (year, month, day): (u32, u32, u32)) -> bool {
        (self.first_year..self.first_year + self.years).contains(&year)
            && (1..=12).contains(&month)
            && (1..=days_of(year, month)).contains(&day)
    }

    fn articles(site: &FiniteSite, (year, month, day): (u32, u32, u32)) -> u32 {
        (site
            .words
            .draw(&[80, year.into(), month.into(), day.into()])
            % 6) as u32
    }

    fn day_path((year, month, day): (u32, u32, u32)) -> String {
        format!("/archive/{year}/{month:02}/{day:02}/")
    }

    fn month(year: u32, month: u32) -> Sheet {
        let mut sheet = Sheet::new(format!("{year}.{month}"));
        let days = 1..=days_of(year, month);
        sheet.list(days.map(|day| (Self::day_path((year, month, day)), day.to_string())));
        sheet
    }

    fn day(site: &FiniteSite, date: (u32, u32, u32)) -> Sheet {
        let words = site.words;
        let mut sheet = Sheet::new(format!("{}.{}.{}", date.0, date.1, date.2));
        let count = Self::articles(site, date);
        if count == 0 {
            sheet.p(words.t("기사가 없습니다.", "No articles on this day."));
        }
        sheet.list((1..=count).map(|at| {
            let draw = words.draw(&[81, date.0.into(), date.1.into(), date.2.into(), at.into()]);
            (
                format!("{}{at}", Self::day_path(date)),
                words.sentence(draw),
            )
        }));
        sheet
    }

    fn article(site: &FiniteSite, date: (u32, u32, u32), at: u32) -> Option<Sheet> {
        let words = site.words;
        let draw = words.draw(&[81, date.0.into(), date.1.into(), date.2.into(), at.into()]);
        if !(1..=Self::articles(site, date)).contains(&at) {
            return None;
        }
        let mut sheet = Sheet::new(words.sentence(draw)).under(Self::day_path(date), "day");
        sheet.p(format!(
            "{} | {}.{}.{}",
            words.person(draw),
            date.0,
            date.1,
            date.2
        ));
        sheet.p(words.text(draw, 6));
        Some(sheet)
    }
}

impl Plan for Newspaper {
    fn kind(&self) -> &'static str {
        "newspaper by day"
    }

    fn menu(&self, _: &FiniteSite) -> Vec<Link> {
        let years = self.first_year..self.first_year + self.years;
        years
            .map(|year| (format!("/archive/{year}/"), year.to_string()))
            .collect()
    }

    fn reply(&self, site: &FiniteSite, at: &Target) -> Option<Reply> {
        let parts = at.parts();
        let numbers =
            || -> Option<Vec<u32>> { parts.iter().skip(1).map(|part| part.parse().ok()).collect() };
        if parts.first().is_some_and(|first| *first != "archive") {
            return None;
        }
        let sheet = match *numbers()? {
            [] if parts.is_empty() => Some(Sheet::new(site.words.t("오늘의 신문", "Today"))),
            [year] if self.has((year, 1, 1)) => {
                let mut sheet = Sheet::new(year.to_string());
                let months = 1..=12;
                sheet.list(
                    months.map(|month| (format!("/archive/{year}/{month:02}/"), month.to_string())),
                );
                Some(sheet)
            }
            [year, month] if self.has((year, month, 1)) => Some(Self::month(year, month)),
            [year, month, day] if self.has((year, month, day)) => {
                Some(Self::day(site, (year, month, day)))
            }
            [year, month, day, at] if self.has((year, month, day)) => {
                Self::article(site, (year, month, day), at)
            }
            _ => None,
        };
        sheet.map(Reply::Page)
    }

    fn pages(&self, site: &FiniteSite) -> Vec<String> {
        let mut pages = vec!["/".to_owned()];
        for year in self.first_year..self.first_year + self.years {
            pages.push(format!("/archive/{year}/"));
            for month in 1..=12 {
                pages.push(format!("/archive/{year}/{month:02}/"));
                for day in 1..=days_of(year, month) {
                    let date = (year, month, day);
                    let articles = 1..=Self::articles(site, date);
                    pages.extend(articles.map(|at| format!("{}{at}", Self::day_path(date))));
                    pages.push(Self::day_path(date));
                }
            }
        }
        pages
    }
}
