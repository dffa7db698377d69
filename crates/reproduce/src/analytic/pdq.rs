//! PDQ: the document's example of three flows, what it cites about disciplines on one link, and the delays of a hop.

mod network;

use tailcut_base::{BitRate, Instant, MTU_BYTES, Seeds, Span, Stream};
use tailcut_claims::Coordinate;
use tailcut_workload::optimal::{self, Job};

use super::{Computed, Context, Function};

pub(super) const FUNCTIONS: &[(&str, Function)] = &[
    ("completions_of_three_flows", completions_of_three_flows),
    ("three_flows_later_than_fair", three_flows_later_than_fair),
    ("delays_of_a_hop", delays_of_a_hop),
    ("jobs_sooner_under_sjf", jobs_sooner_under_sjf),
    ("deadlines_met_on_one_link", deadlines_met_on_one_link),
    ("mean_fct_on_one_link", mean_fct_on_one_link),
    ("networks_late_at_rest", network::networks_late_at_rest),
    ("flows_that_wait_for_who_waits", network::flows_that_wait_for_who_waits),
    ("starts_without_all_switches", network::starts_without_all_switches),
    ("deadline_flows_behind_others", network::deadline_flows_behind_others),
];

/// One unit of size is a second of the link.
const UNIT: Span = Span::from_ms(1000);

/// The sizes of A, B and C in units.
const SIZES: [u64; 3] = [1, 2, 3];

fn jobs(sizes: &[u64]) -> Vec<Job> {
    let job = |&size: &u64| Job { release: Instant::ZERO, work: Span::from_ps(size * UNIT.as_ps()), deadline: None };
    sizes.iter().map(job).collect()
}

/// Completion times in units.
fn units(times: &[Instant]) -> Vec<f64> {
    times.iter().map(|at| at.as_ps() as f64 / UNIT.as_ps() as f64).collect()
}

/// When jobs that begin together are complete if they are served whole, in this order.
fn in_order(jobs: &[Job], order: &[usize]) -> Vec<Instant> {
    let mut complete = vec![Instant::ZERO; jobs.len()];
    let mut now = Instant::ZERO;
    for &nth in order {
        now = now + jobs[nth].work;
        complete[nth] = now;
    }
    complete
}

fn mean(values: &[f64]) -> f64 {
    values.iter().sum::<f64>() / values.len() as f64
}

/// Completion times in units of A, B and C, which begin together, and their mean. The subject is fair sharing, an order
/// of the three such as `BAC`, or whatever serves them in the order of the sweep point, which is the shortest first if
/// it does not name one.
fn completions_of_three_flows(context: &Context<'_>) -> Result<Computed, String> {
    let jobs = jobs(&SIZES);
    let order = |name: &str| -> Option<Vec<usize>> {
        let order: Option<Vec<usize>> = name.chars().map(|letter| "ABC".find(letter)).collect();
        order.filter(|order| (0..3).all(|nth| order.contains(&nth)) && order.len() == 3)
    };
    let complete = match (context.subject, order(context.subject), context.point.get("order")) {
        ("fair-sharing", ..) => optimal::fair(&jobs),
        (_, Some(order), _) => in_order(&jobs, &order),
        (_, None, Some(Coordinate::Text(name))) => {
            in_order(&jobs, &order(name).ok_or_else(|| format!("{name} is no order of A, B and C"))?)
        }
        ("pdq" | "srpt", ..) => optimal::srpt(&jobs),
        (other, ..) => return Err(format!("{other} says no order of A, B and C")),
    };
    let mut values = units(&complete);
    values.push(mean(&values));
    Ok(Computed::several(values))
}

/// The share of the three flows that are complete later than under fair sharing.
fn three_flows_later_than_fair(context: &Context<'_>) -> Result<Computed, String> {
    let fair = completions_of_three_flows(&Context { subject: "fair-sharing", ..*context })?.values;
    let own = completions_of_three_flows(context)?.values;
    let later = own.iter().zip(&fair).take(3).filter(|(own, fair)| own > fair).count();
    Ok(Computed::one(later as f64 / 3.0))
}

/// Transmission of a full packet, propagation and processing at a hop of the tree, in us.
fn delays_of_a_hop(context: &Context<'_>) -> Result<Computed, String> {
    let scenario: toml::Table = context.scenario.parse().map_err(|_| "the scenario of the run cannot be read")?;
    let tree = scenario.get("topology").and_then(|topology| topology.get("leaf-spine"));
    let text = |path: &[&str]| {
        let found = path.iter().try_fold(tree?, |table, key| table.get(*key))?;
        found.as_str()
    };
    let rate = text(&["host_link", "rate"]).and_then(|text| text.parse::<BitRate>().ok());
    let span = |path: &[&str]| text(path).and_then(|text| text.parse::<Span>().ok());
    let (Some(rate), Some(delay), Some(switch)) = (rate, span(&["host_link", "delay"]), span(&["switch_delay"])) else {
        return Err("the scenario has no tree with such links".to_owned());
    };
    let us = |span: Span| span.as_ns_f64() / 1e3;
    Ok(Computed::several([us(rate.tx_time(MTU_BYTES)), us(delay), us(switch)]))
}

/// The share of jobs whose mean time in an M/G/1 queue with shortest remaining first is below that of processor
/// sharing, by the closed forms of both (Schrage and Miller 1966; Kleinrock 1967). The sizes are those of Bansal and
/// Harchol-Balter: bounded Pareto with a shape of 1.1, and a largest size that is 3e7 times the smallest. The load is
/// the highest of which they say so, 0.9.
fn jobs_sooner_under_sjf(_: &Context<'_>) -> Result<Computed, String> {
    Ok(Computed::one(sooner_under_sjf(1.1, 3e7, 0.9)))
}

/// As above for sizes from 1 to `max` with this `shape`, at this `load`.
fn sooner_under_sjf(shape: f64, max: f64, load: f64) -> f64 {
    const STEPS: u32 = 20_000;
    let mass = 1.0 - max.powf(-shape);
    let cdf = |x: f64| (1.0 - x.powf(-shape)) / mass;
    // The integral of t^k dF up to x.
    let moment = |k: f64, x: f64| shape / mass * (x.powf(k - shape) - 1.0) / (k - shape);
    let rate = load / moment(1.0, max);
    let served = |x: f64| rate * moment(1.0, x);
    // No job is shorter than 1, so that nobody interrupts the first unit of any.
    let (mut residence, mut sooner) = (1.0, 0.0);
    let at = |step: u32| max.powf(f64::from(step) / f64::from(STEPS));
    for step in 0..STEPS {
        let (from, to) = (at(step), at(step + 1));
        let middle = (from * to).sqrt();
        residence += (to - from) / (1.0 - served(middle));
        let waiting =
            rate * (moment(2.0, to) + to * to * (1.0 - cdf(to))) / (2.0 * (1.0 - served(to)) * (1.0 - served(to)));
        if waiting + residence < to / (1.0 - load) {
            sooner += cdf(to) - cdf(from);
        }
    }
    sooner
}

/// Sets of three flows that begin together on one link, of 1 to 20 units each, with deadlines all of which some order
/// meets.
fn examples() -> Vec<Vec<Job>> {
    let mut draws = Seeds::new(1).stream("analytic.pdq", 0);
    let mut examples = Vec::new();
    while examples.len() < 200 {
        let jobs: Vec<Job> = (0..3).map(|_| job(&mut draws)).collect();
        if orders(jobs.len()).iter().any(|order| met(&jobs, &in_order(&jobs, order)) == jobs.len()) {
            examples.push(jobs);
        }
    }
    examples
}

fn job(draws: &mut Stream) -> Job {
    let mut below = |most: u32| u64::from(draws.below(most)) + 1;
    let (size, deadline) = (below(20), below(60));
    let deadline = Some(Instant::ZERO + Span::from_ps(deadline * UNIT.as_ps()));
    Job { release: Instant::ZERO, work: Span::from_ps(size * UNIT.as_ps()), deadline }
}

/// How many of the jobs meet their deadlines.
fn met(jobs: &[Job], complete: &[Instant]) -> usize {
    jobs.iter().zip(complete).filter(|(job, at)| job.is_met(**at)).count()
}

/// Every order of the numbers below `n`.
fn orders(n: usize) -> Vec<Vec<usize>> {
    let Some(last) = n.checked_sub(1) else { return vec![Vec::new()] };
    let with = |order: Vec<usize>| {
        (0..n).map(move |at| {
            let mut order = order.clone();
            order.insert(at, last);
            order
        })
    };
    orders(last).into_iter().flat_map(with).collect()
}

/// The share of deadlines that a discipline meets on one link, over sets of flows of which some order meets all.
fn deadlines_met_on_one_link(context: &Context<'_>) -> Result<Computed, String> {
    let discipline = match context.subject {
        "pdq-edf" => optimal::edf,
        "pdq-sjf" => optimal::srpt,
        "fair-sharing" => optimal::fair,
        other => return Err(format!("{other} is no discipline of one link")),
    };
    let examples = examples();
    let all: usize = examples.iter().map(Vec::len).sum();
    let met: usize = examples.iter().map(|jobs| met(jobs, &discipline(jobs))).sum();
    Ok(Computed::one(met as f64 / all as f64))
}

/// The mean completion time in units on one link, over the same sets: of the shortest first, or of the best order that
/// has another mean.
fn mean_fct_on_one_link(context: &Context<'_>) -> Result<Computed, String> {
    let of = |jobs: &Vec<Job>| {
        let shortest = mean(&units(&optimal::srpt(jobs)));
        let all = orders(jobs.len()).into_iter().map(|order| mean(&units(&in_order(jobs, &order))));
        match context.subject {
            "pdq-sjf" => Ok(shortest),
            // Flows of equal sizes may change places without a difference.
            "any other order" => Ok(all.filter(|mean| (mean - shortest).abs() > 1e-9).fold(f64::INFINITY, f64::min)),
            other => Err(format!("{other} is no discipline of one link")),
        }
    };
    Ok(Computed::one(mean(&examples().iter().map(of).collect::<Result<Vec<f64>, String>>()?)))
}

#[cfg(test)]
mod tests {
    use tailcut_claims::SweepPoint;

    use super::*;

    fn of(function: Function, subject: &str, order: Option<&str>) -> Result<Vec<f64>, String> {
        let point: SweepPoint =
            order.map(|order| ("order".to_owned(), Coordinate::Text(order.to_owned()))).into_iter().collect();
        function(&Context { subject, point: &point, scenario: "" }).map(|computed| computed.values)
    }

    #[test]
    fn the_example_is_what_the_document_computes_by_hand() {
        let of = |subject, order| of(completions_of_three_flows, subject, order).unwrap();
        let near = |found: &[f64], exact: &[f64]| found.iter().zip(exact).all(|(a, b)| (a - b).abs() < 1e-6);
        assert!(near(&of("fair-sharing", None), &[3.0, 5.0, 6.0, 14.0 / 3.0]));
        assert!(near(&of("pdq", None), &[1.0, 3.0, 6.0, 10.0 / 3.0]));
        assert!(near(&of("pdq", Some("CAB")), &[4.0, 6.0, 3.0, 13.0 / 3.0]));
        assert!(near(&of("BCA", Some("CAB")), &[6.0, 2.0, 5.0, 13.0 / 3.0]));
        assert!(super::tests::of(completions_of_three_flows, "pdq", Some("CCB")).is_err());
        assert!(super::tests::of(completions_of_three_flows, "tcp", None).is_err());
        let later = |subject| super::tests::of(three_flows_later_than_fair, subject, None).unwrap()[0];
        assert!(later("pdq") == 0.0 && later("CBA") > 0.3);
    }

    #[test]
    fn the_delays_of_a_hop_are_read_from_the_scenario() {
        let scenario =
            "[topology.leaf-spine]\nswitch_delay = \"25us\"\nhost_link = { rate = \"1Gbps\", delay = \"100ns\" }";
        let point = SweepPoint::new();
        let found = delays_of_a_hop(&Context { subject: "topology", point: &point, scenario }).unwrap();
        assert_eq!(found.values, [12.0, 0.1, 25.0]);
        assert!(delays_of_a_hop(&Context { subject: "topology", point: &point, scenario: "" }).is_err());
    }

    /// The share falls with the load, and nobody gains where all sizes are nearly equal and the load is high.
    #[test]
    fn most_jobs_are_sooner_under_sjf_if_sizes_have_a_heavy_tail() {
        let heavy = [0.5, 0.8, 0.9].map(|load| sooner_under_sjf(1.1, 3e7, load));
        assert!(heavy[2] > 0.99 && heavy.iter().all(|share| *share <= 1.0 + 1e-9), "{heavy:?}");
        assert!(sooner_under_sjf(3.0, 3e7, 0.9) < heavy[2]);
    }

    #[test]
    fn edf_meets_all_deadlines_that_can_be_met_and_sjf_has_the_least_mean() {
        let met = |subject| of(deadlines_met_on_one_link, subject, None).unwrap()[0];
        assert_eq!(met("pdq-edf"), 1.0);
        assert!(met("pdq-sjf") < 1.0 && met("fair-sharing") < met("pdq-sjf"));
        let mean = |subject| of(mean_fct_on_one_link, subject, None).unwrap()[0];
        assert!(mean("pdq-sjf") < mean("any other order"));
        assert!(of(mean_fct_on_one_link, "tcp", None).is_err() && of(deadlines_met_on_one_link, "tcp", None).is_err());
    }
}
