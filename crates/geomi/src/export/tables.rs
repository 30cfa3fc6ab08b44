//! Exports that are made of rows or records: everything but the mirror.

use std::io::Write as _;
use std::path::{Path, PathBuf};

use geomi_engine::LogLine;
use geomi_model::{Timestamp, Visit};
use geomi_store::visits::{self, VisitWriter};
use geomi_store::warc::{self, Captures, GzipLevel, ReadError, WarcConfig};
use geomi_store::{LineSorter, StoreError, cdxj};

use super::Exported;
use super::changes::{ChangeTable, HEADER};
use super::crawl_log::CrawlLog;
use super::out::{Sink, Target};
use super::source::Source;

/// One object a visit: the names of log.jsonl and every column of visits/.
pub(crate) fn jsonl(source: &Source, target: &Target) -> anyhow::Result<Exported> {
    let mut out = target.open()?;
    let taken = source.each_of_partition(
        |_| true,
        |partition, visit| {
            let line = object(partition, &visit)?;
            write_line(&mut out, &line, target)
        },
    )?;
    out.finish()?;
    Ok(Exported::visits(taken))
}

fn object(partition: Option<u16>, visit: &Visit) -> anyhow::Result<String> {
    let mut all = match serde_json::to_value(LogLine::new(partition, visit))? {
        serde_json::Value::Object(all) => all,
        other => unreachable!("a log line is an object, not {other}"),
    };
    all.extend(visits::to_json(visit));
    Ok(serde_json::to_string(&all)?)
}

/// Heritrix's crawl.log.
pub(crate) fn crawl_log(source: &Source, target: &Target) -> anyhow::Result<Exported> {
    let mut out = target.open()?;
    let mut log = CrawlLog::default();
    let taken = source.judge(|visit, is_meant| {
        if is_meant {
            write_line(&mut out, &log.line(&visit), target)?;
        }
        log.notice(&visit);
        Ok(is_meant)
    })?;
    out.finish()?;
    Ok(Exported::visits(taken))
}

/// What each visit found against the copy there was, in a crawl that tries so often.
pub(crate) fn changes(source: &Source, target: &Target, tries: u8) -> anyhow::Result<Exported> {
    let mut out = target.open()?;
    let mut table = ChangeTable::new(tries);
    write_line(&mut out, HEADER, target)?;
    let taken = source.judge(|visit, is_meant| {
        let Some(row) = table.row(&visit).filter(|_| is_meant) else {
            return Ok(false);
        };
        write_line(&mut out, &row, target)?;
        Ok(true)
    })?;
    out.finish()?;
    Ok(Exported::visits(taken))
}

/// The URLs visited, sorted, each once.
pub(crate) fn urls(source: &Source, target: &Target) -> anyhow::Result<Exported> {
    let mut lines = LineSorter::new(&target.scratch());
    let taken = source.each(
        |_| true,
        |visit| Ok(lines.push(visit.url.as_str().to_owned())?),
    )?;
    let count = write_sorted(lines, target)?;
    Ok(Exported::visits(taken).with("URL", count))
}

/// Index lines of the captures.
pub(crate) fn index(source: &Source, target: &Target) -> anyhow::Result<Exported> {
    let mut lines = LineSorter::new(&target.scratch());
    let taken = source.each(has_capture, |visit| {
        let line = cdxj::line(&visit).expect("only captures are taken");
        Ok(lines.push(line)?)
    })?;
    let count = write_sorted(lines, target)?;
    Ok(Exported::visits(taken).with("line", count))
}

/// Rows in the schema of visits/.
pub(crate) fn parquet(source: &Source, path: &Path) -> anyhow::Result<Exported> {
    let mut table = VisitWriter::create(path)?;
    let taken = source.each(|_| true, |visit| Ok(table.push(visit)?))?;
    table.finish()?;
    Ok(Exported::visits(taken))
}

/// The records of the captures, as they are, behind a warcinfo of our own.
pub(crate) fn warc(
    source: &Source,
    target: &Target,
    now: Timestamp,
    selection: &str,
) -> anyhow::Result<Exported> {
    let mut out = target.open()?;
    out.write_all(&warcinfo(source, target, now, selection))
        .map_err(|error| StoreError::from_io("write", Path::new(&target.name()), error))?;
    let captures = Captures::of(source.dir());
    let name = PathBuf::from(target.name());
    let mut records = 1;
    let taken = source.each(has_capture, |visit| {
        let capture = visit.capture.as_ref().expect("only captures are taken");
        let copied = captures.copy(capture, &mut out, &name).map_err(plain)?;
        records += 1 + u64::from(copied.has_request);
        Ok(())
    })?;
    out.finish()?;
    Ok(Exported::visits(taken).with("record", records))
}

/// The machine's failures by their own type, by which exit codes are chosen.
fn plain(error: ReadError) -> anyhow::Error {
    match error {
        ReadError::Store(error) => error.into(),
        error => anyhow::Error::new(error).context("the archive cannot be read; see geomi verify"),
    }
}

fn warcinfo(source: &Source, target: &Target, now: Timestamp, selection: &str) -> Vec<u8> {
    let root = source.dir().root();
    // The folder's own name: the path to it is nobody else's business.
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    let crawl = root
        .file_name()
        .unwrap_or_default()
        .to_string_lossy()
        .into_owned();
    let name = match target {
        Target::File(path) | Target::Folder(path) => path.file_name().map_or_else(
            || "export.warc.gz".to_owned(),
            |name| name.to_string_lossy().into_owned(),
        ),
        Target::Stdout => format!("{crawl}-export-{}.warc.gz", now.to_compact()),
    };
    let mut fields = WarcConfig::new(source.dir().warc(), &crawl, "export").info;
    fields.push(("isPartOf".to_owned(), crawl.clone()));
    fields.push((
        "description".to_owned(),
        format!("exported from the crawl {crawl}: {selection}"),
    ));
    warc::encode_warcinfo(&name, now, &fields, GzipLevel::default())
}

fn has_capture(visit: &Visit) -> bool {
    visit.capture.is_some()
}

fn write_line(out: &mut Sink, line: &str, target: &Target) -> anyhow::Result<()> {
    out.write_all(line.as_bytes())
        .and_then(|()| out.write_all(b"\n"))
        .map_err(|error| StoreError::from_io("write", Path::new(&target.name()), error))?;
    Ok(())
}

fn write_sorted(lines: LineSorter, target: &Target) -> anyhow::Result<u64> {
    let mut out = target.open()?;
    let count = lines.write_to(&mut out, Path::new(&target.name()))?;
    out.finish()?;
    Ok(count)
}
