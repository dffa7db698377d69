//! `tailcut claims`.

use std::path::{Path, PathBuf};

use clap::Args;
use tailcut_claims::{Filter, Listing, Priority, SCALES, Verdict, catalogue, scoreboard_html, scoreboard_markdown};
use tailcut_record::write_atomically;
use tailcut_reproduce as reproduce;
use tailcut_sim::Problem;
use tailcut_sim::config::suggest;

use crate::format::TableFormat;
use crate::page::{Page, say};

/// Where judgements are stored.
const RESULTS: &str = "results";

#[derive(Args)]
pub(crate) struct ClaimsCommand {
    /// Only claims about this scheme, such as slytherin
    #[arg(long, value_name = "NAME")]
    scheme: Option<String>,
    /// Only claims of this priority: A (headlines), B (results) or C (asides)
    #[arg(long, value_name = "LETTER")]
    priority: Option<String>,
    /// Only claims with this verdict: reproduced, partly, not-reproduced or not-run
    #[arg(long, value_name = "VERDICT")]
    verdict: Option<String>,
    /// Only claims that this figure or table tests, such as slytherin-fig3a
    #[arg(long, value_name = "ID")]
    experiment: Option<String>,
    /// Only results of this scale: quick or paper [default: both, paper before quick]
    #[arg(long, value_name = "SCALE")]
    scale: Option<String>,
    /// The folder of verdicts that `tailcut reproduce --store` has written [default: results]
    #[arg(long, value_name = "DIR")]
    results: Option<PathBuf>,
    /// How to print
    #[arg(long, value_enum, default_value_t)]
    format: TableFormat,
    /// Write scoreboard.md and scoreboard.html into this folder instead of printing; runs one simulation of each study
    /// whose digests are stored, to say which results still hold
    #[arg(long, value_name = "DIR", conflicts_with = "format")]
    scoreboard: Option<PathBuf>,
}

/// One of `known`, or the message that there is no such thing.
pub(crate) fn one_of<'a>(what: &str, given: &str, known: &[&'a str]) -> Result<&'a str, Problem> {
    let found = known.iter().find(|name| **name == given);
    found.copied().ok_or_else(|| Problem::new(format!("there is no {what} `{given}`")).help(suggest(given, known)))
}

impl ClaimsCommand {
    fn filter(&self) -> Result<Filter, Problem> {
        let scheme = match &self.scheme {
            Some(scheme) => Some(one_of("scheme with claims", scheme, &catalogue().schemes())?.to_owned()),
            None => None,
        };
        let priority = match self.priority.as_deref() {
            Some(letter) => match one_of("priority", letter, &["A", "B", "C"])? {
                "A" => Some(Priority::A),
                "B" => Some(Priority::B),
                _ => Some(Priority::C),
            },
            None => None,
        };
        let verdict = match &self.verdict {
            Some(given) => {
                // `not-reproduced` is as good as "not reproduced", which a shell needs quotes for.
                let words = Verdict::ALL.map(Verdict::word);
                let given = given.replace(", ", "-").replace(' ', "-");
                let name = one_of("verdict", &given, &words.each_ref().map(String::as_str))?;
                Verdict::ALL.into_iter().find(|verdict| verdict.word() == name)
            }
            None => None,
        };
        let experiment = match &self.experiment {
            Some(id) => {
                let published = catalogue().experiments.iter().map(|experiment| experiment.id.as_str());
                let known: Vec<&str> = published.chain(reproduce::names()).collect();
                Some(one_of("experiment", id, &known)?.to_owned())
            }
            None => None,
        };
        Ok(Filter { scheme, priority, verdict, experiment })
    }
}

pub(crate) fn claims(arguments: &ClaimsCommand) -> Result<(), Problem> {
    let filter = arguments.filter()?;
    let scale = match &arguments.scale {
        Some(scale) => Some(one_of("scale", scale, &SCALES)?),
        None => None,
    };
    let results = match &arguments.results {
        Some(folder) if !folder.is_dir() => {
            return Err(Problem::new(format!("there is no folder {}", folder.display()))
                .help("`tailcut reproduce ID --store results` makes one"));
        }
        Some(folder) => folder,
        None => Path::new(RESULTS),
    };
    let listing =
        Listing::read(results, scale, &reproduce::runnable).map_err(|error| Problem::new(error.to_string()))?;
    let listing = listing.filtered(&filter);
    if let Some(folder) = &arguments.scoreboard {
        return scoreboard(&listing, results, folder);
    }
    let mut out = Page::default();
    let text = match arguments.format {
        TableFormat::Csv => listing.csv(),
        TableFormat::Json => listing.json(),
        TableFormat::Table => listing.text(),
    };
    out.line(text.trim_end_matches('\n'));
    out.print();
    Ok(())
}

fn scoreboard(listing: &Listing, results: &Path, folder: &Path) -> Result<(), Problem> {
    let standings = reproduce::standings(results, &|study| say!("study {study}: does it still hold?"))
        .map_err(|e| Problem::new(e.to_string()))?;
    std::fs::create_dir_all(folder).map_err(|e| Problem::new(format!("cannot make {}: {e}", folder.display())))?;
    let mut out = Page::default();
    for (name, text) in [
        ("scoreboard.md", scoreboard_markdown(listing, &standings)),
        ("scoreboard.html", scoreboard_html(listing, &standings, results, env!("CARGO_PKG_VERSION"))),
    ] {
        let path = folder.join(name);
        write_atomically(&path, |out| out.write_all(text.as_bytes())).map_err(|e| Problem::new(e.to_string()))?;
        out.line(path.display());
    }
    out.print();
    Ok(())
}
