//! What is kept: WARC files, segments of visits, the log.

use std::time::Duration;

use geomi_model::{Capture, Timestamp, Visit};
use geomi_store::warc::{Encoded, GzipLevel, Position, WarcConfig, WarcReader, WarcWriter};
use geomi_store::{CrawlDir, segment, visits};

use crate::log::{Numbered, VisitLog};
use crate::partition::{ArchiveMark, Partition};
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
    /// What the next commit will say of the archive.
    mark: ArchiveMark,
    /// Where appended records end.
    end: Option<Position>,
    segment_rows: u64,
    /// Visits in the state that are in no segment yet.
    loose_rows: u64,
    /// When the first of them was made.
    loose_since: Timestamp,
    file_closed: bool,
}

impl Archive {
    /// Opens the archive as the partitions' last commits left it: WARC records
    /// past that are cut off, rows that reached a segment are forgotten, log
    /// lines that a crash swallowed are written.
    pub(crate) fn open(
        dir: &CrawlDir,
        config: &CrawlConfig,
        gzip: GzipLevel,
        partitions: &mut [Partition],
    ) -> Result<Self, CrawlError> {
        let mut mark = ArchiveMark::default();
        for partition in &*partitions {
            mark = mark.max(partition.meta("archive")?.unwrap_or_default());
        }
        let mut committed = mark.file.clone().map(|file| Position {
            file,
            offset: mark.offset,
        });
        if committed.is_none() {
            // A new directory, or one whose frontier/ was deleted: then the
            // segments say what has been collected.
            committed = end_of_segments(dir)?;
            if dir.index_recent().exists() {
                // Visits in no segment are lost with the state, and so are their records.
                segment::rebuild_index(dir)?;
            }
            mark.visits = segment::list_of(dir, None)?
                .last()
                .map_or(0, |segment| segment.last);
        }
        let mut settings = WarcConfig::new(dir.warc(), &config.name, &config.worker);
        settings.bytes_max = config.output.warc_bytes_max;
        settings.level = gzip;
        let robots = if config.frontier.ask_robots {
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
        let mut archive = Self {
            warc: WarcWriter::resume(settings, committed.as_ref())?,
            log: VisitLog::open(
                dir.log(),
                config.output.log_bytes_max,
                &[Numbered::whole(mark.visits)],
            )?,
            dir: dir.clone(),
            gzip,
            end: committed,
            mark,
            segment_rows: config.output.segment_rows,
            loose_rows: 0,
            loose_since: Timestamp::EPOCH,
            file_closed: false,
        };
        archive.forget_segmented(partitions)?;
        archive.catch_up_log(partitions)?;
        Ok(archive)
    }

    fn forget_segmented(&mut self, partitions: &mut [Partition]) -> Result<(), CrawlError> {
        let in_files = segment::list_of(&self.dir, None)?
            .last()
            .map_or(0, |segment| segment.last);
        for partition in partitions {
            let mut numbers = Vec::new();
            partition.visits(&mut |visit| numbers.push(visit.number))?;
            let (segmented, loose): (Vec<u64>, Vec<u64>) =
                numbers.into_iter().partition(|number| *number <= in_files);
            for number in segmented {
                partition.forget_visit(number);
            }
            self.loose_rows += loose.len() as u64;
        }
        Ok(())
    }

    fn catch_up_log(&mut self, partitions: &[Partition]) -> Result<(), CrawlError> {
        let loose = loose_visits(partitions, self.loose_rows)?;
        if let Some(first) = loose.first() {
            self.loose_since = first.time;
        }
        for visit in loose {
            self.log.add(None, &visit)?;
        }
        Ok(self.log.flush()?)
    }

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
        self.mark.file = Some(end.file);
        self.mark.offset = end.offset;
    }

    /// What a commit has to say of the archive.
    pub(crate) fn mark(&self) -> &ArchiveMark {
        &self.mark
    }

    /// The number for the next visit.
    pub(crate) fn next_number(&mut self) -> u64 {
        self.mark.visits += 1;
        self.mark.visits
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

    /// Adds committed visits to the log.
    pub(crate) fn log(&mut self, visits: &[Visit]) -> Result<(), CrawlError> {
        if let (0, Some(first)) = (self.loose_rows, visits.first()) {
            self.loose_since = first.time;
        }
        self.loose_rows += visits.len() as u64;
        for visit in visits {
            self.log.add(None, visit)?;
        }
        Ok(self.log.flush()?)
    }

    /// Whether there are enough loose rows for a segment: a sixteenth of all visits
    /// so far, but not too few. So small crawls need little memory, and large ones
    /// have few files. A crawl that visits little must not wait for weeks for it.
    pub(crate) fn segment_due(&self, now: Timestamp) -> bool {
        let share = self.mark.visits / SEGMENT_SHARE;
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

    /// Writes all loose rows as a segment. They are to be forgotten with the
    /// next commit; until then they are in both places, which opening mends.
    pub(crate) fn write_segment(
        &mut self,
        partitions: &[Partition],
    ) -> Result<Vec<u64>, CrawlError> {
        let visits = loose_visits(partitions, self.loose_rows)?;
        self.loose_rows = 0;
        if !visits.is_empty() {
            segment::write(&self.dir, None, &visits)?;
        }
        Ok(visits.into_iter().map(|visit| visit.number).collect())
    }

    /// Writes the index lines of all loose rows.
    pub(crate) fn write_recent(&self, partitions: &[Partition]) -> Result<(), CrawlError> {
        let visits = loose_visits(partitions, self.loose_rows)?;
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
    for segment in segment::list_of(dir, None)?.into_iter().rev() {
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
    let damaged = |error: &dyn std::fmt::Display| CrawlError::Damaged {
        what: format!("{} past {}: {error}", capture.file, capture.offset),
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

/// The visits in no segment yet, of all partitions, by number. There are about
/// `count` of them; they are large, so that room is made for no more.
fn loose_visits(partitions: &[Partition], count: u64) -> Result<Vec<Visit>, CrawlError> {
    let mut visits = Vec::new();
    visits.reserve_exact(usize::try_from(count).unwrap_or(0));
    for partition in partitions {
        partition.visits(&mut |visit| visits.push(visit))?;
    }
    visits.sort_unstable_by_key(|visit| visit.number);
    Ok(visits)
}
