//! One gzip member a record, by a compressor that each thread keeps.
//!
//! Level 1 is our own ([`deflate`](super::deflate)), the others are libdeflate's.

use std::cell::RefCell;

use libdeflater::{CompressionLvl, Compressor, Crc};

use super::deflate::Deflater;

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
    /// Level 1: four times the speed of level 6 for some 9 % more bytes.
    fn default() -> Self {
        Self(1)
    }
}

/// Who compresses.
enum Engine {
    Ours(Box<Deflater>),
    Library(Compressor),
}

impl Engine {
    fn new(level: GzipLevel) -> Self {
        match level {
            GzipLevel(1) => Self::Ours(Box::new(Deflater::new())),
            level => Self::Library(Compressor::new(level.to_library())),
        }
    }

    /// Makes `member` the gzip member of a record.
    fn compress(&mut self, record: &[u8], member: &mut Vec<u8>) {
        match self {
            Self::Ours(deflater) => {
                member.clear();
                member.extend_from_slice(&HEADER);
                deflater.compress(record, member);
                let mut crc = Crc::new();
                crc.update(record);
                member.extend_from_slice(&crc.sum().to_le_bytes());
                member.extend_from_slice(&(record.len() as u32).to_le_bytes());
            }
            Self::Library(compressor) => by_library(compressor, record, member),
        }
    }
}

fn by_library(compressor: &mut Compressor, record: &[u8], member: &mut Vec<u8>) {
    member.resize(compressor.gzip_compress_bound(record.len()), 0);
    let len = compressor
        .gzip_compress(record, member)
        .expect("the library's own bound suffices");
    member.truncate(len);
    member[..HEADER.len()].copy_from_slice(&HEADER);
}

/// What a thread keeps between records.
pub(super) struct Scratch {
    level: GzipLevel,
    engine: Engine,
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
            engine: Engine::new(level),
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
        if self.record.len() <= STORED_BYTES_MAX {
            by_library(&mut self.wrapper, &self.record, &mut self.member);
        } else {
            self.engine.compress(&self.record, &mut self.member);
        }
        self.record.clear();
        &self.member
    }
}
