//! Sums by which three sources are compared without holding any of them.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};

/// What one source says about one capture.
#[derive(Clone, PartialEq, Eq, Hash, Debug)]
pub(super) struct Claim {
    pub(super) file: String,
    pub(super) offset: u64,
    pub(super) length: u64,
    pub(super) url: String,
    /// 14 digits.
    pub(super) timestamp: String,
    pub(super) digest: String,
    pub(super) is_revisit: bool,
}

/// 64 bits of anything, the same in every run.
pub(super) fn hash64(value: &impl Hash) -> u64 {
    let mut hasher = DefaultHasher::new();
    value.hash(&mut hasher);
    hasher.finish()
}

/// Number and order-free sum of the hashes of some captures.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
struct Sum {
    count: u64,
    hashes: u64,
}

impl Sum {
    fn add(&mut self, hash: u64) {
        self.count += 1;
        self.hashes = self.hashes.wrapping_add(hash);
    }
}

/// The sums of one WARC file.
#[derive(Default)]
struct FileSums {
    records: Sum,
    visits: Sum,
    lines: Sum,
    /// Whole index lines: as visits make them, and as the index has them.
    lines_made: Sum,
    lines_found: Sum,
    is_left_out: bool,
}

/// The sums of every WARC file that is there or that something refers to.
#[derive(Default)]
pub(super) struct Tally {
    files: BTreeMap<String, FileSums>,
}

impl Tally {
    /// This file is still being written: nothing is said about it.
    pub(super) fn leave_out(&mut self, file: &str) {
        self.sums(file).is_left_out = true;
    }

    pub(super) fn add_record(&mut self, claim: &Claim) {
        self.sums(&claim.file).records.add(hash64(claim));
    }

    pub(super) fn add_visit(&mut self, claim: &Claim, line: u64) {
        let sums = self.sums(&claim.file);
        sums.visits.add(hash64(claim));
        sums.lines_made.add(line);
    }

    pub(super) fn add_line(&mut self, claim: &Claim, line: u64) {
        let sums = self.sums(&claim.file);
        sums.lines.add(hash64(claim));
        sums.lines_found.add(line);
    }

    /// The files about which the sources do not agree.
    pub(super) fn differing(&self) -> Vec<String> {
        self.files
            .iter()
            .filter(|(_, sums)| !sums.is_left_out)
            .filter(|(_, sums)| {
                sums.records != sums.visits
                    || sums.records != sums.lines
                    || sums.lines_made != sums.lines_found
            })
            .map(|(file, _)| file.clone())
            .collect()
    }

    fn sums(&mut self, file: &str) -> &mut FileSums {
        if !self.files.contains_key(file) {
            self.files.insert(file.to_owned(), FileSums::default());
        }
        self.files.get_mut(file).expect("just inserted")
    }
}
