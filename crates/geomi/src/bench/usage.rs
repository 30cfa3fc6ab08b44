//! Processor time and memory of this process, as Linux counts them.

use anyhow::Context as _;

/// Ticks of /proc/self/stat a second: fixed in the Linux ABI.
const TICKS_PER_S: f64 = 100.0;

/// What a process used.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(super) struct Usage {
    /// Seconds in our own code.
    pub(super) user_s: f64,
    /// Seconds in the kernel on our behalf.
    pub(super) system_s: f64,
    /// Resident memory at its peak.
    pub(super) peak_bytes: u64,
    /// Resident memory now.
    pub(super) rss_bytes: u64,
}

impl Usage {
    /// Until now.
    pub(super) fn now() -> anyhow::Result<Self> {
        let read =
            |path| std::fs::read_to_string(path).with_context(|| format!("cannot read {path}"));
        let stat = read("/proc/self/stat")?;
        let status = read("/proc/self/status")?;
        Self::parse(&stat, &status).context("/proc/self is not as Linux writes it")
    }

    fn parse(stat: &str, status: &str) -> Option<Self> {
        // The command may hold spaces and brackets; fields count from the last.
        let mut fields = stat.rsplit_once(") ")?.1.split(' ').skip(11);
        let mut seconds = || Some(fields.next()?.parse::<f64>().ok()? / TICKS_PER_S);
        let (user_s, system_s) = (seconds()?, seconds()?);
        let bytes = |name| {
            let found = status.lines().find_map(|line| line.strip_prefix(name))?;
            let kilobytes: u64 = found.trim().strip_suffix(" kB")?.parse().ok()?;
            Some(kilobytes * 1024)
        };
        Some(Self {
            user_s,
            system_s,
            peak_bytes: bytes("VmHWM:")?,
            rss_bytes: bytes("VmRSS:")?,
        })
    }

    /// What was used since then; memory is as it is.
    pub(super) fn since(&self, before: &Self) -> Self {
        Self {
            user_s: self.user_s - before.user_s,
            system_s: self.system_s - before.system_s,
            ..*self
        }
    }

    /// Seconds in all.
    pub(super) fn seconds(&self) -> f64 {
        self.user_s + self.system_s
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_counted_after_the_command() {
        let stat = "7 (a) b) S 1 7 7 0 -1 4194304 90 0 0 0 250 50 0 0 20 0 1 0 1 1 1";
        let usage =
            Usage::parse(stat, "Name:\tx\nVmHWM:\t   2048 kB\nVmRSS:\t   1024 kB\n").unwrap();
        let expected = Usage {
            user_s: 2.5,
            system_s: 0.5,
            peak_bytes: 2 << 20,
            rss_bytes: 1 << 20,
        };
        assert_eq!(usage, expected);
        assert!(Usage::now().unwrap().peak_bytes > 0);
    }
}
