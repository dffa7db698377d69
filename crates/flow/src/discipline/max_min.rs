//! Max-min fair shares: no flow can have more without another one, which has no more than it, having less.
//!
//! What window-based congestion control with equal round-trip times, and switches that write the same rate for all
//! flows of a link, come to when they have settled (Bertsekas and Gallager, Data Networks, 1992, section 6.5.2).
//! Nothing of how they get there is here.

use super::Step;

/// One, for all of a flow.
pub(super) fn steps() -> Vec<Step> {
    vec![Step { from: 0.0, level: 0, weight: 1.0 }]
}
