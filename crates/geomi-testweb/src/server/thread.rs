//! A server on a thread of its own, for tests without a runtime.

use std::ops::Deref;
use std::sync::mpsc::{SyncSender, sync_channel};
use std::thread::JoinHandle;

use tokio::sync::oneshot;

use super::{ServeError, Server, ServerHandle, ServerOptions};
use crate::Web;

/// A [`Server`] that runs on its own thread until it is stopped or dropped:
/// for tests that start the crawler as a child process.
///
/// ```
/// use geomi_testweb::{ServerOptions, ServerThread, Web, WebSpec};
///
/// let server = ServerThread::start(Web::new(WebSpec::plain(2, 10)), ServerOptions::default()).unwrap();
/// assert_eq!(server.seeds().len(), 2);
/// server.stop();
/// ```
pub struct ServerThread {
    handle: ServerHandle,
    /// Dropping it tells the thread to stop.
    stop: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl ServerThread {
    /// Starts the thread and waits until the server listens.
    pub fn start(web: Web, options: ServerOptions) -> Result<Self, ServeError> {
        let (started, is_started) = sync_channel(1);
        let (stop, stopped) = oneshot::channel();
        let thread = std::thread::Builder::new()
            .name("testweb".to_owned())
            .spawn(move || run(web, options, &started, stopped))
            .map_err(ServeError::Thread)?;
        let handle = is_started
            .recv()
            .expect("the thread reports before it ends")?;
        Ok(Self {
            handle,
            stop: Some(stop),
            thread: Some(thread),
        })
    }

    /// Closes everything and waits for the thread; dropping does the same.
    pub fn stop(self) {}
}

impl Deref for ServerThread {
    type Target = ServerHandle;
    fn deref(&self) -> &ServerHandle {
        &self.handle
    }
}

impl Drop for ServerThread {
    fn drop(&mut self) {
        self.stop.take();
        if let Some(thread) = self.thread.take() {
            let ended = thread.join();
            // A second panic while one unwinds would abort the test run.
            assert!(
                ended.is_ok() || std::thread::panicking(),
                "the server's thread does not panic"
            );
        }
    }
}

fn run(
    web: Web,
    options: ServerOptions,
    started: &SyncSender<Result<ServerHandle, ServeError>>,
    stopped: oneshot::Receiver<()>,
) {
    let report = |outcome| {
        started
            .send(outcome)
            .expect("start waits for the first report");
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let runtime = match runtime {
        Ok(runtime) => runtime,
        Err(error) => return report(Err(ServeError::Thread(error))),
    };
    runtime.block_on(async {
        match Server::start(web, options).await {
            Err(error) => report(Err(error)),
            Ok(server) => {
                report(Ok(server.handle.clone()));
                // The sender says stop by being dropped: the error is the message.
                stopped.await.unwrap_or(());
                server.stop().await;
            }
        }
    });
}
