//! What a load is a fraction of, and the load that was realised.
//!
//! Loads count the data on its way, not the acknowledgements, retransmissions and probes that come back or are sent
//! again.

use std::sync::Arc;

use serde::Serialize;
use tailcut_base::{BitRate, HostId, Span, wire_bytes};
use tailcut_model::FlowSpec;

/// The racks of the hosts, and what loads are fractions of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct HostLinks {
    /// The rack of each host.
    pub rack_of: Vec<u32>,
    /// Rate of a host's link: what loads are relative to. Where hosts have different rates, that of most of them.
    pub host_link: BitRate,
    /// Rates of the uplinks of all racks together, in bit/s; `None` where nothing is an uplink.
    pub uplinks: Option<u64>,
    /// The host of each node of the topology's file, as in [`HostNumbers::nodes`](crate::HostNumbers::nodes).
    pub nodes: Option<Arc<[Option<HostId>]>>,
}

impl HostLinks {
    /// Number of hosts.
    ///
    /// # Panics
    /// If there are more than 2^32.
    pub fn hosts(&self) -> u32 {
        u32::try_from(self.rack_of.len()).expect("hosts are numbered by 32 bits")
    }

    pub(crate) fn uplink_bps(&self) -> Option<f64> {
        self.uplinks.filter(|&bps| bps > 0).map(|bps| bps as f64)
    }

    /// What a load of 1 of the host links is, in bit/s: the rate of a host's link, as often as there are hosts.
    pub(crate) fn edge_bps(&self) -> f64 {
        self.rack_of.len() as f64 * self.host_link.as_bps() as f64
    }
}

/// Offered traffic as fractions of capacities. All are 0 where no time passes, such as in a list whose flows all start
/// at once.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Loads {
    /// Payload of all flows / (hosts x host link).
    pub edge_payload: f64,
    /// Payload and headers of all flows / (hosts x host link).
    pub edge_wire: f64,
    /// Payload of the flows that leave their rack / uplinks of all racks.
    pub core_payload: Option<f64>,
    /// Payload of all flows / uplinks of all racks.
    pub fabric_payload: Option<f64>,
}

impl Loads {
    /// Loads of these rates in bit/s.
    pub(crate) fn of_rates(places: &HostLinks, payload: f64, wire: f64, leaving: f64) -> Loads {
        let edge = places.edge_bps();
        let uplinks = places.uplink_bps();
        Loads {
            edge_payload: payload / edge,
            edge_wire: wire / edge,
            core_payload: uplinks.map(|uplinks| leaving / uplinks),
            fabric_payload: uplinks.map(|uplinks| payload / uplinks),
        }
    }
}

/// Adds up the flows that were really offered.
#[derive(Clone, Debug)]
pub struct Realised {
    places: HostLinks,
    flows: u64,
    payload: u64,
    wire: u64,
    leaving: u64,
}

impl Realised {
    /// No flow yet.
    pub fn new(places: &HostLinks) -> Realised {
        Realised { places: places.clone(), flows: 0, payload: 0, wire: 0, leaving: 0 }
    }

    /// Counts a flow.
    pub fn add(&mut self, flow: &FlowSpec) {
        self.flows += 1;
        self.payload += flow.size;
        self.wire += wire_bytes(flow.size);
        let rack = |host: u32| self.places.rack_of[host as usize];
        if rack(flow.src.0) != rack(flow.dst.0) {
            self.leaving += flow.size;
        }
    }

    /// Bytes that it holds on to.
    pub fn heap_bytes(&self) -> usize {
        self.places.rack_of.capacity() * size_of::<u32>()
    }

    /// Flows counted.
    pub fn flows(&self) -> u64 {
        self.flows
    }

    /// Their payload in bytes.
    pub fn payload_bytes(&self) -> u64 {
        self.payload
    }

    /// Their payload and headers in bytes.
    pub fn wire_bytes(&self) -> u64 {
        self.wire
    }

    /// The loads that they make if they arrived in `duration`; all 0 if no time passes.
    pub fn loads(&self, duration: Span) -> Loads {
        if duration == Span::ZERO {
            return Loads::of_rates(&self.places, 0.0, 0.0, 0.0);
        }
        let rate = |bytes: u64| bytes as f64 * 8.0 / duration.as_secs_f64();
        Loads::of_rates(&self.places, rate(self.payload), rate(self.wire), rate(self.leaving))
    }
}

/// The racks, numbered without gaps.
#[derive(Clone, Debug)]
pub(crate) struct Racks {
    /// Rack of each host, as an index into the other table.
    pub(crate) of: Vec<usize>,
    /// The topology's number of each rack.
    pub(crate) name: Vec<u32>,
}

impl Racks {
    pub(crate) fn new(places: &HostLinks) -> Racks {
        let mut name = places.rack_of.clone();
        name.sort_unstable();
        name.dedup();
        let of = places.rack_of.iter().map(|rack| name.partition_point(|other| other < rack)).collect();
        Racks { of, name }
    }

    pub(crate) fn hosts(&self) -> usize {
        self.of.len()
    }
}

#[cfg(test)]
mod tests {
    use tailcut_base::Instant;
    use tailcut_model::{ClassId, PathFacts};

    use super::*;

    fn flow(src: u32, dst: u32, size: u64) -> FlowSpec {
        FlowSpec {
            start: Instant::ZERO,
            src: HostId(src),
            dst: HostId(dst),
            size,
            class: ClassId(0),
            query: None,
            connection: 0,
            deadline: None,
            measured: true,
            path: PathFacts::default(),
        }
    }

    #[test]
    fn realised_loads_of_two_flows() {
        let places = HostLinks {
            rack_of: vec![7, 7, 3, 3],
            host_link: BitRate::gbps(10),
            uplinks: Some(20_000_000_000),
            nodes: None,
        };
        let mut realised = Realised::new(&places);
        realised.add(&flow(0, 1, 1_000_000));
        realised.add(&flow(0, 2, 1_500_000));
        let loads = realised.loads(Span::from_ms(1));
        // 2.5 MB in 1 ms are 20 Gb/s; 1.5 MB are 12 Gb/s.
        assert_eq!(loads.edge_payload, 0.5);
        assert_eq!(loads.fabric_payload, Some(1.0));
        assert_eq!(loads.core_payload, Some(0.6));
        let headers = 40.0 * (685.0 + 1028.0) * 8.0 / 1e-3 / 40e9;
        assert!((loads.edge_wire - 0.5 - headers).abs() < 1e-12);
        assert_eq!((realised.flows(), realised.payload_bytes()), (2, 2_500_000));
        assert_eq!(realised.loads(Span::ZERO).edge_payload, 0.0);
    }
}
