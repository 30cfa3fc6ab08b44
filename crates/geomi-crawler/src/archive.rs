//! What is kept: WARC files, segments of visits, the log.

use std::time::Duration;

use geomi_engine::{ArchiveMark, Engine, EngineError, RobotsMode};
use geomi_model::{Capture, Timestamp, Visit};
use geomi_store::warc::{Encoded, GzipLevel, Position, WarcConfig, WarcReader, WarcWriter};
use geomi_store::{CrawlDir, segment, visits};

use crate::log::{Numbered, VisitLog};
use crate::{CrawlConfig, CrawlError};

/// Segments hold this part of all visits so far, within bounds.
const SEGMENT_SHARE: u64 = 16;
/// Rows of a segment, at least, unless fewer are asked for.
const SEGMENT_ROWS_LEAST: u64 = 2_048;
/// Reports read segments: a crawl that is in no hurry shows what it did after this time, if
/// that is the usual part of its visits and these many at least.
const SEGMENT_WAIT: Duration = Duration::from_mins(10);
const SEGMENT_ROWS_FEW: u64 = 64;
/// And after this time however little it was: 365 files a year.
const SEGMENT_WAIT_MAX: Duration = Duration::from_hours(24);

/// The archive of one crawl directory, being written.
pub(crate) struct Archive {
    dir: CrawlDir,
    warc: WarcWriter,
    log: VisitLog,
    gzip: GzipLevel,
    /// Where the records end that commits speak of.
    committed: Option<Position>,
    /// Where appended records end.
    end: Option<Position>,
    /// Visits numbered so far, over all partitions.
    visits: u64,
    segment_rows: u64,
    /// Visits in the state that are in no segment yet.
    loose_rows: u64,
    /// When the first of them was made.
    loose_since: Timestamp,
    file_closed: bool,
}

impl Archive {
    /// Opens the archive as the partitions' last commits left it: WARC records past
    /// that are cut off, rows that reached a segment are forgotten, log lines that a
    /// crash swallowed are written.
    pub(crate) fn open(
        dir: &CrawlDir,
        config: &CrawlConfig,
        engines: &mut [Engine],
    ) -> Result<Self, CrawlError> {
        let marks = engines.iter().map(Engine::archive_mark);
        let marks: Vec<ArchiveMark> = marks.collect::<Result<_, _>>()?;
        let last = marks
            .iter()
            .max_by(|one, other| one.place().cmp(&other.place()));
        let mut committed = last.and_then(|mark| {
            Some(Position {
                file: mark.file.clone()?,
                offset: mark.offset,
            })
        });
        if committed.is_none() {
            // A new directory, or one whose frontier/ was deleted: then the
            // segments say what has been collected.
            committed = end_of_segments(dir)?;
            if dir.index_recent().exists() {
                // Visits in no segment are lost with the state, and so are their records.
                segment::rebuild_index(dir)?;
            }
            for (id, engine) in numbered(engines) {
                let segments = segment::list_of(dir, id)?;
                engine.number_from(segments.last().map_or(0, |last| last.last));
            }
        }
        let visits = engines.iter().map(Engine::last_visit).sum();
        let mut in_log = Vec::new();
        let mut loose_since: Option<Timestamp> = None;
        for (partition, engine) in numbered(engines) {
            let first = loose_visits(engine, 0)?.into_iter().map(|visit| visit.time);
            let first = first.min();
            loose_since = loose_since.into_iter().chain(first).min();
            in_log.push(Numbered {
                partition,
                last: engine.last_visit(),
                loose_since: first,
            });
        }
        let gzip = config.output.gzip();
        let mut archive = Self {
            warc: WarcWriter::resume(warc_settings(dir, config, gzip), committed.as_ref())?,
            log: VisitLog::open(dir.log(), config.output.log_bytes_max, &in_log)?,
            dir: dir.clone(),
            gzip,
            end: committed.clone(),
            committed,
            visits,
            segment_rows: config.output.segment_rows,
            loose_rows: 0,
            loose_since: loose_since.unwrap_or_default(),
            file_closed: false,
        };
        archive.forget_segmented(engines)?;
        archive.catch_up_log(engines)?;
        Ok(archive)
    }

    fn forget_segmented(&mut self, engines: &mut [Engine]) -> Result<(), CrawlError> {
        for (id, engine) in numbered(engines) {
            let segments = segment::list_of(&self.dir, id)?;
            let in_files = segments.last().map_or(0, |segment| segment.last);
            let mut numbers = Vec::new();
            engine.loose_visits(&mut |visit| numbers.push(visit.number))?;
            for number in numbers {
                if number <= in_files {
                    engine.forget_visit(number);
                } else {
                    self.loose_rows += 1;
                }
            }
        }
        Ok(())
    }

    fn catch_up_log(&mut self, engines: &mut [Engine]) -> Result<(), CrawlError> {
        for (id, engine) in numbered(engines) {
            for visit in loose_visits(engine, 0)? {
                self.log.add(id, &visit)?;
            }
        }
        Ok(self.log.flush()?)
    }

    /// The level of gzip of its records.
    pub(crate) fn gzip(&self) -> GzipLevel {
        self.gzip
    }

    /// Adds records; they count once synced and committed.
    pub(crate) fn append(
        &mut self,
        encoded: &Encoded,
        now: Timestamp,
    ) -> Result<Capture, CrawlError> {
        let begin = self.warc.append(&encoded.members, now)?;
        self.file_closed |= self.end.as_ref().is_some_and(|end| end.file != begin.file);
        let offset = begin.offset + encoded.members.len() as u64;
        self.end = Some(Position {
            file: begin.file.clone(),
            offset,
        });
        Ok(Capture {
            file: begin.file,
            offset: begin.offset,
            length: encoded.capture_length,
            kind: encoded.kind,
        })
    }

    /// Where appended records end now.
    pub(crate) fn end(&self) -> Option<Position> {
        self.end.clone()
    }

    /// The commits from here on speak of records up to there.
    pub(crate) fn reached(&mut self, end: Position) {
        self.committed = Some(end);
    }

    /// Where the records end that commits speak of.
    pub(crate) fn committed(&self) -> Option<&Position> {
        self.committed.as_ref()
    }

    /// Visits numbered so far, over all partitions.
    pub(crate) const fn visits(&self) -> u64 {
        self.visits
    }

    /// Makes appended records durable.
    pub(crate) fn sync(&mut self) -> Result<(), CrawlError> {
        self.warc.sync()?;
        Ok(())
    }

    /// Whether a WARC file was closed since the last call.
    pub(crate) fn take_file_closed(&mut self) -> bool {
        std::mem::take(&mut self.file_closed)
    }

    /// Adds durable visits of a partition to the log.
    pub(crate) fn log(
        &mut self,
        partition: Option<u16>,
        visits: &[Visit],
    ) -> Result<(), CrawlError> {
        if let (0, Some(first)) = (self.loose_rows, visits.first()) {
            self.loose_since = first.time;
        }
        self.loose_rows += visits.len() as u64;
        self.visits += visits.len() as u64;
        for visit in visits {
            self.log.add(partition, visit)?;
        }
        Ok(())
    }

    /// Hands the log to the system.
    pub(crate) fn flush_log(&mut self) -> Result<(), CrawlError> {
        Ok(self.log.flush()?)
    }

    /// Whether there are enough loose rows for a segment: a sixteenth of all visits
    /// so far, but not too few. So small crawls need little memory, and large ones
    /// have few files. A crawl that visits little must not wait for weeks for it.
    pub(crate) fn segment_due(&self, now: Timestamp) -> bool {
        let share = self.visits / SEGMENT_SHARE;
        let waited = now.since(self.loose_since);
        let least = if waited >= SEGMENT_WAIT_MAX {
            return self.loose_rows > 0;
        } else if waited >= SEGMENT_WAIT {
            SEGMENT_ROWS_FEW
        } else {
            SEGMENT_ROWS_LEAST
        };
        self.loose_rows >= share.clamp(least.min(self.segment_rows), self.segment_rows)
    }

    /// Writes the loose rows of a partition as a segment, up to the last one that is
    /// durable. They are to be forgotten with the next commit; until then they are in
    /// both places, which opening repairs.
    pub(crate) fn write_segment(
        &mut self,
        id: Option<u16>,
        engine: &Engine,
    ) -> Result<Vec<u64>, CrawlError> {
        let visits = loose_visits(engine, self.loose_rows)?;
        if !visits.is_empty() {
            segment::write(&self.dir, id, &visits)?;
        }
        self.loose_rows = self.loose_rows.saturating_sub(visits.len() as u64);
        Ok(visits.into_iter().map(|visit| visit.number).collect())
    }

    /// Writes the index lines of all loose rows.
    pub(crate) fn write_recent(&self, engines: &[Engine]) -> Result<(), CrawlError> {
        let mut visits = Vec::new();
        for engine in engines {
            visits.extend(loose_visits(engine, self.loose_rows)?);
        }
        Ok(segment::write_recent(&self.dir, &visits)?)
    }

    /// Closes the WARC file and puts the index together.
    pub(crate) fn close(&mut self) -> Result<(), CrawlError> {
        self.warc.close()?;
        segment::merge_index(&self.dir)?;
        Ok(())
    }
}

/// Where the records of the last capture in a segment end.
fn end_of_segments(dir: &CrawlDir) -> Result<Option<Position>, CrawlError> {
    for segment in segment::list(dir)?.into_iter().rev() {
        let mut last = None;
        for visit in visits::read_visits(&segment.table(dir))? {
            last = visit?.capture.or(last);
        }
        if let Some(capture) = last {
            return Ok(Some(end_of_capture(dir, &capture)?));
        }
    }
    Ok(None)
}

/// The end of the request record that follows a capture.
fn end_of_capture(dir: &CrawlDir, capture: &Capture) -> Result<Position, CrawlError> {
    let damaged = |error: &dyn std::fmt::Display| {
        let what = format!("{} past {}: {error}", capture.file, capture.offset);
        CrawlError::from(EngineError::Damaged { what })
    };
    let closed = dir.warc().join(&capture.file);
    let open = dir.warc().join(format!("{}.open", capture.file));
    let mut reader = WarcReader::open(if closed.exists() { &closed } else { &open })?;
    while let Some(record) = reader.next_record().map_err(|error| damaged(&error))? {
        let end = record.offset + reader.finish_record().map_err(|error| damaged(&error))?;
        if record.offset > capture.offset {
            return Ok(Position {
                file: capture.file.clone(),
                offset: end,
            });
        }
    }
    Err(damaged(&"the request record is missing"))
}

/// The visits of a partition in no segment yet, by number. There are about `count` of
/// them; they are large, so that room is made for no more.
fn loose_visits(engine: &Engine, count: u64) -> Result<Vec<Visit>, CrawlError> {
    let mut visits = Vec::new();
    visits.reserve_exact(usize::try_from(count).unwrap_or(0));
    engine.loose_visits(&mut |visit| visits.push(visit))?;
    Ok(visits)
}

/// The engines of a crawl, with the numbers that files know their partitions by.
fn numbered(engines: &mut [Engine]) -> impl Iterator<Item = (Option<u16>, &mut Engine)> {
    let is_cut = engines.len() > 1;
    let engines = engines.iter_mut();
    engines.map(move |engine| (is_cut.then_some(engine.id().0), engine))
}

fn warc_settings(dir: &CrawlDir, config: &CrawlConfig, gzip: GzipLevel) -> WarcConfig {
    let mut settings = WarcConfig::new(dir.warc(), &config.name, &config.worker);
    settings.bytes_max = config.output.warc_bytes_max;
    settings.level = gzip;
    let robots = if config.engine.robots == RobotsMode::Respect {
        "rfc9309"
    } else {
        "ignored"
    };
    for (name, value) in [
        ("http-header-user-agent", &*config.fetch.user_agent),
        ("robots", robots),
    ] {
        settings.info.push((name.to_owned(), value.to_owned()));
    }
    settings
}
