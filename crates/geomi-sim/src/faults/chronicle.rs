//! What happened, told line by line.

use std::collections::VecDeque;
use std::time::Duration;

/// Events that are told of a history that went wrong.
const LAST: usize = 60;

/// The events of a history.
#[derive(Debug)]
pub(super) struct Chronicle {
    lines: VecDeque<String>,
    /// A digest of all that happened.
    pub(super) digest: u64,
    /// Keeps everything, not only the end.
    keeps_all: bool,
}

impl Chronicle {
    pub(super) const fn new(keeps_all: bool) -> Self {
        Self {
            lines: VecDeque::new(),
            digest: 0,
            keeps_all,
        }
    }

    /// Something happened so long after the beginning.
    pub(super) fn tell(&mut self, after: Duration, what: std::fmt::Arguments) {
        let at = after.as_secs_f64();
        let line = format!("{at:9.3} {what}");
        for byte in line.bytes() {
            self.digest = (self.digest ^ u64::from(byte)).wrapping_mul(0x0100_0000_01b3);
        }
        if !self.keeps_all && self.lines.len() == LAST {
            self.lines.pop_front();
        }
        self.lines.push_back(line);
    }

    /// What is kept of it.
    pub(super) fn take(&mut self) -> Vec<String> {
        std::mem::take(&mut self.lines).into()
    }
}
