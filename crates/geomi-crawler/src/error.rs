//! What can go wrong on our side.

use geomi_fetch::FetchError;
use geomi_state::StateError;
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
    /// Patterns or limits of the scope are wrong; all of them are listed.
    #[error("{}", join(.0))]
    Scope(Vec<geomi_scope::ScopeError>),
    /// The state was laid out by another version.
    #[error(
        "this crawl was begun by geomi 0.1, which laid out frontier/ in another way; what it collected is readable (geomi report, export, verify, cat). To go on, crawl its seeds-out.txt into a new directory: geomi crawl --seeds DIR/seeds-out.txt -o NEW"
    )]
    Layout,
    /// The directory was started with another number of partitions.
    #[error(
        "this crawl was started with {found} partitions, not {wanted}; set cluster.partitions = {found}, or use a new directory"
    )]
    Partitions {
        /// What the directory has.
        found: u16,
        /// What the configuration says.
        wanted: u16,
    },
    /// A record in the partition state cannot be read.
    #[error(
        "the state in frontier/ is damaged: {what}; what was collected is readable (geomi cat, export, report); delete frontier/ and run the crawl again to start its queue anew"
    )]
    Damaged {
        /// Which record.
        what: String,
    },
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

impl From<StateError> for CrawlError {
    fn from(error: StateError) -> Self {
        Self::Store(error.into())
    }
}

fn join(errors: &[geomi_scope::ScopeError]) -> String {
    errors
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}

impl CrawlError {
    /// Whether the disk is full: the directory can be resumed once there is room.
    pub fn is_disk_full(&self) -> bool {
        matches!(self, Self::Store(StoreError::DiskFull { .. }))
    }
}
