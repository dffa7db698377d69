//! Ctrl-C and SIGTERM: the first asks the run to stop, the second ends it at once.

use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::flag;

/// Whether the user wants the run to stop.
pub(crate) struct Signals {
    caught: Arc<AtomicUsize>,
}

impl Signals {
    /// Listens from now on. Until then a signal ends the command as the system does it, which is right as long as
    /// nothing has been written.
    pub(crate) fn listen() -> io::Result<Signals> {
        let (caught, again) = (Arc::new(AtomicUsize::new(0)), Arc::new(AtomicBool::new(false)));
        for signal in [SIGINT, SIGTERM] {
            // The order matters: the first signal must find `again` unset, so that it does not end the process, and
            // then set it, so that the second one does.
            flag::register_conditional_shutdown(signal, i32::from(exit_code(signal)), Arc::clone(&again))?;
            flag::register(signal, Arc::clone(&again))?;
            flag::register_usize(signal, Arc::clone(&caught), signal.unsigned_abs() as usize)?;
        }
        Ok(Signals { caught })
    }

    /// Whether a signal has come.
    pub(crate) fn caught(&self) -> bool {
        self.caught.load(Ordering::Relaxed) != 0
    }

    /// The exit code by which shells know what ended a command.
    pub(crate) fn exit_code(&self) -> u8 {
        exit_code(self.caught.load(Ordering::Relaxed) as i32)
    }
}

/// 128 and the number of the signal.
fn exit_code(signal: i32) -> u8 {
    128 + signal.unsigned_abs() as u8
}
