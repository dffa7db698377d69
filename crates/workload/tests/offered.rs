//! What a workload offers is what its load says, by formula and by counting its flows.

use std::path::Path;

use tailcut_base::{BitRate, Seeds, Span, wire_bytes};
use tailcut_model::FlowSpec;
use tailcut_workload::{Config, Forecast, HostLinks, Realised, Stream, Workload};

/// Slytherin's leaf-spine network: 20 racks of 20 hosts at 10 Gb/s with 10 uplinks of 10 Gb/s each.
fn slytherin_places() -> HostLinks {
    host_links(20, 20, 10, 20 * 10 * 10)
}

fn host_links(racks: u32, hosts: u32, gbps: u64, uplinks_gbps: u64) -> HostLinks {
    HostLinks {
        rack_of: (0..racks * hosts).map(|host| host / hosts).collect(),
        host_link: BitRate::gbps(gbps),
        uplinks: Some(uplinks_gbps * 1_000_000_000),
        nodes: None,
    }
}

fn workload(places: &HostLinks, seed: u64, text: &str) -> Workload {
    let config: Config = toml::from_str(text).expect("the test's scenario is well formed");
    Workload::new(&config, places, Seeds::new(seed), Path::new(".")).unwrap()
}

fn forecast(places: &HostLinks, text: &str) -> Forecast {
    workload(places, 1, text).forecast().clone()
}

/// What each host sends and receives over its link of 10 Gb/s, as a fraction of it, in expectation.
fn host_loads(places: &HostLinks, seed: u64, text: &str) -> (Vec<f64>, Vec<f64>) {
    let config: Config = toml::from_str(text).unwrap();
    let offered = Workload::offered(&config, places, Seeds::new(seed), Path::new(".")).unwrap();
    let hosts = places.hosts();
    let (mut sent, mut received) = (vec![0.0; hosts as usize], vec![0.0; hosts as usize]);
    for stream in &offered.streams {
        let (from, to) = stream.matrix.sent_and_received(hosts);
        sent.iter_mut().zip(from).for_each(|(sum, part)| *sum += part * stream.bps / 10e9);
        received.iter_mut().zip(to).for_each(|(sum, part)| *sum += part * stream.bps / 10e9);
    }
    (sent, received)
}

/// The largest load, with the first host that has it.
fn most(loads: &[f64]) -> (usize, f64) {
    let larger = |best: (usize, f64), next: (usize, f64)| if next.1 > best.1 + 1e-9 { next } else { best };
    loads.iter().copied().enumerate().reduce(larger).unwrap()
}

fn close(a: f64, b: f64, relative: f64, what: &str) {
    assert!((a - b).abs() <= relative * b.abs(), "{what}: {a} is not within {relative} of {b}");
}

const SLYTHERIN: &str = r#"
    load = 0.6
    load_of = "fabric"
    duration = "20ms"
    [traffic.short]
    share = 0.15
    sizes.distribution = "slytherin_short"
    [traffic.incast]
    share = 0.15
    sizes.distribution = "slytherin_short"
    incast = { degree = 32, aggregators = 32 }
    [traffic.long]
    share = 0.70
    sizes.fixed = "1MB"
"#;

#[test]
fn the_three_loads_of_uniform_traffic_on_slytherins_fabric() {
    let uniform = |load_of: &str| {
        let text = format!(
            "load = 0.8\nload_of = \"{load_of}\"\nduration = \"10ms\"\n\
             [traffic.all]\nshare = 1.0\nsizes.distribution = \"websearch\""
        );
        forecast(&slytherin_places(), &text).offered
    };
    let fabric = uniform("fabric");
    close(fabric.fabric_payload.unwrap(), 0.8, 1e-12, "fabric");
    close(fabric.edge_payload, 0.5 * 0.8, 1e-12, "edge");
    close(fabric.core_payload.unwrap(), 380.0 / 399.0 * 0.8, 1e-12, "core");
    close(380.0 / 399.0, 0.952, 1e-3, "fraction that leaves the rack");
    let core = uniform("core");
    close(core.core_payload.unwrap(), 0.8, 1e-12, "core");
    close(core.edge_payload, 0.5 * 0.8 * 399.0 / 380.0, 1e-12, "edge");
    let edge = uniform("host-links");
    close(edge.edge_payload, 0.8, 1e-12, "edge");
    close(edge.fabric_payload.unwrap(), 1.6, 1e-12, "fabric");
}

#[test]
fn with_uplinks_of_40g_the_same_bytes_are_a_quarter_of_the_core() {
    // Superways' base network. Its papers take the load of 2 Tb/s all the same: host links x 0.5.
    let text = "load = 0.5\nload_of = \"host-links\"\nduration = \"10ms\"\n\
                [traffic.all]\nshare = 1.0\nsizes.fixed = \"1MB\"";
    let offered = forecast(&host_links(20, 20, 10, 8000), text).offered;
    close(offered.core_payload.unwrap(), 0.238, 1e-3, "core");
}

#[test]
fn a_load_of_a_rate_is_the_same_traffic_in_every_network() {
    let of = |uplinks_gbps| {
        let text = "load = 0.5\nload_of.rate = \"2Tbps\"\nduration = \"10ms\"\n\
                    [traffic.all]\nshare = 1.0\nsizes.fixed = \"1MB\"";
        forecast(&host_links(20, 20, 10, uplinks_gbps), text)
    };
    let (narrow, wide) = (of(2000), of(8000));
    assert_eq!((narrow.offered.edge_payload, narrow.flows), (0.25, wide.flows));
    assert_eq!((narrow.offered.fabric_payload, wide.offered.fabric_payload), (Some(0.5), Some(0.125)));
}

// SPQ, section 5.1: 3 leaves of 48 hosts, 4 spines, 40 Gb/s between them. Its load is that of the core: that of the
// host links would need twice what the core carries.
#[test]
fn on_spqs_oversubscribed_network_the_core_has_twice_the_load_of_the_hosts() {
    let offered = |load_of: &str| {
        let text = format!(
            "load = 0.9\nload_of = \"{load_of}\"\nduration = \"10ms\"\nallow_overload = true\n\
             [traffic.all]\nshare = 1.0\nsizes.distribution = \"websearch\""
        );
        forecast(&host_links(3, 48, 10, 3 * 4 * 40), &text).offered
    };
    let core = offered("core");
    close(core.core_payload.unwrap(), 0.9, 1e-12, "core");
    // 96 of 143 other hosts are elsewhere, and 480 Gb/s of hosts share 160 Gb/s of uplinks.
    close(core.core_payload.unwrap() / core.edge_payload, 96.0 / 143.0 * 3.0, 1e-12, "ratio");
    close(core.core_payload.unwrap() / core.edge_payload, 2.014, 1e-4, "ratio as a number");
    close(core.edge_payload, 0.447, 1e-3, "edge");
    close(offered("host-links").core_payload.unwrap(), 1.81, 2e-3, "overload");
}

// SPQ, Figs. 4 and 9: flows of 10, 50, 100 and 150 KB, none of which is a size of its own in web search.
#[test]
fn probes_of_exact_sizes_leave_the_flows_beside_them_as_they_are() {
    let places = host_links(9, 16, 10, 9 * 4 * 40);
    let web = "load = 0.3\nduration = \"100ms\"\n[traffic.web]\nshare = 1.0\nsizes.distribution = \"websearch\"\n";
    let mut text = web.to_owned();
    for kilobytes in [10, 50, 100, 150] {
        text += &format!("[traffic.probe{kilobytes}]\nrate = 5000.0\nsizes.fixed = \"{kilobytes}KB\"\n");
    }
    let alone: Vec<FlowSpec> = workload(&places, 2, web).collect();
    let (of_web, probes): (Vec<FlowSpec>, Vec<FlowSpec>) =
        workload(&places, 2, &text).partition(|flow| flow.class.0 == 0);
    let facts = |flows: &[FlowSpec]| flows.iter().map(|f| (f.start, f.src, f.dst, f.size)).collect::<Vec<_>>();
    assert_eq!(facts(&of_web), facts(&alone));
    for (class, size) in (1..).zip([10_000, 50_000, 100_000, 150_000]) {
        let of_class: Vec<_> = probes.iter().filter(|flow| flow.class.0 == class).collect();
        assert!(of_class.iter().all(|flow| flow.size == size));
        // 500 on average.
        assert!((400..600).contains(&of_class.len()), "{}", of_class.len());
    }
    // What they add is small, and is in the load that is offered.
    let forecast = forecast(&places, &text);
    close(forecast.offered.edge_payload, 0.3 + 5000.0 * 310_000.0 * 8.0 / 1.44e12, 1e-12, "load with probes");
}

// Rezaei, PhD thesis, section 4.3.1: flows of 1 to 6 KB and of 1 MB, incasts of 32.
#[test]
fn resqueues_mix_has_the_flow_rates_of_the_formulas() {
    let text = SLYTHERIN.replace("slytherin_short", "resqueue_short");
    let forecast = forecast(&slytherin_places(), &text);
    let byte_rate = 0.6 * 2e12 / 8.0;
    for (class, mean) in [(0, 1500.0), (1, 1500.0)] {
        close(forecast.classes[class].flows, 0.15 * byte_rate / mean * 0.02, 1e-12, "short flows");
    }
    close(forecast.classes[2].flows, 0.70 * byte_rate / 1e6 * 0.02, 1e-12, "long flows");
    // Four of five flows are of exactly 1 KB.
    let flows: Vec<FlowSpec> = workload(&slytherin_places(), 1, &text.replace("20ms", "200us")).collect();
    let short: Vec<u64> = flows.iter().filter(|flow| flow.class.0 == 0).map(|flow| flow.size).collect();
    let of_1_kb = short.iter().filter(|&&size| size == 1000).count() as f64 / short.len() as f64;
    close(of_1_kb, 0.8, 0.03, "flows of 1 KB");
    assert!(short.iter().all(|size| (1000..=6000).contains(size)));
}

#[test]
fn slytherins_mix_has_the_flow_rates_of_the_formulas() {
    let forecast = forecast(&slytherin_places(), SLYTHERIN);
    let byte_rate = 0.6 * 2e12 / 8.0;
    let seconds = 0.02;
    close(forecast.classes[0].flows, 0.15 * byte_rate / 20_000.0 * seconds, 1e-12, "short flows");
    close(forecast.classes[1].flows, 0.15 * byte_rate / 20_000.0 * seconds, 1e-12, "incast flows");
    close(forecast.classes[2].flows, 0.70 * byte_rate / 1e6 * seconds, 1e-12, "long flows");
    // 70 * 20 / (70 * 20 + 30 * 1000).
    close(forecast.classes[2].flows / forecast.flows, 0.0446, 1e-3, "fraction of long flows");
    close(forecast.offered.fabric_payload.unwrap(), 0.6, 1e-12, "load");
    assert_eq!(forecast.duration, Span::from_ms(20));
    assert!(forecast.notes.is_empty());
}

#[test]
fn the_realised_load_is_the_offered_one_within_its_sampling_error() {
    let places = slytherin_places();
    let seeds = 12;
    let mut squares = 0.0;
    for seed in 0..seeds {
        let workload = workload(&places, seed, SLYTHERIN);
        let (forecast, mut realised) = (workload.forecast().clone(), Realised::new(&places));
        workload.for_each(|flow| realised.add(&flow));
        let loads = realised.loads(forecast.duration);
        let error = loads.fabric_payload.unwrap() / 0.6 - 1.0;
        assert!(error.abs() < 4.0 * forecast.relative_error, "{error} {}", forecast.relative_error);
        close(loads.core_payload.unwrap() / loads.fabric_payload.unwrap(), 380.0 / 399.0, 0.02, "leaving");
        close(
            loads.edge_wire / loads.edge_payload,
            forecast.offered.edge_wire / forecast.offered.edge_payload,
            1e-3,
            "wire",
        );
        squares += (error / forecast.relative_error).powi(2);
    }
    // Chi-square with 12 degrees of freedom: 1 % and 99 % quantiles 3.57 and 26.2.
    assert!((3.57..26.2).contains(&squares), "the sampling error is not as predicted: {squares}");
}

#[test]
fn answers_of_one_size_make_the_realised_load_less_certain() {
    let places = host_links(2, 8, 10, 40);
    let error = |one_size: bool| {
        let text = format!(
            "duration = \"1s\"\n[traffic.q]\nrate = 400.0\nsizes.uniform = {{ min = \"1B\", max = \"2KB\" }}\n\
             incast = {{ degree = 5, one_size = {one_size} }}"
        );
        forecast(&places, &text).relative_error
    };
    // Of 400 events; the second moment of a uniform size is 4/3 of the squared mean.
    close(error(true), (4.0f64 / 3.0 / 400.0).sqrt(), 1e-3, "one size");
    close(error(false), ((4.0f64 / 3.0 / 5.0 + 4.0 / 5.0) / 400.0).sqrt(), 1e-3, "own sizes");
}

#[test]
fn in_the_hybrid_every_host_offers_the_load() {
    let places = host_links(3, 8, 10, 1000);
    let text = r#"
        load = 0.6
        duration = "20s"
        [traffic.web]
        share = 0.5
        sizes.distribution = "websearch"
        endpoints = "ascending"
        [traffic.mining]
        share = 0.5
        sizes.distribution = "datamining"
        endpoints = "descending"
    "#;
    // The busiest sender offers no more than the load, and so every host exactly the load.
    let (sent, received) = host_loads(&places, 1, &text.replace("duration", "load_bytes = \"wire\"\nduration"));
    close(most(&sent).1, 0.6, 1e-12, "busiest sender");
    close(most(&received).1, 0.6, 1e-12, "busiest receiver");
    let forecast = forecast(&places, text);
    close(forecast.offered.edge_payload, 0.6, 1e-12, "load");
    close(forecast.classes[0].flows / forecast.flows, 0.818, 1e-3, "web-search flows");

    let mut payload = vec![0u64; places.rack_of.len()];
    for flow in workload(&places, 3, text) {
        match flow.class.0 {
            0 => assert!(flow.src < flow.dst),
            _ => assert!(flow.src > flow.dst),
        }
        payload[flow.src.0 as usize] += flow.size;
    }
    // Few flows carry most bytes of data mining: 4600 of them leave a host here at the least.
    for (host, bytes) in payload.iter().enumerate() {
        close(*bytes as f64 * 8.0 / 20.0 / 10e9, 0.6, 0.35, &format!("host {host}"));
    }
    let mean = payload.iter().sum::<u64>() as f64 * 8.0 / 20.0 / 10e9 / payload.len() as f64;
    close(mean, 0.6, 4.0 * forecast.relative_error, "all hosts");
}

#[test]
fn wire_load_counts_headers_exactly() {
    let places = host_links(2, 4, 10, 40);
    let of = |load_bytes: &str, sizes: &str| {
        let text = format!(
            "load = 0.5\nload_bytes = \"{load_bytes}\"\nduration = \"1s\"\n[traffic.all]\nshare = 1.0\nsizes.{sizes}"
        );
        forecast(&places, &text)
    };
    let wire = of("wire", "uniform = { min = \"1B\", max = \"3KB\" }");
    close(wire.offered.edge_wire, 0.5, 1e-12, "wire");
    let payload = of("payload", "uniform = { min = \"1B\", max = \"3KB\" }");
    close(payload.offered.edge_payload, 0.5, 1e-12, "payload");
    // 1 KB flows: 1040 B on the wire.
    let small = of("wire", "fixed = \"1KB\"");
    close(small.offered.edge_payload, 0.5 / 1.04, 1e-12, "payload of small flows");
    close(small.classes[0].mean_wire, wire_bytes(1000) as f64, 1e-12, "wire bytes");
}

/// Rezaei, PhD thesis, section 4.4.2: the degree "varies in the range of 48 to 96 among all incast applications". Few
/// draws are rarely 72 on average, and the load is what was asked for all the same.
#[test]
fn degrees_of_those_who_ask_are_drawn_once_and_counted_in_the_load() {
    use std::collections::{BTreeMap, BTreeSet};
    for fixed_workers in [false, true] {
        let text = format!(
            "load = 0.1\nload_of = \"fabric\"\nduration = \"100ms\"\n[traffic.incast]\nshare = 1.0\n\
             sizes.distribution = \"superways_short\"\n[traffic.incast.incast]\ndegree.uniform = {{ min = 48, max = 96 }}\n\
             fixed_degrees = true\nfixed_workers = {fixed_workers}\naggregators = 20\none_size = false\n\
             first = {{ size = \"64KiB\", class = \"first\" }}"
        );
        let mut all_means = BTreeSet::new();
        for seed in 0..3 {
            let workload = workload(&slytherin_places(), seed, &text);
            let forecast = workload.forecast().clone();
            close(forecast.offered.fabric_payload.unwrap(), 0.1, 1e-12, "load");
            let (mut of, mut received) = (BTreeMap::new(), BTreeMap::<u32, u64>::new());
            let mut realised = Realised::new(&slytherin_places());
            for flow in workload {
                let query = flow.query.expect("all flows are answers");
                assert_eq!(*of.entry(flow.dst.0).or_insert(query.degree), query.degree, "each has one degree");
                *received.entry(flow.dst.0).or_default() += wire_bytes(flow.size);
                realised.add(&flow);
            }
            assert_eq!(of.len(), 20);
            assert!(of.values().all(|degree| (48..=96).contains(degree)), "{of:?}");
            assert!(of.values().collect::<BTreeSet<_>>().len() > 10, "{of:?}");
            all_means.insert(of.values().sum::<u32>());
            let error = realised.loads(forecast.duration).fabric_payload.unwrap() / 0.1 - 1.0;
            assert!(error.abs() < 4.0 * forecast.relative_error, "{error} {}", forecast.relative_error);
            // The host with the largest degree has the busiest link.
            let (busiest, bytes) = received.iter().max_by_key(|(_, bytes)| **bytes).unwrap();
            assert!(of[busiest] + 8 >= *of.values().max().unwrap(), "{of:?}");
            let expected = most(&host_loads(&slytherin_places(), seed, &text).1).1;
            close(*bytes as f64 * 8.0 / 0.1 / 10e9, expected, 0.1, "busiest link");
        }
        assert_eq!(all_means.len(), 3, "each seed draws its own");
    }
}

#[test]
fn a_number_of_flows_ends_the_run_after_the_expected_time() {
    let places = host_links(2, 4, 10, 40);
    let text = "load = 0.5\nflows = 20000\n[traffic.a]\nshare = 0.5\nsizes.fixed = \"10KB\"\n\
                [traffic.b]\nshare = 0.5\nsizes.fixed = \"30KB\"";
    let workload = workload(&places, 1, text);
    let forecast = workload.forecast().clone();
    // 20 Gb/s each way of 10 KB and 30 KB: 250000 + 83333 flows per second.
    close(forecast.duration.as_secs_f64(), 20_000.0 / (250_000.0 + 250_000.0 / 3.0), 1e-9, "duration");
    close(forecast.classes[0].flows, 15_000.0, 1e-9, "flows of a");
    let flows: Vec<FlowSpec> = workload.collect();
    assert_eq!(flows.len(), 20_000);
    let last = flows.last().unwrap().start;
    close(last.as_secs_f64(), forecast.duration.as_secs_f64(), 0.03, "last start");
}

#[test]
fn the_last_query_is_completed_when_flows_are_counted() {
    let places = host_links(2, 8, 10, 40);
    let text = "flows = 100\n[traffic.burst]\nrate = 1000.0\nsizes.fixed = \"1KB\"\nincast = { degree = 7 }";
    let flows: Vec<FlowSpec> = workload(&places, 1, text).collect();
    assert_eq!(flows.len(), 105);
}

#[test]
fn a_rate_stands_beside_the_load_and_not_in_it() {
    let places = host_links(2, 8, 10, 40);
    let text = "load = 0.25\nduration = \"100ms\"\n[traffic.a]\nshare = 1.0\nsizes.fixed = \"10KB\"\n\
                [traffic.b]\nrate = 50000.0\nsizes.fixed = \"1KB\"\n\
                [traffic.c]\nrate = 1000.0\nsizes.fixed = \"1KB\"\nincast = { degree = 4 }";
    let forecast = forecast(&places, text);
    close(forecast.classes[1].flows, 5000.0, 1e-12, "flows at a rate");
    close(forecast.classes[2].flows, 400.0, 1e-12, "flows of queries at a rate");
    let b_and_c = (50_000.0 + 4_000.0) * 8_000.0 / 160e9;
    close(forecast.offered.edge_payload, 0.25 + b_and_c, 1e-12, "load and rates");
}

#[test]
fn roles_show_the_overloaded_links() {
    // The roles of Slytherin's public scripts: 120 hosts send 80 % of the bytes, 10 Gb/s each at load 0.75.
    let text = r#"
        load = 0.75
        load_of = "fabric"
        duration = "20ms"
        [traffic.long]
        share = 0.8
        sizes.fixed = "1MB"
        endpoints.roles = { senders = { first = 0, count = 120 }, receivers = { first = 120, count = 280 } }
        [traffic.rest]
        share = 0.2
        sizes.fixed = "1MB"
        endpoints.roles = { senders = { first = 120, count = 280 }, receivers = { first = 0, count = 120 } }
    "#;
    let (sent, received) = host_loads(&slytherin_places(), 1, text);
    let headers = 1.0 + 40.0 * 685.0 / 1e6;
    assert_eq!((most(&sent).0, most(&received).0), (0, 120));
    close(most(&sent).1, headers, 1e-9, "sender");
    close(most(&received).1, 0.75 * 0.8 * 2e12 / 280.0 / 10e9 * headers, 1e-9, "receiver");
}

#[test]
fn superways_aggregators_are_overloaded_as_published() {
    // 20 aggregators that receive 15 % of 2 Tb/s: 10 Gb/s each at load 0.667.
    let text = "load = 0.6667\nload_of = \"fabric\"\nduration = \"12ms\"\n\
                [traffic.incast]\nshare = 0.15\nsizes.fixed = \"1KB\"\nincast = { degree = 26, aggregators = 20 }\n\
                [traffic.rest]\nshare = 0.85\nsizes.fixed = \"1MB\"";
    let alone =
        text.split("[traffic.rest]").next().unwrap().replace("share = 0.15", "share = 1.0").replace("0.6667", "0.1");
    let (_, received) = host_loads(&slytherin_places(), 1, &alone);
    close(most(&received).1, 0.1 * 2e12 / 20.0 / 10e9 * 1.04, 1e-9, "aggregator");
}

#[test]
fn microbursts_have_the_rate_of_their_load() {
    let places = host_links(4, 8, 10, 160);
    let text = |gaps: &str| {
        format!(
            "load = 0.2\nduration = \"400ms\"\n[traffic.q]\nshare = 1.0\nsizes.fixed = \"20KB\"\n\
             incast = {{ degree = 8, aggregators = 8, gaps = \"{gaps}\" }}"
        )
    };
    // 64 Gb/s in events of 160 KB are 50000 per second, 160 us between those of one aggregator.
    for (gaps, tolerance) in [("poisson", 0.03), ("microburst", 0.06)] {
        let flows: Vec<FlowSpec> = workload(&places, 5, &text(gaps)).collect();
        let events = flows.len() as f64 / 8.0;
        close(events, 20_000.0, tolerance, gaps);
        let mut by_aggregator = std::collections::BTreeMap::<u32, Vec<u64>>::new();
        for flow in flows.iter().step_by(8) {
            by_aggregator.entry(flow.dst.0).or_default().push(flow.query.unwrap().asked.as_ps());
        }
        assert_eq!(by_aggregator.len(), 8);
        let gaps_ps: Vec<u64> =
            by_aggregator.values().flat_map(|times| times.windows(2).map(|t| t[1] - t[0])).collect();
        let short = gaps_ps.iter().filter(|&&gap| gap <= 50_000_000).count() as f64 / gaps_ps.len() as f64;
        // Exponential with a mean of 160 us: 1 - exp(-50/160).
        close(short, if gaps == "poisson" { 0.2684 } else { 0.30 }, 0.05, gaps);
        let mean = gaps_ps.iter().sum::<u64>() as f64 / gaps_ps.len() as f64;
        close(mean, 160e6, tolerance, gaps);
    }
    // Below 50 us there is no such lognormal, and the forecast says so.
    let dense = text("microburst").replace("load = 0.2", "load = 0.9");
    let note = &forecast(&places, &dense).notes[0];
    assert!(note.contains("`q`") && note.contains("35.6 us"), "{note}");
}

#[test]
fn the_forecast_of_lists_is_what_they_say() {
    let places = host_links(2, 2, 10, 20);
    let text = r#"
        [traffic.a]
        list = [
            { src = 0, dst = 2, size = "1MB", start = "1ms" },
            { src = 0, dst = 1, size = "500KB", start = "0us" },
        ]
        [traffic.b]
        list = [{ src = 3, dst = 2, size = "1B", start = "2ms" }]
    "#;
    let forecast = forecast(&places, text);
    assert_eq!((forecast.flows, forecast.payload_bytes), (3.0, 1_500_001.0));
    assert_eq!(forecast.duration, Span::from_ms(2));
    assert_eq!(forecast.relative_error, 0.0);
    assert_eq!(forecast.classes[0].mean_size, 750_000.0);
    close(forecast.offered.core_payload.unwrap(), 1e6 * 8.0 / 2e-3 / 20e9, 1e-12, "core");
    let workload = workload(&places, 1, text);
    let mut realised = Realised::new(&places);
    workload.for_each(|flow| realised.add(&flow));
    let loads = realised.loads(forecast.duration);
    close(loads.edge_wire, forecast.offered.edge_wire, 1e-12, "wire");
}

#[test]
fn the_sizes_of_all_flows_are_those_of_each_traffic_as_often_as_it_sends() {
    let text = r#"
        load = 0.5
        duration = "10ms"
        [traffic.incast]
        share = 0.5
        sizes.fixed = "1KB"
        incast.degree = 8
        [traffic.long]
        share = 0.5
        sizes.fixed = "1MB"
        [traffic.listed]
        list = [{ src = 0, dst = 1, size = "3KB", start = "0us" }, { src = 1, dst = 2, size = "3KB", start = "1us" }]
    "#;
    let workload = workload(&slytherin_places(), 1, text);
    let (sizes, classes) = (workload.sizes(), &workload.forecast().classes);
    let close = |what: &str, bytes: f64, expected: f64| close(bytes, expected, 1e-9, what);
    close("incast", sizes.bytes_up_to(10_000, 1_000), classes[0].flows * 1_000.0);
    close("up to the list", sizes.bytes_up_to(10_000, 3_000), classes[0].flows * 1_000.0 + 6_000.0);
    close(
        "all",
        sizes.bytes_up_to(10_000, 1_000_000),
        classes[0].flows * 1_000.0 + 6_000.0 + classes[1].flows * 10_000.0,
    );
    close("whole", sizes.bytes_up_to(u64::MAX, u64::MAX), workload.forecast().payload_bytes);
}

#[test]
fn a_drawn_degree_counts_with_its_mean() {
    let places = host_links(2, 8, 10, 40);
    let text = |degree: &str, one_size: bool| {
        format!(
            "load = 0.3\nduration = \"400ms\"\n[traffic.q]\nshare = 1.0\nsizes.uniform = {{ min = \"1B\", max = \"2KB\" }}\n\
             incast = {{ {degree}, one_size = {one_size} }}"
        )
    };
    let (fixed, drawn) = ("degree = 8", "degree.uniform = { min = 4, max = 12 }");
    let [a, b] = [fixed, drawn].map(|degree| forecast(&places, &text(degree, true)));
    assert_eq!((a.flows, a.payload_bytes), (b.flows, b.payload_bytes));
    let [queries, of_drawn] = [&a, &b].map(|forecast| forecast.classes[0].queries.unwrap());
    assert_eq!((queries.per_second, queries.degree.mean()), (of_drawn.per_second, of_drawn.degree.mean()));
    // 48 Gb/s in events of 8 flows of 1000.5 B.
    close(queries.per_second, 48e9 / 8.0 / (8.0 * 1000.5), 1e-12, "queries per second");
    // The degree's second moment is 64 + 80 / 12; that of a size 4/3 of its squared mean, but for its granularity.
    let events = queries.per_second * 0.4;
    let squares = (64.0 + 80.0 / 12.0) / 64.0;
    close(b.relative_error, (squares * 4.0 / 3.0 / events).sqrt(), 1e-3, "one size");
    let own = forecast(&places, &text(drawn, false)).relative_error;
    close(own, ((squares - 1.0 / 8.0 + 4.0 / 3.0 / 8.0) / events).sqrt(), 1e-3, "own sizes");
    // What is really offered.
    let flows: Vec<FlowSpec> = workload(&places, 1, &text(drawn, true)).collect();
    close(flows.len() as f64, b.flows, 0.02, "flows");
    let queries = flows.iter().map(|flow| flow.query.unwrap().id).max().unwrap().0 + 1;
    close(f64::from(queries), events, 0.02, "queries");
}

/// Rezaei, PhD thesis, section 4.2.1.2: 70 % of the bytes in long flows, half of the rest in answers of 26 hosts (20,
/// 32); and incasts of at most 1 KB beside short flows, which they leave as they are.
#[test]
fn published_incasts_have_the_queries_of_their_shares() {
    for degree in [20, 26, 32] {
        let text = format!(
            "load = 0.5\nload_of = \"fabric\"\nduration = \"20ms\"\n\
             [traffic.long]\nshare = 0.7\nsizes.fixed = \"1MB\"\n[traffic.short]\nshare = 0.15\nsizes.uniform = {{ min = \"8KB\", max = \"32KB\" }}\n\
             [traffic.incast]\nshare = 0.15\nsizes.uniform = {{ min = \"8KB\", max = \"32KB\" }}\n\
             incast = {{ degree = {degree}, jitter.icon = {{}} }}"
        );
        let forecast = forecast(&slytherin_places(), &text);
        let per_second = 0.5 * 0.15 * 2e12 / (8.0 * f64::from(degree) * 20_000.0);
        close(forecast.classes[2].queries.unwrap().per_second, per_second, 1e-12, "queries per second");
        assert_eq!((forecast.classes[0].queries, forecast.classes[1].queries), (None, None));
    }
    let short =
        "load = 0.6\nduration = \"2ms\"\n[traffic.short]\nshare = 1.0\nsizes.distribution = \"resqueue_short\"\n";
    let incast =
        "[traffic.incast]\nrate = 10000.0\nsizes.uniform = { min = \"1B\", max = \"1KB\" }\nincast.degree = 100\n";
    let both: Vec<FlowSpec> = workload(&slytherin_places(), 1, &format!("{short}{incast}")).collect();
    let (queries, alone): (Vec<_>, Vec<_>) = both.into_iter().partition(|flow| flow.query.is_some());
    assert_eq!(alone, workload(&slytherin_places(), 1, short).collect::<Vec<_>>());
    assert!(
        queries.len() >= 1_000 && queries.len().is_multiple_of(100) && queries.iter().all(|flow| flow.size <= 1_000)
    );
}

/// What is offered from host to host is as many bytes as the forecast has, also of lists that go on when the generated
/// traffic has ended, and of traffics that arrive for a part of the time.
#[test]
fn what_is_offered_between_hosts_is_what_is_forecast() {
    let asked = |fixed_workers: bool, fixed_degrees: bool| {
        format!(
            "duration = \"10ms\"\n[traffic.incast]\nrate = 1e5\nsizes.fixed = \"2KB\"\n[traffic.incast.incast]\n\
             degree.uniform = {{ min = 2, max = 40 }}\nfixed_degrees = {fixed_degrees}\n\
             fixed_workers = {fixed_workers}\naggregators = 6\n"
        )
    };
    let list = "duration = \"10ms\"\n[traffic.a]\nlist = [{ src = 0, dst = 9, size = \"1MB\", start = \"0us\" }, \
                { src = 3, dst = 9, size = \"2MB\", start = \"1us\" }, { src = 0, dst = 9, size = \"5KB\", start = \"2us\" }]\n\
                [traffic.b]\nrate = 10.0\nsizes.fixed = \"1KB\"\n";
    let pairs = |endpoints: &str| {
        format!(
            "load = 0.3\nduration = \"10ms\"\n[traffic.a]\nshare = 1.0\nsizes.fixed = \"1KB\"\nendpoints{endpoints}\n"
        )
    };
    let roles = pairs(".roles = { senders = { hosts = [1, 5, 6] }, receivers = { hosts = [6, 7] } }");
    let late = list.replace("duration = \"10ms\"", "load = 0.03\nflows = 1000");
    let late = late.replace("start = \"2us\"", "start = \"5ms\"").replace("rate = 10.0", "share = 1.0");
    let window =
        "duration = \"10ms\"\n[traffic.a]\nrate = 1e5\nsizes.fixed = \"1KB\"\nfrom = \"2ms\"\nuntil = \"3ms\"\n";
    let first =
        asked(true, false).replace("degree.uniform", "first = { size = \"9KB\", class = \"f\" }\ndegree.uniform");
    let texts = [
        SLYTHERIN.to_owned(),
        list.to_owned(),
        late.clone(),
        window.to_owned(),
        first,
        roles,
        pairs(" = \"permutation\""),
        asked(true, true),
        asked(true, false),
        asked(false, true),
        asked(false, false),
    ];
    let places = host_links(4, 12, 10, 120);
    for text in &texts {
        let forecast = forecast(&places, text);
        let config: Config = toml::from_str(text).unwrap();
        let offered = Workload::offered(&config, &places, Seeds::new(1), Path::new(".")).unwrap();
        let seconds = |stream: &Stream| stream.until.saturating_since(stream.from).as_secs_f64();
        let generated = offered.streams.iter().map(|stream| {
            let (sent, received) = stream.matrix.sent_and_received(48);
            close(sent.iter().sum(), 1.0, 1e-12, text);
            close(received.iter().sum(), 1.0, 1e-12, text);
            stream.bps * seconds(stream) / 8.0
        });
        let bytes = generated.sum::<f64>() + offered.listed.iter().map(|flow| flow.bytes as f64).sum::<f64>();
        close(bytes, forecast.wire_bytes, 1e-9, text);
        assert!(offered.listed.is_sorted_by_key(|flow| flow.start));
        assert_eq!(offered.listed.len(), if text.contains("list = ") { 3 } else { 0 });
    }
    // 1000 flows of 1 KB at 3 % of 48 x 10 Gb/s arrive in 556 us, and the list ends after 5 ms.
    let both = forecast(&places, &late);
    assert_eq!(both.duration, Span::from_ms(5));
    close(both.classes[1].flows, 1000.0, 1e-9, "flows");
}
