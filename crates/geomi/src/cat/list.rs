//! The captures of a URL as a table.

use geomi_model::Timestamp;
use geomi_store::cdxj::Entry;
use serde_json::{Value, json};

use crate::args::Format;
use crate::csv;
use crate::table;

const COLUMNS: [&str; 9] = [
    "time", "status", "mime", "digest", "length", "file", "offset", "revisit", "url",
];

/// All captures in the form that is wanted.
pub(super) fn listed(entries: &[Entry], format: Format) -> String {
    match format {
        Format::Human => for_people(entries),
        Format::Json => {
            let all: Vec<Value> = entries.iter().map(object).collect();
            format!("{:#}", Value::Array(all))
        }
        Format::Jsonl => {
            let lines: Vec<String> = entries.iter().map(|one| object(one).to_string()).collect();
            lines.join("\n")
        }
        Format::Csv => {
            let rows = entries.iter().map(|entry| csv::line(fields(entry)));
            let names = std::iter::once(COLUMNS.join(","));
            names.chain(rows).collect::<Vec<_>>().join("\n")
        }
    }
}

/// One capture as an object.
pub(super) fn object(entry: &Entry) -> Value {
    let number = |text: &str| text.parse::<u64>().ok();
    let fields = &entry.fields;
    json!({
        "url": fields.url,
        "time": time(entry),
        "status": fields.status.as_deref().and_then(number),
        "mime": fields.mime,
        "digest": fields.digest,
        "length": number(&fields.length),
        "file": fields.filename,
        "offset": number(&fields.offset),
        "revisit": entry.is_revisit(),
    })
}

/// The time of a capture as RFC 3339.
pub(super) fn time(entry: &Entry) -> String {
    Timestamp::parse_compact(&entry.timestamp)
        .map_or_else(|| entry.timestamp.clone(), Timestamp::to_rfc3339_secs)
}

fn for_people(entries: &[Entry]) -> String {
    let mut lines = vec![COLUMNS.map(str::to_owned).to_vec()];
    lines.extend(entries.iter().map(|entry| fields(entry).to_vec()));
    let columns = table::columns(&lines, |at| matches!(at, 1 | 4 | 6));
    let lines: Vec<String> = lines
        .iter()
        .map(|line| table::aligned(line, &columns))
        .collect();
    lines.join("\n")
}

fn fields(entry: &Entry) -> [String; 9] {
    let fields = &entry.fields;
    let or_none = |field: &Option<String>| field.clone().unwrap_or_else(|| "-".to_owned());
    [
        time(entry),
        or_none(&fields.status),
        or_none(&fields.mime),
        or_none(&fields.digest),
        fields.length.clone(),
        fields.filename.clone(),
        fields.offset.clone(),
        if entry.is_revisit() { "yes" } else { "no" }.to_owned(),
        fields.url.clone(),
    ]
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entries() -> Vec<Entry> {
        let line = |time: &str, mime: &str| {
            format!(
                "com,example)/ {time} {{\"url\": \"http://example.com/?a,b\", \"mime\": \"{mime}\", \"status\": \"200\", \"digest\": \"sha1:X\", \"length\": \"31\", \"offset\": \"400\", \"filename\": \"a.warc.gz\"}}"
            )
        };
        ["text/html", "warc/revisit"]
            .iter()
            .map(|mime| Entry::parse(&line("20261115094200", mime)).unwrap())
            .collect()
    }

    #[test]
    fn every_form_has_every_capture() {
        let all = entries();
        let human = listed(&all, Format::Human);
        assert_eq!(human.lines().count(), 3, "{human}");
        assert!(
            human.contains("2026-11-15T09:42:00Z     200  warc/revisit"),
            "{human}"
        );
        let json: Value = serde_json::from_str(&listed(&all, Format::Json)).unwrap();
        assert_eq!(json[1]["revisit"], true);
        assert_eq!(json[0]["offset"], 400);
        let lines = listed(&all, Format::Jsonl);
        assert_eq!(lines.lines().count(), 2);
        let csv = listed(&all, Format::Csv);
        let expected = "2026-11-15T09:42:00Z,200,text/html,sha1:X,31,a.warc.gz,400,no,\"http://example.com/?a,b\"";
        assert_eq!(csv.lines().nth(1), Some(expected));
    }
}
