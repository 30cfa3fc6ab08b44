//! The order of the pages within one site.

use geomi_model::PRIORITIES;

/// Which page of a site goes first.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub enum PageOrder {
    /// By priority: a lane per priority, high lanes favoured, none starved.
    #[default]
    Priority,
    /// By depth: a lane per depth. A page is leased only when every known page of
    /// its site with a smaller depth is settled, retries included.
    BreadthFirst,
}

impl PageOrder {
    /// Every order.
    pub const ALL: [Self; 2] = [Self::BreadthFirst, Self::Priority];

    /// The name in the configuration.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::BreadthFirst => "breadth-first",
            Self::Priority => "priority",
        }
    }

    /// The lane of a page, 0 the first. Pages 255 links away or more share the last
    /// lane of breadth-first, where they are visited in the order found.
    pub const fn lane(self, priority: u8, depth: u16) -> u8 {
        match self {
            Self::Priority => match priority {
                0 => 0,
                1..=PRIORITIES => priority - 1,
                _ => PRIORITIES - 1,
            },
            Self::BreadthFirst if depth < u8::MAX as u16 => depth as u8,
            Self::BreadthFirst => u8::MAX,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lanes_are_priorities_or_depths() {
        let priority = PageOrder::Priority;
        assert_eq!([0, 1, 8, 9].map(|p| priority.lane(p, 500)), [0, 0, 7, 7]);
        let breadth = PageOrder::BreadthFirst;
        let depths = [0, 1, 254, 255, u16::MAX];
        assert_eq!(depths.map(|d| breadth.lane(3, d)), [0, 1, 254, 255, 255]);
    }
}
