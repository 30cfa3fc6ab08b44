//! Does what was kept agree with itself?
//!
//! [`verify`] reads a crawl directory as a stranger would and checks that
//!
//! * every WARC record can be read, has the length it states and the payload
//!   digest it states, and is of a kind we write;
//! * response and revisit records, index lines and visits with a capture are
//!   the same set: equal URL, time, file, offset, length, digest and kind;
//! * an index line is the line its visit makes, and the index is sorted;
//! * the visits of each partition are numbered from 1 without gap or repetition;
//! * where there are several partitions, they have at least as many visits as the crawl
//!   counted in `status.json` when it ended;
//! * nothing is left open or unmerged, unless somebody is writing.
//!
//! Everything is streamed. Each of the three sources is read once and summed
//! into a count and an order-free hash per WARC file; only where the sums of a
//! file differ are its captures compared one by one. Memory grows with the
//! number of WARC files, and with the records of one of them at a time.
//!
//! While the directory is being written (its lock is held), files that are still
//! open are left out, and a record that has no visit or line yet is no problem. So it is
//! after a crawl was interrupted, but for its open files, which are the problem: running
//! it again closes them and writes what is missing.
//!
//! What it does not do: it does not repair, it does not look into the private
//! `frontier/`, and it does not check that the record a revisit refers to exists
//! (that record may be in another crawl).

mod compare;
mod sources;
mod tally;

use std::fmt;
use std::path::PathBuf;

use crate::warc::{Damage, FileName};
use crate::{CrawlDir, StoreError};

use sources::{IndexLines, RecordPass, VisitRows};
use tally::Tally;

/// Problems kept in a report; further ones are counted.
const PROBLEMS_MAX: usize = 1000;

/// What `verify` found.
#[derive(Clone, PartialEq, Eq, Debug, Default)]
pub struct VerifyReport {
    /// What does not agree, in the order found.
    pub problems: Vec<Problem>,
    /// Problems beyond those listed.
    pub problems_omitted: u64,
    /// How much was looked at.
    pub counts: Counts,
    /// Somebody was writing meanwhile.
    pub is_live: bool,
    /// The last one who wrote did not come to the end.
    pub is_interrupted: bool,
}

impl VerifyReport {
    /// Whether everything agrees.
    pub fn is_sound(&self) -> bool {
        self.problems.is_empty()
    }

    /// Whether nothing is wrong but that the last one who wrote was interrupted.
    pub fn is_only_interrupted(&self) -> bool {
        let is_open = |problem: &Problem| matches!(problem, Problem::LeftOpen { .. });
        self.is_interrupted && self.problems.iter().all(is_open)
    }

    /// Whether visits and lines of some records are still to be written.
    fn awaits_more(&self) -> bool {
        self.is_live || self.is_interrupted
    }

    fn add(&mut self, problem: Problem) {
        if self.problems.len() < PROBLEMS_MAX {
            self.problems.push(problem);
        } else {
            self.problems_omitted += 1;
        }
    }
}

/// How much was looked at.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counts {
    /// WARC files read.
    pub warc_files: u64,
    /// Bytes of them.
    pub warc_bytes: u64,
    /// Response records.
    pub responses: u64,
    /// Revisit records.
    pub revisits: u64,
    /// Request records.
    pub requests: u64,
    /// Lines of the index.
    pub index_lines: u64,
    /// Rows of the tables of visits.
    pub visits: u64,
    /// Rows with a capture.
    pub captured: u64,
}

/// One thing that does not agree.
#[derive(Clone, PartialEq, Eq, Debug)]
#[non_exhaustive]
pub enum Problem {
    /// A record cannot be read. What follows it is looked at from the next record on
    /// that can be found.
    RecordDamaged {
        /// The WARC file.
        path: PathBuf,
        /// Where the record starts.
        offset: u64,
        /// What is wrong.
        damage: Damage,
    },
    /// A record lacks a field, or is of a kind or in a place we do not write.
    RecordUnexpected {
        /// The WARC file.
        path: PathBuf,
        /// Where the record starts.
        offset: u64,
        /// What is unexpected.
        reason: &'static str,
    },
    /// The payload does not have the digest its record states.
    WrongDigest {
        /// The WARC file.
        path: PathBuf,
        /// Where the record starts.
        offset: u64,
    },
    /// A file is not closed, and nobody is writing it.
    LeftOpen {
        /// The file.
        path: PathBuf,
    },
    /// An index part is not merged, and nobody is writing.
    LeftUnmerged {
        /// The part.
        path: PathBuf,
    },
    /// Visits or index lines name a WARC file that is not there.
    FileMissing {
        /// The WARC file.
        path: PathBuf,
    },
    /// No visit tells of a record.
    RecordWithoutVisit {
        /// The WARC file.
        path: PathBuf,
        /// Where the record starts.
        offset: u64,
    },
    /// No index line leads to a record.
    RecordWithoutLine {
        /// The WARC file.
        path: PathBuf,
        /// Where the record starts.
        offset: u64,
    },
    /// A visit's capture is not where it says.
    VisitWithoutRecord {
        /// The visit's partition, if there are several.
        partition: Option<u16>,
        /// The visit's number.
        number: u64,
        /// The WARC file.
        path: PathBuf,
        /// Where its record should start.
        offset: u64,
    },
    /// A visit tells other things than its record.
    VisitDisagrees {
        /// The visit's partition, if there are several.
        partition: Option<u16>,
        /// The visit's number.
        number: u64,
        /// The WARC file.
        path: PathBuf,
        /// Where the record starts.
        offset: u64,
    },
    /// An index line leads nowhere.
    LineWithoutRecord {
        /// The WARC file it names.
        path: PathBuf,
        /// The offset it names.
        offset: u64,
    },
    /// An index line tells other things than its record or its visit.
    LineDisagrees {
        /// The WARC file it names.
        path: PathBuf,
        /// The offset it names.
        offset: u64,
    },
    /// Two visits, or two index lines, claim one record.
    ClaimedTwice {
        /// The WARC file.
        path: PathBuf,
        /// Where the record starts.
        offset: u64,
    },
    /// An index line is no index line.
    LineUnreadable {
        /// The index.
        path: PathBuf,
        /// Number of the line, from 1.
        line: u64,
    },
    /// An index line sorts before the one above it.
    LineUnsorted {
        /// The index.
        path: PathBuf,
        /// Number of the line, from 1.
        line: u64,
    },
    /// There are WARC files or visits, but no index.
    IndexMissing {
        /// Where it should be.
        path: PathBuf,
    },
    /// A table of visits or an index cannot be read to its end.
    FileUnreadable {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// Visits are missing between two numbers, both included.
    VisitsMissing {
        /// Their partition, if there are several.
        partition: Option<u16>,
        /// First number that is not there.
        first: u64,
        /// Last number that is not there.
        last: u64,
    },
    /// The crawl counted more visits than the tables of its partitions reach to.
    VisitsUncounted {
        /// Visits that `status.json` counts.
        counted: u64,
        /// Visits up to the last number of each partition.
        numbered: u64,
    },
    /// A visit comes twice, or out of order.
    VisitRepeated {
        /// The table.
        path: PathBuf,
        /// The visit's number.
        number: u64,
    },
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let at = |f: &mut fmt::Formatter<'_>, path: &PathBuf, offset: u64, what: &str| {
            write!(f, "{} at {offset}: {what}", path.display())
        };
        let of = |partition: Option<u16>| {
            partition.map_or_else(String::new, |number| format!(" of partition {number}"))
        };
        match self {
            Self::RecordDamaged {
                path,
                offset,
                damage,
            } => at(f, path, *offset, &damage.to_string()),
            Self::RecordUnexpected {
                path,
                offset,
                reason,
            } => at(f, path, *offset, reason),
            Self::WrongDigest { path, offset } => at(f, path, *offset, "wrong payload digest"),
            Self::LeftOpen { path } => write!(f, "{}: not closed", path.display()),
            Self::LeftUnmerged { path } => {
                write!(f, "{}: not merged into the index", path.display())
            }
            Self::FileMissing { path } | Self::IndexMissing { path } => {
                write!(f, "{}: missing", path.display())
            }
            Self::RecordWithoutVisit { path, offset } => {
                at(f, path, *offset, "no visit tells of this record")
            }
            Self::RecordWithoutLine { path, offset } => {
                at(f, path, *offset, "no index line leads to this record")
            }
            Self::VisitWithoutRecord {
                partition,
                number,
                path,
                offset,
            } => at(
                f,
                path,
                *offset,
                &format!("no record here for visit {number}{}", of(*partition)),
            ),
            Self::VisitDisagrees {
                partition,
                number,
                path,
                offset,
            } => at(
                f,
                path,
                *offset,
                &format!(
                    "the record is not what visit {number}{} says",
                    of(*partition)
                ),
            ),
            Self::LineWithoutRecord { path, offset } => {
                at(f, path, *offset, "no record here for an index line")
            }
            Self::LineDisagrees { path, offset } => at(
                f,
                path,
                *offset,
                "the record is not what its index line says",
            ),
            Self::ClaimedTwice { path, offset } => at(f, path, *offset, "claimed twice"),
            Self::LineUnreadable { path, line } => {
                write!(f, "{} line {line}: not an index line", path.display())
            }
            Self::LineUnsorted { path, line } => {
                write!(f, "{} line {line}: not sorted", path.display())
            }
            Self::FileUnreadable { path, reason } => write!(f, "{}: {reason}", path.display()),
            Self::VisitsMissing {
                partition,
                first,
                last,
            } => {
                let of = of(*partition);
                write!(f, "visits {first} to {last}{of} are missing")
            }
            Self::VisitsUncounted { counted, numbered } => write!(
                f,
                "status.json counts {counted} visits, the tables of all partitions reach to {numbered}"
            ),
            Self::VisitRepeated { path, number } => {
                write!(
                    f,
                    "{}: visit {number} is repeated or out of order",
                    path.display()
                )
            }
        }
    }
}

/// Checks a crawl directory. `Err` only if the system does not let us read it;
/// damage is in the report.
pub fn verify(dir: &CrawlDir) -> Result<VerifyReport, StoreError> {
    let mut report = VerifyReport {
        is_live: dir.lock_owner()?.is_some(),
        ..VerifyReport::default()
    };
    let mut tally = Tally::default();
    for name in crate::dir::file_names(&dir.warc())? {
        if let Some((file, is_open)) = FileName::parse(&name) {
            let path = dir.warc().join(&name);
            if is_open {
                tally.leave_out(&file.to_string());
                if !report.is_live {
                    report.is_interrupted = true;
                    report.add(Problem::LeftOpen { path });
                }
                continue;
            }
            RecordPass::new(&path, &file.to_string()).run(&mut report, &mut tally)?;
        }
    }
    VisitRows::new(dir).check(&mut report, &mut tally)?;
    IndexLines::new(dir).check(&mut report, &mut tally)?;
    for file in tally.differing() {
        compare::compare_file(dir, &file, &mut report)?;
    }
    Ok(report)
}
