//! CUBIC in whole networks: shares, the use of a long path, when slow start ends, and Linux's pacing.

use std::collections::BTreeMap;

use tailcut_model::{FlowId, Kind};
use tailcut_record::Recorder;
use tailcut_sim::trace::{Happened, Lens, Seen};
use tailcut_sim::{Outcome, World};

use crate::common::{bottleneck, fcts, listed, rows, run, scenario};

/// So many flows of 30 MB at once, each over a link of 10 Gb/s and all over one of 1 Gb/s, whose round trip is 20 ms,
/// with a port of half of a bandwidth-delay product.
fn long_flows(scheme: &str, flows: u32, settings: &str) -> Outcome {
    let each: Vec<_> = (0..flows).map(|src| (src, flows, 30_000_000, u64::from(src) * 1000)).collect();
    let port = "[port]\nlimit = \"1250KB\"\n[host.transport.tcp]\nmin_rto = \"200ms\"\n";
    let network = format!(
        "[topology.single-bottleneck]\nsenders = {flows}\nhost_link = {{ rate = \"10Gbps\", delay = \"5ms\" }}\n\
         receiver_link = {{ rate = \"1Gbps\", delay = \"5ms\" }}\n"
    );
    let text = format!("{network}{port}{settings}{}", listed(&each));
    run(scheme, &text, 1)
}

/// A flow whose window just fills the path loses one packet. Then it has 0.7 of the link where NewReno has half of it.
#[test]
fn a_loss_leaves_seven_tenths_of_the_link_and_not_half() {
    let until_done = |scheme: &str, settings: &str| {
        let lost = "[failures]\npackets = [{ flow = 0, segment = 8000 }]\n";
        let outcome = long_flows(scheme, 1, &format!("initial_ssthresh = 1667\n{settings}{lost}"));
        let row = &rows(&outcome)[0];
        assert_eq!((row.drops, row.timeouts), (1, 0), "{scheme}");
        fcts(&outcome)[0] as f64 / 1e12
    };
    let full = until_done("tcp", "");
    // Some 12,500 of 20,548 segments are sent after the loss.
    for arithmetic in ["rfc", "linux"] {
        let settings = format!("[host.congestion.cubic]\nhystart = \"off\"\narithmetic = \"{arithmetic}\"\n");
        let ratio = until_done("cubic", &settings) / full;
        assert!((0.72..0.92).contains(&ratio), "{arithmetic}: {ratio}");
    }
}

#[test]
fn hystart_ends_slow_start_before_much_is_lost() {
    for arithmetic in ["rfc", "linux"] {
        let with = |hystart| {
            let settings = format!("[host.congestion.cubic]\nhystart = \"{hystart}\"\narithmetic = \"{arithmetic}\"\n");
            rows(&long_flows("cubic", 1, &settings))[0].drops
        };
        let (off, on) = (with("off"), with("linux"));
        assert!(off > 1000 && on * 20 < off, "{arithmetic}: {off} and {on} drops");
    }
}

#[test]
fn equal_flows_share_evenly() {
    let outcome = long_flows("cubic", 4, "");
    let times = fcts(&outcome);
    let (first, last) = (*times.iter().min().unwrap() as f64, *times.iter().max().unwrap() as f64);
    assert!(first > 0.6 * last, "{times:?}");
}

/// The gaps between data packets of a flow as they leave their host, in nanoseconds.
fn gaps(settings: &str) -> Vec<u64> {
    let text = format!(
        "{}{settings}[record]\nattribution = true\n{}",
        bottleneck(1, "10Gbps", "100us"),
        listed(&[(0, 1, 1_460_000, 0)])
    );
    let scenario = scenario("tcp", &text, 1);
    let lens = Lens { flows: [FlowId(0)].into(), ports: BTreeMap::new(), prints: None };
    let trace = World::new(&scenario, Recorder::new()).with_lens(lens).run().trace.expect("it was traced");
    let is_data = |seen: &&Seen| seen.what == Happened::Made && seen.packet.kind == Kind::DATA;
    let sent: Vec<u64> = trace.packets.iter().filter(is_data).map(|seen| seen.packet.sent.as_ps() / 1000).collect();
    sent.windows(2).map(|pair| pair[1] - pair[0]).collect()
}

/// A round trip of 402.5 us: the window of 10 doubles and goes in half of a round trip.
#[test]
fn paced_packets_leave_in_half_of_a_round_trip_in_slow_start() {
    let (at_once, paced) = (gaps(""), gaps("[host]\npace = \"linux\"\n"));
    // 1.2 us at 10 Gb/s.
    assert!(at_once[..9].iter().chain(&paced[..9]).all(|gap| *gap == 1_200), "{:?}", &paced[..9]);
    let second = |gaps: &[u64]| gaps[10..28].iter().sum::<u64>();
    assert!(second(&at_once) < 30_000, "{:?}", &at_once[9..30]);
    let expected = 18.0 * 402_500.0 / (2.0 * 15.0);
    let is = second(&paced) as f64;
    assert!((0.5..1.5).contains(&(is / expected)), "{is} {:?}", &paced[9..30]);
    let longest = |gaps: &[u64]| *gaps.iter().max().unwrap();
    assert!(longest(&paced) < longest(&at_once) + 20_000);
}
