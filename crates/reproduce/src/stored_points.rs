//! The digests of the simulations that stored results come from: `SCALE/studies/STUDY.points.csv`.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use tailcut_base::mix64;
use tailcut_claims::ClaimsError;
use tailcut_lab::{Plan, PlannedPoint};
use tailcut_record::{RecordError, write_atomically};
use tailcut_results::{Point, PointSummary};
use tailcut_sim::Problem;

use crate::reading::Reading;
use crate::scale::Scale;
use crate::study::Study;

/// One simulation, and what it came to.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct StoredPoint {
    /// The plan that it is a point of: a scale of a study.
    pub plan: String,
    /// Its scheme.
    pub scheme: String,
    /// Its swept values, in the order of the axes.
    pub values: String,
    /// Its seed.
    pub seed: u64,
    /// A fingerprint of its configuration, in hexadecimal digits.
    pub content: String,
    /// Packets over links: how large it is.
    pub packet_hops: u64,
    /// Of the beginning of a simulation: what happens until this moment, in ns, makes its digest.
    #[serde(default)]
    pub until_ns: Option<u64>,
    /// The digest of its events, in hexadecimal digits.
    pub digest: String,
}

/// What stands between two swept values.
const BETWEEN: &str = "; ";

impl StoredPoint {
    /// Whether it is this point of this plan, whatever its configuration, whole or its beginning.
    fn is(&self, plan: &str, point: &Point, whole: bool) -> bool {
        self.until_ns.is_none() == whole
            && self.plan == plan
            && self.scheme == point.scheme
            && self.values == point.values.join(BETWEEN)
            && self.seed == point.seed
    }

    /// Whether it was simulated from the configuration of this point.
    pub(crate) fn has_content_of(&self, planned: &PlannedPoint) -> bool {
        self.content == content(planned)
    }
}

fn content(planned: &PlannedPoint) -> String {
    format!("{:016x}", planned.content)
}

/// What a plan simulates, in hexadecimal digits: two plans with the same fingerprint have the same configurations of
/// their first seed, in the same order.
pub fn fingerprint(plan: &Plan) -> String {
    let first = plan.points.first().map(|planned| planned.point.seed);
    let of_first = plan.points.iter().filter(|planned| Some(planned.point.seed) == first);
    fingerprint_of(of_first.map(|planned| planned.content))
}

fn fingerprint_of(contents: impl IntoIterator<Item = u64>) -> String {
    format!("{:016x}", contents.into_iter().fold(0, |all, content| mix64(all ^ content)))
}

/// The fingerprint of what a study simulates at a scale under a reading, such as `base` or `a+b`; `None` if it cannot
/// be read so.
pub fn fingerprint_under(study: &Study, scale: Scale, reading: &str) -> Option<String> {
    study.contents(scale, &Reading::parse(reading)).ok().map(fingerprint_of)
}

/// The simulations that stored results come from.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct StoredPoints(pub Vec<StoredPoint>);

impl StoredPoints {
    /// The file of a study in a folder of results; `setting` is its scale, with its variant if it has one.
    pub fn path(results: &Path, setting: &str, study: &str) -> PathBuf {
        results.join(setting).join("studies").join(format!("{study}.points.csv"))
    }

    /// The finished points of a plan, which is called `name`.
    pub fn of(name: &str, plan: &Plan, finished: &[PointSummary]) -> StoredPoints {
        let summary = |point: &Point| {
            finished
                .iter()
                .find(|one| one.scheme == point.scheme && one.values == point.values && one.seed == point.seed)
        };
        let stored = |planned: &PlannedPoint| {
            let engine = &summary(&planned.point)?.engine;
            Some(StoredPoints::point(name, planned, engine.packet_hops, engine.digest.clone()))
        };
        StoredPoints(plan.points.iter().filter_map(stored).collect())
    }

    /// One point of the plan `name`.
    pub(crate) fn point(name: &str, planned: &PlannedPoint, packet_hops: u64, digest: String) -> StoredPoint {
        let Point { scheme, values, seed, .. } = &planned.point;
        StoredPoint {
            plan: name.to_owned(),
            scheme: scheme.clone(),
            values: values.join(BETWEEN),
            seed: *seed,
            content: content(planned),
            packet_hops,
            until_ns: None,
            digest,
        }
    }

    /// The simulation of this point of the plan `name`, if it is stored.
    pub fn find(&self, name: &str, point: &Point) -> Option<&StoredPoint> {
        self.0.iter().find(|stored| stored.is(name, point, true))
    }

    /// The beginning of that simulation, if one is stored.
    pub(crate) fn find_beginning(&self, name: &str, point: &Point) -> Option<&StoredPoint> {
        self.0.iter().find(|stored| stored.is(name, point, false))
    }

    /// The whole simulations of the plan `name`.
    pub(crate) fn of_plan(&self, name: &str) -> impl Iterator<Item = &StoredPoint> {
        self.0.iter().filter(move |point| point.plan == name && point.until_ns.is_none())
    }

    /// The plan `name` with the seeds that are stored of it beside its own.
    ///
    /// # Errors
    /// If what one of them draws does not fit the plan.
    pub(crate) fn with_their_seeds(&self, name: &str, plan: &Plan) -> Result<Plan, Problem> {
        let stored = self.of_plan(name).map(|point| point.seed);
        let more: BTreeSet<u64> = stored.filter(|seed| !plan.seeds.contains(seed)).collect();
        if more.is_empty() {
            return Ok(plan.clone());
        }
        let seeds: Vec<u64> = plan.seeds.iter().copied().chain(more).collect();
        plan.with_seeds(&seeds)
    }

    /// Reads a file; `None` if there is none.
    ///
    /// # Errors
    /// If it cannot be read, or is not of this form.
    pub fn read(path: &Path) -> Result<Option<StoredPoints>, ClaimsError> {
        if !path.exists() {
            return Ok(None);
        }
        let text =
            std::fs::read_to_string(path).map_err(|source| RecordError::Read { path: path.to_owned(), source })?;
        let points: Result<Vec<StoredPoint>, csv::Error> =
            csv::Reader::from_reader(text.as_bytes()).deserialize().collect();
        match points {
            Ok(points) => Ok(Some(StoredPoints(points))),
            Err(error) => Err(ClaimsError::Form { path: path.to_owned(), message: error.to_string() }),
        }
    }

    /// Writes a file, whole or not at all. Its folder is made.
    ///
    /// # Errors
    /// If it cannot be written.
    pub fn write(&self, path: &Path) -> Result<(), ClaimsError> {
        let form = |error: String| ClaimsError::Form { path: path.to_owned(), message: error };
        let mut out = csv::Writer::from_writer(Vec::new());
        self.0.iter().try_for_each(|point| out.serialize(point)).map_err(|error| form(error.to_string()))?;
        let text = out.into_inner().map_err(|error| form(error.to_string()))?;
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|source| RecordError::Write { path: folder.to_owned(), source })?;
        }
        Ok(write_atomically(path, |file| file.write_all(&text))?)
    }
}
