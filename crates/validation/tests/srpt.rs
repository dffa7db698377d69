//! The shortest remaining first on one link against Schrage and Miller.

use tailcut_validation::theory::Confidence;
use tailcut_validation::theory::queueing::Effort;
use tailcut_validation::theory::srpt::{Excess, Link, messages};

/// Half a packet's transmission in microseconds: what a message waits for one that is not preempted.
const HALF_A_PACKET: f64 = 0.6;

#[test]
fn messages_take_as_long_as_schrage_and_miller_say() {
    for (link, load, flows) in [(Link::Port, 0.5, 1_000), (Link::Port, 0.8, 2_000), (Link::Nic, 0.8, 2_000)] {
        for Excess { figure, controlled } in messages(link, load, Effort { seeds: 16, flows }) {
            let shown = format!("{link:?}: {figure:?}, {controlled:?}");
            let half_width = figure.measured.half_width(Confidence::P99);
            let packet = load * HALF_A_PACKET;
            assert!((figure.measured.mean - figure.expected).abs() < half_width + packet, "{shown}");
            assert!((controlled.mean - figure.expected).abs() < 2.0 * packet + 0.001 * figure.expected, "{shown}");
            if figure.what == "all" {
                assert!(half_width < 0.4 * figure.expected, "{shown}");
            }
        }
    }
}
