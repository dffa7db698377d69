//! `tailcut check`.

use tailcut_results::stats::ENOUGH_ABOVE;
use tailcut_sim::{Problem, Scenario};

use crate::ScenarioArguments;
use crate::page::Page;

/// CPU time in ns of a packet over a link that the forecast assumes, where caches hold most of a simulation's state and
/// where they do not; every run prints the true one.
const NS_PER_PACKET_HOP: [f64; 2] = [110.0, 250.0];

/// State in bytes that caches hold most of.
const CACHED: f64 = 100e6;

/// A rate to three digits where it has no more before the point.
fn rounded(rate: f64) -> String {
    let digits = if rate < 10.0 { 2 } else { usize::from(rate < 100.0) };
    format!("{rate:.digits$}")
}

pub(crate) fn check(arguments: &ScenarioArguments) -> Result<(), Problem> {
    let plan = arguments.plan()?;
    let mut out = Page::default();
    let (mut flows, mut bytes, mut hops, mut ns, mut memory) = (0.0, 0.0, 0.0, 0.0, 0.0f64);
    let mut largest = None::<(f64, Scenario)>;
    for planned in &plan.points {
        let scenario = planned.scenario(&plan.base_dir)?;
        let forecast = scenario.forecast();
        flows += forecast.flows;
        bytes += forecast.wire_bytes;
        let expected = planned.size.packet_hops;
        hops += expected;
        ns += expected * NS_PER_PACKET_HOP[usize::from(planned.size.bytes > CACHED)];
        memory = memory.max(planned.size.bytes);
        if largest.as_ref().is_none_or(|(most, _)| expected > *most) {
            largest = Some((expected, scenario));
        }
    }
    let (_, scenario) = largest.expect("a plan has a point");
    let network = scenario.network();
    out.line(format_args!("{}: {}", plan.name, plan.title));
    out.line(format_args!(
        "  network    {} hosts, {} switches, {} ports{}",
        network.hosts(),
        network.switches().len(),
        network.ports().len(),
        network.oversubscription().map_or_else(String::new, |ratio| format!(", oversubscribed {ratio:.2}:1"))
    ));
    out.line(format_args!("  schemes    {}", plan.schemes.join(", ")));
    for of_scheme in &plan.differences {
        for differences in of_scheme.by_name().into_iter().chain(of_scheme.around()) {
            out.line(format_args!("    {}", differences.sentence()));
        }
    }
    for axis in &plan.axes {
        out.line(format_args!("  sweep      {} = {}", axis.path, axis.values.join(", ")));
    }
    out.line(format_args!("  points     {} ({} seed(s))", plan.points.len(), plan.seeds.len()));
    out.line(format_args!(
        "  flows      {flows:.0} expected in all points, {:.2} GB on the wires of the senders",
        bytes / 1e9
    ));
    out.line(format_args!(
        "  cost       about {:.0} M packet-hops, {:.0} s of CPU time at {:.0} ns each",
        hops / 1e6,
        ns / 1e9,
        ns / hops.max(1.0)
    ));
    out.line(format_args!("  memory     about {:.0} MB for each simulation that runs", memory / 1e6));
    out.line("  in the largest point:");
    let forecast = scenario.forecast();
    for class in &forecast.classes {
        out.line(format_args!(
            "    {:<12} {:>10.0} flows of {:.0} B on average",
            class.name, class.flows, class.mean_size
        ));
        if let Some(queries) = &class.queries {
            let (least, most) = queries.degree.bounds();
            let hosts = if least == most { most.to_string() } else { format!("{least} to {most}") };
            out.line(format_args!(
                "    {:<12} answers to {} queries per second, each of {hosts} hosts",
                "",
                rounded(queries.per_second)
            ));
        }
    }
    for (link, utilisation) in &forecast.links {
        out.line(format_args!("    busiest {link}: {:.1} % offered", utilisation * 100.0));
    }
    for warning in &plan.warnings {
        out.line(format_args!("warning: {warning}"));
    }
    for class in &forecast.classes {
        let tail = class.flows * plan.seeds.len() as f64 / 100.0;
        if tail < ENOUGH_ABOVE as f64 {
            out.line(format_args!("warning: about {:.0} flows of class {} lie above its 99th percentile: too few for an interval, run longer or with more seeds",
                tail, class.name));
        }
    }
    if forecast.relative_error > 0.05 {
        out.line(format_args!("warning: few flows carry most bytes: the load of a run is off its label by {:.0} % (one standard deviation)",
            forecast.relative_error * 100.0));
    }
    out.print();
    Ok(())
}
