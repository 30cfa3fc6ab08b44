//! Which keys operators of the console may set, and which are for admins only.
//!
//! The sections below are about what is crawled and how gently; a key of any other
//! section is for admins, unless it is listed. So a new key that reads a file, names an
//! address or sends a credential is closed until somebody opens it here.

use super::keys::{KEYS, find};
use super::place::{Place, Problems};
use super::site_keys::SITE_KEYS;
use super::site_table::SiteTable;
use super::written::Written;

/// Sections whose keys operators may set; the first is the top of the file.
const OPEN_SECTIONS: [&str; 5] = ["", "crawl", "politeness", "scope", "refresh"];

/// Keys of other sections that operators may set.
const OPEN_KEYS: [&str; 24] = [
    "fetch.contact",
    "fetch.user_agent",
    "fetch.connect_timeout",
    "fetch.silence_timeout",
    "fetch.total_timeout",
    "fetch.body_max",
    "fetch.redirects",
    "fetch.cookies",
    "fetch.http2",
    "output.warc_size",
    "output.gzip_level",
    "output.segment_rows",
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

/// Whether only admins may set a key; one of a table is `site.NAME`. A key that does
/// not exist is nobody's: the crawl refuses it with a suggestion.
pub(crate) fn is_for_admins(path: &str) -> bool {
    let is_open =
        |path: &str, section: &str| OPEN_SECTIONS.contains(&section) || OPEN_KEYS.contains(&path);
    let keys = KEYS.iter().chain(SITE_KEYS);
    let key = keys.into_iter().find(|key| key.path == path);
    key.is_some_and(|key| !is_open(key.path, key.section()))
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
    fn open_keys_exist_and_presets_set_nothing_that_is_for_admins() {
        for path in OPEN_KEYS {
            assert!(is_key_pattern(path), "{path}");
        }
        for choice in PRESETS.iter().flat_map(|preset| preset.values) {
            assert!(!is_for_admins(choice.path), "{}", choice.path);
        }
    }

    #[test]
    fn keys_are_found_in_settings() {
        assert_eq!(key_of("scope.exclude+=*a=b*"), "scope.exclude");
        assert_eq!(key_of("site.a.example:8080.depth=3"), "site.depth");
        assert_eq!(key_of(" fetch.proxies =x"), "fetch.proxies");
    }
}
