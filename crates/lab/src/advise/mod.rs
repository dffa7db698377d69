//! The smallest buffer with which a scenario keeps a target, found by simulation.
//!
//! There is one search for each scheme at each combination of swept values (`search`), and all of them run side by
//! side. Each size is run with seeds that are the same for all sizes, as many as it takes until the interval of the
//! metric lies on one side of the limit (`judge`). A target that a larger buffer makes worse is refused with what was
//! measured, because nothing follows then from the sizes that were not tried.
//!
//! The folder is a run folder whose last swept parameter is the buffer. Sizes are added to it as the search goes on, so
//! that a search that was stopped goes on where it was, and one with more seeds or another range uses what is there.

mod judge;
mod keys;
mod outcome;
mod search;
mod show;
mod target;
#[cfg(test)]
mod tests;

use std::collections::BTreeMap;
use std::path::Path;

use tailcut_base::{Bytes, MTU_BYTES};
use tailcut_results::{
    Axis, METRICS, Measurements, MissingPoint, ResultFiles, ResultsError, RunInfo, Staging, flow_set_names,
};
use tailcut_sim::Problem;

use self::judge::{FIRST_LOOK, Judgement, Measured, SizeMeasured};
use self::keys::Key;
use self::search::{Range, Search, Verdict};
use crate::error::RunError;
use crate::plan::Plan;
use crate::progress::Progress;
use crate::run_folder;
use crate::runner::{RunOptions, Session};
use crate::until::{UntilError, more_seeds};

pub use judge::Worse;
pub use outcome::{Advice, Answer, Outcome, SizeTried, TriedVerdict};
pub use target::{Relation, Target};

/// Names of the files of a search in its folder.
const FILES: [&str; 2] = ["advice.csv", "advice.json"];

/// What is asked.
#[derive(Clone, Debug, PartialEq)]
pub struct BufferQuery {
    /// What is to be kept: all of it.
    pub keep: Vec<Target>,
    /// The key that holds the buffer; found if it is not given.
    pub key: Option<String>,
    /// The smallest size to try.
    pub from: Option<Bytes>,
    /// The largest size to try.
    pub to: Option<Bytes>,
    /// All sizes are multiples of it.
    pub step: Bytes,
    /// The answer is above the largest size that does not do by no more than this share, if seeds suffice to tell.
    pub within: f64,
    /// A larger buffer may be worse than a smaller one by this share of the limit.
    pub tolerance: f64,
    /// Most seeds at a size.
    pub max_seeds: usize,
    /// The marking thresholds of which the best is wanted as well: these, or the usual ones if the list is empty.
    pub marking: Option<Vec<String>>,
}

impl BufferQuery {
    /// A query with the usual values for all but the targets.
    pub fn new(keep: Vec<Target>) -> BufferQuery {
        BufferQuery {
            keep,
            key: None,
            from: None,
            to: None,
            step: Bytes(MTU_BYTES),
            within: 0.1,
            tolerance: 0.01,
            max_seeds: 40,
            marking: None,
        }
    }

    fn check(&self, plan: &Plan) -> Result<(), Problem> {
        let classes = flow_set_names(&plan.classes, &plan.class_sets, &plan.size_bounds);
        let of_network = METRICS.iter().skip_while(|metric| metric.name != "drops_<reason>");
        let of_network: Vec<&str> = of_network.map(|metric| metric.name).collect();
        for target in &self.keep {
            target.check_class(&classes)?;
            let is_of_network =
                tailcut_results::describe(&target.metric).is_some_and(|metric| of_network.contains(&metric.name));
            if is_of_network && target.class != tailcut_results::ALL {
                return Err(Problem::new(format!(
                    "`{}` is one of the network, not of a class of flows",
                    target.metric
                ))
                .help(format!("expected it without a class: '{} ...'", target.metric)));
            }
        }
        if self.max_seeds < FIRST_LOOK {
            let problem = Problem::new(format!("{} seeds are too few to judge an interval", self.max_seeds));
            return Err(problem.help(format!("expected at least {FIRST_LOOK}")));
        }
        if self.step.0 == 0 {
            return Err(Problem::new("sizes cannot be multiples of 0B").help("expected a step such as 1pkt or 10KB"));
        }
        Ok(())
    }
}

/// What is searched, once keys and ranges are known.
struct Space {
    key: Key,
    marking: Option<(Key, Vec<String>)>,
    range: Range,
}

impl Space {
    fn of(query: &BufferQuery, plan: &Plan) -> Result<Space, Problem> {
        let said = keys::said(plan)?;
        let key = keys::buffer(&said, query.key.as_deref())?;
        let marking = match &query.marking {
            None => None,
            Some(named) => {
                let threshold = keys::threshold(&said)?;
                let values = if named.is_empty() { keys::usual_thresholds(&said, &threshold)? } else { named.clone() };
                keys::check_thresholds(&values)?;
                Some((threshold, values))
            }
        };
        for path in [Some(&key.path), marking.as_ref().map(|(key, _)| &key.path)].into_iter().flatten() {
            if plan.is_set(path) {
                return Err(Problem::new(format!("`--set {path}=...` fixes what is to be searched"))
                    .help("leave it out; --from and --to are the smallest and the largest size to try"));
            }
            if let Some(scheme) = plan.keeper_of(path) {
                let problem = Problem::new(format!("`{path}` is a part of what {scheme} is, and no search changes it"));
                return Err(problem.help(format!(
                    "if it is to be searched all the same: --set 'schemes=[\"{scheme}\"]' --key scheme.{scheme}.{path}"
                )));
            }
        }
        let (from, to) = match (query.from, query.to) {
            (Some(from), Some(to)) => (from.0, to.0),
            (from, to) => {
                let usual = keys::usual_range(&said, &key)?;
                (from.map_or(usual.0, |from| from.0), to.map_or(usual.1, |to| to.0))
            }
        };
        let step = query.step.0;
        let nothing =
            format!("there is nothing to search from {} to {} in steps of {}", Bytes(from), Bytes(to), query.step);
        // A port holds a packet at least.
        let (from, to) = (from.max(MTU_BYTES).div_ceil(step) * step, to / step * step);
        if from >= to {
            return Err(Problem::new(nothing)
                .help("expected a --to above --from by several steps, such as --from 15KB --to 1MB"));
        }
        Ok(Space { key, marking, range: Range { from, to, step, within: query.within } })
    }

    /// The swept parameters of the search; `sizes` are those of the last one.
    fn axes(&self, sizes: impl IntoIterator<Item = u64>) -> Vec<Axis> {
        let marking = self.marking.iter().map(|(key, values)| Axis { path: key.path.clone(), values: values.clone() });
        let sizes = sizes.into_iter().map(|size| Bytes(size).to_string()).collect();
        marking.chain([Axis { path: self.key.path.clone(), values: sizes }]).collect()
    }
}

/// One size of one search, as far as it is known.
#[derive(Default)]
struct Size {
    /// What was measured after each look: the number of seeds, and each target's metric.
    looks: Vec<(usize, Vec<Measured>)>,
    judgement: Option<Judgement>,
    /// Whether no more seeds are added.
    is_done: bool,
}

/// The search of one scheme at one combination of swept values.
struct Design {
    scheme: String,
    /// The values of all axes but the last one.
    values: Vec<String>,
    search: Search,
    sizes: BTreeMap<u64, Size>,
    worse: Option<Worse>,
    /// Why it was given up, if a simulation failed.
    failed: Option<String>,
    is_over: bool,
}

impl Design {
    /// Begins with the next sizes, if those so far are done.
    fn go_on(&mut self, query: &BufferQuery) {
        // What is clear before all sizes are done needs no more seeds.
        if self.is_over || !self.search.is_reversed() && self.sizes.values().any(|size| !size.is_done) {
            return;
        }
        let measured: Vec<SizeMeasured<'_>> =
            self.sizes.iter().map(|(&size, at)| SizeMeasured { size, looks: &at.looks }).collect();
        self.worse = judge::worst_reversal(&query.keep, &measured, query.tolerance);
        let next = if self.worse.is_some() { Vec::new() } else { self.search.next() };
        self.is_over = next.is_empty();
        self.sizes.extend(next.into_iter().map(|size| (size, Size::default())));
    }

    /// The sizes of which more is to be known.
    fn wanted(&self) -> impl Iterator<Item = u64> {
        self.sizes.iter().filter(|(_, size)| !self.is_over && !size.is_done).map(|(&size, _)| size)
    }

    /// Seeds that a size has, or is to have now.
    fn seeds(&self, size: &Size, looks: &[usize]) -> usize {
        let is_wanted = !self.is_over && !size.is_done;
        if is_wanted { looks[size.looks.len()] } else { size.looks.last().map_or(0, |(seeds, _)| *seeds) }
    }

    /// Takes note of what was measured at `sizes`, which are those that were wanted.
    fn learn_all(&mut self, sizes: &[u64], found: &Measurements, query: &BufferQuery, looks: &[usize]) {
        for &size in sizes {
            let seeds = looks[self.sizes[&size].looks.len()];
            let values: Vec<String> = self.values.iter().cloned().chain([Bytes(size).to_string()]).collect();
            let is_there =
                |missing: &&MissingPoint| missing.point.scheme == self.scheme && missing.point.values == values;
            if let Some(missing) = found.missing().iter().find(is_there) {
                self.failed = Some(format!("at {}, seed {}: {}", Bytes(size), missing.point.seed, missing.reason));
                self.is_over = true;
                return;
            }
            let of = |target| Measured::of(found, (&self.scheme, &values), target, looks.len());
            let measured = query.keep.iter().map(of).collect();
            self.learn(size, seeds, measured, query, looks);
        }
    }

    /// Takes note of what was measured at a size, after so many seeds.
    fn learn(&mut self, size: u64, seeds: usize, measured: Vec<Measured>, query: &BufferQuery, looks: &[usize]) {
        let judgements: Vec<Judgement> =
            query.keep.iter().zip(&measured).map(|(target, measured)| judge::judge(target, measured)).collect();
        let judgement = judge::together(&judgements);
        let at = self.sizes.get_mut(&size).expect("it was wanted");
        at.looks.push((seeds, measured));
        at.is_done =
            judgement.verdict != Verdict::Open || judgement.obstacle.is_some() || at.looks.len() == looks.len();
        if at.is_done {
            self.search.add(size, judgement.verdict);
        }
        at.judgement = Some(judgement);
    }
}

/// Searches the smallest buffer that keeps the targets of `query`, for each scheme of `plan` at each combination of its
/// swept values.
///
/// # Errors
/// If the query does not fit the scenario, or as [`crate::run`].
pub fn advise_buffer(
    plan: &Plan,
    query: &BufferQuery,
    options: &RunOptions,
    progress: &dyn Progress,
) -> Result<Advice, UntilError> {
    query.check(plan)?;
    let space = Space::of(query, plan)?;
    let looks = judge::looks(plan.seeds.len(), query.max_seeds);
    let most = *looks.last().expect("there is a first look");
    let seeds = more_seeds(&plan.seeds, most.saturating_sub(plan.seeds.len()));
    // Whatever is wrong with the smallest and the largest size is said before anything runs.
    let ends = plan.with_axes(&space.axes([space.range.from, space.range.to]))?;
    keys::check_taken(&ends, &space.key, ends.axes.len() - 1)?;
    if let Some((threshold, _)) = &space.marking {
        keys::check_taken(&ends, threshold, ends.axes.len() - 2)?;
    }
    let mut designs = designs(&ends, space.range);
    designs.iter_mut().for_each(|design| design.go_on(query));

    let searched: Vec<String> = space.axes([]).into_iter().map(|axis| axis.path).collect();
    let mut batch = planned(plan, &space, &designs, &seeds, &looks)?;
    let mut session = Session::open_search(&batch, options, progress, &searched)?;
    loop {
        session.run(&batch)?;
        let found = session.read(&batch, |dir: &Path, info: &RunInfo, stop| {
            let mut info = info.clone();
            info.points.retain(|point| is_wanted(&designs, &point.scheme, &point.values));
            Measurements::read(dir, &info, stop) as Result<Measurements, ResultsError>
        })?;
        for design in &mut designs {
            let sizes: Vec<u64> = design.wanted().collect();
            design.learn_all(&sizes, &found, query, &looks);
            if !sizes.is_empty() {
                progress.tried(&show::look(design, &sizes));
            }
            design.go_on(query);
        }
        if designs.iter().all(|design| design.is_over) {
            break;
        }
        batch = planned(plan, &space, &designs, &seeds, &looks)?;
    }
    let run = session.report(&batch)?;
    let answers = designs.iter().map(|design| outcome::answer(design, query)).collect();
    let advice = Advice {
        key: space.key.path.clone(),
        marking: space.marking.as_ref().map(|(key, _)| key.path.clone()),
        axes: batch.axes[..batch.axes.len() - searched.len()].to_vec(),
        keep: query.keep.clone(),
        from: Bytes(space.range.from),
        to: Bytes(space.range.to),
        step: query.step,
        within: query.within,
        tolerance: query.tolerance,
        looks,
        answers,
        run,
    };
    write(&advice, &options.out)?.iter().for_each(|note| progress.noticed(note));
    Ok(advice)
}

/// The searches of a plan whose last axis is the buffer.
fn designs(plan: &Plan, range: Range) -> Vec<Design> {
    let mut designs: Vec<Design> = Vec::new();
    for planned in &plan.points {
        let (scheme, values) = (&planned.point.scheme, &planned.point.values[..plan.axes.len() - 1]);
        if designs.iter().all(|design| (&design.scheme, &design.values[..]) != (scheme, values)) {
            designs.push(Design {
                scheme: scheme.clone(),
                values: values.to_vec(),
                search: Search::new(range),
                sizes: BTreeMap::new(),
                worse: None,
                failed: None,
                is_over: false,
            });
        }
    }
    designs
}

/// Whether more is to be known of the point of a scheme at these values.
fn is_wanted(designs: &[Design], scheme: &str, values: &[String]) -> bool {
    let Some((size, others)) = values.split_last() else { return false };
    let design = designs.iter().find(|design| design.scheme == scheme && design.values == others);
    design.zip(size.parse::<Bytes>().ok()).is_some_and(|(design, size)| design.wanted().any(|wanted| wanted == size.0))
}

/// The points of all sizes so far: each with the seeds that it has or is to have.
fn planned(plan: &Plan, space: &Space, designs: &[Design], seeds: &[u64], looks: &[usize]) -> Result<Plan, Problem> {
    let mut sizes: Vec<u64> = designs.iter().flat_map(|design| design.sizes.keys().copied()).collect();
    sizes.sort_unstable();
    sizes.dedup();
    let of = |design: &Design, size: u64| design.sizes.get(&size).map_or(0, |at| design.seeds(at, looks));
    let most = designs.iter().flat_map(|design| design.sizes.keys().map(move |&size| of(design, size))).max();
    let swept = plan.with_axes(&space.axes(sizes))?;
    let mut swept = swept.with_seeds(&seeds[..most.unwrap_or(0)])?;
    swept.points.retain(|planned| {
        let point = &planned.point;
        let Some((size, others)) = point.values.split_last() else { return false };
        let design = designs.iter().find(|design| design.scheme == point.scheme && design.values == others);
        let count = design.zip(size.parse::<Bytes>().ok()).map_or(0, |(design, size)| of(design, size.0));
        seeds[..count].contains(&point.seed)
    });
    Ok(swept)
}

/// Writes the advice beside the results of the run, and lists its files with theirs. Returns a sentence for each file
/// that was set aside.
fn write(advice: &Advice, folder: &Path) -> Result<Vec<String>, RunError> {
    let results = |error: ResultsError| RunError::Results(error.into());
    let _held = run_folder::hold_results(folder);
    let staging = Staging::new(folder)?;
    for (name, text) in FILES.into_iter().zip([advice.csv(), advice.json()]) {
        let path = staging.folder().join(name);
        std::fs::write(&path, text).map_err(|source| RunError::Io { path, source })?;
    }
    let mut info = RunInfo::read(folder).map_err(results)?;
    let old = info.results.iter().filter(|(name, _)| FILES.contains(&name.as_str()));
    let old = old.map(|(name, seal)| (name.clone(), seal.clone())).collect();
    let save = |new: &ResultFiles| {
        info.results.extend(new.clone());
        info.write(folder)
    };
    staging.publish(&FILES.map(str::to_owned), &old, save).map_err(results)
}
