//! A problem as a page: what happened, and a way on.

use axum::response::Response;
use maud::html;

use super::layout::{self, View};
use crate::http::problem::Problem;
use crate::words::Words;

/// The page; it keeps the status of the problem.
pub(crate) fn page(problem: &Problem, view: &View) -> Response {
    let words = view.words;
    let content = html! {
        section.narrow {
            p.eyebrow { (problem.status.as_u16()) " " (status(problem, words)) }
            h1 { (words.problem_title) }
            (layout::alert_of(words, problem))
            p { a.button href="/" { (words.back) } }
        }
    };
    let mut response = super::html(layout::page(view, words.problem_title, &content));
    *response.status_mut() = problem.status;
    response
}

/// The status in words.
fn status<'a>(problem: &'a Problem, words: &Words) -> &'a str {
    let code = problem.status.as_u16().to_string();
    let known = words.statuses.iter().find(|(known, _)| *known == code);
    known.map_or(problem.title(), |(_, word)| word)
}
