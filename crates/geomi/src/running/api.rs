//! A console somewhere else, asked over its API: `--server URL`.

use std::fmt::Write as _;

use anyhow::Context as _;
use clap::Args;
use geomi_console::client::{self, Ask};
use geomi_url::CrawlUrl;
use serde_json::Value;

use crate::config::Problems;

/// Flags of commands that can ask a console.
#[derive(Debug, Default, Args)]
pub(crate) struct ServerArgs {
    /// Ask the console at this URL instead of crawls of this machine
    #[arg(long, value_name = "URL", env = "GEOMI_SERVER", hide_env_values = true)]
    pub(crate) server: Option<String>,
    /// API token for it; better given as a variable, which no list of processes shows
    #[arg(
        long,
        value_name = "TOKEN",
        env = "GEOMI_TOKEN",
        hide_env_values = true
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
            crawls.extend(page["items"].as_array().into_iter().flatten().cloned());
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
        let found = crawls.iter().filter(fits).map(|crawl| text(crawl, "id"));
        let found: Vec<String> = found.collect();
        let what = match (&found[..], named) {
            ([only], _) => return Ok(only.clone()),
            ([], Some(named)) => format!("{} has no crawl {named}", self.url),
            ([], None) => format!("no crawl is running at {}", self.url),
            _ => format!(
                "several crawls are running, say which: {}",
                found.join(", ")
            ),
        };
        Err(Problems::one(what).into())
    }

    /// Gives an order to a crawl.
    pub(crate) fn order(&self, id: &str, word: &str) -> anyhow::Result<()> {
        self.ask("POST", &format!("/api/v1/crawls/{id}/{word}"))?;
        Ok(())
    }

    fn ask(&self, method: &str, path: &str) -> anyhow::Result<Value> {
        let ask = Ask {
            method,
            path: Some(path),
            token: self.token.as_deref(),
            body: None,
        };
        let sent = client::send(&self.url, &ask);
        let (code, body) = sent.with_context(|| format!("cannot ask {}", self.url))?;
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
        let mut problems = Problems::one(format!("{} refused ({code}): {detail}", self.url));
        let errors = value["errors"].as_array().into_iter().flatten();
        for error in errors.filter_map(Value::as_str) {
            problems.add_general(error.to_owned());
        }
        Err(problems.into())
    }
}

/// Text for a query.
fn escaped(text: &str) -> String {
    text.bytes().fold(String::new(), |mut escaped, byte| {
        write!(escaped, "%{byte:02X}").expect("a string takes everything");
        escaped
    })
}
