//! What handlers give: JSON with an `ETag`, pages, text.

use axum::body::Body;
use axum::response::{IntoResponse, Response};
use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, StatusCode, header};
use serde::Serialize;
use xxhash_rust::xxh3::xxh3_64;

/// JSON; or nothing, where the asker has it already (`If-None-Match`).
pub(crate) fn json<T: Serialize>(asked: &HeaderMap, value: &T) -> Response {
    let bytes = serde_json::to_vec(value).expect("an answer is plain data");
    tagged(asked, "application/json", bytes)
}

/// JSON of something new, and where it is.
pub(crate) fn created<T: Serialize>(place: &str, value: &T) -> Response {
    let bytes = serde_json::to_vec(value).expect("an answer is plain data");
    let kind = (
        header::CONTENT_TYPE,
        HeaderValue::from_static("application/json"),
    );
    let place = HeaderValue::from_str(place).expect("our addresses are plain text");
    (
        StatusCode::CREATED,
        [kind, (header::LOCATION, place)],
        bytes,
    )
        .into_response()
}

/// JSON that is about this moment only.
pub(crate) fn plain_json<T: Serialize>(value: &T) -> Response {
    let bytes = serde_json::to_vec(value).expect("an answer is plain data");
    with_type("application/json", bytes.into())
}

/// Bytes with an `ETag`.
pub(crate) fn tagged(asked: &HeaderMap, kind: &'static str, bytes: impl Into<Bytes>) -> Response {
    let bytes = bytes.into();
    let tag = format!("\"{:016x}\"", xxh3_64(&bytes));
    let tag_value = HeaderValue::from_str(&tag).expect("hex digits are plain text");
    if is_known(asked, &tag) {
        return (StatusCode::NOT_MODIFIED, [(header::ETAG, tag_value)]).into_response();
    }
    let mut response = with_type(kind, bytes.into());
    response.headers_mut().insert(header::ETAG, tag_value);
    response
}

/// A body with its type.
pub(crate) fn with_type(kind: &'static str, body: Body) -> Response {
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static(kind));
    ([kind], body).into_response()
}

/// Done, and nothing to say.
pub(crate) fn done() -> Response {
    StatusCode::NO_CONTENT.into_response()
}

/// Adds a field to an answer.
pub(crate) fn and(mut response: Response, name: HeaderName, value: HeaderValue) -> Response {
    response.headers_mut().append(name, value);
    response
}

/// Whether the asker has what this tag names.
pub(crate) fn is_known(asked: &HeaderMap, tag: &str) -> bool {
    let sent = asked.get_all(header::IF_NONE_MATCH).iter();
    sent.filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(','))
        .map(|one| one.trim().trim_start_matches("W/"))
        .any(|one| one == tag || one == "*")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_known_is_not_sent_again() {
        let first = json(&HeaderMap::new(), &[1, 2, 3]);
        let tag = first.headers()[header::ETAG].clone();
        let mut asked = HeaderMap::new();
        asked.insert(header::IF_NONE_MATCH, tag);
        assert_eq!(json(&asked, &[1, 2, 3]).status(), StatusCode::NOT_MODIFIED);
        assert_eq!(json(&asked, &[1, 2, 4]).status(), StatusCode::OK);
    }
}
