//! Who asks, and may they: before every handler.
//!
//! Somebody is known by an API token (`Authorization: Bearer`) or by the cookie
//! of a session. What changes something is believed from a session only with
//! the word its own pages carry, as field `csrf` of a form or as
//! `X-CSRF-Token`, and never from another site (`Sec-Fetch-Site`, `Origin`),
//! with a session or without one.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Redirect, Response};
use bytes::Bytes;
use http::request::Parts;
use http::{HeaderMap, Method, StatusCode, header};

use super::host::is_same_origin;
use super::problem::Problem;
use super::routes::{Kind, Needs};
use crate::accounts::{Principal, Proof, Role};
use crate::app::App;
use crate::pages;
use crate::pages::layout::{View, place};
use crate::secret;
use crate::server::door::Connection;
use crate::wrong::Wrong;

/// An address nobody has.
const NOWHERE: IpAddr = IpAddr::V4(Ipv4Addr::UNSPECIFIED);
/// The cookie of a session.
pub(crate) const COOKIE: &str = "geomi_session";
/// The largest body of a request.
pub(crate) const BODY_BYTES_MAX: usize = 4 << 20;
/// How long it may take to arrive.
const BODY_TIME_MAX: Duration = Duration::from_mins(1);
/// The same two for requests without a log-in: a log-in is small.
const STRANGER_BODY_BYTES_MAX: usize = 16 << 10;
const STRANGER_BODY_TIME_MAX: Duration = Duration::from_secs(10);

/// The other end of the connection, put into each request by the listener.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Peer(pub(crate) SocketAddr);

/// Our end of the connection: the address the client connected to.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Local(pub(crate) IpAddr);

/// Who asks.
#[derive(Clone, Debug)]
pub(crate) struct Caller {
    /// Somebody known, or nobody.
    pub(crate) principal: Option<Principal>,
    /// Where from, behind proxies we trust.
    pub(crate) address: IpAddr,
    /// Whether the way to them is encrypted.
    pub(crate) is_secure: bool,
}

impl Caller {
    /// Somebody known. Only for handlers of routes that need a role.
    pub(crate) fn known(&self) -> &Principal {
        self.principal.as_ref().expect("the route needs a role")
    }

    /// Whether they may do what a role may.
    pub(crate) fn may(&self, role: Role) -> bool {
        self.principal
            .as_ref()
            .is_some_and(|known| known.role >= role)
    }

    /// The word for forms; empty without a session.
    pub(crate) fn csrf(&self) -> &str {
        match self.principal.as_ref().map(|known| &known.by) {
            Some(Proof::Session { csrf, .. }) => csrf,
            _ => "",
        }
    }
}

/// A route as the guard sees it.
#[derive(Clone, Debug)]
pub(crate) struct Gate {
    pub(crate) app: App,
    pub(crate) needs: Needs,
    pub(crate) kind: Kind,
}

/// Lets through who may.
pub(crate) async fn guard(State(gate): State<Gate>, request: Request, next: Next) -> Response {
    let kind = gate.kind;
    let (caller, mut request) = match admit(&gate, request).await {
        Ok(admitted) => admitted,
        Err((problem, parts)) => return refuse(&gate, problem, &parts),
    };
    request.extensions_mut().insert(caller.clone());
    let view = View::new(caller, request.headers(), request.uri());
    let response = next.run(request).await;
    if kind == Kind::Page
        && let Some(problem) = response.extensions().get::<Problem>()
    {
        return pages::problem::page(problem, &view);
    }
    response
}

/// Somebody who is nobody is shown the log-in; a program is told.
fn refuse(gate: &Gate, problem: Problem, parts: &Parts) -> Response {
    if gate.kind != Kind::Page {
        return problem.into_response();
    }
    if problem.status == StatusCode::UNAUTHORIZED {
        let to = pages::login::address(place(&parts.uri));
        return Redirect::to(&to).into_response();
    }
    let view = View::new(caller(&gate.app, parts), &parts.headers, &parts.uri);
    pages::problem::page(&problem, &view)
}

async fn admit(gate: &Gate, request: Request) -> Result<(Caller, Request), (Problem, Box<Parts>)> {
    let (parts, body) = request.into_parts();
    let caller = caller(&gate.app, &parts);
    if let Some(connection) = parts.extensions.get::<Arc<Connection>>() {
        let user = caller.principal.as_ref().map(|known| known.user);
        connection.requested(user, caller.address);
    }
    if let Err(problem) = check_role(gate.needs, &caller) {
        return Err((problem, Box::new(parts)));
    }
    if is_safe(&parts.method) {
        return Ok((caller, Request::from_parts(parts, body)));
    }
    let by_proxy = gate.app.options.proxies.contains(&peer(&parts));
    if !is_same_origin(&parts.headers, &parts.uri, &gate.app, by_proxy) {
        let problem = Problem::forbidden(Wrong::OtherSite);
        return Err((problem, Box::new(parts)));
    }
    let (bytes_max, time_max) = match caller.principal {
        Some(_) => (BODY_BYTES_MAX, BODY_TIME_MAX),
        None => (STRANGER_BODY_BYTES_MAX, STRANGER_BODY_TIME_MAX),
    };
    let bytes = match whole(body, bytes_max, time_max).await {
        Ok(bytes) => bytes,
        Err(problem) => return Err((problem, Box::new(parts))),
    };
    if !caller.csrf().is_empty() && !has_word(&parts.headers, &bytes, caller.csrf()) {
        return Err((Problem::forbidden(Wrong::OldForm), Box::new(parts)));
    }
    Ok((caller, Request::from_parts(parts, Body::from(bytes))))
}

/// The whole body, which has to be short and to arrive in time.
pub(crate) async fn whole(
    body: Body,
    bytes_max: usize,
    time_max: Duration,
) -> Result<Bytes, Problem> {
    match tokio::time::timeout(time_max, axum::body::to_bytes(body, bytes_max)).await {
        Ok(Ok(bytes)) => Ok(bytes),
        Ok(Err(_)) => Err(Problem::new(
            StatusCode::PAYLOAD_TOO_LARGE,
            Wrong::LongBody {
                max_kib: bytes_max >> 10,
            },
        )),
        Err(_) => Err(Problem::new(StatusCode::REQUEST_TIMEOUT, Wrong::SlowBody)),
    }
}

fn check_role(needs: Needs, caller: &Caller) -> Result<(), Problem> {
    match (needs, &caller.principal) {
        (Needs::Nothing, _) => Ok(()),
        (Needs::RoleOrLoopback(_), None) if caller.address.is_loopback() => Ok(()),
        (Needs::Role(_) | Needs::RoleOrLoopback(_), None) => Err(Problem::unauthorized()),
        (Needs::Role(role) | Needs::RoleOrLoopback(role), Some(known)) if known.role >= role => {
            Ok(())
        }
        (Needs::Role(role) | Needs::RoleOrLoopback(role), Some(known)) => {
            Err(Problem::forbidden(Wrong::Role {
                needed: role,
                yours: known.role,
            }))
        }
    }
}

/// Who asks.
pub(crate) fn caller(app: &App, parts: &Parts) -> Caller {
    let (address, is_secure) = origin(app, parts);
    let principal = match bearer(&parts.headers) {
        Some(token) => app.accounts.by_token(token),
        None => session(&parts.headers).and_then(|sent| app.accounts.by_session(sent, app.now())),
    };
    Caller {
        principal,
        address,
        is_secure,
    }
}

/// Where a request comes from, and whether its way is encrypted. A proxy we
/// trust says so of whoever asked it; anybody else could say anything.
fn origin(app: &App, parts: &Parts) -> (IpAddr, bool) {
    let peer = peer(parts);
    let is_tls = app.options.tls.is_some();
    let proxies = &app.options.proxies;
    if !proxies.contains(&peer) {
        return (peer, is_tls);
    }
    // A proxy puts its own word behind that of others.
    let protocol = listed(&parts.headers, "x-forwarded-proto").next_back();
    let is_https = protocol.is_some_and(|word| word == "https");
    (visitor(&parts.headers, proxies), is_tls || is_https)
}

/// The other end of the connection.
fn peer(parts: &Parts) -> IpAddr {
    let peer = parts.extensions.get::<Peer>().map(|peer| peer.0.ip());
    // A connection of which nothing is known is from nowhere near.
    peer.unwrap_or(NOWHERE).to_canonical()
}

/// The address of whoever asked our proxies: the rightmost of all
/// `X-Forwarded-For` fields that is no proxy of ours. What stands before it was
/// sent by the visitor. Without a field the visitor is unknown: a proxy that does
/// not name visitors must not make all of them as near as itself.
fn visitor(headers: &HeaderMap, proxies: &[IpAddr]) -> IpAddr {
    let mut nearest = NOWHERE;
    for hop in listed(headers, "x-forwarded-for").rev() {
        // What a proxy of ours wrote and we cannot read is nobody near.
        let Some(address) = hop_address(hop) else {
            return NOWHERE;
        };
        if !proxies.contains(&address) {
            return address;
        }
        nearest = address;
    }
    nearest
}

/// The items of a list over all fields of a name, in order. A field that is no
/// text is one item that cannot be read.
fn listed<'a>(
    headers: &'a HeaderMap,
    name: &'static str,
) -> impl DoubleEndedIterator<Item = &'a str> {
    let fields = headers.get_all(name).iter();
    fields
        .flat_map(|field| field.to_str().unwrap_or("?").split(','))
        .map(str::trim)
        .filter(|item| !item.is_empty())
}

/// An address, some proxies add the port.
fn hop_address(text: &str) -> Option<IpAddr> {
    let bare = text
        .strip_prefix('[')
        .and_then(|rest| rest.strip_suffix(']'));
    let address = bare.unwrap_or(text).parse::<IpAddr>();
    let address = address.or_else(|_| text.parse::<SocketAddr>().map(|whole| whole.ip()));
    address.ok().map(|address| address.to_canonical())
}

fn bearer(headers: &HeaderMap) -> Option<&str> {
    let value = headers.get(header::AUTHORIZATION)?.to_str().ok()?;
    let (scheme, token) = value.split_once(' ')?;
    scheme.eq_ignore_ascii_case("bearer").then(|| token.trim())
}

/// The secret of the session in the cookies.
pub(crate) fn session(headers: &HeaderMap) -> Option<&str> {
    cookie(headers, COOKIE)
}

/// The value of a cookie.
pub(crate) fn cookie<'a>(headers: &'a HeaderMap, name: &str) -> Option<&'a str> {
    let cookies = headers.get_all(header::COOKIE).iter();
    cookies
        .filter_map(|value| value.to_str().ok())
        .flat_map(|value| value.split(';'))
        .filter_map(|pair| pair.trim().split_once('='))
        .find(|(known, _)| *known == name)
        .map(|(_, value)| value)
}

const fn is_safe(method: &Method) -> bool {
    matches!(*method, Method::GET | Method::HEAD | Method::OPTIONS)
}

fn has_word(headers: &HeaderMap, body: &[u8], word: &str) -> bool {
    let sent = headers
        .get("x-csrf-token")
        .and_then(|value| value.to_str().ok());
    if let Some(sent) = sent {
        return secret::is_same(sent, word);
    }
    let is_form = headers.get(header::CONTENT_TYPE).is_some_and(|kind| {
        kind.as_bytes()
            .starts_with(b"application/x-www-form-urlencoded")
    });
    is_form
        && body
            .split(|byte| *byte == b'&')
            .filter_map(|pair| pair.strip_prefix(b"csrf="))
            // The word has no character that a form would write differently.
            .any(|sent| std::str::from_utf8(sent).is_ok_and(|sent| secret::is_same(sent, word)))
}
