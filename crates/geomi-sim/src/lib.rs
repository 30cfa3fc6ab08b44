//! Laboratories: the crawler's decisions in virtual time, on model webs.

pub mod refresh;
