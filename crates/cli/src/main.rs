//! The `tailcut` command.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(tailcut_cli::command(std::env::args_os(), None))
}
