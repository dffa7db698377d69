//! What arrives over time: where each packet is counted, and that nothing is counted twice or lost.

use crate::common::{SMALL, listed, rows, run, slytherin_mix, star};
use tailcut_sim::Outcome;

fn bins(outcome: &Outcome) -> Vec<(u64, u8, u64)> {
    outcome.throughput.iter().map(|bin| (bin.from.as_ps(), bin.class, bin.bytes)).collect()
}

#[test]
fn a_packet_counts_in_the_bin_in_which_its_last_bit_lands() {
    // Two links of 1 us, 1.2 us each for a packet: landings at 4.4 us, 5.6 us, and so on until 15.2 us.
    let text = |bin| format!("{}[record]\nthroughput = \"{bin}\"\n{}", star(2), listed(&[(0, 1, 14_600, 0)]));
    let outcome = run("tcp", &text("2.4us"), 1);
    let packets = (1..).zip([1, 2, 2, 2, 2, 1]);
    assert_eq!(bins(&outcome), packets.map(|(nth, packets)| (nth * 2_400_000, 0, packets * 1460)).collect::<Vec<_>>());
    // A packet that lands at the end of a bin is the first of the next one.
    assert_eq!(bins(&run("tcp", &text("4.4us"), 1))[0], (4_400_000, 0, 4 * 1460));
    assert_eq!(bins(&run("tcp", &text("1s"), 1)), [(0, 0, 14_600)]);
}

#[test]
fn every_class_gets_its_bytes_and_what_was_sent_again_counts_again() {
    for (scheme, loss) in
        [("dctcp", ""), ("tcp", "[port.loss.random]\nprobability = 0.02\n[host.transport.tcp]\nmin_rto = \"200us\"\n")]
    {
        let record = "[record]\nthroughput = \"80us\"\n";
        let outcome = run(scheme, &format!("{SMALL}{record}{loss}{}", slytherin_mix(0.6, "5ms")), 1);
        let mut again = 0;
        for class in 0..3 {
            let flows: Vec<_> = rows(&outcome).into_iter().filter(|row| row.class == class).collect();
            let sent_once: u64 = flows.iter().map(|row| row.size).sum();
            let arrived: u64 = outcome.throughput.iter().filter(|bin| bin.class == class).map(|bin| bin.bytes).sum();
            // Every byte arrives, and those twice whose copy was needless or whose ACK was lost.
            assert!(arrived >= sent_once, "{arrived} of {sent_once}");
            let copies: u64 = flows.iter().map(|row| row.retransmissions - row.drops.min(row.retransmissions)).sum();
            assert!(arrived - sent_once <= copies * 1460, "{} B again in {copies} packets", arrived - sent_once);
            again += arrived - sent_once;
        }
        assert_eq!(again > 0, !loss.is_empty(), "{scheme}");
        assert!(outcome.throughput.iter().all(|bin| bin.from.as_ps() % 80_000_000 == 0 && bin.bytes > 0));
        assert!(outcome.throughput.is_sorted_by_key(|bin| (bin.from, bin.class)));
    }
}
