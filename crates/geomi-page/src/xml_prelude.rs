//! What stands before the first element of an XML document: its document type with
//! entities of its own, and processing instructions that name style sheets.
//!
//! Only entities whose value is plain text are replaced, so that replacing cannot
//! nest, and only until the text has grown by [`GROWTH_BYTES_MAX`]. Nothing is ever
//! fetched.

use std::borrow::Cow;

use memchr::{memchr, memchr2, memmem};

/// Bytes in which a document type may begin.
const PRELUDE_BYTES_MAX: usize = 16 * 1024;
/// Entities of one document that are known.
const ENTITIES_MAX: usize = 64;
/// Bytes of an entity's value; longer ones are not replaced.
const VALUE_BYTES_MAX: usize = 2 * 1024;
/// Bytes that replacing entities may add.
const GROWTH_BYTES_MAX: usize = 1 << 20;

/// The text without what its document type declares, entities replaced by their
/// values.
pub(crate) fn without_declarations(text: &str) -> Cow<'_, str> {
    let Some((start, end)) = internal_subset(text) else {
        return Cow::Borrowed(text);
    };
    let entities = entities(&text[start..end]);
    let mut out = String::with_capacity(text.len());
    out.push_str(&text[..start]);
    let mut rest = text[end..].trim_start_matches([']', ' ', '\t', '\r', '\n']);
    let mut growth_left = GROWTH_BYTES_MAX;
    while !entities.is_empty()
        && let Some(at) = memchr(b'&', rest.as_bytes())
    {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let name_end = rest.bytes().skip(1).take(64).position(|byte| byte == b';');
        let name = name_end.map(|length| &rest[1..=length]);
        let known = name.and_then(|name| entities.iter().find(|(known, _)| *known == name));
        if let Some((name, value)) = known
            && value.len() <= growth_left
        {
            growth_left -= value.len();
            out.push_str(value);
            rest = &rest[name.len() + 2..];
        } else {
            out.push('&');
            rest = &rest[1..];
        }
    }
    out.push_str(rest);
    Cow::Owned(out)
}

/// Where the declarations of a `<!DOCTYPE x [ … ]>` begin and end.
fn internal_subset(text: &str) -> Option<(usize, usize)> {
    let bytes = text.as_bytes();
    let head = &bytes[..bytes.len().min(PRELUDE_BYTES_MAX)];
    let doctype = memmem::find(head, b"<!DOCTYPE")?;
    let open = doctype + memchr2(b'[', b'>', &head[doctype..])?;
    if bytes[open] == b'>' {
        return None;
    }
    // Quoted values may hold brackets.
    let mut at = open + 1;
    while let Some(&byte) = head.get(at) {
        match byte {
            b'"' | b'\'' => at += 1 + memchr(byte, head.get(at + 1..)?)?,
            b']' => return Some((open, at)),
            _ => {}
        }
        at += 1;
    }
    None
}

/// Names and values of the entities that are plain text.
fn entities(declarations: &str) -> Vec<(&str, &str)> {
    let mut found: Vec<(&str, &str)> = Vec::new();
    for declaration in declarations.split("<!ENTITY").skip(1).take(ENTITIES_MAX) {
        let declaration = declaration.trim_ascii_start();
        let Some((name, rest)) = declaration.split_once(|c: char| c.is_ascii_whitespace()) else {
            continue;
        };
        let rest = rest.trim_ascii_start();
        let Some(quote @ ('"' | '\'')) = rest.chars().next() else {
            // `SYSTEM "…"` names a file, `%` a part of the document type.
            continue;
        };
        let Some((value, _)) = rest[1..].split_once(quote) else {
            continue;
        };
        let is_plain = !value.contains(['&', '%', '<']) && value.len() <= VALUE_BYTES_MAX;
        if is_plain && !found.iter().any(|(known, _)| *known == name) {
            found.push((name, value));
        }
    }
    found
}

/// The `href` of an `<?xml-stylesheet …?>`, given what stands between `<?` and
/// `?>`.
pub(crate) fn style_sheet_of(instruction: &str) -> Option<&str> {
    let mut rest = instruction.strip_prefix("xml-stylesheet")?;
    while let Some((name, after)) = rest.split_once('=') {
        let after = after.trim_ascii_start();
        let quote = after.chars().next().filter(|c| matches!(c, '"' | '\''))?;
        let (value, next) = after[1..].split_once(quote)?;
        if name.trim_ascii() == "href" {
            return Some(value);
        }
        rest = next;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn entities_of_the_document_are_replaced() {
        let page =
            "<!DOCTYPE svg [<!ENTITY u \"/x>]\"> <!ENTITY % p 'q'>\n]><a href='&u;&v;&amp;'/>";
        assert_eq!(
            without_declarations(page),
            "<!DOCTYPE svg ><a href='/x>]&v;&amp;'/>"
        );
        for same in ["<!DOCTYPE html><a>[]", "<a/>", "<!DOCTYPE x [", "<!DOCTYPE"] {
            assert_eq!(without_declarations(same), same);
        }
    }

    #[test]
    fn entities_do_not_nest_and_growth_is_bounded() {
        let nested = "<!DOCTYPE a [<!ENTITY x 'xx'><!ENTITY y '&x;&x;'>]>&y;&x;";
        assert_eq!(without_declarations(nested), "<!DOCTYPE a >&y;xx");
        let value = "v".repeat(VALUE_BYTES_MAX);
        let bomb = format!(
            "<!DOCTYPE a [<!ENTITY x '{value}'>]>{}",
            "&x;".repeat(10_000)
        );
        assert!(without_declarations(&bomb).len() <= bomb.len() + GROWTH_BYTES_MAX);
    }

    #[test]
    fn style_sheets_are_named() {
        let of = style_sheet_of;
        assert_eq!(of("xml-stylesheet type=\"a\" href = '/x'"), Some("/x"));
        assert_eq!(of("xml-stylesheet href=x"), None);
        assert_eq!(of("xml-stylesheet type='a'"), None);
        assert_eq!(of("xml version='1.0' href='x'"), None);
    }
}
