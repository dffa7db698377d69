//! The flows themselves: their order, their repeatability, and that classes do not disturb each other.

use std::path::Path;

use proptest::prelude::*;
use tailcut_base::{BitRate, Instant, Seeds, Span};
use tailcut_model::FlowSpec;
use tailcut_workload::{Config, HostLinks, Workload};

fn host_links() -> HostLinks {
    HostLinks {
        rack_of: (0..24).map(|host| host / 8).collect(),
        host_link: BitRate::gbps(10),
        uplinks: Some(120_000_000_000),
        nodes: None,
    }
}

fn workload(seed: u64, text: &str) -> Workload {
    let config: Config = toml::from_str(text).expect("the test's scenario is well formed");
    Workload::new(&config, &host_links(), Seeds::new(seed), Path::new(".")).unwrap()
}

fn flows(seed: u64, text: &str) -> Vec<FlowSpec> {
    workload(seed, text).collect()
}

fn of_class(flows: &[FlowSpec], class: u8) -> Vec<FlowSpec> {
    flows.iter().filter(|flow| flow.class.0 == class).cloned().collect()
}

/// All kinds of traffic at once; `{}` stand for the sizes of the second class.
fn mixed(sizes: &str, degree: u32) -> String {
    format!(
        r#"
        duration = "3ms"
        [traffic.a]
        rate = 300000.0
        sizes.distribution = "websearch"
        [traffic.b]
        rate = 50000.0
        sizes.{sizes}
        incast = {{ degree = {degree}, aggregators = 5, jitter = {{ icon = {{}} }} }}
        [traffic.c]
        rate = 100000.0
        sizes.pareto = {{ min = "1KB", max = "1MB", shape = 0.7 }}
        endpoints = "permutation"
        [traffic.d]
        list = [{{ src = 0, dst = 1, size = "1KB", start = "1ms" }}, {{ src = 1, dst = 0, size = "2KB" }}]
        [traffic.e]
        rate = 100000.0
        sizes.fixed = "3KB"
        endpoints.roles = {{ senders = {{ random = 6 }}, receivers = {{ random = 3 }} }}
        "#
    )
}

#[test]
fn the_same_seed_gives_the_same_flows_and_another_seed_others() {
    let text = mixed("fixed = \"20KB\"", 7);
    assert_eq!(flows(1, &text), flows(1, &text));
    assert_ne!(flows(1, &text), flows(2, &text));
}

#[test]
fn changing_one_class_changes_no_flow_of_another() {
    let before = flows(1, &mixed("fixed = \"20KB\"", 7));
    let after = flows(1, &mixed("distribution = \"datamining\"", 3));
    assert_ne!(of_class(&before, 1), of_class(&after, 1));
    for class in [0, 2, 3, 4] {
        let flows = of_class(&before, class);
        assert!(flows.len() > 1);
        assert_eq!(flows, of_class(&after, class), "class {class}");
    }
}

/// A traffic that begins or ends at a time of its own has the flows that it would have then, and no others; what is
/// forecast is its part of the time.
#[test]
fn a_traffic_that_arrives_for_a_time_has_the_flows_of_that_time() {
    let text = mixed("fixed = \"20KB\"", 7);
    let all = flows(1, &text);
    let (from, until) = (Instant::from_ps(700_000_000), Instant::from_ps(1_900_000_000));
    let is_inside =
        |at: Instant, keys: &str| (from <= at || !keys.contains("from")) && (at < until || !keys.contains("until"));
    let what = |flow: &FlowSpec| (flow.start, flow.src, flow.dst, flow.size, flow.query.map(|query| query.nth));
    for (keys, part) in [
        ("from = \"700us\"\n", 2.3 / 3.0),
        ("until = \"1900us\"\n", 1.9 / 3.0),
        ("from = \"700us\"\nuntil = \"1900us\"\n", 0.4),
    ] {
        for (class, rate) in [(0, "rate = 300000.0\n"), (1, "rate = 50000.0\n")] {
            let windowed = text.replacen(rate, &format!("{rate}{keys}"), 1);
            assert_ne!(windowed, text);
            let some = flows(1, &windowed);
            // Answers belong to their query, whenever they start.
            let at = |flow: &FlowSpec| flow.query.map_or(flow.start, |query| query.asked);
            let expected: Vec<_> =
                of_class(&all, class).iter().filter(|flow| is_inside(at(flow), keys)).map(what).collect();
            let found: Vec<_> = of_class(&some, class).iter().map(what).collect();
            assert!(found == expected && found.len() > 100, "{keys} {class}: {} and {}", found.len(), expected.len());
            for other in (0..5).filter(|&other| other != class) {
                let whats = |flows: &[FlowSpec]| of_class(flows, other).iter().map(what).collect::<Vec<_>>();
                assert_eq!(whats(&some), whats(&all), "class {other}");
            }
            // Queries are numbered without gaps.
            let ids: std::collections::BTreeSet<_> =
                some.iter().filter_map(|flow| flow.query.map(|query| query.id.0)).collect();
            assert_eq!(ids.iter().max().map(|id| id + 1), Some(ids.len() as u32));
            let flows_of = |text: &str| workload(1, text).forecast().classes[usize::from(class)].flows;
            let (of_part, of_all) = (flows_of(&windowed), flows_of(&text));
            assert!((of_part / of_all - part).abs() < 1e-9, "{keys}: {of_part} of {of_all}");
        }
    }
}

#[test]
fn a_class_that_is_added_at_the_end_changes_no_flow_of_another() {
    let text = mixed("fixed = \"20KB\"", 7);
    let more = format!("{text}\n[traffic.f]\nrate = 100000.0\nsizes.fixed = \"1KB\"");
    let (before, after) = (flows(1, &text), flows(1, &more));
    assert!(after.len() > before.len());
    assert_eq!(before, after.into_iter().filter(|flow| flow.class.0 < 5).collect::<Vec<_>>());
}

#[test]
fn sizes_and_endpoints_stay_when_only_the_load_changes() {
    let at = |load: f64| {
        flows(1, &format!("load = {load}\nduration = \"1ms\"\n[traffic.a]\nshare = 1.0\nsizes.fixed = \"10KB\""))
    };
    let (low, high) = (at(0.3), at(0.6));
    assert!(high.len() > low.len() && low.len() > 100);
    for (a, b) in low.iter().zip(&high) {
        assert_eq!((a.src, a.dst, a.size), (b.src, b.dst, b.size));
        // Twice the load: half the time, apart from the rounding of each gap to picoseconds.
        assert!(a.start.as_ps().abs_diff(2 * b.start.as_ps()) < 3 * low.len() as u64);
    }
}

#[test]
fn flows_that_start_together_come_in_the_order_of_the_scenario() {
    let flows = flows(
        1,
        r#"
        [traffic.z]
        list = [
            { src = 0, dst = 1, size = "2KB", start = "1us" },
            { src = 5, dst = 1, size = "1KB", start = "1us" },
            { src = 3, dst = 1, size = "1KB" },
        ]
        [traffic.a]
        list = [{ src = 7, dst = 1, size = "1KB", start = "1us" }, { src = 6, dst = 1, size = "1KB" }]
        "#,
    );
    let order: Vec<(u32, u8)> = flows.iter().map(|flow| (flow.src.0, flow.class.0)).collect();
    assert_eq!(order, [(3, 0), (6, 1), (0, 0), (5, 0), (7, 1)]);
}

#[test]
fn many_flows_of_one_moment_keep_the_order_of_their_list() {
    let list: Vec<String> = (1..60).map(|size| format!("{{ src = 0, dst = 1, size = \"{size}B\" }}")).collect();
    let flows = flows(1, &format!("[traffic.a]\nlist = [{}]", list.join(", ")));
    assert!(flows.iter().map(|flow| flow.size).eq(1..60));
}

#[test]
fn a_late_answer_waits_for_a_flow_of_its_moment_that_comes_first_in_the_scenario() {
    let text = |start: &str| {
        format!(
            "duration = \"2ms\"\n[traffic.first]\nlist = [{{ src = 0, dst = 1, size = \"7B\", start = \"{start}\" }}]\n\
             [traffic.q]\nrate = 1000.0\nsizes.fixed = \"1KB\"\n\
             incast = {{ degree = 3, jitter = {{ icon = {{}} }} }}"
        )
    };
    let late = flows(1, &text("0us")).last().unwrap().start;
    let together: Vec<FlowSpec> =
        flows(1, &text(&format!("{late}"))).into_iter().filter(|flow| flow.start == late).collect();
    assert_eq!(together.iter().map(|flow| flow.class.0).collect::<Vec<_>>(), [0, 1]);
}

#[test]
fn two_classes_of_the_same_description_draw_different_flows() {
    let one = "rate = 20000.0\nsizes.distribution = \"websearch\"\n\
               incast = { degree = 3, aggregators = 4, jitter = { icon = {} } }\n";
    let flows = flows(1, &format!("duration = \"5ms\"\n[traffic.a]\n{one}[traffic.b]\n{one}"));
    let [a, b] = [0, 1].map(|class| of_class(&flows, class));
    let differ = |what: &str, of: fn(&FlowSpec) -> u64| {
        assert_ne!(a.iter().map(of).collect::<Vec<_>>(), b.iter().map(of).collect::<Vec<_>>(), "{what}");
    };
    differ("sizes", |flow| flow.size);
    differ("workers", |flow| u64::from(flow.src.0));
    differ("queries", |flow| flow.query.unwrap().asked.as_ps());
    let sorted = |flows: &[FlowSpec], of: fn(&FlowSpec) -> u64| {
        flows.iter().map(of).collect::<std::collections::BTreeSet<u64>>()
    };
    // The sets of aggregators are drawn for each class, and so are the delays.
    let aggregators = |flows| sorted(flows, |flow| u64::from(flow.dst.0));
    assert_eq!((aggregators(&a).len(), aggregators(&b).len()), (4, 4));
    assert_ne!(aggregators(&a), aggregators(&b));
    let delays = |flows| sorted(flows, |flow| flow.start.since(flow.query.unwrap().asked).unwrap().as_ps());
    assert_eq!(delays(&a).intersection(&delays(&b)).count(), 1, "only the first answers have the same delay, none");
}

#[test]
fn two_classes_of_the_same_description_draw_their_own_roles_and_workers() {
    let of_two = |one: &str| {
        let flows = flows(1, &format!("duration = \"5ms\"\n[traffic.a]\n{one}[traffic.b]\n{one}"));
        [0, 1].map(|class| of_class(&flows, class))
    };
    let set = |flows: &[FlowSpec], of: fn(&FlowSpec) -> (u32, u32)| {
        flows.iter().map(of).collect::<std::collections::BTreeSet<_>>()
    };
    let pattern = |endpoints: &str| of_two(&format!("rate = 1e6\nsizes.fixed = \"1KB\"\nendpoints{endpoints}\n"));
    let [a, b] = pattern(" = \"permutation\"").map(|flows| set(&flows, |flow| (flow.src.0, flow.dst.0)));
    assert_eq!((a.len(), b.len()), (24, 24));
    assert_ne!(a, b);
    let roles = pattern(".roles = { senders = { random = 6 }, receivers = { random = 6 } }");
    let [a, b] = [&roles[0], &roles[1]].map(|flows| set(flows, |flow| (flow.src.0, 0)));
    let receivers = set(&roles[0], |flow| (flow.dst.0, 0));
    assert_eq!((a.len(), b.len(), receivers.len()), (6, 6, 6));
    assert_ne!(a, b);
    assert_ne!(a, receivers);
    // Workers by their number among the hosts other than the aggregator, which is how they are drawn.
    let workers = of_two("rate = 20000.0\nsizes.fixed = \"1KB\"\nincast = { degree = 3 }\n")
        .map(|flows| flows.iter().map(|flow| flow.src.0 - u32::from(flow.src > flow.dst)).collect::<Vec<_>>());
    assert_ne!(workers[0][..30], workers[1][..30]);
}

#[test]
fn the_answers_of_a_query_share_its_number_and_its_time() {
    let text = "duration = \"5ms\"\n[traffic.q]\nrate = 20000.0\nsizes.uniform = { min = \"8KB\", max = \"32KB\" }\n\
                incast = { degree = 6, one_size = ONE_SIZE, jitter = JITTER }";
    for (one_size, jitter) in [(true, "\"none\""), (false, "{ icon = {} }")] {
        let text = text.replace("ONE_SIZE", &one_size.to_string()).replace("JITTER", jitter);
        let flows = flows(1, &text);
        let mut queries = std::collections::BTreeMap::<u32, Vec<&FlowSpec>>::new();
        for flow in &flows {
            queries.entry(flow.query.unwrap().id.0).or_default().push(flow);
        }
        // Numbered without gaps, in the order of their times.
        assert_eq!(queries.keys().copied().collect::<Vec<_>>(), (0..queries.len() as u32).collect::<Vec<_>>());
        let times: Vec<Instant> = queries.values().map(|q| q[0].query.unwrap().asked).collect();
        assert!(times.is_sorted());
        let mut different_sizes = 0;
        for answers in queries.values() {
            assert_eq!(answers.len(), 6);
            let asked = answers[0].query.unwrap().asked;
            let senders: std::collections::BTreeSet<_> = answers.iter().map(|flow| flow.src).collect();
            assert_eq!(senders.len(), 6);
            for flow in answers {
                assert_eq!(flow.query.unwrap().asked, asked);
                assert_eq!(flow.dst, answers[0].dst);
                assert!(!senders.contains(&flow.dst));
                let delay = flow.start.since(asked).unwrap();
                assert!(delay == Span::ZERO || (!one_size && delay >= Span::from_us(80)), "{delay}");
            }
            different_sizes += usize::from(answers.iter().any(|flow| flow.size != answers[0].size));
        }
        assert_eq!(different_sizes, if one_size { 0 } else { queries.len() });
    }
}

#[test]
fn warm_up_is_a_fraction_of_the_time_or_of_the_flows() {
    let traffic = "[traffic.a]\nrate = 1000000.0\nsizes.fixed = \"1KB\"\n\
                   [traffic.q]\nrate = 10000.0\nsizes.fixed = \"1KB\"\nincast = { degree = 4, jitter = { icon = {} } }\n\
                   [traffic.x]\nlist = [{ src = 0, dst = 1, size = \"1B\" }]";
    // By time: decided by the query, not by its late answers.
    let by_time = flows(1, &format!("duration = \"2ms\"\n{traffic}"));
    let limit = Instant::from_ps(200_000_000);
    for flow in &by_time {
        let event = flow.query.map_or(flow.start, |query| query.asked);
        assert_eq!(flow.measured, event >= limit || flow.class.0 == 2, "{flow:?}");
    }
    // By number; a list is measured unless the scenario says otherwise.
    let unmeasured = |text: &str| flows(1, text).iter().filter(|flow| !flow.measured).count();
    let by_number = unmeasured(&format!("flows = 2000\n{traffic}"));
    assert!((200..204).contains(&by_number), "{by_number}");
    assert_eq!(unmeasured(&format!("flows = 2000\nwarmup = 0.0\n{traffic}")), 0);
    let list = "[traffic.x]\nlist = [{ src = 0, dst = 1, size = \"1B\" }, { src = 0, dst = 2, size = \"1B\" },
        { src = 1, dst = 2, size = \"1B\", start = \"1us\" }, { src = 1, dst = 2, size = \"1B\", start = \"2us\" }]";
    assert_eq!(unmeasured(list), 0);
    let half: Vec<bool> = flows(1, &format!("warmup = 0.5\n{list}")).iter().map(|flow| flow.measured).collect();
    assert_eq!(half, [false, false, true, true]);
}

#[test]
fn a_share_of_nothing_sends_nothing() {
    let text = "load = 0.5\nduration = \"1ms\"\n[traffic.a]\nshare = 1.0\nsizes.fixed = \"1KB\"\n\
                [traffic.b]\nshare = 0.0\nsizes.fixed = \"1KB\"\nincast = { degree = 3 }\n\
                [traffic.c]\nshare = 0.0\nsizes.fixed = \"1KB\"";
    let flows = flows(1, text);
    assert!(flows.len() > 1000);
    assert!(flows.iter().all(|flow| flow.class.0 == 0));
}

#[test]
fn a_workload_is_drawn_as_it_is_taken() {
    // A year of traffic; only what is asked for is drawn.
    let text = "flows = 4000000000\n[traffic.a]\nrate = 1000.0\nsizes.fixed = \"1KB\"";
    assert_eq!(workload(1, text).take(10).count(), 10);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn starts_never_fall_and_flows_are_possible(seed: u64, degree in 1u32..20, sparse in prop::bool::ANY) {
        let mut text = mixed("uniform = { min = \"1B\", max = \"1MB\" }", degree);
        if sparse {
            text = text.replace("00000.0", "000.0");
        }
        let flows = flows(seed, &text);
        prop_assert!(flows.windows(2).all(|pair| pair[0].start <= pair[1].start));
        for flow in &flows {
            prop_assert!(flow.src != flow.dst && flow.src.0 < 24 && flow.dst.0 < 24 && flow.size > 0);
            let event = flow.query.map_or(flow.start, |query| query.asked);
            prop_assert!(event < Instant::from_ps(3_000_000_000));
        }
    }
}

/// Flows are drawn when they are asked for: what is kept are tables of hosts and the flows that wait for earlier ones.
#[test]
fn memory_does_not_grow_with_the_number_of_flows() {
    let text = mixed("fixed = \"20KB\"", 7).replace("3ms", "200ms");
    let mut workload = workload(1, &text);
    let (mut flows, mut most) = (0, 0);
    while workload.next().is_some() {
        flows += 1;
        most = most.max(workload.heap_bytes());
    }
    assert!(flows > 100_000 && most < 32_000, "{flows} flows, {most} bytes");
}

/// The mixed traffics with this added to those of class `a` and `b`.
fn with_deadlines(a: &str, b: &str) -> String {
    mixed("fixed = \"20KB\"", 7)
        .replace("sizes.distribution = \"websearch\"", &format!("sizes.distribution = \"websearch\"\n{a}"))
        .replace("incast = {", &format!("{b}\nincast = {{"))
}

#[test]
fn deadlines_change_nothing_else() {
    let none = flows(1, &with_deadlines("", ""));
    let some = flows(1, &with_deadlines("deadline.exponential = {}", "deadline.fixed = \"7ms\""));
    let without: Vec<FlowSpec> = some.iter().map(|flow| FlowSpec { deadline: None, ..flow.clone() }).collect();
    assert_eq!(without, none);
    assert!(of_class(&some, 1).iter().all(|flow| flow.deadline == Some(Span::from_ms(7))));
    assert!(of_class(&some, 2).iter().all(|flow| flow.deadline.is_none()));
}

/// max(3 ms, Exp(20 ms)) has the mean 3 + 20 exp(-3/20) = 20.21 ms, and is 3 ms with the probability 1 - exp(-3/20) =
/// 13.9 %.
#[test]
fn exponential_deadlines_have_the_moments_of_pdqs() {
    let text = "flows = 100000\n[traffic.a]\nrate = 1e6\nsizes.fixed = \"1KB\"\ndeadline.exponential = {}";
    let deadlines: Vec<f64> =
        workload(3, text).map(|flow| flow.deadline.expect("every flow has one").as_secs_f64()).collect();
    let n = deadlines.len() as f64;
    let (mean, least) =
        (deadlines.iter().sum::<f64>() / n, deadlines.iter().filter(|&&d| d == 3e-3).count() as f64 / n);
    assert!((mean - 20.21e-3).abs() < 0.2e-3, "{mean}");
    assert!((least - 0.139).abs() < 0.004, "{least}");
    assert!(deadlines.iter().all(|&d| d >= 3e-3));
}

#[test]
fn a_deadline_that_the_network_decides_comes_as_its_multiple_of_the_ideal() {
    let mut workload = workload(1, &with_deadlines("deadline.slack = 4.0", ""));
    let (mut some, mut none) = (0, 0);
    while let Some((flow, slack)) = workload.next_with_slack() {
        assert_eq!((flow.deadline, slack), (None, (flow.class.0 == 0).then_some(4.0)));
        *(if slack.is_some() { &mut some } else { &mut none }) += 1;
    }
    assert!(some > 100 && none > 100, "{some} {none}");
}

/// Answers by query, in the order of the queries.
fn by_query(flows: &[FlowSpec]) -> Vec<Vec<&FlowSpec>> {
    let mut queries = std::collections::BTreeMap::<u32, Vec<&FlowSpec>>::new();
    for flow in flows {
        queries.entry(flow.query.unwrap().id.0).or_default().push(flow);
    }
    queries.into_values().collect()
}

const QUERIES: &str = "flows = 130000\n[traffic.q]\nrate = 20000.0\nsizes.fixed = \"1KB\"\n";

/// Two applications on host 5, of two and of one worker, and one on host 0 that asks three hosts.
const APPLICATIONS: &str = "incast = { degree = 2, applications = [\
    { server = 5, workers = [7, 1] }, { server = 5, workers = [6], degree = 1 }, { server = 0, workers = [9, 8, 7, 6], degree = 3 }] }";

#[test]
fn applications_on_one_server_ask_apart_and_each_its_own_workers() {
    let flows = flows(3, &format!("{QUERIES}{APPLICATIONS}"));
    let mut asked = std::collections::BTreeMap::new();
    for answers in by_query(&flows) {
        let workers: Vec<u32> = answers.iter().map(|flow| flow.src.0).collect();
        *asked.entry((answers[0].dst.0, workers)).or_insert(0) += 1;
    }
    let asked: Vec<_> = asked.into_iter().collect();
    let kinds: Vec<(u32, &[u32])> = asked.iter().map(|((server, workers), _)| (*server, workers.as_slice())).collect();
    assert_eq!(kinds, [(0, &[9, 8, 7][..]), (5, &[6][..]), (5, &[7, 1][..])]);
    let queries: u32 = asked.iter().map(|(_, count)| count).sum();
    for (kind, count) in &asked {
        let share = f64::from(*count) / f64::from(queries);
        assert!((share - 1.0 / 3.0).abs() < 0.01, "each asks equally often: {kind:?} {share}");
    }
}

#[test]
fn a_query_has_the_degree_and_the_deadline_that_its_answers_tell() {
    let incast =
        "incast = { degree.uniform = { min = 4, max = 22 }, deadline.exponential = {} }\ndeadline.fixed = \"7ms\"";
    let flows = flows(3, &format!("{QUERIES}{incast}"));
    let queries = by_query(&flows);
    let n = queries.len() as f64;
    let (mut degrees, mut deadlines, mut least) = (0.0, 0.0, 0.0);
    for answers in &queries {
        let query = answers[0].query.unwrap();
        assert_eq!(query.degree as usize, answers.len());
        assert!((4..=22).contains(&query.degree));
        let asked = (0..).map(|nth| Some(tailcut_model::Query { nth, ..query }));
        assert!(answers.iter().zip(asked).all(|(flow, asked)| flow.query == asked));
        assert!(answers.iter().all(|flow| flow.deadline == Some(Span::from_ms(7))), "flows keep their own");
        let workers: std::collections::BTreeSet<_> = answers.iter().map(|flow| flow.src).collect();
        assert_eq!(workers.len(), answers.len());
        degrees += f64::from(query.degree);
        let deadline = query.deadline.expect("every query has one");
        deadlines += deadline.as_secs_f64();
        least += f64::from(u8::from(deadline == Span::from_ms(3)));
    }
    // About 10000 queries; the standard deviation of a degree is 5.5.
    assert!((degrees / n - 13.0).abs() < 0.25, "{}", degrees / n);
    for degree in [4, 22] {
        assert!(queries.iter().any(|answers| answers.len() == degree), "{degree}");
    }
    // max(3 ms, Exp(20 ms)): see above.
    assert!((deadlines / n - 20.21e-3).abs() < 0.8e-3, "{}", deadlines / n);
    assert!((least / n - 0.139).abs() < 0.014, "{}", least / n);
}

#[test]
fn deadlines_of_queries_change_nothing_else() {
    let none = flows(1, &format!("{QUERIES}incast = {{ degree = 6, jitter.icon = {{}} }}"));
    let some = flows(1, &format!("{QUERIES}incast = {{ degree = 6, jitter.icon = {{}}, deadline.fixed = \"9ms\" }}"));
    assert!(some.iter().all(|flow| flow.query.unwrap().deadline == Some(Span::from_ms(9)) && flow.deadline.is_none()));
    let without = |flow: &FlowSpec| {
        let query = flow.query.map(|query| tailcut_model::Query { deadline: None, ..query });
        FlowSpec { query, ..flow.clone() }
    };
    assert_eq!(some.iter().map(without).collect::<Vec<_>>(), none);
}

#[test]
fn a_degree_that_is_drawn_from_one_number_is_that_number() {
    let of = |degree: &str| flows(1, &format!("{QUERIES}incast = {{ {degree}, one_size = false }}"));
    assert_eq!(of("degree = 6"), of("degree.uniform = { min = 6, max = 6 }"));
}

/// The warm-up counts a query as a whole, whatever its degree and however late its answers.
#[test]
fn a_query_of_any_degree_is_measured_as_a_whole() {
    let incast =
        "incast = { degree.uniform = { min = 1, max = 23 }, jitter.uniform = { min = \"0us\", max = \"2ms\" } }";
    for end in ["flows = 20000", "duration = \"80ms\""] {
        let flows = flows(1, &format!("{}{incast}", QUERIES.replace("flows = 130000", end)));
        let queries = by_query(&flows);
        let measured: Vec<bool> = queries.iter().map(|answers| answers[0].measured).collect();
        assert!(queries.iter().zip(&measured).all(|(answers, &of)| answers.iter().all(|flow| flow.measured == of)));
        assert!(measured.is_sorted() && !measured[0] && measured[measured.len() / 5]);
        // Answers of queries on both sides of the end of the warm-up overlap, or this would say nothing.
        let last = flows.iter().filter(|flow| !flow.measured).map(|flow| flow.start).max().unwrap();
        assert!(flows.iter().any(|flow| flow.measured && flow.start < last));
    }
}

/// The workload of Slytherin's and ICON's public scripts, on three racks of eight: hosts have roles, each that asks has
/// workers of its own, and the first answer is another one.
const ROLES: &str = r#"
    duration = "40ms"
    groups = { long.per_rack = 2, aggregators.hosts = 5, workers.rest = true }
    [traffic.long]
    rate = 20000.0
    sizes.fixed = "1MiB"
    endpoints.roles = { senders.group = "long", receivers.group = "long" }
    [traffic.incast]
    rate = 5000.0
    sizes.uniform = { min = "8KiB", max = "32KiB" }
    [traffic.incast.incast]
    degree.uniform = { min = 3, max = 6 }
    aggregators.group = "aggregators"
    workers.group = "workers"
    fixed_workers = true
    jitter.icon = {}
    first = { size = "64KiB", class = "first" }
"#;

#[test]
fn groups_do_not_overlap_and_have_their_hosts_of_each_rack() {
    use std::collections::{BTreeMap, BTreeSet};
    let mut all = workload(3, ROLES);
    assert_eq!(all.classes(), ["long", "incast", "first"]);
    assert!(all.forecast().notes.is_empty(), "{:?}", all.forecast().notes);
    let flows: Vec<FlowSpec> = all.by_ref().collect();
    let hosts = |class, of: fn(&FlowSpec) -> u32| -> BTreeSet<u32> { of_class(&flows, class).iter().map(of).collect() };
    let long = hosts(0, |flow| flow.src.0);
    assert_eq!(long, hosts(0, |flow| flow.dst.0));
    for rack in 0..3 {
        assert_eq!(long.iter().filter(|&&host| host / 8 == rack).count(), 2, "{long:?}");
    }
    let (aggregators, workers) = (hosts(1, |flow| flow.dst.0), hosts(1, |flow| flow.src.0));
    assert_eq!(aggregators.len(), 5);
    assert!(aggregators.is_disjoint(&long) && aggregators.is_disjoint(&workers) && workers.is_disjoint(&long));

    // Each aggregator has six workers for the whole run, in one order; the first of them sends 64 KiB at once.
    let mut of_query: BTreeMap<u32, Vec<FlowSpec>> = BTreeMap::new();
    for flow in flows.iter().filter(|flow| flow.class.0 > 0) {
        of_query.entry(flow.query.unwrap().id.0).or_default().push(flow.clone());
    }
    let mut sets: BTreeMap<u32, (u32, BTreeSet<u32>)> = BTreeMap::new();
    for answers in of_query.values() {
        let firsts: Vec<&FlowSpec> = answers.iter().filter(|flow| flow.class.0 == 2).collect();
        let [first] = firsts[..] else { panic!("{firsts:?}") };
        assert_eq!((first.size, first.start), (65_536, first.query.unwrap().asked));
        assert_eq!(answers.len() as u32, first.query.unwrap().degree);
        let sizes: BTreeSet<u64> = answers.iter().filter(|flow| flow.class.0 == 1).map(|flow| flow.size).collect();
        assert_eq!(sizes.len(), 1, "the others have one size");
        let set = sets.entry(first.dst.0).or_insert((first.src.0, BTreeSet::new()));
        assert_eq!(set.0, first.src.0);
        set.1.extend(answers.iter().map(|flow| flow.src.0));
    }
    assert!(sets.values().all(|(_, workers)| workers.len() == 6), "{sets:?}");
    let distinct: BTreeSet<&BTreeSet<u32>> = sets.values().map(|(_, workers)| workers).collect();
    assert!(distinct.len() > 1, "each has its own");
}

#[test]
fn what_roles_offer_is_what_is_forecast() {
    let text = ROLES.replace("40ms", "400ms");
    let all = workload(5, &text);
    let forecast = all.forecast().clone();
    let flows: Vec<FlowSpec> = all.collect();
    let near = |a: f64, b: f64, what: &str| assert!((a / b - 1.0).abs() < 0.05, "{what}: {a} beside {b}");
    for (class, expected) in (0u8..).zip(&forecast.classes) {
        let of = of_class(&flows, class);
        near(of.len() as f64, expected.flows, &expected.name);
        near(of.iter().map(|flow| flow.size as f64).sum::<f64>() / of.len() as f64, expected.mean_size, &expected.name);
    }
    near(flows.iter().map(|flow| flow.size as f64).sum(), forecast.payload_bytes, "bytes");
    // The busiest links into hosts are those of the six with long flows, which have equal parts.
    let long: u64 = of_class(&flows, 0).iter().map(|flow| flow.size).sum();
    let config: Config = toml::from_str(&text).unwrap();
    let offered = Workload::offered(&config, &host_links(), Seeds::new(5), Path::new(".")).unwrap();
    let mut received = vec![0.0; host_links().rack_of.len()];
    for stream in offered.streams {
        let (_, part) = stream.matrix.sent_and_received(host_links().hosts());
        received.iter_mut().zip(part).for_each(|(sum, part)| *sum += part * stream.bps);
    }
    let most = received.into_iter().fold(0.0, f64::max);
    let headers = forecast.classes[0].mean_wire / forecast.classes[0].mean_size;
    near(long as f64 / 6.0 * 8.0 / 0.4 * headers, most, "link to a host with long flows");
}

#[test]
fn a_group_that_no_traffic_uses_is_said() {
    let text = ROLES.replace("aggregators.group = \"aggregators\"", "");
    let notes = &workload(3, &text).forecast().notes.clone();
    assert_eq!(notes, &["No traffic uses the group `aggregators`."]);
}

#[test]
fn workers_that_are_drawn_from_a_group_are_distinct_and_never_ask_themselves() {
    let text = "duration = \"40ms\"\ngroups.few.hosts = 6\n[traffic.q]\nrate = 20000.0\nsizes.fixed = \"1KB\"\n\
                incast = { degree = 5, workers.group = \"few\", aggregators.group = \"few\" }";
    let flows = flows(1, text);
    let mut counts = std::collections::BTreeMap::<(u32, u32), u32>::new();
    for answers in flows.chunks(5) {
        let workers: std::collections::BTreeSet<u32> = answers.iter().map(|flow| flow.src.0).collect();
        assert!(workers.len() == 5 && !workers.contains(&answers[0].dst.0));
        answers.iter().for_each(|flow| *counts.entry((flow.src.0, flow.dst.0)).or_default() += 1);
    }
    assert_eq!(counts.len(), 30, "every other host of the group answers each");
}
