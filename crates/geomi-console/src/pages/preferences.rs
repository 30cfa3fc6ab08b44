//! Language and theme: cookies that say nothing about anybody.

use axum::response::{IntoResponse as _, Redirect, Response};
use http::{HeaderMap, HeaderValue, header};
use serde::Deserialize;

use crate::http::extract::Form;
use crate::http::guard::{Caller, cookie};
use crate::http::respond;
use crate::words::{self, Language, Words};

/// The cookie of the theme somebody chose.
const COOKIE: &str = "geomi_theme";
/// A year.
const KEEP_SECONDS: u32 = 31_536_000;

/// How bright a page is.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub(crate) enum Theme {
    /// As the system says.
    #[default]
    System,
    Light,
    Dark,
}

impl Theme {
    const ALL: [Self; 3] = [Self::System, Self::Light, Self::Dark];

    pub(crate) const fn code(self) -> &'static str {
        match self {
            Self::System => "system",
            Self::Light => "light",
            Self::Dark => "dark",
        }
    }

    fn from_code(code: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|theme| theme.code() == code)
    }

    /// What the style sheet looks at; nothing where the system decides.
    pub(crate) fn attribute(self) -> Option<&'static str> {
        (self != Self::System).then_some(self.code())
    }

    /// The one the switch leads to.
    pub(crate) const fn next(self) -> Self {
        match self {
            Self::System => Self::Dark,
            Self::Dark => Self::Light,
            Self::Light => Self::System,
        }
    }

    pub(crate) const fn label(self, words: &Words) -> &'static str {
        match self {
            Self::System => words.theme_system,
            Self::Light => words.theme_light,
            Self::Dark => words.theme_dark,
        }
    }

    /// The theme somebody chose.
    pub(crate) fn of(headers: &HeaderMap) -> Self {
        cookie(headers, COOKIE)
            .and_then(Self::from_code)
            .unwrap_or_default()
    }
}

/// What was chosen, and where to go back to.
#[derive(Debug, Deserialize)]
pub(crate) struct Choice {
    language: Option<String>,
    theme: Option<String>,
    back: Option<String>,
}

/// Takes note of a choice.
pub(crate) async fn choose(caller: Caller, Form(choice): Form<Choice>) -> Response {
    let back = choice.back.as_deref().filter(|path| is_ours(path));
    let mut response = Redirect::to(back.unwrap_or("/")).into_response();
    let language = choice.language.as_deref().and_then(Language::from_code);
    let theme = choice.theme.as_deref().and_then(Theme::from_code);
    let cookies = [
        language.map(|language| (words::COOKIE, language.code())),
        theme.map(|theme| (COOKIE, theme.code())),
    ];
    for (name, value) in cookies.into_iter().flatten() {
        let secure = if caller.is_secure { "; Secure" } else { "" };
        let text = format!(
            "{name}={value}; Path=/; SameSite=Lax; HttpOnly; Max-Age={KEEP_SECONDS}{secure}"
        );
        let value = HeaderValue::from_str(&text).expect("codes are plain text");
        response = respond::and(response, header::SET_COOKIE, value);
    }
    response
}

/// A path of this server, and not the address of another.
pub(crate) fn is_ours(path: &str) -> bool {
    path.starts_with('/')
        && !path.starts_with("//")
        && path.chars().all(|c| c.is_ascii_graphic() && c != '\\')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nobody_is_sent_elsewhere() {
        for path in [
            "//evil.test",
            "https://evil.test",
            "/\\evil.test",
            "/a\nb",
            "",
        ] {
            assert!(!is_ours(path), "{path:?}");
        }
        assert!(is_ours("/crawls/a~2Fb/log?state=cErr"));
    }

    #[test]
    fn the_switch_goes_round() {
        let mut theme = Theme::default();
        for _ in 0..3 {
            theme = theme.next();
        }
        assert_eq!(theme, Theme::default());
    }
}
