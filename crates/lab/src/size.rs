//! How large a simulation will be, before it runs.

use tailcut_base::{HostId, MTU_BYTES, Span};
use tailcut_record::GROUP_ROWS;
use tailcut_sim::config::Fidelity;
use tailcut_sim::{Cut, Scenario};
use tailcut_topology::{Quickest, Route};
use tailcut_workload::{ClassForecast, Distribution, ParetoSizes, Sizes, Traffic, UniformSizes};

/// A flow without packets takes about as long as so many packets over links.
const HOPS_OF_A_FLUID: f64 = 300.0;

/// How large a simulation is expected to be.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Size {
    /// Hosts of its network.
    pub hosts: u32,
    /// What threads can have: racks of its network, which are not cut, or links, each of which is simulated alone.
    pub parts: u32,
    /// Packets over links, ACKs included; of a simulation that is not one of packets in the whole network, as many as
    /// take as long.
    pub packet_hops: f64,
    /// Packets over links between two moments at which threads have to meet, all threads together.
    pub packet_hops_per_round: f64,
    /// Memory in bytes, of the simulation alone.
    pub bytes: f64,
}

/// CPU time in ns of a packet over a link that the forecast assumes, where caches hold most of a simulation's state and
/// where they do not; every run prints the true one.
const NS_PER_PACKET_HOP: [f64; 2] = [110.0, 250.0];

/// State in bytes that caches hold most of.
const CACHED: f64 = 100e6;

impl Size {
    /// CPU time in ns that it is expected to take.
    pub fn cpu_ns(&self) -> f64 {
        self.packet_hops * NS_PER_PACKET_HOP[usize::from(self.bytes > CACHED)]
    }

    /// The size of a scenario by its forecast.
    pub fn of(scenario: &Scenario) -> Size {
        let network = scenario.network();
        // Number of links that a packet crosses, on average over the ways from the first host to each other one.
        let others = 1..network.hosts();
        let (mut quickest, mut route) = (Quickest::new(network), Route::default());
        let mut links = |host| {
            quickest.route_into(HostId(0), HostId(host), &mut route);
            route.links.len()
        };
        let links: usize = others.clone().map(&mut links).sum();
        let mean_links = links as f64 / others.len().max(1) as f64;
        // Each data packet is answered by an ACK, which crosses as many links: hence the factor 2.
        let packet_hops = carried(scenario) / MTU_BYTES as f64 * 2.0 * mean_links;
        // Threads meet once in the time that a packet needs from part to part, however many parts there are.
        let lookahead = Cut::into(network, 2).lookahead(network).map_or(f64::INFINITY, Span::as_secs_f64);
        let ports = network.ports().len();
        let (packet_hops, parts, lookahead) = match scenario.config().fidelity {
            Fidelity::Flow => (scenario.forecast().flows * HOPS_OF_A_FLUID, 1, f64::INFINITY),
            // At each of its links a packet crosses two, and threads need not meet.
            Fidelity::Links(config) => {
                let part = config.part(ports, network.tiers().len());
                (packet_hops * 2.0 * part, u32::try_from(ports).unwrap_or(u32::MAX), f64::INFINITY)
            }
            Fidelity::Packet | Fidelity::Ideal(_) => (packet_hops, network.racks(), lookahead),
        };
        let rounds = scenario.forecast().duration.as_secs_f64() / lookahead;
        Size {
            hosts: network.hosts(),
            parts,
            packet_hops,
            packet_hops_per_round: packet_hops / rounds,
            bytes: memory(scenario),
        }
    }
}

/// Bytes that hosts will send: those that are offered, but of each flow no more than its host's link carries until
/// the time to drain is over. What other flows take from a flow is not known; neither are the sizes in a file.
fn carried(scenario: &Scenario) -> f64 {
    let drain = scenario.config().run.drain.as_secs_f64();
    let duration = scenario.forecast().duration.as_secs_f64();
    let bytes_per_second = scenario.network().host_link().as_bps() as f64 / 8.0;
    let of_class = |class: &ClassForecast| {
        let part = traffic(scenario, class).and_then(sizes).map_or(1.0, |sizes| {
            // Flows start at any time of the run: it is cut into equal parts, and the middle of each stands for the
            // part.
            const PARTS: u32 = 16;
            let left = (0..PARTS).map(|i| drain + duration * (f64::from(i) + 0.5) / f64::from(PARTS));
            left.map(|seconds| part_within(&sizes, seconds * bytes_per_second)).sum::<f64>() / f64::from(PARTS)
        });
        class.flows * class.mean_wire * part
    };
    scenario.forecast().classes.iter().map(of_class).sum()
}

/// The distribution of a traffic's sizes; `None` if it stands in a file.
fn sizes(traffic: &Traffic) -> Option<Distribution> {
    match traffic.sizes.as_ref()? {
        Sizes::Fixed(size) => Some(Distribution::fixed(size.0)),
        Sizes::Uniform(UniformSizes { min, max }) => Some(Distribution::uniform(min.0, max.0)),
        Sizes::Pareto(ParetoSizes { min, max, shape }) => Some(Distribution::pareto(min.0, max.0, *shape)),
        Sizes::Distribution(name) => Some(tailcut_workload::distribution(name)?.distribution()),
        Sizes::File(_) => None,
    }
}

/// The part of all bytes that is within the first `limit` bytes of flows.
fn part_within(sizes: &Distribution, limit: f64) -> f64 {
    let beyond = sizes.bytes_above(limit) - limit * (1.0 - sizes.cdf(limit)) / sizes.mean();
    (1.0 - beyond).clamp(0.0, 1.0)
}

/// State of a simulation in bytes, by what each of its parts was measured to take; right to a factor of two.
fn memory(scenario: &Scenario) -> f64 {
    const HOST: f64 = 168.0;
    const PORT: f64 = 330.0;
    const PAUSED_PORT: f64 = 448.0;
    // The state of sender and receiver and the recorder's row; and 30 packets that are under way.
    const ACTIVE_FLOW: f64 = 720.0 + 30.0 * 84.0;
    const ROW: f64 = 100.0;
    let (network, forecast) = (scenario.network(), scenario.forecast());
    let rows = forecast.flows.min(GROUP_ROWS as f64);
    // Each port counts what waits there by every other port of its switch.
    let port = &scenario.config().port.all;
    let of_switches = network.switches().ids().map(|switch| network.switch_ports(switch).len() as f64);
    let of_switch = |ports: f64| ports * (PAUSED_PORT + ports * (8.0 * f64::from(port.classes) + 1.0));
    let pauses = if port.pfc.is_some() { of_switches.map(of_switch).sum() } else { 0.0 };
    f64::from(network.hosts()) * HOST
        + network.ports().len() as f64 * PORT
        + active_flows(scenario) * ACTIVE_FLOW
        + rows * ROW
        + pauses
}

/// Flows at a time: those that start in the time that one takes. That is its time on an empty link, of all answers to a
/// query together, longer by the busiest link's load as in a queue that is shared evenly (M/G/1-PS), and two round
/// trips.
fn active_flows(scenario: &Scenario) -> f64 {
    const FULL: f64 = 0.95;
    let (network, forecast) = (scenario.network(), scenario.forecast());
    let busiest = scenario.link_loads().busiest().min(FULL);
    let bytes_per_second = network.host_link().as_bps() as f64 / 8.0;
    let trips = 2.0 * network.rtt(HostId(0), HostId(network.hosts() - 1)).as_secs_f64();
    let of_class = |class: &ClassForecast| {
        let incast = traffic(scenario, class).and_then(|traffic| traffic.incast.as_ref());
        let at_once = incast.map_or(1.0, |incast| incast.degree.mean());
        let seconds = class.mean_wire * at_once / bytes_per_second / (1.0 - busiest) + trips;
        class.flows * (seconds / forecast.duration.as_secs_f64()).min(1.0)
    };
    forecast.classes.iter().map(of_class).sum()
}

/// The traffic of a class; `None` for a class that a list names.
fn traffic<'s>(scenario: &'s Scenario, class: &ClassForecast) -> Option<&'s Traffic> {
    let traffics = &scenario.config().workload.traffic.0;
    traffics.iter().find(|(name, _)| *name == class.name).map(|(_, traffic)| traffic)
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use tailcut_sim::Tree;

    use super::*;

    fn size(run: &str) -> Size {
        let text = format!(
            "topology.star = {{ hosts = 8, host_link = {{ rate = \"10Gbps\", delay = \"1us\" }} }}\n\
             run.drain = \"{run}\"\n\
             [workload]\nload = 0.5\nload_bytes = \"wire\"\nduration = \"1ms\"\n\
             [workload.traffic.long]\nshare = 1.0\nsizes.uniform = {{ min = \"8MB\", max = \"12MB\" }}\n"
        );
        let tree = Tree::parse("test", &text).unwrap();
        Size::of(&Scenario::new(&tree, 1, Path::new(".")).unwrap_or_else(|p| panic!("{}", p.render(false))))
    }

    #[test]
    fn threads_meet_once_in_the_time_between_parts() {
        // One rack: no packet goes from part to part.
        assert_eq!((size("1s").parts, size("1s").packet_hops_per_round), (1, f64::INFINITY));
        let text = "topology.leaf-spine = { leaves = 2, hosts_per_leaf = 4, spines = 2, \
                    host_link = { rate = \"10Gbps\", delay = \"1us\" }, core_link = { rate = \"10Gbps\", delay = \"9.968us\" } }\n\
                    [workload]\nload = 0.5\nduration = \"1ms\"\n\
                    [workload.traffic.a]\nshare = 1.0\nsizes.fixed = \"10KB\"\n";
        let tree = Tree::parse("test", text).unwrap();
        let size = Size::of(&Scenario::new(&tree, 1, Path::new(".")).unwrap_or_else(|p| panic!("{}", p.render(false))));
        assert_eq!(size.parts, 2);
        // 9.968 us and the 40 bytes of a header at 10 Gb/s: 10 us, a hundred times in a millisecond.
        assert!((size.packet_hops_per_round * 100.0 / size.packet_hops - 1.0).abs() < 1e-6);
    }

    #[test]
    fn what_is_cut_off_is_not_counted() {
        // 8 hosts offer 10 Gb/s x 0.5 x 1 ms each, over two links and back: 26,667 packet-hops.
        let all = 8.0 * 625e3 / 1500.0 * 4.0;
        assert!((size("1s").packet_hops / all - 1.0).abs() < 1e-6);
        // A flow of 10 MB has half a millisecond on average: 625 KB.
        assert!((size("0s").packet_hops / all - 0.0625).abs() < 1e-6, "{}", size("0s").packet_hops / all);
        // With two milliseconds more, 3.125 MB.
        assert!((size("2ms").packet_hops / all - 0.3125).abs() < 1e-6);
    }

    /// Each of 2000 ports counts 8 bytes by every other port and class, and a byte by every other port.
    #[test]
    fn pauses_cost_memory_with_the_square_of_the_ports() {
        let bytes = |pfc: &str| {
            let text = format!(
                "topology.star = {{ hosts = 2000, host_link = {{ rate = \"10Gbps\", delay = \"1us\" }} }}\n\
                 port.classes = 2\n{pfc}[workload]\nload = 0.1\nduration = \"1us\"\n\
                 [workload.traffic.a]\nshare = 1.0\nsizes.fixed = \"1KB\"\n"
            );
            let tree = Tree::parse("test", &text).unwrap();
            let scenario = Scenario::new(&tree, 1, Path::new("."));
            Size::of(&scenario.unwrap_or_else(|p| panic!("{}", p.render(false)))).bytes
        };
        let more = bytes("port.pfc = {}\n") - bytes("");
        assert!((more / (2000.0 * 2000.0 * 17.0) - 1.0).abs() < 0.02, "{more}");
    }
}
