//! Mutated bytes for every parser of foreign input.
//!
//! A [`Target`] feeds bytes to one parser and asserts what must hold whatever they
//! are: it does not panic, its output is bounded, what it wrote it reads back the
//! same. The [`Mutator`] makes new inputs of a corpus, from a seed, so that every
//! run can be repeated. It does not measure coverage: that needs a compiler geomi
//! does not ask for. Small dictionaries and splicing make up for some of it.
//!
//! The corpora lie in `corpus/TARGET/`; tests replay them, with a bounded number of
//! mutations. An input that broke something belongs there once it is mended.

mod corpus;
mod mutate;
mod targets;

pub use corpus::{corpus, corpus_folder};
pub use mutate::Mutator;
pub use targets::{TARGETS, Target};

/// Longest input made.
pub const INPUT_BYTES_MAX: usize = 64 * 1024;
