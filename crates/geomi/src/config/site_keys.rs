//! The keys of a `[[site]]` table: what may differ on some sites.
//!
//! Rows as in the table of keys; their values go to the last table of the
//! [`Draft`].

use geomi_engine::RobotsMode;

use super::draft::Draft;
use super::keys::{Key, unset};
use super::kind::Kind;
use super::secrecy::Secrecy;
use super::site_draft::{SiteDelay, SiteDraft};
use super::table::{MAX, MAX_BUDGET, ROBOTS};

/// What stands before the tables in a file.
pub(crate) const ABOUT: &str =
    "What differs on some sites. Of the tables that name a site, the first with a key wins it.";

/// The key that names the sites.
pub(crate) const MATCH: &str = "match";

/// The keys of a table, in the order of the file.
pub(crate) const SITE_KEYS: &[Key] = &[
    unset(
        "site.match",
        "[\"example.com\", \"*.example.org\"]",
        Kind::OneOrMore(|d| &mut site(d).scope.names),
        "The sites: \"example.com\", \"example.com:8080\", or \"*.example.com\" and all under it.",
    ),
    unset(
        "site.site_delay",
        "\"10s\"",
        Kind::Delay(|d, span| {
            site(d).delay = Some(span.map_or(SiteDelay::Adaptive, SiteDelay::Fixed));
        }),
        "Rest after each answer: a duration, or adaptive.",
    ),
    unset(
        "site.site_connections",
        "1",
        Kind::Count(1, 256, |d, n| site(d).connections = Some(n as usize)),
        "Connections at once; several only on private addresses.",
    ),
    unset(
        "site.max_pages",
        "1_000",
        Kind::Count(1, MAX, |d, n| site(d).pages_max = Some(n)),
        "Pages saved from each of these sites in this crawl, at most.",
    ),
    unset(
        "site.traffic",
        "80",
        Kind::Count(0, 100, |d, n| site(d).traffic_percent = Some(n as u8)),
        "Traffic of these sites among all, from a ranking: a part of their URLs' priority.",
    ),
    unset(
        "site.refresh_per_day",
        "500",
        Kind::Count(1, MAX_BUDGET, |d, n| site(d).plan.each_per_day = Some(n)),
        "Requests a day that each of these sites gets from `geomi refresh run`, at most.",
    ),
    unset(
        "site.refresh_group_per_day",
        "2_000",
        Kind::Count(1, MAX_BUDGET, |d, n| {
            site(d).plan.together_per_day = Some(n);
        }),
        "The same for all of these sites together.",
    ),
    unset(
        "site.refresh_weight_percent",
        "300",
        Kind::Count(1, 10_000, |d, n| {
            site(d).plan.weight_percent = Some(n as u16);
        }),
        "What the freshness of their pages weighs, in hundredths of what that of others does.",
    ),
    unset(
        "site.depth",
        "3",
        Kind::Count(0, 65_535, |d, n| site(d).scope.depth_max = Some(n as u16)),
        "Links away from the seed, at most.",
    ),
    unset(
        "site.include",
        "[\"*/news/*\"]",
        Kind::Words(|d| site(d).scope.include.get_or_insert_default()),
        "Only URLs like this; replaces scope.include.",
    ),
    unset(
        "site.exclude",
        "[\"*/calendar/*\"]",
        Kind::Words(|d| site(d).scope.exclude.get_or_insert_default()),
        "No URLs like this; replaces scope.exclude.",
    ),
    unset(
        "site.robots",
        "\"respect\"",
        Kind::Choice(ROBOTS, |d, place| {
            site(d).robots = Some([RobotsMode::Respect, RobotsMode::Ignore][place]);
        }),
        "Whether robots.txt is obeyed: respect or ignore.",
    ),
    unset(
        "site.auth",
        "\"env:EXAMPLE_AUTH\"",
        Kind::MaybeText(|d, text| {
            site(d).auth = Some(text.to_owned());
            Ok(())
        }),
        "Credentials: basic:USER:PASSWORD, bearer:TOKEN, digest:USER:PASSWORD, or env:NAME of a variable with one.",
    )
    .secret(Secrecy::Whole),
    unset(
        "site.auth_over_http",
        "false",
        Kind::Flag(|d, yes| site(d).auth_over_http = yes),
        "Whether they may be sent without encryption.",
    ),
];

/// The key that holds where no table has a word.
pub(crate) fn general(name: &str) -> Option<&'static str> {
    match name {
        "site_delay" => Some("politeness.site_delay"),
        "site_connections" => Some("politeness.site_connections"),
        "depth" => Some("scope.depth"),
        "include" => Some("scope.include"),
        "exclude" => Some("scope.exclude"),
        "robots" => Some("fetch.robots"),
        "refresh_per_day" => Some("refresh.site_requests_per_day"),
        _ => None,
    }
}

/// What to say of a key that a table does not have.
pub(crate) fn unknown(name: &str) -> String {
    let closeness = |key: &Key| {
        let dashed = name.replace('-', "_");
        strsim::jaro_winkler(key.name(), &dashed).max(if key.name().ends_with(&dashed) {
            0.9
        } else {
            0.0
        })
    };
    let closest = SITE_KEYS
        .iter()
        .max_by(|a, b| closeness(a).total_cmp(&closeness(b)));
    if let Some(key) = closest.filter(|key| closeness(key) > 0.8) {
        let meant = key.name();
        return format!("unknown key {name:?} in [[site]]; did you mean {meant:?}?");
    }
    let names: Vec<&str> = SITE_KEYS.iter().map(Key::name).collect();
    let names = names.join(", ");
    format!("unknown key {name:?} in [[site]]; there are {names}")
}

fn site(draft: &mut Draft) -> &mut SiteDraft {
    draft
        .sites
        .last_mut()
        .expect("a table is begun before its keys are set")
}

#[cfg(test)]
mod tests {
    use super::super::file::read_value;
    use super::super::keys;
    use super::*;

    #[test]
    fn examples_are_values_and_general_keys_exist() {
        for key in SITE_KEYS {
            let raw = read_value(key.example).unwrap();
            assert!(key.kind.read(&raw).is_ok(), "{}", key.path);
            assert!(!key.doc.contains(" = ") && key.doc.ends_with('.'));
            let general = general(key.name());
            let has_none = matches!(
                key.name(),
                "match"
                    | "max_pages"
                    | "traffic"
                    | "refresh_group_per_day"
                    | "refresh_weight_percent"
                    | "auth"
                    | "auth_over_http"
            );
            assert_eq!(general.is_none(), has_none, "{}", key.path);
            assert!(general.is_none_or(|path| keys::find(path).is_some()));
        }
    }

    #[test]
    fn misspellings_lead_to_the_key() {
        for (written, meant) in [
            ("delay", "site_delay"),
            ("site-delay", "site_delay"),
            ("connections", "site_connections"),
            ("maxpages", "max_pages"),
            ("exlude", "exclude"),
        ] {
            let told = unknown(written);
            assert!(told.contains(&format!("did you mean {meant:?}?")), "{told}");
        }
        assert!(unknown("user_agent").contains("there are match, site_delay"));
    }
}
