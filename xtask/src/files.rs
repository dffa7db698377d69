//! The files of the repository.

use std::path::{Path, PathBuf};

use crate::shell::{Call, Stop};

/// Folders that hold nothing of the repository's own, for a copy without git. In a worktree `.git` is a file.
const FOREIGN: [&str; 8] = [".git", ".venv", ".pytest_cache", "__pycache__", "artifacts", "corpus", "runs", "target"];

/// Every file that git knows or would add, relative to `root`, in order. Without git: every file that is not in a
/// folder of generated ones.
///
/// # Errors
/// If the folder cannot be read.
pub(crate) fn all(root: &Path) -> Result<Vec<PathBuf>, Stop> {
    let known = Call::new(root, "git", &["ls-files", "-z", "--cached", "--others", "--exclude-standard"]).output();
    let mut files: Vec<PathBuf> = match known {
        // A file that was removed but is still in the index is not there to be checked.
        Some(list) if !list.is_empty() => {
            list.split('\0').filter(|name| root.join(name).is_file()).map(PathBuf::from).collect()
        }
        _ => {
            let mut files = Vec::new();
            walk(root, Path::new(""), &mut files)
                .map_err(|e| Stop::Unusable(format!("cannot list {}: {e}", root.display())))?;
            files
        }
    };
    files.sort();
    files.dedup();
    Ok(files)
}

fn walk(root: &Path, folder: &Path, files: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in std::fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if FOREIGN.iter().any(|name| entry.file_name() == *name) {
            continue;
        }
        if entry.file_type()?.is_dir() {
            walk(root, &path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// Those with this extension.
pub(crate) fn with_extension<'a>(files: &'a [PathBuf], extension: &str) -> Vec<&'a PathBuf> {
    files.iter().filter(|file| file.extension().is_some_and(|e| e == extension)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_ways_to_list_the_repository_find_this_file() {
        let root = crate::root();
        let this = PathBuf::from("xtask/src/files.rs");
        assert!(all(&root).unwrap().contains(&this));
        let mut walked = Vec::new();
        walk(&root, Path::new(""), &mut walked).unwrap();
        assert!(walked.contains(&this));
        assert!(!walked.iter().any(|file| file.starts_with("target") || file.starts_with(".git")));
    }
}
