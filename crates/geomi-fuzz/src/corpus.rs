//! The inputs a target starts from.

use std::path::{Path, PathBuf};

use crate::INPUT_BYTES_MAX;

/// Where the corpus of a target lies.
pub fn corpus_folder(target: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("corpus")
        .join(target)
}

/// The inputs of a target in the order of their names, each cut to the length
/// mutations may have.
pub fn corpus(target: &str) -> std::io::Result<Vec<Vec<u8>>> {
    let mut paths = Vec::new();
    for file in std::fs::read_dir(corpus_folder(target))? {
        paths.push(file?.path());
    }
    paths.sort();
    let mut inputs = Vec::with_capacity(paths.len());
    for path in paths {
        let mut input = std::fs::read(path)?;
        input.truncate(INPUT_BYTES_MAX);
        inputs.push(input);
    }
    Ok(inputs)
}
