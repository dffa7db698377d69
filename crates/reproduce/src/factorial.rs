//! Effects of factors that are there or not, by least squares: what each does on average over the others, and what two
//! do together that neither does alone.
//!
//! A factor counts -1/2 where it is not there and +1/2 where it is. The coefficient of a factor is then its effect
//! averaged over the others; that of a product of two is the effect of one where the other is, less its effect where
//! the other is not (Box, Hunter, Hunter, Statistics for Experimenters, 2005, chapter 5). On logarithms both are
//! ratios. Every seed is a block with the same traffic in all cells: the effects are estimated from each seed alone,
//! and their interval is that of Student's t over the seeds, which asks nothing of what the model leaves out.
//!
//! A design need not have every cell. A term that the cells do not tell apart from those before it is not estimated,
//! and is said.

use tailcut_results::stats::t975;

/// What one cell of a design came to under one seed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Observation {
    /// For each factor, whether it is there.
    pub(crate) on: Vec<bool>,
    pub(crate) seed: u64,
    pub(crate) value: f64,
}

/// The effect of a factor, or of two together.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Effect {
    /// The factors: one or two.
    pub(crate) factors: Vec<usize>,
    /// The mean over the seeds.
    pub(crate) value: f64,
    /// Half of the 95 % interval; `None` of a single seed.
    pub(crate) half: Option<f64>,
}

/// A design, analysed.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Analysis {
    /// The factors alone, then pairs of them.
    pub(crate) effects: Vec<Effect>,
    /// Terms that the cells do not tell apart from others.
    pub(crate) not_estimated: Vec<Vec<usize>>,
    /// Of the variation between the cells' means, the parts of the factors alone, of pairs, and of three or more
    /// together; `None` where nothing varies.
    pub(crate) parts: Option<[f64; 3]>,
    /// Cells that have a value under every seed, of all that factors allow.
    pub(crate) cells: (usize, usize),
    pub(crate) seeds: usize,
}

impl Analysis {
    /// Whether a factor changes nothing under any seed, neither alone nor together with another.
    pub(crate) fn is_void(&self, factor: usize) -> bool {
        let is_zero = |effect: &Effect| effect.value.abs() < 1e-12 && effect.half.is_some_and(|half| half < 1e-12);
        let mut of = self.effects.iter().filter(|effect| effect.factors.contains(&factor)).peekable();
        of.peek().is_some() && of.all(is_zero)
    }
}

/// Estimates the effects of so many factors.
///
/// # Errors
/// If there is no cell that has a value under every seed.
pub(crate) fn analyse(factors: usize, observations: &[Observation]) -> Result<Analysis, String> {
    let distinct = |mut all: Vec<u64>| -> Vec<u64> {
        all.sort_unstable();
        all.dedup();
        all
    };
    let seeds = distinct(observations.iter().map(|one| one.seed).collect());
    let mut cells: Vec<Vec<bool>> = observations.iter().map(|one| one.on.clone()).collect();
    cells.sort();
    cells.dedup();
    let value = |on: &[bool], seed: u64| {
        let found = observations.iter().find(|one| one.on == on && one.seed == seed);
        found.map(|one| one.value).filter(|value| value.is_finite())
    };
    // With a cell that one seed lacks the seeds would answer different questions.
    cells.retain(|on| seeds.iter().all(|&seed| value(on, seed).is_some()));
    if cells.is_empty() {
        return Err("no combination has a value under every seed".to_owned());
    }
    let mut terms: Vec<Vec<usize>> = vec![Vec::new()];
    terms.extend((0..factors).map(|one| vec![one]));
    terms.extend((0..factors).flat_map(|one| (one + 1..factors).map(move |other| vec![one, other])));
    let column = |term: &[usize]| -> Vec<f64> {
        let sign = |on: &[bool], at: usize| if on[at] { 0.5 } else { -0.5 };
        cells.iter().map(|on| term.iter().map(|&at| sign(on, at)).product()).collect()
    };
    let columns: Vec<Vec<f64>> = terms.iter().map(|term| column(term)).collect();
    let basis = Basis::of(&columns);

    let responses: Vec<Vec<f64>> =
        seeds.iter().map(|&seed| cells.iter().filter_map(|on| value(on, seed)).collect()).collect();
    let by_seed: Vec<Vec<f64>> = responses.iter().map(|response| basis.coefficients(response)).collect();
    let k = seeds.len() as f64;
    let effects = basis.kept.iter().enumerate().filter(|&(_, &term)| !terms[term].is_empty()).map(|(at, &term)| {
        let mean = by_seed.iter().map(|of_seed| of_seed[at]).sum::<f64>() / k;
        let squares: f64 = by_seed.iter().map(|of_seed| (of_seed[at] - mean).powi(2)).sum();
        let half = (seeds.len() > 1).then(|| t975(k - 1.0) * (squares / (k * (k - 1.0))).sqrt());
        Effect { factors: terms[term].clone(), value: mean, half }
    });
    let means: Vec<f64> =
        (0..cells.len()).map(|cell| responses.iter().map(|response| response[cell]).sum::<f64>() / k).collect();
    Ok(Analysis {
        effects: effects.collect(),
        not_estimated: (0..terms.len()).filter(|term| !basis.kept.contains(term)).map(|at| terms[at].clone()).collect(),
        parts: parts(&basis, &terms, &means),
        cells: (cells.len(), 1 << factors),
        seeds: seeds.len(),
    })
}

/// The parts of the variation of `means` that terms of one and of two factors explain, in this order, and the rest.
fn parts(basis: &Basis, terms: &[Vec<usize>], means: &[f64]) -> Option<[f64; 3]> {
    let mut explained = [0.0; 3];
    for (vector, &term) in basis.vectors.iter().zip(&basis.kept) {
        explained[terms[term].len()] += dot(vector, means).powi(2);
    }
    let all = dot(means, means) - explained[0];
    // Nothing but what rounding leaves.
    (all > 1e-18 * dot(means, means).max(1e-300)).then(|| {
        let rest = (all - explained[1] - explained[2]).max(0.0);
        [explained[1], explained[2], rest].map(|part| part / all)
    })
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Columns of a model, made orthonormal one after the other (modified Gram-Schmidt).
struct Basis {
    /// The columns that are no combination of those before them.
    kept: Vec<usize>,
    vectors: Vec<Vec<f64>>,
    /// Each kept column in terms of the vectors: those before it, and last its own.
    triangle: Vec<Vec<f64>>,
}

impl Basis {
    fn of(columns: &[Vec<f64>]) -> Basis {
        let mut basis = Basis { kept: Vec::new(), vectors: Vec::new(), triangle: Vec::new() };
        for (at, column) in columns.iter().enumerate() {
            let mut rest = column.clone();
            let mut above = Vec::new();
            for vector in &basis.vectors {
                let part = dot(vector, &rest);
                rest.iter_mut().zip(vector).for_each(|(rest, vector)| *rest -= part * vector);
                above.push(part);
            }
            let length = dot(&rest, &rest).sqrt();
            // What is left of a column that others explain is rounding.
            if length > 1e-9 * dot(column, column).sqrt() {
                above.push(length);
                basis.vectors.push(rest.iter().map(|value| value / length).collect());
                basis.triangle.push(above);
                basis.kept.push(at);
            }
        }
        basis
    }

    /// The coefficients of the kept columns that fit `response` best.
    fn coefficients(&self, response: &[f64]) -> Vec<f64> {
        let n = self.kept.len();
        let mut left: Vec<f64> = self.vectors.iter().map(|vector| dot(vector, response)).collect();
        let mut coefficients = vec![0.0; n];
        for at in (0..n).rev() {
            coefficients[at] = left[at] / self.triangle[at][at];
            for (left, entry) in left[..at].iter_mut().zip(&self.triangle[at]) {
                *left -= coefficients[at] * entry;
            }
        }
        coefficients
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn cells(values: &[(&[bool], &[f64])]) -> Vec<Observation> {
        let of_cell = |&(on, by_seed): &(&[bool], &[f64])| {
            let one = |(seed, &value)| Observation { on: on.to_vec(), seed, value };
            (1u64..).zip(by_seed).map(one).collect::<Vec<_>>()
        };
        values.iter().flat_map(of_cell).collect()
    }

    fn near(a: f64, b: f64) -> bool {
        (a - b).abs() < 1e-9
    }

    /// Two factors, two seeds: without both 10 and 12, with A 6 and 8, with B 7 and 11, with both 5 and 5.
    #[test]
    fn two_by_two_by_hand() {
        let observations = cells(&[
            (&[false, false], &[10.0, 12.0]),
            (&[true, false], &[6.0, 8.0]),
            (&[false, true], &[7.0, 11.0]),
            (&[true, true], &[5.0, 5.0]),
        ]);
        let analysis = analyse(2, &observations).unwrap();
        // A: (6 - 10 + 5 - 7) / 2 = -3 and (8 - 12 + 5 - 11) / 2 = -5. B: -2 and -2. Together: (5 - 7) - (6 - 10) = 2
        // and (5 - 11) - (8 - 12) = -2.
        let expected = [(vec![0], -4.0, 1.0), (vec![1], -2.0, 0.0), (vec![0, 1], 0.0, 2.0)];
        assert_eq!(analysis.effects.len(), 3);
        for (effect, (factors, value, spread)) in analysis.effects.iter().zip(expected) {
            // Student's t of one degree of freedom, and the standard error of the mean of two that are `spread` off.
            let half = 12.706_204_736 * (2.0f64 * spread * spread / 2.0).sqrt();
            assert_eq!(effect.factors, factors);
            assert!(near(effect.value, value) && (effect.half.unwrap() - half).abs() < 1e-5, "{effect:?} {half}");
        }
        // Means 11, 7, 9, 5: 16 + 4 of 20, nothing together.
        let [alone, pairs, more] = analysis.parts.unwrap();
        assert!(near(alone, 1.0) && near(pairs, 0.0) && near(more, 0.0), "{:?}", analysis.parts);
        assert_eq!((analysis.cells, analysis.seeds, analysis.not_estimated.len()), ((4, 4), 2, 0));
    }

    /// Without the cell of both nothing says what they do together, and the rest is as if they did nothing.
    #[test]
    fn what_an_incomplete_design_cannot_tell_is_said() {
        let observations = cells(&[(&[false, false], &[10.0]), (&[true, false], &[6.0]), (&[false, true], &[7.0])]);
        let analysis = analyse(2, &observations).unwrap();
        assert_eq!(analysis.not_estimated, [vec![0, 1]]);
        assert_eq!(analysis.cells, (3, 4));
        let values: Vec<f64> = analysis.effects.iter().map(|effect| effect.value).collect();
        assert!(near(values[0], -4.0) && near(values[1], -3.0), "{values:?}");
        assert!(analysis.effects.iter().all(|effect| effect.half.is_none()), "one seed has no spread");
    }

    #[test]
    fn a_cell_that_one_seed_lacks_is_left_out_for_all() {
        let mut observations = cells(&[(&[false], &[1.0, 2.0]), (&[true], &[4.0, 4.0])]);
        observations.pop();
        let analysis = analyse(1, &observations).unwrap();
        assert_eq!((analysis.cells, analysis.not_estimated), ((1, 2), vec![vec![0]]));
        assert!(analyse(1, &observations[1..2]).is_ok() && analyse(1, &[]).is_err());
    }

    #[test]
    fn a_factor_that_changes_nothing_is_void() {
        let observations = cells(&[
            (&[false, false], &[1.0, 2.0]),
            (&[true, false], &[1.5, 2.0]),
            (&[false, true], &[1.0, 2.0]),
            (&[true, true], &[1.5, 2.0]),
        ]);
        let analysis = analyse(2, &observations).unwrap();
        assert_eq!([analysis.is_void(0), analysis.is_void(1)], [false, true]);
    }

    proptest! {
        /// Averages of differences, one factor at a time, are what least squares give where every cell is there; and
        /// three factors together are in neither.
        #[test]
        fn in_a_complete_design_effects_are_averages_of_differences(
            values in prop::collection::vec(-5.0f64..5.0, 16),
            shift in -50.0f64..50.0,
        ) {
            let on = |cell: usize| (0..4).map(|factor| cell >> factor & 1 == 1).collect::<Vec<bool>>();
            let observations: Vec<Observation> = values
                .iter()
                .enumerate()
                .flat_map(|(cell, &value)| {
                    [(1, 0.0), (2, shift)].map(|(seed, by)| Observation { on: on(cell), seed, value: value + by })
                })
                .collect();
            let analysis = analyse(4, &observations).unwrap();
            prop_assert_eq!(analysis.effects.len(), 10);
            for effect in &analysis.effects {
                let sign = |cell: usize| -> f64 {
                    effect.factors.iter().map(|factor| if cell >> factor & 1 == 1 { 1.0 } else { -1.0 }).product()
                };
                let contrast: f64 = values.iter().enumerate().map(|(cell, value)| sign(cell) * value).sum();
                // Eight differences of one factor; four differences of differences of two.
                let pairs = if effect.factors.len() == 1 { 8.0 } else { 4.0 };
                prop_assert!((effect.value - contrast / pairs).abs() < 1e-9);
                // What a seed adds to all its cells is its own.
                prop_assert!(effect.half.unwrap() < 1e-9);
            }
            let parts = analysis.parts.unwrap();
            prop_assert!((parts.iter().sum::<f64>() - 1.0).abs() < 1e-9);
        }
    }
}
