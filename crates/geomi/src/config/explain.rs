//! What `geomi config` says of the values: which they are, and where from.

use std::fmt::Write as _;

use geomi_url::{SiteKey, SiteTables};

use super::keys::{KEYS, Key, find};
use super::place::Place;
use super::presets;
use super::site_keys::{MATCH, SITE_KEYS, general};
use super::written::Written;

/// One key with its value and origin.
pub(crate) fn explain(written: &Written, path: &str) -> Option<String> {
    let key = find(path)?;
    let at = KEYS.iter().position(|other| other.path == path)?;
    let (value, place) = written.get_shown(at);
    let mut text = format!("# {}\n", key.doc);
    if path == "preset" {
        for preset in presets::PRESETS {
            writeln!(text, "# {}: {}", preset.name, preset.about)
                .expect("a string takes everything");
        }
    }
    if let Some(why) = reason(place, path) {
        writeln!(text, "# Why: {why}.").expect("a string takes everything");
    }
    let value = value.unwrap_or_else(|| "unset".to_owned());
    write!(text, "{path} = {value}  # {place}").expect("a string takes everything");
    Some(text)
}

/// Why a preset chose what it chose.
fn reason(place: &Place, path: &str) -> Option<&'static str> {
    let Place::Preset(name) = place else {
        return None;
    };
    Some(presets::find(name)?.choice(path)?.why)
}

/// A value that holds for one site.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct SiteValue {
    /// The key of `[[site]]`.
    pub(crate) name: &'static str,
    /// Its value as TOML; `None` where it is unset.
    pub(crate) value: Option<String>,
    /// Where that stands.
    pub(crate) place: Place,
}

/// What holds for one site, key by key: from the first table that names the
/// site and has the key, or from the general key.
pub(crate) fn for_site(written: &Written, site: &SiteKey) -> Vec<SiteValue> {
    let tables = written.sites();
    // Names that are none match nothing; they are told when a crawl begins.
    let names = SiteTables::new(tables.iter().map(super::site_table::SiteTable::names));
    let matching = names.unwrap_or_default().of(site);
    let keys = SITE_KEYS.iter().filter(|key| key.name() != MATCH);
    let value_of = |key: &Key| {
        let name = key.name();
        let own = matching.iter().find_map(|table| tables[*table].value(name));
        if let Some((value, place)) = own {
            return (key.secrecy.shown(value).to_toml(), place.clone());
        }
        let Some(path) = general(name) else {
            return (None, Place::Default);
        };
        let at = KEYS.iter().position(|key| key.path == path);
        let (value, place) = written.get_shown(at.expect("a general key is in the table"));
        (value, place.clone())
    };
    keys.map(|key| {
        let (value, place) = value_of(key);
        let name = key.name();
        SiteValue { name, value, place }
    })
    .collect()
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use geomi_url::CrawlUrl;

    use super::super::file::read;
    use super::super::place::Problems;
    use super::*;

    #[test]
    fn a_site_has_the_values_of_its_tables_first() {
        let text = "[scope]\ndepth = 9\n\n[[site]]\nmatch = \"a.example\"\nmax_pages = 5\n\n\
                    [[site]]\nmatch = [\"*.example\"]\nmax_pages = 50\nsite_delay = \"7s\"\n";
        let (mut written, mut problems) = (Written::defaults(), Problems::default());
        read(Path::new("geomi.toml"), text, &mut written, &mut problems);
        assert!(problems.clone().into_result().is_ok(), "{problems}");
        let of = |url: &str, name: &str| {
            let site = CrawlUrl::parse(url).unwrap().site();
            let values = for_site(&written, &site);
            let found = values.into_iter().find(|value| value.name == name).unwrap();
            (found.value.unwrap_or_default(), found.place.to_string())
        };
        let expect = |value: &str, place: &str| (value.to_owned(), place.to_owned());
        assert_eq!(
            of("http://a.example/", "max_pages"),
            expect("5", "geomi.toml:6")
        );
        assert_eq!(
            of("http://a.example/", "site_delay"),
            expect("\"7s\"", "geomi.toml:11")
        );
        assert_eq!(
            of("http://b.example/", "max_pages"),
            expect("50", "geomi.toml:10")
        );
        assert_eq!(
            of("http://b.example/", "depth"),
            expect("9", "geomi.toml:2")
        );
        assert_eq!(of("http://other.test/", "max_pages"), expect("", "default"));
        assert_eq!(
            of("http://other.test/", "robots"),
            expect("\"respect\"", "default")
        );
    }
}
