//! Waiting times at one port against queueing theory.
//!
//! Single packets come from so many hosts that their own interfaces hardly count: with a load of 0.8 on the port and
//! 400 hosts, a packet waits for 0.001 transmissions at its host on average. Two packets that meet at an interface of
//! the same rate would have met at the port, so that not even that adds to the sum.
//!
//! Messages of many packets come whole: the links of the hosts are thousands of times as fast as the port.

use tailcut_base::each_on_all_cores;
use tailcut_base::wire_bytes;
use tailcut_record::{FlowRow, PortRow};
use tailcut_sim::Outcome;
use tailcut_workload::Distribution;

use super::run::{port, run};
use super::table::{Table, deviation, figure};
use super::{Confidence, Estimate};

const SENDERS: u32 = 400;
/// Microseconds that a byte takes at 10 Gb/s.
const BYTE_US: f64 = 0.0008;
/// Payload of a full packet.
const MSS: u64 = 1460;

/// How much is simulated.
#[derive(Clone, Copy, Debug)]
pub struct Effort {
    /// Runs, each with a seed of its own.
    pub seeds: u64,
    /// Flows of a run, the warm-up included.
    pub flows: u64,
}

/// A closed form, and what the simulation gave.
#[derive(Clone, Debug)]
pub struct Figure {
    /// What it is a figure of.
    pub what: String,
    /// Load of the port.
    pub load: f64,
    /// By the closed form.
    pub expected: f64,
    /// Mean over the runs.
    pub measured: Estimate,
}

/// Senders on a star, and one receiver.
fn star(traffic: &str, effort: Effort) -> String {
    let roles = format!(
        "endpoints.roles = {{ senders = {{ first = 0, count = {SENDERS} }}, receivers = {{ hosts = [{SENDERS}] }} }}"
    );
    format!(
        "[topology.star]\nhosts = {}\nhost_link = {{ rate = \"10Gbps\", delay = \"1us\" }}\n\
         [record]\nqueue_sample = \"7us\"\nqueue_histogram = true\n[port]\nlimit = \"4MB\"\n[workload]\nflows = {}\n{}",
        SENDERS + 1,
        effort.flows,
        traffic.replace("ROLES", &roles)
    )
}

fn outcomes(scheme: &str, text: &str, effort: Effort) -> Vec<Outcome> {
    let seeds: Vec<u64> = (1..=effort.seeds).collect();
    each_on_all_cores(&seeds, |&seed| run(scheme, text, seed))
}

/// The port that all packets share.
fn shared(outcome: &Outcome) -> &PortRow {
    port(outcome, "switch0", &format!("host{SENDERS}"))
}

/// Time in microseconds that a flow took beyond that in an idle network: for a single packet, its wait.
fn wait(row: &FlowRow) -> f64 {
    let fct = row.fct().expect("every flow is finished");
    (fct.as_ps() - row.ideal.as_ps()) as f64 / 1e6
}

/// Mean wait of the measured flows for which `counts` holds.
fn mean_wait(outcome: &Outcome, counts: impl Fn(&FlowRow) -> bool) -> f64 {
    let waits: Vec<f64> =
        outcome.flows.rows().filter(|row| row.measured && counts(row)).map(|row| wait(&row)).collect();
    waits.iter().sum::<f64>() / waits.len() as f64
}

fn over(outcomes: &[Outcome], of_run: impl Fn(&Outcome) -> f64) -> Estimate {
    Estimate::of(&outcomes.iter().map(of_run).collect::<Vec<_>>())
}

/// Packets of 1500 B: mean wait, mean queue by Little's law, the share of time in which none waits, and the
/// utilisation.
pub fn one_size(load: f64, effort: Effort) -> Vec<Figure> {
    let service = 1500.0 * BYTE_US;
    let per_us = load / service;
    let text =
        star(&format!("[workload.traffic.one]\nrate = {}\nsizes.fixed = \"1460B\"\nROLES\n", per_us * 1e6), effort);
    let outcomes = outcomes("tcp", &text, effort);
    let figure = |what: &str, expected, measured| Figure { what: what.to_owned(), load, expected, measured };
    let expected = service * load / (2.0 * (1.0 - load));
    let empty = |run: &Outcome| {
        let bins = shared(run).queue_histogram.as_ref().expect("histograms are recorded");
        let all: f64 = bins.iter().map(|bin| bin.1.as_secs_f64()).sum();
        assert!((all / run.measured.as_secs_f64() - 1.0).abs() < 1e-9, "the histogram covers the measured time");
        bins[0].1.as_secs_f64() / all
    };
    let queue = |run: &Outcome| shared(run).queue.expect("queues are sampled").mean_bytes / 1500.0;
    vec![
        figure("M/D/1 wait, us", expected, over(&outcomes, |run| mean_wait(run, |_| true))),
        figure("M/D/1 packets waiting", per_us * expected, over(&outcomes, queue)),
        // The queue is empty while the system holds no packet or one: P0 + P1 = (1 - rho) e^rho.
        figure("M/D/1 share of time without a queue", (1.0 - load) * load.exp(), over(&outcomes, empty)),
        figure("utilisation", load, over(&outcomes, |run| shared(run).utilisation)),
    ]
}

/// Packets of all sizes from 1 B to 1460 B payload alike.
struct AllSizes;

impl AllSizes {
    const TRAFFIC: &str = "sizes.uniform = { min = \"1B\", max = \"1460B\" }";

    /// Time in microseconds that a packet with this payload takes.
    fn service(payload: u64) -> f64 {
        wire_bytes(payload) as f64 * BYTE_US
    }

    fn moment(power: i32) -> f64 {
        (1..=MSS).map(|payload| AllSizes::service(payload).powi(power)).sum::<f64>() / MSS as f64
    }

    fn text(load: f64, effort: Effort) -> String {
        let rate = load / AllSizes::moment(1) * 1e6;
        star(&format!("[workload.traffic.all]\nrate = {rate}\n{}\nROLES\n", AllSizes::TRAFFIC), effort)
    }
}

/// Packets of many sizes in a FIFO: Pollaczek and Khinchine. The port of PIAS with one class is a FIFO too: all packets
/// come before the first threshold.
pub fn many_sizes(load: f64, effort: Effort) -> Vec<Figure> {
    let text = AllSizes::text(load, effort);
    let expected = load / AllSizes::moment(1) * AllSizes::moment(2) / (2.0 * (1.0 - load));
    let figure = |scheme: &str| {
        let outcomes = outcomes(scheme, &text, effort);
        let measured = over(&outcomes, |run| mean_wait(run, |_| true));
        Figure { what: format!("M/G/1 wait under `{scheme}`, us"), load, expected, measured }
    };
    ["dctcp", "pias"].map(figure).into()
}

/// Two classes that do not preempt each other: Cobham. R is the work on the wire; the first class waits for R and
/// itself, the second for all.
pub fn two_priorities(effort: Effort) -> Vec<Figure> {
    let (short, long) = (200.0 * BYTE_US, 1500.0 * BYTE_US);
    let (short_load, long_load) = (0.2, 0.5);
    let (short_per_us, long_per_us) = (short_load / short, long_load / long);
    let residual = (short_per_us * short * short + long_per_us * long * long) / 2.0;
    let text = star(
        &format!(
            "[workload.traffic.short]\nrate = {}\nsizes.fixed = \"160B\"\nROLES\n\
             [workload.traffic.long]\nrate = {}\nsizes.fixed = \"1460B\"\nROLES\n\
             [host.tag.flow-size]\nshort = \"160B\"\n",
            short_per_us * 1e6,
            long_per_us * 1e6
        ),
        effort,
    );
    let outcomes = outcomes("sjf", &text, effort);
    let first = residual / (1.0 - short_load);
    let second = first / (1.0 - short_load - long_load);
    let figure = |what: &str, class: u8, expected| Figure {
        what: what.to_owned(),
        load: short_load + long_load,
        expected,
        measured: over(&outcomes, |run| mean_wait(run, |row| row.class == class)),
    };
    vec![figure("wait of the first of two classes, us", 0, first), figure("wait of the second, us", 1, second)]
}

/// Shortest job first without preemption, each size a class of its own: Cobham's formula for 1460 classes, which Phipps
/// took to the limit. By quarters of the sizes, and over all.
pub fn shortest_first(load: f64, effort: Effort) -> Vec<Figure> {
    let per_us = load / AllSizes::moment(1);
    let residual = per_us * AllSizes::moment(2) / 2.0;
    let mut below = 0.0;
    let waits: Vec<f64> = (1..=MSS)
        .map(|payload| {
            let upto = below + per_us * AllSizes::service(payload) / MSS as f64;
            let wait = residual / ((1.0 - below) * (1.0 - upto));
            below = upto;
            wait
        })
        .collect();
    let outcomes = outcomes("sjf@full", &AllSizes::text(load, effort), effort);
    let figure = |from: u64, to: u64| {
        let sizes = &waits[from as usize - 1..to as usize];
        Figure {
            what: format!("SJF wait of {from} to {to} B, us"),
            load,
            expected: sizes.iter().sum::<f64>() / sizes.len() as f64,
            measured: over(&outcomes, |run| mean_wait(run, |row| (from..=to).contains(&row.size))),
        }
    };
    [(1, 365), (366, 730), (731, 1095), (1096, 1460), (1, 1460)].map(|(from, to)| figure(from, to)).into()
}

/// Messages with the sizes of web search, each of which is at the port at once.
#[derive(Clone, Debug)]
pub struct Messages {
    /// Mean wait over that in an idle network in milliseconds, and what Pollaczek and Khinchine say.
    pub mean: Figure,
    /// The same mean with what the flows of the runs happened to be taken out: the closed form, and how much longer the
    /// flows waited than the recursion of Lindley says for just these flows.
    pub controlled: Estimate,
    /// Largest difference between the wait of a flow and that of the recursion, in microseconds.
    pub furthest: f64,
    /// Share of the flows whose wait is that of the recursion to the picosecond, but for what a fast link takes.
    pub exact: f64,
}

/// Rate of the links of the hosts in bit/s: a packet takes 0.15 ns.
const FAST: &str = "80Tbps";
/// Hosts that send messages.
const MESSENGERS: u32 = 50;

/// As M/G/1 with the message as the customer.
pub fn messages(load: f64, effort: Effort) -> Messages {
    let sizes = websearch();
    let (first, second) = moments(&sizes);
    let per_us = load / first;
    let expected = per_us * second / (2.0 * (1.0 - load)) / 1e3;
    let roles = format!(
        "endpoints.roles = {{ senders = {{ first = 0, count = {MESSENGERS} }}, receivers = {{ hosts = [{MESSENGERS}] }} }}"
    );
    // No window, no timer and hardly an ACK: a message is at the port at once, and what it meets there is the queue.
    let text = format!(
        "[topology.single-bottleneck]\nsenders = {MESSENGERS}\nhost_link = {{ rate = \"{FAST}\", delay = \"1us\" }}\n\
         receiver_link = {{ rate = \"10Gbps\", delay = \"1us\" }}\n[port]\nlimit = \"100GB\"\n\
         [record]\nqueue_sample = \"1ms\"\n[host]\norder.fifo = {{}}\n\
         [host.transport.tcp]\ninitial_window = 30000\nmin_rto = \"60s\"\n\
         delayed_ack = {{ every = 30000, timeout = \"50s\" }}\n[run]\ndrain = \"100s\"\n\
         [workload]\nflows = {}\n[workload.traffic.messages]\nrate = {}\nsizes.distribution = \"websearch\"\n{roles}\n",
        effort.flows,
        per_us * 1e6
    );
    let seeds: Vec<u64> = (1..=effort.seeds).collect();
    let runs = each_on_all_cores(&seeds, |&seed| compare_with_lindley(&run("tcp", &text, seed)));
    let over = |of: fn(&Compared) -> f64| Estimate::of(&runs.iter().map(of).collect::<Vec<_>>());
    let measured = over(|run| run.mean);
    let excess = over(|run| run.mean - run.lindley);
    Messages {
        mean: Figure { what: "wait of a message, ms".to_owned(), load, expected, measured },
        controlled: Estimate { mean: expected + excess.mean, ..excess },
        furthest: runs.iter().map(|run| run.furthest).fold(0.0, f64::max),
        exact: runs.iter().map(|run| run.exact).sum::<f64>() / runs.len() as f64,
    }
}

/// A run beside the recursion of Lindley for its flows: means in milliseconds, the furthest in microseconds.
struct Compared {
    mean: f64,
    lindley: f64,
    furthest: f64,
    exact: f64,
}

/// W' = max(0, W + S - A): the work that a message finds is that which the one before left.
fn compare_with_lindley(outcome: &Outcome) -> Compared {
    let (mut work, mut last) = (0.0, 0.0);
    let (mut count, mut sum, mut lindley, mut furthest, mut exact) = (0.0, 0.0, 0.0, 0.0_f64, 0.0);
    for row in outcome.flows.rows() {
        let start = row.start.as_ps() as f64 / 1e6;
        work = f64::max(0.0, work - (start - last));
        last = start;
        if row.measured {
            let difference = (wait(&row) - work).abs();
            count += 1.0;
            sum += wait(&row);
            lindley += work;
            furthest = furthest.max(difference);
            // Two bytes over the fast link, and a rounding.
            exact += f64::from(difference < 0.001);
        }
        work += wire_bytes(row.size) as f64 * BYTE_US;
    }
    Compared { mean: sum / count / 1e3, lindley: lindley / count / 1e3, furthest, exact: exact / count }
}

/// Sizes of web search.
pub(super) fn websearch() -> Distribution {
    tailcut_workload::distribution("websearch").expect("it ships with tailcut").distribution()
}

/// First and second moment of the time in microseconds that a message takes at the port, headers included: sizes are
/// drawn as whole bytes, so that these are sums over all of them.
pub(super) fn moments(sizes: &Distribution) -> (f64, f64) {
    let (mut first, mut second, mut below) = (0.0, 0.0, 0.0);
    for size in sizes.min() as u64..=sizes.max() as u64 {
        let upto = sizes.cdf(size as f64);
        let service = wire_bytes(size) as f64 * BYTE_US;
        first += (upto - below) * service;
        second += (upto - below) * service * service;
        below = upto;
    }
    (first, second)
}

/// The tables of `cargo xtask theory queueing`.
pub fn tables() -> Vec<Table> {
    let effort = Effort { seeds: 32, flows: 100_000 };
    let loads = [0.5, 0.8];
    let mut single = Table::new(
        "Single packets at one port: 32 runs of 100,000 packets, the first tenth not counted",
        &["figure", "load", "expected", "measured", "95 %", "off by"],
    );
    let mut figures: Vec<Figure> = loads.iter().flat_map(|&load| one_size(load, effort)).collect();
    figures.extend(loads.iter().flat_map(|&load| many_sizes(load, effort)));
    figures.extend(two_priorities(effort));
    figures.extend(loads.iter().flat_map(|&load| shortest_first(load, effort)));
    for Figure { what, load, expected, measured } in figures {
        single.row(vec![
            what,
            figure(load),
            figure(expected),
            figure(measured.mean),
            format!("± {}", figure(measured.half_width(Confidence::P95))),
            deviation(measured.mean, expected),
        ]);
    }
    let effort = Effort { seeds: 16, flows: 6_000 };
    let mut whole = Table::new(
        "Messages of web search, each at the port at once: 16 runs of 6,000 messages, the first tenth not counted",
        &["load", "expected ms", "measured ms", "95 %", "off by", "controlled ms", "95 %", "as Lindley", "furthest us"],
    );
    for load in loads {
        let Messages { mean, controlled, furthest, exact } = messages(load, effort);
        whole.row(vec![
            figure(load),
            figure(mean.expected),
            figure(mean.measured.mean),
            format!("± {}", figure(mean.measured.half_width(Confidence::P95))),
            deviation(mean.measured.mean, mean.expected),
            figure(controlled.mean),
            format!("± {}", figure(controlled.half_width(Confidence::P95))),
            format!("{:.2} %", 100.0 * exact),
            figure(furthest),
        ]);
    }
    vec![single, whole]
}
