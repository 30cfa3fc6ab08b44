//! The host name a request was sent to, and the origin it was sent from.
//!
//! A page on `evil.example` can have its own name resolve to 127.0.0.1 and so
//! reach a console on the visitor's machine as its own origin (DNS rebinding).
//! Its requests still carry `Host: evil.example`. So only these hosts are
//! answered: loopback names and addresses, the address that is listened on or
//! was connected to, and those given with `--host`. Ports are not compared:
//! they differ behind forwarded ports and proxies. A request without a host
//! comes from no browser and is answered.

use std::net::IpAddr;

use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use http::{HeaderMap, HeaderValue, StatusCode, Uri, header};

use super::guard::Local;
use super::problem::Problem;
use crate::app::App;
use crate::wrong::Wrong;

/// Answers requests to a host of ours; others get 421.
pub(crate) async fn check(State(app): State<App>, request: Request, next: Next) -> Response {
    let local = request.extensions().get::<Local>().map(|local| local.0);
    match asked(request.uri(), request.headers()) {
        Asked::Nothing => {}
        Asked::Host(host) if is_ours(&host, &app, local) => {}
        Asked::Host(host) => {
            let wrong = Wrong::OtherHost { host };
            return Problem::new(StatusCode::MISDIRECTED_REQUEST, wrong).into_response();
        }
        Asked::Unclear => {
            let said = "the request has no clear host: send one `Host`";
            return Problem::bad_request(Wrong::Said(said.to_owned())).into_response();
        }
    }
    next.run(request).await
}

/// The host that was asked for.
#[derive(PartialEq, Eq, Debug)]
enum Asked {
    Nothing,
    Host(String),
    /// Several, or text that is none.
    Unclear,
}

/// A host in the address itself counts more than the field (RFC 9112, 3.2.2).
fn asked(uri: &Uri, headers: &HeaderMap) -> Asked {
    if let Some(authority) = uri.authority() {
        return Asked::Host(name(authority.as_str()).to_ascii_lowercase());
    }
    let mut hosts = headers.get_all(header::HOST).iter();
    match (hosts.next(), hosts.next()) {
        (None, _) => Asked::Nothing,
        (Some(host), None) => match host.to_str() {
            Ok(host) if !host.is_empty() => Asked::Host(name(host).to_ascii_lowercase()),
            _ => Asked::Unclear,
        },
        (Some(_), Some(_)) => Asked::Unclear,
    }
}

/// The host of an authority, without port, brackets and the dot of the root.
fn name(authority: &str) -> &str {
    if let Some(rest) = authority.strip_prefix('[') {
        return rest.split(']').next().unwrap_or("");
    }
    let host = match authority.rsplit_once(':') {
        Some((host, port)) if port.bytes().all(|byte| byte.is_ascii_digit()) => host,
        _ => authority,
    };
    host.strip_suffix('.').unwrap_or(host)
}

fn is_ours(host: &str, app: &App, local: Option<IpAddr>) -> bool {
    if host == "localhost" || host.ends_with(".localhost") || is_listed(host, app) {
        return true;
    }
    let Ok(address) = host.parse::<IpAddr>() else {
        return false;
    };
    let address = address.to_canonical();
    let is = |ours: IpAddr| ours.to_canonical() == address;
    address.is_loopback() || is(app.options.listen.ip()) || local.is_some_and(is)
}

/// Whether a host was given with `--host`.
fn is_listed(host: &str, app: &App) -> bool {
    let mut listed = app.options.hosts.iter();
    listed.any(|ours| name(ours).eq_ignore_ascii_case(host))
}

/// Whether a request that changes something was made by a page of ours, or by a
/// program. Browsers say where a request was made in `Sec-Fetch-Site` and in
/// `Origin`; programs send neither. Behind a proxy the host of a request may be
/// that of the proxy's own connection; then the origin has to be one of the
/// listed hosts.
pub(crate) fn is_same_origin(headers: &HeaderMap, uri: &Uri, app: &App, by_proxy: bool) -> bool {
    let mut sites = headers.get_all("sec-fetch-site").iter();
    if !sites.all(|site| site == "same-origin" || site == "none") {
        return false;
    }
    let mut origins = headers.get_all(header::ORIGIN).iter();
    origins.all(|origin| is_our_origin(origin, headers, uri, app, by_proxy))
}

fn is_our_origin(
    origin: &HeaderValue,
    headers: &HeaderMap,
    uri: &Uri,
    app: &App,
    by_proxy: bool,
) -> bool {
    // `null` stands for an origin that is nobody's.
    let Some((scheme, authority)) = origin.to_str().ok().and_then(|text| text.split_once("://"))
    else {
        return false;
    };
    let usual = match scheme {
        "http" => ":80",
        "https" => ":443",
        _ => return false,
    };
    let host = headers
        .get(header::HOST)
        .and_then(|host| host.to_str().ok());
    let host = uri.authority().map(http::uri::Authority::as_str).or(host);
    let plain = |text: &str| {
        let text = text.strip_suffix(usual).unwrap_or(text);
        text.to_ascii_lowercase()
    };
    host.is_some_and(|host| plain(host) == plain(authority))
        || (by_proxy && is_listed(name(authority), app))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_name_of_an_authority_has_no_port() {
        for (authority, expected) in [
            ("localhost:8600", "localhost"),
            ("crawler.example.org.", "crawler.example.org"),
            ("127.0.0.1:80", "127.0.0.1"),
            ("[::1]:8600", "::1"),
            ("[::1]", "::1"),
            ("evil.example:x", "evil.example:x"),
        ] {
            assert_eq!(name(authority), expected);
        }
    }

    #[test]
    fn several_hosts_are_none() {
        let mut headers = HeaderMap::new();
        let path = Uri::from_static("/");
        assert_eq!(asked(&path, &headers), Asked::Nothing);
        headers.append(header::HOST, HeaderValue::from_static("A.test:1"));
        assert_eq!(asked(&path, &headers), Asked::Host("a.test".to_owned()));
        let whole = Uri::from_static("http://b.test:2/x");
        assert_eq!(asked(&whole, &headers), Asked::Host("b.test".to_owned()));
        headers.append(header::HOST, HeaderValue::from_static("localhost"));
        assert_eq!(asked(&path, &headers), Asked::Unclear);
    }
}
