//! Session ids in every link, another on every page.

use geomi_model::Timestamp;

use super::Endless;
use crate::Answer;
use crate::dice::hash64;
use crate::finite::FiniteSite;

/// Where the id stands.
#[derive(Clone, Copy)]
pub(super) enum Session {
    AfterPath,
    Query,
    Path,
    /// In the first folder, after a word.
    Folder,
}

impl Session {
    pub(super) fn of(endless: Endless) -> Option<Self> {
        match endless {
            Endless::SessionAfterPath => Some(Self::AfterPath),
            Endless::SessionInQuery => Some(Self::Query),
            Endless::SessionInPath => Some(Self::Path),
            Endless::SessionInFolder => Some(Self::Folder),
            _ => None,
        }
    }

    pub(super) fn pattern(self) -> &'static str {
        match self {
            Self::AfterPath => ";jsessionid=[0-9A-F]+",
            Self::Query => "[?&]sid=[0-9a-f]+",
            Self::Path => r"/\(S\([0-9a-z]+\)\)",
            Self::Folder => "/s~[0-9a-f]+",
        }
    }

    /// A target without its session.
    fn plain(self, target: &str) -> String {
        let cut = |start: &str, end: &str| {
            let (before, rest) = target.split_once(start)?;
            let at = rest
                .find(|c: char| !c.is_ascii_alphanumeric())
                .unwrap_or(rest.len());
            Some(format!("{before}{}", rest[at..].strip_prefix(end)?))
        };
        let plain = match self {
            Self::AfterPath => cut(";jsessionid=", ""),
            Self::Query => cut("?sid=", "").or_else(|| cut("&sid=", "")),
            Self::Path => cut("/(S(", "))"),
            Self::Folder => cut("/s~", ""),
        };
        plain.unwrap_or_else(|| target.to_owned())
    }

    fn with_id(self, link: &str, id: u64) -> String {
        match self {
            Self::AfterPath => {
                let (path, query) = link.split_at(link.find('?').unwrap_or(link.len()));
                format!("{path};jsessionid={id:016X}{query}")
            }
            Self::Query if link.contains('?') => format!("{link}&amp;sid={id:032x}"),
            Self::Query => format!("{link}?sid={id:032x}"),
            Self::Path => format!("/(S({id:024x})){link}"),
            Self::Folder => format!("/s~{id:026x}{link}"),
        }
    }

    /// The page of the site beside it with this session in all links.
    pub(super) fn answer(self, site: &FiniteSite, host: &str, target: &str) -> Answer {
        let mut answer = site.answer(host, &self.plain(target), Timestamp::EPOCH);
        if target == "/robots.txt" || target.starts_with("/img/") {
            return answer;
        }
        let id = target
            .bytes()
            .fold(11, |draw, byte| hash64(draw ^ u64::from(byte)));
        let body = change_links(&answer.body, |link| self.with_id(link, id));
        answer.body = body.into();
        answer
    }
}

/// A page with other targets in all its links.
pub(super) fn change_links(html: &[u8], change: impl Fn(&str) -> String) -> String {
    let html = String::from_utf8_lossy(html);
    let mut parts = html.split("<a href=\"");
    let mut out = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        let (link, rest) = part.split_once('"').unwrap_or((part, ""));
        out.extend(["<a href=\"", &change(link), "\"", rest]);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_session_is_put_in_and_taken_out() {
        for session in [
            Session::AfterPath,
            Session::Query,
            Session::Path,
            Session::Folder,
        ] {
            for link in ["/", "/a/b", "/a.php?id=free&no=3"] {
                let with = session.with_id(link, 0xABC).replace("&amp;", "&");
                assert_ne!(with, link);
                assert_eq!(session.plain(&with), link);
                assert_eq!(session.plain(link), link);
            }
        }
    }
}
