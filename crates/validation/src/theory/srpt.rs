//! The shortest remaining first on one link, against Schrage and Miller.
//!
//! Schrage and Miller, "The Queue M/G/1 with the Shortest Remaining Processing Time Discipline" (Operations Research
//! 14, 1966), in service times: a message of size x waits for `lambda (m2(x) + x^2 (1 - F(x))) / (2 (1 - rho(x))^2)`
//! until it is served first, where `m2` and `rho` count messages up to x, and is served until `x + ...`: the integral
//! of `1 / (1 - rho(t))` from 0 to x. Of messages of one size the first goes first, so that one of the two factors
//! leaves out those of the same size.
//!
//! The link is a port, at which each message is at once, or the interface of a host, which picks among its messages
//! itself. Both preempt between packets and the closed form at any time: half a packet's transmission on average, of
//! 1.2 us.

use std::collections::BTreeSet;
use tailcut_base::each_on_all_cores;

use tailcut_base::wire_bytes;
use tailcut_record::FlowRow;
use tailcut_sim::Outcome;
use tailcut_workload::Distribution;

use super::queueing::{Effort, Figure};
use super::run::run;
use super::table::{Table, deviation, figure};
use super::{Confidence, Estimate};

/// Microseconds that a byte takes at 10 Gb/s.
const BYTE_US: f64 = 0.0008;
/// Hosts that send to one port.
const MESSENGERS: u32 = 50;

/// Which link is the bottleneck.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Link {
    /// A port of a switch, behind links that are thousands of times as fast.
    Port,
    /// The interface of the one host that sends.
    Nic,
}

/// Sizes of messages in bytes that are looked at together: up to this one, and above the one before.
const CLASSES: [(&str, u64); 3] = [("up to 100 KB", 100_000), ("up to 10 MB", 10_000_000), ("larger", u64::MAX)];

/// What a class of messages took beyond its time in an idle network, in microseconds.
#[derive(Clone, Debug)]
pub struct Excess {
    /// Mean over the runs, and the closed form.
    pub figure: Figure,
    /// The same mean with what the flows of the runs happened to be taken out: the closed form, and how much longer the
    /// flows took than SRPT that preempts at any time takes for just these flows.
    pub controlled: Estimate,
}

/// Microseconds that a message takes on an idle link.
fn service(size: u64) -> f64 {
    wire_bytes(size) as f64 * BYTE_US
}

fn class_of(size: u64) -> usize {
    CLASSES.iter().position(|&(_, upto)| size <= upto).expect("the last class has no end")
}

/// Mean excess by class, and of all, in microseconds: the closed form, summed over all sizes, which are whole bytes.
fn closed_form(sizes: &Distribution, per_us: f64) -> [f64; CLASSES.len() + 1] {
    let mut sums = [(0.0, 0.0); CLASSES.len() + 1];
    let (mut below, mut rho, mut second, mut served, mut previous) = (0.0, 0.0, 0.0, 0.0, 0.0);
    for size in sizes.min() as u64..=sizes.max() as u64 {
        let upto = sizes.cdf(size as f64);
        let (x, p) = (service(size), upto - below);
        let rho_upto = rho + per_us * p * x;
        second += p * x * x;
        // Between this size and the one before, those below this one preempt.
        served += (x - previous) / (1.0 - rho);
        let waits = per_us * (second + x * x * (1.0 - upto)) / (2.0 * (1.0 - rho) * (1.0 - rho_upto));
        for at in [class_of(size), CLASSES.len()] {
            sums[at].0 += p * (waits + served - x);
            sums[at].1 += p;
        }
        (below, rho, previous) = (upto, rho_upto, x);
    }
    sums.map(|(sum, weight)| sum / weight)
}

/// Excess of each flow in microseconds under SRPT that preempts at any time: flows by their start and time of service.
fn preemptive(flows: &[(f64, f64)]) -> Vec<f64> {
    let mut excess = vec![0.0; flows.len()];
    // Positive floats are ordered as their bits are.
    let mut left: BTreeSet<(u64, usize)> = BTreeSet::new();
    let mut now = 0.0;
    let next_starts = flows.iter().map(|flow| flow.0).skip(1).chain([f64::INFINITY]);
    for ((nth, &(start, service)), next) in flows.iter().enumerate().zip(next_starts) {
        now = f64::max(now, start);
        left.insert((service.to_bits(), nth));
        while let Some((bits, first)) = left.pop_first() {
            let end = now + f64::from_bits(bits);
            if end > next {
                left.insert(((end - next).to_bits(), first));
                now = next;
                break;
            }
            excess[first] = end - flows[first].0 - flows[first].1;
            now = end;
        }
    }
    excess
}

/// So many messages per microsecond over this link.
fn scenario(link: Link, per_us: f64, flows: u64) -> String {
    // No window, and hardly an ACK.
    let acks = "[host.transport.tcp]\ndelayed_ack = { every = 30000, timeout = \"50s\" }\n";
    let (network, roles) = match link {
        Link::Port => (
            format!(
                "[topology.single-bottleneck]\nsenders = {MESSENGERS}\nhost_link = {{ rate = \"80Tbps\", delay = \"1us\" }}\n\
                 receiver_link = {{ rate = \"10Gbps\", delay = \"1us\" }}\n"
            ),
            format!("senders = {{ first = 0, count = {MESSENGERS} }}, receivers = {{ hosts = [{MESSENGERS}] }}"),
        ),
        Link::Nic => (
            "[topology.star]\nhosts = 2\nhost_link = { rate = \"10Gbps\", delay = \"1us\" }\n".to_owned(),
            "senders = { hosts = [0] }, receivers = { hosts = [1] }".to_owned(),
        ),
    };
    format!(
        "{network}{acks}[run]\ndrain = \"100s\"\n[workload]\nflows = {}\n[workload.traffic.messages]\nrate = {}\n\
         sizes.distribution = \"websearch\"\nendpoints.roles = {{ {roles} }}\n",
        flows,
        per_us * 1e6
    )
}

/// Mean excess by class and of all, of the flows of a run and of the recursion for them; none for a class without
/// flows.
fn compare(outcome: &Outcome) -> [Option<(f64, f64)>; CLASSES.len() + 1] {
    let rows: Vec<FlowRow> = outcome.flows.rows().collect();
    let flows: Vec<(f64, f64)> = rows.iter().map(|row| (row.start.as_ps() as f64 / 1e6, service(row.size))).collect();
    let mut sums = [(0.0, 0.0, 0.0); CLASSES.len() + 1];
    for (row, exact) in rows.iter().zip(preemptive(&flows)).filter(|(row, _)| row.measured) {
        let fct = row.fct().expect("every flow is finished");
        let excess = (fct.as_ps() - row.ideal.as_ps()) as f64 / 1e6;
        for at in [class_of(row.size), CLASSES.len()] {
            let (count, measured, recursion) = &mut sums[at];
            *count += 1.0;
            *measured += excess;
            *recursion += exact;
        }
    }
    sums.map(|(count, measured, exact)| (count > 0.0).then(|| (measured / count, exact / count)))
}

/// Messages with the sizes of web search under `srpt`: by class of sizes, and all.
pub fn messages(link: Link, load: f64, effort: Effort) -> Vec<Excess> {
    let sizes = super::queueing::websearch();
    let per_us = load / super::queueing::moments(&sizes).0;
    let text = scenario(link, per_us, effort.flows);
    let seeds: Vec<u64> = (1..=effort.seeds).collect();
    let runs = each_on_all_cores(&seeds, |&seed| compare(&run("srpt", &text, seed)));
    let expected = closed_form(&sizes, per_us);
    let names = CLASSES.iter().map(|(name, _)| *name).chain(["all"]);
    let of_class = |(at, (name, expected)): (usize, (&str, f64))| {
        let known: Vec<(f64, f64)> = runs.iter().filter_map(|run| run[at]).collect();
        let measured = Estimate::of(&known.iter().map(|run| run.0).collect::<Vec<_>>());
        let excess = Estimate::of(&known.iter().map(|run| run.0 - run.1).collect::<Vec<_>>());
        Excess {
            figure: Figure { what: name.to_owned(), load, expected, measured },
            controlled: Estimate { mean: expected + excess.mean, ..excess },
        }
    };
    names.zip(expected).enumerate().map(of_class).collect()
}

/// The table of `cargo xtask theory srpt`.
pub fn tables() -> Vec<Table> {
    let effort = Effort { seeds: 16, flows: 10_000 };
    let mut table = Table::new(
        "Messages of web search under `srpt`, time beyond that in an idle network: 16 runs of 10,000, the first tenth not counted",
        &["link", "load", "sizes", "expected us", "measured us", "95 %", "off by", "controlled us", "95 %"],
    );
    for link in [Link::Port, Link::Nic] {
        for load in [0.5, 0.8] {
            for Excess { figure: Figure { what, expected, measured, .. }, controlled } in messages(link, load, effort) {
                table.row(vec![
                    format!("{link:?}").to_lowercase(),
                    figure(load),
                    what,
                    figure(expected),
                    figure(measured.mean),
                    format!("± {}", figure(measured.half_width(Confidence::P95))),
                    deviation(measured.mean, expected),
                    figure(controlled.mean),
                    format!("± {}", figure(controlled.half_width(Confidence::P95))),
                ]);
            }
        }
    }
    vec![table]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_recursion_preempts_for_less_that_is_left() {
        // 10 at 0; 3 at 2, while 8 are left; 7 at 4, when 1 is left of the second; 2 at 5, which ends the second.
        let excess = preemptive(&[(0.0, 10.0), (2.0, 3.0), (4.0, 7.0), (5.0, 2.0), (100.0, 1.0)]);
        assert_eq!(excess, [12.0, 0.0, 3.0, 0.0, 0.0]);
    }
}
