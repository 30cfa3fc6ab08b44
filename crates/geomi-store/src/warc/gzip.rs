//! One gzip member a record, by a compressor that each thread keeps.

use std::cell::RefCell;

use libdeflater::{CompressionLvl, Compressor};

/// The header of every member: deflate, no name, no time, no hints.
pub(super) const HEADER: [u8; 10] = [0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff];

/// Buffers larger than this are given back after use: one large page must not
/// hold memory on every thread for the rest of the crawl.
const KEPT_BYTES_MAX: usize = 1 << 20;

/// Records up to this size, which are the requests, are stored as they are:
/// compressing one costs 6 us and saves about 170 bytes.
const STORED_BYTES_MAX: usize = 1024;

/// How hard to compress, from 1 (fast) to 12 (small).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct GzipLevel(u8);

impl GzipLevel {
    /// The level, if it is one.
    pub fn new(level: u8) -> Option<Self> {
        (1..=12).contains(&level).then_some(Self(level))
    }

    fn to_library(self) -> CompressionLvl {
        CompressionLvl::new(i32::from(self.0)).expect("1 to 12 are levels of the library")
    }
}

impl Default for GzipLevel {
    /// Level 1: twice the speed of level 6 for 3 % more bytes.
    fn default() -> Self {
        Self(1)
    }
}

/// What a thread keeps between records.
pub(super) struct Scratch {
    level: GzipLevel,
    compressor: Compressor,
    /// Wraps without compressing.
    wrapper: Compressor,
    /// The record being built, not compressed.
    pub(super) record: Vec<u8>,
    member: Vec<u8>,
}

thread_local! {
    static SCRATCH: RefCell<Scratch> = RefCell::new(Scratch::new(GzipLevel::default()));
}

impl Scratch {
    fn new(level: GzipLevel) -> Self {
        Self {
            level,
            compressor: Compressor::new(level.to_library()),
            wrapper: Compressor::new(CompressionLvl::new(0).expect("0 is a level of the library")),
            record: Vec::new(),
            member: Vec::new(),
        }
    }

    /// Runs `work` with this thread's compressor and buffers.
    pub(super) fn with<T>(level: GzipLevel, work: impl FnOnce(&mut Self) -> T) -> T {
        SCRATCH.with_borrow_mut(|scratch| {
            if scratch.level != level {
                *scratch = Self::new(level);
            }
            let result = work(scratch);
            for buffer in [&mut scratch.record, &mut scratch.member] {
                buffer.clear();
                if buffer.capacity() > KEPT_BYTES_MAX {
                    buffer.shrink_to(KEPT_BYTES_MAX);
                }
            }
            result
        })
    }

    /// Compresses the record into a member and starts a new record.
    pub(super) fn take_member(&mut self) -> &[u8] {
        let compressor = if self.record.len() <= STORED_BYTES_MAX {
            &mut self.wrapper
        } else {
            &mut self.compressor
        };
        let bound = compressor.gzip_compress_bound(self.record.len());
        self.member.resize(bound, 0);
        let len = compressor
            .gzip_compress(&self.record, &mut self.member)
            .expect("the library's own bound suffices");
        self.record.clear();
        self.member[..HEADER.len()].copy_from_slice(&HEADER);
        &self.member[..len]
    }
}
