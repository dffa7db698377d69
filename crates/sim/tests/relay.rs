//! Hosts that pass packets on: flows through a BCube, whose switches are joined by nothing but hosts.

use crate::common::{cases::config, fcts, listed, port, rows, run, scenario, slytherin_mix};
use proptest::prelude::*;
use tailcut_base::HostId;
use tailcut_model::seat::DropReason;
use tailcut_record::Recorder;
use tailcut_sim::{EndReason, Outcome, World};
use tailcut_topology::{Network, Node};

/// Picoseconds.
const US: u64 = 1_000_000;
/// A full packet and a pure ACK at 10 Gb/s.
const SLOT: u64 = 1_200_000;
const ACK_SLOT: u64 = 32_000;

/// BCube(n, k) with links of 10 Gb/s and 2 us.
fn bcube(n: u32, k: u32) -> String {
    format!("[topology.bcube]\nn = {n}\nk = {k}\nhost_link = {{ rate = \"10Gbps\", delay = \"2us\" }}\n")
}

/// Links between two hosts: two for each digit in which they differ.
fn links(network: &Network, src: u32, dst: u32) -> u64 {
    network.route(HostId(src), HostId(dst)).links.len() as u64
}

#[test]
fn a_lone_flow_takes_its_links_and_no_time_at_the_hosts_between() {
    let outcome = |scheme: &str, k: u32, dst: u32, size: u64| {
        run(scheme, &(bcube(2, k) + "[host.transport.tcp]\nmin_rto = \"10ms\"\n" + &listed(&[(0, dst, size, 0)])), 1)
    };
    for scheme in ["tcp", "dctcp", "slytherin", "pias"] {
        // Hosts that differ in one digit, in two, and in three: two links, four and six.
        for (k, dst, links) in [(1, 1, 2), (1, 2, 2), (1, 3, 4), (2, 7, 6), (2, 5, 4)] {
            let one = outcome(scheme, k, dst, 1460);
            assert_eq!(fcts(&one), [links * (2 * US + SLOT)], "{scheme}: one packet over {links} links");
            let row = &rows(&one)[0];
            let around = row.acknowledged.unwrap().as_ps();
            assert_eq!(around, links * (4 * US + SLOT + ACK_SLOT), "{scheme}: and its ACK");
            assert_eq!(one.engine.packet_hops, 2 * links);
            // A first window follows its first packet.
            let ten = fcts(&outcome(scheme, k, dst, 14_600));
            assert_eq!(ten, [links * (2 * US + SLOT) + 9 * SLOT], "{scheme}: ten packets over {links} links");
        }
    }
}

#[test]
fn the_host_between_is_one_of_the_two_that_share_a_switch_with_both() {
    let text = bcube(3, 1) + "[host.transport.tcp]\nmin_rto = \"10ms\"\n";
    let mut over = [0; 2];
    for seed in 0..40 {
        // Host 1 is at (0, 1), host 5 at (1, 2): between them are (0, 2) and (1, 1).
        let outcome = run("tcp", &(text.clone() + &listed(&[(1, 5, 14_600, 0)])), seed);
        let by_level_0 = port(&outcome, "host1", "level0-0").packets;
        let by_level_1 = port(&outcome, "host1", "level1-1").packets;
        assert_eq!((by_level_0 + by_level_1, by_level_0 * by_level_1), (10, 0), "one flow takes one way");
        if by_level_0 > 0 {
            assert_eq!(port(&outcome, "host2", "level1-2").packets, 10);
        } else {
            assert_eq!(port(&outcome, "host4", "level0-1").packets, 10);
        }
        over[usize::from(by_level_0 > 0)] += 1;
    }
    assert!(over.iter().all(|&count| count > 5), "{over:?}");
}

#[test]
fn every_flow_through_relays_completes_the_same_on_any_number_of_threads() {
    for scheme in ["tcp", "dctcp", "homa", "slytherin", "pias", "pfabric"] {
        for path in ["flow-ecmp", "spray", "flow-round-robin"] {
            let text = format!("path = \"{path}\"\n{}{}", bcube(4, 2), slytherin_mix(0.2, "500us"));
            let scenario = scenario(scheme, &text, 1);
            let network = scenario.network();
            let one = World::new(&scenario, Recorder::new()).run();
            assert_eq!(one.end, EndReason::Finished);
            assert!(rows(&one).iter().all(|row| row.received.is_some()), "{scheme} with {path}");
            let flows = rows(&one);
            assert!(flows.len() > 100, "{}", flows.len());
            let bytes: u64 = flows.iter().map(|row| row.size).sum();
            assert_eq!(one.totals.received_bytes, bytes);
            // What enters a switch leaves it or is dropped there.
            let ports = || one.ports.iter().zip(network.ports().iter());
            for switch in network.switches().ids().map(Node::Switch) {
                let into: u64 = ports().filter(|(_, spec)| spec.peer == switch).map(|(row, _)| row.packets).sum();
                let out = ports().filter(|(_, spec)| spec.owner == switch);
                assert_eq!(into, out.map(|(row, _)| row.packets + row.drops.total()).sum::<u64>(), "{switch:?}");
            }
            let relayed = flows.iter().filter(|row| links(network, row.src, row.dst) > 2).count();
            assert!(2 * relayed > flows.len(), "{relayed} of {} flows have hosts between their own", flows.len());
            for threads in [2, 4] {
                let world = World::new(&scenario, Recorder::new()).with_threads(threads);
                assert_eq!(world.threads(), threads);
                let other = world.run();
                assert_eq!(other.engine.digest, one.engine.digest, "{scheme} with {path} on {threads} threads");
                assert_eq!((rows(&other), &other.ports), (rows(&one), &one.ports));
            }
        }
    }
}

/// Without loss every data packet has one ACK, and both cross two links for each digit that differs.
#[test]
fn packets_cross_as_many_links_as_digits_differ() {
    let flows: Vec<_> = (0..64).map(|host| (host, (host * 37 + 11) % 64, 14_600, u64::from(host) * 200_000)).collect();
    let text = bcube(4, 2) + "[host.transport.tcp]\nmin_rto = \"10ms\"\n" + &listed(&flows);
    let scenario = scenario("dctcp", &text, 1);
    let outcome = World::new(&scenario, Recorder::new()).run();
    assert_eq!(outcome.totals.drops.total(), 0);
    let expected: u64 = flows.iter().map(|&(src, dst, ..)| 2 * 10 * links(scenario.network(), src, dst)).sum();
    assert_eq!(outcome.engine.packet_hops, expected);
    assert_eq!(outcome.ports.iter().map(|port| port.packets).sum::<u64>(), expected);
}

#[test]
fn what_a_host_passes_on_waits_in_its_interface_and_may_be_lost_there() {
    // Hosts (0, 0, 1) and (0, 1, 0) send to host (1, 1, 1). Both have ways over host (0, 1, 1), to which they have
    // links of two levels, and which has one link to the third.
    let flows: Vec<_> = (0..30).map(|nth| (1 + nth % 2, 7, 200_000, 0)).collect();
    let text = |limit: &str| {
        let ports = format!("[port]\nlimit = \"1MB\"\n[port.host]\nlimit = \"{limit}\"\n");
        bcube(2, 2) + &ports + &listed(&flows)
    };
    let lost = |outcome: &Outcome| -> u64 {
        let hosts = outcome.ports.iter().filter(|port| port.tier == "host");
        hosts.map(|port| port.drops.get(DropReason::PortFull)).sum()
    };
    let (small, large) = (run("tcp", &text("6KB"), 1), run("tcp", &text("10MB"), 1));
    for outcome in [&small, &large] {
        assert_eq!(outcome.end, EndReason::Finished);
        assert!(rows(outcome).iter().all(|row| row.received.is_some()));
    }
    assert_eq!(lost(&large), 0);
    assert!(lost(&small) > 0, "two links lead to the host and one away from it");
    assert!(port(&small, "host3", "level2-3").drops.get(DropReason::PortFull) > 0);
}

proptest! {
    #![proptest_config(config(24))]

    /// Relays keep the order: where each flow takes one way over queues of one class, its packets arrive in the order
    /// in which they were sent, and only what was dropped is missing. What comes to a host is its own, or goes on, or
    /// is dropped there; nothing else leaves it but what its own flows send.
    #[test]
    fn relays_keep_packets_and_their_order(
        shape in prop::sample::select(vec![(2u32, 1u32), (2, 2), (2, 3), (3, 1), (3, 2), (4, 1)]),
        pairs in prop::collection::vec((0u32..1_000, 1u32..1_000, 1u64..120_000, 0u64..200_000), 1..30),
        limit in prop::sample::select(vec!["4500B", "15KB", "10MB"]),
        seed in 0u64..1_000,
    ) {
        let hosts = shape.0.pow(shape.1 + 1);
        let mut flows: Vec<_> = pairs.iter().map(|&(src, step, size, at)| {
            let src = src % hosts;
            (src, (src + 1 + step % (hosts - 1)) % hosts, size, at)
        }).collect();
        flows.sort_by_key(|flow| flow.3);
        let network = bcube(shape.0, shape.1);
        let text = format!("path = \"flow-ecmp\"\n{network}[port]\nlimit = \"{limit}\"\n{}", listed(&flows));
        let scenario = scenario("tcp", &text, seed);
        let network = scenario.network();
        let outcome = World::new(&scenario, Recorder::new()).run();
        prop_assert_eq!(outcome.end, EndReason::Finished);
        let flows = rows(&outcome);
        prop_assert!(flows.iter().all(|row| row.received.is_some()));
        let lost = outcome.totals.drops.total();
        // A packet that is sent again comes after later ones; no other does.
        prop_assert!(flows.iter().all(|row| row.retransmissions > 0 || row.reordered == 0));
        prop_assert!(limit != "10MB" || lost == 0);
        let ports = || outcome.ports.iter().zip(network.ports().iter());
        for host in 0..hosts {
            let node = Node::Host(HostId(host));
            let into: u64 = ports().filter(|(_, spec)| spec.peer == node).map(|(row, _)| row.packets).sum();
            let out: u64 = ports()
                .filter(|(_, spec)| spec.owner == node)
                .map(|(row, _)| row.packets + row.drops.total())
                .sum();
            // Data that it sends, and an ACK for each packet that it receives.
            let sent: u64 = flows.iter().filter(|row| row.src == host).map(|row| row.packets).sum();
            if lost == 0 {
                let received: u64 = flows.iter().filter(|row| row.dst == host).map(|row| row.packets).sum();
                let own_out = sent + received;
                let own_in = received + sent;
                prop_assert_eq!(into - own_in, out - own_out, "what host {} passes on", host);
            } else {
                prop_assert!(out >= sent, "host {}", host);
            }
        }
    }
}
