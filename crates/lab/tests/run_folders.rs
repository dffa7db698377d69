//! Random operations on run folders against a model: whatever is copied, swapped, renamed, cut, edited, planted or
//! lost, no number comes from anything but what the simulations of the run have written, and nothing of the user's is
//! lost.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{LazyLock, Mutex};

use proptest::prelude::*;
use proptest::sample::Index;
use tailcut_lab::{Failure, Parallelism, Plan, Progress, RunArguments, RunError, RunOptions, read_info, run, verify};
use tailcut_results::{Analysis, Point, PointSummary, Row, RunInfo, content_hash};

/// Two schemes at two loads.
const SCENARIO: &str = "schemes = [\"tcp\", \"dctcp\"]\nseeds = 1\n\
    [topology.star]\nhosts = 4\nhost_link = { rate = \"10Gbps\", delay = \"1us\" }\n\
    [workload]\nload = 0.5\nflows = 60\n\
    [workload.traffic.short]\nshare = 0.3\nsizes.fixed = \"20KB\"\nincast = { degree = 2 }\n\
    [workload.traffic.long]\nshare = 0.7\nsizes.fixed = \"100KB\"\n\
    [sweep]\n\"workload.load\" = [0.4, 0.6]\n";

/// Notes of a run.
#[derive(Default)]
struct Heard(Mutex<Vec<String>>);

impl Progress for Heard {
    fn begin(&self, _: usize, _: usize) {}
    fn advanced(&self, _: usize, _: f64) {}
    fn finished(&self, _: usize, _: &PointSummary) {}
    fn failed(&self, _: usize, failure: &Failure) {
        panic!("{}", failure.reason);
    }
    fn noticed(&self, note: &str) {
        self.0.lock().unwrap().push(note.to_owned());
    }
    fn stop(&self) -> bool {
        false
    }
}

fn plan(set: &[&str]) -> Plan {
    let arguments = RunArguments { set: set.iter().map(|&set| set.to_owned()).collect(), ..RunArguments::default() };
    let plan = Plan::parse("test.toml", SCENARIO, "test", Path::new("."), &arguments);
    plan.unwrap_or_else(|problem| panic!("{}", problem.render(false)))
}

fn run_in(plan: &Plan, out: &Path) -> (Result<(), RunError>, Vec<String>) {
    let options = RunOptions {
        out: out.to_owned(),
        parallelism: Parallelism { jobs: Some(1), threads: Some(1) },
        command: "tailcut run test.toml".to_owned(),
        shared: Vec::new(),
        executor: None,
    };
    let heard = Heard::default();
    (run(plan, &options, &heard).map(drop), heard.0.into_inner().unwrap())
}

/// The files below a folder, by their names.
type Tree = BTreeMap<PathBuf, Vec<u8>>;

fn files_of(folder: &Path) -> Tree {
    fn walk(at: &Path, root: &Path, found: &mut Tree) {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            match path.is_dir() {
                true => walk(&path, root, found),
                false => drop(found.insert(path.strip_prefix(root).unwrap().to_owned(), fs::read(&path).unwrap())),
            }
        }
    }
    let mut found = Tree::new();
    walk(folder, folder, &mut found);
    found
}

/// A run as it was written.
struct Pristine {
    plan: Plan,
    info: RunInfo,
    files: Tree,
}

impl Pristine {
    fn of(set: &[&str]) -> Pristine {
        let (plan, folder) = (plan(set), tempfile::tempdir().unwrap());
        let out = folder.path().join("run");
        run_in(&plan, &out).0.unwrap();
        Pristine { plan, info: RunInfo::read(&out).unwrap(), files: files_of(&out) }
    }

    fn write(&self, to: &Path) {
        for (name, bytes) in &self.files {
            fs::create_dir_all(to.join(name).parent().unwrap()).unwrap();
            fs::write(to.join(name), bytes).unwrap();
        }
    }

    /// The files that the simulation of a point has written.
    fn files_of(&self, point: &Point) -> Tree {
        let folder = Path::new("points").join(&point.key);
        self.files.iter().filter(|(name, _)| name.starts_with(&folder)).map(|(n, b)| (n.clone(), b.clone())).collect()
    }

    /// The points that a folder has as they were written.
    fn intact_in(&self, folder: &Path) -> BTreeSet<String> {
        let is_there = |(name, bytes): (&PathBuf, &Vec<u8>)| read(&folder.join(name)).as_ref() == Some(bytes);
        let is_intact = |point: &&Point| self.files_of(point).iter().all(is_there);
        self.info.points.iter().filter(is_intact).map(|point| point.key.clone()).collect()
    }

    fn rows(&self, folder: &Path) -> Vec<Row> {
        Analysis::of(folder, &self.info, &|| false).unwrap().rows
    }

    fn summary(&self) -> &[u8] {
        &self.files[Path::new("summary.csv")]
    }
}

/// The run of the tests, and one of another scenario with the same schemes, loads and seeds.
static OWN: LazyLock<Pristine> = LazyLock::new(|| Pristine::of(&[]));
static OTHER: LazyLock<Pristine> = LazyLock::new(|| Pristine::of(&["port.limit=30KB"]));

/// Something that is done to a run folder. Indices choose points and files of what is there.
#[derive(Clone, Debug)]
enum Operation {
    CopyPoint(Index, Index),
    SwapPoints(Index, Index),
    RenamePoint(Index),
    TakePointOfOther(Index),
    TakeFileOfOther(Index),
    TakeRunOfOther,
    Cut(Index, Index),
    Edit(Index, Index),
    Lose(Index),
    FolderInPlace(Index),
    #[cfg(unix)]
    PipeInPlace(Index),
    /// The summary as a program has written it that did not know keys.
    MakeOld(Index),
    PlantFile(Index, &'static str),
    PlantOutside(&'static str),
}

fn operation() -> impl Strategy<Value = Operation> {
    use Operation::*;
    let index = any::<Index>;
    prop_oneof![
        (index(), index()).prop_map(|(a, b)| CopyPoint(a, b)),
        (index(), index()).prop_map(|(a, b)| SwapPoints(a, b)),
        index().prop_map(RenamePoint),
        index().prop_map(TakePointOfOther),
        index().prop_map(TakeFileOfOther),
        Just(TakeRunOfOther),
        (index(), index()).prop_map(|(a, b)| Cut(a, b)),
        (index(), index()).prop_map(|(a, b)| Edit(a, b)),
        index().prop_map(Lose),
        index().prop_map(FolderInPlace),
        #[cfg(unix)]
        index().prop_map(PipeInPlace),
        index().prop_map(MakeOld),
        (index(), prop::sample::select(vec!["bursts.parquet", "throughput.parquet", ".chapter.tmpl", "notes.txt"]))
            .prop_map(|(at, name)| PlantFile(at, name)),
        prop::sample::select(vec![".my.tmp.notes", "notes/.a.tmp", "plots/mine.svg", "tables/mine.csv"])
            .prop_map(PlantOutside),
    ]
}

/// The content of a regular file: nobody writes into a pipe.
fn read(path: &Path) -> Option<Vec<u8>> {
    path.is_file().then(|| fs::read(path).unwrap())
}

fn remove(path: &Path) {
    match path.is_dir() {
        true => fs::remove_dir_all(path).unwrap(),
        false => drop(fs::remove_file(path)),
    }
}

fn copy(from: &Path, to: &Path) {
    remove(to);
    if from.is_dir() {
        for (name, bytes) in files_of_regular(from) {
            fs::create_dir_all(to.join(&name).parent().unwrap()).unwrap();
            fs::write(to.join(name), bytes).unwrap();
        }
    }
}

/// As [`files_of`], without pipes.
fn files_of_regular(folder: &Path) -> Tree {
    regular_files(folder).into_iter().map(|name| (name.clone(), fs::read(folder.join(name)).unwrap())).collect()
}

fn regular_files(folder: &Path) -> Vec<PathBuf> {
    fn walk(at: &Path, root: &Path, found: &mut Vec<PathBuf>) {
        for entry in fs::read_dir(at).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                walk(&path, root, found);
            } else if path.is_file() {
                found.push(path.strip_prefix(root).unwrap().to_owned());
            }
        }
    }
    let mut found = Vec::new();
    walk(folder, folder, &mut found);
    found.retain(|name| name != Path::new("run.lock"));
    found.sort();
    found
}

/// Does it. `mine` are the contents that only the user has, each of which must survive.
fn apply(operation: &Operation, out: &Path, mine: &mut Vec<Vec<u8>>) {
    use Operation::*;
    let points = &OWN.info.points;
    let folder = |at: &Index| points[at.index(points.len())].folder_in(out);
    let file = |at: &Index| {
        let files = regular_files(out);
        (!files.is_empty()).then(|| out.join(&files[at.index(files.len())]))
    };
    // An edit in the folder of a point is damage to be mended; elsewhere it is work of the user.
    let mut edited = |path: &Path, bytes: Vec<u8>| {
        fs::write(path, &bytes).unwrap();
        let name = path.strip_prefix(out).unwrap();
        if !name.starts_with("points") && !name.starts_with("inputs") && name != Path::new("run.json") {
            mine.push(bytes);
        }
    };
    match operation {
        CopyPoint(from, to) if folder(from) != folder(to) => copy(&folder(from), &folder(to)),
        CopyPoint(..) => {}
        SwapPoints(a, b) => {
            let (a, b, aside) = (folder(a), folder(b), out.join("points/swapped"));
            for (from, to) in [(&a, &aside), (&b, &a), (&aside, &b)] {
                if from.exists() {
                    fs::rename(from, to).unwrap();
                }
            }
        }
        RenamePoint(at) if folder(at).exists() => {
            let to = out.join("points/renamed");
            remove(&to);
            fs::rename(folder(at), to).unwrap();
        }
        RenamePoint(_) => {}
        TakePointOfOther(at) => {
            let at = at.index(points.len());
            remove(&points[at].folder_in(out));
            fs::create_dir_all(points[at].folder_in(out)).unwrap();
            for (name, bytes) in OTHER.files_of(&OTHER.info.points[at]) {
                fs::write(points[at].folder_in(out).join(name.file_name().unwrap()), bytes).unwrap();
            }
        }
        TakeFileOfOther(at) => {
            let Some(path) = file(at) else { return };
            let name = path.strip_prefix(out).unwrap();
            let own = points.iter().position(|point| path.starts_with(point.folder_in(out)));
            let name = match own {
                Some(at) => Path::new("points").join(&OTHER.info.points[at].key).join(name.file_name().unwrap()),
                None => name.to_owned(),
            };
            if let Some(bytes) = OTHER.files.get(&name) {
                edited(&path, bytes.clone());
            }
        }
        TakeRunOfOther => fs::write(out.join("run.json"), &OTHER.files[Path::new("run.json")]).unwrap(),
        Cut(at, place) => {
            let Some(path) = file(at) else { return };
            let mut bytes = fs::read(&path).unwrap();
            bytes.truncate(place.index(bytes.len().max(1)));
            edited(&path, bytes);
        }
        Edit(at, place) => {
            let Some(path) = file(at) else { return };
            let mut bytes = fs::read(&path).unwrap();
            if !bytes.is_empty() {
                let place = place.index(bytes.len());
                bytes[place] ^= 1;
                edited(&path, bytes);
            }
        }
        Lose(at) => file(at).iter().for_each(|path| remove(path)),
        FolderInPlace(at) => {
            let Some(path) = file(at) else { return };
            remove(&path);
            fs::create_dir(&path).unwrap();
        }
        #[cfg(unix)]
        PipeInPlace(at) => {
            let Some(path) = file(at) else { return };
            remove(&path);
            assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        }
        MakeOld(at) => {
            let path = folder(at).join("summary.json");
            let Some(text) = read(&path).and_then(|bytes| String::from_utf8(bytes).ok()) else { return };
            let lines: Vec<&str> = text.lines().filter(|line| !line.starts_with("  \"key\"")).collect();
            let Some((body, _)) = lines.join("\n").rsplit_once(",\n  \"seal\"").map(|(a, b)| (a.to_owned(), b.len()))
            else {
                return;
            };
            fs::write(&path, format!("{body},\n  \"seal\": \"{}\"\n}}\n", content_hash(body.as_bytes()))).unwrap();
        }
        PlantFile(at, name) if folder(at).is_dir() => {
            let bytes = format!("planted {name}").into_bytes();
            fs::write(folder(at).join(name), &bytes).unwrap();
        }
        PlantFile(..) => {}
        PlantOutside(name) => {
            let path = out.join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            edited(&path, format!("my {name}").into_bytes());
        }
    }
}

/// Compares the state of the folder after the operations with the model.
fn check(out: &Path) -> Result<(), TestCaseError> {
    let intact = OWN.intact_in(out);
    let found = verify(out, &OWN.info);
    let keys: BTreeSet<String> = found.intact.iter().map(|(point, _)| point.key.clone()).collect();
    prop_assert_eq!(&keys, &intact, "{:?}", found.damaged);
    // Statistics are those of the intact points alone.
    let undisturbed = tempfile::tempdir().unwrap();
    OWN.write(undisturbed.path());
    for point in OWN.info.points.iter().filter(|point| !intact.contains(&point.key)) {
        fs::remove_file(point.folder_in(undisturbed.path()).join("summary.json")).unwrap();
    }
    prop_assert_eq!(OWN.rows(out), OWN.rows(undisturbed.path()));
    // Every file of the whole run is as it was, or named.
    let of_run = |name: &&PathBuf| !name.starts_with("points") && name.file_name().is_some_and(|n| n != "run.lock");
    for name in OWN.files.keys().filter(of_run).filter(|name| *name != Path::new("run.json")) {
        let is_same = regular_files(out).contains(name) && fs::read(out.join(name)).unwrap() == OWN.files[name];
        let is_named = found.damaged_files.iter().any(|said| said.starts_with(&format!("{}: ", name.display())));
        // Of the scenario only the command and the version may change unnoticed.
        let is_head = name == Path::new("scenario.toml");
        prop_assert!(is_same != is_named || is_head, "{}: {:?}", name.display(), found.damaged_files);
    }
    // `run.json` is read if it is the one of a run, whole.
    let now = read(&out.join("run.json"));
    let whole = [&OWN, &OTHER].map(|run| &run.files[Path::new("run.json")]);
    let is_whole = now.is_some_and(|now| whole.contains(&&now));
    prop_assert_eq!(read_info(out, "").is_ok(), is_whole);
    Ok(())
}

/// The run goes on in the folder, or says why not.
fn check_run(out: &Path, mine: &[Vec<u8>]) -> Result<(), TestCaseError> {
    let intact = OWN.intact_in(out);
    let info = read_info(out, "");
    let (outcome, heard) = run_in(&OWN.plan, out);
    let is_own = info.as_ref().is_ok_and(|info| info.scenario_toml == OWN.info.scenario_toml);
    let is_other = info.is_ok() && !is_own;
    if is_other || (!is_own && intact.is_empty()) {
        prop_assert!(matches!(outcome, Err(RunError::Folder { .. })), "{outcome:?}");
    } else {
        prop_assert!(outcome.is_ok(), "{outcome:?}");
        prop_assert_eq!(is_own, !heard.iter().any(|note| note.contains("written anew")), "{:?}", heard);
        prop_assert_eq!(&fs::read(out.join("summary.csv")).unwrap()[..], OWN.summary());
        let found = verify(out, &RunInfo::read(out).unwrap());
        prop_assert_eq!(found.intact.len(), OWN.info.points.len(), "{:?}", found.damaged);
        prop_assert!(found.damaged_files.is_empty(), "{:?}", found.damaged_files);
        let (again, heard) = run_in(&OWN.plan, out);
        prop_assert!(again.is_ok() && heard.is_empty(), "{heard:?}");
    }
    let there: Vec<Vec<u8>> = regular_files(out).iter().map(|name| fs::read(out.join(name)).unwrap()).collect();
    for bytes in mine {
        prop_assert!(there.contains(bytes), "lost: {}", String::from_utf8_lossy(&bytes[..bytes.len().min(200)]));
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 300, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_number_comes_from_anything_but_intact_runs(operations in prop::collection::vec(operation(), 1..6)) {
        let out = tempfile::tempdir().unwrap();
        OWN.write(out.path());
        for operation in &operations {
            apply(operation, out.path(), &mut Vec::new());
        }
        check(out.path())?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 40, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_run_goes_on_in_any_folder_of_its_own_and_keeps_what_the_user_wrote(
        operations in prop::collection::vec(operation(), 1..5),
    ) {
        let out = tempfile::tempdir().unwrap();
        OWN.write(out.path());
        let mut mine = Vec::new();
        for operation in &operations {
            let before = mine.len();
            apply(operation, out.path(), &mut mine);
            // Contents that another operation has overwritten are not there any more.
            let there: Vec<Vec<u8>> = files_of_regular(out.path()).into_values().collect();
            let mut at = 0;
            mine.retain(|bytes| { at += 1; at > before || there.contains(bytes) });
        }
        check_run(out.path(), &mine)?;
    }
}
