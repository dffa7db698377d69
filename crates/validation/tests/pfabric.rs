//! pFabric beside another simulator.

use tailcut_base::each_on_all_cores;
use tailcut_validation::theory::run::run;

/// Mean and 99th percentile in microseconds of flows below 100 KB to their last ACK in NetSys/simulator, with another
/// list of flows of the same distribution (`docs/validation.md`).
const NETSYS: [f64; 2] = [37.9, 91.9];

#[test]
fn short_flows_take_as_long_as_in_the_simulator_of_netsys() {
    let text = include_str!("../../../scenarios/pfabric.toml");
    let (_, network_and_traffic) = text.split_once("\n[topology").expect("the scenario has a topology");
    // Half as long as the scenario: its first milliseconds are a bit easier than the rest.
    let text = format!("[topology{network_and_traffic}").replace("flows = 5000", "flows = 2500");
    let times = each_on_all_cores(&[1, 2], |&seed| {
        let outcome = run("pfabric@original", &text, seed);
        let short = outcome.flows.rows().filter(|row| row.size < 100_000);
        let times = short.map(|row| row.acknowledged.and_then(|at| at.since(row.start)).expect("it is finished"));
        times.map(|time| time.as_ps() as f64 / 1e6).collect::<Vec<f64>>()
    });
    let mut times = times.concat();
    times.sort_unstable_by(f64::total_cmp);
    let mean = times.iter().sum::<f64>() / times.len() as f64;
    let p99 = times[(99 * times.len()).div_ceil(100) - 1];
    assert!(times.len() > 2500, "{} short flows", times.len());
    for (ours, theirs) in [mean, p99].into_iter().zip(NETSYS) {
        assert!((ours / theirs - 1.0).abs() < 0.1, "{ours:.1} us, in NetSys/simulator {theirs} us");
    }
}
