//! The API under `/api/v1`: one file a subject. What a route takes and gives
//! stands beside its handler as an [`Operation`](crate::http::operation::Operation),
//! which the document is made of.

pub(crate) mod accounts;
pub(crate) mod captures;
pub(crate) mod changes;
pub(crate) mod crawls;
pub(crate) mod files;
pub(crate) mod health;
pub(crate) mod log;
pub(crate) mod pages;
pub(crate) mod report;
pub(crate) mod schedule;
pub(crate) mod session;
pub(crate) mod sites;
pub(crate) mod steering;
pub(crate) mod tokens;

use crate::http::problem::Problem;

/// How many rows a page of a list has: a number within bounds, or the usual.
pub(crate) fn limit(asked: Option<u64>, usual: usize, max: usize) -> Result<usize, Problem> {
    match asked {
        None => Ok(usual),
        Some(asked) if (1..=max as u64).contains(&asked) => Ok(asked as usize),
        Some(_) => Err(Problem::bad_request(format!("limit is from 1 to {max}"))),
    }
}

/// Text within a bound.
pub(crate) fn bounded(
    name: &str,
    text: Option<String>,
    max: usize,
) -> Result<Option<String>, Problem> {
    match text {
        Some(text) if text.chars().count() > max => Err(Problem::bad_request(format!(
            "{name} has at most {max} characters"
        ))),
        text => Ok(text.filter(|text| !text.is_empty())),
    }
}

/// The largest number of a visit: what JSON carries exactly everywhere.
pub(crate) const VISIT_MAX: u64 = 1 << 53;

/// The number of a visit within its bounds.
pub(crate) fn visit(name: &str, number: Option<u64>, min: u64) -> Result<Option<u64>, Problem> {
    match number {
        Some(number) if !(min..=VISIT_MAX).contains(&number) => {
            let detail = format!("{name} is from {min} to {VISIT_MAX}");
            Err(Problem::bad_request(detail))
        }
        number => Ok(number),
    }
}
