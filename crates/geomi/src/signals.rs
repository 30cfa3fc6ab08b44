//! Ctrl-C and its relatives.
//!
//! The first signal lets open requests finish and closes all files; the second
//! gives up what is under way and closes all files; the third ends the process
//! on the spot, which a crawl directory survives like any crash.

use std::sync::Arc;
use std::sync::atomic::{AtomicI32, Ordering};

use anyhow::Context as _;
use geomi_crawler::{Control, Desired};
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::{Handle, Signals};

/// Listens until dropped.
#[derive(Debug)]
pub(crate) struct Listener {
    handle: Handle,
    first: Arc<AtomicI32>,
}

impl Listener {
    /// Steers a crawl by the signals this process gets.
    pub(crate) fn start(control: Control) -> anyhow::Result<Self> {
        let mut signals = Signals::new([SIGINT, SIGTERM]).context("cannot listen for signals")?;
        let handle = signals.handle();
        let first = Arc::new(AtomicI32::new(0));
        let noted = Arc::clone(&first);
        std::thread::Builder::new()
            .name("signals".to_owned())
            .spawn(move || {
                for (count, signal) in signals.forever().enumerate() {
                    match count {
                        0 => {
                            noted.store(signal, Ordering::Release);
                            control.set(Desired::Stop);
                        }
                        1 => control.set(Desired::StopNow),
                        _ => std::process::exit(128 + signal),
                    }
                }
            })
            .context("cannot start a thread")?;
        Ok(Self { handle, first })
    }

    /// The exit code of a stop by the signal that came, if one came.
    pub(crate) fn exit_code(&self) -> Option<u8> {
        match self.first.load(Ordering::Acquire) {
            0 => None,
            signal => u8::try_from(128 + signal).ok(),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        self.handle.close();
    }
}
