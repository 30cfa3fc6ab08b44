//! The codes for what a site waits for.

/// What a site waits for. The order is that of the names.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub(crate) enum HoldCode {
    AddressLimit,
    AddressRefused,
    BackOff,
    Busy,
    CrawlDelay,
    Delay,
    Drained,
    Lookup,
    LookupFailed,
    NoAddress,
    Ready,
    Retired,
    Retry,
    Robots,
    Throttled,
    Turn,
    Unknown,
}

impl HoldCode {
    /// The name in JSON and in the console.
    pub(crate) const fn as_str(self) -> &'static str {
        match self {
            Self::AddressLimit => "address-limit",
            Self::AddressRefused => "address-refused",
            Self::BackOff => "back-off",
            Self::Busy => "busy",
            Self::CrawlDelay => "crawl-delay",
            Self::Delay => "delay",
            Self::Drained => "drained",
            Self::Lookup => "lookup",
            Self::LookupFailed => "lookup-failed",
            Self::NoAddress => "no-address",
            Self::Ready => "ready",
            Self::Retired => "retired",
            Self::Retry => "retry",
            Self::Robots => "robots",
            Self::Throttled => "throttled",
            Self::Turn => "turn",
            Self::Unknown => "unknown",
        }
    }

    /// Whether something is under way for the site, or could be at once.
    pub(crate) const fn is_moving(self) -> bool {
        matches!(self, Self::Ready | Self::Busy | Self::Lookup | Self::Robots)
    }
}

#[cfg(test)]
mod tests {
    use super::HoldCode::{self, *};

    const ALL: [HoldCode; 17] = [
        AddressLimit,
        AddressRefused,
        BackOff,
        Busy,
        CrawlDelay,
        Delay,
        Drained,
        Lookup,
        LookupFailed,
        NoAddress,
        Ready,
        Retired,
        Retry,
        Robots,
        Throttled,
        Turn,
        Unknown,
    ];

    #[test]
    fn codes_are_in_the_order_of_their_names_and_documented() {
        assert!(ALL.is_sorted_by_key(|code| code.as_str()));
        assert!(ALL.is_sorted());
        let document = include_str!("../../../../docs/formats.md");
        let row = document.lines().find(|line| line.contains("`hold` ("));
        let row = row.expect("formats.md has the codes");
        for code in ALL {
            let name = format!("`{}`", code.as_str());
            assert!(row.contains(&name), "{name} is not in formats.md");
        }
    }
}
