//! ResQueue in whole simulations: what it does to retransmissions, where its promise ends, and that it is PIAS
//! otherwise.

use crate::common::cases::config;
use crate::common::{SMALL, listed, port, rows, run, scenario, slytherin_mix, star, tree};
use proptest::prelude::*;
use tailcut_base::Bytes;
use tailcut_host::tag::TagConfig;
use tailcut_host::tag::thresholds::Thresholds;
use tailcut_model::seat::DropReason::{ClassFull, PortFull};
use tailcut_record::FlowRow;
use tailcut_sim::{Outcome, Scenario};

/// New flows of ten packets each from 18 hosts at once. When the last packets come, 13 us later, ten of 180 have left
/// the port to `to` or are leaving it: it holds 255 000 B, and none was lost.
fn burst(first: u32, to: u32, start: u64) -> Vec<(u32, u32, u64, u64)> {
    (first..first + 18).map(|src| (src, to, 14_600, start)).collect()
}

/// When a packet of 1040 B is sent that comes right behind the last ones of a burst.
const BEHIND_BURST: u64 = 11_200;

/// What else `seats` says, for a port that a burst fills for all who come in the classes of new flows.
fn full_of_a_burst(reserved: u64, seats: &str) -> String {
    let limit = 255_500 + reserved;
    format!("[host.transport.tcp]\nmin_rto = \"1ms\"\n[port]\nlimit = \"{limit}B\"\nmarker = \"off\"\n{seats}")
}

/// A flow of one packet meets a burst, and meets one again when it is sent again after 1 ms.
fn sent_again(scheme: &str, seats: &str) -> (FlowRow, Outcome) {
    let mut flows = burst(1, 40, 0);
    flows.push((0, 40, 1_000, BEHIND_BURST));
    flows.extend(burst(19, 40, 1_000_000));
    let outcome = run(scheme, &format!("{}{seats}{}", star(41), listed(&flows)), 1);
    let row = rows(&outcome).into_iter().find(|row| row.src == 0).expect("it was sent");
    (row, outcome)
}

#[test]
fn a_packet_that_is_sent_again_is_rescued_from_the_burst_that_it_meets() {
    let (row, outcome) = sent_again("resqueue", &full_of_a_burst(20_000, ""));
    assert_eq!((row.drops, row.max_packet_drops, row.timeouts, row.retransmissions), (1, 1, 1, 1));
    // The timeout, the way of an idle network, and no more than the packet on the wire in front.
    let late = row.fct().expect("it is finished").as_ps() - row.ideal.as_ps() - 1_000_000_000;
    assert!(late <= 1_200_000, "{late} ps");
    let drops = port(&outcome, "switch0", "host40").drops;
    assert_eq!((drops.get(PortFull), drops.get(ClassFull)), (1, 0));

    let (row, _) = sent_again("pias", &full_of_a_burst(0, "[host.tag.pias]\nrule = \"sent\"\n"));
    assert_eq!((row.drops, row.max_packet_drops, row.timeouts), (2, 2, 2));
}

#[test]
fn a_full_port_refuses_a_retransmission_unless_room_is_kept_for_it() {
    let shared = full_of_a_burst(0, "buffer.reserved.room = \"shared\"\n");
    let (row, outcome) = sent_again("resqueue", &shared);
    assert_eq!((row.drops, row.max_packet_drops), (2, 2));
    assert_eq!(port(&outcome, "switch0", "host40").drops.get(PortFull), 2);
}

/// 32 answers of 1 KB behind a burst: all are lost, and all are sent again on the same timeout, into an empty port.
fn incast_lost_together(reserved: u64) -> (u32, u64) {
    let mut flows = burst(32, 60, 0);
    flows.extend((0..32).map(|src| (src, 60, 1_000, BEHIND_BURST)));
    let seats = full_of_a_burst(reserved, &format!("buffer.reserved.limit = \"{reserved}B\"\n"));
    let outcome = run("resqueue", &format!("{}{seats}{}", star(61), listed(&flows)), 1);
    let short: Vec<FlowRow> = rows(&outcome).into_iter().filter(|row| row.size == 1_000).collect();
    assert!(short.iter().all(|row| row.drops >= 1), "the whole incast was lost once");
    let most = short.iter().map(|row| row.max_packet_drops).max().expect("there are short flows");
    (most, port(&outcome, "switch0", "host60").drops.get(ClassFull))
}

// The thesis, section 4.3.2.3: "a packet does not get dropped more than once". True while what is sent again fits.
#[test]
fn no_packet_is_dropped_twice_unless_more_is_sent_again_at_once_than_is_reserved() {
    assert_eq!(incast_lost_together(35_000), (1, 0));
    // 19 packets of 1040 B fit in 20 KB, and one goes on the wire.
    assert_eq!(incast_lost_together(20_000), (2, 12));
}

fn digests(text: &str, seed: u64) -> [(u64, Vec<FlowRow>, u64); 2] {
    ["pias", "resqueue"].map(|scheme| {
        let outcome = run(scheme, text, seed);
        (outcome.engine.digest, rows(&outcome), outcome.totals.drops.total() + outcome.control_drops)
    })
}

/// Ports that lose nothing, and timers that never fire.
const LOSSLESS: &str = "[port]\nlimit = \"100MB\"\n[host.transport.tcp]\nmin_rto = \"10s\"\n";

#[test]
fn without_losses_it_is_pias_to_the_last_packet() {
    for load in [0.4, 0.9] {
        let [pias, resqueue] = digests(&format!("{SMALL}{LOSSLESS}{}", slytherin_mix(load, "5ms")), 3);
        assert!(pias.2 == 0 && pias.1.iter().any(|row| row.ce_marks > 0), "nothing is lost, and something queues");
        assert_eq!(pias, resqueue, "{load}");
    }
}

proptest! {
    #![proptest_config(config(24))]

    /// ACKs and data of both share their queues as in PIAS, under any thresholds.
    #[test]
    fn any_flows_without_losses_are_those_of_pias(
        flows in prop::collection::vec((0u32..16, 0u32..15, 1u64..300_000, 0u64..200_000), 1..40),
        thresholds in prop::collection::btree_set(1u64..300_000, 1..=3),
        handshake: bool,
    ) {
        let mut flows: Vec<_> =
            flows.into_iter().map(|(src, dst, size, at)| (src, if dst >= src { dst + 1 } else { dst }, size, at)).collect();
        flows.sort_by_key(|flow| flow.3);
        let list: Vec<String> = thresholds.iter().map(|bytes| format!("\"{bytes}B\"")).collect();
        let [pias, resqueue] = ["pias", "resqueue"].map(|scheme| {
            let handshake = if handshake { "one-rtt" } else { "none" };
            let text = format!(
                "{SMALL}{LOSSLESS}handshake = \"{handshake}\"\n[host.tag.{scheme}]\nthresholds = [{}]\n{}",
                list.join(", "),
                listed(&flows)
            );
            let outcome = run(scheme, &text, 1);
            (outcome.engine.digest, rows(&outcome), outcome.totals.drops.total())
        });
        prop_assert_eq!(pias.2, 0);
        prop_assert_eq!(pias, resqueue);
    }
}

fn thresholds(scenario: &Scenario) -> Vec<Bytes> {
    match &scenario.config().host.tag {
        TagConfig::Pias(tailcut_host::tag::pias::Config { thresholds: Thresholds::List(list), .. })
        | TagConfig::Resqueue(tailcut_host::tag::resqueue::Config { thresholds: Thresholds::List(list), .. }) => {
            list.clone()
        }
        other => panic!("no list of thresholds: {other:?}"),
    }
}

#[test]
fn published_thresholds_are_those_of_the_load_of_the_workload() {
    let text = |load: f64, more: &str| {
        format!(
            "{SMALL}[port]\nclasses = 8\n[host.tag.pias]\nthresholds = {{ published = \"websearch\"{more} }}\n{}",
            slytherin_mix(load, "1ms")
        )
    };
    let first = |load, more| thresholds(&scenario("pias", &text(load, more), 1))[0].0 / 1460;
    assert_eq!([0.1, 0.5, 0.6, 0.7, 0.8, 0.9].map(|load| first(load, "")), [1059, 1059, 956, 999, 909, 759]);
    assert_eq!(first(0.3, ", load = 0.9"), 759);
    // What a scenario says stays what it says: only the checked one has the list.
    let merged = tree("pias", &text(0.6, ""));
    let written = tailcut_sim::Config::from_tree(&merged).unwrap().to_toml();
    assert!(written.contains("published = \"websearch\"") && !written.contains("load = 0.5"), "{written}");
}
