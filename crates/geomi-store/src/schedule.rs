//! The schedule table: which URLs are visited at which hour of the week.
//!
//! It is CSV for people and their tools: `day,hour,url`, one line a visit. Days
//! are Sunday to Saturday, hours 0 to 23, UTC. A line with `-` instead of a URL
//! leaves its hour free: what is planned then is visited in the next hour that
//! is not free. So hours can be closed and opened again, and no visit is lost.
//!
//! `geomi refresh plan` writes it, the console paints it, anybody may edit it,
//! and `geomi refresh run --schedule` follows it; all of them read it here. A
//! table is streamed: whoever counts keeps counts, not rows.

use std::fs::File;
use std::io::{BufRead, BufReader, Read as _, Write};
use std::ops::ControlFlow;
use std::path::Path;

use geomi_model::week::{DAYS, HOURS, hour_of};
use geomi_url::CrawlUrl;

use crate::{AtomicFile, StoreError, open_regular};

/// The first line.
pub const HEADER: &str = "day,hour,url";
/// What stands for the URL where an hour is left free.
const FREE: &str = "-";
/// A longer line is no visit: URLs have 2,048 characters at most.
const LINE_BYTES_MAX: u64 = 64 << 10;

/// One line.
#[derive(Clone, PartialEq, Eq, Debug)]
pub enum Row {
    /// A visit: the hour of the week, from Sunday midnight on, and the URL.
    Visit(usize, CrawlUrl),
    /// An hour that is left free.
    Free(usize),
}

/// Which hours of the week are left free.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct FreeHours([bool; HOURS]);

impl Default for FreeHours {
    fn default() -> Self {
        Self([false; HOURS])
    }
}

impl FreeHours {
    /// Whether an hour is.
    pub fn contains(&self, hour: usize) -> bool {
        self.0[hour % HOURS]
    }

    /// Leaves an hour free, or opens it.
    pub fn set(&mut self, hour: usize, is_free: bool) {
        self.0[hour % HOURS] = is_free;
    }

    /// All of them, from Sunday midnight on.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        (0..HOURS).filter(|hour| self.0[*hour])
    }

    /// Whether no hour is left to visit in.
    pub fn is_whole_week(&self) -> bool {
        self.0.iter().all(|is_free| *is_free)
    }

    /// When a visit of this hour is made: then, or in the next hour that is not
    /// free. Where the whole week is, it stays where it is.
    pub fn moved(&self, hour: usize) -> usize {
        let later = (hour..hour + HOURS).map(|hour| hour % HOURS);
        let mut open = later.filter(|hour| !self.0[*hour]);
        open.next().unwrap_or(hour)
    }
}

/// The line of a visit.
pub fn line(hour: usize, url: &str) -> String {
    let url = if url.contains([',', '"']) {
        format!("\"{}\"", url.replace('"', "\"\""))
    } else {
        url.to_owned()
    };
    format!("{},{},{url}", DAYS[hour / 24 % 7], hour % 24)
}

/// Reads a line; `None` where it says nothing. The first one may begin with a byte order
/// mark, as spreadsheets write it.
pub fn parse(line: &str) -> Result<Option<Row>, String> {
    let line = line.trim_start_matches('\u{feff}').trim();
    if line.is_empty() || is_header(line) {
        return Ok(None);
    }
    let mut fields = line.splitn(3, ',').map(str::trim);
    let (Some(day), Some(hour), Some(url)) = (fields.next(), fields.next(), fields.next()) else {
        return Err("write day,hour,url, such as Monday,9,https://example.com/".to_owned());
    };
    let hour = hour_of(unquoted(day), unquoted(hour))?;
    if unquoted(url) == FREE {
        return Ok(Some(Row::Free(hour)));
    }
    let url = unquoted(url).replace("\"\"", "\"");
    let url = CrawlUrl::parse(&url).map_err(|error| format!("{url:?} is no URL: {error}"))?;
    Ok(Some(Row::Visit(hour, url)))
}

/// A field without the quotes that a spreadsheet may put around any of them.
fn unquoted(field: &str) -> &str {
    field.trim_matches('"')
}

/// Whether a line names the columns, in letters of any case.
fn is_header(line: &str) -> bool {
    let names = line.split(',').map(|name| unquoted(name.trim()));
    names
        .map(str::to_ascii_lowercase)
        .eq(HEADER.split(',').map(str::to_owned))
}

/// Reads a table line by line: each one's number and what it says, until `each`
/// has enough.
pub fn read(
    path: &Path,
    mut each: impl FnMut(u64, Result<Row, String>) -> ControlFlow<()>,
) -> Result<(), StoreError> {
    let file = open_regular(path).map_err(StoreError::io("read", path))?;
    let mut lines = BufReader::new(file);
    let mut bytes = Vec::new();
    for number in 1.. {
        if !next_line(&mut lines, &mut bytes).map_err(StoreError::io("read", path))? {
            break;
        }
        let row = match std::str::from_utf8(&bytes) {
            _ if bytes.len() as u64 > LINE_BYTES_MAX => Err("the line is too long".to_owned()),
            Err(_) => Err("the line is no UTF-8".to_owned()),
            Ok(line) => match parse(line) {
                Ok(None) => continue,
                Ok(Some(row)) => Ok(row),
                Err(why) => Err(why),
            },
        };
        if each(number, row).is_break() {
            break;
        }
    }
    Ok(())
}

/// The hours a table leaves free. A table that is not there leaves none.
pub fn free_hours(path: &Path) -> Result<FreeHours, StoreError> {
    let mut free = FreeHours::default();
    if !path.exists() {
        return Ok(free);
    }
    read(path, |_, row| {
        if let Ok(Row::Free(hour)) = row {
            free.set(hour, true);
        }
        ControlFlow::Continue(())
    })?;
    Ok(free)
}

/// Writes the beginning of a table: its first line and the hours it leaves free.
pub fn write_head(out: &mut impl Write, free: &FreeHours) -> std::io::Result<()> {
    writeln!(out, "{HEADER}")?;
    for hour in free.iter() {
        writeln!(out, "{}", line(hour, FREE))?;
    }
    Ok(())
}

/// Leaves these hours of a table free and no others; all else stays as it is,
/// byte by byte. A reader sees the old table or the new one.
pub fn paint(path: &Path, free: &FreeHours) -> Result<(), StoreError> {
    let file = open_regular(path).map_err(StoreError::io("read", path))?;
    let (mut lines, mut bytes) = (BufReader::new(file), Vec::new());
    let mut out = AtomicFile::create(path)?;
    write_head(&mut out, free).map_err(StoreError::io("write", path))?;
    while next_line(&mut lines, &mut bytes).map_err(StoreError::io("read", path))? {
        let is_visit = |line| !matches!(parse(line), Ok(None | Some(Row::Free(_))));
        // What is no text is none of ours, and stays for whoever wrote it.
        if std::str::from_utf8(&bytes).map_or(true, is_visit) {
            out.write_all(&bytes)
                .map_err(StoreError::io("write", path))?;
            if bytes.last() != Some(&b'\n') {
                writeln!(out).map_err(StoreError::io("write", path))?;
            }
        }
    }
    out.commit()
}

/// The next line with its end; one that is far too long comes in pieces.
fn next_line(lines: &mut BufReader<File>, bytes: &mut Vec<u8>) -> std::io::Result<bool> {
    bytes.clear();
    lines.take(LINE_BYTES_MAX + 1).read_until(b'\n', bytes)?;
    Ok(!bytes.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn rows(path: &Path) -> Vec<Result<Row, String>> {
        let mut rows = Vec::new();
        read(path, |_, row| {
            rows.push(row);
            ControlFlow::Continue(())
        })
        .unwrap();
        rows
    }

    #[test]
    fn rows_are_read_as_they_are_written() {
        let url = CrawlUrl::parse("http://a.test/x,y").unwrap();
        for hour in [0, 33, 167] {
            let written = line(hour, url.as_str());
            assert_eq!(
                parse(&written).unwrap(),
                Some(Row::Visit(hour, url.clone()))
            );
        }
        assert_eq!(
            parse("Monday,9,http://a.test/x,y").unwrap(),
            Some(Row::Visit(33, url))
        );
        assert_eq!(parse("sat, 23 , -").unwrap(), Some(Row::Free(167)));
        let quoted = "\"Monday\",\"9\",\"http://a.test/\"";
        assert_eq!(parse(quoted), parse("Monday,9,http://a.test/"));
        assert_eq!(parse("\"sat\",\"23\",\"-\"").unwrap(), Some(Row::Free(167)));
        for wrong in [
            "Monday,9",
            "Someday,9,http://a.test/",
            "Mon,24,http://a.test/",
            "Mon,1,x",
        ] {
            assert!(parse(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_table_that_a_spreadsheet_wrote_is_read() {
        let header = "\u{feff}Day,Hour,URL\r\n";
        for says_nothing in [
            header,
            "DAY, hour ,Url",
            "\"day\",\"hour\",\"url\"",
            "\u{feff}",
        ] {
            assert_eq!(parse(says_nothing), Ok(None), "{says_nothing:?}");
        }
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("week.csv");
        let first = "\u{feff}Mon,9,http://a.test/\r\n";
        for text in [
            format!("{header}Mon,9,http://a.test/\r\n"),
            first.to_owned(),
        ] {
            std::fs::write(&path, text).unwrap();
            let visit = Row::Visit(33, CrawlUrl::parse("http://a.test/").unwrap());
            assert_eq!(rows(&path), [Ok(visit.clone())]);
            paint(&path, &FreeHours::default()).unwrap();
            assert_eq!(rows(&path), [Ok(visit)]);
        }
    }

    #[test]
    fn a_visit_of_a_free_hour_is_made_in_the_next_open_one() {
        let mut free = FreeHours::default();
        for hour in 160..168 {
            free.set(hour, true);
        }
        free.set(0, true);
        assert_eq!(
            (free.moved(159), free.moved(160), free.moved(0)),
            (159, 1, 1)
        );
        for hour in 0..HOURS {
            free.set(hour, true);
        }
        assert!(free.is_whole_week());
        assert_eq!(free.moved(7), 7);
    }

    #[test]
    fn painting_changes_the_free_hours_and_nothing_else() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("week.csv");
        assert_eq!(free_hours(&path).unwrap(), FreeHours::default());
        let visits = "Mon,9,http://a.test/\nnonsense\nTue, 3,\"http://a.test/x,y\"";
        std::fs::write(&path, format!("{HEADER}\nSun,1,-\n\n{visits}")).unwrap();
        let mut free = FreeHours::default();
        free.set(33, true);
        paint(&path, &free).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, format!("{HEADER}\nMonday,9,-\n{visits}\n"));
        assert_eq!(free_hours(&path).unwrap(), free);
        assert_eq!(rows(&path).iter().filter(|row| row.is_err()).count(), 1);
        paint(&path, &FreeHours::default()).unwrap();
        let text = std::fs::read_to_string(&path).unwrap();
        assert_eq!(text, format!("{HEADER}\n{visits}\n"));
    }

    #[test]
    fn an_endless_line_is_a_fault_and_no_burden() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("week.csv");
        let long = "x".repeat(200 << 10);
        std::fs::write(&path, format!("{long}\nMon,9,http://a.test/\n")).unwrap();
        let rows = rows(&path);
        assert!(rows[0].is_err(), "{:?}", rows[0]);
        assert!(rows.last().unwrap().is_ok());
    }
}
