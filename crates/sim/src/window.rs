//! The measurement window: over which time ports and queues are measured.

use tailcut_base::{Instant, Span};
use tailcut_model::Invalid;

use crate::config::{Config, Moment, WindowEnd};

/// The measurement window of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Window {
    /// When it begins; `None` with the first flow that counts.
    pub(crate) from: Option<Instant>,
    /// When it ends, at the latest with the run.
    pub(crate) until: WindowEnd,
    /// The scenario does not say when it ends.
    is_usual: bool,
}

/// The window in which nothing was measured, in a sentence.
pub(crate) const NO_LENGTH: &str = "the measurement window has no length: there are no utilisations and no queues; \
                                    `record.window` sets when it begins and ends";

impl Window {
    /// The window that a configuration asks for. By default it ends with the last arrival if arrivals are a process,
    /// and with the run if all flows are listed, or if it had no length else.
    pub(crate) fn of(config: &Config) -> Window {
        let asked = config.record.window;
        let usual = if config.workload.has_generated() { Moment::LastArrival } else { Moment::End };
        Window {
            from: asked.from.map(|from| Instant::ZERO + from),
            until: asked.until.unwrap_or(WindowEnd::Moment(usual)),
            is_usual: asked.until.is_none(),
        }
    }

    /// Whether it ends with the run, if it begins at `from` and the last flow starts at `last_start`.
    pub(crate) fn ends_with_run(self, from: Option<Instant>, last_start: Instant) -> bool {
        match self.until {
            WindowEnd::Moment(Moment::End) => true,
            WindowEnd::Moment(Moment::LastArrival) => self.is_usual && from.is_some_and(|from| last_start <= from),
            WindowEnd::At(_) => false,
        }
    }

    /// Whether it ends with the last flow, if it begins at `from` and that flow starts at `last_start`.
    pub(crate) fn ends_with_arrivals(self, from: Option<Instant>, last_start: Instant) -> bool {
        self.until == WindowEnd::Moment(Moment::LastArrival) && !self.ends_with_run(from, last_start)
    }

    /// When it ends, if that is a time of its own.
    pub(crate) fn ends_at(self) -> Option<Instant> {
        match self.until {
            WindowEnd::At(until) => Some(Instant::ZERO + until),
            WindowEnd::Moment(_) => None,
        }
    }
}

/// Refuses a window in which nothing can be measured; flows arrive for so long.
pub(crate) fn check(config: &Config, arrivals: Span) -> Result<(), Invalid> {
    let window = config.record.window;
    let latest = arrivals.as_ps().saturating_add(config.run.drain.as_ps());
    match (window.from, window.until) {
        (from, Some(WindowEnd::At(until))) if until <= from.unwrap_or(Span::ZERO) => {
            let message =
                format!("`until` must be after `from`, and {until} is not after {}", from.unwrap_or(Span::ZERO));
            Err(Invalid::new("record.window.until", message).help("expected a later time, \"last-arrival\" or \"end\""))
        }
        (Some(from), _) if from.as_ps() >= latest => {
            let latest = Span::from_ps(latest);
            let message = format!("the window begins at {from}, and the run is over at {latest} at the latest");
            Err(Invalid::new("record.window.from", message).help("expected an earlier time, or a longer `run.drain`"))
        }
        _ => Ok(()),
    }
}

/// Warns of a window that has no length, and of samples of queues that will hardly count: those of a window that is
/// shorter than the time between two.
pub(crate) fn warning(config: &Config, arrivals: Span) -> Option<String> {
    let sample = config.record.queue_sample;
    let Window { from, until, is_usual } = Window::of(config);
    if until == WindowEnd::Moment(Moment::LastArrival) && !is_usual && arrivals == Span::ZERO {
        return Some(NO_LENGTH.to_owned());
    }
    let (length, what) = match until {
        WindowEnd::Moment(Moment::End) => return None,
        WindowEnd::Moment(Moment::LastArrival) => (arrivals, "flows arrive"),
        WindowEnd::At(until) => {
            let length = (Instant::ZERO + until).saturating_since(from.unwrap_or(Instant::ZERO));
            (length, "the measurement window lasts")
        }
    };
    (sample > length && length > Span::ZERO)
        .then(|| format!("queues are sampled each {sample}, and {what} for {length}: hardly a sample counts"))
}
