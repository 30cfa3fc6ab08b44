//! A console somewhere else, asked over its API: `--server URL`.
//!
//! One request a connection, HTTP/1.1, answers of bounded length; nothing of
//! the crawler's own fetching is used, which keeps robots.txt and rests. https
//! is checked against the certificates this machine trusts.

use std::io::{Read, Write};
use std::net::TcpStream;
use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use clap::Args;
use geomi_url::CrawlUrl;
use rustls::pki_types::ServerName;
use serde_json::Value;

use crate::config::Problems;

/// The longest answer.
const ANSWER_BYTES_MAX: u64 = 64 << 20;
/// How long a silence may last.
const PATIENCE: Duration = Duration::from_secs(30);

/// Flags of commands that can ask a console.
#[derive(Debug, Default, Args)]
pub(crate) struct ServerArgs {
    /// Ask the console at this URL instead of crawls of this machine
    #[arg(long, value_name = "URL", env = "GEOMI_SERVER", hide_env_values = true)]
    pub(crate) server: Option<String>,
    /// API token for it; better in the variable `GEOMI_TOKEN`, which nobody sees in a list of processes
    #[arg(
        long,
        value_name = "TOKEN",
        env = "GEOMI_TOKEN",
        hide_env_values = true,
        requires = "server"
    )]
    pub(crate) token: Option<String>,
}

impl ServerArgs {
    /// The console that was named, if one was.
    pub(crate) fn console(&self) -> anyhow::Result<Option<Console>> {
        let Some(text) = &self.server else {
            return Ok(None);
        };
        let url = CrawlUrl::parse(text).map_err(|error| {
            Problems::one(format!(
                "--server {text:?}: {error}; write http://HOST:8600"
            ))
        })?;
        Ok(Some(Console {
            url,
            token: self.token.clone(),
        }))
    }
}

/// A console.
#[derive(Debug)]
pub(crate) struct Console {
    url: CrawlUrl,
    token: Option<String>,
}

impl Console {
    /// Every crawl it has; pages are put together.
    pub(crate) fn crawls(&self) -> anyhow::Result<Vec<Value>> {
        let mut crawls = Vec::new();
        let mut after = String::new();
        loop {
            let page = self.ask("GET", &format!("/api/v1/crawls?limit=1000{after}"))?;
            if let Some(items) = page["items"].as_array() {
                crawls.extend(items.iter().cloned());
            }
            match page["next"].as_str() {
                Some(next) => after = format!("&after={}", escaped(next)),
                None => return Ok(crawls),
            }
        }
    }

    /// The crawl that was named, by id or name, or the only running one.
    pub(crate) fn the_crawl(&self, named: Option<&str>) -> anyhow::Result<String> {
        let crawls = self.crawls()?;
        let text = |crawl: &Value, field: &str| crawl[field].as_str().unwrap_or("").to_owned();
        let fits = |crawl: &&Value| match named {
            Some(named) => text(crawl, "id") == named || text(crawl, "name") == named,
            None => crawl["running"] == true,
        };
        let found: Vec<String> = crawls
            .iter()
            .filter(fits)
            .map(|crawl| text(crawl, "id"))
            .collect();
        match (&found[..], named) {
            ([only], _) => Ok(only.clone()),
            ([], Some(named)) => {
                Err(Problems::one(format!("{} has no crawl {named}", self.url)).into())
            }
            ([], None) => Err(Problems::one("no crawl is running there").into()),
            _ => {
                let what = format!(
                    "several crawls are running, say which: {}",
                    found.join(", ")
                );
                Err(Problems::one(what).into())
            }
        }
    }

    /// Gives an order to a crawl.
    pub(crate) fn order(&self, id: &str, word: &str) -> anyhow::Result<()> {
        self.ask("POST", &format!("/api/v1/crawls/{id}/{word}"))?;
        Ok(())
    }

    fn ask(&self, method: &str, path: &str) -> anyhow::Result<Value> {
        let cannot = || format!("cannot ask {}", self.url);
        let stream =
            TcpStream::connect((self.url.host().trim_matches(['[', ']']), self.url.port()))
                .with_context(cannot)?;
        stream
            .set_read_timeout(Some(PATIENCE))
            .with_context(cannot)?;
        stream
            .set_write_timeout(Some(PATIENCE))
            .with_context(cannot)?;
        let answer = if self.url.as_str().starts_with("https:") {
            let mut stream = rustls::StreamOwned::new(self.tls().with_context(cannot)?, stream);
            self.exchange(&mut stream, method, path)
        } else {
            let mut stream = stream;
            self.exchange(&mut stream, method, path)
        };
        let (code, body) = answer.with_context(cannot)?;
        let value: Value = if body.is_empty() {
            Value::Null
        } else {
            serde_json::from_slice(&body)
                .with_context(|| format!("{} gave no JSON: is it a console of geomi?", self.url))?
        };
        if (200..300).contains(&code) {
            return Ok(value);
        }
        let detail = value["detail"].as_str().unwrap_or("it did not say why");
        let errors = value["errors"].as_array().into_iter().flatten();
        let mut problems = Problems::one(format!("{} refused ({code}): {detail}", self.url));
        for error in errors.filter_map(Value::as_str) {
            problems.add_general(error.to_owned());
        }
        Err(problems.into())
    }

    fn tls(&self) -> anyhow::Result<rustls::ClientConnection> {
        let mut roots = rustls::RootCertStore::empty();
        let trusted = rustls_native_certs::load_native_certs();
        roots.add_parsable_certificates(trusted.certs);
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let config = rustls::ClientConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()?
            .with_root_certificates(roots)
            .with_no_client_auth();
        let name = ServerName::try_from(self.url.host().to_owned())?;
        Ok(rustls::ClientConnection::new(Arc::new(config), name)?)
    }

    fn exchange<S: Read + Write>(
        &self,
        stream: &mut S,
        method: &str,
        path: &str,
    ) -> anyhow::Result<(u16, Vec<u8>)> {
        let token = match &self.token {
            Some(token) if token.bytes().all(|byte| byte.is_ascii_graphic()) => {
                format!("Authorization: Bearer {token}\r\n")
            }
            Some(_) => bail!("the token has characters no token has"),
            None => String::new(),
        };
        let request = format!(
            "{method} {path} HTTP/1.1\r\nHost: {}\r\nAccept: application/json\r\n{token}Content-Length: 0\r\nConnection: close\r\n\r\n",
            self.url.authority()
        );
        stream.write_all(request.as_bytes())?;
        let mut answer = Vec::new();
        #[expect(clippy::disallowed_methods, reason = "read under a limit")]
        stream.take(ANSWER_BYTES_MAX).read_to_end(&mut answer)?;
        read_answer(&answer)
    }
}

/// Code and body of an answer.
fn read_answer(bytes: &[u8]) -> anyhow::Result<(u16, Vec<u8>)> {
    let mut fields = [httparse::EMPTY_HEADER; 64];
    let mut head = httparse::Response::new(&mut fields);
    let httparse::Status::Complete(begins) = head.parse(bytes)? else {
        bail!("the answer ended in its header");
    };
    let field = |name: &str| {
        let found = head
            .headers
            .iter()
            .find(|field| field.name.eq_ignore_ascii_case(name));
        found.and_then(|field| std::str::from_utf8(field.value).ok())
    };
    let body = &bytes[begins..];
    let code = head.code.context("the answer has no code")?;
    match field("content-length").and_then(|len| len.parse::<usize>().ok()) {
        Some(len) if body.len() < len => bail!("the answer was cut off"),
        Some(len) => Ok((code, body[..len].to_vec())),
        // Our console states the length of everything but its streams.
        None if field("transfer-encoding").is_none() => Ok((code, body.to_vec())),
        None => bail!("the answer comes in chunks, which no console of geomi sends"),
    }
}

/// Text for a query.
fn escaped(text: &str) -> String {
    text.bytes().map(|byte| format!("%{byte:02X}")).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn answers_are_read_whole_or_not_at_all() {
        let whole = b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{}";
        assert_eq!(read_answer(whole).unwrap(), (200, b"{}".to_vec()));
        let empty = b"HTTP/1.1 204 No Content\r\n\r\n";
        assert_eq!(read_answer(empty).unwrap(), (204, Vec::new()));
        let cut = b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\n{}";
        assert!(read_answer(cut).is_err());
        assert!(read_answer(b"HTTP/1.1 200").is_err());
    }
}
