//! Random small scenarios: networks, schemes, hosts and flows. Whatever is registered takes part.

use std::path::Path;
use std::sync::LazyLock;

use proptest::prelude::*;
use tailcut_model::registry::{ModelEntry, SeatEntry, seats_of};
use tailcut_sim::{Config, Preset, Problem, Scenario, Tree};

use super::{listed, star, tree};

/// One scenario, as a choice of texts.
#[derive(Clone, Debug)]
pub struct Case {
    pub scheme: &'static str,
    /// Whether there is one way only between two hosts.
    pub one_path: bool,
    /// Whether hosts mark packets.
    pub host_marks: bool,
    /// Whether links fail, or are not as the topology has them.
    pub is_disturbed: bool,
    pub text: String,
    pub flows: Vec<(u32, u32, u64, u64)>,
    pub seed: u64,
    /// Microseconds after the last start at which the run is cut off the second time.
    pub drain_us: u64,
}

/// The text of a network, the number of its hosts, and whether there is one way only.
pub fn networks() -> impl Strategy<Value = (String, u32, bool)> {
    let link = || {
        (prop::sample::select(vec!["1Gbps", "10Gbps", "25Gbps", "40Gbps", "7777777777bps"]), 0u64..20_000)
            .prop_map(|(rate, ns)| format!("{{ rate = \"{rate}\", delay = \"{ns}ns\" }}"))
    };
    let links = move || {
        let delay = prop::sample::select(vec!["0us", "0us", "1us", "25us"]);
        (link(), link(), delay).prop_map(|(host, core, delay)| (host, core, format!("switch_delay = \"{delay}\"\n")))
    };
    prop_oneof![
        3 => (1u32..5, 1u32..5, 1u32..5, links()).prop_map(|(leaves, hosts, spines, (host, core, delay))| {
            let hosts = if leaves == 1 { hosts + 1 } else { hosts };
            let text = format!(
                "[topology.leaf-spine]\nleaves = {leaves}\nhosts_per_leaf = {hosts}\nspines = {spines}\n\
                 host_link = {host}\ncore_link = {core}\n{delay}"
            );
            (text, leaves * hosts, spines == 1 || leaves == 1)
        }),
        1 => (1u32..4, 1u32..4, 2u32..5, 0u32..3, links()).prop_map(|(left, right, line, middle, (host, core, delay))| {
            let middle = if line == 2 { 0 } else { middle };
            let text = format!(
                "[topology.dumbbell]\nleft_hosts = {left}\nright_hosts = {right}\nswitches_in_line = {line}\n\
                 hosts_per_middle_switch = {middle}\nhost_link = {host}\ncore_link = {core}\n{delay}"
            );
            (text, left + right + (line - 2) * middle, true)
        }),
        1 => (1u32..8, links()).prop_map(|(senders, (host, receiver, delay))| {
            let text = format!(
                "[topology.single-bottleneck]\nsenders = {senders}\nhost_link = {host}\nreceiver_link = {receiver}\n{delay}"
            );
            (text, senders + 1, true)
        }),
        1 => (2u32..9, links()).prop_map(|(hosts, (host, _, delay))| {
            (format!("[topology.star]\nhosts = {hosts}\nhost_link = {host}\n{delay}"), hosts, true)
        }),
        1 => model_on("topology", "topology").prop_map(|line| {
            let text = format!("{line}{}", listed(&[(0, 1, 1, 0)]));
            let scenario = Scenario::new(&tree("tcp", &text), 0, Path::new(".")).expect("a case of a generator is a network");
            // Keys of the scenario's own come before its tables.
            (line, scenario.network().hosts(), false)
        }),
    ]
}

/// What is registered for every seat.
static SEATS: LazyLock<Vec<SeatEntry>> = LazyLock::new(seats_of::<Config>);

/// A line that puts a registered model on the seat at `path`, with one of its cases. `key` is what stands for the path
/// there.
fn model_on(path: &'static str, key: &'static str) -> impl Strategy<Value = String> {
    let seat = SEATS.iter().find(|seat| seat.path == path).unwrap_or_else(|| panic!("{path} is a seat"));
    let line = |model: &ModelEntry, case: &String| format!("{key} = {{ {} = {{ {case} }} }}\n", model.name);
    let lines: Vec<String> =
        seat.models.iter().flat_map(|model| model.cases.iter().map(move |case| line(model, case))).collect();
    prop::sample::select(lines)
}

/// As [`model_on`], and mostly nothing: the default.
fn seldom(path: &'static str, key: &'static str) -> impl Strategy<Value = String> {
    prop_oneof![3 => Just(String::new()), 1 => model_on(path, key)]
}

/// The ports of a scheme and what its hosts write into packets and do with windows: any models that go together.
fn composition() -> impl Strategy<Value = Seats> {
    let port = (
        (1u8..9, room()),
        model_on("port.classifier", "classifier"),
        model_on("port.scheduler", "scheduler"),
        model_on("port.buffer", "buffer"),
        model_on("port.marker", "marker"),
    )
        .prop_map(|((classes, room), classifier, scheduler, buffer, marker)| {
            // Of one queue and of many: half of all models want the one or the other.
            let classes = if scheduler.contains("strict") { classes } else { 1 };
            format!("{room}classes = {classes}\n{classifier}{scheduler}{buffer}{marker}")
        });
    let host = (
        model_on("host.tag", "tag"),
        model_on("host.congestion", "congestion"),
        seldom("host.pace", "pace"),
        seldom("host.receive", "receive"),
        transports(),
    )
        .prop_map(|(tag, congestion, pace, receive, transport)| {
            // Another transport has its own ways instead of a window and tags.
            let seats =
                if transport.contains("tcp") { [tag, congestion, pace, receive].concat() } else { String::new() };
            (transport, seats)
        });
    // Most of what is drawn does not go together: the first that does is taken.
    prop::collection::vec((port, host), 24).prop_map(|drawn| {
        let fits = |(port, (transport, host)): &(String, (String, String))| {
            let text = format!("{}[port]\n{port}[host]\n{host}{transport}{}", star(3), listed(&[(0, 1, 1, 0)]));
            Scenario::new(&tree("tcp", &text), 0, Path::new(".")).is_ok()
        };
        let plain = ("limit = \"30KB\"\n".to_owned(), Default::default());
        let (port, (transport, host)) = drawn.into_iter().find(fits).unwrap_or(plain);
        Seats { preset: "tcp", port, host, transport }
    })
}

/// What a scheme puts on its seats, on top of a preset.
#[derive(Clone, Debug)]
struct Seats {
    preset: &'static str,
    port: String,
    host: String,
    /// The transport with its parameters: a line of `[host]`.
    transport: String,
}

/// A preset, or models on top of none.
fn schemes() -> impl Strategy<Value = Seats> {
    let preset = (prop::sample::select(super::schemes()), tcp(), homa(), hyline(), room()).prop_map(
        |(preset, tcp, homa, hyline, room)| {
            let layer = Preset::layer(preset).expect("a preset");
            let transport = layer.get("host").and_then(|host| host.get("transport"));
            let is = |name: &str| transport.is_some_and(|transport| transport.to_text().contains(name));
            let mut transport = match () {
                // A transport whose rates come from switches goes with those of its preset only.
                () if has_agent(preset) => String::new(),
                () if is("homa") => homa,
                () if is_permitted(preset) => hyline,
                () => tcp,
            };
            if preset.starts_with("pfabric") && !transport.contains("max_window") {
                // Its presets have a largest window, which may be below the initial one here.
                transport = transport.replace("tcp = { ", "tcp = { max_window = 100, ");
            }
            // The ports of some cases hold less than what is reserved usually.
            let port = if preset == "resqueue" { "buffer.reserved.limit = \"50%\"\n" } else { "" };
            Seats { preset, port: room + port, host: String::new(), transport }
        },
    );
    prop_oneof![4 => preset, 5 => composition()]
}

/// Whether the switches of a preset read and write headers.
pub fn has_agent(preset: &str) -> bool {
    let layer = Preset::layer(preset).expect("a preset");
    layer.get("switch").is_some_and(|switch| switch.get("agent").is_some())
}

/// Whether flows of a preset need the permission of a controller.
pub fn is_permitted(preset: &str) -> bool {
    preset.starts_with("hyline")
}

/// The cases of HyLine's hosts.
fn hyline() -> impl Strategy<Value = String> {
    model_on("host.transport", "transport").prop_filter("of HyLine", |line| line.contains("hyline"))
}

/// How much waits in a port, and what it loses by chance.
fn room() -> impl Strategy<Value = String> {
    (prop_oneof![3_000u64..30_000, 3_000u64..1_000_000], losses())
        .prop_map(|(limit, losses)| format!("limit = \"{limit}B\"\n{losses}"))
}

/// What a port loses by chance: mostly nothing.
fn losses() -> impl Strategy<Value = String> {
    prop_oneof![5 => Just(String::new()), 1 => model_on("port.loss", "loss")]
}

/// A registered transport, or one of the two that are there longest with any parameters.
fn transports() -> impl Strategy<Value = String> {
    prop_oneof![4 => tcp(), 1 => homa(), 2 => model_on("host.transport", "transport")]
}

/// Homa with any parameters.
fn homa() -> impl Strategy<Value = String> {
    let levels = (prop::option::of(1u32..6), prop::sample::select(vec!["\"workload\"", "[]", "[\"2KB\", \"30KB\"]"]));
    let grants = prop::sample::select(vec!["bounded", "until-received", "each-packet"]);
    let incast = prop::option::of((0u32..20, 1u64..1460));
    (1u64..60_000, 200u64..10_000, levels, grants, incast).prop_map(
        |(rtt_bytes, resend, (overcommit, cutoffs), grants, incast)| {
            let overcommit = overcommit.map_or(String::new(), |messages| format!(", overcommit = {messages}"));
            let incast = incast.map_or(String::new(), |(threshold, unscheduled)| {
                format!(", incast = {{ threshold = {threshold}, unscheduled = \"{unscheduled}B\" }}")
            });
            format!(
                "transport.homa = {{ rtt_bytes = \"{rtt_bytes}B\", resend = \"{resend}us\"{overcommit}, \
                 cutoffs = {cutoffs}, grants = \"{grants}\"{incast} }}\n"
            )
        },
    )
}

/// The recovery of TCP that a preset chooses, if it chooses one.
fn recovery(preset: &str) -> Option<String> {
    let layer = Preset::layer(preset).expect("a preset of the tests");
    layer.at("host.transport.tcp.recovery").and_then(Tree::as_str).map(str::to_owned)
}

/// TCP with any parameters.
fn tcp() -> impl Strategy<Value = String> {
    let window = (1u32..80, prop::option::of(0u32..100));
    let delayed = prop::option::of((1u32..5, 1u64..1000));
    let timeouts = (200u64..10_000, prop::bool::weighted(0.2), prop::option::weighted(0.3, 1u32..6));
    (timeouts, window, delayed, 1u32..30, prop::bool::ANY, (prop::bool::ANY, prop::bool::ANY)).prop_map(
        |((min_rto, fixed, probe), (window, more), delayed, dup_thresh, fast, (handshake, long))| {
            let max = more.map_or(String::new(), |more| format!("max_window = {}, ", window + more));
            let delayed = delayed.map_or(String::new(), |(every, timeout)| {
                format!(", delayed_ack = {{ every = {every}, timeout = \"{timeout}us\" }}")
            });
            let probe = probe.map_or(String::new(), |after| format!(", fixed_rto = {fixed}, probe_after = {after}"));
            let handshake = if handshake { "one-rtt" } else { "none" };
            let long = if long { ", long_flows = { above = \"50KB\", min_rto = \"20ms\" }" } else { "" };
            format!(
                "transport.tcp = {{ {max}initial_window = {window}, min_rto = \"{min_rto}us\", dup_thresh = {dup_thresh}, \
                 fast_retransmit = {fast}, handshake = \"{handshake}\"{probe}{delayed}{long} }}\n"
            )
        },
    )
}

/// Flows between any hosts, and incasts.
fn flows(hosts: u32) -> impl Strategy<Value = Vec<(u32, u32, u64, u64)>> {
    let size = prop_oneof![1u64..3000, 1u64..200_000, (1u64..40).prop_map(|n| n * 1460)];
    let one = (0..hosts, 0..hosts - 1, size, 0u64..500_000)
        .prop_map(|(src, dst, size, start)| vec![(src, if dst >= src { dst + 1 } else { dst }, size, start)]);
    let incast = (0..hosts, 1u64..40_000, 0u64..500_000, 1usize..20).prop_map(move |(dst, size, start, degree)| {
        (0..hosts).filter(|&src| src != dst).cycle().take(degree).map(|src| (src, dst, size, start)).collect()
    });
    prop::collection::vec(prop_oneof![4 => one, 1 => incast], 1..30).prop_map(|groups| {
        let mut flows = groups.concat();
        flows.sort_by_key(|flow| flow.3);
        flows
    })
}

/// Further links of some hosts, other costs of links, and a static route, in a network of these switches and hosts.
fn extra_links(switches: Vec<String>, hosts: u32) -> impl Strategy<Value = String> {
    let aggregation = prop::sample::select(vec!["fat", "hash"]);
    let rate = prop::sample::select(vec!["1Gbps", "10Gbps", "40Gbps"]);
    let switch = move || prop::sample::select(switches.clone());
    let link =
        (0..hosts, switch(), 1u32..4, rate, 0u32..9, aggregation).prop_map(|(host, switch, links, rate, us, by)| {
            format!(
                "[[network.extra_links]]\nhosts = [{host}]\nswitch = \"{switch}\"\nlinks = {links}\n\
             rate = \"{rate}\"\ndelay = \"{us}us\"\naggregation = \"{by}\"\n"
            )
        });
    let route = (switch(), 0..hosts, 0..hosts, switch()).prop_map(|(at, from, to, via)| {
        format!("[[network.static_routes]]\nat = \"{at}\"\nfrom = [{from}]\nto = {to}\nvia = \"{via}\"\n")
    });
    let routing =
        (prop::sample::select(vec!["hops", "inverse-rate"]), prop::sample::select(vec!["host", "leaf"]), any::<bool>());
    let routing = routing.prop_map(|(cost, address, forward)| {
        format!("[network]\ncost = \"{cost}\"\naddress = \"{address}\"\nhosts_forward = {forward}\n")
    });
    let links = prop::collection::vec(link, 1..3).prop_map(|links| links.concat());
    let route = prop_oneof![2 => Just(String::new()), 1 => route];
    (routing, links, route).prop_map(|(routing, links, route)| routing + &links + &route)
}

/// What a scenario says beside its scheme: queues in the NICs, single links and tiers that are different, switches
/// whose ports have something in common, failures, further links of hosts. Mostly none of that; and whether the network
/// is disturbed.
fn surroundings(network: &str) -> impl Strategy<Value = (String, bool)> + use<> {
    let text = format!("{network}{}", listed(&[(0, 1, 1, 0)]));
    let scenario = Scenario::new(&tree("tcp", &text), 0, Path::new(".")).expect("it is a network");
    let network = scenario.network();
    let names: Vec<String> = network.ports().ids().map(|port| network.port_name(port).to_string()).collect();
    let tiers = network.tiers().to_vec();
    let switches = network.switches().iter().map(|switch| switch.name.clone()).collect();
    let extra = extra_links(switches, network.hosts()).prop_map(|extra| (extra, true));
    let between_switches = names.iter().any(|name| !name.contains("host"));
    let name = || prop::sample::select(names.clone());
    let changes =
        vec!["rate = \"3Gbps\"", "rate = \"100Gbps\"", "delay = \"7us\"", "delay = \"90us\"\nrate = \"400Mbps\""];
    let link = prop::collection::btree_map(name(), prop::sample::select(changes), 1..4);
    let table = |(name, change): (String, &str)| format!("[link.\"{name}\"]\n{change}\n");
    let link = link.prop_map(move |links| (links.into_iter().map(table).collect::<String>(), true));
    let tier = prop_oneof![
        prop::sample::select(tiers),
        name().prop_filter("NICs have a table of their own", |name| !name.starts_with("host"))
    ];
    let tier = (tier, losses(), model_on("port.marker", "marker"))
        .prop_map(|(name, loss, marker)| (format!("[port.\"{name}\"]\n{loss}{marker}limit = \"25KB\"\n"), false));
    let failure = (name(), 0u64..400, 1u64..900, 0u64..300).prop_map(|(name, at, lasts, convergence)| {
        let both = name.replace("->", "--");
        (
            format!(
                "[failures]\nconvergence = \"{convergence}us\"\n\
                 list = [{{ link = \"{both}\", at = \"{at}us\", for = \"{lasts}us\" }}]\n"
            ),
            true,
        )
    });
    let drawn = (50u64..2_000, 1u64..300).prop_map(move |(up, down)| {
        let of = if between_switches { "links" } else { "switches" };
        (format!("[failures.drawn]\nof = \"{of}\"\nup = \"{up}us\"\ndown = \"{down}us\"\n"), true)
    });
    let nic = model_on("nic", "nic").prop_map(|nic| (nic, false));
    let shared = (model_on("switch.memory", "memory"), model_on("switch.agent", "agent"))
        .prop_map(|(memory, agent)| (format!("[switch]\n{memory}{agent}"), false));
    // Keys of the scenario's own come before its tables.
    let plain = Just((String::new(), false)).boxed();
    let one = move |some: BoxedStrategy<(String, bool)>| prop_oneof![4 => plain.clone(), 1 => some];
    let failure = prop_oneof![failure, drawn].boxed();
    let tables = (one(nic.boxed()), one(shared.boxed()), one(link.boxed()), one(tier.boxed()), one(failure));
    (tables, one(extra.boxed())).prop_map(|((nic, shared, link, tier, failure), extra)| {
        let parts: [(String, bool); 6] = [nic, shared, link, tier, failure, extra];
        (parts.iter().map(|part| part.0.as_str()).collect(), parts.iter().any(|part| part.1))
    })
}

pub fn cases() -> impl Strategy<Value = Case> {
    let order = (model_on("host.order", "order"), seldom("host.delay", "delay"));
    let order = order.prop_map(|(order, delay)| order + &delay);
    let controller = model_on("controller", "controller").prop_filter("it decides", |line| !line.contains("off"));
    let choice = (model_on("path", "path"), controller);
    let drawn = (networks(), schemes(), order, choice, 0u64..4, 0u64..3_000);
    drawn.prop_flat_map(|((network, count, one_path), seats, order, (path, controller), seed, drain_us)| {
        let Seats { preset, port, host, transport } = seats;
        // Timeouts that never grow keep flows in step for ever whose host drops what it has no room for.
        let steady = order.contains("limit = \"3pkt\"");
        let transport = if steady { transport.replace("fixed_rto = true", "fixed_rto = false") } else { transport };
        // Switches that write rates hear of a flow on its way back.
        let path = if has_agent(preset) { "path = { symmetric = {  } }\n".to_owned() } else { path };
        let (path, network, count, one_path) = if is_permitted(preset) {
            // Ways begin at the only link of a host.
            let ways = format!("path = {{ assigned = {{  }} }}\n{controller}");
            let text = |network: &str| format!("{ways}{network}{}", listed(&[(0, 1, 1, 0)]));
            if Scenario::new(&tree(preset, &text(&network)), 0, Path::new(".")).is_ok() {
                (ways, network, count, one_path)
            } else {
                (ways, super::SMALL.to_owned(), 16, false)
            }
        } else {
            (path, network, count, one_path)
        };
        let host_marks = order.contains("mark");
        (flows(count), surroundings(&network)).prop_map(move |(flows, (around, is_disturbed))| {
            let with = |around: &str, transport: &str| {
                let (key, tables) = around.split_at(around.find('[').unwrap_or(around.len()));
                format!("{key}{path}{network}[port]\n{port}[host]\n{order}{host}{transport}{tables}")
            };
            let text = with(&around, &transport);
            let mut case = Case { scheme: preset, one_path, host_marks, is_disturbed, text, flows, seed, drain_us };
            // What the seats of a scheme need is not in every queue.
            if case.try_scenario("1s").is_err() {
                (case.text, case.is_disturbed) = (with("", &transport), false);
            }
            // Nor does every recovery of TCP take all of its parameters.
            if recovery(preset).is_some() && case.try_scenario("1s").is_err() {
                case.text = with("", "");
            }
            case
        })
    })
}

impl Case {
    /// The scenario with this time to drain.
    pub fn scenario(&self, drain: &str) -> Scenario {
        self.try_scenario(drain).unwrap_or_else(|problem| panic!("{}", problem.render(false)))
    }

    /// The same, where delays are attributed, and flows are completed by the ACK of their last byte if `acknowledged`.
    pub fn attributed(&self, drain: &str, acknowledged: bool) -> Scenario {
        let completion = if acknowledged { "completion = \"acknowledged\"\n" } else { "" };
        let scenario = self.try_with(drain, &format!("attribution = true\n{completion}"));
        scenario.unwrap_or_else(|problem| panic!("{}", problem.render(false)))
    }

    /// The same with these lines in the table `[record]`, if they go together with it.
    pub fn recorded(&self, drain: &str, record: &str) -> Option<Scenario> {
        self.try_with(drain, record).ok()
    }

    /// Whether the order of packets that land at one moment is drawn.
    pub fn draws_ties(&self) -> bool {
        self.seed % 2 == 1
    }

    fn try_scenario(&self, drain: &str) -> Result<Scenario, Problem> {
        self.try_with(drain, "")
    }

    fn try_with(&self, drain: &str, record: &str) -> Result<Scenario, Problem> {
        // As many bins as there may be with the longest of times.
        let bin = if drain.ends_with("us") { "7us" } else { "1s" };
        let ties = if self.draws_ties() { "drawn" } else { "numbered" };
        let run = format!("[run]\ndrain = \"{drain}\"\nties = \"{ties}\"\n[record]\n{record}throughput = \"{bin}\"\n");
        let text = format!("{}{run}{}", self.text, listed(&self.flows));
        Scenario::new(&tree(self.scheme, &text), self.seed, Path::new("."))
    }
}

/// So many cases, or what the environment asks for.
pub fn config(usual: u32) -> ProptestConfig {
    let cases = if std::env::var_os("PROPTEST_CASES").is_some() { ProptestConfig::default().cases } else { usual };
    // A property may leave out most of what is drawn.
    let max_global_rejects = 20 * cases;
    ProptestConfig {
        cases,
        max_global_rejects,
        failure_persistence: None,
        max_shrink_iters: 2_000,
        ..ProptestConfig::default()
    }
}
