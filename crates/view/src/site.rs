//! What is answered to a request.

use std::path::Path;
use std::sync::Arc;

use serde_json::json;
use tailcut_lab::version;
use tailcut_report::html::{CSS, HtmlDocument, escaped};
use tailcut_sim::Problem;

use crate::folder::Folder;
use crate::query::Target;

const STYLE: &str = include_str!("../assets/view.css");
const SCRIPT: &str = include_str!("../assets/view.js");
const BODY: &str = include_str!("../assets/view.html");

const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";

/// What is sent back.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Answer {
    /// The status of HTTP.
    pub status: u16,
    /// What the body is.
    pub content_type: &'static str,
    /// The body.
    pub body: Vec<u8>,
}

impl Answer {
    fn new(status: u16, content_type: &'static str, body: impl Into<Vec<u8>>) -> Answer {
        Answer { status, content_type, body: body.into() }
    }

    fn missing() -> Answer {
        Answer::new(404, TEXT, "there is no such page\n")
    }

    /// A page that says what is wrong.
    fn wrong(problem: &Problem) -> Answer {
        let help = problem.help_text().map(|help| format!("<p class=\"pale\">{}</p>\n", escaped(help)));
        let body = format!("<h1>This cannot be shown</h1>\n<p>{}</p>\n", escaped(problem.message()));
        let body = body + &help.unwrap_or_default();
        Answer::new(422, HTML, document("tailcut", &[CSS], &body, ""))
    }
}

fn document(title: &str, styles: &[&str], body: &str, scripts: &str) -> String {
    HtmlDocument { title, version: version(), styles, body, credits: "", scripts }.html()
}

/// One or two run folders.
pub struct Site {
    folders: Vec<Folder>,
}

impl Site {
    /// Those in these folders, which addresses call `a` and `b`.
    ///
    /// # Errors
    /// If one of them holds no run.
    pub fn of(folders: &[impl AsRef<Path>]) -> Result<Site, Problem> {
        let open = |(path, letter): (&_, char)| Folder::open(AsRef::as_ref(path), letter);
        Ok(Site { folders: folders.iter().zip('a'..='z').map(open).collect::<Result<_, _>>()? })
    }

    /// The answer to `GET` of `target`, which stands behind the host in an address.
    pub fn get(&self, target: &str) -> Answer {
        let Some(target) = Target::parse(target) else { return Answer::missing() };
        let path: Vec<&str> = target.path.iter().map(String::as_str).collect();
        match path[..] {
            [""] => Answer::new(200, HTML, self.frame()),
            ["state.json"] => self.state(),
            [letter, ref below @ ..] => match self.folders.iter().find(|one| letter == one.letter().to_string()) {
                Some(folder) => below_folder(folder, below, &target),
                None => Answer::missing(),
            },
            [] => Answer::missing(),
        }
    }

    /// The page around those of the folders.
    fn frame(&self) -> String {
        let scripts = format!("<script>{SCRIPT}</script>\n");
        let panes: String =
            self.folders.iter().map(|folder| BODY.replace("LETTER", &folder.letter().to_string())).collect();
        document("tailcut view", &[CSS, STYLE], &format!("<div class=\"panes\">\n{panes}</div>\n"), &scripts)
    }

    fn state(&self) -> Answer {
        let state = |folder: &Folder| {
            folder.state().unwrap_or_else(|problem| json!({ "letter": folder.letter(), "gone": problem.message() }))
        };
        let states: Vec<_> = self.folders.iter().map(state).collect();
        Answer::new(200, JSON, json!(states).to_string())
    }
}

fn below_folder(folder: &Folder, below: &[&str], target: &Target) -> Answer {
    let shared = |content_type| {
        move |made: Result<Arc<String>, Problem>| match made {
            Ok(text) => Answer::new(200, content_type, text.as_bytes()),
            Err(problem) => Answer::wrong(&problem),
        }
    };
    match below {
        ["" | "report.html"] => shared(HTML)(folder.page()),
        ["slowest.json"] => shared(JSON)(folder.slowest(target.parameter("class").filter(|class| !class.is_empty()))),
        ["explain"] => match (target.parameter("point"), target.parameter("flow").and_then(|flow| flow.parse().ok())) {
            (Some(point), Some(flow)) => shared(HTML)(folder.explain(point, flow)),
            _ => Answer::wrong(&Problem::new("no flow is named").help("expected ?point=KEY&flow=N")),
        },
        [path @ .., ""] => match folder.names(path) {
            Some(names) => Answer::new(200, HTML, listing(&path.join("/"), &names)),
            None => Answer::missing(),
        },
        path => match folder.file(path) {
            Some(bytes) => Answer::new(200, content_type(path.last().unwrap_or(&"")), bytes),
            None => Answer::missing(),
        },
    }
}

/// The names in a folder, linked.
fn listing(title: &str, names: &[String]) -> String {
    let link = |name: &String| {
        // A name of a point may hold what ends a path.
        let target = name.replace('%', "%25").replace('?', "%3F").replace('#', "%23");
        format!("<li><a href=\"{}\">{}</a></li>\n", escaped(&target), escaped(name))
    };
    let names: String = names.iter().map(link).collect();
    document(title, &[CSS], &format!("<h1>{}</h1>\n<ul class=\"files\">\n{names}</ul>\n", escaped(title)), "")
}

/// What a file is, by its name. Nothing that a run folder holds is a page but those that are made here.
fn content_type(name: &str) -> &'static str {
    match name.rsplit_once('.').map(|(_, ending)| ending) {
        Some("svg") => "image/svg+xml",
        Some("png") => "image/png",
        Some("json") => JSON,
        Some("csv" | "txt" | "toml") => TEXT,
        _ => "application/octet-stream",
    }
}
