//! How seeds come in from a stream, which may be longer than memory and slower than a
//! crawl.
//!
//! A stream is read by a thread of its own, since reading may wait; it is never
//! more than a few batches ahead. What it brought and no commit has made durable
//! is lost with the process: whoever runs the crawl again gives the same stream
//! again, and seeds known already keep their numbers.

use std::collections::VecDeque;
use std::thread::JoinHandle;

use crossbeam_channel::{Receiver, RecvError, TryRecvError, bounded};

use crate::CrawlError;
use geomi_engine::SeedInput;

/// Seeds as they come, some at a time. Asking for the next ones may wait; the
/// crawl goes on meanwhile, and does not come to its end before the stream has.
pub type SeedStream = Box<dyn Iterator<Item = Vec<SeedInput>> + Send>;

/// Batches read ahead.
const BATCHES_AHEAD: usize = 2;

/// Seeds that are to be taken in.
#[derive(Debug, Default)]
pub(crate) struct SeedFeed {
    /// Seeds that have come.
    waiting: VecDeque<SeedInput>,
    reading: Option<Reading>,
}

/// A stream that has not ended.
#[derive(Debug)]
struct Reading {
    batches: Receiver<Vec<SeedInput>>,
    thread: JoinHandle<()>,
}

impl SeedFeed {
    /// Begins to read a stream, if there is one.
    pub(crate) fn open(stream: Option<SeedStream>) -> Result<Self, CrawlError> {
        let reading = stream.map(Reading::begin).transpose()?;
        Ok(Self {
            waiting: VecDeque::new(),
            reading,
        })
    }

    /// Whether there is nothing to take in, now or later.
    pub(crate) fn is_over(&self) -> bool {
        self.waiting.is_empty() && self.reading.is_none()
    }

    /// Whether there is something to take in now.
    pub(crate) fn is_due(&self) -> bool {
        let has_come = |reading: &Reading| !reading.batches.is_empty();
        !self.waiting.is_empty() || self.reading.as_ref().is_some_and(has_come)
    }

    /// Where the next seeds will come from, unless some are there or none will.
    pub(crate) fn batches(&self) -> Option<&Receiver<Vec<SeedInput>>> {
        let reading = self.reading.as_ref()?;
        (!self.is_due()).then_some(&reading.batches)
    }

    /// Takes what came from there; that it has ended is found at the next look.
    pub(crate) fn arrived(&mut self, batch: Result<Vec<SeedInput>, RecvError>) {
        self.waiting.extend(batch.into_iter().flatten());
    }

    /// Looks whether seeds have come or the stream has ended, without waiting.
    pub(crate) fn look(&mut self) -> Result<(), CrawlError> {
        while self.waiting.is_empty()
            && let Some(reading) = &self.reading
        {
            match reading.batches.try_recv() {
                Ok(batch) => self.waiting.extend(batch),
                Err(TryRecvError::Empty) => break,
                Err(TryRecvError::Disconnected) => self.end()?,
            }
        }
        Ok(())
    }

    fn end(&mut self) -> Result<(), CrawlError> {
        let Some(reading) = self.reading.take() else {
            return Ok(());
        };
        // It has let go of its end of the channel, so it is about to return.
        reading.thread.join().map_err(|_| CrawlError::LostWork)
    }

    /// The next seeds of the stream that have come, at most this number.
    pub(crate) fn take(&mut self, max: usize) -> Result<Vec<SeedInput>, CrawlError> {
        let mut taken = Vec::new();
        while taken.len() < max {
            self.look()?;
            if self.waiting.is_empty() {
                break;
            }
            let some = self.waiting.len().min(max - taken.len());
            taken.extend(self.waiting.drain(..some));
        }
        Ok(taken)
    }
}

impl Reading {
    fn begin(stream: SeedStream) -> Result<Self, CrawlError> {
        let (to_owner, batches) = bounded(BATCHES_AHEAD);
        // Nobody waits for this thread when the crawl ends before the stream: it
        // may never hear another word from there.
        let thread = std::thread::Builder::new()
            .name("seeds".to_owned())
            .spawn(move || {
                for batch in stream {
                    if to_owner.send(batch).is_err() {
                        return;
                    }
                }
            })
            .map_err(CrawlError::Thread)?;
        Ok(Self { batches, thread })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn seeds(count: u32) -> Vec<SeedInput> {
        let url = |number| format!("http://s{number}.example/").parse().unwrap();
        let seed = |number| SeedInput {
            url: url(number),
            topic: None,
        };
        (0..count).map(seed).collect()
    }

    /// Takes all of it, as a crawl would that has nothing else to do.
    fn drain(feed: &mut SeedFeed, max: usize) -> Vec<usize> {
        let mut sizes = Vec::new();
        while !feed.is_over() {
            if let Some(batches) = feed.batches() {
                let batch = batches.recv();
                feed.arrived(batch);
            }
            let taken = feed.take(max).unwrap();
            assert!(taken.len() <= max);
            sizes.extend((!taken.is_empty()).then_some(taken.len()));
        }
        sizes
    }

    #[test]
    fn a_stream_comes_in_portions_and_ends() {
        let batches = [seeds(5), Vec::new(), seeds(1), seeds(9)];
        let mut feed = SeedFeed::open(Some(Box::new(batches.into_iter()))).unwrap();
        assert!(!feed.is_over());
        let sizes = drain(&mut feed, 4);
        assert_eq!(sizes.iter().sum::<usize>(), 15, "{sizes:?}");
        assert!(feed.take(4).unwrap().is_empty() && !feed.is_due());
    }

    #[test]
    fn a_stream_that_breaks_is_a_failure_and_no_end() {
        let stream = std::iter::once_with(|| panic!("as a test wants it"));
        let mut feed = SeedFeed::open(Some(Box::new(stream))).unwrap();
        let batch = feed.batches().unwrap().recv();
        feed.arrived(batch);
        assert!(matches!(feed.look(), Err(CrawlError::LostWork)));
    }
}
