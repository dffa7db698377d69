//! The pages: everything on them that commands make, rendered from what is stored.

use std::collections::BTreeMap;
use std::ops::Range;
use std::path::{Path, PathBuf};

use regex::Regex;
use serde::Deserialize;
use tailcut_base::each_on_all_cores;
use tailcut_claims::{Listing, ReadingResults, StudyStanding, scoreboard_html, scoreboard_markdown};
use tailcut_reproduce::{EffectTable, runnable, standings, study};
use tailcut_results::is_of_few;

use crate::Finding;
use crate::delays::Delays;
use crate::effects::Effects;
use crate::markup::{Block, Made, parse, replaced};
use crate::picture::Picture;
use crate::readings::Readings;
use crate::screening::Screening;
use crate::source::Source;
use crate::store::{Facts, Store, again, write};
use crate::table::Table;
use crate::values::Definition;
use crate::verdicts;

/// Definitions of the numbers in sentences.
const VALUES: &str = "docs/values.toml";

/// Pages with content that commands make; those in `docs/` and below are found there.
const PAGES: [&str; 3] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md"];

/// The page of all claims, which is made as a whole.
const SCOREBOARD: [&str; 2] = ["docs/scoreboard.md", "docs/scoreboard.html"];

/// What a block shows of the results of its command.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Spec {
    /// Tables of statistics, one below the other.
    #[serde(default)]
    table: Vec<Table>,
    /// The effects of factors on quantities, a table for each: those of an experiment of a factorial study.
    effects: Option<Effects>,
    /// Claims of a study under its readings.
    readings: Option<Readings>,
    /// What moves claims of a study most under its readings.
    screening: Option<Screening>,
    /// A picture of statistics.
    picture: Option<Picture>,
    /// A picture of where the time of the slowest flows goes under each scheme.
    delays: Option<Delays>,
    /// A picture that the command itself draws (`--plot`): what it shows, for who cannot see it.
    plot: Option<String>,
    /// Of what the command printed: from the first line that matches this ...
    from: Option<String>,
    /// ... up to the line before the next one that matches this.
    until: Option<String>,
}

impl Spec {
    /// What it shows, each by its key.
    fn kinds(&self) -> Vec<&'static str> {
        let kinds = [
            ("table", !self.table.is_empty()),
            ("effects", self.effects.is_some()),
            ("readings", self.readings.is_some()),
            ("screening", self.screening.is_some()),
            ("picture", self.picture.is_some()),
            ("delays", self.delays.is_some()),
            ("plot", self.plot.is_some()),
            ("from", self.from.is_some() || self.until.is_some()),
        ];
        kinds.into_iter().filter_map(|(key, is_there)| is_there.then_some(key)).collect()
    }

    /// Whether it shows what claims come to under readings, and no statistics.
    fn is_judged(&self) -> bool {
        self.readings.is_some() || self.screening.is_some()
    }
}

/// Something that commands make: where it stands, and what should stand there.
struct Piece {
    line: usize,
    content: Range<usize>,
    /// What it is and where it comes from, for messages.
    what: String,
    made: Result<String, String>,
}

/// A page or a picture.
struct File {
    path: PathBuf,
    /// What is there.
    text: String,
    pieces: Vec<Piece>,
}

/// A picture: its file, and what should be in it.
type Drawn = Result<(PathBuf, Vec<u8>), String>;

/// The pages of a repository.
pub struct Pages {
    store: Store,
    files: Vec<(PathBuf, String, Made)>,
    values: BTreeMap<String, Definition>,
}

impl Pages {
    /// Reads the pages of the repository at `root`.
    ///
    /// # Errors
    /// What on a page cannot be read.
    pub fn read(root: &Path) -> Result<Pages, Vec<Finding>> {
        let store = Store::read(root).map_err(|finding| vec![finding])?;
        let (mut files, mut findings) = (Vec::new(), Vec::new());
        for path in paths(root) {
            let Ok(text) = std::fs::read_to_string(root.join(&path)) else { continue };
            match parse(&text) {
                Ok(made) => files.push((path, text, made)),
                Err((line, what)) => findings.push(Finding::new(path, line, what)),
            }
        }
        let values = match std::fs::read_to_string(root.join(VALUES)) {
            Ok(text) => {
                toml::from_str(&text).map_err(|error: toml::de::Error| Finding::new(VALUES, None, error.to_string()))
            }
            Err(_) => Ok(BTreeMap::new()),
        };
        match values {
            Ok(values) if findings.is_empty() => Ok(Pages { store, files, values }),
            Ok(_) => Err(findings),
            Err(finding) => Err([findings, vec![finding]].concat()),
        }
    }

    /// What is stored.
    pub fn store(&self) -> &Store {
        &self.store
    }

    /// Every source that a page shows, by its name. What is no source is left out: [`Pages::check`] says it. Blocks of
    /// what was judged under readings are, too: verdicts are stored as each reading is run, and checked as they are.
    pub fn sources(&self) -> BTreeMap<String, Source> {
        let blocks = self.files.iter().flat_map(|(_, _, made)| &made.blocks);
        let blocks = blocks.filter(|block| !spec(block).is_ok_and(|spec| spec.is_judged()));
        let blocks = blocks.map(|block| block.command.as_str());
        let values = self.values.values().filter_map(|value| value.from.as_deref());
        let sources = blocks.chain(values).filter_map(|command| Source::parse(command, &self.store.root).ok());
        sources.map(|source| (source.name(), source)).collect()
    }

    /// Asks `figures` for every statistic of `source` that a page shows.
    ///
    /// # Errors
    /// The first that is not there, with its place.
    pub(crate) fn ask(&self, source: &Source, figures: &crate::figures::Figures) -> Result<(), String> {
        for (path, _, made) in &self.files {
            for block in &made.blocks {
                if Source::parse(&block.command, &self.store.root).as_ref() != Ok(source) {
                    continue;
                }
                let at = |error: String| format!("{}:{}: {error}", path.display(), block.line);
                let spec = spec(block).map_err(at)?;
                for table in &spec.table {
                    table.text(figures).map_err(at)?;
                }
                if let Some(picture) = &spec.picture {
                    picture.draw(figures).map_err(at)?;
                }
                if let Some(delays) = &spec.delays {
                    delays.text(figures).map_err(at)?;
                }
            }
        }
        for (name, value) in &self.values {
            let from = value.from.as_deref().map(|command| Source::parse(command, &self.store.root));
            if let (Some(Ok(from)), Some(cell)) = (from, &value.cell)
                && from == *source
            {
                cell.text(figures).map_err(|error| format!("{VALUES}: {name}: {error}"))?;
            }
        }
        Ok(())
    }

    /// What on the pages is not what is stored, and what of that is stale. For each scenario and study that a page
    /// shows one simulation is run.
    pub fn check(&self) -> Vec<Finding> {
        let mut findings = Vec::new();
        for file in self.made() {
            for piece in &file.pieces {
                let found = match &piece.made {
                    Err(error) => Some(error.clone()),
                    Ok(made) if *made != file.text[piece.content.clone()] => Some(format!(
                        "{} shows `{}` where what is stored of it is `{}`: `cargo xtask docs` makes it anew",
                        piece.what,
                        first_difference(&file.text[piece.content.clone()], made),
                        first_difference(made, &file.text[piece.content.clone()]),
                    )),
                    Ok(_) => None,
                };
                findings.extend(found.map(|what| Finding::new(&file.path, piece.line, what)));
            }
        }
        for (path, line, drawn) in self.pictures() {
            let found = match drawn {
                Err(error) => Some((path, Some(line), error)),
                Ok((picture, content)) => {
                    (std::fs::read(self.store.root.join(&picture)).ok() != Some(content)).then(|| {
                        (picture, None, "is not what is stored of it: `cargo xtask docs` draws it anew".to_owned())
                    })
                }
            };
            findings.extend(found.map(|(file, line, what)| Finding::new(file, line, what)));
        }
        findings.extend(verdicts::stale(&self.store.root));
        findings.extend(self.stale());
        findings.sort();
        findings.dedup();
        findings
    }

    /// What is stored of the commands and no longer what they give, looked for on all cores.
    fn stale(&self) -> Vec<Finding> {
        let sources: Vec<(String, Source)> = self.sources().into_iter().collect();
        let found = each_on_all_cores(&sources, |(name, source)| {
            let reason = self.store.stale(source)?;
            let what = format!("is stale: {reason}; {}", again(source));
            Some(Finding::new(format!("results/{name}"), None, what))
        });
        found.into_iter().flatten().collect()
    }

    /// Makes everything anew from what is stored, and returns the files that are different now.
    ///
    /// # Errors
    /// What cannot be made; nothing is written then.
    pub fn write(&self) -> Result<Vec<PathBuf>, Vec<Finding>> {
        let (mut findings, mut changed) = (Vec::new(), Vec::new());
        let mut contents: Vec<(PathBuf, Vec<u8>)> = Vec::new();
        for file in self.made() {
            let mut pieces = Vec::new();
            for piece in file.pieces {
                match piece.made {
                    Ok(text) => pieces.push((piece.content, text)),
                    Err(error) => findings.push(Finding::new(&file.path, piece.line, error)),
                }
            }
            pieces.sort_by_key(|(range, _)| range.start);
            contents.push((file.path, replaced(&file.text, &pieces).into_bytes()));
        }
        for (path, line, drawn) in self.pictures() {
            match drawn {
                Ok(picture) => contents.push(picture),
                Err(error) => findings.push(Finding::new(path, line, error)),
            }
        }
        if !findings.is_empty() {
            return Err(findings);
        }
        for (path, content) in contents {
            if std::fs::read(self.store.root.join(&path)).ok().as_deref() != Some(&content) {
                write(&self.store.root.join(&path), &content)
                    .map_err(|error| vec![Finding::new(&path, None, error)])?;
                changed.push(path);
            }
        }
        Ok(changed)
    }

    /// The scoreboard as it should be: its files with their content. One simulation of each study whose digests are
    /// stored is run; `begins` is told its name.
    ///
    /// # Errors
    /// If a stored result is wrong.
    pub fn scoreboard(&self, begins: &(dyn Fn(&str) + Sync)) -> Result<Vec<(PathBuf, String)>, String> {
        let results = self.store.root.join("results");
        let listing = Listing::read(&results, None, &runnable).map_err(|error| error.to_string())?;
        let standings: Vec<StudyStanding> = standings(&results, begins).map_err(|error| error.to_string())?;
        let html = scoreboard_html(&listing, &standings, &results, env!("CARGO_PKG_VERSION"));
        let texts = [scoreboard_markdown(&listing, &standings), html];
        Ok(SCOREBOARD.iter().map(PathBuf::from).zip(texts).collect())
    }

    /// Whether the scoreboard is that of the stored results and of the program that runs.
    pub fn check_scoreboard(&self, begins: &(dyn Fn(&str) + Sync)) -> Vec<Finding> {
        let files = match self.scoreboard(begins) {
            Ok(files) => files,
            Err(error) => return vec![Finding::new("results", None, error)],
        };
        let mut findings = Vec::new();
        for (path, text) in files {
            let there = std::fs::read_to_string(self.store.root.join(&path)).unwrap_or_default();
            if there != text {
                let what = format!(
                    "is not that of the stored results and of this program (it lacks `{}`): `cargo xtask docs` writes it anew",
                    first_difference(&text, &there)
                );
                findings.push(Finding::new(path, None, what));
            }
        }
        findings
    }

    /// Every page with what should stand on it.
    fn made(&self) -> Vec<File> {
        let of = |(path, text, made): &(PathBuf, String, Made)| {
            let blocks = made.blocks.iter().map(|block| Piece {
                line: block.line,
                content: block.content.clone(),
                what: format!("the block of `{}`", block.command),
                made: self.block(path, block),
            });
            let values = made.values.iter().map(|value| Piece {
                line: value.line,
                content: value.content.clone(),
                what: format!("the value {}", value.name),
                made: self.value(&value.name),
            });
            File { path: path.clone(), text: text.clone(), pieces: blocks.chain(values).collect() }
        };
        self.files.iter().map(of).collect()
    }

    fn value(&self, name: &str) -> Result<String, String> {
        let definition = self.values.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.values.keys().map(String::as_str).collect();
            format!("{VALUES} defines no value `{name}`: it has {}", known.join(", "))
        })?;
        definition.text(&self.store).map_err(|error| format!("the value {name}: {error}"))
    }

    /// What was judged of a study under its readings.
    fn judged(&self, study: &str, scale: &str) -> Result<ReadingResults, String> {
        let path = ReadingResults::path(&self.store.root.join("results"), scale, study);
        let stored = ReadingResults::read(&path, scale).map_err(|error| error.to_string())?;
        stored.ok_or_else(|| format!("there is no {}", path.display()))
    }

    fn block(&self, page: &Path, block: &Block) -> Result<String, String> {
        let source = Source::parse(&block.command, &self.store.root)?;
        let spec = spec(block)?;
        let facts = self.store.facts(&source);
        if facts.is_none() && !spec.is_judged() {
            return Err(format!("nothing is stored of it: {}", again(&source)));
        }
        let text = match (&spec, &source) {
            (Spec { picture: Some(picture), .. }, _) => return Ok(shown(&picture.alt, &picture.file, page)),
            (Spec { delays: Some(delays), .. }, _) => {
                let table = delays.text(&self.store.figures(&source)?)?;
                format!("{}\n{table}", shown(&delays.alt, &delays.file, page))
            }
            (Spec { plot: Some(alt), .. }, _) => {
                let plot =
                    source.plots().into_iter().next().ok_or("the command draws no picture: it has no `--plot`")?;
                return Ok(shown(alt, &plot, page));
            }
            (Spec { effects: Some(effects), .. }, Source::Study { .. }) => {
                let path = self.store.root.join("results").join(effects.file(&source)?);
                let stored = std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
                let table = EffectTable::parse(&stored)?;
                // The values of an effect are those of single runs.
                let (study, figures) =
                    (study(source.study()).map_err(|p| p.render(false))?, self.store.figures(&source)?);
                let seeds = table.rows.iter().map(|row| row.seeds).max().unwrap_or(1).max(1);
                let few = |quantity: &str| {
                    let measure = study.measures.get(quantity)?;
                    let metric = measure.metric.as_deref()?;
                    let fewest = figures.fewest(&measure.class, metric)? / seeds as u64;
                    is_of_few(metric, fewest).then_some(fewest)
                };
                effects.text(&table, &few)?
            }
            (Spec { readings: Some(readings), .. }, Source::Study { study, scale, .. }) => {
                readings.text(&self.judged(study, scale.name())?)?
            }
            (Spec { screening: Some(screening), .. }, Source::Study { study, scale, .. }) => {
                screening.text(&self.judged(study, scale.name())?)?
            }
            (Spec { table, .. }, _) if !table.is_empty() => {
                let figures = self.store.figures(&source)?;
                let tables: Vec<String> = table.iter().map(|table| table.text(&figures)).collect::<Result<_, _>>()?;
                tables.join("\n")
            }
            (_, Source::Output { .. }) => output(&spec, &self.store.output(&source)?)?,
            _ => return Err("a block of a run needs a `table`, a `picture` or `delays`".to_owned()),
        };
        Ok(format!("\n{text}\n{}\n", line_of(&source, facts)))
    }

    /// The pictures of statistics, each with the page and the line of its block.
    fn pictures(&self) -> Vec<(PathBuf, usize, Drawn)> {
        let mut drawn = Vec::new();
        for (path, _, made) in &self.files {
            for block in &made.blocks {
                // What else is wrong with a block is said of the block.
                let (Ok(source), Ok(spec)) = (Source::parse(&block.command, &self.store.root), spec(block)) else {
                    continue;
                };
                let Ok(figures) = self.store.figures(&source) else { continue };
                if let Some(picture) = &spec.picture {
                    drawn.push((path.clone(), block.line, picture.draw(&figures)));
                }
                if let Some(delays) = &spec.delays {
                    drawn.push((path.clone(), block.line, delays.draw(&figures)));
                }
            }
        }
        drawn
    }
}

/// The line of Markdown that shows a picture on `page`; both are given from the root of the repository.
pub(crate) fn shown(alt: &str, picture: &Path, page: &Path) -> String {
    // Pages stand at the root or in `docs/` and below, and so do the pictures.
    let up = "../".repeat(page.components().count().saturating_sub(1));
    match (page.strip_prefix("docs"), picture.strip_prefix("docs")) {
        (Ok(inside), Ok(picture)) if inside.components().count() == 1 => format!("![{alt}]({})\n", picture.display()),
        _ => format!("![{alt}]({up}{})\n", picture.display()),
    }
}

/// What a block shows.
fn spec(block: &Block) -> Result<Spec, String> {
    let spec: Spec = toml::from_str(&block.spec).map_err(|error: toml::de::Error| {
        // The lines of the error are those of the comment, which begins with the command.
        format!("what the block shows cannot be read: {}", error.to_string().trim_end())
    })?;
    match spec.kinds()[..] {
        [first, second, ..] => Err(format!("a block shows one thing, and this has `{first}` and `{second}`")),
        _ => Ok(spec),
    }
}

/// The line below a block: which command it comes from, and of which day and machine, if it is of one.
fn line_of(source: &Source, facts: Option<&Facts>) -> String {
    let command = source.command();
    match facts {
        Some(Facts { machine: Some(machine), date, .. }) => format!("(`{command}`, {date}: {machine}.)"),
        _ => format!("(`{command}`)"),
    }
}

/// The lines of what a command printed that a block shows: tables as they are, everything else as code.
fn output(spec: &Spec, text: &str) -> Result<String, String> {
    let expression =
        |pattern: &Option<String>| pattern.as_deref().map(Regex::new).transpose().map_err(|e| e.to_string());
    let (from, until) = (expression(&spec.from)?, expression(&spec.until)?);
    let mut lines: Vec<&str> = text.lines().map(str::trim_end).collect();
    if let Some(from) = from {
        let start = lines.iter().position(|line| from.is_match(line));
        lines.drain(..start.ok_or_else(|| format!("no line of what it printed matches `{from}`"))?);
    }
    if let Some(until) = until {
        let end = lines.iter().skip(1).position(|line| until.is_match(line));
        lines.truncate(1 + end.ok_or_else(|| format!("no later line of what it printed matches `{until}`"))?);
    }
    let text = lines.join("\n");
    let text = text.trim_matches('\n');
    if text.lines().any(|line| line.starts_with('|')) {
        return Ok(format!("{text}\n"));
    }
    Ok(format!("```text\n{text}\n```\n"))
}

/// The first line of `text` that is not the line of `other` at its place.
fn first_difference<'t>(text: &'t str, other: &str) -> &'t str {
    let mut others = other.lines();
    text.lines().find(|line| others.next() != Some(line)).unwrap_or_default()
}

/// The pages, relative to the root.
fn paths(root: &Path) -> Vec<PathBuf> {
    fn walk(root: &Path, folder: &Path, found: &mut Vec<PathBuf>) {
        let entries = std::fs::read_dir(root.join(folder)).into_iter().flatten().flatten();
        let mut names: Vec<PathBuf> = entries.map(|entry| folder.join(entry.file_name())).collect();
        names.sort();
        for path in names {
            if root.join(&path).is_dir() {
                walk(root, &path, found);
            } else if path.extension().is_some_and(|extension| extension == "md") {
                found.push(path);
            }
        }
    }
    let mut found: Vec<PathBuf> = PAGES.iter().map(PathBuf::from).collect();
    walk(root, Path::new("docs"), &mut found);
    found.retain(|path| path != Path::new(SCOREBOARD[0]));
    found
}
