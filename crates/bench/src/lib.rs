//! Measuring: several repetitions in turns, and their medians in a small table.
//!
//! Machines are shared and their speed drifts within seconds, so that what is compared is measured in turns, and the
//! ratio is the median of the ratios of neighbours. Absolute times are those of the machine at hand, in CPU time of the
//! thread, in which the time of others is not counted.
#![allow(clippy::print_stdout, reason = "printing is what a benchmark is for")]

pub mod fidelity;
pub mod flow;
pub mod htsim;
pub mod instructions;
pub mod limit;
pub mod manager;
pub mod presets;
pub mod scale;
pub mod simulation;

use std::fmt::Display;

use rustix::time::{ClockId, clock_gettime};

/// The middle of some numbers, and how far they spread.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// Smallest.
    pub min: f64,
    /// Median; the mean of the two in the middle if they are even in number.
    pub median: f64,
    /// Largest.
    pub max: f64,
}

impl Spread {
    /// The spread of `values`.
    ///
    /// # Panics
    /// If there are none.
    pub fn of(values: &[f64]) -> Spread {
        assert!(!values.is_empty(), "something was measured");
        let mut sorted = values.to_vec();
        sorted.sort_unstable_by(f64::total_cmp);
        let (lower, upper) = (sorted[(sorted.len() - 1) / 2], sorted[sorted.len() / 2]);
        Spread { min: sorted[0], median: (lower + upper) / 2.0, max: sorted[sorted.len() - 1] }
    }
}

impl Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:.1} ({:.1} to {:.1})", self.median, self.min, self.max)
    }
}

/// Where the arguments of a benchmark say that its picture goes: `--plot FILE.svg`, or nothing.
///
/// # Errors
/// If they say something else.
#[cfg(feature = "plot")]
fn picture_of_arguments() -> Result<Option<std::path::PathBuf>, String> {
    // Cargo adds `--bench`.
    let arguments: Vec<String> = std::env::args().skip(1).filter(|argument| argument != "--bench").collect();
    match arguments.iter().map(String::as_str).collect::<Vec<_>>()[..] {
        [] => Ok(None),
        // Cargo starts a benchmark in the folder of its package; a path is meant from the root.
        ["--plot", file] if file.ends_with(".svg") => Ok(Some(simulation::in_repository(file))),
        ["--plot", file] => Err(format!("`{file}` does not end in .svg: the PNG is written beside it")),
        _ => Err(format!("`{}` is not known here: expected nothing or --plot FILE.svg", arguments.join(" "))),
    }
}

/// Measures, and draws what came out of it where `--plot FILE.svg` says.
#[cfg(feature = "plot")]
#[allow(clippy::print_stderr, reason = "a benchmark prints")]
pub fn measure_and_draw(
    measure: impl FnOnce() -> Result<Vec<tailcut_report::Figure>, String>,
) -> std::process::ExitCode {
    let done = picture_of_arguments().and_then(|picture| {
        let figures = measure()?;
        let Some(picture) = picture else { return Ok(()) };
        tailcut_report::draw_side_by_side(&figures, &picture, &picture.with_extension("png"))
            .map_err(|e| format!("cannot draw {}: {e}", picture.display()))
    });
    match done {
        Ok(()) => std::process::ExitCode::SUCCESS,
        Err(message) => {
            eprintln!("error: {message}");
            std::process::ExitCode::from(2)
        }
    }
}

/// CPU time of the calling thread in ns, user and system.
pub fn thread_cpu_ns() -> u64 {
    let time = clock_gettime(ClockId::ThreadCPUTime);
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

/// Largest resident set of this process so far in bytes, where the system tells it.
pub fn peak_resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    let kilobytes: u64 = line.trim().strip_suffix("kB")?.trim().parse().ok()?;
    Some(kilobytes * 1024)
}

/// A number with its digits in groups of three.
pub fn grouped(number: u64) -> String {
    match number {
        0..1000 => number.to_string(),
        _ => format!("{},{:03}", grouped(number / 1000), number % 1000),
    }
}

/// Nanoseconds of CPU time that each of `operations` takes in `work`.
pub fn ns_each(operations: u64, work: impl FnOnce()) -> f64 {
    let began = thread_cpu_ns();
    work();
    (thread_cpu_ns() - began) as f64 / operations as f64
}

/// One thing to measure: each call does some work and says what it cost.
pub type Contender<'a> = Box<dyn FnMut() -> f64 + 'a>;

/// Measures the contenders in turns, `repetitions` times after one that does not count. The costs of each.
pub fn in_turns(repetitions: usize, contenders: &mut [Contender<'_>]) -> Vec<Vec<f64>> {
    let mut costs = vec![Vec::new(); contenders.len()];
    for repetition in 0..=repetitions {
        for (contender, costs) in contenders.iter_mut().zip(&mut costs) {
            let cost = contender();
            if repetition > 0 {
                costs.push(cost);
            }
        }
    }
    costs
}

/// Median of the ratios of costs that were measured next to each other.
pub fn ratio(costs: &[f64], others: &[f64]) -> f64 {
    Spread::of(&costs.iter().zip(others).map(|(cost, other)| cost / other).collect::<Vec<_>>()).median
}

/// Prints rows below heads, the first column to the left and the others to the right.
pub fn print_table<const N: usize>(heads: [&str; N], rows: &[[String; N]]) {
    let width = |column: usize| {
        let cells = rows.iter().map(|row| row[column].chars().count());
        cells.chain([heads[column].chars().count()]).max().unwrap_or(0)
    };
    let print = |cells: [&str; N]| {
        let padded = cells.iter().enumerate().map(|(column, cell)| {
            let width = width(column);
            if column == 0 { format!("{cell:<width$}") } else { format!("{cell:>width$}") }
        });
        println!("  {}", padded.collect::<Vec<_>>().join("   ").trim_end());
    };
    print(heads);
    for row in rows {
        print(row.each_ref().map(String::as_str));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_in_the_middle() {
        assert_eq!(Spread::of(&[3.0, 1.0, 2.0]), Spread { min: 1.0, median: 2.0, max: 3.0 });
        assert_eq!(Spread::of(&[4.0, 1.0]).median, 2.5);
        assert_eq!(ratio(&[2.0, 30.0, 4.0], &[1.0, 10.0, 4.0]), 2.0);
    }

    #[test]
    fn contenders_take_turns_and_the_first_one_does_not_count() {
        let calls = std::cell::RefCell::new(Vec::new());
        let contender = |name: u8| -> Contender<'_> {
            let calls = &calls;
            Box::new(move || {
                calls.borrow_mut().push(name);
                calls.borrow().len() as f64
            })
        };
        let costs = in_turns(2, &mut [contender(1), contender(2)]);
        assert_eq!(*calls.borrow(), [1, 2, 1, 2, 1, 2]);
        assert_eq!(costs, [[3.0, 5.0], [4.0, 6.0]]);
    }
}
