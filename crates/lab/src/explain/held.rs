//! What pauses did to packets at a port.

use std::fmt;

use serde::Serialize;
use tailcut_base::{PortId, Span};
use tailcut_sim::trace::{Happened, Seen};
use tailcut_topology::Network;

use super::story::time;

/// Packets of flows that waited at a port while a pause held their class.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Held {
    /// Name of the port.
    pub port: String,
    /// Name of the switch or host at its far end, whose frames paused it.
    pub by: String,
    /// How many packets waited so.
    pub packets: u64,
    /// For how long one of them was held at most, in ns.
    pub longest_ns: f64,
}

impl Held {
    /// Those among `seen` that were held at a port; `None` if none was.
    pub(super) fn at<'s>(network: &Network, port: PortId, seen: impl IntoIterator<Item = &'s Seen>) -> Option<Held> {
        let held = seen.into_iter().filter(|seen| seen.port == port);
        let paused: Vec<Span> = held
            .filter_map(|seen| match seen.what {
                Happened::Held { paused } => Some(paused),
                _ => None,
            })
            .collect();
        Some(Held {
            port: network.port_name(port).to_string(),
            by: network.node_name(network.ports()[port].peer).to_string(),
            packets: paused.len() as u64,
            longest_ns: paused.iter().max()?.as_ns_f64(),
        })
    }
}

impl fmt::Display for Held {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Held { port, by, packets, longest_ns } = self;
        match packets {
            1 => write!(f, "1 packet was held at {port} for {} by pauses of {by}", time(*longest_ns)),
            _ => write!(f, "{packets} packets were held at {port} for {} at most by pauses of {by}", time(*longest_ns)),
        }
    }
}
