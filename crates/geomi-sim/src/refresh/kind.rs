//! The policies by name.

use geomi_refresh::policy::{
    Age, Clock, Greedy, Grouped, Harmonic, Multiplicative, Optimal, Policy, Proportional, Sampling,
    Static,
};
use geomi_refresh::{Grouping, Knowledge};

use super::web::World;

/// Days of the first interval of the rules that multiply.
const FIRST_INTERVAL: f64 = 1.0;

/// A policy.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[expect(missing_docs, reason = "each is described where it is implemented")]
pub enum PolicyKind {
    Static,
    Proportional,
    Sampling,
    Group16,
    Group6,
    Multiplicative,
    Nutch,
    StormCrawler,
    Optimal,
    Harmonic,
    Greedy,
    Age,
    Clock,
}

/// What a policy knows of how often pages change without having looked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Told {
    /// It learns from its own visits, or not at all.
    Nothing,
    /// The changes of the learning days, as REFRESH's probing every 20 minutes counts them:
    /// those of a page that always looks changed too.
    Counts,
    /// The true rates, which no crawler knows.
    Rates,
}

impl PolicyKind {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Static,
        Self::Proportional,
        Self::Sampling,
        Self::Group16,
        Self::Group6,
        Self::Multiplicative,
        Self::Nutch,
        Self::StormCrawler,
        Self::Optimal,
        Self::Harmonic,
        Self::Greedy,
        Self::Age,
        Self::Clock,
    ];

    /// The one that is used where none is named: the best on the evidence.
    pub const DEFAULT: Self = Self::Clock;

    /// As it is typed.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Static => "static",
            Self::Proportional => "proportional",
            Self::Sampling => "sampling",
            Self::Group16 => "group16",
            Self::Group6 => "group6",
            Self::Multiplicative => "multiplicative",
            Self::Nutch => "nutch",
            Self::StormCrawler => "stormcrawler",
            Self::Optimal => "optimal",
            Self::Harmonic => "harmonic",
            Self::Greedy => "greedy",
            Self::Age => "age",
            Self::Clock => "clock",
        }
    }

    /// The policy of a name.
    pub fn from_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|kind| kind.name() == name)
    }

    /// What it is told of the rates, if anything.
    pub const fn told(self) -> Told {
        match self {
            Self::Proportional | Self::Optimal | Self::Harmonic => Told::Rates,
            Self::Group16 | Self::Group6 => Told::Counts,
            Self::Static
            | Self::Sampling
            | Self::Multiplicative
            | Self::Nutch
            | Self::StormCrawler
            | Self::Greedy
            | Self::Age
            | Self::Clock => Told::Nothing,
        }
    }

    /// The policy, ready for this web.
    pub fn build(self, world: &World) -> Box<dyn Policy> {
        let rates = || -> Vec<f64> { world.pages.iter().map(|page| page.rate).collect() };
        let counts = || {
            let pages = world.pages.iter();
            Knowledge::Known(pages.map(|page| world.counted_rate(page)).collect())
        };
        match self {
            Self::Static => Box::new(Static),
            Self::Proportional => Box::new(Proportional::new(Knowledge::Known(rates()))),
            Self::Sampling => Box::new(Sampling::default()),
            Self::Group16 => Box::new(Grouped::new(Grouping::Sixteen, counts())),
            Self::Group6 => Box::new(Grouped::new(Grouping::Six, counts())),
            Self::Multiplicative => Box::new(Multiplicative::reference6(FIRST_INTERVAL)),
            Self::Nutch => Box::new(Multiplicative::nutch(FIRST_INTERVAL)),
            Self::StormCrawler => Box::new(Multiplicative::stormcrawler(FIRST_INTERVAL)),
            Self::Optimal => Box::new(Optimal::new(rates())),
            Self::Harmonic => Box::new(Harmonic::new(rates())),
            Self::Greedy => Box::new(Greedy::default()),
            Self::Age => Box::new(Age::default()),
            Self::Clock => Box::new(Clock::default()),
        }
    }
}
