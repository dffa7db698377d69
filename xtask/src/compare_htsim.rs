//! `cargo xtask compare-htsim`: builds a driver against a checkout of htsim that is there already, and has the
//! benchmark `htsim` run both simulators on the same flows in turns.
//!
//! Nothing of htsim is in this repository, and nothing is fetched or built in its folder.

use std::path::{Path, PathBuf};

use crate::shell::{Call, Done, Stop, cargo, target_folder};

/// The variable that names the checkout where no argument does.
const VARIABLE: &str = "HTSIM";

/// What is needed of the checkout.
const LIBRARY: &str = "sim/libhtsim.a";

/// `cargo xtask compare-htsim [FOLDER]`.
pub(crate) fn run(root: &Path, arguments: &[&str]) -> Done {
    let named = match arguments {
        [] => std::env::var_os(VARIABLE).map(PathBuf::from),
        [folder] if !folder.starts_with('-') => Some(PathBuf::from(folder)),
        _ => {
            let given = arguments.join(" ");
            let usage = "expected the folder of a checkout of csg-htsim, or nothing";
            return Err(Stop::Unusable(format!("`cargo xtask compare-htsim` knows no `{given}`: {usage}")));
        }
    };
    let driver = build(root, &checkout(named)?)?;
    let call = cargo(root, &["bench", "--locked", "--package", "tailcut-bench", "--bench", "htsim"]);
    call.args(["--no-default-features", "--", "--driver"]).args([driver]).run_own()
}

/// The checkout, if it is one and is built.
fn checkout(named: Option<PathBuf>) -> Result<PathBuf, Stop> {
    let Some(folder) = named else {
        return Err(Stop::Unusable(format!(
            "htsim is not a part of this repository: get csg-htsim, build it with `make -C csg-htsim/sim libhtsim.a`, and \
             say where it is: `cargo xtask compare-htsim FOLDER`, or {VARIABLE}=FOLDER"
        )));
    };
    if !folder.join("sim/dctcp.h").is_file() {
        let shown = folder.display();
        return Err(Stop::Unusable(format!("{shown} is no checkout of csg-htsim: there is no {shown}/sim/dctcp.h")));
    }
    if !folder.join(LIBRARY).is_file() {
        let shown = folder.display();
        let make = format!("`make -C {shown}/sim libhtsim.a` makes it");
        return Err(Stop::Unusable(format!("htsim is not built: there is no {shown}/{LIBRARY}; {make}")));
    }
    std::path::absolute(&folder).map_err(|e| Stop::Unusable(format!("{}: {e}", folder.display())))
}

/// Compiles the driver, each time: the checkout may be another one than before.
fn build(root: &Path, htsim: &Path) -> Result<PathBuf, Stop> {
    let folder = target_folder()?.join("htsim");
    std::fs::create_dir_all(&folder).map_err(|e| Stop::Unusable(format!("cannot make {}: {e}", folder.display())))?;
    let driver = folder.join("driver");
    println!("building {} ...", driver.display());
    // As htsim is built.
    let call = Call::new(root, "g++", &["-std=c++11", "-O2", "-Wall", "-o"]).args([&driver]);
    let call = call.args([root.join("crates/bench/htsim/driver.cc")]).args(["-I"]).args([htsim.join("sim")]);
    call.args([htsim.join(LIBRARY)]).run()?;
    Ok(driver)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_built_checkout_is_refused_before_anything_is_built() {
        let root = crate::root();
        let message = |result: Done| match result {
            Err(Stop::Unusable(message)) => message,
            other => panic!("{other:?}"),
        };
        assert!(message(run(&root, &["a", "b"])).contains("expected the folder"));
        assert!(message(run(&root, &["--bless"])).contains("expected the folder"));
        assert!(message(checkout(None).map(|_| ())).contains("make -C"));
        let folder = std::env::temp_dir().join(format!("tailcut-no-htsim-{}", std::process::id()));
        std::fs::create_dir_all(folder.join("sim")).unwrap();
        let asked = || message(checkout(Some(folder.clone())).map(|_| ()));
        assert!(asked().contains("is no checkout"));
        std::fs::write(folder.join("sim/dctcp.h"), "").unwrap();
        assert!(asked().contains("is not built"));
        std::fs::write(folder.join(LIBRARY), "").unwrap();
        assert!(checkout(Some(folder.clone())).is_ok());
        std::fs::remove_dir_all(&folder).unwrap();
    }
}
