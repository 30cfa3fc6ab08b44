//! `data:` URLs that hold text: a style sheet or a page inside an address.

use std::borrow::Cow;

use crate::values::percent_decoded;

/// Bytes of a `data:` URL that is looked into.
const BYTES_MAX: usize = 64 * 1024;

/// What a `data:` URL holds.
pub(crate) struct DataUrl<'a> {
    /// The media type in lower case, without parameters.
    pub(crate) mime: String,
    pub(crate) text: Cow<'a, str>,
}

/// Whether an address is a `data:` URL.
pub(crate) fn is_data(address: &str) -> bool {
    let start = address.trim_ascii_start().as_bytes().get(..5);
    start.is_some_and(|start| start.eq_ignore_ascii_case(b"data:"))
}

/// Takes a `data:` URL of one of these types apart.
pub(crate) fn parse<'a>(address: &'a str, types: &[&str]) -> Option<DataUrl<'a>> {
    let address = address.trim_ascii();
    if !is_data(address) || address.len() > BYTES_MAX {
        return None;
    }
    let (head, data) = address[5..].split_once(',')?;
    let mut parameters = head.split(';').map(str::trim_ascii);
    let mime = parameters.next().unwrap_or_default().to_ascii_lowercase();
    if !types.contains(&&*mime) {
        return None;
    }
    let is_base64 = parameters.any(|it| it.eq_ignore_ascii_case("base64"));
    let text = if is_base64 {
        let bytes = base64(percent_decoded(data).as_bytes());
        Cow::Owned(String::from_utf8_lossy(&bytes).into_owned())
    } else {
        // What follows a `#` is a place in the document.
        percent_decoded(data.split('#').next().unwrap_or(data))
    };
    Some(DataUrl { mime, text })
}

/// Decodes base64 as far as it is valid, white space left out.
fn base64(text: &[u8]) -> Vec<u8> {
    let mut out = Vec::with_capacity(text.len() / 4 * 3);
    let (mut bits, mut count) = (0_u32, 0);
    for &byte in text {
        let value = match byte {
            b'A'..=b'Z' => byte - b'A',
            b'a'..=b'z' => byte - b'a' + 26,
            b'0'..=b'9' => byte - b'0' + 52,
            b'+' | b'-' => 62,
            b'/' | b'_' => 63,
            _ if byte.is_ascii_whitespace() => continue,
            _ => break,
        };
        bits = (bits << 6 | u32::from(value)) & 0xFF_FFFF;
        count += 6;
        if count >= 8 {
            count -= 8;
            out.push((bits >> count & 0xFF) as u8);
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_taken_out() {
        let of = |url| parse(url, &["text/css"]).map(|it| it.text.into_owned());
        assert_eq!(of("data:text/css,a%20b,c#d").as_deref(), Some("a b,c"));
        let base64 = " DATA:text/CSS;charset=utf-8;base64,YSBi\nYw==";
        assert_eq!(of(base64).as_deref(), Some("a bc"));
        for none in ["data:text/html,x", "data:text/css", "x", "data:", ""] {
            assert_eq!(of(none), None, "{none}");
        }
        assert_eq!(
            of(&format!("data:text/css,{}", "x".repeat(BYTES_MAX))),
            None
        );
    }
}
