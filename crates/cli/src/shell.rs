//! `tailcut completions`, `tailcut man` and `tailcut schema`: what shells, manuals and editors know of this command.

use std::path::PathBuf;

use clap::{Args, CommandFactory};
use clap_complete::Shell;
use tailcut_lab::scenario_schema;
use tailcut_sim::Problem;

use crate::Arguments;
use crate::page::Page;

#[derive(Args)]
pub(crate) struct CompletionsCommand {
    /// The shell that reads the script
    #[arg(value_enum)]
    shell: Shell,
}

#[derive(Args)]
pub(crate) struct ManCommand {
    /// The folder; it is made if it is not there
    #[arg(value_name = "DIR")]
    folder: PathBuf,
}

/// Prints a script by which a shell completes the arguments of `tailcut`.
pub(crate) fn completions(arguments: &CompletionsCommand) {
    let mut script = Vec::new();
    clap_complete::generate(arguments.shell, &mut Arguments::command(), "tailcut", &mut script);
    let mut out = Page::default();
    out.line(String::from_utf8_lossy(&script).trim_end());
    out.print();
}

/// Writes one page for the command and one for each of its subcommands.
pub(crate) fn man(arguments: &ManCommand) -> Result<(), Problem> {
    let folder = &arguments.folder;
    let made = std::fs::create_dir_all(folder);
    made.and_then(|()| clap_mangen::generate_to(Arguments::command(), folder)).map_err(|error| {
        Problem::new(format!("cannot write manual pages into {}: {error}", folder.display()))
            .help("expected a folder, such as ~/.local/share/man/man1")
    })
}

/// Prints the JSON schema of a scenario.
pub(crate) fn schema() {
    let mut out = Page::default();
    out.line(serde_json::to_string_pretty(&scenario_schema()).expect("a JSON value is JSON"));
    out.print();
}
