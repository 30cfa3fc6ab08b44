//! What a row of the table of keys is, and how a row is found.

use super::kind::Kind;
use super::secrecy::Secrecy;
pub(crate) use super::table::{KEYS, SECTIONS};

/// One setting.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Key {
    /// Section and name: `politeness.site_delay`.
    pub(crate) path: &'static str,
    /// The default as written in TOML; for an optional key, `None`.
    pub(crate) default: Option<&'static str>,
    /// A value to show where there is no default.
    pub(crate) example: &'static str,
    /// What it accepts and where it goes.
    pub(crate) kind: Kind,
    /// What it is for, in one line.
    pub(crate) doc: &'static str,
    /// Its flag of `geomi crawl`.
    pub(crate) flag: Option<Flag>,
    /// How much of its value is secret.
    pub(crate) secrecy: Secrecy,
}

/// The flag of a key.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Flag {
    /// Its long name, without dashes.
    pub(crate) long: &'static str,
    /// Its letter.
    pub(crate) short: Option<char>,
    /// Its variable.
    pub(crate) variable: &'static str,
    /// What stands for the value in the help; empty for a switch.
    pub(crate) value: &'static str,
    /// Under which heading of the help it stands.
    pub(crate) heading: &'static str,
}

pub(super) const fn key(
    path: &'static str,
    default: &'static str,
    kind: Kind,
    doc: &'static str,
) -> Key {
    Key {
        path,
        default: Some(default),
        example: default,
        kind,
        doc,
        flag: None,
        secrecy: Secrecy::Open,
    }
}

pub(super) const fn unset(
    path: &'static str,
    example: &'static str,
    kind: Kind,
    doc: &'static str,
) -> Key {
    Key {
        path,
        default: None,
        example,
        kind,
        doc,
        flag: None,
        secrecy: Secrecy::Open,
    }
}

impl Key {
    /// Its flag; without a heading it stands with the plain options.
    pub(super) const fn flag(
        mut self,
        heading: &'static str,
        long: &'static str,
        value: &'static str,
        variable: &'static str,
    ) -> Self {
        self.flag = Some(Flag {
            long,
            short: None,
            variable,
            value,
            heading,
        });
        self
    }

    pub(super) const fn letter(mut self, letter: char) -> Self {
        if let Some(flag) = &mut self.flag {
            flag.short = Some(letter);
        }
        self
    }

    /// Marks a key whose value may hold a secret.
    pub(super) const fn secret(mut self, secrecy: Secrecy) -> Self {
        self.secrecy = secrecy;
        self
    }

    /// The section of the file it stands in; empty for the top of it.
    pub(crate) fn section(&self) -> &'static str {
        self.path.split_once('.').map_or("", |(section, _)| section)
    }

    /// Its name inside the section.
    pub(crate) fn name(&self) -> &'static str {
        self.path
            .split_once('.')
            .map_or(self.path, |(_, name)| name)
    }
}

/// The key of a path.
pub(crate) fn find(path: &str) -> Option<&'static Key> {
    KEYS.iter().find(|key| key.path == path)
}

/// The key somebody who wrote `path` probably meant.
pub(crate) fn suggest(path: &str) -> Option<&'static str> {
    let name = path.rsplit('.').next().unwrap_or(path);
    let closeness = |key: &Key| {
        let whole = strsim::jaro_winkler(key.path, path);
        // A right name in a wrong section is as good as a typing error.
        let alone = strsim::jaro_winkler(key.name(), name) * 0.98;
        let dashed = strsim::jaro_winkler(key.name(), &name.replace('-', "_")) * 0.98;
        whole.max(alone).max(dashed)
    };
    KEYS.iter()
        .map(|key| (closeness(key), key.path))
        .max_by(|a, b| a.0.total_cmp(&b.0))
        .filter(|(closeness, _)| *closeness > 0.8)
        .map(|(_, path)| path)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_are_unique_and_in_known_sections() {
        for (at, key) in KEYS.iter().enumerate() {
            let is_known = SECTIONS.iter().any(|(name, _)| *name == key.section());
            assert!(is_known || key.path == "preset", "{}", key.path);
            assert!(KEYS[..at].iter().all(|other| other.path != key.path));
            assert!(key.doc.ends_with('.'), "{}", key.path);
            assert_eq!(find(key.path).map(|found| found.path), Some(key.path));
        }
    }

    #[test]
    fn every_flag_has_the_variable_of_its_name() {
        for flag in KEYS.iter().filter_map(|key| key.flag) {
            let expected = format!("GEOMI_{}", flag.long.to_uppercase().replace('-', "_"));
            assert_eq!(flag.variable, expected);
        }
    }

    #[test]
    fn misspellings_lead_to_the_key() {
        for (written, meant) in [
            ("politeness.site_dealy", "politeness.site_delay"),
            ("politeness.site-delay", "politeness.site_delay"),
            ("crawl.site_delay", "politeness.site_delay"),
            ("site_delay", "politeness.site_delay"),
            ("scope.exlude", "scope.exclude"),
            ("fetch.useragent", "fetch.user_agent"),
        ] {
            assert_eq!(suggest(written), Some(meant), "{written}");
        }
        assert_eq!(suggest("render.browser_path"), None);
    }
}
