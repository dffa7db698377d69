//! The steady state of DCTCP, and how flows come to share a link.

use tailcut_base::each_on_all_cores;
use tailcut_validation::theory::dctcp::{Setting, bound_setting};
use tailcut_validation::theory::sharing::{coming_and_going, joining};

fn relative(seen: f64, expected: f64) -> f64 {
    (seen / expected - 1.0).abs()
}

#[test]
fn the_queue_goes_up_to_k_and_one_packet_of_each_flow_and_down_by_the_amplitude() {
    let settings: Vec<Setting> = [20, 65, 100]
        .into_iter()
        .flat_map(|threshold| [1, 2, 5, 10, 20, 40].map(|flows| Setting { flows, threshold, delay_ns: 20_000 }))
        .collect();
    for (setting, run) in settings.iter().zip(each_on_all_cores(&settings, |setting| setting.run(60, 120))) {
        let (expected, seen) = (setting.predicted(), run.steady());
        assert!((seen.largest - expected.largest).abs() <= 1.0, "{setting:?}: {} packets", seen.largest);
        let shown = format!("{setting:?}: {seen:?}, expected {expected:?}");
        assert!(relative(seen.amplitude, expected.amplitude) < 0.25, "{shown}");
        assert!(relative(seen.alpha, expected.alpha) < 0.15, "{shown}");
        // A swing takes the round trips in which the windows grow, and those in which the marks come and the windows
        // are cut.
        assert!(seen.period > expected.period - 1.5 && seen.period < expected.period + 3.5, "{setting:?}: {seen:?}");
        if setting.flows <= 2 {
            assert!(relative(seen.period, expected.period) < 0.12, "{setting:?}: {seen:?}, expected {expected:?}");
        }
    }
}

#[test]
fn above_a_seventh_of_the_product_the_link_is_full_and_far_below_it_is_not() {
    let least = |share: f64, flows: &[u32]| -> f64 {
        let settings: Vec<Setting> = flows.iter().map(|&flows| bound_setting(share, flows)).collect();
        each_on_all_cores(&settings, |setting| setting.run(150, 250).utilisation).into_iter().fold(1.0, f64::min)
    };
    let all = [1, 2, 5, 10, 20, 48];
    assert!(least(1.0 / 7.0, &all) > 0.998);
    assert!(least(1.0 / 5.0, &all) > 0.9999);
    assert!(least(1.0 / 14.0, &all) < 0.99 && least(1.0 / 56.0, &all) < 0.98);
}

#[test]
fn a_larger_k_makes_a_longer_queue_and_no_emptier_link() {
    for flows in [2, 10] {
        let runs = each_on_all_cores(&[10, 20, 40, 80], |&threshold| {
            Setting { flows, threshold, delay_ns: 20_000 }.run(60, 120)
        });
        for pair in runs.windows(2) {
            assert!(pair[1].mean() > 1.5 * pair[0].mean());
            assert!(pair[1].utilisation >= pair[0].utilisation && pair[1].alpha < pair[0].alpha);
        }
    }
}

#[test]
fn a_flow_that_joins_has_its_share_after_some_hundred_round_trips() {
    let seen = joining("dctcp", 1_000, 60, 5);
    assert!(seen.within[0].is_some_and(|ms| ms <= 30.0), "{seen:?}");
    assert!(seen.jain[1] > 0.99 && seen.utilisation > 0.999, "{seen:?}");
}

#[test]
fn five_flows_that_come_and_go_share_the_link_all_the_time() {
    let (intervals, ends) = coming_and_going("dctcp", 5, 100_000);
    for interval in &intervals {
        assert!(interval.jain > 0.9 && interval.utilisation > 0.995, "{intervals:?}");
    }
    assert!(ends.iter().all(|end| (end / 5.0 - 1.0).abs() < 0.2), "{ends:?}");
}
