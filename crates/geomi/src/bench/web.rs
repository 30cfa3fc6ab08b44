//! The test web in a process of its own: this program, started again.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::{Child, Command, Stdio};

use anyhow::Context as _;
use geomi_testweb::{PageBytes, ServerOptions, ServerThread, Web, WebSpec};
use geomi_url::CrawlUrl;

use crate::Exit;
use crate::args::ServeTestwebArgs;
use crate::terminal::print;

/// A web served by a child; it ends with this value.
#[derive(Debug)]
pub(super) struct ChildWeb {
    child: Child,
    web: WebSpec,
}

impl ChildWeb {
    /// Starts the child and waits until it listens.
    pub(super) fn start(sites: u32, pages: u32, page_bytes: u32) -> anyhow::Result<Self> {
        let program = std::env::current_exe().context("cannot find this program")?;
        let mut child = Command::new(program)
            .arg("serve-testweb")
            .args([sites, pages, page_bytes].map(|number| number.to_string()))
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .context("cannot start the test web")?;
        let mut port = String::new();
        let out = child
            .stdout
            .as_mut()
            .context("the test web has no output")?;
        BufReader::new(out.take(64))
            .read_line(&mut port)
            .context("the test web said nothing")?;
        let mut web = spec(sites, pages, page_bytes);
        web.port = port.trim().parse().context("the test web did not start")?;
        Ok(Self { child, web })
    }

    /// The front pages.
    pub(super) fn seeds(&self) -> Vec<CrawlUrl> {
        Web::new(self.web.clone()).seeds()
    }
}

impl Drop for ChildWeb {
    fn drop(&mut self) {
        // It stops when its input closes. Should it be gone already, or not be
        // ours to wait for any more, there is nothing left to do.
        drop(self.child.stdin.take());
        drop(self.child.wait());
    }
}

fn spec(sites: u32, pages: u32, page_bytes: u32) -> WebSpec {
    let mut spec = WebSpec::plain(sites, pages);
    spec.page_bytes = PageBytes::of_mean(page_bytes);
    spec
}

/// The child's side: says its port and serves until its input closes.
pub(crate) fn serve(args: &ServeTestwebArgs) -> anyhow::Result<Exit> {
    let web = Web::new(spec(args.sites, args.pages, args.page_bytes));
    let options = ServerOptions {
        log_max: 0,
        ..ServerOptions::default()
    };
    let server = ServerThread::start(web, options)?;
    print(&server.port().to_string())?;
    let mut ignored = [0; 1024];
    while std::io::stdin().read(&mut ignored)? > 0 {}
    server.stop();
    Ok(Exit::Done)
}
