//! What a file of the mirror is: how it is treated, and how its name ends.

/// A kind of content.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct FileKind<'a> {
    /// How it is treated.
    pub(super) treatment: Treatment,
    mime: &'a str,
}

/// What happens to content on its way into the mirror.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum Treatment {
    /// Links and charset are changed.
    Html,
    /// Links and charset are changed.
    StyleSheet,
    /// It becomes UTF-8, as the pages that include it are.
    Script,
    /// It becomes UTF-8 with a byte order mark, where that is needed.
    Text,
    /// Nothing.
    AsIs,
}

/// Types and the extensions that fit them; the first is added where none does.
const EXTENSIONS: &[(&str, &[&str])] = &[
    ("text/html", &["html", "htm"]),
    ("application/xhtml+xml", &["html", "htm"]),
    ("text/css", &["css"]),
    ("text/javascript", &["js", "mjs"]),
    ("application/javascript", &["js", "mjs"]),
    ("application/x-javascript", &["js", "mjs"]),
    (
        "text/plain",
        &[
            "txt", "text", "log", "md", "csv", "tsv", "ini", "conf", "asc", "c", "h", "py", "rs",
            "java",
        ],
    ),
    ("text/csv", &["csv"]),
    ("text/xml", &["xml", "rss", "atom", "xsl", "xsd"]),
    ("application/xml", &["xml", "rss", "atom", "xsl", "xsd"]),
    ("application/rss+xml", &["xml", "rss"]),
    ("application/atom+xml", &["xml", "atom"]),
    ("application/json", &["json", "map"]),
    ("application/ld+json", &["json", "jsonld"]),
    ("application/pdf", &["pdf"]),
    ("application/zip", &["zip"]),
    ("application/gzip", &["gz", "tgz"]),
    ("application/wasm", &["wasm"]),
    ("image/png", &["png"]),
    ("image/jpeg", &["jpg", "jpeg", "jpe", "jfif"]),
    ("image/gif", &["gif"]),
    ("image/svg+xml", &["svg"]),
    ("image/webp", &["webp"]),
    ("image/avif", &["avif"]),
    ("image/bmp", &["bmp"]),
    ("image/tiff", &["tiff", "tif"]),
    ("image/x-icon", &["ico"]),
    ("image/vnd.microsoft.icon", &["ico"]),
    ("font/woff", &["woff"]),
    ("font/woff2", &["woff2"]),
    ("font/ttf", &["ttf"]),
    ("font/otf", &["otf"]),
    ("audio/mpeg", &["mp3"]),
    ("audio/ogg", &["ogg", "oga", "opus"]),
    ("audio/wav", &["wav"]),
    ("video/mp4", &["mp4", "m4v"]),
    ("video/webm", &["webm"]),
    ("video/ogg", &["ogv", "ogg"]),
];

impl<'a> FileKind<'a> {
    /// Of a media type as sent. Content without one that was read as a page is
    /// a page.
    pub(super) fn of(mime: Option<&'a str>, was_read: bool) -> Self {
        let mime = mime.map(str::trim).unwrap_or_default();
        let mime = if mime.contains('/') || !was_read {
            mime
        } else {
            "text/html"
        };
        let is = |name: &str| mime.eq_ignore_ascii_case(name);
        let treatment = if is("text/html") || is("application/xhtml+xml") {
            Treatment::Html
        } else if is("text/css") {
            Treatment::StyleSheet
        } else if is("text/javascript")
            || is("application/javascript")
            || is("application/x-javascript")
        {
            Treatment::Script
        } else if is("text/plain") || is("text/csv") {
            Treatment::Text
        } else {
            Treatment::AsIs
        };
        Self { treatment, mime }
    }

    /// The extension to add where there is none that fits; none for types we
    /// cannot name.
    pub(super) fn extension(self) -> Option<&'static str> {
        self.extensions().map(|known| known[0])
    }

    /// Whether an extension found in a URL may stay.
    pub(super) fn keeps(self, extension: &str) -> bool {
        let is_extension = extension.len() <= 8
            && !extension.is_empty()
            && extension.bytes().all(|byte| byte.is_ascii_alphanumeric());
        is_extension
            && self
                .extensions()
                .is_none_or(|known| known.iter().any(|one| one.eq_ignore_ascii_case(extension)))
    }

    fn extensions(self) -> Option<&'static [&'static str]> {
        let known = EXTENSIONS.iter();
        let mut known = known.filter(|(mime, _)| mime.eq_ignore_ascii_case(self.mime));
        known.next().map(|(_, extensions)| *extensions)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn types_in_any_case_and_none_at_all() {
        let html = FileKind::of(Some("Text/HTML"), false);
        assert_eq!(
            (html.treatment, html.extension()),
            (Treatment::Html, Some("html"))
        );
        assert_eq!(FileKind::of(None, true).treatment, Treatment::Html);
        let unknown = FileKind::of(None, false);
        assert_eq!(
            (unknown.treatment, unknown.extension()),
            (Treatment::AsIs, None)
        );
        assert!(unknown.keeps("dat") && !unknown.keeps("a b") && !html.keeps("php"));
        assert!(EXTENSIONS.iter().all(|(_, known)| !known.is_empty()));
    }
}
