//! Everything geomi writes to standard output and standard error.
//!
//! Titles, content types, URLs, header lines and error texts are written by
//! strangers. On a terminal they must not move the cursor, change the window's
//! title, type for the user, or make a line read as something else. So this
//! module is the only one that may open the two streams (`clippy.toml` bans it
//! elsewhere), and all text passes [`safe`] on its way out. Text is also made
//! safe where it is piped: it may end in a pager.
//!
//! An unsafe character is written as `\u001b`: the form JSON has for it, so that
//! JSON stays JSON with the same meaning. CSV and the bytes of captures are
//! changed on a terminal only: programs get them as they are.

use std::borrow::Cow;
use std::fmt::{self, Write as _};
use std::io::{self, BufWriter, IsTerminal as _, Write};

use anyhow::Context as _;
use tracing_subscriber::fmt::MakeWriter;

/// Writes a line to standard error, made safe; used like `eprintln!`.
macro_rules! stderr_line {
    ($($words:tt)*) => {
        $crate::terminal::print_err(&format!($($words)*))
    };
}
pub(crate) use stderr_line;

/// Text without characters that control a terminal. Line ends and tabs are kept.
pub(crate) fn safe(text: &str) -> Cow<'_, str> {
    escaped(text, |c| is_unsafe(c) && !matches!(c, '\n' | '\t'))
}

/// Foreign text for a place within a line: what would begin another line is not
/// kept either.
pub(crate) fn one_line(text: &str) -> Cow<'_, str> {
    escaped(text, is_unsafe)
}

fn escaped(text: &str, is_wrong: impl Fn(char) -> bool) -> Cow<'_, str> {
    let Some(first) = text.find(&is_wrong) else {
        return Cow::Borrowed(text);
    };
    let (good, rest) = text.split_at(first);
    let mut out = good.to_owned();
    for c in rest.chars() {
        if is_wrong(c) {
            for unit in c.encode_utf16(&mut [0; 2]) {
                write!(out, "\\u{unit:04x}").expect("a string takes everything");
            }
        } else {
            out.push(c);
        }
    }
    Cow::Owned(out)
}

/// Characters that a terminal obeys instead of showing them, and those that are
/// not seen but change how the rest is read. Joiners (U+200C, U+200D) and
/// variation selectors are kept: Indic scripts, Persian and emoji need them.
fn is_unsafe(c: char) -> bool {
    c.is_control() || is_direction(c) || is_hidden(c)
}

/// Unicode's property `Bidi_Control`: what turns the direction of text.
fn is_direction(c: char) -> bool {
    matches!(c, '\u{61c}' | '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}')
}

/// Separators of lines, and characters without width or look of their own.
fn is_hidden(c: char) -> bool {
    matches!(c,
        '\u{2028}' | '\u{2029}' // line and paragraph separators
        | '\u{ad}' | '\u{200b}' | '\u{2060}'..='\u{2065}' | '\u{feff}' | '\u{180e}'
        | '\u{fff9}'..='\u{fffb}' // interlinear annotations
        | '\u{e0000}'..='\u{e007f}') // tags
}

/// Writes text to standard output, and ends its line. A reader that went away is
/// not our failure.
pub(crate) fn print(text: &str) -> anyhow::Result<()> {
    finish(writeln!(stdout(), "{}", safe(text)))
}

/// Writes lines of CSV: they are for programs, unless they are for a terminal.
pub(crate) fn print_csv(lines: &str) -> anyhow::Result<()> {
    if is_stdout_terminal() {
        return print(lines);
    }
    finish(writeln!(stdout(), "{lines}"))
}

/// Writes bytes of a capture as they are. A terminal gets text made safe;
/// `false` says that the bytes are no text and the terminal got nothing.
pub(crate) fn print_bytes(bytes: &[u8]) -> anyhow::Result<bool> {
    let mut out = stdout();
    if !is_stdout_terminal() {
        finish(out.write_all(bytes).and_then(|()| out.flush()))?;
        return Ok(true);
    }
    let Some(text) = as_text(bytes) else {
        return Ok(false);
    };
    let end = if text.ends_with('\n') { "" } else { "\n" };
    finish(write!(out, "{text}{end}").and_then(|()| out.flush()))?;
    Ok(true)
}

/// Bytes looked at to tell text from anything else.
const SNIFFED_BYTES: usize = 4096;

/// Bytes as text for a terminal; `None` for what is no text.
fn as_text(bytes: &[u8]) -> Option<String> {
    let start = &bytes[..bytes.len().min(SNIFFED_BYTES)];
    if start.contains(&0) {
        return None;
    }
    let text = String::from_utf8_lossy(bytes).replace("\r\n", "\n");
    Some(safe(&text).into_owned())
}

fn finish(written: io::Result<()>) -> anyhow::Result<()> {
    match written {
        Err(error) if error.kind() != io::ErrorKind::BrokenPipe => {
            Err(error).context("cannot write to standard output")
        }
        _ => Ok(()),
    }
}

/// Writes a line to standard error; see [`stderr_line!`].
pub(crate) fn print_err(text: &str) {
    print_err_styled(&Styled::from(text));
}

/// Writes styled text to standard error, and ends its line.
pub(crate) fn print_err_styled(text: &Styled) {
    // Nobody is left to be told that standard error is gone.
    let _gone = writeln!(stderr(), "{text}");
}

/// Writes styled text to standard output, and ends its line.
pub(crate) fn print_styled(text: &Styled) -> anyhow::Result<()> {
    finish(writeln!(stdout(), "{text}"))
}

/// Text with styles of our own: the only one in which escape sequences reach a
/// terminal. All words that are put into it are made safe.
#[derive(Debug, Default)]
pub(crate) struct Styled {
    text: String,
    has_colours: bool,
}

/// How words look where there are colours.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Style {
    Bold,
    /// Bold and red.
    Alarm,
}

impl Styled {
    pub(crate) fn new(has_colours: bool) -> Self {
        Self {
            text: String::new(),
            has_colours,
        }
    }

    /// Adds words; they may have several lines.
    pub(crate) fn push(&mut self, words: &str) {
        self.text.push_str(&safe(words));
    }

    /// Adds words in a style.
    pub(crate) fn push_in(&mut self, style: Style, words: &str) {
        let (on, off) = match style {
            _ if !self.has_colours => ("", ""),
            Style::Bold => ("\x1b[1m", "\x1b[0m"),
            Style::Alarm => ("\x1b[1;31m", "\x1b[0m"),
        };
        self.text.push_str(on);
        self.push(words);
        self.text.push_str(off);
    }
}

impl From<&str> for Styled {
    fn from(text: &str) -> Self {
        let mut styled = Self::default();
        styled.push(text);
        styled
    }
}

impl fmt::Display for Styled {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.text)
    }
}

/// Whether standard output is a terminal.
pub(crate) fn is_stdout_terminal() -> bool {
    stdout().is_terminal()
}

/// Whether standard error is.
pub(crate) fn is_stderr_terminal() -> bool {
    stderr().is_terminal()
}

/// Standard output for lines that come one after another, of JSON or of a table.
/// They are made safe on a terminal.
pub(crate) fn stdout_lines() -> Lines {
    Lines {
        is_terminal: is_stdout_terminal(),
        out: BufWriter::with_capacity(64 << 10, stdout()),
    }
}

/// See [`stdout_lines`].
#[derive(Debug)]
pub(crate) struct Lines {
    is_terminal: bool,
    out: BufWriter<io::Stdout>,
}

impl Write for Lines {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if !self.is_terminal {
            return self.out.write(bytes);
        }
        write_safely(&mut self.out, bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }
}

/// Writes all bytes as safe text. A character that is cut in two by the end of
/// the bytes is shown as unreadable: writers give whole words.
fn write_safely(out: &mut impl Write, bytes: &[u8]) -> io::Result<usize> {
    let text = String::from_utf8_lossy(bytes);
    out.write_all(safe(&text).as_bytes())?;
    Ok(bytes.len())
}

/// Where log events go: standard error, each made safe.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LogEvents;

impl<'a> MakeWriter<'a> for LogEvents {
    type Writer = Self;

    fn make_writer(&'a self) -> Self {
        Self
    }
}

impl Write for LogEvents {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        write_safely(&mut stderr(), bytes)
    }

    fn flush(&mut self) -> io::Result<()> {
        stderr().flush()
    }
}

/// Tells of panics as of everything else: what they say may hold foreign text.
pub(crate) fn tell_panics_safely() {
    std::panic::set_hook(Box::new(|panic| {
        let backtrace = std::backtrace::Backtrace::capture();
        stderr_line!("{panic}");
        if backtrace.status() == std::backtrace::BacktraceStatus::Captured {
            stderr_line!("{backtrace}");
        }
    }));
}

#[expect(clippy::disallowed_methods, reason = "all output passes through here")]
fn stdout() -> io::Stdout {
    io::stdout()
}

#[expect(clippy::disallowed_methods, reason = "all output passes through here")]
fn stderr() -> io::Stderr {
    io::stderr()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_a_page_holds_steers_a_terminal() {
        let hostile = "a\x1b]0;owned\x07b\x1b[2J\r\n\tc\u{9b}31m 가\u{202e}x\r";
        assert_eq!(
            safe(hostile),
            "a\\u001b]0;owned\\u0007b\\u001b[2J\\u000d\n\tc\\u009b31m 가\\u202ex\\u000d"
        );
        assert_eq!(one_line("a\n\tb\u{2028}c"), "a\\u000a\\u0009b\\u2028c");
        for hidden in ["\u{200b}", "\u{feff}", "\u{61c}", "\u{ad}"] {
            assert!(safe(hidden).starts_with("\\u"), "{hidden:?}");
        }
        assert_eq!(safe("\u{e0041}"), "\\udb40\\udc41");
        for kept in ["거미 é 中", "👩\u{200d}👩", "می\u{200c}خواهم", "a\\u001b"] {
            assert!(matches!(safe(kept), Cow::Borrowed(same) if same == kept));
        }
    }

    #[test]
    fn json_means_the_same_afterwards() {
        let value = serde_json::json!({ "title": "a\u{9b}31m\u{7f}\u{202e}\u{e0041}\x1b가" });
        let text = value.to_string();
        let printed = safe(&text);
        assert!(!printed.contains(['\u{9b}', '\u{7f}', '\u{202e}']));
        let read: serde_json::Value = serde_json::from_str(&printed).unwrap();
        assert_eq!(read, value);
    }

    #[test]
    fn captures_are_text_or_are_not_shown() {
        assert_eq!(as_text(b"\x89PNG\r\n\x1a\n\0\0"), None);
        // The raw bytes of an eight-bit control are no valid text at all.
        assert_eq!(as_text(b"x\x9b2Jy\r\nz").unwrap(), "x\u{fffd}2Jy\nz");
    }

    #[test]
    fn styles_are_ours_and_words_are_not() {
        let mut text = Styled::new(true);
        text.push_in(Style::Bold, "title\x1b[8m");
        text.push(" \x1b]0;x\x07");
        assert_eq!(
            text.to_string(),
            "\x1b[1mtitle\\u001b[8m\x1b[0m \\u001b]0;x\\u0007"
        );
        let mut plain = Styled::new(false);
        plain.push_in(Style::Alarm, "error:");
        assert_eq!(plain.to_string(), "error:");
    }

    #[test]
    fn log_events_are_made_safe() {
        let mut out = Vec::new();
        let event = "WARN reason=\u{9b}2J\x1b[2J\n".as_bytes();
        assert_eq!(write_safely(&mut out, event).unwrap(), event.len());
        assert_eq!(out, b"WARN reason=\\u009b2J\\u001b[2J\n");
    }
}
