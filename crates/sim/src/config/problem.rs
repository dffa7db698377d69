//! What is wrong with a scenario, where, and what would be right: one message for one mistake.

use std::fmt;
use std::ops::Range;
use std::sync::Arc;

use annotate_snippets::{AnnotationKind, Group, Level, Renderer, Snippet};
use tailcut_model::Invalid;

use super::Tree;

/// A text that values come from: a file, or what followed `--set`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Source {
    /// Name to show: the path of the file, as the user gave it.
    pub name: String,
    /// The text.
    pub text: String,
}

/// A place in a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Origin {
    /// The text.
    pub source: Arc<Source>,
    /// Bytes of the text.
    pub range: Range<usize>,
}

impl Origin {
    /// The line, counted from 1.
    pub fn line(&self) -> usize {
        let end = self.range.start.min(self.source.text.len());
        self.source.text.as_bytes()[..end].iter().filter(|&&b| b == b'\n').count() + 1
    }
}

/// One mistake of a user.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem(Box<Inner>);

#[derive(Clone, Debug, PartialEq, Eq)]
struct Inner {
    message: String,
    help: Option<String>,
    origin: Option<Origin>,
    is_incomplete: bool,
}

impl Problem {
    /// Something is wrong, no matter where.
    pub fn new(message: impl Into<String>) -> Problem {
        Problem(Box::new(Inner { message: message.into(), help: None, origin: None, is_incomplete: false }))
    }

    /// With what would be right.
    #[must_use]
    pub fn help(mut self, help: impl Into<String>) -> Problem {
        self.0.help = Some(help.into());
        self
    }

    /// The fault is that a key is missing, which another layer may have.
    #[must_use]
    pub(crate) fn incomplete(mut self) -> Problem {
        self.0.is_incomplete = true;
        self
    }

    /// Whether nothing is wrong with what is there, but a key is missing beside it.
    pub fn is_incomplete(&self) -> bool {
        self.0.is_incomplete
    }

    /// With the place, unless a more exact one is known.
    #[must_use]
    pub fn or_at(mut self, origin: &Origin) -> Problem {
        self.0.origin.get_or_insert_with(|| origin.clone());
        self
    }

    /// What is wrong.
    pub fn message(&self) -> &str {
        &self.0.message
    }

    /// What would be right.
    pub fn help_text(&self) -> Option<&str> {
        self.0.help.as_deref()
    }

    /// Where it is wrong.
    pub fn origin(&self) -> Option<&Origin> {
        self.0.origin.as_ref()
    }

    /// A value that a model refused, with its place in `scenario`.
    pub fn from_invalid(invalid: Invalid, scenario: &Tree) -> Problem {
        // A message may begin with the key itself.
        let says_where = invalid.message.starts_with(&format!("`{}", invalid.path));
        let place = if says_where { String::new() } else { format!("`{}`: ", invalid.path) };
        let mut problem = Problem::new(place + &invalid.message);
        problem.0.help = invalid.help;
        problem.0.origin = match invalid.spot {
            Some(spot) => {
                // The line is shown by itself, so that a large or binary file is not.
                let shown = if spot.text.is_empty() { " " } else { spot.text.as_str() };
                let text = format!("{}{shown}", "\n".repeat(spot.line.saturating_sub(1)));
                let range = spot.line.saturating_sub(1)..text.len();
                Some(Origin { source: Arc::new(Source { name: spot.file.display().to_string(), text }), range })
            }
            None => scenario.nearest(&invalid.path).key_or_value().cloned(),
        };
        problem
    }

    /// The message with the line, a caret and the help, as compilers show it.
    pub fn render(&self, colour: bool) -> String {
        let title = Level::ERROR.primary_title(self.0.message.as_str());
        let help = self.0.help.as_ref().map(|help| Level::HELP.message(help.as_str()));
        let group = match &self.0.origin {
            Some(origin) => {
                let text = origin.source.text.as_str();
                let end = origin.range.end.min(text.len());
                // A caret below one line is enough: a table may span many.
                let start = origin.range.start.min(end);
                let first_line = text[start..end].find('\n').map_or(end, |at| start + at);
                let annotation = AnnotationKind::Primary.span(start..first_line.max(start));
                let snippet = Snippet::source(text).path(origin.source.name.as_str()).annotation(annotation);
                Group::with_title(title).element(snippet).elements(help)
            }
            None => Group::with_title(title).elements(help),
        };
        let renderer = if colour { Renderer::styled() } else { Renderer::plain() };
        renderer.render(&[group]).to_string()
    }
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if let Some(origin) = &self.0.origin {
            write!(f, "{}:{}: ", origin.source.name, origin.line())?;
        }
        f.write_str(&self.0.message)?;
        if let Some(help) = &self.0.help {
            write!(f, " ({help})")?;
        }
        Ok(())
    }
}

impl std::error::Error for Problem {}
