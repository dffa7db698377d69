//! What all pages share: their frame, their style, and text that cannot break out of its place.

/// The style of every page.
pub const CSS: &str = include_str!("../assets/report.css");

/// `text` as HTML shows it.
pub fn escaped(text: &str) -> String {
    text.replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;").replace('"', "&quot;")
}

/// A page that needs nothing beside it.
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
        let styles: String = self.styles.iter().map(|style| format!("<style>{style}</style>\n")).collect();
        let HtmlDocument { body, credits, scripts, .. } = self;
        format!(
            "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n\
             <meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
             <meta name=\"generator\" content=\"tailcut {version}\">\n<title>{title}</title>\n{styles}</head>\n<body>\n\
             <main>\n{body}<footer>Made by tailcut {version}.{credits}</footer>\n</main>\n{scripts}</body>\n</html>\n",
            version = escaped(self.version),
            title = escaped(self.title),
        )
    }
}
