//! The crawl's end of the socket.

use std::fs;
use std::io;
use std::os::unix::fs::PermissionsExt as _;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::sync_channel;
use std::thread::JoinHandle;
use std::time::Duration;

use geomi_crawler::remote::{Request, Response};
use geomi_crawler::remote::{SOCKET, address, protocol};
use geomi_crawler::{Control, Desired, Order, Reply};
use geomi_engine::SeedInput;
use geomi_engine::explain::{SitesQuery, Topic};
use geomi_store::CrawlDir;
use geomi_url::CrawlUrl;

use super::registry::Note;
use crate::config::RunningConfig;

/// Connections served at once.
const CONNECTIONS_MAX: usize = 16;

/// How long the end waits for answers that are being sent.
const LAST_ANSWERS: Duration = Duration::from_secs(1);

/// Listens until dropped.
#[derive(Debug)]
pub(crate) struct Server {
    socket: PathBuf,
    dir: PathBuf,
    closing: Arc<AtomicBool>,
    stopped: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
    _note: Option<Note>,
}

impl Server {
    /// Makes a crawl reachable. The caller holds the directory's lock, so that
    /// a socket that is there already is nobody's.
    pub(crate) fn start(desk: Desk) -> io::Result<Self> {
        let dir = desk.dir.root().to_owned();
        let socket = dir.join(SOCKET);
        match fs::remove_file(&socket) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        let listener = UnixListener::bind(&address(&dir)?.path)?;
        fs::set_permissions(&socket, fs::Permissions::from_mode(0o600))?;
        // Without a note the crawl is still reached by its directory.
        let note = Note::leave(&dir)
            .inspect_err(|error| tracing::info!(%error, "geomi ls will not list this crawl"))
            .ok();
        let closing = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&desk.stopped);
        let until = Arc::clone(&closing);
        let desk = Arc::new(desk);
        let thread = std::thread::Builder::new()
            .name("control".to_owned())
            .spawn(move || listen(&listener, &until, &desk))?;
        Ok(Self {
            socket,
            dir,
            closing,
            stopped,
            thread: Some(thread),
            _note: note,
        })
    }

    /// Whether somebody stopped the crawl from another terminal.
    pub(crate) fn was_stopped(&self) -> bool {
        self.stopped.load(Ordering::Acquire)
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        self.closing.store(true, Ordering::Release);
        // Whoever waits for a connection looks up at this one.
        let woken = address(&self.dir).and_then(|address| UnixStream::connect(&address.path));
        if let (Ok(_), Some(thread)) = (woken, self.thread.take()) {
            // A panic in there has been reported by its own message.
            let _panicked = thread.join();
        }
        // It is nobody's now; the next run removes it too.
        let _left_behind = fs::remove_file(&self.socket);
    }
}

/// Each connection has a thread: one that says nothing, or does not take its
/// answer, holds up no other. A connection beyond the last thread is closed.
fn listen(listener: &UnixListener, closing: &AtomicBool, desk: &Arc<Desk>) {
    // Nothing is sent: the channel tells when the last thread has ended.
    let (ends, all_ended) = sync_channel::<()>(0);
    let busy = Arc::new(ends);
    for stream in listener.incoming() {
        if closing.load(Ordering::Acquire) {
            break;
        }
        let began = stream.and_then(|stream| {
            // One count is ours.
            if Arc::strong_count(&busy) > CONNECTIONS_MAX {
                return Err(io::Error::other("too many connections at once"));
            }
            let (desk, place) = (Arc::clone(desk), Arc::clone(&busy));
            std::thread::Builder::new()
                .name("control".to_owned())
                .spawn(move || {
                    if let Err(error) = serve(&stream, &desk) {
                        tracing::debug!(%error, "somebody connected and went away");
                    }
                    drop(place);
                })
        });
        if let Err(error) = began {
            tracing::debug!(%error, "a connection was not served");
        }
    }
    drop(busy);
    // Those that still wait for somebody are left to themselves.
    let _ended_or_late = all_ended.recv_timeout(LAST_ANSWERS);
}

/// Answers the one request of a connection.
fn serve(stream: &UnixStream, desk: &Desk) -> io::Result<()> {
    let answer = match protocol::receive(stream, protocol::PATIENCE) {
        Ok(request) => desk.answer(request),
        Err(error) if error.kind() == io::ErrorKind::InvalidData => {
            refused(vec![format!("this is no request: {error}")])
        }
        Err(error) => return Err(error),
    };
    protocol::send(stream, &answer)
}

/// Answers requests: knows the configuration and the crawl.
#[derive(Debug)]
pub(crate) struct Desk {
    dir: CrawlDir,
    control: Control,
    config: RunningConfig,
    stopped: Arc<AtomicBool>,
}

impl Desk {
    pub(crate) fn new(dir: CrawlDir, control: Control, config: RunningConfig) -> Self {
        Self {
            dir,
            control,
            config,
            stopped: Arc::default(),
        }
    }

    fn answer(&self, request: Request) -> Response {
        match request {
            Request::Status => Response::Status {
                pid: std::process::id(),
                status: Box::new(self.control.status()),
            },
            Request::Pause => self.steer(Desired::Pause),
            Request::Resume => self.steer(Desired::Run),
            Request::Stop { now } => {
                self.stopped.store(true, Ordering::Release);
                self.steer(if now { Desired::StopNow } else { Desired::Stop })
            }
            Request::Set { settings } => self.set(&settings).unwrap_or_else(refused),
            Request::Add { seeds } => self.add(seeds).unwrap_or_else(refused),
            Request::Explain { url, is_site } => self.explain(url, is_site).unwrap_or_else(refused),
            Request::Sites {
                order,
                after,
                limit,
                part,
            } => {
                let query = SitesQuery {
                    order,
                    after,
                    limit,
                    part,
                };
                self.sites(query).unwrap_or_else(refused)
            }
            Request::Queued { limit } => self.queued(limit).unwrap_or_else(refused),
        }
    }

    fn steer(&self, desired: Desired) -> Response {
        if self.control.desired() >= Desired::Stop && desired < Desired::Stop {
            return refused(vec!["the crawl is stopping already".to_owned()]);
        }
        self.control.set(desired);
        Response::Done
    }

    fn set(&self, settings: &[String]) -> Result<Response, Vec<String>> {
        self.config.change(settings, |meant| {
            self.order(Order::Reconfigure(Box::new(meant)))?;
            Ok(())
        })?;
        Ok(Response::Done)
    }

    fn add(&self, seeds: Vec<(String, Option<String>)>) -> Result<Response, Vec<String>> {
        let mut problems = Vec::new();
        let mut inputs = Vec::new();
        for (text, topic) in seeds {
            match CrawlUrl::parse(&text) {
                Ok(url) => inputs.push(SeedInput { url, topic }),
                Err(error) => problems.push(format!("seed {text:?}: {error}")),
            }
        }
        if !problems.is_empty() {
            return Err(problems);
        }
        match self.order(Order::AddSeeds(inputs))? {
            Reply::Seeds(result) => Ok(Response::Added {
                added: result.added,
                known: result.known,
                refused: result.refused,
            }),
            _ => unreachable!("seeds are answered with what became of them"),
        }
    }

    fn explain(&self, url: Option<String>, is_site: bool) -> Result<Response, Vec<String>> {
        let topic = match url {
            None => Topic::Crawl,
            Some(text) => {
                let url = CrawlUrl::parse(&text).map_err(|error| vec![error.to_string()])?;
                if is_site {
                    Topic::Site(url)
                } else {
                    Topic::Url(url)
                }
            }
        };
        match self.order(Order::Explain(topic))? {
            Reply::Explained(explanation) => Ok(Response::Explained { explanation }),
            _ => unreachable!("a question is answered with an explanation"),
        }
    }

    fn sites(&self, query: SitesQuery) -> Result<Response, Vec<String>> {
        match self.order(Order::Sites(query))? {
            Reply::Sites(page) => Ok(Response::Sites { page }),
            _ => unreachable!("a list of sites is answered with one"),
        }
    }

    fn queued(&self, limit: usize) -> Result<Response, Vec<String>> {
        match self.order(Order::Queued(limit))? {
            Reply::Queued(sample) => Ok(Response::Queued { sample }),
            _ => unreachable!("a question for URLs is answered with some"),
        }
    }

    fn order(&self, order: Order) -> Result<Reply, Vec<String>> {
        let reply = self.control.order(order);
        reply.ok_or_else(|| vec!["the crawl has just ended".to_owned()])
    }
}

fn refused(problems: Vec<String>) -> Response {
    Response::Refused { problems }
}
