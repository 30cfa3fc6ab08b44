//! Whether the console is well, and its document.

use axum::extract::State;
use axum::response::Response;
use http::HeaderMap;

use crate::app::App;
use crate::http::openapi;
use crate::http::problem::Problem;
use crate::http::respond;
use crate::wrong::Wrong;

const TEXT: &str = "text/plain; charset=utf-8";

/// The process answers.
pub(crate) async fn healthz() -> Response {
    respond::with_type(TEXT, "ok\n".into())
}

/// What it serves can be read.
pub(crate) async fn readyz(State(app): State<App>) -> Result<Response, Problem> {
    let listed = app.library.list(app.now()).await;
    match listed {
        Ok(_) => Ok(respond::with_type(TEXT, "ready\n".into())),
        Err(error) => {
            let status = http::StatusCode::SERVICE_UNAVAILABLE;
            Err(Problem::new(status, Wrong::Said(error.to_string())))
        }
    }
}

/// The document of the API.
pub(crate) async fn document(headers: HeaderMap) -> Response {
    respond::json(&headers, &openapi::document())
}
