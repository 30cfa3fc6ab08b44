//! Bytes from the web on somebody's terminal.
//!
//! What a page holds must not move the cursor, change the title or answer for
//! the user, so on a terminal control characters are shown and not sent. A file
//! or a pipe gets the bytes as they are.

use std::fmt::Write as _;
use std::io::{self, IsTerminal as _, Write as _};

use anyhow::Context as _;

use crate::config::Problems;

/// Bytes looked at to tell text from anything else.
const SNIFFED_BYTES: usize = 4096;

/// Writes bytes to standard output; a reader that went away is not our failure.
pub(super) fn write(bytes: &[u8]) -> anyhow::Result<()> {
    let out = io::stdout();
    let written = if out.is_terminal() {
        let Some(text) = shown(bytes) else {
            let what = "this is no text and would garble the terminal: send it to a file with > FILE, or choose --headers";
            return Err(Problems::one(what).into());
        };
        let end = if text.ends_with('\n') { "" } else { "\n" };
        write!(out.lock(), "{text}{end}")
    } else {
        let mut out = out.lock();
        out.write_all(bytes).and_then(|()| out.flush())
    };
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        _ => Ok(()),
    }
}

/// Text with its control characters made visible; `None` for what is no text.
fn shown(bytes: &[u8]) -> Option<String> {
    let start = &bytes[..bytes.len().min(SNIFFED_BYTES)];
    if start.contains(&0) {
        return None;
    }
    Some(plain(&String::from_utf8_lossy(bytes)))
}

/// The same for text: only line ends and tabs control anything.
pub(super) fn plain(text: &str) -> String {
    let mut safe = String::with_capacity(text.len());
    let mut rest = text.chars().peekable();
    while let Some(c) = rest.next() {
        match c {
            '\n' | '\t' => safe.push(c),
            '\r' if rest.peek() == Some(&'\n') => {}
            c if c.is_control() || is_direction(c) => {
                write!(safe, "\\u{{{:x}}}", u32::from(c)).expect("a string takes everything");
            }
            c => safe.push(c),
        }
    }
    safe
}

/// Characters that turn the direction of what follows, and so can make a line
/// read as something else.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_a_page_holds_steers_a_terminal() {
        let hostile = "a\x1b]0;owned\x07b\x1b[2J\r\n\tc\u{9b}31m 가\u{202e}x\r";
        let safe = plain(hostile);
        assert_eq!(
            safe,
            "a\\u{1b}]0;owned\\u{7}b\\u{1b}[2J\n\tc\\u{9b}31m 가\\u{202e}x\\u{d}"
        );
        assert!(safe.chars().all(|c| !c.is_control() || "\n\t".contains(c)));
        assert_eq!(shown(b"\x89PNG\r\n\x1a\n\0\0"), None);
        // The raw bytes of an eight-bit control are no valid text at all.
        assert_eq!(shown(b"x\x9b2Jy").unwrap(), "x\u{fffd}2Jy");
    }
}
