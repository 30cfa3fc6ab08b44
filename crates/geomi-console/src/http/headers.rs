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
    let is_secret = is_secret(request.uri().path());
    let mut response = next.run(request).await;
    let headers = response.headers_mut();
    if is_secret {
        let nowhere = HeaderValue::from_static("no-store");
        headers.insert(header::CACHE_CONTROL, nowhere);
    }
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

/// Whether answers under a path may hold secrets: passwords in a configuration,
/// links that make an admin, words and secrets of sessions and tokens. These are stored
/// nowhere, not even by the browser.
fn is_secret(path: &str) -> bool {
    const PARENTS: [&str; 7] = [
        "/login",
        "/first",
        "/settings",
        "/api/v1/session",
        "/api/v1/tokens",
        "/api/v1/users",
        "/api/v1/audit",
    ];
    const ENDS: [&str; 3] = ["/config", "/settings", "/files/geomi.toml"];
    let is_below = |parent: &str| {
        let rest = path.strip_prefix(parent);
        rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
    };
    let is_config = path.contains("/crawls/") && ENDS.iter().any(|end| path.ends_with(end));
    is_config || PARENTS.into_iter().any(is_below)
}
