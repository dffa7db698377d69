//! One link in its network, with every packet.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use tailcut_base::{MTU_BYTES, PortId, Span, mix64};
use tailcut_host::transport::TransportConfig;
use tailcut_model::Thing;
use tailcut_record::{PortRow, Recorder};
use tailcut_topology::{Node, Quickest, Route};
use tailcut_workload::TrafficList;

use super::check;
use super::delays::Passage;
use super::flows::Flows;
use crate::config::{Config, Failures, Fidelity, Moment, RecordConfig, Tiered, WindowConfig, WindowEnd};
use crate::flow_level::scheme::Costs;
use crate::{Engine, Scenario, Stopped, World};

/// Queues of links are not sampled: this is longer than any run.
const NEVER: Span = Span::from_ms(1_000_000_000);

/// Simulates links of a scenario, one at a time.
pub(super) struct OneLink<'a> {
    scenario: &'a Scenario,
    flows: &'a Flows,
    /// What is the same for all links.
    config: Config,
    costs: Costs,
    /// Whether each receiver has a host of its own.
    apart: bool,
}

/// What became of a link.
pub(super) struct Done {
    /// What became of the flows that cross it, in the order of their starts.
    pub(super) passages: Vec<Passage>,
    /// The port in the network of the link.
    pub(super) port: PortRow,
    pub(super) engine: Engine,
}

impl<'a> OneLink<'a> {
    pub(super) fn new(scenario: &'a Scenario, flows: &'a Flows) -> OneLink<'a> {
        let mut config = scenario.config().clone();
        config.fidelity = Fidelity::Packet;
        config.workload.traffic = TrafficList::default();
        config.failures = Failures::default();
        config.link = BTreeMap::new();
        let window = WindowConfig { until: Some(WindowEnd::Moment(Moment::LastArrival)), ..WindowConfig::default() };
        config.record = RecordConfig { queue_sample: NEVER, window, ..RecordConfig::default() };
        let costs = check::costs(&config, scenario.facts().has(Thing::Deadlines)).expect("the scenario was checked");
        let apart = check::has_busy_receivers(&config);
        OneLink { scenario, flows, config, costs, apart }
    }

    /// The configuration of a link: that of its port holds for all, since nothing waits in another one.
    ///
    /// A window is no larger than a round trip and a port hold. In the whole network a larger one overflows some port;
    /// where the port that would lose its packets is another link, it would grow until its host sends nothing else.
    fn config(&self, link: PortId) -> Config {
        let mut config = self.config.clone();
        config.port = Tiered::from(self.scenario.port_config(link).clone());
        if let TransportConfig::Tcp(tcp) = &mut config.host.transport {
            let rate = self.scenario.network().ports()[link].rate.as_bps() as f64 / 8.0;
            let of_flow = |&flow: &u32| self.flows.specs[flow as usize].path.rtt;
            let rtt = self.flows.crossing(link).iter().map(of_flow).max().unwrap_or(Span::ZERO);
            let held = rate * rtt.as_secs_f64() + self.scenario.port_config(link).limit_bytes() as f64;
            let most = ((held / MTU_BYTES as f64) as u32).max(tcp.initial_window);
            tcp.max_window = Some(tcp.max_window.map_or(most, |given| given.min(most)));
        }
        if let Node::Switch(switch) = self.scenario.network().ports()[link].owner {
            config.switch = Tiered::from(self.scenario.switch_config(switch).clone());
        }
        config
    }

    /// Simulates a link. `told` is asked now and then whether to go on.
    pub(super) fn simulate(&self, link: PortId, told: &mut dyn FnMut() -> ControlFlow<()>) -> Result<Done, Stopped> {
        let (level, specs) = self.flows.alone(self.scenario.network(), link, self.apart);
        let (network, port) = level.network();
        let seed = mix64(self.scenario.seed() ^ mix64(u64::from(link.0)));
        let scenario = self.scenario.of_link(network, self.config(link), seed);
        let mut outcome = World::of_flows(&scenario, Recorder::new(), specs).run_with(|_| told())?;
        let (mut quickest, mut route) = (Quickest::new(scenario.network()), Route::default());
        let mut passages = Vec::with_capacity(outcome.flows.rows().len());
        for row in outcome.flows.rows() {
            let delay = row.received.map_or(Passage::NEVER, |received| {
                let [src, dst] = [row.src, row.dst].map(tailcut_base::HostId);
                quickest.route_into(src, dst, &mut route);
                let alone = row.ideal + self.costs.startup(&route, row.size);
                received.saturating_since(row.start).as_ps().saturating_sub(alone.as_ps())
            });
            let count = |packets: u64| u32::try_from(packets).unwrap_or(u32::MAX);
            let (retransmissions, timeouts) = (count(row.retransmissions), count(row.timeouts));
            passages.push(Passage { delay, retransmissions, timeouts });
        }
        Ok(Done { passages, port: outcome.ports.swap_remove(port.0 as usize), engine: outcome.engine })
    }
}
