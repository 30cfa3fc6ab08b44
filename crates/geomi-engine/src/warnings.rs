//! Warnings about single sites and seeds. What strangers link to decides how many there
//! are, so only the first [`LINES_MAX`] of a kind are written.

/// Lines of one kind.
const LINES_MAX: u32 = 100;

/// How many warnings of one kind were written in this run.
#[derive(Debug)]
pub(crate) struct WarnLimit {
    /// What they are about, in the plural.
    about: &'static str,
    lines: u32,
}

impl WarnLimit {
    pub(crate) const fn new(about: &'static str) -> Self {
        Self { about, lines: 0 }
    }

    /// Whether another one may be written. The first that may not is replaced by a line
    /// that says so.
    pub(crate) fn allows(&mut self) -> bool {
        if self.lines == LINES_MAX {
            tracing::warn!(
                "more {}: from now on they are counted and not written one by one",
                self.about
            );
        }
        self.lines = self.lines.saturating_add(1);
        self.lines <= LINES_MAX
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_million_refused_sites_are_a_hundred_lines() {
        let mut limit = WarnLimit::new("refused addresses");
        let written = (0..1_000_000).filter(|_| limit.allows()).count();
        assert_eq!(written, LINES_MAX as usize);
    }
}
