//! HyLine's manager without a network around it, which always knows the same number of flows: what its decisions cost,
//! and what it promises.

use std::collections::BTreeMap;
use std::sync::Arc;

use tailcut_base::{HostId, Id, Instant, Seeds, Span, Stream};
use tailcut_model::seat::{Answer, ControllerCounts};
use tailcut_model::{FlowId, Invalid, Permission, Way};
use tailcut_topology::Network;

use super::super::{Control, ControllerConfig, ControllerContext, Told};
use super::Config;
use super::ways::each_way;

/// Sizes of flows lie evenly between these, in bytes: above the threshold of the document, up to the largest flow of
/// web search.
const SIZES: (u64, u64) = (1_000_000, 30_000_000);

/// From one change to the next. Longer than the manager needs for a decision, so that it is idle again.
const BETWEEN: Span = Span::from_us(200);

/// A manager that knows a fixed number of unfinished flows between random hosts. Each time one of those that may send
/// has ended, another one asks.
pub struct Busy {
    control: Control,
    network: Arc<Network>,
    draws: Stream,
    now: Instant,
    /// The ends of each flow that is not finished.
    ends: BTreeMap<FlowId, (HostId, HostId)>,
    /// Those that may send, each with its way.
    going: BTreeMap<FlowId, Way>,
    asked: u32,
}

impl Busy {
    /// A manager with these rules for this network, which has been asked for `flows` flows, and has answered.
    ///
    /// # Errors
    /// If it cannot manage this network.
    ///
    /// # Panics
    /// If there are fewer than two hosts.
    pub fn new(rules: &Config, network: Arc<Network>, flows: u32, seed: u64) -> Result<Busy, Invalid> {
        assert!(network.hosts() > 1, "a flow has two ends");
        let seeds = Seeds::new(seed);
        let context = ControllerContext { network: Arc::clone(&network), seeds };
        let seat = ControllerConfig::Hyline(rules.clone()).build(&context)?;
        let mut busy = Busy {
            control: Control::new(seat).expect("the manager is a controller"),
            network,
            draws: seeds.stream("controller.hyline.busy", 0),
            now: Instant::ZERO,
            ends: BTreeMap::new(),
            going: BTreeMap::new(),
            asked: 0,
        };
        (0..flows).for_each(|_| busy.ask());
        Ok(busy)
    }

    /// One of the flows that may send ends, and another one asks: two decisions.
    pub fn turn(&mut self) {
        let nth = self.draws.below(u32::try_from(self.going.len()).expect("flows have numbers of 32 bits")) as usize;
        let ended = *self.going.keys().nth(nth).expect("one of those that are there");
        let (src, _) = self.ends.remove(&ended).expect("a flow that may send is not finished");
        self.going.remove(&ended);
        self.tell(src, ended, Permission::End);
        self.ask();
    }

    /// What the manager has counted since its beginning.
    pub fn counts(&self) -> ControllerCounts {
        self.control.counts().expect("the manager counts")
    }

    /// How many flows may send.
    pub fn going(&self) -> usize {
        self.going.len()
    }

    /// The largest sum of the rates of flows that may send over the rate of the link that they share: none of them is
    /// faster than its hosts. More than one is more than the link carries.
    pub fn fullest(&self) -> f64 {
        let mut taken = vec![0_u64; self.network.ports().len()];
        for (flow, chosen) in &self.going {
            let (src, dst) = self.ends[flow];
            let rate = |host| self.network.ports()[self.network.nic(host)].rate.as_bps();
            let rate = rate(src).min(rate(dst));
            each_way(&self.network, src, dst, &mut |_| true, &mut |way, links| {
                if way == *chosen {
                    // A link that is slower than the hosts carries one flow at its own rate.
                    links
                        .iter()
                        .for_each(|&port| taken[port.index()] += rate.min(self.network.ports()[port].rate.as_bps()));
                }
            });
        }
        let carries = self.network.ports().iter().map(|port| port.rate.as_bps());
        taken.iter().zip(carries).map(|(&taken, carries)| taken as f64 / carries as f64).fold(0.0, f64::max)
    }

    fn ask(&mut self) {
        let hosts = self.network.hosts();
        let src = self.draws.below(hosts);
        let dst = (src + 1 + self.draws.below(hosts - 1)) % hosts;
        let size = SIZES.0 + (self.draws.unit() * (SIZES.1 - SIZES.0) as f64) as u64;
        let flow = FlowId(self.asked);
        self.asked += 1;
        self.ends.insert(flow, (HostId(src), HostId(dst)));
        self.tell(HostId(src), flow, Permission::Request { to: HostId(dst), size });
    }

    /// Tells the manager something, and hears what it says to that.
    fn tell(&mut self, from: HostId, flow: FlowId, what: Permission) {
        self.control.take([Told { at: self.now, from, flow, message: what.message() }].into_iter());
        self.now = self.now + BETWEEN;
        let heard: Vec<Answer> = self.control.run_until(self.now).collect();
        for answer in heard {
            match Permission::of(answer.message) {
                Some(Permission::Go { way, .. }) => self.going.insert(answer.flow, way),
                _ => self.going.remove(&answer.flow),
            };
        }
    }
}
