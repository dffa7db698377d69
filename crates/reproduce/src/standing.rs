//! Whether stored results still hold for this program.
//!
//! A study has one simulation that is run again, its *witness*: the smallest at the quick scale of the scheme that the
//! study is named after. With the results of either scale the digests of all their simulations are stored, and that of
//! the witness. They hold if every simulation is configured as it was, and the witness still has its digest. Of a large
//! witness the digest of its beginning is stored as well, and only that is run again.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use tailcut_base::{Instant, Span, each_on_all_cores};
use tailcut_claims::{ClaimsError, Standing, Stored, StudyStanding};
use tailcut_lab::{Plan, PlannedPoint, RunArguments, beginning, digest, digest_until};
use tailcut_results::PointSummary;
use tailcut_sim::Problem;

use crate::reading::Reading;
use crate::scale::Scale;
use crate::shipped;
use crate::stored_points::{StoredPoint, StoredPoints};
use crate::study::Study;

/// Why nothing can be said about stored results.
#[derive(Debug)]
pub enum StandingError {
    /// A study is wrong.
    Study(Problem),
    /// A stored file is.
    Stored(ClaimsError),
}

impl std::fmt::Display for StandingError {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            StandingError::Study(problem) => f.write_str(problem.render(false).trim_end()),
            StandingError::Stored(error) => error.fmt(f),
        }
    }
}

impl std::error::Error for StandingError {}

impl From<Problem> for StandingError {
    fn from(problem: Problem) -> StandingError {
        StandingError::Study(problem)
    }
}

impl From<ClaimsError> for StandingError {
    fn from(error: ClaimsError) -> StandingError {
        StandingError::Stored(error)
    }
}

/// The simulation of a plan that stands for all of them: the smallest of the scheme after which `name` is called, as
/// `icon` in `icon-map`, else of the first scheme.
///
/// # Panics
/// If the plan has no points; no plan is made without any.
fn witness<'p>(plan: &'p Plan, name: &str) -> &'p PlannedPoint {
    let is_named =
        |scheme: &&String| name == *scheme || name.strip_prefix(*scheme).is_some_and(|rest| rest.starts_with('-'));
    let scheme = plan.schemes.iter().find(is_named).or(plan.schemes.first());
    let of_scheme = plan.points.iter().filter(|planned| Some(&planned.point.scheme) == scheme);
    of_scheme.min_by(|a, b| a.size.packet_hops.total_cmp(&b.size.packet_hops)).expect("a plan has points")
}

/// Packets over links of the beginning of a witness: some tenths of a second. It is run again with every test of the
/// repository, for each study.
const BEGINNING: f64 = 2e6;

/// The digest of a witness, or of what happens in it until then. All that is stored of a study has the same one: it is
/// run once in a process.
fn digest_of(planned: &PlannedPoint, until_ns: Option<u64>) -> String {
    type Known = BTreeMap<(u64, String, u64, Option<u64>), Arc<OnceLock<String>>>;
    static KNOWN: Mutex<Known> = Mutex::new(BTreeMap::new());
    let key = (planned.content, planned.point.key.clone(), planned.point.seed, until_ns);
    // Who comes second waits for the first, and nobody waits for another witness.
    let known = Arc::clone(KNOWN.lock().unwrap_or_else(PoisonError::into_inner).entry(key).or_default());
    let run = || match until_ns {
        Some(ns) => digest_until(planned, Instant::ZERO + Span::from_ns(ns)),
        None => digest(planned),
    };
    known.get_or_init(run).clone()
}

/// A witness that was run again.
#[derive(Clone, Debug)]
pub struct Witness<'p> {
    /// The name of its plan.
    plan: &'static str,
    /// Which simulation it is.
    planned: &'p PlannedPoint,
    /// Until when it was run, if not to its end.
    until_ns: Option<u64>,
    /// The digest that it has now.
    digest: String,
}

impl<'p> Witness<'p> {
    /// Runs the witness of a plan that is called `name`, of a study of this name, as far as it was run for what is
    /// stored.
    ///
    /// # Panics
    /// If the simulation finds a mistake in itself.
    pub fn again(stored: &StoredPoints, name: &'static str, plan: &'p Plan, study: &str) -> Witness<'p> {
        let planned = witness(plan, study);
        let until_ns = stored.find_beginning(name, &planned.point).and_then(|beginning| beginning.until_ns);
        Witness { plan: name, planned, until_ns, digest: digest_of(planned, until_ns) }
    }

    /// What is stored of it.
    fn find<'s>(&self, stored: &'s StoredPoints) -> Option<&'s StoredPoint> {
        match self.until_ns {
            Some(_) => stored.find_beginning(self.plan, &self.planned.point),
            None => stored.find(self.plan, &self.planned.point),
        }
    }
}

/// Whether the results that were made of `plan`, which is called `name`, still hold. Those of further seeds, which
/// `--until decided` adds, do if they are configured as the plan would with these.
///
/// # Errors
/// If what one of these seeds draws does not fit the study.
pub fn standing(stored: &StoredPoints, name: &str, plan: &Plan, again: &Witness<'_>) -> Result<Standing, Problem> {
    let plan = &stored.with_their_seeds(name, plan)?;
    let count = |wanted: &dyn Fn(&PlannedPoint) -> bool| plan.points.iter().filter(|planned| wanted(planned)).count();
    let same = count(&|planned| stored.find(name, &planned.point).is_some_and(|point| point.has_content_of(planned)));
    let of_plan = stored.of_plan(name).count();
    if same < plan.points.len() || of_plan > plan.points.len() {
        return Ok(Standing::Stale(format!(
            "of its {} simulations {same} are configured as those of the {of_plan} that are stored",
            plan.points.len()
        )));
    }
    let point = &again.planned.point;
    let seed = format!("seed {}", point.seed);
    let words =
        [point.scheme.as_str()].into_iter().chain(point.values.iter().map(String::as_str)).chain([seed.as_str()]);
    let which = words.collect::<Vec<_>>().join(", ");
    Ok(match again.find(stored) {
        Some(was) if was.digest == again.digest => Standing::Holds,
        Some(was) => Standing::Stale(format!("the digest of {which} was {} and is {}", was.digest, again.digest)),
        None => Standing::Stale(format!("the digest of {which} ({}) is not among the stored ones", again.plan)),
    })
}

/// The digests of a run of a study, to be stored with its results: those of its finished points and of its witness,
/// which is run if it is not one of them.
///
/// # Errors
/// If there is no such reading, or the study is wrong.
pub fn points_to_store(
    study: &Study,
    scale: Scale,
    reading: &Reading,
    plan: &Plan,
    finished: &[PointSummary],
) -> Result<StoredPoints, Problem> {
    let mut points = StoredPoints::of(scale.name(), plan, finished);
    let quick = study.plan(Scale::Quick, reading, &RunArguments::default())?;
    points.add_witness(Scale::Quick.name(), &quick, &study.name);
    Ok(points)
}

impl StoredPoints {
    /// Adds the witness of a plan that is called `name`, of a study of this name: its beginning if it is large, and
    /// otherwise the whole of it, if it is not there.
    ///
    /// # Panics
    /// If the simulation finds a mistake in itself.
    pub fn add_witness(&mut self, name: &str, plan: &Plan, study: &str) {
        let planned = witness(plan, study);
        let until_ns = beginning(planned, BEGINNING).map(|until| until.as_ps() / 1000);
        if until_ns.is_some() || self.find(name, &planned.point).is_none() {
            let point = StoredPoints::point(name, planned, 0, digest_of(planned, until_ns));
            self.0.push(StoredPoint { until_ns, ..point });
        }
    }
}

/// A study of which something is stored.
struct StoredStudy {
    study: Study,
    /// The scale, the experiments and the digests.
    stored: Vec<(Scale, Vec<String>, Option<StoredPoints>)>,
}

impl StoredStudy {
    fn standings(&self) -> Result<Vec<StudyStanding>, Problem> {
        let plan = |scale| self.study.plan(scale, &Reading::default(), &RunArguments::default());
        let quick = plan(Scale::Quick)?;
        let of_scale = |(scale, experiments, points): &(Scale, Vec<String>, Option<StoredPoints>)| {
            let standing = match points {
                None => Standing::Unknown,
                Some(points) => {
                    let again = Witness::again(points, Scale::Quick.name(), &quick, &self.study.name);
                    standing(points, scale.name(), &plan(*scale)?, &again)?
                }
            };
            Ok(self.at(*scale, experiments, standing))
        };
        self.stored.iter().map(of_scale).collect()
    }

    /// As nobody can tell without a digest.
    fn unknown(&self) -> Vec<StudyStanding> {
        self.stored.iter().map(|(scale, experiments, _)| self.at(*scale, experiments, Standing::Unknown)).collect()
    }

    fn at(&self, scale: Scale, experiments: &[String], standing: Standing) -> StudyStanding {
        let (study, scale) = (self.study.name.clone(), scale.name().to_owned());
        StudyStanding { study, scale, experiments: experiments.to_vec(), standing }
    }
}

/// Whether the results in a folder still hold, study by study. Of each study that has digests one simulation is run, on
/// all cores; `begins` is told its name.
///
/// # Errors
/// If a study or a stored file is wrong.
///
/// # Panics
/// If a simulation finds a mistake in itself.
pub fn standings(results: &Path, begins: &(dyn Fn(&str) + Sync)) -> Result<Vec<StudyStanding>, StandingError> {
    let all = stored_studies(results)?;
    let found = each_on_all_cores(&all, |stored| {
        let has_digests = stored.stored.iter().any(|(_, _, points)| points.is_some());
        if !has_digests {
            return Ok(stored.unknown());
        }
        begins(&stored.study.name);
        stored.standings()
    });
    let found: Vec<Vec<StudyStanding>> = found.into_iter().collect::<Result<_, Problem>>()?;
    Ok(found.concat())
}

/// The studies of which something is stored, in the order in which they are shown.
fn stored_studies(results: &Path) -> Result<Vec<StoredStudy>, StandingError> {
    let mut all = Vec::new();
    for name in shipped::studies() {
        let mut stored = Vec::new();
        for scale in Scale::ALL {
            let mut experiments = Vec::new();
            for id in shipped::names() {
                if Stored::path(results, scale.name(), id).exists() && shipped::find(id)?.study == name {
                    experiments.push(id.to_owned());
                }
            }
            if !experiments.is_empty() {
                let points = StoredPoints::read(&StoredPoints::path(results, scale.name(), name))?;
                stored.push((scale, experiments, points));
            }
        }
        if !stored.is_empty() {
            all.push(StoredStudy { study: shipped::study(name)?, stored });
        }
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use tailcut_results::Point;

    use super::*;

    const SMALL: &str = "title = \"small\"\n[scenario]\nschemes = [\"dctcp\", \"tcp\"]\nseeds = 1\n\
         topology.star = { hosts = 4, host_link = { rate = \"10Gbps\", delay = \"1us\" } }\n\
         sweep.\"workload.load\" = [0.2, 0.4]\nworkload.load_of = \"host-links\"\nworkload.flows = 20\n\
         workload.traffic.short = { share = 1.0, sizes.fixed = \"10KB\" }\n[paper]\nworkload.flows = 40\n";

    fn study(text: &str) -> Study {
        Study::parse("tcp-small.toml", "tcp-small", text, &|_| None).unwrap()
    }

    fn plan(study: &Study, scale: Scale) -> Plan {
        study
            .plan(scale, &Reading::default(), &RunArguments::default())
            .unwrap_or_else(|problem| panic!("{}", problem.render(false)))
    }

    /// What is stored of a study that was run: every point with a digest, and the witness with its own.
    fn stored(study: &Study, scale: Scale) -> StoredPoints {
        let plan = plan(study, scale);
        let points: Vec<StoredPoint> =
            plan.points.iter().map(|planned| StoredPoints::point(scale.name(), planned, 1, digest(planned))).collect();
        let mut points = StoredPoints(points);
        let with_witness = points_to_store(study, scale, &Reading::default(), &plan, &[]).unwrap();
        if scale == Scale::Paper {
            points.0.extend(with_witness.0);
        }
        points
    }

    fn standing_of(points: &StoredPoints, study: &Study, scale: Scale) -> Standing {
        let quick = plan(study, Scale::Quick);
        let again = Witness::again(points, "quick", &quick, &study.name);
        standing(points, scale.name(), &plan(study, scale), &again).unwrap()
    }

    #[test]
    fn the_witness_is_the_smallest_of_the_scheme_that_the_study_is_named_after() {
        let quick = plan(&study(SMALL), Scale::Quick);
        let of = |name| {
            let Point { scheme, values, .. } = witness(&quick, name).point.clone();
            (scheme, values.concat())
        };
        // All loads have the same 20 flows; the first of equal ones counts.
        assert_eq!(of("tcp-small"), ("tcp".to_owned(), "0.2".to_owned()));
        assert_eq!(of("tcpsmall"), ("dctcp".to_owned(), "0.2".to_owned()));
    }

    #[test]
    fn results_hold_until_the_configuration_or_a_digest_moves() {
        let before = study(SMALL);
        for scale in Scale::ALL {
            let points = stored(&before, scale);
            assert_eq!(standing_of(&points, &before, scale), Standing::Holds, "{scale:?}");
            // Another configuration of the paper's scale alone leaves the quick one as it was.
            let larger = study(&SMALL.replace("flows = 40", "flows = 50"));
            let stale = |standing: &Standing| matches!(standing, Standing::Stale(reason) if reason.contains("0 are configured"));
            assert_eq!(stale(&standing_of(&points, &larger, scale)), scale == Scale::Paper);
            // The program computes something else.
            let mut moved = points.clone();
            let at = moved.0.iter().position(|point| point.plan == "quick" && point.scheme == "tcp").unwrap();
            moved.0[at].digest = "0123456789abcdef".to_owned();
            let Standing::Stale(reason) = standing_of(&moved, &before, scale) else { panic!("the digest has moved") };
            assert!(reason.starts_with("the digest of tcp, 0.2, seed 1 was 0123456789abcdef and is "), "{reason}");
            // A point was taken out of the study.
            let fewer = study(&SMALL.replace("[0.2, 0.4]", "[0.2]"));
            assert!(matches!(standing_of(&points, &fewer, scale), Standing::Stale(_)));
        }
    }

    #[test]
    fn of_a_large_witness_the_beginning_is_run_again() {
        let large =
            SMALL.replace("sizes.fixed = \"10KB\"", "sizes.fixed = \"1MB\"").replace("flows = 20", "flows = 1000");
        let study = study(&large);
        let points = stored(&study, Scale::Paper);
        let of_witness: Vec<&StoredPoint> = points.0.iter().filter(|point| point.plan == "quick").collect();
        let [StoredPoint { until_ns: Some(until_ns), .. }] = of_witness[..] else { panic!("{of_witness:?}") };
        // 1,000 flows of 685 packets, each with an ACK over two links, are 2.7 million.
        let quick = plan(&study, Scale::Quick);
        let whole = witness(&quick, "tcp-small").scenario().unwrap().forecast().duration.as_secs_f64();
        assert!((0.6..0.8).contains(&(*until_ns as f64 / 1e9 / whole)), "{until_ns} ns of {whole} s");
        assert_eq!(standing_of(&points, &study, Scale::Paper), Standing::Holds);
        let mut moved = points.clone();
        moved.0.last_mut().unwrap().digest = "0123456789abcdef".to_owned();
        let Standing::Stale(reason) = standing_of(&moved, &study, Scale::Paper) else { panic!("the digest has moved") };
        assert!(reason.starts_with("the digest of tcp, 0.2, seed 1 was 0123456789abcdef and is "), "{reason}");
    }

    #[test]
    fn results_of_further_seeds_hold_if_every_simulation_has_them() {
        let study = study(SMALL);
        let more = plan(&study, Scale::Quick).with_seeds(&[1, 2, 3]).unwrap();
        let all = more.points.iter().map(|planned| StoredPoints::point("quick", planned, 1, digest(planned)));
        let points = StoredPoints(all.collect());
        assert_eq!(standing_of(&points, &study, Scale::Quick), Standing::Holds);
        // One of them was lost, or is of another configuration.
        let lost = StoredPoints(points.0[..points.0.len() - 1].to_vec());
        assert!(matches!(standing_of(&lost, &study, Scale::Quick), Standing::Stale(_)));
        let mut other = points;
        other.0.last_mut().unwrap().content = "0".to_owned();
        let Standing::Stale(reason) = standing_of(&other, &study, Scale::Quick) else { panic!("it is another one") };
        assert!(reason.contains("of its 12 simulations 11 are configured"), "{reason}");
    }

    #[test]
    fn digests_survive_a_file_and_a_damaged_one_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let path = StoredPoints::path(folder.path(), "quick", "tcp-small");
        assert_eq!(StoredPoints::read(&path).unwrap(), None);
        let points = stored(&study(SMALL), Scale::Quick);
        points.write(&path).unwrap();
        assert_eq!(StoredPoints::read(&path).unwrap(), Some(points));
        std::fs::write(&path, "plan,scheme\nquick,tcp\n").unwrap();
        let error = StoredPoints::read(&path).unwrap_err().to_string();
        assert!(error.contains("tcp-small.points.csv") && error.contains("values"), "{error}");
    }
}
