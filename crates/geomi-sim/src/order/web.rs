//! The model webs: sites with a size and a round-trip time.
//!
//! Sizes follow Zipf's law, the largest site having [`LARGEST`] pages and no
//! site fewer than [`SMALLEST`]: the real web's 100,000 scaled down by a hundred,
//! so that a trial takes a second. Which site is opened when has nothing to do
//! with its size.

use std::time::Duration;

use crate::draws::Draws;

/// Pages of the largest site.
pub const LARGEST: u32 = 1_000;
/// Pages of the smallest sites.
pub const SMALLEST: u32 = 10;

/// Which round-trip times the sites have.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum ModelWeb {
    /// Log-normal, median 80 ms, sigma 0.8.
    Mixed,
    /// Half the sites at 10 to 30 ms, half at 180 to 350 ms.
    Regions,
    /// `mixed`, and a twentieth of the sites at 2 to 10 s, where a tenth of
    /// the requests time out.
    Tail,
    /// 80 ms for all: what an order can gain here is not by round-trip time.
    Equal,
}

impl ModelWeb {
    /// Every web.
    pub const ALL: [Self; 4] = [Self::Mixed, Self::Regions, Self::Tail, Self::Equal];

    /// Its name.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Mixed => "mixed",
            Self::Regions => "regions",
            Self::Tail => "tail",
            Self::Equal => "equal",
        }
    }

    /// Reads a name written by [`ModelWeb::as_str`].
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|web| web.as_str() == name)
    }

    fn rtt_s(self, draws: &mut Draws) -> (f64, bool) {
        match self {
            Self::Tail if draws.once_in(20) => (draws.within(2.0, 10.0), true),
            Self::Mixed | Self::Tail => (draws.log_normal(0.080, 0.8), false),
            Self::Regions if draws.once_in(2) => (draws.within(0.010, 0.030), false),
            Self::Regions => (draws.within(0.180, 0.350), false),
            Self::Equal => (0.080, false),
        }
    }
}

/// A site of a model web.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct ModelSite {
    pub(crate) rtt_s: f64,
    pub(crate) pages: u32,
    /// Whether a tenth of its requests time out.
    pub(crate) times_out: bool,
}

/// How a request to a site goes.
#[derive(Clone, Copy, PartialEq, Debug)]
pub(crate) struct Service {
    pub(crate) connect: Duration,
    /// `None` where no answer came.
    pub(crate) first_byte: Option<Duration>,
    pub(crate) took: Duration,
}

/// Round trips vary by this around the site's own.
const JITTER: f64 = 0.1;
/// How long a request that times out holds its connection.
const TIME_OUT: Duration = Duration::from_secs(20);

/// Draws the sites of a web, in the order in which they are opened.
pub(crate) fn sites(web: ModelWeb, count: usize, seed: u64, trial: u64) -> Vec<ModelSite> {
    let mut draws = Draws::new(seed, [trial, web as u64]);
    let mut pages: Vec<u32> = (1..=count as u32)
        .map(|rank| (LARGEST / rank).max(SMALLEST))
        .collect();
    for last in (1..pages.len()).rev() {
        pages.swap(last, draws.below(last as u64 + 1) as usize);
    }
    let mut site = |pages| {
        let (rtt_s, times_out) = web.rtt_s(&mut draws);
        ModelSite {
            rtt_s,
            pages,
            times_out,
        }
    };
    pages.into_iter().map(&mut site).collect()
}

impl ModelSite {
    /// The `number`-th request to the site: the same in whatever order sites
    /// are served. One round trip to connect, one to the first byte; the body
    /// follows at once.
    pub(crate) fn serve(&self, seed: u64, site: u64, number: u64) -> Service {
        let mut draws = Draws::new(seed, [site, number, 99]);
        let mut trip = || Duration::from_secs_f64(self.rtt_s * draws.log_normal(1.0, JITTER));
        let (connect, first_byte) = (trip(), trip());
        if self.times_out && draws.once_in(10) {
            return Service {
                connect,
                first_byte: None,
                took: TIME_OUT,
            };
        }
        Service {
            connect,
            first_byte: Some(first_byte),
            took: connect + first_byte,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_web_is_as_it_is_defined() {
        for web in ModelWeb::ALL {
            assert_eq!(ModelWeb::from_name(web.as_str()), Some(web));
            let sites = sites(web, 2_000, 1, 0);
            let mut pages: Vec<u32> = sites.iter().map(|site| site.pages).collect();
            pages.sort_unstable_by(|a, b| b.cmp(a));
            assert_eq!((pages[0], pages[1], pages[1_999]), (1_000, 500, 10));
            let slow = sites.iter().filter(|site| site.times_out).count();
            match web {
                ModelWeb::Tail => assert!((60..140).contains(&slow), "{slow}"),
                _ => assert_eq!(slow, 0),
            }
        }
        let equal = sites(ModelWeb::Equal, 50, 1, 0);
        assert!(equal.iter().all(|site| (site.rtt_s - 0.08).abs() < 1e-9));
        let regions = sites(ModelWeb::Regions, 500, 1, 0);
        let near = regions.iter().filter(|site| site.rtt_s < 0.031).count();
        assert!((200..300).contains(&near), "{near}");
    }
}
