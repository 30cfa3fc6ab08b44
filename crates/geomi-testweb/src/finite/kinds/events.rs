//! Event calendars that end: finite years, most days empty.

use super::newspaper::days_of;
use crate::finite::{FiniteSite, Link, Plan, Reply, Sheet, Target};

#[derive(Debug)]
pub(crate) struct Events {
    pub(crate) first_year: u32,
    pub(crate) years: u32,
    /// Whether dates stand in a parameter instead of the path.
    pub(crate) by_query: bool,
    /// Whether only the first months have events, and only days with one have a page.
    pub(crate) only_first: Option<u32>,
}

impl Events {
    fn months(&self) -> u32 {
        self.years * 12
    }

    fn year_and_month(&self, at: u32) -> (u32, u32) {
        (self.first_year + at / 12, at % 12 + 1)
    }

    fn has_page(&self, site: &FiniteSite, at: u32, day: u32) -> bool {
        let draw = || site.words.draw(&[101, at.into(), day.into()]);
        let within = |first: u32| at < first && draw().is_multiple_of(29);
        self.only_first.is_none_or(within)
    }

    fn month_path(&self, at: u32) -> String {
        let (year, month) = self.year_and_month(at);
        if self.by_query {
            format!("/calendar?year={year}&month={month}")
        } else {
            format!("/events/{year}/{month:02}")
        }
    }

    fn day_path(&self, at: u32, day: u32) -> String {
        let (year, month) = self.year_and_month(at);
        if self.by_query {
            format!("/calendar?date={year}-{month:02}-{day:02}")
        } else {
            format!("/events/{year}/{month:02}/{day:02}")
        }
    }

    fn month(&self, site: &FiniteSite, at: u32) -> Sheet {
        let (year, month) = self.year_and_month(at);
        let mut sheet = Sheet::new(format!("{year}. {month}."));
        for day in 1..=days_of(year, month) {
            if self.has_page(site, at, day) {
                sheet.a(self.day_path(at, day), day);
            }
        }
        sheet.neighbours(site.words, at + 1, self.months(), |at| {
            self.month_path(at - 1)
        });
        sheet
    }

    fn day(&self, site: &FiniteSite, at: u32, day: u32) -> Sheet {
        let words = site.words;
        let (year, month) = self.year_and_month(at);
        let mut sheet =
            Sheet::new(format!("{year}. {month}. {day}.")).under(self.month_path(at), "month");
        let draw = words.draw(&[100, at.into(), day.into()]);
        if draw.is_multiple_of(9) || self.only_first.is_some() {
            sheet.h2(words.name(draw));
            sheet.p(words.text(draw, 2));
        } else {
            sheet.p(words.t("행사가 없습니다.", "No events."));
        }
        sheet
    }

    /// The month and day that a target names.
    fn asked(&self, at: &Target) -> Option<(u32, Option<u32>)> {
        let parts = at.parts();
        let texts: Vec<&str> = match (self.by_query, parts.first()) {
            (false, Some(&"events")) => parts.into_iter().skip(1).collect(),
            (true, Some(&"calendar")) => match at.value("date") {
                Some(date) => date.split('-').collect(),
                None => vec![at.value("year")?, at.value("month")?],
            },
            _ => return None,
        };
        let numbers: Option<Vec<u32>> = texts.iter().map(|text| text.parse().ok()).collect();
        let (year, month, day) = match *numbers? {
            [year, month] => (year, month, None),
            [year, month, day] => (year, month, Some(day)),
            _ => return None,
        };
        let is_there = (self.first_year..self.first_year + self.years).contains(&year)
            && (1..=12).contains(&month)
            && day.is_none_or(|day| (1..=days_of(year, month)).contains(&day));
        is_there.then(|| ((year - self.first_year) * 12 + month - 1, day))
    }
}

impl Plan for Events {
    fn kind(&self) -> &'static str {
        if self.by_query {
            "events by query"
        } else {
            "events"
        }
    }

    fn menu(&self, site: &FiniteSite) -> Vec<Link> {
        let start = if self.only_first.is_some() {
            self.months() - 1
        } else {
            self.months() / 2
        };
        vec![(
            self.month_path(start),
            site.words.t("행사 달력", "Calendar").to_owned(),
        )]
    }

    fn reply(&self, site: &FiniteSite, at: &Target) -> Option<Reply> {
        if at.parts().is_empty() {
            return Some(Reply::Page(Sheet::new(
                site.words.t("문화 회관", "Town hall"),
            )));
        }
        let (month, day) = self.asked(at)?;
        if day.is_some_and(|day| !self.has_page(site, month, day)) {
            return None;
        }
        Some(Reply::Page(match day {
            Some(day) => self.day(site, month, day),
            None => self.month(site, month),
        }))
    }

    fn pages(&self, site: &FiniteSite) -> Vec<String> {
        let mut pages = vec!["/".to_owned()];
        for at in 0..self.months() {
            pages.push(self.month_path(at));
            let (year, month) = self.year_and_month(at);
            let days = (1..=days_of(year, month)).filter(|day| self.has_page(site, at, *day));
            pages.extend(days.map(|day| self.day_path(at, day)));
        }
        pages
    }
}
