//! CUBIC in whole networks: shares, the use of a long path, and when slow start ends.

use tailcut_sim::Outcome;

use crate::common::{fcts, listed, rows, run};

/// So many flows of 30 MB at once, each over a link of 10 Gb/s and all over one of 1 Gb/s, whose round trip is 20 ms, with
/// a port of half of a bandwidth-delay product.
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
