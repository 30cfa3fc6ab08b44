//! Tables for people: columns aligned, however wide a character is.
//!
//! A field is one line and safe for a terminal, whoever wrote it.

use unicode_width::UnicodeWidthStr as _;

use crate::terminal::one_line;

/// A column: its width, and whether it is aligned to the right.
pub(crate) type Column = (usize, bool);

/// The columns of some lines, all with as many fields; `is_right` says by the
/// place of a column how it is aligned.
pub(crate) fn columns(lines: &[Vec<String>], is_right: impl Fn(usize) -> bool) -> Vec<Column> {
    let count = lines.first().map_or(0, Vec::len);
    let width = |at: usize| {
        let widths = lines.iter().map(|line| one_line(&line[at]).width());
        widths.max().unwrap_or(0)
    };
    (0..count).map(|at| (width(at), is_right(at))).collect()
}

/// One line, with two blanks between columns and none at its end.
pub(crate) fn aligned(line: &[String], columns: &[Column]) -> String {
    let mut text = String::new();
    for (at, (field, (width, is_right))) in line.iter().zip(columns).enumerate() {
        let field = &*one_line(field);
        let pad = " ".repeat(width.saturating_sub(field.width()));
        let is_last = at + 1 == columns.len();
        if at > 0 {
            text.push_str("  ");
        }
        match (is_right, is_last) {
            (true, _) => text.extend([pad.as_str(), field]),
            (false, true) => text.push_str(field),
            (false, false) => text.extend([field, pad.as_str()]),
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn wide_characters_and_numbers_are_aligned() {
        let line = |fields: [&str; 3]| fields.map(str::to_owned).to_vec();
        let lines = [line(["name", "n", "note"]), line(["거미", "1,234", "x"])];
        let columns = columns(&lines, |at| at == 1);
        let shown: Vec<String> = lines.iter().map(|line| aligned(line, &columns)).collect();
        assert_eq!(shown, ["name      n  note", "거미  1,234  x"]);
    }

    #[test]
    fn a_field_of_a_stranger_is_one_line() {
        let line = |first: &str| vec![first.to_owned(), "2".to_owned()];
        let lines = [line("a\nb\x1b[2J"), line("a")];
        let columns = columns(&lines, |_| false);
        assert_eq!(aligned(&lines[0], &columns), "a\\u000ab\\u001b[2J  2");
        assert_eq!(aligned(&lines[1], &columns), "a                  2");
    }
}
