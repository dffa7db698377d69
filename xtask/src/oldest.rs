//! `cargo xtask oldest`: that the workspace builds with the oldest Rust that it says will do.

use std::path::Path;

use crate::shell::{Call, Done, Stop};

/// Checks every crate, without its tests, with the toolchain of `rust-version`, in a target folder of its own. Without
/// rustup, or where the toolchain can neither be found nor installed, the step is left out and says so.
///
/// # Errors
/// If it does not build.
pub(crate) fn check(root: &Path) -> Done {
    let manifest = std::fs::read_to_string(root.join("Cargo.toml"))
        .map_err(|e| Stop::Unusable(format!("{}: {e}", root.join("Cargo.toml").display())))?;
    let Some(oldest) = oldest(&manifest) else {
        return Err(Stop::Unusable("Cargo.toml has no `rust-version = \"...\"`".to_owned()));
    };
    let current = Call::new(root, "rustc", &["--version"]).output().unwrap_or_default();
    if is_of(&current, oldest) {
        println!("the tests were built with it: {}", current.trim());
        return Ok(());
    }
    if Call::new(root, "rustup", &["--version"]).output().is_none() {
        println!("SKIPPED: there is no rustup, which has other versions of Rust than {}", current.trim());
        return Ok(());
    }
    let is_there = || Call::new(root, "rustup", &["run", oldest, "rustc", "--version"]).output().is_some();
    if !is_there() {
        println!("installing Rust {oldest}");
        let install = ["toolchain", "install", oldest, "--profile", "minimal", "--no-self-update"];
        if Call::new(root, "rustup", &install).output().is_none() || !is_there() {
            println!("SKIPPED: Rust {oldest} cannot be had: rustup toolchain install {oldest} --profile minimal");
            return Ok(());
        }
    }
    let check = ["run", oldest, "cargo", "check", "--locked", "--workspace", "--quiet"];
    Call::new(root, "rustup", &check).args(["--target-dir", "target/oldest"]).run().map_err(|stop| match stop {
        Stop::Failed(message) => Stop::Failed(format!(
            "{message}: with Rust {oldest}, which Cargo.toml gives as `rust-version`, the workspace does not build"
        )),
        other => other,
    })
}

/// The version in a manifest's `rust-version = "1.89"`.
fn oldest(manifest: &str) -> Option<&str> {
    let value = manifest.lines().find_map(|line| line.strip_prefix("rust-version")?.trim_start().strip_prefix('='))?;
    value.trim().strip_prefix('"')?.strip_suffix('"')
}

/// Whether `rustc --version` has printed a version of this `major.minor` or `major.minor.patch`.
fn is_of(printed: &str, version: &str) -> bool {
    let mut wanted = version.split('.');
    let mut got = printed.split_whitespace().nth(1).unwrap_or_default().split('.');
    wanted.all(|part| got.next() == Some(part))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_is_read_and_compared_by_its_parts() {
        assert_eq!(oldest("[workspace.package]\nedition = \"2024\"\nrust-version = \"1.89\"\n"), Some("1.89"));
        assert_eq!(oldest("[workspace]\n"), None);
        assert!(is_of("rustc 1.89.0 (29483883e 2025-08-04)", "1.89"));
        assert!(is_of("rustc 1.89.1 (29483883e 2025-08-04)", "1.89.1"));
        assert!(!is_of("rustc 1.95.0 (59807616e 2026-04-14)", "1.89"));
        assert!(!is_of("rustc 1.8.9", "1.89") && !is_of("", "1.89"));
    }
}
