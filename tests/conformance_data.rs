//! Data of outside conformance suites. It lies beside the project where geomi is
//! developed and is not part of it. `GEOMI_CONFORMANCE` names another place.
//!
//! A test without its data has not passed. The test runner knows no third
//! outcome at run time, so the test says that it was skipped in a line which the
//! runner does not capture; `scripts/test` takes such tests off those that passed.

use std::io::Write as _;
use std::path::{Path, PathBuf};

/// Where some of the data lies; `None` if it is not there, after the line that
/// says so.
pub(crate) fn conformance_data(test: &str, place: &str) -> Option<PathBuf> {
    let beside = || {
        let project = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
        project.join("../shared/conformance")
    };
    let data = std::env::var_os("GEOMI_CONFORMANCE").map_or_else(beside, PathBuf::from);
    let wanted = data.join(place);
    if wanted.exists() {
        return Some(wanted);
    }
    let line = format!("\nskipped: {test}: no data at {}\n", wanted.display());
    #[expect(
        clippy::disallowed_methods,
        reason = "a line of our own, which must not be captured"
    )]
    let mut out = std::io::stderr();
    out.write_all(line.as_bytes()).expect("stderr is there");
    None
}
