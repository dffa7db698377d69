//! The engine against slow oracles that solve every moment from nothing, in exact rationals.

mod common;
mod criticality;
mod fair;
mod fluid;
