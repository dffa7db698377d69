//! Flows over several links that neither begin nor end: they come to rest, where the most critical ones send.
//!
//! This is the algorithm of the document's proof: without dampening, Early Start and an end of the list, with which a
//! flow that waits for nobody may wait.

use proptest::prelude::*;
use tailcut_base::Seeds;

use super::steady::{Flow, Network, at_rest, preceding};

const SWITCHES: usize = 6;

/// Flows over up to four of six links each.
fn flows() -> impl Strategy<Value = Vec<Flow>> {
    let links = prop::sample::subsequence((0..SWITCHES).collect::<Vec<_>>(), 1..5).prop_shuffle();
    let flow = |(id, links): (usize, Vec<usize>)| Flow::new(id as u32, links);
    prop::collection::vec(links, 1..9).prop_map(move |all| all.into_iter().enumerate().map(flow).collect())
}

#[test]
fn a_chain_of_flows_precedes_its_end() {
    let chain: Vec<Flow> =
        [&[0][..], &[0, 1], &[1, 2], &[3]].into_iter().map(|links| Flow::new(0, links.to_vec())).collect();
    assert_eq!((preceding(&chain), at_rest(&chain)), (2, vec![true, false, true, true]));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    /// Bounded convergence and deadlock freedom (the document's formal properties), whatever the order in which packets
    /// come: the rates are those of rest for good, and rest is where no flow waits for a less critical one. The
    /// document has P + 1 round trips. In one of some thousand of these networks it takes one more: a flow that is
    /// accepted by the switch that has paused it passes those before it unseen, sends for a round trip, and pauses a
    /// less critical one that had its link. Where flows ask again, none sends for which not all switches have voted,
    /// and each that was paused takes two round trips to be let go.
    #[test]
    fn flows_come_to_rest_within_as_many_round_trips_as_precede_each_other(
        flows in flows(),
        orders in prop::collection::vec((any::<u64>(), any::<u64>()), 40),
        asks_again in any::<bool>(),
    ) {
        let mut network = Network::new(SWITCHES, flows, asks_again);
        let bound = preceding(&network.flows) + 1;
        let mut settled = None;
        for (nth, (out, back)) in orders.into_iter().enumerate() {
            let order = |seed: u64| {
                let mut order: Vec<usize> = (0..network.flows.len()).collect();
                Seeds::new(seed).stream("order", 0).shuffle(&mut order);
                order
            };
            let (out, back) = (order(out), order(back));
            let round = network.round(&out, &back);
            prop_assert!(!(asks_again && round.sends_unasked), "a flow sends that not all switches have accepted");
            settled = if network.is_at_rest() { settled.or(Some(nth + 1)) } else { None };
        }
        let settled = settled.expect("they come to rest");
        let bound = if asks_again { 2 * bound } else { bound + 1 };
        prop_assert!(settled <= bound, "{settled} round trips, bound {bound}");
    }
}
