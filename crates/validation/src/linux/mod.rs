//! The simulator against Linux: the same flows through the same ports, with TCP by the kernel.
//!
//! The kernel is a User-Mode Linux in virtual time, in which computing takes no time: `crates/validation/linux` has its
//! options, what is edited in its sources, and the driver that runs a case inside of it. [`cases`] lists what is
//! compared, [`case`] makes a case of a scenario, [`plan`] is the case as the driver reads it, [`guest`] runs it,
//! [`own`] runs the same in tailcut with the starts of Linux, [`judge`] compares, and [`mod@reference`] is the stored
//! answer of Linux, so that the comparison can be repeated without a kernel.

pub mod answer;
pub mod case;
pub mod cases;
pub mod guest;
pub mod judge;
pub mod offsets;
pub mod own;
pub mod paths;
pub mod plan;
pub mod reference;
pub mod report;

pub use answer::Answer;
pub use case::Case;
pub use cases::CASES;
pub use judge::Compared;
pub use reference::Reference;
