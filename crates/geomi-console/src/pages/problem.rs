//! A problem as a page: what happened, and a way on.

use axum::response::Response;
use maud::html;

use super::layout::{self, View};
use crate::http::problem::Problem;

/// The page; it keeps the status of the problem.
pub(crate) fn page(problem: &Problem, view: &View) -> Response {
    let words = view.words;
    let content = html! {
        section.narrow {
            p.eyebrow { (problem.status.as_u16()) " " (problem.title()) }
            h1 { (words.problem_title) }
            (layout::alert(&problem.detail, &problem.errors))
            p { a.button href="/" { (words.back) } }
        }
    };
    let mut response = super::html(layout::page(view, words.problem_title, &content));
    *response.status_mut() = problem.status;
    response
}
