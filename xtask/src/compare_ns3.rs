//! `cargo xtask compare-ns3`: installs ns-3, builds the driver, and has `tailcut-validation` compare.
//!
//! What is compared and how is in `crates/validation/src/ns3`; here is only what needs other programs.

use std::path::{Path, PathBuf};

use crate::shell::{Call, Done, Stop, cargo, target_folder};

const USAGE: &str = "expected `cargo xtask compare-ns3 [--bless | --stored] [CASE]`";

/// Debian's packages: ns-3 3.37 in Debian 12.
const PACKAGES: [&str; 2] = ["libns3-dev", "g++"];
const LIBRARIES: [&str; 4] = ["-lns3-internet", "-lns3-network", "-lns3-stats", "-lns3-core"];

/// `cargo xtask compare-ns3 [--bless | --stored] [CASE]`.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Done {
    let (option, case) = match arguments {
        [] => (None, None),
        [option @ ("--bless" | "--stored")] => (Some(*option), None),
        [option @ ("--bless" | "--stored"), case] if !case.starts_with('-') => (Some(*option), Some(*case)),
        [case] if !case.starts_with('-') => (None, Some(*case)),
        _ => {
            let given = arguments.join(" ");
            return Err(Stop::Unusable(format!("`cargo xtask compare-ns3` knows no `{given}`: {USAGE}")));
        }
    };
    let program =
        cargo(root, &["run", "--locked", "--release", "--package", "tailcut-validation", "--bin", "ns3", "--"]);
    if option == Some("--stored") {
        return program.args(case).run_own();
    }
    install(root)?;
    let driver = build(root)?;
    let ns3 = version(root, "dpkg-query", &["--show", "--showformat=${Version}", "libns3-dev"]);
    let compiler = version(root, "g++", &["--version"]);
    let program = program.args(["--driver".as_ref(), driver.as_os_str()]);
    program.args(["--ns3", &ns3, "--compiler", &compiler]).args(option).args(case).run_own()
}

/// Installs what is missing.
fn install(root: &Path) -> Done {
    let is_there = |package: &str| {
        let status = Call::new(root, "dpkg-query", &["--show", "--showformat=${db:Status-Status}", package]).output();
        status.is_some_and(|status| status.trim() == "installed")
    };
    let missing: Vec<&str> = PACKAGES.into_iter().filter(|package| !is_there(package)).collect();
    if missing.is_empty() {
        return Ok(());
    }
    let missing = missing.join(" ");
    let by_hand = format!("`apt-get install {missing}`");
    if Call::new(root, "apt-get", &["--version"]).output().is_none() {
        let what =
            format!("ns-3 comes from Debian's packages, and there is no apt-get here: {missing} must be installed");
        return Err(Stop::Unusable(format!("{what}; `cargo xtask compare-ns3 --stored` compares without ns-3")));
    }
    if Call::new(root, "id", &["-u"]).output().is_none_or(|id| id.trim() != "0") {
        return Err(Stop::Unusable(format!("{missing} must be installed, which only root may: run {by_hand} as root")));
    }
    println!("installing {missing} ...");
    let apt = |arguments: &[&str]| Call::new(root, "apt-get", arguments).env("DEBIAN_FRONTEND", "noninteractive").run();
    let install: Vec<&str> =
        ["install", "--yes", "--no-install-recommends"].into_iter().chain(missing.split(' ')).collect();
    // A machine whose lists are old or empty needs them first; one without a network may have them all.
    let _ = apt(&["update", "--quiet"]);
    apt(&install).map_err(|_| Stop::Unusable(format!("{by_hand} failed, see above: ns-3 is in Debian 12 and later")))
}

/// Compiles the driver, unless it is newer than its source.
fn build(root: &Path) -> Result<PathBuf, Stop> {
    let source = root.join("crates/validation/ns3/driver.cc");
    let folder = target_folder()?.join("ns3");
    std::fs::create_dir_all(&folder).map_err(|e| Stop::Unusable(format!("cannot make {}: {e}", folder.display())))?;
    let driver = folder.join("driver");
    let changed = |file: &Path| std::fs::metadata(file).and_then(|metadata| metadata.modified()).ok();
    if changed(&driver) > changed(&source) {
        return Ok(driver);
    }
    println!("building {} ...", driver.display());
    // ns-3 3.37 is C++17: its headers are no C++20.
    let call = Call::new(root, "g++", &["-std=c++17", "-O2", "-Wall", "-Wextra", "-o"]);
    call.args([&driver, &source]).args(LIBRARIES).run()?;
    Ok(driver)
}

/// The first line of what a program says.
fn version(root: &Path, program: &str, arguments: &[&str]) -> String {
    let output = Call::new(root, program, arguments).output().unwrap_or_default();
    output.lines().next().unwrap_or("unknown").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_that_mean_nothing_are_refused_before_anything_is_installed() {
        for arguments in [&["--all"][..], &["--bless", "--stored"], &["incast-8", "--bless"], &["a", "b"]] {
            let result = run(&crate::root(), arguments);
            assert!(matches!(&result, Err(Stop::Unusable(message)) if message.contains("expected")), "{result:?}");
        }
    }
}
