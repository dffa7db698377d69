//! What holds in every run: random small networks, schemes and flows.
//!
//! The world checks itself at the end of each run (every packet is delivered or dropped, every byte arrives, nothing is
//! left in any port); here its results are checked against each other.

use std::collections::BTreeSet;

use crate::common::cases::{Case, cases, config};
use crate::common::{rows, schemes};
use proptest::prelude::*;
use proptest::strategy::ValueTree;
use proptest::test_runner::TestRunner;
use tailcut_base::{HostId, packets, wire_bytes};
use tailcut_host::transport::TransportConfig;
use tailcut_host::transport::tcp::Recovery;
use tailcut_model::Thing;
use tailcut_model::registry::{ModelEntry, seats_of};
use tailcut_model::seat::DropReason;
use tailcut_record::{FlowRow, PortRow, Recorder};
use tailcut_sim::{Config, EndReason, NicConfig, Outcome, Scenario, World};
use tailcut_topology::{Headers, Node, Quickest};

fn run(scenario: &Scenario) -> Outcome {
    World::new(scenario, Recorder::new()).run()
}

/// What must hold of each flow that has ended, and of their sums.
fn check_flows(case: &Case, scenario: &Scenario, outcome: &Outcome) -> Result<(), TestCaseError> {
    let network = scenario.network();
    let all = rows(outcome);
    let no_loss = outcome.totals.drops.total() == 0 && outcome.control_drops == 0;
    // A switch that remembers few flows may send a flow another way in its middle.
    let forgets = case.text.contains("remembered_flows");
    // A controller may give a flow another way later.
    let has_several = [Thing::Spraying, Thing::Assignments].into_iter().any(|thing| scenario.facts().has(thing));
    let one_way = case.one_path && !case.is_disturbed || !forgets && !has_several;
    let fails = case.text.contains("[failures");
    let mut quickest = Quickest::new(network);
    for (row, flow) in all.iter().zip(&case.flows) {
        prop_assert_eq!((row.src, row.dst, row.size, row.start.as_ps()), (flow.0, flow.1, flow.2, flow.3 * 1000));
        let fct = row.fct().expect("every flow is finished");
        let [src, dst] = [row.src, row.dst].map(HostId);
        let ideal = quickest.ideal(src, dst, row.size, Headers::default());
        // Failures may let packets take quicker ways than routing gave them before.
        prop_assert!(row.ideal == ideal || fails && row.ideal < ideal, "{row:?}");
        prop_assert!(fct >= quickest.floor(src, dst, row.size, false, Headers::default()), "{row:?}");
        let is_even = !network.is_irregular() && !case.is_disturbed;
        if is_even && network.nics(dst).len() == 1 {
            prop_assert!(fct >= network.route(src, dst).fct_floor(row.size), "{row:?}");
        }
        if one_way && row.reordered == 0 {
            prop_assert!(fct >= row.ideal, "{row:?}");
        }
        prop_assert!(row.acknowledged.is_some_and(|at| Some(at) > row.received), "{row:?}");
        prop_assert_eq!(row.packets - row.retransmissions, packets(row.size), "{:?}", row);
        prop_assert!(row.multi_marked <= row.ce_marks && row.ce_marks <= row.packets, "{row:?}");
        prop_assert!(row.reordered < row.packets && u64::from(row.max_packet_drops) <= row.drops, "{row:?}");
        if no_loss && row.reordered == 0 && row.timeouts == 0 {
            prop_assert_eq!(row.retransmissions, 0, "{:?}", row);
        }
    }
    let sum = |of: fn(&FlowRow) -> u64| all.iter().map(of).sum::<u64>();
    prop_assert_eq!(sum(|row| row.drops) + outcome.totals.late_drops, outcome.totals.drops.total());
    let marks: u64 = outcome.ports.iter().map(|port| port.marks).sum();
    prop_assert!(sum(|row| row.ce_marks) <= marks || case.host_marks);
    Ok(())
}

/// What must hold of the ports: what enters a node leaves it or is dropped there.
fn check_ports(case: &Case, scenario: &Scenario, outcome: &Outcome) -> Result<(), TestCaseError> {
    let network = scenario.network();
    let ports = || outcome.ports.iter().zip(network.ports().iter());
    // What a link that went down has lost was sent or not.
    let lost = |row: &PortRow| row.drops.get(DropReason::LinkDown);
    let has_queues = matches!(scenario.config().nic, NicConfig::Queue(_));
    let dropped: u64 = outcome.ports.iter().map(|port| port.drops.total()).sum();
    prop_assert_eq!(dropped, outcome.totals.drops.total() + outcome.control_drops);
    for (row, spec) in ports() {
        prop_assert!((40 * row.packets..=1500 * row.packets).contains(&row.bytes), "{row:?}");
        match spec.owner {
            // What a host passes on waits in its interface as in a port.
            Node::Host(_) if has_queues || network.relays() => {}
            Node::Host(_) => {
                let lost = row.drops.get(DropReason::NicQueue) + row.drops.get(DropReason::LinkDown);
                prop_assert_eq!((row.drops.total(), row.marks), (lost, 0), "{:?}", row);
            }
            Node::Switch(_) => prop_assert_eq!(row.drops.get(DropReason::NicQueue), 0),
        }
    }
    for switch in network.switches().ids().map(Node::Switch) {
        let sum = |of: &dyn Fn(Node, Node) -> bool| -> (u64, u64, u64) {
            let of = ports().filter(|(_, spec)| of(spec.owner, spec.peer));
            of.fold((0, 0, 0), |(packets, drops, gone), (row, _)| {
                (packets + row.packets, drops + row.drops.total(), gone + lost(row))
            })
        };
        let (into, _, lost_before) = sum(&|_, peer| peer == switch);
        let (out, drops, lost_behind) = sum(&|owner, _| owner == switch);
        prop_assert!(into <= out + drops + lost_before && into + lost_behind >= out + drops, "{switch:?}");
        if lost_before + lost_behind == 0 {
            prop_assert_eq!(into, out + drops, "{:?}", switch);
        }
    }
    let sent = outcome.ports.iter().map(|port| port.packets).sum::<u64>();
    let lost: u64 = outcome.ports.iter().map(lost).sum();
    prop_assert!((outcome.engine.packet_hops..=outcome.engine.packet_hops + lost).contains(&sent));
    let sizes_acks = matches!(&scenario.config().host.transport,
        TransportConfig::Tcp(tcp) if tcp.recovery == Recovery::Linux);
    let mut data = vec![(0, 0, 0); network.hosts() as usize];
    for (row, flow) in rows(outcome).iter().zip(&case.flows) {
        let (sent, again, bytes) = &mut data[flow.0 as usize];
        *sent += row.packets;
        *again += row.retransmissions;
        *bytes += wire_bytes(row.size);
    }
    if network.relays() || lost > 0 {
        // What leaves a host is not its own only, or is not all that it sent.
        return Ok(());
    }
    for (host, (sent, again, bytes)) in data.into_iter().enumerate() {
        let nics = network.nics(HostId(host as u32)).map(|nic| &outcome.ports[nic as usize]);
        let (packets, left, gone) = nics.fold((0, 0, 0), |(packets, bytes, gone), nic| {
            (packets + nic.packets, bytes + nic.bytes, gone + nic.drops.total())
        });
        // All that is not data of a flow is a header: ACKs and handshakes. What was sent again, or was discarded and
        // did not leave, had 1 B to 1460 B; a queue discards headers too.
        let least = if has_queues { 40 } else { 41 };
        let known = bytes + 40 * (packets + gone - sent);
        // Where ACKs have their true size, four SACK blocks make one longer by 36 B.
        let blocks = if sizes_acks { 36 * (packets + gone - sent) } else { 0 };
        prop_assert!(
            left + least * gone <= known + 1500 * again + blocks && left + 1500 * gone >= known + 41 * again,
            "host {host}: {packets} packets, {left} B, {gone} dropped"
        );
    }
    Ok(())
}

/// The same run, cut off: it is the beginning of the whole one.
fn check_cut_off(case: &Case, whole: &Outcome) -> Result<(), TestCaseError> {
    let cut = run(&case.scenario(&format!("{}us", case.drain_us)));
    let deadline = case.flows.last().expect("there are flows").3 * 1000 + case.drain_us * 1_000_000;
    let (before, after) = (rows(whole), rows(&cut));
    prop_assert_eq!(after.len(), before.len());
    for (cut, whole) in after.iter().zip(&before) {
        prop_assert_eq!(cut.received, whole.received.filter(|at| at.as_ps() <= deadline));
        prop_assert_eq!(cut.acknowledged, whole.acknowledged.filter(|at| at.as_ps() <= deadline));
        if cut.acknowledged.is_some() {
            prop_assert_eq!(cut, whole);
        } else {
            prop_assert!(cut.packets <= whole.packets && cut.drops <= whole.drops, "{cut:?} {whole:?}");
            prop_assert!(cut.ce_marks <= whole.ce_marks && cut.reordered <= whole.reordered, "{cut:?} {whole:?}");
        }
    }
    let received = after.iter().filter(|row| row.received.is_some()).count() as u64;
    prop_assert_eq!(cut.totals.received, received);
    if cut.end == EndReason::Finished {
        prop_assert_eq!(received, cut.totals.started);
    }
    prop_assert!(cut.ended_at.as_ps() <= deadline && cut.engine.packet_hops <= whole.engine.packet_hops);
    Ok(())
}

proptest! {
    #![proptest_config(config(1000))]

    #[test]
    fn every_run_ends_and_its_numbers_agree(case in cases()) {
        // So long that any backed-off timer fires.
        let scenario = case.scenario("1000000s");
        let outcome = run(&scenario);
        prop_assert_eq!(outcome.end, EndReason::Finished);
        prop_assert_eq!(outcome.flows.len(), case.flows.len());
        check_flows(&case, &scenario, &outcome)?;
        check_ports(&case, &scenario, &outcome)?;
        check_cut_off(&case, &outcome)?;
    }
}

/// A model is tested by being registered: the scenarios above put it on its seat.
#[test]
fn random_scenarios_reach_every_registered_model_and_preset() {
    let models = seats_of::<Config>().into_iter().flat_map(|seat| {
        let of_seat = move |model: ModelEntry| format!("{}.{}", seat.path, model.name);
        seat.models.into_iter().map(of_seat)
    });
    let mut missing: BTreeSet<String> = models.chain(schemes().into_iter().map(str::to_owned)).collect();
    let mut runner = TestRunner::deterministic();
    for _ in 0..3000 {
        let case = cases().new_tree(&mut runner).expect("every choice makes a case").current();
        missing.remove(case.scheme);
        for (path, seat, _) in case.scenario("1s").config().seats() {
            missing.remove(&format!("{path}.{}", seat.model()));
        }
        if missing.is_empty() {
            return;
        }
    }
    panic!("{missing:?} are in none of 3000 random scenarios");
}

/// The scenarios above are worth their time: they reach what can go wrong.
#[test]
fn random_scenarios_reach_loss_marks_and_overtaking() {
    let mut runner = TestRunner::deterministic();
    let mut reached = [0; 14];
    for _ in 0..400 {
        let case = cases().new_tree(&mut runner).expect("every choice makes a case").current();
        let outcome = run(&case.scenario("1000000s"));
        let rows = rows(&outcome);
        let any = |of: fn(&FlowRow) -> bool| rows.iter().any(of);
        let drops = |reason| outcome.totals.drops.get(reason) > 0;
        for (count, happened) in reached.iter_mut().zip([
            drops(DropReason::PortFull),
            drops(DropReason::PushedOut),
            drops(DropReason::RandomLoss),
            drops(DropReason::LinkDown),
            drops(DropReason::NoRoute),
            outcome.ports.iter().any(|port| port.tier == "host" && port.drops.get(DropReason::PortFull) > 0),
            outcome.control_drops > 0,
            any(|row| row.max_packet_drops > 2),
            any(|row| row.timeouts > 1),
            any(|row| row.retransmissions > 0 && row.timeouts == 0),
            any(|row| row.reordered > 0 && row.retransmissions == 0),
            any(|row| row.ce_marks > 0),
            any(|row| row.multi_marked > 0),
            any(|row| row.fct().is_some_and(|fct| fct < row.ideal)),
        ]) {
            *count += u32::from(happened);
        }
    }
    assert!(reached.iter().all(|&count| count > 0), "{reached:?}");
}
