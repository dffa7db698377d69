//! `cargo xtask deny`: that dependencies are what `deny.toml` allows, by cargo-deny.

use std::path::Path;

use crate::shell::{Call, Done};

/// Checks licences, sources and bans, and advisories where their database can be had. Without cargo-deny the step is
/// left out and says so; the tests in Python check the first three without it.
///
/// # Errors
/// If something is there that may not be.
pub(crate) fn check(root: &Path) -> Done {
    if Call::new(root, "cargo", &["deny", "--version"]).output().is_none() {
        println!("SKIPPED: cargo-deny is missing: cargo install --locked cargo-deny");
        return Ok(());
    }
    Call::new(root, "cargo", &["deny", "--locked", "check", "licenses", "bans", "sources"]).run()?;
    if Call::new(root, "cargo", &["deny", "fetch", "db"]).output().is_none() {
        println!("SKIPPED: the database of advisories cannot be had");
        return Ok(());
    }
    Call::new(root, "cargo", &["deny", "--locked", "check", "advisories"]).run()
}
