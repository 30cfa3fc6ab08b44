//! A JSON schema of geomi.toml (draft 2020-12), made from the table of keys.
//!
//! Editors complete and check by it. It tells the shape of every value; what
//! needs more than one value to judge is checked when a crawl starts.

use serde_json::{Map, Value, json};

use super::file::read_value;
use super::keys::{KEYS, Key, SECTIONS};
use super::kind::{Kind, Raw};
use super::site_keys::{self, MATCH, SITE_KEYS};

/// A duration, as [`super::units`] reads it.
const DURATION: &str = "^ *([0-9.]+ *(us|ms|s|sec|m|min|h|d|day|days) *)+$";
/// A size, as [`super::units`] reads it.
const SIZE: &str = "^ *[0-9.]+ *([kKmMgGtT][iI]?)?[bB] *$";

/// The schema of the whole file.
pub(crate) fn schema() -> Value {
    let mut properties = keys_of("");
    for (section, about) in SECTIONS {
        let table = table(keys_of(section), about);
        properties.insert(section.to_owned(), table);
    }
    properties.insert("site".to_owned(), sites());
    let mut whole = table(properties, "The configuration of a crawl by geomi.");
    let head = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "geomi.toml",
    });
    if let (Value::Object(whole), Value::Object(head)) = (&mut whole, head) {
        whole.extend(head);
    }
    whole
}

fn sites() -> Value {
    let properties = SITE_KEYS.iter().map(|key| (key.name().to_owned(), of(key)));
    let mut table = table(properties.collect(), "One or more sites.");
    table["required"] = json!([MATCH]);
    json!({ "type": "array", "description": site_keys::ABOUT, "items": table })
}

fn keys_of(section: &str) -> Map<String, Value> {
    let keys = KEYS.iter().filter(|key| key.section() == section);
    keys.map(|key| (key.name().to_owned(), of(key))).collect()
}

fn table(properties: Map<String, Value>, about: &str) -> Value {
    json!({
        "type": "object",
        "description": about,
        "properties": properties,
        "additionalProperties": false,
    })
}

/// One key: its shape, its sentence, and its default or an example.
fn of(key: &Key) -> Value {
    let mut schema = shape(key.kind);
    schema["description"] = json!(key.doc);
    match key.default {
        Some(default) => schema["default"] = value(default),
        None => schema["examples"] = json!([value(key.example)]),
    }
    schema
}

/// What a value looks like.
fn shape(kind: Kind) -> Value {
    let words = || json!({ "type": "array", "items": { "type": "string" } });
    match kind {
        Kind::Count(least, most, _) => whole_number(least, most),
        Kind::MaybeCount(least, most, _) => or("none", whole_number(least, most)),
        Kind::Duration(_) | Kind::Timeout(_) | Kind::Period(..) => text(DURATION),
        Kind::MaybeDuration(_) => or("none", text(DURATION)),
        Kind::Delay(_) => or("adaptive", text(DURATION)),
        Kind::Size(..) => text(SIZE),
        Kind::MaybeSize(_) => or("none", text(SIZE)),
        Kind::Text(_) | Kind::MaybeText(_) => json!({ "type": "string" }),
        Kind::Choice(words, _) => json!({ "type": "string", "enum": words }),
        Kind::MaybeChoice(words, _) => {
            let all: Vec<&str> = words.iter().copied().chain(["none"]).collect();
            json!({ "type": "string", "enum": all })
        }
        Kind::Flag(_) => json!({ "type": "boolean" }),
        Kind::List(_) | Kind::Words(_) => words(),
        Kind::OneOrMore(_) => json!({ "anyOf": [{ "type": "string" }, words()] }),
    }
}

fn whole_number(least: u64, most: u64) -> Value {
    json!({ "type": "integer", "minimum": least, "maximum": most })
}

fn text(pattern: &str) -> Value {
    json!({ "type": "string", "pattern": pattern })
}

/// A shape, or this word.
fn or(word: &str, shape: Value) -> Value {
    json!({ "anyOf": [shape, { "const": word }] })
}

/// A value of the table of keys as JSON.
fn value(toml: &str) -> Value {
    match read_value(toml) {
        Some(Raw::Bool(flag)) => json!(flag),
        Some(Raw::Integer(number)) => json!(number),
        Some(Raw::Text(text)) => json!(text),
        Some(Raw::List(list)) => json!(list),
        other => unreachable!("{toml} is a value of the table: {other:?}"),
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use regex::Regex;
    use toml_edit::{Document, Item};

    use super::super::file::{as_used, read, template, uncommented_template};
    use super::super::place::Problems;
    use super::super::presets::PRESETS;
    use super::super::written::Written;
    use super::*;

    /// The words of JSON schema used above, and no others.
    fn faults(schema: &Value, value: &Value, at: &str) -> Vec<String> {
        let mut found = Vec::new();
        for (word, rule) in schema.as_object().unwrap() {
            let fits = match word.as_str() {
                "$schema" | "title" | "description" | "default" | "examples" => true,
                "type" => match rule.as_str().unwrap() {
                    "object" => value.is_object(),
                    "array" => value.is_array(),
                    "string" => value.is_string(),
                    "integer" => value.is_i64() || value.is_u64(),
                    "boolean" => value.is_boolean(),
                    other => panic!("{other} is no type used here"),
                },
                "enum" => rule.as_array().unwrap().contains(value),
                "const" => rule == value,
                "minimum" => value.as_u64().is_some_and(|n| n >= rule.as_u64().unwrap()),
                "maximum" => value.as_u64().is_some_and(|n| n <= rule.as_u64().unwrap()),
                "pattern" => {
                    let pattern = Regex::new(rule.as_str().unwrap()).unwrap();
                    value.as_str().is_some_and(|text| pattern.is_match(text))
                }
                "anyOf" => {
                    let mut shapes = rule.as_array().unwrap().iter();
                    shapes.any(|shape| faults(shape, value, at).is_empty())
                }
                "required" => {
                    let mut names = rule.as_array().unwrap().iter();
                    names.all(|name| value.get(name.as_str().unwrap()).is_some())
                }
                "additionalProperties" => {
                    assert_eq!(*rule, json!(false));
                    let known = schema["properties"].as_object().unwrap();
                    let mut names = value.as_object().into_iter().flat_map(Map::keys);
                    names.all(|name| known.contains_key(name))
                }
                "items" => {
                    let items = value.as_array().into_iter().flatten();
                    found.extend(items.flat_map(|item| faults(rule, item, at)));
                    true
                }
                "properties" => {
                    for (name, shape) in rule.as_object().unwrap() {
                        if let Some(inner) = value.get(name) {
                            found.extend(faults(shape, inner, &format!("{at}.{name}")));
                        }
                    }
                    true
                }
                other => panic!("{other} is no word used here"),
            };
            if !fits {
                found.push(format!("{at}: {word} {rule} against {value}"));
            }
        }
        found
    }

    fn to_json(item: &Item) -> Value {
        if let Some(tables) = item.as_array_of_tables() {
            let tables = tables
                .iter()
                .map(|table| to_json(&Item::Table(table.clone())));
            return tables.collect();
        }
        if let Some(table) = item.as_table_like() {
            let entries = table
                .iter()
                .map(|(name, item)| (name.to_owned(), to_json(item)));
            return Value::Object(entries.collect());
        }
        if let Some(array) = item.as_array() {
            return array
                .iter()
                .map(|value| to_json(&Item::Value(value.clone())))
                .collect();
        }
        match (item.as_str(), item.as_integer(), item.as_bool()) {
            (Some(text), ..) => json!(text),
            (_, Some(number), _) => json!(number),
            (.., Some(flag)) => json!(flag),
            _ => panic!("{item} is nothing geomi.toml holds"),
        }
    }

    fn check(text: &str) -> Vec<String> {
        let document = Document::parse(text).unwrap();
        faults(&schema(), &to_json(document.as_item()), "")
    }

    #[test]
    fn every_key_is_described() {
        let schema = schema();
        for key in KEYS {
            let section = match key.section() {
                "" => &schema,
                section => &schema["properties"][section],
            };
            let described = &section["properties"][key.name()];
            assert_eq!(described["description"], key.doc, "{}", key.path);
            assert_eq!(described.get("default").is_some(), key.default.is_some());
        }
        for key in SITE_KEYS {
            let described = &schema["properties"]["site"]["items"]["properties"][key.name()];
            assert_eq!(described["description"], key.doc, "{}", key.path);
        }
    }

    #[test]
    fn what_geomi_writes_is_valid() {
        assert_eq!(check(&template()), Vec::<String>::new());
        let uncommented = uncommented_template();
        assert_eq!(check(&uncommented), Vec::<String>::new());
        for preset in PRESETS {
            let (mut written, mut problems) = (Written::defaults(), Problems::default());
            let text = format!(
                "preset = \"{}\"\n[[site]]\nmatch = \"a.example\"\nsite_delay = \"adaptive\"\n",
                preset.name
            );
            assert_eq!(check(&text), Vec::<String>::new());
            read(Path::new("x"), &text, &mut written, &mut problems);
            written.fill_preset();
            assert_eq!(check(&as_used(&written)), Vec::<String>::new());
        }
    }

    #[test]
    fn what_geomi_refuses_is_not() {
        for wrong in [
            "[politeness]\nsite_dealy = \"1s\"",
            "[politeness]\nmax_wait = 30",
            "[politeness]\nmax_wait = \"30\"",
            "[politeness]\nsite_delay = \"fast\"",
            "[fetch]\nbody_max = \"8 parsecs\"",
            "[crawl]\nconnections = 0",
            "[crawl]\norder = \"sideways\"",
            "[polite]\nx = 1",
            "[scope]\ninclude = \"*x\"",
            "preset = \"fast\"",
            "[[site]]\ndepth = 1",
            "[[site]]\nmatch = \"x\"\ndelay = \"5s\"",
        ] {
            assert!(!check(wrong).is_empty(), "{wrong}");
        }
    }
}
