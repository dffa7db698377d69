//! What a plan will cost, and what is suspicious about it, before it runs.

use tailcut_results::Point;
use tailcut_results::stats::ENOUGH_ABOVE;
use tailcut_sim::{Networks, Problem, Scenario};

use crate::plan::Plan;

/// What all points of a plan are expected to come to.
pub struct Expected {
    /// Flows that start.
    pub flows: f64,
    /// Bytes on the wires of the senders.
    pub wire_bytes: f64,
    /// Packets over links.
    pub packet_hops: f64,
    /// CPU time in ns.
    pub cpu_ns: f64,
    /// Bytes of the simulation that needs the most memory.
    pub memory: f64,
    /// The point with the most packet-hops.
    pub largest: Scenario,
    /// Which point that is: its scheme and values; its seed is the first.
    pub largest_point: Point,
}

impl Expected {
    /// What the points of a plan are expected to come to.
    ///
    /// # Errors
    /// If the scenario of a point is wrong.
    ///
    /// # Panics
    /// If the plan has no point, which none that was read is without.
    pub fn of(plan: &Plan) -> Result<Expected, Problem> {
        let (mut flows, mut wire_bytes, mut packet_hops, mut cpu_ns, mut memory) = (0.0, 0.0, 0.0, 0.0, 0.0f64);
        let mut largest = None::<(f64, Scenario, &Point)>;
        // The seeds of a point stand side by side and have one configuration.
        let mut networks = Networks::default();
        for seeds in plan.points.chunk_by(|a, b| a.content == b.content) {
            let scenario = seeds[0].scenario_in(&mut networks)?;
            let forecast = scenario.forecast();
            flows += forecast.flows * seeds.len() as f64;
            wire_bytes += forecast.wire_bytes * seeds.len() as f64;
            let expected = seeds[0].size.packet_hops;
            packet_hops += seeds.iter().map(|planned| planned.size.packet_hops).sum::<f64>();
            cpu_ns += seeds.iter().map(|planned| planned.size.cpu_ns()).sum::<f64>();
            memory = seeds.iter().map(|planned| planned.size.bytes).fold(memory, f64::max);
            if largest.as_ref().is_none_or(|(most, ..)| expected > *most) {
                largest = Some((expected, scenario, &seeds[0].point));
            }
        }
        let (_, largest, point) = largest.expect("a plan has a point");
        Ok(Expected { flows, wire_bytes, packet_hops, cpu_ns, memory, largest, largest_point: point.clone() })
    }

    /// What is not wrong but probably not meant.
    pub fn warnings(&self, plan: &Plan) -> Vec<String> {
        let mut warnings = plan.warnings.clone();
        let forecast = self.largest.forecast();
        for class in &forecast.classes {
            let tail = class.flows * plan.seeds.len() as f64 / 100.0;
            if tail < ENOUGH_ABOVE as f64 {
                warnings.push(format!(
                    "about {tail:.0} flows of class {} lie above its 99th percentile: too few for an interval, run longer or with more seeds",
                    class.name
                ));
            }
        }
        if forecast.relative_error > 0.05 {
            warnings.push(format!(
                "few flows carry most bytes: the load of a run is off its label by {:.0} % (one standard deviation)",
                forecast.relative_error * 100.0
            ));
        }
        warnings
    }
}
