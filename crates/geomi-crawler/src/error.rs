//! What can go wrong on our side.

use geomi_engine::EngineError;
use geomi_fetch::FetchError;
use geomi_store::StoreError;

/// A failure of the operator's or the machine's. What the web does wrong is
/// never one of these.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum CrawlError {
    /// Reading or writing the crawl directory failed.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The network could not be set up.
    #[error(transparent)]
    Fetch(#[from] FetchError),
    /// An engine failed.
    #[error(transparent)]
    Engine(EngineError),
    /// Mail between partitions could not be carried.
    #[error(transparent)]
    Cluster(#[from] geomi_cluster::ClusterError),
    /// Another worker owns a part of this crawl.
    #[error("{partition} of this crawl is held by worker {holder}; stop it first")]
    NotOurs {
        /// Which part.
        partition: String,
        /// Who has it.
        holder: String,
    },
    /// A thread of ours failed while it held a lease: a bug, said as such
    /// instead of waiting for an answer that will not come.
    #[error(
        "a worker thread failed; this is a bug in geomi, please report the message above (the crawl can be resumed)"
    )]
    LostWork,
    /// The operating system would not give us a thread.
    #[error("cannot start a thread: {0}")]
    Thread(#[source] std::io::Error),
    /// A test asked for a crash here.
    #[error("crashed on request")]
    Crashed,
}

impl From<EngineError> for CrawlError {
    fn from(error: EngineError) -> Self {
        match error {
            EngineError::State(error) => Self::Store(error.into()),
            EngineError::World(error) => match error.downcast::<Self>() {
                Ok(own) => *own,
                Err(foreign) => Self::Engine(EngineError::World(foreign)),
            },
            error => Self::Engine(error),
        }
    }
}

impl From<CrawlError> for EngineError {
    fn from(error: CrawlError) -> Self {
        match error {
            CrawlError::Engine(error) => error,
            error => Self::World(Box::new(error)),
        }
    }
}

impl CrawlError {
    /// Whether the disk is full: the directory can be resumed once there is room.
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::Store(StoreError::DiskFull { .. }))
    }
}
