//! stats.jsonl as a bounded series: what the curves are drawn from.
//!
//! The file has a line every ten seconds, so a month has a quarter of a
//! million. Lines are read once each and thinned out evenly while reading, so
//! that memory holds no more than twice the points asked for.

use std::io::{self, BufRead as _, BufReader, Read as _};

use geomi_model::Timestamp;
use geomi_store::{CrawlDir, StoreError, open_within};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A longer line is none of ours.
const LINE_BYTES_MAX: u64 = 16 << 20;

/// One point of the series.
#[derive(Clone, Copy, PartialEq, Debug, Serialize, JsonSchema)]
pub(crate) struct Sample {
    /// Seconds since 1970.
    pub(crate) time: f64,
    /// Pages saved a second.
    pub(crate) pages_per_s: f64,
    /// Bytes a second over the wire.
    pub(crate) bytes_per_s: f64,
    /// Pages saved since the directory was begun.
    pub(crate) saved: u64,
    /// Pages given up since then.
    pub(crate) failed: u64,
    /// URLs waiting.
    pub(crate) queued: u64,
    /// Requests under way.
    pub(crate) in_flight: u64,
}

#[derive(Deserialize)]
struct Line {
    time: String,
    counters: Counts,
    queued: u64,
    in_flight: u64,
    pages_per_s: f64,
    bytes_per_s: f64,
}

#[derive(Deserialize)]
struct Counts {
    saved: u64,
    failed: u64,
}

impl Sample {
    fn parse(line: &[u8]) -> Option<Self> {
        // The last line may be half written; it is read the next time.
        let line: Line = serde_json::from_slice(line).ok()?;
        Some(Self {
            time: Timestamp::parse_rfc3339(&line.time)?.micros() as f64 / 1e6,
            pages_per_s: line.pages_per_s,
            bytes_per_s: line.bytes_per_s,
            saved: line.counters.saved,
            failed: line.counters.failed,
            queued: line.queued,
            in_flight: line.in_flight,
        })
    }
}

/// At most `points` samples over the whole time, the last one among them.
pub(crate) fn series(dir: &CrawlDir, points: usize) -> Result<Vec<Sample>, StoreError> {
    let path = dir.stats();
    let file = match open_within(dir.root(), &path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Vec::new()),
        Err(error) => return Err(StoreError::from_io("read", &path, error)),
    };
    let mut input = BufReader::new(file);
    let mut thinned = Thinned::new(points.max(2));
    let mut line = Vec::new();
    loop {
        line.clear();
        let read = (&mut input)
            .take(LINE_BYTES_MAX)
            .read_until(b'\n', &mut line);
        if read.map_err(|error| StoreError::from_io("read", &path, error))? == 0 {
            return Ok(thinned.into_samples());
        }
        if let Some(sample) = Sample::parse(&line) {
            thinned.add(sample);
        }
    }
}

/// Every so-manieth of a series whose length is not known beforehand.
struct Thinned {
    points: usize,
    every: usize,
    seen: usize,
    kept: Vec<Sample>,
    last: Option<Sample>,
}

impl Thinned {
    fn new(points: usize) -> Self {
        Self {
            points,
            every: 1,
            seen: 0,
            kept: Vec::new(),
            last: None,
        }
    }

    fn add(&mut self, sample: Sample) {
        if self.seen.is_multiple_of(self.every) {
            self.kept.push(sample);
        }
        self.seen += 1;
        self.last = Some(sample);
        if self.kept.len() == self.points {
            let mut nth = 0;
            self.kept.retain(|_| {
                nth += 1;
                nth % 2 == 1
            });
            self.every *= 2;
        }
    }

    fn into_samples(mut self) -> Vec<Sample> {
        if let Some(last) = self.last
            && self.kept.last() != Some(&last)
        {
            self.kept.push(last);
        }
        self.kept
    }
}

#[cfg(test)]
mod tests {
    use geomi_engine::Status;

    use super::*;

    fn file(lines: u32) -> (tempfile::TempDir, CrawlDir) {
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path()).unwrap();
        let mut text = String::new();
        for n in 0..lines {
            let mut status = Status {
                time: Timestamp::from_secs(i64::from(n) * 10).to_rfc3339_millis(),
                ..Status::default()
            };
            status.counters.saved = u64::from(n);
            text.push_str(&serde_json::to_string(&status).unwrap());
            text.push('\n');
        }
        text.push_str("{\"state\":\"runn");
        std::fs::write(dir.stats(), text).unwrap();
        (folder, dir)
    }

    #[test]
    fn a_short_series_is_whole() {
        let (_folder, dir) = file(5);
        let samples = series(&dir, 100).unwrap();
        let saved: Vec<u64> = samples.iter().map(|sample| sample.saved).collect();
        assert_eq!(saved, [0, 1, 2, 3, 4]);
        assert!((samples[1].time - 10.0).abs() < f64::EPSILON);
    }

    #[test]
    fn a_long_series_is_thinned_evenly_and_keeps_its_end() {
        let (_folder, dir) = file(1_000);
        let samples = series(&dir, 64).unwrap();
        assert!((32..=65).contains(&samples.len()), "{}", samples.len());
        assert_eq!(samples.last().unwrap().saved, 999);
        let steps: Vec<u64> = samples
            .windows(2)
            .map(|two| two[1].saved - two[0].saved)
            .collect();
        assert!(
            steps[..steps.len() - 1]
                .iter()
                .all(|step| *step == steps[0])
        );
    }

    #[test]
    fn no_file_is_no_series() {
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path()).unwrap();
        assert_eq!(series(&dir, 10).unwrap(), []);
    }
}
