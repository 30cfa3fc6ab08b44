//! What is wrong with a request, or with answering it (RFC 9457).

use std::fmt;
use std::ops::Deref;

use axum::response::{IntoResponse, Response};
use geomi_crawler::CrawlError;
use geomi_crawler::remote::RemoteError;
use geomi_report::ReportError;
use geomi_store::StoreError;
use geomi_store::readback::ReadbackError;
use http::{HeaderName, HeaderValue, StatusCode, header};
use schemars::JsonSchema;
use serde::Serialize;

use crate::ConsoleError;
use crate::words::Language;
use crate::wrong::Wrong;

/// A problem. It travels with the response too, so that a page can be made of
/// it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Problem(Box<Parts>);

/// What a problem is made of; behind a box, because most answers are none.
#[derive(Clone, PartialEq, Eq, Debug)]
pub(crate) struct Parts {
    pub(crate) status: StatusCode,
    /// What happened and what to do.
    pub(crate) wrong: Wrong,
    /// Single mistakes, where there are several.
    pub(crate) errors: Vec<Wrong>,
    /// A field the answer must carry.
    header: Option<(HeaderName, HeaderValue)>,
}

/// A problem as it is sent.
#[derive(Serialize, JsonSchema)]
#[schemars(rename = "Problem")]
pub(crate) struct ProblemBody<'a> {
    /// Kind of the problem; always `about:blank`, so that the status says it.
    #[serde(rename = "type")]
    kind: &'a str,
    /// The status in words.
    title: &'a str,
    /// The status code.
    status: u16,
    /// What happened and what to do.
    detail: &'a str,
    /// Single mistakes, where there are several.
    #[serde(skip_serializing_if = "<[String]>::is_empty", default)]
    errors: &'a [String],
}

impl Deref for Problem {
    type Target = Parts;

    fn deref(&self) -> &Parts {
        &self.0
    }
}

impl Problem {
    pub(crate) fn new(status: StatusCode, wrong: Wrong) -> Self {
        Self(Box::new(Parts {
            status,
            wrong,
            errors: Vec::new(),
            header: None,
        }))
    }

    /// There is nothing there.
    pub(crate) fn not_found(wrong: Wrong) -> Self {
        Self::new(StatusCode::NOT_FOUND, wrong)
    }

    /// What was sent cannot be read.
    pub(crate) fn bad_request(wrong: Wrong) -> Self {
        Self::new(StatusCode::BAD_REQUEST, wrong)
    }

    /// What was sent can be read and is not what the document of the API says.
    pub(crate) fn unprocessable(wrong: Wrong) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, wrong)
    }

    /// What was sent is as the document says, and cannot be done as things are.
    pub(crate) fn conflict(wrong: Wrong) -> Self {
        Self::new(StatusCode::CONFLICT, wrong)
    }

    /// Nobody we know.
    pub(crate) fn unauthorized() -> Self {
        let bearer = HeaderValue::from_static("Bearer realm=\"geomi\"");
        Self::new(StatusCode::UNAUTHORIZED, Wrong::Nobody).with(header::WWW_AUTHENTICATE, bearer)
    }

    /// Known, and may not.
    pub(crate) fn forbidden(wrong: Wrong) -> Self {
        Self::new(StatusCode::FORBIDDEN, wrong)
    }

    /// The machine failed.
    pub(crate) fn internal(error: &dyn fmt::Display) -> Self {
        tracing::error!(%error, "a request could not be answered");
        let wrong = Wrong::Ours(error.to_string());
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, wrong)
    }

    /// With single mistakes.
    #[must_use]
    pub(crate) fn with_errors(mut self, errors: Vec<Wrong>) -> Self {
        self.0.errors = errors;
        self
    }

    /// With single mistakes in the words of whoever found them.
    #[must_use]
    pub(crate) fn with_said(self, errors: Vec<String>) -> Self {
        self.with_errors(errors.into_iter().map(Wrong::Said).collect())
    }

    /// With a field of the header.
    #[must_use]
    pub(crate) fn with(mut self, name: HeaderName, value: HeaderValue) -> Self {
        self.0.header = Some((name, value));
        self
    }

    /// The status in words.
    pub(crate) fn title(&self) -> &'static str {
        self.status.canonical_reason().unwrap_or("Problem")
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let english = Language::English.words();
        let errors = self.errors.iter().map(|error| english.tell(error).into());
        let body = ProblemBody {
            kind: "about:blank",
            title: self.title(),
            status: self.status.as_u16(),
            detail: &english.tell(&self.wrong),
            errors: &errors.collect::<Vec<String>>(),
        };
        let body = serde_json::to_vec(&body).expect("a problem is plain data");
        let kind = (header::CONTENT_TYPE, "application/problem+json");
        let mut response = (self.status, [kind], body).into_response();
        if let Some((name, value)) = self.header.clone() {
            response.headers_mut().insert(name, value);
        }
        response.extensions_mut().insert(self);
        response
    }
}

macro_rules! our_fault {
    ($($error:ty),+) => {$(
        impl From<$error> for Problem {
            fn from(error: $error) -> Self {
                Self::internal(&error)
            }
        }
    )+};
}

our_fault!(StoreError, ConsoleError, CrawlError, ReportError);

impl From<RemoteError> for Problem {
    /// A crawl that cannot be reached is a conflict with how things are: the
    /// console itself is well.
    fn from(error: RemoteError) -> Self {
        Self::conflict(Wrong::Said(error.to_string()))
    }
}

impl From<ReadbackError> for Problem {
    /// A capture whose content lies in another directory is not there; all else
    /// is the machine's.
    fn from(error: ReadbackError) -> Self {
        match error {
            ReadbackError::Lost { .. } => Self::not_found(Wrong::Said(error.to_string())),
            error => Self::internal(&error),
        }
    }
}
