//! The groups of REFRESH: how often a page of so many changes a week is visited.

use std::fmt;

/// A group: `G14` is visited 14 times a week, `2G1` once in two weeks.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Group {
    /// Once in this many weeks.
    Weeks(u8),
    /// This often a week.
    AWeek(u8),
}

impl Group {
    /// Visits a week.
    pub fn visits_a_week(self) -> f64 {
        match self {
            Self::Weeks(weeks) => 1.0 / f64::from(weeks),
            Self::AWeek(visits) => f64::from(visits),
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Weeks(weeks) => write!(out, "{weeks}G1"),
            Self::AWeek(visits) => write!(out, "G{visits}"),
        }
    }
}

/// Into how many groups pages fall.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Grouping {
    /// G14 to G1, 2G1 and 4G1.
    Sixteen,
    /// G14, G7, G3, G1, 2G1 and 4G1.
    Six,
}

impl Grouping {
    /// The group of a page by its changes a week.
    pub fn of(self, changes_a_week: f64) -> Group {
        let fine = match changes_a_week {
            few if few < 0.25 => return Group::Weeks(4),
            few if few < 0.5 => return Group::Weeks(2),
            more => more.round().clamp(1.0, 14.0) as u8,
        };
        Group::AWeek(match (self, fine) {
            (Self::Sixteen, fine) => fine,
            (Self::Six, 0..=1) => 1,
            (Self::Six, 2..=4) => 3,
            (Self::Six, 5..=10) => 7,
            (Self::Six, _) => 14,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_papers_examples() {
        let check = |changes: f64, sixteen: &str, six: &str| {
            assert_eq!(
                Grouping::Sixteen.of(changes).to_string(),
                sixteen,
                "{changes}"
            );
            assert_eq!(Grouping::Six.of(changes).to_string(), six, "{changes}");
        };
        // u1 of Table 3.3: 14 changes in 3 weeks.
        check(14.0 / 3.0, "G5", "G7");
        check(0.0, "4G1", "4G1");
        check(0.25, "2G1", "2G1");
        check(0.5, "G1", "G1");
        check(1.49, "G1", "G1");
        check(1.5, "G2", "G3");
        check(4.4, "G4", "G3");
        check(10.4, "G10", "G7");
        check(10.5, "G11", "G14");
        check(99.0, "G14", "G14");
    }

    #[test]
    fn visits_a_week() {
        assert!((Group::Weeks(4).visits_a_week() - 0.25).abs() < 1e-12);
        assert!((Group::AWeek(7).visits_a_week() - 7.0).abs() < 1e-12);
    }
}
