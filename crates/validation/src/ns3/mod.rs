//! The simulator against ns-3: the same flows on the same ways through the same ports, packet for packet where both
//! follow one rule.
//!
//! [`cases`] says what is compared and how far the two may be apart, [`case`] makes a case runnable by either, [`own`]
//! and
//! [`peer`] run it, [`summary`] is what is kept of a run, and [`mod@reference`] is what ns-3 gave when it was last
//! asked, so that the comparison can be repeated where there is no ns-3.

pub mod case;
pub mod cases;
pub mod own;
pub mod peer;
pub mod reference;
pub mod report;
pub mod summary;

pub use case::Case;
pub use cases::{CASES, CaseSpec};
pub use reference::Reference;
pub use summary::{Agreement, Summary};
