//! The schedule table as a file: `day,hour,url`, one line a visit.
//!
//! `geomi refresh plan` writes it, anybody may edit it, and `geomi refresh run
//! --schedule` follows it. Days are Sunday to Saturday, hours 0 to 23, UTC.

use std::io::{BufRead as _, BufReader};
use std::path::Path;

use geomi_url::CrawlUrl;

use crate::config::Problems;

/// The days, in the order of the table.
pub(super) const DAYS: [&str; 7] = [
    "Sunday",
    "Monday",
    "Tuesday",
    "Wednesday",
    "Thursday",
    "Friday",
    "Saturday",
];
/// The first line.
pub(super) const HEADER: &str = "day,hour,url";
/// Problems told of one file.
const TOLD_MAX: usize = 5;

/// Reads a table: hours of the week, and URLs.
pub(super) fn read(path: &Path, problems: &mut Problems) -> Vec<(usize, CrawlUrl)> {
    let file = match std::fs::File::open(path) {
        Ok(file) => file,
        Err(error) => {
            problems.add_general(format!(
                "--schedule: cannot read {}: {error}",
                path.display()
            ));
            return Vec::new();
        }
    };
    let (mut rows, mut told) = (Vec::new(), 0);
    for (at, line) in BufReader::new(file).lines().enumerate() {
        let row = match &line {
            Ok(line) if line.trim().is_empty() || line.trim() == HEADER => continue,
            Ok(line) => row(line),
            Err(error) => Err(error.to_string()),
        };
        match row {
            Ok(row) => rows.push(row),
            Err(why) if told < TOLD_MAX => {
                told += 1;
                let line = at + 1;
                problems.add_general(format!("{}: line {line}: {why}", path.display()));
            }
            Err(_) => {}
        }
        if line.is_err() {
            break;
        }
    }
    if rows.is_empty() && told == 0 {
        problems.add_general(format!(
            "{} has no visits: write lines such as Monday,9,https://example.com/",
            path.display()
        ));
    }
    rows
}

fn row(line: &str) -> Result<(usize, CrawlUrl), String> {
    let mut fields = line.trim().splitn(3, ',').map(str::trim);
    let (Some(day), Some(hour), Some(url)) = (fields.next(), fields.next(), fields.next()) else {
        return Err("write day,hour,url, such as Monday,9,https://example.com/".to_owned());
    };
    let is_day =
        |name: &&str| day.len() >= 3 && name.to_lowercase().starts_with(&day.to_lowercase());
    let Some(day) = DAYS.iter().position(is_day) else {
        return Err(format!("{day:?} is no day: write Sunday to Saturday"));
    };
    let hour = match hour.parse::<usize>() {
        Ok(hour) if hour < 24 => hour,
        _ => return Err(format!("{hour:?} is no hour: write 0 to 23")),
    };
    let url = url.trim_matches('"').replace("\"\"", "\"");
    let url = CrawlUrl::parse(&url).map_err(|error| format!("{url:?} is no URL: {error}"))?;
    Ok((day * 24 + hour, url))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_are_read_as_they_are_written() {
        let (hour, url) = row("Monday,9,http://a.test/x,y").unwrap();
        assert_eq!((hour, url.as_str()), (33, "http://a.test/x,y"));
        assert_eq!(row("sat, 23 , http://a.test/").unwrap().0, 167);
        for wrong in [
            "Monday,9",
            "Someday,9,http://a.test/",
            "Mon,24,http://a.test/",
            "Mon,1,x",
        ] {
            assert!(row(wrong).is_err(), "{wrong}");
        }
    }
}
