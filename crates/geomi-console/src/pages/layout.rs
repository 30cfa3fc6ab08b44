//! The frame of every page: head, menu, switches, content.

use std::borrow::Cow;

use axum::extract::FromRequestParts;
use http::request::Parts;
use http::{HeaderMap, Uri};
use maud::{DOCTYPE, Markup, html};

use super::preferences::Theme;
use crate::accounts::Role;
use crate::http::assets::address;
use crate::http::guard::Caller;
use crate::http::problem::Problem;
use crate::words::{Language, Words};

/// htmx must not write styles into a page nor run text, which the policy would
/// refuse anyway.
const HTMX: &str = r#"{"includeIndicatorStyles":false,"allowEval":false,"historyCacheSize":0}"#;

/// Who looks, and how they want it.
#[derive(Clone, Debug)]
pub(crate) struct View {
    pub(crate) caller: Caller,
    pub(crate) language: Language,
    pub(crate) words: &'static Words,
    pub(crate) theme: Theme,
    /// The path of the page.
    pub(crate) place: String,
    /// The same with its query: where a switch leads back to.
    back: String,
}

impl View {
    /// Somebody who sent a request.
    pub(crate) fn new(caller: Caller, headers: &HeaderMap, uri: &Uri) -> Self {
        let language = Language::of(headers);
        Self {
            caller,
            language,
            words: language.words(),
            theme: Theme::of(headers),
            place: uri.path().to_owned(),
            back: place(uri).to_owned(),
        }
    }

    /// The hidden field every form of ours carries.
    pub(crate) fn csrf(&self) -> Markup {
        html! { input type="hidden" name="csrf" value=(self.caller.csrf()); }
    }

    /// Whether they may do what a role may.
    pub(crate) fn may(&self, role: Role) -> bool {
        self.caller.may(role)
    }
}

impl<S: Sync> FromRequestParts<S> for View {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let caller = Caller::from_request_parts(parts, state).await?;
        Ok(Self::new(caller, &parts.headers, &parts.uri))
    }
}

/// Path and query of an address.
pub(crate) fn place(uri: &Uri) -> &str {
    uri.path_and_query()
        .map_or(uri.path(), |place| place.as_str())
}

/// A page.
pub(crate) fn page(view: &View, title: &str, content: &Markup) -> Markup {
    framed(view, title, false, content)
}

/// A page that draws curves.
pub(crate) fn page_with_curves(view: &View, title: &str, content: &Markup) -> Markup {
    framed(view, title, true, content)
}

fn framed(view: &View, title: &str, has_curves: bool, content: &Markup) -> Markup {
    let words = view.words;
    html! {
        (DOCTYPE)
        html lang=(view.language.code()) data-theme=[view.theme.attribute()] {
            head {
                meta charset="utf-8";
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="description" content=(words.log_in_lead);
                meta name="htmx-config" content=(HTMX);
                title { (title) " · geomi" }
                link rel="icon" href=(address("favicon.svg")) type="image/svg+xml";
                @if has_curves { link rel="stylesheet" href=(address("uplot.css")); }
                link rel="stylesheet" href=(address("console.css"));
                script src=(address("htmx.js")) defer {}
                script src=(address("sse.js")) defer {}
                @if has_curves { script src=(address("uplot.js")) defer {} }
                script src=(address("console.js")) defer {}
            }
            body {
                a.skip href="#content" { (words.skip_to_content) }
                (header(view))
                main #content tabindex="-1" { (content) }
            }
        }
    }
}

fn header(view: &View) -> Markup {
    let words = view.words;
    let known = view.caller.principal.as_ref();
    html! {
        header.top {
            a.brand href="/" { span.mark aria-hidden="true" {} "geomi" }
            @if known.is_some() {
                nav.menu aria-label=(words.menu) {
                    (item("/", words.crawls, view.place == "/" || view.place.starts_with("/crawls")))
                    (item("/workers", words.workers, view.place == "/workers"))
                    (item("/settings", words.settings, view.place.starts_with("/settings")))
                }
            }
            div.switches {
                (switches(view))
                @if let Some(known) = known {
                    form method="post" action="/logout" {
                        (view.csrf())
                        button.quiet type="submit" title=(known.name) { (words.log_out) span.who { (known.id) } }
                    }
                }
            }
        }
    }
}

fn item(href: &str, text: &str, is_here: bool) -> Markup {
    html! { a href=(href) aria-current=[is_here.then_some("page")] { (text) } }
}

/// Language and theme, as buttons of a form: they work without scripts.
fn switches(view: &View) -> Markup {
    let words = view.words;
    let next = view.theme.next();
    html! {
        form.switch method="post" action="/preferences" {
            (view.csrf())
            input type="hidden" name="back" value=(view.back);
            @for language in Language::ALL {
                @if language != view.language {
                    button.quiet type="submit" name="language" value=(language.code()) lang=(language.code()) { (language.name()) }
                }
            }
            button.quiet.theme type="submit" name="theme" value=(next.code()) aria-label={ (words.theme) ": " (next.label(words)) } title=(next.label(words)) {
                span.theme-mark aria-hidden="true" {}
            }
        }
    }
}

/// Something to say where there is nothing to show.
pub(crate) fn empty(title: &str, text: &str) -> Markup {
    html! {
        div.empty {
            p.empty-title { (title) }
            p { (text) }
        }
    }
}

/// What went wrong, above what can be mended.
pub(crate) fn alert_of(words: &Words, problem: &Problem) -> Markup {
    let errors = problem.errors.iter();
    let errors: Vec<Cow<str>> = errors.map(|error| words.tell(error)).collect();
    alert(&words.tell(&problem.wrong), &errors)
}

/// Something is wrong, and with it single things.
pub(crate) fn alert(sentence: &str, errors: &[impl AsRef<str>]) -> Markup {
    html! {
        div.alert role="alert" {
            p { (sentence) }
            @if !errors.is_empty() {
                ul { @for error in errors { li { (error.as_ref()) } } }
            }
        }
    }
}
