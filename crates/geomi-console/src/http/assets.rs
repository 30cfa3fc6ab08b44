//! Style sheets and scripts, in the binary.
//!
//! Their address carries a hash of their content, so that browsers keep them
//! for good and never mix an old one with a new page.

use std::sync::LazyLock;

use axum::response::{IntoResponse as _, Response};
use http::{HeaderValue, header};
use xxhash_rust::xxh3::xxh3_64;

use super::extract::Path;
use super::problem::Problem;
use crate::wrong::Wrong;

/// A file of ours.
struct Asset {
    name: &'static str,
    kind: &'static str,
    bytes: &'static [u8],
}

macro_rules! asset {
    ($name:literal, $path:literal, $kind:literal) => {
        Asset {
            name: $name,
            kind: $kind,
            bytes: include_bytes!(concat!("../../assets/", $path)),
        }
    };
}

const ASSETS: &[Asset] = &[
    asset!("console.css", "console.css", "text/css; charset=utf-8"),
    asset!("console.js", "console.js", "text/javascript; charset=utf-8"),
    asset!("favicon.svg", "favicon.svg", "image/svg+xml"),
    asset!(
        "htmx.js",
        "vendor/htmx.min.js",
        "text/javascript; charset=utf-8"
    ),
    asset!(
        "sse.js",
        "vendor/sse.min.js",
        "text/javascript; charset=utf-8"
    ),
    asset!(
        "uplot.js",
        "vendor/uplot.min.js",
        "text/javascript; charset=utf-8"
    ),
    asset!(
        "uplot.css",
        "vendor/uplot.min.css",
        "text/css; charset=utf-8"
    ),
];

/// One hash over all of them: they change together, with the binary.
static VERSION: LazyLock<String> = LazyLock::new(|| {
    let all = ASSETS.iter().map(|asset| xxh3_64(asset.bytes));
    let mixed = all.fold(0_u64, |mixed, one| mixed.rotate_left(7) ^ one);
    format!("{mixed:016x}")
});

/// Where a file of ours is.
pub(crate) fn address(name: &str) -> String {
    debug_assert!(
        ASSETS.iter().any(|asset| asset.name == name),
        "{name} is a file of ours"
    );
    format!("/assets/{}/{name}", *VERSION)
}

/// Gives one.
pub(crate) async fn get(Path((_, name)): Path<(String, String)>) -> Result<Response, Problem> {
    let asset = ASSETS.iter().find(|asset| asset.name == name);
    let asset = asset.ok_or_else(|| Problem::not_found(Wrong::NoFile))?;
    let kind = (header::CONTENT_TYPE, HeaderValue::from_static(asset.kind));
    let keep = HeaderValue::from_static("public, max-age=31536000, immutable");
    Ok(([kind, (header::CACHE_CONTROL, keep)], asset.bytes).into_response())
}
