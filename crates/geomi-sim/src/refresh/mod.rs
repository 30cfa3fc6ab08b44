//! The refresh laboratory.
pub mod dice;
pub mod trial;
pub mod web;
