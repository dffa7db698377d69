//! A run that Python watches and may interrupt.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;
use tailcut_lab::{Failure, Progress};
use tailcut_results::PointSummary;

/// How often Python is asked for signals and told of progress.
const LOOK: Duration = Duration::from_millis(100);

/// What a run has told so far.
#[derive(Default)]
pub(crate) struct Watch {
    state: Mutex<State>,
    stop: AtomicBool,
    ended: Mutex<bool>,
    end: Condvar,
}

#[derive(Clone, Default)]
struct State {
    total: usize,
    reused: usize,
    done: usize,
    fractions: Vec<f64>,
}

impl Watch {
    fn change(&self, change: impl FnOnce(&mut State)) {
        change(&mut self.state.lock().unwrap_or_else(PoisonError::into_inner));
    }

    /// Runs `work` in a thread of its own, without Python's lock, while this one tells `told` of it: points that are
    /// done, points in all, the fraction that is done, and points that were finished before.
    ///
    /// # Errors
    /// What a signal or `told` raises, after the work has been stopped.
    pub(crate) fn over<T: Send>(
        &self,
        py: Python<'_>,
        told: Option<&Py<PyAny>>,
        work: impl FnOnce(&Watch) -> T + Send,
    ) -> PyResult<T> {
        py.detach(|| {
            std::thread::scope(|scope| {
                let worker = scope.spawn(|| {
                    let _end = Ending(self);
                    work(self)
                });
                let mut raised = None;
                loop {
                    let ended = self.wait();
                    let looked = Python::attach(|py| {
                        py.check_signals()?;
                        told.map_or(Ok(()), |told| self.tell(py, told))
                    });
                    if let Err(error) = looked
                        && raised.is_none()
                    {
                        raised = Some(error);
                        self.stop.store(true, Ordering::Relaxed);
                    }
                    if ended {
                        break;
                    }
                }
                match (raised, worker.join()) {
                    (Some(error), _) => Err(error),
                    (None, Ok(value)) => Ok(value),
                    (None, Err(panic)) => std::panic::resume_unwind(panic),
                }
            })
        })
    }

    /// Waits for the end of the work, but not long; says whether it has come.
    fn wait(&self) -> bool {
        let ended = self.ended.lock().unwrap_or_else(PoisonError::into_inner);
        let waited = self.end.wait_timeout_while(ended, LOOK, |ended| !*ended);
        *waited.unwrap_or_else(PoisonError::into_inner).0
    }

    fn tell(&self, py: Python<'_>, told: &Py<PyAny>) -> PyResult<()> {
        let State { total, reused, done, fractions } =
            self.state.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let fraction = if total == 0 { 0.0 } else { fractions.iter().sum::<f64>() / total as f64 };
        told.call1(py, (done, total, fraction, reused)).map(drop)
    }
}

/// Says that the work has ended, also by a panic.
struct Ending<'a>(&'a Watch);

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        *self.0.ended.lock().unwrap_or_else(PoisonError::into_inner) = true;
        self.0.end.notify_all();
    }
}

impl Progress for Watch {
    fn begin(&self, total: usize, reused: usize) {
        self.change(|state| *state = State { total, reused, done: 0, fractions: vec![0.0; total] });
    }

    fn advanced(&self, index: usize, fraction: f64) {
        self.change(|state| state.fractions[index] = fraction);
    }

    fn finished(&self, index: usize, _summary: &PointSummary) {
        self.change(|state| {
            state.fractions[index] = 1.0;
            state.done += 1;
        });
    }

    fn failed(&self, index: usize, _failure: &Failure) {
        self.change(|state| {
            state.fractions[index] = 1.0;
            state.done += 1;
        });
    }

    fn stop(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }
}
