//! `cargo xtask deny`: that dependencies are what `deny.toml` allows, by cargo-deny.

use std::path::Path;

use crate::shell::{Call, Stop};

/// Checks licences, sources and bans, and advisories where their database can be had. Without cargo-deny the tests in
/// Python check the first three. Returns a sentence about what is unchecked, if anything is.
///
/// # Errors
/// If something is there that may not be.
pub(crate) fn check(root: &Path) -> Result<Option<&'static str>, Stop> {
    if Call::new(root, "cargo", &["deny", "--version"]).output().is_none() {
        return Ok(Some("advisories about dependencies: cargo-deny is missing (cargo install --locked cargo-deny)"));
    }
    Call::new(root, "cargo", &["deny", "--locked", "check", "licenses", "bans", "sources"]).run()?;
    if Call::new(root, "cargo", &["deny", "fetch", "db"]).output().is_none() {
        return Ok(Some("advisories about dependencies: their database cannot be had"));
    }
    Call::new(root, "cargo", &["deny", "--locked", "check", "advisories"]).run().map(|()| None)
}
