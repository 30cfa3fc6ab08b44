//! Round-trip times, smoothed.

use std::time::Duration;

use serde::{Deserialize, Deserializer, Serialize};

/// A round-trip time as TCP keeps it (Jacobson 1988, RFC 6298): a smoothed mean
/// with gain 1/8 and a smoothed deviation with gain 1/4.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default, Serialize, Deserialize)]
pub struct RoundTrip {
    /// The smoothed mean; `None` before the first sample.
    pub mean: Option<Duration>,
    /// The smoothed distance of a sample from it.
    pub deviation: Duration,
}

impl RoundTrip {
    /// Takes a sample in.
    pub fn observe(&mut self, sample: Duration) {
        match self.mean {
            None => {
                self.mean = Some(sample);
                self.deviation = sample / 2;
            }
            Some(mean) => {
                self.deviation = (self.deviation * 3 + mean.abs_diff(sample)) / 4;
                self.mean = Some((mean * 7 + sample) / 8);
            }
        }
    }

    /// Reads one at the end of a state, where earlier versions have none.
    ///
    /// A state that ends before it is not damaged, only older, and all there is
    /// to lose is a time that the next visit measures again.
    #[expect(clippy::unnecessary_wraps, reason = "serde asks for a result")]
    pub(crate) fn or_unknown<'de, D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        Ok(Self::deserialize(from).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn samples_are_smoothed_with_the_gains_of_tcp() {
        let mut rtt = RoundTrip::default();
        rtt.observe(80 * MS);
        assert_eq!((rtt.mean, rtt.deviation), (Some(80 * MS), 40 * MS));
        rtt.observe(160 * MS);
        assert_eq!((rtt.mean, rtt.deviation), (Some(90 * MS), 50 * MS));
        for _ in 0..100 {
            rtt.observe(30 * MS);
        }
        let mean = rtt.mean.unwrap();
        assert!(mean.abs_diff(30 * MS) < MS && rtt.deviation < MS, "{rtt:?}");
    }
}
