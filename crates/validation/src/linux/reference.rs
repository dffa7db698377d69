//! The stored answers of Linux: `linux/reference.json`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::case::{self, Case};

/// The stored answers.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// How they were made.
    pub made_by: MadeBy,
    /// Answers by case and scheme.
    pub cases: BTreeMap<String, Stored>,
}

/// The answer to one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stored {
    /// [`Case::fingerprint`] of the case.
    pub of: String,
    /// The answer.
    #[serde(flatten)]
    pub answer: Answer,
}

/// How answers were made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MadeBy {
    /// The command.
    pub command: String,
    /// The version of the kernel's sources.
    pub kernel: String,
    /// Hash of the kernel's options.
    pub options: String,
    /// Hash of the edits of the kernel's sources.
    pub edits: String,
    /// Hash of the driver.
    pub driver: String,
}

impl Reference {
    /// The answer to a case.
    ///
    /// # Errors
    /// If there is none, or the case has changed since.
    pub fn get(&self, case: &Case) -> Result<&Answer, String> {
        let key = case.key();
        let again = "run `cargo xtask compare-linux --bless`";
        match self.cases.get(&key) {
            None => Err(format!("no answer of Linux is stored for `{key}`: {again}")),
            Some(stored) if stored.of != case.fingerprint()? => {
                Err(format!("`{key}` has changed since its answer was stored: {again} {}", case.spec.name))
            }
            Some(stored) => Ok(&stored.answer),
        }
    }

    /// Puts in the answer to a case.
    ///
    /// # Errors
    /// As [`Case::fingerprint`].
    pub fn put(&mut self, case: &Case, answer: Answer) -> Result<(), String> {
        self.cases.insert(case.key(), Stored { of: case.fingerprint()?, answer });
        Ok(())
    }

    /// Reads the stored file; an empty reference if there is none.
    ///
    /// # Errors
    /// If it is there and cannot be read.
    pub fn read() -> Result<Reference, String> {
        let path = path();
        if !path.exists() {
            return Ok(Reference::default());
        }
        let text = std::fs::read_to_string(&path).map_err(|e| format!("cannot read {}: {e}", path.display()))?;
        serde_json::from_str(&text).map_err(|e| format!("{}: {e}", path.display()))
    }

    /// Writes the file: a line for each case, so that a change shows which.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self) -> Result<(), String> {
        let path = path();
        let cases = self.cases.iter().map(|(name, stored)| format!("    {}: {}", json(name), json(stored)));
        let cases: Vec<String> = cases.collect();
        let made_by = json(&self.made_by);
        let text = format!("{{\n  \"made_by\": {made_by},\n  \"cases\": {{\n{}\n  }}\n}}\n", cases.join(",\n"));
        std::fs::write(&path, text).map_err(|e| format!("cannot write {}: {e}", path.display()))
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("numbers and texts are JSON")
}

fn path() -> PathBuf {
    case::folder().join("reference.json")
}
