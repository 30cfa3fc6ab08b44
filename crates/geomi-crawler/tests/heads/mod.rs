//! A server that keeps the head of every request and answers by a function: for
//! what must, and must not, be in a request.

#![allow(
    clippy::unwrap_used,
    reason = "a test that cannot be set up has failed"
)]
#![allow(dead_code, reason = "each test file uses the parts it needs")]

use std::io::{BufRead as _, BufReader, Write as _};
use std::net::{TcpListener, TcpStream};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use geomi_crawler::{Control, CrawlConfig, NoFaults, Surroundings, SystemClock, run};
use geomi_engine::{SeedInput, Silent, Status};
use geomi_fetch::parse_override;
use geomi_frontier::Delay;
use geomi_scope::ScopeKind;
use geomi_store::CrawlDir;
use tempfile::TempDir;

/// A request as it came.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub host: String,
    pub path: String,
    pub fields: Vec<(String, String)>,
}

impl Head {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let mut fields = self.fields.iter();
        let found = fields.find(|(field, _)| field.eq_ignore_ascii_case(name));
        found.map(|(_, value)| value.as_str())
    }
}

type Answers = dyn Fn(&Head) -> String + Send + Sync;

/// Listens on one port of loopback for any host name.
pub(crate) struct HeadServer {
    pub port: u16,
    heads: Arc<Mutex<Vec<Head>>>,
}

impl HeadServer {
    /// Answers with header lines and body: `"200\r\nSet-Cookie: a=b\r\n\r\nbody"`.
    pub(crate) fn start(answers: impl Fn(&Head) -> String + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let heads: Arc<Mutex<Vec<Head>>> = Arc::default();
        let (kept, answers): (_, Arc<Answers>) = (Arc::clone(&heads), Arc::new(answers));
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let (kept, answers) = (Arc::clone(&kept), Arc::clone(&answers));
                std::thread::spawn(move || serve(stream, &kept, &*answers));
            }
        });
        Self { port, heads }
    }

    /// Every request but those for robots.txt, in order.
    pub(crate) fn pages(&self) -> Vec<Head> {
        let heads = self.heads.lock().unwrap().clone();
        let pages = heads.into_iter().filter(|head| head.path != "/robots.txt");
        pages.collect()
    }

    /// Every request.
    pub(crate) fn all(&self) -> Vec<Head> {
        self.heads.lock().unwrap().clone()
    }

    /// The only request for a path of a host.
    #[track_caller]
    pub(crate) fn only(&self, host: &str, path: &str) -> Head {
        let pages = self.pages();
        let mut found = pages
            .iter()
            .filter(|head| head.host.split(':').next() == Some(host) && head.path == path);
        let head = found
            .next()
            .unwrap_or_else(|| panic!("{host}{path} was asked for"));
        assert!(found.next().is_none(), "{host}{path} once");
        head.clone()
    }
}

fn serve(stream: TcpStream, heads: &Mutex<Vec<Head>>, answers: &Answers) {
    let mut reader = BufReader::new(stream.try_clone().unwrap());
    let mut stream = stream;
    while let Some(head) = read_head(&mut reader) {
        let answer = if head.path == "/robots.txt" {
            "404\r\nSet-Cookie: robots=1\r\n\r\n".to_owned()
        } else {
            answers(&head)
        };
        heads.lock().unwrap().push(head);
        let (fields, body) = answer.split_once("\r\n\r\n").unwrap();
        let (code, fields) = fields.split_once("\r\n").unwrap_or((fields, ""));
        let fields = if fields.is_empty() {
            String::new()
        } else {
            format!("{fields}\r\n")
        };
        let length = body.len();
        let answer = format!(
            "HTTP/1.1 {code} Said\r\nContent-Type: text/html\r\nContent-Length: {length}\r\n{fields}\r\n{body}"
        );
        if stream.write_all(answer.as_bytes()).is_err() {
            return;
        }
    }
}

fn read_head(reader: &mut BufReader<TcpStream>) -> Option<Head> {
    let mut lines = Vec::new();
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line).ok()? == 0 {
            return None;
        }
        let line = line.trim_end().to_owned();
        if line.is_empty() {
            break;
        }
        lines.push(line);
    }
    let path = lines.first()?.split(' ').nth(1)?.to_owned();
    let fields: Vec<(String, String)> = lines[1..]
        .iter()
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_owned(), value.to_owned()))
        .collect();
    let mut head = Head {
        host: String::new(),
        path,
        fields,
    };
    head.host = head.field("host")?.to_owned();
    Some(head)
}

/// A directory, and crawls of everything the servers link to into it.
pub(crate) struct Place {
    pub dir: CrawlDir,
    _temp: TempDir,
}

impl Place {
    pub(crate) fn new() -> Self {
        let temp = tempfile::tempdir().unwrap();
        let dir = CrawlDir::create(temp.path().join("crawl")).unwrap();
        Self { dir, _temp: temp }
    }

    /// From these seeds to everything reachable; every name is at loopback.
    pub(crate) fn config(seeds: &[String]) -> CrawlConfig {
        let seeds = seeds.iter().map(|url| SeedInput {
            url: url.parse().unwrap(),
            topic: None,
        });
        let mut config = CrawlConfig::new(seeds.collect());
        config.engine.sitemaps = geomi_engine::SitemapMode::Robots;
        config.engine.scope.kind = ScopeKind::Any;
        config.engine.frontier.politeness.delay = Delay::Fixed(Duration::ZERO);
        config.fetch.overrides = vec![parse_override("*:127.0.0.1").unwrap()];
        config.limits.disk_free_min = 0;
        config
    }

    pub(crate) fn crawl(&self, config: &CrawlConfig) -> Status {
        let surroundings = Surroundings {
            clock: Arc::new(SystemClock::default()),
            control: Control::default(),
            observer: &mut Silent,
            steps: &mut NoFaults,
        };
        run(config, &self.dir, surroundings).unwrap()
    }

    /// Everything in the WARC files, decompressed.
    pub(crate) fn archive(&self) -> String {
        let mut text = String::new();
        for entry in std::fs::read_dir(self.dir.warc()).unwrap() {
            let mut reader = geomi_store::warc::WarcReader::open(&entry.unwrap().path()).unwrap();
            while reader.next_record().unwrap().is_some() {
                let mut chunk = [0; 4096];
                loop {
                    match reader.read_block(&mut chunk).unwrap() {
                        0 => break,
                        len => text.push_str(&String::from_utf8_lossy(&chunk[..len])),
                    }
                }
                reader.finish_record().unwrap();
            }
        }
        text
    }
}
