//! A section as CSV (RFC 4180): a line of names, then a line for each row.

use geomi_report::Section;

/// The rows of a section, or its facts where it has no rows.
pub(super) fn section(section: &Section) -> String {
    let mut lines = Vec::with_capacity(section.rows.len() + 1);
    if section.columns.is_empty() {
        lines.push("name,value".to_owned());
        let facts = section.facts.iter();
        lines.extend(facts.map(|(name, value)| line([(*name).to_owned(), value.to_plain()])));
    } else {
        lines.push(section.columns.join(","));
        let rows = section.rows.iter();
        lines.extend(rows.map(|row| line(row.iter().map(geomi_report::Value::to_plain))));
    }
    lines.join("\n")
}

/// One line of fields, quoted where they must be.
pub(crate) fn line(fields: impl IntoIterator<Item = String>) -> String {
    let fields: Vec<String> = fields.into_iter().map(quoted).collect();
    fields.join(",")
}

fn quoted(field: String) -> String {
    if field.contains([',', '"', '\n', '\r']) {
        return format!("\"{}\"", field.replace('"', "\"\""));
    }
    field
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_needs_quotes_has_them() {
        let fields = ["plain", "a,b", "say \"no\"", "two\nlines", ""];
        assert_eq!(
            line(fields.map(str::to_owned)),
            "plain,\"a,b\",\"say \"\"no\"\"\",\"two\nlines\","
        );
    }
}
