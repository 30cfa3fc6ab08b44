//! User name and password in the text of a URL.

use std::borrow::Cow;

/// A URL as somebody wrote it, without the user name and password before its host.
///
/// For messages, logs and command lines. The text need not be a valid URL.
///
/// ```
/// let text = geomi_url::without_userinfo("http://me:secret@example.com/@home");
/// assert_eq!(text, "http://example.com/@home");
/// ```
pub fn without_userinfo(text: &str) -> Cow<'_, str> {
    let start = text.find("://").map_or(0, |at| at + 3);
    let (scheme, rest) = text.split_at(start);
    let end = rest.find(['/', '\\', '?', '#']).unwrap_or(rest.len());
    let (authority, path) = rest.split_at(end);
    match authority.rsplit_once('@') {
        None => Cow::Borrowed(text),
        Some((_, host)) => Cow::Owned(format!("{scheme}{host}{path}")),
    }
}

#[cfg(test)]
mod tests {
    use super::without_userinfo;

    #[test]
    fn only_what_stands_before_the_host_goes() {
        for (text, expected) in [
            ("http://example.com/", "http://example.com/"),
            ("http://me@example.com", "http://example.com"),
            (
                "https://a:b@c:d@example.com:8443/x?y=z@w",
                "https://example.com:8443/x?y=z@w",
            ),
            ("me:secret@example.com/a@b", "example.com/a@b"),
            ("example.com/@home", "example.com/@home"),
            ("", ""),
        ] {
            assert_eq!(without_userinfo(text), expected, "{text}");
        }
    }
}
