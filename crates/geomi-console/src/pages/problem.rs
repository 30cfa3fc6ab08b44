//! A problem as a page: what happened, and a way on.

use axum::response::Response;
use maud::html;

use super::layout::{self, View};
use super::preferences::Theme;
use crate::http::guard::Caller;
use crate::http::problem::Problem;
use crate::words::Language;

/// The page; it keeps the status of the problem.
pub(crate) fn page(
    problem: &Problem,
    caller: &Caller,
    language: Language,
    place: &str,
) -> Response {
    let view = View::new(caller.clone(), language, Theme::System, place);
    let words = view.words;
    let content = html! {
        section.narrow {
            p.eyebrow { (problem.status.as_u16()) " " (problem.title()) }
            h1 { (words.problem_title) }
            (layout::alert(&problem.detail, &problem.errors))
            p { a.button href="/" { (words.back) } }
        }
    };
    let mut response = super::html(layout::page(&view, words.problem_title, &content));
    *response.status_mut() = problem.status;
    response
}
