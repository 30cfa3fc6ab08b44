//! CSV (RFC 4180): the one writer of all tables geomi prints or exports.

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
    if text.contains([',', '"', '\n', '\r']) {
        line.extend(["\"", &text.replace('"', "\"\""), "\""]);
    } else {
        line.push_str(text);
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
}
