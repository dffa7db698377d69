//! The files that a scenario names, kept in its run folder as they were read.
//!
//! A copy is called by its content, `inputs/HASH-NAME`, so that the same bytes are kept once. The scenario in the
//! folder keeps the paths that its author wrote, and its table `inputs` says which copy stands for each of them.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use tailcut_record::{make_folder, set_aside, write_atomically};
use tailcut_results::content_hash;
use tailcut_sim::{Files, Problem, Tree, Value};

use crate::error::RunError;

/// The table of a scenario that says which copies stand for the files that it names.
pub(crate) const TABLE: &str = "inputs";

/// The folder of the copies, in a run folder.
const FOLDER: &str = "inputs";

/// Digits of the hash that a copy is called by.
const HASH_DIGITS: usize = 32;

/// Most characters of the name of a file that its copy keeps, from the end.
const MOST_NAME: usize = 60;

/// The copies that stand for files: paths below the run folder, by the paths as the scenario has them.
pub(crate) type Copies = BTreeMap<String, String>;

/// The copies of the files that were read.
pub(crate) fn copies(files: &Files) -> Copies {
    let copy = |(path, bytes): (PathBuf, Arc<[u8]>)| (path.to_string_lossy().into_owned(), copy_of(&path, &bytes));
    files.all_read().into_iter().map(copy).collect()
}

/// The copy of a file with this content.
fn copy_of(path: &Path, bytes: &[u8]) -> String {
    let keep = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_' | '+');
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    // The hash tells copies apart; the name is for people, and ASCII.
    let name: String = name.chars().map(|c| if keep(c) { c } else { '-' }).collect();
    format!("{FOLDER}/{}-{}", content_hash(bytes), &name[name.len().saturating_sub(MOST_NAME)..])
}

/// Whether a copy of this name may hold these bytes: a name that begins with a hash is that of its content.
fn is_intact(copy: &str, bytes: &[u8]) -> bool {
    let name = copy.rsplit('/').next().unwrap_or(copy);
    match name.split_at_checked(HASH_DIGITS) {
        Some((hash, rest)) if rest.starts_with('-') && hash.bytes().all(|b| b.is_ascii_hexdigit()) => {
            content_hash(bytes) == hash
        }
        _ => true,
    }
}

/// Writes the copies of the files that were read into the run folder `out`. One that is there already stays.
///
/// # Errors
/// If one cannot be written.
pub(crate) fn keep(out: &Path, files: &Files) -> Result<(), RunError> {
    for (path, bytes) in files.all_read() {
        let copy = out.join(copy_of(&path, &bytes));
        let io = |source| RunError::Io { path: copy.clone(), source };
        let is_there = std::fs::metadata(&copy).is_ok_and(|there| there.is_file() && there.len() == bytes.len() as u64)
            && std::fs::read(&copy).is_ok_and(|there| there[..] == bytes[..]);
        if !is_there {
            // Nothing is written through a symbolic link, and what somebody has edited is kept.
            let folder = out.join(FOLDER);
            if folder.is_symlink() {
                set_aside(&folder).map_err(io)?;
            }
            make_folder(&folder).map_err(io)?;
            if copy.symlink_metadata().is_ok() {
                set_aside(&copy).map_err(io)?;
            }
            write_atomically(&copy, |file| file.write_all(&bytes))?;
        }
    }
    Ok(())
}

/// An effective scenario with the table of these copies.
pub(crate) fn with_table(scenario: &str, copies: &Copies) -> String {
    if copies.is_empty() {
        return scenario.to_owned();
    }
    let entries = copies.iter().map(|(path, copy)| (path.as_str(), Tree::text(copy)));
    let table = Tree::of_entries([(TABLE, Tree::of_entries(entries))]);
    format!("{scenario}\n# Copies of the files that the scenario names, by their paths in it.\n{}", table.to_toml())
}

/// The files of a scenario in the folder `base`, whose table `inputs` is `table`: those that the table names are read
/// from their copies.
///
/// # Errors
/// If it is no table of paths, or a copy cannot be read or holds something else than it was made from.
pub(crate) fn files(table: Option<&Tree>, base: &Path) -> Result<Files, Problem> {
    let Some(table) = table else { return Ok(Files::at(base)) };
    let at = |problem: Problem, tree: &Tree| match tree.key_or_value() {
        Some(origin) => problem.or_at(origin),
        None => problem,
    };
    if !matches!(table.value, Value::Table(_)) {
        let problem = Problem::new(format!("`{TABLE}` is not a table of paths"));
        return Err(at(problem.help(format!("expected [{TABLE}] with the copy of each file by its path")), table));
    }
    let copies = Files::at(base);
    let mut read = BTreeMap::new();
    for (path, tree) in table.entries() {
        let Some(copy) = tree.as_str() else {
            let problem = Problem::new("this is not a path").help("expected text, such as \"inputs/flows.csv\"");
            return Err(at(problem, tree));
        };
        let bytes = copies.read(TABLE, Path::new(copy)).map_err(|invalid| {
            let problem = Problem::new(format!("the copy of `{path}` is not there: {}", invalid.message));
            at(
                problem.help(
                    "a run folder keeps the files that its scenario names in `inputs`: expected a whole copy of \
                             the folder",
                ),
                tree,
            )
        })?;
        if !is_intact(copy, &bytes) {
            let problem = Problem::new(format!("`{copy}` has changed: its name is the hash of other bytes"));
            return Err(at(problem.help(format!("expected the file that was read as `{path}`")), tree));
        }
        read.insert(PathBuf::from(path), bytes);
    }
    Ok(Files::of_read(base, read))
}

/// The damage to copies in the run folder `out`, in a sentence each.
pub(crate) fn damaged(out: &Path, copies: &Copies) -> Vec<String> {
    let wrong = |(path, copy): (&String, &String)| {
        let why = match Files::at(out).read(TABLE, Path::new(copy)) {
            Ok(bytes) if is_intact(copy, &bytes) => return None,
            Ok(_) => "it has changed".to_owned(),
            Err(invalid) => invalid.message,
        };
        Some(format!("{copy}, the copy of `{path}`: {why}"))
    };
    copies.iter().filter_map(wrong).collect()
}

/// Puts the content of the files that `configuration` names in the place of their paths, so that its text stands for
/// what is simulated wherever the files are. The extension stays, which may say how a file is read.
pub(crate) fn by_content(configuration: &mut toml::Table, files: &Files) {
    fn walk(table: &mut toml::Table, read: &BTreeMap<PathBuf, Arc<[u8]>>) {
        for (key, value) in table.iter_mut() {
            match value {
                toml::Value::Table(table) => walk(table, read),
                toml::Value::String(path) if key == "path" => {
                    if let Some(bytes) = read.get(Path::new(path.as_str())) {
                        let extension = Path::new(path.as_str()).extension().unwrap_or_default().to_string_lossy();
                        *path = format!("{}.{extension}", content_hash(bytes));
                    }
                }
                _ => {}
            }
        }
    }
    let read = files.all_read();
    for key in ["workload", "topology"] {
        if let Some(toml::Value::Table(table)) = configuration.get_mut(key)
            && !read.is_empty()
        {
            walk(table, &read);
        }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;
    use crate::plan::{Plan, RunArguments};

    const SCENARIO: &str = "schemes = [\"dctcp\"]\ntopology.star = { hosts = 4, host_link = { rate = \"10Gbps\", delay = \
                            \"1us\" } }\nworkload.traffic.a.file.path = \"lists/a b.csv\"\n";

    fn plan(text: &str, folder: &Path) -> Result<Plan, Problem> {
        Plan::parse("test.toml", text, "test", folder, &RunArguments::default())
    }

    fn keys(plan: &Plan) -> Vec<&str> {
        plan.points.iter().map(|planned| planned.point.key.as_str()).collect()
    }

    /// A folder with the list of flows that the scenario names.
    fn with_list(flows: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("lists")).unwrap();
        std::fs::write(folder.path().join("lists/a b.csv"), format!("start_ns,src,dst,size_bytes\n{flows}\n")).unwrap();
        folder
    }

    #[test]
    fn a_scenario_with_its_copies_has_the_same_points_without_the_files() {
        let (from, out) = (with_list("0,0,1,1000"), tempfile::tempdir().unwrap());
        let first = plan(SCENARIO, from.path()).unwrap();
        let copies = copies(&first.files);
        assert_eq!(copies.keys().collect::<Vec<_>>(), ["lists/a b.csv"]);
        keep(out.path(), &first.files).unwrap();
        keep(out.path(), &first.files).unwrap();
        assert_eq!(std::fs::read_dir(out.path().join(FOLDER)).unwrap().count(), 1, "it is kept once");
        drop(from);
        let saved = with_table(&first.effective, &copies);
        let again = plan(&saved, out.path()).unwrap();
        assert_eq!(keys(&again), keys(&first));
        assert_eq!(again.effective, first.effective);
        assert_eq!(super::copies(&again.files), copies);
        assert!(damaged(out.path(), &copies).is_empty());
        assert!(plan(&first.effective, out.path()).is_err(), "the file itself is gone");

        let copy = out.path().join(&copies["lists/a b.csv"]);
        std::fs::write(&copy, "start_ns,src,dst,size_bytes\n0,0,1,1001\n").unwrap();
        let changed = plan(&saved, out.path()).unwrap_err();
        assert!(changed.message().contains("has changed") && changed.origin().is_some(), "{changed}");
        assert!(damaged(out.path(), &copies)[0].ends_with("it has changed"));
        keep(out.path(), &first.files).unwrap();
        assert!(plan(&saved, out.path()).is_ok(), "it is written again");
        std::fs::remove_file(&copy).unwrap();
        assert!(plan(&saved, out.path()).unwrap_err().message().contains("is not there"));
    }

    #[test]
    fn a_table_of_copies_that_is_none_is_refused() {
        let folder = with_list("0,0,1,1000");
        for (table, part) in [
            ("inputs = 3", "not a table"),
            ("inputs.\"a\" = 3", "not a path"),
            ("inputs.\"a\" = \"b\"", "is not there"),
        ] {
            let problem = plan(&format!("{table}\n{SCENARIO}"), folder.path()).unwrap_err();
            assert!(problem.message().contains(part) && problem.origin().unwrap().line() == 1, "{problem}");
        }
    }

    proptest! {
        /// A key stands for what files hold and not for where they are or how they are called.
        #[test]
        fn keys_follow_the_content(name in "[a-z]{1,8}", size in 1u32..5000, other in 1u32..5000) {
            let first = with_list(&format!("0,0,1,{size}"));
            let second = with_list(&format!("0,0,1,{other}"));
            std::fs::rename(second.path().join("lists/a b.csv"), second.path().join(format!("{name}.csv"))).unwrap();
            let renamed = SCENARIO.replace("lists/a b.csv", &format!("{name}.csv"));
            let (first, second) = (plan(SCENARIO, first.path()).unwrap(), plan(&renamed, second.path()).unwrap());
            prop_assert_eq!(keys(&first) == keys(&second), size == other);
        }
    }
}
