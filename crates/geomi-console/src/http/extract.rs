//! What handlers take: read strictly, and refused with a problem that says why.

use axum::extract::rejection::{FormRejection, PathRejection, QueryRejection};
use axum::extract::{FromRequest, FromRequestParts, Request};
use http::request::Parts;
use http::{StatusCode, header};
use serde::de::DeserializeOwned;

use super::guard::{BODY_BYTES_MAX, Caller};
use super::problem::Problem;
use crate::wrong::Wrong;

impl<S: Sync> FromRequestParts<S> for Caller {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, _: &S) -> Result<Self, Problem> {
        let caller = parts.extensions.get::<Self>().cloned();
        Ok(caller.expect("every route is behind the guard"))
    }
}

/// The query of an address.
#[derive(Debug)]
pub(crate) struct Query<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequestParts<S> for Query<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let read = axum::extract::Query::from_request_parts(parts, state).await;
        let read = read.map_err(|error: QueryRejection| bad_request(error.body_text()))?;
        Ok(Self(read.0))
    }
}

/// The parts of a path. One that cannot be read names nothing.
#[derive(Debug)]
pub(crate) struct Path<T>(pub(crate) T);

impl<T: DeserializeOwned + Send, S: Send + Sync> FromRequestParts<S> for Path<T> {
    type Rejection = Problem;

    async fn from_request_parts(parts: &mut Parts, state: &S) -> Result<Self, Problem> {
        let read = axum::extract::Path::from_request_parts(parts, state).await;
        let read = read
            .map_err(|error: PathRejection| Problem::not_found(Wrong::Said(error.body_text())))?;
        Ok(Self(read.0))
    }
}

/// A body of JSON.
#[derive(Debug)]
pub(crate) struct Json<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Sync> FromRequest<S> for Json<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, _: &S) -> Result<Self, Problem> {
        let kind = request.headers().get(header::CONTENT_TYPE);
        let kind = kind.and_then(|kind| kind.to_str().ok()).unwrap_or("");
        let kind = kind.split(';').next().unwrap_or("").trim();
        if !kind.eq_ignore_ascii_case("application/json") {
            let said = "send the body as JSON, with Content-Type: application/json";
            let wrong = Wrong::Said(said.to_owned());
            return Err(Problem::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, wrong));
        }
        let bytes = body(request).await?;
        // A list of values in the order of the fields would be read as well.
        if bytes.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[') {
            return Err(unprocessable(
                "the body is a list, not an object".to_owned(),
            ));
        }
        serde_json::from_slice(&bytes).map(Self).map_err(|error| {
            if error.is_data() {
                unprocessable(format!("the body does not fit: {error}"))
            } else {
                bad_request(format!("the body is no JSON: {error}"))
            }
        })
    }
}

/// A form.
#[derive(Debug)]
pub(crate) struct Form<T>(pub(crate) T);

impl<T: DeserializeOwned, S: Send + Sync> FromRequest<S> for Form<T> {
    type Rejection = Problem;

    async fn from_request(request: Request, state: &S) -> Result<Self, Problem> {
        let read = axum::extract::Form::from_request(request, state).await;
        let read = read.map_err(|error: FormRejection| {
            Problem::new(error.status(), Wrong::Said(error.body_text()))
        })?;
        Ok(Self(read.0))
    }
}

async fn body(request: Request) -> Result<bytes::Bytes, Problem> {
    // The guard has read it already, under the same bound.
    let read = axum::body::to_bytes(request.into_body(), BODY_BYTES_MAX).await;
    read.map_err(|error| bad_request(error.to_string()))
}

fn bad_request(said: String) -> Problem {
    Problem::bad_request(Wrong::Said(said))
}

fn unprocessable(said: String) -> Problem {
    Problem::unprocessable(Wrong::Said(said))
}
