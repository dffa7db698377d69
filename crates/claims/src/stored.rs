//! Judgements in files: `FOLDER/SCALE/EXPERIMENT.toml`.

use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tailcut_record::{RecordError, write_atomically};

use crate::catalogue::catalogue;
use crate::judgement::Judgement;

/// The scales at which experiments are run, the one that counts more first.
pub const SCALES: [&str; 2] = ["paper", "quick"];

/// What one run of an experiment says of its claims.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Stored {
    /// Name of the experiment.
    pub experiment: String,
    /// The scale at which it was run: `quick` or `paper`.
    pub scale: String,
    /// The command that runs it again.
    pub command: String,
    /// Version of tailcut.
    pub version: String,
    /// The seeds.
    pub seeds: Vec<u64>,
    /// What else is to be known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// A judgement for each claim.
    #[serde(default, rename = "judgement")]
    pub judgements: Vec<Judgement>,
}

/// Why judgements could not be read or written.
#[derive(Debug, thiserror::Error)]
pub enum ClaimsError {
    /// A file could not be read or written.
    #[error(transparent)]
    File(#[from] RecordError),
    /// A file is not of the form of judgements.
    #[error("{}: {message}", path.display())]
    Form {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        message: String,
    },
}

impl Stored {
    /// The file of an experiment in a folder of results.
    pub fn path(folder: &Path, scale: &str, experiment: &str) -> PathBuf {
        folder.join(scale).join(format!("{experiment}.toml"))
    }

    /// Reads a file.
    ///
    /// # Errors
    /// If it cannot be read, is not of this form, or judges a claim that does not exist.
    pub fn read(path: &Path) -> Result<Stored, ClaimsError> {
        let text =
            std::fs::read_to_string(path).map_err(|source| RecordError::Read { path: path.to_owned(), source })?;
        let form = |message: String| ClaimsError::Form { path: path.to_owned(), message };
        let stored: Stored = toml::from_str(&text).map_err(|error| form(error.to_string().trim_end().to_owned()))?;
        if !SCALES.contains(&stored.scale.as_str()) {
            return Err(form(format!("there is no scale `{}`: quick or paper", stored.scale)));
        }
        match stored.judgements.iter().find(|judgement| catalogue().claim(&judgement.id).is_none()) {
            Some(unknown) => Err(form(format!("there is no claim `{}`", unknown.id))),
            None => Ok(stored),
        }
    }

    /// Writes a file, whole or not at all. Its folder is made.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), ClaimsError> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|source| RecordError::Write { path: folder.to_owned(), source })?;
        }
        let text = toml::to_string(self)
            .map_err(|error| ClaimsError::Form { path: path.to_owned(), message: error.to_string() })?;
        Ok(write_atomically(path, |out| out.write_all(text.as_bytes()))?)
    }

    /// Reads every file of a folder of results, those of the scale that counts more first; only those of `scale`, if it
    /// is given. A folder that does not exist holds none.
    ///
    /// # Errors
    /// If a file cannot be read or is not of this form.
    pub fn read_all(folder: &Path, scale: Option<&str>) -> Result<Vec<Stored>, ClaimsError> {
        let mut all = Vec::new();
        for known in SCALES.into_iter().filter(|known| scale.is_none_or(|scale| scale == *known)) {
            let folder = folder.join(known);
            let entries = match std::fs::read_dir(&folder) {
                Ok(entries) => entries,
                Err(error) if error.kind() == ErrorKind::NotFound => continue,
                Err(source) => return Err(RecordError::Read { path: folder, source }.into()),
            };
            let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
            paths.retain(|path| path.extension().is_some_and(|extension| extension == "toml"));
            paths.sort();
            for path in paths {
                let stored = Stored::read(&path)?;
                if stored.scale != known {
                    let message = format!("it is of the scale `{}`, but in the folder of `{known}`", stored.scale);
                    return Err(ClaimsError::Form { path, message });
                }
                all.push(stored);
            }
        }
        Ok(all)
    }
}
