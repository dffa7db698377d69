//! A point of a run again, looked at closely: why a flow was slow, and what happened at a port.
//!
//! A run keeps no packets. Because a simulation comes to the same again, event for event, a point is simulated once
//! more with a lens on what is asked for, and its digest is compared with the one that was saved.

mod diff;
mod held;
mod occupancy;
mod page;
mod pcap;
mod port;
mod select;
mod story;

use std::collections::BTreeMap;
use std::path::Path;

use tailcut_base::{Instant, PortId, Span};
use tailcut_record::Recorder;
use tailcut_results::{Point, PointSummary, RunInfo};
use tailcut_sim::model::nearest;
use tailcut_sim::trace::{Lens, Trace};
use tailcut_sim::{Outcome, Problem, Scenario, World};
use tailcut_topology::Network;

use crate::plan::Plan;
use crate::simulate::digits;
use crate::verify::{planned, saved_plan};
use crate::version::version;

pub use diff::{Differences, Differs, Landing, differences};
pub use held::Held;
pub use occupancy::{Occupancy, Stay};
pub use page::{flow_page, port_page};
pub use pcap::write_pcapng;
pub use port::{PortStory, port_packets, port_story};
pub use select::{Choice, Slow, chosen, last_answer, only, slowest};
pub use story::{Diagram, LongWait, LostPacket, Part, Share, Story, stories};

/// The points of a run, to be simulated again.
pub struct Replays {
    plan: Plan,
}

impl Replays {
    /// Those of the run `info` in `folder`.
    ///
    /// # Errors
    /// If the scenario that the folder has saved cannot be run any more, such as where a file that it names is gone.
    pub fn of(folder: &Path, info: &RunInfo) -> Result<Replays, Problem> {
        Ok(Replays { plan: saved_plan(folder, info)? })
    }

    /// A point, ready to be looked at.
    ///
    /// # Errors
    /// If it is none of the plan, or has no packets.
    pub fn point(&self, point: &Point, summary: &PointSummary) -> Result<Replay, Problem> {
        let scenario = planned(&self.plan, point)?.attributed()?;
        if !scenario.config().fidelity.is_packet() {
            return Err(Problem::new(format!("{} is an ideal and has no packets", point.scheme))
                .help("expected `--scheme` with a scheme of packets"));
        }
        Ok(Replay {
            point: point.clone(),
            digest: summary.engine.digest.clone(),
            version: summary.engine.version.clone(),
            scenario,
        })
    }
}

/// A point that can be simulated again.
pub struct Replay {
    /// Which one.
    pub point: Point,
    /// Its scenario, with attribution of delays.
    pub scenario: Scenario,
    digest: String,
    version: String,
}

impl Replay {
    /// Simulates the point again and looks at it through the lens.
    ///
    /// # Errors
    /// If it comes to something else than what was saved.
    pub fn look(&self, lens: Lens) -> Result<(Outcome, Trace), Problem> {
        let mut outcome = World::new(&self.scenario, Recorder::new()).with_lens(lens).run();
        let now = digits(outcome.engine.digest);
        if now != self.digest {
            let problem = Problem::new(format!(
                "{} came to another digest than what was saved, {now} and not {}: what is seen now is not what happened then",
                self.point.key, self.digest
            ));
            return Err(match self.version == version() {
                true => problem.help("`tailcut verify` says whether the folder is as it was written"),
                false => problem.help(format!(
                    "it was made by version {}, and this is {}: run it again, or use that one",
                    self.version,
                    version()
                )),
            });
        }
        let trace = outcome.trace.take().unwrap_or_default();
        Ok((outcome, trace))
    }

    /// The port of this name, such as `leaf3->host17`.
    ///
    /// # Errors
    /// If the network has none.
    pub fn port(&self, name: &str) -> Result<PortId, Problem> {
        let network = self.scenario.network();
        let names: Vec<(PortId, String)> =
            network.ports().ids().map(|port| (port, network.port_name(port).to_string())).collect();
        match names.iter().find(|(_, known)| known == name) {
            Some(&(port, _)) => Ok(port),
            None => {
                let near = nearest(name, names.iter().map(|(_, known)| known.as_str()));
                let near = near.or(names.first().map(|(_, known)| known.as_str())).unwrap_or_default();
                Err(Problem::new(format!("the network has no port {name:?}"))
                    .help(format!("expected OWNER->PEER, such as {near:?}")))
            }
        }
    }

    /// What the point is, in words: its scheme, its swept values and its seed.
    pub fn words(&self, info: &RunInfo) -> String {
        let values = info.axes.iter().zip(&self.point.values).map(|(axis, value)| format!("{} = {value}", axis.path));
        let seed = format!("seed {}", self.point.seed);
        std::iter::once(self.point.scheme.clone()).chain(values).chain([seed]).collect::<Vec<_>>().join(", ")
    }
}

/// Ports are looked at from so long before what is asked for: what waits there then is there already.
const BEFORE: Span = Span::from_ms(20);

/// From when until when packets at a port are to be seen, for all to be known that waits there from one moment to
/// another: what leaves it is seen at the far end of the link.
fn around(network: &Network, port: PortId, from: Instant, until: Instant) -> (Instant, Instant) {
    let spec = &network.ports()[port];
    let on_link = spec.rate.tx_time(u64::from(u16::MAX)) + spec.delay;
    let back = Instant::from_ps(from.as_ps().saturating_sub(BEFORE.as_ps()));
    (back, Instant::from_ps(until.as_ps().saturating_add(on_link.as_ps())))
}

/// The times in which ports are looked at.
fn times(ports: impl IntoIterator<Item = (PortId, (Instant, Instant))>) -> BTreeMap<PortId, Vec<(Instant, Instant)>> {
    let mut all: BTreeMap<PortId, Vec<(Instant, Instant)>> = BTreeMap::new();
    for (port, time) in ports {
        all.entry(port).or_default().push(time);
    }
    all
}
