//! Flows that start at exactly the same moment: the order of their packets is decided by `run.ties`.

use tailcut_workload::Jitter;

use crate::config::TieOrder;
use crate::scenario::Scenario;

/// A warning if the order of equal times is that of the links' numbers and flows of several hosts start together.
pub(crate) fn warning(scenario: &Scenario) -> Option<String> {
    let is_decided_by_numbers = scenario.config().run.ties == TieOrder::Numbered;
    (is_decided_by_numbers && have_equal_starts(scenario)).then(|| {
        "flows of several hosts start at the same moment, and `run.ties = \"numbered\"` lets the packet on the link \
         with the lowest number pass first each time: exact ties decide which hosts lose packets; expected \"drawn\", the \
         default, but for closed forms"
            .to_owned()
    })
}

/// Whether an incast has no jitter, or two hosts start listed flows at the same moment.
fn have_equal_starts(scenario: &Scenario) -> bool {
    let traffics = || scenario.config().workload.traffic.0.iter().map(|(_, traffic)| traffic);
    if traffics().any(|traffic| traffic.incast.as_ref().is_some_and(|incast| matches!(incast.jitter, Jitter::None))) {
        return true;
    }
    if traffics().all(|traffic| traffic.list.is_none() && traffic.file.is_none()) {
        return false;
    }
    let mut flows = scenario.workload().map(|flow| (flow.start, flow.src));
    let Some(mut before) = flows.next() else { return false };
    flows.any(|flow| {
        let are_equal = flow.0 == before.0 && flow.1 != before.1;
        before = flow;
        are_equal
    })
}
