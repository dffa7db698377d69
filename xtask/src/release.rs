//! `cargo xtask release`: an archive with the command and what belongs to it, tried where nothing else is.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use crate::oldest;
use crate::shell::{Call, Done, Stop, cargo, target_folder};

/// Files of the repository that are in the archive, and folders with all that git knows in them.
const SHIPPED: [&str; 8] = [
    "README.md",
    "CHANGELOG.md",
    "CITATION.cff",
    "LICENSE-MIT",
    "LICENSE-APACHE",
    "schemes",
    "scenarios",
    "docs/guide",
];

/// The licences of what is inside of the program without being a crate: the pages' script and the plots' font.
const ASSETS: &str = "crates/report/assets";

/// Each shell with the file name under which it looks for a script of completions.
const COMPLETIONS: [(&str, &str); 5] = [
    ("bash", "tailcut.bash"),
    ("elvish", "tailcut.elv"),
    ("fish", "tailcut.fish"),
    ("powershell", "_tailcut.ps1"),
    ("zsh", "_tailcut"),
];

/// What the scenario that is tried is reduced to: a second of work.
const SMALL: [&str; 7] = [
    "--seed",
    "1",
    "--set",
    "workload.duration=1ms",
    "--set",
    "workload.load=0.4",
    "--set=schemes=[\"dctcp\", \"slytherin\"]",
];

/// Builds the command, packs it, and tries the archive. `--program PATH` packs a command that is built already.
///
/// # Errors
/// If something cannot be built or written, or what is in the archive does not work.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Done {
    let program = match arguments {
        [] => {
            oldest::check(root)?;
            cargo(root, &["build", "--locked", "--release", "--package", "tailcut"]).run()?;
            target_folder()?.join("release").join(executable("tailcut"))
        }
        ["--program", path] => std::path::absolute(path).map_err(|e| Stop::Unusable(format!("{path}: {e}")))?,
        _ => {
            return Err(Stop::Unusable(
                "expected `cargo xtask release` or `cargo xtask release --program PATH`".into(),
            ));
        }
    };
    let version = printed(Call::new(root, &program, &["--version"]))?;
    let Some(version) = version.trim().strip_prefix("tailcut ") else {
        return Err(Stop::Unusable(format!("{} is not tailcut: it says {}", program.display(), version.trim())));
    };
    let rustc = printed(Call::new(root, "rustc", &["-vV"]))?;
    let host = host(&rustc)?;
    let name = format!("tailcut-{version}-{host}");
    let folder = target_folder()?.join("release-archive");
    let stage = folder.join(&name);
    emptied(&stage)?;
    fill(root, &program, host, &stage)?;
    let archive = folder.join(format!("{name}.tar.gz"));
    Call::new(&folder, "tar", &["-czf"]).args([archive.as_os_str(), name.as_ref()]).run()?;
    let files = listed(&stage)?.len();
    try_it(&archive, &name, version)?;
    let size = std::fs::metadata(&archive).map_err(|e| unwritable(&archive, &e))?.len();
    println!("{}: {files} files, {:.1} MB, unpacked and tried", archive.display(), size as f64 / 1e6);
    Ok(())
}

fn executable(name: &str) -> String {
    format!("{name}{}", std::env::consts::EXE_SUFFIX)
}

fn printed(call: Call) -> Result<String, Stop> {
    let shown = call.to_string();
    call.output().ok_or_else(|| Stop::Unusable(format!("`{shown}` does not run")))
}

/// The name of the machine that `rustc -vV` builds for.
fn host(rustc: &str) -> Result<&str, Stop> {
    let host = rustc.lines().find_map(|line| line.strip_prefix("host: "));
    host.ok_or_else(|| Stop::Unusable("rustc does not say what it builds for".to_owned()))
}

fn unwritable(path: &Path, error: &std::io::Error) -> Stop {
    Stop::Unusable(format!("cannot write {}: {error}", path.display()))
}

/// Makes a folder that has nothing in it.
fn emptied(folder: &Path) -> Done {
    if folder.exists() {
        std::fs::remove_dir_all(folder).map_err(|e| unwritable(folder, &e))?;
    }
    std::fs::create_dir_all(folder).map_err(|e| unwritable(folder, &e))
}

fn write(path: &Path, text: impl AsRef<[u8]>) -> Done {
    let folder = path.parent().unwrap_or(path);
    std::fs::create_dir_all(folder).and_then(|()| std::fs::write(path, text)).map_err(|e| unwritable(path, &e))
}

fn copy(from: &Path, to: &Path) -> Done {
    let folder = to.parent().unwrap_or(to);
    let done = std::fs::create_dir_all(folder).and_then(|()| std::fs::copy(from, to));
    done.map(|_| ()).map_err(|e| Stop::Unusable(format!("cannot copy {} to {}: {e}", from.display(), to.display())))
}

/// Puts everything into the folder that becomes the archive.
fn fill(root: &Path, program: &Path, host: &str, stage: &Path) -> Done {
    copy(program, &stage.join(executable("tailcut")))?;
    let known = crate::files::all(root)?;
    for shipped in SHIPPED {
        let of: Vec<&PathBuf> = known.iter().filter(|file| file.starts_with(shipped)).collect();
        if of.is_empty() {
            return Err(Stop::Failed(format!("the repository has no {shipped}")));
        }
        for file in of {
            copy(&root.join(file), &stage.join(file))?;
        }
    }
    for (shell, name) in COMPLETIONS {
        let script = printed(Call::new(root, program, &["completions", shell]))?;
        write(&stage.join("completions").join(name), script)?;
    }
    write(&stage.join("scenario.schema.json"), printed(Call::new(root, program, &["schema"]))?)?;
    printed(Call::new(stage, program, &["man", "man/man1"]))?;
    licences(root, host, stage, &known)
}

/// The licences of all that is compiled into the program, and a list of it.
fn licences(root: &Path, host: &str, stage: &Path, known: &[PathBuf]) -> Done {
    let folder = stage.join("licences");
    for file in known.iter().filter(|file| file.starts_with(ASSETS)) {
        let name = file.file_name().unwrap_or_default();
        if name.to_string_lossy().contains("LICENSE") {
            copy(&root.join(file), &folder.join(name))?;
        }
    }
    let tree = ["tree", "--locked", "--package", "tailcut", "--edges", "normal", "--prefix", "none", "--no-dedupe"];
    let tree = printed(cargo(root, &tree).args(["--target", host, "--format", "{p} | {l}"]))?;
    let metadata = ["metadata", "--locked", "--format-version", "1", "--filter-platform", host];
    let metadata = printed(cargo(root, &metadata))?;
    let mut text = String::from("Crates that are compiled into tailcut, and their licences:\n\n");
    for (name, licence) in crates(&tree) {
        text += &format!("{name}: {licence}\n");
        let Some(source) = source(&metadata, &name) else {
            return Err(Stop::Failed(format!("cargo does not say where the sources of {name} are")));
        };
        let entries = std::fs::read_dir(&source).map_err(|e| Stop::Unusable(format!("{}: {e}", source.display())))?;
        for entry in entries.filter_map(Result::ok).filter(|entry| entry.path().is_file()) {
            let file = entry.file_name();
            if is_licence(&file.to_string_lossy()) {
                copy(&entry.path(), &folder.join(&name).join(file))?;
            }
        }
    }
    write(&folder.join("CRATES.txt"), text)
}

fn is_licence(file: &str) -> bool {
    let file = file.to_ascii_uppercase();
    ["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"].iter().any(|start| file.starts_with(start))
}

/// The crates of others in what `cargo tree` prints, as `name-version`, with their licences.
fn crates(tree: &str) -> BTreeSet<(String, String)> {
    let others = tree.lines().filter_map(|line| line.split_once(" | ")).filter_map(|(package, licence)| {
        let mut words = package.split(' ');
        let (name, version) = (words.next()?, words.next()?.strip_prefix('v')?);
        // A crate of this workspace says where it is.
        let own = words.any(|word| word.starts_with("(/") || word.contains(":\\"));
        (!own).then(|| (format!("{name}-{version}"), licence.trim().to_owned()))
    });
    others.collect()
}

/// The folder of the sources of a crate `name-version`, by what `cargo metadata` prints.
fn source(metadata: &str, name: &str) -> Option<PathBuf> {
    let manifests = metadata.split("\"manifest_path\":\"").skip(1).filter_map(|rest| rest.split('"').next());
    let folders = manifests.filter_map(|path| Some(Path::new(path).parent()?.to_owned()));
    folders.into_iter().find(|folder| folder.file_name().is_some_and(|folder| folder == name))
}

/// Every file below a folder.
fn listed(folder: &Path) -> Result<Vec<PathBuf>, Stop> {
    let mut files = Vec::new();
    let entries = std::fs::read_dir(folder).map_err(|e| Stop::Unusable(format!("{}: {e}", folder.display())))?;
    for entry in entries.filter_map(Result::ok) {
        let path = entry.path();
        if path.is_dir() { files.extend(listed(&path)?) } else { files.push(path) }
    }
    Ok(files)
}

/// Unpacks the archive in an empty folder away from the repository, and runs what is in it.
fn try_it(archive: &Path, name: &str, version: &str) -> Done {
    let folder = std::env::temp_dir().join(format!("tailcut-release-{}", std::process::id()));
    emptied(&folder)?;
    let result = try_in(&folder, archive, name, version);
    std::fs::remove_dir_all(&folder).map_err(|e| unwritable(&folder, &e))?;
    result
}

fn try_in(folder: &Path, archive: &Path, name: &str, version: &str) -> Done {
    Call::new(folder, "tar", &["-xzf"]).args([archive]).run()?;
    let program = folder.join(name).join(executable("tailcut"));
    let says = printed(Call::new(folder, &program, &["--version"]))?;
    if says.trim() != format!("tailcut {version}") {
        return Err(Stop::Failed(format!("what was unpacked says {says}")));
    }
    let scenario = format!("{name}/scenarios/tail.toml");
    Call::new(folder, &program, &["check", &scenario]).run()?;
    Call::new(folder, &program, &["run", &scenario, "--out", "run", "--quiet"]).args(SMALL).run()?;
    let unpacked = folder.join(name);
    let completions = COMPLETIONS.map(|(_, file)| unpacked.join("completions").join(file));
    let left = ["summary.csv", "report.html"].map(|file| folder.join("run").join(file));
    let shipped = ["scenario.schema.json", "man/man1/tailcut.1", "man/man1/tailcut-run.1", "licences/CRATES.txt"];
    let shipped = shipped.map(|file| unpacked.join(file));
    for file in completions.iter().chain(&left).chain(&shipped) {
        if std::fs::metadata(file).map_or(0, |found| found.len()) == 0 {
            return Err(Stop::Failed(format!("{} is not there, or empty", file.display())));
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_of_others_are_told_from_our_own() {
        let tree = "tailcut v0.1.0 (/home/a/crates/cli) | MIT OR Apache-2.0\nserde v1.0.1 | MIT OR Apache-2.0\n\
                    tailcut-base v0.1.0 (/home/a/crates/base) | MIT OR Apache-2.0\n\
                    serde_derive v1.0.1 (proc-macro) | MIT\nserde v1.0.1 | MIT OR Apache-2.0\n";
        let found: Vec<(String, String)> = crates(tree).into_iter().collect();
        let expected = [("serde-1.0.1", "MIT OR Apache-2.0"), ("serde_derive-1.0.1", "MIT")];
        assert_eq!(found, expected.map(|(name, licence)| (name.to_owned(), licence.to_owned())));
    }

    #[test]
    fn sources_and_licences_are_found_by_their_names() {
        let metadata = r#"{"packages":[{"manifest_path":"/a/serde-1.0.1/Cargo.toml"},{"manifest_path":"/a/x-2.0.0/Cargo.toml","name":"x"}]}"#;
        assert_eq!(source(metadata, "x-2.0.0"), Some(PathBuf::from("/a/x-2.0.0")));
        assert_eq!(source(metadata, "x-2.0"), None);
        assert!(is_licence("LICENSE-MIT") && is_licence("Copying.md") && !is_licence("Cargo.toml"));
        assert_eq!(host("rustc 1.89.0\nhost: x86_64-unknown-linux-gnu\n").ok(), Some("x86_64-unknown-linux-gnu"));
        assert!(host("nothing").is_err());
    }
}
