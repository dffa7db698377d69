//! `cargo xtask compare-linux`: builds a kernel, and has `tailcut-validation` compare.
//!
//! What is compared and how is in `crates/validation/src/linux`; here is only what needs other programs. Nothing is
//! installed: packages are fetched and unpacked below target/linux.

use std::path::{Path, PathBuf};

use crate::shell::{Call, Done, Stop, cargo, target_folder};

const USAGE: &str = "expected `cargo xtask compare-linux [--stored | --bless] [--flows] [--trace HOST]... \
                     [--set KEY=VALUE]... [--kernel FILE] [--scenario FILE]... [CASE]...`";

/// Debian 12's packages: the sources, and what their build needs beside a compiler and make.
const PACKAGES: [&str; 5] = ["linux-source-6.1", "flex", "bison", "m4", "libfl2"];
/// The variable that names a kernel which is built already.
const KERNEL: &str = "TAILCUT_LINUX";

struct Arguments<'a> {
    stored: bool,
    kernel: Option<PathBuf>,
    /// Words for the program.
    rest: Vec<&'a str>,
}

/// `cargo xtask compare-linux`.
pub(crate) fn run(root: &Path, words: &[&str]) -> Done {
    let arguments = parse(words)?;
    let program = cargo(
        root,
        &["run", "--locked", "--profile", "test", "--package", "tailcut-validation", "--bin", "linux", "--"],
    );
    if arguments.stored {
        return program.args(arguments.rest).run_own();
    }
    let folder = target_folder()?.join("linux");
    let kernel = match arguments.kernel {
        Some(kernel) => kernel,
        None => build(root, &folder)?,
    };
    let answers = folder.join("answers");
    let program = program.args(["--kernel".as_ref(), kernel.as_os_str(), "--answers".as_ref(), answers.as_os_str()]);
    let version = version(root, &folder);
    let (options, edits) = (sum(root, "kernel.config"), sum(root, "edit-kernel.sh"));
    let program = program.args(["--version", &version, "--options", &options, "--edits", &edits]);
    program.args(arguments.rest).run_own()
}

fn parse<'a>(words: &[&'a str]) -> Result<Arguments<'a>, Stop> {
    let wrong = |what: &str| Err(Stop::Unusable(format!("{what}: {USAGE}")));
    let kernel = std::env::var_os(KERNEL).map(PathBuf::from);
    let mut arguments = Arguments { stored: false, kernel, rest: Vec::new() };
    let (mut bless, mut given, mut scenario, mut trace) = (false, false, false, false);
    let mut left = words.iter().copied();
    while let Some(word) = left.next() {
        match word {
            "--stored" => arguments.stored = true,
            "--bless" | "--flows" => {
                bless |= word == "--bless";
                arguments.rest.push(word);
            }
            "--kernel" | "--scenario" | "--trace" | "--set" => match left.next() {
                None => return wrong(&format!("`{word}` needs a value")),
                Some(file) if word == "--kernel" => {
                    given = true;
                    arguments.kernel = Some(PathBuf::from(file));
                }
                Some(value) => {
                    scenario |= word == "--scenario";
                    trace |= word == "--trace";
                    arguments.rest.extend([word, value]);
                }
            },
            name if name.starts_with('-') => {
                return wrong(&format!("`cargo xtask compare-linux` has no option `{name}`"));
            }
            name => arguments.rest.push(name),
        }
    }
    if arguments.stored && (bless || given || scenario || trace) {
        return wrong("`--stored` compares with stored answers, without a kernel");
    }
    if bless && scenario {
        return wrong("`--bless` stores the answers to the cases, not those to other scenarios");
    }
    Ok(arguments)
}

/// Builds the kernel below `folder`, unless it was built with the same options and edits.
fn build(root: &Path, folder: &Path) -> Result<PathBuf, Stop> {
    let unusable = |e: std::io::Error| Stop::Unusable(format!("cannot write to {}: {e}", folder.display()));
    std::fs::create_dir_all(folder).map_err(unusable)?;
    let script = root.join("crates/validation/linux/build-kernel.sh");
    let (kernel, stamp) = (folder.join("build/linux"), folder.join("built-from"));
    let from = format!("{} {}", sum(root, "kernel.config"), sum(root, "edit-kernel.sh"));
    if kernel.exists() && std::fs::read_to_string(&stamp).is_ok_and(|stored| stored == from) {
        return Ok(kernel);
    }
    for program in ["apt-get", "dpkg-deb", "make", "gcc", "xz"] {
        if Call::new(root, program, &["--version"]).output().is_none() {
            let what = format!("the kernel is built from Debian's sources, and there is no `{program}`");
            let help = format!("help: give a kernel with `--kernel FILE` or in the variable {KERNEL}");
            return Err(Stop::Unusable(format!("{what}\n{help}, or compare with `--stored` answers")));
        }
    }
    println!("building {} with two jobs; this takes some minutes and 2.5 GB ...", kernel.display());
    let call = Call::new(root, script, &[]).args([folder]).args(PACKAGES);
    call.run().map_err(|_| Stop::Unusable("the kernel could not be built, see above".to_owned()))?;
    std::fs::write(&stamp, from).map_err(unusable)?;
    Ok(kernel)
}

/// The version of the unpacked package of sources.
fn version(root: &Path, folder: &Path) -> String {
    let file = folder.join("version").display().to_string();
    let text = Call::new(root, "cat", &[&file]).output().unwrap_or_default();
    if text.trim().is_empty() { "unknown".to_owned() } else { text.trim().to_owned() }
}

/// The check sum of a file of the comparison.
fn sum(root: &Path, name: &str) -> String {
    let file = format!("crates/validation/linux/{name}");
    let output = Call::new(root, "sha256sum", &[&file]).output().unwrap_or_default();
    output.chars().take(16).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_without_meaning_are_refused_before_anything_is_fetched() {
        let wrong: [&[&str]; 6] = [
            &["--all"],
            &["--stored", "--bless"],
            &["--stored", "--kernel", "linux"],
            &["--kernel"],
            &["--scenario"],
            &["--bless", "--scenario", "mine.toml"],
        ];
        for words in wrong {
            let result = run(&crate::root(), words);
            assert!(matches!(&result, Err(Stop::Unusable(message)) if message.contains("expected")), "{result:?}");
        }
    }

    #[test]
    fn options_of_the_comparison_are_passed_on() {
        let arguments = parse(&["--kernel", "linux", "--flows", "idle-1b"]).ok().unwrap();
        assert_eq!(arguments.kernel, Some(PathBuf::from("linux")));
        assert_eq!(arguments.rest, ["--flows", "idle-1b"]);
    }
}
