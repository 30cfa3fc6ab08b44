//! What can go wrong on our side.

use geomi_state::StateError;

/// A failure of the operator's or the machine's. What the web does wrong is never one of
/// these.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum EngineError {
    /// Reading or writing the state failed.
    #[error(transparent)]
    State(#[from] StateError),
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
    /// The outside world of the engine failed.
    #[error(transparent)]
    World(Box<dyn std::error::Error + Send + Sync>),
}

fn join(errors: &[geomi_scope::ScopeError]) -> String {
    errors
        .iter()
        .map(ToString::to_string)
        .collect::<Vec<_>>()
        .join("\n")
}
