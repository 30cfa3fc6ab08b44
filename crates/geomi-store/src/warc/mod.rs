//! WARC/1.1 files: answers as they came, in a form every archive tool reads.
//!
//! Work is split where the threads are split. The encoders
//! ([`encode_exchange`], [`encode_revisit`]) are pure functions from an
//! exchange to gzip members and run wherever there is a processor; the
//! [`WarcWriter`] only appends finished members, syncs and rolls files, and
//! belongs to one thread. [`WarcReader`] reads records back in order,
//! [`Captures`] finds single ones by what a visit says of them.
//!
//! Each record is one gzip member, as random access through an index needs.
//! The gzip header is always the same ten bytes, so that a changed byte
//! anywhere in a file can be noticed.
//!
//! **Payload digest.** `warcio check` hashes what lies in the record after the
//! HTTP header, byte for byte: chunk framing and content encoding included.
//! [`payload_digest`] does the same, so a capture can be checked without
//! decoding it. There is no block digest: it would be a second SHA-1 over
//! almost the same bytes, and gzip's CRC-32 already covers the header.
//!
//! **Record ids** are made, not drawn: a name-based UUID (version 5) over the
//! kind of record, URL, time and a serial number. The same exchange encoded
//! twice has the same id, and no source of randomness is needed.

mod captures;
mod deflate;
mod digest;
mod encode;
mod gzip;
mod name;
mod reader;
mod record_id;
mod writer;

pub use captures::{Block, Captures, Copied};
pub use digest::payload_digest;
pub(crate) use digest::payload_start;
pub use encode::{
    Encoded, Exchange, Revisit, RevisitProfile, encode_exchange, encode_revisit, encode_warcinfo,
};
pub use gzip::GzipLevel;
pub(crate) use name::FileName;
pub use reader::{Damage, ReadError, RecordInfo, WarcReader};
pub use writer::{Position, WarcConfig, WarcWriter};
