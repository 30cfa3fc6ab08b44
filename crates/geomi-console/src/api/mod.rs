//! The API under `/api/v1`: one file a subject. What a route takes and gives
//! stands beside its handler as an [`Operation`](crate::http::operation::Operation),
//! which the document is made of.

pub(crate) mod accounts;
pub(crate) mod captures;
pub(crate) mod changes;
pub(crate) mod crawls;
pub(crate) mod files;
pub(crate) mod freshness;
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
use crate::wrong::Wrong;

/// A number that is beyond its bounds.
pub(crate) fn between(name: &'static str, min: u64, max: u64) -> Problem {
    Problem::bad_request(Wrong::Between { name, min, max })
}

/// A word that is none of those known.
pub(crate) fn one_of(name: &'static str, known: &'static [&'static str]) -> Problem {
    Problem::bad_request(Wrong::OneOf { name, known })
}

/// How many rows a page of a list has: a number within bounds, or the usual.
pub(crate) fn limit(asked: Option<u64>, usual: usize, max: usize) -> Result<usize, Problem> {
    match asked {
        None => Ok(usual),
        Some(asked) if (1..=max as u64).contains(&asked) => Ok(asked as usize),
        Some(_) => Err(between("limit", 1, max as u64)),
    }
}

/// Text within a bound.
pub(crate) fn bounded(
    name: &'static str,
    text: Option<String>,
    max: usize,
) -> Result<Option<String>, Problem> {
    match text {
        Some(text) if text.chars().count() > max => {
            Err(Problem::bad_request(Wrong::TooLong { name, max }))
        }
        text => Ok(text.filter(|text| !text.is_empty())),
    }
}

/// The largest number of a visit: what JSON carries exactly everywhere.
pub(crate) const VISIT_MAX: u64 = 1 << 53;

/// The number of a visit within its bounds.
pub(crate) fn visit(
    name: &'static str,
    number: Option<u64>,
    min: u64,
) -> Result<Option<u64>, Problem> {
    match number {
        Some(number) if !(min..=VISIT_MAX).contains(&number) => Err(between(name, min, VISIT_MAX)),
        number => Ok(number),
    }
}
