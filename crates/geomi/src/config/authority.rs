//! Which keys operators of the console may set, and which are for admins only.
//!
//! Keys open to operators are listed one by one; every other key is for admins, unless
//! `operators.toml` opens it. A test fails if a key of geomi.toml is in none of the lists,
//! so that somebody decides about each new one.

use super::keys::{KEYS, find};
use super::place::{Place, Problems};
use super::site_keys::SITE_KEYS;
use super::site_table::SiteTable;
use super::written::Written;

/// Keys that operators may set: what is crawled and how gently.
const OPEN_KEYS: &[&str] = &[
    "preset",
    "crawl.name",
    "crawl.order",
    "crawl.page_order",
    "crawl.max_pages",
    "crawl.max_bytes",
    "crawl.max_time",
    "crawl.max_failures",
    "crawl.prefer",
    "crawl.weight_depth",
    "crawl.weight_shape",
    "crawl.weight_importance",
    "crawl.weight_kind",
    "crawl.weight_history",
    "crawl.weight_traffic",
    "crawl.weight_change",
    "crawl.tries",
    "crawl.retry_wait",
    "crawl.nofollow",
    "politeness.site_delay",
    "politeness.adaptive_floor",
    "politeness.adaptive_factor",
    "politeness.adaptive_ceiling",
    "politeness.site_connections",
    "politeness.address_connections",
    "politeness.max_wait",
    "politeness.backoff_first",
    "politeness.backoff_max",
    "fetch.contact",
    "fetch.user_agent",
    "fetch.connect_timeout",
    "fetch.silence_timeout",
    "fetch.total_timeout",
    "fetch.redirects",
    "fetch.cookies",
    "fetch.http2",
    "scope.kind",
    "scope.include",
    "scope.exclude",
    "scope.depth",
    "scope.requisites",
    "scope.follow_forms",
    "scope.follow_adverts",
    "scope.party_urls_max",
    "scope.skip_near_duplicates",
    "scope.skip_mirrors",
    "scope.spam_percent_max",
    "scope.url_chars_max",
    "scope.seed_chars_max",
    "scope.extensions_denied",
    "scope.mimes_wanted",
    "scope.path_repeat_max",
    "scope.segments_max",
    "scope.sites_denied",
    "scope.drop_params",
    "scope.trap_guard",
    "scope.template_budget",
    "scope.section_budget",
    "scope.site_budget",
    "scope.growth_budget",
    "scope.site_pages",
    "scope.last_calls",
    "scope.domain_hosts",
    "scope.ignore_after",
    "scope.sitemaps",
    "refresh.policy",
    "refresh.every",
    "refresh.requests_per_day",
    "refresh.site_requests_per_day",
    "refresh.weights",
    "refresh.requests_per_hour",
    "refresh.discovery_per_day",
    "refresh.timezone",
    "refresh.quiet_hours",
    "refresh.longest_gap",
    "output.warc_size",
    "output.gzip_level",
    "output.log_size",
    "site.match",
    "site.site_delay",
    "site.site_connections",
    "site.max_pages",
    "site.traffic",
    "site.refresh_per_day",
    "site.refresh_group_per_day",
    "site.refresh_weight_percent",
    "site.depth",
    "site.include",
    "site.exclude",
];

/// Keys for admins because they take memory of the machine.
#[cfg(test)]
const MEMORY_KEYS: &[&str] = &[
    "crawl.connections",
    "crawl.seen_memory",
    "crawl.sites_in_memory",
    "fetch.body_max",
    "output.segment_rows",
];

/// Keys for admins because they read files, name addresses, send credentials, ignore
/// robots.txt or decide for the disk.
#[cfg(test)]
const ADMIN_KEYS: &[&str] = &[
    "fetch.robots",
    "fetch.i_own_these_hosts",
    "fetch.signature_key_file",
    "fetch.signature_agent",
    "fetch.resolve",
    "fetch.allow_private",
    "fetch.allow_hosts",
    "fetch.name_servers",
    "fetch.proxies",
    "fetch.proxy_rotation",
    "fetch.ca_file",
    "output.store_broken",
    "output.publish_every",
    "output.min_free",
    "cluster.partitions",
    "site.robots",
    "site.auth",
    "site.auth_over_http",
];

/// Whether only admins may set a key; one of a table is `site.NAME`. A key that does
/// not exist is nobody's: the crawl refuses it with a suggestion.
pub(crate) fn is_for_admins(path: &str) -> bool {
    let mut keys = KEYS.iter().chain(SITE_KEYS);
    keys.any(|key| key.path == path) && !OPEN_KEYS.contains(&path)
}

/// The key of `KEY=VALUE` or `KEY+=VALUE`; `site.HOST.KEY` is `site.KEY`.
pub(crate) fn key_of(setting: &str) -> String {
    let path = setting.split('=').next().unwrap_or(setting);
    let path = path.trim_end_matches('+').trim();
    let name = path
        .strip_prefix("site.")
        .and_then(|rest| rest.rsplit('.').next());
    name.map_or_else(|| path.to_owned(), |name| format!("site.{name}"))
}

/// The keys that a geomi.toml sets.
pub(crate) fn keys_in(toml: &str) -> Vec<String> {
    let (mut written, mut problems) = (Written::defaults(), Problems::default());
    super::file::read(super::FILE_NAME.as_ref(), toml, &mut written, &mut problems);
    let is_set = |path: &str| matches!(written.place(path), Place::File(..));
    let keys = KEYS.iter().map(|key| key.path).filter(|path| is_set(path));
    let tables = written.sites().iter().flat_map(SiteTable::iter);
    let tables = tables.map(|(key, _)| key.path);
    keys.chain(tables).map(str::to_owned).collect()
}

/// Whether this names a key, or all of a section as `SECTION.*`.
pub(crate) fn is_key_pattern(text: &str) -> bool {
    let mut keys = KEYS.iter().chain(SITE_KEYS);
    match text.strip_suffix(".*") {
        Some(section) => keys.any(|key| key.section() == section),
        None => find(text).is_some() || keys.any(|key| key.path == text),
    }
}

#[cfg(test)]
mod tests {
    use super::super::presets::PRESETS;
    use super::super::secrecy::Secrecy;
    use super::*;

    #[test]
    fn what_reads_files_or_holds_secrets_is_for_admins() {
        for key in KEYS.iter().chain(SITE_KEYS) {
            if key.path.ends_with("_file") || key.secrecy != Secrecy::Open {
                assert!(is_for_admins(key.path), "{}", key.path);
            }
        }
        for path in [
            "fetch.allow_private",
            "fetch.allow_hosts",
            "fetch.resolve",
            "fetch.name_servers",
            "fetch.robots",
            "fetch.i_own_these_hosts",
            "output.min_free",
            "site.auth",
            "site.auth_over_http",
            "site.robots",
        ] {
            assert!(is_for_admins(path), "{path}");
        }
        assert!(!is_for_admins("crawl.tries") && !is_for_admins("crawl.tires"));
    }

    #[test]
    fn every_key_is_in_one_list() {
        let listed = || OPEN_KEYS.iter().chain(MEMORY_KEYS).chain(ADMIN_KEYS);
        for key in KEYS.iter().chain(SITE_KEYS) {
            let times = listed().filter(|path| **path == key.path).count();
            assert_eq!(times, 1, "decide who may set {}", key.path);
        }
        for path in listed() {
            assert!(is_key_pattern(path), "{path} is no key");
        }
        assert!(MEMORY_KEYS.iter().all(|path| is_for_admins(path)));
    }

    #[test]
    fn presets_set_nothing_that_is_for_admins_but_sizes() {
        // An operator may choose a preset: its sizes were chosen here.
        for choice in PRESETS.iter().flat_map(|preset| preset.values) {
            let is_size = MEMORY_KEYS.contains(&choice.path);
            assert!(is_size || !is_for_admins(choice.path), "{}", choice.path);
        }
    }

    #[test]
    fn keys_are_found_in_settings() {
        assert_eq!(key_of("scope.exclude+=*a=b*"), "scope.exclude");
        assert_eq!(key_of("site.a.example:8080.depth=3"), "site.depth");
        assert_eq!(key_of(" fetch.proxies =x"), "fetch.proxies");
    }
}
