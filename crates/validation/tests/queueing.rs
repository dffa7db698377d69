//! Waiting times against queueing theory: Poisson arrivals of single packets from many hosts to one port.
//!
//! Each of 400 hosts has so little to send that its own interface hardly counts: with a load of 0.8 on the port, a
//! packet waits there for 0.001 transmissions on average. Two packets that meet at an interface of the same rate would have met at the port, so
//! that not even that adds to the sum.

mod common;

use common::{port, run, star};
use tailcut_base::wire_bytes;
use tailcut_record::PortRow;
use tailcut_sim::Outcome;

const SENDERS: u32 = 400;
const SEEDS: u64 = 16;
/// 0.995 quantile of Student's t with 15 degrees of freedom: the 99 % interval of a mean of 16 runs.
const T_99: f64 = 2.947;
/// Microseconds that a byte takes at 10 Gb/s.
const BYTE_US: f64 = 0.0008;

/// Senders on a star, and one receiver.
fn network(traffic: &str) -> String {
    let roles = format!(
        "endpoints.roles = {{ senders = {{ first = 0, count = {SENDERS} }}, receivers = {{ hosts = [{SENDERS}] }} }}"
    );
    let flows = "[record]\nqueue_sample = \"7us\"\nqueue_histogram = true\n[port]\nlimit = \"4MB\"\n[workload]\nflows = 80000\n";
    star(SENDERS + 1) + flows + &traffic.replace("ROLES", &roles)
}

/// The port that all packets share.
fn shared(outcome: &Outcome) -> &PortRow {
    port(outcome, "switch0", &format!("host{SENDERS}"))
}

/// Mean time in microseconds that the packets of the measured flows of a class wait, over those of an idle network.
fn mean_wait(outcome: &Outcome, class: u8) -> f64 {
    let waits: Vec<u64> = outcome
        .flows
        .rows()
        .filter(|row| row.measured && row.class == class)
        .map(|row| row.fct().unwrap().as_ps() - row.ideal.as_ps())
        .collect();
    waits.iter().sum::<u64>() as f64 / waits.len() as f64 / 1e6
}

fn outcomes(scheme: &str, text: &str) -> Vec<Outcome> {
    (1..=SEEDS).map(|seed| run(scheme, text, seed)).collect()
}

/// `expected` lies in the 99 % interval of the mean over the runs, and the interval is not wider than a few percent.
fn assert_mean(what: &str, of_runs: &[f64], expected: f64) {
    let n = of_runs.len() as f64;
    let mean = of_runs.iter().sum::<f64>() / n;
    let variance = of_runs.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / (n - 1.0);
    let half_width = T_99 * (variance / n).sqrt();
    assert!((mean - expected).abs() <= half_width, "{what}: {mean:.5} +- {half_width:.5}, expected {expected:.5}");
    assert!(half_width < 0.04 * expected, "{what}: an interval of {half_width:.5} around {mean:.5} says nothing");
}

fn over(outcomes: &[Outcome], of_run: impl Fn(&Outcome) -> f64) -> Vec<f64> {
    outcomes.iter().map(of_run).collect()
}

#[test]
fn packets_of_one_size_wait_as_in_an_m_d_1_queue() {
    for load in [0.5, 0.8] {
        let per_us = load / 1.2;
        let text =
            network(&format!("[workload.traffic.one]\nrate = {}\nsizes.fixed = \"1460B\"\nROLES\n", per_us * 1e6));
        let outcomes = outcomes("tcp", &text);
        let wait = 1.2 * load / (2.0 * (1.0 - load));
        assert_mean(&format!("wait at {load}"), &over(&outcomes, |run| mean_wait(run, 0)), wait);

        // Little's law, from periodic samples of the queue.
        let waiting = over(&outcomes, |run| shared(run).queue.unwrap().mean_bytes / 1500.0);
        assert_mean(&format!("queue at {load}"), &waiting, per_us * wait);
        // The queue is empty while the system holds no packet or one: P0 + P1 = (1 - rho) e^rho.
        let empty = over(&outcomes, |run| {
            let bins = shared(run).queue_histogram.as_ref().unwrap();
            let all: f64 = bins.iter().map(|bin| bin.1.as_secs_f64()).sum();
            assert!((all / run.measured.as_secs_f64() - 1.0).abs() < 1e-9, "the histogram covers the measured time");
            bins[0].1.as_secs_f64() / all
        });
        assert_mean(&format!("empty at {load}"), &empty, (1.0 - load) * load.exp());
        assert_mean(&format!("utilisation at {load}"), &over(&outcomes, |run| shared(run).utilisation), load);
    }
}

#[test]
fn packets_of_many_sizes_wait_as_pollaczek_and_khinchine_say() {
    // All sizes from 1 B to 1460 B alike.
    let moment = |power: i32| (1..=1460).map(|b| (wire_bytes(b) as f64 * BYTE_US).powi(power)).sum::<f64>() / 1460.0;
    for load in [0.5, 0.8] {
        let per_us = load / moment(1);
        let sizes = "sizes.uniform = { min = \"1B\", max = \"1460B\" }";
        let text = network(&format!("[workload.traffic.all]\nrate = {}\n{sizes}\nROLES\n", per_us * 1e6));
        let wait = per_us * moment(2) / (2.0 * (1.0 - load));
        // The port of PIAS with one class is a FIFO too: all packets come before the first threshold.
        for scheme in ["dctcp", "pias"] {
            let outcomes = outcomes(scheme, &text);
            assert_mean(&format!("{scheme} at {load}"), &over(&outcomes, |run| mean_wait(run, 0)), wait);
        }
    }
}

#[test]
fn two_priorities_wait_as_in_a_queue_that_does_not_preempt() {
    // Cobham (1954): R is the work on the wire; the first class waits for R and itself, the second for all.
    let (short, long) = (200.0 * BYTE_US, 1500.0 * BYTE_US);
    let (short_load, long_load) = (0.2, 0.5);
    let (short_per_us, long_per_us) = (short_load / short, long_load / long);
    let residual = (short_per_us * short * short + long_per_us * long * long) / 2.0;
    let text = network(&format!(
        "[workload.traffic.short]\nrate = {}\nsizes.fixed = \"160B\"\nROLES\n\
         [workload.traffic.long]\nrate = {}\nsizes.fixed = \"1460B\"\nROLES\n\
         [host.tag.flow-size]\nshort = \"160B\"\n",
        short_per_us * 1e6,
        long_per_us * 1e6
    ));
    let outcomes = outcomes("sjf", &text);
    let first = residual / (1.0 - short_load);
    let second = first / (1.0 - short_load - long_load);
    assert_mean("short", &over(&outcomes, |run| mean_wait(run, 0)), first);
    assert_mean("long", &over(&outcomes, |run| mean_wait(run, 1)), second);
}
