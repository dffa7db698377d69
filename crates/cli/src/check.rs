//! `tailcut check`.

use serde_json::{Map, Value, json};
use tailcut_lab::{Expected, Plan};
use tailcut_results::Point;
use tailcut_sim::{KindLoad, Problem};

use crate::CheckCommand;
use crate::format::TextFormat;
use crate::page::Page;

/// A rate to three digits where it has no more before the point.
fn rounded(rate: f64) -> String {
    let digits = if rate < 10.0 { 2 } else { usize::from(rate < 100.0) };
    format!("{rate:.digits$}")
}

pub(crate) fn check(arguments: &CheckCommand) -> Result<(), Problem> {
    let plan = arguments.scenario.plan()?;
    let expected = Expected::of(&plan)?;
    let mut out = Page::default();
    match (arguments.format, arguments.quiet) {
        (TextFormat::Json, _) => json(&mut out, &plan, &expected),
        (TextFormat::Text, false) => text(&mut out, &plan, &expected),
        (TextFormat::Text, true) => {}
    }
    if arguments.format == TextFormat::Text {
        for warning in expected.warnings(&plan) {
            out.line(format_args!("warning: {warning}"));
        }
    }
    out.print();
    Ok(())
}

fn json(out: &mut Page, plan: &Plan, expected: &Expected) {
    let network = expected.largest.network();
    let sweep: Map<String, Value> = plan.axes.iter().map(|axis| (axis.path.clone(), json!(axis.values))).collect();
    let values = plan.axes.iter().zip(&expected.largest_point.values);
    let largest: Map<String, Value> = values.map(|(axis, value)| (axis.path.clone(), json!(value))).collect();
    out.line(json!({
        "kind": "scenario",
        "name": plan.name,
        "title": plan.title,
        "hosts": network.hosts(),
        "switches": network.switches().len(),
        "ports": network.ports().len(),
        "oversubscription": network.oversubscription(),
        "peculiarities": network.peculiarities(),
        "schemes": plan.schemes,
        "sweep": sweep,
        "seeds": plan.seeds,
        "points": plan.points.len(),
        "flows": expected.flows,
        "wire_bytes": expected.wire_bytes,
        "packet_hops": expected.packet_hops,
        "cpu_s": expected.cpu_ns / 1e9,
        "memory_bytes": expected.memory,
        "largest_point": { "scheme": expected.largest_point.scheme, "values": largest },
    }));
    for differences in plan.differences.iter().flat_map(|of| of.by_name().into_iter().chain(of.around())) {
        out.line(json!({
            "kind": "differences",
            "scheme": differences.scheme,
            "from": differences.from,
            "differences": differences.differences,
        }));
    }
    let forecast = expected.largest.forecast();
    for class in &forecast.classes {
        let queries = class.queries.as_ref().map(|queries| {
            let (least, most) = queries.degree.bounds();
            json!({ "per_second": queries.per_second, "least_degree": least, "largest_degree": most })
        });
        out.line(json!({
            "kind": "class",
            "name": class.name,
            "flows": class.flows,
            "mean_bytes": class.mean_size,
            "queries": queries,
        }));
    }
    for KindLoad { name, share, mean, .. } in expected.largest.link_loads().kinds() {
        out.line(json!({ "kind": "link", "name": name, "utilisation": share, "mean": mean }));
    }
    for warning in expected.warnings(plan) {
        out.line(json!({ "kind": "warning", "text": warning }));
    }
}

fn text(out: &mut Page, plan: &Plan, expected: &Expected) {
    let network = expected.largest.network();
    out.line(format_args!("{}: {}", plan.name, plan.title));
    out.line(format_args!(
        "  network    {} hosts, {} switches, {} ports{}",
        network.hosts(),
        network.switches().len(),
        network.ports().len(),
        network.oversubscription().map_or_else(String::new, |ratio| format!(", oversubscribed {ratio:.2}:1"))
    ));
    for line in network.peculiarities() {
        out.line(format_args!("    {line}"));
    }
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
        "  flows      {:.0} expected in all points, {:.2} GB on the wires of the senders",
        expected.flows,
        expected.wire_bytes / 1e9
    ));
    let (hops, ns) = (expected.packet_hops, expected.cpu_ns);
    out.line(format_args!(
        "  cost       about {:.0} M packet-hops, {:.0} s of CPU time at {:.0} ns each",
        hops / 1e6,
        ns / 1e9,
        ns / hops.max(1.0)
    ));
    out.line(format_args!("  memory     about {:.0} MB for each simulation that runs", expected.memory / 1e6));
    let Point { scheme, values, .. } = &expected.largest_point;
    out.line(format_args!("  in the largest point ({}):", plan.in_words(scheme, values)));
    let forecast = expected.largest.forecast();
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
    for KindLoad { name, share, mean, .. } in expected.largest.link_loads().kinds() {
        let mean = if (share / mean - 1.0).abs() < 1e-6 {
            String::new()
        } else {
            format!(", {:.1} % on average", mean * 100.0)
        };
        out.line(format_args!("    busiest {name}: {:.1} % offered{mean}", share * 100.0));
    }
}
