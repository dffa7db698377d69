//! A run folder: what is finished, what is under way, and what is made of it for a browser.

use std::collections::BTreeMap;
use std::path::{Component, Path, PathBuf};
use std::sync::{Mutex, MutexGuard, PoisonError};

use bytes::Bytes;
use serde_json::{Value, json};
use tailcut_lab::explain::{Choice, Replays, chosen, flow_page, slowest, stories};
use tailcut_lab::{UnderWay, expected_hops, page_so_far, read_info};
use tailcut_results::{Point, PointSummary, RunInfo};
use tailcut_sim::Problem;

use crate::body::Body;

/// Flows that are listed as the slowest.
const SLOWEST: usize = 12;
/// Points under way that are told of one by one.
const TOLD: usize = 64;

/// A run folder that is looked at.
pub(crate) struct Folder {
    path: PathBuf,
    /// The letter by which addresses name it.
    letter: char,
    known: Mutex<Known>,
    /// One simulation at a time is run again: the run itself needs the machine.
    explaining: Mutex<BTreeMap<(String, u32), Bytes>>,
}

/// What was read before.
#[derive(Default)]
struct Known {
    /// Of each finished point its packets over links, and its wall-clock time in s.
    finished: BTreeMap<String, (f64, f64)>,
    /// Of which points the forecast was made, and what it says.
    expected: Option<(Vec<Point>, BTreeMap<String, f64>)>,
    /// The page, by what was finished then.
    page: Option<(String, Bytes)>,
    slowest: BTreeMap<(String, String), Bytes>,
}

fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Folder {
    /// # Errors
    /// If the folder holds no run.
    pub(crate) fn open(path: &Path, letter: char) -> Result<Folder, Problem> {
        let folder = Folder { path: path.to_owned(), letter, known: Mutex::default(), explaining: Mutex::default() };
        folder.info()?;
        Ok(folder)
    }

    pub(crate) fn letter(&self) -> char {
        self.letter
    }

    /// The run; it may have got further points since it was read last.
    fn info(&self) -> Result<RunInfo, Problem> {
        read_info(&self.path, "such as runs/tail")
    }

    /// What is finished: another text whenever something was finished, or run again.
    fn stamp(&self, info: &RunInfo, known: &mut Known) -> String {
        let mut stamp = String::new();
        known.finished.retain(|key, _| info.points.iter().any(|point| point.key == *key));
        for point in &info.points {
            let Ok(Some(PointSummary { engine, files, .. })) = point.summary_in(&self.path) else {
                known.finished.remove(&point.key);
                continue;
            };
            known.finished.insert(point.key.clone(), (engine.packet_hops as f64, engine.wall_ns as f64 / 1e9));
            // Hashes of all files would take too long for a page that asks every second.
            let folder = point.folder_in(&self.path);
            for name in files.keys().map(String::as_str).chain(["summary.json"]) {
                let there = std::fs::metadata(folder.join(name));
                let there = there.ok().map(|there| (there.len(), there.modified().ok()));
                stamp.push_str(&format!("{} {name} {there:?}\n", point.key));
            }
        }
        format!("{}-{}", info.points.len(), tailcut_lab::fingerprint(stamp.as_bytes()))
    }

    /// How far the run is.
    ///
    /// # Errors
    /// If the folder is gone.
    pub(crate) fn state(&self) -> Result<Value, Problem> {
        let info = self.info()?;
        let mut known = locked(&self.known);
        let stamp = self.stamp(&info, &mut known);
        if known.expected.as_ref().is_none_or(|(points, _)| *points != info.points) {
            known.expected = Some((info.points.clone(), expected_hops(&self.path, &info)));
        }
        let (mut under_way, mut failed) = (Vec::new(), Vec::new());
        for point in info.points.iter().filter(|point| !known.finished.contains_key(&point.key)) {
            let folder = point.folder_in(&self.path);
            if let Some(far) = UnderWay::of(&folder) {
                under_way.push((point, far));
            } else if let Some(reason) = point.failure_in(&self.path) {
                failed.push((point, reason));
            }
        }
        let left_s = left(&info, &known, &under_way, failed.len());
        let words = |point: &Point| {
            let values = info.axes.iter().zip(&point.values).map(|(axis, value)| format!("{} = {value}", axis.path));
            let seed = format!("seed {}", point.seed);
            [point.scheme.clone()].into_iter().chain(values).chain([seed]).collect::<Vec<_>>().join(", ")
        };
        Ok(json!({
            "letter": self.letter,
            "folder": self.path,
            "title": info.title,
            "classes": info.classes,
            "stamp": stamp,
            "points": info.points.len(),
            "finished": known.finished.len(),
            "left_s": left_s,
            "under_way": under_way.iter().take(TOLD).map(|(point, far)| json!({
                "key": point.key,
                "words": words(point),
                "fraction": far.fraction,
                "simulated_ns": far.simulated_ns,
                "elapsed_s": far.elapsed_s,
                "left_s": far.left_s(),
            })).collect::<Vec<_>>(),
            "failed": failed.iter().map(|(point, reason)| json!({
                "key": point.key, "words": words(point), "reason": reason,
            })).collect::<Vec<_>>(),
        }))
    }

    /// The page of what is finished.
    ///
    /// # Errors
    /// If a file cannot be read.
    pub(crate) fn page(&self) -> Result<Bytes, Problem> {
        let info = self.info()?;
        let stamp = self.stamp(&info, &mut locked(&self.known));
        if let Some((_, page)) = locked(&self.known).page.as_ref().filter(|(known, _)| *known == stamp) {
            return Ok(page.clone());
        }
        let page = page_so_far(&self.path, &info, &|| false).map_err(|error| Problem::new(error.to_string()))?;
        let page = Bytes::from(page);
        locked(&self.known).page = Some((stamp, page.clone()));
        Ok(page)
    }

    /// The slowest flows of what is finished, of one class if it is given, as JSON.
    ///
    /// # Errors
    /// If nothing is finished, or there is no such class.
    pub(crate) fn slowest(&self, class: Option<&str>) -> Result<Bytes, Problem> {
        let info = self.info()?;
        let stamp = self.stamp(&info, &mut locked(&self.known));
        let key = (stamp, class.unwrap_or_default().to_owned());
        if let Some(told) = locked(&self.known).slowest.get(&key) {
            return Ok(told.clone());
        }
        let points = chosen(&self.path, &info, &Choice::default())?;
        let flows = slowest(&self.path, &info, &points, SLOWEST, class)?;
        let told = flows.iter().map(|slow| {
            let point = &points[slow.point].0;
            json!({
                "point": point.key,
                "scheme": point.scheme,
                "values": point.values,
                "seed": point.seed,
                "flow": slow.flow,
                "fct_ns": slow.fct.as_ns_f64(),
            })
        });
        let told = Bytes::from(Value::Array(told.collect()).to_string());
        let mut known = locked(&self.known);
        known.slowest.retain(|(stamp, _), _| *stamp == key.0);
        known.slowest.insert(key, told.clone());
        Ok(told)
    }

    /// Why a flow of a finished point was slow, as a page. The point is simulated again.
    ///
    /// # Errors
    /// If there is no such point or flow, or it comes to something else than what was saved.
    pub(crate) fn explain(&self, key: &str, flow: u32) -> Result<Bytes, Problem> {
        // Who asks for the same meanwhile waits here, and finds it.
        let mut explaining = locked(&self.explaining);
        if let Some(page) = explaining.get(&(key.to_owned(), flow)) {
            return Ok(page.clone());
        }
        let info = self.info()?;
        let points = chosen(&self.path, &info, &Choice::default())?;
        let Some((point, summary)) = points.into_iter().find(|(point, _)| point.key == key) else {
            return Err(Problem::new(format!("the run has no finished point {key:?}")));
        };
        let replay = Replays::of(&self.path, &info)?.point(&point, &summary)?;
        let told = stories(&replay, &[flow])?;
        let page = Bytes::from(flow_page(&info, &replay.words(&info), &told));
        explaining.insert((key.to_owned(), flow), page.clone());
        Ok(page)
    }

    /// A file of the folder by the parts of its path.
    pub(crate) fn file(&self, path: &[&str]) -> Option<Body> {
        Body::file(&self.inside(path).filter(|file| file.is_file())?).ok()
    }

    /// The names in a folder of the folder, those of folders with a slash.
    pub(crate) fn names(&self, path: &[&str]) -> Option<Vec<String>> {
        let entries = std::fs::read_dir(self.inside(path)?).ok()?.flatten();
        let name = |entry: std::fs::DirEntry| {
            let slash = if entry.path().is_dir() { "/" } else { "" };
            Some(format!("{}{slash}", entry.file_name().to_str().filter(|name| !name.starts_with('.'))?))
        };
        let mut names: Vec<String> = entries.filter_map(name).collect();
        names.sort_unstable();
        Some(names)
    }

    /// What is at this path: nothing that leads out of the folder, and nothing hidden.
    fn inside(&self, path: &[&str]) -> Option<PathBuf> {
        let is_plain = |part: &&str| {
            let mut components = Path::new(part).components();
            matches!((components.next(), components.next()), (Some(Component::Normal(_)), None))
                && !part.contains('/')
                && !part.starts_with('.')
        };
        if path.is_empty() || !path.iter().all(is_plain) {
            return None;
        }
        let (root, path) = (self.path.canonicalize().ok()?, self.path.join(path.iter().collect::<PathBuf>()));
        path.canonicalize().ok().filter(|path| path.starts_with(&root))
    }
}

/// How many seconds the run still takes: what is expected of the points that are left, at the pace of those that are
/// finished, side by side as many as are under way.
fn left(info: &RunInfo, known: &Known, under_way: &[(&Point, UnderWay)], failed: usize) -> Option<f64> {
    if under_way.is_empty() || known.finished.len() + failed == info.points.len() {
        return None;
    }
    let expected = known.expected.as_ref().map(|(_, expected)| expected);
    let weight = |key: &str| expected.and_then(|expected| expected.get(key)).copied().unwrap_or(1.0);
    let done = known.finished.iter().map(|(key, (_, wall_s))| (weight(key), *wall_s));
    let far = under_way.iter().map(|(point, far)| (weight(&point.key) * far.fraction, far.elapsed_s));
    let (work, time) = done.chain(far).fold((0.0, 0.0), |(work, time), (w, t)| (work + w, time + t));
    let is_open = |point: &&Point| !known.finished.contains_key(&point.key);
    let all: f64 = info.points.iter().filter(is_open).map(|point| weight(&point.key)).sum();
    let begun: f64 = under_way.iter().map(|(point, far)| weight(&point.key) * far.fraction).sum();
    (work > 0.0).then(|| (all - begun).max(0.0) * time / work / under_way.len() as f64)
}
