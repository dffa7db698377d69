//! What ns-3 gave when it was last asked: `ns3/reference.json`.

use std::collections::BTreeMap;
use std::path::PathBuf;

use serde::{Deserialize, Serialize};

use super::{Case, Summary, case};

/// The stored results of ns-3.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Reference {
    /// How they were made.
    pub made_by: MadeBy,
    /// Results by case and scheme: `incast-8 tcp`.
    pub cases: BTreeMap<String, Stored>,
}

/// What ns-3 gave for one case.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Stored {
    /// [`Case::fingerprint`] of the case: the result is of no use for another one.
    pub of: String,
    /// The result.
    #[serde(flatten)]
    pub summary: Summary,
}

/// How results were made.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct MadeBy {
    /// The command.
    pub command: String,
    /// The version of ns-3.
    pub ns3: String,
    /// The version of the compiler of the driver.
    pub compiler: String,
}

impl Reference {
    /// What ns-3 gave for a case.
    ///
    /// # Errors
    /// If it was not asked, or the case has changed since.
    pub fn get(&self, case: &Case) -> Result<&Summary, String> {
        let key = case.key();
        let again = "`cargo xtask compare-ns3 --bless` asks ns-3";
        match self.cases.get(&key) {
            None => Err(format!("no result of ns-3 is stored for `{key}`: {again}")),
            Some(stored) if stored.of != case.fingerprint()? => {
                Err(format!("`{key}` has changed since ns-3 was asked: {again} again"))
            }
            Some(stored) => Ok(&stored.summary),
        }
    }

    /// Puts in what ns-3 gave for a case.
    ///
    /// # Errors
    /// As [`Case::fingerprint`].
    pub fn put(&mut self, case: &Case, summary: Summary) -> Result<(), String> {
        self.cases.insert(case.key(), Stored { of: case.fingerprint()?, summary });
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

    /// Writes the file.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self) -> Result<(), String> {
        let path = path();
        std::fs::write(&path, self.text()).map_err(|e| format!("cannot write {}: {e}", path.display()))
    }

    /// A line for each case, so that a change shows which.
    fn text(&self) -> String {
        let cases = self.cases.iter().map(|(name, summary)| format!("    {}: {}", json(name), json(summary)));
        let cases: Vec<String> = cases.collect();
        format!("{{\n  \"made_by\": {},\n  \"cases\": {{\n{}\n  }}\n}}\n", json(&self.made_by), cases.join(",\n"))
    }
}

fn json(value: &impl Serialize) -> String {
    serde_json::to_string(value).expect("numbers and texts are JSON")
}

fn path() -> PathBuf {
    case::folder().join("reference.json")
}
