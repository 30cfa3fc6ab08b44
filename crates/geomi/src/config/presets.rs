//! Presets: settings that belong together, under one name.
//!
//! A preset lies between the defaults and everything that is written down: a
//! value in any file, variable or flag wins over it. Each number has its reason
//! beside it; docs/configuration.md tells the same, and a test holds the two
//! together.

/// A named set of values.
#[derive(Debug)]
pub(crate) struct Preset {
    /// Its name.
    pub(crate) name: &'static str,
    /// What it is for, in one line.
    pub(crate) about: &'static str,
    /// What it sets.
    pub(crate) values: &'static [Choice],
}

/// One value of a preset.
#[derive(Debug)]
pub(crate) struct Choice {
    /// The key's path.
    pub(crate) path: &'static str,
    /// The value as it would stand in the file.
    pub(crate) value: &'static str,
    /// Why this value.
    pub(crate) why: &'static str,
}

const fn choice(path: &'static str, value: &'static str, why: &'static str) -> Choice {
    Choice { path, value, why }
}

/// Every name, in the order of [`PRESETS`].
pub(crate) const NAMES: &[&str] = &["robot-2003", "archive", "search", "polite"];

/// Every preset.
pub(crate) const PRESETS: [&Preset; 4] = [&ROBOT_2003, &ARCHIVE, &SEARCH, &POLITE];

/// The preset of a name.
pub(crate) fn find(name: &str) -> Option<&'static Preset> {
    PRESETS.into_iter().find(|preset| preset.name == name)
}

/// Whether any preset sets a key.
pub(crate) fn sets(path: &str) -> bool {
    PRESETS.iter().any(|preset| preset.choice(path).is_some())
}

impl Preset {
    /// What it says about a key.
    pub(crate) fn choice(&self, path: &str) -> Option<&'static Choice> {
        self.values.iter().find(|choice| choice.path == path)
    }
}

const ROBOT_2003: Preset = Preset {
    name: "robot-2003",
    about: "Kim and Lee's robot of 2003, with the numbers of their paper.",
    values: &[
        choice(
            "crawl.connections",
            "30",
            "30 threads, each of which downloads one page at a time",
        ),
        choice(
            "crawl.sites_in_memory",
            "450",
            "each thread holds 15 seed contexts",
        ),
        choice("crawl.tries", "1", "a page is tried once"),
        choice(
            "crawl.order",
            "\"round-robin\"",
            "a thread turns to its next rested context, whichever answers fastest",
        ),
        choice(
            "crawl.page_order",
            "\"breadth-first\"",
            "a party is walked level by level",
        ),
        choice(
            "politeness.site_delay",
            "\"adaptive\"",
            "the rest follows the last download time",
        ),
        choice(
            "politeness.adaptive_floor",
            "\"30s\"",
            "a context rests at least 30 s",
        ),
        choice(
            "politeness.adaptive_factor",
            "10",
            "and at least ten times its last download time",
        ),
        choice(
            "politeness.adaptive_ceiling",
            "\"none\"",
            "the paper bounds that rest by nothing",
        ),
        choice(
            "politeness.site_connections",
            "1",
            "a context downloads one page at a time",
        ),
        choice(
            "politeness.max_wait",
            "\"15m\"",
            "ten times the longest answer is 10 min, and no site is to be dropped for that",
        ),
        choice(
            "fetch.connect_timeout",
            "\"5s\"",
            "no byte for 5 s ends an attempt, a handshake included",
        ),
        choice(
            "fetch.silence_timeout",
            "\"5s\"",
            "no byte for 5 s ends an attempt",
        ),
        choice("fetch.body_max", "\"2MiB\"", "pages were limited to 2 MB"),
        choice(
            "scope.kind",
            "\"party\"",
            "a party is what is reachable on the seed's site; other links propose seeds",
        ),
        choice("scope.depth", "5", "pages up to five links from the seed"),
        choice(
            "scope.url_chars_max",
            "255",
            "URLs were limited to 255 characters; the paper counts without the seed's part, geomi the whole",
        ),
        choice(
            "scope.seed_chars_max",
            "100",
            "seeds were limited to 100 characters",
        ),
        choice(
            "scope.mimes_wanted",
            "[\"text/html\"]",
            "OK meant 200 and HTML",
        ),
        choice(
            "scope.party_urls_max",
            "640_000",
            "a filter of 640,000 bits a party, said to bound a seed to 640,000 pages; the seen test here is exact",
        ),
    ],
};

const ARCHIVE: Preset = Preset {
    name: "archive",
    about: "Keep everything of some sites, pictures and documents included.",
    values: &[
        choice(
            "crawl.connections",
            "32",
            "bodies lie in memory until compressed: 32 of the largest are 4 GiB",
        ),
        choice("crawl.tries", "5", "a passing failure should leave no hole"),
        choice(
            "crawl.nofollow",
            "false",
            "nofollow is a word to search engines about ranking; robots.txt is still obeyed",
        ),
        choice(
            "fetch.body_max",
            "\"128MiB\"",
            "documents, sound and short films come whole",
        ),
        choice(
            "fetch.total_timeout",
            "\"10m\"",
            "128 MiB at 256 KiB a second take 8.5 min",
        ),
        choice(
            "fetch.redirects",
            "10",
            "old sites move their pages more than once",
        ),
        choice(
            "scope.kind",
            "\"domain\"",
            "pictures and styles are often on another host of the domain",
        ),
        choice(
            "scope.extensions_denied",
            "[]",
            "an archive without what its pages link to is incomplete",
        ),
        choice(
            "scope.requisites",
            "\"any\"",
            "a page without its pictures and styles does not replay as it was",
        ),
        choice("scope.mimes_wanted", "[]", "every content type is wanted"),
        choice(
            "scope.trap_guard",
            "\"off\"",
            "an archive is whole or says why; limits and exclusions bound it",
        ),
        choice(
            "scope.path_repeat_max",
            "\"none\"",
            "a folder may well stand in a folder of its name",
        ),
        choice(
            "scope.url_chars_max",
            "8000",
            "the length RFC 9110 asks everybody to support",
        ),
        choice(
            "output.gzip_level",
            "6",
            "written once and kept for years: smaller files are worth the time",
        ),
    ],
};

const SEARCH: Preset = Preset {
    name: "search",
    about: "Text for an index: wide, and without what has no words.",
    values: &[
        choice(
            "crawl.connections",
            "512",
            "breadth is limited by rests, so many sites at once; fits the usual 1,024 open files",
        ),
        choice(
            "crawl.order",
            "\"priority\"",
            "the most promising pages of all sites first",
        ),
        choice(
            "crawl.tries",
            "2",
            "a page missed now is found by the next crawl",
        ),
        choice(
            "fetch.body_max",
            "\"4MiB\"",
            "more words than that nobody looks for in one page",
        ),
        choice(
            "scope.kind",
            "\"domain\"",
            "an organisation's hosts belong together",
        ),
        choice(
            "scope.mimes_wanted",
            "[\"text/html\", \"application/xhtml+xml\", \"text/plain\"]",
            "types with words that can be indexed as they are",
        ),
        choice(
            "scope.extensions_denied",
            "[\"7z\", \"apk\", \"avi\", \"avif\", \"bin\", \"bmp\", \"bz2\", \"css\", \"dmg\", \"exe\", \"flac\", \"flv\", \"gif\", \"gz\", \"ico\", \"iso\", \"jar\", \"jpeg\", \"jpg\", \"js\", \"m4a\", \"m4v\", \"mkv\", \"mov\", \"mp3\", \"mp4\", \"mpeg\", \"mpg\", \"msi\", \"ogg\", \"otf\", \"png\", \"rar\", \"rpm\", \"svg\", \"swf\", \"tar\", \"tgz\", \"tif\", \"tiff\", \"ttf\", \"wav\", \"webm\", \"webp\", \"wma\", \"wmv\", \"woff\", \"woff2\", \"xz\", \"zip\"]",
            "files that by their names have no words are not even asked for",
        ),
        choice(
            "scope.path_repeat_max",
            "1",
            "wide crawls meet traps; a path that repeats itself is nearly always one",
        ),
        choice(
            "scope.segments_max",
            "16",
            "deeper paths are nearly always made by a script",
        ),
        choice(
            "scope.follow_adverts",
            "false",
            "nobody looks for advertisements, and they lead out of what is indexed",
        ),
    ],
};

const POLITE: Preset = Preset {
    name: "polite",
    about: "As gentle as it goes, for small servers and long crawls.",
    values: &[
        choice(
            "crawl.connections",
            "16",
            "few sites at once: our own network is shared as well",
        ),
        choice(
            "crawl.tries",
            "2",
            "a server in trouble is asked once more and no oftener",
        ),
        choice("crawl.retry_wait", "\"1m\"", "time for it to recover"),
        choice(
            "politeness.site_delay",
            "\"adaptive\"",
            "slow servers rest longer",
        ),
        choice(
            "politeness.adaptive_floor",
            "\"5s\"",
            "fewer requests than one reader clicking",
        ),
        choice(
            "politeness.adaptive_factor",
            "10",
            "a server spends at most a tenth of its time on us",
        ),
        choice(
            "politeness.adaptive_ceiling",
            "\"2m\"",
            "long enough for an overloaded server, short enough to come to an end",
        ),
        choice("politeness.site_connections", "1", "one request at a time"),
        choice(
            "politeness.address_connections",
            "1",
            "many sites share one machine: it gets one request at a time as well",
        ),
        choice(
            "politeness.backoff_first",
            "\"30s\"",
            "a restart takes about that long",
        ),
    ],
};

#[cfg(test)]
mod tests {
    use super::super::file::read_value;
    use super::super::keys;
    use super::*;

    #[test]
    fn every_value_of_every_preset_is_one_its_key_accepts() {
        assert_eq!(PRESETS.map(|preset| preset.name), *NAMES);
        for preset in PRESETS {
            assert!(preset.about.ends_with('.'), "{}", preset.name);
            for (at, choice) in preset.values.iter().enumerate() {
                let path = choice.path;
                let key = keys::find(path).unwrap_or_else(|| panic!("{path} is no key"));
                let raw = read_value(choice.value).unwrap();
                assert!(key.kind.read(&raw).is_ok(), "{path} = {}", choice.value);
                let before = &preset.values[..at];
                assert!(before.iter().all(|other| other.path != path), "{path}");
            }
        }
    }

    #[test]
    fn the_documentation_has_every_number_with_its_reason() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/configuration.md");
        let text = std::fs::read_to_string(path).unwrap();
        for preset in PRESETS {
            assert!(text.contains(preset.about), "{}", preset.name);
            for choice in preset.values {
                // The long list of extensions is told in words.
                let shown = if choice.value.len() > 100 {
                    "fifty extensions"
                } else {
                    choice.value
                };
                let row = format!("| `{}` | `{shown}` | {} |", choice.path, choice.why);
                assert!(text.contains(&row), "{}: no row {row}", preset.name);
            }
        }
    }
}
