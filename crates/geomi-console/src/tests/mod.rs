//! The router, driven as a browser or a program would, without a socket.

mod accounts;
mod captures;
mod door;
mod escaping;
mod events;
mod files;
mod freshness;
mod pages;
mod roles;
mod schedule;
mod slow;

use std::net::SocketAddr;
use std::path::Path;
use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use geomi_crawler::CrawlConfig;
use geomi_engine::{Ending, Phase, Status};
use geomi_store::CrawlDir;
use http::{HeaderMap, Method, Request, StatusCode, header};
use serde_json::Value;
use tempfile::TempDir;
use tower::ServiceExt as _;

use crate::accounts::Role;
use crate::accounts::store::NewUser;
use crate::app::{App, Forbidden, Options, Order, Settings};
use crate::http::guard::Peer;
use crate::http::routes::router;

const PASSWORD: &str = "a password of tests";
/// Nowhere near.
const ELSEWHERE: &str = "203.0.113.7:40000";
const HERE: &str = "127.0.0.1:40000";

#[derive(Debug)]
struct Plain;

impl Settings for Plain {
    fn of_crawl(&self, _: &Path) -> Result<CrawlConfig, Vec<String>> {
        Ok(CrawlConfig::new(Vec::new()))
    }

    fn redact_toml(&self, toml: &str) -> String {
        toml.replace("secret", "(hidden)")
    }

    fn redact_setting(&self, setting: &str) -> Option<String> {
        let is_secret = setting.contains("secret");
        is_secret.then(|| setting.replace("secret", "(hidden)"))
    }

    fn forbidden(&self, _: &Path, order: &Order<'_>) -> Vec<Forbidden> {
        let hosts = order.hosts.iter().filter(|host| *host == "127.0.0.1");
        hosts.cloned().map(Forbidden::Host).collect()
    }
}

/// A console over a folder with one crawl at rest.
struct Console {
    folder: TempDir,
    app: App,
    router: Router,
}

/// What came back.
#[derive(Debug)]
struct Answer {
    status: StatusCode,
    headers: HeaderMap,
    body: String,
}

impl Answer {
    #[track_caller]
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|_| panic!("no JSON: {self:?}"))
    }

    #[track_caller]
    fn is(self, status: u16) -> Self {
        assert_eq!(self.status.as_u16(), status, "{self:#?}");
        self
    }
}

impl Console {
    fn new() -> Self {
        Self::with(Vec::new())
    }

    fn with(proxies: Vec<std::net::IpAddr>) -> Self {
        Self::by(|options| options.proxies = proxies)
    }

    fn by(change: impl FnOnce(&mut Options)) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(folder.path().join("news")).unwrap();
        let status = Status {
            state: Phase::Done,
            reason: Some(Ending::Finished),
            time: "2026-11-15T16:00:00.000Z".to_owned(),
            started: "2026-11-15T15:00:00.000Z".to_owned(),
            ..Status::default()
        };
        std::fs::write(dir.status(), serde_json::to_vec(&status).unwrap()).unwrap();
        let mut options = Options {
            root: folder.path().to_owned(),
            listen: "127.0.0.1:0".parse().unwrap(),
            tls: None,
            proxies: Vec::new(),
            hosts: Vec::new(),
            program: None,
            webhooks: Vec::new(),
            settings: Arc::new(Plain),
        };
        change(&mut options);
        let app = App::open(options).unwrap();
        let router = router(app.clone());
        Self {
            folder,
            app,
            router,
        }
    }

    fn dir(&self) -> CrawlDir {
        CrawlDir::new(self.folder.path().join("news"))
    }

    /// What the process of the crawl would say of it.
    fn status_line(&self, pid: u32) -> String {
        let status = std::fs::read_to_string(self.dir().status()).unwrap();
        let status: Value = serde_json::from_str(&status).unwrap();
        let said = serde_json::json!({ "is": "status", "pid": pid, "status": status });
        format!("{said}\n")
    }

    /// A user of a role; its API token.
    fn token(&self, role: Role) -> String {
        let user = NewUser {
            name: role.as_str().to_owned(),
            id: role.as_str().to_owned(),
            pw: self.app.accounts.hasher.hash(PASSWORD),
            role,
        };
        let user = self.app.accounts.add_user(user, self.app.now());
        let user = user.unwrap().unwrap();
        let (accounts, now) = (&self.app.accounts, self.app.now());
        let (session, _) = accounts.begin_session(&user, now).unwrap();
        let known = accounts.by_session(&session, now).unwrap();
        let made = accounts.add_token(&known, "test".into(), role, now);
        accounts.end_session(&session);
        made.unwrap().unwrap().1
    }

    async fn ask(&self, request: Request<Body>) -> Answer {
        let response = self.router.clone().oneshot(request).await.unwrap();
        let (parts, body) = response.into_parts();
        let bytes = axum::body::to_bytes(body, 16 << 20).await.unwrap();
        Answer {
            status: parts.status,
            headers: parts.headers,
            body: String::from_utf8(bytes.into()).unwrap(),
        }
    }

    async fn get(&self, path: &str, token: Option<&str>) -> Answer {
        self.ask(request(Method::GET, path, token, ELSEWHERE, Body::empty()))
            .await
    }

    async fn send(&self, method: Method, path: &str, token: &str, body: &Value) -> Answer {
        let body = Body::from(body.to_string());
        let mut request = request(method, path, Some(token), ELSEWHERE, body);
        let kind = "application/json".parse().unwrap();
        request.headers_mut().insert(header::CONTENT_TYPE, kind);
        self.ask(request).await
    }
}

fn request(
    method: Method,
    path: &str,
    token: Option<&str>,
    from: &str,
    body: Body,
) -> Request<Body> {
    let mut builder = Request::builder().method(method).uri(path);
    if let Some(token) = token {
        builder = builder.header(header::AUTHORIZATION, format!("Bearer {token}"));
    }
    let mut request = builder.body(body).unwrap();
    let peer: SocketAddr = from.parse().unwrap();
    request.extensions_mut().insert(Peer(peer));
    request
}
