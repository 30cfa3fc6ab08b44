//! Calendars to the end of time, in both directions, with nothing in them.

use crate::finite::{Sheet, Target, Words};

fn nothing(words: Words, title: String) -> Sheet {
    let mut sheet = Sheet::new(title);
    sheet.p(words.t("등록된 일정이 없습니다.", "There is nothing on."));
    sheet
}

/// The month so many after another.
fn moved(year: i64, month: i64, by: i64) -> (i64, i64) {
    let at = year * 12 + month - 1 + by;
    (at.div_euclid(12), at.rem_euclid(12) + 1)
}

fn number(at: &Target, name: &str) -> Option<i64> {
    at.value(name)?.parse().ok()
}

pub(super) fn months_by_query(words: Words, at: &Target) -> Option<Sheet> {
    if at.path != "/calendar" {
        return None;
    }
    let (year, month) = (number(at, "y")?, number(at, "m")?);
    if let Some(day) = number(at, "d") {
        let mut sheet = nothing(words, format!("{year}-{month}-{day}"));
        sheet.a(
            format!("/calendar?y={year}&m={month}"),
            words.t("달력", "Month"),
        );
        return Some(sheet);
    }
    let mut sheet = nothing(words, format!("{year}-{month}"));
    for day in 1..=28 {
        sheet.a(format!("/calendar?y={year}&m={month}&d={day}"), day);
    }
    for by in [-12, -1, 1, 12] {
        let (year, month) = moved(year, month, by);
        sheet.a(
            format!("/calendar?y={year}&m={month}"),
            format!("{year}-{month}"),
        );
    }
    Some(sheet)
}

pub(super) fn weeks(words: Words, at: &Target) -> Option<Sheet> {
    let ["week", year, week] = *at.parts() else {
        return None;
    };
    let (year, week): (i64, i64) = (year.parse().ok()?, week.parse().ok()?);
    let mut sheet = nothing(words, format!("{year} / {week}"));
    for by in [-1, 1, 4] {
        let at = year * 52 + week - 1 + by;
        let (year, week) = (at.div_euclid(52), at.rem_euclid(52) + 1);
        sheet.a(format!("/week/{year}/{week}"), week);
    }
    Some(sheet)
}

pub(super) fn month_offset(words: Words, at: &Target) -> Option<Sheet> {
    if at.path != "/cal" {
        return None;
    }
    let month = number(at, "m")?;
    let (year, number) = moved(2026, 11, month);
    let mut sheet = nothing(words, format!("{year}. {number}."));
    for by in [-1, 1] {
        sheet.a(
            format!("/cal?m={}", month + by),
            words.t("다른 달", "Another month"),
        );
    }
    Some(sheet)
}

pub(super) fn into_the_past(words: Words, at: &Target) -> Option<Sheet> {
    let ["history", date] = *at.parts() else {
        return None;
    };
    let numbers: Option<Vec<i64>> = date.split('-').map(|part| part.parse().ok()).collect();
    match *numbers? {
        [year, month] => {
            let mut sheet = nothing(words, format!("{year}. {month}."));
            for day in 1..=28 {
                sheet.a(format!("/history/{year}-{month:02}-{day:02}"), day);
            }
            let (year, month) = moved(year, month, -1);
            if year > 0 {
                sheet.a(
                    format!("/history/{year}-{month:02}"),
                    words.t("이전 달", "Earlier"),
                );
            }
            Some(sheet)
        }
        [year, month, day] => Some(nothing(words, format!("{year}. {month}. {day}."))),
        _ => None,
    }
}
