//! TCP under random loss against PFTK and the law of one over the root of p.

use tailcut_validation::theory::aimd::{Seen, Setting};

fn ratios(loss: f64, acked_together: u32, timeout_ms: u32) -> (Seen, f64, f64) {
    let setting = Setting { loss, acked_together, timeout_ms };
    let (models, seen) = (setting.predicted(), setting.run(100.0, 8));
    (seen, seen.rate.mean / models.full, seen.rate.mean / models.mathis)
}

// Without timeouts all models say the same, but for what independent losses do to the mean of a window:
// 1.31 / 1.22 = 1.07.
#[test]
fn rare_losses_leave_one_over_the_root_of_p() {
    for acked_together in [1, 2] {
        let (seen, full, mathis) = ratios(0.001, acked_together, 200);
        assert!(
            (0.95..1.2).contains(&mathis) && (0.95..1.25).contains(&full),
            "b = {acked_together}: {seen:?}, {full}, {mathis}"
        );
        assert!(seen.timeouts < 0.02, "{seen:?}");
    }
}

// The model takes the rest of a round for lost and knows no SACK: with many losses we are faster, and not by orders of
// magnitude.
#[test]
fn frequent_losses_leave_more_than_pftk_says_and_less_than_the_root_law() {
    for (timeout_ms, most) in [(40, 2.5), (200, 4.0)] {
        for acked_together in [1, 2] {
            let (seen, full, mathis) = ratios(0.03, acked_together, timeout_ms);
            assert!(full > 0.95 && full < most && mathis < 1.0, "b = {acked_together}: {seen:?}, {full}, {mathis}");
        }
    }
}

#[test]
fn more_loss_and_a_longer_timeout_never_help() {
    let rate = |loss, timeout_ms| Setting { loss, acked_together: 1, timeout_ms }.run(100.0, 8).rate.mean;
    let rates: Vec<[f64; 2]> = [0.003, 0.01, 0.03, 0.1].map(|loss| [40, 200].map(|timeout| rate(loss, timeout))).into();
    assert!(rates.windows(2).all(|pair| pair[1][0] < pair[0][0] && pair[1][1] < pair[0][1]), "{rates:?}");
    assert!(rates.iter().all(|[short, long]| long < &(short * 1.02)), "{rates:?}");
}
