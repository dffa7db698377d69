//! What a waiting user sees: a bar with the time left on a terminal, a line for each point elsewhere.

use std::io::IsTerminal;
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use indicatif::{ProgressBar, ProgressStyle};
use tailcut_lab::{Failure, PrecisionCheck, Progress};
use tailcut_results::{Point, PointSummary};

use crate::page::{is_dumb, say};
use crate::signals::Signals;

/// Steps of the bar for each point.
const STEPS: f64 = 1000.0;

pub(crate) struct Display<'a> {
    signals: &'a Signals,
    /// Whether nothing but failures is told.
    quiet: bool,
    bar: Option<ProgressBar>,
    state: Mutex<State>,
}

struct State {
    began: Instant,
    total: usize,
    done: usize,
    fractions: Vec<f64>,
}

impl<'a> Display<'a> {
    pub(crate) fn new(signals: &'a Signals, quiet: bool) -> Display<'a> {
        let bar = (std::io::stderr().is_terminal() && !is_dumb() && !quiet).then(|| {
            let bar = ProgressBar::new(0);
            let style =
                ProgressStyle::with_template("{bar:40} {percent:>3} %  {msg}  {elapsed_precise} elapsed, {eta} left");
            bar.set_style(style.expect("a template that was tried"));
            bar
        });
        Display {
            signals,
            quiet,
            bar,
            state: Mutex::new(State { began: Instant::now(), total: 0, done: 0, fractions: Vec::new() }),
        }
    }

    /// Takes the bar away.
    pub(crate) fn close(&self) {
        if let Some(bar) = &self.bar {
            bar.finish_and_clear();
        }
    }

    fn update(&self, change: impl FnOnce(&mut State)) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        change(&mut state);
        if let Some(bar) = &self.bar {
            bar.set_position((state.fractions.iter().sum::<f64>() * STEPS) as u64);
            bar.set_message(format!("{} of {} points", state.done, state.total));
        }
    }

    fn line(&self, text: &str) {
        match &self.bar {
            Some(bar) => bar.suspend(|| say!("{text}")),
            None => say!("{text}"),
        }
    }
}

impl Progress for Display<'_> {
    fn begin(&self, total: usize, reused: usize) {
        if reused > 0 && !self.quiet {
            self.line(&format!("{reused} point(s) are finished already and are not run again"));
        }
        if let Some(bar) = &self.bar {
            bar.set_length((total as f64 * STEPS) as u64);
            // Each batch of seeds begins anew, and so does the time that is left.
            bar.set_position(0);
            bar.reset_eta();
        }
        self.update(|state| {
            *state = State { began: Instant::now(), total, done: 0, fractions: vec![0.0; total] };
        });
    }

    fn advanced(&self, index: usize, fraction: f64) {
        self.update(|state| state.fractions[index] = fraction);
    }

    fn finished(&self, index: usize, summary: &PointSummary) {
        self.update(|state| {
            state.fractions[index] = 1.0;
            state.done += 1;
            if self.bar.is_some() || self.quiet {
                return;
            }
            let elapsed = state.began.elapsed().as_secs_f64();
            let sum: f64 = state.fractions.iter().sum();
            let left = (state.done < state.total).then(|| elapsed * (state.total as f64 - sum) / sum);
            let values: String = summary.values.iter().map(|value| format!(" {value}")).collect();
            let left = left.map_or_else(String::new, |left| format!(", about {left:.0} s left"));
            // Printed while the state is locked, so that two points that end at the same time get different numbers.
            say!(
                "{}/{} {}{values} seed {}: {} flows, {:.1} s{left}",
                state.done,
                state.total,
                summary.scheme,
                summary.seed,
                summary.flows.total,
                summary.engine.wall_ns as f64 / 1e9,
            );
        });
    }

    fn failed(&self, index: usize, failure: &Failure) {
        self.update(|state| {
            state.fractions[index] = 1.0;
            state.done += 1;
        });
        let Failure { point, reason, stalled, command } = failure;
        let what = if *stalled { "stalled" } else { "failed" };
        self.line(&format!("{what}: {} seed {}: {reason}\n  this point alone: {command}", point.key, point.seed));
    }

    fn damaged(&self, point: &Point, why: &str) {
        self.line(&format!("damaged: {} seed {}: {why}; it is run again", point.key, point.seed));
    }

    fn noticed(&self, note: &str) {
        self.line(&format!("warning: {note}"));
    }

    fn checked(&self, check: &PrecisionCheck) {
        if !self.quiet {
            self.line(&check.to_string());
        }
    }

    fn tried(&self, line: &str) {
        if !self.quiet {
            self.line(line);
        }
    }

    fn stop(&self) -> bool {
        self.signals.caught()
    }
}
