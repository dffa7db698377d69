//! The queries of one traffic, checked: who asks, who answers, and how many.

use std::collections::{BTreeMap, BTreeSet};

use tailcut_base::Span;
use tailcut_model::Invalid;

use crate::config::{
    Application, Deadlines, Degree, DegreeDistribution, FirstAnswer, Gaps, Incast, Jitter, UniformDegrees,
};
use crate::deadlines;
use crate::demand::TrafficMatrix;
use crate::flow_list::{CLASS_NAME_HELP, host_help, is_class_name};
use crate::site::Site;

/// Queries to many hosts at a time.
#[derive(Clone, Debug)]
pub(crate) struct IncastPlan {
    pub(crate) degrees: Degrees,
    /// The hosts that ask; one may do so for several applications.
    pub(crate) aggregators: Vec<u32>,
    pub(crate) workers: Workers,
    pub(crate) first: Option<FirstAnswer>,
    pub(crate) gaps: Gaps,
    pub(crate) jitter: Jitter,
    pub(crate) one_size: bool,
    /// Deadlines of the queries; never a slack.
    pub(crate) deadlines: Option<Deadlines>,
}

/// Which hosts answer.
#[derive(Clone, Debug)]
pub(crate) enum Workers {
    /// For each query others of these, but never the one that asks.
    Drawn(Vec<u32>),
    /// For each aggregator the same ones, in the order in which they answer.
    Fixed(Vec<Vec<u32>>),
}

/// Which of the answers to a query are meant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answers {
    All,
    First,
    Others,
}

impl IncastPlan {
    /// The part of these answers that goes from each host to each other one.
    pub(crate) fn matrix(&self, of: Answers) -> TrafficMatrix {
        // How many of them a query of an application has, on average.
        let count = |at: usize| match (self.degrees.of(at).mean(), of) {
            (mean, Answers::All) => mean,
            (_, Answers::First) => 1.0,
            (mean, Answers::Others) => mean - 1.0,
        };
        let all: f64 = (0..self.aggregators.len()).map(count).sum();
        let mut matrix = TrafficMatrix::default();
        if all <= 0.0 {
            return matrix;
        }
        match &self.workers {
            Workers::Drawn(workers) => {
                let others = |aggregator: &u32| workers.len() - usize::from(workers.binary_search(aggregator).is_ok());
                let mut asking: BTreeMap<u32, f64> = BTreeMap::new();
                for (at, aggregator) in self.aggregators.iter().enumerate() {
                    *asking.entry(*aggregator).or_default() += count(at) / all / others(aggregator) as f64;
                }
                matrix.add(workers.iter().map(|&worker| (worker, 1.0)).collect(), asking.into_iter().collect());
            }
            Workers::Fixed(sets) => {
                for (at, (&aggregator, workers)) in self.aggregators.iter().zip(sets).enumerate() {
                    let (least, most) = self.degrees.of(at).bounds();
                    let degrees = f64::from(most - least + 1);
                    // It answers the queries whose degree is larger than its number, if there are any.
                    let answers = |nth: u32| f64::from(most.saturating_sub(nth.max(least - 1))) / degrees / all;
                    let meant = |nth: u32| of == Answers::All || (nth == 0) == (of == Answers::First);
                    let workers = (0u32..).zip(workers).filter(|&(nth, _)| meant(nth));
                    let mut workers: Vec<(u32, f64)> = workers.map(|(nth, &worker)| (worker, answers(nth))).collect();
                    workers.sort_unstable_by_key(|(worker, _)| *worker);
                    matrix.add(workers, vec![(aggregator, 1.0)]);
                }
            }
        }
        matrix
    }
}

/// How many hosts answer: one distribution for all applications, or one for each.
#[derive(Clone, Debug)]
pub(crate) struct Degrees(Box<[Degree]>);

impl Degrees {
    /// The same for all applications.
    pub(crate) fn alike(all: Degree) -> Degrees {
        Degrees(Box::new([all]))
    }

    /// One for each application.
    pub(crate) fn of_each(each: Vec<Degree>) -> Degrees {
        Degrees(each.into_boxed_slice())
    }

    /// That of application `at`.
    pub(crate) fn of(&self, at: usize) -> Degree {
        if self.0.len() == 1 { self.0[0] } else { self.0[at] }
    }

    /// The mean over applications, which ask equally often.
    pub(crate) fn mean(&self) -> f64 {
        self.average(Degree::mean)
    }

    /// Mean of the square over applications.
    pub(crate) fn second_moment(&self) -> f64 {
        self.average(Degree::second_moment)
    }

    /// From the smallest to the largest degree of any application, as if they were uniform between them.
    pub(crate) fn range(&self) -> Degree {
        let bounds = self.0.iter().map(|degree| degree.bounds());
        match bounds.reduce(|(least, most), (min, max)| (least.min(min), most.max(max))) {
            Some((min, max)) if min < max => Degree::Drawn(DegreeDistribution::Uniform(UniformDegrees { min, max })),
            _ => self.0[0],
        }
    }

    fn average(&self, of: fn(Degree) -> f64) -> f64 {
        self.0.iter().map(|&degree| of(degree)).sum::<f64>() / self.0.len() as f64
    }
}

/// An application of an incast, as it is placed.
#[derive(Clone, Debug, PartialEq)]
pub struct PlacedApplication {
    /// The host that it is on.
    pub server: u32,
    /// How many hosts answer a query.
    pub degree: Degree,
    /// The hosts that may answer, in the order in which they do if it is the same for each query.
    pub workers: Vec<u32>,
    /// Whether its workers are the same for each query.
    pub is_fixed: bool,
    /// Mean payload of an answer in bytes.
    pub mean_answer: f64,
}

/// The queries of a traffic, checked.
pub(crate) fn incast_plan(key: &str, incast: &Incast, class: u64, site: &Site<'_>) -> Result<IncastPlan, Invalid> {
    check_degree(&format!("{key}.degree"), incast.degree, site)?;
    let (degrees, aggregators, workers) = match &incast.applications {
        Some(applications) => placed(key, incast, applications, site)?,
        None => {
            let aggregators = site.aggregators(&format!("{key}.aggregators"), incast.aggregators.as_ref(), class)?;
            let workers = workers(key, incast, &aggregators, class, site)?;
            (degrees(key, incast, aggregators.len(), class, site)?, aggregators, workers)
        }
    };
    if let Some(first) = &incast.first {
        let key = format!("{key}.first");
        if first.size.0 == 0 {
            return Err(Invalid::new(format!("{key}.size"), "a flow of 0 B has nothing to send")
                .help("expected at least \"1B\""));
        }
        if !is_class_name(&first.class) {
            let message = format!("`{}` is not a name of a class", first.class);
            return Err(Invalid::new(format!("{key}.class"), message).help(CLASS_NAME_HELP));
        }
    }
    check_jitter(&format!("{key}.jitter"), &incast.jitter)?;
    if let Some(deadlines) = &incast.deadline {
        deadlines::check_of_queries(&format!("{key}.deadline"), deadlines)?;
    }
    Ok(IncastPlan {
        degrees,
        aggregators,
        workers,
        first: incast.first.clone(),
        gaps: incast.gaps,
        jitter: incast.jitter.clone(),
        one_size: incast.one_size,
        deadlines: incast.deadline.clone(),
    })
}

/// The degrees of `aggregators` that the scenario does not name one by one.
fn degrees(key: &str, incast: &Incast, aggregators: usize, class: u64, site: &Site<'_>) -> Result<Degrees, Invalid> {
    let (least, most) = incast.degree.bounds();
    if !incast.fixed_degrees {
        return Ok(Degrees::alike(incast.degree));
    }
    if least == most {
        let message = format!("every query has a degree of {most}: there is none to draw for each host that asks");
        return Err(Invalid::new(format!("{key}.fixed_degrees"), message)
            .help("expected `degree = { uniform = { min = 48, max = 96 } }`, or no `fixed_degrees`"));
    }
    let mut stream = site.seeds.stream("workload.queries.degrees", class);
    let each = (0..aggregators).map(|_| Degree::Fixed(least + stream.below(most - least + 1))).collect();
    Ok(Degrees::of_each(each))
}

fn check_degree(key: &str, degree: Degree, site: &Site<'_>) -> Result<(), Invalid> {
    let (least, most) = degree.bounds();
    let key = match degree {
        Degree::Fixed(_) => key.to_owned(),
        Degree::Drawn(DegreeDistribution::Uniform(_)) => format!("{key}.uniform"),
    };
    let help = || format!("expected 1 to {}: {}", site.hosts - 1, host_help(site.hosts));
    for degree in [least, most] {
        if degree == 0 || degree >= site.hosts {
            let message = format!("a degree of {degree} needs as many hosts other than the one that asks");
            return Err(Invalid::new(key, message).help(help()));
        }
    }
    if least > most {
        let message = format!("no degree is uniform between {least} and {most}");
        return Err(Invalid::new(key, message).help("expected 1 <= min <= max"));
    }
    Ok(())
}

/// The applications that the scenario names one by one: their degrees, servers and workers.
fn placed(
    key: &str,
    incast: &Incast,
    applications: &[Application],
    site: &Site<'_>,
) -> Result<(Degrees, Vec<u32>, Workers), Invalid> {
    for (name, is_given) in [
        ("aggregators", incast.aggregators.is_some()),
        ("workers", incast.workers.is_some()),
        ("fixed_workers", incast.fixed_workers),
        ("fixed_degrees", incast.fixed_degrees),
    ] {
        if is_given {
            return Err(Invalid::new(format!("{key}.{name}"), "goes not together with `applications`")
                .help("each application has a server and workers of its own"));
        }
    }
    if applications.is_empty() {
        return Err(Invalid::new(format!("{key}.applications"), "no application asks").help("expected at least one"));
    }
    let mut each = Vec::with_capacity(applications.len());
    for (at, application) in applications.iter().enumerate() {
        let key = format!("{key}.applications.{at}");
        let degree = application.degree.unwrap_or(incast.degree);
        check_degree(&format!("{key}.degree"), degree, site)?;
        if application.server >= site.hosts {
            let message = format!("{} is not a host", application.server);
            return Err(Invalid::new(format!("{key}.server"), message).help(host_help(site.hosts)));
        }
        let mut seen = BTreeSet::new();
        for (nth, &worker) in application.workers.iter().enumerate() {
            let wrong = |message: String| {
                Err(Invalid::new(format!("{key}.workers.{nth}"), message)
                    .help("expected different hosts, and not the server of the application"))
            };
            if worker >= site.hosts {
                return wrong(format!("{worker} is not a host"));
            }
            if worker == application.server {
                return wrong(format!("host {worker} would answer itself"));
            }
            if !seen.insert(worker) {
                return wrong(format!("host {worker} is there twice"));
            }
        }
        let (_, most) = degree.bounds();
        if seen.len() < most as usize {
            let message = format!("{most} hosts should answer, and there are {}", seen.len());
            return Err(Invalid::new(format!("{key}.workers"), message).help("expected as many as the largest degree"));
        }
        each.push(degree);
    }
    let servers = applications.iter().map(|application| application.server).collect();
    // Of more workers than the largest degree the last ones never answer.
    let answering =
        |(application, degree): (&Application, &Degree)| application.workers[..degree.bounds().1 as usize].to_vec();
    let workers = Workers::Fixed(applications.iter().zip(&each).map(answering).collect());
    Ok((Degrees::of_each(each), servers, workers))
}

/// The hosts that answer the queries of `aggregators`.
fn workers(key: &str, incast: &Incast, aggregators: &[u32], class: u64, site: &Site<'_>) -> Result<Workers, Invalid> {
    let all = match &incast.workers {
        None => (0..site.hosts).collect(),
        Some(set) => {
            let stream = site.seeds.stream("workload.roles.workers", class);
            site.set(&format!("{key}.workers"), set, stream)?
        }
    };
    let (_, most) = incast.degree.bounds();
    let others = |aggregator: &u32| all.len() - usize::from(all.binary_search(aggregator).is_ok());
    if let Some(aggregator) = aggregators.iter().find(|aggregator| others(aggregator) < most as usize) {
        let message = format!("{most} hosts should answer host {aggregator}, and there are {}", others(aggregator));
        return Err(Invalid::new(format!("{key}.workers"), message).help("expected as many as the largest degree"));
    }
    if !incast.fixed_workers {
        return Ok(Workers::Drawn(all));
    }
    let mut stream = site.seeds.stream("workload.queries.workers", class);
    let set = |&aggregator: &u32| {
        let mut set: Vec<u32> = all.iter().copied().filter(|&host| host != aggregator).collect();
        stream.shuffle(&mut set);
        set.truncate(most as usize);
        set
    };
    Ok(Workers::Fixed(aggregators.iter().map(set).collect()))
}

fn check_jitter(key: &str, jitter: &Jitter) -> Result<(), Invalid> {
    match jitter {
        Jitter::Uniform(uniform) if uniform.min > uniform.max => {
            let message = format!("no delay is uniform between {} and {}", uniform.min, uniform.max);
            Err(Invalid::new(format!("{key}.uniform"), message).help("expected min <= max"))
        }
        Jitter::Exponential(exponential) if exponential.mean == Span::ZERO => {
            Err(Invalid::new(format!("{key}.exponential.mean"), "delays of no time are no jitter")
                .help("expected a positive time such as \"10us\", or jitter = \"none\""))
        }
        Jitter::Exponential(exponential) if exponential.cap == Some(Span::ZERO) => {
            Err(Invalid::new(format!("{key}.exponential.cap"), "delays of no time are no jitter")
                .help("expected a positive time such as \"100us\", or jitter = \"none\""))
        }
        Jitter::None | Jitter::Icon(_) | Jitter::Uniform(_) | Jitter::Exponential(_) => Ok(()),
    }
}
