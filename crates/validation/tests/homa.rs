//! Homa's slowdowns beside the published ones.

use tailcut_validation::theory::run::run;

/// 99th percentile of the slowdown at a load of 0.8 of messages up to 1 KB, 10 KB, 100 KB, 1 MB, and larger ones.
fn slowdowns(sizes: &str, flows: u32) -> Vec<f64> {
    let text = include_str!("../../../scenarios/homa.toml");
    let (_, rest) = text.split_once("\n[topology").expect("the scenario has a topology");
    let (network, _) = rest.split_once("\n[workload]").expect("and a workload");
    let text = format!(
        "[topology{network}\n[workload]\nload = 0.8\nload_bytes = \"wire\"\nflows = {flows}\n\
         traffic.messages = {{ share = 1.0, sizes.distribution = \"{sizes}\" }}\n"
    );
    let outcome = run("homa", &text, 1);
    let bounds = [0, 1_000, 10_000, 100_000, 1_000_000, u64::MAX];
    let p99 = |bounds: &[u64]| {
        let of_size = |row: &tailcut_record::FlowRow| row.measured && row.size > bounds[0] && row.size <= bounds[1];
        let mut all: Vec<f64> =
            outcome.flows.rows().filter(of_size).map(|row| row.slowdown().expect("it is finished")).collect();
        all.sort_unstable_by(f64::total_cmp);
        all.get((99 * all.len()).div_ceil(100).saturating_sub(1)).copied().unwrap_or(1.0)
    };
    bounds.windows(2).map(p99).collect()
}

/// Montazeri et al., SIGCOMM 2018, figures 8 and 12: at a load of 0.8 the 99th percentile of the slowdown of short
/// messages is near 1 to 3, and it grows with the size.
#[test]
fn short_messages_are_slowed_down_little_at_high_load_and_large_ones_more() {
    let w4 = slowdowns("facebook_hadoop", 40_000);
    assert!(w4[..3].iter().all(|slowdown| (1.0..=3.0).contains(slowdown)), "{w4:?}");
    assert!(w4[1] < w4[2] && w4[2] < w4[3] && w4[3] < w4[4], "{w4:?}");
    let w5 = slowdowns("websearch", 4_000);
    assert!(w5[1..3].iter().all(|slowdown| (1.0..=3.0).contains(slowdown)), "{w5:?}");
    assert!(w5[1] < w5[2] && w5[2] < w5[3] && w5[3] < w5[4], "{w5:?}");
}
