//! Packets that land at one moment: no host has an advantage by its number, unless that is asked for.

use std::path::Path;

use crate::common::cases::config;
use crate::common::{listed, rows, run, scenario, star, tree};
use proptest::prelude::*;
use tailcut_record::Recorder;
use tailcut_sim::{Scenario, World};

const NUMBERED: &str = "run.ties = \"numbered\"\n";

/// So many hosts send so many bytes to another one at the same moment, through a port that holds so many packets.
fn incast(senders: u32, size: u64, limit: u32) -> String {
    let flows: Vec<_> = (0..senders).map(|src| (src, senders, size, 0)).collect();
    format!("port.limit = \"{limit}pkt\"\n{}{}", star(senders + 1), listed(&flows))
}

/// The packets of each sender that were dropped.
fn drops(preset: &str, text: &str, senders: u32, seed: u64) -> Vec<f64> {
    let mut drops = vec![0.0; senders as usize];
    for row in rows(&run(preset, text, seed)) {
        drops[row.src as usize] += row.drops as f64;
    }
    drops
}

proptest! {
    #![proptest_config(config(12))]

    /// The noise is that of the seeds: a sender's share is as far from an equal one as six standard errors of its mean
    /// allow, and these are small.
    #[test]
    fn equal_senders_share_the_loss(
        preset in prop::sample::select(vec!["tcp", "dctcp", "pfabric"]),
        senders in 2u32..10,
        size in 300_000u64..1_200_000,
        limit in 30u32..80,
    ) {
        const SEEDS: u64 = 24;
        let text = incast(senders, size, limit);
        let equal = 1.0 / f64::from(senders);
        let mut shares = vec![Vec::new(); senders as usize];
        for seed in 0..SEEDS {
            let drops = drops(preset, &text, senders, seed);
            let all: f64 = drops.iter().sum();
            prop_assert!(all > 0.0);
            shares.iter_mut().zip(drops).for_each(|(shares, drops)| shares.push(drops / all));
        }
        for shares in &shares {
            let mean = shares.iter().sum::<f64>() / SEEDS as f64;
            let variance = shares.iter().map(|share| (share - mean).powi(2)).sum::<f64>() / (SEEDS - 1) as f64;
            let error = (variance / SEEDS as f64).sqrt();
            prop_assert!(error < 0.25 * equal, "{preset}: the noise, {error}, says nothing");
            prop_assert!((mean - equal).abs() < 6.0 * error, "{preset}: {mean} of {equal}, error {error}");
        }
    }
}

#[test]
fn of_eight_equal_senders_the_first_loses_as_much_as_the_last_unless_numbers_decide() {
    let text = incast(8, 1_000_000, 60);
    let of_all = |text: &str| -> Vec<f64> {
        let mut sums = vec![0.0; 8];
        for seed in 0..20 {
            sums.iter_mut().zip(drops("tcp", text, 8, seed)).for_each(|(sum, drops)| *sum += drops);
        }
        sums
    };
    let numbered = of_all(&format!("{NUMBERED}{text}"));
    assert!(numbered[0] < numbered[7] / 2.0, "{numbered:?}");
    let drawn = of_all(&text);
    let mean = drawn.iter().sum::<f64>() / 8.0;
    assert!(drawn.iter().all(|drops| (drops / mean - 1.0).abs() < 0.2), "{drawn:?}");
}

/// 32 MB each into a port of 40 packets, as fast as the port is. A single run may be decided by who has a timeout,
/// which is 10 ms of 53: over the seeds both take as long and lose as much.
#[test]
fn two_equal_senders_at_line_rate_share_a_port() {
    let text = incast(2, 32_000_000, 40);
    let (mut lost, mut took, mut first) = ([0.0; 2], [0.0; 2], 0);
    for seed in 0..16 {
        let rows = rows(&run("tcp", &text, seed));
        for (at, row) in rows.iter().enumerate() {
            lost[at] += row.drops as f64;
            took[at] += row.fct().expect("it is finished").as_secs_f64();
        }
        first += u32::from(rows[0].fct() < rows[1].fct());
    }
    assert!((3..=13).contains(&first), "the first sender ends first in {first} of 16");
    assert!((took[0] / took[1] - 1.0).abs() < 0.15, "{took:?}");
    assert!((lost[0] / lost[1] - 1.0).abs() < 0.25, "{lost:?}");
    // By number, the first one is ahead in every run, and loses a fraction.
    let rows = rows(&run("tcp", &format!("{NUMBERED}{text}"), 1));
    assert!(rows[0].drops * 10 < rows[1].drops && rows[0].fct() < rows[1].fct(), "{rows:?}");
}

#[test]
fn exact_ties_are_warned_of_where_numbers_decide_them() {
    let staggered = listed(&[(0, 2, 100_000, 0), (1, 2, 100_000, 37)]);
    let one_host = listed(&[(0, 2, 100_000, 0), (0, 1, 100_000, 0)]);
    let queries = |jitter: &str| {
        format!(
            "[workload]\nduration = \"1ms\"\n[workload.traffic.a]\nrate = 1000.0\nsizes.fixed = \"10KB\"\n\
             incast = {{ degree = 2{jitter} }}\n"
        )
    };
    for (traffic, is_warned) in [
        (listed(&[(0, 2, 100_000, 0), (1, 2, 100_000, 0)]), true),
        (staggered, false),
        (one_host, false),
        (queries(""), true),
        (queries(", jitter.uniform = { min = \"0us\", max = \"10us\" }"), false),
    ] {
        let warnings = |ties: &str| scenario("tcp", &format!("{ties}{}{traffic}", star(3)), 1).warnings();
        let is_about_ties = |warning: &String| warning.contains("exact ties decide");
        assert_eq!(warnings(NUMBERED).iter().any(is_about_ties), is_warned, "{traffic}");
        assert!(!warnings("").iter().any(is_about_ties), "{traffic}");
    }
}

/// A seed draws the order of ties: it comes back with it, whatever the number of threads.
#[test]
fn the_order_is_that_of_the_seed() {
    let tree = tree("dctcp", &incast(8, 200_000, 40));
    let digest = |seed, threads| {
        let scenario = Scenario::new(&tree, seed, Path::new(".")).unwrap();
        World::new(&scenario, Recorder::new()).with_threads(threads).run().engine.digest
    };
    assert_eq!((digest(1, 1), digest(2, 1)), (digest(1, 4), digest(2, 2)));
    assert_ne!(digest(1, 1), digest(2, 1));
}
