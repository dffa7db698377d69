//! Commands, and what stops a task.

use std::ffi::{OsStr, OsString};
use std::fmt::Display;
use std::fs::File;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitStatus, Stdio};

/// Why a task ended early.
#[derive(Debug)]
pub(crate) enum Stop {
    /// A check failed: exit code 1.
    Failed(String),
    /// The task could not be done at all: exit code 2.
    Unusable(String),
    /// A program of this repository could not do its work, and has said why.
    Told,
}

pub(crate) type Done = Result<(), Stop>;

/// A command that will be run in a folder.
pub(crate) struct Call {
    command: Command,
}

impl Call {
    pub(crate) fn new(folder: &Path, program: impl AsRef<OsStr>, arguments: &[&str]) -> Call {
        let mut command = Command::new(program);
        command.current_dir(folder).args(arguments).stdin(Stdio::null());
        Call { command }
    }

    pub(crate) fn args<S: AsRef<OsStr>>(mut self, arguments: impl IntoIterator<Item = S>) -> Call {
        self.command.args(arguments);
        self
    }

    pub(crate) fn env(mut self, name: &str, value: impl AsRef<OsStr>) -> Call {
        self.command.env(name, value);
        self
    }

    /// Runs it with the output of this process.
    ///
    /// # Errors
    /// If it cannot be started, or ends with anything but success.
    pub(crate) fn run(self) -> Done {
        self.run_with(&[])
    }

    /// As [`Call::run`], for a program of this repository: its exit code 2 means that it could not do its work.
    pub(crate) fn run_own(self) -> Done {
        self.run_with(&[2])
    }

    fn run_with(mut self, unusable: &[i32]) -> Done {
        let shown = self.to_string();
        let status = self.command.status().map_err(|e| Stop::Unusable(format!("cannot run `{shown}`: {e}")))?;
        end(&shown, status, unusable)
    }

    /// Starts it, with all that it prints in a file.
    ///
    /// # Errors
    /// If it cannot be started, or the file not be written.
    pub(crate) fn start(mut self, log: &Path) -> Result<Started, Stop> {
        let shown = self.to_string();
        let unusable = |e| Stop::Unusable(format!("cannot run `{shown}` with its output in {}: {e}", log.display()));
        let file = File::create(log).map_err(unusable)?;
        self.command.stdout(file.try_clone().map_err(unusable)?).stderr(file);
        let child = self.command.spawn().map_err(unusable)?;
        Ok(Started { child, shown })
    }

    /// What it prints, if it can be run and succeeds.
    pub(crate) fn output(mut self) -> Option<String> {
        let output = self.command.stderr(Stdio::null()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).into_owned())
    }
}

/// A command that runs beside others.
pub(crate) struct Started {
    child: Child,
    shown: String,
}

impl Started {
    /// Whether it has ended well, if it has ended; as [`Call::run_own`].
    pub(crate) fn ended(&mut self) -> Option<Done> {
        match self.child.try_wait() {
            Ok(None) => None,
            Ok(Some(status)) => Some(end(&self.shown, status, &[2])),
            Err(e) => Some(Err(Stop::Unusable(format!("cannot wait for `{}`: {e}", self.shown)))),
        }
    }

    /// Stops it: nobody waits for it any more.
    pub(crate) fn kill(&mut self) {
        // It has ended if it cannot be killed.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// What an exit code means; with those of `unusable` the program itself has said why.
fn end(shown: &str, status: ExitStatus, unusable: &[i32]) -> Done {
    match (status.success(), status.code()) {
        (true, _) => Ok(()),
        (false, Some(code)) if unusable.contains(&code) => Err(Stop::Told),
        (false, Some(code)) => Err(Stop::Failed(format!("`{shown}` ended with exit code {code}"))),
        (false, None) => Err(Stop::Failed(format!("`{shown}` was ended by a signal"))),
    }
}

impl Display for Call {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}", self.command.get_program().to_string_lossy())?;
        // Hundreds of file names say less than the first ones.
        const SHOWN: usize = 12;
        let arguments: Vec<&OsStr> = self.command.get_args().collect();
        for argument in arguments.iter().take(SHOWN) {
            write!(f, " {}", argument.to_string_lossy())?;
        }
        if arguments.len() > SHOWN { write!(f, " ... ({} more)", arguments.len() - SHOWN) } else { Ok(()) }
    }
}

/// Cargo with these arguments: the one that runs this task.
pub(crate) fn cargo(folder: &Path, arguments: &[&str]) -> Call {
    let program = std::env::var_os("CARGO").unwrap_or_else(|| OsString::from("cargo"));
    Call::new(folder, program, arguments)
}

/// The folder into which cargo builds: the one that holds the profile's folder with this program.
pub(crate) fn target_folder() -> Result<PathBuf, Stop> {
    let program = std::env::current_exe().map_err(|e| Stop::Unusable(format!("where am I? {e}")))?;
    match program.ancestors().nth(2) {
        Some(folder) => Ok(folder.to_owned()),
        None => Err(Stop::Unusable(format!("{} is not in a target folder", program.display()))),
    }
}
