//! CSV (RFC 4180): the one writer of all tables geomi prints or exports.
//!
//! Spreadsheets run a cell that begins with `=`, `+`, `-` or `@` as a formula, and
//! cells hold text of strangers: titles, content types, names of servers. Such a
//! cell gets an apostrophe in front, which spreadsheets take as "this is text".
//! Numbers stay numbers, negative ones too.

/// One line of fields, without its end.
pub(crate) fn line<T: AsRef<str>>(fields: impl IntoIterator<Item = T>) -> String {
    let mut line = String::new();
    for (at, text) in fields.into_iter().enumerate() {
        if at > 0 {
            line.push(',');
        }
        put(&mut line, text.as_ref());
    }
    line
}

/// One field, quoted where it must be.
pub(crate) fn field(text: &str) -> String {
    let mut field = String::new();
    put(&mut field, text);
    field
}

fn put(line: &mut String, text: &str) {
    let guard = if is_formula(text) { "'" } else { "" };
    if text.contains([',', '"', '\n', '\r']) {
        line.extend(["\"", guard, &text.replace('"', "\"\""), "\""]);
    } else {
        line.extend([guard, text]);
    }
}

/// Whether a spreadsheet would read the text as a formula. Some skip blanks and
/// controls before one, and some know the wide forms of the characters.
fn is_formula(text: &str) -> bool {
    let is_blank = |c: char| c.is_whitespace() || c.is_control();
    let shown = text.trim_start_matches(is_blank);
    match shown.chars().next() {
        Some('=' | '@' | '＝' | '＠' | '＋' | '－') => true,
        Some('+' | '-') => text.parse::<f64>().is_err(),
        _ => text.starts_with(['\t', '\r', '\n']),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_needs_quotes_has_them() {
        assert_eq!(
            line(["plain", "a,b", "say \"no\"", "two\nlines", ""]),
            "plain,\"a,b\",\"say \"\"no\"\"\",\"two\nlines\","
        );
    }

    #[test]
    fn no_cell_is_a_formula() {
        for (text, cell) in [
            ("=1+1", "'=1+1"),
            (
                "=HYPERLINK(\"http://x\",\"y\")",
                "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\"",
            ),
            ("+1-800", "'+1-800"),
            ("-2+3+cmd|' /C calc'!A0", "'-2+3+cmd|' /C calc'!A0"),
            ("@SUM(A1)", "'@SUM(A1)"),
            ("\t=1", "'\t=1"),
            ("\r=1", "\"'\r=1\""),
            ("＝1", "'＝1"),
            (" =1+1", "' =1+1"),
            ("\0=1", "'\0=1"),
            ("\u{a0}@x", "'\u{a0}@x"),
            ("-", "'-"),
        ] {
            assert_eq!(field(text), cell);
        }
        for text in ["-1.5", "+2", "-1e-9", "0", "a=b", "http://a.test/?=1"] {
            assert_eq!(field(text), text);
        }
    }
}
