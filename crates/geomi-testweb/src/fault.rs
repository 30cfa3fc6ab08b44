//! Ways in which a server breaks an answer.
//!
//! Every site plays every fault at `/fault/<name>`, and `/fault/` is a page
//! that links to them all. Each ends by itself: silences last until the client
//! leaves or [`crate::ServerOptions::silence_max`] has passed, and nothing sends
//! more than 64 MiB.

use std::fmt;

/// A way to misbehave on the socket.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub enum Fault {
    /// The connection is reset once the request was read, before any byte.
    ResetBeforeHeader,
    /// The connection is closed once the request was read, before any byte.
    CloseWithoutByte,
    /// A few bytes of a status line, then an orderly close.
    ShortHeader,
    /// Bytes that are not HTTP, then a close.
    NotHttp,
    /// Not one byte.
    SilentBeforeHeader,
    /// A status line and half a header, then nothing more.
    SilentInHeader,
    /// A good header and half the body, then a reset.
    ResetInBody,
    /// `Content-Length` promises more than comes before the close.
    ShortBody,
    /// A good header and half the body, then nothing more.
    SilentInBody,
    /// The body comes a byte at a time, ten a second, without an end in sight.
    DrippingBody,
    /// A chunked body that goes on and on, fast (64 MiB, then a close).
    EndlessBody,
    /// A chunk whose size is not a number.
    BrokenChunks,
    /// A header of twenty thousand lines.
    HeaderFlood,
    /// A body of 64 MiB, announced as such and sent.
    OversizedBody,
    /// 64 KiB of gzip that inflate to 64 MiB.
    GzipBomb,
    /// A gzip body that ends in the middle, though its length is right.
    TruncatedGzip,
}

impl Fault {
    /// Every fault, in the order in which an answer can meet them.
    pub const ALL: [Self; 16] = [
        Self::ResetBeforeHeader,
        Self::CloseWithoutByte,
        Self::ShortHeader,
        Self::NotHttp,
        Self::SilentBeforeHeader,
        Self::SilentInHeader,
        Self::ResetInBody,
        Self::ShortBody,
        Self::SilentInBody,
        Self::DrippingBody,
        Self::EndlessBody,
        Self::BrokenChunks,
        Self::HeaderFlood,
        Self::OversizedBody,
        Self::GzipBomb,
        Self::TruncatedGzip,
    ];

    /// The faults that neither wait nor send much: what [`crate::Traits::faults`]
    /// gives to pages, so that a crawl over them takes no longer.
    pub const QUICK: [Self; 8] = [
        Self::ResetBeforeHeader,
        Self::CloseWithoutByte,
        Self::ShortHeader,
        Self::NotHttp,
        Self::ResetInBody,
        Self::ShortBody,
        Self::BrokenChunks,
        Self::TruncatedGzip,
    ];

    /// The name in `/fault/<name>`.
    pub const fn name(self) -> &'static str {
        match self {
            Self::ResetBeforeHeader => "reset-before-header",
            Self::CloseWithoutByte => "close-without-byte",
            Self::ShortHeader => "short-header",
            Self::NotHttp => "not-http",
            Self::SilentBeforeHeader => "silent-before-header",
            Self::SilentInHeader => "silent-in-header",
            Self::ResetInBody => "reset-in-body",
            Self::ShortBody => "short-body",
            Self::SilentInBody => "silent-in-body",
            Self::DrippingBody => "dripping-body",
            Self::EndlessBody => "endless-body",
            Self::BrokenChunks => "broken-chunks",
            Self::HeaderFlood => "header-flood",
            Self::OversizedBody => "oversized-body",
            Self::GzipBomb => "gzip-bomb",
            Self::TruncatedGzip => "truncated-gzip",
        }
    }

    /// Reads a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|fault| fault.name() == name)
    }

    /// The path that plays this fault on every site.
    pub fn path(self) -> String {
        format!("/fault/{}", self.name())
    }

    /// Whether the client sees a complete status line and header.
    pub const fn has_header(self) -> bool {
        !matches!(
            self,
            Self::ResetBeforeHeader
                | Self::CloseWithoutByte
                | Self::ShortHeader
                | Self::NotHttp
                | Self::SilentBeforeHeader
                | Self::SilentInHeader
        )
    }
}

impl fmt::Display for Fault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_read_back() {
        for fault in Fault::ALL {
            assert_eq!(Fault::from_name(fault.name()), Some(fault));
        }
        assert_eq!(Fault::from_name("none"), None);
    }
}
