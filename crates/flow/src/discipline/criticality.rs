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
    /// Whether the first link of each flow knows no order: the flows that all other links let send share it evenly,
    /// each up to what those give it, and what it is given there and does not use is idle. So it is where no switch
    /// stands before the link of a host. A link is then the first one of all flows that cross it, or of none.
    pub first_is_even: bool,
}
