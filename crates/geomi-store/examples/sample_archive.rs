//! Writes a small crawl directory with one of everything, for other programs'
//! tools to look at: `cargo run --example sample_archive -- DIR`.

#[path = "../tests/sample/mod.rs"]
mod sample;

use std::path::PathBuf;
use std::process::ExitCode;

fn main() -> ExitCode {
    let Some(root) = std::env::args_os().nth(1).map(PathBuf::from) else {
        eprintln!("usage: sample_archive DIR");
        return ExitCode::from(2);
    };
    let (dir, rows) = sample::crawl(&root, 8 << 10);
    eprintln!("{} visits in {}", rows.len(), dir.root().display());
    ExitCode::SUCCESS
}
