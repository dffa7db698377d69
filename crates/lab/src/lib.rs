//! The laboratory: what is run, and what the runs say.

pub mod results;
