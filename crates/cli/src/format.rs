//! How a command prints.

use clap::ValueEnum;

/// Text for people, or JSON for programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TextFormat {
    /// Lines for people
    #[default]
    Text,
    /// One JSON object a line
    Json,
}

/// A table for people, or the same for programs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, ValueEnum)]
pub(crate) enum TableFormat {
    /// A table for people
    #[default]
    Table,
    /// Comma-separated values with a header
    Csv,
    /// JSON
    Json,
}
