//! Random small networks, and what both oracles have in common.

use std::collections::BTreeMap;

use num_rational::Ratio;
use proptest::prelude::*;
use tailcut_base::{Instant, Span};
use tailcut_flow::{Discipline, Engine, Hop, NewFlow, Place};

pub(crate) type Exact = Ratio<i128>;

/// One flow of a case.
#[derive(Clone, Debug)]
pub(crate) struct Flow {
    pub(crate) start_ns: u64,
    pub(crate) bits: u64,
    /// Links with shares in quarters.
    pub(crate) hops: Vec<(u32, u8)>,
    pub(crate) deadline_ns: Option<u64>,
    /// When it is stopped, if it is still under way then, and when it goes on: after its start, and after that.
    pub(crate) pause_ns: Option<(u64, u64)>,
}

/// A network and its flows, in the order of their starts.
#[derive(Clone, Debug)]
pub(crate) struct Case {
    /// Mbit/s.
    pub(crate) capacity: Vec<u64>,
    pub(crate) flows: Vec<Flow>,
}

impl Case {
    /// Capacities in bit/s.
    pub(crate) fn bps(&self) -> Vec<f64> {
        self.capacity.iter().map(|&mbps| mbps as f64 * 1e6).collect()
    }

    /// The same as numbers that are exact, in Mbit/s.
    pub(crate) fn exact(&self) -> Vec<Exact> {
        self.capacity.iter().map(|&mbps| Exact::from(i128::from(mbps))).collect()
    }

    fn hops(&self, id: usize) -> Vec<Hop> {
        let hops = self.flows[id].hops.iter();
        hops.map(|&(link, quarters)| Hop { link, share: f64::from(quarters) / 4.0 }).collect()
    }

    pub(crate) fn start(&self, engine: &mut Engine, id: usize) -> Place {
        let flow = &self.flows[id];
        let hops = self.hops(id);
        let at = Instant::ZERO + Span::from_ns(flow.start_ns);
        let deadline = flow.deadline_ns.map(|ns| at + Span::from_ns(ns));
        let new = NewFlow { id: id as u32, bits: flow.bits as f64, hops: &hops, deadline, resume: Span::ZERO };
        engine.start(at, new)
    }

    /// Runs all flows to their ends. `look` is called when something has happened, and sees the engine with the flows
    /// that are under way. Returns the ends, in picoseconds.
    pub(crate) fn run(&self, discipline: &Discipline, mut look: impl FnMut(&mut Engine)) -> BTreeMap<u32, u64> {
        let mut engine = Engine::new(self.bps(), discipline);
        let mut ends = BTreeMap::new();
        let mut next_start = 0;
        // What happens to which flow: whether it goes on, or is stopped.
        let mut pauses: BTreeMap<(Instant, usize), bool> = BTreeMap::new();
        let mut places = Vec::new();
        loop {
            let start = self.flows.get(next_start).map(|flow| Instant::ZERO + Span::from_ns(flow.start_ns));
            let due = engine.next_event();
            let pause = pauses.first_key_value().map(|((at, _), _)| *at);
            let Some(now) = start.into_iter().chain(due).chain(pause).min() else { break };
            engine.run_until(now, &mut |ended| _ = ends.insert(ended.id, ended.at.as_ps()));
            while self.flows.get(next_start).is_some_and(|flow| Instant::ZERO + Span::from_ns(flow.start_ns) == now) {
                places.push(self.start(&mut engine, next_start));
                if let Some((after, _)) = self.flows[next_start].pause_ns {
                    pauses.insert((now + Span::from_ns(after), next_start), false);
                }
                next_start += 1;
            }
            while let Some(entry) = pauses.first_entry().filter(|entry| entry.key().0 == now) {
                let ((_, id), goes) = entry.remove_entry();
                match (goes, self.flows[id].pause_ns) {
                    (true, _) => engine.go(now, places[id], &self.hops(id)),
                    (false, Some((_, lasts))) if !ends.contains_key(&(id as u32)) => {
                        engine.stop(now, places[id]);
                        pauses.insert((now + Span::from_ns(lasts), id), true);
                    }
                    (false, _) => {}
                }
            }
            look(&mut engine);
        }
        assert_eq!(ends.len(), self.flows.len(), "every flow ends");
        // Every link has carried every bit.
        let mut expected = vec![0.0; self.capacity.len()];
        for flow in &self.flows {
            for &(link, quarters) in &flow.hops {
                expected[link as usize] += flow.bits as f64 * f64::from(quarters) / 4.0;
            }
        }
        let now = engine.now();
        // A flow that was stopped has carried its bits in two sums.
        for (carried, expected) in engine.carried(now).into_iter().zip(expected) {
            assert!((carried - expected).abs() < 1e-3, "{carried} bits and not {expected}");
        }
        ends
    }
}

/// Flows of many sizes over up to six of up to eight links, most of them on one way.
pub(crate) fn cases() -> impl Strategy<Value = Case> {
    let capacity = prop::collection::vec(prop::sample::select(vec![100u64, 200, 300, 1000, 4000]), 1..8);
    capacity.prop_flat_map(|capacity| {
        let links = capacity.len() as u32;
        let quarters = prop_oneof![4 => Just(4u8), 1 => 1u8..4];
        let hops = prop::collection::btree_map(0..links, quarters, 1..=(links as usize).min(5));
        let deadline = prop::option::of(1_000u64..3_000_000);
        let pause = prop::option::weighted(0.3, (0u64..2_000_000, 1u64..2_000_000));
        let flow = (0u64..2_000_000, 1_000u64..1_000_000, hops, deadline, pause).prop_map(
            |(start_ns, bits, hops, deadline, pause)| {
                // Some begin together.
                let start_ns = if start_ns % 3 == 0 { start_ns / 500_000 * 500_000 } else { start_ns };
                let hops = hops.into_iter().collect();
                Flow { start_ns, bits, hops, deadline_ns: deadline, pause_ns: pause }
            },
        );
        prop::collection::vec(flow, 1..20).prop_map(move |mut flows| {
            flows.sort_by_key(|flow| flow.start_ns);
            Case { capacity: capacity.clone(), flows }
        })
    })
}

/// Whether a rate in bit/s is the one that an oracle has in Mbit/s.
pub(crate) fn is_same(rate: f64, exact: Exact) -> bool {
    let exact = *exact.numer() as f64 / *exact.denom() as f64 * 1e6;
    (rate - exact).abs() <= 1e-6 * exact.max(rate) + 10.0
}

/// No link carries more than it can, and each flow has a link on its way that is full.
pub(crate) fn assert_full(case: &Case, rates: &[(u32, f64)]) {
    let mut load = vec![0.0; case.capacity.len()];
    for &(id, rate) in rates {
        for &(link, quarters) in &case.flows[id as usize].hops {
            load[link as usize] += rate * f64::from(quarters) / 4.0;
        }
    }
    for (load, capacity) in load.iter().zip(case.bps()) {
        assert!(*load <= capacity * (1.0 + 1e-6), "{load} on a link of {capacity}");
    }
    for &(id, _) in rates {
        let mut links = case.flows[id as usize].hops.iter().map(|&(link, _)| link as usize);
        assert!(links.any(|link| load[link] > case.bps()[link] * (1.0 - 1e-6)), "flow {id} could have more");
    }
}
