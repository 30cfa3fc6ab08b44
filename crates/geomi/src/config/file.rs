//! geomi.toml, read and written.
//!
//! Reading keeps line numbers and goes on after a mistake, so that all of them
//! are told at once. Writing goes by the table of keys, so that the annotated
//! file can never fall behind the program.

use std::fmt::Write as _;
use std::path::Path;

use toml_edit::{Document, Item, TableLike};

use super::keys::{KEYS, Key, SECTIONS, find};
use super::kind::{Raw, Value};
use super::place::{Place, Problems};
use super::presets;
use super::site_keys::{self, SITE_KEYS};
use super::site_table::SiteTable;
use super::written::{Written, unknown, unknown_section};

/// Reads a file over what is written already.
pub(crate) fn read(path: &Path, text: &str, written: &mut Written, problems: &mut Problems) {
    let at = |offset: usize| {
        let line = 1 + text.get(..offset).unwrap_or(text).matches('\n').count();
        Place::File(path.to_owned(), line)
    };
    let document = match Document::parse(text) {
        Ok(document) => document,
        Err(error) => {
            let offset = error.span().map_or(0, |span| span.start);
            let what = error.message().replace('\n', "; ");
            problems.add(&at(offset), format!("not TOML: {what}"));
            return;
        }
    };
    let table = document.as_table();
    for (name, item) in table {
        let place = at(offset_of(table, name));
        match item.as_table_like() {
            Some(section) if SECTIONS.iter().any(|(known, _)| *known == name) => {
                for (key, item) in section.iter() {
                    let place = at(offset_of(section, key));
                    written.set(&format!("{name}.{key}"), &raw(item), place, problems);
                }
            }
            Some(_) if name == "site" => {
                problems.add(
                    &place,
                    "write [[site]] with two brackets: there may be several",
                );
            }
            Some(_) => problems.add(&place, unknown_section(name)),
            None if name == "site" && tables_of(item).is_some() => {
                let tables = tables_of(item).unwrap_or_default().into_iter();
                let tables = tables.map(|table| read_site(table, &at, &place, problems));
                written.set_sites(tables.collect());
            }
            None if find(name).is_some() => written.set(name, &raw(item), place, problems),
            None if item.is_array_of_tables() => problems.add(&place, unknown_section(name)),
            None => problems.add(&place, unknown(name)),
        }
    }
}

/// The tables of an array, written out or inline; `None` if it is none.
fn tables_of(item: &Item) -> Option<Vec<&dyn TableLike>> {
    if let Some(tables) = item.as_array_of_tables() {
        return Some(tables.iter().map(|table| table as &dyn TableLike).collect());
    }
    let tables = item.as_array()?.iter();
    tables
        .map(|value| Some(value.as_inline_table()? as &dyn TableLike))
        .collect()
}

fn read_site(
    table: &dyn TableLike,
    at: &dyn Fn(usize) -> Place,
    array: &Place,
    problems: &mut Problems,
) -> SiteTable {
    let first = table.iter().next().map(|(name, _)| offset_of(table, name));
    let mut site = SiteTable::new(first.map_or_else(|| array.clone(), at));
    for (name, item) in table.iter() {
        site.set(name, &raw(item), at(offset_of(table, name)), problems);
    }
    site
}

fn offset_of(table: &dyn TableLike, name: &str) -> usize {
    let key = table.get_key_value(name).and_then(|(key, _)| key.span());
    key.map_or(0, |span| span.start)
}

/// A value of TOML as written in the table of keys, or after `--set KEY=`.
pub(crate) fn read_value(text: &str) -> Option<Raw> {
    let value: toml_edit::Value = text.parse().ok()?;
    Some(raw(&Item::Value(value)))
}

fn raw(item: &Item) -> Raw {
    if let Some(text) = item.as_str() {
        return Raw::Text(text.to_owned());
    }
    if let Some(number) = item.as_integer() {
        return Raw::Integer(number);
    }
    if let Some(flag) = item.as_bool() {
        return Raw::Bool(flag);
    }
    let Some(array) = item.as_array() else {
        return Raw::Other(item.type_name());
    };
    let words: Option<Vec<String>> = array
        .iter()
        .map(|value| value.as_str().map(str::to_owned))
        .collect();
    words.map_or(Raw::Other("list of other things than strings"), Raw::List)
}

/// The file `geomi init` writes: every key, commented out at its default.
pub(crate) fn template() -> String {
    let mut text = String::from(
        "# geomi.toml: every key there is, at its default.\n\
         # Remove the `# ` before a key to change it. Durations and sizes carry units.\n\
         # `geomi schema > geomi.schema.json` writes a JSON schema for editors that check TOML.\n",
    );
    let line = |_, key: &Key| {
        let value = key.default.unwrap_or(key.example);
        format!("# {} = {value}", key.name())
    };
    write_keys(&mut text, line, |text| {
        writeln!(text, "\n# {}\n# [[site]]", site_keys::ABOUT).expect("a string takes everything");
        for key in SITE_KEYS {
            writeln!(text, "# # {}\n# {} = {}", key.doc, key.name(), key.example)
                .expect("a string takes everything");
        }
    });
    text
}

/// The configuration as used, for the crawl directory.
pub(crate) fn as_used(written: &Written) -> String {
    let mut text = String::from(
        "# The configuration this crawl was last run with, rewritten at every start.\n\
         # Values may be changed here; flags and variables still come first.\n",
    );
    let line = |at, key: &Key| used_line(written, at, key, written.get(at).0);
    write_keys(&mut text, line, |text| {
        write_sites(text, written, |_| String::new(), |_, value| value.clone());
    });
    text
}

/// The file of a crawl for those who may not see its secrets. It is made from the
/// values that were read: comments of the file may hold secrets too. A file with
/// errors is not shown.
pub(crate) fn redacted(text: &str) -> String {
    let (mut written, mut problems) = (Written::defaults(), Problems::default());
    read(
        Path::new(super::FILE_NAME),
        text,
        &mut written,
        &mut problems,
    );
    if problems.into_result().is_err() {
        return "# geomi.toml has errors, so only admins can read it.\n".to_owned();
    }
    let mut text =
        String::from("# The configuration this crawl was last run with, without secrets.\n");
    let line = |at, key: &Key| used_line(&written, at, key, written.get_shown(at).0);
    write_keys(&mut text, line, |text| {
        write_sites(text, &written, |_| String::new(), shown);
    });
    text
}

fn shown(key: &Key, value: &Value) -> Value {
    key.secrecy.shown(value)
}

/// The configuration that would be used, with the place of whatever is not
/// the default.
pub(crate) fn with_places(written: &Written) -> String {
    let mut text = String::from("# The configuration that would be used.\n");
    let line = |at, key: &Key| {
        let (value, place) = written.get_shown(at);
        let line = used_line(written, at, key, value);
        match place {
            Place::Default => line,
            place => format!("{line}  # {place}"),
        }
    };
    write_keys(&mut text, line, |text| {
        write_sites(text, written, |place| format!("  # {place}"), shown);
    });
    text
}

/// The line of a key with this value.
fn used_line(written: &Written, at: usize, key: &Key, value: Option<String>) -> String {
    match value {
        // Who resumes a crawl that reached a limit wants it to go on.
        Some(value) if is_limit(key) && written.is_typed(at) => {
            format!("# {} = {value}  # of the last run only", key.name())
        }
        Some(value) => format!("{} = {value}", key.name()),
        // Said, so that no preset or file of a later run can think otherwise.
        None if key.default.is_some()
            || presets::sets(key.path)
            || *written.get(at).1 != Place::Default =>
        {
            format!("{} = \"none\"", key.name())
        }
        None => format!("# {} = {}", key.name(), key.example),
    }
}

fn write_sites(
    text: &mut String,
    written: &Written,
    note: impl Fn(&Place) -> String,
    shown: impl Fn(&Key, &Value) -> Value,
) {
    for (at, table) in written.sites().iter().enumerate() {
        if at == 0 {
            write!(text, "\n# {}", site_keys::ABOUT).expect("a string takes everything");
        }
        let note = note(table.place());
        write!(text, "\n[[site]]{note}\n").expect("a string takes everything");
        for (key, value) in table.iter() {
            // A key that is said to be unset says nothing.
            let Some(value) = shown(key, value).to_toml() else {
                continue;
            };
            writeln!(text, "{} = {value}", key.name()).expect("a string takes everything");
        }
    }
}

/// Whether a key says when to stop.
fn is_limit(key: &Key) -> bool {
    key.path.starts_with("crawl.max_")
}

/// The section after which the tables of sites stand.
const BEFORE_SITES: &str = "politeness";

fn write_keys(
    text: &mut String,
    line: impl Fn(usize, &Key) -> String,
    sites: impl Fn(&mut String),
) {
    let write_section = |text: &mut String, section: &str| {
        for (at, key) in KEYS.iter().enumerate() {
            if key.section() == section {
                writeln!(text, "# {}\n{}", key.doc, line(at, key))
                    .expect("a string takes everything");
            }
        }
    };
    text.push('\n');
    write_section(text, "");
    for (section, about) in SECTIONS {
        write!(text, "\n# {about}\n[{section}]\n").expect("a string takes everything");
        write_section(text, section);
        if section == BEFORE_SITES {
            sites(text);
        }
    }
}

/// The template with every key set to what it shows.
#[cfg(test)]
pub(super) fn uncommented_template() -> String {
    template()
        .lines()
        .map(|line| match line.strip_prefix("# ") {
            Some(rest) if rest.contains(" = ") || rest == "[[site]]" => format!("{rest}\n"),
            _ => format!("{line}\n"),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn problems_of(text: &str) -> Vec<String> {
        let mut problems = Problems::default();
        let mut written = Written::defaults();
        read(Path::new("geomi.toml"), text, &mut written, &mut problems);
        problems.iter().map(str::to_owned).collect()
    }

    #[test]
    fn all_mistakes_are_told_with_their_lines() {
        let text = "[politeness]\nsite_dealy = \"1s\"\nmax_wait = 5\n\n[polite]\nx = 1\n\n\
                    [crawl]\nconnections = 'x'\n";
        let told = problems_of(text);
        assert_eq!(told.len(), 4, "{told:#?}");
        assert!(told[0].starts_with("geomi.toml:2: unknown key \"politeness.site_dealy\""));
        assert!(told[0].ends_with("did you mean \"politeness.site_delay\"?"));
        assert!(told[1].starts_with("geomi.toml:3: politeness.max_wait: 5 has no unit"));
        assert!(told[2].contains("geomi.toml:5") && told[2].contains("[politeness]"));
        assert!(
            told[3].starts_with("geomi.toml:9: crawl.connections"),
            "{}",
            told[3]
        );
    }

    #[test]
    fn what_is_not_toml_is_told_with_its_line() {
        let told = problems_of("[crawl]\nname = \n");
        assert_eq!(told.len(), 1);
        assert!(told[0].starts_with("geomi.toml:2: not TOML"), "{told:?}");
    }

    #[test]
    fn the_template_is_the_defaults_and_reads_back() {
        assert_eq!(problems_of(&template()), Vec::<String>::new());
        let uncommented = uncommented_template();
        assert_eq!(problems_of(&uncommented), Vec::<String>::new());
        let (mut written, mut problems) = (Written::defaults(), Problems::default());
        read(Path::new("x"), &uncommented, &mut written, &mut problems);
        assert_eq!(written.sites()[0].iter().count(), SITE_KEYS.len());
        for (at, key) in KEYS.iter().enumerate() {
            assert!(matches!(written.get(at).1, Place::File(..)), "{}", key.path);
        }
    }

    #[test]
    fn tables_of_sites_are_read_with_lines_and_all_their_mistakes() {
        let text = "[[site]]\nmatch = \"a.example\"\ndelay = \"5s\"\nsite_delay = 5\n\n\
                    [[site]]\ndepth = 1\n\n[[site]]\nmatch = [\"a b\"]\nexclude = [\"re:(\"]\n";
        let (mut written, mut problems) = (Written::defaults(), Problems::default());
        read(Path::new("geomi.toml"), text, &mut written, &mut problems);
        let draft = written.apply(&mut problems);
        draft.finish(Vec::new(), None, &written, &mut problems);
        let told: Vec<&str> = problems.iter().collect();
        assert_eq!(told.len(), 5, "{told:#?}");
        for (told, expected) in told.iter().zip([
            "geomi.toml:3: unknown key \"delay\" in [[site]]; did you mean \"site_delay\"?",
            "geomi.toml:4: site_delay: 5 has no unit",
            "geomi.toml:7: a [[site]] table needs match",
            "geomi.toml:10: \"a b\" is not a site",
            "geomi.toml:11: exclude pattern",
        ]) {
            assert!(told.starts_with(expected), "{told}");
        }
        assert!(problems_of("[site]\nmatch = \"x\"\n")[0].contains("two brackets"));
        let inline = "site = [{ match = \"a.example\", depth = 2 }]\n";
        assert_eq!(problems_of(inline), Vec::<String>::new());
    }

    #[test]
    fn a_configuration_as_used_reads_back_the_same() {
        let mut problems = Problems::default();
        let mut first = Written::defaults();
        let text = "[crawl]\nmax_pages = 9\n[scope]\nexclude = [\"*a'b\\\"c*\"]\n\
                    [politeness]\nsite_delay = \"90s\"\nadaptive_ceiling = \"none\"\n\
                    [[site]]\nmatch = \"*.a.example\"\nmax_pages = 7\n\
                    [[site]]\nmatch = \"b.example\"\nexclude = []\nrobots = \"respect\"\n";
        read(Path::new("a"), text, &mut first, &mut problems);
        let used = as_used(&first);
        let mut second = Written::defaults();
        read(Path::new("b"), &used, &mut second, &mut problems);
        assert!(problems.into_result().is_ok());
        assert_eq!(as_used(&second), used);
        assert!(used.contains("site_delay = \"90s\""));
        assert!(used.contains("adaptive_ceiling = \"none\""));
        assert!(used.contains("[[site]]\nmatch = [\"*.a.example\"]\nmax_pages = 7\n"));
        assert_eq!(second.sites().len(), 2);
    }
}
