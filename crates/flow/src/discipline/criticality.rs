//! Strict priority by criticality: a flow has what more critical ones leave of its links (Hong, Caesar, Godfrey,
//! Finishing Flows Quickly with Preemptive Scheduling, SIGCOMM 2012, section 2; Alizadeh et al., pFabric, SIGCOMM 2013,
//! section 2).

/// Which flows are more critical.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Order {
    /// Those that have the least left.
    Remaining,
    /// The smallest.
    Size,
    /// Those with the earliest deadline; those without one come last, and equal ones in the order of their numbers.
    Deadline,
    /// Those with the earliest deadline, and those with the least left of those with the same one or none.
    DeadlineRemaining,
}

/// Strict priority.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Criticality {
    /// In this order.
    pub order: Order,
}
