//! Where the content of a block comes from: a command, and what is stored of it.

use std::path::{Path, PathBuf};

use tailcut_reproduce::{Reading, Scale, find, names, setting};

/// A command whose results the pages show.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Source {
    /// `tailcut run FILE`.
    Scenario {
        /// The scenario file, from the root of the repository.
        file: PathBuf,
    },
    /// `tailcut reproduce ID...`: a study at a scale.
    Study {
        /// Its name.
        study: String,
        /// Its scale.
        scale: Scale,
        /// The reading of its document.
        reading: Reading,
        /// What of it is changed, if anything is; nothing is judged then.
        changed: Option<Changed>,
    },
    /// Any other command: what it prints.
    Output {
        /// Its words.
        words: Vec<String>,
        /// What its output depends on.
        kind: &'static OutputKind,
    },
}

/// A study with other values than its own.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Changed {
    /// The assignments: `--set PATH=VALUE`.
    pub set: Vec<String>,
    /// The folder of its simulations, from the root of the repository: `--out DIR`. Its last name is that of what is
    /// stored.
    pub out: PathBuf,
}

/// What the output of a command depends on.
#[derive(Debug, PartialEq, Eq)]
pub struct OutputKind {
    /// How the command begins.
    begins: &'static str,
    /// Files and folders: if one of them changes, the output is stale.
    pub(crate) depends: &'static [&'static str],
    /// Whether it is of a machine and of a day, such as times.
    pub(crate) is_measurement: bool,
}

/// What a preset does in a small network. A test keeps it equal to what the program does, so that it changes with every
/// change of a simulation. What is measured of some presets is not stale because there is another one.
macro_rules! golden {
    ($($preset:literal),*) => {
        [$(concat!("crates/sim/tests/golden/", $preset, ".txt")),*]
    };
}

const THEORY: [&str; 12] = {
    let [a, b, c, d, e, f, g, h, i, j, k] = golden![
        "d2tcp",
        "dctcp",
        "ictcp",
        "l2dct",
        "pfabric",
        "pfabric@original",
        "pias",
        "sjf",
        "sjf@full",
        "srpt",
        "tcp"
    ];
    ["crates/validation/src/theory", a, b, c, d, e, f, g, h, i, j, k]
};

const NS3: [&str; 4] = {
    let [a, b] = golden!["dctcp", "tcp"];
    ["crates/validation/ns3", "crates/validation/src/ns3", a, b]
};

const LINUX: [&str; 4] = {
    let [a, b] = golden!["dctcp", "tcp"];
    ["crates/validation/linux", "crates/validation/src/linux", a, b]
};

/// Superways' placement and bills: arithmetic.
const PLACEMENT: [&str; 5] = [
    "crates/placement/src",
    "crates/lab/src/place",
    "crates/cli/src/place.rs",
    "crates/cli/src/bill.rs",
    "data/prices.toml",
];

/// What hands points to Ray and Dask, and how it is measured.
const ENGINES: [&str; 4] = [
    "python/scripts/overhead.py",
    "python/tailcut/distribute/_pool.py",
    "python/tailcut/distribute/dask.py",
    "python/tailcut/distribute/ray.py",
];

/// The commands whose output a page may show. Those that begin alike: the longest counts.
const OUTPUTS: &[OutputKind] = &[
    OutputKind { begins: "tailcut bill", depends: &PLACEMENT, is_measurement: false },
    OutputKind { begins: "tailcut place --random", depends: &PLACEMENT, is_measurement: false },
    OutputKind { begins: "cargo xtask theory", depends: &THEORY, is_measurement: false },
    OutputKind { begins: "cargo xtask compare-ns3 --stored", depends: &NS3, is_measurement: true },
    OutputKind { begins: "cargo xtask compare-linux --stored", depends: &LINUX, is_measurement: false },
    OutputKind { begins: "cargo xtask speed", depends: &[], is_measurement: true },
    OutputKind { begins: "cargo xtask bench", depends: &[], is_measurement: true },
    OutputKind { begins: "cargo xtask engines", depends: &ENGINES, is_measurement: true },
];

impl Source {
    /// The source that a command is.
    ///
    /// # Errors
    /// If there is no such command, or it names something that does not exist.
    pub fn parse(command: &str, root: &Path) -> Result<Source, String> {
        let words: Vec<&str> = command.split_whitespace().collect();
        match words.as_slice() {
            ["tailcut", "run", file] if root.join(file).is_file() => Ok(Source::Scenario { file: file.into() }),
            ["tailcut", "run", file] => Err(format!("there is no scenario {file}")),
            ["tailcut", "reproduce", rest @ ..] => study(rest),
            ["tailcut", "place" | "bill", ..] => {
                let kind = OUTPUTS.iter().find(|kind| command.starts_with(kind.begins));
                let kind = kind.ok_or_else(|| format!("a page cannot show `{command}`: expected {}", listed()))?;
                Ok(Source::Output { words: words.iter().map(|&word| word.to_owned()).collect(), kind })
            }
            ["cargo", "xtask", task, ..] => {
                let tasks = std::fs::read_to_string(root.join("xtask/src/main.rs")).unwrap_or_default();
                let exists = [" ", "\n"].iter().any(|end| tasks.contains(&format!("\n  {task}{end}")));
                let kind =
                    OUTPUTS.iter().filter(|kind| command.starts_with(kind.begins)).max_by_key(|kind| kind.begins.len());
                match kind {
                    Some(kind) if exists => {
                        Ok(Source::Output { words: words.iter().map(|&word| word.to_owned()).collect(), kind })
                    }
                    _ => Err(format!(
                        "there is no command `{command}` whose output a page may show: expected {}",
                        listed()
                    )),
                }
            }
            _ => Err(format!("`{command}` is no command that a page may show: expected {}", listed())),
        }
    }

    /// Its name: where in `results/` it is stored, without an ending.
    pub fn name(&self) -> String {
        match self {
            Source::Scenario { file } => format!("scenarios/{}", stem(file)),
            Source::Study { study, changed: Some(changed), .. } => format!("{}/{study}", stem(&changed.out)),
            Source::Study { study, .. } => format!("{}/studies/{study}", self.setting()),
            Source::Output { words, .. } => {
                let plot = words.iter().position(|word| word == "--plot").unwrap_or(words.len());
                let text = words[..plot].join("-");
                format!("outputs/{}", text.replace("---", "-").replace("--", "-"))
            }
        }
    }

    /// The command that measures it.
    pub fn command(&self) -> String {
        match self {
            Source::Scenario { file } => format!("tailcut run {}", file.display()),
            Source::Study { study, scale, reading, changed } => {
                let of_study = |id: &&str| find(id).is_ok_and(|experiment| experiment.study == *study);
                let reading = if reading.is_base() { String::new() } else { format!(" --reading {reading}") };
                let Some(Changed { set, out }) = changed else {
                    let ids: Vec<&str> = names().filter(of_study).collect();
                    return format!("tailcut reproduce {} --scale {}{reading}", ids.join(" "), scale.name());
                };
                // Any of its figures runs all of it.
                let id = names().find(of_study).unwrap_or_default();
                let set: String = set.iter().map(|set| format!(" --set {set}")).collect();
                format!("tailcut reproduce {id} --scale {}{reading}{set} --out {}", scale.name(), out.display())
            }
            Source::Output { words, .. } => words.join(" "),
        }
    }

    /// The name of the study, if it is one.
    pub(crate) fn study(&self) -> &str {
        match self {
            Source::Study { study, .. } => study,
            _ => "",
        }
    }

    /// The folder of the scale and the reading of a study in `results/`.
    pub(crate) fn setting(&self) -> String {
        match self {
            Source::Study { scale, reading, .. } => setting(*scale, reading),
            _ => String::new(),
        }
    }

    /// The folder of its simulations, from the root of the repository.
    pub(crate) fn run_folder(&self) -> PathBuf {
        match self {
            Source::Study { study, changed, .. } => {
                let out = changed.as_ref().map_or(Path::new("runs/reproduce"), |changed| &changed.out);
                out.join(self.setting()).join("studies").join(study)
            }
            Source::Scenario { file } => Path::new("runs").join("docs").join(stem(file)),
            Source::Output { .. } => PathBuf::new(),
        }
    }

    /// The pictures that it draws beside what it prints, from the root of the repository.
    pub(crate) fn plots(&self) -> Vec<PathBuf> {
        let Source::Output { words, .. } = self else { return Vec::new() };
        let plot = words.iter().skip_while(|word| *word != "--plot").nth(1);
        plot.map(|plot| vec![PathBuf::from(plot), Path::new(plot).with_extension("png")]).unwrap_or_default()
    }
}

/// The study that `tailcut reproduce` runs with these arguments.
fn study(arguments: &[&str]) -> Result<Source, String> {
    let (mut scale, mut reading, mut study) = (Scale::default(), Reading::default(), None);
    let (mut set, mut out) = (Vec::new(), None);
    let mut words = arguments.iter();
    while let Some(&word) = words.next() {
        match word {
            "--scale" => scale = words.next().ok_or("`--scale` needs a value")?.parse()?,
            "--reading" => reading = Reading::parse(words.next().ok_or("`--reading` needs a value")?),
            "--set" => set.push((*words.next().ok_or("`--set` needs a value")?).to_owned()),
            "--out" => out = Some(PathBuf::from(words.next().ok_or("`--out` needs a folder")?)),
            id => {
                let found = find(id).map_err(|problem| problem.render(false))?.study;
                if study.get_or_insert_with(|| found.clone()) != &found {
                    return Err(format!("`{id}` is of the study {found}: a block shows one study"));
                }
            }
        }
    }
    let study = study.ok_or("`tailcut reproduce` needs a figure, such as slytherin-fig3a")?;
    let changed = match (set.is_empty(), out) {
        (false, Some(out)) => Some(Changed { set, out }),
        (true, None) => None,
        _ => return Err("`--set` and `--out` stand together: what is changed has a folder of its own".to_owned()),
    };
    Ok(Source::Study { study, scale, reading, changed })
}

fn stem(file: &Path) -> String {
    file.file_stem().unwrap_or_default().to_string_lossy().into_owned()
}

fn listed() -> String {
    let others: Vec<String> = OUTPUTS.iter().map(|kind| format!("`{}`", kind.begins)).collect();
    format!("`tailcut run FILE`, `tailcut reproduce ID`, {}", others.join(", "))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn root() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
    }

    #[test]
    fn each_source_has_a_place_and_a_command() {
        for (given, name, command) in [
            ("tailcut run scenarios/tail.toml", "scenarios/tail", "tailcut run scenarios/tail.toml"),
            (
                "tailcut reproduce slytherin-map-workload --reading jitter",
                "quick+jitter/studies/slytherin-map-workload",
                "tailcut reproduce slytherin-map-workload --scale quick --reading jitter",
            ),
            (
                "tailcut reproduce thesis-fig31 --scale paper",
                "paper/studies/resqueue-ls400",
                "tailcut reproduce thesis-fig29 thesis-fig30 thesis-fig31 --scale paper",
            ),
            (
                "tailcut reproduce thesis-fig31 --set record.attribution=true --set workload.load=0.6 --out runs/why",
                "why/resqueue-ls400",
                "tailcut reproduce thesis-fig29 --scale quick --set record.attribution=true --set workload.load=0.6 --out runs/why",
            ),
            ("cargo xtask theory dctcp", "outputs/cargo-xtask-theory-dctcp", "cargo xtask theory dctcp"),
            (
                "cargo xtask speed --scale --plot docs/images/p.svg",
                "outputs/cargo-xtask-speed-scale",
                "cargo xtask speed --scale --plot docs/images/p.svg",
            ),
        ] {
            let source = Source::parse(given, &root()).unwrap();
            assert_eq!((source.name(), source.command()), (name.to_owned(), command.to_owned()));
        }
    }

    #[test]
    fn what_does_not_exist_is_refused() {
        for (command, what) in [
            ("tailcut run scenarios/tial.toml", "no scenario scenarios/tial.toml"),
            ("tailcut reproduce slytherin-fig33a", "slytherin-fig33a"),
            ("tailcut reproduce slytherin-fig3a thesis-fig31", "one study"),
            ("tailcut reproduce slytherin-fig3a --set workload.load=0.8", "a folder of its own"),
            ("cargo xtask speeed", "no command"),
            ("cargo xtask test", "no command"),
            ("make all", "`tailcut run FILE`"),
        ] {
            let error = Source::parse(command, &root()).unwrap_err();
            assert!(error.contains(what), "{command}: {error}");
        }
    }
}
