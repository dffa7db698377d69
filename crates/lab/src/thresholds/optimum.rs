//! The thresholds that make the mean time in a feedback queue smallest.
//!
//! The mean time is a sum over levels, each of which depends on its two thresholds alone. Over a grid of sizes the best
//! thresholds are therefore found for certain, level by level (dynamic programming). From there each threshold in turn
//! goes to the best place between its neighbours, until none moves. The mean time has kinks where the distribution has,
//! and its minima mostly lie in them: the knots of the distribution are in the grid and are tried in every step.

use super::queue::{Cut, FeedbackQueue};

/// Sizes between the smallest and the largest, at equal ratios, that thresholds are looked for among at first.
const GRID: u32 = 256;
/// Less than this part of the mean time is no gain: neither a step nor another level is made for it.
const GAIN: f64 = 1e-9;
/// Steps of a golden-section search: each leaves 0.618 of what there was.
const GOLDEN_STEPS: u32 = 60;
/// Rounds of a descent, far more than any needs.
const ROUNDS: u32 = 1_000;

/// The best thresholds in bytes for at most `queues` levels, ascending: fewer, if another level gains nothing.
pub(super) fn optimum(queue: &FeedbackQueue<'_>, queues: usize) -> Vec<f64> {
    let mut best = (queue.mean_time(&[]), Vec::new());
    for start in best_on_grid(queue, queues) {
        let found = descend(queue, start);
        let mean_time = queue.mean_time(&found);
        if mean_time < best.0 * (1.0 - GAIN) {
            best = (mean_time, found);
        }
    }
    best.1
}

/// The knots of the distribution and a grid over its sizes, ascending.
fn sizes(queue: &FeedbackQueue<'_>) -> Vec<f64> {
    let (min, max) = (queue.sizes.min().max(1.0), queue.sizes.max());
    let ratio = (max / min).ln();
    let mut sizes: Vec<f64> = (0..GRID).map(|nth| min * (ratio * f64::from(nth) / f64::from(GRID)).exp()).collect();
    sizes.extend(knots(queue));
    sizes.retain(|&size| size >= min && size < max);
    sizes.sort_by(f64::total_cmp);
    sizes.dedup();
    sizes
}

fn knots(queue: &FeedbackQueue<'_>) -> Vec<f64> {
    queue.sizes.knots().map(|knots| knots.map(|(size, _)| size).collect()).unwrap_or_default()
}

/// The best thresholds on the grid for 2, 3 ... `queues` levels.
fn best_on_grid(queue: &FeedbackQueue<'_>, queues: usize) -> Vec<Vec<f64>> {
    let cuts: Vec<Cut> = sizes(queue).into_iter().map(|at| queue.cut(at)).collect();
    let (start, end) = (queue.start(), queue.end());
    // For each cut: the smallest sum over the levels above it, and which cut comes before it in that sum.
    let mut sums: Vec<f64> = cuts.iter().map(|cut| queue.level(&start, cut)).collect();
    let mut before: Vec<Vec<usize>> = Vec::new();
    let mut found = Vec::new();
    for _ in 2..=queues {
        let whole = |at: usize, sums: &[f64]| sums[at] + queue.level(&cuts[at], &end);
        let last = (0..cuts.len()).min_by(|&a, &b| whole(a, &sums).total_cmp(&whole(b, &sums)));
        let Some(last) = last.filter(|&last| sums[last].is_finite()) else { break };
        let path = before.iter().rev().scan(last, |at, before| {
            *at = before[*at];
            Some(*at)
        });
        let mut path: Vec<usize> = std::iter::once(last).chain(path).collect();
        path.reverse();
        found.push(path.into_iter().map(|at| cuts[at].at).collect());
        let best_before = |to: usize| {
            let sum = |from: usize| sums[from] + queue.level(&cuts[from], &cuts[to]);
            (0..to).map(|from| (sum(from), from)).min_by(|a, b| a.0.total_cmp(&b.0)).unwrap_or((f64::INFINITY, 0))
        };
        let next: Vec<(f64, usize)> = (0..cuts.len()).map(best_before).collect();
        sums = next.iter().map(|(sum, _)| *sum).collect();
        before.push(next.into_iter().map(|(_, from)| from).collect());
    }
    found
}

/// Moves each threshold in turn to the best place between its neighbours, until none moves.
pub(super) fn descend(queue: &FeedbackQueue<'_>, mut thresholds: Vec<f64>) -> Vec<f64> {
    let knots = knots(queue);
    for _ in 0..ROUNDS {
        let mut moved = false;
        for at in 0..thresholds.len() {
            let above = at.checked_sub(1).map_or_else(|| queue.start(), |at| queue.cut(thresholds[at]));
            let below = thresholds.get(at + 1).map_or_else(|| queue.end(), |&next| queue.cut(next));
            let cost = |size: f64| {
                let cut = queue.cut(size);
                queue.level(&above, &cut) + queue.level(&cut, &below)
            };
            let now = cost(thresholds[at]);
            let (best, size) = best_between(above.at, below.at, &knots, &cost);
            if best < now * (1.0 - GAIN) {
                thresholds[at] = size;
                moved = true;
            }
        }
        if !moved {
            break;
        }
    }
    thresholds
}

/// The smallest cost between two sizes, and where: at a knot, or inside a stretch between two of them.
fn best_between(from: f64, to: f64, knots: &[f64], cost: &impl Fn(f64) -> f64) -> (f64, f64) {
    let inner = knots.iter().copied().filter(|&knot| knot > from && knot < to);
    let ends: Vec<f64> = std::iter::once(from).chain(inner).chain([to]).collect();
    let mut best = (f64::INFINITY, from);
    let mut try_at = |size: f64| {
        let found = cost(size);
        if found < best.0 {
            best = (found, size);
        }
    };
    for stretch in ends.windows(2).filter(|stretch| stretch[0] < stretch[1]) {
        if stretch[1] < to {
            try_at(stretch[1]);
        }
        try_at(golden_section(stretch[0], stretch[1], cost));
    }
    best
}

/// A minimum inside a stretch, for a cost that falls and then rises there; some place inside for any other.
fn golden_section(mut from: f64, mut to: f64, cost: &impl Fn(f64) -> f64) -> f64 {
    const GOLDEN: f64 = 0.618_033_988_749_894_8;
    let (mut left, mut right) = (to - GOLDEN * (to - from), from + GOLDEN * (to - from));
    let (mut at_left, mut at_right) = (cost(left), cost(right));
    for _ in 0..GOLDEN_STEPS {
        if at_left <= at_right {
            (to, right, at_right) = (right, left, at_left);
            left = to - GOLDEN * (to - from);
            at_left = cost(left);
        } else {
            (from, left, at_left) = (left, right, at_right);
            right = from + GOLDEN * (to - from);
            at_right = cost(right);
        }
    }
    if at_left <= at_right { left } else { right }
}
