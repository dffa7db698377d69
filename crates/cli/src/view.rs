//! `tailcut view`.

use std::path::PathBuf;

use clap::Args;
use tailcut_sim::Problem;
use tailcut_view::{Server, Site, serve};

use crate::page::Page;
use crate::signals::Signals;

#[derive(Args)]
pub(crate) struct ViewCommand {
    /// A run folder, such as runs/tail; two are shown side by side
    #[arg(required = true, num_args = 1..=2, value_name = "FOLDER")]
    folders: Vec<PathBuf>,
    /// The port at which the browser finds it [default: any free one]
    #[arg(long, value_name = "PORT", default_value_t = 0, hide_default_value = true)]
    port: u16,
}

/// Shows run folders to a browser until Ctrl-C.
pub(crate) fn view(arguments: &ViewCommand) -> Result<(), Problem> {
    let site = Site::of(&arguments.folders)?;
    let server = Server::listen(arguments.port)?;
    let signals = Signals::listen().map_err(|e| Problem::new(format!("cannot listen for Ctrl-C: {e}")))?;
    let mut out = Page::default();
    out.line(format_args!("http://{}/ shows it; Ctrl-C ends that", server.address()));
    out.print();
    serve(server, site, &|| signals.caught())
}
