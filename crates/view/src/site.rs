//! The response to the target of a request.

use std::path::Path;

use bytes::Bytes;
use serde_json::json;
use tailcut_lab::version;
use tailcut_report::SCRIPTS;
use tailcut_report::html::{CSS, HtmlDocument, escaped};
use tailcut_sim::Problem;

use crate::body::Body;
use crate::folder::Folder;
use crate::policy::Policy;
use crate::query::Target;

const STYLE: &str = include_str!("../assets/view.css");
const SCRIPT: &str = include_str!("../assets/view.js");
const BODY: &str = include_str!("../assets/view.html");

const HTML: &str = "text/html; charset=utf-8";
const JSON: &str = "application/json";
const TEXT: &str = "text/plain; charset=utf-8";

/// A page that is made here without scripts.
const STILL: Policy = Policy::Page { scripts: &[] };

/// A response.
#[derive(Debug)]
pub struct Answer {
    /// The status of HTTP.
    pub status: u16,
    /// The type of the body.
    pub content_type: &'static str,
    /// The rights that a browser gets with it.
    pub policy: Policy,
    /// The body.
    pub body: Body,
}

impl Answer {
    fn new(status: u16, content_type: &'static str, policy: Policy, body: impl Into<Bytes>) -> Answer {
        Answer { status, content_type, policy, body: Body::memory(body) }
    }

    /// A line of text.
    pub(crate) fn plain(status: u16, text: &'static str) -> Answer {
        Answer::new(status, TEXT, Policy::File, text)
    }

    fn missing() -> Answer {
        Answer::plain(404, "there is no such page\n")
    }

    /// A page that explains an error.
    fn wrong(status: u16, problem: &Problem) -> Answer {
        let help = problem.help_text().map(|help| format!("<p class=\"pale\">{}</p>\n", escaped(help)));
        let body = format!("<h1>This cannot be shown</h1>\n<p>{}</p>\n", escaped(problem.message()));
        let body = body + &help.unwrap_or_default();
        Answer::new(status, HTML, STILL, document("tailcut", &[CSS], &body, ""))
    }
}

fn document(title: &str, styles: &[&str], body: &str, scripts: &str) -> String {
    HtmlDocument { title, version: version(), styles, body, credits: "", scripts }.html()
}

/// One or two run folders.
pub struct Site {
    folders: Vec<Folder>,
    /// A request that starts a simulation must carry this. Only the frame page contains it, and pages of other origins
    /// cannot read that.
    token: String,
}

impl Site {
    /// Those in these folders, which addresses call `a` and `b`.
    ///
    /// # Errors
    /// If one of them holds no run, or the system has no random numbers.
    pub fn of(folders: &[impl AsRef<Path>]) -> Result<Site, Problem> {
        let open = |(path, letter): (&_, char)| Folder::open(AsRef::as_ref(path), letter);
        let folders = folders.iter().zip('a'..='z').map(open).collect::<Result<_, _>>()?;
        let mut token = [0; 16];
        getrandom::fill(&mut token)
            .map_err(|error| Problem::new(format!("the system has no random numbers: {error}")))?;
        Ok(Site { folders, token: token.iter().map(|byte| format!("{byte:02x}")).collect() })
    }

    /// The response to `GET` of `target`, the part of an address behind the host.
    pub fn get(&self, target: &str) -> Answer {
        let Some(target) = Target::parse(target) else { return Answer::missing() };
        let path: Vec<&str> = target.path.iter().map(String::as_str).collect();
        match path[..] {
            [""] => Answer::new(200, HTML, Policy::Page { scripts: &[SCRIPT] }, self.frame()),
            ["state.json"] => self.state(),
            [letter, ref below @ ..] => match self.folders.iter().find(|one| letter == one.letter().to_string()) {
                Some(folder) => self.below_folder(folder, below, &target),
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
        let body = format!("<div class=\"panes\" data-token=\"{}\">\n{panes}</div>\n", self.token);
        document("tailcut view", &[CSS, STYLE], &body, &scripts)
    }

    fn state(&self) -> Answer {
        let state = |folder: &Folder| {
            folder.state().unwrap_or_else(|problem| json!({ "letter": folder.letter(), "gone": problem.message() }))
        };
        let states: Vec<_> = self.folders.iter().map(state).collect();
        Answer::new(200, JSON, Policy::File, json!(states).to_string())
    }

    fn below_folder(&self, folder: &Folder, below: &[&str], target: &Target) -> Answer {
        let made = |content_type, policy, made: Result<Bytes, Problem>| match made {
            Ok(text) => Answer::new(200, content_type, policy, text),
            Err(problem) => Answer::wrong(422, &problem),
        };
        match below {
            ["" | "report.html"] => made(HTML, Policy::Page { scripts: &SCRIPTS }, folder.page()),
            ["slowest.json"] => {
                let class = target.parameter("class").filter(|class| !class.is_empty());
                made(JSON, Policy::File, folder.slowest(class))
            }
            ["explain"] => {
                match (target.parameter("point"), target.parameter("flow").and_then(|flow| flow.parse().ok())) {
                    _ if target.parameter("token") != Some(self.token.as_str()) => Answer::wrong(
                        403,
                        &Problem::new("a simulation is started from the page of this server only")
                            .help("choose the flow in its list of the slowest flows"),
                    ),
                    (Some(point), Some(flow)) => made(HTML, STILL, folder.explain(point, flow)),
                    _ => Answer::wrong(422, &Problem::new("no flow is named").help("expected ?point=KEY&flow=N")),
                }
            }
            [path @ .., ""] => match folder.names(path) {
                Some(names) => Answer::new(200, HTML, STILL, listing(&path.join("/"), &names)),
                None => Answer::missing(),
            },
            path => match folder.file(path) {
                Some(body) => {
                    let content_type = content_type(path.last().unwrap_or(&""));
                    Answer { status: 200, content_type, policy: Policy::File, body }
                }
                None => Answer::missing(),
            },
        }
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
