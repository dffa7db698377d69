//! What is sampled over time: from the start of the run to its end, at the interval, whatever the flows do and however
//! the network is cut, and without a change to what happens.

use std::collections::BTreeMap;

use proptest::prelude::*;
use tailcut_base::Instant;
use tailcut_record::{QueuePoint, Recorder};
use tailcut_sim::{Cut, EndReason, Outcome, Scenario, World};

use crate::common::cases::{cases, config};
use crate::common::{SMALL, bottleneck, listed, port, rows, run, scenario, simulate, slytherin_mix, star};

fn on_threads(scenario: &Scenario, threads: u32) -> Outcome {
    World::new(scenario, Recorder::new()).with_threads(threads).run()
}

/// Everything that is recorded beside the flows.
fn recorded(outcome: &Outcome) -> impl PartialEq + std::fmt::Debug + use<> {
    let ports = (outcome.ports.clone(), outcome.queues.clone());
    let window = (outcome.measured_from, outcome.measured, outcome.end, outcome.ended_at);
    (ports, window, outcome.queue_series.clone(), outcome.memory_series.clone(), outcome.throughput.clone())
}

/// The end of a run: when the last packet arrived, or later if another one was lost or the run was cut off after that.
fn end(outcome: &Outcome) -> Instant {
    outcome.ended_at.max(outcome.measured_from + outcome.measured)
}

/// When samples are taken every `period` ps: from the start of the run, and counted anew from the start of the window.
fn sample_times(outcome: &Outcome, period: u64) -> Vec<u64> {
    let (from, end) = (outcome.measured_from.as_ps(), end(outcome).as_ps());
    let before = (0..).map(|nth| nth * period).take_while(|at| *at < from.min(end + 1));
    before.chain((0..).map(|nth| from + nth * period).take_while(|at| *at <= end)).collect()
}

/// The queues at these times, by port, without those that are empty.
fn queues_at(points: &[QueuePoint], times: &[u64]) -> Vec<BTreeMap<u32, u64>> {
    let mut points = points.iter().peekable();
    let mut now = BTreeMap::new();
    let at = |&time: &u64| {
        while let Some(point) = points.next_if(|point| point.at.as_ps() <= time) {
            now.insert(point.port, point.bytes);
        }
        now.retain(|_, bytes| *bytes > 0);
        now.clone()
    };
    times.iter().map(at).collect()
}

/// Samples are of the run and at their times, statistics are those of the samples in the window, and what arrived over
/// time is what arrived.
fn check(outcome: &Outcome, period: u64) {
    let times = sample_times(outcome, period);
    assert!(outcome.queue_series.iter().all(|point| times.binary_search(&point.at.as_ps()).is_ok()), "{times:?}");
    assert!(outcome.queue_series.iter().all(|point| point.at <= outcome.ended_at), "none after the end");
    // The window has the samples after its beginning and before its end.
    let (from, until) = (outcome.measured_from, outcome.measured_from + outcome.measured);
    let inside: Vec<u64> = times.iter().copied().filter(|&at| at > from.as_ps() && at < until.as_ps()).collect();
    let sampled: u64 = outcome.queues.all().packets().total();
    let switch_ports = outcome.ports.iter().filter(|port| port.tier != "host").count();
    assert_eq!(sampled, (inside.len() * switch_ports) as u64, "{from} to {until}, each {period} ps");
    let queues = queues_at(&outcome.queue_series, &inside);
    // Samples after the last arrival of a packet are not in the series.
    let is_known = inside.last().is_some_and(|last| *last <= outcome.ended_at.as_ps());
    for port in outcome.ports.iter().filter(|port| port.tier != "host" && is_known) {
        let values = queues.iter().map(|now| now.get(&port.port).copied().unwrap_or(0));
        let (sum, most) = values.fold((0, 0), |(sum, most), value| (sum + value, value.max(most)));
        let statistics = port.queue.expect("it was sampled");
        assert_eq!(statistics.max_bytes, most, "{}", port.owner);
        assert!(
            (statistics.mean_bytes - sum as f64 / inside.len() as f64).abs() < 1e-6 * (1.0 + statistics.mean_bytes)
        );
        assert!((-1e-9..=1.0 + 1e-9).contains(&port.utilisation), "{}", port.utilisation);
        if let Some(bins) = &port.queue_histogram {
            assert_eq!(bins.iter().map(|bin| bin.1.as_ps()).sum::<u64>(), outcome.measured.as_ps());
        }
    }
}

proptest! {
    #![proptest_config(config(60))]

    /// Lists over random networks under random schemes, cut at random places.
    #[test]
    fn samples_cover_a_run_of_listed_flows(
        (case, choices, parts) in (cases(), prop::collection::vec(any::<u32>(), 40), 2u32..4),
        (period, factor) in (1u64..40_000, 1u64..5),
    ) {
        let drain = format!("{}us", case.drain_us);
        let record = |period: u64| format!("queue_sample = \"{period}ns\"\nqueue_series = true\nqueue_histogram = true\n");
        let plain = case.scenario(&drain);
        let Some(scenario) = case.recorded(&drain, &record(period)) else { return Ok(()) };
        let outcome = on_threads(&scenario, 1);
        check(&outcome, period * 1_000);
        let network = scenario.network();
        let mut choices = choices.iter().cycle().map(|choice| choice % parts);
        let hosts: Vec<u32> = choices.by_ref().take(network.hosts() as usize).collect();
        let switches: Vec<u32> = choices.take(network.switches().len()).collect();
        let cut = World::new(&scenario, Recorder::new()).with_cut(Cut::of(network, hosts, switches)).run();
        prop_assert_eq!(recorded(&cut), recorded(&outcome));
        // Another interval sees the same where it looks at the same time, and nothing of it changes the run.
        let rare = on_threads(&case.recorded(&drain, &record(period * factor)).expect("it is the same"), 1);
        let mut times = sample_times(&rare, period * factor * 1_000);
        times.retain(|at| *at <= rare.ended_at.as_ps());
        prop_assert_eq!(queues_at(&rare.queue_series, &times), queues_at(&outcome.queue_series, &times));
        let plain = on_threads(&plain, 1);
        prop_assert_eq!(plain.engine.digest, outcome.engine.digest);
        prop_assert_eq!((plain.end, plain.ended_at, rows(&plain)), (outcome.end, outcome.ended_at, rows(&outcome)));
    }

    /// Generated traffic with any warm-up, time to drain and number of threads.
    #[test]
    fn samples_cover_a_run_of_generated_flows(
        (load, warmup, drain_us) in (0.1f64..0.9, 0.0f64..0.9, prop::sample::select(vec![0u64, 3, 400, 1_000_000])),
        (period, seed, threads) in (500u64..90_000, any::<u64>(), 2u32..4),
        (from_us, length_us, is_given) in (0u64..900, 1u64..2_000, any::<bool>()),
    ) {
        let window = if is_given {
            format!("window = {{ from = \"{from_us}us\", until = \"{}us\" }}\n", from_us + length_us)
        } else {
            String::new()
        };
        let text = format!(
            "{SMALL}[run]\ndrain = \"{drain_us}us\"\n[record]\nqueue_sample = \"{period}ns\"\nqueue_series = true\n\
             queue_histogram = true\nthroughput = \"7us\"\n{window}{}",
            slytherin_mix(load, "1ms").replacen("duration", &format!("warmup = {warmup}\nduration"), 1)
        );
        let scenario = scenario("dctcp", &text, seed);
        let outcome = on_threads(&scenario, 1);
        check(&outcome, period * 1_000);
        let all = rows(&outcome);
        let last = all.iter().map(|row| row.start).max().unwrap();
        if !is_given {
            let first = all.iter().filter(|row| row.measured).map(|row| row.start).min();
            prop_assert_eq!(outcome.measured_from, first.unwrap_or(Instant::ZERO));
            let until = match first {
                Some(first) if last > first => last,
                Some(_) => end(&outcome),
                None => Instant::ZERO,
            };
            prop_assert_eq!(outcome.measured_from + outcome.measured, until);
        }
        prop_assert_eq!(recorded(&on_threads(&scenario, threads)), recorded(&outcome));
        if outcome.end == EndReason::Finished && outcome.totals.drops.total() == 0 {
            let arrived: u64 = outcome.throughput.iter().map(|bin| bin.bytes).sum();
            prop_assert_eq!(arrived, all.iter().map(|row| row.size).sum::<u64>());
        }
    }
}

/// Shared buffers over time, with policies whose thresholds depend on the time.
#[test]
fn memories_are_sampled_from_the_start_to_the_end() {
    let sized = ["dt", "smartbuf", "edt"].map(|name| format!("{name} = {{ size = \"300KB\" }}"));
    let memories = sized.into_iter().chain(["unbounded = { instead_of = \"100KB\" }".to_owned()]);
    for (memory, drain) in memories.zip(["2ms", "2ms", "60us", "1s"]) {
        let flows: Vec<_> = (0..8).map(|src| (src, 8, 146_000, 500 * u64::from(src))).collect();
        let text = format!(
            "{}[switch]\nmemory.{memory}\n[port]\nlimit = \"8MB\"\n[run]\ndrain = \"{drain}\"\n\
             [record]\nmemory = true\nqueue_series = true\nqueue_sample = \"3us\"\n{}",
            star(9),
            listed(&flows)
        );
        let outcome = run("dctcp", &text, 1);
        check(&outcome, 3_000_000);
        let ports = outcome.ports.iter().filter(|port| port.tier != "host").count();
        let first = outcome.memory_series.iter().take_while(|point| point.at == Instant::ZERO).count();
        assert_eq!(first, ports + 1, "each port and the whole memory is known from the start");
        // The memory holds exactly the bytes that wait at its ports.
        let pool: Vec<(Instant, u64)> = outcome
            .memory_series
            .iter()
            .filter(|point| point.port.is_none())
            .map(|point| (point.at, point.used))
            .collect();
        let times: Vec<u64> = pool.iter().map(|(at, _)| at.as_ps()).collect();
        let queues = queues_at(&outcome.queue_series, &times);
        for ((at, used), queues) in pool.iter().zip(queues) {
            assert_eq!(*used, queues.values().sum::<u64>(), "{memory} at {at}");
        }
        let last = outcome.memory_series.last().unwrap().at;
        assert!(last <= outcome.ended_at && outcome.memory_series.len() > 100, "{memory}: {last}");
    }
}

/// Forty flows that start within 1.5 us keep a port full for the whole run: it is measured for the whole run, with or
/// without a last flow at the end.
#[test]
fn the_queue_of_a_listed_incast_is_measured_while_it_is_there() {
    let incast: Vec<(u32, u32, u64, u64)> = (0..40).map(|src| (src, 40, 20_000_000, 37 * u64::from(src))).collect();
    let last = [incast.clone(), vec![(0, 1, 1, 20_000_000)]].concat();
    let text = |flows: &[_], drain: &str| {
        format!(
            "[topology.star]\nhosts = 41\nhost_link = {{ rate = \"25Gbps\", delay = \"1us\" }}\n[port]\nlimit = \"4MB\"\n\
             [run]\ndrain = \"{drain}\"\nties = \"drawn\"\n[record]\nqueue_series = true\nqueue_sample = \"20us\"\n{}",
            listed(flows)
        )
    };
    // The window ends at 20.001443 ms and at 21 ms.
    for (flows, drain, samples) in [(&incast, "20ms", 1_000), (&last, "1ms", 1_049)] {
        let outcome = run("dctcp", &text(flows, drain), 1);
        let row = port(&outcome, "switch0", "host40");
        assert!(row.utilisation > 0.9998 && row.utilisation <= 1.0, "{}", row.utilisation);
        let queue = row.queue.unwrap();
        assert!((95_000..130_000).contains(&queue.p50_bytes), "{queue:?}");
        assert_eq!(outcome.queues.all().packets().total(), 41 * samples);
        check(&outcome, 20_000_000);
    }
}

/// A window is clipped to the run; a run that ends before its window begins has no numbers of its ports.
#[test]
fn a_window_ends_with_the_run() {
    let text = |window: &str| {
        let record = format!("[record]\nqueue_sample = \"1us\"\nqueue_series = true\nwindow = {{ {window} }}\n");
        format!("{}{record}{}", bottleneck(2, "10Gbps", "1us"), listed(&[(0, 2, 1_460_000, 0), (1, 2, 1_460_000, 0)]))
    };
    let whole = run("tcp", &text("until = \"end\""), 1);
    let clipped = run("tcp", &text("until = \"1s\""), 1);
    assert_eq!(recorded(&whole), recorded(&clipped));
    let part = run("tcp", &text("from = \"500us\", until = \"700us\""), 1);
    assert_eq!((part.measured_from.as_ps(), part.measured.as_ps()), (500_000_000, 200_000_000));
    let busy = port(&part, "switch0", "host2").utilisation;
    assert!((busy - 1.0).abs() < 1e-9, "{busy}");
    assert_eq!(part.engine.digest, whole.engine.digest);
    let never = run("tcp", &text("from = \"1s\""), 1);
    assert!(never.ports.iter().all(|row| row.utilisation.is_nan() && row.queue.is_none()), "{:?}", never.ports);
    assert_eq!(never.measured.as_ps(), 0);
    // Flows that start at once have no time between the first and the last arrival.
    let none = run("tcp", &text("until = \"last-arrival\""), 1);
    assert_eq!((none.measured.as_ps(), none.queues.all().packets().total()), (0, 0));
    assert!(none.ports.iter().all(|row| row.utilisation.is_nan() && row.queue.is_none()), "{:?}", none.ports);
    let warning = "the measurement window has no length: there are no utilisations and no queues; `record.window` sets when \
                   it begins and ends";
    for (outcome, window, is_warned, is_foreseen) in [
        (&none, "until = \"last-arrival\"", true, true),
        (&never, "from = \"1s\"", true, false),
        (&whole, "until = \"end\"", false, false),
    ] {
        let scenario = scenario("tcp", &text(window), 1);
        assert_eq!(outcome.warnings(&scenario).contains(&warning.to_owned()), is_warned, "{window}");
        assert_eq!(scenario.warnings().contains(&warning.to_owned()), is_foreseen, "{window}");
    }
}

/// The answers of one query start at once: their ports are measured from then to the end of the run. 16 answers of
/// 500 KB are 343 packets each, 500,000 + 343 x 40 B, which take 6.5756 ms at 10 Gb/s.
#[test]
fn one_query_is_measured_until_the_end_of_the_run() {
    let text = |record: &str| {
        format!(
            "[topology.star]\nhosts = 20\nhost_link = {{ rate = \"10Gbps\", delay = \"5us\" }}\n[port]\nlimit = \"20MB\"\n\
             [record]\nqueue_sample = \"10us\"\n{record}[workload]\nload = 0.01\nflows = 16\nwarmup = 0.0\n\
             [workload.traffic.a]\nshare = 1.0\nsizes.fixed = \"500KB\"\n\
             incast = {{ degree = 16, aggregators = {{ hosts = [3] }} }}\n"
        )
    };
    for seed in 1..=3 {
        let outcome = run("tcp", &text(""), seed);
        let all = rows(&outcome);
        let start = all.iter().map(|row| row.start).min().unwrap();
        assert!(all.len() == 16 && all.iter().all(|row| row.start == start), "one query");
        assert_eq!((outcome.measured_from, outcome.measured_from + outcome.measured), (start, outcome.ended_at));
        // Nothing is lost: the port is busy but for the first round trips.
        let row = port(&outcome, "switch0", "host3");
        let busy = 16.0 * (500_000.0 + 343.0 * 40.0) * 8.0 / 10e9;
        let time = outcome.measured.as_secs_f64();
        assert!((row.utilisation * time / busy - 1.0).abs() < 1e-3, "{} of {time} s", row.utilisation);
        assert!(row.utilisation > 0.98 && row.utilisation <= 1.0, "{}", row.utilisation);
        assert_eq!(outcome.queues.all().packets().total(), 20 * ((outcome.measured.as_ps() - 1) / 10_000_000));
        // Asked to end with the last arrival, it has no length.
        let text_none = text("window.until = \"last-arrival\"\n");
        let none = run("tcp", &text_none, seed);
        assert_eq!(none.warnings(&scenario("tcp", &text_none, seed)).len(), 1);
        assert!(none.ports.iter().all(|row| row.utilisation.is_nan()));
        // At the flow level the port is measured for the same time.
        let fluid = simulate(&scenario("tcp", &format!("fidelity = \"flow\"\n{}", text("")), seed));
        let row = port(&fluid, "switch0", "host3");
        assert_eq!((fluid.measured_from, fluid.measured_from + fluid.measured), (start, fluid.ended_at));
        assert!((row.utilisation * fluid.measured.as_secs_f64() / busy - 1.0).abs() < 1e-3, "{}", row.utilisation);
    }
}
