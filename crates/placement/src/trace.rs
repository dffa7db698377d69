//! The trace: each equation with its numbers.

use serde::Serialize;

/// One step of the calculation.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Step {
    /// The number of the equation in section 3.4.1; empty for a decision.
    pub equation: &'static str,
    /// What is computed, with the symbols of Table II.
    pub formula: String,
    /// The same with its numbers.
    pub numbers: String,
    /// What it comes to.
    pub value: f64,
    /// What follows from it.
    pub so: String,
}

impl Step {
    pub(crate) fn new(
        equation: &'static str,
        formula: &str,
        numbers: String,
        value: f64,
        so: impl Into<String>,
    ) -> Step {
        Step { equation, formula: formula.to_owned(), numbers, value, so: so.into() }
    }

    /// For people: `(3.2) U_l = alpha beta d s / B_l = 0.8 x 0.5 x 6 x 1500 / 2000 = 1.2: local senders overflow`.
    pub fn text(&self) -> String {
        let equation = if self.equation.is_empty() { String::new() } else { format!("({}) ", self.equation) };
        let so = if self.so.is_empty() { String::new() } else { format!(": {}", self.so) };
        format!("{equation}{} = {} = {}{so}", self.formula, self.numbers, number(self.value))
    }
}

/// A number with at most five significant digits after which nothing is lost that matters here.
pub(crate) fn number(value: f64) -> String {
    if value == value.round() && value.abs() < 1e12 {
        return format!("{value:.0}");
    }
    let digits = (4 - value.abs().log10().floor() as i32).clamp(0, 9) as usize;
    let text = format!("{value:.digits$}");
    match text.contains('.') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => text,
    }
}
