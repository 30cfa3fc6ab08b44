//! What every answer carries.
//!
//! The policy lets a page use files of ours and nothing else: no script and no
//! style inside a page, none from elsewhere, no frame around it. So text from a
//! hostile page that slipped through escaping would still not run.

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::Response;
use http::{HeaderValue, header};

use crate::app::App;

const POLICY: &str = "default-src 'self'; base-uri 'none'; form-action 'self'; frame-ancestors 'none'; object-src 'none'";

const ALWAYS: [(&str, &str); 6] = [
    ("content-security-policy", POLICY),
    ("x-content-type-options", "nosniff"),
    ("x-frame-options", "DENY"),
    ("referrer-policy", "same-origin"),
    ("cross-origin-opener-policy", "same-origin"),
    ("cross-origin-resource-policy", "same-origin"),
];

/// Adds them.
pub(crate) async fn add(State(app): State<App>, request: Request, next: Next) -> Response {
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    for (name, value) in ALWAYS {
        // What came from the web is sent with a policy of its own, which is
        // stricter.
        headers
            .entry(name)
            .or_insert(HeaderValue::from_static(value));
    }
    // What is said to one person is nobody else's; files say more of their own.
    headers
        .entry(header::CACHE_CONTROL)
        .or_insert(HeaderValue::from_static("private, no-cache"));
    if app.options.tls.is_some() {
        let year = HeaderValue::from_static("max-age=31536000");
        headers.insert(header::STRICT_TRANSPORT_SECURITY, year);
    }
    response
}
