//! Every setting as written, with the place it was written at.
//!
//! Starts at the defaults; each layer of [`super::load`] writes over the one
//! below. A list is replaced as a whole, not added to, and so are the tables of
//! sites. A preset comes last and fills in what nobody wrote.

use std::collections::HashSet;

use super::draft::Draft;
use super::file::read_value;
use super::keys::{self, KEYS, SECTIONS};
use super::kind::{Raw, Value};
use super::place::{Place, Problems};
use super::presets;
use super::site_table::SiteTable;

/// A value for every key, in the order of the table.
#[derive(Clone, Debug)]
pub(crate) struct Written {
    values: Vec<(Value, Place)>,
    sites: Vec<SiteTable>,
}

impl Written {
    /// Every key at its default.
    pub(crate) fn defaults() -> Self {
        let value_of = |key: &keys::Key| match key.default {
            None => Value::None,
            Some(text) => {
                let value = read_value(text).and_then(|raw| key.kind.read(&raw).ok());
                value.expect("defaults of the table are values of their kinds")
            }
        };
        let values = KEYS.iter().map(|key| (value_of(key), Place::Default));
        Self {
            values: values.collect(),
            sites: Vec::new(),
        }
    }

    /// Puts the values of the preset wherever there is only the default.
    pub(crate) fn fill_preset(&mut self) {
        let Some(preset) = self.preset() else { return };
        for choice in preset.values {
            let at = index(choice.path);
            if self.values[at].1 == Place::Default {
                let value = read_value(choice.value).and_then(|raw| KEYS[at].kind.read(&raw).ok());
                let value = value.expect("values of presets are values of their kinds");
                self.values[at] = (value, Place::Preset(preset.name));
            }
        }
    }

    /// The preset that was asked for.
    fn preset(&self) -> Option<&'static presets::Preset> {
        match &self.values[index("preset")].0 {
            Value::Text(name) => presets::find(name),
            _ => None,
        }
    }

    /// The preset as written, and where.
    pub(crate) fn preset_value(&self) -> (Value, Place) {
        self.values[index("preset")].clone()
    }

    /// A preset that sets nothing, because everything it would set is written
    /// elsewhere, gives way to the one those values were made with. Returns its
    /// name if somebody asked for it by hand.
    pub(crate) fn drop_idle_preset(&mut self, before: (Value, Place)) -> Option<&'static str> {
        let preset = self.preset()?;
        let is_used = |place: &Place| matches!(place, Place::Preset(_));
        if self.values.iter().any(|(_, place)| is_used(place)) {
            return None;
        }
        let at = index("preset");
        let was_asked_for = self.is_typed(at) && self.values[at].0 != before.0;
        self.values[at] = before;
        was_asked_for.then_some(preset.name)
    }

    /// Takes the tables of sites of a file, instead of those before.
    pub(crate) fn set_sites(&mut self, sites: Vec<SiteTable>) {
        self.sites = sites;
    }

    /// The tables of sites, in their order.
    pub(crate) fn sites(&self) -> &[SiteTable] {
        &self.sites
    }

    /// Takes one value for one site: into the table that names it alone, or
    /// else into a new one before all others, which therefore wins.
    pub(crate) fn set_for_site(
        &mut self,
        site: &str,
        name: &str,
        raw: &Raw,
        place: &Place,
        problems: &mut Problems,
    ) {
        let alone = |table: &SiteTable| matches!(table.names(), [only] if only == site);
        let at = self.sites.iter().position(alone).unwrap_or_else(|| {
            let mut table = SiteTable::new(place.clone());
            let names = Raw::List(vec![site.to_owned()]);
            table.set(super::site_keys::MATCH, &names, place.clone(), problems);
            self.sites.insert(0, table);
            0
        });
        self.sites[at].set(name, raw, place.clone(), problems);
    }

    /// Where a key of a table of sites stands, or the table.
    pub(crate) fn site_place(&self, table: usize, name: &str) -> &Place {
        let table = &self.sites[table];
        table.value(name).map_or(table.place(), |(_, place)| place)
    }

    /// Takes one value, or notes what is wrong with it.
    pub(crate) fn set(&mut self, path: &str, raw: &Raw, place: Place, problems: &mut Problems) {
        let Some(at) = KEYS.iter().position(|key| key.path == path) else {
            problems.add(&place, unknown(path));
            return;
        };
        match KEYS[at].read(raw) {
            Ok(value) => self.values[at] = (value, place),
            Err(what) => problems.add(&place, format!("{path}: {what}")),
        }
    }

    /// Adds to a list what is not in it yet.
    pub(crate) fn extend(&mut self, path: &str, words: impl IntoIterator<Item = String>) {
        let (value, _) = &mut self.values[index(path)];
        let Value::List(list) = value else {
            unreachable!("{path} is a list")
        };
        let mut known: HashSet<String> = list.iter().cloned().collect();
        for word in words {
            if known.insert(word.clone()) {
                list.push(word);
            }
        }
    }

    /// Where a key's value stands.
    pub(crate) fn place(&self, path: &str) -> &Place {
        &self.values[index(path)].1
    }

    /// A key's value as TOML, and where it stands. Only for the file of the crawl:
    /// the value may be a secret.
    pub(crate) fn get(&self, at: usize) -> (Option<String>, &Place) {
        let (value, place) = &self.values[at];
        (value.to_toml(), place)
    }

    /// The same for people and logs: without secrets.
    pub(crate) fn get_shown(&self, at: usize) -> (Option<String>, &Place) {
        let (value, place) = &self.values[at];
        (KEYS[at].secrecy.shown(value).to_toml(), place)
    }

    /// Every key with its value.
    pub(super) fn values(&self) -> impl Iterator<Item = (&'static keys::Key, &Value)> {
        KEYS.iter().zip(self.values.iter().map(|(value, _)| value))
    }

    /// Whether a key was set for this run only, by a flag or a variable.
    pub(crate) fn is_typed(&self, at: usize) -> bool {
        matches!(self.values[at].1, Place::Flag(_) | Place::Variable(_))
    }

    /// Puts every value where it belongs.
    pub(crate) fn apply(&self, problems: &mut Problems) -> Draft {
        let mut draft = Draft::new();
        for (key, (value, place)) in KEYS.iter().zip(&self.values) {
            for what in key.kind.apply(value, &mut draft) {
                problems.add(place, format!("{}: {what}", key.path));
            }
        }
        for table in &self.sites {
            table.apply(&mut draft, problems);
        }
        draft
    }
}

fn index(path: &str) -> usize {
    let at = KEYS.iter().position(|key| key.path == path);
    at.expect("the path is one of the table's")
}

/// What to say of a key that does not exist.
pub(crate) fn unknown(path: &str) -> String {
    if path == "site" || path.starts_with("site.") {
        return "what differs on a site is written in geomi.toml, in a table [[site]]; `geomi set` takes site.HOST.KEY=VALUE while a crawl runs".to_owned();
    }
    match keys::suggest(path) {
        Some(meant) => format!("unknown key {path:?}; did you mean {meant:?}?"),
        None => format!("unknown key {path:?}; `geomi init` writes a file with every key there is"),
    }
}

/// What to say of a section that does not exist.
pub(crate) fn unknown_section(name: &str) -> String {
    let names = || SECTIONS.iter().map(|(known, _)| *known);
    let closest = names()
        .max_by(|a, b| strsim::jaro_winkler(a, name).total_cmp(&strsim::jaro_winkler(b, name)));
    if let Some(meant) = closest.filter(|known| strsim::jaro_winkler(known, name) > 0.7) {
        return format!("unknown section [{name}]; did you mean [{meant}]?");
    }
    let names: Vec<&str> = names().collect();
    format!("unknown section [{name}]; there are {}", names.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn place() -> Place {
        Place::Flag("--set".to_owned())
    }

    #[test]
    fn a_later_value_replaces_an_earlier_one() {
        let mut problems = Problems::default();
        let mut written = Written::defaults();
        let list = |words: &[&str]| Raw::List(words.iter().map(|&word| word.to_owned()).collect());
        written.set(
            "scope.include",
            &list(&["a*", "b*"]),
            place(),
            &mut problems,
        );
        written.set("scope.include", &list(&["http*"]), place(), &mut problems);
        written.extend("scope.include", ["http*".to_owned(), "*x".to_owned()]);
        let draft = written.apply(&mut problems);
        assert!(problems.into_result().is_ok());
        assert_eq!(draft.crawl.engine.scope.include, ["http*", "*x"]);
        assert_eq!(*written.place("scope.exclude"), Place::Default);
    }

    #[test]
    fn wrong_values_say_what_to_write() {
        let cases = [
            ("crawl.connections", Raw::Integer(0), "give 1 to"),
            (
                "crawl.connections",
                Raw::Text("many".into()),
                "not a whole number",
            ),
            ("politeness.site_delay", Raw::Integer(5), "\"5s\""),
            (
                "politeness.site_delay",
                Raw::Typed("slow".into()),
                "no duration",
            ),
            (
                "fetch.total_timeout",
                Raw::Typed("0s".into()),
                "more than zero",
            ),
            ("fetch.body_max", Raw::Integer(100), "\"100MiB\""),
            ("scope.kind", Raw::Text("site".into()), "page, path, host"),
            ("scope.include", Raw::Integer(1), "a list of strings"),
            ("crawl.nofollow", Raw::Text("maybe".into()), "true or false"),
            (
                "crawl.conections",
                Raw::Integer(1),
                "did you mean \"crawl.connections\"?",
            ),
        ];
        for (path, raw, expected) in cases {
            let mut problems = Problems::default();
            Written::defaults().set(path, &raw, place(), &mut problems);
            let told = problems.to_string();
            assert!(told.contains(expected), "{path}: {told}");
        }
    }

    #[test]
    fn optional_keys_can_be_unset_again() {
        let mut problems = Problems::default();
        let mut written = Written::defaults();
        written.set("crawl.max_pages", &Raw::Integer(7), place(), &mut problems);
        assert_eq!(written.apply(&mut problems).crawl.limits.pages_max, Some(7));
        written.set(
            "crawl.max_pages",
            &Raw::Typed("none".into()),
            place(),
            &mut problems,
        );
        assert_eq!(written.apply(&mut problems).crawl.limits.pages_max, None);
        assert!(problems.into_result().is_ok());
    }
}
