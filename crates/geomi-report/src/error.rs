//! Why there is no report.

use std::path::PathBuf;

use geomi_scope::ScopeError;
use geomi_store::StoreError;
use geomi_store::warc::ReadError;

/// What keeps a report from being made.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ReportError {
    /// A table of visits cannot be read.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// A stored page cannot be read for a reason that lies with the machine.
    #[error(transparent)]
    Read(#[from] ReadError),
    /// The include patterns of the crawl's configuration are not sound; they
    /// were when it ran.
    #[error("the include patterns cannot be used: {}", in_words(.0))]
    Patterns(Vec<ScopeError>),
    /// status.json is not what a crawl writes.
    #[error("{} is no status of a crawl: {reason}", path.display())]
    Status {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
}

fn in_words(errors: &[ScopeError]) -> String {
    let errors: Vec<String> = errors.iter().map(ToString::to_string).collect();
    errors.join("; ")
}
