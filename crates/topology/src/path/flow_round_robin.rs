//! Flows in turns: each new flow toward a destination takes the way after that of the flow before, and keeps it.
//!
//! This is our reading of the "round robin" of Rezaei's thesis (University of Illinois at Chicago, 2021, section 2.2.1),
//! which calls it a random choice.
//!
//! A switch is not told when a flow ends. Like the flow table of a real switch, this one forgets flows that are silent
//! while many others pass: it holds two generations, and when the young one is full the old one is dropped. A flow that
//! comes back after that takes a new turn. It cannot overtake itself by it unless its packets were under way for as long
//! as those many flows took to pass.

use std::collections::BTreeMap;
use std::mem;
use std::num::NonZeroU32;

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use tailcut_base::HostId;
use tailcut_model::seat::PathChoice;
use tailcut_model::{Build, FlowId, Invalid, Packet, Parameters};

use super::PathContext;
use super::cycle::Cycles;

/// How long flows are remembered.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "snake_case")]
pub struct Config {
    /// Flows that may pass a switch between two packets of a flow before the flow's way is forgotten. A switch holds
    /// up to twice as many, at some 20 bytes each. The default is ours: 20 hosts that send flows of 20 KB at 10 Gb/s
    /// need 50 ms for it, which is longer than the retransmission timeouts of datacenter transports.
    #[serde(default = "default_remembered_flows")]
    pub remembered_flows: NonZeroU32,
}

fn default_remembered_flows() -> NonZeroU32 {
    NonZeroU32::new(1 << 16).expect("2^16 is not zero")
}

impl Parameters for Config {
    const CASES: &'static [&'static str] = &["", "remembered_flows = 3"];
}

/// A flow in one direction.
type Key = (FlowId, HostId);

/// The turns of one switch, and the ways of the flows that it remembers.
#[derive(Debug)]
pub struct Model {
    cycles: Cycles,
    remembered_flows: usize,
    young: BTreeMap<Key, u32>,
    old: BTreeMap<Key, u32>,
}

impl Build for Model {
    type Config = Config;
    type Context = PathContext;

    fn build(config: &Config, context: &PathContext) -> Result<Model, Invalid> {
        let salt = context.seeds.stream("path.flow-round-robin", u64::from(context.node)).bits();
        Ok(Model {
            cycles: Cycles::new(salt),
            remembered_flows: config.remembered_flows.get() as usize,
            young: BTreeMap::new(),
            old: BTreeMap::new(),
        })
    }
}

impl PathChoice for Model {
    fn choose(&mut self, packet: &Packet, destination: u32, alternatives: u32) -> u32 {
        let key = (packet.flow, packet.src);
        if let Some(&way) = self.young.get(&key) {
            return way;
        }
        let way = match self.old.get(&key) {
            Some(&way) => way,
            None => self.cycles.advance(destination, alternatives),
        };
        if self.young.len() == self.remembered_flows {
            self.old = mem::take(&mut self.young);
        }
        self.young.insert(key, way);
        way
    }
}

#[cfg(test)]
mod tests {
    use tailcut_base::{Instant, Seeds};

    use super::*;

    fn model(remembered_flows: u32) -> Model {
        let config = Config { remembered_flows: NonZeroU32::new(remembered_flows).unwrap() };
        Model::build(&config, &PathContext { node: 0, seeds: Seeds::new(1) }).unwrap()
    }

    fn choose(model: &mut Model, flow: u32) -> u32 {
        let packet = Packet::data(FlowId(flow), HostId(0), HostId(9), 0, 1460, 1460, Instant::ZERO);
        model.choose(&packet, 0, 4)
    }

    #[test]
    fn memory_is_bounded_however_many_flows_pass() {
        let mut model = model(100);
        for flow in 0..100_000 {
            choose(&mut model, flow);
            assert!(model.young.len() + model.old.len() <= 200);
        }
    }

    #[test]
    fn a_flow_keeps_its_way_as_long_as_it_is_not_silent_for_too_long() {
        let mut model = model(100);
        let way = choose(&mut model, 0);
        let mut others = 1..;
        for _ in 0..50 {
            for other in others.by_ref().take(100) {
                choose(&mut model, other);
            }
            assert_eq!(choose(&mut model, 0), way);
        }
        // It is forgotten in the end: 204 flows later it takes the turn after theirs.
        let mut last = 0;
        for other in others.take(204) {
            last = choose(&mut model, other);
        }
        assert_eq!(choose(&mut model, 0), (last + 1) % 4);
        assert_ne!((last + 1) % 4, way, "the test must see the change");
    }

    #[test]
    fn a_table_of_no_flows_is_refused() {
        let error = serde_json::from_str::<Config>(r#"{"remembered_flows": 0}"#).unwrap_err().to_string();
        assert!(error.contains("nonzero"), "{error}");
    }
}
