//! A request target taken apart.

/// Path segments and parameters, percent-decoded.
pub(crate) struct Target {
    pub(crate) path: String,
    pub(crate) query: Vec<(String, String)>,
}

impl Target {
    pub(crate) fn parse(target: &str) -> Self {
        let (path, query) = target.split_once('?').unwrap_or((target, ""));
        let pairs = query.split('&').filter(|pair| !pair.is_empty());
        Self {
            path: decoded(path),
            query: pairs
                .map(|pair| pair.split_once('=').unwrap_or((pair, "")))
                .map(|(name, value)| (decoded(name), decoded(value)))
                .collect(),
        }
    }

    /// The segments of the path without the empty ones.
    pub(crate) fn parts(&self) -> Vec<&str> {
        self.path
            .split('/')
            .filter(|part| !part.is_empty())
            .collect()
    }

    pub(crate) fn value(&self, name: &str) -> Option<&str> {
        let mut pairs = self.query.iter();
        let (_, value) = pairs.find(|(own, _)| own == name)?;
        Some(value)
    }

    pub(crate) fn number(&self, name: &str) -> Option<u32> {
        self.value(name)?.parse().ok()
    }

    /// The list page asked for: 1 where none is named.
    pub(crate) fn page(&self) -> Option<u32> {
        match self.value("page") {
            None => Some(1),
            Some(text) => text.parse().ok(),
        }
    }
}

fn decoded(text: &str) -> String {
    let bytes = text.as_bytes();
    let mut out = Vec::with_capacity(bytes.len());
    let mut at = 0;
    while let Some(&byte) = bytes.get(at) {
        let hex = text.get(at + 1..at + 3).filter(|_| byte == b'%');
        let value = hex.and_then(|hex| u8::from_str_radix(hex, 16).ok());
        out.push(value.unwrap_or(byte));
        at += if value.is_some() { 3 } else { 1 };
    }
    String::from_utf8_lossy(&out).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_and_parameters_are_decoded() {
        let target = Target::parse("/a/%EA%B0%80/?page=7&x=%26&y");
        assert_eq!(target.parts(), ["a", "가"]);
        assert_eq!((target.page(), target.value("x")), (Some(7), Some("&")));
        assert_eq!(target.value("y"), Some(""));
        assert_eq!(Target::parse("/?page=x").page(), None);
    }
}
