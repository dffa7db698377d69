//! Waiting times at one port against queueing theory.

use tailcut_validation::theory::Confidence;
use tailcut_validation::theory::queueing::{
    Effort, Figure, Messages, many_sizes, messages, one_size, shortest_first, two_priorities,
};

const EFFORT: Effort = Effort { seeds: 16, flows: 80_000 };

/// The expected value lies in the 99 % interval of the mean over the runs, and the interval is not wider than a few
/// percent.
fn assert_covered(figures: &[Figure]) {
    for Figure { what, load, expected, measured } in figures {
        let half_width = measured.half_width(Confidence::P99);
        let shown = format!("{what} at {load}: {:.5} +- {half_width:.5}, expected {expected:.5}", measured.mean);
        assert!(measured.covers(*expected, Confidence::P99), "{shown}");
        assert!(half_width < 0.04 * expected, "{shown}: the interval says nothing");
    }
}

#[test]
fn packets_of_one_size_wait_as_in_an_m_d_1_queue() {
    for load in [0.5, 0.8] {
        assert_covered(&one_size(load, EFFORT));
    }
}

#[test]
fn packets_of_many_sizes_wait_as_pollaczek_and_khinchine_say() {
    for load in [0.5, 0.8] {
        assert_covered(&many_sizes(load, EFFORT));
    }
}

#[test]
fn two_priorities_wait_as_in_a_queue_that_does_not_preempt() {
    assert_covered(&two_priorities(EFFORT));
}

#[test]
fn the_shortest_packet_first_waits_as_phipps_says() {
    assert_covered(&shortest_first(0.8, EFFORT));
}

// The tail of web search is so heavy that the plain mean of so few messages is not known to better than a tenth: what
// these very flows should have waited is known exactly.
#[test]
fn messages_of_web_search_wait_as_in_an_m_g_1_queue() {
    for (load, flows) in [(0.5, 500), (0.8, 1_000)] {
        let Messages { mean, controlled, furthest, exact } = messages(load, Effort { seeds: 16, flows });
        assert!(mean.measured.covers(mean.expected, Confidence::P99), "{mean:?}");
        assert!(mean.measured.half_width(Confidence::P99) < 0.4 * mean.expected, "{mean:?}");
        assert!((controlled.mean / mean.expected - 1.0).abs() < 0.001, "{controlled:?}, expected {}", mean.expected);
        // But for messages that reach the port together, whose packets alternate.
        assert!(exact > 0.98, "{exact} of the waits are those of the recursion, one of the others by {furthest} us");
    }
}
