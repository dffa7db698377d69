//! What all pages share: their frame, their style, and text that cannot break out of its place.

use askama::Template;
use askama::filters::{Html, escape};

/// The style of every page.
pub const CSS: &str = include_str!("../assets/report.css");

/// `text` as HTML shows it.
pub fn escaped(text: &str) -> String {
    escape(text, Html).map(|text| text.to_string()).unwrap_or_default()
}

/// The text of a template, which shows texts and numbers alone.
pub(crate) fn rendered(template: &impl Template) -> String {
    template.render().expect("a text or a number can always be written into a text")
}

/// A page that needs nothing beside it.
#[derive(Template)]
#[template(path = "document.html")]
pub struct HtmlDocument<'a> {
    /// Its title, as plain text.
    pub title: &'a str,
    /// Version of tailcut.
    pub version: &'a str,
    /// Style sheets, in their order.
    pub styles: &'a [&'a str],
    /// What stands on it, as HTML.
    pub body: &'a str,
    /// What the last line says beside the version, as HTML.
    pub credits: &'a str,
    /// Elements behind everything that is shown, each with a line feed.
    pub scripts: &'a str,
}

impl HtmlDocument<'_> {
    /// The page as HTML.
    pub fn html(&self) -> String {
        rendered(self)
    }
}
