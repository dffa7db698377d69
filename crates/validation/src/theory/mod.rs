//! Closed forms of the literature beside what is simulated.
//!
//! Each module has functions that compute a closed form, functions that run the simulation, and one that makes tables
//! of both. [`ALL`] names them for `cargo xtask theory`; the tests assert the same at a smaller size.

pub mod aimd;
pub mod dctcp;
pub mod estimate;
pub mod queueing;
pub mod rivals;
pub mod run;
pub mod sharing;
pub mod srpt;
pub mod table;

pub use estimate::{Confidence, Estimate};
pub use table::Table;

/// A theory by its name.
#[derive(Clone, Copy, Debug)]
pub struct Theory {
    /// The name in `cargo xtask theory NAME`.
    pub name: &'static str,
    /// What is compared with what.
    pub about: &'static str,
    /// The tables, at the size at which `docs/validation.md` prints them.
    pub tables: fn() -> Vec<Table>,
}

/// Every theory.
pub const ALL: &[Theory] = &[
    Theory {
        name: "queueing",
        about: "waiting times at a port: M/D/1, M/G/1, priorities, shortest job first",
        tables: queueing::tables,
    },
    Theory {
        name: "srpt",
        about: "the shortest remaining first on one link: Schrage and Miller",
        tables: srpt::tables,
    },
    Theory {
        name: "dctcp",
        about: "the steady state of DCTCP: queue, period, marks, the least K",
        tables: dctcp::tables,
    },
    Theory {
        name: "throughput",
        about: "TCP under random loss: PFTK, and one over the root of p",
        tables: aimd::tables,
    },
    Theory {
        name: "rivals",
        about: "relations between schemes that others have published: PIAS, pFabric, L2DCT, D2TCP, ICTCP",
        tables: rivals::tables,
    },
    Theory { name: "sharing", about: "how fast and how evenly flows share a link", tables: sharing::tables },
];

impl Theory {
    /// The theory of this name.
    pub fn find(name: &str) -> Option<&'static Theory> {
        ALL.iter().find(|theory| theory.name == name)
    }
}
